"""What a typed text asks for, put to the index: words to rank by, and a question that notes have to fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from core.model.note import Note
from core.model.snapshot import Snapshot
from core.search.index import SearchIndex
from core.search.language import Question
from core.search.results import Breakdown, Filters, Hit
from core.settings import SearchSettings

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
        return super().admits(note) and self.question.admits(
            note, now=self.now, new_since=self.new_since, include_hidden=self.include_hidden
        )

    @property
    def narrow(self) -> bool:
        """Whether notes have to be looked at one by one."""
        return self.question.narrow or super().narrow


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


def hits(
    index: SearchIndex,
    snapshot: Snapshot,
    wanted: Asked,
    limit: int,
    settings: SearchSettings,
    stopped: Callable[[], bool] | None = None,
) -> tuple[Hit, ...]:
    """The best notes for a question; those that conditions alone admit come newest first."""
    if wanted.question.words:
        return index.search(wanted.question.words, limit, wanted, settings, stopped)
    return _only_filtered(snapshot, wanted, limit) if wanted.question.narrow else ()


def _only_filtered(snapshot: Snapshot, filters: Filters, limit: int) -> tuple[Hit, ...]:
    """Notes that filters alone admit, newest first, in the shape of hits."""
    admitted = [note for note in snapshot.notes if filters.admits(note)]
    admitted.sort(key=lambda note: max(note.updated_at, note.created_at), reverse=True)
    ranked = enumerate(admitted[:limit], 1)
    return tuple(Hit(note=note, score=0.0, rank=rank, breakdown=Breakdown()) for rank, note in ranked)
