"""Search over all notes: an index that follows the snapshots, explained hits, highlights, snippets."""

import os

from core.search.highlight import highlights, snippet
from core.search.index import SearchIndex
from core.search.results import Explanation, Filters, Hit, SearchResult

# numpy is loaded by the first search; the arrays are short, and its threads would cost more than they bring.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__all__ = ["Explanation", "Filters", "Hit", "SearchIndex", "SearchResult", "highlights", "snippet"]
