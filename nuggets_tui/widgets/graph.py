"""The Graph pane: the picture of what surrounds the note shown in Note, or all notes as points."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from nuggets_tui.graph.data import GraphData
from nuggets_tui.graph.near import Direction
from nuggets_tui.messages import Asked
from nuggets_tui.safe_text import cut
from nuggets_tui.view import View, changed_between
from nuggets_tui.widgets.graph_view import GraphView
from nuggets_tui.widgets.row_text import MUTED
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from nuggets_tui.graph.near import Picture
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
