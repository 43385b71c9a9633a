"""A moment of the past beside now: every note and fact that differs, how, and the way to bring it back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.content import Content

from core.model.change import FactChange, NoteChange
from core.model.compare import Differences, differences
from core.model.progress import Progress
from core.model.snapshot import Snapshot
from nuggets_tui.differences import TitleOf, changed_fields, fact_lines, note_lines, titles
from nuggets_tui.notices import notify
from nuggets_tui.safe_text import content
from nuggets_tui.screens.dialog import BrowseScreen, key_content
from nuggets_tui.widgets.line_view import MakeLines, styled_lines, wrapped
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, sides
from nuggets_tui.words import plural

# Stands for the whole memory where an id of a note is answered otherwise.
ALL: Final = ""
# What became of a thing, with its sign and style, in the order in which it is listed.
_SINCE: Final = {
    "changed since": ("~", "$text-warning"), "deleted since": ("-", "$text-error"),
    "added since": ("+", "$text-success"), "recalled since": ("×", MUTED),
}  # fmt: skip
_CHANGED, _RECALLED = "changed since", "recalled since"
# What a recall moves, and nothing that anybody wrote.
_MOVED: Final = ("hits", "last_hit_session", "last_accessed_at", "last_rewritten_at", "updated_at", "vector")


@dataclass(frozen=True)
class Compared:
    """What differs, as changes from then to now, in the order they are listed."""

    rows: tuple[tuple[str, NoteChange | FactChange], ...]
    title_of: TitleOf


def compared(then: Snapshot, now: Snapshot, progress: Progress | None = None) -> Compared:
    """What differs between two states; a fact goes with the note that mirrors it. progress: as `differences`."""
    order = list(_SINCE)
    rows = _rows(differences(then, now, progress))
    return Compared(tuple(sorted(rows, key=lambda row: (order.index(_since(row[1])), row[0]))), titles(now))


def _rows(found: Differences) -> Iterator[tuple[str, NoteChange | FactChange]]:
    mirrored = {(change.note.nugget_name, change.note.key) for change in found.notes if change.note.is_fact}
    for number, change in enumerate(found.notes):
        yield f"n {number:07}", change
    for number, fact in enumerate(found.facts):
        if (fact.nugget, fact.key) not in mirrored:
            yield f"x {number:07}", fact


def _since(change: NoteChange | FactChange) -> str:
    before, after = change.before, change.after
    if before is None:
        return "added since"
    if after is None:
        return "deleted since"
    names = (name for name in after.__struct_fields__ if name not in _MOVED)
    same = all(getattr(before, name) == getattr(after, name) for name in names)
    return _RECALLED if same else _CHANGED


class CompareScreen(BrowseScreen[str]):
    """Answers with the id of a note to bring back, or ALL. when: the moment in words."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "bring_back", "restore this note", show=False),
        Binding("B", "go_back", "restore everything", show=False),
    ]
    titles = ("Differs", "Then and now")

    def __init__(self, found: Compared, when: str, note_id: str) -> None:
        self._found = found
        self._begin = note_id
        counts = Counter(_since(change) for _, change in found.rows)
        recalled = counts.pop(_RECALLED, 0)
        named = ", ".join(f"{counts[since]:,} {since}" for since in _SINCE if counts[since])
        parts = [f"{plural(counts.total(), 'difference')}: {named}"] if counts else []
        if recalled:
            only = f"{recalled:,} only {_RECALLED}; at the end of the list"
            parts.append(only if counts else f"{recalled:,} {_RECALLED}")
        super().__init__(f"Compared with now: {when}", f"{'. '.join(parts)}.  - then   + now")

    def fill(self, rows: RowList) -> None:
        found = self._found.rows
        rows.set_source(
            len(found), lambda index: _row(*found[index]), height=2, key_at=lambda index: found[index][0]
        )

    def on_mount(self) -> None:
        begin = (
            key
            for key, change in self._found.rows
            if isinstance(change, NoteChange) and self._begin == change.id
        )
        if (key := next(begin, "")) and self._begin:
            # Where it stands is known once the list has its height.
            self.call_after_refresh(self.rows.move_to, key)

    def key_line(self) -> Content:
        one = "b  restore this note · " if self._restorable is not None else ""
        return key_content(f"{one}B  restore everything · tab  switch · esc  close")

    @property
    def _restorable(self) -> NoteChange | None:
        change = self.row.data if self.row is not None else None
        return change if isinstance(change, NoteChange) and change.before is not None else None

    def detail(self, row: Row, index: int) -> MakeLines:
        return partial(_lines, self._found.rows[index][1], self._found.title_of)

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
    sign, style = _SINCE[since]
    return Row(
        key,
        (head, Content.assemble((f"{sign} {since}", style), (fields and f": {fields}", MUTED))),
        data=change,
    )
