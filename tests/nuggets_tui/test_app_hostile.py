"""Hostile notes and facts: nothing they hold crashes a pane or a dialog, or reaches the screen raw."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kits.app_kit import NARROW, WIDE, assert_harmless, opened
from kits.hostile import HOSTILE, RAW

from core.memory import Memory
from nuggets_tui.screens.editor import EditorScreen
from nuggets_tui.screens.entry import EntryScreen
from nuggets_tui.screens.forms import FormScreen
from nuggets_tui.screens.picker import PickerScreen
from nuggets_tui.screens.recall import RecallScreen
from nuggets_tui.widgets.markdown_lines import markdown_lines, plain_lines

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]

# All short texts in one, a very long one, and none: opening a dialog for each text alone would take long.
FEW = (" ".join(text for text in HOSTILE if len(text) < 1000), "x" * 100_000, "")


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


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_walking_over_hostile_notes_and_facts_shows_them_harmlessly(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    home = tmp_path / "memory"
    hostile_memory(home, *HOSTILE)
    before = (home / "graph" / "graph.json").read_bytes()
    async with opened(home, size) as app:
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


@pytest.mark.parametrize(("key", "kind"), [("e", EditorScreen), ("t", FormScreen), ("l", PickerScreen)])
async def test_dialogs_on_hostile_notes_show_them_harmlessly(tmp_path: Path, key: str, kind: type) -> None:
    home = tmp_path / "memory"
    hostile_memory(home, *FEW)
    async with opened(home) as app:
        for note in app.view.snapshot.notes[::3]:
            app.main.show_note(note.id)
            await app.press(key)
            await app.screen(kind)
            assert_harmless(app)
            await app.press("escape")
            await app.back_on_main()
        assert "went wrong" not in app.notices


async def test_recalls_of_hostile_facts_show_them_harmlessly(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    hostile_memory(home, *FEW)
    async with opened(home) as app:
        await app.press("1")
        for _ in app.view.snapshot.by_name["evil"].facts:
            await app.press("enter")
            await app.screen(RecallScreen)
            await app.until(lambda: "decoding" not in app.text)
            assert_harmless(app)
            await app.press("escape")
            await app.back_on_main()
            await app.press("down")
        assert "went wrong" not in app.notices


async def test_searching_for_hostile_words_is_a_search_like_any_other(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    hostile_memory(home, *HOSTILE)
    async with opened(home) as app:
        await app.press("slash")
        for text in HOSTILE:
            app.fill("#search", text[:400])
            await app.pilot.pause()
            assert_harmless(app)
        app.fill("#search", "other is:hidden")
        await app.until(lambda: app.view.found is not None and app.view.found.query == "other is:hidden")
        assert app.view.found is not None
        assert app.view.found.hits
        assert_harmless(app)


async def test_hostile_notes_of_another_program_show_in_the_log_and_the_header(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    hostile_memory(home, "calm")
    path = home / "graph" / "graph.json"
    async with opened(home) as app:
        for number, text in enumerate(HOSTILE, 5):
            graph = json.loads(path.read_text())
            graph["notes"].append(hostile_notes(number, text)[0])
            path.write_text(json.dumps(graph))
            await app.until(lambda n=number: len(app.log) == n - 4, f"change {number}")  # type: ignore[misc]
            await app.pilot.pause()
            assert_harmless(app)
        await app.press("a")
        assert_harmless(app)
        await app.press("enter")
        await app.screen(EntryScreen)
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
    hostile_memory(home, "x" * 1_000_000)
    async with opened(home) as app:
        await app.press("down", "up", "3", "down", "end", "2")
        await app.press("e")
        await app.until(lambda: app.app.screen is not app.main or app.notices)
        assert app.app.is_running


@pytest.mark.parametrize(
    "text",
    ["&#27;[31m", "&#x202E;abc", "&#155;2J", "[a](\x1b]8;;x)", "![\u202e](y)", "<b\x9b>", "`\x07`", "# \x1b"],
)
def test_markdown_cannot_smuggle_controls_in(text: str) -> None:
    for line in (*markdown_lines(text, 40), *plain_lines(text, 40)):
        assert not RAW.search(line.plain)


@pytest.mark.parametrize("text", HOSTILE, ids=[f"{number}" for number in range(len(HOSTILE))])
@pytest.mark.parametrize("width", [4, 9, 40, 200])
def test_markdown_lines_fit_their_width(text: str, width: int) -> None:
    table = f"| {text} | b |\n|--|--|\n| 1 | {text} |"
    block = f"# {text}\n\n- {text}\n  1. {text}\n\n> {text}\n\n```\n{text}\n```\n\n{table}\n"
    for line in markdown_lines(block[:5000], width):
        assert not RAW.search(line.plain)
        # Nesting keeps a few columns for words, however narrow the pane.
        assert line.cell_length <= max(width, 20)
