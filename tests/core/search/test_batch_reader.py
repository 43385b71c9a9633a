"""Reading all notes at once gives what reading them one by one gives, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kits.counted_steps import steps_of
from kits.drafts import make_note
from kits.laws import examples

from core.model.note import Note, replace
from core.model.snapshot import Snapshot
from core.search import SearchIndex, batch_reader, state
from core.search.batch_reader import read_all
from core.search.documents import Reader
from core.search.state import Segment

pytestmark = pytest.mark.slow

_LATIN = ["the", "token", "Tokens", "tokens", "userName", "USER_NAME", "HTTPServer", "a1B2", "x9", "Café"]
_OTHERS = [
    "de\u0301ja\u0300",
    "東京都",
    "東",
    "ราคา",
    "naïveUser",
    "\u0130stanbul",
    "straße",
    "\x00",
    "\ud800",
]
_GERMAN = ["die", "und", "nicht", "wird", "Größe", "die Größe wird und ist"]
_FRENCH = ["les", "nous", "avec", "qui", "déployé", "les prix et nous avec"]
_MORE = ["gift", "cafe", "deploy", "deploying", "path/to/file.py", "3.14", "_", "--", "", "\u200b", "k" * 70]
_WORDS = st.sampled_from([*_LATIN, *_OTHERS, *_GERMAN, *_FRENCH, *_MORE])
_TEXTS = st.lists(_WORDS, max_size=30).map(" ".join)
_NOTES = st.lists(
    st.builds(
        lambda title, content, tags, subject: replace(
            make_note(1), title=title, content=content, tags=tuple(tags), subject=subject
        ),
        _TEXTS,
        _TEXTS,
        st.lists(_TEXTS, max_size=3),
        st.sampled_from(["", "shared:project", "the token ring", "東京"]),
    ),
    max_size=12,
)
_ARRAYS = (
    "stems",
    "shares",
    "pair_shares",
    "starts",
    "words",
    "word_starts",
    "sizes",
    "lengths",
    "languages",
)


@settings(max_examples=examples(40))
@given(_NOTES, st.sampled_from([1, 3, 8192]), st.sampled_from([1, 5, 1 << 18]))
def test_all_at_once_is_one_by_one_to_the_last_bit(notes: list[Note], rows: int, block: int) -> None:
    at_once, one_by_one = Reader(), Reader()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch_reader, "_ROWS", rows)
        patch.setattr(batch_reader, "_BLOCK", block)
        found = read_all(at_once, notes)
    wanted = Segment.of([one_by_one.read(note) for note in notes])
    for name in (*_ARRAYS, "order", "owners"):
        mine, theirs = getattr(found, name), getattr(wanted, name)
        assert mine.dtype == theirs.dtype, name
        assert np.array_equal(mine, theirs), name
    assert found.digests == wanted.digests
    assert at_once.words.names == one_by_one.words.names
    assert at_once.stems.names == one_by_one.stems.names
    assert at_once.stem_of == one_by_one.stem_of


@settings(max_examples=examples(40))
@given(_NOTES.filter(bool), _TEXTS)
def test_a_search_after_reading_at_once_is_the_one_after_reading_note_by_note(
    notes: list[Note], query: str
) -> None:
    notes = [replace(note, id=f"note-memory-{place:08x}") for place, note in enumerate(notes)]
    at_once, one_by_one = SearchIndex(), SearchIndex()
    at_once.update(Snapshot(notes=tuple(notes)))
    one_by_one.update(Snapshot())
    for count in range(1, len(notes) + 1):
        one_by_one.update(Snapshot(notes=tuple(notes[:count])))
    assert _said(at_once, query) == _said(one_by_one, query)


def _said(index: SearchIndex, query: str) -> list[Any]:
    hits = index.search(query, limit=100)
    return [(hit.note.id, hit.score, hit.breakdown.blend, hit.breakdown.matched) for hit in hits]


def test_reading_at_once_takes_a_fraction_of_the_steps() -> None:
    text = " ".join(f"word{number % 50} token" for number in range(200))
    notes = [replace(make_note(number), content=text) for number in range(40)]
    read_all(Reader(), notes[:1])
    one_by_one = steps_of(lambda: [Reader().read(note) for note in notes])
    assert steps_of(lambda: read_all(Reader(), notes)) * 5 < one_by_one


@settings(max_examples=examples(60))
@given(_NOTES, st.integers(1, 9))
def test_in_how_many_notes_a_stem_stands_is_counted_alike_in_blocks_of_any_size(
    notes: list[Note], block: int
) -> None:
    reader = Reader()
    segment = read_all(reader, notes)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(state, "_BLOCK", block)
        found = segment.document_counts(len(reader.stems)).tolist()
    held = [set(segment.stems[segment.places_of(row)].tolist()) for row in range(len(segment))]
    assert found == [sum(stem in one for one in held) for stem in range(len(reader.stems))]
