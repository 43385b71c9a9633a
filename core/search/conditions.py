"""The conditions of a query, such as tag:auth or updated:<30d: one table of the fields, and which notes they admit."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
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
_DAY: Final = timedelta(days=1)
_UNITS: Final[dict[str, tuple[timedelta, str]]] = {
    "min": (timedelta(minutes=1), "minute"),
    "h": (timedelta(hours=1), "hour"),
    "d": (_DAY, "day"),
    "w": (timedelta(weeks=1), "week"),
    "mo": (timedelta(days=365.25 / 12), "month"),
    "y": (timedelta(days=365.25), "year"),
}
_COMPARED: Final = re.compile(r"(<=|>=|<|>|=)?([^<>=]+)")
_COUNT: Final = re.compile(r"[0-9]{1,9}")
_AGE: Final = re.compile(r"([0-9]{1,4})(min|h|d|w|mo|y)")
_DATE: Final = re.compile(r"((?:19|2[0-9])[0-9]{2})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")
_BEGUN_COUNT: Final = re.compile(r"[<>]?=?")
_BEGUN_TIME: Final = re.compile(r"[<>]?=?[0-9]{0,4}m?|[<>]?=?[0-9]{4}-(?:[0-9]{1,2}-?)?[0-9]?")
_NAMED_DAYS: Final = ("today", "yesterday")


class Elsewhere(NamedTuple):
    """What other places tell of notes. arrived: ids of those that a sync brought or changed since the last visit.
    projects: the name of its project for each nugget that is not the person's.
    """

    arrived: Collection[str] = frozenset()
    projects: Mapping[str, str] = {}


NOWHERE_ELSE: Final = Elsewhere()


class Asked(NamedTuple):
    """What beside a note itself decides whether it fulfils a condition.

    now: with the time zone in which dates are meant. new_since: as the files hold times, the last visit. whose: of a
    note, by its id.
    """

    now: datetime
    new_since: str | None = None
    whose: Callable[[str], Whose] = lambda id: "yours"
    elsewhere: Elsewhere = NOWHERE_ELSE


Check = Callable[[Note, Asked], bool]


@dataclass(frozen=True)
class Field:
    """What may stand before the colon of a condition.

    about: what it asks for, in a few words. check: what a value asks of a note. choices: the values there are, where
    these are known beforehand; examples: some, where there is no end of them. can_be_read, begun: whether a value can
    be read, or may be the beginning of one that can. described: a value in plain words. noun: whether these follow the
    field's name. single: a note has one of it, so that naming two can only mean either.
    """

    about: str
    check: Callable[[str], Check]
    choices: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    can_be_read: Callable[[str], bool] = lambda value: True
    begun: Callable[[str], bool] = lambda value: not value
    described: Callable[[str], str] = lambda value: " ".join(value.split())
    noun: bool = True
    single: bool = False


@dataclass(frozen=True)
class Condition:
    """What a note has to be: one of `values`, in `field`; when `negated`, none of them.

    The values are as they were typed; `fault` says beforehand whether they can be read.
    """

    field: str
    values: tuple[str, ...]
    negated: bool = False

    def admits(self, note: Note, asked: Asked) -> bool:
        """Whether a note fulfils it."""
        return any(check(note, asked) for check in self._checks) != self.negated

    @cached_property
    def _checks(self) -> tuple[Check, ...]:
        return tuple(map(FIELDS[self.field].check, self.values))

    def described(self) -> str:
        """The condition in a few plain words: "tag auth or login", "changed in the last 30 days"."""
        field = FIELDS[self.field]
        said = " or ".join(map(field.described, self.values))
        if self.field == "has":
            return f"{'no' if self.negated else 'has'} {said}"
        return f"{'not ' if self.negated else ''}{f'{self.field} ' if field.noun else ''}{said}"


def fault(name: str, value: str) -> str:
    """Why a value cannot be read in a field, in a few words; "" when it can."""
    field = FIELDS[name]
    if field.choices:
        known = value.casefold() in field.choices
        return "" if known else f"known values are {', '.join(field.choices)}"
    if field.can_be_read(value):
        return ""
    return "not a number such as >3" if name == "hits" else "not a time such as <30d or >2026-01-01"


def begun(name: str, value: str) -> bool:
    """Whether a value that cannot be read may be the beginning of one that can."""
    field = FIELDS[name]
    if field.choices:
        return any(choice.startswith(value.casefold()) for choice in field.choices)
    return field.begun(value)


# What a value asks of a note


def _equal(read: Callable[[Note], str], value: str) -> Check:
    wanted = fold(value)
    return lambda note, asked: fold(read(note)) == wanted


def _of_project(value: str) -> Check:
    wanted = fold(value)
    return lambda note, asked: fold(asked.elsewhere.projects.get(note.nugget_name, "")) == wanted


def _tagged(value: str) -> Check:
    wanted = _tag_form(value)
    return lambda note, asked: any(_tag_form(tag) == wanted for tag in note.tags)


@lru_cache(maxsize=20_000)
def _tag_form(tag: str) -> str:
    return fold(normalise_tag(tag))


def _worded(read: Callable[[Note], str], value: str) -> Check:
    """All words of the value stand in a text, the beginning of a word being enough."""
    wanted = words(value)
    needles = wanted or [" ".join(fold(value).split())]

    def check(note: Note, asked: Asked) -> bool:
        text = read(note)
        folded = fold(text)
        if not all(needle in folded for needle in needles):
            return False
        present = words(text, compounds=True) if wanted else ()
        return all(any(word.startswith(one) for word in present) for one in wanted)

    return check


def _new(note: Note, asked: Asked) -> bool:
    # What a sync brought was changed on another machine whenever that was; here it is news since it came.
    if note.id in asked.elsewhere.arrived:
        return True
    changed = [moment for stamp in (note.created_at, note.updated_at) if (moment := parse_iso(stamp))]
    since = parse_iso(asked.new_since) if asked.new_since else None
    if not changed:
        return False
    return max(changed) > since if since else asked.now - max(changed) <= NEW_WITHIN


def _holds_secret(note: Note) -> bool:
    from core.model.secrets import secrets_of

    return bool(secrets_of(note))


# The values of is: and has:, what each asks of a note, and those of is: in plain words.
_IS: Final[dict[str, tuple[str, Check]]] = {
    "hidden": ("hidden", lambda note, asked: note.hidden),
    "pinned": ("pinned", lambda note, asked: "pinned" in map(_tag_form, note.tags)),
    "new": ("new", _new),
    "fact": ("a fact", lambda note, asked: note.is_fact),
    "note": ("a plain note", lambda note, asked: not note.is_fact and not note.id.startswith(DOCUMENT)),
    "secret": ("with a possible secret", lambda note, asked: _holds_secret(note)),
    "document": ("a part of a document", lambda note, asked: note.id.startswith(DOCUMENT)),
    "mine": ("your own", lambda note, asked: asked.whose(note.id) != "team"),
    "team": ("the team's", lambda note, asked: asked.whose(note.id) in ("team", "both")),
}
_HAS: Final[dict[str, Check]] = {
    "links": lambda note, asked: bool(note.links),
    "tags": lambda note, asked: bool(custom_tags(note)),
    "recalls": lambda note, asked: note.hits > 0,
}


def _counted(value: str) -> Check:
    sign, number = _count(value) or ("=", 0)
    compare = _SIGNS[sign or "="]
    return lambda note, asked: compare(note.hits, number)


_SIGNS: Final[dict[str, Callable[[int, int], bool]]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "=": lambda a, b: a == b,
}


def _count(value: str) -> tuple[str, int] | None:
    match = _COMPARED.fullmatch(value)
    if match is None or not _COUNT.fullmatch(match[2]):
        return None
    return match[1] or "", int(match[2])


def _timed(read: Callable[[Note], str], value: str) -> Check:
    def check(note: Note, asked: Asked) -> bool:
        moment = parse_iso(read(note))
        return moment is not None and _in_time(value, moment, asked.now)

    return check


def _in_time(value: str, moment: datetime, now: datetime) -> bool:
    age = _age(value)
    if age:
        sign, count, unit = age
        young = now - moment <= count * _UNITS[unit][0]
        return young != sign.startswith(">")
    sign, (start, end) = _bounds(value, now.date(), now.tzinfo)
    if sign.startswith("<"):
        return moment < (end if sign == "<=" else start)
    if sign.startswith(">"):
        return moment >= (start if sign == ">=" else end)
    return start <= moment < end


def _age(value: str) -> tuple[str, int, str] | None:
    """Sign, number and unit of an age such as "<30d"; "<" when it has no sign."""
    match = _COMPARED.fullmatch(value)
    found = _AGE.fullmatch(match[2].casefold()) if match else None
    if match is None or found is None:
        return None
    return match[1] or "<", int(found[1]), found[2]


def _day(value: str) -> tuple[str, str] | None:
    """Sign and day, month or year of a date such as ">2026-01-01"; None for no such date."""
    match = _COMPARED.fullmatch(value)
    if match is None:
        return None
    named = match[2].casefold()
    if named in _NAMED_DAYS:
        return match[1] or "", named
    return (match[1] or "", named) if _dates(named) else None


def _dates(named: str) -> tuple[date, date] | None:
    """The first day of a year, month or day such as "2026", "2026-01", "2026-01-31", and the first after it."""
    match = _DATE.fullmatch(named)
    if match is None:
        return None
    year, month, day = int(match[1]), int(match[2] or 1), int(match[3] or 1)
    try:
        first = date(year, month, day)
    except ValueError:
        return None
    if match[3]:
        return first, first + _DAY
    if match[2]:
        return first, date(year + month // 12, month % 12 + 1, 1)
    return first, date(year + 1, 1, 1)


@lru_cache(maxsize=64)
def _bounds(value: str, today: date, zone: tzinfo | None) -> tuple[str, tuple[datetime, datetime]]:
    sign, named = _day(value) or ("", "today")
    first = today if named == "today" else today - _DAY
    dates = _dates(named) or (first, first + _DAY)
    start, end = (datetime(day.year, day.month, day.day, tzinfo=zone or UTC) for day in dates)
    return sign, (start, end)


def _is_time(value: str) -> bool:
    return bool(_age(value) or _day(value))


def _begins_time(value: str) -> bool:
    bare = value.lstrip("<>=").casefold()
    return bool(_BEGUN_TIME.fullmatch(value)) or any(day.startswith(bare) for day in _NAMED_DAYS)


def _describe_count(value: str) -> str:
    sign, number = _count(value) or ("", 0)
    how = {"<": "fewer than ", "<=": "at most ", ">": "more than ", ">=": "at least "}.get(sign, "")
    return f"recalled {how}{number} {'time' if number == 1 else 'times'}"


def _describe_time(value: str) -> str:
    age = _age(value)
    if age:
        sign, count, unit = age
        noun = _UNITS[unit][1]
        many = noun if count == 1 else f"{count} {noun}s"
        if sign.startswith(">"):
            return f"more than {'1 ' if count == 1 else ''}{many} ago"
        return f"in the last {many}"
    sign, named = _day(value) or ("", value)
    how = {"<": "before ", "<=": "up to ", ">": "after ", ">=": "since "}.get(sign)
    if how is None:
        how = "" if named.isalpha() else "on " if len(named) == 10 else "in "
    return how + named


def _times(read: Callable[[Note], str], verb: str) -> Field:
    return Field(
        f"{'changed' if verb == 'changed' else 'made'}: <30d, >1y, >2026-01-31",
        partial(_timed, read),
        examples=("<1d", "<7d", "<30d", ">90d", ">1y", "today", "yesterday"),
        can_be_read=_is_time,
        begun=_begins_time,
        described=lambda value: f"{verb} {_describe_time(value)}",
        noun=False,
    )


# In the order in which they are offered.
FIELDS: Final[dict[str, Field]] = {
    "tag": Field("with a tag", _tagged),
    "is": Field(
        "hidden, pinned, new, fact, note, secret, document",
        lambda value: _IS[value.casefold()][1],
        choices=tuple(_IS),
        described=lambda value: _IS[value.casefold()][0],
        noun=False,
    ),
    "updated": _times(lambda note: max(note.updated_at, note.created_at), "changed"),
    "scope": Field("of a scope", partial(_equal, lambda note: note.scope), choices=SCOPES, single=True),
    "type": Field("of a type", partial(_equal, lambda note: note.type), choices=TYPES, single=True),
    "title": Field("words in the title", partial(_worded, lambda note: note.title)),
    "nugget": Field("in a nugget", partial(_equal, lambda note: note.nugget_name), single=True),
    "project": Field("of a project", _of_project, single=True),
    "hits": Field(
        "recalled: >3, 0",
        _counted,
        examples=(">0", ">3", ">=10", "0"),
        can_be_read=lambda value: _count(value) is not None,
        begun=lambda value: bool(_BEGUN_COUNT.fullmatch(value)),
        described=_describe_count,
        noun=False,
    ),
    "has": Field(
        "links, tags, recalls",
        lambda value: _HAS[value.casefold()],
        choices=tuple(_HAS),
        described=str.casefold,
        noun=False,
    ),
    "subject": Field("about a subject", partial(_worded, lambda note: note.subject)),
    "created": _times(lambda note: note.created_at, "created"),
}
