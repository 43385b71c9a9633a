"""Builds the query for a fact, and combines the two scores of each candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from core.text.tokens import STOP_WORDS, words

ALPHA: Final = 0.7
MIN_SCORE: Final = 0.1
MOST_CANDIDATES: Final = 5
_LONGEST_READ: Final = 2_000
_MOST_TERMS: Final = 64


def match_terms(text: str) -> list[str]:
    """The words of a text that a full-text search may be asked for, without stop words and single letters."""
    terms = dict.fromkeys(
        word for word in words(text[:_LONGEST_READ].lower()) if len(word) > 1 and word not in STOP_WORDS
    )
    return list(terms)[:_MOST_TERMS]


def distinctive_terms(terms: Sequence[str], most: int) -> list[str]:
    """So many of the words as tell a text from others, in their order: numbers and long words are mostly rare."""
    if len(terms) <= most:
        return list(terms)
    places = sorted(
        range(len(terms)), key=lambda place: (not any(map(str.isdigit, terms[place])), -len(terms[place]))
    )
    return [terms[place] for place in sorted(places[:most])]


def normalised_bm25(raw: float, best: float) -> float:
    """A score of FTS5's bm25() in [0, 1], as a share of the best one of the batch: |raw| / |best|.

    FTS5 gives negative scores, of greater magnitude for better hits; a best of 0 gives 0.
    """
    return min(1.0, abs(raw) / abs(best)) if best else 0.0


def hybrid_score(bm25: float, vector: float, alpha: float = ALPHA) -> float:
    """alpha * vector + (1 - alpha) * bm25 where both scorers found it, otherwise the one that did; all in [0, 1]."""
    if bm25 > 0 and vector > 0:
        return alpha * vector + (1 - alpha) * bm25
    return max(bm25, vector)


def ranked(
    bm25: Mapping[str, float],
    vector: Mapping[str, float],
    *,
    alpha: float = ALPHA,
    min_score: float = MIN_SCORE,
    most: int = MOST_CANDIDATES,
) -> list[tuple[str, float]]:
    """The best ids of both scorers with their scores, best first, equal ones by id.

    bm25: scores as FTS5 gives them, by id. vector: cosine similarities in [0, 1], by id; empty without vectors.
    """
    best = max(map(abs, bm25.values()), default=0.0)
    scores = {
        found: hybrid_score(normalised_bm25(bm25.get(found, 0.0), best), vector.get(found, 0.0), alpha)
        for found in {*bm25, *vector}
    }
    kept = [(found, score) for found, score in scores.items() if score >= min_score]
    return sorted(kept, key=lambda pair: (-pair[1], pair[0]))[:most]
