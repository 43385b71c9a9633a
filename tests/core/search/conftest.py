"""Notes and indexes for the tests of search."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from core.model.note import Note
from core.model.snapshot import Snapshot
from core.search import SearchIndex

MakeNote = Callable[..., Note]
MakeIndex = Callable[..., SearchIndex]


@pytest.fixture
def make_note() -> MakeNote:
    """A note with a new id and the tags that every note has."""
    counter = itertools.count(1)

    def make(title: str, content: str = "", **fields: object) -> Note:
        nugget = str(fields.pop("nugget", "memory"))
        scope, type_ = str(fields.pop("scope", "user")), str(fields.pop("type", "note"))
        own = fields.pop("tags", ())
        assert isinstance(own, tuple)
        values: dict[str, object] = {
            "id": f"note-{nugget}-{next(counter):08x}",
            "tags": (nugget, *own, f"scope:{scope}", f"type:{type_}"),
            "subject": "user:primary",
            "confidence": 0.9,
            "stability": "durable",
            **fields,
        }
        return Note(nugget_name=nugget, title=title, content=content, scope=scope, type=type_, **values)  # type: ignore[arg-type]

    return make


@pytest.fixture
def make_index() -> MakeIndex:
    """An index over some notes."""

    def make(*notes: Note) -> SearchIndex:
        index = SearchIndex()
        index.update(Snapshot(notes=notes))
        return index

    return make
