"""The memory as its users know it: a history, the last good state, edits from several threads, settings."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from kits.memory_files import (
    GRAPH,
    fact_object,
    graph_of,
    note_object,
    tree,
    write_graph,
    write_nugget,
)

from core import Memory
from core.errors import BrokenFileError, InvalidInputError
from core.facts.edits import remember
from core.folder import default_home
from core.graph.edits import create_note, edit_note
from core.model.change import Author, ChangeSet, NoteChange

FIRST, SECOND = "note-memory-00000001", "note-memory-00000002"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "memory"
    write_graph(home, [note_object(1), note_object(2)])
    write_nugget(home, "memory", [fact_object("a"), fact_object("b")])
    return home


def _their_edit(home: Path, content: str = "Theirs.") -> None:
    shaped = graph_of(home)["notes"]
    shaped[1]["content"] = content
    write_graph(home, shaped)


def test_our_own_writes_are_not_taken_for_those_of_another_program(home: Path) -> None:
    memory = Memory.open(home)
    for turn in range(5):
        memory.change("edit", lambda draft, turn=turn: edit_note(draft, FIRST, content=f"{turn}"))
        memory.change("more", lambda draft, turn=turn: remember(draft, "memory", f"k{turn}", "v"))
        assert not memory.refresh()
    assert {entry.change_set.kind for entry in memory.history.log()} == {"edit"}


def test_refresh_is_true_only_when_something_changed(home: Path) -> None:
    memory = Memory.open(home)
    snapshot = memory.snapshot
    assert not memory.refresh()
    (home / "unrelated.txt").write_text("x")
    assert not memory.refresh()
    assert memory.snapshot is snapshot
    _their_edit(home)
    assert memory.refresh()
    assert memory.snapshot is not snapshot
    assert memory.snapshot.revision > snapshot.revision


def test_a_broken_file_leaves_the_last_good_snapshot_until_it_is_mended(home: Path) -> None:
    memory = Memory.open(home)
    good, whole = memory.snapshot, (home / GRAPH).read_bytes()
    (home / GRAPH).write_bytes(whole[:100])
    for _ in range(2):
        with pytest.raises(BrokenFileError):
            memory.refresh()
        assert memory.snapshot is good
    (home / GRAPH).write_bytes(whole)
    memory.refresh()
    assert memory.snapshot.notes == good.notes
    assert memory.history.log() == ()


def test_the_folder_is_the_one_named_else_that_of_the_environment_else_in_the_home(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert default_home() == Path.home() / ".nuggets"
    monkeypatch.setenv("NUGGETS_HOME", str(home))
    assert Memory.open().home == home
    assert Memory.open(home.parent).home == home.parent
    monkeypatch.setenv("NUGGETS_HOME", "~/elsewhere")
    assert Memory.open().home == Path.home() / "elsewhere"
    monkeypatch.setenv("NUGGETS_HOME", "")
    assert Memory.open().home == Path.home() / ".nuggets"


@pytest.mark.parametrize("text", ["[search", "\xff", "[search]\ntemperature = 'warm'", "[promotion]\nthreshold = 1.5",
                                  "search = 5", "[inference]\nuser_words = [1]"])  # fmt: skip
def test_settings_that_cannot_be_used_are_told_once_and_the_memory_opens(home: Path, text: str) -> None:
    path = home / "settings.toml"
    path.write_text(text, encoding="latin-1")
    memory = Memory.open(home)
    assert memory.snapshot.notes
    (told,) = memory.take_notices()
    assert str(path) in told
    assert "\n" not in told
    memory.refresh()
    assert memory.take_notices() == ()


def test_half_a_character_is_stored_as_a_replacement_wherever_it_stands(home: Path) -> None:
    memory = Memory.open(home, author=Author("agent", "cut \udcff"))
    note, _ = memory.change("why \ud800", lambda draft: create_note(draft, "", "t \udfff", "c \udc80"))
    half = msgspec.structs.replace(note, title="\ud83d", tags=("\ude00",))
    memory.apply(
        ChangeSet(
            id="aa", at=note.updated_at, author=memory.author, reason="edit \ud800",
            notes=(NoteChange(id=note.id, before=note, after=half),),
        )
    )  # fmt: skip
    stored = Memory.open(home)
    assert stored.snapshot.note(note.id).title == "\ufffd"
    assert "\ufffd" in stored.snapshot.note(note.id).tags
    assert [(entry.change_set.reason, entry.change_set.author.name) for entry in stored.history.log()][
        :2
    ] == [("edit \ufffd", "cut \ufffd"), ("why \ufffd", "cut \ufffd")]


def test_a_file_whose_path_is_no_utf_8_is_refused_and_no_other_is_written(home: Path) -> None:
    memory, before = Memory.open(home), tree(home)
    with pytest.raises(InvalidInputError) as refused:
        memory.change("write", lambda draft: draft.put_file("page-\udcff.md", None, b"text"))
    assert (refused.value.code, refused.value.field) == ("bad-name", "path")
    assert {name: data for name, data in tree(home).items() if name in before} == before
    assert not list(home.glob("page*"))


# Visits


def at(day: int) -> Callable[[], datetime]:
    return lambda: datetime(2026, 11, day, tzinfo=UTC)


def files(home: Path) -> dict[str, object]:
    return {name: data for name, data in tree(home).items() if not name.startswith("nuggets.db")}


def test_a_visit_is_remembered_and_changes_no_file_of_the_memory(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path, clock=at(1))
    memory.change("wrote", lambda draft: remember(draft, "memory", "kettle", "boils"))
    before = files(tmp_path)
    assert memory.visited() is None
    assert Memory.open(tmp_path, clock=at(2)).visited() == "2026-11-01T00:00:00.000Z"
    assert Memory.open(tmp_path, clock=at(3)).visited() == "2026-11-02T00:00:00.000Z"
    assert files(tmp_path) == before


def test_looking_at_a_folder_without_a_memory_makes_nothing(tmp_path: Path) -> None:
    assert Memory.open(tmp_path / "none").visited() is None
    assert not (tmp_path / "none").exists()
