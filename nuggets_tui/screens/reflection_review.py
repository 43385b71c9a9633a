"""The review of a cleanup pass: each change is accepted, refused for good, or left for later."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from textual.content import Content

from core.model.snapshot import Snapshot
from nuggets_tui.differences import titles
from nuggets_tui.safe_text import plain, safe_line
from nuggets_tui.screens.review import DecidingReview, Reviewed, ReviewItem
from nuggets_tui.session import Session
from nuggets_tui.widgets.diff_lines import note_change_lines, wrapped
from nuggets_tui.widgets.row_text import MUTED
from nuggets_tui.words import left_for_later, plural

if TYPE_CHECKING:
    from core.model.change import ChangeSet
    from core.reflection import ProposedChange, ReflectionResult

_SHOWN: Final = 4_000
# The fields of a note that a kind of change touches; merging touches all.
_FIELDS: Final = {"rewrite": ("title", "content"), "hide": ("hidden",), "tag": ("tags",), "link": ("links",)}


class ReflectionReview(DecidingReview):
    """Changes of a cleanup pass. What is refused one by one is not proposed again; what is left for later is."""

    def __init__(self, session: Session, result: ReflectionResult) -> None:
        items = [_item(change, result.change_set, session.snapshot) for change in result.changes]
        said = (
            f"Checked {plural(result.inspected, 'note')}. Nothing changes until you apply. What you "
            f"refuse (space) is not proposed again. {left_for_later(result)}"
        )
        doubtful = [change.id for change in result.changes if change.doubtful]
        if doubtful:
            said += f" {plural(len(doubtful), 'uncertain link')}, unticked."
        super().__init__(
            "Reflection: review the cleanup", said.rstrip(), items, self._written, doubtful=doubtful
        )
        self._session = session

    async def _written(self, accepted: Collection[str]) -> Reviewed:
        done = await self._session.write(self._session.memory.reflect, accept=accepted, refuse=self.refused)
        said = f"Cleaned up: {len(done.changes)} of {plural(len(self._items), 'change')} accepted"
        if done.refused:
            said += f", {done.refused} refused and not proposed again"
        return done.change_set, said


def _item(change: ProposedChange, change_set: ChangeSet, snapshot: Snapshot) -> ReviewItem:
    note, other = snapshot.by_id.get(change.note_id), snapshot.by_id.get(change.other_id)
    title = note.title if note else change.nugget_name
    # People know notes by their titles.
    detail = change.describe_with(f'"{other.title}"' if other else "")
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
