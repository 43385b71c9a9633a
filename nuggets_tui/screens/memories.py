"""The memories found on this machine: Claude Code's pages to read or to open, and other folders to open."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.threads import run_in_thread
from nuggets_tui.widgets.fields import Sides
from nuggets_tui.widgets.line_view import LineView
from nuggets_tui.widgets.markdown_lines import markdown_lines
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, cut_middle, sides
from nuggets_tui.words import data_size, plural, time_ago

if TYPE_CHECKING:
    from core.memories import FoundFile, FoundMemory, Page, PageText

_KINDS: Final = {"claude": "Claude Code", "nuggets": "nuggets"}
_INTRODUCTION: Final = (
    "Another memory opens in place of the current one. You can read the pages that Claude Code keeps here, or open "
    "them as a memory: then you can search and edit them."
)
_SEARCHING: Final = Content.styled("Looking for memories …", MUTED)
_NONE: Final = Content(
    "No other memory found.\n\nClaude Code keeps its pages in "
    "~/.claude/projects/PROJECT/memory,\nagents that use nuggets keep theirs in ~/.nuggets."
)
_MOST_SHOWN: Final = 30_000


def memories_here(home: str) -> tuple[FoundMemory, ...]:
    """The memories of the person at this machine, and those that lie beside a folder. For a thread."""
    from core.memories import found_memories

    beside = [Path(home), Path(home).parent] if home else []
    return found_memories(Path.home(), os.environ, beside)


def files_here(home: str) -> tuple[FoundFile, ...]:
    """The single files to import that lie where somebody works, with their agents, or beside a memory. For a thread."""
    from core.memories import found_files

    places = [Path(home).parent] if home else []
    with suppress(OSError):
        places.insert(0, Path.cwd())
    return found_files(Path.home(), os.environ, places)


class MemoriesScreen(Dialog[str]):
    """A list of folders. Answers with the one to open; pages are shown without leaving."""

    heading = "Memories found on this machine"
    keys = "⏎  read or open · o  open · ↑↓  choose · esc  close"
    about = _INTRODUCTION
    BINDINGS: ClassVar[list[BindingType]] = [Binding("o", "open", "open", show=False)]

    def __init__(self, home: str, now: datetime) -> None:
        super().__init__(classes="large")
        self._home = home
        self._now = now
        self._found: tuple[FoundMemory, ...] = ()

    def compose_inside(self) -> ComposeResult:
        yield Static(content(_INTRODUCTION, MUTED), classes="words")
        yield RowList(id="choices", empty_text=_SEARCHING)

    def on_mount(self) -> None:
        self.query_one(RowList).focus()
        self.find_memories()

    @work(group="memories", exclusive=True, exit_on_error=False)
    async def find_memories(self) -> None:
        """Fills the list; looking may take a moment on a slow disk."""
        found = await self.attempt(run_in_thread(memories_here, self._home))
        rows = self.query_one(RowList)
        rows.empty_text = _NONE
        self._found = found or ()
        rows.set_rows([self._row(str(number), one) for number, one in enumerate(self._found)])

    def _row(self, key: str, one: FoundMemory) -> Row:
        kind = Content.styled(f"{_KINDS[one.kind]}  ", "$text-secondary")
        title = Content.assemble(kind, content(safe_line(one.name, 120), "bold"))
        if one.problem:
            details = content(one.problem, "$text-warning")
        else:
            here = "open now · " if one.path == self._home else ""
            age = f", {time_ago(one.at, self._now)}" if one.at else ""
            details = content(f"{here}{plural(one.files, 'file')}, {data_size(one.size)}{age}", MUTED)
        return Row(
            key, (sides(title, details), lambda width: content(cut_middle(one.path, width - 1), MUTED))
        )

    @on(RowList.RowSelected)
    def take(self, event: RowList.RowSelected) -> None:
        event.stop()
        one = self._found[int(event.row.key)]
        if one.kind == "claude":
            self.app.push_screen(PagesScreen(one, self._now), self._opened)
        else:
            self.dismiss(one.path)

    def _opened(self, path: str | None) -> None:
        if path is not None:
            self.dismiss(path)

    def action_open(self) -> None:
        row = self.query_one(RowList).cursor_row
        if row is not None:
            self.dismiss(self._found[int(row.key)].path)


class PagesScreen(Dialog[str]):
    """The pages of one folder at the left, the text of one at the right; nothing here writes. Answers with the folder
    when it is to be opened.
    """

    keys = "⏎  read · o  open as a memory · tab  switch · ↑↓  choose, scroll · esc  close"
    about = "Pages that another program keeps. They are read-only here. Open them as a memory to edit them."
    BINDINGS: ClassVar[list[BindingType]] = [Binding("o", "open", "open", show=False)]

    def __init__(self, memory: FoundMemory, now: datetime) -> None:
        super().__init__(classes="full")
        self.heading = f"{_KINDS[memory.kind]}: {memory.name} · read-only"
        self._memory = memory
        self._now = now
        self._pages: tuple[Page, ...] = ()

    def compose_inside(self) -> ComposeResult:
        yield Static(content(self._memory.path, MUTED), classes="words")
        rows = RowList(id="changes", empty_text=Content("There are no readable pages here."))
        yield Sides(rows, LineView(id="difference"), ("Pages", "Text"))

    def on_mount(self) -> None:
        self.query_one(RowList).focus()
        self.list_pages()

    @work(group="pages", exclusive=True, exit_on_error=False)
    async def list_pages(self) -> None:
        from core.memories import pages

        self._pages = await self.attempt(run_in_thread(pages, Path(self._memory.path))) or ()
        self.query_one(RowList).set_rows([self._row(str(n), page) for n, page in enumerate(self._pages)])

    def _row(self, key: str, page: Page) -> Row:
        if page.problem:
            said = content(page.problem, "$text-warning")
        else:
            age = time_ago(page.at, self._now) if page.at else ""
            said = content(f"{data_size(page.size)}  {age}", MUTED)
        return Row(key, (content(safe_line(page.name, 300), "bold"), said))

    def action_open(self) -> None:
        self.dismiss(self._memory.path)

    @on(RowList.RowHighlighted)
    def show_page(self, event: RowList.RowHighlighted) -> None:
        event.stop()
        self.read_page_text(self._pages[int(event.row.key)])

    @work(group="page", exclusive=True, exit_on_error=False)
    async def read_page_text(self, page: Page) -> None:
        """Shows the text of a page, read in a thread."""
        from core.memories import PageText, read_page

        text = PageText(problem=page.problem)
        if not page.problem:
            text = await self.attempt(run_in_thread(read_page, page.path)) or text
        self.query_one(LineView).show_lines(partial(page_lines, page, text))


def page_lines(page: Page, text: PageText, width: int) -> Sequence[Content]:
    """A page as lines of at most `width` cells: its name, where a link leads, its Markdown."""
    lines = [*content(safe_line(page.name, 300), "bold").wrap(width)]
    if page.link:
        lines += content(f"a link to {safe_line(page.link, 300)}", MUTED).wrap(width)
    if text.problem:
        return [*lines, Content(""), *content(f"Cannot be read: {text.problem}", "$text-warning").wrap(width)]
    lines += [Content(""), *markdown_lines(text.text, width, _MOST_SHOWN)]
    if text.cut and len(text.text) <= _MOST_SHOWN:
        lines.append(Content.styled("… cut here; the page is longer", MUTED))
    if not text.text.strip():
        lines.append(Content.styled("The page is empty.", MUTED))
    return [part for line in lines for part in (line.wrap(width) if line.cell_length > width else [line])]
