"""Notes made, edited and linked: what each edit sets right, which dates move, what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.drafts import (
    LONG_AGO,
    NOW_TEXT,
    changed_fields,
    facts_in,
    found,
    make_draft,
    make_fact_note,
    make_link,
    make_note,
)
from kits.hostile import HOSTILE

from core.errors import ConflictError, InvalidInputError, NotFoundError
from core.graph.edits import create_note, delete_note, edit_note, hide_note, link_notes, unlink_notes
from core.model.infer import MetaInput
from core.model.note import Link, normalised_note, vector_spec
from core.text.normalise import encodable, normalise_content

A, B, C = make_note(1), make_note(2), make_note(3)


def test_a_new_note_has_all_its_system_tags_dates_and_a_right_basis() -> None:
    draft = make_draft()
    note = create_note(draft, "Work.Log", "Deploy on Friday", "Text.\n", tags=["CI Build", "x", "X", " "])
    assert note.id == "note-Work.Log-000000a0"
    assert note.tags[:3] == ("work.log", "ci-build", "x")
    assert {f"scope:{note.scope}", f"type:{note.type}"} <= set(note.tags)
    assert len(set(note.tags)) == len(note.tags)
    assert note.created_at == note.updated_at == note.last_accessed_at == NOW_TEXT
    assert (note.archived_at, note.last_rewritten_at, note.hits, note.last_hit_session) == (None, None, 0, "")
    assert note.vector == vector_spec(note)
    assert note.kind == "note"
    assert note.content == "Text."


@pytest.mark.parametrize("title", ["", "  ", "\n\t"])
def test_a_note_without_a_title_is_refused(title: str) -> None:
    with pytest.raises(InvalidInputError, match="title cannot be empty"):
        create_note(make_draft(), "", title, "c")
    with pytest.raises(InvalidInputError, match="title cannot be empty"):
        edit_note(make_draft(A), A.id, title=title)


@pytest.mark.parametrize("field", ["scope", "type", "source", "stability"])
def test_a_value_that_the_format_does_not_know_is_refused(field: str) -> None:
    with pytest.raises(InvalidInputError, match=f"{field}: must be one of"):
        create_note(make_draft(), "", "T", "c", meta=MetaInput(**{field: "strange"}))
    with pytest.raises(InvalidInputError, match="must be a number"):
        edit_note(make_draft(A), A.id, meta=MetaInput(confidence=float("nan")))


def test_nuggets_that_differ_by_case_alone_are_refused_also_within_one_draft() -> None:
    draft = make_draft(A)
    with pytest.raises(InvalidInputError, match="only in case"):
        create_note(draft, "Memory", "T", "c")
    create_note(draft, "fresh", "T", "c")
    with pytest.raises(InvalidInputError, match="only in case"):
        create_note(draft, "Fresh", "T", "c")


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:12]))
def test_hostile_text_is_taken_as_it_is(text: str) -> None:
    draft = make_draft()
    note = create_note(draft, "", f"t{text}", f"a {text} b", tags=[text])
    assert encodable(text) in note.content
    assert note.vector.seed == len("|".join(note.vector.basis).encode("utf-16-le", "surrogatepass")) // 2


def test_editing_content_moves_updated_at_and_nothing_but_what_follows_from_it() -> None:
    after = edit_note(make_draft(A), A.id, content="New words.")
    assert changed_fields(A, after) == {"content", "updated_at", "vector"}
    assert after.updated_at == NOW_TEXT
    assert after.vector == vector_spec(after)


@pytest.mark.parametrize(
    "named",
    [{}, {"content": A.content}, {"content": A.content + "  \r\n"}, {"title": f" {A.title} "}, {"tags": []},
     {"remove_tags": ["absent"]}, {"remove_tags": ["memory", "scope:user"]}, {"add_tags": ["MEMORY"]},
     {"add_tags": ["scope:self"]}, {"meta": MetaInput(scope="user", confidence=0.9)}],
)  # fmt: skip
def test_an_edit_that_comes_to_nothing_changes_nothing(named: dict[str, object]) -> None:
    draft = make_draft(A)
    assert edit_note(draft, A.id, **named) == A  # type: ignore[arg-type]
    assert draft.change_set("nothing").empty


def test_tags_are_added_removed_and_replaced_while_system_tags_stay() -> None:
    note = make_note(1, tags=("memory", "a", "scope:user", "b", "type:note"))
    added = edit_note(make_draft(note), note.id, add_tags=["C d", "a"], remove_tags=["b", "type:note"])
    assert added.tags == ("memory", "a", "scope:user", "type:note", "c-d")
    replaced = edit_note(make_draft(note), note.id, tags=["z", "scope:self", "memory"])
    assert replaced.tags == ("memory", "z", "scope:user", "type:note")


def test_a_link_goes_both_ways_and_is_dated() -> None:
    draft = make_draft(A, B)
    first, second = link_notes(draft, A.id, B.id, " because  of\nthis ")
    assert first.links == (Link(to=B.id, reason="because  of this", created_at=NOW_TEXT),)
    assert second.links == (Link(to=A.id, reason="because  of this", created_at=NOW_TEXT),)
    assert f"link:{B.id}" in first.vector.basis


def test_linked_notes_are_not_linked_again_for_no_reason_of_its_own() -> None:
    linked = [make_note(1, links=(make_link(B),)), make_note(2, links=(make_link(A),))]
    for ends in ((A.id, B.id), (B.id, A.id)):
        draft = make_draft(*linked)
        link_notes(draft, *ends)
        assert draft.change_set("linked").empty
    # A link that only one of them holds is completed, with its own reason.
    draft = make_draft(linked[0], make_note(2))
    link_notes(draft, A.id, B.id)
    assert [link.reason for link in found(draft, B).links] == [link.reason for link in linked[0].links]


def test_a_note_is_not_linked_to_itself_nor_to_one_that_is_not_there() -> None:
    draft = make_draft(A)
    with pytest.raises(InvalidInputError, match="to itself"):
        link_notes(draft, A.id, A.id)
    with pytest.raises(NotFoundError):
        link_notes(draft, A.id, "note-memory-ffffffff")
    with pytest.raises(NotFoundError):
        link_notes(draft, "note-memory-ffffffff", A.id)
    assert draft.change_set("nothing").empty


def test_links_to_itself_to_gone_notes_and_said_twice_do_not_survive_a_write() -> None:
    bad = make_note(1)
    links = (make_link(bad), make_link(C), make_link(B), make_link(B), make_link(B, "other"))
    bad = normalised_note(bad, lambda _: True).__class__(
        **{f: getattr(bad, f) for f in bad.__struct_fields__} | {"links": links}
    )
    after = edit_note(make_draft(bad, B), bad.id, content="New.")
    assert [(link.to, link.reason) for link in after.links] == [(B.id, "kin"), (B.id, "other")]


def test_unlinking_takes_one_reason_or_all_on_both_ends() -> None:
    first = make_note(1, links=(make_link(B), make_link(B, "cause"), make_link(C)))
    second = make_note(2, links=(make_link(A), make_link(A, "cause")))
    draft = make_draft(first, second, C)
    unlink_notes(draft, A.id, B.id, " kin ")
    assert [(link.to, link.reason) for link in found(draft, A).links] == [(B.id, "cause"), (C.id, "kin")]
    assert [link.reason for link in found(draft, B).links] == ["cause"]
    unlink_notes(draft, B.id, A.id)
    assert [link.to for link in found(draft, A).links] == [C.id]
    with pytest.raises(NotFoundError, match="not linked"):
        unlink_notes(draft, A.id, B.id)


def test_deleting_a_note_takes_the_links_to_it_and_its_fact_along() -> None:
    fact_note = make_fact_note(9, "k", "v")
    holder = make_note(1, links=(make_link(fact_note), make_link(B)))
    draft = make_draft(holder, B, fact_note, facts={"j": "w", "k": "v"})
    delete_note(draft, fact_note.id)
    assert draft.note(fact_note.id) is None
    assert [link.to for link in found(draft, A).links] == [B.id]
    assert found(draft, A).updated_at == LONG_AGO
    assert facts_in(draft) == {"j": "w"}
    with pytest.raises(NotFoundError):
        delete_note(draft, fact_note.id)


def test_editing_a_fact_note_changes_its_fact_and_keeps_recalls_and_place() -> None:
    note = make_fact_note(9, "k", "v", hits=4)
    draft = make_draft(note, facts={"j": "w", "k": "v", "l": "x"})
    after = edit_note(draft, note.id, content="new", title="K two")
    assert list(facts_in(draft).items()) == [("j", "w"), ("K two", "new"), ("l", "x")]
    assert (after.source_key, after.title, after.hits) == ("K two", "K two", 4)
    changes = draft.change_set("edit").facts
    assert [(c.key, c.index, c.after.key if c.after else None) for c in changes] == [("k", 1, "K two")]


def test_a_fact_is_not_renamed_to_a_key_that_is_there() -> None:
    notes = make_fact_note(8, "j", "w"), make_fact_note(9, "k", "v")
    for title in ("j", " J "):
        draft = make_draft(*notes, facts={"j": "w", "k": "v"})
        with pytest.raises(ConflictError, match="already has a fact"):
            edit_note(draft, notes[1].id, title=title)
        assert draft.change_set("nothing").empty


def test_a_fact_cannot_be_edited_to_nothing() -> None:
    note = make_fact_note(9, "k", "v")
    draft = make_draft(note, facts={"k": "v"})
    with pytest.raises(InvalidInputError, match="needs a value"):
        edit_note(draft, note.id, content=" \n")
    assert draft.change_set("nothing").empty


def test_editing_a_hidden_fact_note_changes_the_fact_that_waits_and_no_other() -> None:
    note = make_fact_note(9, "k", "v")
    draft = make_draft(note, facts={"k": "v"})
    hide_note(draft, note.id)
    after = edit_note(draft, note.id, content="new")
    assert after.hidden_fact is not None
    assert (after.hidden_fact.key, after.hidden_fact.value) == ("k", "new")
    assert facts_in(draft) == {}
    forgotten = make_fact_note(9, "k", "old", hidden=True)
    draft = make_draft(forgotten, facts={"k": "remembered anew"})
    edit_note(draft, forgotten.id, content="new")
    assert facts_in(draft) == {"k": "remembered anew"}


@given(st.text(max_size=200).filter(lambda text: normalise_content(text).strip()))
def test_what_is_stored_is_stored_the_same_again(text: str) -> None:
    draft = make_draft()
    note = create_note(draft, "", f"T{text}", text, tags=[text])
    assert edit_note(draft, note.id, content=note.content, title=note.title, tags=note.tags) == note
    assert edit_note(draft, note.id, content=text, title=f"T{text}", add_tags=[text]) == note
