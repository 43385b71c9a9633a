"""The `doctor` command: what is found where, what is wrong, and what to do about it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from core.errors import NuggetsError
from core.folder import pages_named
from core.pipeline.extra import install_command
from core.places import folder_of
from nuggets_tui.agent_files import NAMES, is_installed
from nuggets_tui.cli.agents import VERSION, command_of, place_of, standings_of
from nuggets_tui.cli.invocation import Invocation
from nuggets_tui.cli.options import command
from nuggets_tui.cli.output import Line, Span, SpanStyle, bad, bold, dim, good, pick
from nuggets_tui.process import installed_version
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.agents.connecting import Standing
    from core.agents.targets import Target

State = Literal["ok", "note", "wrong"]
_SIGNS: Final[dict[State, tuple[str, SpanStyle]]] = {
    "ok": ("✓", "good"), "note": ("·", "dim"), "wrong": ("✗", "bad"),
}  # fmt: skip
_HEALTH: Final[dict[str, State]] = {
    "healthy": "ok", "degraded": "note", "unhealthy": "wrong", "unknown": "note",
}  # fmt: skip
_START_SECONDS: Final = 20.0
_LOG_LINES: Final = 5
# What waits for longer was not brought into the memory by whoever should have done it.
_LATE_SECONDS: Final = 600.0
_FINDINGS: Final = 5
_FEW: Final = 8
_PIPELINE_LIBRARIES: Final = ("httpx2",)


class Finding(NamedTuple):
    """One thing that was looked at. name: a stable one for programs. todo: what to do, "" for nothing."""

    name: str
    state: State
    what: str
    todo: str = ""


@command("doctor", examples=("nuggets doctor", "nuggets doctor --json"))
def doctor(call: Invocation) -> int:
    """Check the installation, the agents, the memory and the hooks. Exit code 1 when something is wrong.

    Nothing is changed. Each finding says what to do.
    """
    sections = {
        "installation": _installation, "agents": _agents, "memory": _memory, "settings": _settings,
        "pipeline": _pipeline, "sync": _sync, "hooks": _hooks, "elsewhere": _elsewhere,
    }  # fmt: skip
    lines: list[Line] = []
    checks, wrong = [], 0
    for section, look in sections.items():
        found = list(_guarded(look, call))
        wrong += sum(one.state == "wrong" for one in found)
        lines += [bold(section.capitalize())] if found else []
        for one in found:
            todo = {"todo": one.todo} if one.todo else {}
            checks.append({"section": section} | pick(one, "name state what") | todo)
            sign, style = _SIGNS[one.state]
            lines += [(Span(f"  {sign} ", style), one.what)]
            lines += [dim(f"    to do: {one.todo}")] if one.todo else []
        lines += [""] if found else []
    lines.append(bad(f"{plural(wrong, 'thing')} to put right.") if wrong else good("All is well."))
    call.drop_warnings()
    document = {"version": VERSION, "ok": not wrong, "home": str(folder_of(call.folder)), "checks": checks}
    call.answer(document, lines)
    return 1 if wrong else 0


def _guarded(look: Callable[[Invocation], Iterator[Finding]], call: Invocation) -> Iterator[Finding]:
    """What a look finds; what keeps it from going on is a finding, too, and the next one is taken all the same."""
    try:
        yield from look(call)
    except NuggetsError as error:
        what = f"{error.where}: {error.what}" if error.where else error.what
        yield Finding(str(error.code), "wrong", what, error.todo)
    except OSError as error:
        yield Finding("system", "wrong", f"{error.filename or ''}: {error.strerror or error}".lstrip(": "))


def _installation(call: Invocation) -> Iterator[Finding]:
    python = ".".join(map(str, sys.version_info[:3]))
    version = installed_version() or "from its sources"
    yield Finding("version", "ok", f"nuggets {version}, Python {python} ({sys.executable})")
    found = shutil.which("nuggets")
    if found is None:
        said = "the command nuggets is not on your PATH: agents cannot call it in a shell"
        todo = "install it with uv tool install or pipx install, or add its folder to PATH"
        yield Finding("path", "note", said, todo)
    else:
        yield Finding("path", "ok", f"nuggets on PATH is {found}")
    missing = ", ".join(library for library in _PIPELINE_LIBRARIES if find_spec(library) is None)
    said = f"the libraries of the pipeline are {f'not installed ({missing})' if missing else 'installed'}"
    todo = install_command() if missing else ""
    yield Finding("extra-pipeline", "note" if missing else "ok", said, todo)


def _agents(call: Invocation) -> Iterator[Finding]:
    from core.agents.targets import AGENT_FILES

    absent, place = [], place_of(project=False)
    for name in NAMES:
        title, todo = AGENT_FILES[name].title, f"nuggets agent install {name}"
        standings = standings_of(name, place, command_of(call))
        if any(one.state != "absent" for one in standings):
            yield from (_agent_file(name, title, one) for one in standings)
            yield from _server(name, title, [one.target for one in standings])
        elif is_installed(name, place):
            yield Finding(name, "note", f"{title} is here, and not connected", todo)
        else:
            absent.append(title)
    if absent:
        yield Finding("not-found", "note", f"not found on this machine: {', '.join(absent)}")


def _agent_file(name: str, title: str, one: Standing) -> Finding:
    code, where = f"{name}-{one.target.part}", f"{title}, {one.target.part}: {one.target.path}"
    match one.shown:
        case "current" if one.problem:
            return Finding(code, "note", f"{where}: {one.problem}")
        case "current":
            return Finding(code, "ok", where)
        case "broken" | "ignored":
            said = "cannot be read" if one.shown == "broken" else "is ignored"
            return Finding(code, "wrong", f"{where} {said}: {one.problem}", "fix the file; it is unchanged")
        case "foreign":
            said = f"{where}: something else is called nuggets there"
            return Finding(code, "wrong", said, "rename or remove that entry")
    missing = "is missing" if one.state == "absent" else "is outdated, or for another memory"
    return Finding(code, "wrong", f"{where} {missing}", f"nuggets agent install {name}")


def _server(name: str, title: str, targets: Sequence[Target]) -> Iterator[Finding]:
    """Whether the server that is registered in an agent's files can be started."""
    from core.agents.connecting import registered_server

    words = registered_server(targets)
    if not words:
        return
    program, problem = list(words[: words.index("mcp")]), ""
    try:
        if shutil.which(program[0]) is None:
            problem = "is not there or cannot be run"
        else:
            asked = [*program, "--version"]
            done = subprocess.run(
                asked, stdin=subprocess.DEVNULL, capture_output=True, timeout=_START_SECONDS
            )
            problem = f"ends with exit code {done.returncode}" if done.returncode else ""
    except subprocess.TimeoutExpired:
        problem = f"does not start within {_START_SECONDS:g} s"
    except OSError as error:
        problem = f"cannot be run ({error.strerror})"
    if problem:
        said = f"{title} is set to start {program[0]}, which {problem}"
        yield Finding(f"{name}-starts", "wrong", said, f"nuggets agent install {name}")
    else:
        yield Finding(f"{name}-starts", "ok", f"{title} starts {' '.join(words)}")


