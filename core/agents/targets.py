"""Which files each agent reads, for a user and for a project, and what of ours goes into each of them."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from core.agents.jsonc import JsonText
from core.agents.pieces import FilePiece, JsonPiece, PagePiece, Part, Piece, TomlPiece

Scope = Literal["user", "project"]
NAME: Final = "nuggets"
_PROGRAM: Final = re.compile(r"(?:^|[/\\])(?:nuggets|nuggets-tui)(?:\.exe)?$")
# How starters of programs name this one: python -m nuggets_tui.cli, uvx nuggets-tui.
_PACKAGE: Final = re.compile(r"nuggets[-_]tui(?:$|[.@\[])")
_TWO_PLACES: Final = "config.toml has hooks, too; Codex reads both and warns of it"


@dataclass(frozen=True)
class Place:
    """Where agents and people have their files. environ: variables by which agents move theirs.

    project: the root of the project, for the scope "project".
    """

    home_dir: Path
    environ: Mapping[str, str]
    project: Path | None = None

    def folder(self, variable: str) -> Path | None:
        """The folder that a variable names; None for none."""
        named = self.environ.get(variable, "").strip()
        if not named:
            return None
        if named == "~" or named.startswith("~/"):
            return self.home_dir / named[2:]
        return Path(named)


@dataclass(frozen=True)
class Command:
    """How agents start this program. program: the words for it. home: of the memory, "" for the usual one."""

    program: tuple[str, ...]
    home: str = ""

    def words(self, *words: str) -> list[str]:
        """The command line for a call."""
        return [*self.program, *words, *(("--home", self.home) if self.home else ())]

    def line(self, *words: str) -> str:
        """The same as one line for a shell."""
        return shlex.join(self.words(*words))


@dataclass(frozen=True)
class Target:
    """A file of an agent, and a piece of ours in it. caution: what to know of it there, though it works."""

    path: Path
    piece: Piece
    caution: str = ""

    @property
    def part(self) -> Part:
        """What the piece is for."""
        return self.piece.part


class ServerPlace(msgspec.Struct, frozen=True):
    """Where an agent has its MCP servers, and what an entry of one looks like."""

    files: tuple[str, str]
    keys: tuple[str, ...]
    entry: dict[str, Any]
    seed: dict[str, Any] = {}
    strict: bool = False


class HooksPlace(msgspec.Struct, frozen=True):
    """Where an agent has its hooks, and for which events."""

    files: tuple[str, str]
    events: dict[str, str]
    form: Literal["groups", "items"] = "groups"
    seed: dict[str, Any] = {}
    strict: bool = False
    # Ours ends long before.
    timeout: int = 5
    off: dict[str, Any] = {}


class TextPlace(msgspec.Struct, frozen=True):
    """A page for lines of ours, or a file that is ours as a whole. head: what it begins with then."""

    files: tuple[str, str]
    head: str = ""
    read: int | None = None


class AgentFiles(msgspec.Struct, frozen=True):
    """What is known of an agent, as `agents.toml` has it. title: what people call it. programs: by which it is started.
    without: what cannot be registered by files in a scope, and where it is found instead.
    """

    title: str
    programs: tuple[str, ...]
    folder: str
    server: ServerPlace
    instructions: TextPlace
    hooks: HooksPlace | None = None
    plugin: TextPlace | None = None
    variable: str = ""
    inner: str = ""
    without: dict[Scope, str] = {}
    next_step: str = ""


_BESIDE: Final = resources.files("core.agents")
AGENT_FILES: Final = msgspec.toml.decode(
    _BESIDE.joinpath("agents.toml").read_bytes(), type=dict[str, AgentFiles]
)


def root_of(name: str, place: Place) -> Path:
    """The folder of an agent's own files; for a project, the folder of the project."""
    agent = AGENT_FILES[name]
    if place.project is not None:
        return place.project
    moved = place.folder(agent.variable) if agent.variable else None
    return place.home_dir / agent.folder if moved is None else moved / agent.inner


