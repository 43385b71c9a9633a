"""The Graph pane: the picture of what surrounds the note shown in Note, or all notes as points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from rich.segment import Segment
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget
from textual.worker import Worker, WorkerState, get_current_worker

from core.model.snapshot import Snapshot
from nuggets_tui.graph.near import (
    Box,
    Direction,
    GraphData,
    Picture,
    Wire,
    drawn,
    graph_data,
    lay_out,
    reasons,
    step,
    summary,
)
from nuggets_tui.safe_text import content, cut, fit
from nuggets_tui.view import Asked, View, changed_between
from nuggets_tui.widgets.row_text import MUTED
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from nuggets_tui.widgets.graph_overview import GraphOverview

_NAME_CELLS = 24
_LEGEND = "• note  ◆ fact  ● several"
# What the frame of the overview says, with what a click presses; "" for what the mouse does in its own way. The first
# needs a marked note.
_OVERVIEW_KEYS = (
    ("⏎ open", "enter"), ("+ zoom in", "plus"), ("- out", "minus"), ("n nugget", "n"), ("shift+arrows jump", ""),
    ("esc back", "escape"),
)  # fmt: skip
_OVERVIEW_ONLY = ("leap", "zoom", "nugget", "leave_overview")


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


class GraphPane(Widget, can_focus=True):
    """Follows the note shown in Note; the arrow keys walk along links, enter goes to a note.

    While `overview` is on, all notes are shown as points. The keys go to the picture that is shown.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    GraphPane {
        height: 1fr;
        overflow: hidden;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(way, f"walk('{way}')", f"Walk {way}", show=False)
            for way in ("left", "right", "up", "down")
        ),
        Binding("enter", "choose", "Centre", show=False),
        Binding("plus,equals_sign", "zoom(1)", "Zoom in", show=False),
        Binding("minus", "zoom(-1)", "Zoom out", show=False),
        Binding("shift+left", "leap('left')", "Leap left", show=False),
        Binding("shift+right", "leap('right')", "Leap right", show=False),
        Binding("shift+up", "leap('up')", "Leap up", show=False),
        Binding("shift+down", "leap('down')", "Leap down", show=False),
        Binding("n", "nugget", "This nugget", show=False),
        Binding("escape", "leave_overview", "Surroundings", show=False),
    ]

    view: reactive[View] = reactive(View())
    overview: reactive[bool] = reactive(False)
    """Whether all notes are shown as points, instead of the surroundings of one."""

    def __init__(self) -> None:
        super().__init__(id="graph", classes="pane")
        self._surroundings = GraphView(empty_text="The graph shows the notes around the one in Note.")
        self._points: GraphOverview | None = None
        self._name_it()

    def compose(self) -> ComposeResult:
        yield self._surroundings

    # What it shows ----------------------------------------------------------------------------------

    @property
    def note_under_cursor(self) -> str:
        """Id of the note under the cursor of what is shown; "" when there is none."""
        shown = self._points if self.overview and self._points is not None else self._surroundings
        return shown.cursor_id

    @property
    def picture(self) -> Picture:
        return self._surroundings.picture

    def watch_view(self, before: View, after: View) -> None:
        if (
            before.note_id == after.note_id
            and not changed_between(before, after, "snapshot", "team")
            and before.loaded == after.loaded
            and (before.hops, before.show_hidden) == (after.hops, after.show_hidden)
        ):
            return
        self._name_it()
        if self.overview:
            self._show_points(after.note_id if before.note_id != after.note_id else "")
        if after.note is None or not after.loaded:
            self._surroundings.show_data(GraphData())
        else:
            self._surroundings.show(after.around, after.note_id, after.hops, show_hidden=after.show_hidden)

    def watch_overview(self, shown: bool) -> None:
        if shown:
            if self._points is None:
                # What draws points needs numpy; the first frame does not.
                from nuggets_tui.widgets.graph_overview import GraphOverview

                self._points = GraphOverview()
                self.mount(self._points)
            self._points.display = True
            self._show_points(self.view.note_id)
        elif self._points is not None:
            self._points.leave()
            self._points.display = False
        self._surroundings.display = not shown
        self._name_it()

    def _show_points(self, note_id: str) -> None:
        if self._points is not None and self.view.loaded:
            self._points.show_hidden = self.view.show_hidden
            self._points.active = self.has_focus
            self._points.show(self.view.snapshot, note_id)

    def _name_it(self) -> None:
        said = plural(self.view.hops, "hop")
        if self.overview and self._points is not None:
            said = (
                f"overview of {cut(self._points.nugget, _NAME_CELLS)}" if self._points.nugget else "overview"
            )
            said += f" · zoom {self._points.zoom}" if self._points.zoom else ""
            said += f" · {_LEGEND} · colours: {'communities' if self._points.nugget else 'nuggets'}"
        self.border_title = Content.assemble("5 Graph", (f" · {said}", MUTED))
        keys = _OVERVIEW_KEYS if self.note_under_cursor else _OVERVIEW_KEYS[1:]
        self.border_subtitle = _pressed_by_clicks(keys) if self.overview else Content("")

    def on_mount(self) -> None:
        self._name_it()

    def on_focus(self) -> None:
        self._mark(True)

    def on_blur(self) -> None:
        self._mark(False)

    def _mark(self, active: bool) -> None:
        self._surroundings.active = active
        if self._points is not None:
            self._points.active = active

    # The hand ---------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in _OVERVIEW_ONLY:
            return self.overview
        return super().check_action(action, parameters)

    def action_walk(self, direction: Direction) -> None:
        if self.overview:
            self._walk_points(direction, far=False)
        else:
            self._surroundings.walk(direction)

    def action_leap(self, direction: Direction) -> None:
        self._walk_points(direction, far=True)

    def _walk_points(self, direction: Direction, far: bool) -> None:
        from nuggets_tui.widgets.graph_overview import WAYS

        if self._points is not None:
            self._points.walk(WAYS[direction], far)

    def action_choose(self) -> None:
        if self.overview and self._points is not None:
            self._points.choose()
        else:
            self._surroundings.choose()

    def action_zoom(self, change: int) -> None:
        if self._points is not None:
            self._points.zoom_by(change)

    def action_nugget(self) -> None:
        if self._points is not None:
            self._points.toggle_nugget()

    def action_leave_overview(self) -> None:
        self.post_message(Asked(lambda main: main.arrangement.leave_overview()))

    @on(Click)
    def press_named_key(self, event: Click) -> None:
        key = event.style.meta.get("press")
        if key:
            event.stop()
            self.app.simulate_key(key)

    @on(GraphView.NodeChosen)
    def go(self, event: GraphView.NodeChosen) -> None:
        event.stop()
        self._pick(event.note_id)
        self.post_message(Asked(lambda main: main.go_to("graph")))

    def on_graph_overview_chosen(self, event: GraphOverview.Chosen) -> None:
        event.stop()
        self._pick(event.note_id)
        self.post_message(Asked(lambda main: main.arrangement.leave_overview()))

    def _pick(self, note_id: str) -> None:
        self.post_message(Asked(lambda main: main.pick_note(note_id, follow=True)))

    def on_graph_overview_view_changed(self, event: GraphOverview.ViewChanged) -> None:
        self._name_it()


def _pressed_by_clicks(keys: Iterable[tuple[str, str]]) -> Content:
    return Content(" · ").join(
        Content(said).stylize(Style.from_meta({"press": key})) if key else Content(said) for said, key in keys
    )


_WORK: Final = "graph-layout"
# Lines from which the last one holds words.
_WORDS_FROM: Final = 3
# Column, cells, text, component class ("" for the widget's own style).
_Piece = tuple[int, int, str, str]
_CORNERS: Final = {False: ("╭", "╮", "╰", "╯", "─", "│"), True: ("┏", "┓", "┗", "┛", "━", "┃")}
