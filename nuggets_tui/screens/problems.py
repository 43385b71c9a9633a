"""What could not be read: reason, place and bytes of each, and the ways to put it right."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, Final

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from core.errors import NuggetsError
from nuggets_tui.desk import Desk
from nuggets_tui.notices import say, say_error
from nuggets_tui.safe_text import content, plain, safe_line
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.screens.outside import open_outside
from nuggets_tui.unreadable import Unreadable, unreadable
from nuggets_tui.widgets.diff_lines import wrapped
from nuggets_tui.widgets.line_view import LineView
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED
from nuggets_tui.widgets.sides import Sides
from nuggets_tui.words import local_time, plural

_SAID: Final = (
    "Everything else was read and works as always. Nothing is written over what could not be read: it stays in its "
    "file until you put it right."
)
_ALL_READ: Final = "Everything can be read again."


class ProblemsScreen(Dialog[str]):
    """A list of what could not be read. Answers with the name of a command to go on with."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "open_file", "open the file", show=False, id="open_broken"),
        Binding("V", "go_on('verify')", "check and repair", show=False, id="verify"),
        Binding("B", "go_on('restore')", "go back to a backup", show=False, id="restore"),
    ]
    heading = "What could not be read"
    keys = "{verify}  check and repair · {open_broken}  open in $EDITOR · {restore}  go back to a backup · esc  close"
    about = "Files and notes that could not be read. They are left as they are, and their bytes are kept."

    def __init__(self, desk: Desk, found: tuple[Unreadable, ...]) -> None:
        super().__init__(classes="full")
        self._desk = desk
        self._found = found

    def compose_inside(self) -> ComposeResult:
        """The list at the left, what is known of each at the right."""
        yield Static(content(_SAID, MUTED), classes="words")
        things, details = RowList(self._rows(), id="changes"), LineView(id="difference")
        yield Sides(things, details, ("Could not be read", "What is known"))

    def on_mount(self) -> None:
        """Begins with the first one."""
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
        """Shows what is known of the thing under the cursor."""
        event.stop()
        self.query_one(LineView).show_lines(partial(detail_lines, self._found[int(event.row.key)]))

    def action_go_on(self, command: str) -> None:
        """Closes, and goes on with a command of the main screen."""
        self.dismiss(command)

    def action_open_file(self) -> None:
        """The file in the person's own editor; what can be read afterwards leaves the list."""
        try:
            open_outside(self.app, self._present.path)
        except NuggetsError as error:
            say_error(self, error)
            return
        self.look_again()

    @work(group="look", exclusive=True, exit_on_error=False)
    async def look_again(self) -> None:
        """Reads the files once more."""
        await self.attempt(self._desk.settle())
        found = await self.attempt(self._desk.read(unreadable, self._desk.memory))
        if found is None:
            return
        if not found:
            say(self, _ALL_READ)
            self.dismiss(None)
            return
        self._found = found
        self.query_one(RowList).set_rows(self._rows())
        self.query_one(LineView).show_lines(partial(detail_lines, self._present))


def detail_lines(thing: Unreadable, width: int) -> list[Content]:
    """What is known of something that could not be read, at a width."""
    kept = "in its file alone"
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
