"""Completes the search box: names of fields, and the values that the memory has for them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from core.model.joined import join
from core.model.note import custom_tags
from core.model.snapshot import Snapshot
from core.search.conditions import FIELDS, Condition
from core.search.query_syntax import FIELD, QUOTES, typed_value

MOST: Final = 8
# A field and its values are looked for in so many characters at the end.
_LOOKED_AT: Final = 300
_VALUE_BEGUN: Final = re.compile(
    rf"(?<!\S){FIELD}(?:(?:[{QUOTES}][^{QUOTES}]*[{QUOTES}]|[^\s,{QUOTES}])*,)*"
    rf"(?P<typed>[{QUOTES}][^{QUOTES}]*|[^\s,{QUOTES}]*)\Z"
)
# A shorter beginning of a field's name is mostly the beginning of a word.
_WORD_BEGUN: Final = re.compile(rf"(?<!\S)-?([^\s{QUOTES}-]\S+)\Z")
# Of each field the values that visible notes have, with how many notes that are, most frequent first.
Offers = Mapping[str, Sequence[tuple[str, int]]]
# Values of is: which mean something only where a team's notes are in reach.
_SIDES: Final = ("team", "mine")


class Completion(NamedTuple):
    """A text that may take the place of what stands from `start` on. `about`: what it means, in a few words."""

    text: str
    start: int
    about: str = ""


@lru_cache(maxsize=4)
def offers_of(
    snapshot: Snapshot, team: Snapshot | None = None, projects: tuple[tuple[str, str], ...] = ()
) -> Offers:
    """What a snapshot offers, with a team's where these are in reach; tags that say nugget, scope and type are left
    out. projects: pairs of a nugget and its project, as `Memory.projects` has them.
    """
    notes = (snapshot if team is None else join(snapshot, team).snapshot).visible
    owners, offers = dict(projects), dict[str, Sequence[tuple[str, int]]]()
    for name, field in FIELDS.items():
        held = (lambda note, _: custom_tags(note)) if name == "tag" else field.held
        # Titles are many, and found by their words.
        if held is not None and name != "title":
            counts = Counter(value for note in notes for value in held(note, owners) if value)
            offers[name] = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return offers if team is None else {**offers, "is": [(side, 0) for side in _SIDES]}


def complete(text: str, offers: Offers) -> tuple[Completion, ...]:
    """What may go on where a text ends, best first, at most `MOST`: behind "field:" the values that begin as typed,
    elsewhere the fields that begin as the word does. Nothing within a phrase or for a finished value.
    """
    head = text[-_LOOKED_AT:]
    value, word = _VALUE_BEGUN.search(head), _WORD_BEGUN.search(head)
    if value is not None:
        typed = value["typed"]
        found = _values(value["field"].lower(), offers, quoted=typed.startswith(tuple(QUOTES)))
    elif word is not None:
        typed, found = word[1], ((f"{name}:", field.about) for name, field in FIELDS.items())
    else:
        return ()
    begun, start = typed.casefold(), len(text) - len(typed)
    fitting = (
        Completion(one, start, about)
        for one, about in found
        if one.casefold().startswith(begun) and one.casefold() != begun
    )
    return tuple(islice(fitting, MOST))


def _values(name: str, offers: Offers, quoted: bool) -> Iterator[tuple[str, str]]:
    """The values of a field as they are typed, those that notes have first, each with what it means."""
    field, counts = FIELDS[name], dict(offers.get(name, ()))
    for value in dict.fromkeys((*counts, *field.offered)):
        written = typed_value(value)
        unknown = field.held and field.offered and value not in field.offered
        if not written or unknown or (value in _SIDES and value not in counts):
            continue
        if count := counts.get(value, 0):
            about = f"{count:,} {'note' if count == 1 else 'notes'}"
        else:
            about = "" if field.held else Condition(name, (value,)).described()
        yield f'"{value}"' if quoted else written, about
