"""Commands for coding agents: connect one with the memory, serve the memory over MCP, take an event of a hook."""

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
from nuggets_tui.cli.calling_agent import author_as, refuse_agents
from nuggets_tui.cli.invocation import Invocation, bad_input, can_ask
from nuggets_tui.cli.options import DRY_RUN, Group, arg, command, flag
from nuggets_tui.cli.output import Line, Span, SpanStyle, bold, dim, good, pick, table, warn, write_lines

if TYPE_CHECKING:
    from core.agents.connecting import FileChange, Standing
    from core.agents.targets import Command, Place

VERSION: Final = 1
NOT_CONNECTED: Final = 1
_STYLES: Final[dict[str, SpanStyle]] = {
    "current": "good", "outdated": "warn", "foreign": "bad", "broken": "bad", "ignored": "bad", "absent": "dim",
}  # fmt: skip
_AGENT: Final = click.Choice(NAMES, case_sensitive=False)
_NAME: Final = arg("name", _AGENT, metavar="AGENT")
_PROJECT: Final = flag("--project", "In the files of the project in this folder, not in your own.")

agent = Group("agent", "Connect coding agents with this memory.", no_args_is_help=True)


@agent.add(
    "install", _NAME, _PROJECT, DRY_RUN,
    examples=("nuggets agent install claude", "nuggets agent install codex --dry-run"),
)  # fmt: skip
def install(call: Invocation, name: str, project: bool, dry_run: bool) -> None:
    """Connect an agent with this memory: register the MCP server and the hooks, and add lines of instructions.

    AGENT is claude, codex, opencode, pi, cursor or gemini. All else in these files stays byte for byte. Twice is once.
    """
    from core.agents.targets import AGENT_FILES

    if not dry_run:
        refuse_agents("connecting an agent")
    place = place_of(project)
    here = is_installed(name, place)
    changes = change_agent(name, place, command_of(call), remove=False, dry_run=dry_run)
    title = AGENT_FILES[name].title
    missing = [] if here else [warn(f"{title} was not found on this machine; its files wait for it.")]
    problems = (
        warn(f"{one.target.path}: {one.problem}")
        for one in standings_of(name, place, command_of(call))
        if one.problem
    )
    call.answer(
        _document(name, project, dry_run, changes),
        lambda: [*_change_lines(name, project, dry_run, changes, installed=True), *missing, *problems],
    )


@agent.add(
    "status", arg("name", _AGENT, metavar="[AGENT]", required=False), _PROJECT,
    examples=("nuggets agent status", "nuggets agent status claude"),
)  # fmt: skip
def status(call: Invocation, name: str | None, project: bool) -> int:
    """Show how the memory stands in the files of each agent, or of one. Exit code 1 when the one is not connected."""
    place = place_of(project)
    found = {one: standings_of(one, place, command_of(call)) for one in ([name] if name else NAMES)}
    agents = []
    for one, standings in found.items():
        files = [
            pick(each.target, "path part", state=each.shown) | ({"problem": each.problem} if each.problem else {})
            for each in standings
        ]  # fmt: skip
        works = all(each.works for each in standings)
        agents.append(
            {"agent": one, "installed": is_installed(one, place), "connected": works, "files": files}
        )
    document = {"version": VERSION, "scope": "project" if project else "user", "agents": agents}
    call.answer(document, lambda: _status_lines(place, found))
    return 0 if name is None or all(one.works for one in found[name]) else NOT_CONNECTED


@agent.add("remove", _NAME, _PROJECT, DRY_RUN, examples=("nuggets agent remove claude",))
def remove(call: Invocation, name: str, project: bool, dry_run: bool) -> None:
    """Take the server, the hooks and the instructions out of an agent's files. They are as they were before."""
    if not dry_run:
        refuse_agents("disconnecting an agent")
    changes = change_agent(name, place_of(project), command_of(call), remove=True, dry_run=dry_run)
    lines = _change_lines(name, project, dry_run, changes, installed=False)
    call.answer(_document(name, project, dry_run, changes), lines)


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


