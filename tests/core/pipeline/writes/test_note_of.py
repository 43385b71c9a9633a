"""What note an accepted fact becomes."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.hostile import HOSTILE

from core.errors import InvalidInputError
from core.model.draft import Draft
from core.model.note import TYPES, Note
from core.model.snapshot import Snapshot
from core.pipeline.intake.normalisation import normalise
from core.pipeline.records import StoredProposal
from core.pipeline.writes.notes import NoteEdit, note_ids, note_of, title_of

HASH = normalise("The user prefers dark mode").content_hash


def _draft(*notes: Note) -> Draft:
    return Draft(Snapshot(notes=notes), now=datetime(2026, 11, 20, tzinfo=UTC), ids=lambda: "0" * 8)


def _edit(
    content: str = "The user prefers dark mode.", *, project: str = "", accepted_by: str = "", **said: Any
) -> NoteEdit:
    proposal = StoredProposal(
        **{"id": "p", "raw_id": "raw-1", "action": "add", "content": content, "type": "fact", "fact_confidence": 0.9,
           "grounded": True, "target_note": "", "target_content": "", "confidence": 0.9, "told": "", "decided_by": "",
           "model": "qwen3:4b", "nugget": "memory", "created_at": 0} | said
    )  # fmt: skip
    at = 1_790_000_000_000
    edit = NoteEdit("add", proposal, "fact-1", "note-memory-aaaaaaaa", at, accepted_by, content)
    return replace(edit, project=project)


def _note(edit: NoteEdit, draft: Draft | None = None) -> Note:
    return note_of(draft or _draft(), edit, edit.note_id)


def test_the_id_is_that_of_the_nugget_and_the_first_eight_digits_of_the_hash() -> None:
    assert next(note_ids("memory", HASH)) == f"note-memory-{HASH[:8]}"


def test_an_id_that_another_has_is_hashed_again_with_a_counter_the_same_way_each_time() -> None:
    first, second, third = (id for id, _ in zip(note_ids("memory", HASH), range(3), strict=False))
    assert len({first, second, third}) == 3
    assert all(re.fullmatch(r"note-memory-[0-9a-f]{8}", id) for id in (first, second, third))


@pytest.mark.parametrize(
    ("type", "expected", "tags"),
    [
        ("fact", "fact", ()),
        ("preference", "preference", ()),
        ("decision", "project", ("decision",)),
        ("procedural", "project", ("how-to",)),
        ("semantic", "note", ()),
        ("of another version", "fact", ()),
    ],
)
def test_each_type_of_fact_has_its_type_of_note(type: str, expected: str, tags: tuple[str, ...]) -> None:
    note = _note(_edit(type=type))
    assert (note.kind, note.type, note.source) == ("note", expected, "inferred")
    assert note.type in TYPES
    assert set(tags) <= set(note.tags)
    assert ("decision" in note.tags, "how-to" in note.tags) == ("decision" in tags, "how-to" in tags)


def test_the_project_is_a_tag() -> None:
    assert "web-shop" in _note(_edit(project="/home/mo/src/Web Shop/")).tags
    assert "web-shop" in _note(_edit(project="Web Shop")).tags


@pytest.mark.parametrize(
    ("confidence", "by", "expected"),
    [
        (0.95, "", 0.60),
        (0.4, "", 0.4),
        (0.95, "person", 0.95),
        (7, "person", 1.0),
    ],
)
def test_what_nobody_confirmed_is_held_for_sixty_per_cent_at_most(
    confidence: float, by: str, expected: float
) -> None:
    assert _note(_edit(fact_confidence=confidence, accepted_by=by)).confidence == expected


def test_it_says_where_it_came_from_and_when_it_was_accepted() -> None:
    note = _note(_edit())
    assert note.extra == {"origin": {"memory": "raw-1", "fact": "fact-1", "model": "qwen3:4b"}}
    assert note.created_at == note.updated_at == "2026-09-21T14:13:20.000Z"


def test_words_that_begin_like_a_scratch_note_make_no_temporary_note() -> None:
    assert _note(_edit("Temp files of the build go to /var/tmp.")).stability == "durable"


def test_a_nugget_that_is_there_in_other_case_is_taken_as_it_is_spelled() -> None:
    there = _note(_edit(nugget="Web"))
    assert _note(_edit(nugget="web"), _draft(there)).nugget_name == "Web"


def test_a_nugget_that_no_file_can_bear_is_refused() -> None:
    with pytest.raises(InvalidInputError):
        _note(_edit(nugget="../outside"))


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("The user prefers dark mode.", "The user prefers dark mode"),
        ("Deploys run on Friday. Nobody likes it.", "Deploys run on Friday"),
        ("Node v20.3 is used by config.py.", "Node v20.3 is used by config.py"),
        ("...", "..."),
    ],
)
def test_the_title_is_the_first_sentence(content: str, title: str) -> None:
    assert title_of(content) == title


def test_a_long_title_is_cut_at_a_word() -> None:
    title = title_of(
        "The deployment of the billing service runs on the second Tuesday of each month at six in the morning."
    )
    assert title == "The deployment of the billing service runs on the second Tuesday of…"
    assert len(title_of("x" * 500)) == 72


def test_any_text_has_a_title_of_one_line() -> None:
    for text in HOSTILE:
        title = title_of(text)
        assert "\n" not in title
        assert len(title) <= 72 or len(title) == len(text.strip())


@given(st.text(min_size=1, max_size=300))
def test_the_same_edit_gives_the_same_note(text: str) -> None:
    edit = _edit(normalise(text).storage_content)
    assert _note(edit) == _note(edit)
