"""Merging two notes: every line, tag and link of both, recalls once, and one note hidden."""

from __future__ import annotations

import pytest
from kits.drafts import NOW_TEXT, facts_in, found, make_draft, make_fact_note, make_link, make_note

from core.errors import ConflictError, InvalidInputError, NotFoundError
from core.graph.edits import hide_note, unhide_note
from core.graph.merging import MergeChoices, merge_notes
from core.model.note import Note

A = make_note(1, hits=2, last_hit_session="s-1", tags=("memory", "one"))
B = make_note(
    2,
    hits=3,
    last_hit_session="s-2",
    tags=("memory", "two", "one"),
    last_accessed_at="2026-03-03T00:00:00.000Z",
)
C = make_note(3)


def _links(note: Note) -> set[tuple[str, str]]:
    return {(link.to, link.reason) for link in note.links}


def test_the_survivor_has_the_lines_tags_and_recalls_of_both_and_the_other_is_hidden() -> None:
    draft = make_draft(A, B)
    after = merge_notes(draft, A.id, B.id, "same thing")
    other = found(draft, B)
    assert after == found(draft, A)
    assert after.content == "Content of note 1.\n\nContent of note 2."
    assert after.tags == ("memory", "one", "two", "scope:user", "type:note")
    assert (after.hits, after.last_hit_session) == (5, "s-1")
    assert after.last_accessed_at == B.last_accessed_at
    assert after.updated_at == NOW_TEXT
    assert _links(after) == {(B.id, "same thing")}
    assert (other.hidden, other.archived_at, other.content) == (True, NOW_TEXT, B.content)
    assert _links(other) == {(A.id, "same thing")}
    assert other.extra["mergedInto"] == A.id


def test_recalls_are_added_once_also_when_the_pair_is_merged_again() -> None:
    draft = make_draft(A, B)
    for _ in range(3):
        assert merge_notes(draft, A.id, B.id).hits == 5
        unhide_note(draft, B.id)
    assert "mergedInto" not in found(draft, B).extra
    assert found(draft, A).content == "Content of note 1.\n\nContent of note 2."


def test_recalls_that_came_by_way_of_a_third_note_are_not_added_again() -> None:
    draft = make_draft(A, B, C)
    merge_notes(draft, A.id, B.id)
    merge_notes(draft, C.id, A.id)
    unhide_note(draft, B.id)
    assert merge_notes(draft, C.id, B.id).hits == 5


@pytest.mark.parametrize("strange", [5, "note-memory-00000001", {"a": 1}, [{"a": 1}, None], None])
def test_what_another_program_left_under_our_names_does_no_harm(strange: object) -> None:
    other = make_note(2, hits=3, extra={"mergedHits": strange, "mergedInto": strange})
    draft = make_draft(A, other)
    assert merge_notes(draft, A.id, other.id).hits == 5


def test_links_of_the_merged_note_point_to_the_survivor_on_both_ends() -> None:
    other = make_note(2, links=(make_link(C, "cause"), make_link(A, "kin")))
    far = make_note(3, links=(make_link(other, "cause"), make_link(A, "see")))
    survivor = make_note(1, links=(make_link(other, "kin"), make_link(far, "see")))
    only_in = make_note(4, links=(make_link(other, "one way"),))
    draft = make_draft(survivor, other, far, only_in)
    merge_notes(draft, survivor.id, other.id)
    assert _links(found(draft, survivor)) == {(C.id, "see"), (C.id, "cause"), (other.id, "merged")}
    assert _links(found(draft, far)) == {(A.id, "cause"), (A.id, "see")}
    assert _links(found(draft, only_in)) == {(A.id, "one way")}
    assert _links(found(draft, other)) == {(A.id, "merged")}
    for note in draft.notes():
        assert note.id not in {link.to for link in note.links}


def test_hidden_gone_and_equal_notes_are_refused() -> None:
    for hidden, shown in ((A, B), (B, A)):
        draft = make_draft(A, B)
        hide_note(draft, hidden.id)
        before = draft.change_set("hide", id="same")
        for pair in ((hidden, shown), (shown, hidden)):
            with pytest.raises(InvalidInputError, match="hidden note cannot be merged"):
                merge_notes(draft, pair[0].id, pair[1].id)
        assert draft.change_set("hide", id="same") == before
    with pytest.raises(InvalidInputError, match="with itself"):
        merge_notes(make_draft(A), A.id, A.id)
    with pytest.raises(NotFoundError):
        merge_notes(make_draft(A), A.id, B.id)


def test_merging_facts_keeps_fact_file_and_notes_in_step() -> None:
    one, two = make_fact_note(1, "j", "w", hits=1), make_fact_note(2, "k", "v", hits=2)
    draft = make_draft(one, two, facts={"i": "u", "j": "w", "k": "v"})
    after = merge_notes(draft, one.id, two.id)
    assert facts_in(draft) == {"i": "u", "j": "w\nv"}
    held = draft.nugget("memory")
    assert held is not None
    assert held.facts[1].hits == after.hits == 3
    hidden = found(draft, two).hidden_fact
    assert hidden is not None
    assert (hidden.key, hidden.value, hidden.index) == ("k", "v", 2)
    unhide_note(draft, two.id)
    assert facts_in(draft) == {"i": "u", "j": "w\nv", "k": "v"}


def test_each_field_is_taken_from_the_note_that_is_chosen_and_the_rest_is_as_ever() -> None:
    other = make_note(
        2, title="Theirs", content="Their text.", tags=("memory", "two"), scope="project", subject="shared:project",
        type="style", stability="temporary", confidence=0.3, hits=3, links=(make_link(C),),
    )  # fmt: skip
    fields = {"title": "Theirs", "content": "Their text.", "scope": "project", "type": "style",
              "stability": "temporary", "confidence": 0.3}  # fmt: skip
    for name, theirs in fields.items():
        draft = make_draft(A, other, C)
        after = merge_notes(draft, A.id, other.id, choices=MergeChoices(**{name: "other"}))  # type: ignore[arg-type]
        assert getattr(after, name) == theirs
        for unchosen in set(fields) - {name, "content"}:
            assert getattr(after, unchosen) == getattr(A, unchosen)
        assert after.hits == A.hits + other.hits
        assert (C.id, "kin") in _links(after)
        assert after.subject == ("shared:project" if name == "scope" else A.subject)
        assert f"scope:{after.scope}" in after.tags
        assert f"type:{after.type}" in after.tags
        assert found(draft, other).content == "Their text."


def test_the_title_of_the_other_of_two_facts_becomes_the_key_that_answers() -> None:
    one, other = (
        make_fact_note(1, "user:town", "Lima", hits=1),
        make_fact_note(2, "user:home", "Lima, Peru", hits=2),
    )
    draft = make_draft(one, other, facts={"user:town": "Lima", "user:home": "Lima, Peru"})
    after = merge_notes(draft, one.id, other.id, choices=MergeChoices(title="other", content="other"))
    assert (after.title, after.key, after.content) == ("user:home", "user:home", "Lima, Peru")
    assert facts_in(draft) == {"user:home": "Lima, Peru"}


def test_a_fact_that_would_take_the_key_of_a_third_fact_is_a_conflict() -> None:
    one, third = make_fact_note(1, "user:town", "Lima"), make_fact_note(3, "Theirs", "x")
    other = make_note(2, title="Theirs")
    draft = make_draft(one, other, third, facts={"user:town": "Lima", "Theirs": "x"})
    with pytest.raises(ConflictError):
        merge_notes(draft, one.id, other.id, choices=MergeChoices(title="other"))
