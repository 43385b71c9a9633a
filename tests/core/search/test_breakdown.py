"""Laws of every search: parts add up, scores stay in range, order is the same again, updates leave no trace."""

from __future__ import annotations

import dataclasses
import math
import random
import threading
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InvalidInputError
from core.model.note import SCOPES, Note, replace
from core.model.snapshot import Snapshot
from core.search import Filters, Hit, SearchIndex
from core.settings import SearchSettings

MakeNote = Callable[..., Note]
MakeIndex = Callable[..., SearchIndex]

WORDS = ("kettle", "boil", "boiling", "tea", "Tee", "postgres", "café", "京都", "秋", "userName", "retry_policy",
         "the", "note", "v1.4.0", "gateway", "gateways", "[x]", "\ud800", "release", "plan")  # fmt: skip
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


@st.composite
def notes(draw: st.DrawFn) -> tuple[Note, ...]:
    made = []
    for number in range(draw(st.integers(0, 12))):
        nugget, scope = draw(st.sampled_from(("memory", "ops"))), draw(st.sampled_from(SCOPES))
        made.append(
            Note(
                id=f"note-{nugget}-{number:08x}",
                nugget_name=nugget,
                title=draw(TEXTS),
                content=draw(TEXTS),
                tags=(nugget, draw(st.sampled_from(WORDS)), f"scope:{scope}", "type:note"),
                scope=scope,
                type="note",
                subject=draw(st.sampled_from(("user:primary", "user:denis"))),
                confidence=draw(st.floats(allow_nan=True, allow_infinity=True)),
                stability=draw(st.sampled_from(("durable", "temporary"))),
                hidden=draw(st.booleans()),
                updated_at=draw(st.sampled_from(("2026-01-01", "2026-02-01"))),
            )
        )
    return tuple(made)


def index_of(snapshot_notes: tuple[Note, ...]) -> SearchIndex:
    index = SearchIndex()
    index.update(Snapshot(notes=snapshot_notes))
    return index


def plain(hits: tuple[Hit, ...]) -> list[tuple[str, int, dict[str, object]]]:
    return [(hit.note.id, hit.rank, dataclasses.asdict(hit.breakdown)) for hit in hits]


@settings(deadline=None)
@given(notes(), TEXTS | st.text(max_size=20), st.booleans())
def test_parts_add_up_and_stay_in_range(found: tuple[Note, ...], query: str, hidden: bool) -> None:
    defaults = SearchSettings()
    hits = index_of(found).search(query, 100, Filters(include_hidden=hidden))
    assert sum(hit.score for hit in hits) == pytest.approx(1.0 if hits else 0.0)
    for rank, hit in enumerate(hits, 1):
        parts = hit.breakdown
        assert hit.rank == rank
        assert hidden or not hit.note.hidden
        assert parts.vector + parts.text + parts.boost == parts.blend
        assert parts.vector == defaults.vector_weight * parts.vector_score
        assert parts.text == defaults.text_weight * parts.text_score
        assert parts.text_score == min(parts.raw_text, 1.5) / 1.5
        assert 0 <= parts.vector_score <= 1
        assert 0 <= parts.text_score <= 1
        assert 0 <= parts.raw_text <= 1.75
        assert -1.1 <= parts.raw_vector <= 1.1
        assert 0 <= parts.boost <= 0.13
        assert 0 < hit.score <= 1
        assert hit.score == parts.score
        assert parts.vector_score > 0 or parts.raw_text > 0


@settings(deadline=None)
@given(notes(), TEXTS, st.integers(0, 12), st.booleans())
def test_hits_are_ordered_by_blend_and_a_limit_only_cuts(
    found: tuple[Note, ...], query: str, limit: int, hidden: bool
) -> None:
    index, filters = index_of(found), Filters(include_hidden=hidden)
    hits = index.search(query, 100, filters)
    blends = [hit.breakdown.blend for hit in hits]
    assert blends == sorted(blends, reverse=True)
    assert plain(index.search(query, limit, filters)) == plain(hits[:limit])


@settings(deadline=None)
@given(notes(), notes(), TEXTS)
def test_an_updated_index_equals_a_fresh_one(
    before: tuple[Note, ...], after: tuple[Note, ...], query: str
) -> None:
    index = index_of(before)
    index.search(query)
    kept = tuple(note for note in before if all(note.id != other.id for other in after))
    index.update(Snapshot(notes=(*after, *kept)))
    assert plain(index.search(query, 100)) == plain(index_of((*after, *kept)).search(query, 100))


