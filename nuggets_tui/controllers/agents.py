"""Connecting agents with the memory that is open, and saying when the first recall of one arrives."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.errors import NuggetsError
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.pace import run_in_thread
from nuggets_tui.safe_text import safe_line
from nuggets_tui.words import deed

if TYPE_CHECKING:
    from nuggets_tui.screens.agents import Changes
    from nuggets_tui.screens.main import MainScreen
    from nuggets_tui.session import Session

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
        from nuggets_tui.screens.agents import AgentScreen, agents_choice

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
