"""enter right behind typed or pasted text acts on what fits that text, however long the list takes to show it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from kits.app_kit import Driver, opened
from textual import events

from core.memory import Memory
from core.services.search import Search
from nuggets_tui.screens.merge import MergeScreen
from nuggets_tui.screens.picker import PickerScreen

pytestmark = pytest.mark.slow


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Searches end once this is set."""
    gate, search = threading.Event(), Search.result

    def waiting(self: Search, *asked: object, **named: object) -> object:
        gate.wait(20)
        return search(self, *asked, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Search, "result", waiting)
    yield gate
    gate.set()


async def send(app: Driver, *sent: str) -> None:
    """Sends text and keys as a terminal does that has them all at once."""
    for one in sent:
        event = events.Paste(one) if " " in one else events.Key(one, one if len(one) == 1 else None)
        event.set_sender(app.app)
        app.app.post_message(event)
    await app.pilot.pause()


def hidden(home: Path) -> set[str]:
    return {note.title for note in Memory.open(home).snapshot.notes if note.hidden}


async def test_enter_in_a_picker_takes_what_fits_the_words_before_it(
    home: Path, slow: threading.Event
) -> None:
    async with opened(home) as app:
        await app.show("Auth middleware")
        await app.press("m")
        picker = await app.screen(PickerScreen)
        await send(app, "token format", "enter")
        assert app.app.screen is picker
        slow.set()
        merge = await app.screen(MergeScreen)
        assert "JWT token format" in app.text
        assert merge is not picker


async def test_both_enters_behind_words_link_the_note_that_fits_them(
    home: Path, slow: threading.Event
) -> None:
    async with opened(home) as app:
        await app.show("Deploy day")
        note = app.view.note_id
        await app.press("l")
        await app.screen(PickerScreen)
        await send(app, *"jwt", "enter", "enter")
        slow.set()
        await app.back_on_main()
        await app.until(lambda: Memory.open(home).snapshot.by_id[note].links)
        (link,) = Memory.open(home).snapshot.by_id[note].links
        assert app.view.snapshot.by_id[link.to].title == "JWT token format"


@pytest.mark.parametrize("key", ["enter", "down"])
async def test_a_key_behind_a_search_and_the_key_to_its_hits_acts_on_the_first(
    home: Path, slow: threading.Event, key: str
) -> None:
    async with opened(home) as app:
        await app.show("Auth middleware")
        before = hidden(home)
        await app.press("slash")
        await send(app, *"jwt", key, "x")
        slow.set()
        await app.until(lambda: hidden(home) - before, "a note to be hidden")
        assert hidden(home) - before == {"JWT token format"}


async def test_esc_does_not_wait_and_takes_back_the_keys_that_do(home: Path, slow: threading.Event) -> None:
    async with opened(home) as app:
        await app.show("Auth middleware")
        await app.press("m")
        await app.screen(PickerScreen)
        await send(app, *"jwt", "enter", "escape")
        await app.back_on_main()
        slow.set()
        await app.pilot.pause()
        assert app.app.screen is app.main
