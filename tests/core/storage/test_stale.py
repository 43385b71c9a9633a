"""Notes that another program takes back by saving a graph it read before our change: they are restored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kits.memory_files import note_object, write_graph
from kits.original_writer import read_graph, save_graph
from kits.scene import NAME, ONE, THREE, TWO, Scene, assert_sound, make_scene, reasons

from core.facts.edits import record_hit, remember
from core.graph.edits import create_note, delete_note, edit_note, hide_note, link_notes
from core.graph.merging import merge_notes
from core.model.note import Note
from core.storage.reconcile.repairs import Repairs

CODE = "- a\n  - b\n\n    code()"
OLD = "Content of note 1."
PAST = "2001-01-01T00:00:00.000Z"
FUTURE = "2030-01-01T00:00:00.000Z"


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path)


def test_our_edit_is_restored_beside_what_came_with_the_save(scene: Scene) -> None:
    other = scene.original()
    graph = read_graph(scene.home)
    scene.ours(lambda draft: edit_note(draft, ONE, content="Ours.", add_tags=["ours"]))
    theirs = other.add_note(graph, "Theirs", "Written by the other.")
    save_graph(scene.home, graph)
    assert scene.note(ONE).content == OLD
    verdict = scene.judged()
    assert reasons(verdict) == ["restored 1 note that another program reverted"]
    assert verdict.restorations[0].about == scene.log[0][0].id
    assert verdict.pending_restores == {("note", ONE)}
    assert (scene.note(ONE).content, "ours" in scene.note(ONE).tags) == ("Ours.", True)
    assert scene.note(theirs).content == "Written by the other."
    assert scene.kinds() == ["edit", "outside", "outside", "restore"]
    assert scene.judged() == Repairs()
    assert_sound(scene)


def test_several_changes_that_one_save_took_back_are_restored_together(scene: Scene) -> None:
    graph = read_graph(scene.home)
    scene.ours(lambda draft: edit_note(draft, ONE, content="Ours."))
    scene.ours(lambda draft: create_note(draft, "memory", "Made", "By us."))
    scene.ours(lambda draft: link_notes(draft, TWO, NAME, "kin"))
    scene.ours(lambda draft: delete_note(draft, THREE))
    before = scene.now()
    save_graph(scene.home, graph)
    verdict = scene.judged()
    assert reasons(verdict) == ["restored 5 notes that another program reverted"]
    assert verdict.restorations[0].about == ""
    assert scene.now().notes == before.notes
    assert_sound(scene)


def test_a_note_that_we_deleted_is_deleted_again(scene: Scene) -> None:
    graph = read_graph(scene.home)
    scene.ours(lambda draft: delete_note(draft, TWO))
    save_graph(scene.home, graph)
    assert reasons(scene.judged()) == ["restored 1 note that another program reverted"]
    assert TWO not in scene.now().by_id


def test_a_merge_is_restored_whole(scene: Scene) -> None:
    scene.ours(lambda draft: link_notes(draft, TWO, THREE, "kin"))
    graph = read_graph(scene.home)
    scene.ours(lambda draft: merge_notes(draft, ONE, TWO))
    before = scene.now()
    save_graph(scene.home, graph)
    assert reasons(scene.judged()) == ["restored 3 notes that another program reverted"]
    assert scene.now().notes == before.notes


def test_a_link_is_restored_beside_one_that_came_with_the_save(scene: Scene) -> None:
    graph = read_graph(scene.home)
    scene.ours(lambda draft: link_notes(draft, ONE, TWO, "ours"))
    for holder, other in ((0, THREE), (2, ONE)):
        graph["notes"][holder]["links"].append({"to": other, "reason": "theirs", "createdAt": FUTURE})
        graph["notes"][holder]["updatedAt"] = FUTURE
    save_graph(scene.home, graph)
    scene.judged()
    assert {(link.to, link.reason) for link in scene.note(ONE).links} == {(TWO, "ours"), (THREE, "theirs")}
    assert_sound(scene)


def test_an_added_note_comes_back_to_its_place_with_the_other_ends_of_its_links(scene: Scene) -> None:
    def make_linked(draft: Any) -> Note:
        made = create_note(draft, "memory", "Made", "By us.")
        return link_notes(draft, made.id, ONE, "kin")[0]

    made = scene.ours(make_linked)
    scene.original().edit_note(ONE, content="Theirs, with our link.")
    scene.original().create_note("Theirs", "Later.")
    scene.judged()
    graph = read_graph(scene.home)
    graph["notes"] = [note for note in graph["notes"] if note["id"] != made.id]
    save_graph(scene.home, graph)
    assert scene.note(ONE).links == ()
    scene.judged()
    assert scene.note(made.id).links == made.links
    assert [link.to for link in scene.note(ONE).links] == [made.id]
    assert scene.note(ONE).content == "Theirs, with our link."
    assert [note.id for note in scene.now().notes].index(made.id) == 6
    assert_sound(scene)


def test_a_hiding_is_done_again(scene: Scene) -> None:
    graph = read_graph(scene.home)
    scene.ours(lambda draft: hide_note(draft, ONE))
    save_graph(scene.home, graph)
    scene.judged()
    assert scene.note(ONE).hidden


# How late


@pytest.mark.parametrize("seconds", [5.5, 3600.0, -3600.0])
def test_a_note_that_is_back_later_on_is_a_change_like_any_other(scene: Scene, seconds: float) -> None:
    graph = read_graph(scene.home)
    scene.ours(lambda draft: edit_note(draft, ONE, content="Ours."))
    scene.ours(lambda draft: delete_note(draft, THREE))
    save_graph(scene.home, graph)
    assert scene.judged(seconds) == Repairs()
    assert scene.note(ONE).content == OLD
    assert scene.kinds() == ["edit", "edit", "outside"]


def test_what_was_noticed_in_time_is_restored_however_late(scene: Scene) -> None:
    graph = read_graph(scene.home)
    scene.ours(lambda draft: edit_note(draft, ONE, content="Ours."))
    save_graph(scene.home, graph)
    assert len(scene.judged(600, noticed=True).restorations) == 1


def test_a_stale_save_that_brings_news_is_known_for_one_however_late(scene: Scene) -> None:
    other, graph = scene.original(), read_graph(scene.home)
    scene.ours(lambda draft: edit_note(draft, ONE, content="Ours."))
    other.add_note(graph, "News", "Newer than our edit.")
    save_graph(scene.home, graph)
    scene.judged(3600)
    assert scene.note(ONE).content == "Ours."


def _save_with_a_new_note(scene: Scene, graph: dict[str, Any]) -> None:
    """Saves a copy with a note that bears a date of long ago."""
    graph["notes"].append(note_object(9, createdAt=PAST, updatedAt=PAST))
    save_graph(scene.home, graph)


def test_a_stale_save_is_known_by_a_note_never_seen_whatever_its_date(scene: Scene) -> None:
    graph = read_graph(scene.home)
    scene.ours(lambda draft: edit_note(draft, ONE, content="Ours."))
    made = scene.ours(lambda draft: create_note(draft, "memory", "Made", "By us.")).id
    scene.ours(lambda draft: delete_note(draft, THREE))
    _save_with_a_new_note(scene, graph)
    scene.judged(3600)
    assert scene.note(ONE).content == "Ours."
    assert scene.note(made).content == "By us."
    assert THREE not in scene.now().by_id
    assert scene.note("note-memory-00000009").title == "Title 9"
    assert_sound(scene)


def test_a_stale_save_is_known_by_a_text_never_seen_whatever_its_date(scene: Scene) -> None:
    graph = read_graph(scene.home)
    scene.ours(lambda draft: edit_note(draft, ONE, content="Ours."))
    graph["notes"][1] |= {"content": "Never seen.", "updatedAt": PAST}
    save_graph(scene.home, graph)
    scene.judged(3600)
    assert (scene.note(ONE).content, scene.note(TWO).content) == ("Ours.", "Never seen.")


def test_an_addition_older_than_what_a_stale_save_took_back_was_deleted(scene: Scene) -> None:
    early = scene.ours(lambda draft: create_note(draft, "memory", "Early", "By us.")).id
    graph = read_graph(scene.home)
    scene.ours(lambda draft: edit_note(draft, ONE, content="Ours."))
    late = scene.ours(lambda draft: create_note(draft, "memory", "Late", "By us.")).id
    graph["notes"] = [note for note in graph["notes"] if note["id"] != early]
    _save_with_a_new_note(scene, graph)
    ages = dict(zip((change_set.id for change_set, _ in scene.log), (3900, 3700, 3600), strict=True))
    scene.judged(ages)
    assert scene.note(ONE).content == "Ours."
    assert early not in scene.now().by_id
    assert scene.note(late).title == "Late"


def test_an_addition_that_is_gone_late_without_proof_was_deleted(scene: Scene) -> None:
    graph = read_graph(scene.home)
    scene.ours(lambda draft: create_note(draft, "memory", "Made", "By us."))
    _save_with_a_new_note(scene, graph)
    assert scene.judged(3600) == Repairs()


def test_an_older_state_put_back_late_stands(scene: Scene) -> None:
    other = scene.original()
    other.create_note("Theirs", "Once there.")
    other.edit_note(TWO, content="An earlier text.")
    scene.judged()
    graph = read_graph(scene.home)
    lacking = read_graph(scene.home)
    lacking["notes"].pop()
    lacking["notes"][1]["content"] = "A later text."
    save_graph(scene.home, lacking)
    scene.judged(3600)
    scene.ours(lambda draft: edit_note(draft, ONE, content="Ours."))
    scene.ours(lambda draft: create_note(draft, "memory", "Made", "By us."))
    save_graph(scene.home, graph)
    assert scene.judged(3600) == Repairs()
    assert scene.note(ONE).content == OLD


def test_an_old_copy_with_notes_that_we_deleted_since_brings_no_news(scene: Scene) -> None:
    graph = read_graph(scene.home)
    graph["notes"][2]["createdAt"] = FUTURE
    save_graph(scene.home, graph)
    scene.judged()
    scene.ours(lambda draft: edit_note(draft, ONE, content="Ours."))
    scene.ours(lambda draft: delete_note(draft, THREE))
    save_graph(scene.home, graph)
    assert scene.judged(3600) == Repairs()


# What was done on purpose


def test_an_edit_that_gives_a_note_its_old_text_stands(scene: Scene) -> None:
    scene.ours(lambda draft: edit_note(draft, ONE, content="Ours."))
    scene.original().edit_note(ONE, content=OLD)
    assert scene.judged() == Repairs()
    assert scene.note(ONE).content == OLD


def test_a_stale_save_that_also_counted_a_recall_of_the_note_is_still_one(scene: Scene) -> None:
    graph = read_graph(scene.home)
    scene.ours(lambda draft: edit_note(draft, ONE, content="Ours."))
    graph["notes"][0] |= {"hits": 1, "lastHitSession": "theirs", "updatedAt": FUTURE}
    save_graph(scene.home, graph)
    scene.judged()
    note = scene.note(ONE)
    assert (note.content, note.hits, note.last_hit_session) == ("Ours.", 1, "theirs")


def test_what_another_program_wrote_on_top_of_ours_is_its_own(scene: Scene) -> None:
    scene.ours(lambda draft: edit_note(draft, ONE, content="Ours."))
    scene.original().edit_note(ONE, content="Theirs.")
    assert scene.judged() == Repairs()
    assert scene.note(ONE).content == "Theirs."
    graph = read_graph(scene.home)
    graph["notes"][0]["content"] = OLD
    save_graph(scene.home, graph)
    assert scene.judged() == Repairs()
    assert scene.note(ONE).content == OLD


@pytest.mark.parametrize("theirs", ["Theirs, not knowing ours.", OLD])
def test_a_late_save_without_proof_that_it_is_stale_is_a_change_like_any_other(
    scene: Scene, theirs: str
) -> None:
    graph = read_graph(scene.home)
    scene.ours(lambda draft: edit_note(draft, ONE, content="Ours."))
    graph["notes"][0]["content"] = theirs
    save_graph(scene.home, graph)
    assert scene.judged(3600) == Repairs()
    assert scene.log[-1][0].notes[0].before == scene.log[0][0].notes[0].after
    assert scene.note(ONE).content == theirs


# One text, written in two ways


def _assert_ours_stands_and_theirs_waits(scene: Scene, found: Repairs, theirs: str) -> None:
    assert scene.note(ONE).content == "Ours."
    ((change_set, conflict),) = found.conflicts
    assert (conflict.what, conflict.where, conflict.field) == (
        "its content was changed in two ways",
        ONE,
        "content",
    )
    assert (conflict.base, conflict.ours, conflict.theirs) == (OLD, theirs, "Ours.")
    assert change_set.notes[0].note.content == theirs
    assert scene.judged() == Repairs()


def test_a_text_over_ours_that_bears_the_old_time_waits_beside_ours_as_a_conflict(scene: Scene) -> None:
    graph = read_graph(scene.home)
    scene.ours(lambda draft: edit_note(draft, ONE, content="Ours."))
    graph["notes"][0]["content"] = "Theirs, not knowing ours."
    save_graph(scene.home, graph)
    _assert_ours_stands_and_theirs_waits(scene, scene.judged(), "Theirs, not knowing ours.")


@pytest.mark.parametrize("seconds", [1.0, 3600.0])
def test_a_text_over_ours_in_a_save_proven_stale_waits_beside_ours_as_a_conflict(
    scene: Scene, seconds: float
) -> None:
    other, graph = scene.original(), read_graph(scene.home)
    scene.ours(lambda draft: edit_note(draft, TWO, content="Also ours."))
    scene.ours(lambda draft: edit_note(draft, ONE, content="Ours."))
    graph["notes"][0] |= {"content": "Theirs.", "updatedAt": FUTURE}
    other.add_note(graph, "News", "Never seen.")
    save_graph(scene.home, graph)
    verdict = scene.judged(seconds)
    assert scene.note(TWO).content == "Also ours."
    _assert_ours_stands_and_theirs_waits(scene, verdict, "Theirs.")


def test_a_text_over_ours_by_who_may_have_read_it_is_no_conflict(scene: Scene) -> None:
    scene.ours(lambda draft: edit_note(draft, ONE, content="Ours."))
    other, graph = scene.original(), read_graph(scene.home)
    scene.ours(lambda draft: edit_note(draft, TWO, content="Written after they read."))
    other.add_note(graph, "News", "Never seen.")
    graph["notes"][0] |= {"content": "Theirs.", "updatedAt": FUTURE}
    save_graph(scene.home, graph)
    early, late = (change_set.id for change_set, _ in scene.log)
    verdict = scene.judged({early: 3700, late: 3600})
    assert verdict.conflicts == ()
    assert (scene.note(ONE).content, scene.note(TWO).content) == ("Theirs.", "Written after they read.")


# Again and again


def test_what_is_taken_back_again_and_again_is_restored_each_time(scene: Scene) -> None:
    graph = read_graph(scene.home)
    scene.ours(lambda draft: edit_note(draft, ONE, content="Ours."))
    for _ in range(5):
        save_graph(scene.home, graph)
        verdict = scene.judged()
        assert (len(verdict.restorations), verdict.conflicts) == (1, ())
        assert scene.note(ONE).content == "Ours."


def test_an_edit_after_two_restorations_is_restored_again(scene: Scene) -> None:
    graph = read_graph(scene.home)
    scene.ours(lambda draft: edit_note(draft, ONE, content="Ours."))
    for _ in range(2):
        save_graph(scene.home, graph)
        scene.judged()
    stale = read_graph(scene.home)
    scene.ours(lambda draft: edit_note(draft, ONE, content="Ours again."))
    save_graph(scene.home, stale)
    assert len(scene.judged().restorations) == 1
    assert scene.note(ONE).content == "Ours again."


# What is no change at all


def test_white_space_that_the_original_squeezed_is_put_back(scene: Scene) -> None:
    scene.ours(lambda draft: edit_note(draft, ONE, content=CODE))
    scene.original().create_note("Theirs", "New.")
    assert scene.note(ONE).content != CODE
    verdict = scene.judged()
    assert verdict.white_space is not None
    assert (verdict.restorations, verdict.pending_restores) == ((), frozenset())
    assert scene.note(ONE).content == CODE
    assert scene.kinds() == ["edit", "outside"]


def test_white_space_that_somebody_added_stays(scene: Scene) -> None:
    graph = read_graph(scene.home)
    graph["notes"][1]["content"] = "Content of\n\n    note 2."
    write_graph(scene.home, graph["notes"])
    assert scene.judged().white_space is None


def test_a_note_that_cannot_be_read_any_more_was_not_taken_back(scene: Scene) -> None:
    made = scene.ours(lambda draft: create_note(draft, "memory", "Made", "By us.")).id
    graph = read_graph(scene.home)
    graph["notes"][-1]["content"] = 5
    write_graph(scene.home, graph["notes"])
    assert made in scene.now().set_aside
    assert scene.judged() == Repairs()


# Recalls


def test_recalls_of_a_note_that_a_stale_save_dropped_are_counted_again(scene: Scene) -> None:
    graph = read_graph(scene.home)
    scene.ours(lambda draft: record_hit(draft, "memory", None, ONE, "ours"), "hit")
    save_graph(scene.home, graph)
    verdict = scene.judged()
    assert reasons(verdict) == ["counted a recall that another program had dropped"]
    assert (verdict.restorations[0].kind, verdict.pending_restores) == ("hit", frozenset())
    assert (scene.note(ONE).hits, scene.note(ONE).last_hit_session) == (1, "ours")


def test_recalls_come_back_with_a_restored_note(scene: Scene) -> None:
    graph = read_graph(scene.home)
    scene.ours(lambda draft: edit_note(draft, ONE, content="Ours."))
    scene.ours(lambda draft: record_hit(draft, "memory", None, ONE, "ours"), "hit")
    save_graph(scene.home, graph)
    scene.judged()
    assert (scene.note(ONE).content, scene.note(ONE).hits) == ("Ours.", 1)


def test_a_new_fact_whose_note_a_stale_save_dropped_gets_it_back(scene: Scene) -> None:
    graph = read_graph(scene.home)
    made = scene.ours(lambda draft: remember(draft, "memory", "user:car", "a bike"))
    save_graph(scene.home, graph)
    scene.judged()
    assert scene.note(made.id) == made
    assert_sound(scene)
