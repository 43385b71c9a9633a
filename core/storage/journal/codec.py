"""Entries as the journal holds them: change sets as JSON, who made them, the things they touch, what is pending."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import msgspec

from core.model.change import ChangeSet, drops_recall, joined
from core.model.compare import is_recall
from core.model.entry import Conflict, Entry, EntryState, Origin
from core.storage.files.atomic import Fingerprint
from core.storage.format.json_text import dump, load

# What stands in place of a signature, in journals of every version. Every version reads it, so it stays as it is.
_SPELLINGS: Final[Mapping[Origin, str]] = {
    Origin.OUTSIDE: "",
    Origin.TAKEN_IN: "taken in",
    Origin.RESTORED: "nuggets",
}
_ORIGINS: Final[Mapping[str, Origin]] = {spelling: origin for origin, spelling in _SPELLINGS.items()}


class Maker(NamedTuple):
    """Who or what an entry is put down to. signature: of who sat at the keyboard, for what somebody made."""

    origin: Origin
    signature: str = ""

    @property
    def spelling(self) -> str:
        """How the journal spells it."""
        return self.signature if self.origin is Origin.MADE else _SPELLINGS[self.origin]


OUTSIDE: Final = Maker(Origin.OUTSIDE)
TAKEN_IN: Final = Maker(Origin.TAKEN_IN)
RESTORED: Final = Maker(Origin.RESTORED)


def by(signature: str) -> Maker:
    """Who sat at the keyboard."""
    return Maker(Origin.MADE, signature)


def read_maker(spelling: str) -> Maker:
    """What `Maker.spelling` wrote, in whatever version."""
    origin = _ORIGINS.get(spelling)
    return Maker(Origin.MADE, spelling) if origin is None else Maker(origin)


_CHANGE_SET: Final = msgspec.json.Decoder(ChangeSet)
_CONFLICT: Final = msgspec.json.Decoder(Conflict)
_ZLIB: Final = b"\x78"
_WORTH_PRESSING: Final = 2048


def write_change_set(change_set: ChangeSet) -> bytes:
    """A change set as JSON, pressed with zlib when it is large."""
    return pressed(msgspec.json.encode(change_set))


def pressed(text: bytes) -> bytes:
    """The JSON of a change set as the journal keeps it."""
    return zlib.compress(text, 1) if len(text) > _WORTH_PRESSING else text


def unpressed(body: bytes) -> bytes:
    """The JSON of what `write_change_set` wrote. Raises zlib.error."""
    return zlib.decompress(body) if body.startswith(_ZLIB) else body


def read_change_set(body: bytes) -> ChangeSet:
    """The change set that `write_change_set` wrote. Raises ValueError for bytes that are none."""
    try:
        text = unpressed(body)
        try:
            return _CHANGE_SET.decode(text)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return msgspec.convert(load(text), ChangeSet)
    except (zlib.error, msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(str(error)) from error


def write_conflict(conflict: Conflict) -> bytes:
    """A conflict as JSON; it may name a folder that has no name in UTF-8."""
    return dump(msgspec.to_builtins(conflict))


def read_conflict(body: bytes) -> Conflict:
    """The conflict that `write_conflict` wrote. Raises ValueError."""
    try:
        return _CONFLICT.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        try:
            return msgspec.convert(load(body), Conflict)
        except msgspec.MsgspecError as error:
            raise ValueError(str(error)) from error


def note_item(id: str) -> str:
    """How the journal names a note."""
    return f"n {id}"


def fact_item(nugget: str, key: str) -> str:
    """How the journal names a fact."""
    return f"f {nugget}\n{key}"


def items_of(change_set: ChangeSet) -> Iterator[str]:
    """Names of everything that a change set touches; a renamed fact under both of its keys."""
    found: dict[str, None] = {note_item(change.id): None for change in change_set.notes}
    for change in change_set.notes:
        if change.after is not None:
            found[note_item(change.after.id)] = None
    for fact in change_set.facts:
        found[fact_item(fact.nugget, fact.key)] = None
        if fact.after is not None:
            found[fact_item(fact.nugget, fact.after.key)] = None
    for nugget in change_set.nuggets:
        found[f"g {nugget.name}"] = None
    for file in change_set.files:
        found[f"p {file.path}"] = None
    yield from found


ENTRY_COLUMNS: Final = "seq, id, state, body, conflict, made_by"
_BATCH: Final = timedelta(minutes=10)


@dataclass(frozen=True)
class Stage:
    """What a pending entry was about to do to one file: the version it had read and the one that was to follow."""

    read: Fingerprint | None
    staged: Fingerprint | None


@dataclass(frozen=True)
class Pending:
    """An entry whose writing was cut off. `stages`: by file name."""

    seq: int
    change_set: ChangeSet
    made_by: Maker
    stages: Mapping[str, Stage] = field(default_factory=dict)


def insert_entry(
    connection: sqlite3.Connection,
    change_set: ChangeSet,
    made_by: Maker,
    state: EntryState,
    *,
    stages: Mapping[str, Stage] | None = None,
    conflict: Conflict | None = None,
) -> tuple[int, ChangeSet]:
    """Puts an entry down; its number, and the change set under the id that it has in the journal."""
    given, turn = change_set.id, 1
    while (seq := _inserted(connection, change_set, made_by, state, stages, conflict)) is None:
        # It was applied before.
        turn += 1
        change_set = msgspec.structs.replace(change_set, id=f"{given}-{turn}")
    touch(connection, seq, change_set)
    return seq, change_set


def _inserted(
    connection: sqlite3.Connection,
    change_set: ChangeSet,
    made_by: Maker,
    state: EntryState,
    stages: Mapping[str, Stage] | None,
    conflict: Conflict | None,
) -> int | None:
    """The number of the new entry; None, and nothing is put down, where another has its id."""
    body, author = write_change_set(change_set), change_set.author
    cursor = connection.execute(
        "INSERT INTO entry (id, at, author_kind, author_name, kind, reason, about, made_by, state, body, size, "
        "conflict, staged) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (id) DO NOTHING",
        (
            change_set.id, change_set.at, author.kind, author.name, change_set.kind,
            change_set.reason, change_set.about, made_by.spelling, state, body, len(body),
            write_conflict(conflict) if conflict is not None else None,
            write_stages(stages),
        ),
    )  # fmt: skip
    return cursor.lastrowid if cursor.rowcount else None


def touch(connection: sqlite3.Connection, seq: int, change_set: ChangeSet) -> None:
    """Has an entry be found by all that a change set touches."""
    connection.executemany(
        "INSERT OR IGNORE INTO touched (item, seq) VALUES (?, ?)",
        ((item, seq) for item in items_of(change_set)),
    )


def fold_recalls(connection: sqlite3.Connection, seq: int) -> None:
    """Recalls of one caller that follow each other within minutes stand in the log as one entry, the newest."""
    rows = connection.execute(
        "SELECT seq, at, kind, author_kind, author_name, made_by, body, state FROM entry WHERE seq <= ? "
        "ORDER BY seq DESC LIMIT 2",
        (seq,),
    ).fetchall()
    if len(rows) < 2 or rows[0][2] != "hit" or rows[1][2:6] != rows[0][2:6] or rows[1][7] != "done":
        return
    newest, before = rows
    if not _close_together(before[1], newest[1]):
        return
    try:
        both = read_change_set(before[6]), read_change_set(newest[6])
    except ValueError:
        return
    if not all(map(is_recall, (change for one in both for change in one.notes))):
        return
    if any(drops_recall(note) for one in both for note in one.notes) or any(
        drops_recall(fact) for one in both for fact in one.facts
    ):
        # What one recall counted and another save dropped is not one recall.
        return
    joint = joined(*both)
    delete_entry(connection, before[0])
    body = write_change_set(joint)
    connection.execute(
        "UPDATE entry SET body = ?, size = ?, reason = ? WHERE seq = ?",
        (body, len(body), joint.reason, seq),
    )
    touch(connection, seq, joint)


def _close_together(earlier: str, later: str) -> bool:
    try:
        gap = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    except (ValueError, TypeError):
        return False
    return timedelta(0) <= gap <= _BATCH


def delete_entry(connection: sqlite3.Connection, seq: int) -> None:
    """Deletes an entry."""
    connection.execute("DELETE FROM touched WHERE seq = ?", (seq,))
    connection.execute("DELETE FROM entry WHERE seq = ?", (seq,))


def entries_of(rows: Iterable[Any], undone: frozenset[str]) -> tuple[Entry, ...]:
    """Entries from their columns. One whose bytes are damaged is passed over: the others are as good as before."""
    return tuple(entry for row in rows if (entry := _entry_of(row, undone)) is not None)


def _entry_of(row: Any, undone: frozenset[str]) -> Entry | None:
    seq, id, state, body, conflict, made_by = row
    try:
        return Entry(
            seq=seq,
            change_set=read_change_set(body),
            state=state,
            undone=id in undone,
            origin=read_maker(made_by).origin,
            conflict=read_conflict(conflict) if conflict is not None else None,
        )
    except ValueError:
        return None


def write_stages(stages: Mapping[str, Stage] | None) -> str | None:
    """What a pending entry is about to do to files, as text."""
    return (
        json.dumps({file: [_data(one.read), _data(one.staged)] for file, one in stages.items()})
        if stages
        else None
    )


def read_stages(text: str | None) -> dict[str, Stage]:
    """What `write_stages` wrote."""
    shaped = json.loads(text) if text else {}
    return {
        file: Stage(_read_fingerprint(read), _read_fingerprint(staged))
        for file, (read, staged) in shaped.items()
    }


def _data(made: Fingerprint | None) -> list[int] | None:
    """What of a version stays as it is when the file is renamed."""
    return list(made[:3]) if made is not None else None


def _read_fingerprint(shaped: list[int] | None) -> Fingerprint | None:
    return Fingerprint(*shaped) if shaped else None


def concerned(change_set: ChangeSet) -> frozenset[str]:
    """Names of all that a change set touches, and of the facts that its notes mirror."""
    notes = (
        note for change in change_set.notes for note in (change.before, change.after) if note is not None
    )
    mirrored = (fact_item(note.nugget_name, note.key) for note in notes if note.is_fact)
    return frozenset((*items_of(change_set), *mirrored))
