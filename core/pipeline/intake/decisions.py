"""Finds decisions in a text by fourteen patterns; a decision weighs more than other statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import Final, NamedTuple

from core.pipeline.intake.sentences import TextSegment, TextSpan, clauses

# No more of a text than this is looked at, and no more than that between a verb and what it was chosen over.
SCANNED: Final = 20_000
REACH: Final = 60

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_RIVAL: Final = frozenset({"over", "instead"})
_NEGATIONS: Final = frozenset(
    (
        "not",
        "never",
        "no",
        "nobody",
        "none",
        "neither",
        "nor",
        "cannot",
        "without",
        "hardly",
        "undecided",
        "whether",
        "if",
        "unless",
    )
)
_NEGATION_REACH: Final = 5
_AUXILIARIES: Final = frozenset(
    (
        "have",
        "has",
        "had",
        "do",
        "does",
        "did",
        "should",
        "shall",
        "can",
        "could",
        "would",
        "will",
        "may",
        "might",
        "are",
        "is",
        "was",
        "were",
    )
)
_ASKED: Final = frozenset(
    ("i", "we", "you", "he", "she", "it", "they", "the", "anyone", "anybody", "somebody", "someone")
)
_ASKING: Final = frozenset(("who", "whom", "which", "what", "when", "where", "why", "how"))


class Decision(NamedTuple):
    """A decision in a text. form: 1 to 14, the number of the form of words; span: from its verb to its last word."""

    form: int
    span: TextSpan


class _Token(NamedTuple):
    word: str
    start: int
    end: int


_Test = Callable[[list[_Token], int], int]


def find_decisions(text: str) -> tuple[Decision, ...]:
    """The decisions in the first 20,000 characters of a text, in order.

    Each clause is looked at for itself. Negated ("have not decided to"), supposed ("if we switched to") and asked
    ("have we decided to ...?") ones are no decisions; "decided against" and "decided not to" are.
    """
    scanned = text[:SCANNED]
    return decisions_in(scanned, clauses(scanned))


def decisions_in(text: str, segments: Iterable[TextSegment]) -> tuple[Decision, ...]:
    """The decisions in some clauses of a text, in their order."""
    return tuple(found for clause in segments for found in _in_clause(text, clause))


def _in_clause(text: str, clause: TextSegment) -> list[Decision]:
    if clause.question or not _may_decide(text[clause.start : clause.end].lower()):
        return []
    tokens = [
        _Token(found[0].lower().replace("’", "'"), found.start(), found.end())
        for found in _WORD.finditer(text, clause.start, clause.end)
    ]
    if _is_asked(tokens):
        return []
    found: list[Decision] = []
    for place, token in enumerate(tokens):
        for form, test in _FORMS.get(token.word, ()):
            last = test(tokens, place)
            if last >= 0 and not _is_negated(text, tokens, place):
                found.append(Decision(form, TextSpan(token.start, tokens[last].end)))
    return found


def _may_decide(lower: str) -> bool:
    """Whether one of the verbs may be in a clause; tells most clauses apart before they are cut into words."""
    return any(verb in lower for verb in _BEGINNINGS)


def _is_asked(tokens: list[_Token]) -> bool:
    words = [token.word for token in tokens[:3]]
    if len(words) < 2:
        return False
    return (words[0] in _AUXILIARIES and words[1] in _ASKED) or (
        words[0] in _ASKING and (words[1] in _AUXILIARIES or words[2:3] == ["should"])
    )


def _is_negated(text: str, tokens: list[_Token], place: int) -> bool:
    """Whether one of the few words before, back to the last comma or "but", denies or supposes what follows."""
    end, following = tokens[place].start, ""
    for token in reversed(tokens[max(0, place - _NEGATION_REACH) : place]):
        if token.word in {"but", "then"} or not {",", ";", ":"}.isdisjoint(text[token.end : end]):
            return False
        if token.word.endswith("n't") or token.word in _NEGATIONS:
            return (token.word, following) != ("not", "only")
        end, following = token.start, token.word
    return False


def _word(tokens: list[_Token], place: int) -> str:
    return tokens[place].word if place < len(tokens) else ""


def _followed_by(*endings: str) -> _Test:
    """A test for a verb with one of some endings right behind it, each of one or more words."""
    split = tuple(tuple(ending.split()) for ending in endings)

    def test(tokens: list[_Token], place: int) -> int:
        for ending in split:
            if all(_word(tokens, place + number) == word for number, word in enumerate(ending, 1)):
                return place + len(ending)
        return -1

    return test


def _weighed(rivals: frozenset[str], *, apart: bool) -> _Test:
    """A test for a verb with one of some words at most 60 characters behind it. apart: something stands between."""

    def test(tokens: list[_Token], place: int) -> int:
        near = takewhile(lambda token: token.start - tokens[place].end <= REACH, tokens[place + 1 :][:REACH])
        for number, token in enumerate(near, 1):
            if token.word in rivals and (number > 1 or not apart):
                return place + number
        return -1

    return test


def _pair_with(first: str) -> _Test:
    """A test for a noun right behind another."""
    return lambda tokens, place: place if place > 0 and tokens[place - 1].word == first else -1


def _table() -> dict[str, list[tuple[int, _Test]]]:
    forms: tuple[tuple[int, str, _Test], ...] = (
        (1, "chose chosen choose chooses choosing", _weighed(_RIVAL, apart=False)),
        (2, "decided", _followed_by("to", "on", "against", "not to")),
        (3, "switched switching", _followed_by("from", "to")),
        (4, "migrate migrates migrated migrating", _followed_by("from", "to", "away")),
        (5, "picked picking", _weighed(frozenset({"over"}), apart=True)),
        (6, "went going", _followed_by("with")),
        (7, "sticking", _followed_by("with")),
        (8, "committed committing", _followed_by("to")),
        (9, "settled settling", _followed_by("on")),
        (10, "will", _followed_by("use", "go with", "stick with", "be using", "be going with", "be sticking with")),
        (11, "prefer prefers preferred preferring", _weighed(_RIVAL | {"rather"}, apart=True)),
        (12, "adopted adopting", lambda tokens, place: place),
        (13, "decision decisions", _pair_with("architecture")),
        (14, "decision decisions", _pair_with("design")),
    )  # fmt: skip
    table: dict[str, list[tuple[int, _Test]]] = {}
    for number, verbs, test in forms:
        for verb in verbs.split():
            table.setdefault(verb, []).append((number, test))
    return table


_FORMS: Final = _table()
# What the verbs have in common, so that few need to be looked for.
_BEGINNINGS: Final = tuple(
    verb for verb in _FORMS if not any(verb.startswith(other) for other in _FORMS if other != verb)
)
