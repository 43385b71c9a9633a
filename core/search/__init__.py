"""Search over all notes: an index that follows the snapshots, explained hits, highlights, snippets."""

import os

from core.search.highlight import highlights
from core.search.index import SearchIndex
from core.search.results import Breakdown, Explanation, Filters, Hit, ScoreReason, SearchResult
from core.search.snippet import Snippet, snippet

# numpy is loaded by the first search; the arrays are short, and its threads would cost more than they bring.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__all__ = [
    "Breakdown",
    "Explanation",
    "Filters",
    "Hit",
    "ScoreReason",
    "SearchIndex",
    "SearchResult",
    "Snippet",
    "highlights",
    "snippet",
]
