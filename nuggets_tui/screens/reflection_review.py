"""The review of a cleanup pass: each change is accepted, refused for good, or left for later."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content

from core.model.snapshot import Snapshot
from nuggets_tui.desk import Desk
from nuggets_tui.safe_text import content, plain, safe_line
from nuggets_tui.screens.dialog import key_content
from nuggets_tui.screens.review import Reviewed, ReviewItem, ReviewScreen
from nuggets_tui.screens.reviews import titles
from nuggets_tui.widgets.diff_lines import note_change_lines, wrapped
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, sides
from nuggets_tui.words import left_for_later, plural

if TYPE_CHECKING:
    from core.model.change import ChangeSet
    from core.reflection import ProposedChange, ReflectionResult

_SHOWN: Final = 4_000
# The fields of a note that a kind of change touches; merging touches all.
_FIELDS: Final = {"rewrite": ("title", "content"), "hide": ("hidden",), "tag": ("tags",), "link": ("links",)}


class ReflectionReview(ReviewScreen):
    """Changes of a cleanup pass. What is refused one by one is not proposed again; what is left for later is."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("l", "later", "later", show=False)]

    def __init__(self, desk: Desk, result: ReflectionResult) -> None:
        items = [_item(change, result.change_set, desk.snapshot) for change in result.changes]
        said = (
            f"Looked at {plural(result.inspected, 'note')}; nothing is changed before you apply. What you refuse "
            f"(space) is not proposed again. {left_for_later(result)}"
        )
        super().__init__("Reflection: a cleanup to review", said.rstrip(), items, self._written)
        self._desk = desk
        self._later: frozenset[str] = frozenset()

    @property
    def refused(self) -> tuple[str, ...]:
        """Keys of the changes that are refused for good, in the order proposed."""
        accepted = set(self.accepted)
        return tuple(item.key for item in self._items if item.key not in accepted | self._later)

    def key_line(self) -> Content:
        """The keys, with how many changes would be applied and refused."""
        whole = len(self._items)
        accepted = len(self.accepted) if self.is_attached else whole
        refused = len(self.refused) if self.is_attached else 0
        apply = f"apply {accepted} of {whole}" + (f", refuse {refused}" if refused else "")
        return key_content(f"ctrl+s  {apply} · space  yes/no · l  later · a  all · esc  close")

    @on(RowList.SelectionChanged)
    def mark(self, event: RowList.SelectionChanged) -> None:
        """Says in each row what becomes of it."""
        self._later -= event.keys
        refused = set(self.refused)
        rows = [_row(item, item.key in refused, item.key in self._later) for item in self._items]
        self.query_one(RowList).set_rows(rows)

    def action_all(self) -> None:
        """Accepts all; when all are accepted, leaves all for later."""
        every = frozenset(item.key for item in self._items)
        all_accepted = len(self.accepted) == len(every)
        self._later = every if all_accepted else frozenset()
        self.query_one(RowList).select([] if all_accepted else every)

    def action_later(self) -> None:
        """Leaves the change under the cursor for a later pass, and steps on."""
        changes = self.query_one(RowList)
        row = changes.cursor_row
        if row is None:
            return
        self._later |= {row.key}
        if row.key in changes.selected:
            changes.select(changes.selected - {row.key})
        else:
            self.mark(RowList.SelectionChanged(changes, changes.selected))
            self.count(RowList.SelectionChanged(changes, changes.selected))
        changes.action_cursor_down()

    def action_apply(self) -> None:
        """Writes what is accepted and what is refused as one entry; closes when there is neither."""
        if self.accepted or self.refused:
            self._apply(self._written)
        else:
            self.dismiss(None)

    async def _written(self, accepted: Collection[str]) -> Reviewed:
        done = await self._desk.reflect(accepted, self.refused)
        said = f"Cleaned up: {len(done.changes)} of {plural(len(self._items), 'change')} accepted"
        if done.refused:
            said += f", {done.refused} refused and not proposed again"
        return done.change_set, said


def reflection_review(desk: Desk, result: ReflectionResult) -> ReflectionReview:
    """A cleanup pass, change by change."""
    return ReflectionReview(desk, result)


def _row(item: ReviewItem, refused: bool, later: bool) -> Row:
    style = MUTED if refused or later else "bold"
    head = sides(Content.assemble(" ", content(item.title, style)), content(item.kind, "$text-secondary"))
    if refused:
        detail = Content.styled(" ✗ refused, not proposed again", "$text-warning")
    elif later:
        detail = Content.styled(" … left for later", MUTED)
    else:
        detail = Content.assemble(" ", content(item.detail, MUTED))
    return Row(item.key, (head, detail))


def _item(change: ProposedChange, change_set: ChangeSet, snapshot: Snapshot) -> ReviewItem:
    note, other = snapshot.by_id.get(change.note_id), snapshot.by_id.get(change.other_id)
    title = note.title if note else change.nugget_name
    # People know notes by their titles.
    detail = change.detail.replace(change.other_id, f"“{other.title}”") if other else change.detail
    concerned = {change.note_id, change.other_id} if change.type == "merge" else {change.note_id}
    names = _FIELDS.get(change.type)
    why = f"Why: {safe_line(change.reason)}; {change.confidence:.0%} sure."

    def lines(width: int) -> list[Content]:
        shown = [Content.styled(safe_line(detail), MUTED), Content.styled(why, MUTED), Content("")]
        for each in change_set.notes:
            if each.id in concerned:
                shown += [*note_change_lines(each, names, title_of=titles(snapshot)), Content("")]
        if change.type == "hide" and note is not None:
            shown += [Content.styled(f"  {plain(line)}", MUTED) for line in note.content[:_SHOWN].split("\n")]
        return wrapped(shown, width)

    return ReviewItem(change.id, f"{change.type} {change.confidence:.0%}", title, detail, lines)
