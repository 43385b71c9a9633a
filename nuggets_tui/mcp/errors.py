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
_NOTHING_DONE: Final = "nothing was changed"
# What a tool is told where the engine's own words are for somebody at a shell.
_TODO: Final[Mapping[ErrorCode, str]] = {
    ErrorCode.NOTHING_TO_CHANGE: "give content, title, addTags, removeTags or metadata",
    ErrorCode.NO_MEMORY_PAGE: "ask the user to set promotion.memory_dir in settings.toml",
    ErrorCode.EMPTY_ID: "give the id of a note; searchNotes finds it",
    ErrorCode.BAD_NAME: "use another name",
    ErrorCode.SAME_NOTE: "name two different notes",
}


class ToolError(Exception):
    """What an agent is told: the code of the error, what, where, what is safe, and what to do; "" for nothing."""

    def __init__(self, code: str, what: str, *, where: str = "", kept: str = "", todo: str = "") -> None:
        super().__init__(what)
        self.code = code
        self.what = what
        self.where = where
        self.kept = kept
        self.todo = todo

    @classmethod
    def of(cls, error: NuggetsError) -> ToolError:
        """An error of the engine."""
        remedy: Remedy | None = error.remedy
        if isinstance(error, ConflictError) and error.entry:
            remedy = Resolve(error.entry, "waits")
        todo = _TODO.get(error.code) or "; ".join(filter(None, (_as_tool(remedy), error.more)))
        if not todo:
            mistyped = isinstance(error, InvalidInputError | NotFoundError)
            todo = "call it again with other arguments" if mistyped else "tell the user"
        return cls(error.code.value, error.what, where=error.where, kept=error.kept, todo=todo)

    @classmethod
    def of_arguments(cls, tool: str, error: Exception) -> ToolError:
        """Arguments that are not what the tool takes."""
        return cls(
            ErrorCode.INVALID_INPUT.value,
            str(error),
            where=tool,
            kept=_NOTHING_DONE,
            todo="call it again with arguments that fit its schema",
        )

    @classmethod
    def of_system(cls, error: OSError) -> ToolError:
        """What the system refused."""
        path = Path(os.fsdecode(error.filename)) if error.filename else Path()
        return cls(
            ErrorCode.STORAGE.value,
            error.strerror or str(error),
            where=str(error.filename or ""),
            todo=advice(error, path) or "tell the user",
        )

    @classmethod
    def of_bug(cls, error: Exception) -> ToolError:
        """What nobody foresaw. Where it happened goes to standard error, if NUGGETS_DEBUG asks for it."""
        if os.environ.get("NUGGETS_DEBUG") == "1":
            traceback.print_exception(error)
        return cls(
            "bug",
            f"this is a bug in nuggets-tui: {type(error).__name__}",
            kept="no file is left half written, for files are only replaced whole",
            todo="tell the user; NUGGETS_DEBUG=1 shows where it happened",
        )

    def result(self) -> dict[str, Any]:
        """The error as the result of a call; beside the text its code, for programs."""
        head = f"{self.where}: {self.what}" if self.where else self.what
        lines = (
            f"Error {self.code}: {head}",
            f"Safe: {self.kept}" if self.kept else "",
            f"To do: {self.todo}" if self.todo else "",
        )
        text = "\n".join(plain(line) for line in lines if line)
        return {
            "content": [{"type": "text", "text": text}],
            "isError": True,
            "_meta": {META: {"code": self.code}},
        }


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
