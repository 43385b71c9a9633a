"""How good the order was in which a session was given memories ahead, put down once it is known what helped."""

from __future__ import annotations

from typing import Final

from core.pipeline.continuity.order import averaged, ndcg
from core.pipeline.database.comparisons import ComparedNote, Comparison
from core.pipeline.database.tables import Tables

# The name under which the order stands that no predictor made.
BASELINE: Final = "baseline"


def run_session_comparison(writer: Tables, session: str, predictor: str, now: int) -> Comparison | None:
    """Compares the order given with the one without a predictor, by what helped, and stores that; None, and nothing
    stored, where nothing was given ahead or nothing helped. predictor: its name, "" for none.
    """
    given = [one for one in writer.session_memories.memories_of(session) if one.ahead]
    notes = tuple(
        ComparedNote(one.note_id, place, one.baseline or place, one.helped or 0.0)
        for place, one in enumerate(given, 1)
    )
    ours = ndcg([one.relevance for one in notes])
    theirs = ndcg([one.relevance for one in sorted(notes, key=lambda one: one.baseline)])
    if ours is None or theirs is None:
        return None
    name = predictor or BASELINE
    averages = averaged(ours, writer.comparisons.averages(name, but=session))
    made = Comparison(session, now, name, ours, theirs, averages, notes)
    writer.comparisons.put(made)
    return made
