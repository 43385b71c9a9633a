"""The session-end job: reads the whole conversation, asks a model how much of what was recalled helped where the
settings say so, and has what helped weigh more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from core.model.names import parse_iso
from core.pipeline.continuity.judging import MOST, SCHEMA, judging_prompt, labels, read_judgement
from core.pipeline.database.connection import Database
from core.pipeline.database.session_memories import ScoreStatus, SessionScore
from core.pipeline.models.provider import (
    CallRefusedError,
    EmptyAnswerError,
    ModelError,
    Provider,
    TruncatedAnswerError,
    UnreadableAnswerError,
)
from core.pipeline.records import Job
from core.pipeline.writes.comparisons import run_session_comparison
from core.pipeline.writes.session_scores import Judgement, lexical_uses, store_score
from core.settings.pipeline_sections import PipelineConfiguration

if TYPE_CHECKING:
    from core.memory import Memory

_STAGE: Final = "scoring the session failed"
# Answers that are there and say no score.
_UNPARSEABLE: Final = (UnreadableAnswerError, TruncatedAnswerError, EmptyAnswerError)
# So many recalls of one session are looked at.
_MOST_RECALLS: Final = 1_000


class SessionEndWork(NamedTuple):
    """What there is to score. counted: notes whose recalls the memory counted for the session, each with when, epoch
    ms. notes: the texts of all that it was given, by id, in that order. given: how many that were, those included that
    are gone. summary: of its newest checkpoint. known: its score so far.
    """

    job: Job
    counted: tuple[tuple[str, int], ...]
    notes: dict[str, str]
    given: int
    summary: str
    conversation: str
    known: SessionScore | None

    def is_scored(self, *, asks: bool) -> bool:
        """Whether its score says all there is to say by now. asks: whether a model is to be asked."""
        known = self.known
        if known is None or not known.rounds or known.status in ("failed", "unparseable"):
            return False
        same = (known.characters, known.recalled) == (len(self.conversation), self.given)
        return same and not (asks and known.status == "by_words")


def counted_recalls(memory: Memory, session: str) -> tuple[tuple[str, int], ...]:
    """The notes whose recalls the memory counted for a session, the first first, each with when, epoch ms: those that
    commands, tools and answers in a hurry gave, whether or not anybody told the pipeline.
    """
    found: dict[str, int] = {}
    for entry in memory.history.log(limit=_MOST_RECALLS, author=session, kind="hit"):
        done = entry.change_set
        at = parse_iso(done.at)
        if done.author.name == session and at is not None and not entry.undone:
            found |= dict.fromkeys((change.note.id for change in done.notes), int(at.timestamp() * 1000))
    return tuple(reversed(found.items()))


def texts_of(memory: Memory, note_ids: tuple[str, ...]) -> dict[str, str]:
    """What notes say, by id; those that are gone are left out."""
    by_id = memory.snapshot.by_id
    return {id: by_id[id].content.strip() or by_id[id].title for id in note_ids if id in by_id}


def prepare(database: Database, job: Job, memory: Memory) -> SessionEndWork:
    """Reads what a session was given, and all that was said in it."""
    session, reader = job.target, database.reading
    counted = counted_recalls(memory, session)
    rows = reader.session_memories
    known = (one.note_id for one in rows.memories_of(session))
    given = tuple(dict.fromkeys((*known, *(note_id for note_id, _ in counted))))
    newest = next(iter(reader.checkpoints.newest(session, 1)), None)
    kept = reader.transcripts.of_sessions((session,)).get(session)
    said = "\n\n".join((kept.content, *kept.revisions)) if kept is not None else ""
    summary = newest.digest if newest else ""
    return SessionEndWork(
        job, counted, texts_of(memory, given), len(given), summary, said, rows.score_of(session)
    )


def think(work: SessionEndWork, provider: Provider | None, configuration: PipelineConfiguration) -> Judgement:
    """What the words of the conversation tell, and what a model says. provider: None where none is to be asked. Never
    within a write transaction.

    Raises the ModelError of an outage, of a refused call, and while there are tries left.
    """
    lexical, size = lexical_uses(work.notes, work.conversation), len(work.conversation)
    if not lexical:
        status: ScoreStatus = "no_conversation" if work.notes else "nothing_recalled"
        return Judgement(status, lexical, {}, size)
    if provider is None:
        return Judgement("by_words", lexical, {}, size)
    shown = tuple(work.notes)[:MOST]
    names = dict(zip(labels(len(shown)), shown, strict=True))
    prompt = judging_prompt([work.notes[id] for id in shown], work.summary, work.conversation)
    try:
        answer = provider.generate(prompt, SCHEMA, configuration.extraction.timeout / 1_000)
        said = read_judgement(answer, tuple(names))
    except CallRefusedError:
        raise
    except ModelError as error:
        if error.outage or (error.retryable and work.job.attempts < work.job.max_attempts):
            raise error.during(_STAGE) from error
        return Judgement("unparseable" if isinstance(error, _UNPARSEABLE) else "failed", lexical, {}, size)
    relevance = {names[label]: value for label, value in said.relevance.items()}
    return Judgement("scored", lexical, relevance, size, said, answer.model)


def commit(
    database: Database,
    work: SessionEndWork,
    found: Judgement,
    configuration: PipelineConfiguration,
    lease_token: str,
    now: int,
) -> bool:
    """Stores the score, has what helped weigh more, compares the order given, and completes the job, in one
    transaction; False when the lease was lost, and nothing is written.
    """
    session = work.job.target
    with database.write() as writer:
        if not writer.jobs.holds(work.job.id, lease_token):
            return False
        writer.session_memories.add_counted(session, work.counted)
        score = store_score(writer, configuration.feedback, session, found, now)
        if configuration.predictor.enabled:
            run_session_comparison(writer, session, configuration.predictor.source, now)
        return writer.jobs.complete(
            work.job.id, lease_token, now=now, result={"status": score.status, "recalled": score.recalled}
        )
