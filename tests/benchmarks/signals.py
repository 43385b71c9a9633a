"""What the pipeline's signals are worth: search with all of them, with each switched off, and with none.

    python tests/benchmarks/signals.py [--data FOLDER|FILE.json ...] [--split dev|test|all] [--brief]

The project's own sets, and those named, as in `retrieval.py`. The notes are those of people: the pipeline reads what
they name and which hold a decision, without any model. nDCG@10, recall@10, MRR; in brackets the 95 % interval of the
difference in nDCG to a search without signals. Hints are the questions of a rule, not of a model: they show what hints
may do to a ranking, not what a model's are worth. Exits with 1 where all signals together are worse than none for sure.

Here is no model. The rows of embeddings are those of a stand-in that this file computes: hashed character n-grams,
which know how words are written and nothing of what they mean. They show what embeddings of little use cost, not what
good ones gain. Both they and reranking are off by default.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.retrieval import Run, heading, interval, line, run
from benchmarks.retrieval_memories import Searched
from benchmarks.retrieval_metrics import bootstrap
from benchmarks.retrieval_sets import (
    DataSet,
    languages_set,
    named_knowledge,
    named_set,
    outside_files,
    outside_set,
    own_set,
    unanswered_set,
)

from core.model.note import Note
from core.model.snapshot import Snapshot
from core.pipeline.database.connection import Database
from core.pipeline.database.tables import Tables
from core.pipeline.model_calls import ModelCaller
from core.pipeline.models.provider import AVAILABLE, Availability, Embedded
from core.pipeline.note_linking import NoteLinking
from core.pipeline.recall import PipelineSignals
from core.pipeline.workers.embedding_tracker import EmbeddingTracker
from core.search import SearchIndex
from core.search.signals import SignalSource
from core.settings import load_settings

# Of the rule that stands in for a model's questions.
_HINT_WORDS, _SHORTEST_HINT, _LONGEST_HINT = 8, 11, 299
SIGNALS = ("boost", "graph", "gravity", "hub", "resolution", "hints")


def _settings(*, off: bool = False, **named: bool) -> str:
    """What settings.toml says where some signals alone are on, or off."""
    on = {name: (name in named) is not off for name in SIGNALS}
    graph = on["graph"] or on["resolution"] if not off else on["graph"]
    boost = on["graph"] if not off else on["boost"]
    return (
        f"[pipeline.graph]\nenabled = {_toml(graph)}\n{'' if boost else 'boost_weight = 0.0'}\n"
        "[pipeline.dampening]\n"
        + "".join(f"{name}_enabled = {_toml(on[name])}\n" for name in ("gravity", "hub", "resolution"))
        + f"[pipeline.hints]\nenabled = {_toml(on['hints'])}\n"
    )


def _toml(value: bool) -> str:
    return str(value).lower()


# Each set of signals with what settings.toml says then.
VARIANTS = (
    ("all signals", _settings(off=True)),
    ("without entity boost", _settings(boost=True, off=True)),
    ("without decisions, boost", _settings(graph=True, off=True)),
    ("without gravity", _settings(gravity=True, off=True)),
    ("without hub", _settings(hub=True, off=True)),
    ("without resolution", _settings(resolution=True, off=True)),
    ("without hints", _settings(hints=True, off=True)),
    ("entity boost, decisions alone", _settings(graph=True)),
    ("gravity alone", _settings(gravity=True)),
    ("hub alone", _settings(hub=True)),
    # It counts for what the query names, so with the names and without what they give.
    ("resolution alone", _settings(resolution=True)),
    ("hints alone", _settings(hints=True)),
)

# With embeddings of the stand-in, and with what is made of them.
_EMBEDDING = (
    _settings(off=True)
    + '[pipeline.embedding]\nmodel = "stand-in"\n[pipeline.extraction]\ndaily_call_budget = 1000000\n'
)
_RERANKER = "[pipeline.reranker]\nenabled = true\n"
EMBEDDED = (
    ("embeddings (stand-in)", _EMBEDDING),
    ("embeddings, reranked", _EMBEDDING + _RERANKER),
    ("reranked alone", _EMBEDDING.replace('"stand-in"', '"stand-in"\nweight = 0') + _RERANKER),
)
_DIMENSIONS = 768
_LENGTHS = (3, 4, 5)


class StandIn:
    """Vectors of hashed character n-grams: what is written alike is near."""

    name, model, identity = "stand-in", "stand-in", "stand-in"

    def available(self) -> Availability:
        """Always."""
        return AVAILABLE

    def embed(self, texts: Sequence[str], deadline: float) -> Embedded:
        """At once."""
        return Embedded(tuple(map(self._vector, texts)))

    @staticmethod
    def _vector(text: str) -> array[float]:
        made = array("f", bytes(4 * _DIMENSIONS))
        for word in text.lower().split():
            padded = f" {word} "
            for length in _LENGTHS:
                for start in range(max(1, len(padded) - length + 1)):
                    hashed = zlib.crc32(padded[start : start + length].encode())
                    made[hashed % _DIMENSIONS] += 1.0 if hashed >> 31 else -1.0
        made[0] += 1e-6
        return made


def stand_in_hints(note: Note) -> tuple[str, ...]:
    """Questions that stand in for a model's: made by rule of a note's title and first words, the same at each call."""
    begun = " ".join(note.content.split()[:_HINT_WORDS]).rstrip(".,;:")
    found = (f"What is {note.title.strip()}?", f"What about {begun}?")
    return tuple(dict.fromkeys(hint for hint in found if _SHORTEST_HINT <= len(hint) <= _LONGEST_HINT))


def _put_knowledge(
    writer: Tables, aliases: Mapping[str, Sequence[str]], relations: Mapping[str, str]
) -> None:
    for name, others in aliases.items():
        entity = writer.entities.find_or_make_entity(name, "thing", 1)
        for other in others:
            writer.entities.merge(entity, writer.entities.find_or_make_entity(other, "thing", 1), 1)
    for one, other in relations.items():
        ends = [writer.entities.find_or_make_entity(name, "thing", 1) for name in (one, other)]
        writer.entities.add_relation(ends[0], ends[1], "uses", 1.0, 1)


class Linked:
    """An index over notes, and the pipeline's database of what they name and of hints."""

    def __init__(
        self,
        snapshot: Snapshot,
        home: Path,
        known: tuple[Mapping[str, Sequence[str]], Mapping[str, str]] | None = None,
    ) -> None:
        self.index, self._home = SearchIndex(), home
        self.index.update(snapshot)
        began = time.process_time()
        with closing(Database.open(home)) as database:
            linking = NoteLinking(database)
            while linking.link(snapshot, lambda: snapshot, 0):
                pass
            with database.write(lasting=False) as writer:
                for note in snapshot.visible:
                    writer.hints.put(note.id, stand_in_hints(note))
                if known is not None:
                    _put_knowledge(writer, *known)
        self.seconds = time.process_time() - began
        self._notes = snapshot.by_id
        self._embed(snapshot)

    def _embed(self, snapshot: Snapshot) -> None:
        (self._home / "settings.toml").write_text(_EMBEDDING)
        configuration = load_settings(self._home).pipeline
        with closing(Database.open(self._home)) as database:
            tracker = EmbeddingTracker(database, lambda: time.time_ns() // 1_000_000)
            caller = ModelCaller.of(
                configuration, database, clock=lambda: datetime.now(UTC), embedder=StandIn()
            )
            while tracker.cycle(configuration, caller, snapshot):
                pass

    def search(self, text: str, limit: int) -> Searched:
        """What the index finds."""
        result = self.index.result(text, limit)
        return Searched([hit.note.id for hit in result.hits], result.judgement != "nothing")

    def source(self, settings: str) -> SignalSource:
        """The signals under some settings."""
        (self._home / "settings.toml").write_text(settings)
        return PipelineSignals(self._home, note_of=self._notes.get, embedder=StandIn())


@contextmanager
def linked(data: DataSet) -> Iterator[list[Linked]]:
    """Each collection of a set, in folders of their own that are removed at the end."""
    with tempfile.TemporaryDirectory() as folder:
        homes = [Path(folder, str(number)) for number in range(len(data.collections))]
        for home in homes:
            home.mkdir()
        known = named_knowledge() if data.name == "named" else None
        yield [Linked(part.snapshot, home, known) for part, home in zip(data.collections, homes, strict=True)]


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
                whole, holds = found, bootstrap(plain.gains, found.gains)[2] >= 0
        heading("", f"{'ms/query':>9}  against all signals")
        for name, settings in EMBEDDED:
            found, took = measured(data, parts, settings)
            line(name, found, f"{took:>9.2f}", interval(whole, found))
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
    sets = [
        named_set(),
        own_set(),
        languages_set(),
        unanswered_set(),
        *map(outside_set, outside_files(given.data)),
    ]
    held = [report(data.of_split(given.split), VARIANTS[: 1 if given.brief else None]) for data in sets]
    sys.exit(not all(held))


if __name__ == "__main__":
    main()
