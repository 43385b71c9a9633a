"""Notices in the corner: what was done, and for every error what happened, what was kept safe, what to press."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from textual.app import App
from textual.dom import DOMNode
from textual.screen import Screen

from core.errors import NuggetsError
from core.settings import SETTINGS_FILE
from nuggets_tui.key_map import DEFAULT, KeyMap, keys_of
from nuggets_tui.safe_text import safe_block, safe_line

_Result = TypeVar("_Result")
_SECONDS = 5.0
_ERROR_SECONDS = 12.0
_MOST_WRONG: Final = 4
# What the engine says for a shell, and how it is done with a key of the app.
_KEYS: Final = (
    (r"nuggets verify --repair(?: mends it)?", "{verify} checks and repairs it"),
    (r"nuggets verify\b(?! -)", "{verify}"),
    (r"nuggets restore lists (?:them|the backups)", "{restore} lists the backups"),
    (r"with: nuggets restore\b(?! \w)", "with {restore}"),
    (r"nuggets resolve \w+ settles it", "{conflicts} settles it"),
    (r"nuggets log lists (?:them|what others did)", "the audit log lists them ({audit})"),
    (r"nuggets undo ID takes one back", "there, enter and then {undo} takes one back"),
    (r"nuggets redo \S+ does it again", "in its entry of the audit log, {redo} does it again"),
    (r"by its id: nuggets redo ID", "from its entry of the audit log, with {redo}"),
    (r"nuggets notes (?:--json )?lists (?:them|all ids)", "the list of notes shows what there is"),
)
# Begins with a key or a command, which are not written with a capital letter.
_AS_IT_IS: Final = re.compile(r"(?:nuggets|[b-z]) ")


def say(node: DOMNode, text: str) -> None:
    """A short notice of something done."""
    _app(node).notify(safe_block(text, 1000), markup=False, timeout=_SECONDS)


def warn(node: DOMNode, text: str) -> None:
    """A notice of something to know about."""
    said = safe_block(in_keys(text, keys_of(node)), 1000)
    _app(node).notify(said, markup=False, severity="warning", timeout=_ERROR_SECONDS)


def tell_wrong_settings(node: DOMNode, wrong: Sequence[str]) -> None:
    """A notice of what settings.toml asks for and cannot have, a few of it in full."""
    if wrong:
        more = [f"{len(wrong) - _MOST_WRONG} more are not followed."] if len(wrong) > _MOST_WRONG else []
        lines = "\n".join([*wrong[:_MOST_WRONG], *more])
        said = safe_block(lines, 1000)
        _app(node).notify(said, title=SETTINGS_FILE, markup=False, severity="warning", timeout=_ERROR_SECONDS)


def say_error(node: DOMNode, error: Exception, typed: str = "") -> None:
    """A notice of an error: what happened and where, what was kept safe, what to do. `typed` as in `told_error`."""
    title, body = told_error(error, typed, keys_of(node))
    _app(node).notify(body, title=title, markup=False, severity="error", timeout=_ERROR_SECONDS)


def in_keys(text: str, keys: KeyMap = DEFAULT) -> str:
    """A text of the engine with the app's keys in place of shell commands, where there are such keys."""
    for command, key in _KEYS:
        text = re.sub(command, partial(_literally, keys.filled(key)), text)
    return text


def _literally(text: str, _: re.Match[str]) -> str:
    return text


def told_error(error: Exception, typed: str = "", keys: KeyMap = DEFAULT) -> tuple[str, str]:
    """An error as a heading and a few lines, harmless for the terminal.

    typed: what became of a text that is still being written. Its dialog takes every key, and to leave it is to lose
    the text, so commands stay commands of another terminal then.
    """
    if isinstance(error, NuggetsError):
        todo = _elsewhere(error.todo) if typed else in_keys(error.todo, keys)
        lines = [error.where, _sentence(error.kept), typed, _sentence(todo)]
        return _sentence(safe_line(error.what, 300)), "\n".join(
            safe_line(line, 500) for line in lines if line
        )
    said = [
        safe_line(f"{type(error).__name__}: {error}", 300),
        typed,
        "Nothing else was changed. Trying again may help.",
    ]
    return "Something went wrong inside the app.", "\n".join(line for line in said if line)


async def attempt(screen: Screen[Any], asked: Awaitable[_Result], typed: str = "") -> _Result | None:
    """The result of something asked of the memory; None when it failed, which a notice then says.

    typed: as in `told_error`.

    Nothing that goes wrong there may end the app or close a dialog with typed text in it.
    """
    try:
        return await asked
    except Exception as error:
        screen.log.error(error)
        if screen.is_mounted:
            say_error(screen, error, typed)
        return None


def _elsewhere(todo: str) -> str:
    return f"in another terminal, {todo}" if todo.startswith("nuggets ") else todo


def _sentence(text: str) -> str:
    if not text:
        return ""
    head = text[0] if _AS_IT_IS.match(text) else text[0].upper()
    return head + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def _app(node: DOMNode) -> App[object]:
    return node if isinstance(node, App) else node.app
