"""The line at the bottom: the keys that do something now, each of them clickable."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from textual.content import Content
from textual.events import Click
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from nuggets_tui.commands import BY_NAME, PALETTE_KEY, Command

_GAP = "  "


class KeyBar(Widget):
    """Commands with their keys, as many as fit; those of the lowest rank stay longest."""

    commands: reactive[tuple[Command, ...]] = reactive[tuple[Command, ...]](())
    hint: reactive[str] = reactive("")

    async def on_click(self, event: Click) -> None:
        """Does what the key under the mouse does."""
        action = event.style.meta.get("does")
        if action:
            await self.run_action(action)

    def render(self) -> Content:
        """The line itself."""
        if self.hint:
            return Content.styled(f" {self.hint}", "$text-muted")
        width = self.size.width - 1
        return Content(" ") + Content(_GAP).join(_fitting(self.commands, width))


def _fitting(commands: Sequence[Command], width: int) -> list[Content]:
    palette = _item(*PALETTE_KEY, "app.command_palette")
    room = width - palette.cell_length
    commands = [command for command in commands if command.keys]
    kept: set[str] = set()
    for command in sorted(commands, key=lambda each: each.footer):
        room -= _of(command).cell_length + len(_GAP)
        if room < 0:
            break
        kept.add(command.name)
    # The first key of a pair has its words behind the second one.
    shown = [
        _of(command)
        for command, following in zip_longest(commands, commands[1:])
        if command.name in kept and (command.label or (following is not None and following.name in kept))
    ]
    last = 1 if commands and commands[-1].name in kept else 0
    return [*shown[: len(shown) - last], palette, *shown[len(shown) - last :]]


def _of(command: Command) -> Content:
    # What is no command of the catalogue is a key of the pane itself.
    known = command.name in BY_NAME
    action = f"screen.command('{command.name}')" if known else f"app.simulate_key('{command.keys}')"
    return _item(command.shown_keys[0], command.label, action)


def _item(key: str, label: str, action: str) -> Content:
    text = Content.assemble((key, "bold $text-accent"), (f" {label}" if label else "", "$text-muted"))
    # A mark of our own instead of "@click", which would paint every key as a link.
    return text.stylize(Style.from_meta({"does": action}))
