"""Links notes with what they name, by whomever they were written, and follows them when they change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Final

from core.model.note import Note
from core.model.snapshot import Snapshot
from core.pipeline.database.connection import Database
from core.pipeline.database.notes import LinkedNote
from core.pipeline.intake.linker import MOST_ENTITIES, decisions_in
from core.pipeline.intake.names import SCANNED, find_names
from core.pipeline.intake.normalisation import content_hash
from core.pipeline.intake.sentences import clauses
from core.text.normalise import encodable

# So many notes are read at once; a transaction of that size is short.
BATCH_SIZE: Final = 50


class NoteLinking:
    """Follows the notes of one memory. Cheap while nothing changes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._followed: Snapshot | None = None
        self._hashes: dict[str, str] | None = None
        self._seen: dict[str, Note] = {}

    def link(self, snapshot: Snapshot, newer: Callable[[], Snapshot | None], now: int) -> int:
        """Reads some of the notes that are new or changed since; how many. 0 once all are as they are linked.

        newer: reads the files anew; None where they cannot be read now, and nothing is linked then. now: epoch ms.
        """
        reader = self._database.reading.note_names
        # Another process linked notes, or masking emptied what was made of them.
        if self._hashes is None or reader.count_notes() != len(self._hashes):
            hashes, latest = reader.hashes(), newer()
            if latest is None:
                return 0
            # In this order: a note that another process wrote and linked since would be taken for one that is gone.
            snapshot, self._hashes, self._followed, self._seen = latest, hashes, None, {}
        if snapshot is self._followed or snapshot.graph_problem:
            return 0
        notes = {note.id: note for note in snapshot.notes if not note.hidden}
        gone = [id for id in self._hashes if id not in notes]
        linked = list(islice(self._outdated(notes), BATCH_SIZE))
        if gone or linked:
            with self._database.write(lasting=False) as writer:
                writer.note_names.remove(gone)
                for one in linked:
                    writer.note_names.put(one, now)
            for id in gone:
                del self._hashes[id]
            for one in linked:
                self._hashes[one.note_id] = one.text_hash
                self._seen[one.note_id] = notes[one.note_id]
        if len(linked) < BATCH_SIZE:
            self._followed, self._seen = snapshot, notes
        return len(gone) + len(linked)

    def _outdated(self, notes: Mapping[str, Note]) -> Iterator[LinkedNote]:
        assert self._hashes is not None
        for id, note in notes.items():
            if self._seen.get(id) is note:
                continue
            text = text_of(note)
            hashed = content_hash(text)
            if self._hashes.get(id) != hashed:
                names = tuple(name.name for name in find_names(text)[:MOST_ENTITIES])
                yield LinkedNote(id, hashed, bool(decisions_in(text, clauses(text))), names)


def text_of(note: Note) -> str:
    """What is read of a note."""
    return encodable(f"{note.title}\n{note.content}"[:SCANNED])
