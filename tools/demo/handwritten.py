"""The entries written by hand, read from the data files beside this module."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib import resources
from typing import Any
from zlib import crc32

from core.model.infer import MetaInput
from nuggets_tui.demo import DEMO_NOW
from tools.demo.generated import NUGGETS

_AGENTS = ("claude", "claude", "codex", "claude", "pi")
_META = ("subject", "scope", "type", "source", "confidence", "stability")


@dataclass(frozen=True)
class DemoEntry:
    """A fact or a note as it was written by hand.

    name: how links name it, unique over all files ("<nugget>:<key>" for a fact). links: reason by name of the
    target, each said on one side only. place: where a hidden fact stood in its nugget. All times in UTC.
    """

    name: str
    nugget: str
    kind: str
    title: str
    content: str
    created: datetime
    edited: datetime | None
    rewritten: datetime | None
    used: datetime | None
    hidden: datetime | None
    hits: int
    session: str
    tags: tuple[str, ...]
    meta: MetaInput
    links: Mapping[str, str]
    place: int


def entries() -> list[DemoEntry]:
    """All entries, nugget by nugget, in the order of the data files."""
    return list(_every())


@cache
def _every() -> tuple[DemoEntry, ...]:
    return tuple(entry for nugget in NUGGETS for entry in _entries_of(read_table(f"data/{nugget}.toml")))


def read_table(path: str) -> dict[str, Any]:
    """A TOML file of this package."""
    text = resources.files("tools.demo").joinpath(path).read_text(encoding="utf-8")
    return tomllib.loads(text)


def _entries_of(table: dict[str, Any]) -> Iterator[DemoEntry]:
    nugget = table["nugget"]
    for row in [*table["facts"], *table.get("hidden_facts", ())]:
        yield _entry(f"{nugget}:{row['key']}", nugget, "fact", row["key"], row["value"], table, row)
    for row in table["note"]:
        yield _entry(row["id"], nugget, "note", row["title"], row["text"].rstrip("\n"), table, row)


def _entry(
    name: str,
    nugget: str,
    kind: str,
    title: str,
    content: str,
    defaults: Mapping[str, Any],
    row: Mapping[str, Any],
) -> DemoEntry:
    created = _moment(row["on"], name)
    hits = row.get("hits", 0)
    used = _used(row, name, created) if hits else None
    # The agent's notes on itself keep the source that follows from their scope.
    sources = (row,) if row.get("scope") == "self" else (defaults, row)
    given = {field: source[field] for source in sources for field in _META if field in source}
    usual_tags = defaults.get("fact_tags", ()) if kind == "fact" else ()
    return DemoEntry(
        name=name,
        nugget=nugget,
        kind=kind,
        title=title,
        content=content,
        created=created,
        edited=_later(row, "edited", name, created),
        rewritten=_later(row, "rewritten", name, created),
        used=used,
        hidden=_later(row, "hidden", name, created),
        hits=hits,
        session=_session(name, used),
        tags=tuple(row.get("tags", usual_tags)),
        meta=MetaInput(**given).checked(),
        links=row.get("links", {}),
        place=row.get("place", 0),
    )


def _used(row: Mapping[str, Any], name: str, created: datetime) -> datetime:
    """When the entry was last recalled: as written, else on some day after it was made."""
    if "used" in row:
        return max(_moment(row["used"], name + "/used"), created + timedelta(minutes=20))
    days = max(1, (DEMO_NOW.date() - created.date()).days - 1)
    day = created.date() + timedelta(days=1 + _number(name + "/day") % days)
    return min(max(_moment(day, name + "/used"), created), DEMO_NOW)


def _later(row: Mapping[str, Any], field: str, name: str, created: datetime) -> datetime | None:
    if field not in row:
        return None
    return max(_moment(row[field], f"{name}/{field}"), created + timedelta(minutes=10))


def _moment(day: date, name: str) -> datetime:
    """A time as written, or one in the working hours of a day that follows from the name alone."""
    if isinstance(day, datetime):
        return day.astimezone(UTC)
    start = datetime(day.year, day.month, day.day, 7, 40, tzinfo=UTC)
    hours = 2 if day == DEMO_NOW.date() else 9
    return start + timedelta(milliseconds=_number(name) % (hours * 3_600_000))


def _session(name: str, used: datetime | None) -> str:
    if used is None:
        return ""
    number = _number(f"{name}/session")
    return f"{_AGENTS[number % len(_AGENTS)]}-{used:%Y-%m-%d}-{number // 8 % 4 + 1}"


def _number(name: str) -> int:
    """A number that looks arbitrary and never changes for a name."""
    return crc32(name.encode())
