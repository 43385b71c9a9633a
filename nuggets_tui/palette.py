"""The catalogue of commands in the command palette."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol, cast

from textual.await_complete import AwaitComplete
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from nuggets_tui.commands import Command
from nuggets_tui.fuzzy import fitting, folded
from nuggets_tui.key_map import keys_of
from nuggets_tui.textual_adapter import tolerating_early_keys

if TYPE_CHECKING:
    from textual.screen import Screen


@tolerating_early_keys
class Palette(CommandPalette):
    """Textual's palette, that stands keys which come before its list is laid out, or once it is closed."""

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Closes, once: enter pressed twice chooses twice, and nothing but the palette may close."""
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()


class Commanded(Protocol):
    """A screen that carries out commands of the catalogue."""

    def can(self, name: str) -> bool:
        """Whether the command makes sense now."""

    async def action_command(self, name: str) -> None:
        """Carries the command out."""


class CommandProvider(Provider):
    """The catalogue in the command palette."""

    def _available(self) -> list[Command]:
        screen: Screen[object] = self.screen
        if not hasattr(screen, "action_command"):
            return []
        able = cast("Commanded", screen)
        return [command for command in keys_of(screen).commands if able.can(command.name)]

    def _run(self, command: Command) -> Callable[[], Awaitable[None]]:
        return partial(cast("Commanded", self.screen).action_command, command.name)

    async def discover(self) -> Hits:
        """Every command that makes sense now."""
        for command in self._available():
            yield DiscoveryHit(_display(Content(command.title), command), self._run(command), command.title)

    async def search(self, query: str) -> Hits:
        """Commands whose title or name has the words that are typed, or else their letters in this order."""
        matcher = self.matcher(query)
        available = self._available()
        meant = _meant(query, available)
        for command in available:
            score = max(map(matcher.match, (command.title, command.label)))
            if score > 0 and (command.name in meant or not meant):
                shown = _display(matcher.highlight(command.title), command)
                yield Hit(score, shown, self._run(command), command.title)


def _meant(query: str, commands: Sequence[Command]) -> frozenset[str]:
    """Names of the commands that have the words that were typed, or words that begin with these letters."""
    titles = [folded(title) for command in commands for title in (command.title, command.label)]
    found = fitting(query, titles, len(titles))
    return frozenset(commands[match.place // 2].name for match in found if match.strong)


def _display(title: Content, command: Command) -> Content:
    keys = " ".join(command.shown_keys)
    return Content.assemble(title, "  ", (keys, "$text-accent")) if keys else title
