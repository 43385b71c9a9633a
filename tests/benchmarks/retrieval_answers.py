"""What recall answers: how often right, wrong or not at all, beside the first hit of a search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from benchmarks.retrieval_memories import Asked
from benchmarks.retrieval_metrics import share
from benchmarks.retrieval_sets import Query


@dataclass
class Answers:
    """Questions put to recall, 1 or 0 for each in the order in which they were asked.

    first, words: whether the first hit of our search, and of BM25, answers. right, wrong, silent: what recall gave, one
    of the three. offered: whether a silent recall names a note that answers. foreign: of questions that nothing in the
    memory answers, whether recall answers.
    """

    first: list[float] = field(default_factory=list)
    words: list[float] = field(default_factory=list)
    right: list[float] = field(default_factory=list)
    wrong: list[float] = field(default_factory=list)
    silent: list[float] = field(default_factory=list)
    offered: list[float] = field(default_factory=list)
    foreign: list[float] = field(default_factory=list)
    left_out: list[float] = field(default_factory=list)

    def ask(
        self,
        ours: Asked,
        words: Callable[[str, int], Sequence[str]],
        own: Sequence[Query],
        foreign: Sequence[Query],
        left_out: Sequence[Query] = (),
    ) -> None:
        """Puts questions to a memory: its own, and those that nothing in it answers."""
        for query in own:
            found = ours.recall(query.text)
            self.first.append(any(id in query.relevant for id in ours.search(query.text, 1).ids))
            self.words.append(any(id in query.relevant for id in words(query.text, 1)))
            self.right.append(found.note_id in query.relevant)
            self.wrong.append(found.note_id is not None and found.note_id not in query.relevant)
            self.silent.append(found.note_id is None)
            self.offered.append(any(id in query.relevant for id in found.offered))
        self.foreign += [ours.recall(query.text).note_id is not None for query in foreign]
        self.left_out += [ours.recall(query.text).note_id is not None for query in left_out]


def answers_table(title: str, rows: Sequence[tuple[str, Answers]]) -> None:
    """Prints shares of all questions, the right and the foreign ones with their intervals."""
    print(
        f"\n  {title:<26}{'asked':>6}{'first hit':>10}{'BM25':>8}{'right':>24}{'wrong':>8}{'silent':>8}"
        f"{'offered':>9}{'foreign':>9}{'answered':>24}{'left out':>10}"
    )
    for name, found in rows:
        print(
            f"  {name:<26}{len(found.first):>6}{fmean(found.first):>10.1%}{fmean(found.words):>8.1%}"
            f"{_interval(found.right):>24}{fmean(found.wrong):>8.1%}{fmean(found.silent):>8.1%}"
            f"{fmean(found.offered):>9.1%}{len(found.foreign):>9}{_interval(found.foreign):>24}"
            + (f"{fmean(found.left_out):>10.1%}" if found.left_out else ""),
            flush=True,
        )


def _interval(values: Sequence[float]) -> str:
    return "{:.1%} [{:.1%}, {:.1%}]".format(*share(values)) if values else "-"
