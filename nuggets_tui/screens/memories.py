"""Memories and files found on this machine: pages to read, another memory to open, and what of one would come in."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content

from nuggets_tui.differences import DiffLine, Sign
from nuggets_tui.pace import LongWork, Works, run_in_thread
from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.screens.dialog import AskScreen, BrowseScreen, ChoiceScreen, as_typed, key_content
from nuggets_tui.screens.review import Reviewed, ReviewItem, ReviewItems, ReviewScreen
from nuggets_tui.session import Session
from nuggets_tui.widgets.line_view import markdown_lines, note_change_lines, styled_lines, wrapped
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, path_line, sides
from nuggets_tui.words import data_size, plural, time_ago

if TYPE_CHECKING:
    from core.exchange.plan import ImportItem, ImportResult
    from core.exchange.records import LeftOut
    from core.memories import FoundFile, FoundMemory, Page, PageText
    from core.memory import ReadSource
    from core.model.change import FactChange, NoteChange

ANOTHER: Final = "another path"
_KINDS: Final = {"claude": "Claude Code", "nuggets": "nuggets"}
_NONE: Final = Content(
    "No other memory found.\n\nClaude Code keeps its pages in "
    "~/.claude/projects/PROJECT/memory,\nagents that use nuggets keep theirs in ~/.nuggets."
)
_FORMATS: Final = "CLAUDE.md, AGENTS.md, Obsidian, basic-memory, MCP memory, mem0, engram, JSON"
_MOST_SHOWN: Final = 30_000
_SHOWN: Final = 4_000


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


def memory_choice(found: Sequence[FoundMemory], home: str, now: datetime) -> ChoiceScreen:
    """Answers with the path of a memory to read or to open. home: the one that is open."""
    said = (
        "Another memory opens in place of the current one. You can read the pages that Claude Code keeps here, or "
        "open them as a memory: then you can search and edit them."
    )
    rows = [_found_row(one, now, "open now · " if one.path == home else "") for one in found]
    return ChoiceScreen(rows, "Memories found on this machine", said, "read or open", empty=_NONE)


def import_choice(
    found: Sequence[FoundMemory], now: datetime, files: Sequence[FoundFile] = ()
) -> ChoiceScreen:
    """Answers with the path of a memory or a file that was found, or ANOTHER."""
    said = "You see a preview first. What is here already is not added again, and nothing here is replaced."
    another = Row(ANOTHER, (content("Another file or folder …", "bold"), content(_FORMATS, MUTED)))
    rows = [*(_found_row(one, now) for one in found), *(_file_row(one, now) for one in files), another]
    return ChoiceScreen(rows, "Import from where?", said, "preview")


def _found_row(one: FoundMemory, now: datetime, here: str = "") -> Row:
    kind = Content.styled(f"{_KINDS[one.kind]}  ", "$text-secondary")
    if one.problem:
        details = content(one.problem, "$text-warning")
    else:
        age = f", {time_ago(one.at, now)}" if one.at else ""
        what = plural(one.files, "page" if one.kind == "claude" else "file")
        details = content(f"{here}{what}, {data_size(one.size)}{age}", MUTED)
    title = Content.assemble(kind, content(safe_line(one.name, 120), "bold"))
    return Row(one.path, (sides(title, details), path_line(one.path)))


def _file_row(one: FoundFile, now: datetime) -> Row:
    from core.exchange.records import NAMES

    name = content(safe_line(os.path.basename(one.path), 120), "bold")
    what = plural(one.records, "item") + ", " if one.records else ""
    size = f"{what}{data_size(one.size)}, {time_ago(one.at, now)}"
    path = f"{NAMES[one.format]} · {one.path}"
    return Row(one.path, (sides(name, content(size, MUTED)), path_line(path)))


class PagesScreen(BrowseScreen[str]):
    """The pages of one folder at the left, the text of one at the right; nothing here writes. Answers with the folder
    when it is to be opened.
    """

    keys = "⏎  read · o  open as a memory · tab  switch · ↑↓  choose, scroll · esc  close"
    about = "Pages that another program keeps. They are read-only here. Open them as a memory to edit them."
    BINDINGS: ClassVar[list[BindingType]] = [Binding("o", "open", "open", show=False)]
    titles = ("Pages", "Text")

    def __init__(self, memory: FoundMemory, pages: Sequence[Page], now: datetime) -> None:
        super().__init__(f"{_KINDS[memory.kind]}: {memory.name} · read-only", memory.path)
        self._memory = memory
        self._pages = pages
        self._now = now

    def fill(self, rows: RowList) -> None:
        rows.empty_text = Content("There are no readable pages here.")
        made = []
        for number, page in enumerate(self._pages):
            age = time_ago(page.at, self._now) if page.at else ""
            said = content(f"{data_size(page.size)}  {age}", MUTED)
            if page.problem:
                said = content(page.problem, "$text-warning")
            made.append(Row(str(number), (content(safe_line(page.name, 300), "bold"), said)))
        rows.set_rows(made)

    def detail(self, row: Row, index: int) -> None:
        self.read_page_text(self._pages[index])

    def action_open(self) -> None:
        self.dismiss(self._memory.path)

    @work(group="page", exclusive=True, exit_on_error=False)
    async def read_page_text(self, page: Page) -> None:
        """Shows the text of a page, read in a thread."""
        from core.memories import PageText, read_page

        text = PageText(problem=page.problem)
        if not page.problem:
            text = await self.attempt(run_in_thread(read_page, page.path)) or text
        self.lines.show_lines(partial(page_lines, page, text))


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


class ImportReview(ReviewScreen):
    """What an import would add, each of it accepted or refused. What differs from the memory, and what is skipped,
    stands below, to be known.
    """

    def __init__(self, session: Session, read: ReadSource, proposed: ImportResult) -> None:
        shown = [*proposed.of("new"), *proposed.of("conflict")]
        self._new = {str(place): item for place, item in enumerate(proposed.of("new"))}
        super().__init__(
            "Import: review what comes in",
            _about(proposed),
            _Items(proposed, shown),
            self._bring if self._new else None,
            keys=[str(place) for place in range(len(shown) + len(proposed.left_out))],
            titles=("What is there", "What it says"),
            choosable=self._new,
        )
        self._session = session
        self._read = read
        self._progress = ""
        self._works = Works(self._show_progress)

    def key_line(self) -> Content:
        if self._writing:
            return Content.styled(f"◔ {self._progress or 'importing …'}", "$text-accent")
        if not self._new:
            return key_content("tab  switch · esc  close")
        counted = f"import {len(self.accepted):,} of {len(self._new):,}"
        return key_content(f"ctrl+s  {counted} · space  yes/no · a  all/none · tab  switch · esc  close")

    def action_close(self) -> None:
        if not self._works.stop(asked_for=True):
            super().action_close()

    def _show_progress(self, said: str) -> None:
        self._progress = said
        if self._writing and self.is_mounted:
            self.refresh_keys()

    async def _bring(self, accepted: Collection[str]) -> Reviewed:
        # All of it is more than each of it: a whole memory comes with its history then.
        wanted = None if len(accepted) == len(self._new) else [self._new[key].id for key in accepted]
        work = LongWork("importing", writes=True)
        done = await self._works.run(
            work,
            self._session.write(
                self._session.memory.exchange.bring, self._read, accept=wanted, progress=work.report_progress
            ),
        )
        said = [f"Imported {plural(len(done.of('new')), 'note')}"]
        said += [f"{plural(done.history, 'entry', 'entries')} of history"] if done.history else []
        conflicts = len(done.of("conflict"))
        said += [f"{plural(conflicts, 'conflict')} left as here"] if conflicts else []
        return done.change_set, ", ".join(said)


class _Items(ReviewItems):
    """An item for each thing of an import, made when it is looked at: what is new, conflicts, what is skipped."""

    def __init__(self, proposed: ImportResult, shown: Sequence[ImportItem]) -> None:
        self._shown = shown
        self._left_out = proposed.left_out
        change_set = proposed.change_set
        self._notes = {change.id: change for change in change_set.notes}
        self._facts = {(change.nugget, change.key): change for change in change_set.facts}

    def __len__(self) -> int:
        return len(self._shown) + len(self._left_out)

    def made(self, index: int) -> ReviewItem:
        if index >= len(self._shown):
            left = self._left_out[index - len(self._shown)]
            return ReviewItem(str(index), "skipped", left.where, left.what, partial(_left_lines, left))
        item = self._shown[index]
        detail = " · ".join(filter(None, (item.nugget, item.where)))
        note = self._notes.get(item.note_id)
        fact = self._facts.get((item.nugget, item.title))
        lines = (
            partial(_conflict_lines, item)
            if item.status == "conflict"
            else partial(_new_lines, item, note, fact)
        )
        kind = "conflict" if item.status == "conflict" else item.kind
        return ReviewItem(str(index), kind, item.title, detail, lines)


def _about(proposed: ImportResult) -> Content:
    from core.exchange.records import NAMES

    taken = "It looks like" if proposed.detected else "Taken as"
    counts = _counts(proposed)
    said = (
        f"{taken} {NAMES[proposed.format]}: {', '.join(counts)}. What you import is one entry of the audit log; "
        "you can undo it."
    )
    return Content("\n").join([content(proposed.source, "bold"), content(said, MUTED)])


def _counts(proposed: ImportResult) -> Iterator[str]:
    yield f"{len(proposed.of('new')):,} new"
    if same := len(proposed.of("same")):
        yield f"{same:,} here already"
    if conflicts := len(proposed.of("conflict")):
        yield f"{plural(conflicts, 'conflict')} left as here"
    if proposed.left_out:
        yield f"{len(proposed.left_out):,} skipped"
    if proposed.history:
        yield f"with {plural(proposed.history, 'entry', 'entries')} of history"


def _new_lines(
    item: ImportItem, note: NoteChange | None, fact: FactChange | None, width: int
) -> list[Content]:
    lines = [content(f"{item.nugget} · {item.where}", MUTED), Content("")]
    if note is not None:
        lines += note_change_lines(note)
        after = note.after
        if after is not None and after.tags:
            lines += [Content(""), content(f"tags: {' '.join(after.tags)}", MUTED)]
    elif fact is not None and fact.after is not None:
        lines += styled_lines([DiffLine("#", fact.key), *_signed("+", fact.after.value)])
    else:
        lines.append(content(item.title, "bold"))
    return wrapped(lines, width)


def _conflict_lines(item: ImportItem, width: int) -> list[Content]:
    lines = [
        content(f"{item.nugget} · {item.where}", MUTED),
        content(f"{item.detail}. The memory keeps what it has.", "$text-warning"),
        Content(""),
        Content.styled("Here", "bold"),
        *styled_lines(_signed(" ", item.ours)),
        Content.styled("In the source", "bold"),
        *styled_lines(_signed("-", item.theirs)),
    ]
    return wrapped(lines, width)


def _left_lines(left: LeftOut, width: int) -> list[Content]:
    return wrapped([content(left.where, "bold"), content(left.what, "$text-warning")], width)


def _signed(sign: Sign, text: str) -> list[DiffLine]:
    return [DiffLine(sign, line) for line in text[:_SHOWN].split("\n")]


def path_screen(path: str) -> AskScreen[str]:
    """Asks for a file or a folder to import."""
    said = f"A file or a folder: {_FORMATS}. Its contents tell what it is. You see a preview first."
    return AskScreen(
        "Import from where?", said, "File or folder", as_typed,
        value=path, hint="such as: ~/project/CLAUDE.md", does="preview",
    )  # fmt: skip
