"""Kept and golden searches: a person's own file, judged against the memory as it is."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from core.errors import BrokenFileError, InvalidInputError, NotFoundError
from core.graph.edits import create_note, delete_note, edit_note, hide_note
from core.graph.merging import merge_notes, survivor
from core.memory import Memory
from core.model.saved_search import SEARCHES_FILE, SavedSearch
from core.search.search_checks import SearchCheckResult

TITLES = ("Auth middleware", "Auth tokens", "Session store", "Deploy script")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory.open(tmp_path / "home")
    for title in TITLES:
        memory.change("begun", lambda draft, title=title: create_note(draft, "", title, f"{title} is here"))
    return memory


def id_of(memory: Memory, title: str) -> str:
    return next(note.id for note in memory.snapshot.notes if note.title == title)


def golden(memory: Memory, title: str, query: str, within: int = 1) -> SavedSearch:
    return SavedSearch(f"finds {title}", query, id_of(memory, title), title, within)


def verdict(memory: Memory, **named: object) -> SearchCheckResult:
    return next(memory.judge_searches(**named))  # type: ignore[arg-type]


def test_a_kept_search_is_there_at_the_next_start_and_undo_takes_it_back(memory: Memory) -> None:
    plain = SavedSearch("all of auth", "auth scope:project")
    memory.save_search(plain)
    memory.save_search(golden(memory, "Auth tokens", "tokens", 5))
    assert Memory.open(memory.home).searches == memory.searches
    assert [search.name for search in memory.searches] == ["all of auth", "finds Auth tokens"]
    memory.undo()
    assert memory.searches == (plain,)
    memory.redo()
    assert memory.searches[1].within == 5


def test_searches_are_let_go_in_one_entry_and_come_back(memory: Memory) -> None:
    for name in ("one", "two", "three"):
        memory.save_search(SavedSearch(name, name))
    gone = memory.delete_searches(["one", "three"])
    assert [search.name for search in memory.searches] == ["two"]
    memory.undo(gone)
    assert {search.name for search in memory.searches} == {"one", "two", "three"}
    with pytest.raises(NotFoundError):
        memory.delete_searches(["four"])


def test_a_search_takes_the_place_of_another_only_when_that_is_meant(memory: Memory) -> None:
    memory.save_search(golden(memory, "Auth tokens", "tokens"))
    name = "finds Auth tokens"
    with pytest.raises(InvalidInputError):
        memory.save_search(SavedSearch(name, "other"))
    memory.save_search(SavedSearch(name, "other"), instead_of=name)
    assert memory.searches == (SavedSearch(name, "other"),)
    memory.save_search(SavedSearch("renamed", "other"), instead_of=name)
    assert memory.searches == (SavedSearch("renamed", "other"),)


@pytest.mark.parametrize(
    "search",
    [
        SavedSearch("", "q"),
        SavedSearch("n", "  "),
        SavedSearch("n\x1b[2J", "q"),
        SavedSearch("n", "q\x07"),
        SavedSearch("n" * 101, "q"),
        SavedSearch("n", "q" * 2001),
        SavedSearch("n", "q", "x", "", 0),
    ],
)
def test_what_cannot_be_kept_is_refused(memory: Memory, search: SavedSearch) -> None:
    with pytest.raises(InvalidInputError):
        memory.save_search(search)
    assert not (memory.home / SEARCHES_FILE).exists()


def test_a_search_must_find_a_note_that_is_there(memory: Memory) -> None:
    with pytest.raises(NotFoundError):
        memory.save_search(SavedSearch("n", "q", "nobody"))


@pytest.mark.parametrize("name", ["[/red]", 'a "b" \\c', "x.y", "日本語 ש", "a" * 100, "'"])
def test_any_name_and_query_come_back_as_they_were(memory: Memory, name: str) -> None:
    memory.save_search(SavedSearch(name, f'{name} tag:"x y" -z'))
    assert Memory.open(memory.home).searches == (SavedSearch(name, f'{name} tag:"x y" -z'),)


def test_what_a_person_wrote_into_the_file_stays(memory: Memory) -> None:
    path = memory.home / SEARCHES_FILE
    path.write_text('# mine\n[searches.a]\nquery = "x" # hm\ncolour = 1\n[searches.broken]\nquery = 7\n')
    assert memory.searches == (SavedSearch("a", "x"),)
    assert any("broken" in said for said in memory.take_notices())
    memory.save_search(SavedSearch("b", "y"))
    assert path.read_text().startswith('# mine\n[searches.a]\nquery = "x" # hm\ncolour = 1\n')
    assert [search.name for search in memory.searches] == ["a", "b"]


def test_what_another_program_keeps_is_seen_at_the_next_look(memory: Memory) -> None:
    assert memory.searches == ()
    (memory.home / SEARCHES_FILE).write_text('[searches.a]\nquery = "x"\n')
    memory.refresh()
    assert memory.searches == (SavedSearch("a", "x"),)


@pytest.mark.parametrize("data", [b"[searches\n", b"\xff", b"searches = 3\n"])
def test_a_broken_file_is_named_and_neither_reading_nor_saving_touches_it(
    memory: Memory, data: bytes
) -> None:
    path = memory.home / SEARCHES_FILE
    path.write_bytes(data)
    assert memory.searches == ()
    assert any("searches.toml" in said and "fix the file" in said for said in memory.take_notices())
    assert memory.take_notices() == ()
    assert not memory.set_aside()
    for change in (
        lambda: memory.save_search(SavedSearch("a", "x")),
        lambda: memory.delete_searches(["a"]),
    ):
        with pytest.raises(BrokenFileError, match="cannot be read"):
            change()
    assert path.read_bytes() == data
    assert not memory.set_aside()
    path.write_text('[searches.b]\nquery = "y"\n')
    memory.save_search(SavedSearch("a", "x"))
    assert [search.name for search in memory.searches] == ["b", "a"]


# Judging


def test_a_golden_search_is_found_with_its_rank(memory: Memory) -> None:
    memory.save_search(golden(memory, "Auth tokens", "auth tokens"))
    found = verdict(memory)
    assert (found.rank, found.total, found.lost, found.merged) == (1, 2, False, False)


def test_a_golden_search_is_lost_when_its_note_stands_too_low(memory: Memory) -> None:
    memory.save_search(golden(memory, "Auth tokens", "auth middleware", 1))
    found = verdict(memory)
    assert (found.trouble, found.rank) == ("too low", 2)


def test_a_golden_search_is_judged_with_other_weights_without_their_being_saved(memory: Memory) -> None:
    memory.save_search(golden(memory, "Auth tokens", "auth tokens zebra"))
    assert not verdict(memory).lost
    strict = msgspec.structs.replace(memory.settings.search, relevance_floor=1.0)
    assert verdict(memory, settings=strict).trouble == "no hit"
    assert not verdict(memory).lost


@pytest.mark.parametrize(
    ("edit", "trouble"),
    [
        (lambda draft, id: hide_note(draft, id), "hidden"),
        (lambda draft, id: delete_note(draft, id), "deleted"),
        (lambda draft, id: edit_note(draft, id, title="Other", content="other words"), "no hit"),
    ],
)
def test_what_became_of_a_lost_note_is_said(
    memory: Memory, edit: Callable[..., object], trouble: str
) -> None:
    memory.save_search(golden(memory, "Session store", "session store"))
    memory.change("away", lambda draft: edit(draft, memory.searches[0].must_find))
    assert verdict(memory).trouble == trouble


def test_a_note_that_was_merged_away_counts_as_found_through_its_survivor(memory: Memory) -> None:
    memory.save_search(golden(memory, "Session store", "session store"))
    middle, last = id_of(memory, "Auth tokens"), id_of(memory, "Deploy script")
    memory.change("merged", lambda draft: merge_notes(draft, middle, memory.searches[0].must_find))
    memory.change("merged", lambda draft: merge_notes(draft, last, middle))
    found = verdict(memory)
    assert (found.trouble, found.note_id, found.merged) == ("", last, True)


def test_notes_that_claim_to_be_merged_into_each_other_have_no_survivor_but_end(memory: Memory) -> None:
    one, two = id_of(memory, "Auth tokens"), id_of(memory, "Deploy script")
    memory.change("merged", lambda draft: merge_notes(draft, two, one))

    def claim(draft: object) -> None:
        from core.model.note import replace as replaced

        hidden = hide_note(draft, two)  # type: ignore[arg-type]
        draft.put(replaced(hidden, extra=hidden.extra | {"mergedInto": one}))  # type: ignore[attr-defined]

    memory.change("claimed", claim)
    assert survivor(memory.snapshot, one) in (one, two)


def test_conditions_alone_are_judged_by_their_own_order(memory: Memory) -> None:
    memory.save_search(golden(memory, "Auth middleware", "is:note", 4))
    memory.save_search(SavedSearch("plain", "is:note auth"))
    first, second = memory.judge_searches()
    assert (first.rank, first.total) == (4, 4)
    assert (second.rank, second.total, second.lost) == (0, 2, False)


def test_ranks_are_those_of_the_search_itself(memory: Memory) -> None:
    for title in TITLES:
        for query in ("auth", "auth is here", "is:note", "script auth", "nothing at all like it", "the"):
            hits = memory.search(query, 100)
            rank = next((hit.rank for hit in hits if hit.note.title == title), 0)
            found = next(memory.judge_searches([golden(memory, title, query, 100)]))
            assert (found.rank, found.total) == (rank, len(hits)), (title, query)


def test_judging_ends_when_nobody_waits_for_it(memory: Memory) -> None:
    searches = [SavedSearch(str(number), "auth") for number in range(50)]
    judged: list[SearchCheckResult] = []
    for one in memory.judge_searches(searches, stopped=lambda: len(judged) >= 3):
        judged.append(one)
    assert len(judged) == 3


@pytest.mark.slow
def test_building_an_index_tells_how_far_it_is_and_can_be_given_up(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "more")

    def fill(draft: object) -> None:
        for number in range(600):
            create_note(draft, "", f"Note {number}", "words")  # type: ignore[arg-type]

    memory.change("filled", fill)
    told: list[tuple[int, int]] = []

    def give_up(done: int, total: int) -> None:
        if done:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        memory.index(give_up)
    memory.index(lambda done, total: told.append((done, total)))
    assert told[0] == (0, 600)
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert {total for _, total in told} == {600}
    assert len(memory.search("words", 1000)) == 600
