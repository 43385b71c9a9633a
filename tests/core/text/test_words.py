"""Words of every script, as search and recall read them; tokens of the file format stay as they were."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.exact import basis_tokens
from core.text.tokens import fold, stem, stems, word_spans, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The Release-Plan, v1.4", ["the", "release", "plan", "v1", "4"]),
        (
            "userName snake_case HTTPServer API 4GB",
            ["user", "name", "snake", "case", "http", "server", "api", "4gb"],
        ),
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
    ],
)
def test_words_of(text: str, found: list[str]) -> None:
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


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_ascii_text_reads_the_same_beside_other_scripts(text: str) -> None:
    assert words(f"{text} é") == [*words(text), "e"]


def test_stems_leave_stop_words_out() -> None:
    assert stems("What are the gateways deploying to?") == ["gateway", "deploy"]
    assert stem("x" * 100_000) == "x" * 100_000


def test_basis_tokens_are_those_of_the_format() -> None:
    assert basis_tokens("Café at src/main.ts: is user:name") == ["caf", "src/main", "ts:", "user:name"]
