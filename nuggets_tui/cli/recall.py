"""Commands that ask the memory: recall, search, and saved searches."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from core import verbs
from core.errors import NotFoundError, NuggetsError
from core.model.saved_search import SavedSearch
from nuggets_tui import answers, words
from nuggets_tui.cli import options
from nuggets_tui.cli.invocation import NOT_FOUND, Invocation
from nuggets_tui.cli.options import QUERY, arg, command, flag, group, opt
from nuggets_tui.cli.output import (
    LONGEST,
    Line,
    Span,
    bold,
    dim,
    pick,
    picks,
    shorten,
    table,
    terminal_width,
    undo_line,
    warn,
    write_lines,
)

if TYPE_CHECKING:
    from core.facts.recall import Recall
    from core.memory import Memory
    from core.model.judgement import Standing
    from core.pipeline.records import Conversation
    from core.search import Explanation, Filters, Hit
    from core.search.results import Passage

# As many hits as a search shows.
_SHOWN = 10
# Cells of a bar, full at one half.
_BAR = 16
# Columns of a title within a sentence.
_TITLE = 60
_INDENT = " " * 6
_LANGUAGE = """\b
Besides words, a query may have:
  "exact words"   come first     `code`   the same, taken literally
  +word   +"exact words"   must be there     -word   -"exact words"   must not
  tag:auth        tag:a,b is either, tag:a tag:b is both, -tag:a is not
  nugget:web   project:web   scope:project   type:preference   subject:login   title:jwt
  is:hidden  is:pinned  is:new  is:fact  is:note  is:document   has:links  has:tags
  is:mine    is:team    is:stale (names code that moved or is gone)
  hits:>3   updated:<30d   updated:>1y   created:>2026-01-31
Everything else counts as words. A note must meet all options and conditions.

