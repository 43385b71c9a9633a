"""The search index: follows the snapshots of a memory note by note and answers queries from any thread."""

from __future__ import annotations

import dataclasses
import math
import threading
from typing import TYPE_CHECKING, Final

from core.errors import InvalidInputError
from core.model.note import Note
from core.model.snapshot import Snapshot
from core.search.documents import Document, Reader, same_for_search
from core.search.query import read_query
from core.search.results import Filters, Hit
from core.settings import SearchSettings

if TYPE_CHECKING:
    from core.search.state import State
    from core.search.vectors import Keys


# Keys of so many phases take 256 KiB each; more only makes every search slow.
_LARGEST_DIMENSION: Final = 2**20


class SearchIndex:
    """An index over all notes of a snapshot, hidden ones too; empty until the first `update`.

    `update` may run in one thread while others search: a query sees the notes before or after it, never
    between. Loads numpy when it is first used.
    """

    def __init__(self) -> None:
        self._reader = Reader()
        self._documents: dict[str, tuple[Note, Document]] = {}
        self._snapshot: Snapshot | None = None
        self._state: State | None = None
        self._keys: Keys | None = None
        self._guard = threading.Lock()

    def update(self, snapshot: Snapshot) -> None:
        """Brings the index to a snapshot; only notes that differ from the last one are read anew."""
        from core.search.state import State

        with self._guard:
            if snapshot is self._snapshot:
                return
            known, entries = self._documents, []
            for note in snapshot.notes:
                entry = known.get(note.id)
                if entry is None or entry[0] is not note:
                    fits = entry is not None and same_for_search(entry[0], note)
                    entry = (note, entry[1] if entry is not None and fits else self._reader.read(note))
                entries.append(entry)
            self._documents = {entry[0].id: entry for entry in entries}
            self._state = State(snapshot.notes, [document for _, document in entries], self._reader)
            self._snapshot = snapshot

    def search(
        self,
        text: str,
        limit: int = 10,
        filters: Filters | None = None,
        settings: SearchSettings | None = None,
    ) -> tuple[Hit, ...]:
        """The best notes for a query, best first, at most `limit`, in one ranking over all nuggets.

        Ranked by the blend of vector leg, text leg and boost; of equals the one changed last comes first. No
        hit for an empty query, one of stop words alone, or one that nothing matches. Raises InvalidInputError
        for a negative limit and for settings that no score can be computed with.
        """
        if limit < 0:
            raise InvalidInputError("a limit cannot be negative", where=f"limit {limit}")
        state, query = self._state, read_query(text)
        if state is None or not state.notes or limit == 0 or query.empty:
            return ()
        from core.search.ranking import rank

        settings = settings or SearchSettings()
        return rank(state, query, filters or Filters(), settings, self._keys_for(settings)).hits(limit)

    def explain(
        self,
        text: str,
        note_id: str,
        filters: Filters | None = None,
        settings: SearchSettings | None = None,
    ) -> Hit | None:
        """What `search` gives for one note, wherever it stands. None when there is no such note.

        A note that is no hit (no evidence, or not admitted by the filters) has rank and score 0, with the
        parts that it would have.
        """
        state = self._state
        place = None if state is None else state.places.get(note_id)
        if state is None or place is None:
            return None
        from core.search.ranking import rank

        settings = settings or SearchSettings()
        keys = self._keys_for(settings)
        return rank(state, read_query(text), filters or Filters(), settings, keys, place).explanation(place)

    def _keys_for(self, settings: SearchSettings) -> Keys:
        from core.search.vectors import Keys

        _check(settings)
        keys = self._keys
        if keys is None or keys.dimension != settings.dimension:
            keys = self._keys = Keys(settings.dimension)
        return keys


def _check(settings: SearchSettings) -> None:
    """Raises InvalidInputError for numbers that no score can be computed with."""
    if not 1 <= settings.dimension <= _LARGEST_DIMENSION:
        raise InvalidInputError(
            f"must be from 1 to {_LARGEST_DIMENSION}, not {settings.dimension}", where="search.dimension"
        )
    for number in dataclasses.fields(settings):
        if not math.isfinite(getattr(settings, number.name)):
            raise InvalidInputError("must be a finite number", where=f"search.{number.name}")
