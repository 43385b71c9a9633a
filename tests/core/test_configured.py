"""Settings that are saved from within: traceable, undoable, and never at the cost of what a person wrote."""

import asyncio
from pathlib import Path

import pytest

from core.errors import ConflictError, InvalidInputError
from core.graph.edits import create_note
from core.memory import Memory
from core.settings import SETTINGS_FILE, Settings


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory.open(tmp_path / "home")
    memory.change("begun", lambda draft: create_note(draft, "", "Alpha", "alpha beta"))
    return memory


def text_of(memory: Memory) -> str:
    return (memory.home / SETTINGS_FILE).read_text(encoding="utf-8")


def test_undo_takes_settings_back_and_redo_sets_them_again(memory: Memory) -> None:
    memory.save_settings({"search.text_weight": 0.25})
    memory.history.undo()
    assert not (memory.home / SETTINGS_FILE).exists()
    assert memory.settings == Settings()
    memory.history.redo()
    assert memory.settings.search.text_weight == 0.25


def test_an_earlier_setting_is_taken_back_beneath_a_later_one(memory: Memory) -> None:
    first = memory.save_settings({"search.text_weight": 0.25})
    memory.save_settings({"reflection.hour": 7})
    memory.history.undo(first)
    assert (memory.settings.search.text_weight, memory.settings.reflection.hour) == (0.48, 7)


def test_a_setting_that_another_program_changed_since_is_not_taken_back(memory: Memory) -> None:
    first = memory.save_settings({"search.text_weight": 0.25})
    (memory.home / SETTINGS_FILE).write_text("[search]\ntext_weight = 0.9\n")
    with pytest.raises(ConflictError):
        memory.history.undo(first)
    assert text_of(memory) == "[search]\ntext_weight = 0.9\n"


def test_saving_what_is_so_already_writes_nothing_not_even_into_the_log(memory: Memory) -> None:
    memory.save_settings({"search.text_weight": 0.25})
    entries = len(memory.history.log())
    assert memory.save_settings({"search.text_weight": 0.25}).empty
    assert memory.save_settings({"search.link_weight": None}).empty
    assert len(memory.history.log()) == entries


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("search.text_weight", -1.0), ("search.text_weight", "much"), ("search.text_weight", float("nan")),
        ("search.nonsense", 1.0), ("nonsense", 1), ("unknown", ()),
    ],
)  # fmt: skip
def test_what_no_setting_can_be_is_refused_and_nothing_is_written(
    memory: Memory, name: str, value: object
) -> None:
    with pytest.raises(InvalidInputError):
        memory.save_settings({name: value})
    assert not (memory.home / SETTINGS_FILE).exists()


def test_what_another_program_sets_counts_from_the_next_look_on(memory: Memory) -> None:
    (memory.home / SETTINGS_FILE).write_text("[search]\ntext_weight = 0.9\n")
    memory.refresh()
    assert memory.settings.search.text_weight == 0.9
    (memory.home / SETTINGS_FILE).write_text("[search]\ntext_weight = -5\n")
    memory.refresh()
    assert memory.settings.search == Settings().search
    assert any("text_weight" in said for said in memory.take_notices())
    assert memory.take_notices() == ()


def test_a_copy_of_a_memory_takes_back_its_own_settings_alone(memory: Memory, tmp_path: Path) -> None:
    import shutil

    memory.save_settings({"search.text_weight": 0.25})
    memory.close()
    shutil.copytree(memory.home, tmp_path / "copy")
    Memory.open(tmp_path / "copy").history.undo()
    assert "0.25" in text_of(memory)
    assert not (tmp_path / "copy" / SETTINGS_FILE).exists()


def test_a_settings_file_that_is_a_link_out_of_the_folder_is_not_written(
    memory: Memory, tmp_path: Path
) -> None:
    from core.errors import ReadOnlyError

    (tmp_path / "elsewhere.toml").write_text("")
    (memory.home / SETTINGS_FILE).symlink_to(tmp_path / "elsewhere.toml")
    with pytest.raises(ReadOnlyError):
        memory.save_settings({"search.text_weight": 0.25})
    assert (tmp_path / "elsewhere.toml").read_text() == ""


async def test_whoever_watches_is_told_of_other_settings(memory: Memory) -> None:
    stop = asyncio.Event()
    events = memory.watch_events(stop)
    waiting = asyncio.ensure_future(anext(events))
    await asyncio.sleep(0)
    (memory.home / SETTINGS_FILE).write_text("[search]\ntext_weight = 0.9\n")
    assert await asyncio.wait_for(waiting, 30) is memory.snapshot
    stop.set()
    assert memory.settings.search.text_weight == 0.9
