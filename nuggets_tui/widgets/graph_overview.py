"""The overview of a memory as points: seen whole or close, walked with keys and mouse."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar, Final

from textual import events, on
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.worker import Worker, WorkerState, get_current_worker

from core.model.snapshot import Snapshot
from nuggets_tui.graph.camera import Camera, fitting
from nuggets_tui.graph.layout import UNTITLED
from nuggets_tui.graph.overview import Overview, lay_out_overview
from nuggets_tui.graph.overview_painter import Mark, OverviewPainter, point_words
from nuggets_tui.graph.scene import COLOURS, Cells, Scene, beyond, coloured, nearest, next_disc
from nuggets_tui.key_map import keys_of
from nuggets_tui.safe_text import content
from nuggets_tui.words import plural

Way = tuple[int, int]
WAYS: Final[dict[str, Way]] = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}

_WORK: Final = "graph-overview"
_WORDS_FROM: Final = 3
_TIMES: Final = 1.6
_CLOSEST: Final = 20
# How near to the rim, in parts of the picture, the cursor comes before the picture moves.
_RIM: Final = 0.12
_BREATH: Final = 0.0005
_REFRESH_EVERY: Final = 0.15
_BAR: Final = 20
# About how often a layout of so many notes pauses.
_NOTES_A_PAUSE: Final = 1000
_OTHER_PAUSES: Final = 40


class _Left(Exception):
    """Nobody waits for the layout any more."""


class GraphOverview(Widget):
    """All notes of a memory, or of one nugget, as points in the colour of what they belong to.

    The layout is made in a thread, and again when the memory has changed; until then the last picture stays.
    """

    ALLOW_SELECT = False

    DEFAULT_CSS = """
    GraphOverview {
        width: 1fr;
        height: 1fr;
        & > .graph-overview--colour-1 { color: $text-primary; }
        & > .graph-overview--colour-2 { color: $text-secondary; }
        & > .graph-overview--colour-3 { color: $text-success; }
        & > .graph-overview--colour-4 { color: $text-error; }
        & > .graph-overview--colour-5 { color: $foreground; }
        & > .graph-overview--colour-6 { color: $text-warning; }
        & > .graph-overview--ghost { color: $text-muted; }
        & > .graph-overview--line { color: $border-blurred; }
        & > .graph-overview--chosen-line { color: $text-accent; text-style: bold; }
        & > .graph-overview--nugget { text-style: bold; }
        & > .graph-overview--words { color: $text-muted; }
        & > .graph-overview--mark { color: $text-accent; text-style: bold; }
        & > .graph-overview--cursor {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
        & > .graph-overview--cursor-blurred { text-style: bold; }
    }
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(f"graph-overview--colour-{number}" for number in range(1, COLOURS + 1)),
        "graph-overview--ghost",
        "graph-overview--line",
        "graph-overview--chosen-line",
        "graph-overview--nugget",
        "graph-overview--words",
        "graph-overview--mark",
        "graph-overview--cursor",
        "graph-overview--cursor-blurred",
    }

    show_hidden: reactive[bool] = reactive(False, repaint=False)
    """Whether hidden notes are drawn, as ghosts."""
    active: reactive[bool] = reactive(False)
    """Whether keys reach the picture."""

    @dataclass
    class Chosen(Message):
        """A note was chosen: enter, or a click on the note under the cursor."""

        note_id: str

    @dataclass
    class ViewChanged(Message):
        """Another part of the memory is seen, or from another distance."""

    @dataclass
    class Placed(Message):
        """A layout is ready."""

        overview: Overview
        snapshot: Snapshot

    def __init__(self) -> None:
        super().__init__()
        self._wish: Snapshot | None = None
        self._placing: Snapshot | None = None
        self._snapshot = Snapshot()
        self._overview: Overview | None = None
        self._worker: Worker[None] | None = None
        self._failure = ""
        self._pauses = 0
        self._expected = 1
        self._cursor = ""
        self._nugget: str | None = None
        self._zoom = 0
        self._middle: tuple[float, float] | None = None
        self._colours: dict[bool, dict[str, int]] = {False: {}, True: {}}
        self._scene: Scene | None = None
        self._painted: tuple[Scene, int | None, Cells] | None = None
        self._painter = OverviewPainter(self)

    # What it shows ----------------------------------------------------------------------------------

    @property
    def cursor_id(self) -> str:
        """Id of the marked note; "" when there is none, or it is not among those shown."""
        return self._cursor if self._marked(self.scene) is not None else ""

    @property
    def overview(self) -> Overview | None:
        """The layout on screen."""
        return self._overview

    @property
    def busy(self) -> bool:
        """Whether a layout is under way."""
        return self._worker is not None

    @property
    def nugget(self) -> str | None:
        """The only nugget shown, None for the whole memory."""
        return self._nugget

    @property
    def zoom(self) -> int:
        """How many steps nearer than where everything is seen."""
        return self._zoom

    def show(self, snapshot: Snapshot, note_id: str) -> None:
        """Show a memory, with one note marked."""
        if note_id and note_id != self._cursor and note_id in snapshot.by_id:
            self._cursor = note_id
            self._follow()
            self.post_message(self.ViewChanged())
        if snapshot is not (self._wish or self._placing or self._snapshot):
            self._wish = snapshot
            self._lay_out()
        self.refresh()

    def leave(self) -> None:
        """Nobody looks any more: a layout under way ends."""
        if self._worker is not None:
            self._worker.cancel()
            self._worker = self._placing = None

    # Layout in a thread -----------------------------------------------------------------------------

    def _lay_out(self) -> None:
        """Start a layout; while one is under way only the newest wish waits."""
        if self._wish is None or self._worker is not None or not self.is_attached:
            return
        wish, self._wish = self._wish, None
        self._placing = wish
        former = self._overview
        self._pauses, self._expected = 0, len(wish.notes) // _NOTES_A_PAUSE + _OTHER_PAUSES
        self._worker = self.run_worker(
            lambda: self._work(wish, former),
            name=_WORK,
            group=_WORK,
            exit_on_error=False,
            thread=True,
        )
        self._refresh_progress()

    def _work(self, snapshot: Snapshot, former: Overview | None) -> None:
        worker = get_current_worker()

        def pause() -> None:
            if worker.is_cancelled:
                raise _Left
            self._pauses += 1
            # Whoever is at the keyboard comes first.
            time.sleep(_BREATH)

        try:
            found = lay_out_overview(snapshot, former, pause)
        except _Left:
            return
        if not worker.is_cancelled:
            self.post_message(self.Placed(found, snapshot))

    def _refresh_progress(self) -> None:
        if self._worker is not None and self._overview is None and self.is_attached:
            self.refresh()
            self.set_timer(_REFRESH_EVERY, self._refresh_progress)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.worker.group != _WORK or not event.worker.is_finished:
            return
        event.stop()
        if event.worker is not self._worker:
            return
        self._worker = self._placing = None
        if event.state is WorkerState.ERROR:
            self._failure = f"the overview could not be drawn: {event.worker.error}"
            self.refresh()
        self._lay_out()

    @on(Placed)
    def _take(self, event: Placed) -> None:
        event.stop()
        self._failure = ""
        self._overview, self._snapshot = event.overview, event.snapshot
        names = {disc.key for disc in event.overview.nuggets}
        if self._nugget not in names:
            self._nugget = None
        if self._cursor not in event.overview.number:
            self._cursor = ""
        self._renew()
        self.post_message(self.ViewChanged())

    # The camera -------------------------------------------------------------------------------------

    def _room(self) -> tuple[int, int]:
        width, height = self.size
        return width, height - (1 if height >= _WORDS_FROM else 0)

    def _fitting(self) -> Camera:
        assert self._overview is not None
        number = self._number_of_nugget()
        width, height = self._room()
        discs = (disc for disc in self._overview.communities if number in (None, disc.nugget))
        return fitting(discs, width, height)

    def _number_of_nugget(self) -> int | None:
        assert self._overview is not None
        found = (disc.nugget for disc in self._overview.nuggets if disc.key == self._nugget)
        return next(found, None) if self._nugget is not None else None

    def _camera(self) -> Camera:
        whole = self._fitting()
        if not self._zoom or self._middle is None:
            return whole
        return whole.closer(_TIMES**self._zoom).at(*self._middle)

    def _renew(self) -> None:
        """Draw anew what is seen."""
        self._scene = None
        self._painted = None
        self.refresh()

    @property
    def scene(self) -> Scene | None:
        """What is seen; None before the first layout, and without room."""
        width, height = self._room()
        if self._overview is None or width <= 0 or height <= 0:
            return None
        if self._scene is None:
            number = self._number_of_nugget()
            apart = number is not None or len(self._overview.nuggets) == 1
            colours = coloured(self._overview, self._colours[apart], apart)
            communities, nuggets = self._overview.communities, self._overview.nuggets
            self._colours[apart] = {
                (disc if apart else nuggets[disc.nugget]).key: colour
                for disc, colour in zip(communities, colours, strict=True)
            }
            self._scene = Scene(
                self._overview, self._snapshot.by_id, self._camera(), colours, number, self.show_hidden
            )
        return self._scene

    def _follow(self) -> None:
        """Move the picture when the marked note comes near its rim."""
        scene = self.scene
        number = self._marked(scene)
        if scene is None or number is None or not self._zoom:
            return
        camera = scene.camera
        column, row = scene.cell(number)
        rim_x, rim_y = round(camera.width * _RIM) + 1, round(camera.height * _RIM) + 1
        if rim_x <= column < camera.width - rim_x and rim_y <= row < camera.height - rim_y:
            return
        inside = 0 <= column < camera.width and 0 <= row < camera.height
        x, y = scene.overview.place[number].tolist()
        # A step aside while walking, a leap when the note lies elsewhere.
        half = (camera.x + x) / 2, (camera.y + y) / 2
        self._middle = half if inside else (x, y)
        self._renew()

    # The hand ---------------------------------------------------------------------------------------

    def _marked(self, scene: Scene | None) -> int | None:
        """The number of the marked note, if it is among those shown."""
        if scene is None:
            return None
        number = scene.overview.number.get(self._cursor)
        return number if number is not None and scene.shown[number] else None

    def walk(self, way: Way, far: bool = False) -> None:
        """Mark the next note in a direction, or the middle of the next community."""
        scene = self.scene
        if scene is None:
            return
        number = self._marked(scene)
        if number is None:
            self._mark(nearest(scene, scene.camera.width // 2, scene.camera.height // 2))
        else:
            self._mark((next_disc if far else beyond)(scene, number, *way))

    def _mark(self, number: int | None) -> None:
        if number is not None and self._overview is not None:
            self._cursor = self._overview.ids[number]
            self._follow()
            self.refresh()
            self.post_message(self.ViewChanged())

    def choose(self) -> None:
        """Choose the marked note."""
        if self._marked(self.scene) is not None:
            self.post_message(self.Chosen(self._cursor))

    def zoom_by(self, change: int) -> None:
        """Come nearer to the marked note, or go back."""
        scene = self.scene
        wanted = min(max(self._zoom + change, 0), _CLOSEST)
        if scene is None or wanted == self._zoom:
            return
        number = self._marked(scene)
        if change > 0 and number is not None:
            x, y = scene.overview.place[number].tolist()
            self._middle = (x, y)
        elif self._middle is None:
            self._middle = (scene.camera.x, scene.camera.y)
        self._zoom = wanted
        if not wanted:
            self._middle = None
        self._renew()
        self.post_message(self.ViewChanged())

    def toggle_nugget(self) -> None:
        """The nugget of the marked note alone, and the whole memory again."""
        if self._overview is None or len(self._overview.nuggets) < 2:
            return
        if self._nugget is None:
            number = self._marked(self.scene)
            home = self._overview.nugget[number] if number is not None else 0
            self._nugget = self._overview.nuggets[home].key
        else:
            self._nugget = None
        self._zoom, self._middle = 0, None
        self._renew()
        self.post_message(self.ViewChanged())

    def watch_show_hidden(self) -> None:
        self._renew()
        self.post_message(self.ViewChanged())

    def on_resize(self) -> None:
        self._renew()
        self.post_message(self.ViewChanged())
        # What was seen before may be beyond the rim of a smaller picture.
        self._follow()

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        scene = self.scene
        if offset is None or scene is None:
            return
        event.stop()
        number = self._marked(scene)
        on_mark = number is not None and scene.cell(number) == (offset.x, offset.y)
        if on_mark or event.chain == 2:
            self.choose()
        else:
            self._mark(nearest(scene, offset.x, offset.y))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.zoom_by(1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.zoom_by(-1)

    # Painting ---------------------------------------------------------------------------------------

    def notify_style_update(self) -> None:
        self._painter.forget()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        width, height = self.size
        scene = self.scene
        if width <= 0:
            return Strip.blank(0)
        if scene is None or not scene.shown.any():
            said = content(self._failure or self._waiting() or self._nothing()).wrap(width)
            return self._painter.words(said[y].plain if y < len(said) else "", width)
        number = self._marked(scene)
        mark = Mark(number, self._title(), self.active)
        if y == height - 1 and height >= _WORDS_FROM:
            return self._painter.words(self._failure or point_words(scene, mark.number, mark.title), width)
        if self._painted is None or self._painted[:2] != (scene, number):
            self._painted = scene, number, scene.cells if number is None else scene.cells_with(number)
        cells = self._painted[2]
        # The pane may have grown since the picture was made; the next one is on its way.
        row = self._painter.row(scene, cells, mark, y) if y < len(cells[0]) else Strip.blank(width)
        return row.adjust_cell_length(width)

    def _title(self) -> str:
        note = self._snapshot.by_id.get(self._cursor)
        return (note.title.strip() or UNTITLED) if note is not None else ""

    def _nothing(self) -> str:
        if self._overview is not None and self._overview.ids:
            return keys_of(self).filled("All notes here are hidden; {show_hidden} shows them.")
        return "The overview shows notes as points."

    def _waiting(self) -> str:
        if self._placing is None:
            return ""
        share = min(self._pauses / self._expected, 0.99)
        done = round(share * _BAR)
        notes = plural(len(self._placing.notes), "note")
        return f"placing {notes}  {'━' * done}{'╌' * (_BAR - done)}  {share:.0%}"
