"""What the end of a session tells of the memories that it was given: a score, and the weights of aspects."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from core.pipeline.continuity.judging import Judged
from core.pipeline.continuity.scores import USED, confirmed_weight, decayed_weight, lexical_use, words_of
from core.pipeline.database.session_memories import ScoreStatus, SessionScore
from core.pipeline.database.tables import Tables
from core.settings.pipeline_sections import FeedbackPart

_DAY: Final = 86_400_000


class Judgement(NamedTuple):
    """What was found out about a session. lexical: of each memory, by words; relevance: of each, as a model says.

    said: None where no model did; model: which one. characters: of the conversation, 0 for none.
    """

    status: ScoreStatus
    lexical: Mapping[str, float]
    relevance: Mapping[str, float]
    characters: int
    said: Judged | None = None
    model: str = ""


def lexical_uses(notes: Mapping[str, str], conversation: str) -> dict[str, float]:
    """The share, 0 to 1, of each note's words that a conversation holds; nothing for no conversation."""
    said = words_of(conversation)
    return {id: lexical_use(text, said) for id, text in notes.items()} if conversation.strip() else {}


def begin_score(writer: Tables, session: str, now: int, *, max_attempts: int) -> None:
    """Puts in the job that scores a session, with the row that its score will stand in: from then on both are there,
    whoever is killed.
    """
    rows = writer.session_memories
    if rows.score_of(session) is None:
        rows.store_score(SessionScore(session, now, None, len(rows.memories_of(session)), 0))
    writer.jobs.enqueue(type="session_end", target=session, max_attempts=max_attempts, now=now)


def preview_score(writer: Tables, session: str, lexical: Mapping[str, float], now: int) -> SessionScore:
    """What the words of the conversation tell of a session whose job is to come, stored at once for who waits. A score
    that stands is left alone.
    """
    rows = writer.session_memories
    known = rows.score_of(session)
    if known is not None and known.rounds:
        return known
    made = SessionScore(
        session, now, _mean(lexical.values()), len(rows.memories_of(session)), len(_helping(lexical))
    )
    rows.store_score(made)
    return made


def store_score(
    writer: Tables, settings: FeedbackPart, session: str, found: Judgement, now: int
) -> SessionScore:
    """Stores the score of a session. The aspects of what helped weigh more from then on, each memory of the session
    once however often it is scored; those that nothing confirmed for long weigh less, every so many sessions.
    """
    rows = writer.session_memories
    known = rows.score_of(session)
    rounds = known.rounds if known is not None else 0
    helped = {id: found.relevance.get(id, value) for id, value in found.lexical.items()}
    used, said = _helping(helped), found.said
    made = SessionScore(
        session, now, _mean(found.lexical.values()), len(rows.memories_of(session)), len(used), found.status,
        said.score if said else None, said.confidence if said else None, said.used if said else 0,
        said.novel if said else 0, said.reasoning if said else "", found.model, found.characters, rounds + 1,
    )  # fmt: skip
    rows.rate(session, found.lexical, found.relevance)
    rows.store_score(made)
    if settings.enabled:
        _confirm(writer, settings, rows.confirm(session, used), now)
    first = not rounds and settings.decay_enabled
    if first and rows.count_scored() % settings.decay_interval_sessions == 0:
        _decay(writer, settings, now)
    return made


def _helping(helped: Mapping[str, float]) -> list[str]:
    return [id for id, value in helped.items() if value >= USED]


def _mean(values: Collection[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _confirm(writer: Tables, settings: FeedbackPart, used: Collection[str], now: int) -> None:
    weights = {one.id: one.weight for one in writer.session_memories.weights()} if used else {}
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
