"""What an agent is told when a call cannot be done, and that nothing is changed then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kits.hostile import HOSTILE, RAW
from kits.mcp_client import AgentClient, text_of
from kits.memory_files import tree

from core.storage.files.atomic import locked

pytestmark = pytest.mark.slow
MISFITS: list[tuple[str, dict[str, Any]]] = [
    ("recall", {}),
    ("recall", {"query": ""}),
    ("recall", {"query": None}),
    ("recall", {"query": ["a"]}),
    ("recall", {"query": "x" * 4_001}),
    ("recall", {"query": "x", "nuget": "y"}),
    ("remember", {"key": "x", "value": {"a": 1}}),
    ("createNote", {"title": "x", "content": "y", "scope": "world"}),
    ("createNote", {"title": "x", "content": "y", "tags": {"a": "b"}}),
    ("createNote", {"title": "x", "content": "y", "tags": ["t"] * 51}),
    ("searchNotes", {"query": "x", "limit": 0}),
    ("searchNotes", {"query": "x", "limit": 10**30}),
    ("sessionRecover", {"maxTokens": "many"}),
]
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    *((tool, given, "invalid-input") for tool, given in MISFITS),
    ("recall", {"query": "x", "nugget": "no such"}, "not-found"),
    ("remember", {"key": "x", "value": "x", "nugget": "knwon"}, "invalid-input"),
    ("remember", {"key": "x", "value": "x", "nugget": "../outside"}, "bad-name"),
    ("createNote", {"title": "x", "content": " "}, "empty"),
    ("editNote", {"id": "One", "content": " "}, "empty"),
    ("editNote", {"id": "One", "content": "", "title": "", "addTags": ""}, "empty"),
    ("editNote", {"id": "One", "content": "new", "linkTo": "One"}, "invalid-input"),
    ("editNote", {"id": "One", "content": "new", "linkTo": "no such"}, "not-found"),
    ("forget", {"id": "kex"}, "not-found"),
    ("forget", {}, "invalid-input"),
    ("forget", {"id": " "}, "empty"),
    ("sessionCheckpoint", {"digest": "  "}, "empty"),
    ("promoteFacts", {}, "not-found"),
    ("promoteFacts", {"memoryDir": "a\x00b"}, "invalid-input"),
]


@pytest.fixture(scope="module")
def known(agent: AgentClient) -> AgentClient:
    """With a fact and two notes."""
    agent("remember", key="key", value="x", nugget="known")
    for title in ("One", "Two"):
        agent("createNote", title=title, content="x", nugget="known")
    return agent


@pytest.mark.parametrize(("tool", "given", "code"), REFUSED)
def test_what_cannot_be_done_says_why_and_what_to_do_and_changes_nothing(
    known: AgentClient, home: Path, tool: str, given: dict[str, Any], code: str
) -> None:
    def memory() -> dict[str, bytes]:
        return {name: data for name, data in tree(home).items() if not name.startswith("nuggets.db")}

    before = memory()
    assert known.refused(tool, **given) == code
    assert memory() == before


def test_a_mistyped_name_gets_a_suggestion(known: AgentClient) -> None:
    known("remember", key="x", value="x", nugget="known-2")
    for tool, given, meant in (
        ("recall", {"query": "x", "nugget": "knwon"}, "known"),
        ("createNote", {"title": "x", "content": "x", "nugget": "knwon"}, "known"),
        ("remember", {"key": "x", "value": "x", "nugget": "knwon"}, "known"),
        ("getNote", {"id": "Onee"}, '"One"'),
    ):
        assert f"did you mean {meant}" in text_of(known.result(tool, **given))


@pytest.mark.parametrize("text", [text for text in HOSTILE if "\ud800" not in text], ids=ascii)
def test_hostile_text_is_shown_harmless_and_ends_no_call(known: AgentClient, text: str) -> None:
    title = f"hostile {ascii(text)[:40]}"
    for tool, given in (
        ("createNote", {"title": title, "content": text, "nugget": "hostile", "tags": ["x", text[:200]]}),
        ("getNote", {"id": title}),
        ("editNote", {"id": title, "title": f"{title} {text[:900]}"}),
        ("recall", {"query": text}),
        ("searchNotes", {"query": text}),
        ("getNote", {"id": text}),
        ("forget", {"id": text}),
        ("sessionRecover", {"session": text, "project": text}),
        ("sessionCheckpoint", {"digest": text, "session": text}),
        ("promoteFacts", {"memoryDir": f"/nowhere/{text}"}),
    ):
        result = known.result(tool, **given)
        assert not RAW.search(text_of(result)), tool
        assert "bug" not in str(result.meta), (tool, result.meta)


def test_an_answer_is_given_while_somebody_else_writes(known: AgentClient, home: Path) -> None:
    with locked(home):
        assert known("recall", query="key", nugget="known", session="while locked").startswith("key = x")


def test_facts_are_answered_while_the_notes_cannot_be_read(known: AgentClient, home: Path) -> None:
    graph = home / "graph" / "graph.json"
    sound = graph.read_bytes()
    graph.write_bytes(sound[:-30])
    try:
        assert known("recall", query="key", nugget="known").startswith("key = x")
        assert known.refused("searchNotes", query="x") == "broken-file"
        assert known.refused("createNote", title="x", content="y") == "broken-file"
        assert graph.read_bytes() == sound[:-30]
    finally:
        graph.write_bytes(sound)
    assert known("searchNotes", query="One")


def test_what_cannot_be_read_is_said_beside_what_can(known: AgentClient, home: Path) -> None:
    known("remember", key="of broken", value="x", nugget="broken")
    file = home / "broken.nugget.json"
    sound = file.read_bytes()
    file.write_bytes(b"{")
    try:
        assert "broken" in known("recall", query="of broken").partition("\n")[2]
        assert known.refused("remember", key="more", value="x", nugget="broken") == "broken-file"
        assert file.read_bytes() == b"{"
    finally:
        file.write_bytes(sound)


def test_a_broken_database_of_the_pipeline_is_set_aside_and_said(known: AgentClient, home: Path) -> None:
    known("sessionCheckpoint", digest="Before.", session="broken")
    for path in home.glob("nuggets.db*"):
        path.unlink()
    (home / "nuggets.db").write_bytes(b"no database" * 500)
    assert "nuggets.db" in known("sessionCheckpoint", digest="After.", session="broken")
    found = known("sessionRecover", session="broken")
    assert ("After." in found, "Before." in found) == (True, False)
