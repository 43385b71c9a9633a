"""Search on the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from kits.hostile import HOSTILE, RAW


@pytest.fixture
def filled(nuggets: Any) -> Any:
    for title, content, nugget in (
        ("Auth middleware", "Tokens are checked in src/auth.ts", "project"),
        ("JWT token format", "RS256, keys in keys/public.pem", "project"),
        ("Lunch", "Soup on Mondays", "life"),
    ):
        nuggets.ok("note", "add", title, content, "--nugget", nugget, "--scope", "shared")
    return nuggets


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


def test_a_score_is_explained_in_parts_that_add_up(filled: Any) -> None:
    (hit,) = filled.json("search", "auth token", "--explain", "JWT token format")
    assert set(hit["parts"]) == {"vector", "text", "boost"}
    assert sum(hit["parts"].values()) == pytest.approx(hit["blended"])
    for line, value in hit["parts"].items():
        given = [reason["value"] for reason in hit["reasons"] if reason["line"] == line]
        assert sum(given) == pytest.approx(value)
    assert (hit["rank"], hit["total"], hit["obstacle"], hit["missing"]) == (2, 2, None, ["auth"])
    shown = filled.ok("search", "auth token", "--explain", "JWT token format")
    assert shown.index("words") < shown.index("vector") < shown.index("boost") < shown.index("score")


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
