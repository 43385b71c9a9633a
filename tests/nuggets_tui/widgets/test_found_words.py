"""What a hit answered is said in the cells there are, the most telling first."""

from __future__ import annotations

from core.model.note import Note
from core.model.snapshot import Snapshot
from core.search import Hit
from core.search.results import Breakdown, ScoreReason
from nuggets_tui.widgets.results import found_words

OWN = Note(id="own", title="Session store", nugget_name="project", content="Redis holds the token.")


def snapshot(*notes: Note) -> Snapshot:
    return Snapshot(notes=notes)


def hit(*reasons: ScoreReason, matched: tuple[str, ...] = ()) -> Hit:
    parts = Breakdown(
        text=0.2,
        vector=0.1,
        blend=0.3,
        _matched=lambda: matched,
        _reasons=lambda: reasons,
    )
    return Hit(note=OWN, score=0.5, rank=1, breakdown=parts)


SPELLING = ScoreReason("text", "spelling", "tokn", "token", 0.1)


def words(found: Hit, width: int = 60) -> str:
    return found_words(found, snapshot(OWN), width).plain


def test_a_word_read_as_another_is_told_apart_from_one_that_was_typed() -> None:
    found = hit(SPELLING, matched=("token", "redis"))
    assert words(found) == "tokn→token  redis"
    assert words(found, 9) == "token~"
    assert words(found, 5) == "toke…"
    assert words(found, 2) == ""
