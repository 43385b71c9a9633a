"""Every tool over a real pipe, driven by the official client: what it tells, and what it leaves in the memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kits.mcp_client import AgentClient
from kits.memory_files import graph_of, javascript, replace_bytes, tree

from core.graph.edits import create_note
from core.memory import Memory
from core.model.note import Note, custom_tags, replace

Stored = Callable[[str], Note]
pytestmark = pytest.mark.slow


def test_a_fact_is_remembered_recalled_revised_and_forgotten(
    agent: AgentClient, home: Path, stored: Stored
) -> None:
    said = agent("remember", key="test command", value="pytest -q", nugget="app")
    (entry,) = Memory.open(home).history.log(limit=1)
    assert (entry.change_set.author.kind, entry.change_set.author.name) == ("agent", "claude")
    assert entry.id in said
    assert stored("test command").source == "agent_reflection"
    assert agent("recall", query="test command").startswith("test command = pytest -q")
    assert entry.id not in agent("remember", key="test command", value="pytest -q", nugget="app")
    assert "pytest -q" in agent("remember", key="Test command", value="tox", nugget="APP")
    assert stored("test command").content == "tox"
    assert "tox" in agent("remember", key="test commands", value="make test", nugget="app")
    agent("forget", id="test commands")
    assert stored("test commands").hidden
    assert stored("test command").id in agent("getNote", id="test command")


def test_a_recall_counts_once_for_each_session_and_claims_nothing_that_it_does_not_know(
    agent: AgentClient, home: Path, stored: Stored
) -> None:
    agent("createNote", title="Anna", content="Anna works on the billing service.", nugget="team")
    agent("createNote", title="Anna's office", content="Anna sits in room 4.", nugget="team")
    assert stored("Anna").id in agent("recall", query="Anna's birthday", nugget="team")
    assert "remember" in agent("recall", query="zzyzx quux")
    agent("remember", key="counted", value="yes", nugget="count")
    for session in ("", "", "one", "two", "two"):
        agent("recall", query="counted", session=session)
    assert (stored("Anna").hits, stored("counted").hits) == (0, 3)


def test_a_recall_of_a_disputed_fact_tells_both_sides(agent: AgentClient, home: Path) -> None:
    agent("remember", key="database", value="PostgreSQL", nugget="disputed")
    memory = Memory.open(home, reconcile=False)
    old = memory.snapshot.fact_notes["disputed", "database"]
    memory.change(
        "disputed",
        lambda draft: draft.put(
            replace(
                create_note(draft, "disputed", "moved", "now CockroachDB"),
                extra={"origin": {"disputes": old.id}},
            )
        ),
    )
    said = agent("recall", query="database", nugget="disputed")
    assert said.startswith("database = PostgreSQL")
    assert "now CockroachDB" in said


def test_a_note_is_written_found_changed_linked_and_hidden(
    agent: AgentClient, home: Path, stored: Stored
) -> None:
    agent(
        "createNote", title="Why PostgreSQL", content="Reports need joins.", nugget="notes", tags=["#db"],
        scope="project",
    )  # fmt: skip
    agent("createNote", title="Schema", content="In db/schema.sql.", nugget="notes")
    made, other = stored("Why PostgreSQL"), stored("Schema")
    assert (made.scope, custom_tags(made)) == ("project", ("db",))
    assert made.id in agent("searchNotes", query="joins tag:db")
    said = agent(
        "editNote", id="Why PostgreSQL", content="Reports need JSON.", addTags=["sql"], removeTags=["db"],
        linkTo="Schema",
    )  # fmt: skip
    made = stored("Why PostgreSQL")
    assert (made.content, custom_tags(made), made.scope) == ("Reports need JSON.", ("sql",), "project")
    assert [link.to for link in made.links] == [other.id]
    # One change, which one undo takes back.
    (entry,) = Memory.open(home).history.log(limit=1)
    assert entry.id in said
    read = agent("getNote", id=made.id)
    assert all(part in read for part in ("Reports need JSON.", "#sql", other.id))
    agent("addLink", noteId=made.id, otherId=other.id, reason="is its schema")
    agent("forget", id=made.id)
    assert stored("Why PostgreSQL").hidden
    assert made.id not in agent("searchNotes", query="JSON")


def test_a_long_note_is_recalled_by_its_passage_and_read_in_pieces(
    agent: AgentClient, stored: Stored
) -> None:
    lines = [f"line {number}" for number in range(4_000)]
    lines[2_000] = "The marlin cluster is reached through the bastion."
    agent("createNote", title="Long", content="\n".join(lines), nugget="long")
    found = agent("recall", query="how is the marlin cluster reached", nugget="long")
    assert len(found) < 1_200
    assert all(part in found for part in (lines[2_000], stored("Long").id))
    read = "".join(agent("getNote", id="Long", offset=offset) for offset in range(0, 48_000, 16_000))
    assert all(lines[place] in read for place in (0, 2_000, 3_999))


GIVEN: list[tuple[dict[str, Any], list[str]]] = [
    ({"tags": "a,b"}, ["a", "b"]),
    ({"tags": '["a", "b"]'}, ["a", "b"]),
    ({"tags": ["a", "", None]}, ["a"]),
    ({"tags": 5}, ["5"]),
    ({"tags": None, "scope": ""}, []),
    ({"content": 5433, "nugget": ""}, []),
]


@pytest.mark.parametrize("number", range(len(GIVEN)))
def test_arguments_are_taken_as_models_send_them(agent: AgentClient, stored: Stored, number: int) -> None:
    given, tags = GIVEN[number]
    agent("createNote", **{"title": f"Form {number}", "content": "x", **given})
    made = stored(f"Form {number}")
    assert list(custom_tags(made)) == tags
    assert made.content == str(given.get("content", "x"))
    assert made.id in agent("searchNotes", query=f"Form {number}", limit="5", nugget=None)
    assert agent("getNote", id=made.id, offset=0.0)


def test_what_another_program_wrote_is_seen_by_the_next_call(agent: AgentClient, home: Path) -> None:
    agent("createNote", title="Shared", content="Mine.", nugget="shared")
    graph = graph_of(home)
    for one in graph["notes"]:
        if one["title"] == "Shared":
            one["content"] = "Changed by another program, with half \ud800 a character."
    replace_bytes(home / "graph" / "graph.json", javascript(graph))
    agent("editNote", id="Shared", addTags=["kept"])
    assert "Changed by another program" in agent("getNote", id="Shared")


def test_a_cleanup_and_a_promotion_wait_for_the_user(agent: AgentClient, home: Path, tmp_path: Path) -> None:
    for _ in range(2):
        said = agent("createNote", title="Twice", content="Exactly the same words here.", nugget="tidy")
    twice = [one.id for one in Memory.open(home).snapshot.notes if one.title == "Twice"]
    assert [id in said for id in twice] == [True, True]
    for session in "abc":
        agent("recall", query="exactly the same words", session=session)
    before = tree(home)
    assert "Twice" in agent("reflectAndCleanMemory", nugget="tidy")
    assert "Twice" in agent("promoteFacts", memoryDir=str(tmp_path))
    assert not list(tmp_path.iterdir())
    assert {name for name, data in tree(home).items() if before.get(name) != data} <= {"state.json"}


def test_a_checkpoint_holds_what_was_said_and_done_and_comes_back_without_credentials(
    agent: AgentClient,
) -> None:
    agent("remember", key="checkpointed", value="yes", nugget="app")
    secret = "sk-proj-" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"
    agent("sessionCheckpoint", digest=f"Moved to uv with {secret}. Open: the docs.", project="app")
    for given in ({}, {"project": "app"}):
        found = agent("sessionRecover", **given)
        assert all(part in found for part in ("Moved to uv", "checkpointed"))
        assert secret not in found
    assert "Moved to uv" not in agent("sessionRecover", project="another")
    agent("sessionCheckpoint", digest="x" * 20_000, session="long")
    assert len(agent("sessionRecover", session="long", maxTokens=100).encode()) <= 600


def test_what_looks_like_a_credential_is_warned_of_at_once(agent: AgentClient, stored: Stored) -> None:
    said = agent("remember", key="token", value="ghp_16C7e42F292c6912E7710c838347Ae178B4a", nugget="secret")
    assert f"nuggets secrets --mask {stored('token').id}" in said


def test_the_briefing_is_a_resource_and_the_habit_is_told_at_once(agent: AgentClient) -> None:
    agent("remember", key="user: name", value="Kim", nugget="who")
    call, client = agent.portal.call, agent.client
    (resource,) = call(client.list_resources).resources
    assert "Kim" in str(call(client.read_resource, resource.uri).contents[0])
    assert all(part in str(client.instructions) for part in ("recall", "sessionCheckpoint"))
