"""Why a note stands where it does in a search, or why it does not, in a person's words and numbers that add up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from core.model.joined import Whose
    from core.model.note import Note
    from core.model.snapshot import Snapshot
    from core.search import Explanation, Filters, Hit
    from core.search.conditions import Elsewhere
    from core.search.query_syntax import Question
    from core.search.results import ScoreReason
    from nuggets_tui.differences import TitleOf

# The parts of a score in the order in which they are told: of a breakdown's lines, what a person calls it.
LINES: Final = (
    ("text", "words"),
    ("vector", "vector"),
    ("boost", "boost"),
    ("exact", "exact"),
    ("signals", "known"),
)
MEANINGS: Final = (
    ("words", "how many words it shares with the query, and how rare they are"),
    ("vector", "words, similar readings and word pairs, compared as one vector"),
    ("boost", "for notes that are durable, about you, or confident"),
    ("exact", "it holds the exact words you asked for, so it comes first"),
    ("known", "what else is known of it: names in the query, similar meaning, decisions, dates"),
)
# From here on two decimals say what a number is.
_SMALL: Final = 0.0095
_MOST_WORDS: Final = 8


@dataclass(frozen=True)
class Given:
    """One thing that a part of the score is made of. quiet: several together."""

    text: str
    value: float
    quiet: bool = False


@dataclass(frozen=True)
class Line:
    """A part of the score after its weight, with what it is made of, the greatest first."""

    name: str
    value: float
    given: tuple[Given, ...] = ()


@dataclass(frozen=True)
class Why:
    """The answer. outcome: in one sentence; sentences: more of them; lines: the parts, which add up to `blend`; none
    for a note that shares nothing with the words. is_hit: whether the note is one.
    """

    outcome: str
    sentences: tuple[str, ...]
    lines: tuple[Line, ...]
    blend: float
    is_hit: bool


@dataclass(frozen=True)
class SearchRequest:
    """What was asked, and what the asker sees of the answer. filters: of the command line, beside the question.
    snapshot: the notes, of which some may dispute others. whose: a note is, by its id. elsewhere: what came from
    there.
    """

    question: Question
    now: datetime
    new_since: str | None = None
    filters: Filters | None = None
    shown: tuple[Hit, ...] = ()
    snapshot: Snapshot | None = None
    whose: Callable[[str], Whose] = lambda id: "yours"
    elsewhere: Elsewhere | None = None


def number(value: float) -> str:
    """A part of a score: two decimals, three for less than about a hundredth."""
    return f"{value:.3f}" if 0 < abs(value) < _SMALL else f"{value:.2f}"


def why(explanation: Explanation, request: SearchRequest, title_of: TitleOf) -> Why:
    """An explanation in words. title_of: a note's title for its id."""
    hit = explanation.hit
    parts = hit.breakdown
    is_hit, outcome = _outcome(explanation, request)
    # What shares nothing with the words has no score worth taking apart.
    if not (parts.vector or parts.text or parts.signals):
        return Why(outcome, tuple(_disputes(hit.note, request, title_of)), (), 0.0, is_hit)
    sentences = (*_sentences(explanation, request, is_hit), *_disputes(hit.note, request, title_of))
    return Why(outcome, sentences, _lines(hit), parts.blend, is_hit)


# In sentences


def _outcome(explanation: Explanation, request: SearchRequest) -> tuple[bool, str]:
    """Whether the note is a hit, and what puts it there or keeps it out."""
    hit, obstacle = explanation.hit, explanation.obstacle
    if not obstacle and not request.question.words:
        return True, (
            "It meets every condition. Without words there is no score; the newest notes come first."
        )
    if not obstacle:
        return True, _place(explanation, request)
    unfit = unmet(hit.note, request)
    strange = bool(request.question.words) and not hit.breakdown.reached
    also = " It also has nothing in common with the query." if strange else ""
    if _left_out(hit.note, request):
        said = "It is hidden. Add is:hidden to find hidden notes."
        return False, said + (f" It also does not meet: {'; '.join(unfit)}." if unfit else "") + also
    if unfit:
        return False, f"It does not meet: {'; '.join(unfit)}.{also}"
    if obstacle == "nothing in common":
        return False, "It has nothing in common with the query: no word, form or spelling matches."
    if obstacle == "too little in common":
        return False, "It holds no word of the query, and too few words of similar meaning."
    if request.question.words:
        return False, "The query has only common words, which match nearly every text."
    return False, "The query is empty."


def percents(coverage: float, floor: float) -> tuple[str, str]:
    """What a note covers of a query and what is needed, so that the two never look alike when they are not."""
    covered, needed = f"{coverage:.0%}", f"{floor:.0%}"
    if covered == needed and coverage != floor:
        covered, needed = f"{coverage:.1%}", f"{floor:.1%}"
    return covered, needed


def _place(explanation: Explanation, request: SearchRequest) -> str:
    rank, total, shown = explanation.hit.rank, explanation.total, len(request.shown)
    said = "The only hit." if total == 1 else f"Hit {rank:,} of {total:,}."
    if shown and rank > shown:
        needed, blend = number(explanation.needed), number(explanation.hit.breakdown.blend)
        said += f" The list shows {shown}; the last one scores {needed}, this one {blend}."
    return said


def _left_out(note: Note, request: SearchRequest) -> bool:
    wanted = request.question.hidden or (request.filters is not None and request.filters.include_hidden)
    return note.hidden and not wanted


