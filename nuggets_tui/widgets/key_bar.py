"""The line at the bottom: the keys that do something now, each of them clickable."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

from rich.cells import cell_len
from textual.content import Content
from textual.events import Click
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from nuggets_tui.commands import BY_NAME, PALETTE_KEY, Command
from nuggets_tui.safe_text import cut

_GAP = "  "
# Up to this rank commands stay whatever the title of the row is; of a line's width it has so much at least.
_SURE: Final = 4
_TITLE_SHARE: Final = 0.18


class KeyBar(Widget):
    """Commands with their keys, as many as fit; those of the lowest rank stay longest."""

    commands: reactive[tuple[Command, ...]] = reactive[tuple[Command, ...]](())
    object: reactive[str] = reactive("")
    """Title of the note that the commands of a row act on."""
    hint: reactive[str] = reactive("")

    async def on_click(self, event: Click) -> None:
        action = event.style.meta.get("does")
        if action:
            await self.run_action(action)

    def render(self) -> Content:
        if self.hint:
            return Content.styled(f" {self.hint}", "$text-muted")
        width = self.size.width - 1
        return Content(" ") + Content(_GAP).join(_fitting(self.commands, width, self.object))


def _fitting(commands: Sequence[Command], width: int, title: str) -> list[Content]:
    """The commands that fit. Which of the first ones do depends on no title; it has what they leave, before others."""
    commands = [command for command in commands if command.keys]
    ranked = sorted(commands, key=lambda each: each.footer)
    sure = [command for command in ranked if command.footer <= _SURE]
    named = title and any(command.name == "hide" for command in commands)
    least = int(width * _TITLE_SHARE) if named else 0
    # A space stands before the title.
    kept, room = _taken(sure, width - len(PALETTE_KEY[0]) - least - bool(named))
    title = cut(title, least + room) if named else ""
    room += least - cell_len(title)
    palette = PALETTE_KEY if room > len(PALETTE_KEY[1]) else (PALETTE_KEY[0], "")
    room -= len(palette[1]) + 1
    if len(kept) == len(sure):
        kept += _taken(ranked[len(sure) :], room)[0]
    # The first key of a pair has its words behind the second one.
    shown = [
        _of(command, title)
        for command, following in zip_longest(commands, commands[1:])
        if command in kept and (command.label or following in kept)
    ]
    last = 1 if commands and commands[-1] in kept else 0
    return [*shown[: len(shown) - last], _item(*palette, "app.command_palette"), *shown[len(shown) - last :]]


def _taken(ranked: Sequence[Command], room: int) -> tuple[list[Command], int]:
    """The first commands that have room together, and the room left."""
    taken = []
    for command in ranked:
        left = room - _of(command).cell_length - len(_GAP)
        if left < 0:
            break
        taken.append(command)
        room = left
    return taken, room


def _of(command: Command, title: str = "") -> Content:
    # What is no command of the catalogue is a key of the pane itself.
    known = command.name in BY_NAME
    action = f"screen.command('{command.name}')" if known else f"app.simulate_key('{command.keys}')"
    named = f" {title}" if title and command.name == "hide" else ""
    return _item(command.shown_keys[0], command.label + named, action)


def _item(key: str, label: str, action: str) -> Content:
    text = Content.assemble((key, "bold $text-accent"), (f" {label}" if label else "", "$text-muted"))
    # A mark of our own instead of "@click", which would paint every key as a link.
    return text.stylize(Style.from_meta({"does": action}))
