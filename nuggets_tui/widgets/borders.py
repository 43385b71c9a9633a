"""What stands in the border of a widget, written only when it becomes another: writing it paints the whole widget."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget


def say_in_border(widget: Widget, title: Content, subtitle: Content | None = None) -> None:
    """Puts a title into the upper border; into the lower one another, or what stands there stays."""
    if widget.border_title != title.markup:
        widget.border_title = title
    if subtitle is not None and widget.border_subtitle != subtitle.markup:
        widget.border_subtitle = subtitle
