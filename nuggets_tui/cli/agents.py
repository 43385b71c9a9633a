"""Commands for coding agents: connect one with the memory, serve the memory over MCP, take an event of a hook."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from core.places import folder_of
from nuggets_tui import agent_files
from nuggets_tui.agent_files import NAMES, PART_WORDS, STATE_WORDS, is_installed
from nuggets_tui.cli.calling_agent import author_as, refuse_agents
from nuggets_tui.cli.invocation import NOT_FOUND, Invocation, bad_input, can_ask
from nuggets_tui.cli.options import DRY_RUN, Group, arg, command, flag
from nuggets_tui.cli.output import (
    Line,
    Span,
    SpanStyle,
    bold,
    diff_lines,
    dim,
    good,
    pick,
    table,
    warn,
    write_lines,
)

if TYPE_CHECKING:
    from core.agents.connecting import Standing
    from core.agents.targets import Command, Place

VERSION: Final = 1
_STYLES: Final[dict[str, SpanStyle]] = {
    "current": "good", "outdated": "warn", "foreign": "bad", "broken": "bad", "ignored": "bad", "absent": "dim",
}  # fmt: skip
_AGENT: Final = click.Choice(NAMES, case_sensitive=False)
_NAME: Final = arg("name", _AGENT, metavar="AGENT")
_PROJECT: Final = flag("--project", "In the files of the project in this folder, not in your own.")

agent = Group("agent", "Connect coding agents to this memory.")


@agent.add(
    "install", _NAME, _PROJECT, DRY_RUN,
    examples=("nuggets agent install claude", "nuggets agent install codex --dry-run"),
)  # fmt: skip
def install(call: Invocation, name: str, project: bool, dry_run: bool) -> None:
    """Connect an agent to this memory: register the MCP server and the hooks, and add instructions.

    AGENT is claude, codex, opencode, pi, cursor or gemini. Everything else in these files stays byte for byte. Running
    it again changes nothing more.
    """
    if not dry_run:
        refuse_agents("connecting an agent")
    _change(call, name, project, dry_run, remove=False)


@agent.add("remove", _NAME, _PROJECT, DRY_RUN, examples=("nuggets agent remove claude",))
def remove(call: Invocation, name: str, project: bool, dry_run: bool) -> None:
    """Take the server, the hooks and the instructions out of an agent's files, which are then as before."""
    if not dry_run:
        refuse_agents("disconnecting an agent")
    _change(call, name, project, dry_run, remove=True)


def _change(call: Invocation, name: str, project: bool, dry_run: bool, *, remove: bool) -> None:
    from core.agents.targets import AGENT_FILES

    place, how, agent = place_of(project), command_of(call), AGENT_FILES[name]
    here = is_installed(name, place)
    scope: Literal["project", "user"] = "project" if project else "user"
    changes = agent_files.change_agent(name, place, how, remove=remove, dry_run=dry_run)
    changed = agent_files.changed_files(changes)
    lines: list[Line] = []
    if not changed:
        state = "not connected" if remove else "connected already"
        lines.append(f"{agent.title} is {state}; nothing was changed.")
    elif dry_run:
        lines.append(
            f"This would {'disconnect' if remove else 'connect'} {agent.title}. Nothing was changed."
        )
    else:
        lines.append(good(f"{agent.title} is {'no longer connected' if remove else 'connected'}."))
    rows = [
        (dim(one.kind), str(one.path), dim(", ".join(PART_WORDS[part] for part in one.parts)))
        for one in changes
    ]
    lines += table(rows, flexible=1)
    for one in changed if dry_run else ():
        lines += ["", bold(str(one.path)), *diff_lines(agent_files.difference(one))]
    if any(one.kind == "kept" for one in changes):
        lines.append("Another agent still reads the lines that are kept.")
    if changed and not remove:
        lines += filter(None, (agent.without.get(scope, ""), agent.next_step))
        if not dry_run:
            lines.append(
                f"Restart {agent.title}. To check: nuggets doctor. To undo: nuggets agent remove {name}"
            )
    if not remove:
        lines += [] if here else [warn(f"{agent.title} was not found on this machine; its files are ready.")]
        problems = (one for one in standings_of(name, place, how) if one.problem)
        lines += [warn(f"{one.target.path}: {one.problem}") for one in problems]
    document = {
        "version": VERSION, "agent": name, "scope": scope, "dryRun": dry_run, "changed": bool(changed),
        "files": [pick(one, "path parts change=kind", diff=agent_files.difference(one)) for one in changes],
        "next": [*filter(None, [agent.next_step])],
    }  # fmt: skip
    call.answer(document, lines)


