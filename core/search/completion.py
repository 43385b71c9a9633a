"""Completes the search box: names of fields, and the values that the memory has for them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from core.model.joined import Joined, join
from core.model.note import Note, normalise_tag
from core.model.snapshot import Snapshot
from core.search.conditions import FIELDS, Condition, fault
from core.search.query_syntax import QUOTES
from core.text.tokens import fold

MOST: Final = 8
# A field and its values are looked for in so many characters before the cursor.
_LOOKED_AT: Final = 300
_FIELD_BEFORE: Final = re.compile(rf"(?:^|(?<=\s))-?({'|'.join(FIELDS)}):(?![:/])", re.IGNORECASE | re.ASCII)
_LAST_WORD: Final = re.compile(r"(?:^|(?<=\s))(-?)(\S*)\Z")
_REST: Final = re.compile(r"[^\s,]*")
_NUMBER: Final = re.compile(r"[<>]?=?[0-9]{1,4}")
# Tags that say again what scope and type say.
_SYSTEM: Final = ("scope:", "type:")
_UNITS: Final = ("d", "w", "mo", "y", "h")


@dataclass(frozen=True)
class Offers:
    """The values that a memory has for each field, as (value, how many notes have it), most frequent first. whose:
    where a team's notes are in reach.
    """

    nugget: tuple[tuple[str, int], ...] = ()
    scope: tuple[tuple[str, int], ...] = ()
    type: tuple[tuple[str, int], ...] = ()
    subject: tuple[tuple[str, int], ...] = ()
    tag: tuple[tuple[str, int], ...] = ()
    whose: tuple[tuple[str, int], ...] = ()


class Completion(NamedTuple):
    """A text that may take the place of what stands from `start` to `end`. `about`: what it means, in a few words."""

    text: str
    start: int
    end: int
    about: str = ""

    def applied(self, text: str) -> str:
        """A text with the completion in it."""
        return text[: self.start] + self.text + text[self.end :]


@lru_cache(maxsize=2)
def offers_of(snapshot: Snapshot, team: Snapshot | None = None) -> Offers:
    """What the visible notes of a snapshot offer, with a team's where these are in reach; tags that say nugget, scope
    and type are left out.
    """
    joined = None if team is None else join(snapshot, team)
    snapshot = snapshot if joined is None else joined.snapshot
    notes = snapshot.visible
    tags: Counter[str] = Counter()
    for note in notes:
        tags.update(note.tags)
    nuggets = {normalise_tag(name) for name in snapshot.nugget_names}
    own = Counter(
        {tag: count for tag, count in tags.items() if tag not in nuggets and not tag.startswith(_SYSTEM)}
    )
    return Offers(
        nugget=_frequent(Counter(note.nugget_name for note in notes)),
        scope=_frequent(Counter(note.scope for note in notes)),
        type=_frequent(Counter(note.type for note in notes)),
        subject=_frequent(Counter(note.subject for note in notes)),
        tag=_frequent(own),
        whose=() if joined is None else _whose(notes, joined),
    )


def _whose(notes: Iterable[Note], joined: Joined) -> tuple[tuple[str, int], ...]:
    found = Counter(joined.whose(note.id) for note in notes)
    return ("team", found["team"] + found["both"]), ("mine", found["yours"] + found["both"])


def complete(text: str, cursor: int, offers: Offers) -> tuple[Completion, ...]:
    """What may stand at a place of a query, best first, at most `MOST`.

    cursor: characters before it. After "field:" the values that begin as typed, then those that hold what is typed;
    elsewhere the fields, and tags, that begin as the word does. Nothing inside of a phrase or for a finished value.
    """
    cursor = max(0, min(cursor, len(text)))
    start = max(0, cursor - _LOOKED_AT)
    head = text[start:cursor]
    rest = _REST.match(text, cursor)
    end = rest.end() if rest else cursor
    value = _value_before(head)
    if value is not None:
        field, typed = value
        return tuple(_values(field, typed, cursor - len(typed), end, offers))[:MOST]
    word = _LAST_WORD.search(head)
    begins_before_a_word = word is not None and not word[2] and end > cursor
    if word is None or begins_before_a_word or word[2][:1] in tuple(QUOTES):
        return ()
    return tuple(_fields(word[2], cursor - len(word[2]), end, offers))[:MOST]


def _value_before(head: str) -> tuple[str, str] | None:
    """The field whose value is being typed at the end of a text, and what of the value is there; None for none."""
    fields = list(_FIELD_BEFORE.finditer(head))
    if not fields:
        return None
    field = fields[-1]
    value, quoted = head[field.end() :], False
    begins = 0
    for place, char in enumerate(value):
        if char in QUOTES:
            quoted = not quoted
        elif not quoted and char.isspace():
            return None
        elif not quoted and char == ",":
            begins = place + 1
    return field[1].lower(), value[begins:]


def _values(field: str, typed: str, start: int, end: int, offers: Offers) -> Iterator[Completion]:
    bare = fold(typed.lstrip(QUOTES))
    listed = _listed(field, bare, offers)
    folded = [(fold(value), value, count) for value, count in listed]
    first = [item for item in folded if item[0].startswith(bare) and item[0] != bare]
    # One letter stands in nearly everything.
    inside = [item for item in folded if len(bare) > 1 and bare in item[0] and not item[0].startswith(bare)]
    for _, value, count in [*first, *inside]:
        if any(quote in value for quote in QUOTES):
            continue
        plain = not any(char.isspace() or char == "," for char in value) and typed[:1] not in tuple(QUOTES)
        yield Completion(value if plain else f'"{value}"', start, end, _about(field, value, count))


def _listed(field: str, bare: str, offers: Offers) -> list[tuple[str, int]]:
    """The values of a field with their counts; what may be typed with a count of 0 behind what there is."""
    if examples := FIELDS[field].examples:
        begun = [bare + unit for unit in _UNITS] if field != "hits" and _NUMBER.fullmatch(bare) else []
        return [(value, 0) for value in dict.fromkeys([*examples, *begun])]
    known: tuple[tuple[str, int], ...] = offers.whose if field == "is" else getattr(offers, field, ())
    present = {value for value, _ in known} | (set() if offers.whose else {"mine", "team"})
    others = ((value, 0) for value in FIELDS[field].choices if value not in present)
    return [item for item in (*known, *others) if item[0] and not fault(field, item[0])]


def _about(field: str, value: str, count: int) -> str:
    if count:
        return f"{count:,} {'note' if count == 1 else 'notes'}"
    return Condition(field, (value,)).described() if field not in ("scope", "type") else ""


def _fields(typed: str, start: int, end: int, offers: Offers) -> Iterator[Completion]:
    bare = typed.casefold()
    for name, field in FIELDS.items():
        if name.startswith(bare):
            yield Completion(f"{name}:", start, end, field.about)
    if len(bare) < 2:
        return
    for value, _ in _listed("is", bare, offers):
        if value.startswith(bare):
            yield Completion(f"is:{value}", start, end, _about("is", value, 0))
    for value, count in offers.tag:
        if fold(value).startswith(bare) and not any(char.isspace() or char in f",{QUOTES}" for char in value):
            yield Completion(f"tag:{value}", start, end, _about("tag", value, count))


def _frequent(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
