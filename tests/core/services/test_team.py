"""A team's memory beside one's own: what a search and a recall find, whose it is, and what stays as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from kits.claude_pages import tree, write_folder

from core.errors import StorageError
from core.graph.edits import create_note, edit_note
from core.memory import Memory
from core.search.results import FoundPassage
from core.search.signals import NO_SIGNALS, Ranked, Signal, Signals
from core.user_folders import cache_folder

PAGES = {
    "MEMORY.md": "# Memory\n",
    "deploy.md": "---\nname: Deploy steps\ndescription: Staging\n---\nRun make release on the staging cluster.\n",
    "rollback.md": "---\nname: Rollback\ndescription: Back\n---\nRevert the tag, then run make release again.\n",
}


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    return write_folder(tmp_path, PAGES)


@pytest.fixture
def memory(tmp_path: Path, pages: Path) -> Iterator[Memory]:
    memory = Memory.open(tmp_path / "own")
    memory.change(
        "made",
        lambda draft: [
            create_note(draft, "ops", "Backups", "Every night to the vault, by make backup."),
            create_note(draft, "ops", "On call", "Caroline is on call this week."),
        ],
    )
    memory.search.use_team(Memory.open(pages, reconcile=False))
    yield memory
    memory.close()


def found(memory: Memory, query: str) -> list[tuple[str, str]]:
    return [(hit.note.title, hit.whose) for hit in memory.search(query)]


def test_one_ranking_has_ones_own_notes_and_the_teams_each_with_whose_it_is(memory: Memory) -> None:
    hits = memory.search("make")
    assert {(hit.note.title, hit.whose) for hit in hits} == {
        ("Deploy steps", "team"),
        ("Rollback", "team"),
        ("Backups", "yours"),
    }
    assert [hit.rank for hit in hits] == [1, 2, 3]
    scores = [hit.breakdown.blend for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_without_a_team_a_hit_says_nothing_of_whose_it_is(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "alone")
    memory.change("made", lambda draft: create_note(draft, "ops", "Backups", "Every night."))
    assert [hit.whose for hit in memory.search("backups")] == [""]
    assert memory.recall("backups", record=False).whose == ""
    assert memory.search.team is None
    assert memory.search.snapshot is memory.snapshot


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("make is:team", {"Deploy steps", "Rollback"}),
        ("make is:mine", {"Backups"}),
        ("make -is:team", {"Backups"}),
        ("is:team,pinned", {"Deploy steps", "Rollback"}),
        ("is:mine", {"Backups", "On call"}),
    ],
)
def test_a_condition_admits_the_notes_of_one_side(memory: Memory, query: str, titles: set[str]) -> None:
    assert {title for title, _ in found(memory, query)} == titles


def test_a_recall_says_who_answers_and_counts_where_the_note_is(memory: Memory, pages: Path) -> None:
    before, own = tree(pages), tree(memory.home)
    answer = memory.recall("what runs on the staging cluster", session="s1")
    assert (answer.found, answer.whose, answer.key) == (True, "team", "Deploy steps")
    assert tree(pages) == before
    assert tree(memory.home) == own
    assert memory.search.team is not None
    assert [note.hits for note in memory.search.team.snapshot.notes if note.title == "Deploy steps"] == [1]
    memory.recall("what runs on the staging cluster", session="s1")
    again = Memory.open(pages, reconcile=False)
    assert [note.hits for note in again.snapshot.notes if note.title == "Deploy steps"] == [1]
    assert memory.recall("who is on call", session="s1").whose == "yours"
    assert [note.hits for note in memory.snapshot.notes if note.title == "On call"] == [1]


def test_the_memory_that_holds_a_note_is_ones_own_or_the_teams(memory: Memory, pages: Path) -> None:
    holder, note = memory.search.holding("Backups")
    assert holder is memory
    holder, note = memory.search.holding("Rollback")
    assert holder is memory.search.team
    own = memory.snapshot
    holder.change("edited", lambda draft: edit_note(draft, note.id, content="Press the red button."))
    assert "red button" in (pages / "rollback.md").read_text()
    assert memory.snapshot is own
    assert [entry.change_set.reason for entry in memory.history.log()] == ["made"]
    assert found(memory, "red button") == [("Rollback", "team")]


def test_the_index_of_own_and_team_is_kept_beside_ones_own(memory: Memory, pages: Path) -> None:
    memory.change(
        "made",
        lambda draft: [create_note(draft, "ops", f"Note {at}", f"word{at} of mine") for at in range(250)],
    )
    memory.search("make")
    assert memory.search.keep()
    folder = Path(str(cache_folder(str(memory.home))))
    assert not (folder / "index.cache").exists()
    kept = (folder / "team.cache").read_bytes()
    other = Memory.open(memory.home, reconcile=False)
    other.search.use_team(Memory.open(pages, reconcile=False))
    other.search("make")
    assert other.search.index().read_anew == 0
    assert not other.search.keep()
    assert (folder / "team.cache").read_bytes() == kept


class Source:
    """Knows something of every note, and remembers which it was told of."""

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = ids
        self.told: set[str] = set()

    def signals(self, text: str, ranked: Sequence[Ranked]) -> Signals:
        self.told |= {one.note.id for one in ranked}
        return Signals({id: [Signal("hint", "x", factor=0.5)] for id in self.ids}) if self.ids else NO_SIGNALS


def test_what_is_known_beside_the_words_concerns_ones_own_notes_alone(memory: Memory) -> None:
    source = Source([note.id for note in memory.search.snapshot.notes])
    memory.search.signals = source
    hits = memory.search("make")
    assert {hit.whose for hit in hits if hit.breakdown.signals} == {"yours"}
    assert source.told <= set(memory.snapshot.by_id)


class Documents:
    def passages(self, text: str, most: int) -> Sequence[FoundPassage]:
        return [FoundPassage("doc-1", "Handbook", "h.md", 0, "make release staging cluster")]

    def document_text(self, document_id: str) -> str:
        return ""


def test_documents_are_found_beside_both(memory: Memory) -> None:
    memory.search.passages = Documents()
    assert [one.found.title for one in memory.search.result("make release").passages] == ["Handbook"]
    assert memory.search.result("make release is:mine").passages
    assert not memory.search.result("make release is:team").passages


@pytest.mark.parametrize(
    "error", [StorageError("no entry", where="x"), PermissionError(13, "no"), ValueError("bad")]
)
def test_a_team_that_cannot_be_opened_is_one_notice_beside_ones_own_hits(
    tmp_path: Path, error: Exception
) -> None:
    memory = Memory.open(tmp_path / "own")
    memory.change("made", lambda draft: create_note(draft, "ops", "Backups", "Every night."))

    def fails() -> Memory:
        raise error

    memory.search.use_team(fails)
    assert [(hit.note.title, hit.whose) for hit in memory.search("backups")] == [("Backups", "")]
    assert memory.recall("backups every night").found
    assert len([one for one in memory.take_notices() if "team" in one]) == 1
    memory.search("backups")
    assert memory.take_notices() == ()


def test_a_team_whose_folder_is_gone_or_no_longer_readable_leaves_ones_own_hits(
    memory: Memory, pages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.search("make")
    assert memory.search.team is not None

    def refused() -> bool:
        raise StorageError("cannot be read", where=str(pages))

    monkeypatch.setattr(memory.search.team, "refresh_read_only", refused)
    (pages / "deploy.md").write_text("changed")
    assert found(memory, "make") == [("Backups", "")]
    assert memory.take_notices() == (f"the team's notes: {pages}: cannot be read",)
    monkeypatch.undo()
    assert ("Rollback", "team") in found(memory, "make")


def test_a_page_that_cannot_be_read_is_told_and_the_others_are_found(memory: Memory, pages: Path) -> None:
    (pages / "broken.md").write_bytes(b"---\nname: \xff\xfe\n---\n\x00\xff")
    assert ("Rollback", "team") in found(memory, "make")
    (notice,) = [one for one in memory.take_notices() if "broken.md" in one]
    assert "team" in notice


def test_the_same_note_in_both_is_one_hit_that_says_both(memory: Memory) -> None:
    assert memory.search.team is not None
    theirs = next(note for note in memory.search.team.snapshot.notes if note.title == "Rollback")
    memory.change("copied", lambda draft: create_note(draft, "ops", theirs.title, theirs.content))
    hits = [hit for hit in memory.search("rollback revert tag") if hit.note.title == "Rollback"]
    assert [hit.whose for hit in hits] == ["both"]
    for query in ("rollback is:mine", "rollback is:team"):
        assert ("Rollback", "both") in found(memory, query)
    holder, _ = memory.search.holding("Rollback")
    assert holder is memory
