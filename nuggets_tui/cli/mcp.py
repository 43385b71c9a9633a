"""The `mcp` command: the memory as a server for an agent, over standard input and output."""

from __future__ import annotations

from importlib.util import find_spec

from core.errors import ErrorCode, InvalidInputError
from nuggets_tui.cli.agents import author_as
from nuggets_tui.cli.groups import command, example
from nuggets_tui.cli.invocation import Invocation, can_ask, pass_call
from nuggets_tui.cli.output import write_lines


@command(
    "mcp", epilog=example("claude mcp add nuggets -- nuggets mcp", "codex mcp add nuggets -- nuggets mcp")
)
@pass_call
def mcp(call: Invocation, /) -> None:
    """Serve the memory to an agent that speaks the Model Context Protocol.

    The agent starts this command itself and speaks with it through standard input and output; register it there as in
    the examples. Several agents may each have their own on one folder.
    """
    _check_library()
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
    if can_ask():
        said = "waiting for an agent on standard input; agents start this command themselves, ctrl+d ends it"
        write_lines([said], to_error=True)
    from nuggets_tui.mcp.server import serve

    serve(folder, author)


def _check_library() -> None:
    """Raises InvalidInputError where the optional library is not installed."""
    if find_spec("mcp") is None:
        from core.pipeline.extra import install_command

        raise InvalidInputError(
            "needs the library mcp, which is not installed", where="nuggets mcp",
            todo=f"install it with: {install_command('mcp')}",
        )  # fmt: skip
