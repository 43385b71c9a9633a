"""Unsaved texts outlive their process, are offered to the next one, and never to two."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from kits.hostile import HOSTILE

from core.graph.edits import create_note
from core.memory import Memory
from core.storage.personal.unsaved_files import unsaved_folder
from core.unsaved import Unsaved, UnsavedTexts

ROOT = Path(__file__).parents[2]
TEXT = Unsaved("note", "note-1", "Auth", {"text": "old"}, {"text": "new"}, "2026-11-18T12:00:00.000Z")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "memory"
    made.mkdir()
    return made


@pytest.fixture
def state(tmp_path: Path) -> dict[str, str]:
    return {"NUGGETS_STATE": str(tmp_path / "state")}


def texts_of(home: Path, state: dict[str, str]) -> UnsavedTexts:
    found = UnsavedTexts.of(home, state)
    assert found is not None
    return found


def files_of(home: Path, state: dict[str, str]) -> list[str]:
    folder = unsaved_folder(home, state)
    assert folder is not None
    return sorted(path.name for path in folder.glob("*.json"))


def offered(texts: UnsavedTexts) -> list[Unsaved]:
    return [one.unsaved for one in texts.offered()]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_what_is_kept_is_offered_to_the_next_process_as_it_was(
    home: Path, state: dict[str, str], hostile: str
) -> None:
    text = Unsaved("note", hostile[:50], hostile, {"text": ""}, {"text": hostile, hostile[:9]: hostile}, "at")
    first = texts_of(home, state)
    first.keep().write(text)
    first.close()
    assert offered(texts_of(home, state)) == [text]


def test_the_text_of_a_living_process_is_offered_to_nobody(home: Path, state: dict[str, str]) -> None:
    living, other = texts_of(home, state), texts_of(home, state)
    living.keep().write(TEXT)
    assert offered(other) == []
    assert offered(living) == []
    living.close()
    assert offered(other) == [TEXT]


@pytest.mark.slow
def test_a_killed_process_leaves_its_text(home: Path, state: dict[str, str]) -> None:
    code = f"""
import os, signal
from pathlib import Path
from core.unsaved import Unsaved, UnsavedTexts
texts = UnsavedTexts.of(Path({str(home)!r}))
texts.keep().write(Unsaved("note", values={{"text": "typed"}}))
print("kept", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | state, cwd=ROOT, capture_output=True, timeout=60
    )
    assert (done.stdout.strip(), done.returncode) == (b"kept", -9)
    assert [text.values for text in offered(texts_of(home, state))] == [{"text": "typed"}]


def test_only_one_of_two_gets_an_offered_text(home: Path, state: dict[str, str]) -> None:
    gone = texts_of(home, state)
    gone.keep().write(TEXT)
    gone.close()
    one, other = texts_of(home, state), texts_of(home, state)
    (mine,), (theirs,) = one.offered(), other.offered()
    kept = one.take(mine)
    assert kept is not None
    assert other.take(theirs) is None
    assert offered(other) == []
    kept.end()
    one.close()
    assert offered(other) == []
    assert files_of(home, state) == []


def test_each_memory_has_texts_of_its_own_that_nobody_else_may_read(
    home: Path, state: dict[str, str]
) -> None:
    other = home.with_name("other")
    texts = texts_of(home, state)
    texts.keep().put_aside(TEXT)
    assert offered(texts_of(other, state)) == []
    folder = unsaved_folder(home, state)
    assert folder is not None
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert not list(home.iterdir())


def test_a_person_may_have_none_and_none_lie_inside_the_memory(home: Path) -> None:
    assert UnsavedTexts.of(home, {"NUGGETS_STATE": "off"}) is None
    assert UnsavedTexts.of(home, {"NUGGETS_STATE": str(home / "state")}) is None


def test_locks_of_processes_that_ended_long_ago_are_cleared_away(home: Path, state: dict[str, str]) -> None:
    texts = texts_of(home, state)
    texts.keep().write(TEXT)
    folder = unsaved_folder(home, state)
    assert folder is not None
    old, young = folder / f"{'a' * 16}.lock", folder / f"{'b' * 16}.lock"
    for path in (old, young):
        path.touch()
    os.utime(old, (1, 1))
    held = next(path for path in folder.glob("*.lock") if path not in (old, young))
    os.utime(held, (1, 1))
    texts_of(home, state).offered()
    assert not old.exists()
    assert young.exists()
    assert held.exists()


def test_a_masked_credential_stands_in_no_text_that_nobody_writes(tmp_path: Path) -> None:
    token = "ghp" + "_16C7e42F292c6912E7710c838347Ae178B4a"
    memory = Memory.open(tmp_path / "memory")
    note, _ = memory.change(
        "one", lambda draft: create_note(draft, "project", "Access", f"Use {token} here.")
    )
    begun, values = {"text": f"Use {token} here."}, {"text": f"Use {token} here, and more."}
    left, again = UnsavedTexts.of(memory.home), UnsavedTexts.of(memory.home)
    assert left is not None
    assert again is not None
    left.keep().write(Unsaved("note", note.id, "Access", begun, values))
    left.close()
    memory.secrets.mask(memory.secrets.preview([note.id]))
    (text,) = offered(again)
    assert token not in str(text)
    assert text.values["text"].endswith("here, and more.")
    assert text.begun["text"] == memory.snapshot.note(note.id).content
