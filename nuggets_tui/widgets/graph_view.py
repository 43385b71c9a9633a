"""A picture of a note's surroundings: titles joined by lines, walked with the arrow keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.segment import Segment
from textual import events, on
from textual.binding import Binding, BindingType
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.worker import Worker, WorkerState, get_current_worker

from core.model.snapshot import Snapshot
from nuggets_tui.graph.caption import Caption, caption, link_words, reasons, summary
from nuggets_tui.graph.data import GraphData, GraphEdge, GraphNode, Wish, graph_data
from nuggets_tui.graph.layout import DETAILS, lay_out_fitting
from nuggets_tui.graph.painter import Mark, paint
from nuggets_tui.graph.picture import Direction, Picture, Wire, step
from nuggets_tui.safe_text import content, fit

__all__ = ["GraphData", "GraphEdge", "GraphNode", "GraphView", "graph_data"]

MOST_HOPS: Final = 3
_WORK: Final = "graph-layout"
_WORDS_FROM: Final = 3
# Cells that stay in sight beside the cursor's note: enough of the lines to see where they lead.
_BESIDE: Final = (8, 1)
_WHEEL: Final = 3


class GraphView(Widget, can_focus=True):
    """The surroundings of one note as a picture.

    The cursor starts on the note in the frame; left and right walk along links to the nearest linked note, up and
    down to the next note of the column. The line by which the cursor came is heavy; why that link is there stands
    at the line where there is room, and in the last row. Zoom draws notes as titles, as boxes, or as boxes that say
    more; a picture larger than the pane moves with the cursor. The layout is made in a thread; until it is ready
    the last picture stays.
    """

    ALLOW_SELECT = False

    DEFAULT_CSS = """
    GraphView {
        height: 1fr;
        & > .graph-view--focus { text-style: bold; }
        & > .graph-view--frame { color: $text-primary; }
        & > .graph-view--box { color: $text-muted; }
        & > .graph-view--caption { color: $text-accent; text-style: italic; }
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
        "graph-view--box",
        "graph-view--caption",
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
        Binding("plus,equals_sign", "zoom(1)", "Nearer", show=False),
        Binding("minus", "zoom(-1)", "Farther away", show=False),
    ]

    hops: reactive[int] = reactive(1, repaint=False)
    """How many links away from the note the picture reaches, 1 to 3."""
    detail: reactive[int | None] = reactive(None, repaint=False)
    """How much of each note is drawn, one of DETAILS; None for as much as finds room."""
    show_hidden: reactive[bool] = reactive(False, repaint=False)
    """Whether hidden notes are drawn, as ghosts."""
    active: reactive[bool] = reactive(False)
    """Whether keys reach the picture."""

    @dataclass
    class NodeFocused(Message):
        """The cursor of the picture stands on another note: walked there, or put there by another picture."""

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
        self._caption: Caption | None = None
        self._corner = Offset()

    # What it shows ----------------------------------------------------------------------------------

    @property
    def cursor_id(self) -> str:
        """Id of the note that the cursor stands on; "" when nothing is shown, or the note has left the picture."""
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

    def watch_detail(self) -> None:
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
        detail, former = self.detail, self._picture
        self.run_worker(
            lambda: self._work(wish, room, hops, hidden, detail, former),
            name=_WORK,
            group=_WORK,
            exclusive=True,
            exit_on_error=False,
            thread=True,
        )

    def _work(
        self, wish: Wish, room: Size, hops: int, show_hidden: bool, detail: int | None, former: Picture
    ) -> None:
        data = wish.fulfil(hops, show_hidden)
        picture = lay_out_fitting(data, room.width, room.height, detail, former)
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
        moved, before = event.data.focus != self._data.focus, self._cursor
        self._failure = ""
        self._data, self._picture = event.data, event.picture
        reasons: dict[frozenset[str], list[GraphEdge]] = {}
        for edge in event.data.edges:
            reasons.setdefault(frozenset((edge.a, edge.b)), []).append(edge)
        self._reasons = {ends: tuple(edges) for ends, edges in reasons.items()}
        if moved or self._cursor not in self._picture.box_of:
            # What left the picture leaves nothing under the cursor: the next key would be meant for it.
            self._cursor = self._picture.focus if moved else ""
            self._wire = None
        elif self._wire is not None:
            ends = frozenset((self._wire.a, self._wire.b))
            self._wire = self._picture.wire_of.get(ends, self._picture.way_to.get(self._cursor))
        if moved:
            self._corner = Offset()
        self._show_cursor()
        if self._cursor != before:
            self.post_message(self.NodeFocused(self, self._cursor))

    def _show_cursor(self) -> None:
        """Bring the cursor's note into sight, and say why the line to it is there."""
        box = self._picture.box_of.get(self._cursor)
        room = self._room
        x, y = self._corner
        if box is not None:
            x = _along(x, room.width, self._picture.width, box.x, box.width, _BESIDE[0])
            y = _along(y, room.height, self._picture.height, box.y, box.height, _BESIDE[1])
        self._scroll_picture(Offset(x, y))

    def _scroll_picture(self, corner: Offset) -> None:
        """Show the picture from a cell on, as far as there is something to see."""
        room, size = self._room, Size(self._picture.width, self._picture.height)
        x = min(max(corner.x, 0), max(size.width - room.width, 0))
        y = min(max(corner.y, 0), max(size.height - room.height, 0))
        self._corner = Offset(x, y)
        self._caption = None
        if self._wire is not None and self._wire.b:
            window = Region(x, y, room.width, room.height)
            ends = frozenset((self._wire.a, self._wire.b))
            said = reasons(self._reasons.get(ends, ()))
            self._caption = caption(self._picture, self._wire, said, window)
        self.refresh()

    def on_resize(self) -> None:
        self._draw()

    def on_focus(self) -> None:
        self.active = True

    def on_blur(self) -> None:
        self.active = False

    # The hand ---------------------------------------------------------------------------------------

    def action_walk(self, direction: Direction) -> None:
        """Move the cursor to the nearest note in a direction."""
        found = step(self._picture, self._cursor, direction) if self._cursor else self._picture.focus
        if found:
            self._move(found)

    def action_choose(self) -> None:
        """Choose the note under the cursor."""
        if self._cursor:
            self.post_message(self.NodeChosen(self, self._cursor))

    def action_zoom(self, change: int) -> None:
        """Draw more of each note, or less."""
        now = self._drawn_detail if self.detail is None else self.detail
        self.detail = min(max(now + change, DETAILS[0]), DETAILS[-1])

    @property
    def _drawn_detail(self) -> int:
        """How much of each note the picture on screen shows."""
        if any(box.lines for box in self._picture.boxes):
            return DETAILS[-1]
        return int(any(box.height > 1 for box in self._picture.boxes if box.role not in ("focus", "more")))

    def _move(self, note_id: str) -> None:
        between = frozenset((self._cursor, note_id))
        self._wire = self._picture.wire_of.get(between) or self._picture.way_to.get(note_id)
        self._cursor = note_id
        self._show_cursor()
        self.post_message(self.NodeFocused(self, note_id))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        offset += self._corner
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
            self._scroll_picture(self._corner)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._scroll(event, Offset(-_WHEEL, 0) if event.shift else Offset(0, -_WHEEL))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._scroll(event, Offset(_WHEEL, 0) if event.shift else Offset(0, _WHEEL))

    def _scroll(self, event: events.MouseEvent, step: Offset) -> None:
        event.stop()
        self._scroll_picture(self._corner + step)

    # Painting ---------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        width, height = self.size
        if not self._picture.boxes:
            said = content(self._failure or self.empty_text)
            lines = said.wrap(width) if width > 0 else []
            return self._text_line(lines[y].plain if y < len(lines) else "", width)
        if y == height - 1 and height >= _WORDS_FROM:
            beyond = self._beyond()
            words = self._failure or self._words()
            text = f"{fit(words, width - len(beyond) - 1)} {beyond}" if beyond else words
            return self._text_line(text, width)
        return self._picture_line(y, width)

    def _beyond(self) -> str:
        """Arrows to where the picture goes on."""
        (x, y), room = self._corner, self._room
        ways = (
            ("←", x > 0),
            ("↑", y > 0),
            ("↓", y + room.height < self._picture.height),
            ("→", x + room.width < self._picture.width),
        )
        return "".join(sign for sign, there in ways if there)

    def _picture_line(self, y: int, width: int) -> Strip:
        row = y + self._corner.y
        mark = Mark(self._cursor, self._wire, self.active)
        strip = paint(self, self._picture, mark, row, self._picture.width)
        said = self._caption
        if said is not None and said.y == row:
            style = self.get_visual_style("graph-view--caption").rich_style
            text = Strip([Segment(said.text, style)])
            end = said.x + text.cell_length
            strip = Strip.join([strip.crop(0, said.x), text, strip.crop(end)])
        plain = self.visual_style.rich_style
        return strip.crop(self._corner.x, self._corner.x + width).adjust_cell_length(width, plain)

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


def _along(corner: int, room: int, size: int, start: int, length: int, beside: int) -> int:
    """From where a room of cells is seen so that a note, and some cells beside it, lie in it."""
    low, high = max(start - beside, 0), min(start + length + beside, size)
    if high - low > room:
        return start
    return min(max(corner, high - room), low)
