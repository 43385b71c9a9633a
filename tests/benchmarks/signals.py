"""What the pipeline's signals are worth: search with all of them, with each switched off, and with none.

    python tests/benchmarks/signals.py [--data FOLDER|FILE.json ...] [--split dev|test|all] [--brief]

The project's own sets, and those named, as in `retrieval.py`. The notes are those of people: the pipeline reads what
they name and which hold a decision, without any model. nDCG@10, recall@10, MRR; in brackets the 95 % interval of the
difference in nDCG to a search without signals. Exits with 1 where all signals together are worse than none for sure.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.retrieval import Run, heading, interval, line, run
from benchmarks.retrieval_memories import Searched
from benchmarks.retrieval_metrics import bootstrap
from benchmarks.retrieval_sets import (
    DataSet,
    languages_set,
    outside_files,
    outside_set,
    own_set,
    unanswered_set,
)

from core.model.snapshot import Snapshot
from core.pipeline.database.connection import Database
from core.pipeline.knowledge.note_linking import NoteLinking
from core.pipeline.recall.source import PipelineSignals
from core.search import SearchIndex
from core.search.signals import SignalSource

# Each set of signals with what settings.toml says then.
VARIANTS = (
    ("all signals", ""),
    ("without entity boost", "[pipeline.graph]\nenabled = false\n"),
    ("without gravity", "[pipeline.dampening]\ngravity_enabled = false\n"),
    ("without hub", "[pipeline.dampening]\nhub_enabled = false\n"),
    ("without resolution", "[pipeline.dampening]\nresolution_enabled = false\n"),
    (
        "entity boost alone",
        "[pipeline.dampening]\ngravity_enabled = false\nhub_enabled = false\nresolution_enabled = false\n",
    ),
)


class Linked:
    """An index over notes, and the pipeline's database of what they name."""

    def __init__(self, snapshot: Snapshot, home: Path) -> None:
        self.index, self._home = SearchIndex(), home
        self.index.update(snapshot)
        began = time.process_time()
        with closing(Database.open(home)) as database:
            linking = NoteLinking(database)
            while linking.link(snapshot):
                pass
        self.seconds = time.process_time() - began

    def search(self, text: str, limit: int) -> Searched:
        """What the index finds."""
        result = self.index.result(text, limit)
        return Searched([hit.note.id for hit in result.hits], result.judgement != "nothing")

    def source(self, settings: str) -> SignalSource:
        """The signals under some settings."""
        (self._home / "settings.toml").write_text(settings)
        return PipelineSignals(self._home)


@contextmanager
def linked(data: DataSet) -> Iterator[list[Linked]]:
    """Each collection of a set, in folders of their own that are removed at the end."""
    with tempfile.TemporaryDirectory() as folder:
        homes = [Path(folder, str(number)) for number in range(len(data.collections))]
        for home in homes:
            home.mkdir()
        yield [Linked(part.snapshot, home) for part, home in zip(data.collections, homes, strict=True)]


def measured(data: DataSet, parts: list[Linked], settings: str | None) -> tuple[Run, float]:
    """The run under some settings, None for no signals; and milliseconds a query."""
    for part in parts:
        part.index.signals = None if settings is None else part.source(settings)
    began = time.process_time()
    found = run(data, [part.search for part in parts])
    return found.answerable(), (time.process_time() - began) / max(len(found.queries), 1) * 1000


def report(data: DataSet, variants: Sequence[tuple[str, str]]) -> bool:
    """Prints the table of one set; whether all signals are not worse than none for sure."""
    with linked(data) as parts:
        notes = sum(len(part.snapshot.notes) for part in data.collections)
        linking = sum(part.seconds for part in parts) / max(notes, 1) * 1000
        print(f"\n## {data.name}: {notes:,} notes, {linking:.2f} ms a note to read what it names")
        heading("", f"{'ms/query':>9}  against no signals")
        plain, took = measured(data, parts, None)
        line("no signals", plain, f"{took:>9.2f}")
        holds = True
        for name, settings in variants:
            found, took = measured(data, parts, settings)
            line(name, found, f"{took:>9.2f}", interval(plain, found))
            if name == "all signals":
                holds = bootstrap(plain.gains, found.gains)[2] >= 0
    return holds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="*", type=Path, default=[])
    parser.add_argument("--split", default="all", choices=("dev", "test", "all"))
    parser.add_argument("--brief", action="store_true", help="all signals and none, nothing between")
    given = parser.parse_args()
    os.environ["XDG_CONFIG_HOME"] = os.devnull
    sets = [own_set(), languages_set(), unanswered_set(), *map(outside_set, outside_files(given.data))]
    held = [report(data.of_split(given.split), VARIANTS[: 1 if given.brief else None]) for data in sets]
    sys.exit(not all(held))


if __name__ == "__main__":
    main()
