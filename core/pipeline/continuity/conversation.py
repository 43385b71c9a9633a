"""The text of a whole conversation as agents keep it: a line of JSON for each message, or plain text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

_WHO: Final = {"user": "User", "assistant": "Assistant", "human": "User"}


def conversation_text(kept: str) -> str:
    """What people and the agent said, without the calls of tools and what these answered; plain text as it is."""
    lines = [line for line in kept.splitlines() if line.strip()]
    messages = [_object(line) for line in lines]
    # The last line may have been cut off in the midst of being written.
    if not lines or any(one is None for one in (messages[:-1] or messages)):
        return kept
    return "\n\n".join(said for one in messages if one is not None for said in _said(one))


def _object(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _said(record: dict[str, Any]) -> Iterator[str]:
    message = record.get("message")
    message = message if isinstance(message, dict) else record
    role = message.get("role") or record.get("type")
    who = _WHO.get(role) if isinstance(role, str) else None
    if who is None:
        return
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    text = "\n".join(one for one in texts if isinstance(one, str) and one.strip())
    if text:
        yield f"{who}: {text.strip()}"
