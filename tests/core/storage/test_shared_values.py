"""What many notes hold in common is held once, and that makes no difference to what they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.memory_files import note_object

from core.model.note import Note, plain_value
from core.settings import Settings
from core.storage.format import documents
from core.storage.format.documents import GraphDocument, read_graph

_TEXTS = st.sampled_from(["", "project", "2026-01-02T03:04:05.678Z", "note-memory-00000001", "é"])
_LINKS = st.lists(
    st.fixed_dictionaries({"to": _TEXTS, "reason": _TEXTS, "createdAt": _TEXTS, "x": _TEXTS}), max_size=2
)
_FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "nuggetName": _TEXTS,
        "tags": st.lists(_TEXTS, max_size=3),
        "links": _LINKS,
        "vector": st.fixed_dictionaries(
            {"seed": st.sampled_from([1, 1.0, 1.5]), "basis": st.lists(_TEXTS, max_size=3)}
        ),
        "confidence": st.sampled_from([0, 1, 0.5]),
        "createdAt": _TEXTS,
        "subject": _TEXTS,
        "unknown": _TEXTS,
    },
)


def read(notes: list[Any], at_least: int) -> GraphDocument:
    """The notes as read, with what they have in common held once from so many notes on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "_MANY", at_least)
        data = json.dumps({"version": 3, "notes": notes}, indent=2, ensure_ascii=False).encode()
        return read_graph(Path("graph.json"), data, None, Settings().inference)


@given(st.lists(_FIELDS, max_size=6))
def test_notes_that_share_values_say_what_they_said(fields: list[dict[str, Any]]) -> None:
    notes = [note_object(number) | more for number, more in enumerate(fields)]
    sharing, apart = read(notes, 0), read(notes, 1_000_000)
    assert sharing.raws == apart.raws
    assert sharing.problems == apart.problems
    assert [spelt(note) for note in sharing.notes] == [spelt(note) for note in apart.notes]


def spelt(note: Note | None) -> str:
    """A note as JSON, in which 1 and 1.0 differ."""
    return json.dumps(plain_value(note))


def test_equal_values_of_many_notes_are_one_object() -> None:
    link = {"to": "note-memory-00000002", "reason": "see also", "createdAt": "2026-01-02T03:04:05.678Z"}
    first, second = read([note_object(number, links=[link]) for number in (1, 2)], 2).notes
    assert first is not None
    assert second is not None
    assert first.tags is second.tags
    assert first.scope is second.scope
    assert first.created_at is second.links[0].created_at
    assert first.links[0].to is second.id
    assert first.extra is second.extra
