"""Transactions that must outlive a power cut, and those that need not."""

from __future__ import annotations

from pathlib import Path

from core.pipeline.database.connection import Database

FULL, NORMAL = 2, 1


def test_a_transaction_lasts_again_after_one_that_need_not(tmp_path: Path) -> None:
    database = Database.open(tmp_path)

    def synchronous(lasting: bool) -> int:
        with database.write(lasting=lasting) as writer:
            return int(writer.connection.execute("PRAGMA synchronous").fetchone()[0])

    order = (True, False, False, True, False)
    assert [synchronous(lasting) for lasting in order] == [FULL, NORMAL, NORMAL, FULL, NORMAL]
    database.close()
    assert synchronous(True) == FULL
    database.close()
