"""The history as it leaves a folder and comes into another: entries with all that the log says of them."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from core.model.change import OURSELVES, ChangeSet
from core.model.compare import differences
from core.model.entry import EntryState
from core.model.snapshot import Snapshot
from core.storage.format.json_text import dump, load, split_object
from core.storage.journal.codec import by, insert_entry, read_change_set, read_conflict, read_maker, unpressed
from core.storage.journal.journal import Journal

# Not pending: that is not in the files for sure, and may not come to be in them elsewhere.
_STATES: Final = ("done", "conflict", "settled")
# No keyboard's: pressing undo passes over what only joins two histories.
_JOINT: Final = by("carried history")
_BEGINS: Final = "the memory as its history begins"
_ENDS: Final = "the history up to here was made in another folder, and this one was empty"


class CarriedEntry(NamedTuple):
    """One entry. made_by: as the journal spells it. body: its change set as JSON; conflict: what it met, so as well."""

    state: EntryState
    made_by: str
    body: bytes
    conflict: bytes | None = None


def carried_entries(journal: Journal) -> list[CarriedEntry]:
    """Every entry of a journal, oldest first. One whose bytes are damaged is passed over."""
    found: list[CarriedEntry] = []
    for state, made_by, body, conflict in journal.rows(
        "SELECT state, made_by, body, conflict FROM entry WHERE state NOT IN ('pending', 'version') ORDER BY seq"
    ):
        with suppress(zlib.error):
            found.append(CarriedEntry(state, made_by, unpressed(body), conflict))
    return found


def write_entry(entry: CarriedEntry) -> bytes:
    """An entry as JSON."""
    told = b',"conflict":' + entry.conflict if entry.conflict is not None else b""
    head = dump({"state": entry.state, "madeBy": entry.made_by})
    return head[:-1] + b',"changeSet":' + entry.body + told + b"}"


def read_entry(raw: bytes) -> CarriedEntry:
    """What `write_entry` wrote. Raises ValueError for what is no entry."""
    shaped = split_object(raw)
    state, made_by = load(shaped.get("state", b'"done"')), load(shaped.get("madeBy", b'""'))
    if state not in _STATES or not isinstance(made_by, str):
        raise ValueError("is no entry of a history")
    conflict = shaped.get("conflict")
    if conflict is not None:
        read_conflict(conflict)
    body = shaped.get("changeSet", b"null")
    read_change_set(body)
    return CarriedEntry(state, made_by, body, conflict)


def carry(
    journal: Journal, before: Snapshot, entries: Sequence[CarriedEntry], after: Snapshot, *, id: str, at: str
) -> int:
    """Puts entries of another folder into the log of an empty memory; how many. None where one of them is there.

    before, after: the memory as it was before the first of them, and after the last. Beside them stand an entry that
    brings the one and an entry that takes the other away again, so that the log tells how the memory came to be empty,
    as it is here, and every earlier state can be looked at. id, at: of those. Raises StorageError, BrokenJournalError.
    """
    found = [(entry, read_change_set(entry.body)) for entry in entries]
    if not found:
        return 0
    with journal.transaction() as connection:
        ids = {row[0] for row in connection.execute("SELECT id FROM entry")}
        if any(change_set.id in ids for _, change_set in found):
            return 0
        first = found[0][1].at
        if before.notes or before.nuggets:
            begin = _between(Snapshot(), before, f"{id}-begin", first, _BEGINS)
            insert_entry(connection, begin, _JOINT, "done")
        for entry, change_set in found:
            conflict = read_conflict(entry.conflict) if entry.conflict is not None else None
            insert_entry(connection, change_set, read_maker(entry.made_by), entry.state, conflict=conflict)
        if after.notes or after.nuggets:
            end = _between(after, Snapshot(), f"{id}-end", at, _ENDS)
            insert_entry(connection, end, _JOINT, "done")
    return len(found)


def _between(before: Snapshot, after: Snapshot, id: str, at: str, reason: str) -> ChangeSet:
    found = differences(before, after)._asdict()
    return ChangeSet(id=id, at=at, author=OURSELVES, reason=reason, kind="import", **found)
