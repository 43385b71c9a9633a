"""Watching a folder: a wake-up each time its memory files may have changed."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from core.folder import FACT_SUFFIXES, GRAPH_FILE
from core.model.saved_search import SEARCHES_FILE
from core.settings import SETTINGS_FILE

_PAGES: Final = (".md", ".markdown")
_CHECK_MS: Final = 2000
# A write is told of after a step in which nothing else was written, so one or two steps later.
_STEP_MS: Final = 10
_BURST_MS: Final = 50
# Between two looks where the system tells of nothing, and how many of these before it is asked again.
_LOOK_SECONDS: Final = 1.0
_LOOKS: Final = 30


def is_memory_file(path: str) -> bool:
    """Whether a path's name is one of a memory's own files (temporary files are not)."""
    name = os.path.basename(path)
    return not name.startswith(".") and (
        name.endswith(FACT_SUFFIXES) or name in (*GRAPH_FILE.parts, SETTINGS_FILE, SEARCHES_FILE)
    )


def _is_page(path: str) -> bool:
    name = os.path.basename(path)
    return name.lower().endswith(_PAGES) and not name.startswith(".")


async def watch_folder(home: Path, stop: asyncio.Event, pages: Path | None = None) -> AsyncIterator[bool]:
    """Yields after every burst of changes, and every two seconds besides; whether the system tells of changes, for
    where it has no free watches this only wakes up every second. pages: a folder whose pages are watched too.

    The regular wake-up covers what no watcher sees: a folder that was deleted and made again, a network
    file system. Whoever listens compares fingerprints, so a wake-up for nothing costs little. Ends when `stop` is set.
    """
    while not stop.is_set():
        if not home.is_dir():
            yield True
            await _pause(stop)
            continue
        async for told in _watch_existing(home, stop, pages):
            yield told


async def _pause(stop: asyncio.Event) -> None:
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(stop.wait(), _LOOK_SECONDS)


async def _watch_existing(home: Path, stop: asyncio.Event, pages: Path | None) -> AsyncIterator[bool]:
    """Watches until the folder is another one than at the start; for a while only, where the system refuses."""
    from watchfiles import awatch

    started = _identity(home)
    try:
        async for _ in awatch(
            *((home, pages) if pages is not None and pages.is_dir() else (home,)),
            watch_filter=lambda _, path: is_memory_file(path) or (pages is not None and _is_page(path)),
            debounce=_BURST_MS,
            step=_STEP_MS,
            rust_timeout=_CHECK_MS,
            yield_on_timeout=True,
            stop_event=stop,
            recursive=True,
            ignore_permission_denied=True,
        ):
            yield True
            if _identity(home) != started:
                return
    except FileNotFoundError:
        return
    except (OSError, RuntimeError):
        # No watches left, or no instances (the usual limit is 128), which watchfiles calls an internal error.
        for _ in range(_LOOKS):
            if stop.is_set():
                return
            yield False
            await _pause(stop)


def _identity(home: Path) -> tuple[int, int, int] | None:
    try:
        found, inside = home.stat(), home / "graph"
        return found.st_dev, found.st_ino, inside.stat().st_ino if inside.exists() else 0
    except OSError:
        return None
