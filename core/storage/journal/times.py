"""The journal as a timeline: when each entry was made, and the change sets of some of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from core.model.change import ChangeSet
from core.storage.journal.codec import read_change_set
from core.storage.journal.journal import Journal


class Mark(NamedTuple):
    """One entry that was carried out. `recall`: it moved nothing but the counts of recalls."""

    seq: int
    id: str
    at: str
    recall: bool


def marks(journal: Journal) -> list[Mark]:
    """Every entry of the journal that was carried out, newest first."""
    rows = journal.rows("SELECT seq, id, at, kind FROM entry WHERE state = 'done' ORDER BY seq DESC")
    return [Mark(seq, id, at, kind == "hit") for seq, id, at, kind in rows]


def change_sets(journal: Journal, numbers: Collection[int]) -> Iterator[tuple[int, ChangeSet]]:
    """The change sets of entries by number; those that are gone or damaged are left out."""
    marked = ", ".join(str(int(number)) for number in numbers)
    for seq, body in journal.rows(f"SELECT seq, body FROM entry WHERE seq IN ({marked})"):
        try:
            yield seq, read_change_set(body)
        except ValueError:
            continue
