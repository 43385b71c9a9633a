"""Saved searches: a person's own file."""

from pathlib import Path

import pytest

from core.errors import BrokenFileError, InvalidInputError, NotFoundError
from core.graph.edits import create_note
from core.memory import Memory
from core.model.saved_search import SEARCHES_FILE, SavedSearch


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory.open(tmp_path / "home")
    memory.change("begun", lambda draft: create_note(draft, "", "Auth tokens", "Auth tokens are here"))
    return memory


def test_a_kept_search_is_there_at_the_next_start_and_undo_takes_it_back(memory: Memory) -> None:
    plain = SavedSearch("all of auth", "auth scope:project")
    memory.searches.save(plain)
    memory.searches.save(SavedSearch("tokens", "auth tokens"))
    assert Memory.open(memory.home).searches.all == memory.searches.all
    assert [search.name for search in memory.searches.all] == ["all of auth", "tokens"]
    memory.history.undo()
    assert memory.searches.all == (plain,)
    memory.history.redo()
    assert memory.searches.all[1].query == "auth tokens"


def test_searches_are_let_go_in_one_entry_and_come_back(memory: Memory) -> None:
    for name in ("one", "two", "three"):
        memory.searches.save(SavedSearch(name, name))
    gone = memory.searches.delete(["one", "three"])
    assert [search.name for search in memory.searches.all] == ["two"]
    memory.history.undo(gone)
    assert {search.name for search in memory.searches.all} == {"one", "two", "three"}
    with pytest.raises(NotFoundError):
        memory.searches.delete(["four"])


def test_a_search_takes_the_place_of_another_only_when_that_is_meant(memory: Memory) -> None:
    name = "finds Auth tokens"
    memory.searches.save(SavedSearch(name, "tokens"))
    with pytest.raises(InvalidInputError):
        memory.searches.save(SavedSearch(name, "other"))
    memory.searches.save(SavedSearch(name, "other"), instead_of=name)
    assert memory.searches.all == (SavedSearch(name, "other"),)
    memory.searches.save(SavedSearch("renamed", "other"), instead_of=name)
    assert memory.searches.all == (SavedSearch("renamed", "other"),)


@pytest.mark.parametrize(
    "search",
    [
        SavedSearch("", "q"), SavedSearch("n", "  "), SavedSearch("n\x1b[2J", "q"), SavedSearch("n", "q\x07"),
        SavedSearch("n" * 101, "q"), SavedSearch("n", "q" * 2001),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_is_refused(memory: Memory, search: SavedSearch) -> None:
    with pytest.raises(InvalidInputError):
        memory.searches.save(search)
    assert not (memory.home / SEARCHES_FILE).exists()


@pytest.mark.parametrize("name", ["[/red]", 'a "b" \\c', "x.y", "日本語 ש", "a" * 100, "'"])
def test_any_name_and_query_come_back_as_they_were(memory: Memory, name: str) -> None:
    memory.searches.save(SavedSearch(name, f'{name} tag:"x y" -z'))
    assert Memory.open(memory.home).searches.all == (SavedSearch(name, f'{name} tag:"x y" -z'),)


def test_what_a_person_wrote_into_the_file_stays(memory: Memory) -> None:
    path = memory.home / SEARCHES_FILE
    path.write_text('# mine\n[searches.a]\nquery = "x" # hm\ncolour = 1\n[searches.broken]\nquery = 7\n')
    assert memory.searches.all == (SavedSearch("a", "x"),)
    assert any("broken" in said for said in memory.take_notices())
    memory.searches.save(SavedSearch("b", "y"))
    assert path.read_text().startswith('# mine\n[searches.a]\nquery = "x" # hm\ncolour = 1\n')
    assert [search.name for search in memory.searches.all] == ["a", "b"]


def test_what_another_program_keeps_is_seen_at_the_next_look(memory: Memory) -> None:
    assert memory.searches.all == ()
    (memory.home / SEARCHES_FILE).write_text('[searches.a]\nquery = "x"\n')
    memory.refresh()
    assert memory.searches.all == (SavedSearch("a", "x"),)


@pytest.mark.parametrize("data", [b"[searches\n", b"\xff", b"searches = 3\n"])
def test_a_broken_file_is_named_and_neither_reading_nor_saving_touches_it(
    memory: Memory, data: bytes
) -> None:
    path = memory.home / SEARCHES_FILE
    path.write_bytes(data)
    assert memory.searches.all == ()
    assert any("searches.toml" in said and "fix the file" in said for said in memory.take_notices())
    assert memory.take_notices() == ()
    assert not memory.maintenance.set_aside()
    for change in (
        lambda: memory.searches.save(SavedSearch("a", "x")),
        lambda: memory.searches.delete(["a"]),
    ):
        with pytest.raises(BrokenFileError, match="cannot be read"):
            change()
    assert path.read_bytes() == data
    assert not memory.maintenance.set_aside()
    path.write_text('[searches.b]\nquery = "y"\n')
    memory.searches.save(SavedSearch("a", "x"))
    assert [search.name for search in memory.searches.all] == ["b", "a"]
