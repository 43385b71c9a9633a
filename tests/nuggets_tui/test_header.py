"""The first line at every width: what waits for a person stays longest, and nothing is cut off at its end."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import agent_on, opened, small_memory
from textual.geometry import Size

from core.errors import ConflictError
from core.graph.edits import edit_note
from nuggets_tui.widgets.header import HeaderLine

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A small memory in which a conflict waits and a file could not be read."""
    home = tmp_path / "memory"
    me = small_memory(home)
    store = next(note for note in me.snapshot.notes if note.title == "Session store").id
    draft = me.draft()
    edit_note(draft, store, content="Mine")
    agent_on(home).change("newer", lambda newest: edit_note(newest, store, content="Theirs"))
    with pytest.raises(ConflictError):
        me.apply(draft.change_set("edited", author=me.author))
    (home / "other.nugget.json").write_bytes(b"{")
    return home


@pytest.mark.parametrize("width", [70, 79, 80, 99, 100, 120, 160, 200])
async def test_what_waits_is_named_with_its_key_at_every_width(home: Path, width: int) -> None:
    async with opened(home, (width, 30)) as app:
        header = app.main.query_one(HeaderLine)
        await app.until(lambda: header.view.log.waiting)
        await app.pilot.pause()
        line = app.text.split("\n")[0].rstrip()
        assert line.startswith(" nuggets")
        assert "! 1 conflict waits: c" in line
        assert "1 problem: !" in line
        assert header.size == Size(width, 1)
        if width >= 160:
            assert "claude edited Session store" in line
            assert "6 notes" in line


@pytest.mark.parametrize("width", [80, 100, 120, 160, 200])
async def test_the_name_of_the_memory_stands_before_the_counts_and_goes_last(
    tmp_path: Path, width: int
) -> None:
    small_memory(tmp_path / "atlas", reflection_due=True)
    async with opened(tmp_path / "atlas", (width, 30)) as app:
        await app.until(lambda: app.view.reflection_due)
        await app.pilot.pause()
        line = app.text.split("\n")[0]
        assert "atlas" in line
        if "6 notes" in line:
            assert line.index("atlas") < line.index("6 notes")


@pytest.mark.parametrize(
    ("folder", "name"), [(".nuggets", "~/.nuggets"), ("demo", "~/demo"), ("nuggets-demo-x1y2", "demo")]
)
async def test_a_memory_is_named_by_its_folder_shortened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, name: str
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    small_memory(tmp_path / folder)
    async with opened(tmp_path / folder, (100, 30)) as app:
        assert app.text.split("\n")[0].startswith(f" nuggets  {name} · 1 nugget")


async def test_where_the_system_gives_no_watches_the_header_calls_nothing_live(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import watchfiles

    def refused(*_: object, **__: object) -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(watchfiles, "awatch", refused)
    async with opened(home, (200, 30)) as app:
        header = app.main.query_one(HeaderLine)
        await app.until(lambda: header.view.polling)
        await app.until(lambda: "◐" in app.text.split("\n")[0])
        assert "live" not in app.text.split("\n")[0]
