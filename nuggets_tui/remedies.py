"""What can be done about an error, as the app says it: with its keys, where a shell would need a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors import Remedy, as_command, opens_with_command
from nuggets_tui.key_map import DEFAULT, KeyMap

if TYPE_CHECKING:
    from core.errors import Notice, NuggetsError

# By the remedy's name, with names of the app's commands in place of their keys; a shell is told the same of the rest.
_IN_APP = {
    "verify": "{verify} shows what to do",
    "verify-repairable": "{verify} shows whether it can be repaired",
    "repair": "{verify} checks and repairs it",
    "repair-or-copy": "{verify} checks and repairs it, or restore a good copy of it",
    "repair-facts": "{verify} restores the facts",
    "repair-again": "{verify} repairs the file",
    "repair-go-on": "{verify} continues it",
    "restore": "{restore} lists the backups",
    "restore-copy": "repair it, or restore a good copy with {restore}",
    "log": "the audit log lists them ({pane_audit})",
    "log-others": "the audit log lists them ({pane_audit}); open one with enter, then {undo} undoes it",
    "undo": "open its entry in the audit log; {undo} undoes it",
    "undo-go-on": "open its entry in the audit log; {undo} continues it",
    "redo": "open its entry in the audit log; {redo} redoes it",
    "redo-older": "a new change came since; open the older entry in the audit log, then {redo} redoes it",
    "resolve": "{conflicts} resolves it",
    "resolve-again": "{conflicts} resolves it again",
    "resolve-list": "{conflicts} lists the waiting conflicts",
    "resolve-waiting": "your change waits in the audit log: {conflicts} resolves it",
    "list-notes": "choose one in the list of notes",
    "list-notes-unread": "choose one in the list of notes; unreadable notes are not in it: {verify} checks them",
    "list-note-ids": "choose one in the list of notes",
}


def in_keys(remedy: Remedy | None, keys: KeyMap = DEFAULT) -> str:
    """A remedy in the app's keys, and as a command where the app has no key for it; "" for none."""
    if remedy is None:
        return ""
    return keys.filled(_IN_APP.get(remedy.name) or as_command(remedy))


def step(error: NuggetsError, keys: KeyMap = DEFAULT) -> str:
    """What to do about an error, in a clause; "" for nothing."""
    return "; ".join(filter(None, (in_keys(error.remedy, keys), error.more)))


def message(error: NuggetsError, keys: KeyMap = DEFAULT) -> str:
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
    words = _IN_APP.get(remedy.name)
    return opens_with_command(remedy) if words is None else words[:1] == "{"
