"""A log past its limit: the oldest entries go to archives, where they are still found and taken back."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest
from kits.beside import ONE, TWO, edit_text
from kits.memory_files import (
    notes_of,
)

from core import Memory
from core.errors import NotFoundError, NuggetsError
from core.graph.edits import edit_note
from core.storage.journal.schema import JOURNAL_FILE

pytestmark = pytest.mark.slow


def _grow(memory: Memory, edits: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [edit_text(memory, f"{chance.randbytes(12_000).hex()}", TWO) for _ in range(edits)]


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


@pytest.mark.slow
def test_a_log_keeps_within_its_limit_however_long_it_grows(home: Path) -> None:
    (home / "settings.toml").write_text("[ledger]\nmax_mb = 1\n")
    memory = Memory.open(home)
    ids = _grow(memory, 200, 2)
    assert (home / JOURNAL_FILE).stat().st_size < 4_000_000
    archives = list((home / "ledger-archive").iterdir())
    assert len(archives) > 1
    for id in (ids[0], ids[50], ids[150], ids[-1]):
        assert memory.entry(id).id == id
    memory.undo()
    assert notes_of(home)[TWO]["content"] == memory.entry(ids[-2]).change_set.notes[0].after.content  # type: ignore[union-attr]


def test_an_archive_that_cannot_be_read_is_passed_over(home: Path) -> None:
    memory = Memory.open(home)
    edit_text(memory, "Ours.")
    (home / "ledger-archive").mkdir()
    (home / "ledger-archive" / "000000001-000000009.jsonl.gz").write_bytes(b"no archive")
    with pytest.raises(NotFoundError):
        memory.entry("0123")


def test_what_waits_for_a_person_does_not_go_to_an_archive(home: Path) -> None:
    (home / "settings.toml").write_text("[ledger]\nmax_mb = 1\n")
    memory = Memory.open(home)
    draft = memory.draft()
    edit_note(draft, ONE, content="Mine.")
    edit_text(memory, "Also mine.")
    with pytest.raises(NuggetsError):
        memory.apply(draft.change_set("late"))
    _grow(memory, 70, 3)
    assert [entry.change_set.reason for entry in memory.conflicts()] == ["late"]
