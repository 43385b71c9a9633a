"""What is on this machine: other memories to open or to bring in, files to import, and agents to connect."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.errors import ErrorCode, InvalidInputError, NuggetsError
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.pace import LongWork, run_in_thread
from nuggets_tui.safe_text import safe_line
from nuggets_tui.widgets.header import short_path
from nuggets_tui.words import deed

if TYPE_CHECKING:
    from core.memory import ReadSource
    from core.model.progress import Progress
    from nuggets_tui.agent_files import AgentHere
    from nuggets_tui.screens.first_minutes import Changes, Here, Offer
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


# Entries of a log beyond which nobody waits for a first recall: the files of agents are not read at each start.
_YOUNG: Final = 200
# How the signature of an agent begins.
_AGENTS: Final = "agent:"
_WHAT: Final = 120


class AgentsController(Controller):
    """Lists the agents of this machine, connects them, and waits for what they ask."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        # Names and titles of connected agents whose first recall has not arrived.
        self._awaited: dict[str, str] = {}
        # The session whose log was looked through for recalls, and up to which entry.
        self._looked_in: Session | None = None
        self._seen_to = 0

    # Connecting

    @background("open")
    async def connect(self) -> None:
        """Lists the agents, those first that are on this machine."""
        await self._connect(None)

    @background("open")
    async def preview(self, name: str) -> None:
        """Shows what connecting an agent does to its files; of a connected one, how it stands."""
        await self._connect(name)

    async def _connect(self, name: str | None) -> None:
        from core.agents.targets import AGENT_FILES
        from nuggets_tui.agent_files import agents_here
        from nuggets_tui.screens.first_minutes import AgentScreen, agents_choice

        if self.app.is_demo(self.view.home):
            self.notify("This copy of the demo is deleted when you quit. Open your own memory to connect.")
            return
        home = Path(self.view.home)
        found = await self.attempt(run_in_thread(agents_here, home))
        if found is None:
            return
        if name is None:
            chosen = await self.ask(agents_choice(found))
            if chosen is None:
                return
            name = chosen
        agent = next(one for one in found if one.name == name)
        plan = partial(_planned, name, home)
        changes = await self.attempt(plan(False))
        if changes is None:
            return
        known = AGENT_FILES[name]
        remarks = tuple(filter(None, (known.without.get("user", ""), known.next_step)))
        act = partial(_carried_out, name, home)
        done = await self.ask(AgentScreen(agent, changes, plan, act, remarks=remarks))
        if done == "connected":
            await self._await_recall_of(agent.name, agent.title)
        elif done is not None:
            self._awaited.pop(agent.name, None)
            self._show_awaited()
            self.notify(f"{agent.title} is no longer connected. Its files are as they were.")

    # The first recall

    def log_shown(self) -> None:
        session = self.main.open_session
        if session is not None and (self._awaited or self._looked_in is not session):
            self._look_for_recalls()

    def leaving(self) -> None:
        """The next memory is looked at anew."""
        self._awaited, self._looked_in = {}, None

    async def _await_recall_of(self, name: str, title: str) -> None:
        session = self.session
        callers: Mapping[str, str] = {}
        with suppress(NuggetsError):
            callers = await session.read(session.memory.history.callers)
        if session is self.main.open_session:
            self.notify(f"{title} is connected. Start it anew.")
            if not _recall_of(name, callers):
                self._awaited[name] = title
            self._show_awaited()

    @background("first-recall")
    async def _look_for_recalls(self) -> None:
        session, log = self.session, self.view.log
        first = self._looked_in is not session
        after, self._seen_to = 0 if first else self._seen_to, log.seen_to
        self._looked_in = session
        if first and log.seen_to > _YOUNG and not self._awaited:
            return
        # A log that cannot be read is told of where it is shown.
        with suppress(NuggetsError):
            callers = await session.read(session.memory.history.callers, after)
            if first:
                await self._begin(session, callers)
            for name, title in list(self._awaited.items()):
                id = _recall_of(name, callers) if session is self.main.open_session else ""
                if id and self._awaited.pop(name, ""):
                    self._show_awaited()
                    # Recalls of one caller become one entry in a while: then only that there was one.
                    what = "something"
                    with suppress(NuggetsError):
                        entry, _ = await session.entry_now(id)
                        what = safe_line(deed(entry.change_set, quoted=True).what, _WHAT)
                    self.notify(f"{title} recalled {what} for the first time: it is connected.")

    async def _begin(self, session: Session, callers: Mapping[str, str]) -> None:
        """Of a memory that no agent asked yet, the agents that are connected are waited for."""
        asked = any(signature.startswith(_AGENTS) for signature in callers)
        if asked or self.app.is_demo(self.view.home):
            return
        from nuggets_tui.agent_files import agents_here

        with suppress(RuntimeError):
            found = await run_in_thread(agents_here, Path(self.view.home))
            waiting = {one.name: one.title for one in found if one.installed and one.says_memory}
            if waiting and session is self.main.open_session:
                self._awaited |= waiting
                self._show_awaited()

    def _show_awaited(self) -> None:
        """Says in the header, and in the greeting of an empty memory, whose first recall is waited for."""
        self.main.show(awaited=tuple(self._awaited.values()))
        if self.view.begins:
            for one in self.main.controllers:
                one.welcomed()


async def _planned(name: str, home: Path, remove: bool) -> Changes:
    """What connecting, or taking that back, would do to the files of an agent."""
    from nuggets_tui.agent_files import change_agent, command_for, user_place

    return await run_in_thread(
        lambda: change_agent(name, user_place(), command_for(home), remove=remove, dry_run=True)
    )


async def _carried_out(name: str, home: Path, remove: bool, seen: Changes) -> tuple[bool, Changes]:
    """Does it where the files still become what was seen; what they become now, and whether it was done."""
    from nuggets_tui.agent_files import change_agent, command_for, user_place

    def work() -> tuple[bool, Changes]:
        place, how = user_place(), command_for(home)
        planned = change_agent(name, place, how, remove=remove, dry_run=True)
        if planned != seen:
            return False, planned
        return True, change_agent(name, place, how, remove=remove, dry_run=False)

    return await asyncio.to_thread(work)


def _recall_of(name: str, callers: Mapping[str, str]) -> str:
    """The id of a recall of an agent; "" for none. One that another one runs bears the names of both."""
    found = (
        id
        for signature, id in callers.items()
        if signature.startswith(_AGENTS) and name in signature.removeprefix(_AGENTS).split("+")
    )
    return next(found, "")
