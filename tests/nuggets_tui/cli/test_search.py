"""Search on the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from kits.hostile import HOSTILE, RAW

FIELDS = {
    "id", "title", "nuggetName", "score", "vectorScore", "textScore", "metadataBoost",
    "blended", "matched", "sure", "snippet", "snippetMatches",
}  # fmt: skip
EXPLAINED = {
    "rank", "total", "obstacle", "missing", "floor", "needed", "parts", "reasons", "coverage",
    "rawText", "judgement", "likelihood",
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


def test_a_snippet_shows_where_the_words_stand(filled: Any) -> None:
    text = "They are stored in Redis. " * 20 + "\n\n- rotate the signing\tkey monthly\n" + "x " * 200
    filled.ok("note", "add", "Sessions", text, "--nugget", "web")
    (hit,) = filled.json("search", "rotate signing key", "--limit", "1")
    found = [hit["snippet"][start:end] for start, end in hit["snippetMatches"]]
    assert found == ["rotate", "signing", "key"]
    assert "rotate the signing key monthly" in hit["snippet"]
    assert len(hit["snippet"]) < 200
    assert "rotate the signing key monthly" in filled.ok("search", "rotate", "signing", "key", "--limit", "1")


@pytest.mark.parametrize("raw", HOSTILE[:6])
def test_no_snippet_acts_on_the_terminal(nuggets: Any, raw: str) -> None:
    nuggets.ok("note", "add", "Zebra", f"a zebra {raw} crossing")
    for args in ((), ("--json",)):
        shown = nuggets.ok("search", "zebra crossing", *args)
        assert "zebra" in shown
        assert not RAW.search(shown.replace("\n", ""))


def test_search_is_limited_and_filtered_and_ends_with_one_where_nothing_is_found(filled: Any) -> None:
    assert len(filled.json("search", "token", "--limit", "1")) == 1
    hits = filled.json("search", "token soup", "--nugget", "life")
    assert [hit["title"] for hit in hits] == ["Lunch"]
    filled.ok("note", "hide", "Lunch")
    assert filled.json("search", "soup", "--nugget", "life", code=1) == []
    assert filled.json("search", "soup", "--include-hidden")[0]["title"] == "Lunch"
    # What was more than words is told as it was read; a long query is not repeated whole.
    assert "hits:>x is read as words" in filled.fails("search", "zzyzx nugget:life hits:>x", code=1)
    for query in ("zzyzx" * 20_000, "tag:none " + "zzyzx" * 20_000):
        assert len(filled.fails("search", query, code=1)) < 800
    assert len(filled.fails("recall", "zzyzx" * 20_000, code=1)) < 500


def test_a_score_is_explained_in_parts_that_add_up(filled: Any) -> None:
    (hit,) = filled.json("search", "auth token", "--explain", "JWT token format")
    assert set(hit) == FIELDS | EXPLAINED
    assert set(hit["parts"]) == {"vector", "text", "boost"}
    assert sum(hit["parts"].values()) == pytest.approx(hit["blended"])
    for line, value in hit["parts"].items():
        given = [reason["value"] for reason in hit["reasons"] if reason["line"] == line]
        assert sum(given) == pytest.approx(value)
    assert (hit["rank"], hit["total"], hit["obstacle"], hit["missing"]) == (2, 2, None, ["auth"])
    shown = filled.ok("search", "auth token", "--explain", "JWT token format")
    assert shown.index("words") < shown.index("vector") < shown.index("boost") < shown.index("score")


def test_conditions_alone_give_a_place_and_what_keeps_a_note_out(filled: Any) -> None:
    def explained(title: str) -> tuple[Any, ...]:
        (hit,) = filled.json("search", "nugget:life", "--explain", title)
        return hit["rank"], hit["total"], hit["obstacle"]

    assert explained("Lunch") == (1, 1, None)
    assert explained("Auth middleware") == (0, 1, "filters")
    filled.ok("note", "hide", "Lunch")
    assert explained("Lunch") == (0, 0, "hidden")


def test_bars_are_for_a_terminal_and_what_answers_is_said_as_recall_says_it(
    filled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.ok("remember", "project", "deploy command", "make ship")
    for words in (("auth", "middleware"), ("deploy", "command")):
        piped = filled.ok("search", *words)
        # Behind it stands how old the note is, which the next second changes.
        assert piped.startswith(filled.ok("recall", *words).partition("(")[0])
        assert "▇" not in piped
    monkeypatch.setattr("nuggets_tui.cli.recall.is_terminal", lambda stream: True)
    assert "▇" in filled.ok("search", "auth", "middleware")


@pytest.mark.slow
def test_the_query_may_hold_conditions_phrases_and_exclusions(filled: Any) -> None:
    def titles(*words: str, code: int = 0) -> list[str]:
        return [hit["title"] for hit in filled.json("search", *words, code=code)]

    assert titles("soup token nugget:life") == ["Lunch"]
    assert titles('token "keys in keys"') == ["JWT token format", "Auth middleware"]
    assert titles('token +"keys in keys"') == titles("token +rs256") == ["JWT token format"]
    assert titles("token -checked") == ["JWT token format"]
    assert set(titles("updated:<30d -nugget:life")) == {"Auth middleware", "JWT token format"}
    assert titles("title:jwt", "--nugget", "life", code=1) == []
    filled.ok("note", "hide", "Lunch")
    assert titles("is:hidden") == ["Lunch"]
    assert len(titles("scope:shared", "--limit", "1")) == 1


@pytest.mark.slow
def test_a_condition_that_was_misread_is_said_beside_the_hits(filled: Any) -> None:
    result = filled("search", "updated:<30x is:foo jwt token format keys")
    assert result.exit_code == 0
    misread = [line.partition(" is read as words: ")[0] for line in result.stderr.splitlines()]
    assert misread == ["note: updated:<30x", "note: is:foo"]
    result = filled("search", "updated:<30x jwt token format", "--json")
    assert json.loads(result.stdout)
    assert result.stderr.startswith("note: updated:<30x")
    assert "note: " in filled("search", "updated:<30x token", "--explain", "JWT token format").stderr
    assert "note: " not in filled("search", "token updated:<30d").stderr


@pytest.mark.slow
@pytest.mark.parametrize("query", ["-auth", "-auth jwt", "-tag:auth", "--middleware", "-h?", "-", "--", "-5"])
def test_a_query_that_begins_with_a_dash_is_no_error(filled: Any, query: str) -> None:
    for command in ("search", "recall"):
        for args in ([query], [query, "--json"], ["--nugget", "life", query], ["--nugget=life", "--", query]):
            if query == "--" and "--" not in args[:-1]:
                continue
            result = filled(command, *args)
            assert result.exit_code in (0, 1), (command, args, result.stderr)
            assert "option" not in result.stderr


def test_an_option_that_is_mistyped_beside_a_query_is_still_told(filled: Any) -> None:
    assert "No such option" in filled.fails("search", "token", "--limt", "3")
    assert "--limt" in filled.fails("search", "--limt", "3", "token")
    said = filled.ok("search", "--help")
    for part in ('"exact words"', "-word", "tag:auth", "is:new", "updated:<30d"):
        assert part in said
    assert "--limit" in filled.fails("search", "token", "--limit")
