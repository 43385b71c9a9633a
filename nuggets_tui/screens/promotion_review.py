"""The review of a promotion: each line of MEMORY.md is accepted, refused or left for later; its length is shown."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from nuggets_tui.desk import Desk
from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.screens.dialog import key_content
from nuggets_tui.screens.review import Reviewed, ReviewItem, ReviewScreen
from nuggets_tui.widgets.bars import bar
from nuggets_tui.widgets.diff_lines import diff_text_lines, wrapped
from nuggets_tui.widgets.line_view import MakeLines
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, sides
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.promotion import Below, Entry, HeldBack, Length, PromotionResult

_PAGE: Final = "page"
_METER_CELLS: Final = 16
# From this share on the meter warns that there is little room left.
_NEARLY_FULL: Final = 0.9
_PROPOSED: Final = ("new", "updated", "removed")


class PromotionReview(ReviewScreen):
    """Entries of MEMORY.md. What is refused one by one is not proposed again until its text changes.

    What a person edited in the file, and what they refused before, stays as it is unless it is accepted here. Notes
    that are not proposed stand below, dimmed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("l", "later", "later", show=False)]

    def __init__(self, desk: Desk, result: PromotionResult) -> None:
        proposed = [entry for entry in result.entries if entry.status in _PROPOSED]
        self._proposed = frozenset(entry.id for entry in proposed)
        self._others = frozenset(entry.id for entry in (*result.edited, *result.refused))
        items = [
            ReviewItem(_PAGE, "", "The whole page", _counts(result), partial(_page_lines, result)),
            *(_entry_item(entry, result.length.limit) for entry in (*proposed, *result.edited)),
            *(_entry_item(entry, result.length.limit, refused=True) for entry in result.refused),
            *map(_below_item, result.below),
            *map(_held_back_item, result.held_back),
        ]
        said = f"{result.path}\nNothing is written before you apply; a person's own lines stay as they are."
        super().__init__(
            "Promotion: MEMORY.md to review", said, items, self._written, titles=("Lines", "Difference")
        )
        self._desk = desk
        self._result = result
        self._later: frozenset[str] = frozenset()

    def compose_inside(self) -> ComposeResult:
        """How long the page becomes stands above the changes."""
        path, _, rest = self._subheading.partition("\n")
        lines = [content(path, "bold"), meter(self._result), content(rest, MUTED)]
        self._subheading = ""
        for widget in super().compose_inside():
            if isinstance(widget, Static):
                widget.update(Content("\n").join(lines))
            yield widget

    def on_mount(self) -> None:
        """Begins with everything accepted that is proposed, and the page under the cursor."""
        changes = self.query_one(RowList)
        changes.select(self._proposed)
        changes.focus()
        self._mark_rows(changes)

    @property
    def accepted(self) -> tuple[str, ...]:
        """Ids of the accepted entries, in the order shown."""
        chosen = self.query_one(RowList).selected if self.is_mounted else self._proposed
        return tuple(item.key for item in self._items if item.key in chosen & self._choosable)

    @property
    def refused(self) -> tuple[str, ...]:
        """Ids of the entries that are refused now."""
        left = self._proposed - set(self.accepted) - self._later
        return tuple(item.key for item in self._items if item.key in left)

    @property
    def _choosable(self) -> frozenset[str]:
        return self._proposed | self._others

    def key_line(self) -> Content:
        """The keys, with how many entries would be written and refused."""
        if not self._choosable:
            return key_content("tab  switch · esc  close")
        accepted = len(self.accepted) if self.is_attached else len(self._proposed)
        refused = len(self.refused) if self.is_attached else 0
        apply = f"apply {accepted} of {len(self._choosable)}" + (f", refuse {refused}" if refused else "")
        return key_content(f"ctrl+s  {apply} · space  yes/no · l  later · a  all · esc  close")

    @on(RowList.SelectionChanged)
    def mark(self, event: RowList.SelectionChanged) -> None:
        """Says in each row what becomes of it; what cannot be chosen is not."""
        # What is selected by now: an event may speak of what was so a moment ago.
        chosen = event.row_list.selected
        self._later -= chosen
        if chosen <= self._choosable:
            self._mark_rows(event.row_list)
        else:
            event.row_list.select(chosen & self._choosable)

    def _mark_rows(self, changes: RowList) -> None:
        refused = set(self.refused)
        changes.set_rows([self._row(item, item.key in refused) for item in self._items])

    def _row(self, item: ReviewItem, refused: bool) -> Row:
        chosen = item.key in self._choosable
        quiet = refused or item.key in self._later or not (chosen or item.key == _PAGE)
        title = Content.assemble(" ", content(item.title, MUTED if quiet else "bold"))
        head = sides(title, content(item.kind, MUTED if quiet else "$text-secondary"))
        if refused:
            detail = Content.styled(" ✗ refused, not proposed again", "$text-warning")
        elif item.key in self._later:
            detail = Content.styled(" … left for later", MUTED)
        else:
            detail = Content.assemble(" ", content(item.detail, MUTED))
        return Row(item.key, (head, detail))

    def action_all(self) -> None:
        """Accepts all that is proposed; when it is accepted, leaves all for later."""
        all_accepted = set(self.accepted) >= self._proposed
        self._later = self._proposed if all_accepted else frozenset()
        self.query_one(RowList).select([] if all_accepted else self._proposed)

    def action_later(self) -> None:
        """Leaves the entry under the cursor for a later promotion, and steps on."""
        changes = self.query_one(RowList)
        row = changes.cursor_row
        if row is None:
            return
        if row.key in self._proposed:
            self._later |= {row.key}
            if row.key in changes.selected:
                changes.select(changes.selected - {row.key})
            else:
                self._mark_rows(changes)
                self.query_one("#dialog-keys", Static).update(self.key_line())
        changes.action_cursor_down()

    def action_apply(self) -> None:
        """Writes what is accepted and what is refused as one entry; closes when there is neither."""
        if self.accepted or self.refused:
            self._apply(self._written)
        else:
            self.dismiss(None)

    async def _written(self, accepted: Collection[str]) -> Reviewed:
        folder = str(Path(self._result.path).parent)
        done = await self._desk.promote(accepted, self.refused, folder)
        counts = ((done.promoted, "new line"), (done.updated, "changed line"), (done.removed, "removed line"))
        said = [plural(number, what) for number, what in counts if number]
        wrote = f"Wrote {', '.join(said)} to {safe_line(done.path, 200)}" if said else "Wrote no line"
        if self.refused:
            wrote += f"; {len(self.refused)} refused and not proposed again"
        return done.change_set, wrote


