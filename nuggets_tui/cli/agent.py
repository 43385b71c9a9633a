"""The `agent` commands: connect a coding agent with the memory, see how it stands, and take that back."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from core.places import folder_of
from nuggets_tui.agent_files import (
    NAMES,
    PART_WORDS,
    STATE_WORDS,
    change_agent,
    changed_files,
    command_for,
    difference,
    is_installed,
)
from nuggets_tui.cli.calling_agent import refuse_agents
from nuggets_tui.cli.groups import CommandEntry, LazyGroup, command, example
from nuggets_tui.cli.invocation import Invocation, pass_call
from nuggets_tui.cli.options import dry_run_option
from nuggets_tui.cli.output import Line, Span, SpanStyle, table

if TYPE_CHECKING:
    from core.agents.connecting import FileChange, Standing
    from core.agents.targets import Command, Place, Scope

VERSION: Final = 1
NOT_CONNECTED: Final = 1
_PACKAGE: Final = "nuggets_tui.cli.agent"
_STYLES: Final[dict[str, SpanStyle]] = {
    "current": "good", "outdated": "warn", "foreign": "bad", "broken": "bad", "ignored": "bad", "absent": "dim",
}  # fmt: skip

agent_group = LazyGroup(
    "agent",
    entries={
        "install": CommandEntry(f"{_PACKAGE}:install", "Connect an agent: MCP server, hooks, instructions."),
        "status": CommandEntry(f"{_PACKAGE}:status", "Show which agents are connected, file by file."),
        "remove": CommandEntry(f"{_PACKAGE}:remove", "Take everything out of the agent's files again."),
    },
    help="Connect coding agents with this memory.",
    no_args_is_help=True,
    subcommand_metavar="COMMAND ...",
)

_name = click.argument("name", type=click.Choice(NAMES, case_sensitive=False), metavar="AGENT")
_project = click.option(
    "--project", is_flag=True, help="In the files of the project in this folder, not in your own."
)


@command("install", epilog=example("nuggets agent install claude", "nuggets agent install codex --dry-run"))
@_name
@_project
@dry_run_option
@pass_call
def install(call: Invocation, /, name: str, project: bool, dry_run: bool) -> None:
    """Connect an agent with this memory: register the MCP server and the hooks, and add lines of instructions.

    AGENT is claude, codex, opencode, pi, cursor or gemini. All else in these files stays byte for byte. Twice is once.
    """
    if not dry_run:
        refuse_agents("connecting an agent")
    place = place_of(project)
    here = is_installed(name, place)
    changes = _carried_out(call, name, place, dry_run, remove=False)
    call.answer(
        lambda: _document(name, project, dry_run, changes),
        lambda: [
            *_change_lines(name, project, dry_run, changes, installed=True),
            *_missing_lines(name, here),
            *_problem_lines(standings_of(name, place, command_of(call))),
        ],
    )


@command("remove", epilog=example("nuggets agent remove claude"))
@_name
@_project
@dry_run_option
@pass_call
def remove(call: Invocation, /, name: str, project: bool, dry_run: bool) -> None:
    """Take the server, the hooks and the instructions out of an agent's files. They are as they were before."""
    if not dry_run:
        refuse_agents("disconnecting an agent")
    changes = _carried_out(call, name, place_of(project), dry_run, remove=True)
    call.answer(
        lambda: _document(name, project, dry_run, changes),
        lambda: _change_lines(name, project, dry_run, changes, installed=False),
    )


@command("status", epilog=example("nuggets agent status", "nuggets agent status claude"))
@click.argument("name", type=click.Choice(NAMES, case_sensitive=False), metavar="[AGENT]", required=False)
@_project
@pass_call
def status(call: Invocation, /, name: str | None, project: bool) -> int:
    """Show how the memory stands in the files of each agent, or of one. Exit code 1 when the one is not connected."""
    place = place_of(project)
    found = {one: standings_of(one, place, command_of(call)) for one in ([name] if name else NAMES)}
    call.answer(
        lambda: {
            "version": VERSION,
            "scope": "project" if project else "user",
            "agents": [agent_document(one, place, standings) for one, standings in found.items()],
        },
        lambda: _status_lines(place, found),
    )
    return 0 if name is None or all(one.works for one in found[name]) else NOT_CONNECTED


def place_of(project: bool) -> Place:
    """Where agents have their files, for this user or for the project in the working directory."""
    from core.agents.targets import Place

    try:
        here = Path.cwd() if project else None
        return Place(Path.home(), os.environ, here)
    except (OSError, RuntimeError) as error:
        raise click.UsageError(f"There is no such folder: {error}") from error


