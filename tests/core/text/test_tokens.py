"""Words of every script: none is dropped, accents and case fold, and the file format's own tokens stay plain."""

from __future__ import annotations

import sys
import threading
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.hostile import HOSTILE

from core.text.exact import basis_tokens
from core.text.languages import listed_words
from core.text.tokens import MARKS, STEMS, fold, stem, stems, word_spans, words
from tools.text_tables import stem_lines


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The Release-Plan, v1.4", ["the", "release", "plan", "v1", "4"]),
        ("userName snake_case API 4GB", ["user", "name", "snake", "case", "api", "4gb"]),
        ("src/auth/middleware.ts:47", ["src", "auth", "middleware", "ts", "47"]),
        ("Café CAFE\u0301 cafe", ["cafe", "cafe", "cafe"]),
        ("Straße Ærø ＡＢＣ ﬁne", ["strasse", "ærø", "abc", "fine"]),
        ("日本語メモ 秋", ["日本", "本語", "語メ", "メモ", "秋"]),
        ("ﾃﾞｰﾀ データ", ["デー", "ータ", "デー", "ータ"]),
        ("x日本y", ["x", "日本", "y"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
        ("Барсик ёлка", ["барсик", "елка"]),
        ("שָׁלוֹם مُحَمَّد", ["שלום", "محمد"]),
        ("한국어 노트", ["한국어", "노트"]),
        ("co\u00adoperate zero\u200bwidth", ["cooperate", "zerowidth"]),
        ("☕ 👩‍👩‍👧 ... \ud800 \x00", []),
        ("", []),
        ("HTTPServer v2 utf8", ["http", "server", "v2", "utf8"]), ("שלום عليكم", ["שלום", "عليكم"]), ("水", ["水"]),
        ("34 UK no", ["34", "uk", "no"]), ("--- ... !!!", []),
    ],
)  # fmt: skip
def test_words_of_every_script_are_found(text: str, found: list[str]) -> None:
    assert words(text) == found


def test_compounds_stay_whole_beside_their_parts() -> None:
    assert words("userName of HTTPServer", compounds=True) == [
        "user", "name", "username", "of", "http", "server", "httpserver",
    ]  # fmt: skip


@given(st.text(), st.booleans())
def test_places_are_those_of_the_words(text: str, compounds: bool) -> None:
    spans = list(word_spans(text, compounds=compounds))
    assert [word for _, _, word in spans] == words(text, compounds=compounds)
    for start, end, word in spans:
        assert 0 <= start < end <= len(text)
        assert fold(text[start:end]) == word


@given(st.text(max_size=40))
def test_case_and_normal_form_do_not_matter(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert all(word and word == fold(word) for word in words(text))


@pytest.mark.parametrize("text", [*HOSTILE, "\ud800" * 3, "a\udcffb"], ids=lambda text: ascii(text[:12]))
def test_hostile_text_gives_words_and_no_error(text: str) -> None:
    assert isinstance(words(text), list)
    assert isinstance(stems(text), list)
    assert isinstance(basis_tokens(text), list)


def test_stop_words_go_and_endings_fold() -> None:
    assert stems("What are the gateways deploying to?") == ["gateway", "deploy"]
    assert stem("x" * 100_000) == "x" * 100_000
    assert stems("The tests are running in the building") == [stem("test"), stem("run"), stem("build")]
    assert stems("the of and") == []


def test_a_word_of_any_length_is_read_in_a_moment() -> None:
    assert len(words("x" * 1_000_000)) == 1
    assert stems("y" * 1_000_000)


@pytest.mark.slow
def test_words_have_the_same_stems_whoever_else_asks_at_the_same_time() -> None:
    words_ = [
        "".join(chr(97 + (seed * step) % 26) for step in range(1, 8)) + "nesses" for seed in range(1, 400)
    ]
    alone = [stem.__wrapped__(word) for word in words_]
    found: list[list[str]] = []
    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [
            threading.Thread(target=lambda: found.append([stem.__wrapped__(word) for word in words_]))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switching)
    assert found == [alone] * 4


@pytest.mark.parametrize("plural", ["PDFs", "pdfs", "URLs", "userIDs", "JWTs", "vms"])
def test_the_plural_of_an_acronym_has_the_stem_of_the_acronym(plural: str) -> None:
    assert stems(plural) == stems(plural[:-1])


@pytest.mark.parametrize("word", ["dns", "https", "css", "cvss"])
def test_an_acronym_that_ends_in_s_is_no_plural(word: str) -> None:
    assert stem(word) == word


def test_stems_made_ahead_are_those_of_the_stemmer() -> None:
    lines = STEMS.read_text(encoding="ascii").splitlines()
    assert lines == stem_lines()
    ahead = dict(line.split(" ") for line in lines)
    for word in listed_words():
        assert stem(word) in (*ahead.values(), word), word


def test_every_mark_in_the_table_is_one() -> None:
    spans = [
        [int(end, 16) for end in line.split()] for line in MARKS.read_text(encoding="ascii").splitlines()
    ]
    marks = {chr(code) for low, high in spans for code in range(low, high + 1)}
    assert {unicodedata.category(mark) for mark in marks} == {"Mn", "Mc", "Me"}
    assert {"\u0301", "\u0e31", "\u093f"} <= marks
