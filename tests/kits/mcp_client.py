"""Agents for tests: the official client of the Model Context Protocol, each with a `nuggets mcp` process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, Implementation

# The process writes its number, so that it can be killed, and then becomes the server.
_START: Final = 'echo $$ > "$0"; exec "$@"'
_ROOT: Final = str(Path(__file__).parents[2])
META: Final = "nuggets/error"


class AgentClient:
    """An agent at the end of a real pipe. `pid` is the server's."""

    def __init__(self, portal: BlockingPortal, client: Client, pid: int) -> None:
        self.portal = portal
        self.client = client
        self.pid = pid

    def result(self, tool: str, **arguments: Any) -> CallToolResult:
        """The result of a call, an error or not: one text, and nothing beside it that a client might show instead."""
        found = self.portal.call(self.client.call_tool, tool, arguments)
        assert isinstance(found, CallToolResult)
        assert found.structured_content is None
        return found

    def __call__(self, tool: str, **arguments: Any) -> str:
        """What a model reads of a call that must succeed."""
        found = self.result(tool, **arguments)
        assert not found.is_error, text_of(found)
        return text_of(found)

    def refused(self, tool: str, **arguments: Any) -> str:
        """The code of the error of a call that must fail; a model reads it too, and what to do."""
        found = self.result(tool, **arguments)
        assert found.is_error, text_of(found)
        assert found.meta is not None
        code = str(found.meta[META]["code"])
        head, *_, todo = text_of(found).splitlines()
        assert head.startswith(f"Error {code}: ")
        assert todo.startswith("To do: ")
        assert "Traceback" not in text_of(found)
        return code

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
) -> Iterator[AgentClient]:
    """An agent that calls itself `name`, connected to a server on a folder. folder: where the server is started."""
    number = home.with_name(f"{home.name}.{os.urandom(4).hex()}.pid")
    words = ["-c", _START, str(number), *server_command(home, *options)]
    started = StdioServerParameters(
        command="/bin/sh", args=words, env={**os.environ, "PYTHONPATH": _ROOT, **(environ or {})},
        cwd=folder or home.parent,
    )  # fmt: skip
    client = Client(started, client_info=Implementation(name=name, version="1.0"), mode=mode)  # type: ignore[arg-type]
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
        yield AgentClient(portal, client, int(number.read_text()))


HELLO: Final = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "raw", "version": "1"},
}


def request(id: object, method: str, **params: Any) -> bytes:
    """A request of the protocol as it stands in the pipe; a notification for None."""
    named = {} if id is None else {"id": id}
    return json.dumps({"jsonrpc": "2.0", **named, "method": method, "params": params}).encode() + b"\n"


def call(id: object, tool: str, **arguments: Any) -> bytes:
    """The request that calls a tool."""
    return request(id, "tools/call", name=tool, arguments=arguments)


@contextmanager
def raw_server(
    home: Path, *options: str, folder: Path | None = None
) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes], IO[bytes]]]:
    """The server with nothing but bytes at its three ends; killed if it lives on."""
    with subprocess.Popen(
        [*server_command(home), *options], cwd=folder or home.parent, env={**os.environ, "PYTHONPATH": _ROOT},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            yield process, process.stdin, process.stdout, process.stderr
        finally:
            process.kill()


def answers(
    home: Path, *sent: bytes, options: tuple[str, ...] = (), folder: Path | None = None
) -> dict[Any, list[dict[str, Any]]]:
    """What a server sends to messages, by ids. It must end in order, and say nothing beside the protocol."""
    with raw_server(home, *options, folder=folder) as (process, *_):
        said, complaints = process.communicate(b"".join(sent), timeout=60)
    assert (process.returncode, complaints) == (0, b"")
    found: dict[Any, list[dict[str, Any]]] = {}
    for line in said.splitlines():
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        found.setdefault(message["id"], []).append(message)
    return found
