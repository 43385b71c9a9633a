"""The search box: says what is typed as it is typed; enter and down go to the first hit, esc leaves."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Input

from nuggets_tui.messages import SearchLeft, SearchTyped
from nuggets_tui.safe_text import safe_line
from nuggets_tui.view import View
from nuggets_tui.words import plural

_MOST = 500


class SearchBox(Input):
    """One line to type into."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave", show=False),
        Binding("enter,down", "to_results", "first hit", show=False),
    ]

    view: reactive[View] = reactive(View())

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(
            id=id,
            placeholder="words, or scope:project  type:preference  tag:auth  nugget:web  is:hidden",
            select_on_focus=False,
            max_length=_MOST,
        )
        self.border_title = Content("Search")

    def validate_value(self, value: str) -> str:
        """What is pasted may hold anything."""
        return safe_line(value, _MOST)

    def watch_view(self, before: View, after: View) -> None:
        """Says how many hits there are and how long they took."""
        if before.found is not after.found:
            self.border_subtitle = _said(after)

    def action_leave(self) -> None:
        """Leaves the field; what is typed stays, and so do the hits."""
        self.post_message(SearchLeft(to_results=False))

    def action_to_results(self) -> None:
        """Goes to the first hit."""
        self.post_message(SearchLeft(to_results=True))

    @on(Input.Changed)
    def tell(self, event: Input.Changed) -> None:
        """Passes on what is typed."""
        event.stop()
        self.post_message(SearchTyped(event.value))

    @on(Input.Submitted)
    def keep(self, event: Input.Submitted) -> None:
        """Enter is spoken for by the binding."""
        event.stop()


def _said(view: View) -> Content:
    found = view.found
    if found is None:
        return Content("")
    milliseconds = found.seconds * 1000
    return Content(f"{plural(len(found.hits), 'hit')} · {milliseconds:.0f} ms · esc clears")
