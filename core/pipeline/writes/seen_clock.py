"""Whether the clock may say what is old, as all processes have seen it: one that was wrong once costs nothing."""

from __future__ import annotations

from core.pipeline.database import meta
from core.pipeline.database.connection import Database
from core.pipeline.database.tables import Tables
from core.pipeline.retention import SeenClock


def trusts_clock(database: Database, now: int) -> bool:
    """Whether something may be deleted by this clock, epoch ms. Writes only where that changes, and each hour."""
    seen = _seen(database.reading)
    trusted, then = seen.look(now)
    if then == seen:
        return trusted
    with database.write(lasting=False) as writer:
        return trusts_clock_in(writer, now)


def trusts_clock_in(writer: Tables, now: int) -> bool:
    """The same in the caller's transaction."""
    seen = _seen(writer)
    trusted, then = seen.look(now)
    for name, before, value in (
        (meta.CLOCK_TRUSTED, seen.trusted, then.trusted),
        (meta.CLOCK_LEAPT, seen.leapt, then.leapt),
    ):
        if value is None:
            writer.meta.drop(name)
        elif value != before:
            writer.meta.put(name, value)
    return trusted


def _seen(reader: Tables) -> SeenClock:
    trusted = reader.meta.number(meta.CLOCK_TRUSTED)
    # Before the first look, the last thing that was done says what time it was.
    last = reader.history.last_at() if trusted is None else trusted
    return SeenClock(last, reader.meta.number(meta.CLOCK_LEAPT))
