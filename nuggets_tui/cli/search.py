"""The search command: one ranking over all nuggets, with the parts of each score."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from core.errors import NotFoundError
from core.search.highlight import WIDTH, snippet
from core.search.query_syntax import Clause, Question, parse_question, plain_question
from core.search.results import Passage
from nuggets_tui.cli.groups import TEXT, command, example
from nuggets_tui.cli.invocation import Invocation, pass_call
from nuggets_tui.cli.options import (
    LIMIT,
    explain_option,
    filters,
    listing_options,
    query_and_note,
    query_argument,
)
from nuggets_tui.cli.output import (
    LONGEST,
    Line,
    Span,
    is_terminal,
    shorten,
    terminal_width,
    write_error,
    write_lines,
)
from nuggets_tui.cli.recalled import answer_lines, recall_lines, said_beside
from nuggets_tui.why import LINES, MEANINGS, SearchRequest, Why, neighbours, number, why
from nuggets_tui.words import PASSAGE, about, certainty, whose_document, whose_words

if TYPE_CHECKING:
    from core.facts.recall import Recall
    from core.memory import Memory
    from core.search import Explanation, Filters, Hit

_BAR = 8
_WIDE_BAR = 16
# Columns of a title within a sentence.
_TITLE = 60
_INDENT = " " * 6
NOT_FOUND = 1


_LANGUAGE = """\b
Besides words, a query may have:
  "exact words"   come first     `code`   the same, taken literally
  +word   +"exact words"   must be there     -word   -"exact words"   must not
  tag:auth        tag:a,b is either, tag:a tag:b is both, -tag:a is not
  nugget:web   project:web   scope:project   type:preference   subject:login   title:jwt
  is:hidden  is:pinned  is:new  is:fact  is:note  is:document   has:links  has:tags
  is:mine    is:team
  hits:>3   updated:<30d   updated:>1y   created:>2026-01-31
Everything else counts as words. A note must meet all options and conditions.

