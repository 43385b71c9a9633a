"""Facts that a program which keeps its list of them in memory takes back, hours after our change as well."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from kits.memory_files import fact_object, replace_bytes, write_nugget
from kits.original_writer import read_graph, save_graph
from kits.scene import CITY, KEYS, ONE, VALUES, Scene, assert_sound, make_scene, reasons

from core.facts.edits import forget, record_hit, remember
from core.graph.edits import delete_note, edit_note, hide_note, unhide_note
from core.model.draft import Draft
from core.storage.reconcile.repairs import Repairs

HOURS = 7200.0


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path)


def _change_city(scene: Scene) -> None:
    scene.ours(lambda draft: remember(draft, "memory", "user:city", "Rome"))


def _recall_city(scene: Scene, *sessions: str) -> None:
    for session in sessions:
        scene.ours(
            lambda draft, session=session: record_hit(draft, "memory", "user:city", CITY, session), "hit"
        )


# A fact that is gone, a value that is back


def test_a_fact_whose_note_still_stands_comes_back_to_its_place_with_everything(scene: Scene) -> None:
    other = scene.original()
    other.facts.pop(1)
    objects = [fact_object(key, VALUES[key], hits=1) for key in KEYS]
    objects[1] |= {"hits": 7, "last_hit_session": "s", "later": [1]}
    write_nugget(scene.home, "memory", objects)
    scene.seen = scene.now()
    kept = scene.fact("user:city")
    other.save_facts()
    verdict = scene.judged(HOURS)
    assert reasons(verdict) == ["restored 1 fact that another program reverted"]
    assert verdict.pending_restores == {("fact", "memory", "user:city")}
    assert list(scene.facts()) == list(KEYS)
    assert scene.fact("user:city") == kept
    assert_sound(scene)


def test_facts_that_were_dropped_together_come_back_in_their_order(scene: Scene) -> None:
    other = scene.original()
    other.facts = []
    other.remember("user:new", "theirs")
    scene.judged(HOURS)
    assert list(scene.facts()) == [*KEYS, "user:new"]
    assert_sound(scene)


def test_a_fact_that_we_stored_while_the_original_ran_survives_its_saves(scene: Scene) -> None:
    other = scene.original()
    scene.ours(lambda draft: remember(draft, "memory", "user:car", "a bike"))
    other.recall("user:name", "theirs")
    assert "user:car" not in scene.facts()
    scene.judged(HOURS)
    assert scene.facts()["user:car"] == "a bike"
    assert scene.fact("user:name").hits == 2
    assert_sound(scene)


def test_a_value_that_we_changed_survives_its_saves(scene: Scene) -> None:
    other = scene.original()
    _change_city(scene)
    other.recall("user:name", "theirs")
    assert scene.facts()["user:city"] == "Paris"
    scene.judged(HOURS)
    assert scene.facts()["user:city"] == "Rome"
    assert_sound(scene)


def test_a_value_and_note_that_another_program_set_back_later_are_its_edit(scene: Scene) -> None:
    _change_city(scene)
    scene.original().remember("user:city", "Paris")
    assert scene.judged(60) == Repairs()
    assert scene.facts()["user:city"] == "Paris"
    assert_sound(scene)


def test_a_value_and_note_that_are_back_at_once_are_restored_together(scene: Scene) -> None:
    other, graph = scene.original(), read_graph(scene.home)
    _change_city(scene)
    other.save_facts()
    save_graph(scene.home, graph)
    verdict = scene.judged()
    assert reasons(verdict) == ["restored 1 note that another program reverted"]
    assert verdict.pending_restores == {("note", CITY), ("fact", "memory", "user:city")}
    assert scene.facts()["user:city"] == "Rome"
    assert_sound(scene)


def test_a_fact_without_a_note_that_goes_is_no_business_of_ours(scene: Scene) -> None:
    known = [fact_object(key, VALUES[key]) for key in KEYS]
    write_nugget(scene.home, "memory", [fact_object("lone"), *known])
    scene.seen = scene.now()
    write_nugget(scene.home, "memory", known)
    assert scene.judged() == Repairs()


def test_facts_of_a_file_that_is_gone_or_broken_are_left_alone(scene: Scene) -> None:
    path = scene.home / "memory.nugget.json"
    data = path.read_bytes()
    path.unlink()
    assert scene.judged() == Repairs()
    replace_bytes(path, data)
    assert scene.judged() == Repairs()
    replace_bytes(path, data[:50])
    assert scene.judged() == Repairs()
    replace_bytes(path, data)
    assert scene.judged() == Repairs()
    replace_bytes(path, data.replace(b'"value":"Paris"', b'"value":5'))
    assert scene.judged() == Repairs()


# A key that we renamed


def _rename_city(draft: Draft) -> None:
    edit_note(draft, CITY, title="user:town")


def test_a_renamed_fact_is_renamed_again_in_its_place(scene: Scene) -> None:
    other = scene.original()
    scene.ours(_rename_city)
    other.recall("user:name", "theirs")
    assert list(scene.facts()) == list(KEYS)
    scene.judged(HOURS)
    assert list(scene.facts()) == ["user:name", "user:town", "user:pet"]
    assert_sound(scene)


def test_a_rename_that_graph_and_list_both_took_back_is_restored(scene: Scene) -> None:
    other, graph = scene.original(), read_graph(scene.home)
    scene.ours(lambda draft: edit_note(draft, CITY, title="user:town", content="Rome"))
    before = scene.now()
    other.save_facts()
    save_graph(scene.home, graph)
    scene.judged()
    assert scene.now().notes == before.notes
    assert scene.facts() == {"user:name": "Ada", "user:town": "Rome", "user:pet": "a cat"}


def test_a_rename_in_whose_way_something_new_stands_waits_with_it_as_a_conflict(scene: Scene) -> None:
    other, graph = scene.original(), read_graph(scene.home)
    scene.ours(_rename_city)
    other.facts.append({"key": "user:town", "value": "Lyon", "hits": 0, "last_hit_session": ""})
    other.save_facts()
    save_graph(scene.home, graph)
    found = scene.judged()
    assert scene.facts() == {"user:name": "Ada", "user:town": "Paris", "user:pet": "a cat"}
    ((change_set, conflict),) = found.conflicts
    assert conflict.what
    assert [(c.after.key, c.after.value) for c in change_set.facts if c.after] == [("user:town", "Lyon")]
    assert_sound(scene)


def test_a_rename_gives_way_to_something_new_of_that_key_with_a_note_of_its_own(scene: Scene) -> None:
    other, graph = scene.original(), read_graph(scene.home)
    scene.ours(_rename_city)
    save_graph(scene.home, graph)
    other.remember("user:town", "Lyon")
    scene.judged()
    assert scene.facts() == VALUES | {"user:town": "Lyon"}
    assert_sound(scene)


# A fact that we took out


@pytest.mark.parametrize(
    "edit",
    [
        lambda draft: forget(draft, "memory", "user:city"),
        lambda draft: hide_note(draft, CITY),
        lambda draft: delete_note(draft, CITY),
    ],
    ids=["forget", "hide", "delete"],
)
def test_a_fact_that_we_took_out_is_taken_out_again(scene: Scene, edit: Callable[[Draft], object]) -> None:
    other = scene.original()
    scene.ours(edit)
    before = scene.now()
    other.recall("user:name", "theirs")
    assert "user:city" in scene.facts()
    verdict = scene.judged(HOURS)
    assert reasons(verdict) == ["forgot 1 fact again that another program restored"]
    assert scene.now().by_id.get(CITY) == before.by_id.get(CITY)
    assert list(scene.facts()) == ["user:name", "user:pet"]
    assert_sound(scene)


def test_a_hidden_fact_that_the_original_recalls_from_memory_is_hidden_again(scene: Scene) -> None:
    other = scene.original()
    scene.ours(lambda draft: hide_note(draft, CITY))
    since = scene.note(CITY).archived_at
    other.recall("user:city", "theirs")
    assert not scene.note(CITY).hidden
    scene.judged(HOURS)
    note = scene.note(CITY)
    assert (note.hidden, note.archived_at) == (True, since)
    assert note.hidden_fact is not None
    assert (note.hidden_fact.value, note.hidden_fact.hits) == ("Paris", 2)
    assert_sound(scene)
    scene.ours(lambda draft: unhide_note(draft, CITY))
    assert list(scene.facts()) == list(KEYS)
    assert scene.fact("user:city").hits == 2


def test_a_hidden_fact_that_is_remembered_with_another_value_is_let_go(scene: Scene) -> None:
    scene.ours(lambda draft: hide_note(draft, CITY))
    scene.original().remember("user:city", "Rome")
    verdict = scene.judged()
    assert reasons(verdict) == ["dropped 1 hidden fact that another program stored again"]
    note = scene.note(CITY)
    assert (note.hidden, note.hidden_fact, note.content) == (False, None, "Rome")
    assert scene.facts()["user:city"] == "Rome"
    assert_sound(scene)


def test_between_the_two_steps_of_remembering_a_hidden_fact_anew_nothing_is_done(scene: Scene) -> None:
    scene.ours(lambda draft: hide_note(draft, CITY))
    other = scene.original()
    verdicts: list[Repairs] = []
    other.before_graph = lambda: verdicts.append(scene.judged())
    other.remember("user:city", "Rome")
    assert verdicts == [Repairs()]
    scene.judged()
    assert scene.facts()["user:city"] == "Rome"
    assert_sound(scene)


def test_a_deleted_fact_that_is_remembered_anew_stands(scene: Scene) -> None:
    scene.ours(lambda draft: delete_note(draft, CITY))
    scene.original().remember("user:city", "Paris")
    assert scene.judged(HOURS) == Repairs()
    assert scene.facts()["user:city"] == "Paris"
    assert_sound(scene)


@pytest.mark.parametrize("list_as_well", [False, True])
def test_a_hiding_that_the_graph_undid_is_done_again(scene: Scene, list_as_well: bool) -> None:
    other, graph = scene.original(), read_graph(scene.home)
    scene.ours(lambda draft: hide_note(draft, CITY))
    before = scene.now()
    if list_as_well:
        other.save_facts()
    save_graph(scene.home, graph)
    scene.judged()
    assert scene.now().notes == before.notes
    assert_sound(scene)


def test_an_unhidden_fact_that_the_list_in_memory_lacks_comes_back(scene: Scene) -> None:
    scene.ours(lambda draft: hide_note(draft, CITY))
    other = scene.original()
    scene.ours(lambda draft: unhide_note(draft, CITY))
    other.recall("user:name", "theirs")
    scene.judged(HOURS)
    assert list(scene.facts()) == list(KEYS)
    assert_sound(scene)


def test_an_unhiding_that_graph_and_list_both_undid_is_done_again(scene: Scene) -> None:
    scene.ours(lambda draft: hide_note(draft, CITY))
    other, graph = scene.original(), read_graph(scene.home)
    scene.ours(lambda draft: unhide_note(draft, CITY))
    other.save_facts()
    save_graph(scene.home, graph)
    scene.judged()
    assert list(scene.facts()) == list(KEYS)
    assert_sound(scene)


# Forgetting


def test_a_fact_that_another_program_forgot_stays_forgotten(scene: Scene) -> None:
    scene.ours(lambda draft: remember(draft, "memory", "user:car", "a bike"))
    scene.original().forget("user:car")
    assert scene.judged() == Repairs()
    assert "user:car" not in scene.facts()
    assert_sound(scene)


@pytest.mark.parametrize("way", ["forget", "hide"])
def test_a_fact_restored_between_the_two_steps_of_forgetting_it_goes_after_all(
    scene: Scene, way: str
) -> None:
    other = scene.original()
    verdicts: list[Repairs] = []
    other.before_graph = lambda: verdicts.append(scene.judged())
    getattr(other, way)("user:city")
    assert reasons(verdicts[0]) == ["restored 1 fact that another program reverted"]
    assert reasons(scene.judged()) == ["forgot 1 fact as another program did"]
    assert list(scene.facts()) == ["user:name", "user:pet"]
    assert_sound(scene)
    if way == "hide":
        scene.ours(lambda draft: unhide_note(draft, CITY))
        assert list(scene.facts()) == list(KEYS)


def test_a_fact_that_is_stored_again_after_that_stands(scene: Scene) -> None:
    other = scene.original()
    other.before_graph = lambda: scene.judged() and None
    other.forget("user:city")
    scene.judged()
    other.before_graph = lambda: None
    other.remember("user:city", "Rome")
    assert scene.judged() == Repairs()
    assert scene.facts()["user:city"] == "Rome"
    assert_sound(scene)


# Again and again


def test_a_value_and_a_new_fact_are_restored_as_often_as_a_list_in_memory_drops_them(scene: Scene) -> None:
    other = scene.original()
    _change_city(scene)
    scene.ours(lambda draft: remember(draft, "memory", "user:car", "a bike"))
    for session in ("a", "b", "c", "d", "e"):
        other.recall("user:name", session)
        verdict = scene.judged(HOURS)
        assert (len(verdict.restorations), verdict.conflicts) == (1, ())
        assert (scene.facts()["user:city"], scene.facts()["user:car"]) == ("Rome", "a bike")


# Recalls


def test_recalls_that_a_list_in_memory_dropped_are_counted_again(scene: Scene) -> None:
    other = scene.original()
    _recall_city(scene, "a", "b", "c")
    other.recall("user:name", "theirs")
    assert scene.fact("user:city").hits == 1
    verdict = scene.judged(HOURS)
    assert reasons(verdict) == ["counted a recall that another program had dropped"]
    assert verdict.restorations[0].kind == "hit"
    assert (scene.fact("user:city").hits, scene.fact("user:city").last_hit_session) == (4, "c")
    assert "restore" not in scene.kinds()


def test_a_restored_value_keeps_the_most_recalls(scene: Scene) -> None:
    other = scene.original()
    _change_city(scene)
    _recall_city(scene, "a", "b", "c")
    other.recall("user:name", "theirs")
    scene.judged(HOURS)
    assert (scene.fact("user:city").value, scene.fact("user:city").hits) == ("Rome", 4)


# How late


@pytest.mark.parametrize("news", [False, True])
def test_a_value_without_a_note_is_restored_late_when_the_list_brings_something_new(
    scene: Scene, news: bool
) -> None:
    _change_city(scene)
    graph = read_graph(scene.home)
    graph["notes"] = [note for note in graph["notes"] if note["id"] != CITY]
    save_graph(scene.home, graph)
    scene.judged(HOURS)
    objects = [fact_object(key, VALUES[key], hits=1) for key in KEYS]
    write_nugget(scene.home, "memory", [*objects, fact_object("user:new", "never said")] if news else objects)
    scene.judged(HOURS)
    assert scene.facts()["user:city"] == ("Rome" if news else "Paris")


def test_a_new_fact_that_a_copy_proven_stale_lacks_comes_back_with_its_note(scene: Scene) -> None:
    other, graph = scene.original(), read_graph(scene.home)
    scene.ours(lambda draft: edit_note(draft, ONE, content="Ours."))
    made = scene.ours(lambda draft: remember(draft, "memory", "user:car", "a bike"))
    other.save_facts()
    other.add_note(graph, "News", "Never seen.")
    save_graph(scene.home, graph)
    scene.judged(HOURS)
    assert scene.facts()["user:car"] == "a bike"
    assert scene.note(made.id) == made
    assert_sound(scene)
