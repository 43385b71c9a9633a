"""Proposals for the review screen: a cleanup pass, lines for MEMORY.md, a merge."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, Final

from textual.content import Content

from core.model.change import ChangeSet, NoteChange
from core.model.snapshot import Snapshot
from nuggets_tui.desk import Desk
from nuggets_tui.safe_text import plain, safe_line
from nuggets_tui.screens.review import Reviewed, ReviewItem, ReviewScreen
from nuggets_tui.widgets.diff_lines import TitleOf, diff_text_lines, note_change_lines, wrapped
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.promotion import PromotionResult
    from core.reflection import ProposedChange, ReflectionResult

_SHOWN: Final = 4_000
# The fields of a note that a kind of change touches; merging touches all.
_FIELDS: Final = {"rewrite": ("title", "content"), "hide": ("hidden",), "tag": ("tags",), "link": ("links",)}


def reflection_review(desk: Desk, result: ReflectionResult) -> ReviewScreen:
    """A cleanup pass, change by change."""
    items = [_reflection_item(change, result.change_set, desk.snapshot) for change in result.changes]

    async def apply(accepted: Collection[str]) -> Reviewed:
        done = await desk.reflect(accepted)
        said = f"Cleaned up: {len(accepted)} of {plural(len(items), 'change')} accepted"
        return done.change_set, said

    looked = f"Looked at {plural(result.inspected, 'note')}. Nothing is changed before you apply."
    return ReviewScreen("Reflection: a cleanup to review", looked, items, apply)


def _reflection_item(change: ProposedChange, change_set: ChangeSet, snapshot: Snapshot) -> ReviewItem:
    note, other = snapshot.by_id.get(change.note_id), snapshot.by_id.get(change.other_id)
    title = note.title if note else change.nugget_name
    # People know notes by their titles.
    detail = change.detail.replace(change.other_id, f"“{other.title}”") if other else change.detail
    concerned = {change.note_id, change.other_id} if change.type == "merge" else {change.note_id}
    names = _FIELDS.get(change.type)

    def lines(width: int) -> list[Content]:
        shown = [Content.styled(safe_line(detail), "$text-muted"), Content("")]
        for each in change_set.notes:
            if each.id in concerned:
                shown += [*note_change_lines(each, names, title_of=_titles(snapshot)), Content("")]
        if change.type == "hide" and note is not None:
            shown += [
                Content.styled(f"  {plain(line)}", "$text-muted")
                for line in note.content[:_SHOWN].split("\n")
            ]
        return wrapped(shown, width)

    return ReviewItem(change.id, change.type, title, detail, lines)


def _titles(snapshot: Snapshot) -> TitleOf:
    return lambda note_id: snapshot.by_id[note_id].title if note_id in snapshot.by_id else note_id


def promotion_review(desk: Desk, result: PromotionResult, *, as_shown: bool = False) -> ReviewScreen:
    """Lines for MEMORY.md, with the file they go to. `as_shown`: for a file that only the result knows of."""
    said = f"{plural(result.promoted, 'line')} to add, {result.updated} to update"
    item = ReviewItem("file", "write", result.path, said, partial(_diff, result.diff))

    async def apply(accepted: Collection[str]) -> Reviewed:
        if as_shown:
            written, done = await desk.apply(result.change_set), result
        else:
            done = await desk.promote()
            written = done.change_set
        return written, f"Wrote {plural(done.promoted, 'new line')} to {safe_line(done.path, 200)}"

    where = f"Would be written to {result.path}. Everything a person wrote there stays as it is."
    return ReviewScreen("Promotion: lines for MEMORY.md to review", where, [item], apply, partly=False)


def _diff(diff: str, width: int) -> list[Content]:
    lines = [line for line in diff.split("\n") if not line.startswith(("---", "+++"))]
    return wrapped(diff_text_lines(lines), width)


def _note_lines(change: NoteChange, title_of: TitleOf, width: int) -> list[Content]:
    return wrapped(note_change_lines(change, title_of=title_of), width)


def merge_review(desk: Desk, proposed: ChangeSet) -> ReviewScreen:
    """A merge, note by note; it is done whole or not at all."""
    items = [
        ReviewItem(
            change.id,
            "hidden after" if change.after is not None and change.after.hidden else "changed",
            change.note.title,
            change.note.nugget_name,
            partial(_note_lines, change, _titles(desk.snapshot)),
        )
        for change in proposed.notes
    ]

    async def apply(accepted: Collection[str]) -> Reviewed:
        return await desk.apply(proposed), ""

    note = "One note keeps every line of both; the other is hidden with a link to it."
    return ReviewScreen("Merge", note, items, apply, partly=False)