def worth_showing(result: PromotionResult) -> bool:
    """Whether there is anything to choose or to know."""
    return bool(
        not result.change_set.empty or result.edited or result.refused or result.below or result.held_back
    ) or bool(result.length.over)


def meter(result: PromotionResult) -> Content:
    """A bar for the page's length against the lines that agents read, and the same in words."""
    length = result.length
    share = length.after / length.limit
    drawn = bar(min(share, 1.0), _METER_CELLS)
    said = f" {length.after} of the {length.limit} lines that agents read"
    if length.now != length.after:
        said += f" (now {length.now})"
    if not length.over:
        style = "$text-warning" if share >= _NEARLY_FULL else "$text-success"
        left = f", {plural(length.limit - length.after, 'line')} left" if share >= _NEARLY_FULL else ""
        return Content.assemble((drawn, style), content(said + left, MUTED))
    unread = [entry.title for entry in result.unread]
    few = ", ".join(safe_line(title, 40) for title in unread[:3]) + (", …" if len(unread) > 3 else "")
    below = f"; not read: {few}" if unread else ""
    return Content.assemble(
        (drawn, "$text-error"), content(f"{said}: too long by {_lines_of(length)}{below}", "$text-error")
    )


def _lines_of(length: Length) -> str:
    return plural(length.over, "line")


def _counts(result: PromotionResult) -> str:
    counts = ((result.promoted, "to add"), (result.updated, "to update"), (result.removed, "to take out"))
    return ", ".join(f"{number} {what}" for number, what in counts if number) or "nothing to write"


def _page_lines(result: PromotionResult, width: int) -> list[Content]:
    if not result.diff:
        return wrapped([content("The page is up to date.", MUTED)], width)
    lines = [line for line in result.diff.split("\n") if not line.startswith(("---", "+++"))]
    return wrapped(diff_text_lines(lines), width)


def _entry_item(entry: Entry, limit: int, *, refused: bool = False) -> ReviewItem:
    detail = [plural(entry.hits, "recall"), entry.section]
    if refused:
        detail.insert(0, "refused before")
    elif entry.status == "edited":
        detail.insert(0, "kept")
    if entry.reason:
        detail.append(entry.reason)
    if entry.line > limit:
        detail.append(f"below line {limit}")
    return ReviewItem(
        entry.id, entry.status, entry.title, " · ".join(detail), _told(_entry_lines(entry, refused))
    )


def _entry_lines(entry: Entry, refused: bool) -> Iterator[Content]:
    yield Content.assemble(content("Section ", MUTED), content(entry.section, "bold"))
    yield content(f"Recalled {plural(entry.hits, 'time')}", MUTED)
    if entry.reason:
        yield content(f"Why: {entry.reason}", MUTED)
    if entry.status == "edited":
        yield content("It stays as it is unless you accept this.", "$text-warning")
    if refused:
        yield content("You refused this text before; space takes it in after all.", "$text-warning")
    if entry.line:
        yield content(f"Line {entry.line} of the page", MUTED)
    yield Content("")
    before = [f"-{line}" for line in entry.before.split("\n")] if entry.before else []
    after = [f"+{line}" for line in entry.text.split("\n")] if entry.text else []
    if before != [f"-{line[1:]}" for line in after]:
        yield from diff_text_lines([*before, *after])
    else:
        yield from diff_text_lines(after)


def _below_item(note: Below) -> ReviewItem:
    lacks = plural(note.missing, "more recall")
    said = [
        Content.assemble(content("Section ", MUTED), content(note.section, "bold")),
        content(f"Recalled {plural(note.hits, 'time')}; {lacks} and it is proposed.", MUTED),
    ]
    return ReviewItem(f"below {note.note_id}", "below", note.title, f"{lacks} · {note.section}", _told(said))


def _held_back_item(note: HeldBack) -> ReviewItem:
    said = [
        content(f"Left out: {note.reason}.", "$text-warning" if note.secret else MUTED),
        content(f"Recalled {plural(note.hits, 'time')}, which would be often enough.", MUTED),
    ]
    return ReviewItem(f"held {note.note_id}", "left out", note.title, note.reason, _told(said))


def _told(lines: Iterator[Content] | list[Content]) -> MakeLines:
    ready = list(lines)
    return lambda width: wrapped(ready, width)