def targets(name: str, place: Place, command: Command) -> tuple[Target, ...]:
    """The files of an agent that ours goes into, in the order in which they are written."""
    agent, root = AGENT_FILES[name], root_of(name, place)

    def path(files: tuple[str, str]) -> Path:
        said = files[place.project is not None]
        if said.startswith("~/"):
            moved = place.folder(agent.variable)
            return (place.home_dir if moved is None else moved) / said[2:]
        names = said.split("|")
        return next((root / one for one in names if (root / one).exists()), root / names[-1])

    config, page = path(agent.server.files), path(agent.instructions.files)
    found = [Target(config, _server(agent.server, config, command))]
    if agent.hooks is not None:
        said = _TWO_PLACES if config.suffix == ".toml" and _has_hooks(config) else ""
        found.append(Target(path(agent.hooks.files), _hooks(agent.hooks, command.line("hook", name)), said))
    if agent.plugin is not None:
        found.append(
            Target(path(agent.plugin.files), FilePiece("hooks", _plugin(name, command.words("hook", name))))
        )
    if page != root:
        head, text = agent.instructions.head, _BESIDE.joinpath("instructions.md").read_text("utf-8")
        own = FilePiece("instructions", head + text) if head else None
        found.append(Target(page, own or PagePiece("instructions", text, agent.instructions.read)))
    return tuple(found)


def _server(at: ServerPlace, config: Path, command: Command) -> JsonPiece | TomlPiece:
    words = command.words("mcp")
    filled: dict[str, Any] = {"PROGRAM": words[0], "ARGS": words[1:], "WORDS": words}
    entry = {
        key: filled.get(value, value) if isinstance(value, str) else value for key, value in at.entry.items()
    }
    if config.suffix == ".toml":
        return TomlPiece("server", (*at.keys, NAME), entry, is_server)
    inner = ("servers",) if at.keys == ("mcp",) and _is_of_opencode_2(config) else ()
    return JsonPiece("server", {(*at.keys, *inner, NAME): entry}, is_server, at.seed, at.strict)


def _hooks(at: HooksPlace, line: str) -> JsonPiece:
    hook = {"type": "command", "command": line, "timeout": at.timeout}
    entries: dict[tuple[str, ...], Any] = {
        ("hooks", event): [
            {"command": line}
            if at.form == "items"
            else {**({"matcher": matcher} if matcher else {}), "hooks": [hook]}
        ]
        for event, matcher in at.events.items()
    }
    off = {tuple(keys.split(".")): value for keys, value in at.off.items()}
    return JsonPiece("hooks", entries, is_hook, at.seed, at.strict, off)


def _plugin(name: str, words: Sequence[str]) -> str:
    """The plugin that hands the events of an agent without hooks to `nuggets hook`: JavaScript without types."""
    whole, send = (_BESIDE.joinpath("plugins", f"{one}.js").read_text("utf-8") for one in (name, "send"))
    return whole.replace("SEND\n", send).replace("COMMAND", json.dumps(list(words)))


def _is_of_opencode_2(config: Path) -> bool:
    """Whether a configuration has its servers where OpenCode 2 has them. It reads both forms, one of them at a time."""
    try:
        value = JsonText(config.read_bytes().decode("utf-8-sig")).value
        servers = value["mcp"]["servers"]
        return isinstance(servers, dict) and not {"type", "command", "url"} & servers.keys()
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _has_hooks(config: Path) -> bool:
    try:
        return bool(tomllib.loads(config.read_bytes().decode("utf-8-sig")).get("hooks"))
    except (OSError, ValueError, RecursionError):
        return False


def is_server(entry: Any) -> bool:
    """Whether an entry of a list of MCP servers starts the server of this program."""
    if not isinstance(entry, dict):
        return False
    command, args = entry.get("command"), entry.get("args", [])
    words = [command] if isinstance(command, str) else command
    return isinstance(words, list) and isinstance(args, list) and _calls([*words, *args], "mcp")


def is_hook(item: Any) -> bool:
    """Whether a hook calls this program."""
    line = item.get("command") if isinstance(item, dict) else None
    if not isinstance(line, str):
        return False
    try:
        return _calls(shlex.split(line), "hook")
    except ValueError:
        return False


def _calls(words: Sequence[Any], name: str) -> bool:
    """Whether a command line is one of this program, for a command of it. "npx nuggets" is another program."""
    if not all(isinstance(word, str) for word in words) or name not in words:
        return False
    before = words[: words.index(name)]
    return bool(before) and (
        _PROGRAM.search(before[0]) is not None or any(_PACKAGE.match(word) for word in before)
    )


def command_line(entry: Any) -> tuple[str, ...]:
    """The words of an entry that starts our server."""
    command = entry["command"]
    return (*([command] if isinstance(command, str) else command), *entry.get("args", []))
