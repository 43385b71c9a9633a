"""Suggests what a search without hits may mean: a nugget, type or tag of that name, or another spelling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

from core.model.snapshot import Snapshot
from core.search.completion import offers_of
from core.search.query_syntax import Question

_MOST: Final = 3
# Words of a query that are looked up, and names that each is compared with.
_READ: Final = 8
_NAMES: Final = 5_000
# How alike a name must be, of 100: to the value of a condition, and to a word that may mean anything.
_ALIKE: Final = 60
_VERY_ALIKE: Final = 75
_FIELDS: Final = ("nugget", "type", "tag", "scope", "subject")
# A word of a query is not taken for a name of another kind by a likeness alone.
_NAMED: Final = ("nugget", "type", "tag")
_SIGNS: Final = ".,;:!?()[]"


def nearest_queries(
    snapshot: Snapshot,
    question: Question,
    unknown: Iterable[str],
    spelling: Callable[[str], str],
) -> tuple[str, ...]:
    """Queries that find something where a question does not, the likest first, at most three.

    unknown: its words that no note holds. spelling: the word of the notes that is most like one, "" for none.
    """
    found = dict.fromkeys(_queries(snapshot, question, tuple(unknown), spelling))
    return tuple(islice(found, _MOST))


def _queries(
    snapshot: Snapshot, question: Question, unknown: tuple[str, ...], spelling: Callable[[str], str]
) -> Iterator[str]:
    offers = offers_of(snapshot)
    names = {field: [name for name, _ in offers[field]] for field in _FIELDS}
    for condition in question.conditions:
        if condition.field in names and not condition.negated:
            known = {name.casefold() for name in names[condition.field]}
            for value in condition.values:
                near = _likest(value, names[condition.field]) if value.casefold() not in known else ""
                if near:
                    yield _query(condition.field, near)
    words = [word.strip(_SIGNS) for word in question.words.split()[:_READ]]
    for word in words:
        # A condition that could not be read is words.
        field, colon, value = word.partition(":")
        near = _likest(value, names[field.lower()]) if colon and field.lower() in names else ""
        if near:
            yield _query(field.lower(), near)
    for word in filter(None, words):
        for field in _NAMED:
            named = next((name for name in names[field] if name.casefold() == word.casefold()), "")
            if named:
                yield _query(field, named)
    for word in unknown[:_READ]:
        other = spelling(word)
        if other:
            yield other
    for word in filter(None, words):
        near = _likest(word, names["nugget"], _VERY_ALIKE)
        if near:
            yield _query("nugget", near)


def _query(field: str, value: str) -> str:
    return f'{field}:"{value}"' if " " in value else f"{field}:{value}"


def _likest(wanted: str, names: list[str], least: int = _ALIKE) -> str:
    from rapidfuzz import process
    from rapidfuzz.fuzz import ratio

    folded = {name.casefold(): name for name in names[:_NAMES]}
    found = process.extractOne(wanted.casefold(), list(folded), scorer=ratio, score_cutoff=least)
    return folded[found[0]] if found is not None else ""
