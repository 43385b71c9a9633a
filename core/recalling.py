"""A memory that can be recalled from: what an agent is answered, and what is read ahead for that."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Final

import msgspec

from core.errors import NuggetsError
from core.model.change import Author
from core.searching import SearchingMemory

if TYPE_CHECKING:
    from core.facts.notes import NoteIndex
    from core.facts.recall import Recall, Recaller
    from core.model.snapshot import Snapshot

SESSION_VARIABLE: Final = "NUGGETS_SESSION"
# Of more notes nothing is read ahead for recalls: it would take room that somebody who only looks does not need.
_MANY: Final = 50_000
# How long a recall waits at most for what is being read ahead.
_STEP_SECONDS: Final = 0.1


class RecallingMemory(SearchingMemory):
    """A memory with what recalls look through."""

    # How many recalls of this run were answered and could not be counted.
    uncounted_recalls = 0

    @cached_property
    def _recaller(self) -> Recaller:
        from core.facts.recall import Recaller

        return Recaller()

    @cached_property
    def _note_index(self) -> NoteIndex:
        from core.facts.notes import NoteIndex

        return NoteIndex()

    def recall(
        self, query: str, nugget: str | None = None, session: str = "", *, record: bool = True
    ) -> Recall:
        """What an agent is answered: the fact whose key the query means, else the best note of the graph.

        nugget: look in this one alone (raises NotFoundError when there is no such nugget). session: one hit is
        counted per session; "" stands for NUGGETS_SESSION, else one id per process and day. record=False looks
        without counting. `found` is False for a query that nothing matches.
        """
        if not record:
            return self._recalled(self._snapshot, query, nugget)
        with self._guard:
            found = self._recalled(self._snapshot, query, nugget)
            if found.found:
                self._record(found, session or self._default_session())
            return found

    def prepare_search(self, stopped: Callable[[], bool] | None = None) -> int:
        """As it is for searches; and what recalls read of the notes, before the vectors. Of very many notes that is
        left to the first recall.
        """
        self.index()
        if len(self._snapshot.notes) <= _MANY:
            self.prepare_recall(stopped)
        return super().prepare_search(stopped)

    def prepare_recall(self, stopped: Callable[[], bool] | None = None) -> bool:
        """Reads ahead what a recall looks through when no fact answers; whether it was all read.

        Of 100,000 notes that takes seconds. It is done in steps, between which recalls come to their turn. stopped:
        asked again and again; what was read until then stays.
        """
        snapshot = self._snapshot
        while True:
            until = time.monotonic() + _STEP_SECONDS

            def enough(until: float = until) -> bool:
                return time.monotonic() > until or (stopped is not None and stopped())

            # Not asked before: most often there is nothing to read, and asking may take a while.
            with self._recall_guard:
                if self._note_index.update(snapshot.notes, enough):
                    return True
            if stopped is not None and stopped():
                return False

    def _recalled(self, snapshot: Snapshot, query: str, nugget: str | None) -> Recall:
        with self._recall_guard:
            found = self._recaller.recall(snapshot, query, nugget)
            if found.match is not None and found.match.kind == "fuzzy":
                found = self._recall_unguessed(snapshot, query, nugget, found)
            return found if found.found else self._recall_from_graph(snapshot, query, nugget, found)

    def _recall_unguessed(self, snapshot: Snapshot, query: str, nugget: str | None, found: Recall) -> Recall:
        """The recall, with words that are half typed ones of notes' titles taken for no others."""
        from core.facts.wording import read_query

        self._note_index.update(snapshot.notes)
        begun = {word for word in read_query(query).words if self._note_index.begins(word)}
        return self._recaller.recall(snapshot, query, nugget, begun) if begun else found

    def _recall_from_graph(
        self, snapshot: Snapshot, query: str, nugget: str | None, missed: Recall
    ) -> Recall:
        from core.facts.recall import Match
        from core.facts.wording import read_query

        self._note_index.update(snapshot.notes)
        match = self._note_index.best(read_query(query), nugget)
        if match is None:
            return missed
        note = match.note
        return msgspec.structs.replace(
            missed,
            answer=note.content,
            confidence=note.confidence,
            certainty=match.strength * min(1.0, max(0.0, note.confidence)),
            found=True,
            key=note.key if note.is_fact else note.title,
            match=Match("graph", match.strength),
            nugget_name=note.nugget_name,
            via="graph",
            note_id=note.id,
        )

    def _record(self, found: Recall, session: str) -> None:
        """Counts a recall. An answer is never withheld because it could not be counted."""
        from core.facts.edits import record_hit

        draft = self.draft()
        note = draft.note(found.note_id) if found.note_id else None
        key = found.key if found.via == "facts" or (note is not None and note.is_fact) else None
        if not record_hit(draft, found.nugget_name, key, found.note_id, session):
            return
        reason = f"recalled {found.key}"
        try:
            self.apply(draft.change_set(reason, author=Author("agent", session), kind="hit"))
        except NuggetsError:
            self.uncounted_recalls += 1

    def _default_session(self) -> str:
        given = os.environ.get(SESSION_VARIABLE, "").strip()
        return given or f"process-{os.getpid()}-{self._clock():%Y-%m-%d}"
