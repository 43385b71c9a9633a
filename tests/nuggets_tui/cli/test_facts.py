"""Facts on the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest


def facts(nuggets: Any, nugget: str = "project") -> list[dict[str, Any]]:
    return list(nuggets.json("notes", "--facts", "--nugget", nugget))


def test_what_was_remembered_is_recalled_with_every_field(nuggets: Any) -> None:
    fact = nuggets.json("remember", "project", "test cmd", "pytest -q")
    assert fact == {
        "key": "test cmd", "value": "pytest -q", "hits": 0, "nuggetName": "project",
        "noteId": nuggets.notes()[0]["id"],
    }  # fmt: skip
    assert nuggets.ok("recall", "test", "cmd").startswith("test cmd = pytest -q   (project, ")
    answer = nuggets.json("recall", "test cmd")
    assert set(answer) == {
        "answer", "confidence", "certainty", "margin", "found", "key", "match", "nuggetName", "via", "noteId",
    }  # fmt: skip
    assert (answer["answer"], answer["found"], answer["match"]["kind"]) == ("pytest -q", True, "exact")
    assert (answer["key"], answer["nuggetName"], answer["via"]) == ("test cmd", "project", "facts")
    assert answer["noteId"] == fact["noteId"]
    assert "pytest -q" in nuggets.ok("remember", "project", "test cmd", "pytest -x")


def test_a_miss_is_told_by_exit_code_one(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "test cmd", "pytest -q")
    assert "zebra" in nuggets.fails("recall", "zebra unicorn", code=1)
    missed = nuggets.json("recall", "zebra unicorn", code=1)
    assert (missed["found"], missed["answer"], missed["match"]) == (False, None, None)
    assert "nowhere" in nuggets.fails("recall", "test cmd", "--nugget", "nowhere", code=1)


def test_recall_falls_back_to_the_notes_and_brings_linked_ones(nuggets: Any) -> None:
    nuggets.ok("note", "add", "Kubernetes ingress", "The ingress controller is traefik.", "--nugget", "infra")
    answer = nuggets.json("recall", "kubernetes ingress")
    assert (answer["via"], "traefik" in answer["answer"]) == ("graph", True)
    fact = nuggets.json("remember", "project", "deploy cmd", "make ship")
    note = nuggets.json("note", "add", "Shipping", "Only on weekdays.", "--nugget", "project")
    nuggets.ok("note", "link", fact["noteId"], note["id"], "--reason", "rules")
    assert nuggets.json("recall", "deploy cmd", "--expand")["related"] == [
        {
            "id": note["id"], "title": "Shipping", "content": "Only on weekdays.", "nuggetName": "project",
            "reason": "rules",
        }
    ]  # fmt: skip
    assert "Only on weekdays." in nuggets.ok("recall", "deploy cmd", "--expand")
    assert "related" not in nuggets.json("recall", "deploy cmd")


def test_a_session_counts_one_recall_and_so_does_a_calling_process(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "test cmd", "pytest -q")
    for session in ("monday", "monday", "tuesday"):
        nuggets.ok("recall", "test cmd", "--session", session)
    assert facts(nuggets) == [{"key": "test cmd", "value": "pytest -q", "hits": 2}]
    nuggets.ok("recall", "test cmd")
    nuggets.ok("recall", "test cmd")
    assert facts(nuggets)[0]["hits"] == 3


def test_forgotten_facts_are_gone_and_can_come_back(nuggets: Any) -> None:
    note_id = nuggets.json("remember", "project", "test cmd", "pytest -q")["noteId"]
    assert nuggets.json("forget", "project", "other", code=1) == {"forgotten": False}
    assert "other" in nuggets.fails("forget", "project", "other", code=1)
    assert "nope" in nuggets.fails("forget", "nope", "test cmd", code=1)
    assert nuggets.json("forget", "project", " test cmd ") == {"forgotten": True}
    assert facts(nuggets) == []
    nuggets.ok("note", "unhide", note_id)
    assert facts(nuggets)[0]["value"] == "pytest -q"


def test_all_facts_of_a_nugget_are_forgotten_with_a_yes(nuggets: Any, at_keyboard: Any) -> None:
    nuggets.ok("remember", "project", "a key", "1")
    nuggets.ok("remember", "project", "b key", "2")
    before = nuggets.bytes()
    for args in ((), ("a key", "--all")):
        nuggets.fails("forget", "project", *args)
    assert "--yes" in nuggets.fails("forget", "project", "--all")
    assert nuggets.bytes() == before
    assert nuggets.json("forget", "project", "--all", "--yes") == {"cleared": 2}
    assert nuggets.json("forget", "project", "--all") == {"cleared": 0}
    nuggets.ok("undo")
    at_keyboard()
    refused = nuggets("forget", "project", "--all", "--json", input="n\n")
    assert json.loads(refused.stdout) == {"cleared": 0}
    assert len(facts(nuggets)) == 2
    nuggets.ok("forget", "project", "--all", input="y\n")
    assert facts(nuggets) == []


# Values


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
    assert facts(nuggets, "app")[-1]["value"] == "--json"


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (("remember", " ", "k", "v"), "NUGGET"),
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


def test_a_dash_as_value_reads_standard_input(nuggets: Any) -> None:
    for command in (("remember", "project", "key", "-"), ("note", "add", "Title", "-")):
        for text in ("", " \n"):
            assert "standard input" in nuggets.fails(*command, input=text)
    assert not nuggets.home.exists()
    nuggets.ok("remember", "project", "steps", "-", input="build\ntest\n")
    assert facts(nuggets)[0]["value"] == "build\ntest"
    nuggets.ok("remember", "project", "separator", "-", input="-")
    assert nuggets.json("recall", "separator")["answer"] == "-"


# Names


def test_a_mistyped_nugget_or_key_is_answered_with_the_nearest(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "test command", "pytest")
    nuggets.ok("remember", "ops", "deploy day", "Tuesday")
    for args in (
        ("notes", "--facts", "--nugget", "Projct"), ("recall", "x", "--nugget", "projct"),
        ("search", "x", "--nugget", "projct"), ("forget", "projct", "test command"),
        ("forget", "projct", "--all", "--yes"), ("notes", "--nugget", "projct"),
    ):  # fmt: skip
        assert "did you mean project?" in nuggets.fails(*args, code=1), args
    assert "did you mean test command?" in nuggets.fails("forget", "project", "Test comand", code=1)
    for name in ("zzz", "x" * 10_000):
        assert "did you mean" not in nuggets.fails("notes", "--facts", "--nugget", name, code=1)


def test_a_key_that_two_nuggets_hold_is_offered_from_both(nuggets: Any) -> None:
    nuggets.ok("remember", "app", "test command", "pytest -q")
    nuggets.ok("remember", "other", "test command", "npm\ntest")
    document = nuggets.json("recall", "test command", code=1)
    assert (document["found"], document["judgement"]) == (False, "not sure")
    offered = [(one["nuggetName"], one["firstLine"]) for one in document["candidates"]]
    assert offered == [("app", "pytest -q"), ("other", "npm")]
    assert nuggets.json("recall", "test command", "--nugget", "app")["answer"] == "pytest -q"
