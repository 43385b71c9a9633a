"""What is kept how long: the kinds of rows that go, in the order in which they go, and when the time of one is over."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from core.settings.pipeline_sections import PipelineConfiguration

DAY_MS: Final = 86_400_000
_HOUR_MS: Final = 3_600_000
# A clock that is so far ahead of the last look is not believed at once.
_LEAP_MS: Final = 2 * DAY_MS
# Rows of one transaction.
BATCH: Final = 500


class Kind(StrEnum):
    """What goes, in the order in which it goes: nothing is deleted before what refers to it."""

    MENTIONS = (
        "mentions"  # of removed texts, with their evidence; then entities and relations with nothing left
    )
    ENTITIES = "entities"
    RELATIONS = "relations"
    DOCUMENTS = "documents"
    EMBEDDINGS = "embeddings"  # of chunks that no document has
    VECTORS = "vectors"  # that no note or chunk has
    TEXTS = "texts"
    CHUNKS = "chunks"  # that no document has
    HISTORY = "history"
    COMPLETED_JOBS = "completed_jobs"
    DEAD_JOBS = "dead_jobs"
    CALLS = "calls"
    TRANSCRIPTS = "transcripts"
    CHECKPOINTS = "checkpoints"
    SESSIONS = "sessions"
    SESSION_MEMORIES = "session_memories"
    SESSION_SCORES = "session_scores"
    COMPARISONS = "comparisons"  # of a predictor, but for its newest


class Windows(NamedTuple):
    """For how many days each thing is kept; see `RetentionPart`."""

    removed: int = 30
    history: int = 180
    completed_jobs: int = 14
    dead_jobs: int = 30
    transcripts: int = 180
    checkpoints: int = 7

    @classmethod
    def of(cls, configuration: PipelineConfiguration) -> Windows:
        """The windows that the settings name."""
        part = configuration.retention
        return cls(
            part.removed_days,
            part.history_days,
            part.completed_job_days,
            part.dead_job_days,
            part.transcript_days,
            configuration.continuity.retention_days,
        )

    def days(self, kind: Kind) -> int:
        """The window of a kind."""
        days: int = getattr(self, _WINDOW_OF.get(kind, "removed"))
        return days


_WINDOW_OF: Final[dict[Kind, str]] = {
    Kind.HISTORY: "history",
    Kind.CALLS: "history",
    Kind.SESSION_MEMORIES: "history",
    Kind.SESSION_SCORES: "history",
    Kind.COMPARISONS: "history",
    Kind.COMPLETED_JOBS: "completed_jobs",
    Kind.DEAD_JOBS: "dead_jobs",
    Kind.TRANSCRIPTS: "transcripts",
    Kind.CHECKPOINTS: "checkpoints",
    Kind.SESSIONS: "checkpoints",
}


class SeenClock(NamedTuple):
    """What earlier looks at the clock left. trusted: the last moment that was believed; leapt: since when it is not,
    because it leapt far ahead; epoch ms, None for never.
    """

    trusted: int | None = None
    leapt: int | None = None

    def look(self, now: int) -> tuple[bool, SeenClock]:
        """Whether something may be deleted by this clock, and what is kept of the look.

        A clock that leapt is either right, after a time in which nothing ran, or wrong, as after a dead battery. Who
        sets it right does so soon; so it is believed once it has gone on for a day.
        """
        if self.trusted is None or now - self.trusted <= _LEAP_MS:
            stands = self.trusted is not None and 0 <= now - self.trusted < _HOUR_MS
            return True, SeenClock(self.trusted if stands else now)
        # Another process may have taken its time a moment earlier.
        if self.leapt is None or now < self.leapt - _HOUR_MS:
            return False, SeenClock(self.trusted, now)
        return (True, SeenClock(now)) if now - self.leapt >= DAY_MS else (False, self)


def cutoff(now: int, days: int) -> int:
    """What ended before this moment has been kept for so many days; all in epoch ms."""
    return now - days * DAY_MS


def is_over(ended: int, now: int, days: int) -> bool:
    """Whether something that ended then has been kept for longer than so many days."""
    return ended < cutoff(now, days)


def is_due(last: int | None, now: int, interval: int) -> bool:
    """Whether it is time to delete again, also where the clock was set back. last: when it was done, None: never."""
    return last is None or not 0 <= now - last < interval
