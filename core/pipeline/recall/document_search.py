"""The search of documents by words and by meaning, where a model for embeddings is named."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from core.pipeline.database.connection import Database
from core.pipeline.records import DocumentHit
from core.settings.pipeline_sections import PipelineConfiguration

if TYPE_CHECKING:
    from core.pipeline.recall.beyond_words import BeyondWords

# So many hits of either kind are brought together.
_MOST: Final = 100


def search_documents(
    database: Database, beyond: BeyondWords, configuration: PipelineConfiguration, query: str, limit: int
) -> tuple[DocumentHit, ...]:
    """The chunks that share words with a query or are near to it, best first.

    What is found both ways scores `search.alpha` of its cosine and the rest of its words, all else what it has.
    """
    asked = beyond.asked(configuration, query, waits=True)
    with database.checked_reading() as reader:
        most = max(limit, _MOST) if asked.vector is not None else limit
        by_words = reader.documents.search(query, most, database.counted_chunk_words)
        near = beyond.near_chunks(reader, asked)
        if near is None or limit < 1:
            return by_words[:limit]
        nearest = near.best(_MOST, configuration.embedding.min_similarity)
        known = {hit.chunk_id for hit in by_words}
        ids = [int(near.targets[row]) for row in nearest if int(near.targets[row]) not in known]
        others = reader.documents.hits_of(ids)
    alpha = configuration.search.alpha
    scored: list[DocumentHit] = []
    for hit in (*by_words, *others):
        cosine = near.cosine(str(hit.chunk_id))
        if cosine is not None:
            likeness = max(0.0, cosine)
            words = hit.score
            score = alpha * likeness + (1 - alpha) * words if words else likeness
            hit = replace(hit, score=score)
        scored.append(hit)
    return tuple(sorted(scored, key=lambda hit: -hit.score)[:limit])
