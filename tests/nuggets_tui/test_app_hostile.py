"""Hostile notes and facts: nothing they hold crashes a pane or a dialog, or reaches the screen raw."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kits.app_kit import NARROW, assert_harmless, opened
from kits.hostile import HOSTILE, RAW

from core.memory import Memory
from nuggets_tui.screens.editor import EditorScreen
from nuggets_tui.widgets.line_view import markdown_lines, plain_lines

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]

# All short texts in one: opening a dialog for each text alone would take long.
FEW = " ".join(text for text in HOSTILE if len(text) < 1000)


def hostile_memory(home: Path, *texts: str) -> None:
    """A memory whose notes and facts hold hostile text in every field, as another program may have written it."""
    (home / "graph").mkdir(parents=True)
    notes = [note for number, text in enumerate(texts) for note in hostile_notes(number, text)]
    (home / "graph" / "graph.json").write_text(json.dumps({"version": 3, "notes": notes}))
    facts = [{"key": f"{text}{number}", "value": text, "hits": 1} for number, text in enumerate(texts)]
    nugget = {
        "version": 4, "name": "evil", "D": 1024, "banks": 4, "ensembles": 1, "max_facts": 0, "facts": facts,
        "config": {"sharpen_p": 1, "corvacs_a": 0, "temp_T": 0.9, "orth_iters": 1},
    }  # fmt: skip
    (home / "evil.nugget.json").write_text(json.dumps(nugget))


def hostile_notes(number: int, text: str) -> list[dict[str, Any]]:
    """A visible note, a hidden one linked to it, and a fact note."""
    common: dict[str, Any] = {
        "nuggetName": "evil", "title": text, "content": text, "tags": [text], "links": [], "hidden": False,
        "kind": "note", "hits": 2, "lastHitSession": text, "createdAt": "2026-11-01T10:00:00.000Z",
        "updatedAt": "2026-11-02T10:00:00.000Z", "lastAccessedAt": "2026-11-02T10:00:00.000Z", "subject": text,
        "scope": "project", "type": "note", "source": "explicit_user", "confidence": 0.9, "stability": "durable",
        "vector": {"seed": 0, "basis": []},
    }  # fmt: skip
    made = {"reason": text, "createdAt": common["createdAt"]}
    first, second, third = (
        f"{kind}-evil-{number:07x}{place}" for place, kind in enumerate(("note", "note", "fact"))
    )
    return [
        common | {"id": first, "links": [made | {"to": second}]},
        common | {"id": second, "title": f"other {text}", "hidden": True, "links": [made | {"to": first}]},
        common | {"id": third, "kind": "fact", "title": f"{text}{number}", "sourceKey": f"{text}{number}"},
    ]


async def test_walking_over_hostile_notes_and_facts_shows_them_harmlessly(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    hostile_memory(home, *HOSTILE)
    before = (home / "graph" / "graph.json").read_bytes()
    async with opened(home) as app:
        await app.until(lambda: type(app.main.query_one("#graph")).__name__ == "GraphPane")
        await app.press("v")
        for pane in "123456":
            await app.press(pane)
            assert_harmless(app)
        for note in app.view.snapshot.notes:
            app.main.show_note(note.id)
            await app.pilot.pause()
            assert_harmless(app)
        assert "went wrong" not in app.notices
    assert (home / "graph" / "graph.json").read_bytes() == before


async def test_no_screen_shows_hostile_notes_raw(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    hostile_memory(home, FEW)
    async with opened(home, NARROW) as app:
        await app.press("x")
        await app.until(lambda: len(app.log) == 1)
        app.fill("#search", FEW[:400])
        await app.until(lambda: app.view.found is not None)
        await app.press("w")
        await app.until(lambda: app.app.screen is not app.main)
        assert_harmless(app)
        await app.press("escape")
        await app.back_on_main()
        for keys in ("e", "t", "l", "m", "r", "i", "C", "Q", "question_mark", "ctrl+p", "1 enter", "6 enter"):
            await app.press("2", *keys.split())
            await app.until(lambda: app.app.screen is not app.main, keys)
            await app.pilot.pause()
            assert_harmless(app)
            while app.app.screen is not app.main:
                await app.press("escape")
        for key in ("G", "T", "left", "d"):
            await app.press(key)
            assert_harmless(app)


async def test_saving_a_changed_title_leaves_the_stored_text_as_it_was(tmp_path: Path) -> None:
    text = "keep \x1b[31mthis\x1b[0m \u202eexactly"
    home = tmp_path / "memory"
    hostile_memory(home, text)
    async with opened(home) as app:
        app.main.show_note("note-evil-00000000")
        await app.pilot.pause()
        await app.press("e")
        await app.screen(EditorScreen)
        app.fill("#title", "A calm title")
        await app.press("ctrl+s")
        await app.back_on_main()
    note = Memory.open(home).snapshot.by_id["note-evil-00000000"]
    assert note.title == "A calm title"
    assert note.content == text


async def test_a_long_line_can_be_walked_past_and_edited(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    hostile_memory(home, "x" * 200_000)
    async with opened(home) as app:
        await app.press("down", "up", "3", "down", "end", "2")
        await app.press("e")
        await app.until(lambda: app.app.screen is not app.main or app.notices)
        assert app.app.is_running


def test_markdown_cannot_smuggle_controls_in() -> None:
    for text in [
        "&#27;[31m",
        "&#x202E;abc",
        "&#155;2J",
        "[a](\x1b]8;;x)",
        "![\u202e](y)",
        "<b\x9b>",
        "`\x07`",
        "# \x1b",
    ]:
        for line in (*markdown_lines(text, 40), *plain_lines(text, 40)):
            assert not RAW.search(line.plain)


@pytest.mark.parametrize("width", [4, 40])
@pytest.mark.parametrize("text", [FEW, "x" * 100_000], ids=["few", "long"])
def test_markdown_lines_fit_their_width(text: str, width: int) -> None:
    table = f"| {text} | b |\n|--|--|\n| 1 | {text} |"
    block = f"# {text}\n\n- {text}\n  1. {text}\n\n> {text}\n\n```\n{text}\n```\n\n{table}\n"
    for line in markdown_lines(block[:5000], width):
        assert not RAW.search(line.plain)
        # Nesting keeps a few columns for words, however narrow the pane.
        assert line.cell_length <= max(width, 20)
