"""Merging by hand: what the merged note takes from each of two, shown before it is done, or "no duplicates"."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from kits.app_kit import NARROW, WIDE, Driver, opened, small_memory

from core.facts.edits import remember
from core.graph.edits import create_note
from core.graph.merging import MergeChoices
from core.memory import Memory
from core.model.infer import MetaInput
from core.model.note import Note
from nuggets_tui.screens.merge import MergeScreen
from nuggets_tui.screens.picker import PickerScreen
from nuggets_tui.widgets.line_view import LineView
from nuggets_tui.widgets.row_list import RowList

pytestmark = pytest.mark.slow


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A memory with two notes that say about the same, each in its way."""
    memory = small_memory(tmp_path / "memory")
    text = "The test database listens on port 5433, user postgres, in the compose file."
    for title, more, tag, scope in (
        ("Test database", "Alpha.", "db", "project"),
        ("Data base", "Beta.", "sql", "user"),
    ):
        edit = partial(
            create_note, nugget="project", title=title, content=f"{text}\n{more}", tags=[tag],
            meta=MetaInput(scope=scope),
        )  # fmt: skip
        memory.change("wrote", edit)
    return tmp_path / "memory"


def stored(home: Path, title: str) -> Note:
    """A note as it stands in the files."""
    return next(note for note in Memory.open(home).snapshot.notes if note.title == title)


async def merging(app: Driver, title: str, other: str) -> MergeScreen:
    """Asks to merge a note into another one."""
    await app.show(title)
    await app.press("m")
    picker = await app.screen(PickerScreen)
    app.fill("#find", other) if picker.query("#find") else await app.press(*other)
    await app.until(lambda: picker.query_one(RowList).count and other in app.text)
    await app.pilot.pause()
    await app.press("enter")
    screen = await app.screen(MergeScreen)
    await app.until(lambda: screen.query_one("#becomes", LineView).text, "the result")
    return screen


async def on_field(app: Driver, screen: MergeScreen, name: str) -> None:
    """Goes to a field."""
    screen.query_one(RowList).move_to(name)
    await app.pilot.pause()


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_both_sides_and_the_result_are_on_screen_and_nothing_is_written(
    home: Path, size: tuple[int, int]
) -> None:
    before = (home / "graph" / "graph.json").read_bytes()
    async with opened(home, size) as app:
        screen = await merging(app, "Test database", "Data base")
        assert "esc close" in app.text
        assert "not duplicates" in app.text
        await on_field(app, screen, "content")
        both = screen.query_one("#versions-of-field", LineView).text
        assert (
            both.index("Kept note") < both.index("Alpha.") < both.index("Hidden note") < both.index("Beta.")
        )
        becomes = screen.query_one("#becomes", LineView).text
        assert "Alpha." in becomes
        assert "Beta." in becomes
        for id in ("#changes", "#becomes", "#versions-of-field"):
            assert screen.query_one(id).region.height >= 6
        await app.press("escape")
        await app.back_on_main()
    assert (home / "graph" / "graph.json").read_bytes() == before


async def test_each_choice_shows_at_once_and_is_what_is_written(home: Path) -> None:
    async with opened(home) as app:
        screen = await merging(app, "Test database", "Data base")
        becomes = screen.query_one("#becomes", LineView)
        for name in ("title", "scope"):
            await on_field(app, screen, name)
            await app.press("space")
        await on_field(app, screen, "content")
        await app.press("left")
        await app.until(lambda: "Alpha." not in becomes.text)
        assert "Beta." in becomes.text
        assert screen.choices == MergeChoices(title="other", content="other", scope="other")
        await on_field(app, screen, "tags")
        await app.press("enter")
        await app.until(lambda: "#sql" not in becomes.text)
        await app.press("ctrl+s")
        await app.back_on_main()
    merged = next(n for n in Memory.open(home).snapshot.visible if n.title == "Data base")
    assert merged.content.endswith("Beta.")
    assert (merged.scope, merged.subject) == ("user", "user:primary")
    assert "db" in merged.tags
    assert "sql" not in merged.tags
    assert sum(note.hidden for note in Memory.open(home).snapshot.notes) == 2


async def test_swapping_lets_the_other_note_stay_and_keeps_what_was_chosen(home: Path) -> None:
    other = stored(home, "Data base")
    async with opened(home) as app:
        screen = await merging(app, "Test database", "Data base")
        becomes = screen.query_one("#becomes", LineView)
        before = becomes.text.split("\n")[0]
        await app.press("x")
        assert screen.choices.title == "other"
        assert screen.choices.content == "both"
        await app.until(lambda: becomes.text.index("Beta.") < becomes.text.index("Alpha."))
        assert becomes.text.split("\n")[0] == before
        await app.press("ctrl+s")
        await app.back_on_main()
    kept = Memory.open(home).snapshot.note(other.id)
    assert (kept.hidden, kept.title, kept.scope) == (False, "Test database", "project")


async def test_no_duplicates_is_an_answer_that_is_remembered_and_taken_back_with_u(home: Path) -> None:
    memory = Memory.open(home)
    text = "Bravo charlie delta echo foxtrot golf hotel india juliet."
    for title in ("Twin", "Twin two"):
        memory.change("twice", partial(create_note, nugget="project", title=title, content=text))
    assert memory.reflect(dry_run=True).counts["merged"] == 1
    async with opened(home) as app:
        await merging(app, "Twin", "Twin two")
        await app.press("n")
        await app.back_on_main()
        await app.until(lambda: "Not duplicates" in app.notices)
        assert Memory.open(home).reflect(dry_run=True).counts["merged"] == 0
        assert not stored(home, "Twin").hidden
        assert not stored(home, "Twin two").hidden
        await app.press("u")
        await app.until(lambda: "Undid" in app.notices)
        assert Memory.open(home).reflect(dry_run=True).counts["merged"] == 1


async def test_a_choice_that_cannot_be_is_said_and_the_screen_stays(home: Path) -> None:
    memory = Memory.open(home)
    memory.change("fact", lambda draft: remember(draft, "project", "db port", "5433"))
    edit = partial(create_note, nugget="project", title="test command", content="x y z")
    note, _ = memory.change("note", edit)
    async with opened(home) as app:
        app.main.run_worker(app.main.notes._merge(stored(home, "db port"), note.id))
        screen = await app.screen(MergeScreen)
        await on_field(app, screen, "title")
        await app.press("space")
        await app.until(lambda: "already has a fact" in app.notices)
        await app.press("ctrl+s")
        assert isinstance(app.app.screen, MergeScreen)
        assert not Memory.open(home).snapshot.note(note.id).hidden
