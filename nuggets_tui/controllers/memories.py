"""What is on this machine: other memories to open or to bring in, and agents to connect."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import NuggetsError
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.threads import run_in_thread
from nuggets_tui.widgets.header import short_path

if TYPE_CHECKING:
    from nuggets_tui.agent_files import AgentHere
    from nuggets_tui.screens.first_minutes import Here, Offer
    from nuggets_tui.screens.main import MainScreen


class MemoriesController(Controller):
    """Lists other memories, and shows somebody whose own holds nothing yet what there is to begin with."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        # What the greeting offers, each with the key at its place.
        self._offers: tuple[Offer, ...] = ()

    def choose(self) -> None:
        """A list of the memories found, to read or to open."""
        from nuggets_tui.screens.memories import MemoriesScreen

        self.app.push_screen(MemoriesScreen(self.view.home, self.main.opening.clock()), self._open_found)

    def _open_found(self, path: str | None) -> None:
        if path is None:
            return
        if path == self.view.home:
            self.notify("This memory is open already.")
            return
        self.main.opening.open_another(
            Path(path),
            f"Opened {short_path(path)}. To start with it, run `nuggets --home {short_path(path)}`.",
        )

    def welcomed(self) -> None:
        """Looks for memories and agents that are there already."""
        self._find_memories()

    def leaving(self) -> None:
        """What was offered was meant for this memory."""
        self._offers = ()

    @background("memories", exclusive=True)
    async def _find_memories(self) -> None:
        """Shows how to begin with what is there already, once it is found."""
        from nuggets_tui.screens.first_minutes import offers, welcome_lines

        home = self.view.home
        here = await self.attempt(run_in_thread(_here, home))
        if here is not None and self.view.begins and self.view.home == home:
            self._offers = offers(here, home)
            self.main.opening.show_message(welcome_lines(self.view, here), trouble=False)

    def takes(self, key: str) -> bool:
        """Takes up what the greeting offers by a key; False where it offers nothing by it."""
        if not (self.view.begins and self.view.past is None):
            return False
        keys = (str(place) for place in range(1, len(self._offers) + 1))
        offer = next((offer for offer, own in zip(self._offers, keys, strict=True) if own == key), None)
        if offer is None:
            return False
        if offer.agent:
            self.main.agents.preview(offer.agent)
        elif offer.path:
            self.main.imports.preview(offer.path)
        else:
            self.main.imports.choose()
        return True


def _here(home: str) -> Here:
    """What is on this machine. For a thread."""
    from nuggets_tui.agent_files import agents_here
    from nuggets_tui.screens.first_minutes import Here
    from nuggets_tui.screens.memories import memories_here

    agents: tuple[AgentHere, ...] = ()
    with suppress(NuggetsError, RuntimeError):
        agents = agents_here(Path(home))
    return Here(memories_here(home), agents)
