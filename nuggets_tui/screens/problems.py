"""What could not be read: reason, place and bytes of each, and the ways to put it right."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content

from core.errors import NuggetsError
from core.model.snapshot import Problem
from core.unsaved import Offered, Unsaved, UnsavedTexts
from nuggets_tui.differences import DiffLine
from nuggets_tui.file_opening import open_outside
from nuggets_tui.notices import notify, notify_error
from nuggets_tui.safe_text import content, cut, plain, safe_line
from nuggets_tui.screens.dialog import BrowseScreen, ConfirmScreen
from nuggets_tui.session import Session
from nuggets_tui.widgets.line_view import MakeLines, styled, text_difference, wrapped
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, sides
from nuggets_tui.words import local_time, plural, time_ago

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


def unreadable(memory: Memory) -> tuple[Unreadable, ...]:
    """Everything that cannot be read at present, in the order of the files."""
    records = memory.maintenance.set_aside()
    return tuple(_with_bytes(problem, records, memory.home) for problem in memory.snapshot.problems)


def _with_bytes(problem: Problem, records: tuple[Record, ...], home: Path) -> Unreadable:
    item = problem.kind.of_an_item
    for record in records:
        same_file = os.path.normpath(home / record.file) == os.path.normpath(problem.file)
        if same_file and (record.where == problem.where if item else record.whole):
            return Unreadable(problem, record.path, record.at, _beginning(record.path), record.size)
    one = Unreadable(problem)
    size = 0
    with suppress(OSError):
        size = one.path.stat().st_size
    return one if item else Unreadable(problem, None, "", _beginning(one.path), size)


def _beginning(path: Path) -> bytes:
    with suppress(OSError), path.open("rb") as file:
        return file.read(_SHOWN_BYTES)
    return b""


class ProblemsScreen(BrowseScreen[str]):
    """A list of what could not be read. Answers with the name of a command to go on with."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "open_file", "open the file", show=False, id="open_broken"),
        Binding("V", "go_on('verify')", "check and repair", show=False, id="verify"),
        Binding("B", "go_on('restore')", "go back to a backup", show=False, id="restore"),
    ]
    heading = "What could not be used"
    keys = "{verify}  check and repair · {open_broken}  open in $EDITOR · {restore}  go back to a backup · esc  close"
    about = "Files and notes that could not be used. They stay as they are, and their bytes are kept."
    titles = ("Could not be used", "Details")

    def __init__(self, session: Session, found: tuple[Unreadable, ...]) -> None:
        said = (
            "Everything else was read and works as usual. What could not be used stays in its file, "
            "unchanged, until you repair it."
        )
        super().__init__(said=said)
        self._session = session
        self._found = found

    def fill(self, rows: RowList) -> None:
        rows.set_rows(
            [
                Row(str(number), (content(each.place, "bold"), content(each.problem.what, MUTED)))
                for number, each in enumerate(self._found)
            ]
        )

    def detail(self, row: Row, index: int) -> MakeLines:
        return partial(detail_lines, self._found[index])

    def action_go_on(self, command: str) -> None:
        self.dismiss(command)

    def action_open_file(self) -> None:
        try:
            open_outside(self.app, self._found[max(self.rows.cursor, 0)].path)
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
        self._found = found
        if found:
            self.fill(self.rows)
            self.show_detail()
        else:
            notify(self, "Everything is readable again.")
            self.dismiss(None)


def detail_lines(thing: Unreadable, width: int) -> list[Content]:
    """What is known of something that could not be read, at a width."""
    kept = "in its file only"
    if thing.kept is not None:
        kept = f"in {thing.kept}, since {local_time(thing.at)}"
    said = {
        "What": thing.problem.what,
        "Where": thing.problem.where,
        "Bytes": f"{plural(thing.size, 'byte')}, kept {kept}" if thing.size else kept,
    }
    lines = [Content.assemble((f"{label:<7}", MUTED), safe_line(text)) for label, text in said.items()]
    lines.append(Content(""))
    text = plain(thing.data.decode("utf-8", "backslashreplace").expandtabs(4))
    lines += [Content(line) for line in text.split("\n")] if thing.data else []
    if thing.size > len(thing.data) > 0:
        lines.append(Content.styled(f"… {thing.size - len(thing.data):,} more bytes", MUTED))
    return wrapped(lines, width)


