"""Notices in the corner: what was done, and for every error what happened, what was kept safe, what to press."""

from __future__ import annotations

from textual.app import App
from textual.dom import DOMNode

from core.errors import NuggetsError
from nuggets_tui.safe_text import safe_block, safe_line

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


def _sentence(text: str) -> str:
    if not text:
        return ""
    return text[0].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def _app(node: DOMNode) -> App[object]:
    return node if isinstance(node, App) else node.app