"""


# Recall


@command(
    "recall", QUERY,
    opt("--nugget", "NAME", "Ask only this nugget."),
    opt("--session", "ID", "Session that the recall is counted for."),
    flag("--expand", "Add the notes linked to the answer, and the conversation it came from."),
    flag("--syntax", "Read conditions, quotes and exclusions, as search does."),
    options.EXPLAIN,
    examples=("nuggets recall test command", "nuggets recall deploy --nugget project --json"),
)  # fmt: skip
def recall(
    call: Invocation, words: tuple[str, ...], nugget: str | None, session: str | None, expand: bool, syntax: bool,
    explain: str | None,
) -> int:  # fmt: skip
    """Answer a question from the fact that it names, else from the best fact or note.

    The whole question is read as words, quotes and dashes included. Exit code 1 when nothing answers or it is not sure;
    then it shows up to three notes that may answer.
    """
    from nuggets_tui.calling_session import session_id

    query, explain = options.query_and_note(words, explain)
    # A note that is not there ends the call before a recall is counted.
    named = call.memory.search.named(explain).id if explain else ""
    memory = call.memory_as_it_is
    id = session_id(session, str(call.folder))
    found = memory.recall(query, nugget, id, syntax=syntax, decode=explain is not None)
    explained: list[Explained] = []
    if explain is not None:
        from core.search import Filters

        # The note that is named, else the one that answered, else those that may answer.
        answered = found.note_id if (found.note_id or "") in call.memory.search.snapshot.by_id else None
        ids = [named or answered or ""] if named or answered else [one.note_id for one in found.candidates]
        chosen = Filters(nugget=nugget)
        shown = memory.search.result(query, _SHOWN, chosen, syntax=syntax).hits if ids else ()
        explained = [_explain(call, query, id, _SHOWN, chosen, shown, syntax) for id in ids]
    if memory.uncounted_recalls:
        call.note("warning: the recall could not be counted; the answer is not affected")
    related = verbs.related(memory.search.snapshot, found.note_id) if expand else []
    origins = [*filter(None, [found.note_id]), *(note.id for note, _ in related)] if expand else []
    talks = _conversations(call, origins)
    _say_how_it_ended(call, query, found)
    if not (call.as_json or found.found or found.passages or explained) and found.judgement != "not sure":
        return NOT_FOUND
    call.answer(
        lambda: (
            recall_document(found)
            | ({"explained": [explained_document(one.explanation) for one in explained]} if explain is not None else {})
            | (_expanded_document(related, talks) if expand else {})
        ),
        lambda: (
            *_answer(memory, found), *answers.related_lines(related), *answers.passage_lines(found),
            *chain.from_iterable(("", *one.lines()) for one in explained),
            *chain.from_iterable(map(_conversation_lines, talks)),
        ),
    )  # fmt: skip
    # After the answer: the next question to a large memory need not read it again.
    memory.search.keep()
    return 0 if found.found else NOT_FOUND


def _answer(memory: Memory, found: Recall) -> Iterator[Line]:
    now = datetime.now(UTC)
    if found.found:
        return answers.recall_lines(memory, found, now, lambda id: f"nuggets note show {id} prints all")
    return answers.candidate_lines(memory, found, now)


def _say_how_it_ended(call: Invocation, query: str, found: Recall, *, searched: bool = False) -> None:
    """Says on standard error what the lines of an answer are not. searched: they are those of a search."""
    short = shorten(query)
    if not found.found and found.passages and not found.candidates:
        call.note(f"no note answers {short!r}; these parts of documents may")
    elif found.judgement == "not sure":
        call.note(f"not sure what answers {short!r}; these notes may")
    elif not found.found:
        further = f"; to look further: nuggets search {shlex.quote(query)}" if short == query else ""
        call.note(
            f"no confident answer to {short!r}" if searched else f"nothing found for {short!r}{further}"
        )


def recall_document(found: Recall) -> dict[str, Any]:
    """The answer for programs; what has nothing to say is left out of the later fields."""
    told = pick(found, "answer confidence certainty margin found key match nugget_name via note_id")
    told |= _where_from(found, found.stale)
    if not found.found:
        names = "id=note_id title first_line nugget_name holds lacks likelihood"
        told["judgement"] = found.judgement
        told["candidates"] = [
            pick(one, names, why=answers.why_candidate(one)) | _where_from(one, one.stale)
            for one in found.candidates
        ]
    for name, sides in (("disputedBy", found.disputed_by), ("disputes", found.disputes)):
        if sides:
            told[name] = [
                pick(one, "content", noteId=one.note_id or None)
                | ({"proposalId": one.proposal_id} if one.proposal_id else {})
                for one in sides
            ]
    passages = [
        pick(one, "document_id title source text score likelihood", part=one.place + 1)
        for one in found.passages
    ]
    more = {"passages": passages, "undecoded": found.undecoded, "skipped": found.skipped}
    return told | {name: value for name, value in more.items() if value}


def _where_from(one: Any, stale: Sequence[Standing]) -> dict[str, Any]:
    """Whose something is, of which other project, and what it names of code that moved or is gone, where that is to be
    said.
    """
    told = {"whose": one.whose, "project": one.project, "stale": msgspec.to_builtins(stale)}
    return {name: value for name, value in told.items() if value}


def _expanded_document(related: Sequence[tuple[Any, str]], talks: Sequence[Conversation]) -> dict[str, Any]:
    # Of a conversation, `start` and `length` count characters of the whole.
    return {
        "related": [pick(note, "id title content nugget_name", reason=reason) for note, reason in related],
        "transcripts": picks(talks, "session project text start length cut revisions note_ids=notes"),
    }


def _conversations(call: Invocation, note_ids: Sequence[str]) -> Sequence[Conversation]:
    """The conversations that notes came from; none, with a warning, where the pipeline cannot be read."""
    try:
        if note_ids:
            with call.pipeline() as pipeline:
                return pipeline.conversations(note_ids) if pipeline is not None else ()
    except NuggetsError as error:
        call.note(f"warning: the conversation is not shown: {error.message}")
    return ()


def _conversation_lines(one: Conversation) -> Iterator[Line]:
    """A conversation for people, with a sign where it was cut."""
    yield dim(f"≡ session {one.session}{f' of {one.project}' if one.project else ''}")
    before, behind = "… " * (one.start > 0), " …" * (one.start + len(one.text) < one.length)
    yield from (f"  {line}" for line in f"{before}{one.text.strip()}{behind}".split("\n"))


# Search


@command(
    "search", QUERY, options.limit(default=_SHOWN, show_default=True), *options.LISTING, options.EXPLAIN,
    epilog=_LANGUAGE,
    examples=(
        "nuggets search auth token",
        "nuggets search 'token tag:auth updated:<30d'",
        "nuggets search deploy --scope project --json",
        'nuggets search "how do we roll back?" --explain note-ops-1a2b',
    ),
)  # fmt: skip
def search(call: Invocation, words: tuple[str, ...], limit: int, explain: str | None, **values: Any) -> int:
    """Search the notes, best first. The answer comes first, as `nuggets recall` prints it; less likely notes follow
    after a blank line. --explain shows the parts of each score.

    Exit code 1 when no note is likely to answer, even if some share words with the query.
    """
    from core.search.judge import CANDIDATE_FROM
    from core.search.query_syntax import parse_question

    query, explain = options.query_and_note(words, explain)
    memory = call.memory
    chosen = options.filters(memory.search.snapshot, values)
    note_id = memory.search.named(explain).id if explain else ""
    found = memory.search.result(query, limit, chosen)
    answer = memory.search.answer(query, chosen, found)
    likely = max((hit.breakdown.likelihood for hit in found.hits), default=0.0)
    unlikely = answer.judgement == "nothing" and likely < CANDIDATE_FROM and not found.passages
    if not (found.listed or note_id or call.as_json):
        # What is more than words is told as it was read.
        question = parse_question(query)
        more = question.narrow or question.phrases or any(clause.broken for clause in found.clauses)
        how = f" ({'; '.join(shorten(clause.text) for clause in found.clauses)})" if more else ""
        call.note(f"nothing found for {shorten(query)!r}{how}")
        return NOT_FOUND
    # What looks like more than words and was taken for words: the hits alone would not tell.
    misread = [f"note: {shorten(clause.text)}" for clause in found.clauses if clause.broken]
    write_lines(misread, to_error=True)
    if explain is not None:
        ids = [note_id] if note_id else [hit.note.id for hit in found.hits]
        explained = [_explain(call, query, id, limit, chosen, found.hits) for id in ids]
        call.answer(
            lambda: [explained_document(one.explanation) for one in explained],
            lambda: (line for one in explained for line in (*one.lines(), *([""] if len(explained) > 1 else []))),
        )  # fmt: skip
        return NOT_FOUND if unlikely and not note_id else 0
    if not answer.found and answer.judgement != "found" and found.hits:
        _say_how_it_ended(call, query, answer, searched=True)
    stale = memory.stale_references(hit.note for hit in found.hits)
    call.answer(
        lambda: [hit_document(hit, stale) for hit in found.listed],
        lambda: _listed(memory, answer, found.listed, stale),
    )
    # After the answer: the next search of a large memory need not read it again.
    memory.search.keep()
    return NOT_FOUND if unlikely else 0


def _listed(
    memory: Memory, answer: Recall, hits: Sequence[Hit | Passage], stale: Mapping[str, Sequence[Standing]]
) -> Iterator[Line]:
    """The answer, then the other hits; a blank line stands before those that are less likely."""
    from core.search.results import Passage

    above = True
    if answer.found:
        yield from _answer(memory, answer)
        hits = [hit for hit in hits if isinstance(hit, Passage) or hit.note.id != answer.note_id]
    for hit in hits:
        if above and not hit.sure:
            yield ""
        above = hit.sure
        if isinstance(hit, Passage):
            yield from _passage_lines(hit)
        else:
            yield from _hit_lines(memory, hit, stale.get(hit.note.id, ()))


def _hit_lines(memory: Memory, hit: Hit, stale: Sequence[Standing]) -> Iterator[Line]:
    from core.search import snippet

    note, parts, now = hit.note, hit.breakdown, datetime.now(UTC)
    said = words.about(memory, note.nugget_name, note, hit.project, hit.whose, now)
    # Where conditions alone were asked for, nothing was weighed.
    said += f"; {words.certainty(parts.likelihood)}" if parts.blend else ""
    text = snippet(note.content, parts.matched, words.PASSAGE).text
    yield from answers.answer_lines(note.title, text, said, note.id, is_fact=note.is_fact)
    yield from (warn(f"  {shorten(line)}") for line in words.stale_lines(stale, now))
    if note.hidden:
        yield warn("  hidden")


def _passage_lines(one: Passage) -> Iterator[Line]:
    """A part of a document, marked as such, with its score."""
    from core.search.highlight import WIDTH, snippet

    found = one.found
    said = f"  {found.document_id}, part {found.place + 1}; {words.certainty(one.likelihood)}"
    yield (warn("document "), bold(shorten(found.title or found.source)), dim(said))
    room = (terminal_width() or LONGEST) - len(_INDENT)
    text, matches = snippet(found.text, one.matched, min(WIDTH, room))
    pieces: list[str | Span] = [_INDENT]
    place = 0
    for start, end in matches:
        pieces += [text[place:start], bold(text[start:end])]
        place = end
    yield from [(*pieces, text[place:])] if text else []


def hit_document(hit: Hit | Passage, stale: Mapping[str, Sequence[Standing]]) -> dict[str, Any]:
    """A hit for programs. stale: what notes name of code that moved or is gone, by their ids."""
    from core.search.highlight import snippet
    from core.search.results import Passage

    if isinstance(hit, Passage):
        found = hit.found
        piece = snippet(found.text, hit.matched)
        told = {"kind": "document"} | pick(found, "document_id title source nugget_name=nugget")
        told |= pick(hit, "vector_score=vector text_score=words blended=blend likelihood sure matched")
        return told | {"part": found.place + 1, "snippet": piece.text, "snippetMatches": piece.matches}
    parts = hit.breakdown
    piece = snippet(hit.note.content, parts.matched)
    told = pick(hit.note, "id title nugget_name") | _where_from(hit, stale.get(hit.note.id, ()))
    told |= pick(parts, "vector_score text_score metadata_boost=boost blended=blend matched")
    told |= {name: value for name, value in (("exact", parts.exact), ("signals", parts.signals)) if value}
    return told | pick(hit, "score sure", snippet=piece.text, snippetMatches=piece.matches)


# Why a note is found, or why not


class Explained(NamedTuple):
    """A note explained for a query: for programs, and as lines for people."""

    explanation: Explanation
    lines: Callable[[], Iterator[Line]]


def _explain(
    call: Invocation, query: str, note_id: str, limit: int, chosen: Filters | None, shown: tuple[Hit, ...],
    syntax: bool = True,
) -> Explained:  # fmt: skip
    """A note explained for a query. shown: the hits that the asker sees. Raises NotFoundError for a second bearer of
    an id.
    """
    from core.search.query_syntax import parse_question, plain_question
    from nuggets_tui.why import SearchRequest, why

    memory = call.memory
    explanation = memory.search.explain(query, note_id, chosen, shown=limit, syntax=syntax)
    if explanation is None:
        raise NotFoundError("another note has the same id", where=note_id, todo="run nuggets verify")
    beside, searched = memory.search.beside(), memory.search.snapshot
    request = SearchRequest(
        parse_question(query, memory.search.index().excludes) if syntax else plain_question(query),
        datetime.now(UTC).astimezone(), filters=chosen, shown=shown, snapshot=searched,
        whose=(lambda id: "yours") if beside is None else beside.joined.whose,
    )  # fmt: skip

    def title_of(id: str) -> str:
        return shorten(searched.by_id[id].title, _TITLE) if id in searched.by_id else id

    return Explained(explanation, lambda: _why_lines(explanation, why(explanation, request, title_of)))


def explained_document(explanation: Explanation) -> dict[str, Any]:
    """An explanation for programs: the hit, and what made its score."""
    from nuggets_tui.why import LINES

    hit = explanation.hit
    parts = hit.breakdown
    values = {line: getattr(parts, line) for line, _ in LINES}
    return hit_document(hit, {}) | pick(
        explanation, "total floor needed judgement",
        rank=hit.rank, obstacle=explanation.obstacle or None, missing=parts.query_words().missing,
        coverage=parts.coverage, likelihood=parts.likelihood,
        parts={line: value for line, value in values.items() if value or line not in ("exact", "signals")},
        reasons=parts.reasons,
    )  # fmt: skip


def _why_lines(explanation: Explanation, answer: Any) -> Iterator[Line]:
    from nuggets_tui.why import MEANINGS, number

    hit = explanation.hit
    score = number(answer.blend) if answer.lines else ""
    said = f"from project {hit.project}" if hit.project else words.whose_words(hit.whose)
    whose = Span(f"  {said}" if said else "", "dim" if hit.whose == "yours" else "warn")
    hidden = warn("  hidden" if hit.note.hidden else "")
    yield (f"{score:<6}", bold(shorten(hit.note.title)), dim(f"  {hit.note.id}"), hidden, whose)
    yield (_INDENT, Span(answer.outcome, "good" if answer.is_hit else "warn"))
    yield from (f"{_INDENT}{sentence}" for sentence in answer.sentences)
    for line in answer.lines:
        yield ""
        yield (
            f"{number(line.value):>10}  ",
            bold(f"{line.name:<8}"),
            "▇" * max(0, min(_BAR, round(line.value * 2 * _BAR))) or "▏",
        )
        for given in line.given:
            yield Span(f"{number(given.value):>16}  {given.text}", "dim" if given.quiet else "")
    if answer.lines:
        yield from ("", (f"{number(answer.blend):>10}  ", bold("score")), "")
        names = {line.name for line in answer.lines}
        yield from (dim(f"{_INDENT}{name:<8}{meaning}") for name, meaning in MEANINGS if name in names)


# Saved searches


@group("searches", examples=("nuggets searches", "nuggets searches keep tokens 'auth token'"))
def searches(call: Invocation) -> int:
    """List saved searches. Exit code 1 when one in the file cannot be read."""
    saved = call.memory.searches
    if saved.broken is not None:
        raise saved.broken
    none = 'No saved searches. To save one: nuggets searches keep NAME QUERY, e.g. "auth" "token tag:auth".'
    rows = [(bold(one.name), dim(one.query)) for one in saved.all]
    call.answer(picks(saved.all, "name query"), table(rows, flexible=1) or [none])
    return 1 if saved.problem else 0


@searches.add(
    "keep", arg("name"), arg("query"), flag("--replace again", "Replace the search saved under this name."),
    examples=("nuggets searches keep tokens 'auth token'",),
)  # fmt: skip
def keep(call: Invocation, name: str, query: str, again: bool) -> None:
    """Save a search under a name, in the memory's searches.toml."""
    search = SavedSearch(" ".join(name.split()), query)
    done = call.memory.searches.save(search, instead_of=search.name if again else "")
    call.answer(pick(search, "name query", changeSet=done.id), [("Saved ", bold(search.name), ".")])


@searches.add(
    "drop", arg("names", nargs=-1, required=True, metavar="NAME..."),
    examples=("nuggets searches drop tokens",),
)  # fmt: skip
def drop(call: Invocation, names: tuple[str, ...]) -> None:
    """Delete saved searches. No note is touched, and nuggets undo brings them back."""
    done = call.memory.searches.delete(names)
    lines = [("Deleted ", bold(", ".join(names)), "."), *undo_line(done.id)]
    call.answer({"dropped": names, "changeSet": done.id}, lines)
