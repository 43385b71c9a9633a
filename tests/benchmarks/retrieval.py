"""How well search finds and recall answers, beside BM25 and SQLite FTS5: by kind, by form, in small memories, in parts.

    python tests/benchmarks/retrieval.py [--data FOLDER|FILE.json ...] [--split dev|test|all] [--only TABLE ...]
                                         [--ablation] [--typos]

Without --data the project's own sets are measured: queries over the demo memory, a memory in several languages, and
questions of which half are answered by no note, over the demo memory and three small ones. With it, the files named or
in the folder named (their dev queries) are measured as well. Every question is put to a memory, as a person types it
into the search box (nDCG@10, recall@10, MRR) and as an agent sends it (recall: right, wrong, silent). Questions with
quotes and flags are counted apart. Small memories of 30, 100 and 300 notes are drawn from each set; foreign questions
must find nothing there. Questions whose notes were left out stand apart: another note may answer them by right.
Brackets hold 95 % bootstrap intervals.
Milliseconds are processor time of a query for the ten best, bytes a note what the index takes beside the notes.
Nothing here depends on the network or on the clock but these milliseconds.
"""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.retrieval_answers import Answers, answers_table
from benchmarks.retrieval_baselines import FTS5, bm25
from benchmarks.retrieval_memories import Asked, Searched, Store, asked, stores
from benchmarks.retrieval_metrics import bootstrap, recall, reciprocal_rank, with_slip
from benchmarks.retrieval_sets import (
    DataSet,
    Query,
    languages_set,
    outside_files,
    outside_set,
    own_set,
    unanswered_set,
)
from benchmarks.retrieval_variants import ablations

from core.bench import ndcg
from core.search import SearchIndex
from core.settings import SearchSettings

LIMIT, TIMED_QUERIES = 100, 200
# Kinds that no slip is tried on: they are slips, half words or exact strings themselves.
UNSLIPPED_KINDS = ("typo", "identifier", "prefix", "phrase")
# What is promised of recall. Of fewer questions nothing is promised.
RIGHT_OF_FIRST, WRONG_OF_ANSWERS, FOREIGN_ANSWERED, FEWEST = 0.9, 1 / 3, 0.04, 10
VECTOR_LOSS, TYPO_LOSS, MISSES_EMPTY = 0.02, 0.05, 0.95

TABLES = ("whole", "forms", "small", "recall")
SIZES = (30, 100, 300)

Searcher = Callable[[str, int], Searched]


def plain(search: Callable[[str, int], list[str]]) -> Searcher:
    """The search of a system that offers whatever it finds."""

    def searched(text: str, limit: int) -> Searched:
        found = search(text, limit)
        return Searched(found, bool(found))

    return searched


@dataclass(frozen=True)
class Run:
    """What one system found for the queries of a set, value by value in their order.

    Misses count in `empty` alone: whether a query had no hit that is offered as an answer.
    """

    queries: tuple[Query, ...]
    gains: tuple[float, ...]
    recalls: tuple[float, ...]
    ranks: tuple[float, ...]
    empty: tuple[bool, ...]

    def only(self, kind: str) -> Run:
        """The run over queries of one kind."""
        return self._where(lambda query: query.kind == kind)

    def written(self, form: str) -> Run:
        """The run over queries of one form that something answers."""
        return self._where(lambda query: form in query.forms and not query.is_miss)

    def answerable(self) -> Run:
        """The run over queries that something answers."""
        return self._where(lambda query: not query.is_miss)

    def _where(self, wanted: Callable[[Query], bool]) -> Run:
        at = [place for place, query in enumerate(self.queries) if wanted(query)]
        return Run(*(tuple(column[place] for place in at) for column in self._columns()))

    def _columns(self) -> tuple[tuple[Any, ...], ...]:
        return (self.queries, self.gains, self.recalls, self.ranks, self.empty)

    @property
    def quality(self) -> tuple[float, float, float]:
        """Means of nDCG@10, recall@10 and MRR over queries that something answers."""
        return (fmean(self.gains), fmean(self.recalls), fmean(self.ranks)) if self.queries else (0, 0, 0)


