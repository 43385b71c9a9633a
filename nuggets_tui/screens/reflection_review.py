"""The review of a cleanup pass: each change is accepted, refused for good, or left for later."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace
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
    from core.model.change import ChangeSet, NoteChange
    from core.reflection import ProposedChange, ReflectionResult

_SHOWN: Final = 4_000
_NO_PAIR: Final[frozenset[str]] = frozenset()
# The fields of a note that a kind of change touches; merging touches all.
_FIELDS: Final = {"rewrite": ("title", "content"), "hide": ("hidden",), "tag": ("tags",), "link": ("links",)}


class ReflectionReview(DecidingReview):
    """Changes of a cleanup pass. What is refused one by one is not proposed again; what is left for later is."""

    def __init__(self, session: Session, result: ReflectionResult) -> None:
        pairs = {change.id: _pair(change) for change in result.changes if change.type == "link"}
        items = [
            _item(change, _without(result.change_set, pairs, change.id), session.snapshot)
            for change in result.changes
        ]
        said = (
            f"Checked {plural(result.inspected, 'note')}. Nothing changes until you apply. What you "
            f"refuse (space) is not proposed again. {left_for_later(result)}"
        )
        doubtful = [change.id for change in result.changes if change.doubtful]
        if doubtful:
            said += f" {plural(len(doubtful), 'uncertain change')}, unticked."
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


_Pair = frozenset[str]


def _pair(change: ProposedChange) -> _Pair:
    return frozenset((change.note_id, change.other_id))


def _without(change_set: ChangeSet, pairs: Mapping[str, _Pair], own: str) -> tuple[NoteChange, ...]:
    """What is done to each note, without the links that other rows propose. pairs: the notes that each row links."""
    others = {pair for row, pair in pairs.items() if row != own} - {pairs.get(own, _NO_PAIR)}

    def alone(change: NoteChange) -> NoteChange:
        if change.before is None or change.after is None:
            return change
        had = change.before.links
        links = tuple(
            link
            for link in change.after.links
            if link in had or frozenset((change.id, link.to)) not in others
        )
        return replace(change, after=replace(change.after, links=links))

    return tuple(map(alone, change_set.notes)) if others else change_set.notes


def _item(change: ProposedChange, changes: Sequence[NoteChange], snapshot: Snapshot) -> ReviewItem:
    note, other = snapshot.by_id.get(change.note_id), snapshot.by_id.get(change.other_id)
    title = note.title if note else change.nugget_name
    # People know notes by their titles.
    detail = change.detail(f'"{other.title}"' if other else "")
    if change.type == "merge" and other is not None:
        # Its deed names the other note by id and title.
        detail = f'merge with "{other.title}"'
    concerned = {change.note_id, change.other_id} if change.type == "merge" else {change.note_id}
    names = _FIELDS.get(change.type)
    why = f"Why: {safe_line(change.reason)}; {change.confidence:.0%} sure."

    def lines(width: int) -> list[Content]:
        shown = [Content.styled(safe_line(detail), MUTED), Content.styled(why, MUTED), Content("")]
        for each in changes:
            if each.id in concerned:
                shown += [*note_change_lines(each, names, title_of=titles(snapshot)), Content("")]
        if change.type == "hide" and note is not None:
            shown += [Content.styled(f"  {plain(line)}", MUTED) for line in note.content[:_SHOWN].split("\n")]
        return wrapped(shown, width)

    return ReviewItem(change.id, f"{change.type} {change.confidence:.0%}", title, detail, lines)
