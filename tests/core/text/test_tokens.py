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
from core.text.tokens import MARKS, STEMS, fold, stem, stems, words
from tools.text_tables import stem_lines


@pytest.mark.parametrize(("text", "found"), [
    ("Hello, World!", ["hello", "world"]),
    ("café CAFÉ cafe\u0301", ["cafe", "cafe", "cafe"]),
    ("userName snake_case kebab-case", ["user", "name", "snake", "case", "kebab", "case"]),
    ("src/main.ts", ["src", "main", "ts"]),
    ("HTTPServer v2 utf8", ["http", "server", "v2", "utf8"]),
    ("Барсик и кот", ["барсик", "и", "кот"]),
    ("שלום عليكم", ["שלום", "عليكم"]),
    ("東京都", ["東京", "京都"]),
    ("水", ["水"]),
    ("Größe STRASSE straße", ["grosse", "strasse", "strasse"]),
    ("34 UK no", ["34", "uk", "no"]),
    ("", []),
    ("--- ... !!!", []),
])  # fmt: skip
def test_words_of_every_script_are_found(text: str, found: list[str]) -> None:
    assert words(text) == found


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
    assert stems("The tests are running in the building") == [stem("test"), stem("run"), stem("build")]
    assert stems("the of and") == []


def test_words_of_other_scripts_are_no_stop_words() -> None:
    assert stems("имя кота") == ["имя", "кота"]


@pytest.mark.parametrize(("text", "tokens"), [
    ("The User's ci-build", ["user", "ci-build"]), ("a b cd", ["cd"]), ("café", ["caf"]), ("x_y:z/w", ["x_y:z/w"]),
    ("same same", ["same", "same"]), ("имя", []), ("UPPER", ["upper"]),
])  # fmt: skip
def test_tokens_of_the_file_format_are_those_of_the_original(text: str, tokens: list[str]) -> None:
    assert basis_tokens(text) == tokens


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
