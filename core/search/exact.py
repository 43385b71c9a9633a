"""Exact words that a query prefers: which notes hold them word for word, and what that is worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np

from core.search.documents import is_content_word
from core.search.language import Exclusion, haystack_of, squeezed, stands
from core.search.legs import greatest
from core.search.query import Query
from core.search.segment import Counts, Numbers, Values
from core.search.state import Holdings, State
from core.text.languages import serves_grammar
from core.text.tokens import words

# More than all other parts of a score: notes that hold the exact words come first. One word in quotation marks amid a
# sentence is most often a name or a placeholder of an example, and only tips the scales (measured).
_FIRST: Final = 1.5
_TIPPED: Final = 0.05
# Notes looked into for exact words, at most, the best.
_LOOKS: Final = 500


class Exact(NamedTuple):
    """The rows that hold some exact words, and what that adds to their scores."""

    rows: frozenset[int]
    worth: float


def exact_rows(
    state: State,
    query: Query,
    texts: Sequence[str],
    holdings: Holdings,
    blends: Values,
    candidates: Numbers,
    outsider: int | None = None,
) -> dict[str, Exact]:
    """For each of some exact words the rows that hold them. outsider: a row that is looked into in any case."""
    quoted = {word for text in texts for word in words(text, compounds=True)}
    most = 2 * sum(word in quoted for word in query.words) >= len(query.words)
    return {
        text: Exact(
            frozenset(_holding(state, text, holdings, blends, candidates, outsider)),
            _FIRST if most or len(words(text)) > 1 else _TIPPED,
        )
        for text in texts
    }


def is_excluded_by(state: State, text: str) -> bool:
    """Whether some visible note would be left out for some words. Of very many that hold the words some are read."""
    exclusion = Exclusion(text)
    rows = _with_words_of(text, state, np.flatnonzero(state.alive & ~state.hidden), state.holding)
    return any(exclusion.stands(haystack_of(state.notes[row])) for row in rows[:_LOOKS].tolist())


def _holding(
    state: State, text: str, holdings: Holdings, blends: Values, candidates: Numbers, outsider: int | None
) -> list[int]:
    rows = _with_words_of(text, state, candidates, holdings.of)
    looked_into = greatest(state, blends, rows, _LOOKS).tolist()
    if outsider is not None:
        looked_into.append(outsider)
    wanted = squeezed(text)
    return [row for row in looked_into if stands(wanted, haystack_of(state.notes[row]))]


def _with_words_of(text: str, state: State, rows: Numbers, holding: Callable[[str], Counts]) -> Numbers:
    """Those of the rows that hold each word of a text, in the language that they are in."""
    for word in set(words(text, compounds=True)):
        # Notes are read without the function words of their language.
        if is_content_word(word) and not serves_grammar(word, state.languages):
            held = np.unique(np.concatenate([holding(name).rows for name in state.stems_of(word)]))
            rows = np.intersect1d(rows, held, assume_unique=True)
    return rows
