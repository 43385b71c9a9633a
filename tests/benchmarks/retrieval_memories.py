"""Memories to put questions to as a person or an agent does, and small ones drawn from a large set of notes.

All that is asked of a memory here goes through `Searched` and `Recalled`, so that the benchmark needs no more of its
interface than what they name.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.retrieval_sets import Collection, DataSet, Query
from kits.memory_files import fact_object, write_graph, write_nugget

from core import Memory
from core.model.note import replace as change_note
from core.model.note import to_file_dict
from core.model.snapshot import Snapshot
from core.settings import SearchSettings
from core.user_folders import CACHE_VARIABLE

# How many stores are drawn of a size, and how many questions of either sort each is asked at most.
STORES: Mapping[int, int] = {30: 12, 100: 6, 300: 3}
QUESTIONS = 25


@dataclass(frozen=True)
class Searched:
    """What a search gave. ids: of the hits, best first. sure: whether the first of them is offered as an answer."""

    ids: Sequence[str]
    sure: bool


@dataclass(frozen=True)
class Recalled:
    """What a recall gave. note_id: of the note that answers, None where nothing was claimed. offered: ids of notes that
    it names instead of an answer, when it is not sure.
    """

    note_id: str | None
    offered: Sequence[str]


class Asked:
    """A memory that is open, its notes read."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        memory.search.index()

    def search(self, text: str, limit: int, settings: SearchSettings | None = None) -> Searched:
        """The hits for a text as it is typed into the search box."""
        hits = self._memory.search(text, limit, settings=settings)
        return Searched([hit.note.id for hit in hits], bool(hits) and bool(getattr(hits[0], "sure", True)))

    def recall(self, text: str) -> Recalled:
        """The answer for a text as an agent sends it."""
        found = self._memory.recall(text, record=False)
        if found.found:
            return Recalled(found.note_id or f"fact {found.key}", ())
        return Recalled(None, [_id_of(one) for one in getattr(found, "candidates", ())])


def _id_of(candidate: Any) -> str:
    """The id of a note that is offered, whatever it comes in."""
    held = getattr(candidate, "note_id", None) or getattr(candidate, "id", None)
    return str(held or candidate.note.id)


@contextmanager
def asked(snapshot: Snapshot) -> Iterator[Asked]:
    """The notes and facts of a snapshot as a memory of their own, kept as long as the context."""
    before = os.environ.get(CACHE_VARIABLE)
    os.environ[CACHE_VARIABLE] = "off"
    try:
        with tempfile.TemporaryDirectory() as folder:
            _write(Path(folder), snapshot)
            memory = Memory.open(folder)
            try:
                yield Asked(memory)
            finally:
                memory.close()
    finally:
        os.environ.pop(CACHE_VARIABLE)
        if before is not None:
            os.environ[CACHE_VARIABLE] = before


def _write(home: Path, snapshot: Snapshot) -> None:
    write_graph(home, [to_file_dict(note) for note in snapshot.notes])
    held = {(note.nugget_name, note.source_key) for note in snapshot.notes if note.is_fact}
    for nugget in snapshot.nuggets:
        facts = [fact for fact in nugget.facts if (nugget.name, fact.key) in held]
        if facts:
            write_nugget(home, nugget.name, [fact_object(fact.key, fact.value) for fact in facts])


@dataclass(frozen=True)
class Store:
    """A small memory with questions that some note of it answers, and as many of either other sort at most.

    foreign: questions about something else. left_out: questions of the same set whose notes are not here; another note
    may answer them all the same.
    """

    snapshot: Snapshot
    own: tuple[Query, ...]
    foreign: tuple[Query, ...]
    left_out: tuple[Query, ...]


def elsewhere() -> tuple[Query, ...]:
    """Questions of memories about other things than the sets here: a household, a rowing club, the lives of friends;
    and some that mean nothing.
    """
    folder = Path(__file__).parents[2] / "tools" / "judgement"
    texts = [
        text
        for name in ("household", "club", "friends", "players")
        for text, _ in tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))["questions"]
    ]
    return tuple(Query(text, "foreign", "dev", {}) for text in (*texts, *_NONSENSE))


_NONSENSE = (
    "why do purple elephants juggle marmalade", "blorp wizzle frang", "who painted the invisible sandwich",
    "how do I fold a volcano into a teapot", "when did the giraffe resign from the orchestra", "xkqj vbnm plof",
)  # fmt: skip


def stores(data: DataSet, size: int, count: int | None = None) -> list[Store]:
    """Stores of `size` visible notes drawn from a set, always the same ones.

    Each holds what answers some of the set's questions. A question is its own when a note of it answers, and foreign
    when what answers lies elsewhere, or nowhere. Where no collection is larger than `size`, they are stores as they
    are; a single one gives none.
    """
    dice = random.Random(f"{data.name} {size}")
    number = count or STORES[size]
    large = [part for part in data.collections if len(part.snapshot.visible) > size]
    if large:
        drawn = dice.choices(large, k=number)
        return [_store(_drawn(part, size, dice), part, data, dice) for part in drawn]
    several = data.collections if len(data.collections) > 1 else ()
    taken = dice.sample(several, min(len(several), number))
    return [_store(part.snapshot, part, data, dice) for part in taken]


def _drawn(part: Collection, size: int, dice: random.Random) -> Snapshot:
    """A part of a collection: what answers some of its questions, up to half of it, and other notes at random."""
    visible = {note.id: note for note in part.snapshot.visible}
    chosen: dict[str, None] = {}
    for query in dice.sample(part.queries, len(part.queries)):
        wanted = dict.fromkeys(id for id in query.relevant if id in visible)
        if len(chosen | wanted) <= size // 2:
            chosen |= wanted
    others = dice.sample(sorted(visible.keys() - chosen.keys()), size - len(chosen))
    held = {*chosen, *others}
    notes = tuple(
        change_note(note, links=tuple(link for link in note.links if link.to in held))
        for note in part.snapshot.visible
        if note.id in held
    )
    return replace(part.snapshot, notes=notes)


def _store(snapshot: Snapshot, part: Collection, data: DataSet, dice: random.Random) -> Store:
    held = {note.id for note in snapshot.visible}
    own = [
        replace(query, relevant={id: grade for id, grade in query.relevant.items() if id in held})
        for query in part.queries
        if held & query.relevant.keys()
    ]
    # Ids of another collection mean other notes.
    left_out = [query for query in part.queries if not held & query.relevant.keys()]
    left_out += [query for other in data.collections if other is not part for query in other.queries]
    sorts = (own, elsewhere(), left_out)
    return Store(snapshot, *(tuple(dice.sample(some, min(QUESTIONS, len(some)))) for some in sorts))
