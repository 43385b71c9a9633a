"""The conditions of a query, such as tag:auth or updated:<30d: one table says of each what stands before its colon,
which values it takes, what a value asks of a note, how that is said, and what is offered while it is typed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cached_property, lru_cache, partial
from typing import Final, NamedTuple

from core.model.joined import Whose
from core.model.names import parse_iso
from core.model.note import SCOPES, TYPES, Note, custom_tags, normalise_tag
from core.text.tokens import fold, words

# While the last visit is unknown, what changed within a day counts as new.
NEW_WITHIN: Final = timedelta(hours=24)
# With this begin the ids by which parts of documents are admitted; no note has such an id.
DOCUMENT: Final = "\0document "


class Elsewhere(NamedTuple):
    """What other places tell of notes. arrived: ids of those that a sync brought or changed since the last visit.
    projects: the name of its project for each nugget that is not the person's. stale: gives the ids of notes that name
    code that is no longer as named.
    """

    arrived: Collection[str] = frozenset()
    projects: Mapping[str, str] = {}
    stale: Callable[[], Collection[str]] = frozenset


class Asked(NamedTuple):
    """What beside a note itself decides whether it fulfils a condition.

    now: with the time zone in which dates are meant. new_since: as the files hold times, the last visit. whose: of a
    note, by its id.
    """

    now: datetime
    new_since: str | None = None
    whose: Callable[[str], Whose] = lambda id: "yours"
    elsewhere: Elsewhere = Elsewhere()


Check = Callable[[Note, Asked], bool]
# Of a value that was typed, whether one that a note has fits it.
Fits = Callable[[str], Callable[[str], bool]]
ValuesOf = Callable[[Note, Mapping[str, str]], Iterable[str]]


class Reading(NamedTuple):
    """How a value was read: in plain words, and what it asks of a note."""

    said: str
    check: Check


@dataclass(frozen=True)
class Field:
    """What may stand before the colon of a condition.

    about: what it asks for, in a few words. read: a value; None for one that cannot be read, and `wanted` says what
    could be. offered: values to choose from. held: those that a note has, which are offered as well; its second
    argument is `Elsewhere.projects`. says: with this begins what a condition says; None for the name of the field.
    """

    about: str
    read: Callable[[str], Reading | None]
    offered: tuple[str, ...] = ()
    wanted: str = ""
    held: ValuesOf | None = None
    says: str | None = None

    def begun(self, value: str) -> bool:
        """Whether a value that cannot be read may be the beginning of one that can."""
        offered = any(one.startswith(value.casefold()) for one in self.offered)
        return offered or any(self.read(value + end) for end in ("0", "1", "01", "d", "1d", "o"))

    def fault(self, value: str) -> str:
        """Why a value cannot be read, in a few words; "" when it can."""
        return "" if self.read(value) else self.wanted or f"known values are {', '.join(self.offered)}"


@dataclass(frozen=True)
class Condition:
    """What a note has to be: one of `values`, as they were typed, in `field`; when `negated`, none of them."""

    field: str
    values: tuple[str, ...]
    negated: bool = False

    def names(self, field: str, value: str) -> bool:
        """Whether a value is among those of a field."""
        return self.field == field and value in map(str.casefold, self.values)

    @cached_property
    def _readings(self) -> list[Reading]:
        return [reading for value in self.values if (reading := FIELDS[self.field].read(value))]

    def admits(self, note: Note, asked: Asked) -> bool:
        """Whether a note fulfils it."""
        return any(reading.check(note, asked) for reading in self._readings) != self.negated

    def described(self) -> str:
        """The condition in a few plain words: "tag auth or login", "changed in the last 30 days"."""
        says = FIELDS[self.field].says
        says = f"{self.field} " if says is None else says
        if self.negated:
            says = "no " if says == "has " else f"not {says}"
        return says + " or ".join(reading.said for reading in self._readings)


@lru_cache(maxsize=20_000)
def _form(name: str) -> str:
    return fold(normalise_tag(name))


def _same_name(value: str) -> Callable[[str], bool]:
    wanted = _form(value)
    return lambda name: _form(name) == wanted


def _with_words(value: str) -> Callable[[str], bool]:
    """Whether a text holds all words of a value, the beginning of a word being enough."""
    wanted = words(value)
    needles = wanted or [" ".join(fold(value).split())]

    def fits(text: str) -> bool:
        folded = fold(text)
        if not all(needle in folded for needle in needles):
            return False
        present = words(text, compounds=True) if wanted else ()
        return all(any(word.startswith(one) for word in present) for one in wanted)

    return fits


def _held(about: str, held: ValuesOf, offered: tuple[str, ...] = (), fits: Fits = _same_name) -> Field:
    """A field of which a note has values, one of which has to fit. offered: all there are; () where any may be."""

    def read(value: str) -> Reading | None:
        if offered and value.casefold() not in offered:
            return None
        fitting = fits(value)
        return Reading(value, lambda note, asked: any(map(fitting, held(note, asked.elsewhere.projects))))

    return Field(about, read, offered, held=held)


# What a note is and has


def _is_new(note: Note, asked: Asked) -> bool:
    # What a sync brought was changed on another machine whenever that was; here it is news since it came.
    if note.id in asked.elsewhere.arrived:
        return True
    changed = [moment for stamp in (note.created_at, note.updated_at) if (moment := parse_iso(stamp))]
    since = parse_iso(asked.new_since) if asked.new_since else None
    return bool(changed) and max(changed) > (since or asked.now - NEW_WITHIN)


def _holds_secret(note: Note, asked: Asked) -> bool:
    from core.model.secrets import secrets_of

    return bool(secrets_of(note))


_IS: Final[dict[str, Reading]] = {
    "hidden": Reading("hidden", lambda note, asked: note.hidden),
    "pinned": Reading("pinned", lambda note, asked: "pinned" in map(_form, note.tags)),
    "new": Reading("new", _is_new),
    "fact": Reading("a fact", lambda note, asked: note.is_fact),
    "note": Reading(
        "a plain note", lambda note, asked: not note.is_fact and not note.id.startswith(DOCUMENT)
    ),
    "stale": Reading("with stale references", lambda note, asked: note.id in asked.elsewhere.stale()),
    "secret": Reading("with a possible secret", _holds_secret),
    "document": Reading("a part of a document", lambda note, asked: note.id.startswith(DOCUMENT)),
    "mine": Reading("your own", lambda note, asked: asked.whose(note.id) != "team"),
    "team": Reading("the team's", lambda note, asked: asked.whose(note.id) in ("team", "both")),
}
_HAS: Final[dict[str, Reading]] = {
    "links": Reading("links", lambda note, asked: bool(note.links)),
    "tags": Reading("tags", lambda note, asked: bool(custom_tags(note))),
    "recalls": Reading("recalls", lambda note, asked: note.hits > 0),
}


# Numbers and times

_COUNT: Final = re.compile(r"([<>]=?)?([0-9]{1,9})")
_FEWER: Final = {"<": "fewer than ", "<=": "at most ", ">": "more than ", ">=": "at least "}
_EARLIER: Final = {"<": "before ", "<=": "up to ", ">": "after ", ">=": "since "}
_UNITS: Final[dict[str, tuple[timedelta, str]]] = {
    "h": (timedelta(hours=1), "hour"),
    "d": (timedelta(days=1), "day"),
    "w": (timedelta(weeks=1), "week"),
    "mo": (timedelta(days=365.25 / 12), "month"),
    "y": (timedelta(days=365.25), "year"),
}
_TIME: Final = re.compile(
    r"([<>]=?)?(?:([0-9]{1,3})(h|d|w|mo|y)|(today|(?:19|2[0-9])[0-9]{2}(?:-[0-9]{2}(?:-[0-9]{2})?)?))"
)


def _compared(sign: str, since: bool, after: bool) -> bool:
    """Whether what lies at or after the beginning of something, and after its end, is what a sign asks for."""
    return {"": since and not after, "<": not since, "<=": not after, ">": after, ">=": since}[sign]


def _read_count(value: str) -> Reading | None:
    found = _COUNT.fullmatch(value)
    if found is None:
        return None
    sign, number = found[1] or "", int(found[2])
    said = f"{_FEWER.get(sign, '')}{number} {'time' if number == 1 else 'times'}"
    return Reading(said, lambda note, asked: _compared(sign, note.hits >= number, note.hits > number))


def _read_time(stamp_of: Callable[[Note], str], value: str) -> Reading | None:
    """An age such as "<30d", which is meant without a sign as well, or a date such as ">2026-01"."""
    found = _TIME.fullmatch(value.casefold())
    if found is None:
        return None
    sign, count, unit, named = found.groups("")
    if unit:
        unit_of_time, noun = _UNITS[unit]
        age, older = int(count) * unit_of_time, sign.startswith(">")
        many = f"{count} {noun}{'' if count == '1' else 's'}"
        said = f"more than {many} ago" if older else f"in the last {many.removeprefix('1 ')}"
        sign = "<" if older else ">="
    else:
        try:
            _days(named, date.today())
        except ValueError:
            return None
        on = "" if named == "today" else "on " if named.count("-") == 2 else "in "
        said = _EARLIER.get(sign, on) + named

    def check(note: Note, asked: Asked) -> bool:
        moment, now = parse_iso(stamp_of(note)), asked.now
        if moment is None:
            return False
        if unit:
            start = end = now - age
        else:
            start, end = (datetime.combine(day, time(), now.tzinfo) for day in _days(named, now.date()))
        return _compared(sign, moment >= start, moment >= end)

    return Reading(said, check)


@lru_cache(maxsize=64)
def _days(named: str, today: date) -> tuple[date, date]:
    """The first day of a year, month or day ("2026", "2026-01", "2026-01-31"), or today, and the first day after it.

    Raises ValueError for one that is in no calendar.
    """
    if named == "today":
        return today, today + timedelta(days=1)
    year, month, day = (*map(int, named.split("-")), 0, 0)[:3]
    first = date(year, month or 1, day or 1)
    if day:
        return first, first + timedelta(days=1)
    return first, (first + timedelta(days=31 if month else 366)).replace(day=1)


def _timed(verb: str, about: str, stamp_of: Callable[[Note], str]) -> Field:
    offered = ("<1d", "<7d", "<30d", ">90d", ">1y", "today")
    wanted = "not a time such as <30d or >2026-01-01"
    return Field(about, partial(_read_time, stamp_of), offered, wanted, says=f"{verb} ")


# In the order in which they are offered.
FIELDS: Final[dict[str, Field]] = {
    "tag": _held("with a tag", lambda note, projects: note.tags),
    "is": Field(", ".join(_IS), lambda value: _IS.get(value.casefold()), tuple(_IS), says=""),
    "updated": _timed(
        "changed", "changed: <30d, >1y, >2026-01-31", lambda note: max(note.updated_at, note.created_at)
    ),
    "scope": _held("of a scope", lambda note, projects: (note.scope,), SCOPES),
    "type": _held("of a type", lambda note, projects: (note.type,), TYPES),
    "title": _held("words in the title", lambda note, projects: (note.title,), fits=_with_words),
    "nugget": _held("in a nugget", lambda note, projects: (note.nugget_name,)),
    "project": _held("of a project", lambda note, projects: (projects.get(note.nugget_name, ""),)),
    "hits": Field(
        "recalled: >3, 0", _read_count, (">0", ">3", ">=10", "0"), "not a number such as >3", says="recalled "
    ),
    "has": Field(", ".join(_HAS), lambda value: _HAS.get(value.casefold()), tuple(_HAS), says="has "),
    "subject": _held("about a subject", lambda note, projects: (note.subject,), fits=_with_words),
    "created": _timed("created", "made: <30d, >1y, >2026-01-31", lambda note: note.created_at),
}
