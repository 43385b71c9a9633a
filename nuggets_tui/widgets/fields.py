"""Fields to type into that show stored text harmlessly and keep it as it is."""

from __future__ import annotations

from typing import ClassVar, Final

from rich.highlighter import Highlighter
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import TextArea

from nuggets_tui.safe_text import content, plain, safe_line
from nuggets_tui.textual_adapter import OfferingInput

_LONGEST: Final = 60


class _Harmless(Highlighter):
    """Draws a text harmlessly, in place of lighting it up."""

    def __call__(self, text: str | Text) -> Text:
        """The text as it is drawn; what is stored stays."""
        return Text(plain(str(text)), no_wrap=True, overflow="ignore", end="")

    def highlight(self, text: Text) -> None:
        """Nothing of it is lit up."""


class Field(OfferingInput):
    """One line with a label in its border. What is stored stays; only what is drawn is made harmless."""

    def __init__(self, label: str, value: str = "", *, id: str, hint: str = "") -> None:
        super().__init__(
            value, id=id, placeholder=hint, select_on_focus=False, classes="field", highlighter=_Harmless()
        )
        self.border_title = Content(label)

    def watch_value(self) -> None:
        self.remark("")

    def remark(self, said: Content | str) -> None:
        """Says something about what stands in the field, in its border; "" takes it away."""
        self.border_subtitle = Content(said) if isinstance(said, str) else said

    def complain(self, text: str) -> None:
        """Says in the border what is wrong with the field, and gives it the cursor."""
        self.remark(content(safe_line(text, _LONGEST), "bold $text-error"))
        self.focus()


class TextField(TextArea):
    """Several lines with a label in the border; drawn harmlessly, kept as they are."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+home", "to_start", "start", show=False),
        Binding("ctrl+end", "to_end", "end", show=False),
    ]

    def __init__(self, label: str, text: str, *, id: str) -> None:
        super().__init__(
            text, id=id, soft_wrap=True, show_line_numbers=False, classes="field", tab_behavior="focus"
        )
        self.border_title = Content(label)

    def get_line(self, line_index: int) -> Text:
        return Text(plain(self.document.get_line(line_index)), end="", no_wrap=True)

    def action_to_start(self) -> None:
        self.move_cursor((0, 0))

    def action_to_end(self) -> None:
        self.move_cursor(self.document.end)
