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
    "or-copy": "{verify} checks and repairs it, or put back a good copy of it",
    "facts": "{verify} brings the facts back",
    "again": "{verify} makes the file sound again",
    "go-on": "{verify} goes on with it",
}
_RESOLVE = {
    "settle": "{conflicts} settles it",
    "once-more": "{conflicts} settles it once more",
    "list": "{conflicts} shows those that do",
    "waits": "your change waits in the log: {conflicts} settles it",
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


def notice_in_keys(told: str | Notice, keys: KeyMap = DEFAULT) -> str:
    """A notice of the engine in the app's keys."""
    from core.errors import Notice

    if not isinstance(told, Notice) or told.remedy is None:
        return told
    return "; ".join(filter(None, (told.said, in_keys(told.remedy, keys), told.more)))


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
        case Verify(mendable):
            return "{verify} says " + ("whether it can be mended" if mendable else "what to do")
        case Repair(what):
            return _REPAIR[what]
        case Restore("copy"):
            return "mend it, or put back a good copy with {restore}"
        case Restore():
            return "{restore} lists the backups"
        case ShowLog(others):
            more = "; there, enter and then {undo} takes one back" if others else ""
            return "the audit log lists them ({audit})" + more
        case Undo(_, go_on):
            return "in its entry of the audit log, {undo} " + (
                "goes on with it" if go_on else "takes it back"
            )
        case Redo(""):
            return (
                "a change that was taken back before the last new one is done again from its entry of the audit log, "
                "with {redo}"
            )
        case Redo():
            return "in its entry of the audit log, {redo} does it again"
        case Resolve(_, what):
            return _RESOLVE.get(what)
        case ListThings("notes" | "note-ids", unread):
            more = "; notes that cannot be read are not among them: {verify}" if unread else ""
            return "the list of notes shows what there is" + more
        case _:
            return None
