"""A picture of a note's surroundings: titles joined by lines, walked with the arrow keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.segment import Segment
from textual import events, on
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.worker import Worker, WorkerState, get_current_worker

from core.model.snapshot import Snapshot
from nuggets_tui.safe_text import content, fit
from nuggets_tui.widgets.graph_data import GraphData, GraphEdge, GraphNode, graph_data
from nuggets_tui.widgets.graph_layout import lay_out
from nuggets_tui.widgets.graph_painter import Mark, paint
from nuggets_tui.widgets.graph_picture import Picture, Wire
from nuggets_tui.widgets.graph_walk import Direction, step
from nuggets_tui.widgets.graph_words import link_words, summary

__all__ = ["GraphData", "GraphEdge", "GraphNode", "GraphView", "graph_data"]

MOST_HOPS: Final = 3
_WORK: Final = "graph-layout"
_WORDS_FROM: Final = 3


@dataclass(frozen=True)
class Wish:
    """What is to be drawn: data at hand, or a note of a snapshot."""

    data: GraphData | None = None
    snapshot: Snapshot | None = None
    note_id: str = ""

    def fulfil(self, hops: int, show_hidden: bool) -> GraphData:
        """The data of the picture."""
        if self.data is not None:
            return self.data
        if self.snapshot is None:
            return GraphData()
        return graph_data(self.snapshot, self.note_id, hops, show_hidden)


class GraphView(Widget, can_focus=True):
    """The surroundings of one note as a picture.

    The cursor starts on the note in the frame; left and right walk along links to the nearest linked note, up and
    down to the next note of the column. The line by which the cursor came is heavy, and the last row says why that
    link is there. The layout is made in a thread; until it is ready the last picture stays.
    """

    ALLOW_SELECT = False

    DEFAULT_CSS = """
    GraphView {
        height: 1fr;
        & > .graph-view--focus { text-style: bold; }
        & > .graph-view--frame { color: $text-primary; }
        & > .graph-view--ghost { color: $text-muted; text-style: italic; }
        & > .graph-view--more { color: $text-muted; }
        & > .graph-view--cursor-blurred { text-style: bold; }
        & > .graph-view--cursor {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
        & > .graph-view--tree-wire { color: $text-primary; }
        & > .graph-view--cross-wire { color: $text-muted; }
        & > .graph-view--ghost-wire { color: $text-muted; }
        & > .graph-view--chosen-wire { color: $text-accent; text-style: bold; }
        & > .graph-view--words { color: $text-muted; }
    }
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "graph-view--focus",
        "graph-view--frame",
        "graph-view--node",
        "graph-view--ghost",
        "graph-view--more",
        "graph-view--cursor",
        "graph-view--cursor-blurred",
        "graph-view--tree-wire",
        "graph-view--cross-wire",
        "graph-view--ghost-wire",
        "graph-view--chosen-wire",
        "graph-view--words",
    }

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "walk('left')", "Walk left", show=False),
        Binding("right", "walk('right')", "Walk right", show=False),
        Binding("up", "walk('up')", "Walk up", show=False),
        Binding("down", "walk('down')", "Walk down", show=False),
        Binding("enter", "choose", "Centre", show=False),
        Binding("plus,equals_sign", "hops(1)", "Further", show=False),
        Binding("minus", "hops(-1)", "Nearer", show=False),
    ]

    hops: reactive[int] = reactive(1, repaint=False)
    """How many links away from the note the picture reaches, 1 to 3."""
    show_hidden: reactive[bool] = reactive(False, repaint=False)
    """Whether hidden notes are drawn, as ghosts."""

    @dataclass
    class NodeFocused(Message):
        """The cursor of the picture stands on another note."""

        graph_view: GraphView
        note_id: str

        @property
        def control(self) -> GraphView:
            return self.graph_view

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, GraphView.NodeFocused) and message.graph_view is self.graph_view

    @dataclass
    class NodeChosen(Message):
        """A note was chosen: enter, or a click on the note under the cursor."""

        graph_view: GraphView
        note_id: str

        @property
        def control(self) -> GraphView:
            return self.graph_view

    @dataclass
    class HopsChanged(Message):
        """A key asked for a wider or a narrower picture."""

        graph_view: GraphView
        hops: int

        @property
        def control(self) -> GraphView:
            return self.graph_view

    @dataclass
    class Drawn(Message):
        """A layout is ready."""

        data: GraphData
        picture: Picture

    def __init__(
        self,
        *,
        empty_text: str = "",
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
        disabled: bool = False,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes, disabled=disabled)
        self.empty_text = empty_text
        self._wish = Wish()
        self._busy = False
        self._again = False
        self._failure = ""
        self._data = GraphData()
        self._picture = Picture()
        self._reasons: Mapping[frozenset[str], tuple[GraphEdge, ...]] = {}
        self._cursor = ""
        self._wire: Wire | None = None

    # What it shows ----------------------------------------------------------------------------------

    @property
    def cursor_id(self) -> str:
        """Id of the note that the cursor stands on; "" when nothing is shown."""
        return self._cursor

    @property
    def picture(self) -> Picture:
        """The picture on screen."""
        return self._picture

    @property
    def data(self) -> GraphData:
        """What the picture on screen shows."""
        return self._data

    @property
    def busy(self) -> bool:
        """Whether a layout is under way."""
        return self._busy

    def show(self, snapshot: Snapshot, note_id: str, hops: int | None = None) -> None:
        """Draw the surroundings of a note; `hops` stays as it is when not given."""
        self._wish = Wish(snapshot=snapshot, note_id=note_id)
        if hops is not None:
            self.set_reactive(GraphView.hops, self.validate_hops(hops))
        self._draw()

    def show_data(self, data: GraphData) -> None:
        """Draw a graph that is at hand."""
        self._wish = Wish(data=data)
        self._draw()

    def clear(self) -> None:
        """Show nothing but the empty text."""
        self.show_data(GraphData())

    def validate_hops(self, hops: int) -> int:
        return min(max(hops, 1), MOST_HOPS)

    def watch_hops(self) -> None:
        self._draw()

    def watch_show_hidden(self) -> None:
        self._draw()

    # Layout in a thread -----------------------------------------------------------------------------

    @property
    def _room(self) -> Size:
        words = 1 if self.size.height >= _WORDS_FROM else 0
        return Size(self.size.width, self.size.height - words)

    def _draw(self) -> None:
        """Start a layout; while one is under way only the newest wish waits."""
        if not self.is_mounted or not self.size:
            return
        if self._busy:
            self._again = True
            return
        self._busy = True
        self._again = False
        wish, room, hops, hidden = self._wish, self._room, self.hops, self.show_hidden
        self.run_worker(
            lambda: self._work(wish, room, hops, hidden),
            name=_WORK,
            group=_WORK,
            exclusive=True,
            exit_on_error=False,
            thread=True,
        )

    def _work(self, wish: Wish, room: Size, hops: int, show_hidden: bool) -> None:
        data = wish.fulfil(hops, show_hidden)
        picture = lay_out(data.nodes, data.edges, data.focus, room.width, room.height, data.left_out)
        if not get_current_worker().is_cancelled:
            self.post_message(self.Drawn(data, picture))

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.worker.group != _WORK or not event.worker.is_finished:
            return
        event.stop()
        self._busy = False
        if event.state is WorkerState.ERROR:
            self._failure = f"the picture could not be drawn: {event.worker.error}"
            self.refresh()
        if self._again:
            self._draw()

    @on(Drawn)
    def _take(self, event: Drawn) -> None:
        event.stop()
        moved = event.data.focus != self._data.focus
        self._failure = ""
        self._data, self._picture = event.data, event.picture
        reasons: dict[frozenset[str], list[GraphEdge]] = {}
        for edge in event.data.edges:
            reasons.setdefault(frozenset((edge.a, edge.b)), []).append(edge)
        self._reasons = {ends: tuple(edges) for ends, edges in reasons.items()}
        if moved or self._cursor not in self._picture.box_of:
            self._cursor = self._picture.focus
            self._wire = None
        elif self._wire is not None:
            ends = frozenset((self._wire.a, self._wire.b))
            self._wire = self._picture.wire_of.get(ends, self._picture.way_to.get(self._cursor))
        self.refresh()

    def on_resize(self) -> None:
        self._draw()

    # The hand ---------------------------------------------------------------------------------------

    def action_walk(self, direction: Direction) -> None:
        """Move the cursor to the nearest note in a direction."""
        found = step(self._picture, self._cursor, direction)
        if found:
            self._move(found)

    def action_choose(self) -> None:
        """Choose the note under the cursor."""
        if self._cursor:
            self.post_message(self.NodeChosen(self, self._cursor))

    def action_hops(self, change: int) -> None:
        """Make the picture reach further or less far."""
        old = self.hops
        self.hops = old + change
        if self.hops != old:
            self.post_message(self.HopsChanged(self, self.hops))

    def _move(self, note_id: str) -> None:
        between = frozenset((self._cursor, note_id))
        self._wire = self._picture.wire_of.get(between) or self._picture.way_to.get(note_id)
        self._cursor = note_id
        self.refresh()
        self.post_message(self.NodeFocused(self, note_id))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        box = self._picture.at(offset.x, offset.y)
        if box is not None and box.id:
            event.stop()
            if box.id != self._cursor:
                self._move(box.id)
            elif event.chain <= 2:
                self.action_choose()
            return
        wire = next((wire for wire in self._picture.wires if (offset.x, offset.y) in wire.cells), None)
        if wire is not None and wire.b:
            event.stop()
            self._wire = wire
            self.refresh()

    # Painting ---------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        width, height = self.size
        if not self._picture.boxes:
            said = content(self._failure or self.empty_text)
            lines = said.wrap(width) if width > 0 else []
            return self._text_line(lines[y].plain if y < len(lines) else "", width)
        if y == height - 1 and height >= _WORDS_FROM:
            return self._text_line(self._failure or self._words(), width)
        return paint(self, self._picture, Mark(self._cursor, self._wire, self.has_focus), y, width)

    def _text_line(self, text: str, width: int) -> Strip:
        style = self.get_visual_style("graph-view--words").rich_style
        return (
            Strip.from_lines([[Segment(fit(text, width), style)]], width)[0] if width > 0 else Strip.blank(0)
        )

    def _words(self) -> str:
        if self._wire is not None:
            ends = frozenset((self._wire.a, self._wire.b))
            return link_words(self._data, self._wire, self._reasons.get(ends, ()))
        return summary(self._data, self._picture)
