"""The search command: one ranking over all nuggets, with the parts of each score."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from nuggets_tui.cli.groups import TEXT, command, example
from nuggets_tui.cli.invocation import Invocation, pass_call
from nuggets_tui.cli.options import LIMIT, filters, listing_options
from nuggets_tui.cli.output import Line, Span, write_error

if TYPE_CHECKING:
    from core.search import Hit

_BAR = 8
NOT_FOUND = 1


@command(
    "search", epilog=example('nuggets search "auth token"', "nuggets search deploy --scope project --json")
)
@click.argument("query", type=TEXT)
@click.option("--limit", type=LIMIT, default=10, show_default=True, metavar="N", help="At most so many.")
@listing_options
@click.option("--explain", type=TEXT, metavar="ID", help="Explain the score of this note instead.")
@pass_call
def search(call: Invocation, /, query: str, limit: int, explain: str | None, **values: Any) -> int:
    """Search the notes; best first."""
    memory = call.memory
    wanted = filters(memory.snapshot, values)
    if explain is not None:
        note = memory.snapshot.resolve(explain)
        hit = memory.explain(query, note.id, wanted)
        hits: tuple[Hit, ...] = (hit,) if hit else ()
        missed = f"{note.title!r} has no score for {query!r}"
    else:
        hits = memory.search(query, limit, wanted)
        missed = f"nothing found for {query!r}"
    if not hits and not call.as_json:
        write_error(missed)
        return NOT_FOUND
    call.answer(
        lambda: [_document(hit, explained=explain is not None) for hit in hits],
        lambda: (line for hit in hits for line in _lines(hit, explained=explain is not None)),
    )
    return 0 if hits else NOT_FOUND


def _document(hit: Hit, *, explained: bool) -> dict[str, Any]:
    parts = hit.breakdown
    document: dict[str, Any] = {
        "id": hit.note.id,
        "title": hit.note.title,
        "nuggetName": hit.note.nugget_name,
        "score": hit.score,
        "vectorScore": parts.vector_score,
        "textScore": parts.text_score,
        "metadataBoost": parts.boost,
        "blended": parts.blend,
        "matched": list(parts.matched),
    }
    if explained:
        document["rank"] = hit.rank
        document["parts"] = {"vector": parts.vector, "text": parts.text, "boost": parts.boost}
        document["rawVector"] = parts.raw_vector
        document["rawText"] = parts.raw_text
    return document


def _lines(hit: Hit, *, explained: bool) -> Iterator[Line]:
    parts = hit.breakdown
    hidden = Span("  hidden" if hit.note.hidden else "", "warn")
    yield (f"{parts.blend:.2f}  ", Span(hit.note.title, "bold"), Span(f"  {hit.note.id}", "dim"), hidden)
    shares = (("words", parts.text), ("vector", parts.vector), ("boost", parts.boost))
    matched = f"  {', '.join(parts.matched)}" if parts.matched else ""
    yield Span("      " + "  ".join(f"{name} {_bar(share)}" for name, share in shares) + matched, "dim")
    if explained:
        for name, share in shares:
            yield f"      {name:<7}{share:7.3f}"
        yield f"      {'blend':<7}{parts.blend:7.3f}"
        yield f"      rank {hit.rank}" if hit.rank else "      no hit of this search"
        yield Span(f"      raw text score {parts.raw_text:.3f}, raw cosine {parts.raw_vector:.3f}", "dim")


def _bar(share: float) -> str:
    """A part of a score as a bar, full at one half, with two decimals."""
    filled = max(0, min(_BAR, round(share * 2 * _BAR)))
    return f"{'▇' * filled or '▏'} {share:.2f}"
