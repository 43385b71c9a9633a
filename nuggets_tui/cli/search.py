"""The search command: one ranking over all nuggets, with the parts of each score."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from core.errors import NotFoundError
from core.search.language import Question, read
from nuggets_tui.cli.groups import TEXT, example, query_command
from nuggets_tui.cli.invocation import Invocation, pass_call
from nuggets_tui.cli.options import LIMIT, filters, listing_options
from nuggets_tui.cli.output import LONGEST, Line, Span, shorten, write_error, write_lines
from nuggets_tui.why import LINES, MEANINGS, Why, neighbours, number

if TYPE_CHECKING:
    from core.search import Explanation, Filters, Hit

_BAR = 8
_WIDE_BAR = 16
# Columns of a title within a sentence.
_TITLE = 60
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


@query_command(
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
    chosen = filters(memory.snapshot, values)
    question = read(query)
    if explain is not None:
        _say_misread(question)
        return _explain(call, query, memory.snapshot.resolve(explain).id, limit, chosen)
    found = memory.search(query, limit, chosen)
    if not found and not call.as_json:
        write_error(f"nothing found for {shorten(query, LONGEST)!r}{_how_read(question)}")
        return NOT_FOUND
    _say_misread(question)
    call.answer(
        lambda: [_document(hit) for hit in found], lambda: (line for hit in found for line in _hit_lines(hit))
    )
    # After the answer: the next search of a large memory need not read it again.
    memory.keep_index()
    return 0 if found else NOT_FOUND


def _explain(call: Invocation, query: str, note_id: str, limit: int, chosen: Filters) -> int:
    """Explains a note, be it a hit or not: what was asked for is the reason, and there always is one."""
    memory = call.memory
    explanation = memory.explain(query, note_id, chosen, shown=limit)
    if explanation is None:
        raise NotFoundError("its id is borne by another note as well", where=note_id, todo="nuggets verify")
    call.answer(
        lambda: [_explained_document(explanation)],
        lambda: _explained_lines(
            explanation, _why(call, explanation, query, chosen, memory.search(query, limit, chosen))
        ),
    )
    return 0


def _why(
    call: Invocation, explanation: Explanation, query: str, chosen: Filters, shown: tuple[Hit, ...]
) -> Why:
    from nuggets_tui.why import Asked, why

    notes = call.memory.snapshot.by_id
    asked = Asked(read(query), datetime.now(UTC).astimezone(), filters=chosen, shown=shown)
    return why(explanation, asked, lambda id: shorten(notes[id].title, _TITLE) if id in notes else id)


def _how_read(question: Question) -> str:
    """How a query was read, for one that found nothing and is more than words; "" for words."""
    if not question.narrow and not any(clause.broken for clause in question.described()):
        return ""
    return f" ({'; '.join(shorten(clause.text, LONGEST) for clause in question.described())})"


def _say_misread(question: Question) -> None:
    """What looks like a condition and was taken for words: the hits alone would not tell."""
    told = (shorten(clause.text, LONGEST) for clause in question.described() if clause.broken)
    write_lines([f"note: {text}" for text in told], to_error=True)


def _document(hit: Hit) -> dict[str, Any]:
    parts = hit.breakdown
    return {
        "id": hit.note.id,
        "title": hit.note.title,
        "nuggetName": hit.note.nugget_name,
        "score": hit.score,
        "vectorScore": parts.vector_score,
        "textScore": parts.text_score,
        "metadataBoost": parts.boost,
        "associative": parts.associative,
        "links": parts.links,
        "blended": parts.blend,
        "matched": list(parts.matched),
    }


def _explained_document(explanation: Explanation) -> dict[str, Any]:
    hit = explanation.hit
    parts = hit.breakdown
    return _document(hit) | {
        "rank": hit.rank,
        "total": explanation.total,
        "obstacle": explanation.obstacle or None,
        "missing": list(explanation.missing),
        "coverage": parts.coverage,
        "floor": explanation.floor,
        "needed": explanation.needed,
        "parts": {line: getattr(parts, line) for line, _ in LINES},
        "reasons": [reason._asdict() for reason in parts.reasons],
        "measured": parts.measured,
        "rawVector": parts.raw_vector,
        "rawText": parts.raw_text,
    }


def _head(hit: Hit, score: str) -> Line:
    hidden = Span("  hidden" if hit.note.hidden else "", "warn")
    title = Span(shorten(hit.note.title, LONGEST), "bold")
    return (f"{score:<6}", title, Span(f"  {hit.note.id}", "dim"), hidden)


def _hit_lines(hit: Hit) -> Iterator[Line]:
    if not hit.breakdown.blend:
        # Conditions alone were asked for: nothing was weighed.
        yield _head(hit, "")
        return
    yield _head(hit, number(hit.breakdown.blend))
    parts = hit.breakdown
    shares = [(name, getattr(parts, line)) for line, name in LINES]
    bars = [f"{name} {_bar(share)}" for name, share in shares if share or name not in ("like", "link")]
    read_as = neighbours(parts.reasons)
    matched = [f"{read_as[word]}→{word}" if word in read_as else word for word in parts.matched]
    yield Span("      " + "  ".join([*bars, *([", ".join(matched)] if matched else [])]), "dim")


def _explained_lines(explanation: Explanation, answer: Why) -> Iterator[Line]:
    yield _head(explanation.hit, number(answer.blend) if answer.lines else "")
    yield ("      ", Span(answer.verdict, "good" if answer.is_hit else "warn"))
    yield from (f"      {told}" for told in answer.told)
    for line in answer.lines:
        yield ""
        about = f"  {line.about}" if line.about else ""
        bar = _blocks(line.value, _WIDE_BAR)
        yield (f"{number(line.value):>10}  ", Span(f"{line.name:<8}", "bold"), bar, Span(about, "dim"))
        for given in line.given:
            yield Span(f"{number(given.value):>16}  {given.text}", "dim" if given.quiet else "")
    if answer.lines:
        yield ""
        yield (f"{number(answer.blend):>10}  ", Span("score", "bold"))
        said = {line.name for line in answer.lines}
        yield ""
        yield from (Span(f"      {name:<8}{meaning}", "dim") for name, meaning in MEANINGS if name in said)


def _bar(share: float) -> str:
    """A part of a score as a bar, full at one half, with two decimals."""
    return f"{_blocks(share, _BAR)} {share:.2f}"


def _blocks(share: float, cells: int) -> str:
    return "▇" * max(0, min(cells, round(share * 2 * cells))) or "▏"
