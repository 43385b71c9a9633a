"""A moment of the past beside now: every note and fact that differs, how, and the way to bring it back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from core.model.change import FactChange, NoteChange
from core.model.compare import Differences, differences
from core.model.progress import Progress
from core.model.snapshot import Snapshot
from nuggets_tui.differences import TitleOf, changed_fields, fact_lines, note_lines, titles
from nuggets_tui.notices import notify
from nuggets_tui.safe_text import content
from nuggets_tui.screens.dialog import Dialog, key_content
from nuggets_tui.widgets.fields import Sides
from nuggets_tui.widgets.line_view import LineView, styled_lines, wrapped
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, sides
from nuggets_tui.words import plural

# Stands for the whole memory where an id of a note is answered otherwise.
ALL: Final = ""
_SINCE: Final = ("changed since", "deleted since", "added since", "recalled since")
_CHANGED, _RECALLED = _SINCE[0], _SINCE[-1]
_SIGNS: Final = {"changed since": "~", "deleted since": "-", "added since": "+", "recalled since": "×"}
_STYLES: Final = {
    "changed since": "$text-warning", "deleted since": "$text-error", "added since": "$text-success",
    "recalled since": MUTED,
}  # fmt: skip
# What a recall moves, and nothing that anybody wrote.
_MOVED: Final = ("hits", "last_hit_session", "last_accessed_at", "last_rewritten_at", "updated_at", "vector")


@dataclass(frozen=True)
class Compared:
    """What differs: `found` as changes from then to now, `rows` in the order they are listed."""

    found: Differences
    rows: tuple[tuple[str, NoteChange | FactChange], ...]
    title_of: TitleOf

    @property
    def empty(self) -> bool:
        return not self.rows

    def count(self, since: str) -> int:
        return sum(_since(change) == since for _, change in self.rows)


def compared(then: Snapshot, now: Snapshot, progress: Progress | None = None) -> Compared:
    """What differs between two states; a fact goes with the note that mirrors it. progress: as `differences`."""
    found = differences(then, now, progress)
    rows = sorted(_rows(found), key=lambda row: (_SINCE.index(_since(row[1])), row[0]))
    return Compared(found, tuple(rows), titles(now))


def _rows(found: Differences) -> Iterator[tuple[str, NoteChange | FactChange]]:
    mirrored = {(change.note.nugget_name, change.note.key) for change in found.notes if change.note.is_fact}
    for number, change in enumerate(found.notes):
        yield f"n {number:07}", change
    for number, fact in enumerate(found.facts):
        if (fact.nugget, fact.key) not in mirrored:
            yield f"x {number:07}", fact


def _since(change: NoteChange | FactChange) -> str:
    if change.before is None:
        return "added since"
    if change.after is None:
        return "deleted since"
    return "recalled since" if _only_recalled(change) else "changed since"


def _only_recalled(change: NoteChange | FactChange) -> bool:
    before, after = change.before, change.after
    if before is None or after is None:
        return False
    names = (name for name in after.__struct_fields__ if name not in _MOVED)
    return all(getattr(before, name) == getattr(after, name) for name in names)


class CompareScreen(Dialog[str]):
    """Answers with the id of a note to bring back, or ALL. when: the moment in words."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "bring_back", "restore this note", show=False),
        Binding("B", "go_back", "restore everything", show=False),
    ]

    def __init__(self, found: Compared, when: str, note_id: str) -> None:
        super().__init__(classes="full")
        self.heading = f"Compared with now: {when}"
        self._found = found
        self._begin = note_id

    def compose_inside(self) -> ComposeResult:
        recalled = self._found.count(_RECALLED)
        real = [since for since in _SINCE if since != _RECALLED and self._found.count(since)]
        counts = [f"{self._found.count(since):,} {since}" for since in real]
        parts = []
        if real:
            parts.append(f"{plural(len(self._found.rows) - recalled, 'difference')}: {', '.join(counts)}")
        if recalled:
            last = "; at the end of the list" if real else ""
            parts.append(f"{recalled:,} only {_RECALLED}{last}" if real else f"{recalled:,} {_RECALLED}")
        said = f"{'. '.join(parts)}.  - then   + now"
        yield Static(content(said, MUTED), classes="words")
        yield Sides(RowList(id="changes"), LineView(id="difference"), ("Differs", "Then and now"))

    def on_mount(self) -> None:
        rows, changes = self._found.rows, self.query_one(RowList)
        changes.set_source(
            len(rows), lambda index: _row(*rows[index]), height=2, key_at=lambda index: rows[index][0]
        )
        shown = (key for key, change in rows if isinstance(change, NoteChange) and change.id == self._begin)
        begin = next(shown, "") if self._begin else ""
        changes.focus()
        if begin:
            # Where it stands is known once the list has its height.
            self.call_after_refresh(changes.move_to, begin)

    def key_line(self) -> Content:
        one = "b  restore this note · " if self._restorable is not None else ""
        return key_content(f"{one}B  restore everything · tab  switch · esc  close")

    @property
    def _restorable(self) -> NoteChange | None:
        row = self.query_one(RowList).cursor_row if self.is_mounted else None
        change = row.data if row is not None else None
        return change if isinstance(change, NoteChange) and change.before is not None else None

    @on(RowList.RowHighlighted)
    def show_difference(self, event: RowList.RowHighlighted) -> None:
        event.stop()
        self.refresh_keys()
        change = event.row.data
        if isinstance(change, NoteChange | FactChange):
            self.query_one("#difference", LineView).show_lines(partial(_lines, change, self._found.title_of))

    def action_bring_back(self) -> None:
        change = self._restorable
        if change is None:
            notify(self, "You can only restore a note that existed then. B restores everything.")
        else:
            self.dismiss(change.id)

    def action_go_back(self) -> None:
        self.dismiss(ALL)


def _lines(change: NoteChange | FactChange, title_of: TitleOf, width: int) -> list[Content]:
    lines = note_lines(change, title_of=title_of) if isinstance(change, NoteChange) else fact_lines(change)
    return wrapped(styled_lines(lines), width)


def _row(key: str, change: NoteChange | FactChange) -> Row:
    since = _since(change)
    if isinstance(change, NoteChange):
        title, where = change.note.title, change.note.nugget_name
    else:
        title, where = change.key, change.nugget
    head = sides(content(title, MUTED if since == _RECALLED else "bold"), content(where, MUTED))
    fields = ", ".join(changed_fields(change)) if since == _CHANGED else ""
    what = Content.assemble((f"{_SIGNS[since]} {since}", _STYLES[since]), (fields and f": {fields}", MUTED))
    return Row(key, (head, what), data=change)
