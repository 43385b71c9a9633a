"""Notices in the corner: what was done, and for every error what happened, what was kept safe, what to press."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from textual.app import App
from textual.content import Content
from textual.dom import DOMNode
from textual.notifications import Notification, SeverityLevel
from textual.screen import Screen

from core.errors import NuggetsError, Remedy, UnfinishedError, as_command, opens_with_command
from core.settings import SETTINGS_FILE
from nuggets_tui.commands import DEFAULT, KeyMap, keys_of
from nuggets_tui.safe_text import safe_block, safe_line
from nuggets_tui.textual_adapter import notices_of, take_away

if TYPE_CHECKING:
    from core.errors import Notice

_Result = TypeVar("_Result")
_SECONDS: Final[Mapping[SeverityLevel, float]] = {"information": 4.0, "warning": 6.0, "error": 12.0}
# So many stand at once, the newest: more would cover what somebody works on.
_MOST: Final = 2
# Lines that what was done may have among all notices, and cells of the frame of one.
_MOST_LINES: Final = 3
_FRAME: Final = 3
# Characters of a notice of something done, and of one to know about.
_LONGEST, _LONGEST_WARNING = 240, 500
_MOST_WRONG: Final = 2


def notify(node: DOMNode, text: str) -> None:
    _post(node, safe_block(text, _LONGEST), "information")


def warn(node: DOMNode, text: str) -> None:
    """A notice of something to know about."""
    # No first frame warns of anything.

    _post(node, safe_block(notice_in_keys(text, keys_of(node)), _LONGEST_WARNING), "warning")


def make_room(app: App[Any], coming: Notification) -> None:
    """Takes older notices away before another comes, so that few stand; the same one stands once."""
    said = coming.title, coming.message
    _dismiss(app, lambda notice: (notice.title, notice.message) == said)
    # What somebody has to know about stays before what was done.
    there = sorted(notices_of(app), key=lambda one: (one.severity != "information", one.raised_at))
    gone = {notice.identity for notice in there[: max(len(there) - _MOST + 1, 0)]}
    left = [notice for notice in there if notice.identity not in gone]
    # Together they take few lines; what was done gives way.
    while left and left[0].severity == "information" and not _fits(app, [*left, coming]):
        gone.add(left.pop(0).identity)
    _dismiss(app, lambda notice: notice.identity in gone)
    for screen in app.screen_stack:
        place_notices(screen)


def place_notices(screen: Screen[Any]) -> None:
    """Has notices stand at that end of the screen where they cover no row that keys act on."""
    low = 2 * getattr(screen.focused, "cursor_line", 0) >= screen.size.height
    screen.query("ToastRack").set_class(low, "-above")


def dismiss_information(node: DOMNode) -> None:
    """Takes notices of things done off the screen: a dialog that opens has other things to show at their place.

    What somebody has to know about stays its time.
    """
    _dismiss(_app(node), lambda notice: notice.severity == "information")


def dismiss_errors(node: DOMNode) -> None:
    """Takes errors off the screen: what they were about is mended, or given up."""
    _dismiss(_app(node), lambda notice: notice.severity == "error")


def dismiss_all(node: DOMNode) -> None:
    _dismiss(_app(node), lambda notice: True)


def _fits(app: App[Any], notices: Sequence[Notification]) -> bool:
    width = app.size.width - _FRAME
    lines = [line for one in notices for line in (one.title, one.message) if line]
    return sum(Content(line).get_height({}, max(width, 1)) for line in lines) <= _MOST_LINES


def notify_wrong_settings(node: DOMNode, wrong: Sequence[str]) -> None:
    """A notice of what settings.toml asks for and cannot have, a few of it in full."""
    if wrong:
        # The last one takes no more room than to say that there is one more.
        most = len(wrong) if len(wrong) <= _MOST_WRONG + 1 else _MOST_WRONG
        more = len(wrong) - most
        rest = [f"{more} more: run `nuggets status` to list all {len(wrong)}."] if more else []
        lines = "\n".join([*wrong[:most], *rest])
        _post(node, safe_block(lines, _LONGEST_WARNING), "warning", SETTINGS_FILE)


def notify_error(node: DOMNode, error: Exception, typed: str = "") -> None:
    """A notice of an error: what happened and where, what was kept safe, what to do. `typed` as in `describe_error`."""
    title, body = describe_error(error, typed, keys_of(node))
    _post(node, body, "error", title)


def describe_error(error: Exception, typed: str = "", keys: KeyMap = DEFAULT) -> tuple[str, str]:
    """An error as a heading and a few lines, harmless for the terminal.

    typed: what became of a text that is still being written. Its dialog takes every key, and to leave it is to lose
    the text, so commands stay commands of another terminal then.
    """
    if isinstance(error, NuggetsError):
        lines = [error.where, _sentence(error.kept), typed, next_sentence(error, keys, elsewhere=bool(typed))]
        return _sentence(safe_line(error.what, 300)), "\n".join(
            safe_line(line, 500) for line in lines if line
        )
    said = [
        safe_line(f"{type(error).__name__}: {error}", 300),
        typed,
        "Nothing else changed. Try again.",
    ]
    return "Something went wrong inside the app.", "\n".join(line for line in said if line)


async def attempt(screen: Screen[Any], asked: Awaitable[_Result], typed: str = "") -> _Result | None:
    """The result of something asked of the memory; None when it failed, which a notice then says.

    typed: as in `describe_error`.

    Nothing that goes wrong there may end the app or close a dialog with typed text in it.
    """
    try:
        return await asked
    except Exception as error:
        screen.log.error(error)
        if screen.is_mounted:
            notify_error(screen, error, "" if isinstance(error, UnfinishedError) else typed)
        return None


def next_sentence(error: NuggetsError, keys: KeyMap = DEFAULT, *, elsewhere: bool = False) -> str:
    """What to do about an error, in a sentence; "" for nothing. elsewhere: no key of the app can be pressed now."""

    if not elsewhere:
        return _sentence(step(error, keys), as_it_is=is_typed(error.remedy))
    return _sentence(f"in another terminal, {error.todo}" if opens_with_command(error.remedy) else error.todo)


def _sentence(text: str, *, as_it_is: bool = False) -> str:
    if not text:
        return ""
    head = text[0] if as_it_is else text[0].upper()
    return head + text[1:] + ("" if text[-1] in ".?!" else ".")


def _post(node: DOMNode, said: str, severity: SeverityLevel, title: str = "") -> None:
    _app(node).notify(said, title=title, markup=False, severity=severity, timeout=_SECONDS[severity])


def _dismiss(app: App[object], which: Callable[[Notification], bool]) -> None:
    take_away(app, list(filter(which, notices_of(app))))


def _app(node: DOMNode) -> App[object]:
    return node if isinstance(node, App) else node.app


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