def command_of(call: Invocation) -> Command:
    """How agents are to start this program for the memory of this call. Raises InvalidInputError."""
    return command_for(folder_of(call.folder))


def standings_of(name: str, place: Place, how: Command) -> tuple[Standing, ...]:
    """How each piece of ours stands in the files of an agent."""
    from core.agents.connecting import standings
    from core.agents.targets import targets

    return standings(targets(name, place, how))


def _carried_out(
    call: Invocation, name: str, place: Place, dry_run: bool, *, remove: bool
) -> tuple[FileChange, ...]:
    return change_agent(name, place, command_of(call), remove=remove, dry_run=dry_run)


# How it is said


def _document(name: str, project: bool, dry_run: bool, changes: Sequence[FileChange]) -> dict[str, Any]:
    from core.agents.targets import AGENT_FILES

    files = [
        {"path": str(one.path), "parts": list(one.parts), "change": one.kind, "diff": difference(one)}
        for one in changes
    ]
    changed = bool(changed_files(changes))
    return {
        "version": VERSION,
        "agent": name,
        "scope": "project" if project else "user",
        "dryRun": dry_run,
        "changed": changed,
        "files": files,
        "next": list(filter(None, [AGENT_FILES[name].next_step])),
    }


def _change_lines(
    name: str, project: bool, dry_run: bool, changes: Sequence[FileChange], *, installed: bool
) -> Iterator[Line]:
    from core.agents.targets import AGENT_FILES

    agent = AGENT_FILES[name]
    changed = changed_files(changes)
    if not changed and installed:
        yield f"{agent.title} is connected already; nothing was changed."
    elif not changed:
        yield f"{agent.title} is not connected; nothing was changed."
    elif dry_run:
        yield f"This would {'connect' if installed else 'disconnect'} {agent.title}. Nothing was changed."
    else:
        yield Span(f"{agent.title} is {'connected' if installed else 'no longer connected'}.", "good")
    rows = [(Span(one.kind, "dim"), str(one.path), Span(_parts(one.parts), "dim")) for one in changes]
    yield from table(rows, flexible=1)
    if dry_run:
        for one in changed:
            yield ""
            yield Span(str(one.path), "bold")
            for line in difference(one):
                yield Span(line, "good" if line.startswith("+") else "bad")
    if any(one.kind == "kept" for one in changes):
        yield "Another agent still reads the lines that are kept."
    if installed and changed:
        scope: Scope = "project" if project else "user"
        yield from filter(None, (agent.without.get(scope, ""), agent.next_step))
        if not dry_run:
            yield f"Start {agent.title} anew. To check: nuggets doctor. To undo: nuggets agent remove {name}"


def _missing_lines(name: str, here: bool) -> Iterator[Line]:
    from core.agents.targets import AGENT_FILES

    if not here:
        yield Span(f"{AGENT_FILES[name].title} was not found on this machine; its files wait for it.", "warn")


def _problem_lines(found: Sequence[Standing]) -> Iterator[Line]:
    for one in found:
        if one.problem:
            yield Span(f"{one.target.path}: {one.problem}", "warn")


def _parts(parts: Sequence[str]) -> str:
    return ", ".join(PART_WORDS[part] for part in parts)


def agent_document(name: str, place: Place, found: Sequence[Standing]) -> dict[str, Any]:
    """How an agent stands, as JSON."""
    return {
        "agent": name,
        "installed": is_installed(name, place),
        "connected": all(one.works for one in found),
        "files": [
            {"path": str(one.target.path), "part": one.target.part, "state": one.shown}
            | ({"problem": one.problem} if one.problem else {})
            for one in found
        ],
    }


def _status_lines(place: Place, found: dict[str, tuple[Standing, ...]]) -> Iterator[Line]:
    from core.agents.targets import AGENT_FILES

    rows = []
    for name, standings in found.items():
        for number, one in enumerate(standings):
            title = AGENT_FILES[name].title if number == 0 else ""
            said = STATE_WORDS[one.shown] + (f": {one.problem}" if one.problem else "")
            if number == 0 and one.state == "absent" and not is_installed(name, place):
                said += "; the agent was not found"
            rows.append(
                (
                    Span(title, "bold"),
                    PART_WORDS[one.target.part],
                    Span(said, _STYLES[one.shown]),
                    str(one.target.path),
                )
            )
    yield from table(rows, flexible=3)
