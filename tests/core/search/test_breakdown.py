"""Laws of every search: parts and reasons add up, scores stay in range, order is the same again, filters only cut."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kits.search_graphs import FILTERS, QUERIES, close, index_of, notes, same

from core.errors import InvalidInputError
from core.model.note import Link, Note
from core.search import Filters, Hit, SearchIndex
from core.search.results import Breakdown
from core.settings import SearchSettings

MakeNote = Callable[..., Note]
MakeIndex = Callable[..., SearchIndex]

DEFAULTS = SearchSettings()
MOST_BOOST = DEFAULTS.durable_boost + DEFAULTS.own_boost + DEFAULTS.confidence_boost


def assert_sound(parts: Breakdown) -> None:
    """Parts and reasons add up, and everything lies in its range."""
    lines = {name: getattr(parts, name) for name in ("vector", "text", "boost")}
    assert close(sum(lines.values()), parts.blend)
    given_by: defaultdict[str, float] = defaultdict(float)
    for reason in parts.reasons:
        given_by[reason.line] += reason.value
    for line, value in lines.items():
        assert close(given_by[line], value), line
    assert parts.vector == DEFAULTS.vector_weight * parts.vector_score
    assert parts.text == DEFAULTS.text_weight * parts.text_score
    assert 0 <= parts.vector_score <= 1
    assert 0 <= parts.text_score <= 1
    assert 0 <= parts.coverage <= 1
    assert 0 <= parts.boost <= MOST_BOOST + 1e-12


@pytest.mark.slow
@settings(deadline=None)
@given(
    notes(),
    QUERIES,
    FILTERS,
    st.integers(0, 12),
    st.randoms(use_true_random=False),
)
def test_a_search_adds_up_keeps_its_order_and_is_cut_by_filters_and_limits_alone(
    found: tuple[Note, ...],
    query: str,
    filters: Filters,
    limit: int,
    chance: random.Random,
) -> None:
    index = index_of(found)
    everything = index.result(query, 100, Filters(include_hidden=filters.include_hidden)).hits
    assert_the_best_has_the_whole_of_a_leg(everything)
    assert_filters_only_cut_and_change_no_part(index.result(query, 100, filters).hits, everything, filters)
    assert_the_order_of_the_file_does_not_matter(found, query, filters, chance)
    hits = index.result(query, 100, filters).hits
    assert_parts_and_reasons_add_up_and_stay_in_range(hits, filters)
    assert_hits_are_ordered_by_blend(hits)
    assert index.result(query, limit, filters).hits == hits[:limit]
    assert_explain_agrees_about_every_note(index, found, query, filters, limit, hits)


def assert_parts_and_reasons_add_up_and_stay_in_range(hits: Sequence[Hit], filters: Filters) -> None:
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert sum(hit.score for hit in hits) == pytest.approx(1.0 if hits else 0.0)
    for hit in hits:
        assert_sound(hit.breakdown)
        assert filters.admits(hit.note)
        assert 0 < hit.score <= 1
        assert hit.breakdown.reached > 0 or hit.breakdown.text_score > 0


def assert_the_best_has_the_whole_of_a_leg(hits: Sequence[Hit]) -> None:
    if hits:
        assert max(hit.breakdown.text_score for hit in hits) == 1
        assert max(hit.breakdown.vector_score for hit in hits) in (0, 1)


def assert_hits_are_ordered_by_blend(hits: Sequence[Hit]) -> None:
    blends = [hit.breakdown.blend for hit in hits]
    assert blends == sorted(blends, reverse=True)


def assert_filters_only_cut_and_change_no_part(
    cut: Sequence[Hit], everything: Sequence[Hit], filters: Filters
) -> None:
    admitted = [hit for hit in everything if filters.admits(hit.note)]
    assert [hit.note for hit in cut] == [hit.note for hit in admitted]
    for one, other in zip(cut, admitted, strict=True):
        assert one.breakdown.blend == other.breakdown.blend
        assert one.breakdown.reasons == other.breakdown.reasons


def assert_the_order_of_the_file_does_not_matter(
    found: tuple[Note, ...], query: str, filters: Filters, chance: random.Random
) -> None:
    # Of several notes with one id the first is the one that links lead to.
    found = tuple({note.id: note for note in found}.values())
    shuffled = list(found)
    chance.shuffle(shuffled)
    assert same(
        index_of(found).result(query, 100, filters).hits, index_of(shuffled).result(query, 100, filters).hits
    )


def assert_explain_agrees_about_every_note(
    index: SearchIndex,
    found: tuple[Note, ...],
    query: str,
    filters: Filters,
    shown: int,
    hits: Sequence[Hit],
) -> None:
    for note in {note.id: note for note in reversed(found)}.values():
        explained = index.explain(query, note.id, filters, shown=shown)
        assert explained is not None
        assert explained.total == len(hits)
        enough = 0 < shown <= len(hits)
        assert explained.needed == (hits[shown - 1].breakdown.blend if enough else 0)
        hit = next((hit for hit in hits if hit.note is note), None)
        if hit is not None:
            assert explained.hit == hit
            assert explained.hit.breakdown.reasons == hit.breakdown.reasons
            assert explained.obstacle == ""
        else:
            assert (explained.hit.rank, explained.hit.score) == (0, 0)
            assert explained.obstacle
            assert_sound(explained.hit.breakdown)


@pytest.mark.slow
def test_of_many_equals_the_same_ones_lead_on_whatever_their_order(make_note: MakeNote) -> None:
    kettles = [make_note("kettle", f"blue{number}") for number in range(700)]
    target = make_note("kettle", "blue700 green", links=())
    linking = [
        make_note("kettle", f"blue{number}", links=(Link(to=target.id, reason="kin", created_at=""),))
        for number in range(701, 900)
    ]
    found = [*kettles, target, *linking]
    assert same(index_of(found).result("kettle", 900).hits, index_of(found[::-1]).result("kettle", 900).hits)


@pytest.mark.slow
def test_of_many_that_hold_all_words_the_same_ones_are_looked_into_for_the_phrase(
    make_note: MakeNote,
) -> None:
    found = [make_note(f"n{number}", "boiling kettle" + " tea" * (number % 7)) for number in range(2100)]
    found += [
        make_note(f"n{number}", "kettle boiling" + " tea" * (number % 7)) for number in range(2100, 2300)
    ]
    hits, reversed_hits = (index_of(notes).result("kettle boili", 400).hits for notes in (found, found[::-1]))
    assert same(hits, reversed_hits)
    assert all(any(reason.kind == "phrase" for reason in hit.breakdown.reasons) for hit in hits[:20])


def test_explain_says_what_a_hidden_note_would_have(make_note: MakeNote, make_index: MakeIndex) -> None:
    hidden = make_note("kettle", "boil water", hidden=True)
    index = make_index(hidden, make_note("tea", "green"))
    explained = index.explain("kettle", hidden.id)
    assert explained is not None
    assert (explained.obstacle, explained.hit.rank) == ("hidden", 0)
    assert explained.hit.breakdown.vector_score == 1.0
    (hit,) = index.result("kettle", filters=Filters(include_hidden=True)).hits
    assert hit.breakdown.blend == explained.hit.breakdown.blend


@pytest.mark.parametrize(
    ("query", "obstacle", "missing"),
    [
        ("", "nothing asked", ()),
        ("of the", "nothing asked", ()),
        ("granite", "nothing in common", ("granite",)),
        ("granite sandstone marble quartz kettle basalt flint", "", None),
        ("boil sandstone", "", ("sandstone",)),
        ("kettle", "", ()),
    ],
)
def test_explain_says_why_a_note_is_no_hit(
    make_note: MakeNote, make_index: MakeIndex, query: str, obstacle: str, missing: tuple[str, ...] | None
) -> None:
    stones = "granite sandstone marble quartz basalt flint"
    kettle = make_note("kettle", "boil")
    index = make_index(
        kettle, make_note("stones", stones), *(make_note(f"kettle {n}", "tea") for n in range(20))
    )
    explained = index.explain(query, kettle.id)
    assert explained is not None
    assert explained.obstacle == obstacle
    if missing is not None:
        assert explained.hit.breakdown.query_words().missing == missing


def test_explain_says_that_a_filter_keeps_a_note_out(make_note: MakeNote, make_index: MakeIndex) -> None:
    kettle = make_note("kettle", "boil")
    explained = make_index(kettle).explain("kettle", kettle.id, Filters(nugget="ops"))
    assert explained is not None
    assert (explained.obstacle, explained.total) == ("filters", 0)


def test_explaining_a_note_that_is_no_hit_changes_nothing_for_the_hits(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    hidden = make_note("kettle", "boil water slowly granite granite", hidden=True)
    index = make_index(
        hidden, make_note("tea", "kettle slowly"), make_note("cup", "slowly then a kettle, marble")
    )
    last = index.result("kettle slowly", 2).hits[1]
    explained = index.explain("kettle slowly", hidden.id, shown=2)
    assert explained is not None
    assert explained.needed == last.breakdown.blend


def test_the_boost_alone_makes_no_hit(make_note: MakeNote, make_index: MakeIndex) -> None:
    index = make_index(make_note("kettle", "boil"), make_note("tea", "green", scope="self", confidence=1.0))
    assert [hit.note.title for hit in index.result("kettle", 100).hits] == ["kettle"]


def test_a_link_from_a_hit_makes_none(make_note: MakeNote, make_index: MakeIndex) -> None:
    like = make_note("tea", "boil the green leaves slowly")
    link = Link(to=like.id, reason="kin", created_at="")
    index = make_index(make_note("kettle", "boil the green leaves slowly", links=(link,)), like)
    assert [hit.note.title for hit in index.result("kettle", 100).hits] == ["kettle"]


@pytest.mark.parametrize(
    ("weights", "lines"),
    [
        ({"vector_weight": 0.0}, ("vector",)),
        ({"text_weight": 0.0}, ("text",)),
        ({"durable_boost": 0.0, "own_boost": 0.0, "confidence_boost": 0.0}, ("boost",)),
        ({"vector_weight": 0.0, "text_weight": 0.0, "durable_boost": 0.0, "own_boost": 0.0,
          "confidence_boost": 0.0},
         ("vector", "text", "boost")),
    ],
    ids=lambda given: "-".join(given) if isinstance(given, tuple) else "",
)  # fmt: skip
def test_a_weight_of_nothing_switches_a_part_off(
    make_note: MakeNote, make_index: MakeIndex, weights: dict[str, float], lines: tuple[str, ...]
) -> None:
    target = make_note("kettle", "boil water")
    index = make_index(
        target, make_note("tea kettle", "boil", links=(Link(to=target.id, reason="kin", created_at=""),))
    )
    usual = index.result("boil kettle").hits
    hits = index.result("boil kettle", settings=SearchSettings(**weights)).hits  # type: ignore[arg-type]
    assert {hit.note.id for hit in hits} == {hit.note.id for hit in usual}
    for line in ("vector", "text", "boost"):
        assert any(getattr(hit.breakdown, line) for hit in usual), line
        if line in lines:
            assert not any(getattr(hit.breakdown, line) for hit in hits)
            assert not any(reason.line == line for hit in hits for reason in hit.breakdown.reasons)


def test_a_weight_of_nothing_for_pairs_forgets_the_order_of_words(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    index = make_index(make_note("one", "release plan"), make_note("two", "plan release"))
    usual = [hit.breakdown.vector for hit in index.result("release plan").hits]
    without = [
        hit.breakdown.vector
        for hit in index.result("release plan", settings=SearchSettings(pair_weight=0)).hits
    ]
    assert usual[0] > usual[1]
    assert without[0] == pytest.approx(without[1])


def test_what_covers_little_comes_last_and_is_less_likely_unless_the_floor_is_nothing(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    index = make_index(
        make_note("stones", "granite sandstone marble"), *(make_note(f"n{n}", "kettle") for n in range(30))
    )
    query = "granite sandstone marble kettle"
    hits = index.result(query, 100).hits
    assert len(hits) == 31
    assert [hit.note.title for hit in hits if hit.sure] == ["stones"]
    assert all(hit.sure for hit in index.result(query, 100, settings=SearchSettings(relevance_floor=0)).hits)


def test_weights_come_from_the_settings(make_note: MakeNote, make_index: MakeIndex) -> None:
    index = make_index(make_note("kettle", "boil"))
    given = SearchSettings(
        vector_weight=0.5, text_weight=0.2, own_boost=0.1, durable_boost=0, confidence_boost=0
    )  # fmt: skip
    (hit,) = index.result("kettle", settings=given).hits
    parts = hit.breakdown
    assert (parts.vector, parts.text, parts.boost) == (0.5, 0.2, 0.1)


@pytest.mark.parametrize(
    "settings",
    [
        SearchSettings(vector_weight=math.nan),
        SearchSettings(text_weight=-math.inf),
        SearchSettings(temperature=math.inf),
        SearchSettings(relevance_floor=math.nan),
    ],
    ids=str,
)
def test_settings_that_no_score_can_be_computed_with_are_refused(
    make_note: MakeNote, make_index: MakeIndex, settings: SearchSettings
) -> None:
    note = make_note("kettle", "boil")
    index = make_index(note)
    with pytest.raises(InvalidInputError, match="search"):
        index.result("kettle", settings=settings)
    with pytest.raises(InvalidInputError, match="search"):
        index.explain("kettle", note.id, settings=settings)


def test_scores_are_a_softmax_over_at_most_twenty(make_note: MakeNote, make_index: MakeIndex) -> None:
    index = make_index(*(make_note("n", "kettle") for _ in range(50)))
    hits = index.result("kettle", 50).hits
    assert [hit.score for hit in hits] == pytest.approx([0.05] * 50)
