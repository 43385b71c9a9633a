"""Entries as the history holds them: change sets as JSON, who made them, what they touch, what is pending; and the
conditions by which they are chosen.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, Final, NamedTuple, TypedDict, Unpack

import msgspec

from core.model.change import ChangeSet, drops_recall, joined
from core.model.compare import is_recall
from core.model.entry import Conflict, Entry, EntryState, Origin
from core.storage.files.atomic import Fingerprint
from core.storage.format.json_text import dump, load
from core.text.normalise import encodable

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
    text = msgspec.json.encode(change_set)
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
# Rows that one statement writes.
_ROWS_AT_ONCE: Final = 500


class Stage(NamedTuple):
    """What a pending entry was about to do to one file: the version it had read and the one that was to follow."""

    read: Fingerprint | None
    staged: Fingerprint | None


class Pending(NamedTuple):
    """An entry whose writing was cut off. stages: by file name."""

    seq: int
    change_set: ChangeSet
    made_by: Maker
    stages: Mapping[str, Stage]


def insert_entry(
    connection: sqlite3.Connection,
    change_set: ChangeSet,
    made_by: Maker,
    state: EntryState,
    *,
    stages: Mapping[str, Stage] | None = None,
    conflict: Conflict | None = None,
) -> tuple[int, ChangeSet]:
    """Puts an entry down; its number, and the change set under the id that it has in the history: another one where
    it was applied before.
    """
    given, turn = change_set.id, 1
    while True:
        body, author = write_change_set(change_set), change_set.author
        cursor = connection.execute(
            "INSERT INTO entry (id, at, author_kind, author_name, kind, reason, about, made_by, state, body, size, "
            "conflict, staged) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
            (
                change_set.id, change_set.at, author.kind, author.name, change_set.kind,
                change_set.reason, change_set.about, made_by.spelling, state, body, len(body),
                write_conflict(conflict) if conflict is not None else None, write_stages(stages),
            ),
        )  # fmt: skip
        if cursor.rowcount and cursor.lastrowid is not None:
            touch(connection, cursor.lastrowid, change_set)
            return cursor.lastrowid, change_set
        turn += 1
        change_set = msgspec.structs.replace(change_set, id=f"{given}-{turn}")


def touch(connection: sqlite3.Connection, seq: int, change_set: ChangeSet) -> None:
    """Has an entry be found by all that a change set touches."""
    rows = [(item, seq) for item in items_of(change_set)]
    write_rows(connection, "INSERT OR IGNORE INTO touched (item, seq) VALUES", "(?, ?)", rows)


def write_rows(
    connection: sqlite3.Connection, insert: str, row: str, rows: Sequence[Sequence[object]], then: str = ""
) -> None:
    """Inserts rows, many in one statement. insert: up to VALUES; row: the place of one; then: what follows on them."""
    for at in range(0, len(rows), _ROWS_AT_ONCE):
        some = rows[at : at + _ROWS_AT_ONCE]
        connection.execute(f"{insert} {', '.join([row] * len(some))} {then}", list(chain.from_iterable(some)))


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
    """What a pending entry is about to do to files, as text: of each version what stays when the file is renamed."""
    shaped = {file: [made and list(made[:3]) for made in one] for file, one in (stages or {}).items()}
    return json.dumps(shaped) if shaped else None


def read_stages(text: str | None) -> dict[str, Stage]:
    """What `write_stages` wrote."""
    shaped = json.loads(text) if text else {}
    return {file: Stage(*(made and Fingerprint(*made) for made in one)) for file, one in shaped.items()}


# Which entries

LARGEST: Final = 2**63 - 1
# Words in which JSON may write a character otherwise than it is.
_ESCAPED: Final = ('"', "\\")


class EntryFilters(TypedDict, total=False):
    """What entries are asked for; what is left out, or None, admits all.

    author: kinds or names. kind: of change sets. note: an id. run: the id of an entry, which with all that is about it
    is meant. text: see `says`. since, until: ISO times, both of them included. before, after: numbers. limit: how many.
    """

    limit: int | None
    author: str | Collection[str] | None
    kind: str | Collection[str] | None
    note: str | None
    run: str | None
    text: str | None
    since: str | None
    until: str | None
    before: int | None
    after: int | None
    state: EntryState | None


def which_entries(**filters: Unpack[EntryFilters]) -> tuple[str, dict[str, object]]:
    """What follows on the name of the table to choose entries, newest first, and the values in it."""
    limit, note = filters.get("limit"), filters.get("note")
    author, kind, text = filters.get("author"), filters.get("kind"), filters.get("text")
    tests = ["state NOT IN ('pending', 'version')"]
    values: dict[str, object] = {"limit": LARGEST if limit is None else min(max(0, limit), LARGEST)}
    for name, test, value in (
        ("item", "seq IN (SELECT seq FROM touched WHERE item = :item)", note_item(note) if note else None),
        (
            "run",
            "(id = :run OR about = :run OR substr(about, 1, length(:run) + 1) = :run || '.')",
            filters.get("run"),
        ),
        ("since", "at >= :since", filters.get("since")),
        ("until", "at <= :until", filters.get("until")),
        ("before", "seq < :before", filters.get("before")),
        ("after", "seq > :after", filters.get("after")),
        ("state", "state = :state", filters.get("state")),
    ):
        if value is not None:
            tests.append(test)
            values[name] = encodable(value) if isinstance(value, str) else min(value, LARGEST)
    if filters.get("state") not in (None, "done"):
        # An index of its own knows these few, and SQLite does not see from a value alone that it does.
        tests.append("state <> 'done'")
    if author is not None:
        names = _listed("author", author, values)
        tests.append(f"(author_kind IN ({names}) OR author_name IN ({names}))")
    if kind is not None:
        tests.append(f"kind IN ({_listed('kind', kind, values)})")
    # What the inner query reads stands in an index of its own: the entries themselves may fill hundreds of megabytes.
    inner = f"SELECT seq FROM entry WHERE {' AND '.join(tests)}"
    if text is None:
        return f"WHERE seq IN ({inner} ORDER BY seq DESC LIMIT :limit) ORDER BY seq DESC", values
    values["text"] = encodable(text.casefold())
    return f"WHERE seq IN ({inner}) AND says(body, :text) ORDER BY seq DESC LIMIT :limit", values


def _listed(name: str, given: str | Collection[str], values: dict[str, object]) -> str:
    each = (given,) if isinstance(given, str) else tuple(given)
    values.update((f"{name}{number}", encodable(one)) for number, one in enumerate(each))
    return ", ".join(f":{name}{number}" for number in range(len(each)))


def names_words(body: bytes, wanted: str) -> bool:
    """Whether a change set names all of these words, in folded case: in its reason, a title, a key or a file's path.

    Former names count as well. A change set that cannot be read names nothing.
    """
    words = wanted.split()
    try:
        text = unpressed(body)
    except zlib.error:
        return False
    # Most entries can be excluded by their bytes, without being parsed.
    folded = text.decode("utf-8", "replace").casefold()
    if not all(word in folded or any(char in word for char in _ESCAPED) for word in words) and (
        "\\u" not in folded
    ):
        return False
    try:
        names = " ".join(_names(read_change_set(body))).casefold()
    except ValueError:
        return False
    return all(word in names for word in words)


def _names(change_set: ChangeSet) -> Iterator[str]:
    yield change_set.reason
    for change in change_set.notes:
        yield from (note.title for note in (change.before, change.after) if note is not None)
    for fact in change_set.facts:
        yield fact.key
        if fact.after is not None:
            yield fact.after.key
    yield from (file.path for file in change_set.files)
