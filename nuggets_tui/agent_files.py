"""The agents on this machine and how they are connected with a memory, for the app and the command line alike."""

from __future__ import annotations

import difflib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.errors import InvalidInputError
from core.folder import USUAL_HOME
from nuggets_tui.process import program

if TYPE_CHECKING:
    from core.agents.connecting import FileChange, Standing
    from core.agents.targets import Command, Place

NAMES: Final = ("claude", "codex", "opencode", "pi", "cursor", "gemini")
PART_WORDS: Final[Mapping[str, str]] = {
    "server": "MCP server",
    "hooks": "hooks",
    "instructions": "instructions",
}
STATE_WORDS: Final[Mapping[str, str]] = {
    "current": "connected",
    "outdated": "outdated; install again",
    "foreign": "taken: something else is called nuggets there",
    "broken": "cannot be read",
    "ignored": "there, but the agent ignores it",
    "absent": "not connected",
}


@dataclass(frozen=True)
class AgentHere:
    """An agent, and how each piece of ours stands in its files. installed: whether it is found on this machine."""

    name: str
    title: str
    installed: bool
    standings: tuple[Standing, ...]

    @property
    def connected(self) -> bool:
        """Whether all of it is there, for the memory that was asked for."""
        return all(one.works for one in self.standings)

    @property
    def untouched(self) -> bool:
        """Whether nothing of ours is in its files."""
        return all(one.state == "absent" for one in self.standings)

    @property
    def says_memory(self) -> bool:
        """Whether it knows the memory that was asked for: by its server, or by its hooks."""
        return any(one.works and one.target.part in ("server", "hooks") for one in self.standings)


def user_place() -> Place:
    """Where agents have this user's files. Raises RuntimeError without a home folder."""
    from core.agents.targets import Place

    return Place(Path.home(), os.environ)


def command_for(folder: Path) -> Command:
    """How agents are to start this program for a memory. Raises InvalidInputError."""
    from core.agents.targets import Command

    words = program()
    if words[1:2] == ["-m"]:
        # Agents work in folders of others: nothing is imported from there.
        words.insert(1, "-P")
    home = named_home(folder)
    for word in (*words, home):
        if not word.isprintable():
            raise InvalidInputError(
                "a path with unprintable characters cannot be registered", where=repr(word), kept="no file was changed",
                todo="use a symbolic link with a plain name",
            )  # fmt: skip
    return Command(tuple(words), home)


def named_home(folder: Path) -> str:
    """A memory's folder as agents must be told it; "" for the usual one, which needs no name."""
    home = folder.absolute()
    try:
        usual = Path(USUAL_HOME).expanduser()
    except RuntimeError:
        return str(home)
    return "" if os.path.realpath(home) == os.path.realpath(usual) else str(home)


def is_installed(name: str, place: Place) -> bool:
    """Whether an agent is found on this machine: by its program, or by its own folder."""
    from core.agents.targets import AGENT_FILES, root_of

    path = place.environ.get("PATH")
    programs = AGENT_FILES[name].programs
    return (
        any(shutil.which(one, path=path) for one in programs)
        or root_of(name, replace(place, project=None)).is_dir()
    )


def agent_here(name: str, place: Place, how: Command) -> AgentHere:
    """How an agent stands. Never raises; nothing is written."""
    from core.agents.connecting import standings
    from core.agents.targets import AGENT_FILES, targets

    found = standings(targets(name, place, how))
    return AgentHere(name, AGENT_FILES[name].title, is_installed(name, place), found)


def agents_here(folder: Path) -> tuple[AgentHere, ...]:
    """Every agent that is known, and how it stands with a memory. Raises InvalidInputError, RuntimeError."""
    place, how = user_place(), command_for(folder)
    return tuple(agent_here(name, place, how) for name in NAMES)


def change_agent(
    name: str, place: Place, how: Command, *, remove: bool, dry_run: bool
) -> tuple[FileChange, ...]:
    """Connects an agent, or takes that back; what becomes of each file. Errors as `Connections.install`."""
    from core.agents.connecting import Connections, agents_folder
    from core.agents.targets import targets

    connections = Connections(agents_folder(os.environ), private=place.project is None)
    act = connections.remove if remove else connections.install
    return act(name, targets(name, place, how), dry_run=dry_run)


def changed_files(changes: Sequence[FileChange]) -> list[FileChange]:
    """The changes after which a file is another one than before."""
    return [one for one in changes if one.kind not in ("unchanged", "kept")]


def difference(change: FileChange) -> list[str]:
    """The lines that come and go, without what stands around them: that may be anything."""
    before, after = (
        (data or b"").decode("utf-8", "replace").splitlines() for data in (change.before, change.after)
    )
    lines = list(difflib.unified_diff(before, after, n=0, lineterm=""))[2:]
    return [line for line in lines if not line.startswith("@@")]
