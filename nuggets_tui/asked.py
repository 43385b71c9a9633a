"""What is asked for in the search box or on the command line, as a search of the memory takes it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from core.model.note import Note
from core.model.snapshot import Snapshot
from core.search.language import Question
from core.search.results import Breakdown, Filters, Hit

if TYPE_CHECKING:
    from core.memory import Memory

_NOTHING: Final = Question()
_LONG_AGO: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Asked(Filters):
    """Filters that a question narrows further. now, new_since: as `Question.admits` takes them."""

    question: Question = _NOTHING
    now: datetime = _LONG_AGO
    new_since: str | None = None

    def admits(self, note: Note) -> bool:
        """Whether the note may be a hit."""
        return Filters.admits(self, note) and self.question.admits(
            note, now=self.now, new_since=self.new_since, include_hidden=self.include_hidden
        )

    @property
    def narrow(self) -> bool:
        """Whether notes have to be looked at one by one."""
        return self.question.narrow or any(
            wanted is not None for wanted in (self.nugget, self.scope, self.type, self.subject, self.tag)
        )


def asked(
    question: Question, *, now: datetime, new_since: str | None = None, filters: Filters | None = None
) -> Asked:
    """The filters of a question, on top of other filters. now: with the time zone in which dates are meant."""
    given = filters or Filters()
    return Asked(
        nugget=given.nugget,
        scope=given.scope,
        type=given.type,
        subject=given.subject,
        tag=given.tag,
        include_hidden=given.include_hidden or question.hidden,
        question=question,
        now=now,
        new_since=new_since,
    )


def hits(memory: Memory, wanted: Asked, limit: int) -> tuple[Hit, ...]:
    """The best notes for a question; those that conditions alone admit come newest first."""
    if wanted.question.words:
        return memory.search(wanted.question.words, limit, wanted)
    return _only_filtered(memory.snapshot, wanted, limit) if wanted.question.narrow else ()


def _only_filtered(snapshot: Snapshot, filters: Filters, limit: int) -> tuple[Hit, ...]:
    """Notes that filters alone admit, newest first, in the shape of hits."""
    nothing = Breakdown(
        vector=0.0, text=0.0, boost=0.0, vector_score=0.0, text_score=0.0, raw_vector=0.0, raw_text=0.0,
        blend=0.0, score=0.0, matched=(),
    )  # fmt: skip
    admitted = [note for note in snapshot.notes if filters.admits(note)]
    admitted.sort(key=lambda note: max(note.updated_at, note.created_at), reverse=True)
    ranked = enumerate(admitted[:limit], 1)
    return tuple(Hit(note=note, score=0.0, rank=rank, breakdown=nothing) for rank, note in ranked)
