"""How work grows with the memory: processor time at one size and at four times the size, and the power between.

Around 1 is linear, 2 is quadratic. Small sizes say little, since what each call costs in any case is among them.
Run from the root of the repository: python tests/benchmarks/growth.py [SIZE] [WORD OF A NAME ...]
"""

from __future__ import annotations

import itertools
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from kits.memory_files import fact_object, note_object, write_graph, write_nugget

from core import Memory
from core.facts.edits import clear, forget, remember
from core.graph.edits import delete_note, hide_note, link_notes, unhide_note
from core.graph.merging import merge_notes

Work = Callable[[], object]
TIMES = 4
SIZE = 4_000


def opened(home: Path) -> Memory:
    """The memory, with a clock and ids that are the same at each run."""
    numbers = itertools.count(1)
    return Memory.open(
        home, clock=lambda: datetime(2026, 11, 1, tzinfo=UTC), ids=lambda: f"{next(numbers):08x}"
    )


def note_id(number: int) -> str:
    return f"note-memory-{number:08x}"


def with_notes(home: Path, count: int) -> Memory:
    write_graph(home, (note_object(number) for number in range(count)))
    return opened(home)


def with_facts(home: Path, count: int) -> Memory:
    memory = opened(home)

    def all_of_them(draft) -> None:
        for number in range(count):
            remember(draft, "memory", f"user:key {number}", f"value {number}")

    memory.change("remembered", all_of_them)
    return memory


def same_key(home: Path, count: int) -> Memory:
    write_nugget(home, "memory", (fact_object("user:key", f"value {n}") for n in range(count)))
    write_graph(home, ())
    return opened(home)


def each(memory: Memory, edit: Callable[..., object], ids: list[str]) -> None:
    def all_of_them(draft) -> None:
        for id in ids:
            edit(draft, id)

    memory.change("each", all_of_them)


def at_the_start(memory: Memory) -> object:
    timeline = memory.history.timeline()
    return timeline.at(len(timeline.marks))


def fact_ids(memory: Memory) -> list[str]:
    return [note.id for note in memory.snapshot.notes]


# One function a case: prepares what it needs for a size and yields each piece of work with its name.


def notes(home: Path, count: int) -> Iterator[tuple[str, Work]]:
    memory = with_notes(home, count)
    ids = [note_id(number) for number in range(count)]
    yield "verify", memory.maintenance.verify
    yield "hide", lambda: each(memory, hide_note, ids)
    yield "undo hide", memory.history.undo
    yield "redo hide", memory.history.redo
    yield "bring back", lambda: each(memory, unhide_note, ids)
    yield "delete", lambda: each(memory, delete_note, ids)
    yield "undo delete", memory.history.undo
    yield "open", lambda: opened(home)
    yield "search", lambda: memory.search("content title 17")
    yield "reflect", lambda: memory.reflect(dry_run=True)
    yield "at the start", lambda: at_the_start(memory)


