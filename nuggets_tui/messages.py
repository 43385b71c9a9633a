"""What the widgets of the main screen ask of it; it alone changes the state they show."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from nuggets_tui.screens.main import MainScreen


class Asked(Message):
    """The main screen is to do something, once it hears of it."""

    def __init__(self, what: Callable[[MainScreen], object]) -> None:
        super().__init__()
        self.what = what
