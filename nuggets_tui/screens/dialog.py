"""What all dialogs share: a box over the main screen with a title, and a line of its keys."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from nuggets_tui.notices import attempt
from nuggets_tui.safe_text import safe_line

_Answer = TypeVar("_Answer")
_Result = TypeVar("_Result")


class Dialog(ModalScreen[_Answer]):
    """A box. esc closes it without an answer."""

    CSS_PATH = "../styles/dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", "close", show=False)]
    heading = ""
    keys = "esc  close"
    # What a notice says of a text being written here, when it could not be saved.
    not_saved = ""

    def compose(self) -> ComposeResult:
        """The box around what a dialog holds."""
        with Vertical(id="box") as box:
            box.border_title = Content(safe_line(self.heading, 200))
            yield from self.compose_inside()
            yield Static(self.key_line(), id="dialog-keys")

    def compose_inside(self) -> ComposeResult:
        """What the dialog holds."""
        raise NotImplementedError

    def key_line(self) -> Content:
        """The line of keys at the bottom."""
        return key_content(self.keys)

    def say_keys(self) -> None:
        """Says the keys anew, when they do something else than before."""
        self.query_one("#dialog-keys", Static).update(self.key_line())

    @property
    def unsaved(self) -> bool:
        """Whether something typed here would be lost."""
        return False

    def action_close(self) -> None:
        """Closes without an answer."""
        self.dismiss(None)

    async def attempt(self, asked: Awaitable[_Result]) -> _Result | None:
        """The result of something asked of the desk; None when it failed, which a notice then says."""
        return await attempt(self, asked, self.not_saved)


def key_content(keys: str) -> Content:
    """ "ctrl+s  save · esc  close" with the keys marked."""
    parts = []
    for part in keys.split(" · "):
        key, _, label = part.partition("  ")
        parts.append(Content.assemble((key, "bold $text-accent"), (f" {label}", "$text-muted")))
    return Content("   ").join(parts)
