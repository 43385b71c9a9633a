"""Rows of search results: the answer of a recall on top, then hits with the parts of their score as bars."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from textual.content import Content

from core.model.note import disputed_note
from core.model.snapshot import Snapshot
from nuggets_tui.safe_text import content, cut
from nuggets_tui.view import Found, answering
from nuggets_tui.why import neighbours
from nuggets_tui.widgets.row_list import Row
from nuggets_tui.widgets.row_text import (
    MUTED,
    marked,
    note_marks,
    score_bars,
    sides,
    title_style,
    whose_mark,
)

if TYPE_CHECKING:
    from core.facts.recall import Recall
    from core.search import Hit
    from core.search.results import Passage

RECALL_KEY: Final = "recall"
# Of the rule; no id of a note has a space.
BELOW_KEY: Final = "less likely"
_STANDS_BACK: Final = MUTED
_LONGEST_PASSAGE: Final = 300


def result_rows(found: Found, snapshot: Snapshot, stale: Collection[str] = ()) -> list[Row]:
    """The rows of a search: what recall answers, if anything, and a row of two lines for each hit. Those that are less
    likely stand back below a rule. stale: ids of notes that name code which is no longer there.
    """
    hits = found.hits
    rows = [_hit_row(hit, snapshot, hit.note.id in stale) for hit in hits]
    below = next((place for place, hit in enumerate(hits) if not hit.sure), None)
    if below is not None:
        rows.insert(below, Row(BELOW_KEY, (_rule,), selectable=False))
    _insert_passages(rows, found)
    if found.recall is not None and found.recall.found:
        rows.insert(0, _recall_row(found.recall, snapshot))
    return rows


def _insert_passages(rows: list[Row], found: Found) -> None:
    """Puts each part of a document before the first hit that scores less; those that are less likely below the rule."""
    scores = {hit.note.id: hit.breakdown.blend for hit in found.hits}
    for one in found.passages:
        below = next((place for place, row in enumerate(rows) if row.key == BELOW_KEY), len(rows))
        places = range(below) if one.sure else range(below, len(rows))
        lower = (place for place in places if scores.get(rows[place].key, one.blend) < one.blend)
        rows.insert(next(lower, below if one.sure else len(rows)), _passage_row(one))


def _passage_row(one: Passage) -> Row:
    """A part of a document: marked as one, with its title, place, score and text."""
    found = one.found
    aside = Content.styled(f"{one.blend:.2f}", "bold" if one.sure else MUTED)
    title = Content.assemble(
        ("document  ", "$text-accent"),
        marked(found.title or found.source, one.matched, "" if one.sure else _STANDS_BACK),
        (f"  part {found.place + 1}", MUTED),
    )
    text = " ".join(found.text.split())[:_LONGEST_PASSAGE]
    said = Content.assemble("  ", marked(text, one.matched, MUTED))
    return Row(f"document {found.document_id} {found.place}", (sides(title, aside), said), data=one)


def _rule(width: int) -> Content:
    line = f"── {BELOW_KEY} "
    return Content.styled(line + "─" * max(0, width - len(line)), MUTED)


def _recall_row(recall: Recall, snapshot: Snapshot) -> Row:
    label = ("recall  ", "bold $text-success")
    note = answering(recall, snapshot)
    note_id = note.id if note is not None else recall.note_id if recall.whose == "team" else None
    asked = Content.assemble(label, content(recall.key))
    said = "read from the file" if recall.undecoded else f"{recall.certainty:.2f} sure"
    sure = Content.styled(said, "$text-success")
    whose = whose_mark(recall.whose, recall.project)
    if whose.cell_length:
        sure = Content.assemble(whose, "  ", sure)
    answer = Content.assemble(("  = ", MUTED), content(recall.answer or "", "bold"))
    # On a line of its own: behind a long key nothing of the answer would be left.
    return Row(RECALL_KEY, (sides(asked, sure), answer), data=note_id)


def _hit_row(hit: Hit, snapshot: Snapshot, stale: bool) -> Row:
    note, parts = hit.note, hit.breakdown
    aside = content(note.nugget_name, MUTED)
    if parts.blend:
        aside = Content.styled(f"{parts.blend:.2f}", "bold" if hit.sure else MUTED)
    whose = whose_mark(hit.whose, hit.project)
    if whose.cell_length:
        aside = Content.assemble(whose, "  ", aside)
    style = title_style(note) if hit.sure else _STANDS_BACK

    def head(width: int) -> Content:
        title = Content.assemble(note_marks(note, stale=stale), marked(note.title, parts.matched, style))
        return sides(title, aside)(width)

    return Row(note.id, (head, _bars(hit, snapshot)) if parts.blend else (head,), data=note.id)


def _bars(hit: Hit, snapshot: Snapshot) -> Callable[[int], Content]:
    def line(width: int) -> Content:
        words = partial(found_words, hit, snapshot)
        return Content.assemble("  ", score_bars(hit.breakdown, max(0, width - 3), words))

    return line


_FOUND: Final = "bold"
_GAP: Final = "  "
_LONGEST: Final = 28
_FEWEST: Final = 4


class _Piece(NamedTuple):
    """One thing found, and the same in fewer cells."""

    long: Content
    short: Content

    def within(self, room: int) -> Content | None:
        """As much of it as there is room for; None when even the short form is too long."""
        if self.long.cell_length <= room:
            return self.long
        if self.short.cell_length > room:
            return None
        return self.short


def found_words(hit: Hit, snapshot: Snapshot, width: int) -> Content:
    """What brought a hit, the most telling first, in at most `width` cells.

    A word that was read as another stands as "asked→found", or "found~" where room is short.
    """
    shown, room = Content(""), width
    for piece in _pieces(hit, snapshot):
        gap = Content(_GAP if shown.cell_length else "")
        left = room - gap.cell_length
        fitting = piece.within(left)
        if fitting is None:
            if shown.cell_length or left < _FEWEST:
                continue
            fitting = piece.short.truncate(left, ellipsis=True)
        shown = Content.assemble(shown, gap, fitting)
        room = left - fitting.cell_length
    return shown


def _pieces(hit: Hit, snapshot: Snapshot) -> Iterator[_Piece]:
    parts, title = hit.breakdown, hit.note.title
    yield from _known(hit, snapshot)
    read = neighbours(parts.reasons)
    for found, asked in read.items():
        yield _neighbour(asked, found)
    pairs = list(
        dict.fromkeys(
            reason.found for reason in parts.reasons if reason.kind == "pair" and reason.line == "vector"
        )
    )
    in_pairs = {word for pair in pairs for word in pair.split()}
    from core.search import highlights
    from core.text.tokens import stem

    said = {stem(word) for word in read}
    words = [word for word in parts.matched if stem(word) not in said and word not in in_pairs]
    in_title = {word for word in words if highlights(title, [word])}
    yield from (_plain(word) for word in words if word not in in_title)
    yield from (_plain(pair) for pair in pairs)
    # What stands in the title is marked there.
    yield from (_plain(word) for word in words if word in in_title)


_DISPUTED: Final = "$text-warning"
# What is known of a note beside its words, by kind of reason; a name follows where there is one.
_KNOWN: Final = {
    "hint": "hint", "entity": "names", "constraint": "decision", "gravity": "only similar", "hub": "common names",
}  # fmt: skip


def _known(hit: Hit, snapshot: Snapshot) -> Iterator[_Piece]:
    """What is known of a hit: whether it is disputed, and what raised or lowered it beside its words."""
    if snapshot.disputing.get(hit.note.id):
        yield _said("disputed", _DISPUTED)
    if disputed_note(hit.note):
        yield _said("disputes", _DISPUTED)
    said: set[str] = set()
    for reason in hit.breakdown.reasons:
        if reason.line != "signals":
            continue
        label = reason.found if reason.kind == "resolution" else _KNOWN.get(reason.kind, reason.kind)
        if label in said:
            continue
        said.add(label)
        short = _said(label, MUTED)
        named = reason.kind in ("hint", "entity") and bool(reason.found)
        long = Content.assemble((f"{label} ", MUTED), content(cut(reason.found, _LONGEST), MUTED))
        yield _Piece(long, short.short) if named else short


def _said(text: str, style: str) -> _Piece:
    shown = content(cut(text, _LONGEST), style)
    return _Piece(shown, shown)


def _neighbour(asked: str, found: str) -> _Piece:
    asked, found = cut(asked, _LONGEST), cut(found, _LONGEST)
    long = Content.assemble((asked, MUTED), ("→", MUTED), (found, _FOUND))
    return _Piece(long, Content.assemble((found, _FOUND), ("~", MUTED)))


def _plain(text: str) -> _Piece:
    shown = content(cut(text, _LONGEST), _FOUND)
    return _Piece(shown, shown)
