"""What can be done about an error, as the app says it: with its keys, where a shell would need a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors import (
    ListThings,
    Redo,
    Remedy,
    Repair,
    Resolve,
    Restore,
    ShowLog,
    Undo,
    Verify,
    as_command,
    opens_with_command,
)
from nuggets_tui.key_map import DEFAULT, KeyMap

if TYPE_CHECKING:
    from core.errors import Notice, NuggetsError

_REPAIR = {
    "": "{verify} checks and repairs it",
    "or-copy": "{verify} checks and repairs it, or restore a good copy of it",
    "facts": "{verify} restores the facts",
    "again": "{verify} repairs the file",
    "go-on": "{verify} continues it",
}
_RESOLVE = {
    "settle": "{conflicts} resolves it",
    "once-more": "{conflicts} resolves it again",
    "list": "{conflicts} lists the waiting conflicts",
    "waits": "your change waits in the audit log: {conflicts} resolves it",
}


def in_keys(remedy: Remedy | None, keys: KeyMap = DEFAULT) -> str:
    """A remedy in the app's keys, and as a command where the app has no key for it; "" for none."""
    return keys.filled(_words(remedy)) if remedy is not None else ""


def step(error: NuggetsError, keys: KeyMap = DEFAULT) -> str:
    """What to do about an error, in a clause; "" for nothing."""
    return "; ".join(filter(None, (in_keys(error.remedy, keys), error.more)))


def message(error: NuggetsError, keys: KeyMap = DEFAULT) -> str:
    """An error in one line."""
    head = f"{error.where}: {error.what}" if error.where else error.what
    return "; ".join(filter(None, (head, error.kept, step(error, keys))))


def notice_in_keys(notice: str | Notice, keys: KeyMap = DEFAULT) -> str:
    """A notice of the engine in the app's keys."""
    from core.errors import Notice

    if not isinstance(notice, Notice) or notice.remedy is None:
        return notice
    return "; ".join(filter(None, (notice.said, in_keys(notice.remedy, keys), notice.more)))


def is_typed(remedy: Remedy | None) -> bool:
    """Whether what `in_keys` says begins with a key or a command, which is not to be written with a capital letter."""
    if remedy is None:
        return False
    words = _in_words(remedy)
    return opens_with_command(remedy) if words is None else words[:1] == "{"


def _words(remedy: Remedy) -> str:
    words = _in_words(remedy)
    return as_command(remedy) if words is None else words


def _in_words(remedy: Remedy) -> str | None:
    """A remedy with names of the app's commands in place of their keys; None where a shell is told the same."""
    match remedy:
        case Verify(repairable):
            return "{verify} shows " + ("whether it can be repaired" if repairable else "what to do")
        case Repair(what):
            return _REPAIR[what]
        case Restore("copy"):
            return "repair it, or restore a good copy with {restore}"
        case Restore():
            return "{restore} lists the backups"
        case ShowLog(others):
            more = "; open one with enter, then {undo} undoes it" if others else ""
            return "the audit log lists them ({pane_audit})" + more
        case Undo(_, go_on):
            return "open its entry in the audit log; {undo} " + ("continues it" if go_on else "undoes it")
        case Redo(""):
            return "a new change came since; open the older entry in the audit log, then {redo} redoes it"
        case Redo():
            return "open its entry in the audit log; {redo} redoes it"
        case Resolve(_, what):
            return _RESOLVE.get(what)
        case ListThings("notes" | "note-ids", unread):
            more = "; unreadable notes are not in it: {verify} checks them" if unread else ""
            return "choose one in the list of notes" + more
        case _:
            return None
