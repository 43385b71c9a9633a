"""The hints job: reads a note, asks a model what it answers, keeps the questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from core.pipeline.database.connection import Database
from core.pipeline.intake.normalisation import content_hash
from core.pipeline.intake.redaction import redact
from core.pipeline.knowledge.note_linking import text_of
from core.pipeline.models.provider import ModelError, Provider
from core.pipeline.recall.hints import PROMPT_VERSION, hints_prompt, parse_hints
from core.pipeline.records import Job
from core.settings.pipeline_sections import PipelineConfiguration

if TYPE_CHECKING:
    from core.model.snapshot import Snapshot

NOTE_CHANGED: Final = "note_changed"
_STAGE: Final = "making hints failed"
# So many jobs wait at once.
_MOST_WAITING: Final = 20


def enqueue_due(database: Database, configuration: PipelineConfiguration, now: int) -> int:
    """Puts in jobs for notes that have no hints for what they say; how many."""
    due = database.reading.hints.due(_MOST_WAITING)
    if not due:
        return 0
    with database.write(lasting=False) as writer:
        for note_id in due:
            writer.jobs.enqueue(
                type="hints", target=note_id, max_attempts=configuration.worker.max_retries, now=now
            )
    return len(due)


def prepare(database: Database, job: Job, snapshot: Snapshot) -> str | None:
    """The text of the job's note; None where it is gone, or is no longer as it was when its names were read."""
    note = snapshot.by_id.get(job.target)
    if note is None or note.hidden:
        return None
    text = text_of(note)
    return text if database.reading.hints.text_hash(note.id) == content_hash(text) else None


def think(text: str, provider: Provider, configuration: PipelineConfiguration) -> tuple[str, ...]:
    """Asks the model once. Never within a write transaction. Raises ModelError."""
    part = configuration.hints
    shown = redact(text).text[: configuration.guardrails.max_content_chars]
    try:
        answer = provider.generate(hints_prompt(shown, part.max), None, part.timeout / 1_000)
    except ModelError as error:
        raise error.during(_STAGE) from error
    return tuple(redact(hint).text for hint in parse_hints(answer.text, part.max, text))


def commit(
    database: Database, job: Job, text: str, hints: tuple[str, ...], lease_token: str, now: int
) -> bool:
    """Keeps the hints and completes the job, in one transaction; False when the lease was lost, and nothing is written.

    Hints of a note that was read anew meanwhile are dropped: another job makes those of what it says now.
    """
    with database.write(lasting=False) as writer:
        if not writer.jobs.holds(job.id, lease_token):
            return False
        same = writer.hints.text_hash(job.target) == content_hash(text)
        if same:
            writer.hints.put(job.target, hints)
        result = (
            {"hints": len(hints), "prompt_version": PROMPT_VERSION} if same else {"skipped": NOTE_CHANGED}
        )
        return writer.jobs.complete(job.id, lease_token, now=now, result=result)