def _memory(call: Invocation) -> Iterator[Finding]:
    from core.workspace import Workspace

    folder = call.folder
    if not folder.is_dir():
        said = f"there is no memory in {folder} yet; the first note or fact makes it"
        yield Finding("folder", "note", said, 'nuggets note add "Title" "Text"')
        return
    if not os.access(folder, os.W_OK):
        yield Finding("folder", "wrong", f"{folder} cannot be written to", "allow writing to it")
    memory = call.memory_as_it_is
    snapshot, problem = memory.snapshot, memory.history.problem
    counts = f"{plural(snapshot.fact_count, 'fact')}, {plural(len(snapshot.notes), 'note')}"
    yield Finding("folder", "ok", f"{folder_of(folder)}: {counts}")
    if memory.pages is not None:
        said = f"its notes are {pages_named(memory.pages)}; history and backups lie in {folder}"
        yield Finding("pages", "ok", said)
    findings = Workspace(memory).verify()
    for one in findings[:_FINDINGS]:
        todo = "nuggets verify --repair" if one.means is not None else "nuggets verify"
        yield Finding(one.kind, "wrong", f"{one.where}: {one.detail}", todo)
    if len(findings) > _FINDINGS:
        yield Finding("findings", "wrong", f"{len(findings) - _FINDINGS:,} more findings", "nuggets verify")
    if not findings:
        yield Finding("verify", "ok", "facts, notes, links, tags and files agree")
    if problem is not None:
        yield Finding("history", "wrong", problem.what, problem.todo)
    elif conflicts := len(memory.history.conflicts()):
        yield Finding("conflicts", "wrong", f"{plural(conflicts, 'conflict')} to resolve", "nuggets resolve")


