"""What a program without a lock takes back unseen: it is restored, said, and in the end left to a person."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kits.beside import (
    NUGGET,
    ONE,
    TWO,
    content_of,
    kinds,
    make_home,
    never_quiet,
    save_stale,
    values_of,
    write_later,
)
from kits.memory_files import (
    GRAPH,
    fact_object,
    note_object,
    notes_of,
    replace_bytes,
    write_graph,
    write_nugget,
)
from kits.original_writer import Original, read_graph
from kits.steps import assert_facts_and_notes_are_one

from core import Memory
from core.errors import ConflictError, NuggetsError
from core.facts.edits import forget, remember
from core.graph.edits import create_note, delete_note, edit_note, hide_note
from core.model.draft import Draft
from core.model.snapshot import Snapshot
from core.storage.format.documents import Loaded
from core.storage.reconcile import outside

RESTORED_ONE = "restored 1 note that another program reverted"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_home(tmp_path)


def test_a_change_that_another_program_took_back_is_restored_once_and_said(home: Path) -> None:
    memory = Memory.open(home)
    stale = read_graph(home)
    done = memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))[1]
    stale["notes"].append(note_object(9))
    save_stale(home, stale)
    assert content_of(home) == "Content of note 1."
    again = Memory.open(home)
    assert content_of(home) == "Ours."
    assert "note-memory-00000009" in notes_of(home)
    assert [notice.partition(";")[0] for notice in again.take_notices()] == [RESTORED_ONE]
    assert again.take_notices() == ()
    assert kinds(again) == [("edit", "done"), ("outside", "done"), ("outside", "done"), ("restore", "done")]
    restored, taken_back, meant = (entry.change_set for entry in again.history.log()[:3])
    assert (restored.about, [change.id for change in restored.notes]) == (done.id, [ONE])
    assert [change.id for change in taken_back.notes] == [ONE]
    assert [change.id for change in meant.notes] == ["note-memory-00000009"]
    for _ in range(2):
        assert Memory.open(home).take_notices() == ()
    assert len(Memory.open(home).history.log()) == 4
    memory.refresh()
    assert memory.snapshot.note(ONE).content == "Ours."
    memory.history.undo()
    assert content_of(home) == "Content of note 1."
    assert Memory.open(home).take_notices() == ()
    assert content_of(home) == "Content of note 1."


def test_a_memory_that_stays_open_restores_at_its_next_look(home: Path) -> None:
    memory = Memory.open(home)
    stale = read_graph(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    save_stale(home, stale)
    assert memory.refresh()
    assert memory.snapshot.note(ONE).content == "Ours."
    assert [notice.partition(";")[0] for notice in memory.take_notices()] == [RESTORED_ONE]
    assert [entry.change_set.kind for entry in memory.history.log()] == ["restore", "outside", "edit"]


@pytest.mark.slow
def test_what_is_taken_back_again_and_again_is_restored_each_time_and_said_twice(home: Path) -> None:
    memory = Memory.open(home)
    stale = read_graph(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    said: list[str] = []
    for _ in range(6):
        save_stale(home, stale)
        memory.refresh()
        assert content_of(home) == "Ours."
        said += memory.take_notices()
    assert len(said) == 2
    assert memory.history.conflicts() == ()
    assert Memory.open(home).store.reconciled


def test_what_has_to_wait_once_more_is_one_conflict_until_it_stands(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)
    stale = read_graph(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    for _ in range(2):
        save_stale(home, stale)
        memory.refresh()
    for turn in range(2):
        with monkeypatch.context() as patch:
            never_quiet(patch)
            for _ in range(3):
                save_stale(home, stale)
                memory.refresh(patient=False)
            assert content_of(home) == "Content of note 1."
            (entry,) = memory.history.conflicts()
            assert entry.conflict is not None
            assert (entry.conflict.where, entry.conflict.field) == (ONE, "content")
            assert (entry.conflict.ours, entry.conflict.theirs) == ("Ours.", "Content of note 1.")
        memory.refresh()
        assert content_of(home) == "Ours."
        assert memory.history.conflicts() == (), turn
    assert len(memory.history.log(limit=None, text="reverted")) == len(
        memory.history.log(limit=None, kind="restore")
    )


def _fought_over(home: Path, monkeypatch: pytest.MonkeyPatch, path: str = str(GRAPH)) -> tuple[Memory, str]:
    """A change of ours that another program took back again and again and that has to wait; the conflict's id."""
    memory = Memory.open(home)
    old = (home / path).read_bytes()
    if path == NUGGET:
        memory.change("edit", lambda draft: remember(draft, "memory", "user:a", "Ours."))
    else:
        memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    for _ in range(2):
        write_later(home / path, lambda: replace_bytes(home / path, old))
        memory.refresh()
    never_quiet(monkeypatch)
    write_later(home / path, lambda: replace_bytes(home / path, old))
    memory.refresh(patient=False)
    (entry,) = memory.history.conflicts()
    return memory, entry.id


