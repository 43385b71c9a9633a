"""Filters journal entries: as SQL, and by words within an entry."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator
from typing import Final, TypedDict, Unpack

from core.model.change import ChangeSet
from core.model.entry import EntryState
from core.storage.journal.codec import note_item, read_change_set, unpressed
from core.text.normalise import encodable

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
