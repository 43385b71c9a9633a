"""Which key a query means: each rule, each way the original was seen to go wrong, and every script."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kits.laws import examples

from core.facts.recall_text import likeness, parse_key, parse_recall_query
from core.facts.resolve import KeyIndex, Match, stands_alone

KEYS = (
    "favorite color",
    "name",
    "pet",
    "user:editor",
    "user:timezone",
    "shared:deploy command",
    "project:db port",
    "self:tone",
    "café",
    "имя кота",
    "user:好きな食べ物",
    "東京タワーの住所",
    "user:wife birthday",
    "sprint 12 goal",
    "listen",
    "a",
)


def found(query: str, keys: tuple[str, ...] = KEYS) -> str | None:
    resolved = KeyIndex(keys).resolve(query)
    return None if resolved is None else keys[resolved.place]


def match(query: str, keys: tuple[str, ...] = KEYS) -> Match:
    resolved = KeyIndex(keys).resolve(query)
    assert resolved is not None
    return resolved.match


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("favorite color", "favorite color"),
        ("FAVORITE Color", "favorite color"),
        ("  name \n", "name"),
        ("cafe\u0301", "café"),
        ("ИМЯ КОТА", "имя кота"),
        ("a", "a"),
        ("user:EDITOR", "user:editor"),
    ],
)
def test_an_equal_key_is_exact_whatever_its_case_and_ends(query: str, key: str) -> None:
    assert found(query) == key
    assert match(query) == Match("exact", 1.0)


def test_a_key_without_its_scope_prefix_is_as_good_as_exact() -> None:
    assert found("timezone") == "user:timezone"
    assert match("timezone").kind == "exact"


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("color", "favorite color"),
        ("what is my favorite color today?", "favorite color"),
        ("color favorite", "favorite color"),
        ("favorite colors", "favorite color"),
        ("command to deploy", "shared:deploy command"),
        ("the deployment commands, please", "shared:deploy command"),
        ("database port", "project:db port"),
        ("cafe", "café"),
        ("when is the birthday of my wife", "user:wife birthday"),
        ("remind me: user:editor please", "user:editor"),
        ("please tell me what you know about pet because I have to fill a form", "pet"),
    ],
)
def test_shared_words_find_a_key(query: str, key: str) -> None:
    assert found(query) == key
    assert match(query).kind in ("tokens", "fuzzy")


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("favrite colr", "favorite color"),
        ("favourite colour", "favorite color"),
        ("user:timezon", "user:timezone"),
        ("usr:edtor", "user:editor"),
        ("time zone", "user:timezone"),
        ("deploycommand", "shared:deploy command"),
        ("имя котта", "имя кота"),
        ("sprnt 12 gaol", "sprint 12 goal"),
    ],
)
def test_typing_errors_are_forgiven(query: str, key: str) -> None:
    assert found(query) == key
    assert match(query).strength < 1


@pytest.mark.parametrize(
    ("query", "keys", "key"),
    [
        ("東京", KEYS, "東京タワーの住所"),
        ("東京タワー", KEYS, "東京タワーの住所"),
        ("好きな食べ物は", KEYS, "user:好きな食べ物"),
        ("КОТА", KEYS, "имя кота"),
        ("как зовут имя кота", KEYS, "имя кота"),
        ("이름", ("내 이름이", "나이"), "내 이름이"),
        ("이름이 뭐야", ("이름", "나이"), "이름"),
        ("ชื่อแมว", ("ชื่อแมวของฉัน", "ที่อยู่"), "ชื่อแมวของฉัน"),
        ("बिल्ली का नाम", ("मेरी बिल्ली का नाम", "पता"), "मेरी बिल्ली का नाम"),
        ("שם החתול", ("שם החתול שלי", "כתובת"), "שם החתול שלי"),
        ("اسم القطة", ("اسم القطة", "عنوان"), "اسم القطة"),
        ("όνομα γάτας", ("Όνομα Γάτας μου", "διεύθυνση"), "Όνομα Γάτας μου"),
    ],
)
def test_every_script_is_read(query: str, keys: tuple[str, ...], key: str) -> None:
    assert found(query, keys) == key


@pytest.mark.parametrize(
    "query", ["", "   ", "\n\t", "?!", "...", "-", "🙂", "e", "z", "z?", "é", "東", "\u200b", "user:"]
)
def test_queries_without_a_word_are_misses(query: str) -> None:
    assert found(query) is None


def test_punctuation_is_found_when_it_is_the_key() -> None:
    assert found("???", ("???", "name")) == "???"
    assert found("c++", ("c++ version", "name")) == "c++ version"


@pytest.mark.parametrize(
    "query",
    [
        "silent",
        "enlist",
        "quantum chromodynamics",
        "dog birthday",
        "user:dog birthday",
        "the weather in a far away town",
        "sprint 13 goal",
        "concatenate",
        "renamed",
        "carpet",
        "user",
        "shared project",
        "what is the",
        "who are you",
        "zzzzzzzzzzzzzzzz",
        "京都駅",
        "дом",
        "note",
    ],
)
def test_what_no_key_is_about_is_a_miss(query: str) -> None:
    assert found(query) is None


def test_a_one_letter_key_swallows_no_sentence() -> None:
    for letter in ("a", "z", "я", "7", "猫"):
        assert found(f"tell me {letter} story of old times", (letter, "name")) is None
        assert found(letter, (letter, "name")) == letter


def test_letters_in_another_order_are_another_word() -> None:
    assert likeness("silent", "listen") == 0
    assert likeness("enlist", "listen") == 0


def test_the_best_match_wins_not_the_first() -> None:
    keys = ("car color", "favorite car color", "color", "color of the favorite car in winter")
    assert found("color", keys) == "color"
    assert found("my favorite color of a car", keys) == "favorite car color"


def test_equally_strong_matches_are_told_apart_by_their_letters() -> None:
    assert found("my bike lock", ("lock bike", "bike lock")) == "bike lock"


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    keys = tuple(f"service {name} port" for name in ("alpha", "beta", "gamma", "delta", "omega"))
    assert found("port of gamma", keys) == "service gamma port"


@pytest.mark.parametrize(
    ("query", "near", "very"),
    [
        ("production", "product", "deploy to production"),
        ("product", "production", "product launch of the spring"),
        ("prod", "product", "deploy to production"),
        ("what is in production", "products", "the rollback plan of the big production cluster in the north"),
        ("relative", "relation", "relative paths of the team"),
        ("production", "product", "product and production leads"),
    ],
)
def test_the_very_word_beats_another_word_of_the_same_stem(query: str, near: str, very: str) -> None:
    for keys in ((near, very), (very, near)):
        assert found(query, keys) == very
    assert match(query, (near,)).strength < 0.6 < match(query, (very,)).strength


def test_another_form_of_a_word_is_nearly_as_good_as_the_word() -> None:
    for query, key in (
        ("colors", "color"),
        ("planned", "plan"),
        ("deploying", "deploys"),
        ("city", "cities"),
    ):
        assert 0.9 < match(f"the {query}", (key, "name")).strength < 0.99
    assert found("our commands", ("command", "commands")) == "commands"


def test_scope_prefixes_do_not_count_as_words() -> None:
    assert found("color", ("user:pet", "user:favorite color")) == "user:favorite color"
    assert found("user pet", ("self:pet", "user:pet")) == "user:pet"
    assert found("user:name", ("self:name",)) is None, "the name of another"
    assert found("shared:database port", ("project:db port",)) == "project:db port"


def test_another_number_is_another_thing() -> None:
    keys = ("sprint 12 goal of the team", "port 80 owner of the team")
    assert found("sprint 13 goal of the team", keys) is None
    assert found("sprint 12 goal", keys) == keys[0]


def test_a_part_must_stand_between_word_boundaries() -> None:
    assert stands_alone("cat", "my cat sleeps")
    assert not stands_alone("cat", "concatenate")
    assert stands_alone("cat", "concatenate the cat")
    assert stands_alone("京", "東京タワー")


def test_the_reading_of_a_key_keeps_prefixes_that_are_no_scope() -> None:
    assert parse_key("user:db").scope == "user"
    assert parse_key("shelf:books").stems == ("shelf", "book")
    assert parse_recall_query("see https://example.test").scope == ""


def test_no_keys_find_nothing() -> None:
    assert found("name", ()) is None
    assert found("name", ("", " ", "\ud800")) is None


@given(st.text(st.characters(), max_size=40), st.lists(st.text(st.characters(), max_size=12), max_size=6))
@settings(max_examples=examples(150), deadline=None)
def test_any_text_may_be_asked_of_any_keys(query: str, keys: list[str]) -> None:
    resolved = KeyIndex(keys).resolve(query)
    if resolved is not None:
        assert 0 <= resolved.place < len(keys)
        assert 0 < resolved.match.strength <= 1


@pytest.mark.parametrize("query", ["x" * 1_000_000, "word " * 200_000, "東" * 1_000_000, "\0", "\ud800" * 50])
def test_huge_and_hostile_queries_are_answered(query: str) -> None:
    assert found(query) is None


@given(st.sampled_from(KEYS), st.text(" \t\n", max_size=3))
def test_every_key_finds_itself(key: str, space: str) -> None:
    assert found(space + key.upper() + space) == key


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("which timezone is she in", "time zone"),
        ("how do we roll back", "rollback"),
        ("the latest release", "current release"),
        ("what is my favourite shell", "preferred shell"),
        ("how long are uploads kept", "maximum upload size"),
        ("max upload size", "maximum upload size"),
        ("wikiwner", "wikiOwner"),
        ("grace:Name das Huundes", "grace:Name des Hundes"),
        ("東の住所", "東京の住所"),
        ("喜欢颜的色", "喜欢的颜色"),
        ("borwsr framework", "browser framework"),
    ],
)
def test_other_spellings_and_everyday_words_for_the_same_are_understood(query: str, key: str) -> None:
    keys = (
        "time zone", "rollback", "current release", "preferred shell", "maximum upload size", "wikiOwner",
        "grace:Name des Hundes", "東京の住所", "喜欢的颜色", "browser framework", "framework",
    )  # fmt: skip
    assert found(query, keys) == key


def test_the_trait_of_something_unknown_is_not_that_of_something_else() -> None:
    keys = ("name", "user:city", "file", "color of the bike")
    for query in ("the name of the volcano", "name a thing that swims", "is there a file about unicorns"):
        assert found(query, keys) is None
    assert found("tell me the name, please", keys) == "name"
    assert found("project name", keys) == "name"


def test_why_somebody_asks_is_not_what_they_ask_for() -> None:
    keys = ("pet", "form of address")
    assert found("what do you know about pet, because the vet wants a form filled", keys) == "pet"
    assert found("because of the cat", ("because of the cat", "pet")) == "because of the cat"


def test_my_and_your_prefer_the_person_and_the_assistant() -> None:
    keys = ("name", "user:name", "self:name")
    assert found("what is your name", keys) == "self:name"
    assert found("what is my name", keys) == "user:name"
    assert found("what is your name", ("user:name",)) == "user:name", "a preference, no refusal"
