"""Importing 10,000 notes and exporting them again, beside one plain atomic write of the same bytes in the same run.

Run from the root of the repository: python tests/benchmarks/exchange.py [NOTES]
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.storage import WORDS, make_note

from core import Memory
from core.model.note import to_file_dict
from core.storage.files.atomic import replace_file

NOTES, BAR_SECONDS = 10_000, 10.0


def sentence(number: int, length: int) -> str:
    """Words that no two numbers share in this order."""
    return f"{number} " + " ".join(WORDS[(number * 7 + step * step) % len(WORDS)] for step in range(length))


def write_entities(path: Path, count: int) -> None:
    """A memory of the MCP reference server: three observations for each entity, a relation for each second one."""
    lines: list[dict[str, object]] = [
        {
            "type": "entity",
            "name": f"Entity {number}",
            "entityType": "service",
            "observations": [sentence(number * 3 + part, 14) for part in range(3)],
        }
        for number in range(count)
    ]
    lines += (
        {
            "type": "relation",
            "from": f"Entity {one}",
            "to": f"Entity {one * 13 % count}",
            "relationType": "uses",
        }
        for one in range(0, count, 2)
    )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def write_vault(folder: Path, count: int) -> None:
    """A vault as somebody keeps it in Obsidian: front matter, some fifty words, two links a page."""
    folder.mkdir()
    for number in range(count):
        links = f"See [[Page {number * 13 % count}]] and [[Page {number * 29 % count}]]."
        head = f"---\ntags: [notes, ops]\ncreated: 2026-01-02\n---\n# Page {number}"
        text = f"{head}\n\n{sentence(number, 50)}\n\n{links}\n"
        (folder / f"Page {number}.md").write_text(text, encoding="utf-8")


class Took(NamedTuple):
    """Seconds by the clock, and of the processor: others may be at work on the machine."""

    clock: float
    processor: float


def seconds(work: Callable[[], object]) -> Took:
    """How long something takes, once: an import is done once."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return Took(time.perf_counter() - clock, time.process_time() - processor)


def bring(memory: Memory, source: Path, steps: list[int] | None = None) -> int:
    """Reads and imports one source, as the command does; how many notes. steps: takes the counts that were told."""

    def progress(done: int, of: int) -> None:
        if steps is not None:
            steps.append(done)

    result = memory.exchange.bring(memory.exchange.read(source, progress=progress), progress=progress)
    return len(result.of("new"))


def imported(place: Path, name: str, source: Path, count: int) -> dict[str, Took]:
    """An import into an empty memory, and the same once more, which finds nothing new."""
    memory, steps, new = Memory.open(place / name), list[int](), list[int]()
    first = seconds(lambda: new.append(bring(memory, source, steps)))
    again = seconds(lambda: new.append(bring(memory, source)))
    assert new == [count, 0], new
    assert len(steps) > 10, "no progress was told"
    return {f"import {name}": first, f"import {name}, again": again}


def main() -> None:
    """Prints a line for each way in and out."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else NOTES
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write_entities(place / "memory.jsonl", count)
        write_vault(place / "vault", count)
        first = Memory.open(place / "first")
        graph = {"version": 3, "notes": [to_file_dict(make_note(number, count)) for number in range(count)]}
        data = json.dumps(graph).encode()
        (place / "graph.json").write_bytes(data)
        bring(first, place / "graph.json")
        plain = seconds(lambda: replace_file(place / "plain", data)).clock
        print(
            f"{count:,} notes; one plain write of their {len(data) / 1e6:.1f} MB takes {plain * 1000:.0f} ms"
        )
        found = {
            "export as JSON": seconds(lambda: first.exchange.export("json", place / "whole.json")),
            "export as Markdown": seconds(lambda: first.exchange.export("markdown", place / "ours")),
        }
        for name, source in (
            ("JSON", place / "whole.json"),
            ("a Markdown export", place / "ours"),
            ("an Obsidian vault", place / "vault"),
            ("an MCP memory", place / "memory.jsonl"),
        ):
            found |= imported(place, name, source, count)
    for name, took in found.items():
        ratio = took.clock / plain
        print(
            f"  {name:32} {took.clock:6.2f} s ({took.processor:.2f} s of the processor), {ratio:.0f} plain writes"
        )
    worst = max(took.clock for took in found.values())
    print(f"worst {worst:.2f} s, bar {BAR_SECONDS:.0f} s: {'holds' if worst < BAR_SECONDS else 'missed'}")


if __name__ == "__main__":
    main()
