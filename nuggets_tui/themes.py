"""The app's own two themes; the only place where colours are written down."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from textual.theme import BUILTIN_THEMES, Theme

from nuggets_tui.commands import nearest

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
        "border-blurred": "#71757c",
        "text-muted": "#9a9ea6",
        "text-disabled": "#8e929a",
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
        "input-selection-background": "#3f3626",
        "scrollbar": "#60656c",
        "scrollbar-hover": "#606772",
        "scrollbar-active": "#d9a94e",
        "scrollbar-background": "#16181c",
        "scrollbar-background-hover": "#16181c",
        "scrollbar-background-active": "#16181c",
        "scrollbar-corner-color": "#16181c",
        "boost": "#16181c",
        "ground-past": "#222c2f",
        "screen-selection-background": "#3e3626",
        "foreground-muted": "#94928e",
        "screen-selection-foreground": "#d3cfc5",
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
        "border-blurred": "#837e73",
        "text-muted": "#67625a",
        "text-disabled": "#666159",
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
        "input-selection-background": "#e2d3b8",
        "scrollbar": "#958f84",
        "scrollbar-hover": "#948c7c",
        "scrollbar-active": "#9a6a10",
        "scrollbar-background": "#faf7f0",
        "scrollbar-background-hover": "#faf7f0",
        "scrollbar-background-active": "#faf7f0",
        "scrollbar-corner-color": "#faf7f0",
        "boost": "#faf7f0",
        "ground-past": "#d8e1da",
        "screen-selection-background": "#dccbab",
        "foreground-muted": "#63615c",
        "screen-selection-foreground": "#33302a",
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
