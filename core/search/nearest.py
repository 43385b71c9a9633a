"""Suggests what a search without hits may mean: a nugget, type or tag of that name, or another spelling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

from core.model.snapshot import Snapshot
from core.search.completion import offers_of
from core.search.query_syntax import Question, typed_value

_MOST: Final = 3
# Words of a query that are looked up, and names that each is compared with.
_READ: Final = 8
_NAMES: Final = 5_000
# How alike a name must be to the value of a condition, of 100.
_ALIKE: Final = 60
_FIELDS: Final = ("nugget", "type", "tag", "scope", "subject")
# A word of a query may be a name of these.
_NAMED: Final = ("nugget", "type", "tag")
_SIGNS: Final = ".,;:!?()[]"


def nearest_queries(
    snapshot: Snapshot, question: Question, unknown: Iterable[str], spelling: Callable[[str], str]
) -> tuple[str, ...]:
    """Queries that find something where a question does not, the likest first, at most three.

    unknown: its words that no note holds. spelling: the word of the notes that is most like one, "" for none.
    """
    offers = offers_of(snapshot)
    names = {field: [name for name, _ in offers[field] if name] for field in _FIELDS}
    spelt = filter(None, map(spelling, islice(unknown, _READ)))
    return tuple(islice(dict.fromkeys([*_named(question, names), *spelt]), _MOST))


def _named(question: Question, names: dict[str, list[str]]) -> Iterator[str]:
    """Conditions for the names that are most like those of a question, and for its words that are names."""
    for condition in question.conditions:
        for value in condition.values if condition.field in names and not condition.negated else ():
            near = _likest(value, names[condition.field])
            if near.casefold() not in ("", value.casefold()):
                yield f"{condition.field}:{typed_value(near)}"
    for word in question.words.split()[:_READ]:
        # A condition that could not be read is words.
        field, colon, value = word.strip(_SIGNS).partition(":")
        if colon and field.lower() in names and (near := _likest(value, names[field.lower()])):
            yield f"{field.lower()}:{typed_value(near)}"
        plain = word.strip(_SIGNS).casefold()
        for field in _NAMED:
            named = (name for name in names[field] if name.casefold() == plain)
            yield from (f"{field}:{typed_value(name)}" for name in named)


def _likest(wanted: str, names: list[str]) -> str:
    from rapidfuzz import process
    from rapidfuzz.fuzz import ratio

    folded = {name.casefold(): name for name in names[:_NAMES]}
    found = process.extractOne(wanted.casefold(), list(folded), scorer=ratio, score_cutoff=_ALIKE)
    return folded[found[0]] if found is not None else ""
