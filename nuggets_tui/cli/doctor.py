"""The `doctor` command: what is found where, what is wrong, and what to do about it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from core.errors import NuggetsError
from core.pipeline.extra import install_command
from core.places import folder_of
from core.team_folder import pages_named
from nuggets_tui.agent_files import NAMES, is_installed
from nuggets_tui.cli.agent import VERSION, command_of, place_of, standings_of
from nuggets_tui.cli.groups import command, example
from nuggets_tui.cli.invocation import Invocation, pass_call
from nuggets_tui.cli.output import Line, Span, SpanStyle
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.agents.connecting import Standing
    from core.agents.targets import Place

State = Literal["ok", "note", "wrong"]
_WRONG: Final = 1
_SIGNS: Final[dict[State, tuple[str, SpanStyle]]] = {
    "ok": ("✓", "good"),
    "note": ("·", "dim"),
    "wrong": ("✗", "bad"),
}
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


@dataclass(frozen=True)
class Check:
    """One thing that was looked at. name: a stable one for programs. todo: what to do, "" for nothing."""

    section: str
    name: str
    state: State
    what: str
    todo: str = ""

    def document(self) -> dict[str, str]:
        """The check as JSON."""
        made = {"section": self.section, "name": self.name, "state": self.state, "what": self.what}
        return made | ({"todo": self.todo} if self.todo else {})


@command("doctor", epilog=example("nuggets doctor", "nuggets doctor --json"))
@pass_call
def doctor(call: Invocation, /) -> int:
    """Check the installation, the agents, the memory and the hooks. Exit code 1 when something is wrong.

    Nothing is changed. Each finding says what to do.
    """
    checks = list(_checks(call))
    wrong = sum(check.state == "wrong" for check in checks)
    call.drop_warnings()
    call.answer(
        lambda: {
            "version": VERSION,
            "ok": not wrong,
            "home": str(folder_of(call.folder)),
            "checks": [check.document() for check in checks],
        },
        lambda: _lines(checks, wrong),
    )
    return _WRONG if wrong else 0


def _checks(call: Invocation) -> Iterator[Check]:
    place = place_of(project=False)
    found = {name: standings_of(name, place, command_of(call)) for name in NAMES}
    for section, look in (
        ("installation", _installation),
        ("agents", lambda: _agents(place, found)),
        ("memory", lambda: _memory(call)),
        ("pipeline", lambda: _pipeline(call)),
        ("sync", lambda: _sync(call)),
        ("hooks", lambda: _hooks(call)),
        ("elsewhere", lambda: _elsewhere(call, place)),
    ):
        yield from _guarded(section, look)


def _guarded(section: str, look: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    """What a look finds; what keeps it from going on is a finding, too, and the next one is taken all the same."""
    try:
        yield from look()
    except NuggetsError as error:
        yield Check(
            section,
            str(error.code),
            "wrong",
            f"{error.where}: {error.what}" if error.where else error.what,
            error.todo,
        )
    except OSError as error:
        yield Check(
            section, "system", "wrong", f"{error.filename or ''}: {error.strerror or error}".lstrip(": ")
        )


# Installation


def _installation() -> Iterator[Check]:
    from importlib.metadata import PackageNotFoundError, version

    try:
        said = version("nuggets-tui")
    except PackageNotFoundError:
        said = "from its sources"
    python = ".".join(map(str, sys.version_info[:3]))
    yield Check("installation", "version", "ok", f"nuggets {said}, Python {python} ({sys.executable})")
    found = shutil.which("nuggets")
    if found is None:
        yield Check(
            "installation", "path", "note", "the command nuggets is not on your PATH: agents cannot call it in a shell",
            "install it with uv tool install or pipx install, or add its folder to PATH",
        )  # fmt: skip
    else:
        yield Check("installation", "path", "ok", f"nuggets on PATH is {found}")
    missing = [library for library in _PIPELINE_LIBRARIES if find_spec(library) is None]
    said = f"not installed ({', '.join(missing)})" if missing else "installed"
    yield Check(
        "installation", "extra-pipeline", "note" if missing else "ok",
        f"the libraries of the pipeline are {said}", install_command() if missing else "",
    )  # fmt: skip


# Agents


def _agents(place: Place, found: dict[str, tuple[Standing, ...]]) -> Iterator[Check]:
    from core.agents.targets import AGENT_FILES

    absent = []
    for name, standings in found.items():
        title = AGENT_FILES[name].title
        if all(one.state == "absent" for one in standings):
            if is_installed(name, place):
                yield Check(
                    "agents",
                    name,
                    "note",
                    f"{title} is here, and not connected",
                    f"nuggets agent install {name}",
                )
            else:
                absent.append(title)
            continue
        yield from _agent(name, title, place, standings)
    if absent:
        yield Check("agents", "not-found", "note", f"not found on this machine: {', '.join(absent)}")


def _agent(name: str, title: str, place: Place, standings: Sequence[Standing]) -> Iterator[Check]:
    for one in standings:
        where = f"{title}, {one.target.part}: {one.target.path}"
        match one.shown:
            case "current" if one.problem:
                yield Check("agents", f"{name}-{one.target.part}", "note", f"{where}: {one.problem}")
            case "current":
                yield Check("agents", f"{name}-{one.target.part}", "ok", where)
            case "broken" | "ignored":
                said = f"{where} {'cannot be read' if one.shown == 'broken' else 'is ignored'}: {one.problem}"
                yield Check(
                    "agents", f"{name}-{one.target.part}", "wrong", said, "fix the file; it is unchanged"
                )
            case "foreign":
                said = f"{where}: something else is called nuggets there"
                yield Check(
                    "agents", f"{name}-{one.target.part}", "wrong", said, "rename or remove that entry"
                )
            case _:
                missing = "is missing" if one.state == "absent" else "is outdated, or for another memory"
                todo = f"nuggets agent install {name}"
                yield Check("agents", f"{name}-{one.target.part}", "wrong", f"{where} {missing}", todo)
    yield from _server(name, title, [one.target for one in standings])


def _server(name: str, title: str, targets: Sequence[object]) -> Iterator[Check]:
    from core.agents.connecting import registered_server

    words = registered_server(targets)  # type: ignore[arg-type]
    if not words:
        return
    program = list(words[: words.index("mcp")])
    problem = _why_not_started(program)
    if problem:
        said = f"{title} is to start {program[0]}, which {problem}"
        yield Check("agents", f"{name}-starts", "wrong", said, f"nuggets agent install {name}")
    else:
        yield Check("agents", f"{name}-starts", "ok", f"{title} starts {' '.join(words)}")


def _why_not_started(program: Sequence[str]) -> str:
    """Why the program of an entry of ours cannot be started; "" for no reason."""
    if shutil.which(program[0]) is None:
        return "is not there or cannot be run"
    try:
        done = subprocess.run(
            [*program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_START_SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"does not start within {_START_SECONDS:g} s"
    except OSError as error:
        return f"cannot be run ({error.strerror})"
    return "" if done.returncode == 0 else f"ends with exit code {done.returncode}"


# The memory


def _memory(call: Invocation) -> Iterator[Check]:
    from core.workspace import Workspace

    folder = call.folder
    if not folder.is_dir():
        said = f"there is no memory in {folder} yet; the first note or fact makes it"
        yield Check("memory", "folder", "note", said, 'nuggets note add "Title" "Text"')
        return
    if not os.access(folder, os.W_OK):
        yield Check("memory", "folder", "wrong", f"{folder} cannot be written to", "allow writing to it")
    memory = call.memory_as_it_is
    snapshot = memory.snapshot
    counts = f"{plural(snapshot.fact_count, 'fact')}, {plural(len(snapshot.notes), 'note')}"
    yield Check("memory", "folder", "ok", f"{folder_of(folder)}: {counts}")
    if memory.pages is not None:
        said = f"its notes are {pages_named(memory.pages)}; history and backups lie in {folder}"
        yield Check("memory", "pages", "ok", said)
    findings = Workspace(memory).verify()
    for finding in findings[:_FINDINGS]:
        todo = "nuggets verify --repair" if finding.means is not None else "nuggets verify"
        yield Check("memory", finding.kind, "wrong", f"{finding.where}: {finding.detail}", todo)
    if len(findings) > _FINDINGS:
        yield Check(
            "memory", "findings", "wrong", f"{len(findings) - _FINDINGS:,} more findings", "nuggets verify"
        )
    if not findings:
        yield Check("memory", "verify", "ok", "facts, notes, links, tags and files agree")
    if memory.history.problem is not None:
        problem = memory.history.problem
        yield Check("memory", "history", "wrong", problem.what, problem.todo)
    elif conflicts := len(memory.history.conflicts()):
        yield Check(
            "memory", "conflicts", "wrong", f"{plural(conflicts, 'conflict')} to resolve", "nuggets resolve"
        )


# The pipeline


def _pipeline(call: Invocation) -> Iterator[Check]:
    """Its health; nothing where no text was ever submitted. And settings that are not used as given, all of them."""
    from core.pipeline.service import health_of
    from core.settings import load_settings
    from core.settings.warnings import WarningKind

    report = health_of(call.folder)
    if report is not None:
        state = _HEALTH[report.status]
        todo = "" if report.healthy and not report.recommendations else "nuggets pipeline health"
        said = f"{report.status}, {report.score:.0%}: {report.said}"
        yield Check("pipeline", "health", state, said, todo)
        for one in report.domains:
            if any(problem.stays for problem in one.problems):
                yield Check("pipeline", one.name, "wrong", one.said, todo)
    for warning in load_settings(call.folder).warnings:
        harmless = warning.why in (WarningKind.RESERVED, WarningKind.UNKNOWN_KEY)
        state, todo = ("note", "") if harmless else ("wrong", "change settings.toml")
        section = "pipeline" if warning.name.startswith("pipeline") else "memory"
        yield Check(section, f"setting-{warning.code}", state, warning.message, todo)


def _sync(call: Invocation) -> Iterator[Check]:
    """Why the last sync did not go through; nothing where none is set up or it did."""
    from core.sync import Sync

    if not call.folder.is_dir():
        return
    state = Sync(call.memory_as_it_is).state()
    if state.problem:
        yield Check("sync", "last-sync", "wrong", state.problem, state.todo or "nuggets sync")


# Hooks


def _hooks(call: Invocation) -> Iterator[Check]:
    from core.caught import LOG
    from core.user_folders import state_folder
    from nuggets_tui.hooks.worker import waiting

    home = call.folder.absolute()
    state = state_folder(str(home))
    if not state:
        said = "hooks keep nothing: there is no folder for the state of this memory"
        yield Check("hooks", "state", "note", said, "set NUGGETS_STATE to a folder outside the memory")
        return
    caught = waiting(home)
    late = [path for path in caught if time.time() - path.stat().st_mtime > _LATE_SECONDS]
    if late:
        said = f"{plural(len(late), 'event')} of agents could not be brought into the memory yet"
        yield Check(
            "hooks", "waiting", "wrong", said, "fix what is wrong with the memory; the next event tries again"
        )
    elif caught:
        yield Check(
            "hooks",
            "waiting",
            "ok",
            f"{plural(len(caught), 'event')} of agents to be brought into the memory",
        )
    log = Path(state) / LOG
    if log.is_file():
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        for line in lines[-_LOG_LINES:]:
            yield Check("hooks", "log", "note", line, "")
        if lines:
            yield Check("hooks", "log-file", "note", f"these are the last lines of {log}")
    elif not caught:
        yield Check("hooks", "log", "ok", "no hook has had trouble")


# Other memories


def _elsewhere(call: Invocation, place: Place) -> Iterator[Check]:
    from core.memories import found_memories

    found = [
        one for one in found_memories(place.home_dir, place.environ)
        if os.path.realpath(one.path) != os.path.realpath(folder_of(call.folder))
    ]  # fmt: skip
    for one in found[:_FEW]:
        kind = "Claude Code's pages" if one.kind == "claude" else "a memory"
        said = f"{kind} in {one.path}: {one.problem or plural(one.files, 'file')}"
        todo = f"nuggets --home {shlex.quote(one.path)}"
        yield Check("elsewhere", one.kind, "note", said, todo)
    if len(found) > _FEW:
        yield Check("elsewhere", "more", "note", f"{len(found) - _FEW:,} more; the app lists them")


# How it is said


def _lines(checks: Sequence[Check], wrong: int) -> Iterator[Line]:
    section = ""
    for check in checks:
        if check.section != section:
            if section:
                yield ""
            section = check.section
            yield Span(section.capitalize(), "bold")
        sign, style = _SIGNS[check.state]
        yield (Span(f"  {sign} ", style), check.what)
        if check.todo:
            yield Span(f"    to do: {check.todo}", "dim")
    yield ""
    if wrong:
        yield Span(f"{plural(wrong, 'thing')} to put right.", "bad")
    else:
        yield Span("All is well.", "good")
