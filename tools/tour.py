"""What the recording of the README shows: a few minutes with the demo memory, in half a minute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tools.recording import Frame, animated

if TYPE_CHECKING:
    from tools.screenshots import Stage

SIZE: Final = (110, 32)
_LETTERS: Final = 0.3
_LOOK: Final = 2.6


class _Recorder:
    """Takes a frame after each thing that is done."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.frames: list[Frame] = []

    async def take(self, seconds: float, key: str, words: str) -> None:
        """One frame of what stands there now."""
        await self.stage.calm()
        self.frames.append(Frame(self.stage.svg(), seconds, key, words))

    async def press(self, *keys: str) -> None:
        """Presses keys one after the other."""
        await self.stage.press(*keys)

    async def type(self, text: str, words: str) -> None:
        """Types a text, with a frame for every two letters."""
        for place in range(0, len(text), 2):
            await self.stage.press(
                *("space" if letter == " " else letter for letter in text[place : place + 2])
            )
            await self.stage.found_something()
            await self.take(_LETTERS, "/", words)


async def record(stage: Stage) -> str:
    """The recording, as SVG. The app must be open on the demo memory."""
    from nuggets_tui.screens.review import ReviewScreen
    from nuggets_tui.screens.why import WhyScreen

    film = _Recorder(stage)
    await stage.an_agent_writes()
    await film.take(_LOOK, "", "what your agents remember, live: an agent has just written a note")
    await film.press("slash")
    await film.type("auth tokn", "search as you type; misspelt words are read as the ones it knows")
    await film.take(_LOOK, "/", "every hit with the parts of its score")
    await film.press("down", "down", "w")
    await stage.until(lambda: isinstance(stage.app.screen, WhyScreen))
    await stage.pilot.pause(0.3)
    await film.take(_LOOK, "w", "why is this note found? Numbers that add up")
    await film.press("escape", "g")
    await stage.pilot.pause(0.6)
    await film.take(_LOOK, "g", "the notes around it; arrow keys walk along links")
    await film.press("G")
    await stage.overview_drawn()
    await film.take(_LOOK, "G", "all of it, as points; communities bear their tag")
    await film.press("G", "g", "escape", "r")
    await stage.until(lambda: isinstance(stage.app.screen, ReviewScreen))
    await film.take(_LOOK, "r", "the cleanup proposes; nothing happens before you accept")
    await film.press("down", "down", "space")
    await film.take(_LOOK / 2, "space", "yes or no, change by change")
    await film.press("ctrl+s")
    await stage.until(lambda: stage.app.screen is stage.main)
    await stage.pilot.pause(0.3)
    await film.take(_LOOK, "^s", "applied as one entry of the audit log")
    await film.press("u")
    await stage.until(lambda: stage.main.view.log.lines[0].kind == "undo")
    await film.take(_LOOK, "u", "and taken back with one key, today or next year")
    return animated(film.frames)
