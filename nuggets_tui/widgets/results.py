"""Rows of search results: the answer of a recall on top, then hits with the parts of their score as bars."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from textual.content import Content

from core.model.snapshot import Snapshot
from nuggets_tui.recall_words import skipped_lines
from nuggets_tui.safe_text import content
from nuggets_tui.view import Found, answering
from nuggets_tui.widgets.bars import score_bars
from nuggets_tui.widgets.found_words import found_words
from nuggets_tui.widgets.row_list import Row
from nuggets_tui.widgets.row_text import MUTED, marked, note_marks, sides, title_style

if TYPE_CHECKING:
    from core.facts.recall import Recall
    from core.search import Hit

RECALL_KEY: Final = "recall"
# Of the rule; no id of a note has a space.
BELOW_KEY: Final = "less likely"
_STANDS_BACK: Final = "dim"


def result_rows(found: Found, snapshot: Snapshot) -> list[Row]:
    """The rows of a search: what recall answers, if anything, and a row of two lines for each hit. Those that are less
    likely stand back below a rule.
    """
    hits = found.hits
    blends = [*(hit.breakdown.blend for hit in hits[1:]), 0.0]
    rows = [_hit_row(hit, blend, snapshot) for hit, blend in zip(hits, blends, strict=False)]
    below = next((place for place, hit in enumerate(hits) if not hit.sure), None)
    if below is not None:
        rows.insert(below, Row(BELOW_KEY, (_rule,), selectable=False))
    if found.recall is not None and (found.recall.found or any(skipped_lines(found.recall))):
        rows.insert(0, _recall_row(found.recall, snapshot))
    return rows


def _rule(width: int) -> Content:
    line = f"── {BELOW_KEY} "
    return Content.styled(line + "─" * max(0, width - len(line)), MUTED)


def _recall_row(recall: Recall, snapshot: Snapshot) -> Row:
    skipped = tuple(content(f"  {line}", "$text-warning") for line in skipped_lines(recall))
    label = ("recall  ", "bold $text-success")
    if not recall.found:
        return Row(RECALL_KEY, (Content.assemble(label, ("nothing matches", MUTED)), *skipped))
    note = answering(recall, snapshot)
    asked = Content.assemble(label, content(recall.key))
    said = "read from the file" if recall.undecoded else f"{recall.certainty:.2f} sure"
    sure = Content.styled(said, "$text-success")
    answer = Content.assemble(("  = ", MUTED), content(recall.answer or "", "bold"))
    # On a line of its own: behind a long key nothing of the answer would be left.
    return Row(RECALL_KEY, (sides(asked, sure), answer, *skipped), data=note.id if note else None)


def _hit_row(hit: Hit, next_blend: float, snapshot: Snapshot) -> Row:
    note, parts = hit.note, hit.breakdown
    aside = content(note.nugget_name, MUTED)
    if parts.blend:
        aside = Content.styled(f"{parts.blend:.2f}", "bold" if hit.sure else MUTED)
    style = title_style(note) if hit.sure else _STANDS_BACK

    def head(width: int) -> Content:
        title = Content.assemble(note_marks(note), marked(note.title, parts.matched, style))
        return sides(title, aside)(width)

    return Row(note.id, (head, _bars(hit, next_blend, snapshot)) if parts.blend else (head,), data=note.id)


def _bars(hit: Hit, next_blend: float, snapshot: Snapshot) -> Callable[[int], Content]:
    def line(width: int) -> Content:
        words = partial(found_words, hit, next_blend, snapshot)
        return Content.assemble("  ", score_bars(hit.breakdown, max(0, width - 3), words))

    return line
