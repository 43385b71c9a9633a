"""The history as it leaves a folder and comes into another: entries with all that the log says of them."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, Literal

import msgspec
from msgspec import Raw

from core.model.change import OURSELVES, ChangeSet
from core.model.compare import differences
from core.model.snapshot import Snapshot
from core.storage.journal.codec import by, insert_entry, read_change_set, read_conflict, read_maker, unpressed
from core.storage.journal.journal import Journal

# No keyboard's: pressing undo passes over what only joins two histories.
_JOINT: Final = by("carried history")
_BEGINS: Final = "the memory as its history begins"
_ENDS: Final = "the history up to here was made in another folder, and this one was empty"


class CarriedEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One entry. made_by: as the history spells it. body: its change set as JSON; conflict: what it met, so as well, if
    anything.
    """

    state: Literal["done", "conflict", "settled"] = "done"
    made_by: str = msgspec.field(default="", name="madeBy")
    body: msgspec.Raw = msgspec.field(default=msgspec.Raw(b"null"), name="changeSet")
    conflict: msgspec.Raw | None = None


_ENTRY: Final = msgspec.json.Decoder(CarriedEntry)


def carried_entries(journal: Journal) -> list[CarriedEntry]:
    """Every entry of a journal, oldest first. One whose bytes are damaged is passed over."""
    found: list[CarriedEntry] = []
    for state, made_by, body, conflict in journal.rows(
        "SELECT state, made_by, body, conflict FROM entry WHERE state NOT IN ('pending', 'version') ORDER BY seq"
    ):
        with suppress(zlib.error):
            found.append(
                CarriedEntry(state, made_by, Raw(unpressed(body)), Raw(conflict) if conflict else None)
            )
    return found


def read_entry(raw: bytes) -> CarriedEntry:
    """An entry from its JSON. Raises ValueError for what is no entry."""
    try:
        entry = _ENTRY.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ValueError("is no entry of a history") from error
    if entry.conflict:
        read_conflict(bytes(entry.conflict))
    read_change_set(bytes(entry.body))
    return entry


def carry(
    journal: Journal, before: Snapshot, entries: Sequence[CarriedEntry], after: Snapshot, *, id: str, at: str
) -> int:
    """Puts entries of another folder into the log of an empty memory; how many. None where one of them is there.

    before, after: the memory as it was before the first of them, and after the last. Beside them stand an entry that
    brings the one and an entry that takes the other away again, so that the log tells how the memory came to be empty,
    as it is here, and every earlier state can be looked at. id, at: of those. Raises StorageError, BrokenJournalError.
    """
    found = [(entry, read_change_set(bytes(entry.body))) for entry in entries]
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
            conflict = read_conflict(bytes(entry.conflict)) if entry.conflict else None
            insert_entry(connection, change_set, read_maker(entry.made_by), entry.state, conflict=conflict)
        if after.notes or after.nuggets:
            end = _between(after, Snapshot(), f"{id}-end", at, _ENDS)
            insert_entry(connection, end, _JOINT, "done")
    return len(found)


def _between(before: Snapshot, after: Snapshot, id: str, at: str, reason: str) -> ChangeSet:
    found = differences(before, after)._asdict()
    return ChangeSet(id=id, at=at, author=OURSELVES, reason=reason, kind="import", **found)
