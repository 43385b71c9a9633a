"""How large the content of a scrolling widget is, told without the whole screen being laid out anew.

Textual's own way does that, since a widget may grow with its content. Ours have a place of their own whatever they
hold, and what is typed or moved onto the screen would wait for it.
"""

from __future__ import annotations

from textual.geometry import Size
from textual.scroll_view import ScrollView


def resize_content(view: ScrollView, size: Size) -> None:
    """Sets the size of what a view scrolls over, in cells. Where a scroll bar comes or goes, it sees to its room."""
    if size == view.virtual_size:
        return
    view.set_reactive(ScrollView.virtual_size, size)
    if view.is_attached:
        view._scroll_update(size)
        if view.show_vertical_scrollbar:
            # A bar that was away has not heard of what was scrolled meanwhile.
            view.vertical_scrollbar.position = view.scroll_y
        view.refresh()
