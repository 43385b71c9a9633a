"""Pictures and a film of the app on the demo memory: `python -m tools.screenshots DIR` writes them.

Each is an SVG, the same each time; where `rsvg-convert` is installed, a PNG beside it.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from textual.pilot import Pilot

    from nuggets_tui.application import NuggetsApp
    from nuggets_tui.screens.main import MainScreen

WIDE: Final = (120, 40)
NARROW: Final = (80, 24)
PICTURE_WIDTH: Final = 1500
_READ: Final = "Partial payments: design"
_CENTRE: Final = "Auth middleware"
_TURNS: Final = 400
TOUR: Final = "tour"

Prepare = Callable[["Stage"], Awaitable[None]]


@dataclass
class Stage:
    """A running app to be prepared for a picture."""

    app: NuggetsApp
    pilot: Pilot[None]
    home: Path

    @property
    def main(self) -> MainScreen:
        """The main screen."""
        from nuggets_tui.screens.main import MainScreen

        screen = self.app.screen_stack[0]
        assert isinstance(screen, MainScreen)
        return screen

    async def press(self, *keys: str) -> None:
        """Presses keys and waits until the app has settled."""
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def until(self, condition: Callable[[], object]) -> None:
        """Waits until something holds, for a bounded number of turns."""
        for _ in range(_TURNS):
            if condition():
                break
            await self.pilot.pause(0.02)
        else:
            raise TimeoutError(f"the picture never came: {condition}")
        await self.pilot.pause()

    async def calm(self) -> None:
        """Lets marks of what changed go out, and everything be drawn."""
        from nuggets_tui.widgets.row_list import RowList

        for rows in self.app.screen.query(RowList):
            rows.light(frozenset())
        await self.pilot.pause()

    def svg(self) -> str:
        """The screen as it stands."""
        return _with_spaces(self.app.export_screenshot(title="nuggets"))

    async def overview_drawn(self) -> None:
        """Waits for the layout of the overview."""
        from nuggets_tui.widgets.graph_overview import GraphOverview

        await self.until(
            lambda: all(each.overview is not None for each in self.app.screen.query(GraphOverview))
        )
        await self.pilot.pause(0.3)

    async def found_something(self) -> None:
        """Waits for the results of what stands in the search box."""
        from nuggets_tui.widgets.search_box import SearchBox

        typed = self.main.query_one(SearchBox).value
        await self.until(
            lambda: (found := self.main.view.found) is not None and found.query == typed and found.recall
        )

    async def an_agent_writes(self) -> None:
        """An agent writes a note; another one, with links, is being read."""
        from core.graph.edits import create_note
        from core.memory import Memory
        from core.model.change import Author
        from nuggets_tui.demo import DEMO_NOW

        counter = itertools.count(0xC0FFEE00)
        agent = Memory.open(
            self.home,
            author=Author("agent", "claude"),
            clock=lambda: DEMO_NOW,
            ids=lambda: f"{next(counter):08x}",
        )
        text = "The staging database was moved to db-staging-2; the old host answers until Friday."
        agent.change(
            "seen",
            lambda draft: create_note(draft, "ops", "Staging database has moved", text, tags=["staging"]),
        )
        await self.until(lambda: self.main.view.log.lines[0].author == agent.author)
        await self.choose(_READ)
        await self.until(lambda: self.main.view.suggested)
        await self.pilot.pause(0.5)

    async def choose(self, title: str) -> None:
        """Shows the note of this title, with the cursor on it in Notes."""
        from nuggets_tui.widgets.notes import NotesPane

        note = next(note for note in self.main.view.snapshot.visible if note.title == title)
        self.main.query_one(NotesPane).move_to(note.id)
        self.main.show_note(note.id)
        await self.until(lambda: self.main.view.suggested or self.main.view.note_id == note.id)


async def _main(stage: Stage) -> None:
    """An agent has just written something; a linked note is being read."""
    await stage.an_agent_writes()


async def _search(stage: Stage) -> None:
    """Words typed into the box."""
    await stage.press("slash", *"auth token")
    await stage.until(lambda: stage.main.view.found is not None and stage.main.view.found.recall is not None)
    await stage.pilot.pause(0.5)


async def _why(stage: Stage) -> None:
    """A misspelt search, and the score of its best hit taken apart."""
    from nuggets_tui.screens.why import WhyScreen
    from nuggets_tui.widgets.line_view import LineView

    await stage.press("slash", *"auth tokn")
    await stage.until(
        lambda: stage.main.view.found is not None and stage.main.view.found.query == "auth tokn"
    )
    await stage.press("down", "down", "w")
    await stage.until(lambda: isinstance(stage.app.screen, WhyScreen))
    await stage.until(lambda: "score" in stage.app.screen.query_one(LineView).text)


async def _narrow(stage: Stage) -> None:
    await stage.press("down")


async def _graph(stage: Stage) -> None:
    """Two hops around a note, over the whole screen."""
    await stage.choose(_CENTRE)
    await stage.press("g", "right_square_bracket")
    await stage.pilot.pause(1.0)


async def _overview(stage: Stage) -> None:
    """All notes as points."""
    await stage.press("G")
    await stage.overview_drawn()


async def _review(stage: Stage) -> None:
    from nuggets_tui.screens.review import ReviewScreen

    await stage.press("r")
    await stage.until(lambda: isinstance(stage.app.screen, ReviewScreen))
    await stage.press("down", "down", "down", "down", "space", "up")


async def _pipeline(stage: Stage) -> None:
    """What was found in a text, beside the sentence that it comes from."""
    from nuggets_tui.screens.inbox import InboxScreen
    from nuggets_tui.widgets.line_view import LineView

    await stage.press("i")
    await stage.until(lambda: isinstance(stage.app.screen, InboxScreen))
    screen = stage.app.screen
    assert isinstance(screen, InboxScreen)
    await stage.until(lambda: screen.now_shown is not None)
    await stage.press(*["down"] * 4)
    await stage.until(lambda: "3 December, so that" in screen.query_one("#details", LineView).text)


async def _help(stage: Stage) -> None:
    await stage.press("question_mark")


SHOTS: Final[dict[str, tuple[tuple[int, int], Prepare]]] = {
    "main": (WIDE, _main),
    "search": (WIDE, _search),
    "why": (WIDE, _why),
    "narrow": (NARROW, _narrow),
    "graph": (WIDE, _graph),
    "overview": (WIDE, _overview),
    "review": (WIDE, _review),
    "pipeline": (WIDE, _pipeline),
    "help": (WIDE, _help),
}


async def picture(name: str, home: Path, *, theme: str = "") -> str:
    """One picture as SVG, taken of the memory in `home`."""
    size, prepare = SHOTS[name]
    async with _staged(home, size) as stage:
        if theme:
            stage.app.theme = theme
        await prepare(stage)
        await stage.calm()
        return stage.svg()


async def tour(home: Path) -> str:
    """The recording as an animated SVG, made with the memory in `home`."""
    from tools.tour import SIZE, record

    async with _staged(home, SIZE) as stage:
        return await record(stage)


@asynccontextmanager
async def _staged(home: Path, size: tuple[int, int]) -> AsyncIterator[Stage]:
    """The app, open and at rest, at a moment that is always the same."""
    from nuggets_tui.application import NuggetsApp
    from nuggets_tui.demo import DEMO_NOW
    from nuggets_tui.opening import Opening
    from nuggets_tui.widgets.search_box import SearchBox

    moment = DEMO_NOW + timedelta(seconds=2)
    opening = Opening(home, lambda: moment)
    opening.open()
    app = NuggetsApp(opening)
    async with app.run_test(size=size) as pilot:
        stage = Stage(app, pilot, home)
        await stage.until(
            lambda: stage.main.view.loaded and stage.main.complete and stage.main.view.log.loaded
        )
        stage.main.query_one(SearchBox).cursor_blink = False
        ticks = itertools.count()
        stage.main.session.timer = lambda: next(ticks) * 0.003
        yield stage


def _with_spaces(svg: str) -> str:
    """Keeps spaces at both ends of a text, which some programs that draw SVG would drop."""
    return svg.replace("<text ", '<text xml:space="preserve" ')


@contextmanager
def _own_world(*, texts: bool) -> Iterator[Path]:
    """A home folder with the demo memory in it, and settings that do not depend on this machine."""
    from nuggets_tui.demo import write_demo

    kept = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(HOME=folder, USERPROFILE=folder, TZ="UTC")
        for name in ("NO_COLOR", "TEXTUAL_THEME", "NUGGETS_HOME", "XDG_CONFIG_HOME"):
            os.environ.pop(name, None)
        try:
            yield write_demo(Path(folder) / ".nuggets", texts=texts)
        finally:
            os.environ.clear()
            os.environ.update(kept)


def take(folder: Path, names: list[str] | None = None) -> list[Path]:
    """Writes the pictures into a folder; the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    converter = shutil.which("rsvg-convert")
    written = []
    for name in names or [*SHOTS, TOUR]:
        with _own_world(texts=name == "pipeline") as home:
            svg = asyncio.run(tour(home) if name == TOUR else picture(name, home))
        target = folder / f"{name}.svg"
        target.write_text(svg, encoding="utf-8")
        written.append(target)
        # A picture of a film would be its last frame.
        if converter and name != TOUR:
            drawn = target.with_suffix(".png")
            subprocess.run([converter, "-w", str(PICTURE_WIDTH), str(target), "-o", str(drawn)], check=True)
            written.append(drawn)
    return written


def main(arguments: list[str]) -> int:
    """The command: a folder, then names of pictures (all when none is named)."""
    if not arguments or any(name not in (*SHOTS, TOUR) for name in arguments[1:]):
        print(f"usage: python -m tools.screenshots DIR [{'|'.join((*SHOTS, TOUR))}]...", file=sys.stderr)
        return 2
    for path in take(Path(arguments[0]), arguments[1:]):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
