"""What went wrong, as an agent can act on it: a code, what happened, what is safe, and what to do with the tools."""

from __future__ import annotations

import os
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from core.errors import (
    AllowWriting,
    CheckDisk,
    ConflictError,
    ErrorCode,
    FreeSpace,
    GiveAccess,
    InvalidInputError,
    ListThings,
    NameIt,
    NotFoundError,
    NuggetsError,
    Remedy,
    Resolve,
    TryAgain,
    advice,
    as_command,
    by_hand,
)
from nuggets_tui.safe_text import plain

# Beside the text, for programs; no structured content, whose shape is that of an answer.
META: Final = "nuggets/error"
_TELL: Final = "tell the user"
# What a tool is told where the engine's own words are for somebody at a shell.
_TODO: Final[Mapping[ErrorCode, str]] = {
    ErrorCode.NOTHING_TO_CHANGE: "give content, title, addTags, removeTags or metadata",
    ErrorCode.NO_MEMORY_PAGE: "ask the user to set promotion.memory_dir in settings.toml",
    ErrorCode.EMPTY_ID: "give the id of a note; searchNotes finds it",
    ErrorCode.BAD_NAME: "use another name",
    ErrorCode.SAME_NOTE: "name two different notes",
}


def refusal(error: Exception) -> dict[str, Any]:
    """An error as the result of a call; beside the text its code, for programs."""
    code, what, where, kept, todo = _told(error)
    lines = [f"Error {code}: {where}: {what}" if where else f"Error {code}: {what}"]
    lines += [f"Safe: {kept}"] if kept else []
    text = "\n".join(plain(line) for line in (*lines, f"To do: {todo}"))
    return {"content": [{"type": "text", "text": text}], "isError": True, "_meta": {META: {"code": code}}}


def _told(error: Exception) -> tuple[str, str, str, str, str]:
    """Of an error the code, what happened and where, what is safe, and what to do."""
    if isinstance(error, NuggetsError):
        return error.code.value, error.what, error.where, error.kept, _to_do(error)
    if isinstance(error, OSError):
        where = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
        todo = advice(error, Path(where)) or _TELL
        return ErrorCode.STORAGE.value, error.strerror or str(error), where, "", todo
    if os.environ.get("NUGGETS_DEBUG") == "1":
        traceback.print_exception(error)
    return (
        "bug", f"this is a bug in nuggets-tui: {type(error).__name__}", "",
        "no file is left half written, for files are only replaced whole",
        f"{_TELL}; NUGGETS_DEBUG=1 shows where it happened",
    )  # fmt: skip


def _to_do(error: NuggetsError) -> str:
    remedy = error.remedy
    if isinstance(error, ConflictError) and error.entry:
        remedy = Resolve(error.entry, "waits")
    todo = _TODO.get(error.code) or "; ".join(filter(None, (_as_tool(remedy), error.more)))
    mistyped = isinstance(error, InvalidInputError | NotFoundError)
    return todo or ("call it again with other arguments" if mistyped else _TELL)


def _as_tool(remedy: Remedy | None) -> str:
    """What can be done about an error, with the tools; else by the user, who has the command line."""
    match remedy:
        case None:
            return ""
        case ListThings("notes" | "note-ids"):
            return "searchNotes finds notes and their ids"
        case NameIt(what):
            return f"give {what}"
        case TryAgain():
            return "call the tool again"
        case FreeSpace() | GiveAccess() | AllowWriting() | CheckDisk():
            return f"tell the user: {by_hand(remedy)}"
        case _:
            return f"tell the user: {as_command(remedy)}"
