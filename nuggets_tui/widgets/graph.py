"""The Graph pane: the picture of what surrounds the note shown in Note."""

from __future__ import annotations

from textual import on
from textual.content import Content
from textual.reactive import reactive

from nuggets_tui.messages import NotePicked, PaneWanted
from nuggets_tui.view import View, changed_between
from nuggets_tui.widgets.graph_view import GraphView
from nuggets_tui.widgets.row_text import MUTED
from nuggets_tui.words import plural


class GraphPane(GraphView):
    """Follows the note shown in Note; the arrow keys walk along links, enter goes to a note."""

    view: reactive[View] = reactive(View())

    def __init__(self) -> None:
        super().__init__(
            id="graph", classes="pane", empty_text="The notes around the one shown in Note are drawn here."
        )
        self.border_title = Content("5 Graph")

    def watch_view(self, before: View, after: View) -> None:
        """Draws what surrounds another note, or the same one as it is now."""
        if (
            before.note_id == after.note_id
            and not changed_between(before, after, "snapshot")
            and before.loaded == after.loaded
            and (before.hops, before.show_hidden) == (after.hops, after.show_hidden)
        ):
            return
        self.border_title = Content.assemble("5 Graph", (f" · {plural(after.hops, 'hop')}", MUTED))
        self.show_hidden = after.show_hidden
        if after.note is None or not after.loaded:
            self.clear()
        else:
            self.show(after.snapshot, after.note_id, after.hops)

    @on(GraphView.NodeFocused)
    def stay(self, event: GraphView.NodeFocused) -> None:
        """Walking shows nothing else; enter goes there."""
        event.stop()

    @on(GraphView.NodeChosen)
    def go(self, event: GraphView.NodeChosen) -> None:
        """Shows the chosen note, which then stands in the middle."""
        event.stop()
        self.post_message(NotePicked(event.note_id, follow=True))
        self.post_message(PaneWanted("graph"))
