"""Every screen as text, at two sizes: what changed on it shows as a diff of lines (--snapshot-update takes it)."""

from __future__ import annotations

import itertools
import os
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from kits.app_kit import NARROW, NOW, WIDE, Driver, opened, screen_text, small_memory
from kits.fake_pipeline import filled
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from core.memory import Memory
from core.pipeline.database.connection import Database
from core.storage.cache import cache_folder
from core.team import trust_folder
from core.user_folders import CACHE_VARIABLE
from nuggets_tui import pipeline_session
from nuggets_tui.demo import DEMO_NOW, write_demo
from nuggets_tui.widgets.graph_overview import GraphOverview
from nuggets_tui.widgets.row_list import RowList
from nuggets_tui.widgets.search_box import SearchBox

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bound_keys")]

_SIZES = {"120x40": WIDE, "80x24": NARROW}
_READ = "Auth middleware"
Go = Callable[[Driver], Awaitable[None]]


class Screens(SingleFileSnapshotExtension):
    """One readable file for each screen and size."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the demo memory, and with what a search of it needs ahead, both made once."""
    folder = tmp_path_factory.mktemp("demo")
    home = write_demo(folder / "memory")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLE, str(folder / "caches"))
        memory = Memory.open(home, reconcile=False)
        memory.search.index()
        memory.search.keep()
        made = cache_folder(home, os.environ)
    assert made is not None
    made.rename(folder / "cache")
    return folder


@asynccontextmanager
async def on_demo(demo: Path, folder: Path, size: tuple[int, int]) -> AsyncIterator[Driver]:
    """The app on a copy of the demo memory, at rest, at a moment that is always the same."""
    home = folder / "memory"
    shutil.copytree(demo / "memory", home)
    cache = cache_folder(home, os.environ)
    assert cache is not None
    shutil.copytree(demo / "cache", cache)
    moment = DEMO_NOW + timedelta(seconds=2)
    async with opened(home, size, clock=lambda: moment) as app:
        await app.until(lambda: app.main.complete and app.view.proposed)
        await app.main.session.keep_index()
        ticks = itertools.count()
        app.main.session.timer = lambda: next(ticks) * 0.003
        app.main.query_one(SearchBox).cursor_blink = False
        yield app


async def picture(app: Driver) -> str:
    """The screen once it is at rest, without what moves by itself."""
    app.app.clear_notifications()
    following, asking = {"watch", "team"}, app.app.key_queue.asking
    await app.until(
        lambda: all(worker.group in following or worker in asking for worker in app.app.workers),
        "no work under way",
    )
    before, same = "", 0
    while same < 4:
        for rows in app.app.screen.query(RowList):
            rows.light(frozenset())
        await app.pilot.pause(0.03)
        now = screen_text(app.app)
        same = same + 1 if now == before else 0
        before = now
    home = str(app.main.view.home)
    # Folders of this run are as long as they happen to be.
    kept = [line.rstrip() for line in re.sub(re.escape(home), "HOME", before).splitlines()]
    assert max(map(len, kept)) <= app.app.size.width
    return "\n".join(kept) + "\n"


def pressing(*keys: str) -> Go:
    """Goes to a screen by keys from the main screen."""

    async def go(app: Driver) -> None:
        for key in keys:
            await app.press(key)

    return go


def typing(query: str, *keys: str) -> Go:
    """Searches, then presses keys."""

    async def go(app: Driver) -> None:
        await app.press("slash")
        # At once, as pasted: which of its beginnings is searched as well depends on how fast the letters come.
        app.main.query_one(SearchBox).value = query
        await app.until(lambda: app.view.found is not None and app.view.found.query == query)
        await app.until(lambda: not any(worker.group == "search" for worker in app.main.workers))
        for key in keys:
            await app.press(key)

    return go


async def drawing_overview(app: Driver) -> None:
    """Goes to the overview and waits for its layout."""
    await app.press("G")
    await app.until(lambda: all(each.overview is not None for each in app.main.query(GraphOverview)))


