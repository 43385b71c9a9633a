"""Each rule of reflection by itself: archive, tag, find duplicates, link."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.graph_kit import draft_of, linked, make_fact, make_note, memory_of

from core.model.note import Link, Note, replace
from core.reflection import reflect
from core.reflection.duplicates import Duplicates, fact_agrees, jaccard, survivor_first, were_merged
from core.reflection.judge import improved_tags, low_value
from core.reflection.linking import SharedContext, may_link
from core.reflection.words import TokenCache, independent
from core.settings import InferenceSettings, ReflectionSettings

SETTINGS, WORDS = ReflectionSettings(), InferenceSettings()


def low(note: Note) -> bool:
    return low_value(note, SETTINGS, WORDS) is not None


def tags(note: Note) -> tuple[str, ...]:
    return improved_tags(note, TokenCache().tokens(note), SETTINGS, WORDS)


# Archive


@pytest.mark.parametrize("content", ["", "  \n ", "ok", "x", "👍"])
def test_empty_and_very_short_notes_are_of_low_value(content: str) -> None:
    assert low(make_note(1, content))


@pytest.mark.parametrize("value", ["34", "UK", "no", "20", "", "x"])
def test_a_short_fact_is_never_archived(value: str) -> None:
    assert not low(make_fact(1, "user:age", value))


@pytest.mark.parametrize(
    "title",
    ["Template for weekly report", "Temperature log", "Tempo of the sprint", "tempting", "scratchpad-tool"],
)
def test_a_title_that_only_begins_like_a_scratch_word_is_no_scratch_note(title: str) -> None:
    assert not low(make_note(1, "some words that matter", title))


@pytest.mark.parametrize("title", ["tmp", "temp: list", "Scratch", "tmp_list", "TEMP notes"])
def test_a_scratch_note_nobody_recalled_is_of_low_value(title: str) -> None:
    assert low(make_note(1, "some words", title))
    assert not low(make_note(1, "some words", title, hits=1))


def test_a_short_note_that_was_recalled_once_stays_and_an_empty_one_only_when_recalled_often() -> None:
    assert not low(make_note(1, "ok", hits=1))
    assert low(make_note(1, "", hits=2))
    assert not low(make_note(1, "", hits=3))


@pytest.mark.parametrize("answer", ["R", "on", "no", "7", "%", "👍", "❌", "東", "は", "가"])
@pytest.mark.parametrize(
    "title",
    [
        "Statistics language of the lab",
        "Dark mode",
        "研究室の統計言語",
        "연구실의 통계 언어",
        "ภาษาสถิติของแล็บ",
    ],
)
def test_a_short_text_that_answers_its_title_is_kept(title: str, answer: str) -> None:
    assert not low(make_note(1, answer, title))


@pytest.mark.parametrize(("title", "content"), [("Editor", "vi"), ("Never deploy on Fridays", "")])
def test_what_may_say_something_is_hidden_by_a_person_alone(title: str, content: str) -> None:
    snapshot = memory_of([make_note(1, content, title)])
    assert [change.type for change in reflect(draft_of(snapshot)).changes] == ["hide"]
    assert not reflect(draft_of(snapshot), sure=True).changes


def test_two_chinese_characters_are_a_word_and_stay() -> None:
    assert not low(make_note(1, "京都"))


def test_three_characters_are_enough() -> None:
    assert not low(make_note(1, "abc"))


# Tags


def test_tags_that_people_gave_are_never_cut_however_many() -> None:
    own = tuple(f"tag{number}" for number in range(12))
    assert set(own) < set(tags(make_note(1, "prefers tea from src/tea/leaf.py", tags=own)))


def test_missing_tags_of_nugget_scope_and_type_are_added_and_stale_ones_go() -> None:
    note = replace(make_note(1, "text"), tags=("mine", "scope:session", "type:style"))
    assert tags(note) == ("memory", "mine", "scope:user", "type:note")


@pytest.mark.parametrize(
    ("note", "wanted"),
    [
        (make_note(1, "Handled in src/auth/middleware.ts:47, with JWT"), "files"),
        (make_note(1, "x", "file: main.ts"), "files"),
        (make_note(1, "Prefers window seats"), "preferences"),
        (make_note(1, "x y z", "learned: retry"), "learnings"),
        (make_note(1, "I answer too long", "weekly reflection"), "reflection"),
        (make_note(1, "tabs", type="style"), "style"),
    ],
)
def test_what_a_note_is_about_becomes_a_tag(note: Note, wanted: str) -> None:
    assert wanted in tags(note)


@pytest.mark.parametrize("text", ["see https://a.test/b/c.html", "and/or either", "1/2 of it", "no path"])
def test_web_addresses_and_slashes_are_no_files(text: str) -> None:
    assert "files" not in tags(make_note(1, text))


def test_at_most_six_tags_are_derived() -> None:
    note = make_note(
        1, "prefers src/a/b.py", "learned: file style reflection", type="style", source="inferred"
    )
    assert len(tags(note)) <= 6


@given(
    st.lists(
        st.sampled_from(["a", "B b", "scope:user", "scope:self", "type:note", "Memory", "files", "", "İ"])
    )
)
def test_improving_tags_twice_changes_nothing_more(given_tags: list[str]) -> None:
    note = replace(make_note(1, "prefers src/a/b.py", "file: x"), tags=tuple(given_tags))
    once = replace(note, tags=tags(note))
    assert tags(once) == once.tags


# Duplicates


def duplicates(*notes: Note) -> dict[str, list[str]]:
    found = Duplicates(notes, TokenCache(), 0.9)
    return {note.id: found.of(note) for note in notes}


def test_nine_words_of_ten_are_near_and_seventeen_of_nineteen_are_not() -> None:
    nine = "bravo charlie delta echo foxtrot golf hotel india"
    seventeen = "banana cherry damson elder figs grape hazel indigo jasmine kiwi lemon mango nutmeg olive papaya quince"
    first, second = make_note(1, nine, "alpha"), make_note(2, f"{nine} juliet", "alpha")
    third, fourth = make_note(3, f"{seventeen} raisin", "apple"), make_note(4, f"{seventeen} walnut", "apple")
    found = duplicates(first, second, third, fourth)
    assert found == {first.id: [second.id], second.id: [first.id], third.id: [], fourth.id: []}


def test_unrelated_cyrillic_facts_are_not_alike() -> None:
    first = make_fact(1, "имя кота", "Барсик")
    second = make_fact(2, "любимый город", "Казань")
    assert duplicates(first, second) == {first.id: [], second.id: []}


def test_cyrillic_and_chinese_notes_that_are_alike_are_found() -> None:
    russian = [make_note(n, "Кот Барсик любит спать на тёплом окне весь день", "кот") for n in (1, 2)]
    chinese = [make_note(n, "京都の秋は美しい。紅葉は十一月中旬。", "旅行") for n in (3, 4)]
    found = duplicates(*russian, *chinese)
    assert found[russian[0].id] == [russian[1].id]
    assert found[chinese[0].id] == [chinese[1].id]


def test_notes_without_words_are_similar_to_none() -> None:
    assert set(map(len, duplicates(make_note(1, "...", "!!"), make_note(2, "---", "??")).values())) == {0}


@pytest.mark.parametrize(("one", "other"), [("C++", "C#"), ("5", "-5"), ("👍", "👎"), ("a < b", "a > b")])
def test_marks_tell_short_texts_apart(one: str, other: str) -> None:
    notes = make_note(1, one, "level"), make_note(2, other, "level")
    assert set(map(len, duplicates(*notes).values())) == {0}


def test_facts_with_different_keys_and_equal_values_are_no_duplicates() -> None:
    value = "a long value of many words that stand in both facts just the same, every one of them, all along"
    first, second = make_fact(1, "user:name", value), make_fact(2, "user:boss name", value)
    assert duplicates(first, second) == {first.id: [], second.id: []}


def test_facts_are_duplicates_when_keys_differ_in_spelling_alone_and_values_agree() -> None:
    first, second = make_fact(1, "user:Favourite color", "blue"), make_fact(2, "user:favourite_color", "blue")
    assert duplicates(first, second) == {first.id: [second.id], second.id: [first.id]}
    third = make_fact(3, "user:favourite-color", "green")
    assert duplicates(first, third) == {first.id: [], third.id: []}


@pytest.mark.parametrize(
    "changed", [{"subject": "user:denis"}, {"scope": "self"}, {"type": "style"}, {"nugget_name": "other"}]
)
def test_another_subject_scope_type_or_nugget_is_another_note(changed: dict[str, str]) -> None:
    text = "casual lowercase replies please"
    notes = make_note(1, text, "voice"), make_note(2, text, "voice", **changed)
    assert set(map(len, duplicates(*notes).values())) == {0}


def test_the_index_finds_just_the_pairs_that_comparing_all_pairs_finds() -> None:
    dice = random.Random(3)
    words = [f"word{number}" for number in range(60)]
    notes = []
    for number in range(150):
        text = dice.sample(words, dice.randint(1, 25))
        if notes and dice.random() < 0.5:
            text = dice.choice(notes).content.split()
            text[dice.randrange(len(text))] = dice.choice(words)
        notes.append(make_note(number, " ".join(text), "same"))
    vocabulary = TokenCache()
    sets = {note.id: frozenset(vocabulary.tokens(note)) for note in notes}
    for threshold in (0.5, 0.8, 0.9, 1.0):
        found = Duplicates(notes, vocabulary, threshold)
        near = {(note.id, other) for note in notes for other in found.of(note)}
        wanted = {
            pair
            for a, b in itertools.combinations(notes, 2)
            if jaccard(sets[a.id], tuple(sets[b.id])) >= threshold - 1e-9
            for pair in ((a.id, b.id), (b.id, a.id))
        }
        assert near == wanted


def test_the_longer_note_survives_and_ties_are_broken_the_same_way_round() -> None:
    short, long = make_note(1, "a b"), make_note(2, "a b c")
    assert survivor_first(short, long) == survivor_first(long, short) == (long, short)
    often, seldom = make_note(4, "a b", hits=2), make_note(3, "a b")
    assert survivor_first(seldom, often) == (often, seldom)
    older, younger = make_note(5, "a b"), make_note(6, "a b")
    assert survivor_first(younger, older) == (older, younger)


def test_lines_that_tidying_would_drop_make_a_note_no_longer() -> None:
    repeating, fuller = make_note(1, "a b\na b\na b"), make_note(2, "a b c")
    assert survivor_first(repeating, fuller) == (fuller, repeating)


def test_a_pair_that_was_merged_and_brought_back_is_known() -> None:
    first, second = linked(
        make_note(1, "a"), make_note(2, "a"), reason="merged during daily memory reflection"
    )
    assert were_merged(first, second)
    third, fourth = linked(make_note(1, "a"), make_note(2, "a"))
    assert not were_merged(third, fourth)
    assert not were_merged(replace(third, extra={"mergedHits": 7}), fourth)


def test_a_fact_note_that_drifted_from_its_fact_is_told_apart() -> None:
    note = make_fact(1, "user:city", "Lima")
    assert fact_agrees(draft_of(memory_of([note])), note)
    assert not fact_agrees(draft_of(memory_of([note])), replace(note, content="Quito"))


# Links


def context(notes: list[Note]) -> SharedContext:
    return SharedContext(notes, TokenCache())


def test_two_shared_uncommon_words_make_a_candidate_and_one_does_not() -> None:
    notes = [
        make_note(1, "alice owns the billing service"),
        make_note(2, "the billing service reads files"),
        make_note(3, "billing address"),
    ]
    found = context(notes).candidates(notes[0], 2)
    assert [(other.id, words) for other, words, _ in found] == [(notes[1].id, ("billing", "service"))]


def test_words_that_stand_everywhere_make_no_link() -> None:
    notes = [make_note(number, f"gateway service topic{number} matter{number}") for number in range(40)]
    assert all(not context(notes).candidates(note, 2) for note in notes)


def test_stop_words_numbers_alone_and_the_scope_prefix_make_no_link() -> None:
    notes = [
        make_note(1, "you should know what they want", "shared:apple"),
        make_note(2, "you should know what they want", "shared:pear"),
        make_note(3, "2026 1200", "fig"),
        make_note(4, "2026 1200", "nut"),
    ]
    assert all(not context(notes).candidates(note, 2) for note in notes)


def test_one_chinese_word_of_three_characters_does_not_count_as_two() -> None:
    assert independent(["東京", "京都"]) == ["東京"]
    assert independent(["京都", "紅葉"]) == ["京都", "紅葉"]
    notes = [make_note(1, "東京都", "甲"), make_note(2, "東京都", "乙")]
    assert not context(notes).candidates(notes[0], 2)


@pytest.mark.parametrize(
    ("subject", "other", "agree"),
    [
        ("user:primary", "user:primary", True),
        ("user:primary", "shared:project", True),
        ("shared:project", "assistant:self", True),
        ("user:primary", "user:denis", False),
        ("user:primary", "assistant:self", False),
    ],
)
def test_subjects_agree_when_equal_or_when_one_is_shared(subject: str, other: str, agree: bool) -> None:
    pair = make_note(1, "a", subject=subject), make_note(2, "b", subject=other)
    assert may_link(*pair, SETTINGS) is agree


def test_a_linked_pair_is_never_linked_again_whatever_the_reason_and_direction() -> None:
    first, second = make_note(1, "a"), make_note(2, "b")
    assert may_link(first, second, SETTINGS)
    pointing = replace(first, links=(Link(to=second.id, reason="something else"),))
    assert not may_link(pointing, second, SETTINGS)
    assert not may_link(second, pointing, SETTINGS)
    assert not may_link(first, first, SETTINGS)


def test_a_hub_takes_no_more_links_from_reflection_but_links_of_people_do_not_count() -> None:
    made = tuple(Link(to=f"n{number}", reason="shared context: a, b") for number in range(8))
    own = tuple(Link(to=f"n{number}", reason="related") for number in range(30))
    first = make_note(1, "a")
    assert not may_link(first, replace(make_note(2, "b"), links=made), SETTINGS)
    assert may_link(first, replace(make_note(2, "b"), links=(*own, *made[:7])), SETTINGS)