def _document(name: str, project: bool, dry_run: bool, changes: Sequence[FileChange]) -> dict[str, Any]:
    from core.agents.targets import AGENT_FILES

    return {
        "version": VERSION,
        "agent": name,
        "scope": "project" if project else "user",
        "dryRun": dry_run,
        "changed": bool(changed_files(changes)),
        "files": [pick(one, "path parts change=kind", diff=difference(one)) for one in changes],
        "next": list(filter(None, [AGENT_FILES[name].next_step])),
    }


def _change_lines(
    name: str, project: bool, dry_run: bool, changes: Sequence[FileChange], *, installed: bool
) -> Iterator[Line]:
    from core.agents.targets import AGENT_FILES

    agent = AGENT_FILES[name]
    changed = changed_files(changes)
    if not changed:
        state = "connected already" if installed else "not connected"
        yield f"{agent.title} is {state}; nothing was changed."
    elif dry_run:
        yield f"This would {'connect' if installed else 'disconnect'} {agent.title}. Nothing was changed."
    else:
        yield good(f"{agent.title} is {'connected' if installed else 'no longer connected'}.")
    rows = [
        (dim(one.kind), str(one.path), dim(", ".join(PART_WORDS[part] for part in one.parts)))
        for one in changes
    ]
    yield from table(rows, flexible=1)
    for one in changed if dry_run else ():
        yield from ("", bold(str(one.path)))
        yield from (Span(line, "good" if line.startswith("+") else "bad") for line in difference(one))
    if any(one.kind == "kept" for one in changes):
        yield "Another agent still reads the lines that are kept."
    if installed and changed:
        yield from filter(None, (agent.without.get("project" if project else "user", ""), agent.next_step))
        if not dry_run:
            yield f"Restart {agent.title}. To check: nuggets doctor. To undo: nuggets agent remove {name}"


def _status_lines(place: Place, found: dict[str, tuple[Standing, ...]]) -> Iterator[Line]:
    from core.agents.targets import AGENT_FILES

    rows = []
    for name, standings in found.items():
        for number, one in enumerate(standings):
            said = STATE_WORDS[one.shown] + (f": {one.problem}" if one.problem else "")
            if number == 0 and one.state == "absent" and not is_installed(name, place):
                said += "; the agent was not found"
            title = bold("" if number else AGENT_FILES[name].title)
            part, path = PART_WORDS[one.target.part], str(one.target.path)
            rows.append((title, part, Span(said, _STYLES[one.shown]), path))
    yield from table(rows, flexible=3)


# What agents themselves start


@command(
    "mcp",
    flag("--all-tools", "List the tools that few agents need as well."),
    examples=("claude mcp add nuggets -- nuggets mcp", "codex mcp add nuggets -- nuggets mcp"),
)
def mcp(call: Invocation, all_tools: bool) -> None:
    """Serve the memory to an agent that speaks the Model Context Protocol.

    The agent starts this command itself and speaks with it through standard input and output; register it there as in
    the examples. Several agents may each have their own on one folder.
    """
    folder = call.absolute_folder
    author = author_as(call.as_name) if call.as_name is not None else None
    if author is not None and author.kind != "agent":
        raise bad_input(
            "an agent writes through this command, not you", "--as", todo="name an agent, such as codex"
        )
    call.hand_on_project()
    from nuggets_tui.mcp.server import serve

    if can_ask():
        said = "waiting for an agent on standard input; agents start this command themselves, ctrl+d ends it"
        write_lines([said], to_error=True)
    serve(folder, author, all_tools=all_tools)


@command(
    "hook",
    arg("agent", metavar="[AGENT]", required=False, default=""),
    arg("more", click.UNPROCESSED, nargs=-1, metavar=""),
    context_settings={"ignore_unknown_options": True},
    examples=("nuggets hook claude < event.json",),
)
def hook(call: Invocation, agent: str, more: tuple[str, ...]) -> None:
    """Take an event of an agent, as JSON on standard input. `nuggets agent install` makes agents call this.

    At the start of a session it prints a briefing. Of a prompt it keeps what begins with "remember that", "always use",
    "I prefer" or "never"; of edits, the paths of the files. It always ends with exit code 0.
    """
    # For its help and for options before its name; else the program begins in `nuggets_tui.hooks`.
    from nuggets_tui.hooks.fast import main

    main([agent, *(("--home", call.home) if call.home else ())])
