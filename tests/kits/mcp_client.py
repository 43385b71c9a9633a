"""Agents for tests: the official client of the Model Context Protocol, each with a `nuggets mcp` process of its own."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, Implementation

# The process writes its number, so that it can be killed, and then becomes the server.
_START = 'echo $$ > "$0"; exec "$@"'
META = "nuggets/error"


class ToolRefusedError(AssertionError):
    """A call that had to succeed was refused."""


class AgentClient:
    """An agent at the end of a real pipe. `pid` is the server's."""

    def __init__(self, portal: BlockingPortal, client: Client, pid: int) -> None:
        self.portal = portal
        self.client = client
        self.pid = pid

    def result(self, tool: str, **arguments: Any) -> CallToolResult:
        """The result of a call, an error or not; the client checks structured content by the tool's schema."""
        found = self.portal.call(self.client.call_tool, tool, arguments)
        assert isinstance(found, CallToolResult)
        return found

    def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a call that must succeed."""
        found = self.result(tool, **arguments)
        if found.is_error:
            raise ToolRefusedError(text_of(found))
        assert isinstance(found.structured_content, dict)
        return found.structured_content

    def text(self, tool: str, **arguments: Any) -> str:
        """What a model reads of a call that must succeed."""
        found = self.result(tool, **arguments)
        assert not found.is_error, text_of(found)
        return text_of(found)

    def refused(self, tool: str, **arguments: Any) -> dict[str, str]:
        """The error of a call that must fail, as programs read it; for a model it says the same in words."""
        found = self.result(tool, **arguments)
        assert found.is_error, found.structured_content
        assert found.meta is not None
        told: dict[str, str] = found.meta[META]
        text = text_of(found)
        assert text.startswith(f"Error {told['code']}: ")
        assert told["what"] in text
        assert "Traceback" not in text
        assert told["todo"], told
        return told

    def kill(self) -> None:
        """Ends the server as nothing can keep it from being ended."""
        os.kill(self.pid, signal.SIGKILL)


def text_of(result: CallToolResult) -> str:
    """The text of a result."""
    assert len(result.content) == 1
    assert result.content[0].type == "text"
    return result.content[0].text


def server_command(home: Path, *options: str) -> list[str]:
    """What starts the server on a folder."""
    return [sys.executable, "-m", "nuggets_tui", "--home", str(home), *options, "mcp"]


@contextmanager
def connected(
    home: Path,
    *,
    name: str = "claude-code",
    mode: str = "auto",
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
    options: tuple[str, ...] = (),
    command: Sequence[str] = (),
) -> Iterator[AgentClient]:
    """An agent that calls itself `name`, connected to a server on a folder. folder: where the server is started.
    command: starts another server in its place.
    """
    number = home.with_name(f"{home.name}.{os.urandom(4).hex()}.pid")
    words = ["-c", _START, str(number), *(command or server_command(home, *options))]
    root = str(Path(__file__).parents[2])
    started = StdioServerParameters(
        command="/bin/sh", args=words, env={**os.environ, "PYTHONPATH": root, **(environ or {})},
        cwd=folder or home.parent,
    )  # fmt: skip
    client = Client(started, client_info=Implementation(name=name, version="1.0"), mode=mode)  # type: ignore[arg-type]
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
        yield AgentClient(portal, client, int(number.read_text()))


def json_line(**message: Any) -> bytes:
    """A message of the protocol as it stands in the pipe."""
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