def _sentences(explanation: Explanation, request: SearchRequest, is_hit: bool) -> Iterator[str]:
    parts = explanation.hit.breakdown
    if not is_hit:
        yield _would_stand(parts.blend, explanation, request)
    if parts.reached and parts.blend:
        covered, needed = percents(parts.reached, explanation.floor)
        less = " with similar words" if parts.reached > parts.coverage else ""
        yield (f"Matches {covered} of the query{less} (minimum {needed}).")
    if is_hit and not hit_is_sure(explanation):
        yield _below_the_line(explanation)
    missing = parts.query_words().missing
    if missing and parts.reached:
        yield f"Missing words: {_quoted(missing)}."
    if is_hit and explanation.nowhere and explanation.judgement != "found":
        yield f"No note holds {_quoted(explanation.nowhere)}, so every answer is less likely."


def _disputes(note: Note, request: SearchRequest, title_of: TitleOf) -> Iterator[str]:
    """What says otherwise than a note, while nobody decided between them."""
    from core.model.note import disputed_note

    if request.snapshot is None:
        return
    for other in request.snapshot.disputing.get(note.id, ()):
        yield f'Disputed by "{title_of(other.id)}"; undecided.'
    target = request.snapshot.by_id.get(disputed_note(note))
    if target is not None and not target.hidden:
        yield f'Disputes "{title_of(target.id)}"; undecided.'


def _quoted(words: Sequence[str]) -> str:
    """Some words in quotation marks, and how many more there are."""
    named = [f'"{word}"' for word in words[:_MOST_WORDS]]
    more = len(words) - len(named)
    return f"{', '.join(named)}{f' and {more} more' if more else ''}"


def hit_is_sure(explanation: Explanation) -> bool:
    """Whether a hit stands above the line."""
    return explanation.hit.sure or not explanation.hit.breakdown.blend


def _below_the_line(explanation: Explanation) -> str:
    """Why a hit is among those that are less likely."""
    if explanation.judgement == "found":
        return "It is listed as less likely: it, or a note above it, matches too little."
    from core.search.judge import FOUND_FROM

    best, needed = percents(explanation.best, FOUND_FROM)
    return (
        "All hits are less likely: notes may share words with a query and not answer it. The best answers this "
        f"one with a likelihood of {best} (minimum {needed})."
    )


def _would_stand(blend: float, explanation: Explanation, request: SearchRequest) -> str:
    better = sum(hit.breakdown.blend > blend for hit in request.shown)
    score = f"With a score of {number(blend)} it would"
    if not explanation.total:
        return f"{score} be the only hit."
    if explanation.needed and better >= len(request.shown):
        return f"{score} come after the {better} shown; the last one scores {number(explanation.needed)}."
    return f"{score} be hit {better + 1} of {explanation.total + 1:,}."


def unmet(note: Note, request: SearchRequest) -> tuple[str, ...]:
    """The conditions that a note does not meet, each in a few words; hiddenness aside."""
    return tuple(dict.fromkeys(_unmet(note, request)))


def _unmet(note: Note, request: SearchRequest) -> Iterator[str]:
    from core.search import Filters
    from core.search.conditions import Asked, Elsewhere
    from core.search.query_syntax import Question

    question, filters = request.question, request.filters or Filters()
    asked = Asked(request.now, request.new_since, request.whose, request.elsewhere or Elsewhere())
    for condition in question.conditions:
        if not condition.admits(note, asked):
            yield condition.described()
    for text in question.demanded:
        if not Question(demanded=(text,)).admits(note, asked, include_hidden=True):
            yield f'with "{text}"'
    for text in question.excluded:
        if not Question(excluded=(text,)).admits(note, asked, include_hidden=True):
            yield f'without "{text}"'
    for name in ("nugget", "scope", "type", "subject", "tag"):
        value = getattr(filters, name)
        if value is not None and not Filters(include_hidden=True, **{name: value}).admits(note):
            yield f"{name} {value}"


# The parts


def _lines(hit: Hit) -> tuple[Line, ...]:
    parts = hit.breakdown
    made = []
    for line, name in LINES:
        value: float = getattr(parts, line)
        given = tuple(Given(said(reason), reason.value) for reason in parts.reasons if reason.line == line)
        if value or name in ("words", "vector", "boost"):
            made.append(Line(name, value, given))
    return tuple(made)


def said(reason: ScoreReason) -> str:
    request, found = f'"{reason.asked}"', f'"{reason.found}"'
    words = {
        "word": request,
        "form": f"{request} in the form {found}",
        "beginning": f"{request} as the start of {found}",
        "spelling": f"{request} read as {found}",
        "part": f"{request} as a part of {found}",
        "meaning": f"means: {reason.found} ~ {reason.asked} {number(reason.likeness)}",
        "pair": f"{request} next to each other",
        "phrase": "it holds the whole query, word for word",
        "title": "its title is the query",
        "exact": f"it holds {found}, word for word",
        "durable": "durable",
        "scope": f"scope {reason.found}",
        "confidence": f"confidence {reason.found}",
        "hint": f"it answers {found}",
        "entity": f"names {reason.found}",
        "constraint": "a decision about what you named",
        "gravity": "no word in common, only a similar meaning",
        "hub": "it names only what many notes name",
        "embedding": f"similar in meaning, {reason.found} of 1",
        "rerank": f"put in order once more: {reason.found}",
        "resolution": "it holds a decision" if reason.found == "decision" else "it holds a date",
    }
    return words[reason.kind]


def neighbours(reasons: Sequence[ScoreReason]) -> dict[str, str]:
    """Words that the query was read as, each with the word that was typed: spelling, forms, beginnings, parts, words
    that mean the same.
    """
    return {
        reason.found: reason.asked
        for reason in sorted(reasons, key=lambda reason: reason.value)
        if reason.kind in ("form", "beginning", "spelling", "part", "meaning")
        and reason.asked != reason.found
    }
