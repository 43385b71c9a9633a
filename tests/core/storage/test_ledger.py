"""The log in its folder: it outlives restarts, grows into archives, and a memory is whole without it."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile import HOSTILE
from memory_files import (
    fact_object,
    facts_of,
    note_object,
    notes_of,
    tree,
    write_graph,
    write_nugget,
)

from core import Memory
from core.errors import AmbiguousError, NotFoundError, NuggetsError, ReadOnlyError, StorageError
from core.facts.edits import forget, remember
from core.graph.edits import create_note, edit_note
from core.model.change import PERSON, Author
from core.storage import ledger_schema
from core.storage.ledger import Ledger
from core.storage.ledger_schema import LEDGER_FILE

ROOT = Path(__file__).parents[3]
ONE, TWO, THREE = (f"note-memory-{number:08x}" for number in (1, 2, 3))
as_root = os.geteuid() == 0 if hasattr(os, "geteuid") else True


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    write_graph(folder, [note_object(number) for number in (1, 2, 3)])
    write_nugget(folder, "memory", [fact_object("user:a")])
    return folder


def _edit(memory: Memory, content: str, note: str = ONE) -> str:
    return memory.change(f"wrote {content[:20]}", lambda draft: edit_note(draft, note, content=content))[1].id


def _close(memory: Memory) -> None:
    assert memory._store.ledger is not None
    memory._store.ledger.close()


def _ledger_files(home: Path) -> set[str]:
    return {path.name for path in home.iterdir() if path.name.startswith("ledger")}


# What is kept


def test_the_first_look_puts_nothing_into_the_log(home: Path) -> None:
    before = tree(home)
    memory = Memory.open(home)
    assert memory.log() == ()
    assert memory.take_notices() == ()
    assert tree(home) == before
    assert Memory.open(home).log() == ()


@pytest.mark.parametrize("made", [True, False])
def test_opening_a_memory_that_is_not_there_yet_makes_no_file(tmp_path: Path, made: bool) -> None:
    folder = tmp_path / "new"
    if made:
        folder.mkdir()
    memory = Memory.open(folder)
    memory.refresh()
    assert memory.log() == memory.conflicts() == ()
    assert folder.exists() is made
    assert not made or list(folder.iterdir()) == []
    with pytest.raises(NotFoundError):
        memory.undo()
    with pytest.raises(NotFoundError):
        memory.entry("a")
    first = memory.change("new", lambda draft: create_note(draft, "memory", "New", "Text."))[1]
    assert [entry.change_set for entry in Memory.open(folder).log()] == [first]
    memory.undo()
    assert memory.snapshot.notes == ()


def test_entries_outlive_restarts_whole(home: Path) -> None:
    memory = Memory.open(home)
    done = [
        memory.change("edit", lambda draft: edit_note(draft, ONE, content="Other.", add_tags=["x"]))[1],
        memory.change("fact", lambda draft: remember(draft, "fresh", "user:b", "value"))[1],
        memory.change("gone", lambda draft: forget(draft, "memory", "user:a"))[1],
    ]
    again = Memory.open(home)
    assert [entry.change_set for entry in reversed(again.log())] == done
    assert [entry.seq for entry in again.log()] == [3, 2, 1]
    assert all(entry.state == "done" and not entry.undone for entry in again.log())
    assert again.entry(done[1].id).change_set == done[1]


def test_what_another_program_did_while_nobody_looked_is_in_the_log_once(home: Path) -> None:
    Memory.open(home)
    write_graph(
        home, [note_object(1, content="Theirs.", updatedAt="2026-06-01T00:00:00.000Z"), note_object(2)]
    )
    for _ in range(2):
        entries = Memory.open(home).log()
        assert [(e.change_set.kind, str(e.change_set.author)) for e in entries] == [
            ("outside", "another program")
        ]
        assert entries[0].change_set.reason == "-1 note, ~1 note" or entries[0].change_set.reason


def test_a_change_set_that_is_applied_again_gets_an_id_of_its_own(home: Path) -> None:
    memory = Memory.open(home)
    done = memory.change("edit", lambda draft: edit_note(draft, ONE, content="Other."))[1]
    assert memory.apply(done).empty
    ids = {done.id}
    for _ in range(3):
        _edit(memory, "Content of note 1.")
        ids.add(memory.apply(done).id)
    assert len(ids) == 4
    assert {entry.id for entry in memory.log()} >= ids
    assert len({entry.id for entry in memory.log()}) == len(memory.log()) == 7
    memory.undo(f"{done.id}-2" if f"{done.id}-2" in ids else max(ids))


@pytest.mark.parametrize("text", [text for text in HOSTILE if text.strip()])
def test_any_text_comes_back_from_the_log(home: Path, text: str) -> None:
    memory = Memory.open(home, author=Author("agent", "an agent"))
    memory.change(text, lambda draft: edit_note(draft, ONE, title=text, content=text))
    memory.change(text, lambda draft: remember(draft, "memory", text, text))
    written = memory.snapshot.note(ONE)
    again = Memory.open(home, author=Author("agent", "an agent"))
    assert [entry.change_set.reason for entry in again.log()] == [text, text]
    assert again.log()[1].change_set.notes[0].after == written
    again.undo()
    again.undo()
    assert tree(home).keys() == {"graph/graph.json", "memory.nugget.json"}
    assert notes_of(home)[ONE]["content"] == "Content of note 1."
    assert [fact["key"] for fact in facts_of(home, "memory.nugget.json")] == ["user:a"]


def test_an_author_of_any_name_finds_his_own_changes(home: Path) -> None:
    strange = Author("agent", "a\x00b \ud800 'c'\n")
    memory = Memory.open(home, author=strange)
    _edit(memory, "Other.")
    again = Memory.open(home, author=strange)
    assert again.log()[0].change_set.author == strange
    again.undo()
    assert notes_of(home)[ONE]["content"] == "Content of note 1."


def test_a_megabyte_of_text_is_kept_and_taken_back(home: Path) -> None:
    memory = Memory.open(home)
    large = "word " * 200_000
    _edit(memory, large)
    _edit(memory, large + "more")
    again = Memory.open(home)
    again.undo()
    again.undo()
    assert notes_of(home)[ONE]["content"] == "Content of note 1."


# Recalls


def test_recalls_of_one_caller_are_one_entry_and_undo_passes_over_them(home: Path) -> None:
    memory = Memory.open(home)
    _edit(memory, "Ours.")
    for turn in range(4):
        memory.recall("user:a", session=f"session-{turn % 2}")
    for turn in range(3):
        memory.recall("user:a", session=f"other-{turn}")
    hits = [entry for entry in memory.log() if entry.change_set.kind == "hit"]
    assert len(hits) == 7
    assert facts_of(home, "memory.nugget.json")[0]["hits"] == 7
    memory.undo()
    assert notes_of(home)[ONE]["content"] == "Content of note 1."
    assert facts_of(home, "memory.nugget.json")[0]["hits"] == 7


def test_recalls_of_one_session_stand_in_the_log_once_and_are_taken_back_by_name(home: Path) -> None:
    write_nugget(home, "memory", [fact_object("user:a"), fact_object("user:b", "another")])
    memory = Memory.open(home)
    memory.recall("user:a", session="s")
    memory.recall("user:b", session="s")
    (entry,) = memory.log()
    assert entry.change_set.reason == "recalled 2 memories"
    memory.undo(entry.id)
    assert [fact["hits"] for fact in facts_of(home, "memory.nugget.json")] == [0, 0]


def test_recalls_of_another_program_are_batched_too(home: Path) -> None:
    memory = Memory.open(home)
    for hits in range(1, 4):
        write_nugget(home, "memory", [fact_object("user:a", hits=hits, last_hit_session=f"s-{hits}")])
        memory.refresh()
    assert [entry.change_set.kind for entry in memory.log()] == ["hit"]
    assert memory.log()[0].change_set.facts[0].before.hits == 0  # type: ignore[union-attr]


# A log that is gone or broken


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _scramble(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for place in range(4096, len(data), 7):
        data[place] ^= 0x55
    path.write_bytes(data)


def _newest_page_lost(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-4096] + bytes(4096))


def _no_tables(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 1")
    connection.execute("CREATE TABLE other (one)")
    connection.close()


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "kept").write_text("kept")


BROKEN: dict[str, Callable[[Path], object]] = {
    "cut off": _cut,
    "garbage": lambda path: path.write_bytes(b"no database at all, but long enough for a header " * 40),
    "scrambled": _scramble,
    "a page of nothing": _newest_page_lost,
    "another database": _no_tables,
    "a folder": _folder,
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_log_is_set_aside_with_its_bytes_and_begun_anew(home: Path, how: str) -> None:
    memory = Memory.open(home)
    for turn in range(30):
        _edit(memory, f"Before {turn}.")
    _close(memory)
    path = home / LEDGER_FILE
    BROKEN[how](path)
    broken = path.read_bytes() if path.is_file() else b""
    files = tree(home)
    again = Memory.open(home)
    assert len(again.snapshot.notes) == 3
    assert tree(home) == files
    try:
        told = again.take_notices()
        _edit(again, "After.")
        again.undo()
        told += again.take_notices()
    except NuggetsError as error:
        pytest.fail(error.message)
    assert any("log of changes" in notice for notice in told) or how == "a page of nothing"
    assert notes_of(home)[ONE]["content"] == "Before 29."
    assert [entry.change_set.kind for entry in again.log()][:2] == ["undo", "edit"]
    kept = [path for path in (home / "quarantine").rglob("*") if path.name.endswith(LEDGER_FILE)]
    if told:
        assert len(kept) == 1
        assert kept[0].is_dir() if how == "a folder" else kept[0].read_bytes() == broken
    assert len(Memory.open(home).log()) == len(again.log())
    assert Memory.open(home).take_notices() == ()


def test_a_log_of_no_bytes_is_a_new_log(home: Path) -> None:
    (home / LEDGER_FILE).touch()
    memory = Memory.open(home)
    _edit(memory, "Ours.")
    assert len(Memory.open(home).log()) == 1


def test_a_log_that_is_deleted_while_a_memory_is_open_is_begun_anew(home: Path) -> None:
    memory = Memory.open(home)
    _edit(memory, "Before.")
    for name in _ledger_files(home):
        (home / name).unlink()
    assert "is gone" in "".join((memory.refresh(), memory.take_notices())[1])
    assert memory.log() == ()
    _edit(memory, "After.")
    assert [entry.change_set.notes[0].before.content for entry in memory.log()] == ["Before."]  # type: ignore[union-attr]
    assert len(Memory.open(home).log()) == 1


def test_a_log_that_is_deleted_between_two_changes_of_one_run_traces_the_next(home: Path) -> None:
    memory = Memory.open(home)
    _edit(memory, "Before.")
    (home / LEDGER_FILE).unlink()
    _edit(memory, "After.")
    memory.undo()
    assert notes_of(home)[ONE]["content"] == "Before."


def test_a_log_that_breaks_while_a_memory_is_open_does_not_keep_a_change_from_being_written(
    home: Path,
) -> None:
    memory = Memory.open(home)
    for turn in range(30):
        _edit(memory, f"Before {turn}.")
    other = sqlite3.connect(home / LEDGER_FILE)
    other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    other.close()
    _scramble(home / LEDGER_FILE)
    _edit(memory, "After.")
    assert notes_of(home)[ONE]["content"] == "After."
    assert [notice for notice in memory.take_notices() if "was broken" in notice]
    memory.undo()
    assert notes_of(home)[ONE]["content"] == "Before 29."


def test_a_log_of_a_newer_version_lets_a_memory_be_read_and_stays_as_it_is(home: Path) -> None:
    memory = Memory.open(home)
    _edit(memory, "Before.")
    _close(memory)
    connection = sqlite3.connect(home / LEDGER_FILE)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    kept, files = (home / LEDGER_FILE).read_bytes(), tree(home)
    again = Memory.open(home)
    assert again.snapshot.note(ONE).content == "Before."
    assert "newer than this program knows" in "".join(again.take_notices())
    assert again.log() == ()
    with pytest.raises(ReadOnlyError, match="newer than this program knows"):
        _edit(again, "After.")
    assert tree(home) == files
    assert (home / LEDGER_FILE).read_bytes() == kept


def test_a_log_that_may_not_be_written_keeps_changes_from_being_made_untraced(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _edit(Memory.open(home), "Before.")
    plain = sqlite3.connect

    def read_only(path: Path, **named: object) -> sqlite3.Connection:
        return plain(f"file:{path}?mode=ro", uri=True, **named)  # type: ignore[call-overload,no-any-return]

    with monkeypatch.context() as patch:
        patch.setattr(ledger_schema.sqlite3, "connect", read_only)
        memory = Memory.open(home)
        assert memory.snapshot.note(ONE).content == "Before."
        with pytest.raises(StorageError, match="the log of changes cannot be written"):
            _edit(memory, "After.")
        assert notes_of(home)[ONE]["content"] == "Before."
    _edit(memory, "After.")
    assert notes_of(home)[ONE]["content"] == "After."


def test_a_log_that_is_a_link_out_of_the_folder_is_not_written_through(home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere.db"
    (home / LEDGER_FILE).symlink_to(outside)
    memory = Memory.open(home)
    assert len(memory.snapshot.notes) == 3
    with pytest.raises(ReadOnlyError, match="leads out of"):
        _edit(memory, "After.")
    assert not outside.exists()
    assert notes_of(home)[ONE]["content"] == "Content of note 1."


def test_what_a_kill_left_beside_the_log_is_taken_up(home: Path, tmp_path: Path) -> None:
    memory = Memory.open(home)
    for turn in range(5):
        _edit(memory, f"Turn {turn}.")
    killed = tmp_path / "killed"
    shutil.copytree(home, killed)
    assert (killed / "ledger.db-wal").stat().st_size
    again = Memory.open(killed)
    assert len(again.log()) == 5
    assert again.take_notices() == ()
    again.undo()
    assert notes_of(killed)[ONE]["content"] == "Turn 3."


def test_a_log_older_than_the_files_takes_the_rest_for_somebody_elses_work(
    home: Path, tmp_path: Path
) -> None:
    memory = Memory.open(home)
    _edit(memory, "First.")
    _close(memory)
    old = (home / LEDGER_FILE).read_bytes()
    memory = Memory.open(home)
    _edit(memory, "Second.")
    memory.change("new", lambda draft: create_note(draft, "memory", "New", "Text."))
    _close(memory)
    files = tree(home)
    (home / LEDGER_FILE).write_bytes(old)
    again = Memory.open(home)
    assert tree(home) == files
    assert [entry.change_set.kind for entry in again.log()] == ["outside", "edit"]
    assert again.log()[0].change_set.size == 2
    _edit(again, "Third.")
    again.undo()
    assert tree(home).keys() == files.keys()


@pytest.mark.parametrize("rest", ["-wal", "-shm", "-journal"])
def test_a_strange_file_beside_the_log_does_no_harm(home: Path, rest: str) -> None:
    memory = Memory.open(home)
    _edit(memory, "Before.")
    _close(memory)
    (home / f"ledger.db{rest}").write_bytes(b"strange " * 1000)
    again = Memory.open(home)
    _edit(again, "After.")
    again.undo()
    assert notes_of(home)[ONE]["content"] == "Before."
    assert [entry.change_set.kind for entry in again.log()][:2] == ["undo", "edit"]


def test_a_broken_body_of_one_entry_hides_that_one_alone(home: Path) -> None:
    memory = Memory.open(home)
    ids = [_edit(memory, f"Turn {turn}.") for turn in range(3)]
    _close(memory)
    connection = sqlite3.connect(home / LEDGER_FILE)
    connection.execute("UPDATE entry SET body = ? WHERE id = ?", (b"{nonsense", ids[1]))
    connection.commit()
    connection.close()
    again = Memory.open(home)
    assert [entry.id for entry in again.log()] == [ids[2], ids[0]]
    again.undo()
    _edit(again, "More.")
    assert notes_of(home)[ONE]["content"] == "More."


@pytest.mark.skipif(as_root, reason="the superuser may write everything")
def test_a_folder_that_may_not_be_written_opens_and_stays_as_it_is(home: Path) -> None:
    before = set(home.rglob("*"))
    for folder in (home, home / "graph"):
        folder.chmod(0o500)
    try:
        memory = Memory.open(home)
        assert len(memory.snapshot.notes) == 3
        assert memory.take_notices() == ()
        assert memory.log() == ()
        with pytest.raises(NuggetsError):
            _edit(memory, "After.")
        assert set(home.rglob("*")) == before
    finally:
        for folder in (home, home / "graph"):
            folder.chmod(0o700)


def test_where_nothing_may_be_written_opening_makes_no_file(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    before = set(home.rglob("*"))
    memory = Memory.open(home)
    assert len(memory.snapshot.notes) == 3
    assert memory.take_notices() == memory.log() == ()
    assert set(home.rglob("*")) == before


def test_a_full_disk_neither_breaks_the_log_nor_writes_an_untraced_change(home: Path) -> None:
    memory = Memory.open(home)
    _edit(memory, "Before.")
    files = tree(home)
    assert memory._store.ledger is not None
    connection = memory._store.ledger._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StorageError, match="disk is full"):
        _edit(memory, random.Random(1).randbytes(50_000).hex())
    assert tree(home) == files
    connection.execute("PRAGMA max_page_count = 1000000")
    _edit(memory, "After.")
    memory.undo()
    assert notes_of(home)[ONE]["content"] == "Before."
    assert not (home / "quarantine").exists()


def test_a_disk_that_fills_up_between_the_files_and_the_log_loses_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home)

    def full(*_: object) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "finish", full)
        done = memory.change("edit", lambda draft: edit_note(draft, ONE, content="After."))[1]
        assert "disk is full" in "".join(memory.take_notices())
    assert notes_of(home)[ONE]["content"] == "After."
    again = Memory.open(home)
    assert [(entry.id, entry.state) for entry in again.log()] == [(done.id, "done")]
    again.undo()
    assert notes_of(home)[ONE]["content"] == "Content of note 1."


# Archives


def _grow(memory: Memory, edits: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [_edit(memory, f"{chance.randbytes(12_000).hex()}", TWO) for _ in range(edits)]


def test_the_oldest_entries_of_a_log_past_its_limit_go_to_an_archive_and_stay_at_hand(home: Path) -> None:
    (home / "settings.toml").write_text("[ledger]\nmax_mb = 1\n")
    memory = Memory.open(home)
    first = memory.change("tags", lambda draft: edit_note(draft, ONE, add_tags=["ours"]))[1]
    strange = memory.change("odd", lambda draft: edit_note(draft, ONE, title="nul\x00 \ud800"))[1]
    ids = _grow(memory, 70, 1)
    archives = sorted((home / "ledger-archive").iterdir())
    assert [path.name.endswith(".jsonl.gz") for path in archives] == [True]
    lines = gzip.decompress(archives[0].read_bytes()).splitlines()
    assert [json.loads(line)["id"] for line in lines][:2] == [first.id, strange.id]
    left = [entry.id for entry in memory.log(limit=None)]
    assert len(left) + len(lines) == 72
    assert first.id not in left
    assert ids[-1] in left
    again = Memory.open(home)
    for change_set in (first, strange):
        assert again.entry(change_set.id).change_set == change_set
        assert again.entry(change_set.id[:7]).change_set == change_set
    again.undo(first.id)
    assert "ours" not in notes_of(home)[ONE]["tags"]
    assert again.entry(first.id).undone
    again.redo(first.id)
    assert "ours" in notes_of(home)[ONE]["tags"]
    again.undo(strange.id)
    assert notes_of(home)[ONE]["title"] == "Title 1"
    with pytest.raises(NotFoundError):
        again.entry("no such entry")


def test_a_log_keeps_within_its_limit_however_long_it_grows(home: Path) -> None:
    (home / "settings.toml").write_text("[ledger]\nmax_mb = 1\n")
    memory = Memory.open(home)
    ids = _grow(memory, 200, 2)
    assert (home / LEDGER_FILE).stat().st_size < 4_000_000
    archives = list((home / "ledger-archive").iterdir())
    assert len(archives) > 1
    for id in (ids[0], ids[50], ids[150], ids[-1]):
        assert memory.entry(id).id == id
    memory.undo()
    assert notes_of(home)[TWO]["content"] == memory.entry(ids[-2]).change_set.notes[0].after.content  # type: ignore[union-attr]


def test_an_archive_that_cannot_be_read_is_passed_over(home: Path) -> None:
    memory = Memory.open(home)
    _edit(memory, "Ours.")
    (home / "ledger-archive").mkdir()
    (home / "ledger-archive" / "000000001-000000009.jsonl.gz").write_bytes(b"no archive")
    with pytest.raises(NotFoundError):
        memory.entry("0123")


def test_what_waits_for_a_person_does_not_go_to_an_archive(home: Path) -> None:
    (home / "settings.toml").write_text("[ledger]\nmax_mb = 1\n")
    memory = Memory.open(home)
    draft = memory.draft()
    edit_note(draft, ONE, content="Mine.")
    _edit(memory, "Also mine.")
    with pytest.raises(NuggetsError):
        memory.apply(draft.change_set("late"))
    _grow(memory, 70, 3)
    assert [entry.change_set.reason for entry in memory.conflicts()] == ["late"]


# Several at once

OPENER = """
import sys
from core import Memory
from core.graph.edits import edit_note
print("ready", flush=True)
sys.stdin.readline()
memory = Memory.open(sys.argv[1])
memory.change("edit", lambda draft: edit_note(draft, sys.argv[2], content="by " + sys.argv[2]))
print(len(memory.snapshot.notes), memory.take_notices())
"""


def test_processes_that_open_a_new_log_at_the_same_moment_share_one(home: Path) -> None:
    openers = [
        subprocess.Popen(
            [sys.executable, "-c", OPENER, str(home), note], cwd=ROOT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for note in (ONE, TWO, THREE)
    ]  # fmt: skip
    for opener in openers:
        assert opener.stdout is not None
        assert opener.stdout.readline() == "ready\n"
    for opener in openers:
        assert opener.stdin is not None
        opener.stdin.write("go\n")
        opener.stdin.flush()
    assert [opener.communicate() for opener in openers] == [("3 ()\n", "")] * 3
    memory = Memory.open(home)
    assert {entry.change_set.notes[0].id for entry in memory.log()} == {ONE, TWO, THREE}
    assert all(entry.change_set.kind == "edit" for entry in memory.log())
    assert not (home / "quarantine").exists()


def test_a_change_of_another_object_on_the_same_folder_is_seen_with_its_entry(home: Path) -> None:
    one, other = Memory.open(home), Memory.open(home, author=Author("agent", "claude"))
    _edit(one, "One.")
    assert other.refresh()
    assert [entry.change_set.reason for entry in other.log()] == ["wrote One."]
    _edit(other, "Other.", TWO)
    one.refresh()
    assert [str(entry.change_set.author) for entry in one.log()] == ["claude", "you"]
    assert [change_set.reason for change_set in one.history] == ["wrote One.", "wrote Other."]


# Looking things up


def test_the_log_is_read_by_author_note_time_and_in_pieces(home: Path, clock: Callable[[], object]) -> None:
    memory = Memory.open(home, clock=clock)  # type: ignore[arg-type]
    agent = Memory.open(home, author=Author("agent", "claude"), clock=clock)  # type: ignore[arg-type]
    first = _edit(memory, "A.", ONE)
    second = _edit(agent, "B.", TWO)
    third = _edit(memory, "C.", TWO)
    memory.refresh()
    at = memory.entry(second).change_set.at

    def ids(**filters: object) -> list[str]:
        return [entry.id for entry in memory.log(**filters)]  # type: ignore[arg-type]

    assert ids() == ids(limit=None) == [third, second, first]
    assert ids(limit=2) == [third, second]
    assert ids(limit=0) == ids(limit=-5) == []
    assert ids(limit=10**30) == ids(before=10**30) == [third, second, first]
    assert ids(author="\ud800") == ids(note="a\x00b") == ids(since="\udcff") == []
    assert ids(author="agent") == ids(author="claude") == [second]
    assert ids(author="person") == [third, first]
    assert ids(author="nobody") == []
    assert ids(note=TWO) == [third, second]
    assert ids(note="note-memory-ffffffff") == []
    assert ids(since=at) == [third, second]
    assert ids(since=at, note=TWO, author="person") == [third]
    assert ids(before=memory.entry(third).seq) == [second, first]
    assert ids(before=memory.entry(third).seq, limit=1) == [second]


def test_an_entry_is_found_by_the_beginning_of_its_id(home: Path) -> None:
    numbers = iter(["aaaa0001", "aaaa0002", "bbbb0001", "aaaa00020"])
    memory = Memory.open(home, ids=lambda: next(numbers))
    for turn in range(4):
        _edit(memory, f"Turn {turn}.")
    assert memory.entry("bb").id == "bbbb0001"
    assert memory.entry(" bbbb0001 ").id == "bbbb0001"
    assert memory.entry("aaaa0002").id == "aaaa0002"
    with pytest.raises(AmbiguousError, match="aaaa0001"):
        memory.entry("aaaa")
    for nothing in ("c", "bbbb00011", "%", "_", "aaaa000_", "\udcff", "a\x00"):
        with pytest.raises(NotFoundError):
            memory.entry(nothing)
    for empty in ("", "  "):
        with pytest.raises(NuggetsError):
            memory.entry(empty)


def test_a_ledger_that_another_holds_for_writing_is_waited_for_and_then_named(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_schema, "BUSY_SECONDS", 0.05)
    memory = Memory.open(home)
    _edit(memory, "Before.")
    holder = sqlite3.connect(home / LEDGER_FILE, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match="the log of changes cannot be written"):
        _edit(memory, "After.")
    assert notes_of(home)[ONE]["content"] == "Before."
    holder.execute("ROLLBACK")
    holder.close()
    _edit(memory, "After.")
    assert notes_of(home)[ONE]["content"] == "After."


def test_a_ledger_knows_when_its_file_was_exchanged(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / LEDGER_FILE)
    assert not ledger.replaced
    other = Ledger(tmp_path / "other.db")
    other.close()
    os.replace(tmp_path / "other.db", tmp_path / LEDGER_FILE)
    assert ledger.replaced
    ledger.close()


def test_the_person_is_the_author_unless_somebody_else_is_named(home: Path) -> None:
    memory = Memory.open(home)
    _edit(memory, "Ours.")
    assert memory.log()[0].change_set.author == PERSON