_TITLE = 60
# What stands for "the note as it is" in the answer.
AS_IT_IS = "as it is"


class UnsavedScreen(BrowseScreen[Offered | str]):
    """Answers with the text to go on with, or AS_IT_IS for editing the note without it."""

    about = (
        "Texts that you typed and did not save, because the app ended or you kept them for later. "
        "They are outside the memory until you save or discard them."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "discard", "discard", show=False),
        Binding("e", "as_it_is", "as it is", show=False),
    ]
    titles = ("Texts", "What you typed")

    def __init__(
        self, texts: UnsavedTexts, offered: Sequence[Offered], now: datetime, *, of_note: bool = False
    ) -> None:
        """`of_note`: the person is about to edit the note that all of these are about."""
        self._texts = texts
        self._offered = list(offered)
        self._now = now
        self._of_note = of_note
        first = offered[0].unsaved
        one = f"You were editing {named(first)} ({time_ago(first.at, now)}), unsaved"
        super().__init__(one if len(offered) == 1 else "Not saved yet", classes="large")
        later = "e  edit the saved note" if of_note else "esc  later"
        self.keys = f"⏎  continue · x  discard · tab  what changed · {later}"

    def fill(self, rows: RowList) -> None:
        made = []
        for place, one in enumerate(self._offered):
            size = sum(map(len, one.unsaved.changed.values()))
            about = f"{plural(size, 'character')} · {time_ago(one.unsaved.at, self._now)}"
            made.append(Row(str(place), (sides(content(named(one.unsaved)), content(about, MUTED)),)))
        rows.set_rows(made)

    def detail(self, row: Row, index: int) -> MakeLines:
        return partial(_changes, self._offered[index].unsaved)

    def open_row(self, row: Row, index: int) -> None:
        self.dismiss(self._offered[index])

    def action_as_it_is(self) -> None:
        if self._of_note:
            self.dismiss(AS_IT_IS)

    def action_discard(self) -> None:
        row = self.row
        if row is None:
            return
        current = self._offered[int(row.key)]
        size = sum(map(len, current.unsaved.changed.values()))
        question = ConfirmScreen(
            f"Discard {named(current.unsaved)}?",
            f"There is no other copy of the {plural(size, 'character')} you typed.",
            yes="discard it",
            no="keep it",
        )
        self.if_sure(question, lambda: self._discard(current))

    @work(group="change", exit_on_error=False)
    async def _discard(self, offered: Offered) -> None:
        async def gone() -> bool:
            await asyncio.to_thread(self._texts.discard, offered)
            return True

        if await self.attempt(gone()):
            self._offered.remove(offered)
            if self._offered:
                self.fill(self.rows)
                self.show_detail()
            else:
                self.dismiss(None)


def named(unsaved: Unsaved) -> str:
    """What a text is, in a few words."""
    if unsaved.kind == "text":
        return f'a text to submit "{cut(unsaved.values.get("text", "").strip(), _TITLE)}"'
    title = f'"{cut(unsaved.title, _TITLE)}"' if unsaved.title.strip() else "without a title"
    if unsaved.kind == "conflict":
        return f"the result for {title}"
    return title if unsaved.about else f"a new note {title}"


def _changes(unsaved: Unsaved, width: int) -> list[Content]:
    lines: list[Content] = []
    for name, value in unsaved.changed.items():
        lines.append(content(safe_line(name.capitalize(), 30), "bold"))
        before = unsaved.begun.get(name, "")
        if "\n" in value or "\n" in before:
            lines += text_difference(before, value)
        else:
            lines += [styled(line) for line in (DiffLine("-", before), DiffLine("+", value)) if line.text]
        lines.append(Content(""))
    return wrapped(lines, width)
