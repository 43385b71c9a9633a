"""The app's own two themes; the only place where colours are written down."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from textual.theme import BUILTIN_THEMES, Theme

from nuggets_tui.keys import nearest

_NAMED: Final = 40

DARK: Final = Theme(
    name="nuggets-dark",
    dark=True,
    primary="#d9a94e",
    secondary="#6fa8a6",
    accent="#e0b562",
    foreground="#d3cfc5",
    background="#16181c",
    surface="#1c1f24",
    panel="#262a31",
    success="#8fb573",
    warning="#dd9a5b",
    error="#d9736a",
    variables={
        "border": "#d9a94e",
        "border-blurred": "#3a4049",
        "text-muted": "#9a9ea6",
        "text-disabled": "#6f747e",
        "text-accent": "#e0b562",
        "text-secondary": "#82bab8",
        "text-success": "#9cc281",
        "text-warning": "#e0a56c",
        "text-error": "#e5877e",
        "block-cursor-background": "#35322a",
        "block-cursor-foreground": "#f4ead2",
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": "#23262c",
        "block-cursor-blurred-foreground": "#d3cfc5",
        "block-hover-background": "#20242a",
        "input-selection-background": "#d9a94e 30%",
        "scrollbar": "#343a43",
        "scrollbar-hover": "#4a525e",
        "scrollbar-active": "#d9a94e",
        "scrollbar-background": "#16181c",
        "scrollbar-background-hover": "#16181c",
        "scrollbar-background-active": "#16181c",
        "scrollbar-corner-color": "#16181c",
    },
)

LIGHT: Final = Theme(
    name="nuggets-light",
    dark=False,
    primary="#9a6a10",
    secondary="#2d7472",
    accent="#8c5f0a",
    foreground="#33302a",
    background="#faf7f0",
    surface="#f4f0e6",
    panel="#eae4d6",
    success="#4b7a31",
    warning="#a85d12",
    error="#b23c34",
    variables={
        "border": "#9a6a10",
        "border-blurred": "#d3cbb9",
        "text-muted": "#67625a",
        "text-disabled": "#8b857a",
        "text-accent": "#835808",
        "text-secondary": "#266765",
        "text-success": "#3f6a28",
        "text-warning": "#95500c",
        "text-error": "#ac372f",
        "block-cursor-background": "#f0e2c0",
        "block-cursor-foreground": "#2a2419",
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": "#f1ece0",
        "block-cursor-blurred-foreground": "#33302a",
        "block-hover-background": "#f3eee2",
        "input-selection-background": "#9a6a10 25%",
        "scrollbar": "#d9d1c0",
        "scrollbar-hover": "#c2b8a3",
        "scrollbar-active": "#9a6a10",
        "scrollbar-background": "#faf7f0",
        "scrollbar-background-hover": "#faf7f0",
        "scrollbar-background-active": "#faf7f0",
        "scrollbar-corner-color": "#faf7f0",
    },
)


def missing_theme(name: str, names: Collection[str]) -> tuple[str, ...]:
    """Says that there is no theme of this name, and which one may be meant; nothing for none asked for, or a known
    one.
    """
    if not name or name in names:
        return ()
    near = nearest(name[:_NAMED], tuple(names))
    said = f'There is no theme "{name[:_NAMED]}"'
    return (f"{said}; did you mean {near}?" if near else f"{said}.",)


def theme_names() -> frozenset[str]:
    """The names of our own themes and of Textual's."""
    return frozenset((DARK.name, LIGHT.name, *BUILTIN_THEMES))
