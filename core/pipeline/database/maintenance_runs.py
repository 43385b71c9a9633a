"""Rows of maintenance runs: what ran when, in whatever process; cooldowns, budgets and halts go by them."""

from __future__ import annotations

import sqlite3
from typing import Final

from core.pipeline.database.meta import Meta
from core.pipeline.health.records import MaintenanceAction, MaintenanceRun
from core.pipeline.health.rules import HALT_MS, HOUR_MS, RUNS_TO_HALT, Recent, lies_within

# When maintenance began last, epoch ms; and the number of the last run before there was nothing to recommend.
_CYCLE_AT: Final = "maintenance_at"
_FINE_SINCE: Final = "maintenance_fine_since"
KEPT_MS: Final = 30 * 86_400_000


def _run(row: sqlite3.Row) -> MaintenanceRun:
    improved = row["improved"]
    return MaintenanceRun(
        row["id"], row["at"], MaintenanceAction(row["action"]), row["by"], row["status"], row["did"], row["left"],
        row["before"], row["after"], None if improved is None else bool(improved), row["error"], row["finished_at"],
    )  # fmt: skip


class MaintenanceRuns:
    """What repairs ran, and when."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._meta = Meta(connection)

    # Cycles

    def last_cycle(self) -> int | None:
        """When maintenance looked last, epoch ms."""
        return self._meta.number(_CYCLE_AT)

    def claim_cycle(self, now: int, interval_ms: int) -> bool:
        """Takes the turn to look; False when it is not time yet, or another process took it.

        The first time ever is an interval from now.
        """
        last = self.last_cycle()
        if last is not None and lies_within(last, now, interval_ms):
            return False
        self._meta.put(_CYCLE_AT, now)
        return last is not None

    def forgive(self) -> None:
        """Ends every halt, since there is nothing to recommend."""
        last = self._connection.execute("SELECT coalesce(max(id), 0) FROM maintenance_runs").fetchone()[0]
        if self._meta.number(_FINE_SINCE) != last:
            self._meta.put(_FINE_SINCE, last)

    # Runs

    def recent(self, action: MaintenanceAction, now: int) -> Recent:
        """What counts of the earlier runs of a repair."""
        rows = self._connection.execute(
            "SELECT id, at, status, improved FROM maintenance_runs WHERE action = ? AND status <> 'recommended'"
            " ORDER BY id DESC LIMIT 2000",
            (action,),
        ).fetchall()
        fine = self._meta.number(_FINE_SINCE) or 0
        judged = [
            bool(row["improved"])
            for row in rows
            if row["improved"] is not None and row["id"] > fine and lies_within(row["at"], now, HALT_MS)
        ]
        in_hour = [row["at"] for row in rows if lies_within(row["at"], now, HOUR_MS)]
        return Recent(
            last_at=rows[0]["at"] if rows else None,
            in_hour=tuple(sorted(in_hour)),
            running_since=next((row["at"] for row in rows if row["status"] == "running"), None),
            improved=tuple(reversed(judged[:RUNS_TO_HALT])),
        )

    def begin(self, action: MaintenanceAction, now: int, by: str, before: float | None) -> int:
        """Puts down that a repair begins; its number. It counts from now on, whatever becomes of it. What did not end
        before belonged to a process that is gone.
        """
        self._connection.execute(
            "UPDATE maintenance_runs SET status = 'interrupted', finished_at = ?2 WHERE action = ?1"
            " AND status = 'running'",
            (action, now),
        )
        row = self._connection.execute(
            "INSERT INTO maintenance_runs (at, action, by, status, before) VALUES (?, ?, ?, 'running', ?) RETURNING id",
            (now, action, by, before),
        ).fetchone()
        self._connection.execute("DELETE FROM maintenance_runs WHERE at < ?", (now - KEPT_MS,))
        return int(row[0])

    def finish(
        self,
        run_id: int,
        now: int,
        *,
        did: int,
        left: int,
        after: float | None,
        improved: bool | None,
        error: str = "",
    ) -> None:
        """Puts down how a run ended."""
        self._connection.execute(
            "UPDATE maintenance_runs SET status = ?, did = ?, left = ?, after = ?, improved = ?, error = ?,"
            " finished_at = ? WHERE id = ?",
            ("failed" if error else "done", did, left, after, improved, error, now, run_id),
        )

    def recommend(self, action: MaintenanceAction, now: int, by: str) -> None:
        """Puts down that a repair is recommended and nobody ran it; once, until something else comes of it."""
        last = self._connection.execute(
            "SELECT id, status FROM maintenance_runs WHERE action = ? ORDER BY id DESC LIMIT 1", (action,)
        ).fetchone()
        if (
            last is not None
            and last["status"] == "recommended"
            and last["id"] > (self._meta.number(_FINE_SINCE) or 0)
        ):
            return
        self._connection.execute(
            "INSERT INTO maintenance_runs (at, action, by, status, finished_at) VALUES (?1, ?2, ?3, 'recommended', ?1)",
            (now, action, by),
        )

    def run(self, run_id: int) -> MaintenanceRun:
        """A run by its number."""
        row = self._connection.execute("SELECT * FROM maintenance_runs WHERE id = ?", (run_id,)).fetchone()
        return _run(row)

    def latest(self, most: int = 20) -> tuple[MaintenanceRun, ...]:
        """The latest runs, newest first, but those of repairs that only another version knows."""
        rows = self._connection.execute(
            f"SELECT * FROM maintenance_runs WHERE action IN ({', '.join('?' * len(MaintenanceAction))})"
            " ORDER BY id DESC LIMIT ?",
            (*MaintenanceAction, most),
        )
        return tuple(map(_run, rows))
