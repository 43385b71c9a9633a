"""Every tool over a real pipe, driven by the official client: what it answers, and what it leaves in the memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
from kits.mcp_client import AgentClient
from kits.memory_files import graph_of, javascript, replace_bytes

from core.graph.edits import create_note
from core.memory import Memory
from core.pipeline.service import Pipeline
from core.pipeline.writes.disputing import mark_disputing
from nuggets_tui.mcp.shapes import input_schema, output_schema
from nuggets_tui.mcp.tools import TOOLS

NAMES = {
    "remember", "recall", "forget", "listFacts", "createNote", "editNote", "addLink", "searchNotes", "getNote",
    "hideNote", "reflectAndCleanMemory", "promoteFacts", "ingest", "sessionCheckpoint", "sessionRecover", "status",
}  # fmt: skip
READS = {"recall", "listFacts", "searchNotes", "getNote", "sessionRecover", "status", "promoteFacts"}


def memory_of(home: Path) -> Memory:
    return Memory.open(home, reconcile=False)


# The list


@pytest.mark.slow
def test_every_tool_is_described_typed_and_says_what_it_may_do(agent: AgentClient) -> None:
    listed = {tool.name: tool for tool in agent.portal.call(agent.client.list_tools).tools}
    assert set(listed) == NAMES
    for tool in listed.values():
        assert tool.description
        assert tool.title
        assert tool.annotations
        assert tool.output_schema
        hints = tool.annotations
        assert hints.read_only_hint == (tool.name in READS)
        assert hints.open_world_hint is False
        assert not (hints.read_only_hint and hints.destructive_hint)
        for schema in (tool.input_schema, tool.output_schema):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
    destructive = {
        name for name, tool in listed.items() if tool.annotations and tool.annotations.destructive_hint
    }
    assert destructive == {"forget", "editNote", "hideNote", "reflectAndCleanMemory"}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_argument_but_the_plainest_is_described_for_a_model(tool: Any) -> None:
    plain = {"scope", "type", "subject", "tag", "addTags", "removeTags"}
    for name, schema in input_schema(tool.takes).get("properties", {}).items():
        assert "title" not in schema
        assert schema.get("description") or name in plain, name
        # No null to be sent for what is left out.
        assert {"type": "null"} not in schema.get("anyOf", [])
    assert "title" not in output_schema(tool.answers)


def test_the_tools_cost_a_model_no_more_than_their_worth() -> None:
    told = sum(len(tool.description) + len(str(input_schema(tool.takes))) for tool in TOOLS)
    assert told < 16_000


# Facts


@pytest.mark.slow
def test_a_fact_is_remembered_and_recalled_with_how_it_was_found(agent: AgentClient, home: Path) -> None:
    stored = agent("remember", key="test command", value="pytest -q", nugget="app")
    assert stored["changed"]
    assert stored["newNugget"]
    found = agent("recall", query="test command")
    assert (found["judgement"], found["answer"], found["via"], found["match"]) == (
        "found",
        "pytest -q",
        "facts",
        "exact",
    )
    assert (found["nugget"], found["noteId"]) == ("app", stored["noteId"])
    assert "certainty 1.00" in found["how"]
    assert "the key that you asked for" in agent.text("recall", query="test command")
    entry = memory_of(home).entry(stored["changeId"])
    assert (entry.change_set.author.kind, entry.change_set.author.name) == ("agent", "claude")
    assert memory_of(home).snapshot.note(stored["noteId"]).source == "agent_reflection"


def test_a_new_value_takes_the_place_of_the_old_one_which_is_told(agent: AgentClient, home: Path) -> None:
    agent("remember", key="port", value="8000", nugget="app")
    assert not agent("remember", key="port", value="8000", nugget="app")["changed"]
    again = agent("remember", key="port", value="8642", nugget="app")
    assert again["formerValue"] == "8000"
    assert "It was: 8642" in agent.text("remember", key="port", value="8643", nugget="app")
    memory = Memory.open(home)
    assert memory.snapshot.by_name["app"].find("port")[1].value == "8643"  # type: ignore[index]
    memory.close()


def test_what_looks_like_a_credential_is_warned_of_at_once(agent: AgentClient) -> None:
    stored = agent("remember", key="token", value="ghp_16C7e42F292c6912E7710c838347Ae178B4a", nugget="secret")
    assert [one["code"] for one in stored["warnings"]] == ["credential"]
    assert "nuggets secrets" in stored["warnings"][0]["message"]
    agent("forget", nugget="secret", key="token")


@pytest.mark.slow
def test_where_it_is_not_sure_a_recall_claims_nothing_and_names_candidates(
    agent: AgentClient, home: Path
) -> None:
    agent("createNote", title="Anna", content="Anna works on the billing service.", nugget="team")
    agent("createNote", title="Anna's office", content="Anna sits in room 4.", nugget="team")
    found = agent("recall", query="Anna's birthday", nugget="team")
    assert found["judgement"] == "not sure"
    assert "answer" not in found
    assert {one["title"] for one in found["candidates"]} <= {"Anna", "Anna's office"}
    assert all("lacks" in one["why"] for one in found["candidates"])
    text = agent.text("recall", query="Anna's birthday", nugget="team")
    assert text.startswith("Not sure.")
    assert found["candidates"][0]["id"] in text
    assert all(note.hits == 0 for note in memory_of(home).snapshot.notes if note.nugget_name == "team")


@pytest.mark.parametrize("query", ["who is on call", "on call", "who waters plants", "gardening"])
def test_recall_and_search_are_sure_of_the_same_questions(agent: AgentClient, query: str) -> None:
    agent("remember", nugget="duty", key="on-call rotation", value="Monday 09:00, Amal, Mira, Jonas")
    agent(
        "createNote",
        title="Meetings",
        content="One call on Monday. Nothing is decided in calls.",
        nugget="duty",
    )
    recalled = agent("recall", query=query, nugget="duty")
    assert agent("searchNotes", query=query, nugget="duty")["judgement"] == recalled["judgement"]


def test_nothing_is_nothing_and_says_what_to_do_then(agent: AgentClient) -> None:
    assert agent("recall", query="zzyzx quux")["judgement"] == "nothing"
    assert "remember" in agent.text("recall", query="zzyzx quux")


def test_a_recall_of_a_disputed_fact_tells_both_sides(agent: AgentClient, home: Path) -> None:
    stored = agent("remember", key="database", value="PostgreSQL", nugget="app")
    memory = memory_of(home)
    old = memory.snapshot.note(stored["noteId"])
    memory.change(
        "disputed",
        lambda draft: mark_disputing(draft, create_note(draft, "app", "moved", "moved to CockroachDB"), old),
    )
    found = agent("recall", query="database", nugget="app")
    assert found["answer"] == "PostgreSQL"
    assert [one["text"] for one in found["disputedBy"]] == ["moved to CockroachDB"]
    assert "Another note says: moved to CockroachDB" in agent.text("recall", query="database", nugget="app")


def test_a_recall_counts_once_for_each_session(agent: AgentClient, home: Path) -> None:
    agent("remember", key="counted", value="yes", nugget="count")
    for _ in range(3):
        agent("recall", query="counted")
    assert agent("listFacts", nugget="count")["facts"][0]["hits"] == 1
    for session in ("one", "two", "two"):
        agent("recall", query="counted", session=session)
    assert agent("listFacts", nugget="count")["facts"][0]["hits"] == 3
    hits = [entry for entry in memory_of(home).log(kind="hit") if "counted" in entry.change_set.reason]
    assert {entry.change_set.author.name for entry in hits} >= {"two"}


def test_a_recall_can_bring_the_notes_that_are_linked_with_its_answer(agent: AgentClient) -> None:
    fact = agent("remember", key="deploy target", value="fly.io", nugget="linked")
    note = agent("createNote", title="How we deploy", content="With a tag.", nugget="linked")
    agent("addLink", noteId=fact["noteId"], otherId=note["noteId"], reason="the way to it")
    found = agent("recall", query="deploy target", related=True)
    assert [(one["id"], one["reason"]) for one in found["related"]] == [(note["noteId"], "the way to it")]


def test_facts_are_listed_page_by_page(agent: AgentClient) -> None:
    for number in range(5):
        agent(
            "remember",
            key=f"key {number}",
            value=f"value {number}" + "x" * 600 * (number == 4),
            nugget="paged",
        )
    first = agent("listFacts", nugget="paged", limit=3)
    assert ([one["key"] for one in first["facts"]], first["total"], first["nextOffset"]) == (
        ["key 0", "key 1", "key 2"], 5, 3,
    )  # fmt: skip
    rest = agent("listFacts", nugget="paged", limit=3, offset=first["nextOffset"])
    assert [one["key"] for one in rest["facts"]] == ["key 3", "key 4"]
    assert "nextOffset" not in rest
    assert rest["facts"][1]["truncated"]
    assert {"name": "paged", "facts": 5, "notes": 5} in agent("listFacts")["nuggets"]


def test_a_forgotten_fact_is_kept_hidden_and_comes_back_with_undo(agent: AgentClient, home: Path) -> None:
    agent("remember", key="gone", value="soon", nugget="app")
    gone = agent("forget", nugget="app", key="gone")
    assert agent("recall", query="gone", nugget="app")["judgement"] != "found"
    assert agent("getNote", id=gone["noteId"])["hidden"]
    memory = Memory.open(home)
    memory.undo(gone["changeId"])
    memory.close()
    assert agent("recall", query="gone", nugget="app")["answer"] == "soon"


# Notes


@pytest.mark.slow
def test_a_note_is_written_found_read_changed_linked_and_hidden(agent: AgentClient, home: Path) -> None:
    made = agent(
        "createNote", title="Why PostgreSQL", content="Reports need joins.", nugget="notes", tags=["#db"],
        scope="project", confidence=0.8,
    )  # fmt: skip
    note = made["noteId"]
    hits = agent("searchNotes", query="postgresql joins")["hits"]
    assert (hits[0]["id"], hits[0]["sure"]) == (note, True)
    assert "joins" in hits[0]["snippet"]
    read = agent("getNote", id="Why PostgreSQL")
    assert (read["id"], read["content"], read["tags"], read["scope"]) == (
        note,
        "Reports need joins.",
        ["db"],
        "project",
    )
    assert (read["source"], read["confidence"]) == ("agent_reflection", 0.8)

    edited = agent(
        "editNote", id=note, content="Reports need joins and JSON.", addTags=["sql"], removeTags=["db"]
    )
    assert edited["changed"]
    assert not agent("editNote", id=note, addTags=["sql"])["changed"]
    read = agent("getNote", id=note)
    assert (read["content"], read["tags"], read["scope"]) == (
        "Reports need joins and JSON.",
        ["sql"],
        "project",
    )

    other = agent("createNote", title="Schema", content="In db/schema.sql.", nugget="notes")["noteId"]
    linked = agent("addLink", noteId=note, otherId=other, reason="is its schema")
    assert [one["id"] for one in linked["notes"]] == [note, other]
    assert not agent("addLink", noteId=note, otherId=other, reason="is its schema")["changed"]
    links = agent("getNote", id=note)["links"]
    assert [(one["id"], one["reason"]) for one in links] == [(other, "is its schema")]

    hidden = agent("hideNote", id=note)
    assert hidden["changed"]
    assert not agent("hideNote", id=note)["changed"]
    assert note not in {hit["id"] for hit in agent("searchNotes", query="postgresql joins").get("hits", [])}
    found = agent("searchNotes", query="postgresql joins", includeHidden=True)["hits"]
    assert found[0]["hidden"]
    authors = {str(author) for author, _ in memory_of(home).makers(note)}
    assert authors == {"claude"}


def test_a_search_takes_conditions_and_says_which_it_misread(agent: AgentClient) -> None:
    agent("createNote", title="Alpha release", content="In May.", nugget="search", tags=["plan"])
    agent("createNote", title="Alpha tester", content="Bo.", nugget="search")
    assert [hit["title"] for hit in agent("searchNotes", query="alpha tag:plan")["hits"]] == ["Alpha release"]
    assert [hit["title"] for hit in agent("searchNotes", query="alpha", tag="plan")["hits"]] == [
        "Alpha release"
    ]
    assert len(agent("searchNotes", query="alpha", nugget="search", limit=1)["hits"]) == 1
    assert agent("searchNotes", query="alpha hits:many")["misread"]


def test_a_long_note_is_read_in_pieces(agent: AgentClient) -> None:
    content = "".join(f"line {number}\n" for number in range(4_000))
    note = agent("createNote", title="Long", content=content, nugget="long")["noteId"]
    read, offset = "", 0
    while True:
        piece = agent("getNote", id=note, offset=offset)
        read += piece["content"]
        offset = piece.get("nextOffset", 0)
        if not offset:
            break
    assert read.strip() == content.strip()
    assert "read on with offset" in agent.text("getNote", id=note)


def test_what_another_program_wrote_is_seen_by_the_next_call(agent: AgentClient, home: Path) -> None:
    note = agent("createNote", title="Shared", content="Mine.", nugget="shared")["noteId"]
    graph = graph_of(home)
    for one in graph["notes"]:
        if one["id"] == note:
            one["content"] = "Changed by another program."
    replace_bytes(home / "graph" / "graph.json", javascript(graph))
    assert agent("getNote", id=note)["content"] == "Changed by another program."
    agent("editNote", id=note, addTags=["kept"])
    assert agent("getNote", id=note)["content"] == "Changed by another program."


# The whole memory


@pytest.mark.slow
def test_a_cleanup_waits_for_the_user_and_says_so(agent: AgentClient, home: Path) -> None:
    twice = [
        agent("createNote", title="Twice", content="Exactly the same words here.", nugget="tidy")["noteId"]
        for _ in range(2)
    ]
    before = graph_of(home)
    proposed = agent("reflectAndCleanMemory", nugget="tidy")
    assert (proposed["applied"], proposed["reviewPending"]) == (False, True)
    assert proposed["counts"]["merge"] == 1
    assert {"merge"} <= {one["type"] for one in proposed["changes"]}
    assert proposed["changes"][0]["noteId"] in twice
    assert graph_of(home) == before
    assert agent("status")["reviewPending"]
    assert "review" in agent.text("reflectAndCleanMemory", nugget="tidy")


def test_where_the_setting_allows_it_a_cleanup_is_done_at_once_and_can_be_undone(
    agent: AgentClient, home: Path
) -> None:
    for _ in range(2):
        agent("createNote", title="Double", content="The very same sentence twice.", nugget="allowed")
    (home / "settings.toml").write_text("[schedule]\nagents_apply = true\n", encoding="utf-8")
    try:
        done = agent("reflectAndCleanMemory", nugget="allowed")
        assert (done["applied"], done["reviewPending"]) == (True, False)
        entry = memory_of(home).entry(done["changeId"])
        assert (entry.change_set.kind, entry.change_set.author.kind) == ("reflection", "reflection")
    finally:
        (home / "settings.toml").unlink()


@pytest.mark.slow
def test_what_an_agent_would_promote_is_told_and_waits_for_the_user(
    agent: AgentClient, home: Path, tmp_path: Path
) -> None:
    agent("remember", key="build command", value="make all", nugget="promoted")
    for session in "abc":
        agent("recall", query="build command", nugget="promoted", session=session)
    page = tmp_path / "MEMORY.md"
    page.write_text("# Mine\n\nKeep this.\n", encoding="utf-8")
    for given in ({"dryRun": True}, {}):
        shown = agent("promoteFacts", memoryDir=str(tmp_path), **given)
        assert "build command" in {one["title"] for one in shown["entries"]}
        assert (shown["promoted"], shown["path"]) == (len(shown["entries"]), str(page))
        assert page.read_text() == "# Mine\n\nKeep this.\n"


@pytest.mark.slow
def test_a_text_is_kept_to_the_letter_for_the_pipeline(agent: AgentClient, home: Path) -> None:
    text = "  We chose uv over pip for the build.\n\tBecause it is quick.\n"
    done = agent("ingest", text=text, project="app", session="talk")
    assert (done["status"], done["nugget"]) == ("queued", "app")
    assert done["pipeline"]
    with Pipeline.open(home) as pipeline:
        raw = pipeline.raw(done["id"])
    assert (raw.content, raw.source_id, raw.author) == (text, "talk", "agent:claude")
    again = agent("ingest", text=text, project="app")
    assert (again["status"], again["duplicateOf"]) == ("duplicate", done["id"])


@pytest.mark.slow
def test_a_checkpoint_holds_what_was_said_and_done_and_comes_back(agent: AgentClient) -> None:
    assert agent("sessionRecover", session="unheard of") == {"found": False}
    agent("remember", key="checkpointed", value="yes", nugget="app")
    secret = "sk-proj-" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"
    kept = agent("sessionCheckpoint", digest=f"Moved to uv with {secret}. Open: the docs.", project="app")
    assert (kept["redactions"], kept["new"]) == (1, True)
    found = agent("sessionRecover")
    assert (found["session"], found["author"]) == (kept["session"], "claude")
    assert "Moved to uv" in found["digest"]
    assert "Stored in the memory:" in found["digest"]
    assert "checkpointed" in found["digest"]
    assert secret not in found["digest"]
    assert agent("sessionRecover", project="app")["found"]
    assert not agent("sessionRecover", project="another")["found"]
    # What was asked and stored goes where the digest alone has no room for it.
    assert agent("sessionCheckpoint", digest="x" * 20_000, session="long")["new"]
    short = agent("sessionRecover", maxTokens=50)
    assert len(short["digest"].encode()) <= 200


def test_the_status_says_what_is_there_who_writes_and_what_waits(agent: AgentClient, home: Path) -> None:
    agent("remember", key="for the status", value="x", nugget="app")
    told = agent("status")
    snapshot = memory_of(home).snapshot
    assert (told["home"], told["author"]) == (str(home), "claude")
    assert (told["facts"], told["notes"]) == (snapshot.fact_count, len(snapshot.visible))
    assert told["session"].startswith("claude-mcp-")
    assert told["lastChange"]["author"] == "claude"
    assert told["problems"] == []


# The briefing and the prompt


def test_the_briefing_is_a_resource_and_one_for_each_nugget(agent: AgentClient) -> None:
    agent("remember", key="user: name", value="Kim", nugget="who")
    agent("createNote", title="Plan of elsewhere", content="x", nugget="elsewhere", scope="project")
    call = agent.portal.call
    (resource,) = call(agent.client.list_resources).resources
    assert (resource.uri, resource.mime_type) == ("nuggets://briefing", "text/markdown")
    whole = call(agent.client.read_resource, resource.uri).contents[0].text  # type: ignore[union-attr]
    assert "Kim" in whole
    (template,) = call(agent.client.list_resource_templates).resource_templates
    assert template.uri_template == "nuggets://briefing/{nugget}"
    of_one = call(agent.client.read_resource, "nuggets://briefing/who").contents[0].text  # type: ignore[union-attr]
    assert "Kim" in of_one
    assert "elsewhere" not in of_one


@pytest.mark.slow
def test_the_prompt_teaches_to_recall_first(agent: AgentClient) -> None:
    (prompt,) = agent.portal.call(agent.client.list_prompts).prompts
    assert prompt.name == "recall-first"
    told = agent.portal.call(agent.client.get_prompt, prompt.name, {"task": "Fix the login"})
    text = told.messages[0].content.text  # type: ignore[union-attr]
    assert "Recall first" in text
    assert text.endswith("The task: Fix the login\nBegin with recall.")
    assert all(name in text for name in ("recall", "remember", "createNote", "sessionCheckpoint"))
    assert agent.client.instructions
    assert "recall first" in agent.client.instructions
