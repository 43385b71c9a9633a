"""What is on this machine: other memories to open or to bring in, files to import, and agents to connect."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import ErrorCode, InvalidInputError, NuggetsError
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.pace import LongWork, run_in_thread
from nuggets_tui.widgets.header import short_path

if TYPE_CHECKING:
    from core.memory import ReadSource
    from core.model.progress import Progress
    from nuggets_tui.agent_files import AgentHere
    from nuggets_tui.screens.first_minutes import Here, Offer
    from nuggets_tui.screens.main import MainScreen
    from nuggets_tui.session import Session


class MemoriesController(Controller):
    """Lists other memories, and shows somebody whose own holds nothing yet what there is to begin with."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        # What the greeting offers, each with the key at its place.
        self._offers: tuple[Offer, ...] = ()

    @background("open")
    async def choose(self) -> None:
        """A list of the memories found, to read or to open."""
        from core.memories import pages
        from nuggets_tui.screens.memories import PagesScreen, memories_here, memory_choice

        home, now = self.view.home, self.main.opening.clock()
        looking = LongWork("looking for memories", stops=False)
        found = await self.long_work(looking.words, run_in_thread(memories_here, home), looking) or ()
        while True:
            path = await self.ask(memory_choice(found, home, now))
            one = next((each for each in found if each.path == path), None)
            if one is None or one.kind != "claude":
                break
            listed = await self.attempt(run_in_thread(pages, Path(one.path))) or ()
            if await self.ask(PagesScreen(one, listed, now)) is not None:
                break
        if path == home:
            self.notify("This memory is open already.")
        elif path is not None:
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
        offer = next((one for place, one in enumerate(self._offers, 1) if str(place) == key), None)
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


class ImportsController(Controller):
    """Asks what to import, shows what would come in, and brings in what is accepted."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        # The path that was typed last.
        self._path = ""

    @background("open")
    async def choose(self) -> None:
        """Lists what was found on this machine, or takes a path."""
        from nuggets_tui.screens.memories import (
            ANOTHER,
            files_here,
            import_choice,
            memories_here,
            path_screen,
        )

        home = self.view.home
        looking = LongWork("looking for memories", stops=False)
        found = await self.long_work(looking.words, run_in_thread(memories_here, home), looking)
        if found is None:
            return
        files = await self.long_work(looking.words, run_in_thread(files_here, home), looking) or ()
        others = [one for one in found if not one.problem and one.path != home]
        path: str | None = ANOTHER
        if others or files:
            path = await self.ask(import_choice(others, self.session.clock(), files))
        if path == ANOTHER:
            path = await self.ask(path_screen(self._path))
            self._path = path or self._path
        if path:
            await self._preview(path)

    @background("open")
    async def preview(self, source: str) -> None:
        """Reads a file or a folder and shows what of it would come in."""
        await self._preview(source)

    async def _preview(self, source: str) -> None:
        from nuggets_tui.screens.memories import ImportReview

        session = self.session
        read = await self.look(
            "reading", lambda work: session.read(_read, session, source, work.report_progress)
        )
        if read is None:
            return
        bring = session.memory.exchange.bring
        proposed = await self.look(
            "comparing",
            lambda work: session.read(bring, read, dry_run=True, progress=work.report_progress),
        )
        if proposed is None or session is not self.main.open_session:
            return
        if not (proposed.of("new") or proposed.of("conflict") or proposed.left_out):
            self.notify("Nothing to import: this memory holds all of it already.")
            return
        done = await self.ask(ImportReview(session, read, proposed))
        self.main.history.reviewed(done)


def _read(session: Session, source: str, progress: Progress) -> ReadSource:
    """What a file or a folder holds. Errors as `Exchange.read`, with what to do here."""
    try:
        return session.memory.exchange.read(source, None, progress)
    except InvalidInputError as error:
        if error.code is not ErrorCode.UNKNOWN_FORMAT:
            raise
        todo = "choose another file or folder"
        raise InvalidInputError(
            error.what, code=error.code, where=error.where, kept=error.kept, todo=todo
        ) from error
