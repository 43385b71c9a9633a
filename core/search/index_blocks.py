"""Saves an index as named blocks of bytes between starts, and loads it again.

The blocks hold no note, only what was read from notes; which note a row belongs to is found by the digest of what it
says now. So a stale store costs reading some notes anew, and gives nothing that the notes do not say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from core.search.documents import NOT_STEMMED, Reader
from core.search.state import DIGEST_BYTES, Segment, State
from core.text.languages import LANGUAGES

Blocks: TypeAlias = Mapping[str, "bytes | memoryview"]

_ARRAYS: Final[Mapping[str, str]] = {
    "stems": "<i4", "shares": "<f4", "pair_shares": "<f4", "starts": "<i8", "words": "<i4", "word_starts": "<i8",
    "sizes": "<f8", "lengths": "<f8", "languages": "u1", "order": "<i4",
}  # fmt: skip
_SEPARATOR: Final = "\n"


def blocks_of(state: State, reader: Reader) -> dict[str, bytes | memoryview]:
    """The blocks of a state: of its living rows alone."""
    segment = state.base
    if len(state.recent) or not state.alive.all():
        segment = Segment.of([state.document(row) for row in np.flatnonzero(state.alive).tolist()])
    blocks: dict[str, bytes | memoryview] = {
        name: np.ascontiguousarray(getattr(segment, name), dtype=kind).data.cast("B")
        for name, kind in _ARRAYS.items()
    }
    blocks["digests"] = segment.digests
    # The reader may go on meanwhile: what it learned since has no place in this state.
    blocks["stem_names"] = _joined(reader.stems.names[1 : len(state.counts)])
    blocks["word_names"] = _joined(reader.words.names[1 : len(state.word_counts)])
    stem_of = np.array([found[1 : len(state.word_counts)] for found in reader.stem_of.values()], dtype="<i4")
    stem_of[stem_of >= len(state.counts)] = NOT_STEMMED
    blocks["stem_of"] = stem_of.data.cast("B") if stem_of.size else b""
    return blocks


def restored(blocks: Blocks) -> tuple[Segment, Reader] | None:
    """The segment and the reader of `blocks_of`. None for blocks that do not fit together."""
    try:
        arrays = {name: np.frombuffer(blocks[name], dtype=kind) for name, kind in _ARRAYS.items()}
        stem_names, word_names = _parted(blocks["stem_names"]), _parted(blocks["word_names"])
        stem_of = np.frombuffer(blocks["stem_of"], dtype="<i4").reshape(len(LANGUAGES), len(word_names))
        digests = bytes(blocks["digests"])
    except (KeyError, ValueError):
        return None
    if not _sound(arrays, len(digests), len(stem_names), len(word_names), stem_of):
        return None
    # Each array has the type that the segment asks for.
    segment = Segment(digests=digests, **cast("dict[str, Any]", arrays))
    return segment, Reader(stem_names, word_names, stem_of.tolist())


def _sound(
    arrays: Mapping[str, NDArray[Any]], digests: int, stems: int, words: int, stem_of: NDArray[Any]
) -> bool:
    """Whether every number lies where the engine may use it: as an index, or in sums that stay finite."""
    rows, places = len(arrays["sizes"]), len(arrays["stems"])
    return (
        digests == rows * DIGEST_BYTES
        and len(arrays["lengths"]) == len(arrays["languages"]) == rows
        and _within(arrays["languages"], len(LANGUAGES))
        and len(arrays["shares"]) == len(arrays["pair_shares"]) == len(arrays["order"]) == places
        and _bounds(arrays["starts"], rows, places)
        and _bounds(arrays["word_starts"], rows, len(arrays["words"]))
        and _within(arrays["stems"], stems + 1)
        and _within(arrays["words"], words + 1)
        and _within(arrays["order"], places)
        and _within(stem_of, stems + 1, NOT_STEMMED)
        # Every document ends with no word: what looks at the next place may do so.
        and not arrays["stems"][arrays["starts"][1:] - 1].any()
        and not arrays["pair_shares"][arrays["starts"][1:] - 1].any()
        and _between(arrays["shares"], 0, 1)
        and _between(arrays["pair_shares"], 0, 1)
        and _between(arrays["sizes"], 0, np.diff(arrays["starts"]))
        # A note without stems has the length 0. One stem weighs 1, and a length near 0 is divided by.
        and _between(arrays["lengths"], arrays["sizes"] > 0, 2 * arrays["sizes"])
    )


def _bounds(starts: NDArray[Any], rows: int, places: int) -> bool:
    return (
        len(starts) == rows + 1
        and int(starts[0]) == 0
        and int(starts[-1]) == places
        and bool((np.diff(starts) >= 0).all())
    )


def _within(numbers: NDArray[Any], end: int, begin: int = 0) -> bool:
    return not numbers.size or (int(numbers.min()) >= begin and int(numbers.max()) < end)


def _between(values: NDArray[Any], least: object, most: object) -> bool:
    """Whether all values lie from the least to the most allowed; what is no number does not."""
    return bool(((values >= least) & (values <= most)).all())


def _joined(names: Iterable[str]) -> bytes:
    return _SEPARATOR.join(names).encode("utf-8", "surrogatepass")


def _parted(block: bytes | memoryview) -> Sequence[str]:
    text = bytes(block).decode("utf-8", "surrogatepass")
    return text.split(_SEPARATOR) if text else []
