"""What an agent sends, line by line: each call becomes one that the SDK answers, or is answered here."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Final

import anyio
import mcp_types as types
from anyio.abc import ObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from core.text.normalise import encodable

_PARTS: Final = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")(\s*:\s*)?|[{}\[\]]', re.DOTALL)
_ID: Final = re.compile(r'-?\d{1,18}(?![\d.eE])|"[^"\\]{0,200}"')


def standard_input() -> anyio.AsyncFile[str]:
    """Standard input for nobody but the server: programs that it starts read nothing there."""
    own = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    # Left open: a thread may still wait for the next line when the server ends.
    return anyio.wrap_file(open(own, encoding="utf-8", errors="replace", closefd=False))


async def pass_on(
    lines: anyio.AsyncFile[str],
    asked: ObjectSendStream[SessionMessage],
    sent: ObjectSendStream[SessionMessage],
) -> None:
    """Passes on what the SDK can read, and answers what it would leave without a word."""
    async with asked:
        async for line in lines:
            for message in messages_in(line):
                stream = sent if isinstance(message, types.JSONRPCError) else asked
                await stream.send(SessionMessage(message))


def messages_in(line: str) -> list[types.JSONRPCMessage]:
    """What a line says; a call that cannot be read as the error that answers it. Halves of characters are replaced."""
    try:
        said = whole(json.loads(line))
        said = said if isinstance(said, list) and said else [said]
        return [message for one in said if (message := _message(one)) is not None]
    except (ValueError, RecursionError) as error:
        what = "nested too deeply" if isinstance(error, RecursionError) else "not JSON"
        return [_refused(_id_in(line), types.PARSE_ERROR, f"Parse error: {what}")] if line.strip() else []


def _message(said: Any) -> types.JSONRPCMessage | None:
    """A message; None for an answer to something that the server never asked."""
    asked = said if isinstance(said, dict) else {"method": None}
    if "method" not in asked and {"result", "error"} & asked.keys():
        return None
    number = asked.get("id")
    number = number if isinstance(number, str | int) and not isinstance(number, bool) else None
    try:
        message = types.jsonrpc_message_adapter.validate_python(said, by_name=False)
    except ValidationError:
        return _refused(number, types.INVALID_REQUEST, "Invalid request")
    if isinstance(message, types.JSONRPCNotification) and "id" in asked:
        return _refused(None, types.INVALID_REQUEST, "Invalid request: id must be a text or an integer")
    return message


def _refused(number: str | int | None, code: int, what: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=number, error=types.ErrorData(code=code, message=what))


def _id_in(line: str) -> str | int | None:
    """The id of a message that is not quite JSON: the value of its own field "id", none deeper."""
    depth = 0
    for part in _PARTS.finditer(line):
        if part[0] in "{[":
            depth += 1
        elif part[0] in "}]":
            depth -= 1
        elif depth == 1 and part[1] == '"id"' and part[2]:
            found = _ID.match(line, part.end())
            return json.loads(found[0], strict=False) if found else None
    return None


def whole(value: Any) -> Any:
    """A value whose texts can be sent and stored: each half of a character, which UTF-8 cannot hold, as U+FFFD."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {encodable(name): whole(one) for name, one in value.items()}
    return [whole(one) for one in value] if isinstance(value, list) else value