@agent.add(
    "status", arg("name", _AGENT, metavar="[AGENT]", required=False), _PROJECT,
    examples=("nuggets agent status", "nuggets agent status claude"),
)  # fmt: skip
def status(call: Invocation, name: str | None, project: bool) -> int:
    """Show whether each agent, or one, is connected to this memory. Exit code 1 when that one is not."""
    from core.agents.targets import AGENT_FILES

    place, agents, rows = place_of(project), list[dict[str, Any]](), list[tuple[str | Span, ...]]()
    for one in [name] if name else NAMES:
        standings, here = standings_of(one, place, command_of(call)), is_installed(one, place)
        files = []
        for number, each in enumerate(standings):
            problem = {"problem": each.problem} if each.problem else {}
            files.append(pick(each.target, "path part", state=each.shown) | problem)
            said = STATE_WORDS[each.shown] + (f": {each.problem}" if each.problem else "")
            said += "; the agent was not found" if number == 0 and each.state == "absent" and not here else ""
            title, part = bold("" if number else AGENT_FILES[one].title), PART_WORDS[each.target.part]
            rows.append((title, part, Span(said, _STYLES[each.shown]), str(each.target.path)))
        works = all(each.works for each in standings)
        agents.append({"agent": one, "installed": here, "connected": works, "files": files})
    document = {"version": VERSION, "scope": "project" if project else "user", "agents": agents}
    call.answer(document, table(rows, flexible=3))
    return 0 if name is None or agents[0]["connected"] else NOT_FOUND


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
    return agent_files.command_for(folder_of(call.folder))


def standings_of(name: str, place: Place, how: Command) -> tuple[Standing, ...]:
    """How each piece of ours stands in the files of an agent."""
    from core.agents.connecting import standings
    from core.agents.targets import targets

    return standings(targets(name, place, how))


# What agents themselves start


@command(
    "mcp", flag("--all-tools", "Also list the tools that few agents need."),
    examples=("claude mcp add nuggets -- nuggets mcp", "codex mcp add nuggets -- nuggets mcp"),
)  # fmt: skip
def mcp(call: Invocation, all_tools: bool) -> None:
    """Serve the memory to an agent that speaks the Model Context Protocol.

    The agent starts this command itself and speaks with it through standard input and output; register it there as in
    the examples. Several agents can each run their own on the same folder.
    """
    folder = call.absolute_folder
    author = author_as(call.as_name) if call.as_name is not None else None
    if author is not None and author.kind != "agent":
        todo = "name an agent, such as codex"
        raise bad_input("an agent writes through this command, not you", "--as", todo=todo)
    call.hand_on_project()
    from nuggets_tui.mcp.server import serve

    if can_ask():
        said = "waiting for an agent on standard input; agents start this command themselves, ctrl+d ends it"
        write_lines([said], to_error=True)
    serve(folder, author, all_tools=all_tools)


@command(
    "hook", arg("agent", metavar="[AGENT]", required=False, default=""),
    arg("more", click.UNPROCESSED, nargs=-1, metavar=""), ignore_unknown_options=True,
    examples=("nuggets hook claude < event.json",),
)  # fmt: skip
def hook(call: Invocation, agent: str, more: tuple[str, ...]) -> None:
    """Take an event of an agent, as JSON on standard input. `nuggets agent install` makes agents call this.

    At the start of a session it prints a briefing. Of a prompt it keeps what begins with "remember that", "always use",
    "I prefer" or "never"; of edits, the paths of the files. It always ends with exit code 0.
    """
    # For its help and for options before its name; else the program begins in `nuggets_tui.hooks`.
    from nuggets_tui.hooks.fast import main

    main([agent, *(("--home", call.home) if call.home else ())])
