"""What could not be read: reason, place and bytes of each, and the ways to put it right."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from core.errors import NuggetsError
from core.model.snapshot import Problem
from nuggets_tui.file_opening import open_outside
from nuggets_tui.notices import notify, notify_error
from nuggets_tui.safe_text import content, plain, safe_line
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.session import Session
from nuggets_tui.widgets.fields import Sides
from nuggets_tui.widgets.line_view import LineView, wrapped
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED
from nuggets_tui.words import local_time, plural

if TYPE_CHECKING:
    from core.memory import Memory, Record

_SHOWN_BYTES: Final = 20_000


@dataclass(frozen=True)
class Unreadable:
    """One thing that could not be read. `kept`: the file with its exact bytes, `at` since when; None when the bytes
    stand in their own file alone. `data`: their beginning; `size`: how many there are.
    """

    problem: Problem
    kept: Path | None = None
    at: str = ""
    data: bytes = b""
    size: int = 0

    @property
    def path(self) -> Path:
        """The memory's file that it stands in."""
        return Path(self.problem.file or self.problem.where)

    @property
    def place(self) -> str:
        """Where in its file it stands, in words; the file's name when it is the whole file."""
        name = self.path.name
        return f"{name}: {self.problem.place}" if self.problem.place else name

    @property
    def whole(self) -> bool:
        """Whether nothing of the file can be read."""
        return not self.problem.kind.of_an_item


def unreadable(memory: Memory) -> tuple[Unreadable, ...]:
    """Everything that cannot be read at present, in the order of the files."""
    records = memory.maintenance.set_aside()
    return tuple(
        _with_bytes(problem, _record_of(problem, records, memory.home))
        for problem in memory.snapshot.problems
    )


def _record_of(problem: Problem, records: tuple[Record, ...], home: Path) -> Record | None:
    for record in records:
        same_file = os.path.normpath(home / record.file) == os.path.normpath(problem.file)
        if same_file and (record.where == problem.where if problem.kind.of_an_item else record.whole):
            return record
    return None


def _with_bytes(problem: Problem, record: Record | None) -> Unreadable:
    if record is not None:
        return Unreadable(problem, record.path, record.at, _beginning(record.path), record.size)
    path = Path(problem.file or problem.where)
    if problem.kind.of_an_item:
        return Unreadable(problem)
    return Unreadable(problem, None, "", _beginning(path), _size(path))


def _beginning(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_SHOWN_BYTES)
    except OSError:
        return b""


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


_INTRODUCTION: Final = (
    "Everything else was read and works as usual. What could not be used stays in its file, "
    "unchanged, until you repair it."
)
_ALL_READ: Final = "Everything is readable again."


class ProblemsScreen(Dialog[str]):
    """A list of what could not be read. Answers with the name of a command to go on with."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "open_file", "open the file", show=False, id="open_broken"),
        Binding("V", "go_on('verify')", "check and repair", show=False, id="verify"),
        Binding("B", "go_on('restore')", "go back to a backup", show=False, id="restore"),
    ]
    heading = "What could not be used"
    keys = "{verify}  check and repair · {open_broken}  open in $EDITOR · {restore}  go back to a backup · esc  close"
    about = "Files and notes that could not be used. They stay as they are, and their bytes are kept."

    def __init__(self, session: Session, found: tuple[Unreadable, ...]) -> None:
        super().__init__(classes="full")
        self._session = session
        self._found = found

    def compose_inside(self) -> ComposeResult:
        yield Static(content(_INTRODUCTION, MUTED), classes="words")
        things, details = RowList(self._rows(), id="changes"), LineView(id="difference")
        yield Sides(things, details, ("Could not be used", "Details"))

    def on_mount(self) -> None:
        self.query_one(RowList).focus()

    def _rows(self) -> list[Row]:
        return [
            Row(str(number), (content(each.place, "bold"), content(each.problem.what, MUTED)))
            for number, each in enumerate(self._found)
        ]

    @property
    def _present(self) -> Unreadable:
        row = self.query_one(RowList).cursor_row
        return self._found[int(row.key) if row is not None else 0]

    @on(RowList.RowHighlighted)
    def show_details(self, event: RowList.RowHighlighted) -> None:
        event.stop()
        self.query_one(LineView).show_lines(partial(detail_lines, self._found[int(event.row.key)]))

    def action_go_on(self, command: str) -> None:
        self.dismiss(command)

    def action_open_file(self) -> None:
        try:
            open_outside(self.app, self._present.path)
        except NuggetsError as error:
            notify_error(self, error)
            return
        self.reload()

    @work(group="reload", exclusive=True, exit_on_error=False)
    async def reload(self) -> None:
        await self.attempt(self._session.reconcile())
        found = await self.attempt(self._session.read(unreadable, self._session.memory))
        if found is None:
            return
        if not found:
            notify(self, _ALL_READ)
            self.dismiss(None)
            return
        self._found = found
        self.query_one(RowList).set_rows(self._rows())
        self.query_one(LineView).show_lines(partial(detail_lines, self._present))


def detail_lines(thing: Unreadable, width: int) -> list[Content]:
    """What is known of something that could not be read, at a width."""
    kept = "in its file only"
    if thing.kept is not None:
        kept = f"in {thing.kept}, since {local_time(thing.at)}"
    lines = [
        _labelled("What", safe_line(thing.problem.what)),
        _labelled("Where", safe_line(thing.problem.where)),
        _labelled("Bytes", safe_line(f"{plural(thing.size, 'byte')}, kept {kept}" if thing.size else kept)),
        Content(""),
    ]
    text = plain(thing.data.decode("utf-8", "backslashreplace").expandtabs(4))
    lines += [Content(line) for line in text.split("\n")] if thing.data else []
    if thing.size > len(thing.data) > 0:
        lines.append(Content.styled(f"… {thing.size - len(thing.data):,} more bytes", MUTED))
    return wrapped(lines, width)


def _labelled(label: str, said: str) -> Content:
    return Content.assemble((f"{label:<7}", MUTED), said)
