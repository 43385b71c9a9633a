"""Search on the command line."""

from __future__ import annotations

from typing import Any

import pytest

FIELDS = {
    "id", "title", "nuggetName", "score", "vectorScore", "textScore", "metadataBoost", "blended", "matched",
}  # fmt: skip


@pytest.fixture
def filled(nuggets: Any) -> Any:
    for title, content, nugget in (
        ("Auth middleware", "Tokens are checked in src/auth.ts", "project"),
        ("JWT token format", "RS256, keys in keys/public.pem", "project"),
        ("Lunch", "Soup on Mondays", "life"),
    ):
        nuggets.ok("note", "add", title, content, "--nugget", nugget, "--scope", "shared")
    return nuggets


def test_hits_carry_their_scores_best_first(filled: Any) -> None:
    hits = filled.json("search", "auth middleware")
    assert set(hits[0]) == FIELDS
    assert hits[0]["title"] == "Auth middleware"
    assert 0 < hits[0]["score"] <= 1
    assert [hit["blended"] for hit in hits] == sorted((hit["blended"] for hit in hits), reverse=True)
    assert "auth" in hits[0]["matched"]


def test_search_is_limited_and_filtered(filled: Any) -> None:
    assert len(filled.json("search", "token", "--limit", "1")) == 1
    hits = filled.json("search", "token soup", "--nugget", "life")
    assert [hit["title"] for hit in hits] == ["Lunch"]
    filled.ok("note", "hide", "Lunch")
    assert filled.json("search", "soup", "--nugget", "life", code=1) == []
    assert filled.json("search", "soup", "--include-hidden")[0]["title"] == "Lunch"


def test_a_search_that_finds_nothing_ends_with_one(filled: Any) -> None:
    assert filled.json("search", "zzyzx", code=1) == []
    assert "zzyzx" in filled.fails("search", "zzyzx", code=1)


def test_a_score_is_explained_in_parts_that_add_up(filled: Any) -> None:
    (hit,) = filled.json("search", "auth token", "--explain", "JWT token format")
    assert set(hit) == FIELDS | {"rank", "parts", "rawVector", "rawText"}
    assert sum(hit["parts"].values()) == pytest.approx(hit["blended"])
    shown = filled.ok("search", "auth token", "--explain", "JWT token format")
    assert "JWT token format" in shown
    assert "blend" in shown


def test_people_see_words_and_bars(filled: Any) -> None:
    shown = filled.ok("search", "auth middleware")
    assert "Auth middleware" in shown.splitlines()[0]
    assert "words ▇" in shown


def test_the_query_may_hold_conditions_phrases_and_exclusions(filled: Any) -> None:
    def titles(*words: str, code: int = 0) -> list[str]:
        return [hit["title"] for hit in filled.json("search", *words, code=code)]

    assert titles("soup token nugget:life") == ["Lunch"]
    assert titles('token "keys in keys"') == ["JWT token format"]
    assert titles("token -checked") == ["JWT token format"]
    assert set(titles("updated:<30d -nugget:life")) == {"Auth middleware", "JWT token format"}
    assert titles("title:jwt", "--nugget", "life", code=1) == []
    filled.ok("note", "hide", "Lunch")
    assert titles("is:hidden") == ["Lunch"]
    assert set(titles("created:<1d", "--include-hidden")) == {"Auth middleware", "JWT token format", "Lunch"}
    assert len(titles("scope:shared", "--limit", "1")) == 1


def test_a_search_that_finds_nothing_says_how_it_was_read(filled: Any) -> None:
    said = filled.fails("search", "zzyzx nugget:life hits:>x", code=1)
    assert "words: zzyzx; nugget life; hits:>x is read as words: no number" in said


def test_the_help_names_the_language(nuggets: Any) -> None:
    said = nuggets.ok("search", "--help")
    for part in ('"exact words"', "-word", "tag:auth", "is:new", "updated:<30d"):
        assert part in said
