"""What a person refused is not proposed again, until what it was proposed for changes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kits.graph_kit import applied, draft_of, facts_of, make_fact, make_note, memory_of

from core.graph.edits import create_note, edit_note
from core.graph.merging import merge_notes
from core.memory import Memory
from core.model.note import Note, replace
from core.model.snapshot import Snapshot
from core.reflection import ReflectionResult, reflect
from core.reflection.proposals import REFUSED, not_duplicates, refuse

NEAR = "bravo charlie delta echo foxtrot golf hotel india"
EVERYTHING = 1_000_000


def a_pass(snapshot: Snapshot, **wanted: Any) -> ReflectionResult:
    most: dict[str, Any] = {"limit": EVERYTHING, "max_archived": EVERYTHING, "max_merged": EVERYTHING}
    return reflect(draft_of(snapshot), **(most | wanted))


def busy_notes() -> list[Note]:
    return [
        make_note(1, "k"),
        make_note(2, "milk\nmilk"),
        make_note(3, NEAR, "alpha"),
        make_note(4, f"{NEAR} juliet", "alpha"),
        make_note(5, "alice owns the billing importer"),
        make_note(6, "the billing importer breaks"),
        make_note(7, "look into src/auth/token.py"),
        make_note(8, "tmp thoughts of a day", "scratch"),
    ]


def of_type(result: ReflectionResult, type: str) -> list[str]:
    return [change.id for change in result.changes if change.type == type]


def with_refused(snapshot: Snapshot, ids: list[str], **wanted: Any) -> Snapshot:
    result = a_pass(snapshot, refuse=ids, **wanted)
    assert result.refused == len(ids)
    return applied(snapshot, result.change_set)


@pytest.mark.parametrize("type", ["hide", "rewrite", "merge", "tag", "link"])
def test_a_refused_change_is_not_proposed_again_and_the_others_are(type: str) -> None:
    snapshot = memory_of(busy_notes())
    before = a_pass(snapshot)
    refused = of_type(before, type)
    assert refused
    after = with_refused(snapshot, refused)
    later = [change.id for change in a_pass(after).changes]
    assert not set(refused) & set(later)
    kept = {change.id for change in before.changes if change.type in ("rewrite", "merge", "link")} - set(
        refused
    )
    assert kept <= set(later)


def test_when_all_is_refused_a_pass_has_nothing_to_do_however_often() -> None:
    snapshot = memory_of(busy_notes())
    for _ in range(5):
        ids = [change.id for change in a_pass(snapshot).changes]
        if not ids:
            break
        snapshot = with_refused(snapshot, ids)
    assert a_pass(snapshot).change_set.empty
    assert not any(note.hidden for note in snapshot.notes)


def test_refusing_changes_no_text_no_date_and_nothing_but_the_field_of_refusals() -> None:
    snapshot = memory_of(busy_notes())
    merge = of_type(a_pass(snapshot), "merge")
    change_set = a_pass(snapshot, refuse=merge).change_set
    (change,) = change_set.notes
    assert change.before is not None
    assert change.after is not None
    assert set(change.after.extra) == {REFUSED}
    assert replace(change.after, extra={}, vector=change.before.vector) == change.before
    assert change_set.reason == "reflection: refused 1"


def test_accepted_and_refused_changes_are_one_change_set() -> None:
    snapshot = memory_of(busy_notes())
    proposed = a_pass(snapshot)
    hide, merge = of_type(proposed, "hide"), of_type(proposed, "merge")
    result = a_pass(snapshot, accept=hide, refuse=[*merge, "link-nothing"])
    assert [change.id for change in result.changes] == hide
    assert result.change_set.reason == "reflection: archived 2, refused 1"
    assert result.unknown == ("link-nothing",)


def test_what_is_both_accepted_and_refused_is_refused() -> None:
    snapshot = memory_of(busy_notes())
    merge = of_type(a_pass(snapshot), "merge")
    result = a_pass(snapshot, accept=merge, refuse=merge)
    assert (result.changes, result.refused) == ((), 1)


@pytest.mark.parametrize("field", ["title", "content"])
@pytest.mark.parametrize("number", [3, 4])
def test_a_refusal_ends_when_a_title_or_a_content_changes(field: str, number: int) -> None:
    snapshot = memory_of(busy_notes())
    merge = of_type(a_pass(snapshot), "merge")
    refused = with_refused(snapshot, merge)
    changed = [
        replace(note, **{field: f"{getattr(note, field)}!"}) if note.id.endswith(str(number)) else note
        for note in refused.notes
    ]
    assert of_type(a_pass(memory_of(changed)), "merge") == merge


def test_a_refusal_outlives_white_space_that_another_program_squeezes_and_other_changes() -> None:
    snapshot = memory_of(
        [make_note(1, f"{NEAR}\n\nx  y", "alpha"), make_note(2, f"{NEAR}\n\nx  y z", "alpha")]
    )
    refused = with_refused(snapshot, of_type(a_pass(snapshot), "merge"))
    changed = [replace(note, content=" ".join(note.content.split()), hits=7) for note in refused.notes]
    assert of_type(a_pass(memory_of(changed)), "merge") == []


def test_a_refused_pair_stays_refused_whether_or_not_tidying_was_accepted_with_it() -> None:
    notes = [make_note(1, f"{NEAR}\n{NEAR}", "alpha"), make_note(2, f"{NEAR} juliet", "alpha")]
    snapshot = memory_of(notes)
    proposed = a_pass(snapshot)
    for accept in ((), of_type(proposed, "rewrite")):
        after = applied(
            snapshot, a_pass(snapshot, accept=accept, refuse=of_type(proposed, "merge")).change_set
        )
        assert of_type(a_pass(after), "merge") == []


def test_an_archiving_that_was_refused_lets_the_note_be_tidied_and_linked_like_any_other() -> None:
    scratch = make_note(1, "the billing importer\nthe billing importer", "scratch list")
    snapshot = memory_of([scratch, make_note(2, "alice owns the billing importer")])
    first = a_pass(snapshot)
    assert [change.type for change in first.changes if change.note_id == scratch.id] == ["hide"]
    later = a_pass(with_refused(snapshot, of_type(first, "hide")))
    assert {change.type for change in later.changes} == {"rewrite", "link"}


def test_two_notes_that_are_called_no_duplicates_by_hand_are_not_proposed_to_be_merged() -> None:
    notes = [make_note(1, NEAR, "alpha"), make_note(2, NEAR, "alpha")]
    for first, second in (notes, notes[::-1]):
        draft = draft_of(memory_of(notes))
        assert refuse(draft, [not_duplicates(first, second)]) == 1
        after = applied(memory_of(notes), draft.change_set("no duplicates"))
        assert of_type(a_pass(after), "merge") == []


def test_a_person_may_still_merge_what_reflection_may_not() -> None:
    notes = [make_note(1, NEAR, "alpha"), make_note(2, NEAR, "alpha")]
    draft = draft_of(memory_of(notes))
    refuse(draft, [not_duplicates(*notes)])
    assert merge_notes(draft, notes[0].id, notes[1].id).content == NEAR


@pytest.mark.parametrize("strange", [5, "merge", ["merge"], {"merge-1": 5}, {"a": {"b": 1}}, None])
def test_what_another_program_left_under_the_name_of_our_field_does_no_harm(strange: object) -> None:
    notes = [replace(note, extra={REFUSED: strange}) for note in busy_notes()]
    snapshot = memory_of(notes)
    assert len(a_pass(snapshot).changes) == len(a_pass(memory_of(busy_notes())).changes)
    with_refused(snapshot, of_type(a_pass(snapshot), "merge"))


def test_facts_that_are_no_duplicates_stay_two_facts() -> None:
    facts = [make_fact(1, "user:Home town", "Lima"), make_fact(2, "user:home_town", "Lima")]
    snapshot = memory_of(facts)
    after = with_refused(snapshot, of_type(a_pass(snapshot), "merge"))
    assert of_type(a_pass(after), "merge") == []
    assert facts_of(after) == {("memory", "user:Home town"): "Lima", ("memory", "user:home_town"): "Lima"}


def test_a_refusal_in_a_folder_is_one_entry_of_the_log_and_taken_back_it_is_proposed_again(
    tmp_path: Path,
) -> None:
    memory = Memory.open(tmp_path)
    ids = []
    for title in ("Restore", "Restore again"):
        note, _ = memory.change(
            "wrote", partial(create_note, nugget="project", title=title, content=NEAR, tags=["t"])
        )
        ids.append(note.id)
    (merge,) = of_type(memory.reflect(dry_run=True), "merge")
    memory.reflect(refuse=[merge])
    assert memory.history.log(limit=1)[0].change_set.reason == "reflection: refused 1"
    assert of_type(Memory.open(tmp_path).reflect(dry_run=True), "merge") == []
    memory.history.undo(memory.history.log(limit=1)[0].id)
    assert of_type(memory.reflect(dry_run=True), "merge") == [merge]
    memory.reflect(refuse=[merge])
    memory.change("edited", partial(edit_note, id=ids[0], content=f"{NEAR}."))
    assert of_type(memory.reflect(dry_run=True), "merge") == [merge]
