"""Code that moved or is gone, in the app: marks in lists, states in the note, and the place in the person's editor."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from kits.app_kit import WIDE, opened
from kits.replayed import git

from core.graph.edits import create_note, edit_note
from core.memory import Memory
from core.projects import project_of
from nuggets_tui.controllers import grounding
from nuggets_tui.words import STALE_SIGN

pytestmark = pytest.mark.slow
TEXT = "It is in src/auth.ts:2, and src/old.ts no more."


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A memory of a project in which one file moved, and another is gone."""
    root = tmp_path / "scanner"
    (root / "src").mkdir(parents=True)
    (root / "src" / "auth.ts").write_text("one = 1;\nhandler = 2;\nthree = 3;\n")
    (root / "src" / "old.ts").write_text("old = 'and nothing else is like it';\n")
    git(tmp_path, "init", "-q", "-b", "main", str(root))
    monkeypatch.chdir(root)
    monkeypatch.delenv("NUGGETS_PROJECT", raising=False)
    monkeypatch.setattr("core.grounding.SECONDS_OF_AN_ANSWER", 60.0)
    commit(root)
    memory = Memory.open(tmp_path / "memory")
    memory.use_project(project_of(str(root)))
    memory.change("made", lambda draft: create_note(draft, "scanner", "Auth", TEXT))
    memory.stale_of(memory.snapshot.visible)
    memory.close()
    git(root, "mv", "src/auth.ts", "src/login.ts")
    (root / "src" / "old.ts").unlink()
    commit(root)
    return tmp_path / "memory"


def commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "x")


async def test_a_note_says_what_became_of_its_code_and_o_opens_where_it_is_now(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = []

    async def open_at(app: object, path: Path, line: int, column: int) -> None:
        places.append((path, line))

    monkeypatch.setattr("nuggets_tui.file_opening.open_at", open_at)
    async with opened(home, WIDE) as app:
        await app.until(lambda: app.view.stale, "what became of the code")
        await app.until(lambda: "src/login.ts:2" in app.text and f"{STALE_SIGN} src/old.ts" in app.text)
        assert f"{STALE_SIGN} Auth" in app.text
        await app.press("o")
        await app.until(lambda: places, "the editor")
    assert places == [(tmp_path / "scanner" / "src" / "login.ts", 2)]


async def test_one_look_at_the_code_is_under_way_however_fast_others_write(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, under_way = itertools.count(), []
    plain = grounding._held_against_code

    def counted(*given: object) -> object:
        under_way.append(next(looks))
        assert len(under_way) == 1
        found = plain(*given)  # type: ignore[arg-type]
        under_way.clear()
        return found

    monkeypatch.setattr(grounding, "_held_against_code", counted)
    monkeypatch.setattr(grounding, "_REST", 0.01)
    other = Memory.open(home)
    async with opened(home, WIDE) as app:
        (note,) = app.view.snapshot.notes
        for number in range(20):
            text = f"{TEXT} And more: {number}."
            other.change("more", lambda draft, text=text: edit_note(draft, note.id, content=text))  # type: ignore[misc]
            await app.press("down")
        await app.until(lambda: app.view.note is not None and app.view.note.content.endswith(": 19."))
        await app.until(lambda: app.view.stale)
