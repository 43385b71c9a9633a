"""What an import does to a memory: nothing twice, nothing replaced, all of it undone by one undo."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from kits.memory_files import fact_object, note_object, tree, write_graph, write_nugget
from kits.steps import make_folder

from core import Memory
from core.exchange.plan import ImportResult
from core.facts.edits import remember
from core.graph.edits import create_note, edit_note
from core.promotion.bullet import bullet

SAMPLES = Path(__file__).parents[2] / "golden" / "exchange"
ALL = (
    "claude", "obsidian", "basic-memory", "agents", "mem0/export.json", "engram/engram-export.json",
    "mcp-memory/memory.jsonl", "donna",
)  # fmt: skip


def bring(memory: Memory, source: Path | bytes, **options: Any) -> ImportResult:
    return memory.exchange.bring(memory.exchange.read(source), **options)


def statuses(result: ImportResult) -> dict[str, str]:
    return {item.title: item.status for item in result.items}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A memory with notes and facts of its own."""
    return make_folder(tmp_path / "home")


@pytest.mark.parametrize("sample", ALL)
def test_importing_twice_adds_nothing_and_one_undo_gives_the_first_state(memory: Memory, sample: str) -> None:
    memory.maintenance.repair()
    before, notes = tree(memory.home), memory.snapshot.notes
    result = bring(memory, SAMPLES / sample)
    assert result.of("new")
    assert not result.change_set.empty
    assert memory.history.log(limit=1)[0].change_set.kind == "import"
    again = bring(memory, SAMPLES / sample)
    assert not again.of("new")
    assert not again.of("conflict")
    assert again.change_set.empty
    assert len(again.of("same")) == len(result.items)
    # The sample's vector is not what its text makes; it comes as an edit does, set right.
    assert memory.maintenance.verify() == ()
    memory.history.undo()
    assert memory.snapshot.notes == notes
    assert tree(memory.home) == before


def test_what_was_promoted_to_a_page_does_not_come_back_from_it(memory: Memory, tmp_path: Path) -> None:
    texts = ["one line", "two\nlines *of* **text**", "# not a heading\n\n1. not a list"]
    for text in texts:
        memory.change(
            "mine", lambda draft, text=text: create_note(draft, "app", f"About [{text[:3]}]*", text)
        )
    lines = [line for note in memory.snapshot.notes if note.content in texts for line in bullet(note)]
    (tmp_path / "MEMORY.md").write_text("## shared-context\n\n" + "\n".join(lines) + "\n")
    result = bring(memory, tmp_path / "MEMORY.md")
    assert [item.status for item in result.items] == ["same", "same", "same"]


def test_an_id_with_another_text_is_a_conflict_that_stays_as_it_is(memory: Memory, tmp_path: Path) -> None:
    memory.exchange.export("json", tmp_path / "whole.json")
    id = memory.snapshot.notes[0].id
    memory.change("mine", lambda draft: edit_note(draft, id, content="mine by now"))
    before = tree(memory.home)
    result = bring(memory, tmp_path / "whole.json")
    assert [item.note_id for item in result.of("conflict")] == [id]
    assert result.of("conflict")[0].ours == "mine by now"
    assert tree(memory.home) == before
    assert result.change_set.empty


def test_a_key_with_another_value_is_a_conflict_that_stays_as_it_is(memory: Memory, tmp_path: Path) -> None:
    facts = [fact_object("a", "another"), fact_object("A", "a"), fact_object("new", "one")]
    result = bring(memory, write_nugget(tmp_path / "other", "memory", facts))
    assert [item.status for item in result.items] == ["conflict", "same", "new"]
    assert memory.recall("a", record=False).answer == "a"


def test_a_source_that_changed_since_its_import_is_a_conflict(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    shutil.copytree(SAMPLES / "claude", folder)
    bring(memory, folder)
    note = next(one for one in memory.snapshot.notes if one.title == "Response style")
    memory.change("mine", lambda draft: edit_note(draft, note.id, content="edited here"))
    assert statuses(bring(memory, folder))["Response style"] == "same"
    page = folder / "feedback_style.md"
    page.write_text(page.read_text() + "\nAnd answer in German.\n")
    result = bring(memory, folder)
    assert statuses(result)["Response style"] == "conflict"
    assert memory.snapshot.note(note.id).content == "edited here"


def test_links_lead_to_what_was_there_before(memory: Memory, tmp_path: Path) -> None:
    there = memory.change("mine", lambda draft: create_note(draft, "app", "Nowhere", "It is here"))[0]
    bring(memory, SAMPLES / "obsidian")
    notes = {note.title: note for note in memory.snapshot.notes}
    linked = {link.to for link in notes["Auth middleware"].links}
    assert linked == {there.id, notes["Deploy"].id}
    assert [link.to for link in notes["Nowhere"].links] == [notes["Auth middleware"].id]
    assert not [one for one in memory.maintenance.verify() if one.kind == "one-way-link"]


def test_a_whole_memory_comes_into_one_that_is_not_empty_with_ids_times_and_recalls(
    memory: Memory, tmp_path: Path
) -> None:
    home = tmp_path / "other"
    link = {"to": "note-x-00000002", "reason": "kin", "createdAt": "2026-01-01T00:00:00.000Z"}
    back = link | {"to": "note-x-00000001"}
    ones = [
        note_object(1, nugget="x", hits=7, lastHitSession="s", links=[link], later="kept"),
        note_object(2, nugget="x", links=[back], hidden=True, archivedAt="2026-02-02T00:00:00.000Z"),
    ]
    write_graph(home, ones)
    other = Memory.open(home)
    other.change("kept", lambda draft: remember(draft, "facts", "port", "5433"))
    other.exchange.export("json", tmp_path / "whole.json")
    result = bring(memory, tmp_path / "whole.json")
    assert len(result.of("new")) == 3
    assert result.history == 0
    first, second = (memory.snapshot.note(f"note-x-0000000{n}") for n in (1, 2))
    assert (first.hits, first.extra, first.links[0].to) == (7, {"later": "kept"}, second.id)
    assert second.hidden
    assert second.archived_at == "2026-02-02T00:00:00.000Z"
    assert first.created_at == other.snapshot.note(first.id).created_at
    assert memory.recall("port", record=False).answer == "5433"
    assert not [one for one in memory.maintenance.verify() if "note-x" in one.where or "port" in one.where]


def test_an_import_says_where_each_note_came_from_but_nothing_of_a_credential(
    memory: Memory, tmp_path: Path
) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (tmp_path / "AGENTS.md").write_text(f"- Build with make\n- The token is {secret}\n")
    bring(memory, tmp_path / "AGENTS.md")
    plain, risky = (
        next(note for note in memory.snapshot.notes if word in note.content) for word in ("make", "token")
    )
    assert set(plain.extra["importedFrom"]) == {"format", "key", "text"}
    assert "importedFrom" not in risky.extra
    assert bring(memory, tmp_path / "AGENTS.md").change_set.empty


def test_the_history_comes_once_and_into_an_empty_memory_alone(memory: Memory, tmp_path: Path) -> None:
    memory.change("mine", lambda draft: create_note(draft, "app", "One", "More"))
    memory.exchange.export("json", tmp_path / "whole.json")
    other = Memory.open(tmp_path / "other")
    assert bring(other, tmp_path / "whole.json").history == len(memory.history.log(limit=None))
    count = len(other.history.log(limit=None))
    other.history.undo()
    assert bring(other, tmp_path / "whole.json").history == 0
    assert len(other.history.log(limit=None)) == count + 2
    assert other.snapshot.notes == memory.snapshot.notes
