"""Opening, reloading and editing 10,000 notes, beside one plain atomic write of the same bytes in the same run.

Run from the root of the repository: python tests/benchmarks/storage.py [NOTES]
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2]))

from core import Memory
from core.facts.edits import remember
from core.graph.edits import edit_note, hide_note
from core.model.note import Link, Note, normalised_note, to_file_dict
from core.storage.files.atomic import replace_file

NOTES, FACTS, ROUNDS = 10_000, 512, 9
BAR = 3.0
WORDS = (
    "deploy",
    "staging",
    "database",
    "reviews",
    "latency",
    "budget",
    "friday",
    "cluster",
    "release",
    "parser",
)
LONG_AGO = "2026-01-02T03:04:05.678Z"


def milliseconds(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Median time of `work` over a number of rounds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1000)
    return median(times)


def make_note(number: int, count: int) -> Note:
    """One of many notes: some fifty words, two links."""
    text = " ".join(WORDS[(number * 7 + step * step) % len(WORDS)] for step in range(50))
    others = ((number * 13 + 1) % count, (number * 29 + 7) % count)
    note = Note(
        id=f"note-memory-{number:08x}",
        nugget_name="memory",
        title=f"{WORDS[number % len(WORDS)]} decision {number}",
        content=text,
        tags=("memory", "scope:project", "type:note", WORDS[number % len(WORDS)]),
        links=tuple(Link(to=f"note-memory-{n:08x}", reason="related", created_at=LONG_AGO) for n in others),
        created_at=LONG_AGO,
        updated_at=LONG_AGO,
        last_accessed_at=LONG_AGO,
        subject="shared:project",
        scope="project",
        type="note",
        source="explicit_user",
        confidence=0.9,
        stability="durable",
    )
    return normalised_note(note, lambda _: True)


def make_folder(home: Path, count: int) -> None:
    """Writes a memory of `count` notes and one nugget of 512 facts."""
    (home / "graph").mkdir(parents=True)
    notes = [to_file_dict(make_note(number, count)) for number in range(count)]
    graph = json.dumps({"version": 3, "notes": notes}, indent=2) + "\n"
    (home / "graph" / "graph.json").write_text(graph)
    facts = [
        {"key": f"key {n}", "value": f"value {n}", "hits": 0, "last_hit_session": ""} for n in range(FACTS)
    ]
    (home / "memory.nugget.json").write_text(json.dumps({"version": 4, "name": "memory", "facts": facts}))


def plain_write(path: Path, data: bytes) -> None:
    """The least that a durable write of a whole file can be: temporary file, fsync, replace."""
    temporary = path.with_suffix(".tmp")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def outside_write(path: Path, turn: int) -> None:
    """Another program changes one note and replaces the file."""
    data = path.read_bytes()
    marker = b'"title": "'
    place = data.index(marker, len(data) // 2) + len(marker)
    temporary = path.with_suffix(".tmp")
    temporary.write_bytes(data[:place] + b"%d" % (turn % 10) + data[place:])
    os.replace(temporary, path)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else NOTES
    with tempfile.TemporaryDirectory() as name:
        home = Path(name) / "memory"
        make_folder(home, count)
        graph = home / "graph" / "graph.json"
        data = graph.read_bytes()
        turns = itertools.count()

        opened = milliseconds(lambda: Memory.open(home))
        parsed = milliseconds(lambda: json.loads(data))
        memory = Memory.open(home)
        idle = milliseconds(memory.refresh)
        reloads = []
        for turn in range(ROUNDS):
            outside_write(graph, turn)
            reloads.append(milliseconds(memory.refresh, 1))
        middle = f"note-memory-{count // 2:08x}"

        def edit() -> None:
            memory.change("edit", lambda draft: edit_note(draft, middle, content=f"turn {next(turns)}"))

        edited, plain, synced = [], [], []
        for _ in range(ROUNDS):
            edited.append(milliseconds(edit, 1))
            data = graph.read_bytes()
            plain.append(milliseconds(lambda data=data: plain_write(home / "plain.json", data), 1))
            synced.append(milliseconds(lambda data=data: replace_file(home / "synced.json", data), 1))
        kept = milliseconds(
            lambda: memory.change("fact", lambda d: remember(d, "memory", f"new {next(turns)}", "v"))
        )
        ids = [note.id for note in memory.snapshot.notes[:500]]
        many = milliseconds(
            lambda: memory.change("hide", lambda draft: [hide_note(draft, id) for id in ids]), 1
        )

        ratio, own = median(edited) / median(plain), median(edited) / median(synced)
        print(f"{count:,} notes, graph.json {len(data) / 1e6:.1f} MB; milliseconds, median of {ROUNDS}")
        print(
            f"open                                  {opened:8.1f}   (json.loads of the same bytes: {parsed:.1f})"
        )
        print(f"look for changes, none                {idle:8.2f}")
        print(f"reload after one note changed outside {median(reloads):8.1f}")
        print(f"one edit, from the call to the disk   {median(edited):8.1f}")
        print(f"  plain atomic write with fsync       {median(plain):8.1f}   ratio {ratio:.2f} (bar {BAR:g})")
        print(f"  and with fsync of the folder        {median(synced):8.1f}   ratio {own:.2f}")
        print(f"remember a fact (both files)          {kept:8.1f}")
        print(f"hide 500 notes in one change set      {many:8.1f}")
        if ratio > BAR:
            sys.exit("an edit takes too long beside a plain write")


if __name__ == "__main__":
    main()