def merged(home: Path, count: int) -> Iterator[tuple[str, Work]]:
    memory = with_notes(home, count)
    yield (
        "into one",
        lambda: memory.change(
            "m", lambda draft: [merge_notes(draft, note_id(0), note_id(n)) for n in range(1, count // 10)]
        ),
    )
    yield "undo into one", memory.history.undo
    yield (
        "pairs",
        lambda: memory.change(
            "m", lambda draft: [merge_notes(draft, note_id(n), note_id(n + 1)) for n in range(0, count, 2)]
        ),
    )
    yield "undo pairs", memory.history.undo


def linked(home: Path, count: int) -> Iterator[tuple[str, Work]]:
    memory = with_notes(home, count)
    yield (
        "chain",
        lambda: memory.change(
            "l", lambda draft: [link_notes(draft, note_id(n), note_id(n + 1)) for n in range(count - 1)]
        ),
    )
    yield "undo chain", memory.history.undo


def hub(home: Path, count: int) -> Iterator[tuple[str, Work]]:
    def link(target: int) -> dict[str, str]:
        return {"to": note_id(target), "reason": "related", "createdAt": "2026-01-02T03:04:05.678Z"}

    made = [note_object(n, links=[link(0)]) for n in range(1, count)]
    write_graph(home, [note_object(0, links=[link(n) for n in range(1, count)]), *made])
    memory = opened(home)
    yield "verify", memory.maintenance.verify
    yield (
        "link one more",
        lambda: memory.change("l", lambda draft: link_notes(draft, note_id(0), note_id(1), "x")),
    )
    yield "undo it", memory.history.undo
    yield "delete hub", lambda: each(memory, delete_note, [note_id(0)])
    yield "undo delete hub", memory.history.undo
    yield "merge hub", lambda: memory.change("m", lambda draft: merge_notes(draft, note_id(1), note_id(0)))
    yield "undo merge hub", memory.history.undo
    yield "repair", memory.maintenance.repair


def one_way(home: Path, count: int) -> Iterator[tuple[str, Work]]:
    link = {"to": note_id(0), "reason": "related", "createdAt": "2026-01-02T03:04:05.678Z"}
    write_graph(home, [note_object(0), *(note_object(n, links=[link]) for n in range(1, count))])
    memory = opened(home)
    yield "repair", memory.maintenance.repair
    yield "undo repair", memory.history.undo


def tags(home: Path, count: int) -> Iterator[tuple[str, Work]]:
    write_graph(home, [note_object(0, tags=[f"Tag {n}" for n in range(count * 4)]), note_object(1)])
    memory = opened(home)
    yield "verify", memory.maintenance.verify
    yield "repair", memory.maintenance.repair
    yield "undo repair", memory.history.undo
    yield "search", lambda: memory.search("content title 17")
    yield "reflect", lambda: memory.reflect(dry_run=True)


def facts(home: Path, count: int) -> Iterator[tuple[str, Work]]:
    memory = opened(home)
    yield "remember", lambda: with_facts(home, count)
    memory = opened(home)
    yield "undo remember", lambda: memory.history.undo(memory.history.log()[0].id)
    yield "redo remember", memory.history.redo
    yield "clear", lambda: memory.change("cleared", lambda draft: clear(draft, "memory"))
    yield "undo clear", memory.history.undo
    yield (
        "forget backwards",
        lambda: memory.change(
            "f", lambda draft: [forget(draft, "memory", f"user:key {n}") for n in reversed(range(count))]
        ),
    )
    yield "undo forget", memory.history.undo
    yield "hide", lambda: each(memory, hide_note, fact_ids(memory))
    yield "bring back", lambda: each(memory, unhide_note, fact_ids(memory)[::-1])
    yield "verify", memory.maintenance.verify


def one_key(home: Path, count: int) -> Iterator[tuple[str, Work]]:
    memory = same_key(home, count)
    yield "open", lambda: opened(home)
    yield "verify", memory.maintenance.verify
    yield "repair", memory.maintenance.repair
    yield "undo repair", memory.history.undo
    yield "redo repair", memory.history.redo
    yield "undo repair again", memory.history.undo
    yield "clear", lambda: memory.change("c", lambda draft: clear(draft, "memory"))
    yield "undo clear", memory.history.undo
    yield "forget", lambda: memory.change("c", lambda draft: forget(draft, "memory", "user:key"))
    yield "at", lambda: at_the_start(memory)


def one_id(home: Path, count: int) -> Iterator[tuple[str, Work]]:
    write_graph(home, (note_object(0, content=f"Content {n}") for n in range(count)))
    memory = opened(home)
    yield "verify", memory.maintenance.verify
    yield "repair", memory.maintenance.repair
    yield "undo repair", memory.history.undo
    yield "redo repair", memory.history.redo


def copies(home: Path, count: int) -> Iterator[tuple[str, Work]]:
    write_graph(home, (note_object(0, hits=n) for n in range(count)))
    memory = opened(home)
    yield "verify", memory.maintenance.verify
    yield "repair", memory.maintenance.repair
    yield "undo repair", memory.history.undo


def nuggets(home: Path, count: int) -> Iterator[tuple[str, Work]]:
    count //= 4
    for number in range(count):
        write_nugget(home, f"n{number}", [fact_object("user:key", "value")])
    write_graph(home, ())
    yield "open", lambda: opened(home)
    memory = opened(home)
    yield "verify", memory.maintenance.verify
    yield "remember", lambda: memory.change("r", lambda draft: remember(draft, "n1", "user:other", "value"))
    yield "repair", memory.maintenance.repair
    yield "undo repair", memory.history.undo
    yield "recall", lambda: memory.recall("user:key")
    yield "refresh", lambda: [memory.refresh() for _ in range(10)]


def outside(home: Path, count: int) -> Iterator[tuple[str, Work]]:
    memory = with_facts(home, 1)
    shared = memory.snapshot.notes
    memory.close()
    yield (
        "all facts new",
        lambda: (
            write_nugget(home, "memory", (fact_object(f"user:k {n}", f"v {n}") for n in range(count))),
            memory.refresh(),
        ),
    )
    yield (
        "all of one key",
        lambda: (
            write_nugget(home, "memory", (fact_object("user:k", f"v {n}") for n in range(count))),
            memory.refresh(),
        ),
    )
    yield "all facts gone", lambda: (write_nugget(home, "memory", ()), memory.refresh())
    yield "notes new", lambda: (write_graph(home, (note_object(n) for n in range(count))), memory.refresh())
    yield (
        "notes of one id",
        lambda: (
            write_graph(home, (note_object(1, content=f"C {n}") for n in range(count))),
            memory.refresh(),
        ),
    )
    yield (
        "notes reversed",
        lambda: (write_graph(home, (note_object(n) for n in reversed(range(count)))), memory.refresh()),
    )
    yield "notes gone", lambda: (write_graph(home, ()), memory.refresh())
    assert shared


def entries(home: Path, count: int) -> Iterator[tuple[str, Work]]:
    count //= 8
    memory = with_facts(home, 1)
    yield (
        "one key again and again",
        lambda: [
            memory.change("r", lambda draft, n=n: remember(draft, "memory", "user:key 0", f"v {n}"))
            for n in range(count)
        ],
    )
    id = memory.snapshot.notes[0].id
    yield "log", lambda: memory.history.log(limit=50)
    yield "log of note", lambda: memory.history.log(note=id, limit=50)
    yield "makers", lambda: memory.history.makers(id)
    yield "timeline", lambda: at_the_start(memory)
    yield "open", lambda: opened(home)
    yield "undo all but the first", lambda: [memory.history.undo() for _ in range(count - 1)]


CASES = (notes, merged, linked, hub, one_way, tags, facts, one_key, one_id, copies, nuggets, outside, entries)


def measured(case: Callable[[Path, int], Iterator[tuple[str, Work]]], count: int) -> dict[str, float]:
    """Processor seconds of each piece of work of a case."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, work in case(Path(folder), count):
            start = time.process_time()
            work()
            found[name] = time.process_time() - start
    return found


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else SIZE
    words = sys.argv[2:]
    for case in CASES:
        if words and case.__name__ not in words:
            continue
        small, large = measured(case, size), measured(case, size * TIMES)
        for name, seconds in large.items():
            power = math.log(max(seconds, 1e-3) / max(small[name], 1e-3), TIMES)
            mark = "  <--" if power > 1.4 and seconds > 0.3 else ""
            print(
                f"{case.__name__:10} {name:24} {small[name]:8.3f} s  {seconds:8.3f} s  power {power:4.1f}{mark}",
                flush=True,
            )


if __name__ == "__main__":
    main()
