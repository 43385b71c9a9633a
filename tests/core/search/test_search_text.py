"""What a query finds: every script, no words that stand on every note, nothing at all for a miss."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.errors import InvalidInputError
from core.model.note import Note
from core.search import Filters, Hit, SearchIndex

MakeNote = Callable[..., Note]
MakeIndex = Callable[..., SearchIndex]


def titles(hits: tuple[Hit, ...]) -> list[str]:
    return [hit.note.title for hit in hits]


@pytest.fixture
def index(make_note: MakeNote, make_index: MakeIndex) -> SearchIndex:
    return make_index(
        make_note("Café", "Der Kaffee im Café Fröhlich ist gut."),
        make_note("日本語メモ", "京都の秋は美しい。紅葉は十一月中旬。"),
        make_note("кошка", "Кота зовут Барсик, он любит молоко.", scope="self"),
        make_note("हिन्दी", "यह हिन्दी भाषा में है"),
        make_note("ภาษาไทย", "แมวชอบนอนกลางวัน"),
        make_note("retry policy", "The gateway retries three times, see userName in docs/runbook.md ☕"),
        make_note("postgres", "The importer failed because connections ran out.", nugget="ops", scope="project"),
        make_note("about", "who we are and what we do"),
        make_note("functions", "x => y, never x ≠ y ™, key 0123456789ABCDEF" + "0" * 60),
        make_note("How to", "what one does first"),
        make_note("커피", "물은 뜨겁게, 京"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("café", "Café"),
        ("cafe", "Café"),
        ("CAFE\u0301", "Café"),
        ("frohlich kaffee", "Café"),
        ("京都", "日本語メモ"),
        ("秋", "日本語メモ"),
        ("紅葉 京都", "日本語メモ"),
        ("БАРСИК", "кошка"),
        ("भाषा", "हिन्दी"),
        ("แมว", "ภาษาไทย"),
        ("☕", "retry policy"),
        ("username", "retry policy"),
        ("docs/runbook.md", "retry policy"),
        ("retrying gateways", "retry policy"),
        ("gateway", "retry policy"),
        ("postgers", "postgres"),
        ("connectoins", "postgres"),
        ("importer postg", "postgres"),
        ("紅", "日本語メモ"),
        ("京 ", "커피"),
        ("물", "커피"),
        ("물 ", "커피"),
        ("=>", "functions"),
        ("≠", "functions"),
        ("™", "functions"),
        ("☕\n", "retry policy"),
        ("0123456789abcdef" + "0" * 60, "functions"),
        ("how to", "How to"),
        ("HOW  TO", "How to"),
        ("who we are and", "about"),
        ("What we", "about"),
    ],
)
def test_a_note_is_found_by(index: SearchIndex, query: str, title: str) -> None:
    hits = index.result(query).hits
    assert titles(hits[:1]) == [title]
    assert hits[0].breakdown.matched


@pytest.mark.parametrize(
    "query",
    ["", "   \n", "the of a", "is it to the", ".", "\x00", "\ud800", "zzzz nothing", "volcano", "sailing",
     "note", "scope", "type", "memory", "primary", "z", "what", "=", "->", "™™", "\u0301", "\u200b", "𝕫"],
)  # fmt: skip
def test_a_miss_finds_nothing(index: SearchIndex, query: str) -> None:
    assert index.result(query, 100).hits == ()


def test_a_note_is_not_found_by_its_type_scope_or_kind(make_note: MakeNote, make_index: MakeIndex) -> None:
    index = make_index(
        make_note("kettle", "descale monthly"), make_note("bicycle", "oil the chain", type="preference")
    )
    for query in ("note", "preference", "user", "fact", "type:preference"):
        assert index.result(query).hits == (), query


def test_a_subject_of_its_own_is_searched(make_note: MakeNote, make_index: MakeIndex) -> None:
    index = make_index(make_note("games", "chess", subject="user:denis"), make_note("tea", "green"))
    assert titles(index.result("denis").hits) == ["games"]


def test_one_or_two_letters_do_not_match_inside_words(make_note: MakeNote, make_index: MakeIndex) -> None:
    index = make_index(make_note("specific", "decimal"), make_note("pipeline", "runs on CI"))
    assert titles(index.result("ci").hits) == ["pipeline"]
    assert index.result("e").hits == ()


def test_a_phrase_outranks_the_same_words_apart(make_note: MakeNote, make_index: MakeIndex) -> None:
    index = make_index(
        make_note("a", "plan of the next release"), make_note("b", "the release plan"), make_note("c", "cats")
    )
    hits = index.result("release plan").hits
    assert titles(hits) == ["b", "a"]


def test_a_phrase_may_run_over_a_line_break_but_not_over_fields(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    index = make_index(make_note("green tea", "brew it\n  slowly"))
    kinds = [
        {one.kind for one in index.result(text).hits[0].breakdown.reasons}
        for text in ("brew it slowly", "tea brew")
    ]
    assert ["phrase" in found for found in kinds] == [True, False]


def test_words_that_only_serve_grammar_make_no_hit(index: SearchIndex) -> None:
    assert titles(index.result("what should we do about postgres").hits) == ["postgres"]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (Filters(), {"new", "old", "other"}),
        (Filters(nugget="ops"), {"other"}),
        (Filters(scope="project"), {"other"}),
        (Filters(type="preference"), {"old"}),
        (Filters(subject="user:denis"), {"old"}),
        (Filters(tag="Tea Time"), {"new"}),
        (Filters(include_hidden=True), {"new", "old", "other", "gone"}),
        (Filters(nugget="ops", scope="user"), set()),
        (Filters(nugget="none such"), set()),
    ],
)
def test_filters_admit(make_note: MakeNote, make_index: MakeIndex, filters: Filters, found: set[str]) -> None:
    index = make_index(
        make_note("new", "kettle", tags=("tea-time",)),
        make_note("old", "kettle", type="preference", subject="user:denis"),
        make_note("other", "kettle", nugget="ops", scope="project"),
        make_note("gone", "kettle", hidden=True),
    )
    assert set(titles(index.result("kettle", filters=filters).hits)) == found


def test_a_filter_changes_no_score_of_a_blend(index: SearchIndex) -> None:
    everywhere = {
        hit.note.id: hit.breakdown.blend for hit in index.result("gateway postgres connections").hits
    }
    for hit in index.result("gateway postgres connections", filters=Filters(nugget="ops")).hits:
        assert hit.breakdown.blend == everywhere[hit.note.id]


def test_limits(index: SearchIndex) -> None:
    assert index.result("postgres gateway", 0).hits == ()
    assert len(index.result("postgres gateway", 1).hits) == 1
    assert len(index.result("postgres gateway", 10**9).hits) == 2
    with pytest.raises(InvalidInputError):
        index.result("postgres", -1)


def test_an_exact_match_outranks_an_irrelevant_note_alone_in_its_nugget(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    index = make_index(
        *(make_note(f"diary {n}", "quiet day, tea and books", nugget="diary") for n in range(30)),
        make_note(
            "release plan", "freeze on Monday", nugget="projects", stability="temporary", confidence=0.0
        ),
        make_note("lonely", "a plan for the garden", nugget="alone"),
    )
    hits = index.result("release plan").hits
    assert titles(hits) == ["release plan", "lonely"]
    assert hits[0].score > hits[1].score


def test_equals_come_newest_first(make_note: MakeNote, make_index: MakeIndex) -> None:
    index = make_index(
        make_note("old", "kettle", updated_at="2026-01-01T00:00:00.000Z"),
        make_note("new", "kettle", updated_at="2026-02-01T00:00:00.000Z"),
    )
    assert titles(index.result("kettle").hits) == ["new", "old"]


@pytest.mark.parametrize(
    "query",
    ["word " * 200_000, "x" * 1_000_000, "語" * 100_000, "é" * 200_000, "\ud800\udfff" * 100, "\x1b[2J\x07", "👩‍👩‍👧",
     "((((", "[red]", "\\", "%s{}", "-not", '"', "a" * 65, "\u202e", "\u0301" * 1000, "tag:", ":::", "=>",
     " ".join(f"word{number}" for number in range(20_000)), "gateway postgres " * 6_000, "=>" * 50_000,
     "\x00\x01\x02 gateway\x00retries", ".*", "(?=a+)+$", "retry [a-", "ß" * 5_000, "的" * 64 + " 京都"],
    ids=lambda query: ascii(query[:8]),
)  # fmt: skip
def test_no_query_is_an_error(index: SearchIndex, query: str) -> None:
    for hit in index.result(query).hits:
        explained = index.explain(query, hit.note.id)
        assert explained is not None
        assert explained.hit == hit
        assert len(hit.breakdown.matched) <= 64


def test_hostile_notes_are_searched(make_note: MakeNote, make_index: MakeIndex) -> None:
    from kits.hostile import HOSTILE

    index = make_index(
        *(make_note(text[:50], text + " kettle", confidence=float("nan"), tags=("",)) for text in HOSTILE)
    )
    assert len(index.result("kettle", 100).hits) == len(HOSTILE)
    for text in HOSTILE:
        index.result(text)


def test_an_empty_index_finds_nothing(make_index: MakeIndex) -> None:
    assert SearchIndex().result("tea").hits == ()
    assert SearchIndex().explain("tea", "note-x-1") is None
    assert make_index().result("tea").hits == ()
    assert make_index().explain("tea", "note-x-1") is None


def test_a_word_half_typed_is_completed_before_it_is_taken_for_a_misspelt_one(
    make_note: MakeNote, make_index: MakeIndex
) -> None:
    index = make_index(make_note("Mira", "The designer."), make_note("migrate", "How to move the data."))
    for query in ("migra", "migra ", "migra data", "migra,"):
        assert titles(index.result(query, 10).hits) == ["migrate"], query
