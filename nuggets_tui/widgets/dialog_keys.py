"""The line of keys at the bottom of a dialog: each does with the mouse what it does when pressed."""

from __future__ import annotations

from typing import Final

from textual.content import Content
from textual.events import Click
from textual.style import Style
from textual.widgets import Static

_PRESSED_AS: Final = {
    "⏎": "enter",
    "esc": "escape",
    "←": "left",
    "→": "right",
    "+": "plus",
    "?": "question_mark",
    "/": "slash",
}
# Keys to move with: the mouse has its own ways.
_NOT_FOR_THE_MOUSE: Final = ("↑", "↓", "↑↓")


def key_content(keys: str) -> Content:
    """ "ctrl+s  save · esc  close" with the keys marked, and with what a click presses."""
    return Content("   ").join(map(_item, keys.split(" · ")))


def _item(part: str) -> Content:
    key, _, label = part.partition("  ")
    item = Content.assemble((key, "bold $text-accent"), (f" {label}", "$text-muted"))
    first = key.split(" ")[0]
    if first in _NOT_FOR_THE_MOUSE:
        return item
    # A mark of our own instead of "@click", which would paint every key as a link.
    return item.stylize(Style.from_meta({"press": _PRESSED_AS.get(first, first)}))


class DialogKeys(Static):
    """The line itself."""

    def on_click(self, event: Click) -> None:
        """Presses the key under the mouse."""
        key = event.style.meta.get("press")
        if key:
            event.stop()
            self.app.simulate_key(key)