@pytest.mark.slow
def test_a_conflict_about_what_is_taken_back_again_and_again_may_be_left_as_theirs(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, conflict = _fought_over(home, monkeypatch)
    memory.history.resolve_conflict(conflict, "theirs")
    assert content_of(home) == "Content of note 1."
    assert memory.history.conflicts() == ()
    monkeypatch.undo()
    for _ in range(2):
        assert Memory.open(home).history.conflicts() == ()
        assert content_of(home) == "Content of note 1."


@pytest.mark.parametrize("take", ["ours", "theirs"])
def test_settling_a_conflict_about_a_fact_writes_the_fact_and_its_note(
    home: Path, monkeypatch: pytest.MonkeyPatch, take: Any
) -> None:
    memory, conflict = _fought_over(home, monkeypatch, NUGGET)
    (entry,) = memory.history.conflicts()
    assert entry.conflict is not None
    assert entry.conflict.where == "memory: user:a"
    memory.history.resolve_conflict(conflict, take)
    monkeypatch.undo()
    again = Memory.open(home)
    assert values_of(home)["user:a"] == ("Ours." if take == "ours" else "a value")
    assert_facts_and_notes_are_one(again.snapshot)
    assert again.maintenance.verify() == ()


@pytest.mark.parametrize("seconds", [1.0, 3.0, 100.0])
def test_a_real_edit_of_another_program_is_not_fought(home: Path, seconds: float) -> None:
    memory = Memory.open(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    write_later(
        home / GRAPH, lambda: Original(home, load=False).edit_note(ONE, content="Theirs, later."), seconds
    )
    memory.refresh()
    assert content_of(home) == "Theirs, later."
    assert memory.take_notices() == ()
    assert memory.history.conflicts() == ()
    assert kinds(memory) == [("edit", "done"), ("outside", "done")]


def test_a_file_put_back_long_after_is_a_change_like_any_other(home: Path) -> None:
    memory = Memory.open(home)
    old = (home / GRAPH).read_bytes()
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    write_later(home / GRAPH, lambda: replace_bytes(home / GRAPH, old), 60)
    memory.refresh()
    assert content_of(home) == "Content of note 1."
    assert memory.take_notices() == ()
    memory.history.undo(memory.history.log(author="program")[0].id)
    assert content_of(home) == "Ours."


@pytest.mark.slow
def test_nothing_is_restored_while_another_program_keeps_saving(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)
    stale = read_graph(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    with monkeypatch.context() as patch:
        never_quiet(patch)
        for number in range(9, 14):
            stale["notes"].append(note_object(number))
            save_stale(home, stale, 0.02)
            memory.refresh(patient=False)
            assert content_of(home) == "Content of note 1."
            assert not memory.store.reconciled
        # Whoever writes meanwhile does so on what stands there.
        memory.change("edit", lambda draft: edit_note(draft, TWO, content="Ours too."))
        assert memory.take_notices() == ()
        assert [kind for kind, _ in kinds(memory)].count("restore") == 0
    memory.refresh()
    assert (content_of(home), content_of(home, TWO)) == ("Ours.", "Ours too.")
    assert [notice.partition(";")[0] for notice in memory.take_notices()] == [RESTORED_ONE]
    assert memory.store.reconciled
    assert {f"note-memory-{number:08x}" for number in range(9, 14)} <= set(notes_of(home))


def test_what_is_owed_is_restored_by_whoever_opens_next_however_late(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)
    stale = read_graph(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    with monkeypatch.context() as patch:
        never_quiet(patch)
        save_stale(home, stale)
        memory.refresh(patient=False)
    stale["notes"].append(note_object(9))
    save_stale(home, stale, 3600)
    again = Memory.open(home)
    assert content_of(home) == "Ours."
    assert "note-memory-00000009" in notes_of(home)
    assert [notice.partition(";")[0] for notice in again.take_notices()] == [RESTORED_ONE]


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda draft: create_note(draft, "memory", "Made", "Text."), "restored 1 note"),
        (lambda draft: delete_note(draft, TWO), "restored 1 note"),
        (lambda draft: hide_note(draft, TWO), "restored 1 note"),
        (lambda draft: edit_note(draft, TWO, title="Other", add_tags=["x"]), "restored 1 note"),
    ],
)
def test_every_kind_of_change_of_notes_outlives_a_stale_save(home: Path, edit: Any, reason: str) -> None:
    memory = Memory.open(home)
    stale = read_graph(home)
    memory.change("edit", edit)
    after = _without_times(memory.snapshot)
    save_stale(home, stale)
    memory.refresh()
    assert _without_times(memory.snapshot) == after
    assert "".join(memory.take_notices()).startswith(reason)
    assert memory.maintenance.verify() == ()


@pytest.mark.parametrize("what", ["both", "facts", "graph"])
@pytest.mark.parametrize(
    "edit",
    [
        lambda draft: remember(draft, "memory", "user:new", "value"),
        lambda draft: remember(draft, "memory", "user:a", "another value"),
        lambda draft: forget(draft, "memory", "user:a"),
    ],
    ids=["new", "changed", "forgotten"],
)
def test_facts_and_their_notes_outlive_a_stale_save_of_either_file(home: Path, edit: Any, what: str) -> None:
    memory = Memory.open(home)
    held, stale = Original(home, load=False), read_graph(home)
    memory.change("edit", edit)
    after = _without_times(memory.snapshot)
    if what != "graph":
        write_later(home / NUGGET, held.save_facts)
    if what != "facts":
        # Which is how a stale save of both differs from forgetting.
        stale["notes"][1] |= {"content": "News.", "updatedAt": "2030-01-01T00:00:00.000Z"}
        save_stale(home, stale)
        memory.refresh()
        news = next(
            e for e in memory.history.log(author="program") if any(c.id == TWO for c in e.change_set.notes)
        )
        memory.history.undo(news.id)
    memory.refresh()
    assert _without_times(memory.snapshot) == after
    assert len(memory.take_notices()) == 1
    assert_facts_and_notes_are_one(memory.snapshot)
    assert Memory.open(home).take_notices() == ()
    memory.history.undo()
    assert values_of(home) == {"user:a": "a value", "user:b": "a value"}
    assert_facts_and_notes_are_one(memory.snapshot)
    assert Memory.open(home).take_notices() == ()


def _without_times(snapshot: Snapshot) -> object:
    notes = [
        (
            n.id,
            n.title,
            n.content,
            n.tags,
            n.hidden,
            n.source_key,
            [(link.to, link.reason) for link in n.links],
        )
        for n in snapshot.notes
    ]
    facts = [(nugget.name, f.key, f.value) for nugget in snapshot.nuggets for f in nugget.facts]
    return sorted(notes), facts


def test_white_space_that_a_save_squeezed_is_put_back_without_a_word(home: Path) -> None:
    memory = Memory.open(home)
    code = "- a\n  - b\n\n    code()"
    memory.change("edit", lambda draft: edit_note(draft, ONE, content=code))
    entries = len(memory.history.log())
    graph = read_graph(home)
    graph["notes"].append(note_object(9))
    save_stale(home, graph)
    assert content_of(home) != code
    memory.refresh()
    assert content_of(home) == code
    assert memory.take_notices() == ()
    assert [kind for kind, _ in kinds(memory)] == ["edit", "outside"]
    assert len(memory.history.log()) == entries + 1
    assert Memory.open(home).store.reconciled


@pytest.mark.parametrize("change", ["tag", "hide", "count"])
def test_a_change_while_a_program_saves_all_along_keeps_the_white_space_that_it_squeezed(
    home: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    memory = Memory.open(home)
    code = "make ship      # builds\nmake watch     # looks"
    memory.change("edit", lambda draft: edit_note(draft, ONE, content=code))
    graph = read_graph(home)
    graph["notes"].append(note_object(9))
    never_quiet(monkeypatch)
    save_stale(home, graph)
    assert content_of(home) != code
    if change == "count":
        assert memory.recall("make ship builds", session="other").note_id == ONE
    elif change == "hide":
        memory.change("hide", lambda draft: hide_note(draft, ONE))
    else:
        memory.change("tag", lambda draft: edit_note(draft, ONE, tags=["ops"]))
    assert content_of(home) == code
    assert "note-memory-00000009" in notes_of(home)
    assert Memory.open(home).snapshot.by_id[ONE].content == code


@pytest.mark.slow
def test_renamed_keys_keep_their_notes_when_the_original_loads(tmp_path: Path) -> None:
    write_graph(tmp_path, [])
    write_nugget(tmp_path, "memory", [fact_object("plain", "value"), fact_object("user:b", "other")])
    memory = Memory.open(tmp_path)
    memory.maintenance.repair()
    note = next(note for note in memory.snapshot.notes if note.key == "plain")
    Original(tmp_path, load=True)
    memory.refresh()
    assert memory.snapshot.note(note.id).key == "user:plain"
    assert_facts_and_notes_are_one(memory.snapshot)
    assert len(memory.snapshot.notes) == 2


# Our own work while another program keeps taking things back


def test_an_edit_of_what_was_just_taken_back_is_made_on_our_own_version(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)
    held, stale = Original(home, load=False), read_graph(home)
    memory.change("one", lambda draft: edit_note(draft, ONE, content="Ours."))
    memory.change("two", lambda draft: edit_note(draft, TWO, content="Ours too."))
    memory.change("new", lambda draft: remember(draft, "memory", "user:new", "first"))
    never_quiet(monkeypatch)
    write_later(home / NUGGET, held.save_facts)
    save_stale(home, stale)
    memory.change("tag", lambda draft: edit_note(draft, ONE, add_tags=["ours"]))
    assert content_of(home) == "Ours."
    memory.change("again", lambda draft: remember(draft, "memory", "user:new", "second"))
    monkeypatch.undo()
    memory.refresh()
    assert (content_of(home), content_of(home, TWO)) == ("Ours.", "Ours too.")
    assert values_of(home)["user:new"] == "second"
    assert_facts_and_notes_are_one(memory.snapshot)
    assert memory.history.conflicts() == ()


def test_a_fact_whose_note_was_gone_when_it_was_changed_keeps_one_note(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)
    stale = read_graph(home)
    note = memory.change("new", lambda draft: remember(draft, "memory", "user:new", "first"))[0]
    never_quiet(monkeypatch)
    save_stale(home, stale)
    memory.change("again", lambda draft: remember(draft, "memory", "user:new", "second"))
    monkeypatch.undo()
    memory.refresh()
    assert content_of(home, note.id) == "second"
    assert_facts_and_notes_are_one(memory.snapshot)


def test_an_edit_that_meets_anothers_in_the_last_moment_is_thought_out_again(home: Path) -> None:
    memory = Memory.open(home)
    theirs = iter(["Theirs."])
    seen: list[str] = []

    def edit(draft: Draft) -> None:
        seen.append(draft.present().note(ONE).content)
        for content in theirs:
            Original(home, load=False).edit_note(ONE, content=content)
        edit_note(draft, ONE, content="Ours.")

    memory.change("edit", edit)
    assert seen == ["Content of note 1.", "Theirs."]
    assert content_of(home) == "Ours."
    assert memory.history.conflicts() == ()
    assert kinds(memory) == [("outside", "done"), ("edit", "done")]


def test_an_edit_that_meets_anothers_every_time_waits_in_the_log(home: Path) -> None:
    memory = Memory.open(home)
    numbers = iter(range(100))

    def edit(draft: Draft) -> None:
        Original(home, load=False).edit_note(ONE, content=f"Theirs {next(numbers)}.")
        edit_note(draft, ONE, content="Ours.")

    with pytest.raises(ConflictError) as caught:
        memory.change("edit", edit)
    assert [entry.id for entry in memory.history.conflicts()] == [caught.value.entry]
    assert content_of(home).startswith("Theirs")


def test_a_fact_that_another_program_forgets_at_once_stays_forgotten(home: Path) -> None:
    memory = Memory.open(home)
    memory.change("new", lambda draft: remember(draft, "memory", "user:new", "value"))
    Original(home, load=False).forget("user:new")
    memory.refresh()
    assert "user:new" not in values_of(home)
    assert memory.take_notices() == ()
    assert_facts_and_notes_are_one(memory.snapshot)


def _save_list(home: Path, held: list[dict[str, Any]]) -> None:
    write_later(home / NUGGET, lambda: write_nugget(home, "memory", held))


def test_an_agent_that_lost_our_edit_goes_on_editing_a_fact_of_its_own(home: Path) -> None:
    memory = Memory.open(home)
    held = [fact_object("user:a"), fact_object("user:b"), fact_object("user:theirs", "first")]
    _save_list(home, held)
    memory.refresh()
    memory.change("edit", lambda draft: remember(draft, "memory", "user:a", "Ours."))
    for value in ("second", "third", "fourth"):
        held[-1] |= {"value": value}
        _save_list(home, held)
        memory.refresh()
        assert values_of(home)["user:theirs"] == value
        assert values_of(home)["user:a"] == "Ours."
        assert memory.history.conflicts() == ()


def test_an_agent_that_recalled_what_we_changed_forgets_a_fact_of_its_own(home: Path) -> None:
    memory = Memory.open(home)
    held = [fact_object("user:a"), fact_object("user:b"), fact_object("user:theirs", "first")]
    _save_list(home, held)
    memory.refresh()
    memory.change("edit", lambda draft: remember(draft, "memory", "user:a", "Ours."))
    held[0] |= {"hits": 1, "last_hit_session": "s-1"}
    _save_list(home, held)
    memory.refresh()
    held.pop()
    _save_list(home, held)
    memory.refresh()
    assert "user:theirs" not in values_of(home)
    assert values_of(home)["user:a"] == "Ours."


@pytest.mark.parametrize("take", ["ours", "theirs"])
def test_an_agent_that_edits_on_what_we_edited_too_makes_one_conflict(home: Path, take: Any) -> None:
    memory = Memory.open(home)
    for key in ("user:a", "user:b"):
        memory.change("edit", lambda draft, key=key: remember(draft, "memory", key, "Ours."))
    for value in ("first", "second", "third"):
        _save_list(home, [fact_object("user:a", value), fact_object("user:b")])
        memory.refresh()
        assert values_of(home) == {"user:a": "Ours.", "user:b": "Ours."}
    (waiting,) = memory.history.conflicts()
    assert waiting.conflict is not None
    assert waiting.conflict.ours == "third"
    memory.history.resolve_conflict(waiting.id, take)
    assert values_of(home)["user:a"] == ("third" if take == "ours" else "Ours.")
    assert memory.history.conflicts() == ()


def test_an_agent_that_lost_a_recall_of_ours_may_edit_another_fact(home: Path) -> None:
    memory = Memory.open(home)
    memory.change("edit", lambda draft: remember(draft, "memory", "user:b", "Ours."))
    memory.recall("user:a", session="s-1")
    _save_list(home, [fact_object("user:a"), fact_object("user:b", "Theirs.")])
    memory.refresh()
    assert values_of(home)["user:b"] == "Theirs."
    assert memory.history.conflicts() == ()


def test_a_note_outlives_an_old_list_and_an_old_graph_that_are_saved_together(home: Path) -> None:
    memory = Memory.open(home)
    stale = read_graph(home)
    memory.change("edit", lambda draft: remember(draft, "memory", "user:a", "Ours."))
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    held = [fact_object("user:a"), fact_object("user:b")]
    for number in range(1, 4):
        held[1] |= {"hits": number, "last_hit_session": f"s-{number}"}
        _save_list(home, held)
        save_stale(home, stale)
        memory.refresh()
    assert content_of(home) == "Ours."
    assert values_of(home)["user:a"] == "Ours."
    assert memory.history.conflicts() == ()
    assert_facts_and_notes_are_one(memory.snapshot)


def test_a_note_outlives_an_old_graph_beside_a_list_that_lost_an_earlier_edit(home: Path) -> None:
    memory = Memory.open(home)
    memory.change("edit", lambda draft: remember(draft, "memory", "user:a", "Ours."))
    stale = read_graph(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    _save_list(home, [fact_object("user:a"), fact_object("user:b") | {"hits": 1, "last_hit_session": "s-1"}])
    save_stale(home, stale)
    memory.refresh()
    assert content_of(home) == "Ours."
    assert values_of(home)["user:a"] == "Ours."
    assert memory.history.conflicts() == ()


def test_a_fact_that_an_old_list_and_an_old_graph_dropped_together_comes_back(home: Path) -> None:
    memory = Memory.open(home)
    held, stale = Original(home, load=False), read_graph(home)
    memory.change("new", lambda draft: remember(draft, "memory", "user:new", "value"))
    write_later(home / NUGGET, held.save_facts)
    held.add_note(stale, "News", "Written by a program that had not seen our fact.")
    save_stale(home, stale)
    memory.refresh()
    assert values_of(home)["user:new"] == "value"
    assert "News" in {note["title"] for note in notes_of(home).values()}
    assert_facts_and_notes_are_one(memory.snapshot)


def test_what_was_restored_in_vain_is_restored_again_only_after_a_longer_silence(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    plain = outside.is_quiet

    def noted(loaded: Loaded, seconds: float) -> bool:
        waits.append(seconds)
        return plain(loaded, seconds)

    monkeypatch.setattr(outside, "is_quiet", noted)
    memory = Memory.open(home)
    stale = read_graph(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    for _ in range(2):
        save_stale(home, stale)
        memory.refresh()
    assert content_of(home) == "Ours."
    assert waits[0] < waits[-1]


@pytest.mark.parametrize(
    ("take", "text", "content"),
    [("ours", None, "Ours."), ("theirs", None, "Content of note 1."), ("ours", "Both.", "Both.")],
)
def test_a_change_that_is_taken_back_again_and_again_is_settled_as_a_person_says(
    home: Path, monkeypatch: pytest.MonkeyPatch, take: Any, text: str | None, content: str
) -> None:
    memory, conflict = _fought_over(home, monkeypatch)
    memory.history.resolve_conflict(conflict, take, text)
    assert content_of(home) == content
    monkeypatch.undo()
    assert Memory.open(home).history.conflicts() == ()
    assert content_of(home) == content


@pytest.mark.parametrize("field", ["value", "content"])
def test_a_persons_own_text_stands_in_a_fact_and_in_its_note(home: Path, field: str) -> None:
    memory = Memory.open(home)
    draft = memory.draft()
    note = draft.present().fact_notes["memory", "user:a"]
    if field == "value":
        remember(draft, "memory", "user:a", "ours")
    else:
        edit_note(draft, note.id, content="ours")
    Original(home, load=False).remember("user:a", "theirs")
    with pytest.raises(ConflictError) as caught:
        memory.apply(draft.change_set("edit"))
    memory.history.resolve_conflict(caught.value.entry, "ours", "both")
    assert values_of(home)["user:a"] == content_of(home, note.id) == "both"
    assert_facts_and_notes_are_one(memory.snapshot)


# Files that break


def test_a_file_that_breaks_between_two_looks_takes_nothing_out_of_the_log(home: Path) -> None:
    memory = Memory.open(home)
    memory.change("edit", lambda draft: edit_note(draft, ONE, content="Ours."))
    whole = (home / GRAPH).read_bytes()
    (home / GRAPH).write_bytes(whole[:-30])
    for _ in range(2):
        with pytest.raises(NuggetsError):
            memory.refresh()
        with pytest.raises(NuggetsError):
            Memory.open(home)
    replace_bytes(home / GRAPH, whole)
    memory.refresh()
    assert kinds(memory) == [("edit", "done")]
    memory.history.undo()
    assert content_of(home) == "Content of note 1."


@pytest.mark.slow
def test_a_fact_file_that_breaks_takes_no_fact_out_of_the_log(home: Path) -> None:
    memory = Memory.open(home)
    memory.change("fact", lambda draft: remember(draft, "memory", "user:ours", "ours"))
    whole = (home / NUGGET).read_bytes()
    replace_bytes(home / NUGGET, whole[:-30])
    memory.refresh()
    Memory.open(home)
    memory.change("note", lambda draft: edit_note(draft, ONE, content="Ours."))
    replace_bytes(home / NUGGET, whole)
    again = Memory.open(home)
    assert [kind for kind, _ in kinds(again)] == ["edit", "edit"]
    again.history.undo()
    again.history.undo()
    assert values_of(home) == {"user:a": "a value", "user:b": "a value"}


def test_a_conflict_is_raised_to_whoever_applies_and_kept_for_whoever_looks(home: Path) -> None:
    memory = Memory.open(home)
    draft = memory.draft()
    edit_note(draft, ONE, content="Ours.")
    Original(home, load=False).edit_note(ONE, content="Theirs.")
    with pytest.raises(ConflictError) as caught:
        memory.apply(draft.change_set("edit"))
    assert caught.value.entry == Memory.open(home).history.conflicts()[0].id


def _hits_in(home: Path) -> tuple[int, int]:
    """Recalls of user:a, as its fact and its note have them."""
    snapshot = Memory.open(home).snapshot
    fact = snapshot.by_name["memory"].find("user:a")
    assert fact is not None
    return fact[1].hits, snapshot.fact_notes["memory", "user:a"].hits


@pytest.mark.slow
@pytest.mark.parametrize("files", [(NUGGET,), (GRAPH,), (NUGGET, GRAPH)])
def test_a_recall_that_an_old_copy_dropped_is_logged_as_dropped_and_counted_again(
    home: Path, files: tuple[str, ...]
) -> None:
    memory = Memory.open(home)
    old = {name: (home / name).read_bytes() for name in files}
    memory.recall("user:a", session="s-1")
    for name, data in old.items():
        replace_bytes(home / name, data)
    again = Memory.open(home)
    assert _hits_in(home) == (1, 1)
    assert [entry.change_set.reason for entry in again.history.log()[:3]] == [
        "counted a recall that another program had dropped",
        "dropped a recall of user:a",
        "recalled user:a",
    ]


@pytest.mark.slow
def test_a_recall_of_what_was_taken_back_is_logged_once_however_long_its_restoring_waits(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)
    held = Original(home, load=False)
    memory.change("edit", lambda draft: remember(draft, "memory", "user:a", "Ours."))
    with monkeypatch.context() as patch:
        never_quiet(patch)
        for number in range(1, 4):
            held.recall("user:a", f"s-{number}")
            memory.refresh(patient=False)
            counted = [
                (change.before.hits, change.after.hits)
                for entry in memory.history.log(kind="hit")
                for change in entry.change_set.facts
                if change.before is not None and change.after is not None
            ]
            assert sum(after - before for before, after in counted) == number
    memory.refresh()
    assert values_of(home)["user:a"] == "Ours."
    assert _hits_in(home) == (3, 3)
    assert all(entry.change_set.reason == "recalled user:a" for entry in memory.history.log(kind="hit"))


@pytest.mark.slow
def test_no_recall_of_ours_is_lost_to_an_agent_that_recalls_from_an_old_list(home: Path) -> None:
    memory = Memory.open(home)
    held = Original(home, load=False)
    memory.recall("user:a", session="s-1")
    memory.change("edit", lambda draft: remember(draft, "memory", "user:b", "Ours."))
    held.recall("user:b", "s-2")
    for _ in range(2):
        memory.refresh()
    assert _hits_in(home) == (1, 1)
    assert values_of(home)["user:b"] == "Ours."
    assert_facts_and_notes_are_one(memory.snapshot)


def test_an_agent_that_forgets_a_fact_and_adds_another_before_anybody_looks_is_obeyed(home: Path) -> None:
    memory = Memory.open(home)
    memory.change("new", lambda draft: remember(draft, "memory", "user:new", "value"))
    agent = Original(home, load=False)

    def forget_and_add() -> None:
        agent.forget("user:new")
        agent.remember("user:d", "theirs")

    # So long after our change that no copy from before it is saved any more.
    write_later(home / NUGGET, forget_and_add, seconds=90)
    write_later(home / GRAPH, lambda: None, seconds=90)
    for _ in range(2):
        memory.refresh()
    assert set(values_of(home)) == {"user:a", "user:b", "user:d"}
    assert memory.take_notices() == ()
    assert memory.history.conflicts() == ()
    assert_facts_and_notes_are_one(memory.snapshot)
