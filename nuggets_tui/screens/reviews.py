"""Proposals for the review screen: a cleanup pass, lines for MEMORY.md, a merge."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, Final

from textual.content import Content

from core.model.change import ChangeSet
from nuggets_tui.desk import Desk
from nuggets_tui.safe_text import safe_line
from nuggets_tui.screens.review import Reviewed, ReviewItem, ReviewScreen
from nuggets_tui.widgets.diff_lines import diff_text_lines, note_change_lines, wrapped
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.promotion import PromotionResult
    from core.reflection import ProposedChange, ReflectionResult

# The fields of a note that a kind of change touches; merging touches all.
_FIELDS: Final = {"rewrite": ("title", "content"), "hide": ("hidden",), "tag": ("tags",), "link": ("links",)}


def reflection_review(desk: Desk, result: ReflectionResult) -> ReviewScreen:
    """A cleanup pass, change by change."""
    items = [_reflection_item(change, result.change_set) for change in result.changes]

    async def apply(accepted: Collection[str]) -> Reviewed:
        done = await desk.reflect(accepted)
        said = f"Cleaned up: {len(accepted)} of {plural(len(items), 'change')} accepted"
        return done.change_set, said

    looked = f"Looked at {plural(result.inspected, 'note')}. Nothing is changed before you apply."
    return ReviewScreen("Reflection: a cleanup to review", looked, items, apply)


def _reflection_item(change: ProposedChange, change_set: ChangeSet) -> ReviewItem:
    touched = {each.id: each for each in change_set.notes}
    found = touched.get(change.note_id)
    title = found.note.title if found else change.nugget_name
    names = _FIELDS.get(change.type)

    def lines(width: int) -> list[Content]:
        shown = [Content.styled(safe_line(change.detail), "$text-muted"), Content("")]
        for each in change_set.notes:
            if each.id == change.note_id or (each.id == change.other_id and change.type == "merge"):
                shown += [*note_change_lines(each, names), Content("")]
        return wrapped(shown, width)

    return ReviewItem(change.id, change.type, title, change.detail, lines)


def promotion_review(desk: Desk, result: PromotionResult) -> ReviewScreen:
    """Lines for MEMORY.md, with the file they go to."""
    said = f"{plural(result.promoted, 'line')} to add, {result.updated} to update"
    item = ReviewItem("file", "write", result.path, said, partial(_diff, result.diff))

    async def apply(accepted: Collection[str]) -> Reviewed:
        done = await desk.promote()
        return done.change_set, f"Wrote {plural(done.promoted, 'new line')} to {safe_line(done.path, 200)}"

    where = f"Would be written to {result.path}. Everything a person wrote there stays as it is."
    return ReviewScreen("Promotion: lines for MEMORY.md to review", where, [item], apply, partly=False)


def _diff(diff: str, width: int) -> list[Content]:
    lines = [line for line in diff.split("\n") if not line.startswith(("---", "+++"))]
    return wrapped(diff_text_lines(lines), width)


def merge_review(desk: Desk, proposed: ChangeSet) -> ReviewScreen:
    """A merge, note by note; it is done whole or not at all."""
    items = [
        ReviewItem(
            change.id,
            "hidden after" if change.after is not None and change.after.hidden else "changed",
            change.note.title,
            change.note.nugget_name,
            lambda width, change=change: wrapped(note_change_lines(change), width),  # type: ignore[misc]
        )
        for change in proposed.notes
    ]

    async def apply(accepted: Collection[str]) -> Reviewed:
        return await desk.apply(proposed), ""

    note = "One note keeps every line of both; the other is hidden with a link to it."
    return ReviewScreen("Merge", note, items, apply, partly=False)
