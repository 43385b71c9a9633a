"""A picture of a note's surroundings: titles joined by lines, walked with the arrow keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.segment import Segment
from textual import events, on
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.worker import Worker, WorkerState, get_current_worker

from core.model.snapshot import Snapshot
from nuggets_tui.graph.data import GraphData, graph_data
from nuggets_tui.graph.near import Box, Direction, Picture, Wire, drawn, lay_out, reasons, step, summary
from nuggets_tui.safe_text import content, fit

_WORK: Final = "graph-layout"
# Lines from which the last one holds words.
_WORDS_FROM: Final = 3
# Column, cells, text, component class ("" for the widget's own style).
_Piece = tuple[int, int, str, str]
_CORNERS: Final = {False: ("╭", "╮", "╰", "╯", "─", "│"), True: ("┏", "┓", "┗", "┛", "━", "┃")}


class GraphView(Widget):
    """The surroundings of one note as a picture.

    The cursor starts on the note in the frame; left and right walk along lines, up and down to the next note of the
    column. The line by which the cursor's note hangs is heavy, and why that link is there stands in the last row. The
    layout is made in a thread; until it is ready the last picture stays.
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
        & > .graph-view--wire { color: $text-primary; }
        & > .graph-view--ghost-wire { color: $text-muted; }
        & > .graph-view--chosen-wire { color: $text-accent; text-style: bold; }
        & > .graph-view--words { color: $text-muted; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"graph-view--{name}"
        for name in (
            "focus", "frame", "node", "ghost", "more", "cursor", "cursor-blurred", "wire", "ghost-wire", "chosen-wire",
            "words",
        )
    }  # fmt: skip

    active: reactive[bool] = reactive(False)
    """Whether keys reach the picture."""

    @dataclass
    class NodeFocused(Message):
        """The cursor of the picture stands on another note: walked there, or put there by another picture."""

        note_id: str

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, GraphView.NodeFocused)

    @dataclass
    class NodeChosen(Message):
        """A note was chosen: enter, or a click on the note under the cursor."""

        note_id: str

    @dataclass
    class Drawn(Message):
        """A layout is ready."""

        data: GraphData
        picture: Picture

    def __init__(self, *, empty_text: str = "") -> None:
        super().__init__()
        self.empty_text = empty_text
        self._gather: Callable[[], GraphData] = GraphData
        self._busy = self._again = False
        self._failure = ""
        self._data = GraphData()
        self.picture = Picture()
        self.cursor_id = ""
        """The note that the cursor stands on; "" when nothing is shown, or the note has left the picture."""

    # What it shows

    @property
    def busy(self) -> bool:
        return self._busy

    def show(self, snapshot: Snapshot, note_id: str, hops: int = 1, *, show_hidden: bool = False) -> None:
        self._gather = lambda: graph_data(snapshot, note_id, hops, show_hidden)
        self._draw()

    def show_data(self, data: GraphData) -> None:
        """Draws a graph that is at hand; an empty one shows the empty text."""
        self._gather = lambda: data
        self._draw()

    def _draw(self) -> None:
        """Starts a layout; while one is under way only the newest wish waits."""
        if not self.is_mounted or not self.size:
            return
        if self._busy:
            self._again = True
            return
        self._busy, self._again = True, False
        gather, (width, height) = self._gather, self.size
        height -= height >= _WORDS_FROM

        def work() -> None:
            data = gather()
            picture = lay_out(data, width, height)
            if not get_current_worker().is_cancelled:
                self.post_message(self.Drawn(data, picture))

        self.run_worker(work, name=_WORK, group=_WORK, exclusive=True, exit_on_error=False, thread=True)

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
        moved, before = event.data.focus != self._data.focus, self.cursor_id
        self._failure = ""
        self._data, self.picture = event.data, event.picture
        if moved or before not in self.picture.box_of:
            # What left the picture leaves nothing under the cursor: the next key would be meant for it.
            self.cursor_id = self.picture.focus if moved else ""
        self.refresh()
        if self.cursor_id != before:
            self.post_message(self.NodeFocused(self.cursor_id))

    def on_resize(self) -> None:
        self._draw()

    # The hand

    def walk(self, direction: Direction) -> None:
        """Moves the cursor to the next note in a direction."""
        found = step(self.picture, self.cursor_id, direction) if self.cursor_id else self.picture.focus
        if found:
            self._move(found)

    def choose(self) -> None:
        if self.cursor_id:
            self.post_message(self.NodeChosen(self.cursor_id))

    def _move(self, note_id: str) -> None:
        self.cursor_id = note_id
        self.refresh()
        self.post_message(self.NodeFocused(note_id))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        box = self.picture.at(offset.x, offset.y) if offset is not None else None
        if box is None or not box.id:
            return
        event.stop()
        if box.id != self.cursor_id:
            self._move(box.id)
        elif event.chain <= 2:
            self.choose()

    # Painting

    def render_line(self, y: int) -> Strip:
        width, height = self.size
        if not self.picture.boxes:
            said = content(self._failure or self.empty_text)
            lines = said.wrap(width) if width > 0 else []
            return self._text_line(lines[y].plain if y < len(lines) else "", width)
        if y == height - 1 and height >= _WORDS_FROM:
            return self._text_line(self._failure or self._words(), width)
        wire = self.picture.wire_to.get(self.cursor_id)
        pieces = sorted([*self._wire_pieces(wire, y), *self._box_pieces(y)])
        plain = self.visual_style.rich_style
        segments: list[Segment] = []
        at = 0
        for x, cells, text, name in pieces:
            if x > at:
                segments.append(Segment(" " * (x - at), plain))
            segments.append(
                Segment(text, self.get_visual_style(f"graph-view--{name}").rich_style if name else plain)
            )
            at = x + cells
        return Strip(segments).adjust_cell_length(width, plain)

    def _text_line(self, text: str, width: int) -> Strip:
        style = self.get_visual_style("graph-view--words").rich_style
        return Strip([Segment(fit(text, width), style)], width) if width > 0 else Strip.blank(0)

    def _words(self) -> str:
        wire = self.picture.wire_to.get(self.cursor_id)
        return reasons(self._data, wire.a, wire.b) if wire is not None else summary(self._data, self.picture)

    def _wire_pieces(self, chosen: Wire | None, y: int) -> Iterator[_Piece]:
        own = chosen.cells if chosen is not None else {}
        for x, sign, ghost, arms in self.picture.rows.get(y, ()):
            if (x, y) in own:
                arrow = chosen is not None and chosen.arrow is not None and chosen.arrow[0] == (x, y)
                yield x, 1, sign if arrow else drawn(own[x, y], arms), "chosen-wire"
            else:
                yield x, 1, sign, "ghost-wire" if ghost else "wire"

    def _box_pieces(self, y: int) -> Iterator[_Piece]:
        for box in self.picture.boxes:
            if not box.y <= y < box.y + box.height:
                continue
            marked = bool(box.id) and box.id == self.cursor_id
            if box.role == "focus":
                yield from self._frame_pieces(box, marked, y)
            else:
                left, right = ("▌", "▐") if marked else (" ", " ")
                name = self._style_of(box, marked)
                yield box.x, box.width, f"{left}{fit(box.text, box.width - 2)}{right}", name

    def _frame_pieces(self, box: Box, marked: bool, y: int) -> Iterator[_Piece]:
        line = "chosen-wire" if marked and self.active else "frame"
        top_left, top_right, low_left, low_right, across, wall = _CORNERS[marked]
        if y == box.row:
            yield box.x, 1, wall, line
            yield box.x + 1, box.width - 2, f" {fit(box.text, box.width - 4)} ", self._style_of(box, marked)
            yield box.x + box.width - 1, 1, wall, line
            return
        left, right = (top_left, top_right) if y < box.row else (low_left, low_right)
        yield box.x, box.width, f"{left}{across * (box.width - 2)}{right}", line

    def _style_of(self, box: Box, marked: bool) -> str:
        if marked:
            return "cursor" if self.active else "cursor-blurred"
        return box.role
