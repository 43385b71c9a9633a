"""The catalogue of commands in the command palette."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from nuggets_tui.commands import COMMANDS, Command

if TYPE_CHECKING:
    from textual.screen import Screen


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
        return [command for command in COMMANDS if able.can(command.name)]

    def _run(self, command: Command) -> Callable[[], Awaitable[None]]:
        return partial(cast("Commanded", self.screen).action_command, command.name)

    async def discover(self) -> Hits:
        """Every command that makes sense now."""
        for command in self._available():
            yield DiscoveryHit(_display(Content(command.title), command), self._run(command), command.title)

    async def search(self, query: str) -> Hits:
        """Commands whose title or name matches what is typed."""
        matcher = self.matcher(query)
        for command in self._available():
            score = max(map(matcher.match, (command.title, command.label)))
            if score > 0:
                shown = _display(matcher.highlight(command.title), command)
                yield Hit(score, shown, self._run(command), command.title)


def _display(title: Content, command: Command) -> Content:
    keys = " ".join(command.shown_keys)
    return Content.assemble(title, "  ", (keys, "$text-accent")) if keys else title
