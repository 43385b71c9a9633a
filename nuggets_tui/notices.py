"""Notices in the corner: what was done, and for every error what happened, what was kept safe, what to press."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, TypeVar

from textual.app import App
from textual.dom import DOMNode
from textual.screen import Screen

from core.errors import NuggetsError
from nuggets_tui.safe_text import safe_block, safe_line

_Result = TypeVar("_Result")
_SECONDS = 5.0
_ERROR_SECONDS = 12.0


def say(node: DOMNode, text: str) -> None:
    """A short notice of something done."""
    _app(node).notify(safe_block(text, 1000), markup=False, timeout=_SECONDS)


def warn(node: DOMNode, text: str) -> None:
    """A notice of something to know about."""
    _app(node).notify(safe_block(text, 1000), markup=False, severity="warning", timeout=_ERROR_SECONDS)


def say_error(node: DOMNode, error: Exception) -> None:
    """A notice of an error: what happened and where, what was kept safe, what to do."""
    title, body = told_error(error)
    _app(node).notify(body, title=title, markup=False, severity="error", timeout=_ERROR_SECONDS)


def told_error(error: Exception) -> tuple[str, str]:
    """An error as a heading and a few lines, harmless for the terminal."""
    if isinstance(error, NuggetsError):
        lines = [error.where, _sentence(error.kept), _sentence(error.todo)]
        return _sentence(safe_line(error.what, 300)), "\n".join(
            safe_line(line, 500) for line in lines if line
        )
    return (
        "Something went wrong inside the app.",
        f"{safe_line(f'{type(error).__name__}: {error}', 300)}\nNothing else was changed. Trying again may help.",
    )


async def attempt(screen: Screen[Any], asked: Awaitable[_Result]) -> _Result | None:
    """The result of something asked of the memory; None when it failed, which a notice then says.

    Nothing that goes wrong there may end the app or close a dialog with typed text in it.
    """
    try:
        return await asked
    except Exception as error:
        screen.log.error(error)
        if screen.is_mounted:
            say_error(screen, error)
        return None


def _sentence(text: str) -> str:
    if not text:
        return ""
    return text[0].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def _app(node: DOMNode) -> App[object]:
    return node if isinstance(node, App) else node.app
