"""The `bench` command: recall and search measured on questions with known answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nuggets_tui.cli.invocation import Invocation, bad_input
from nuggets_tui.cli.options import arg, command
from nuggets_tui.cli.output import LONGEST, Line, Span, bold, dim, shorten, table
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.bench import BenchResult, Share

_QUESTIONS = "questions.toml"


@command(
    "bench",
    arg("paths", click.Path(path_type=Path), nargs=-1, metavar="[FILE|FOLDER]..."),
    examples=("nuggets bench", "nuggets bench my-questions.toml", "nuggets bench ~/sets --json"),
)
def bench(call: Invocation, paths: tuple[Path, ...]) -> None:
    """Measure recall and search on questions with known answers, with BM25 beside them.

    A .toml file holds your own questions and is put to this memory (without a path: questions.toml of its folder). A
    .json file is a prepared set and needs no memory; of a folder all .json files and questions.toml are measured.
    Nothing is counted, and nothing is written. Brackets hold 95 % intervals.
    """
    from core.bench import run_own, run_set

    files: list[Path] = []
    for path in paths or (call.folder / _QUESTIONS,):
        inside = [*sorted(path.glob("*.json")), *sorted(path.glob(_QUESTIONS))] if path.is_dir() else [path]
        if not all(one.is_file() for one in inside) or not inside:
            raise bad_input("no questions found", str(path), "", "docs/performance.md says how to write some")
        files += inside
    results = [run_own(call.memory_as_it_is, one) if one.suffix == ".toml" else run_set(one) for one in files]
    call.answer([_document(one) for one in results], _lines(results))


def _lines(results: list[BenchResult]) -> Iterator[Line]:
    rows: list[tuple[str | Span, ...]] = [("", bold("ours"), dim("BM25"))]
    for one in results:
        size = f"{plural(len(one.answers), 'question')}, {plural(one.notes, 'note')}"
        rows += [
            (bold(shorten(one.name, LONGEST)), size, ""),
            (
                "  nDCG@10 of search",
                *(f"{mean.value:.3f} [{mean.low:.3f}, {mean.high:.3f}]" for mean in one.ndcg),
            ),
            ("  answered right; first hit right", _share(one.right), _share(one.plain_right)),
            ("  right one offered, not claimed", _share(one.offered), ""),
            ("  claims right", _share(one.claims_right), ""),
            *((f"    of certainty from {low:.2f}", _share(share), "") for low, share in one.reliability()),
            ("  claimed without an answer", _share(one.unanswerable_claimed), ""),
        ]
    yield from table(rows)


def _share(share: Share) -> str:
    if not share.total:
        return "-"
    low, high = share.interval
    return f"{share.number}/{share.total} {share.value:.0%} [{low:.0%}, {high:.0%}]"


def _document(one: BenchResult) -> dict[str, Any]:
    shares = {
        "bm25Right": one.plain_right, "right": one.right, "offered": one.offered, "claimsRight": one.claims_right,
        "unanswerableClaimed": one.unanswerable_claimed,
    }  # fmt: skip
    return {
        "name": one.name, "notes": one.notes, "questions": len(one.answers),
        "ndcg": one.ndcg[0]._asdict(), "bm25Ndcg": one.ndcg[1]._asdict(),
        **{name: _share_document(share) for name, share in shares.items()},
        "reliability": [{"from": low, **_share_document(share)} for low, share in one.reliability()],
    }  # fmt: skip


def _share_document(share: Share) -> dict[str, object]:
    low, high = share.interval
    return {"number": share.number, "total": share.total, "share": share.value, "low": low, "high": high}
