"""The `mcp` command: the memory as a server for an agent, over standard input and output."""

from __future__ import annotations

import click

from core.errors import ErrorCode, InvalidInputError
from nuggets_tui.cli.calling_agent import author_as
from nuggets_tui.cli.groups import command, example
from nuggets_tui.cli.invocation import Invocation, can_ask, pass_call
from nuggets_tui.cli.output import write_lines


@command(
    "mcp", epilog=example("claude mcp add nuggets -- nuggets mcp", "codex mcp add nuggets -- nuggets mcp")
)
@click.option("--all-tools", is_flag=True, help="List the tools that few agents need as well.")
@pass_call
def mcp(call: Invocation, /, all_tools: bool) -> None:
    """Serve the memory to an agent that speaks the Model Context Protocol.

    The agent starts this command itself and speaks with it through standard input and output; register it there as in
    the examples. Several agents may each have their own on one folder.
    """
    folder = call.folder.absolute()
    if folder.exists() and not folder.is_dir():
        raise InvalidInputError(
            "is not a folder",
            code=ErrorCode.WRONG_KIND_OF_FILE,
            where=str(folder),
            todo="name the folder of a memory",
        )
    author = author_as(call.as_name) if call.as_name is not None else None
    if author is not None and author.kind != "agent":
        raise InvalidInputError(
            "an agent writes through this command, not you",
            where="--as",
            kept="nothing was changed",
            todo="name an agent, such as codex",
        )
    call.hand_on_project()
    from nuggets_tui.mcp.server import serve

    if can_ask():
        said = "waiting for an agent on standard input; agents start this command themselves, ctrl+d ends it"
        write_lines([said], to_error=True)
    serve(folder, author, all_tools=all_tools)
