"""Keys that the original renames when it loads: notes keep their ids, links and what a person gave them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kits.memory_files import fact_object, write_graph, write_nugget
from kits.original_writer import Original, read_graph, save_graph
from kits.scene import CITY, NAME, ONE, PET, THREE, TWO, Scene, assert_sound, make_scene, reasons

from core.facts.edits import remember
from core.graph.edits import edit_note, hide_note, link_notes, unhide_note
from core.model.infer import MetaInput
from core.model.note import normalised_note, replace
from core.storage.reconcile.repairs import Repairs

HOURS = 7200.0
UNSCOPED = {"name": "Ada", "city": "Paris", "user:pet": "a cat"}


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    scene = make_scene(
        tmp_path, UNSCOPED, extra={"later": {"deep": [1]}}, created_at="2025-01-01T00:00:00.000Z", confidence=0.4
    )  # fmt: skip
    scene.ours(lambda draft: link_notes(draft, ONE, CITY, "kin"))
    scene.ours(lambda draft: edit_note(draft, CITY, add_tags=["mine"], meta=MetaInput(stability="temporary")))
    return scene


def _assert_kept_when_loaded(scene: Scene, id: str) -> None:
    before = scene.seen.note(id)
    scene.original(load=True)
    renamed = f"user:{before.key}"
    assert id not in scene.now().by_id
    assert reasons(scene.judged(HOURS)) == ["kept the notes of 2 facts after another program renamed keys"]
    note = scene.note(id)
    kept = replace(before, title=renamed, source_key=renamed)
    times = {name: getattr(note, name) for name in ("updated_at", "last_accessed_at")}
    assert note == normalised_note(replace(kept, **times), lambda _: True)
    assert [one.id for one in scene.now().notes if one.key == renamed] == [id]
    assert_sound(scene)


def test_a_note_keeps_id_links_tags_metadata_and_unknown_fields(scene: Scene) -> None:
    _assert_kept_when_loaded(scene, CITY)
    assert list(scene.facts()) == ["user:name", "user:city", "user:pet"]
    assert [link.to for link in scene.note(ONE).links] == [CITY]
    assert [note.id for note in scene.now().notes] == [ONE, TWO, THREE, NAME, CITY, PET]
    assert scene.judged() == Repairs()
    scene.original(load=True)
    assert scene.judged() == Repairs()


def test_two_renamed_facts_that_are_linked_stay_linked(scene: Scene) -> None:
    scene.ours(lambda draft: link_notes(draft, NAME, CITY, "both"))
    _assert_kept_when_loaded(scene, CITY)
    assert {(link.to, link.reason) for link in scene.note(CITY).links} == {(ONE, "kin"), (NAME, "both")}
    assert [link.to for link in scene.note(NAME).links] == [CITY]


def test_a_link_made_meanwhile_to_the_new_note_leads_to_the_old_one(scene: Scene) -> None:
    scene.original(load=True)
    graph = read_graph(scene.home)
    made = next(note for note in graph["notes"] if note.get("sourceKey") == "user:city")
    holder = next(note for note in graph["notes"] if note["id"] == PET)
    for one, other in ((made, holder), (holder, made)):
        one["links"].append({"to": other["id"], "reason": "theirs", "createdAt": ""})
    save_graph(scene.home, graph)
    scene.judged()
    assert [link.to for link in scene.note(PET).links] == [CITY]
    assert {link.to for link in scene.note(CITY).links} == {ONE, PET}
    assert_sound(scene)


def test_between_the_two_steps_of_loading_the_old_note_takes_the_new_key(scene: Scene) -> None:
    other = scene.original()
    other.before_graph = lambda: scene.judged() and None
    other.load()
    assert scene.judged() == Repairs()
    assert scene.note(CITY).key == "user:city"
    assert [link.to for link in scene.note(ONE).links] == [CITY]
    assert_sound(scene)


def test_a_note_that_is_made_again_after_we_came_between_the_steps_keeps_its_id(
    scene: Scene, tmp_path_factory: pytest.TempPathFactory
) -> None:
    twin = tmp_path_factory.mktemp("twin")
    write_graph(twin, read_graph(scene.home)["notes"])
    other = scene.original()
    other.before_graph = lambda: scene.judged() and None
    other.load()
    # What the original saves when it had read the graph before we came between.
    write_nugget(twin, "memory", other.facts)
    Original(twin, now=lambda: "2027-01-01T00:00:00.000Z")
    save_graph(scene.home, read_graph(twin))
    assert CITY not in scene.now().by_id
    scene.judged()
    assert scene.note(CITY).key == "user:city"
    assert [link.to for link in scene.note(ONE).links] == [CITY]
    assert len(scene.now().notes) == 6
    assert_sound(scene)


def test_a_value_that_we_changed_meanwhile_is_kept_under_the_new_key(scene: Scene) -> None:
    other = scene.original()
    scene.ours(lambda draft: remember(draft, "memory", "city", "Rome"))
    other.load()
    scene.judged(HOURS)
    assert scene.facts()["user:city"] == "Rome"
    assert scene.note(CITY).content == "Rome"
    assert_sound(scene)


def test_a_fact_that_is_stored_under_a_scoped_key_with_another_value_is_another_fact(scene: Scene) -> None:
    other = scene.original()
    other.forget("city")
    other.remember("user:city", "Rome")
    assert scene.judged(HOURS) == Repairs()
    assert CITY not in scene.now().by_id
    assert_sound(scene)


def test_a_hidden_fact_that_comes_back_under_a_scoped_key_is_hidden_again_under_it(scene: Scene) -> None:
    other = scene.original()
    scene.ours(lambda draft: hide_note(draft, CITY))
    other.load()
    assert scene.facts()["user:city"] == "Paris"
    verdict = scene.judged(HOURS)
    assert "forgot 1 fact again" in reasons(verdict)[0]
    note = scene.note(CITY)
    assert (note.hidden, note.key, note.title) == (True, "user:city", "user:city")
    assert note.hidden_fact is not None
    assert (note.hidden_fact.key, note.hidden_fact.value) == ("user:city", "Paris")
    assert list(scene.facts()) == ["user:name", "user:pet"]
    assert [link.to for link in scene.note(ONE).links] == [CITY]
    assert_sound(scene)
    other.recall("user:pet", "theirs")
    scene.judged(HOURS)
    assert list(scene.facts()) == ["user:name", "user:pet"]
    scene.ours(lambda draft: unhide_note(draft, CITY))
    assert list(scene.facts()) == ["user:name", "user:city", "user:pet"]


def test_a_hidden_fact_that_stays_out_keeps_its_key(scene: Scene) -> None:
    scene.ours(lambda draft: hide_note(draft, CITY))
    before = scene.note(CITY)
    scene.original(load=True)
    scene.judged(HOURS)
    assert scene.note(CITY) == before
    assert_sound(scene)


def test_unknown_fields_and_recalls_of_a_renamed_fact_are_kept(scene: Scene) -> None:
    objects = [fact_object(key, value, hits=1) for key, value in UNSCOPED.items()]
    objects[1] |= {"hits": 9, "last_hit_session": "s", "later": 1}
    write_nugget(scene.home, "memory", objects)
    scene.seen = scene.now()
    other = scene.original()
    other.facts[1]["hits"] = 4
    other.load()
    scene.judged(HOURS)
    fact = scene.fact("user:city")
    assert (fact.hits, fact.last_hit_session, fact.extra) == (9, "s", {"later": 1})


def test_the_golden_load_of_the_original_loses_no_id_no_link_and_no_metadata(
    store: Path, golden: Path
) -> None:
    scene = Scene(store)
    before = scene.now()
    files = json.loads((golden / "store_after_loadall.json").read_bytes())["files"]
    scene.ours(lambda draft: link_notes(draft, "fact-memory-00000007", "note-memory-00000012", "kin"))
    linked = scene.now()
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (store / name).write_text(text, encoding="utf-8")
    verdict = scene.judged(HOURS)
    assert reasons(verdict) == ["kept the notes of 4 facts after another program renamed keys"]
    after = scene.now()
    assert [note.id for note in after.notes] == [note.id for note in before.notes]
    fields = ("created_at", "links", "hits", "content", "subject", "scope", "type", "source", "confidence")
    for note in linked.notes:
        now = after.note(note.id)
        for field in (*fields, "stability", "tags", "hidden", "extra"):
            assert getattr(now, field) == getattr(note, field)
        if now.is_fact:
            assert now.key in (note.key, f"{note.scope}:{note.key}")
    assert scene.judged() == Repairs()


def test_a_hidden_fact_survives_the_golden_load(store: Path, golden: Path) -> None:
    scene = Scene(store)
    files = json.loads((golden / "store_after_loadall.json").read_bytes())["files"]
    scene.ours(lambda draft: hide_note(draft, "fact-projects-0000000c"))
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (store / name).write_text(text, encoding="utf-8")
    scene.judged(HOURS)
    kept = scene.note("fact-projects-0000000c").hidden_fact
    assert kept is not None
    assert (kept.key, kept.value) == ("shared:deploy command", "make deploy ENV=prod")
    assert [fact.key for fact in scene.now().nugget("projects").facts] == ["project:db port"]
    scene.ours(lambda draft: unhide_note(draft, "fact-projects-0000000c"))
    assert len(scene.now().nugget("projects").facts) == 2
