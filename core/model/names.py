"""Names that become file names, ids, times, durations and counts: checked and made in one place."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from core.errors import ErrorCode, InvalidInputError

_NUGGET_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")
_DEVICES: Final = frozenset(
    ["con", "prn", "aux", "nul", *(f"com{i}" for i in range(10)), *(f"lpt{i}" for i in range(10))]
)
# Nuggets that say what kind of notes they hold, not of which project they are.
PERSONS_NUGGETS: Final = frozenset(
    (
        *("prefs", "preferences", "people", "person", "user", "me", "self", "memory", "learnings", "shared"),
        *("general", "notes", "default", "project", "team"),
    )
)
DEFAULT_NUGGET: Final = "memory"
# Characters of a mistyped name that are compared, and of a title; how alike names and ids are at least, in percent,
# that are suggested, and how many.
_LONGEST_GIVEN: Final = 200
_LONGEST_TITLE: Final = 200
_ALIKE: Final = 60
_ALIKE_ID: Final = 90
_ALIKE_ID_END: Final = 85
_MOST_NAMED: Final = 2
# Seconds below which a duration is told in a unit of so many seconds.
_STEPS: Final = ((60, 1, "s"), (3600, 60, "min"), (86_400, 3600, "h"), (86_400 * 60, 86_400, "d"))
_MONTH: Final = 86_400 * 30.44


def check_nugget_name(name: str, existing: Iterable[str] = ()) -> str:
    """The name, when it may become a file's name on every system. Raises InvalidInputError otherwise.

    Letters, digits, ".", "_" and "-", at most 64, no leading dot, no trailing dot, no Windows device name, not
    equal to an existing name in all but case.
    """
    if not _NUGGET_NAME.fullmatch(name) or name.endswith("."):
        raise InvalidInputError(
            "not a valid nugget name (letters, digits, '.', '_', '-'; at most 64; no dot at either end)",
            code=ErrorCode.BAD_NAME, field="nugget", where=repr(name[:80]), kept="nothing was written",
        )  # fmt: skip
    if name.split(".")[0].lower() in _DEVICES:
        raise InvalidInputError(
            "Windows reserves this name", code=ErrorCode.BAD_NAME, field="nugget", where=name,
            kept="nothing was written",
        )  # fmt: skip
    for other in existing:
        if other != name and other.lower() == name.lower():
            raise InvalidInputError(
                f"differs from the nugget {other!r} only in case", code=ErrorCode.NAME_TAKEN, field="nugget",
                where=name, kept="nothing was written", todo=f"use {other!r} or another name",
            )  # fmt: skip
    return name


def known_nugget(name: str, known: Collection[str]) -> str:
    """A nugget's name as it is spelled already where only case differs: files of both could not lie side by side."""
    if name in known:
        return name
    return next((other for other in sorted(known) if other.lower() == name.lower()), name)


def note_id(kind: str, nugget: str, unique: str) -> str:
    """An id of the file format: `fact-<nugget>-<8 hex>` or `note-<nugget>-<8 hex>`."""
    return f"{'fact' if kind == 'fact' else 'note'}-{nugget}-{unique}"


def iso(moment: datetime) -> str:
    """A time as the files hold it: UTC, milliseconds, "Z"."""
    utc = moment.astimezone(UTC)
    return utc.strftime("%Y-%m-%dT%H:%M:%S.") + f"{utc.microsecond // 1000:03d}Z"


def parse_iso(text: str) -> datetime | None:
    """The time in a file's text, or None when it is no time."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def duration(seconds: float) -> str:
    """Seconds in the largest unit that fits, rounded down: "now", "2 s", "5 min", "3 h", "12 d", "4 mo", "2 y"; "now"
    for less than a second.
    """
    if seconds < 1:
        return "now"
    for limit, unit, name in _STEPS:
        if seconds < limit:
            return f"{int(seconds // unit)} {name}"
    months = int(seconds // _MONTH)
    return f"{months} mo" if months < 24 else f"{months // 12} y"


def counted(number: int, one: str, many: str) -> str:
    """A number with its noun: "1 note", "2,000 notes"."""
    return f"{number:,} {one if number == 1 else many}"


def did_you_mean(wanted: str, names: Iterable[str]) -> str:
    """A question after the one or two names that are most like what was given; "" for none alike."""
    return _question(_most_like(wanted, {name.casefold(): name for name in names}, _ALIKE))


def did_you_mean_note(wanted: str, titles: Iterable[str], ids: Iterable[str]) -> str:
    """The same for a note, by its title or its id; "" for none alike.

    Ids share their beginnings, so that one is alike only where hardly a sign of it is another.
    """
    given = wanted.strip().casefold()
    ids = tuple(ids)
    near = _most_like(given, {id.casefold(): id for id in ids}, _ALIKE_ID)
    near = near or _most_like(given, {id.rpartition("-")[2].casefold(): id for id in ids}, _ALIKE_ID_END)
    found = _most_like(given, {title[:_LONGEST_TITLE].casefold(): title for title in titles}, _ALIKE)
    return _question([*near, *(f'"{title}"' for title in found)][:_MOST_NAMED])


def _question(near: list[str]) -> str:
    return f"did you mean {' or '.join(near)}?" if near else ""


def _most_like(wanted: str, names: dict[str, str], least: float) -> list[str]:
    """The one or two that are most like what was given. names: each under what it is compared by."""
    from rapidfuzz import fuzz, process

    given = wanted.strip().casefold()[:_LONGEST_GIVEN]
    near = process.extract(given, list(names), scorer=fuzz.ratio, limit=_MOST_NAMED, score_cutoff=least)
    return [names[name] for name, _, _ in near]


def select_ids(ids: Sequence[str], named: Collection[str]) -> tuple[set[str], tuple[str, ...]]:
    """The ids that are meant by ids or unambiguous beginnings of ids, and what fits none or several."""
    known = set(ids)
    found: set[str] = set()
    unknown: list[str] = []
    for wanted in named:
        fitting = [wanted] if wanted in known else [id for id in ids if wanted and id.startswith(wanted)]
        if len(fitting) == 1:
            found.add(fitting[0])
        else:
            unknown.append(wanted)
    return found, tuple(unknown)
