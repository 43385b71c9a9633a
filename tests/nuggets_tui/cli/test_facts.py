"""Facts on the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest


def test_what_was_remembered_is_recalled(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "test cmd", "pytest -q")
    assert nuggets.ok("recall", "test", "cmd").startswith("test cmd = pytest -q   (project, ")


def test_remember_answers_with_the_fact(nuggets: Any) -> None:
    fact = nuggets.json("remember", "project", "test cmd", "pytest -q")
    assert fact == {
        "key": "test cmd",
        "value": "pytest -q",
        "hits": 0,
        "nuggetName": "project",
        "noteId": nuggets.notes()[0]["id"],
    }


def test_a_value_that_is_replaced_is_said(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "test cmd", "pytest -q")
    assert (
        nuggets.ok("remember", "project", "test cmd", "pytest -x").splitlines()[1] == "Old value: pytest -q"
    )
    assert "It was" not in nuggets.ok("remember", "project", "test cmd", "pytest -x")


def test_recall_answers_with_every_field(nuggets: Any) -> None:
    note_id = nuggets.json("remember", "project", "test cmd", "pytest -q")["noteId"]
    answer = nuggets.json("recall", "test cmd")
    assert set(answer) == {
        "answer", "confidence", "certainty", "margin", "found", "key", "match", "nuggetName", "via", "noteId",
    }  # fmt: skip
    assert answer["answer"] == "pytest -q"
    assert answer["found"] is True
    assert answer["match"]["kind"] == "exact"
    assert 0 < answer["match"]["strength"] <= 1
    assert (answer["key"], answer["nuggetName"], answer["via"]) == ("test cmd", "project", "facts")
    assert answer["noteId"] == note_id


def test_a_miss_is_told_by_exit_code_one(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "test cmd", "pytest -q")
    assert "zebra" in nuggets.fails("recall", "zebra unicorn", code=1)
    missed = nuggets.json("recall", "zebra unicorn", code=1)
    assert missed["found"] is False
    assert missed["answer"] is None
    assert missed["match"] is None


def test_recall_in_an_unknown_nugget_is_not_found(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "test cmd", "pytest -q")
    assert "nowhere" in nuggets.fails("recall", "test cmd", "--nugget", "nowhere", code=1)


def test_recall_falls_back_to_the_notes(nuggets: Any) -> None:
    nuggets.ok("note", "add", "Kubernetes ingress", "The ingress controller is traefik.", "--nugget", "infra")
    answer = nuggets.json("recall", "kubernetes ingress")
    assert answer["via"] == "graph"
    assert "traefik" in answer["answer"]


def test_recall_expanded_brings_linked_notes(nuggets: Any) -> None:
    fact = nuggets.json("remember", "project", "deploy cmd", "make ship")
    note = nuggets.json("note", "add", "Shipping", "Only on weekdays.", "--nugget", "project")
    nuggets.ok("note", "link", fact["noteId"], note["id"], "--reason", "rules")
    answer = nuggets.json("recall", "deploy cmd", "--expand")
    assert answer["related"] == [
        {
            "id": note["id"],
            "title": "Shipping",
            "content": "Only on weekdays.",
            "nuggetName": "project",
            "reason": "rules",
        }
    ]
    assert "Only on weekdays." in nuggets.ok("recall", "deploy cmd", "--expand")
    assert "related" not in nuggets.json("recall", "deploy cmd")


def test_one_session_counts_one_recall(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "test cmd", "pytest -q")
    for session in ("monday", "monday", "tuesday"):
        nuggets.ok("recall", "test cmd", "--session", session)
    assert nuggets.json("notes", "--facts", "--nugget", "project") == [
        {"key": "test cmd", "value": "pytest -q", "hits": 2}
    ]


def test_recalls_of_one_calling_process_count_once_without_a_session(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "test cmd", "pytest -q")
    nuggets.ok("recall", "test cmd")
    nuggets.ok("recall", "test cmd")
    assert nuggets.json("notes", "--facts", "--nugget", "project")[0]["hits"] == 1


def test_forgotten_facts_are_gone_and_can_come_back(nuggets: Any) -> None:
    note_id = nuggets.json("remember", "project", "test cmd", "pytest -q")["noteId"]
    assert nuggets.json("forget", "project", " test cmd ") == {"forgotten": True}
    assert nuggets.json("notes", "--facts", "--nugget", "project") == []
    nuggets.ok("note", "unhide", note_id)
    assert nuggets.json("notes", "--facts", "--nugget", "project")[0]["value"] == "pytest -q"


def test_forgetting_what_is_not_there_is_not_found(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "test cmd", "pytest -q")
    assert nuggets.json("forget", "project", "other", code=1) == {"forgotten": False}
    assert "other" in nuggets.fails("forget", "project", "other", code=1)


@pytest.mark.parametrize(
    "value", ["-h", "--help", "--verbose", "-v", "-1", "- a bullet", "--- a rule", "--name=x", "--json now"]
)
def test_values_may_begin_with_a_dash(nuggets: Any, value: str) -> None:
    assert nuggets.json("remember", "app", "flag", value)["value"] == value
    assert nuggets.json("remember", "--as", "me", "app", value, value)["key"] == value
    note = nuggets.json("note", "add", "title", value, "--nugget", "app", "--tag", "x")
    assert (note["content"], note["nuggetName"]) == (value, "app")
    assert nuggets.json("note", "edit", note["id"], "--content", f"{value}!")["content"] == f"{value}!"


def test_an_option_stays_one_wherever_it_stands(nuggets: Any) -> None:
    for args in (["remember", "-h"], ["remember", "app", "-h"], ["remember", "app", "x", "y", "--help"]):
        assert "Usage:" in nuggets.ok(*args)
    assert " -- " in nuggets.fails("remember", "app", "flag", "x", "--verbose")
    nuggets.fails("remember", "app", "--json")
    nuggets.ok("remember", "app", "flag", "--", "--json")
    assert nuggets.json("notes", "--facts", "--nugget", "app")[-1]["value"] == "--json"


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (("remember", "", "k", "v"), "NUGGET"),
        (("remember", " ", "k", "v"), "NUGGET"),
        (("remember", "project", "", "x"), "key"),
        (("remember", "project", "   ", "x"), "key"),
        (("remember", "project", "k", ""), "value"),
        (("remember", "../evil", "k", "v"), "evil"),
        (("remember", "CON", "k", "v"), "CON"),
        (("remember", "project", "k", "\udc80"), "UTF-8"),
    ],
)
def test_what_cannot_be_stored_is_refused_and_nothing_is_written(
    nuggets: Any, args: tuple[str, ...], word: str
) -> None:
    assert word in nuggets.fails(*args)
    assert not nuggets.home.exists() or not nuggets.bytes()


def test_clear_needs_a_yes_without_a_terminal(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "a key", "1")
    nuggets.ok("remember", "project", "b key", "2")
    before = nuggets.bytes()
    assert "--yes" in nuggets.fails("forget", "project", "--all")
    assert nuggets.bytes() == before
    assert nuggets.json("forget", "project", "--all", "--yes") == {"cleared": 2}
    assert nuggets.json("notes", "--facts", "--nugget", "project") == []
    assert nuggets.json("forget", "project", "--all") == {"cleared": 0}


def test_clear_asks_a_person(nuggets: Any, at_keyboard: Any) -> None:
    nuggets.ok("remember", "project", "a key", "1")
    at_keyboard()
    assert "Nothing" in nuggets.ok("forget", "project", "--all", input="n\n")
    assert len(nuggets.json("notes", "--facts", "--nugget", "project")) == 1
    refused = nuggets("forget", "project", "--all", "--json", input="n\n")
    assert json.loads(refused.stdout) == {"cleared": 0}
    assert "Forgot 1 fact" in nuggets.ok("forget", "project", "--all", input="y\n")


def test_forgetting_in_a_nugget_that_is_not_there_names_the_nugget(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "test cmd", "pytest -q")
    assert nuggets.fails("forget", "nope", "test cmd", code=1) == "nuggets: nope: no such nugget"


def test_a_key_that_two_nuggets_hold_is_offered_from_both(nuggets: Any) -> None:
    nuggets.ok("remember", "app", "test command", "pytest -q")
    nuggets.ok("remember", "other", "test command", "npm\ntest")
    document = nuggets.json("recall", "test command", code=1)
    assert (document["found"], document["judgement"]) == (False, "not sure")
    assert [(one["nuggetName"], one["firstLine"]) for one in document["candidates"]] == [
        ("app", "pytest -q"), ("other", "npm"),
    ]  # fmt: skip
    assert nuggets.json("recall", "test command", "--nugget", "app")["answer"] == "pytest -q"


def test_a_mistyped_nugget_or_key_is_answered_with_the_nearest(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "test command", "pytest")
    nuggets.ok("remember", "ops", "deploy day", "Tuesday")
    for args in (
        ("notes", "--facts", "--nugget", "Projct"),
        ("recall", "x", "--nugget", "projct"), ("search", "x", "--nugget", "projct"),
        ("forget", "projct", "test command"), ("forget", "projct", "--all", "--yes"), ("notes", "--nugget", "projct"),
    ):  # fmt: skip
        assert "did you mean project?" in nuggets.fails(*args, code=1), args
    assert "did you mean test command?" in nuggets.fails("forget", "project", "Test comand", code=1)
    for args in (
        ("notes", "--facts", "--nugget", "zzz"),
        ("forget", "project", "zzz"),
        ("notes", "--facts", "--nugget", "x" * 10_000),
    ):
        assert "did you mean" not in nuggets.fails(*args, code=1)


@pytest.mark.parametrize("asked", ["", "  ", "\t\n"])
def test_a_recall_of_nothing_is_bad_input(nuggets: Any, asked: str) -> None:
    nuggets.ok("remember", "project", "k", "v")
    before = nuggets.bytes()
    assert "the question is empty" in nuggets.fails("recall", asked)
    assert nuggets("recall", asked, "--json").exit_code == 2
    assert nuggets.bytes() == before


def test_a_dash_as_value_reads_standard_input(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "steps", "-", input="build\ntest\n")
    assert nuggets.json("notes", "--facts", "--nugget", "project")[0]["value"] == "build\ntest"
    nuggets.ok("remember", "project", "separator", "-", input="-")
    assert nuggets.json("recall", "separator")["answer"] == "-"


@pytest.mark.parametrize("command", [("remember", "project", "key", "-"), ("note", "add", "Title", "-")])
def test_a_dash_without_a_text_to_read_is_bad_input(nuggets: Any, command: tuple[str, ...]) -> None:
    for text in ("", " \n"):
        said = nuggets.fails(*command, input=text)
        assert "standard input: is empty" in said
        assert "give it in place of -" in said
    assert not nuggets.home.exists()


def test_a_key_that_only_completes_a_word_of_a_question_is_offered_not_claimed(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "stdinkey", "x")
    asked = nuggets.json("recall", "from stdin", code=1)
    assert (asked["found"], asked["judgement"]) == (False, "not sure")
    assert [one["title"] for one in asked["candidates"]] == ["stdinkey"]
    assert nuggets.json("recall", "stdin")["key"] == "stdinkey"
