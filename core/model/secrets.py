"""Finds notes and facts that seem to hold a credential, and those that a person said hold none."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from core.model.fact import Fact
from core.model.note import Note
from core.model.progress import Progress, counted
from core.model.snapshot import Snapshot
from core.text.secrets import find_secrets

# The field of a note or fact with marks of values that a person said are no credentials. A new value is reported
# again.
NOT_SECRET: Final = "notSecret"
_KEPT: Final = 1 << 16


@dataclass(frozen=True)
class Held:
    """A value that looks like a credential, and what kind it seems to be of. The value is never printed."""

    kind: str
    value: str = field(repr=False)


@dataclass(frozen=True)
class Holder:
    """A note, or a fact without a note, that holds what looks like credentials. note_id: "" for such a fact.

    title: the note's title or the fact's key, to be shown masked only (`core.text.secrets.masked`). kept_id: of what is
    neither note nor fact but kept beside them, such as a text that was handed in; text: all of it, to be shown so too.
    """

    note_id: str
    nugget: str
    key: str
    title: str
    secrets: tuple[Held, ...]
    kept_id: str = ""
    text: str = field(default="", repr=False)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of what it holds, each once."""
        return tuple(dict.fromkeys(held.kind for held in self.secrets))

    @property
    def id(self) -> str:
        """What names it: the note's id, the id of what is kept beside notes, or "nugget: key"."""
        return self.kept_id or self.note_id or f"{self.nugget}: {self.key}"


def secrets_of(note: Note) -> tuple[Held, ...]:
    """What in a note looks like a credential and was not said to be none; remembered for texts seen before.

    Title and text are read together: "db password" with the text "hunter2" holds one.
    """
    found = held_in(note.title, note.content)
    if note.hidden_fact is not None and note.hidden_fact.value != note.content:
        found = (*found, *held_in(note.hidden_fact.key, note.hidden_fact.value))
    for link in note.links:
        if link.reason:
            found = (*found, *held_in("", link.reason))
    return _without_refused(found, note.extra)


def secrets_of_fact(fact: Fact) -> tuple[Held, ...]:
    """As `secrets_of`, for a fact: its key and value read together."""
    return _without_refused(held_in(fact.key, fact.value), fact.extra)


def holders(snapshot: Snapshot, progress: Progress | None = None) -> Iterator[Holder]:
    """Every note that looks as if it held a credential, in file order, then such facts that no note mirrors."""
    for note in counted(snapshot.notes, progress):
        found = secrets_of(note)
        if found:
            yield Holder(note.id, note.nugget_name, note.key if note.is_fact else "", note.title, found)
    mirrored = snapshot.fact_notes
    for nugget in snapshot.nuggets:
        for fact in nugget.facts:
            mirror = mirrored.get((nugget.name, fact.key))
            if mirror is not None and (mirror.title, mirror.content) == (fact.key, fact.value):
                continue
            found = secrets_of_fact(fact)
            if mirror is not None:
                found = _without_refused(found, mirror.extra)
            if found:
                yield Holder("", nugget.name, fact.key, fact.key, found)


def refused_marks(extra: dict[str, Any], found: tuple[Held, ...]) -> dict[str, Any]:
    """A note's or fact's unknown fields with these values said to be no secrets."""
    marks = dict.fromkeys([*_marks(extra), *(mark_of(held.value) for held in found)])
    return {**extra, NOT_SECRET: list(marks)}


def mark_of(value: str) -> str:
    """What a value is remembered by once a person said that it is no secret; it does not tell the value."""
    return hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


@lru_cache(maxsize=_KEPT)
def held_in(title: str, content: str) -> tuple[Held, ...]:
    """What in a title and its text, read together, looks like a credential; remembered for texts seen before."""
    text = f"{title}: {content}" if title else content
    found = (Held(secret.kind, text[secret.start : secret.end]) for secret in find_secrets(text))
    return tuple(dict.fromkeys(found))


def _without_refused(found: tuple[Held, ...], extra: dict[str, Any]) -> tuple[Held, ...]:
    if not found or NOT_SECRET not in extra:
        return found
    refused = _marks(extra)
    return tuple(held for held in found if mark_of(held.value) not in refused)


def _marks(extra: dict[str, Any]) -> list[str]:
    known = extra.get(NOT_SECRET)
    return [mark for mark in known if isinstance(mark, str)] if isinstance(known, list) else []