@settings(deadline=None)
@given(notes(), TEXTS, st.randoms(use_true_random=False))
def test_the_order_of_the_file_does_not_matter(
    found: tuple[Note, ...], query: str, chance: random.Random
) -> None:
    shuffled = list(found)
    chance.shuffle(shuffled)
    assert plain(index_of(found).search(query, 100)) == plain(index_of(tuple(shuffled)).search(query, 100))


@settings(deadline=None)
@given(notes(), TEXTS, st.booleans())
def test_explain_gives_the_breakdown_of_every_note(found: tuple[Note, ...], query: str, hidden: bool) -> None:
    index, filters = index_of(found), Filters(include_hidden=hidden)
    hits = {hit.note.id: hit for hit in index.search(query, 100, filters)}
    for note in found:
        explained = index.explain(query, note.id, filters)
        assert explained is not None
        if note.id in hits:
            assert explained == hits[note.id]
        else:
            assert explained.rank == 0
            assert explained.score == 0
            parts = explained.breakdown
            assert parts.vector + parts.text + parts.boost == parts.blend
            assert 0 <= parts.vector_score <= 1


def test_explain_says_what_a_hidden_note_would_have(make_note: MakeNote, make_index: MakeIndex) -> None:
    hidden = make_note("kettle", "boil water", hidden=True)
    index = make_index(hidden, make_note("tea", "green"))
    explained = index.explain("kettle", hidden.id)
    assert explained is not None
    assert explained.rank == 0
    assert explained.breakdown.vector_score == 1.0
    assert explained.breakdown.raw_text == 1.75
    (hit,) = index.search("kettle", filters=Filters(include_hidden=True))
    assert hit.breakdown.blend == explained.breakdown.blend


def test_the_boost_alone_makes_no_hit(make_note: MakeNote, make_index: MakeIndex) -> None:
    index = make_index(make_note("kettle", "boil"), make_note("tea", "green", scope="self", confidence=1.0))
    assert [hit.note.title for hit in index.search("kettle", 100)] == ["kettle"]


def test_weights_come_from_the_settings(make_note: MakeNote, make_index: MakeIndex) -> None:
    index = make_index(make_note("kettle", "boil"))
    (hit,) = index.search("kettle", settings=SearchSettings(vector_weight=0.5, text_weight=0.2, own_boost=0.1,
                                                            durable_boost=0.0, confidence_boost=0.0))  # fmt: skip
    assert (hit.breakdown.vector, hit.breakdown.text, hit.breakdown.boost) == (0.5, 0.2, 0.1)
    for dimension in (1, 33, 100):
        assert index.search("kettle", settings=SearchSettings(dimension=dimension))


@pytest.mark.parametrize(
    "settings",
    [
        SearchSettings(dimension=0),
        SearchSettings(dimension=10**11),
        SearchSettings(vector_weight=math.nan),
        SearchSettings(text_weight=-math.inf),
        SearchSettings(temperature=math.inf),
    ],
    ids=str,
)
def test_settings_that_no_score_can_be_computed_with_are_refused(
    make_note: MakeNote, make_index: MakeIndex, settings: SearchSettings
) -> None:
    note = make_note("kettle", "boil")
    index = make_index(note)
    with pytest.raises(InvalidInputError, match="search"):
        index.search("kettle", settings=settings)
    with pytest.raises(InvalidInputError, match="search"):
        index.explain("kettle", note.id, settings=settings)


def test_scores_are_a_softmax_over_at_most_twenty(make_note: MakeNote, make_index: MakeIndex) -> None:
    index = make_index(*(make_note(f"n{number}", "kettle") for number in range(50)))
    hits = index.search("kettle", 50)
    assert [hit.score for hit in hits] == pytest.approx([0.05] * 50)


def test_a_note_that_changed_in_hiddenness_alone_is_not_stale(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    note = make_note("kettle", "boil")
    index = make_index(note)
    index.update(Snapshot(notes=(replace(note, hidden=True),)))
    assert index.search("kettle") == ()
    index.update(Snapshot(notes=(replace(note, content="water", title="x"),)))
    assert index.search("kettle") == ()
    assert index.search("water")


def test_searching_while_the_index_is_updated_sees_one_state_or_the_other(make_note: MakeNote) -> None:
    few = Snapshot(notes=tuple(make_note(f"kettle {n}", "boil") for n in range(20)))
    more = Snapshot(notes=(*few.notes, *(make_note(f"kettle {n}", f"tea{n} boil") for n in range(20))))
    index = SearchIndex()
    index.update(few)
    stop = threading.Event()
    counts: set[int] = set()

    def look() -> None:
        while not stop.is_set():
            counts.add(len(index.search("kettle", 100)))

    looker = threading.Thread(target=look)
    looker.start()
    for _ in range(20):
        index.update(more)
        index.update(few)
    stop.set()
    looker.join()
    assert counts <= {20, 40}
