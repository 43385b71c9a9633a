"""Rows of maintenance runs: what ran when, in whatever process; cooldowns and budgets go by them."""

from __future__ import annotations

import sqlite3
from typing import Final

from core.pipeline.database.meta import Meta
from core.pipeline.health.records import MaintenanceAction, MaintenanceRun
from core.pipeline.health.rules import DAY_MS, HOUR_MS, Recent, lies_within

# When maintenance began last, epoch ms.
_CYCLE_AT: Final = "maintenance_at"
KEPT_MS: Final = 30 * DAY_MS


def _run(row: sqlite3.Row) -> MaintenanceRun:
    improved = row["improved"]
    return MaintenanceRun(
        row["id"], row["at"], MaintenanceAction(row["action"]), row["by"], row["status"], row["did"], row["left"],
        None if improved is None else bool(improved), row["error"], row["finished_at"],
    )  # fmt: skip


class MaintenanceRuns:
    """What repairs ran, and when."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._meta = Meta(connection)

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

    def settle(self) -> None:
        """Lets each repair that did not help run again, since there is nothing to recommend."""
        self._connection.execute("UPDATE maintenance_runs SET improved = NULL WHERE improved = 0")

    def recent(self, action: MaintenanceAction, now: int) -> Recent:
        """What counts of the runs of a repair within a day."""
        rows = self._connection.execute(
            "SELECT at, improved FROM maintenance_runs WHERE action = ? AND status <> 'recommended' AND at > ?"
            " ORDER BY id DESC LIMIT 2000",
            (action, now - DAY_MS),
        ).fetchall()
        return Recent(
            last_at=rows[0]["at"] if rows else None,
            in_hour=tuple(sorted(row["at"] for row in rows if lies_within(row["at"], now, HOUR_MS))),
            no_help_at=next((row["at"] for row in rows if row["improved"] == 0), None),
        )

    def begin(self, action: MaintenanceAction, now: int, by: str) -> int:
        """Puts down that a repair begins; its number. It counts from now on, whatever becomes of it. What did not end
        before belonged to a process that is gone.
        """
        self._connection.execute(
            "UPDATE maintenance_runs SET status = 'interrupted', finished_at = ?2 WHERE action = ?1"
            " AND status = 'running'",
            (action, now),
        )
        self._connection.execute("DELETE FROM maintenance_runs WHERE at < ?", (now - KEPT_MS,))
        row = self._connection.execute(
            "INSERT INTO maintenance_runs (at, action, by, status) VALUES (?, ?, ?, 'running') RETURNING id",
            (now, action, by),
        ).fetchone()
        return int(row[0])

    def finish(
        self, run_id: int, now: int, *, did: int, left: int, improved: bool | None, error: str = ""
    ) -> MaintenanceRun:
        """Puts down how a run ended."""
        row = self._connection.execute(
            "UPDATE maintenance_runs SET status = ?, did = ?, left = ?, improved = ?, error = ?, finished_at = ?"
            " WHERE id = ? RETURNING *",
            ("failed" if error else "done", did, left, improved, error, now, run_id),
        ).fetchone()
        return _run(row)

    def recommend(self, action: MaintenanceAction, now: int, by: str) -> None:
        """Puts down that a repair is recommended and nobody ran it; once a day, until something else comes of it."""
        last = self._connection.execute(
            "SELECT at, status FROM maintenance_runs WHERE action = ? ORDER BY id DESC LIMIT 1", (action,)
        ).fetchone()
        if last is None or last["status"] != "recommended" or not lies_within(last["at"], now, DAY_MS):
            self._connection.execute(
                "INSERT INTO maintenance_runs (at, action, by, status, finished_at)"
                " VALUES (?1, ?2, ?3, 'recommended', ?1)",
                (now, action, by),
            )

    def latest(self, most: int = 20) -> tuple[MaintenanceRun, ...]:
        """The latest runs, newest first, but those of repairs that only another version knows."""
        rows = self._connection.execute(
            f"SELECT * FROM maintenance_runs WHERE action IN ({', '.join('?' * len(MaintenanceAction))})"
            " ORDER BY id DESC LIMIT ?",
            (*MaintenanceAction, most),
        )
        return tuple(map(_run, rows))
