"""The overview of a memory as points: seen whole or close, walked with keys and mouse."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Final

import numpy as np
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.worker import Worker, WorkerState, get_current_worker

from core.model.snapshot import Snapshot
from nuggets_tui.commands import keys_of
from nuggets_tui.graph.near import UNTITLED
from nuggets_tui.graph.overview import (
    CHOSEN_LINE,
    COLOURS,
    FAINT_LINE,
    GHOST,
    PLAIN,
    Camera,
    Cells,
    Overview,
    Scene,
    beyond,
    coloured,
    fitting,
    lay_out_overview,
    nearest,
    next_disc,
)
from nuggets_tui.safe_text import content, cut, fit
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
_MARK: Final = "◉"
_TITLE_CELLS, _LABEL_CELLS = 36, 60
_STYLES: Final = {GHOST: "ghost", FAINT_LINE: "line", CHOSEN_LINE: "chosen-line"}
# First column, text, style.
_Piece = tuple[int, str, Style]


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
        self._cursor = ""
        self._nugget: str | None = None
        self._zoom = 0
        self._middle: tuple[float, float] | None = None
        self._colours: dict[bool, dict[str, int]] = {False: {}, True: {}}
        self._scene: Scene | None = None
        self._painted: tuple[Scene, int | None, Cells] | None = None
        self._rich: dict[int, Style] = {}

    # What it shows ----------------------------------------------------------------------------------

    @property
    def cursor_id(self) -> str:
        """Id of the marked note; "" when there is none, or it is not among those shown."""
        return self._cursor if self._marked(self.scene) is not None else ""

    @property
    def overview(self) -> Overview | None:
        return self._overview

    @property
    def busy(self) -> bool:
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
        self._worker = self.run_worker(
            lambda: self._work(wish, former),
            name=_WORK,
            group=_WORK,
            exit_on_error=False,
            thread=True,
        )
        self.refresh()

    def _work(self, snapshot: Snapshot, former: Overview | None) -> None:
        worker = get_current_worker()

        def pause() -> None:
            if worker.is_cancelled:
                raise _Left
            # Whoever is at the keyboard comes first.
            time.sleep(_BREATH)

        try:
            found = lay_out_overview(snapshot, former, pause)
        except _Left:
            return
        if not worker.is_cancelled:
            self.post_message(self.Placed(found, snapshot))

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
        return whole.closer(_TIMES**self._zoom, *self._middle)

    def _renew(self) -> None:
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

    # Painting

    def notify_style_update(self) -> None:
        self._rich = {}
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        width, height = self.size
        scene = self.scene
        if width <= 0:
            return Strip.blank(0)
        if scene is None or not scene.shown.any():
            said = content(self._failure or self._nothing()).wrap(width)
            return self._words(said[y].plain if y < len(said) else "", width)
        number = self._marked(scene)
        if y == height - 1 and height >= _WORDS_FROM:
            return self._words(self._failure or self._about(scene, number), width)
        if self._painted is None or self._painted[:2] != (scene, number):
            self._painted = scene, number, scene.cells if number is None else scene.cells_with(number)
        cells = self._painted[2]
        # The pane may have grown since the picture was made; the next one is on its way.
        row = self._row(scene, cells, number, y) if y < len(cells[0]) else Strip.blank(width)
        return row.adjust_cell_length(width)

    def _words(self, text: str, width: int) -> Strip:
        return Strip([Segment(fit(text, width), self._named("words"))], width)

    def _row(self, scene: Scene, cells: Cells, number: int | None, y: int) -> Strip:
        """Row `y` of a scene; `cells` are the scene's, with the links of the marked note."""
        pieces = list(self._marked_pieces(scene, number, y))
        for label in scene.labels.get(y, ()):
            end = label.column + cell_len(label.text)
            # A name that the marked note's title would cut is left out.
            if all(end < at or at + cell_len(text) < label.column for at, text, _ in pieces):
                style = self._style(label.colour) + Style(bold=label.group, underline=label.group)
                pieces.append((label.column, label.text, style))
        signs, styles = cells[0][y], cells[1][y]
        text = signs.astype("<u4").tobytes().decode("utf-32-le")
        segments: list[Segment] = []
        at = 0
        for column, said, style in (*sorted(pieces, key=lambda piece: piece[0]), (len(text), "", Style())):
            cuts = [at, *(np.flatnonzero(np.diff(styles[at:column])) + at + 1).tolist(), column]
            for first, last in pairwise(cuts):
                if last > first:
                    segments.append(Segment(text[first:last], self._style(int(styles[first]))))
            segments.append(Segment(said, style))
            at = column + cell_len(said)
        return Strip(segments, len(text))

    def _marked_pieces(self, scene: Scene, number: int | None, y: int) -> Iterator[_Piece]:
        """The sign of the marked note and its title beside it."""
        column, row = scene.cell(number) if number is not None else (-1, -1)
        if row != y or not 0 <= column < scene.camera.width:
            return
        right = scene.camera.width - column - 1
        title = cut(self._title(), min(_TITLE_CELLS, max(right, column) - 2))
        if title:
            text = f" {title} "
            cells = cell_len(text)
            at = column + 1 if cells <= right else column - cells
            yield at, text, self._named("cursor" if self.active else "cursor-blurred")
        yield column, _MARK, self._named("mark")

    def _named(self, name: str) -> Style:
        return self.get_visual_style(f"graph-overview--{name}").rich_style

    def _style(self, number: int) -> Style:
        """The style of a cell's number, as a scene gives them."""
        if number == PLAIN:
            return self.visual_style.rich_style
        if number not in self._rich:
            self._rich[number] = self._named(_STYLES.get(number, f"colour-{number + 1}"))
        return self._rich[number]

    def _title(self) -> str:
        note = self._snapshot.by_id.get(self._cursor)
        return (note.title.strip() or UNTITLED) if note is not None else ""

    def _about(self, scene: Scene, number: int | None) -> str:
        """What the last row says of the marked note: where it belongs, its links, and what else lies there."""
        if number is None:
            return f"{plural(int(scene.shown.sum()), 'note')} · arrow keys select one"
        overview = scene.overview
        disc = overview.communities[overview.community[number]]
        home = overview.nuggets[disc.nugget].name
        said = [cut(self._title(), _LABEL_CELLS), f"{home} › {disc.name}" if disc.name else home]
        said.append(plural(int(scene.shown[overview.linked(number)].sum()), "link"))
        column, row = scene.cell(number)
        inside = 0 <= column < scene.camera.width and 0 <= row < scene.camera.height
        fellows = int(scene.crowd[row, column]) - 1 if inside else 0
        return " · ".join(
            [*said, *([f"{plural(fellows, 'more note')} at this point"] if fellows > 0 else [])]
        )

    def _nothing(self) -> str:
        if self._placing is not None:
            return f"placing {plural(len(self._placing.notes), 'note')} …"
        if self._overview is not None and self._overview.ids:
            return keys_of(self).filled("All notes here are hidden; {show_hidden} shows them.")
        return "The overview shows notes as points."
