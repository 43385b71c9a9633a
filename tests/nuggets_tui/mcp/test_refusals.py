"""What an agent is told when a call cannot be done: a code, what is wrong, what is safe, what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kits.hostile import HOSTILE, RAW
from kits.mcp_client import AgentClient, text_of
from kits.memory_files import tree
from mcp.shared.exceptions import MCPError

from core.graph.edits import create_note
from core.memory import Memory
from core.model.draft import Draft
from core.model.note import Note, replace
from core.storage.files.atomic import locked
from nuggets_tui.mcp.shapes import CreateNoteArguments, SearchNotesArguments, as_meant, input_schema

WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("recall", {}, "query"),
    ("recall", {"query": ""}, "query"),
    ("recall", {"query": {"text": 5}}, "query"),
    ("recall", {"query": None}, "query"),
    ("recall", {"query": ["a"]}, "query"),
    ("recall", {"query": "x" * 4_001}, "query"),
    ("recall", {"query": "x", "nuget": "y"}, "nuget"),
    ("remember", {"key": "x"}, "value"),
    ("remember", {"key": "x", "value": {"a": 1}}, "value"),
    ("remember", {"key": "k" * 1_001, "value": "x"}, "key"),
    ("createNote", {"title": "x", "content": "y", "scope": "world"}, "scope"),
    ("createNote", {"title": "x", "content": "y", "confidence": 7}, "confidence"),
    ("createNote", {"title": "x", "content": "y", "tags": '["a",'}, "tags"),
    ("createNote", {"title": "x", "content": "y", "tags": {"a": 1}}, "tags"),
    ("createNote", {"title": "x", "content": "y", "tags": ["t"] * 51}, "tags"),
    ("searchNotes", {"query": "x", "limit": 0}, "limit"),
    ("searchNotes", {"query": "x", "limit": 10**30}, "limit"),
    ("getNote", {"id": "x", "offset": -1}, "offset"),
    ("sessionRecover", {"maxTokens": "many"}, "maxTokens"),
    ("status", {"verbose": True}, "verbose"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("tool", "given", "field"), WRONG)
def test_arguments_that_do_not_fit_are_named_and_change_nothing(
    agent: AgentClient, home: Path, tool: str, given: dict[str, Any], field: str
) -> None:
    agent("status")
    before = tree(home)
    told = agent.refused(tool, **given)
    assert told["code"] == "invalid-input"
    assert f"{field}: " in told["what"]
    assert told["kept"] == "nothing was changed"
    assert "pydantic" not in told["what"]
    assert tree(home) == before


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("recall", {"query": "x", "nugget": "no such"}, "no-such-nugget"),
    ("listFacts", {"nugget": "no such"}, "no-such-nugget"),
    ("searchNotes", {"query": "x", "nugget": "no such"}, "no-such-nugget"),
    ("forget", {"nugget": "no such", "key": "x"}, "no-such-nugget"),
    ("forget", {"nugget": "known", "key": "kex"}, "not-found"),
    ("reflectAndCleanMemory", {"nugget": "no such"}, "no-such-nugget"),
    ("getNote", {"id": "no such"}, "no-such-note"),
    ("getNote", {"id": "   "}, "empty-id"),
    ("getNote", {"id": "note-known"}, "ambiguous"),
    ("editNote", {"id": "no such", "content": "x"}, "no-such-note"),
    ("editNote", {"id": "One"}, "nothing-to-change"),
    ("editNote", {"id": "One", "title": " \n"}, "no-title"),
    ("editNote", {"id": "key", "content": ""}, "no-value"),
    ("hideNote", {"id": "no such"}, "no-such-note"),
    ("addLink", {"noteId": "One", "otherId": "no such"}, "no-such-note"),
    ("addLink", {"noteId": "One", "otherId": "One"}, "same-note"),
    ("remember", {"key": " ", "value": "x"}, "no-key"),
    ("remember", {"key": "x", "value": "\n"}, "no-value"),
    ("remember", {"key": "x", "value": "x", "nugget": "../outside"}, "bad-name"),
    ("remember", {"key": "x", "value": "x", "nugget": "a\x00b"}, "bad-name"),
    ("remember", {"key": "x", "value": "x", "nugget": "KNOWN"}, "name-taken"),
    ("createNote", {"title": "\t", "content": "x"}, "no-title"),
    ("createNote", {"title": "x", "content": "x", "nugget": "con"}, "bad-name"),
    ("ingest", {"text": " \n "}, "empty-text"),
    ("ingest", {"text": "x", "nugget": "../outside"}, "bad-name"),
    ("sessionCheckpoint", {"digest": "  "}, "empty-text"),
    ("promoteFacts", {}, "no-memory-page"),
    ("promoteFacts", {"memoryDir": "a\x00b"}, "*"),
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
    known("status")
    before = {name: data for name, data in tree(home).items() if not name.startswith("pipeline.db")}
    told = known.refused(tool, **given)
    assert code in (told["code"], "*")
    assert told["code"] != "bug"
    # Advice for somebody at a shell is for the user, and said so.
    assert "--help" not in told["todo"]
    after = {name: data for name, data in tree(home).items() if not name.startswith("pipeline.db")}
    assert after == before


def test_a_mistyped_name_gets_a_suggestion(known: AgentClient) -> None:
    assert "did you mean known?" in known.refused("recall", query="x", nugget="knwon")["todo"]
    assert "did you mean key?" in known.refused("forget", nugget="known", key="kex")["todo"]
    assert known.refused("getNote", id="Onee")["todo"].endswith('did you mean "One"?')


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_text_is_stored_as_it_is_and_shown_harmless(
    known: AgentClient, home: Path, text: str
) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        pytest.skip("no JSON of the protocol can hold it")
    for tool, given in (
        ("recall", {"query": text}),
        ("searchNotes", {"query": text}),
        ("getNote", {"id": text}),
        ("forget", {"nugget": text, "key": text}),
        ("sessionRecover", {"session": text, "project": text}),
        ("sessionCheckpoint", {"digest": text, "session": text}),
        ("addLink", {"noteId": text, "otherId": text, "reason": text}),
        ("promoteFacts", {"memoryDir": f"/nowhere/{text}", "dryRun": True}),
    ):
        result = known.result(tool, **given)
        assert not RAW.search(text_of(result)), tool
        assert "bug" not in str(result.meta), (tool, result.meta)
    made = known.result(
        "createNote", title=text[:1_000], content=text, nugget="hostile", tags=["x", text[:200]]
    )
    if made.is_error:
        assert not text.strip()
        return
    assert not RAW.search(text_of(made))
    note = made.structured_content["noteId"]
    read = known.result("getNote", id=note)
    assert not RAW.search(text_of(read))
    stored = Memory.open(home, reconcile=False).snapshot.note(note).content
    assert stored.startswith(read.structured_content["content"])
    assert len(stored) == read.structured_content["totalChars"]
    known("hideNote", id=note)


def test_half_a_character_that_another_program_stored_ends_no_call(known: AgentClient, home: Path) -> None:
    def edit(draft: Draft) -> Note:
        made = create_note(draft, "half", "half", "half a character")
        return draft.put(replace(made, title="half \ud800", content="half \udfff a character"))

    memory = Memory.open(home)
    made, _ = memory.change("x", edit)
    memory.close()
    assert known("getNote", id=made.id)["content"] == "half \ufffd a character"
    assert known("searchNotes", query="half character")["hits"][0]["title"] == "half \ufffd"
    known("status")


AS_SENT: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"tags": '["build", "on call"]'}, {"tags": ["build", "on call"]}),
    ({"tags": "build, server"}, {"tags": ["build", "server"]}),
    ({"tags": ["a", None, 7, ""]}, {"tags": ["a", "7"]}),
    ({"tags": None}, {}),
    ({"tags": ""}, {}),
    ({"query": 7733, "related": None}, {"query": "7733"}),
    ({"query": True}, {"query": "true"}),
    ({"query": "null"}, {"query": "null"}),
    ({"query": 10**5_000}, {"query": 10**5_000}),
    ({"query": None}, {"query": None}),
    ({"scope": "", "limit": "null"}, {}),
    ({"tags": '["a"'}, {"tags": '["a"'}),
    ({"unknown": 5}, {"unknown": 5}),
]


@pytest.mark.parametrize(("sent", "meant"), AS_SENT, ids=range(len(AS_SENT)))
def test_arguments_as_models_send_them_become_those_of_the_schema(
    sent: dict[str, Any], meant: dict[str, Any]
) -> None:
    schema = (
        input_schema(CreateNoteArguments)["properties"] | input_schema(SearchNotesArguments)["properties"]
    )
    assert as_meant(sent, {"properties": schema, "required": ["query"]}) == meant


def test_a_tool_takes_arguments_as_models_send_them(known: AgentClient) -> None:
    note = known("createNote", title="As sent", content=5, tags='["a","b"]', confidence="0.5", scope=None)
    assert {"a", "b"} < set(note["tags"])
    assert known("editNote", id=note["noteId"], addTags="c, d")["tags"] == [*note["tags"], "c", "d"]
    for limit in ("1", 1.0, "1.0"):
        assert len(known("searchNotes", query="sent", limit=limit)["hits"]) == 1
    assert known("remember", key="port", value=7733)["value"] == "7733"
    known("hideNote", id=note["noteId"])


def test_a_tool_that_is_none_and_a_resource_that_is_none_are_errors_of_the_protocol(
    agent: AgentClient,
) -> None:
    call = agent.portal.call
    with pytest.raises(MCPError, match="Unknown tool: deleteEverything"):
        call(agent.client.call_tool, "deleteEverything", {})
    for uri in (
        "nuggets://other",
        "file:///etc/passwd",
        "nuggets://briefing/a/b",
        "nuggets://briefing/no%20such",
    ):
        with pytest.raises(MCPError):
            call(agent.client.read_resource, uri)
    with pytest.raises(MCPError, match="Unknown prompt"):
        call(agent.client.get_prompt, "other")
    assert agent("status")


@pytest.mark.slow
def test_an_answer_is_given_while_somebody_else_writes_and_says_that_it_is_not_counted(
    known: AgentClient, home: Path
) -> None:
    with locked(home):
        found = known("recall", query="key", nugget="known", session="while locked")
    assert found["answer"] == "x"
    assert "could not be counted" in found["notices"][0]


@pytest.mark.slow
def test_facts_are_answered_while_the_notes_cannot_be_read(known: AgentClient, home: Path) -> None:
    graph = home / "graph" / "graph.json"
    sound = graph.read_bytes()
    graph.write_bytes(sound[:-30])
    try:
        assert known("recall", query="key", nugget="known")["answer"] == "x"
        told = known.refused("searchNotes", query="x")
        assert told["code"] == "broken-file"
        assert "tell the user: nuggets verify" in told["todo"]
        assert known.refused("createNote", title="x", content="y")["code"] == "broken-file"
        assert known("status")["problems"]
        assert graph.read_bytes() == sound[:-30]
    finally:
        graph.write_bytes(sound)
    assert known("searchNotes", query="One")["hits"]


@pytest.mark.slow
def test_what_cannot_be_read_is_said_beside_what_can(known: AgentClient, home: Path) -> None:
    known("remember", key="of broken", value="x", nugget="broken")
    file = home / "broken.nugget.json"
    sound = file.read_bytes()
    file.write_bytes(b"{")
    try:
        assert "broken.nugget.json" in known("listFacts")["notices"][0]
        found = known("recall", query="of broken")
        assert any(notice.startswith("broken was passed over") for notice in found["notices"])
        assert any("broken.nugget.json" in problem for problem in known("status")["problems"])
        assert known.refused("remember", key="more", value="x", nugget="broken")["code"] == "broken-file"
        assert file.read_bytes() == b"{"
    finally:
        file.write_bytes(sound)
    assert "notices" not in known("listFacts")


@pytest.mark.slow
def test_a_broken_database_of_the_pipeline_is_set_aside_and_said(known: AgentClient, home: Path) -> None:
    known("sessionCheckpoint", digest="Before.", session="broken")
    for path in home.glob("pipeline.db*"):
        path.unlink()
    (home / "pipeline.db").write_bytes(b"no database" * 500)
    told = known("sessionCheckpoint", digest="After.", session="broken")
    assert "a new one is started" in told["notices"][0]
    assert known("sessionRecover", session="broken")["count"] == 1