"""


@command(
    "search",
    epilog=_LANGUAGE
    + example(
        "nuggets search auth token",
        "nuggets search 'token tag:auth updated:<30d'",
        "nuggets search deploy --scope project --json",
    ),
)
@query_argument
@click.option("--limit", type=LIMIT, default=10, show_default=True, metavar="N", help="Show at most N.")
@listing_options
@explain_option
@pass_call
def search(
    call: Invocation, /, words: tuple[str, ...], limit: int, explain: str | None, **values: Any
) -> int:
    """Search the notes, best first. What answers stands first, as `nuggets recall` prints it; less likely notes follow
    after a blank line. On a terminal, bars show the parts of each score.

    Exit code 1 when no note is likely to answer, even if some share words with the query.
    """
    from core.search.judge import CANDIDATE_FROM

    query, explain = query_and_note(words, explain)
    memory = call.memory
    chosen = filters(memory.searched, values)
    if explain:
        return _explain(call, query, memory.named(explain).id, limit, chosen)
    found = memory.search_result(query, limit, chosen)
    answer = memory.answer(query, chosen, found)
    likely = max((hit.breakdown.likelihood for hit in found.hits), default=0.0)
    unlikely = answer.judgement == "nothing" and likely < CANDIDATE_FROM and not found.passages
    status = NOT_FOUND if unlikely else 0
    if not found.listed and not call.as_json:
        write_error(
            f"nothing found for {shorten(query, LONGEST)!r}{_how_read(parse_question(query), found.clauses)}"
        )
        return NOT_FOUND
    _print_misread(found.clauses)
    if explain is not None:
        explained = [Explained(call, query, hit.note.id, limit, chosen, found.hits) for hit in found.hits]
        call.answer(
            lambda: [one.document() for one in explained],
            lambda: (line for one in explained for line in (*one.lines(), "")),
        )
        return status
    if not answer.found and answer.judgement != "found" and found.hits and not call.as_json:
        for line in said_beside(query, answer):
            write_error(line)
    call.answer(
        lambda: [_document(hit) for hit in found.listed], lambda: _listed(memory, answer, found.listed)
    )
    # After the answer: the next search of a large memory need not read it again.
    memory.keep_index()
    return status


def _listed(memory: Memory, answer: Recall, hits: Sequence[Hit | Passage]) -> Iterator[Line]:
    """The answer, then the other hits; a blank line stands before those that are less likely."""
    bars = is_terminal(sys.stdout)
    above = True
    if answer.found:
        yield from recall_lines(memory, answer)
        answering = [hit for hit in hits if not isinstance(hit, Passage) and hit.note.id == answer.note_id]
        yield from map(_bars, answering if bars else ())
        hits = [hit for hit in hits if hit not in answering]
    for hit in hits:
        if above and not hit.sure:
            yield ""
        above = hit.sure
        yield from _passage_lines(hit, bars) if isinstance(hit, Passage) else _hit_lines(memory, hit, bars)


def _passage_lines(one: Passage, bars: bool) -> Iterator[Line]:
    """A part of a document, marked as such, with its score."""
    found = one.found
    title = shorten(found.title or found.source, LONGEST)
    said = f"  {found.document_id}, part {found.place + 1}; {certainty(one.likelihood)}"
    yield (Span("document ", "warn"), Span(title, "bold"), Span(said, "dim"))
    yield from _text_lines(found.text, one.matched)
    if bars:
        drawn = f"words {_bar(one.words)}  vector {_bar(one.vector)}"
        yield Span(f"{_INDENT}{drawn}  [{', '.join(one.matched) or 'similar in meaning'}]", "dim")


@command("why", epilog=example('nuggets why "how do we roll back?" note-ops-1a2b'))
@click.argument("question", type=TEXT)
@click.argument("note", type=TEXT)
@click.option("--syntax", is_flag=True, help="Read conditions, quotes and exclusions in QUESTION.")
@pass_call
def why_command(call: Invocation, /, question: str, note: str, syntax: bool) -> int:
    """Explain why a note answers a question, or why not. NOTE is its id or exact title."""
    return _explain(call, question, call.memory.named(note).id, 10, None, syntax)


def _explain(
    call: Invocation, query: str, note_id: str, limit: int, chosen: Filters | None, syntax: bool = True
) -> int:
    """Explains a note, be it a hit or not: what was asked for is the reason, and there always is one."""
    found = call.memory.search_result(query, limit, chosen, syntax=syntax)
    _print_misread(found.clauses)
    explained = Explained(call, query, note_id, limit, chosen, found.hits, syntax)
    call.answer(lambda: [explained.document()], explained.lines)
    return 0


class Explained:
    """A note explained for a query. shown: the hits that the asker sees. Raises NotFoundError for a second bearer of
    an id.
    """

    def __init__(
        self,
        call: Invocation,
        query: str,
        note_id: str,
        limit: int,
        chosen: Filters | None,
        shown: tuple[Hit, ...],
        syntax: bool = True,
    ) -> None:
        explanation = call.memory.explain(query, note_id, chosen, shown=limit, syntax=syntax)
        if explanation is None:
            raise NotFoundError("another note has the same id", where=note_id, todo="run nuggets verify")
        self._explanation = explanation
        beside, searched = call.memory.with_team(), call.memory.searched
        self._notes = searched.by_id
        question = parse_question(query, call.memory.index().excludes) if syntax else plain_question(query)
        self._request = SearchRequest(
            question,
            datetime.now(UTC).astimezone(),
            filters=chosen,
            shown=shown,
            snapshot=searched,
            whose=(lambda id: "yours") if beside is None else beside.joined.whose,
        )

    def document(self) -> dict[str, Any]:
        """The explanation for programs."""
        return _explained_document(self._explanation)

    def lines(self) -> Iterator[Line]:
        """The explanation for people."""
        notes = self._notes
        answer = why(
            self._explanation,
            self._request,
            lambda id: shorten(notes[id].title, _TITLE) if id in notes else id,
        )
        return _explained_lines(self._explanation, answer)


def _how_read(question: Question, clauses: tuple[Clause, ...]) -> str:
    """How a query was read, for one that found nothing and is more than words; "" for words."""
    if not (question.narrow or question.phrases or any(clause.broken for clause in clauses)):
        return ""
    return f" ({'; '.join(shorten(clause.text, LONGEST) for clause in clauses)})"


def _print_misread(clauses: tuple[Clause, ...]) -> None:
    """What looks like more than words and was taken for words: the hits alone would not tell."""
    misread = (shorten(clause.text, LONGEST) for clause in clauses if clause.broken)
    write_lines([f"note: {text}" for text in misread], to_error=True)


def _passage_document(one: Passage) -> dict[str, Any]:
    found = one.found
    piece = snippet(found.text, one.matched)
    return {
        "kind": "document",
        "documentId": found.document_id,
        "title": found.title,
        "source": found.source,
        "part": found.place + 1,
        "nuggetName": found.nugget,
        "vectorScore": one.vector,
        "textScore": one.words,
        "blended": one.blend,
        "likelihood": one.likelihood,
        "sure": one.sure,
        "matched": list(one.matched),
        "snippet": piece.text,
        "snippetMatches": [list(place) for place in piece.matches],
    }


def _document(hit: Hit | Passage) -> dict[str, Any]:
    if isinstance(hit, Passage):
        return _passage_document(hit)
    parts = hit.breakdown
    piece = snippet(hit.note.content, parts.matched)
    return {
        "id": hit.note.id,
        "title": hit.note.title,
        "nuggetName": hit.note.nugget_name,
        **whose_document(hit.whose),
        **({"project": hit.project} if hit.project else {}),
        "score": hit.score,
        "vectorScore": parts.vector_score,
        "textScore": parts.text_score,
        "metadataBoost": parts.boost,
        **({"exact": parts.exact} if parts.exact else {}),
        **({"signals": parts.signals} if parts.signals else {}),
        "blended": parts.blend,
        "sure": hit.sure,
        "matched": list(parts.matched),
        "snippet": piece.text,
        "snippetMatches": [list(place) for place in piece.matches],
    }


def _explained_document(explanation: Explanation) -> dict[str, Any]:
    hit = explanation.hit
    parts = hit.breakdown
    return _document(hit) | {
        "rank": hit.rank,
        "total": explanation.total,
        "obstacle": explanation.obstacle or None,
        "missing": list(parts.query_words().missing),
        "coverage": parts.coverage,
        "floor": explanation.floor,
        "needed": explanation.needed,
        "judgement": explanation.judgement,
        "likelihood": parts.likelihood,
        "parts": {
            line: value
            for line, _ in LINES
            if (value := getattr(parts, line)) or line not in ("exact", "signals")
        },
        "reasons": [reason._asdict() for reason in parts.reasons],
        "rawVector": parts.raw_vector(),
        "rawText": parts.raw_text(),
    }


def _head(hit: Hit, score: str) -> Line:
    hidden = Span("  hidden" if hit.note.hidden else "", "warn")
    title = Span(shorten(hit.note.title, LONGEST), "bold")
    said = f"from project {hit.project}" if hit.project else whose_words(hit.whose)
    whose = Span(f"  {said}" if said else "", "dim" if hit.whose == "yours" else "warn")
    return (f"{score:<6}", title, Span(f"  {hit.note.id}", "dim"), hidden, whose)


def _hit_lines(memory: Memory, hit: Hit, bars: bool) -> Iterator[Line]:
    note, parts = hit.note, hit.breakdown
    said = about(memory, note.nugget_name, note, hit.project, hit.whose, datetime.now(UTC))
    # Where conditions alone were asked for, nothing was weighed.
    said += f"; {certainty(parts.likelihood)}" if parts.blend else ""
    text = snippet(note.content, parts.matched, PASSAGE).text
    yield from answer_lines(note.title, text, said, note.id, is_fact=note.is_fact)
    if note.hidden:
        yield Span("  hidden", "warn")
    if bars and parts.blend:
        yield _bars(hit)


def _bars(hit: Hit) -> Span:
    parts = hit.breakdown
    shares = [(name, getattr(parts, line)) for line, name in LINES]
    drawn = [f"{name} {_bar(share)}" for name, share in shares if share or name not in ("exact", "known")]
    read_as = neighbours(parts.reasons)
    matched = [f"{read_as[word]}→{word}" if word in read_as else word for word in parts.matched]
    return Span(_INDENT + "  ".join([*drawn, *([", ".join(matched)] if matched else [])]), "dim")


def _text_lines(content: str, matched: tuple[str, ...]) -> Iterator[Line]:
    room = (terminal_width() or LONGEST) - len(_INDENT)
    text, matches = snippet(content, matched, min(WIDTH, room))
    if not text:
        return
    pieces: list[str | Span] = [_INDENT]
    place = 0
    for start, end in matches:
        pieces += [text[place:start], Span(text[start:end], "bold")]
        place = end
    yield (*pieces, text[place:])


def _explained_lines(explanation: Explanation, answer: Why) -> Iterator[Line]:
    yield _head(explanation.hit, number(answer.blend) if answer.lines else "")
    yield ("      ", Span(answer.outcome, "good" if answer.is_hit else "warn"))
    yield from (f"      {sentence}" for sentence in answer.sentences)
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
