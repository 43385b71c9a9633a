"""What the end of a session tells of the memories that were recalled in it: a score, and the weights of aspects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from core.pipeline.continuity.scores import USED, confirmed_weight, decayed_weight, lexical_use, words_of
from core.pipeline.database.connection import Database
from core.pipeline.database.session_memories import SessionScore
from core.pipeline.database.tables import Tables
from core.settings.pipeline_sections import FeedbackPart

_DAY: Final = 86_400_000


def store_score(
    database: Database,
    settings: FeedbackPart,
    session: str,
    notes: Mapping[str, str],
    conversation: str,
    *,
    now: int,
) -> SessionScore:
    """Scores a session by what was said in it, once: again changes nothing. notes: the texts of those that were
    recalled. The aspects of what helped weigh more from then on, those that nothing confirmed for
    long weigh less.
    """
    known = database.reading.session_memories.score_of(session)
    if known is not None and known.score is not None:
        return known
    said = words_of(conversation)
    relevance = {id: lexical_use(text, said) for id, text in notes.items()}
    used = [id for id, value in relevance.items() if value >= USED]
    score = sum(relevance.values()) / len(relevance) if relevance and conversation else None
    with database.write() as writer:
        rows = writer.session_memories
        recalled = len(rows.recalled_in(session))
        made = SessionScore(session, now, score, recalled, len(used) if conversation else 0)
        rows.rate(session, relevance if conversation else {})
        rows.store_score(made)
        if settings.enabled and conversation:
            _confirm(writer, settings, used, now)
        if settings.decay_enabled and rows.count_scores() % settings.decay_interval_sessions == 0:
            _decay(writer, settings, now)
    return made


def _confirm(writer: Tables, settings: FeedbackPart, used: list[str], now: int) -> None:
    weights = {one.id: one.weight for one in writer.session_memories.weights()}
    for aspect_id, confirmations in writer.session_memories.aspects_of(used).items():
        weight = confirmed_weight(
            weights[aspect_id],
            delta=settings.fts_weight_delta,
            confirmations=confirmations,
            least=settings.min_aspect_weight,
            most=settings.max_aspect_weight,
        )
        writer.session_memories.weigh(aspect_id, weight, now, confirmed=True)


def _decay(writer: Tables, settings: FeedbackPart, now: int) -> None:
    for one in writer.session_memories.weights():
        weight = decayed_weight(
            one.weight,
            rate=settings.decay_rate,
            days=(now - one.touched) / _DAY,
            stale_days=settings.stale_days,
            least=min(settings.min_aspect_weight, settings.max_aspect_weight),
        )
        if weight < one.weight:
            writer.session_memories.weigh(one.id, weight, now, confirmed=False)