def _settings(call: Invocation) -> Iterator[Finding]:
    """Settings that are not used as given, all of them."""
    from core.settings import load_settings
    from core.settings.warnings import WarningKind

    for warning in load_settings(call.folder).warnings:
        harmless = warning.why in (WarningKind.RESERVED, WarningKind.UNKNOWN_KEY)
        state: State = "note" if harmless else "wrong"
        yield Finding(
            f"setting-{warning.code}", state, warning.message, "" if harmless else "change settings.toml"
        )


def _pipeline(call: Invocation) -> Iterator[Finding]:
    """Its health; nothing where no text was ever submitted."""
    from core.pipeline.service import health_of

    report = health_of(call.folder)
    if report is None:
        return
    todo = "" if report.healthy and not report.recommendations else "nuggets pipeline health"
    said = f"{report.status}, {report.score:.0%}: {report.said}"
    yield Finding("health", _HEALTH[report.status], said, todo)
    for one in report.domains:
        if any(problem.stays for problem in one.problems):
            yield Finding(one.name, "wrong", one.said, todo)


def _sync(call: Invocation) -> Iterator[Finding]:
    """Why the last sync did not go through; nothing where none is set up or it did."""
    from core.sync import Sync

    if not call.folder.is_dir():
        return
    state = Sync(call.memory_as_it_is).state()
    if state.problem:
        yield Finding("last-sync", "wrong", state.problem, state.todo or "nuggets sync")


def _hooks(call: Invocation) -> Iterator[Finding]:
    from core.caught import LOG
    from core.user_folders import state_folder
    from nuggets_tui.hooks.worker import waiting

    home = call.folder.absolute()
    state = state_folder(str(home))
    if not state:
        said = "hooks keep nothing, because this memory has no state folder"
        yield Finding("state", "note", said, "set NUGGETS_STATE to a folder outside the memory")
        return
    caught = waiting(home)
    late = [path for path in caught if time.time() - path.stat().st_mtime > _LATE_SECONDS]
    if late:
        said = f"{plural(len(late), 'agent event')} could not be stored in the memory yet"
        todo = "fix what is wrong with the memory; the next event tries again"
        yield Finding("waiting", "wrong", said, todo)
    elif caught:
        said = f"{plural(len(caught), 'agent event')} about to be stored in the memory"
        yield Finding("waiting", "ok", said)
    log = Path(state) / LOG
    if log.is_file():
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        yield from (Finding("log", "note", line) for line in lines[-_LOG_LINES:])
        if lines:
            yield Finding("log-file", "note", f"these are the last lines of {log}")
    elif not caught:
        yield Finding("log", "ok", "no hook has had trouble")


def _elsewhere(call: Invocation) -> Iterator[Finding]:
    """Other memories on this machine."""
    from core.memories import found_memories

    own, place = os.path.realpath(folder_of(call.folder)), place_of(project=False)
    found = [
        one for one in found_memories(place.home_dir, place.environ) if os.path.realpath(one.path) != own
    ]
    for one in found[:_FEW]:
        kind = "Claude Code's pages" if one.kind == "claude" else "a memory"
        said = f"{kind} in {one.path}: {one.problem or plural(one.files, 'file')}"
        yield Finding(one.kind, "note", said, f"nuggets --home {shlex.quote(one.path)}")
    if len(found) > _FEW:
        yield Finding("more", "note", f"{len(found) - _FEW:,} more; the app lists them")