def run(data: DataSet, searchers: Sequence[Searcher], change: Callable[[str], str] = str) -> Run:
    """Asks every query of its collection's searcher, the text changed before."""
    rows = [
        row
        for part, search in zip(data.collections, searchers, strict=True)
        for row in rows_of(part.queries, search, change)
    ]
    return Run(*zip(*rows, strict=True)) if rows else Run((), (), (), (), ())


def rows_of(
    queries: Sequence[Query], search: Searcher, change: Callable[[str], str] = str
) -> list[tuple[Query, float, float, float, bool]]:
    """What one searcher found for some queries, in the columns of `Run`."""
    rows = []
    for query in queries:
        found = search(change(query.text), LIMIT)
        right = query.relevant
        if query.is_miss:
            rows.append((query, 0.0, 0.0, 0.0, not found.sure))
        else:
            values = (measure(found.ids, right) for measure in (ndcg, recall, reciprocal_rank))
            rows.append((query, *values, not found.sure))
    return rows


def milliseconds(data: DataSet, searchers: Sequence[Searcher]) -> float:
    """Processor time of a query for the ten best, mean over at most TIMED_QUERIES."""
    asked = [(q.text, s) for p, s in zip(data.collections, searchers, strict=True) for q in p.queries]
    asked = asked[:: -(-len(asked) // TIMED_QUERIES)]
    start = time.process_time()
    for text, search in asked:
        search(text, 10)
    return (time.process_time() - start) / len(asked) * 1000


def bytes_a_note(data: DataSet) -> float:
    """Bytes a note that the index of the first collection takes, its notes aside."""
    snapshot = data.collections[0].snapshot
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        index = SearchIndex()
        index.update(snapshot)
        index.result("warm up")
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    return taken / max(len(snapshot.notes), 1)


def line(name: str, found: Run, *more: str) -> None:
    """Prints one row: a name, the three means, whatever else."""
    print(f"  {name:<26}" + "".join(f"{value:>9.4f}" for value in found.quality) + "".join(more), flush=True)


def heading(name: str, more: str = "") -> None:
    """Prints the names of the columns."""
    print(f"\n  {name:<26}{'nDCG@10':>9}{'recall@10':>10}{'MRR':>8}{more}")


def interval(before: Run, after: Run) -> str:
    """The mean difference of nDCG with its 95 % interval."""
    return "  {:+.4f} [{:+.4f}, {:+.4f}]".format(*bootstrap(before.gains, after.gains))


class Report:
    """Measures one set and prints what it finds; `bars` gathers what is promised and whether it holds."""

    def __init__(self, data: DataSet, ours: Sequence[Asked]) -> None:
        self.data = data
        self.bars: list[tuple[str, bool]] = []
        self.ours = ours
        visible = [part.snapshot.visible for part in data.collections]
        self.bm25 = [plain(bm25(notes).search) for notes in visible]
        self.fts5 = [plain(FTS5(notes).search) for notes in visible]
        self.full = run(data, self.searchers(SearchSettings()))
        self.words = run(data, self.bm25)

    def searchers(self, settings: SearchSettings) -> list[Searcher]:
        """Our search of each collection under some settings."""
        return [
            lambda text, limit, ours=ours: ours.search(text, limit, settings)  # type: ignore[misc]
            for ours in self.ours
        ]

    def systems(self) -> None:
        """Ours beside the two baselines: quality, time, memory; then by kind, and the misses."""
        heading("", f"{'empty':>9}{'ms/query':>10}{'bytes/note':>12}")
        answered = self.full.answerable()
        plain, other = self.words.answerable(), run(self.data, self.fts5)
        for name, found, searchers in (
            ("search", answered, self.searchers(SearchSettings())),
            ("BM25", plain, self.bm25),
            ("FTS5", other.answerable(), self.fts5),
        ):
            took = milliseconds(self.data, searchers)
            line(
                name,
                found,
                f"{fmean(found.empty):>9.1%}{took:>10.3f}",
                f"{bytes_a_note(self.data):>12,.0f}" if name == "search" else "",
            )
        print(f"  search - BM25, nDCG@10:{interval(plain, answered)}")
        self.bar("hybrid not below BM25", answered.quality[0] - plain.quality[0], 0.0)
        kinds = list(dict.fromkeys(query.kind for query in self.full.queries))
        if len(kinds) > 1:
            self._kinds(kinds, other)

    def _kinds(self, kinds: Sequence[str], other: Run) -> None:
        heading("search, by kind", f"{'empty':>9}{'queries':>9}{'BM25 nDCG':>11}{'FTS5 nDCG':>11}")
        for kind in kinds:
            found = self.full.only(kind)
            if not found.queries[0].is_miss:
                beside = f"{self.words.only(kind).quality[0]:>11.4f}{other.only(kind).quality[0]:>11.4f}"
                line(kind, found, f"{fmean(found.empty):>9.1%}{len(found.queries):>9}", beside)
        for kind in kinds:
            found = self.full.only(kind)
            if found.queries[0].is_miss:
                shares = [fmean(one.only(kind).empty) for one in (self.full, self.words, other)]
                if kind == "miss":
                    self.bar("misses find nothing", shares[0], MISSES_EMPTY)
                print(
                    f"  {kind:<26}answered by nothing: {shares[0]:.1%} of {len(found.queries)}"
                    f" (BM25 {shares[1]:.1%}, FTS5 {shares[2]:.1%})"
                )

    def forms(self) -> None:
        """Questions in plain words, and such with quotes and flags, as they are typed into the search box."""
        full, words = self.full.answerable(), self.words.answerable()
        forms = list(dict.fromkeys(form for query in full.queries for form in query.forms))
        if len(forms) < 2:
            return
        heading("search, by form", f"{'empty':>9}{'queries':>9}{'BM25 nDCG':>11}  against BM25")
        for form in sorted(forms, key=("plain words", "quotes", "flags").index):
            found, beside = full.written(form), words.written(form)
            counts = f"{fmean(found.empty):>9.1%}{len(found.queries):>9}{beside.quality[0]:>11.4f}"
            line(f"with {form}", found, counts, interval(beside, found))
            if form != "plain words" and len(found.queries) >= FEWEST:
                self.bar(f"{form} not below BM25", found.quality[0] - beside.quality[0], 0.0)

    def recall(self) -> None:
        """What recall answers in the whole memories; foreign are questions that nothing answers."""
        answers = Answers()
        for part, ours in zip(self.data.collections, self.ours, strict=True):
            own = [query for query in part.queries if not query.is_miss]
            answers.ask(ours, bm25(part.snapshot.visible).search, own, [q for q in part.queries if q.is_miss])
        answers_table("recall", [("whole", answers)])
        if len(answers.first) >= FEWEST:
            self.answer_bars("", answers)

    def small(self, with_recall: bool) -> None:
        """Search beside BM25, and recall, in small memories drawn from the set."""
        rows: list[tuple[str, Answers]] = []
        heading("small memories", f"{'queries':>10}{'BM25 nDCG':>11}  against BM25")
        for size in SIZES:
            drawn = stores(self.data, size)
            if not drawn:
                break
            found, beside, answers = self._small(drawn, with_recall)
            largest = max(len(store.snapshot.visible) for store in drawn)
            name = f"{len(drawn)} of {largest} notes"
            line(name, found, f"{len(found.queries):>10}{beside.quality[0]:>11.4f}", interval(beside, found))
            self.bar(f"{name}: not below BM25", found.quality[0] - beside.quality[0], 0.0)
            rows.append((name, answers))
            if largest < size:
                break
        if with_recall:
            answers_table("recall in small memories", rows)
            for name, answers in rows:
                self.answer_bars(f"{name}: ", answers)

    def _small(self, drawn: Sequence[Store], with_recall: bool) -> tuple[Run, Run, Answers]:
        ours_rows, words_rows, answers = [], [], Answers()
        for store in drawn:
            words = bm25(store.snapshot.visible)
            with asked(store.snapshot) as ours:
                ours_rows += rows_of(store.own, ours.search)
                words_rows += rows_of(store.own, plain(words.search))
                if with_recall:
                    answers.ask(ours, words.search, store.own, store.foreign, store.left_out)
        return Run(*zip(*ours_rows, strict=True)), Run(*zip(*words_rows, strict=True)), answers

    def answer_bars(self, name: str, answers: Answers) -> None:
        """What is promised of recall."""
        right = fmean(answers.right) / max(fmean(answers.first), 1e-9)
        self.bar(f"{name}right of search's first", right, RIGHT_OF_FIRST)
        given = sum(answers.right) + sum(answers.wrong)
        self.bar(f"{name}wrong of all answers", -sum(answers.wrong) / max(given, 1), -WRONG_OF_ANSWERS)
        if answers.foreign:
            self.bar(f"{name}foreign answered", -fmean(answers.foreign), -FOREIGN_ANSWERED)

    def ablation(self) -> None:
        """Each part switched off, and each of the two legs alone."""
        full, plain = self.full.answerable(), self.words.answerable()
        heading("ablation", "  against all parts")
        line("all parts", full)
        for name, settings in ablations():
            part = run(self.data, self.searchers(settings)).answerable()
            line(name, part, interval(full, part))
            if name == "vector leg alone":
                self.bar("vector leg alone near BM25", part.quality[0] - plain.quality[0], -VECTOR_LOSS)

    def typos(self) -> None:
        """What one slip in the longest word of each query costs."""
        asked = [
            place
            for place, query in enumerate(self.full.queries)
            if not query.is_miss and query.kind not in UNSLIPPED_KINDS
        ]
        rows = [
            ("search", self.searchers(SearchSettings())),
            ("BM25", self.bm25),
        ]
        print(f"\n  {'one slip':<26}{'before':>9}{'after':>9}{'cost':>9}   ({len(asked)} queries)")
        for name, searchers in rows:
            before, after = run(self.data, searchers), run(self.data, searchers, with_slip)
            sound, slipped = (fmean(found.gains[place] for place in asked) for found in (before, after))
            print(f"  {name:<26}{sound:>9.4f}{slipped:>9.4f}{sound - slipped:>9.4f}", flush=True)
            if name == "search":
                self.bar("one slip costs little", slipped - sound, -TYPO_LOSS)

    def bar(self, promise: str, value: float, least: float) -> None:
        """Notes a promise: a value and the least it may be."""
        self.bars.append((f"{promise:<42}{value:+.4f}, at least {least:+.3f}", value >= least))


def measure(data: DataSet, tables: Sequence[str], ablation: bool, typos: bool) -> list[tuple[str, bool]]:
    """Prints everything asked for about one set; its bars, with whether they hold."""
    notes = sum(len(part.snapshot.notes) for part in data.collections)
    queries = sum(len(part.queries) for part in data.collections)
    print(f"\n## {data.name}: {notes:,} notes, {queries:,} queries, {len(data.collections)} collection(s)")
    with ExitStack() as opened:
        ours = [opened.enter_context(asked(part.snapshot)) for part in data.collections]
        report = Report(data, ours)
        if "whole" in tables:
            report.systems()
        if "forms" in tables:
            report.forms()
        if "recall" in tables:
            report.recall()
        if "small" in tables:
            report.small("recall" in tables)
        if ablation:
            report.ablation()
        if typos:
            report.typos()
    return [(f"{data.name:<10}{promise}", held) for promise, held in report.bars]


def main() -> None:
    """Reads the command line, measures, and prints the bars last."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", nargs="+", type=Path, default=[], help="folders or files of outside data")
    parser.add_argument("--split", choices=("dev", "test", "all"), help="default: all of ours, dev of others")
    parser.add_argument("--only", nargs="+", choices=TABLES, default=TABLES, help="these tables alone")
    parser.add_argument("--ablation", action="store_true", help="each part switched off, each leg alone")
    parser.add_argument("--typos", action="store_true", help="one slip in the longest word of each query")
    given = parser.parse_args()
    sets = [one.of_split(given.split or "all") for one in (own_set(), languages_set(), unanswered_set())]
    sets += [outside_set(path).of_split(given.split or "dev") for path in outside_files(given.data)]
    bars = [
        bar
        for data in sets
        if data.collections
        for bar in measure(data, given.only, given.ablation, given.typos)
    ]
    print("\n## bars")
    for promise, held in bars:
        print(f"  {promise:<80}{'holds' if held else 'MISSED'}")


if __name__ == "__main__":
    main()