# From the main screen, with a note shown.
SCREENS: dict[str, Go] = {
    "main": pressing(),
    "facts": pressing("1"),
    "note": pressing("3"),
    "neighbours": pressing("4"),
    "graph": pressing("g"),
    "log": pressing("6"),
    "search": typing("auth token"),
    "nothing-found": typing("zzqqxx"),
    "why": typing("auth tokn", "down", "down", "w"),
    "why-not": typing("auth", "enter", "W"),
    "recall": pressing("1", "enter"),
    "editor": pressing("e"),
    "new-note": pressing("n"),
    "new-fact": pressing("f"),
    "tags": pressing("t"),
    "link": pressing("l"),
    "merge-which": pressing("m"),
    "delete": pressing("X"),
    "entry": pressing("6", "enter"),
    "reflection": pressing("r"),
    "promotion": pressing("p"),
    "selection": pressing("space", "space", "space"),
    "bulk-review": pressing("space", "space", "x"),
    "move": pressing("M"),
    "overview": drawing_overview,
    "time": pressing("T"),
    "compare": pressing("T", "home", "c"),
    "log-filter": pressing("F"),
    "searches": pressing("Q"),
    "keep-search": typing("auth token", "enter", "K"),
    "backups": pressing("B"),
    "pipeline-first": pressing("J"),
    "help": pressing("question_mark"),
}


# Inbox and Pipeline while they are in the middle of their work.
PIPELINE: dict[str, Go] = {
    "inbox": pressing("i"),
    "inbox-review": pressing("i", "ctrl+a", "a"),
    "pipeline-work": pressing("J", "1", "down"),
    "pipeline-health": pressing("J", "4"),
}


# Where the width changes what stands on the screen; of all others the narrow picture says enough.
_WIDE_TOO = (
    "main", "graph", "log", "search", "why", "editor", "entry", "reflection", "overview", "compare", "help",
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "size"),
    [(name, size) for name in SCREENS for size in _SIZES if size == "80x24" or name in _WIDE_TOO],
)
async def test_the_screen_looks_as_it_did(
    demo: Path, tmp_path: Path, name: str, size: str, snapshot: SnapshotAssertion
) -> None:
    async with on_demo(demo, tmp_path, _SIZES[size]) as app:
        await app.press("2")
        await app.show(_READ)
        await app.until(lambda: app.view.suggested, "what the note might be linked to")
        await SCREENS[name](app)
        assert await picture(app) == snapshot(extension_class=Screens)


@pytest.mark.parametrize(
    ("name", "size"),
    [*((name, "80x24") for name in PIPELINE), ("inbox", "120x40"), ("pipeline-work", "120x40")],
)
async def test_the_pipeline_at_work_looks_as_it_did(
    tmp_path: Path, name: str, size: str, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "memory"
    small_memory(home)
    Database.open(home).close()
    fake = filled(Memory.open(home))
    monkeypatch.setattr(pipeline_session, "open_pipeline", lambda memory, clock: fake)
    async with opened(home, _SIZES[size]) as app:
        await app.until(lambda: app.view.pipeline.state == "review")
        await PIPELINE[name](app)
        assert await picture(app) == snapshot(extension_class=Screens)


_TEAM = {
    "vpn-for-staging.md": "---\ntags: [deploy]\n---\n\n# VPN for staging\n\nConnect first, then run `make deploy`.\n",
    "release-day.md": "---\ntags: [release, calendar]\n---\n\n# Release day\n\nReleases go out on **Thursdays**.\n",
}


async def _sharing(app: Driver) -> None:
    await app.show("Auth middleware")
    await app.press("H")
    await app.until(lambda: "# Auth middleware" in app.text)


TEAM: dict[str, Go] = {
    "team-hits": typing("releases go out", "down"),
    "team-alone": typing("is:team", "down"),
    "team-share": _sharing,
}


@pytest.mark.parametrize("size", ["100x30"])
@pytest.mark.parametrize("name", list(TEAM))
async def test_the_teams_notes_look_as_they_did(
    tmp_path: Path, name: str, size: str, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "shop" / ".nuggets" / "notes"
    folder.mkdir(parents=True)
    for file, text in _TEAM.items():
        (folder / file).write_text(text)
        trust_folder(folder)
        os.utime(folder / file, (NOW.timestamp() - 7200,) * 2)
    monkeypatch.chdir(tmp_path / "shop")
    # A short path of it is the same everywhere.
    monkeypatch.setenv("HOME", str(tmp_path))
    small_memory(tmp_path / "own").close()
    async with opened(tmp_path / "own", {**_SIZES, "100x30": (100, 30)}[size]) as app:
        await app.until(lambda: app.main.complete and app.view.team is not None)
        await app.main.session.keep_index()
        app.main.session.timer = itertools.count(0, 0.003).__next__
        app.main.query_one(SearchBox).cursor_blink = False
        await TEAM[name](app)
        assert await picture(app) == snapshot(extension_class=Screens)
