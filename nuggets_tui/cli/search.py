"""The search command: one ranking over all nuggets, with the parts of each score."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from core.search.language import Question, read
from nuggets_tui.asked import asked, hits
from nuggets_tui.cli.groups import TEXT, command, example
from nuggets_tui.cli.invocation import Invocation, pass_call
from nuggets_tui.cli.options import LIMIT, filters, listing_options
from nuggets_tui.cli.output import Line, Span, write_error

if TYPE_CHECKING:
    from core.search import Hit

_BAR = 8
NOT_FOUND = 1


_LANGUAGE = """\b
The query may hold, beside words:
  "exact words"   -word   -"exact words"
  tag:auth        tag:a,b is either, tag:a tag:b is both, -tag:a is not
  nugget:web   scope:project   type:preference   subject:login   title:jwt
  is:hidden  is:pinned  is:new  is:fact  is:note   has:links  has:tags
  hits:>3   updated:<30d   updated:>1y   created:>2026-01-31
What cannot be read like that is words. Options and conditions must all hold.

"""


@command(
    "search",
    epilog=_LANGUAGE
    + example(
        'nuggets search "auth token"',
        "nuggets search 'token tag:auth updated:<30d'",
        "nuggets search deploy --scope project --json",
    ),
)
@click.argument("query", type=TEXT)
@click.option("--limit", type=LIMIT, default=10, show_default=True, metavar="N", help="At most so many.")
@listing_options
@click.option("--explain", type=TEXT, metavar="ID", help="Explain the score of this note instead.")
@pass_call
def search(call: Invocation, /, query: str, limit: int, explain: str | None, **values: Any) -> int:
    """Search the notes; best first."""
    memory = call.memory
    question = read(query)
    wanted = asked(question, now=datetime.now(UTC).astimezone(), filters=filters(memory.snapshot, values))
    if explain is not None:
        note = memory.snapshot.resolve(explain)
        hit = memory.explain(question.words, note.id, wanted)
        found: tuple[Hit, ...] = (hit,) if hit else ()
        missed = f"{note.title!r} has no score for {query!r}"
    else:
        found = hits(memory, wanted, limit)
        missed = f"nothing found for {query!r}{_how_read(question)}"
    if not found and not call.as_json:
        write_error(missed)
        return NOT_FOUND
    call.answer(
        lambda: [_document(hit, explained=explain is not None) for hit in found],
        lambda: (line for hit in found for line in _lines(hit, explained=explain is not None)),
    )
    return 0 if found else NOT_FOUND


def _how_read(question: Question) -> str:
    """How a query was read, for one that found nothing and is more than words; "" for words."""
    if not question.narrow and not any(clause.broken for clause in question.described()):
        return ""
    return f" ({'; '.join(clause.text for clause in question.described())})"


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
