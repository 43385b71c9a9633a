"""What of a query a hit answered, in a few cells: readings of its words, words, pairs, and notes that brought it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from textual.content import Content

from core.model.snapshot import Snapshot
from nuggets_tui.safe_text import content, cut
from nuggets_tui.why import neighbours
from nuggets_tui.widgets.row_text import MUTED

if TYPE_CHECKING:
    from core.search import Breakdown, Hit

_FOUND: Final = "bold"
_GAP: Final = "  "
_LONGEST: Final = 28
# Less of a title says nothing.
_LEAST_TITLE: Final = 6
_FEWEST: Final = 4
# What another note gives, beside what the query's own words give, for that note to be named.
_LINK_SHARE: Final = 0.1
_LIKE_SHARE: Final = 0.3


class _Piece(NamedTuple):
    """One thing found, and the same in fewer cells. cut: what is in between will do as well."""

    long: Content
    short: Content
    cut: bool = False

    def within(self, room: int) -> Content | None:
        """As much of it as there is room for; None when even the short form is too long."""
        if self.long.cell_length <= room:
            return self.long
        if self.short.cell_length > room:
            return None
        return self.long.truncate(room, ellipsis=True) if self.cut else self.short


def found_words(hit: Hit, next_blend: float, snapshot: Snapshot, width: int) -> Content:
    """What brought a hit, the most telling first, in at most `width` cells.

    A word that was read as another stands as "asked→found", or "found~" where room is short. next_blend: of the hit
    that follows; a note without whose link or likeness this one would come after it is named.
    """
    shown, room = Content(""), width
    for piece in _pieces(hit, next_blend, snapshot):
        gap = Content(_GAP if shown.cell_length else "")
        left = room - gap.cell_length
        fitting = piece.within(left)
        if fitting is None:
            if shown.cell_length or left < _FEWEST or piece.cut:
                continue
            fitting = piece.short.truncate(left, ellipsis=True)
        shown = Content.assemble(shown, gap, fitting)
        room = left - fitting.cell_length
    return shown


def _pieces(hit: Hit, next_blend: float, snapshot: Snapshot) -> Iterator[_Piece]:
    parts, title = hit.breakdown, hit.note.title
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
    yield from _other_note(parts, hit.note.id, next_blend, snapshot)
    # What stands in the title is marked there.
    yield from (_plain(word) for word in words if word in in_title)


def _neighbour(asked: str, found: str) -> _Piece:
    asked, found = cut(asked, _LONGEST), cut(found, _LONGEST)
    long = Content.assemble((asked, MUTED), ("→", MUTED), (found, _FOUND))
    return _Piece(long, Content.assemble((found, _FOUND), ("~", MUTED)))


def _plain(text: str) -> _Piece:
    shown = content(cut(text, _LONGEST), _FOUND)
    return _Piece(shown, shown)


def _other_note(parts: Breakdown, own_id: str, next_blend: float, snapshot: Snapshot) -> Iterator[_Piece]:
    """The note without which this one would stand lower: one that links to it, else one that it is like."""
    own = parts.text + parts.vector
    for kind, label, value, least in (
        ("link", "link from", parts.links, _LINK_SHARE),
        ("note", "like", parts.associative, _LIKE_SHARE),
    ):
        if value <= least * own or parts.blend - value >= next_blend:
            continue
        best = next((reason for reason in parts.reasons if reason.kind == kind), None)
        other = snapshot.by_id.get(best.found) if best is not None and best.found != own_id else None
        if other is None:
            continue
        head = Content.styled(f"{label} ", MUTED)
        long, short = (head + content(cut(other.title, size)) for size in (_LONGEST, _LEAST_TITLE))
        yield _Piece(long, short, cut=True)
        return
