"""What each format says, read from samples that were written to its documentation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core import Memory
from core.exchange.detect import format_of, parse
from core.exchange.records import Parsed, Record
from core.storage.exchange.sources import read_source

SAMPLES = Path(__file__).parents[2] / "golden" / "exchange"


def parsed(name: str, expected: str) -> Parsed:
    """A sample, read as the format that it is told to be in."""
    source = read_source(SAMPLES / name)
    format = format_of(source)
    assert format == expected
    return parse(source, format)


def by_title(found: Parsed) -> dict[str, Record]:
    return {record.title: record for record in found.records}


def left_out(found: Parsed) -> list[tuple[str, str]]:
    return [(one.where, one.what) for one in found.left_out]


@pytest.mark.parametrize(
    ("path", "format"),
    [
        ("claude", "claude"), ("claude/MEMORY.md", "claude"), ("claude/user_role.md", "claude"),
        ("obsidian", "markdown"),
        ("obsidian/Projects/Deploy.md", "markdown"), ("basic-memory", "basic-memory"), ("agents", "agents"),
        ("agents/AGENTS.md", "agents"), ("csv/facts.csv", "csv"), ("mem0/export.json", "mem0"),
        ("engram/engram-export.json", "engram"), ("mcp-memory/memory.jsonl", "mcp-memory"), ("donna", "donna"),
        ("donna/project.donna.json", "donna"), ("donna/graph/graph.json", "donna"),
    ],
)  # fmt: skip
def test_a_format_is_told_by_what_a_source_holds(path: str, format: str, tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "home")
    read = memory.read_import(SAMPLES / path)
    assert (read.format, read.detected) == (format, True)


def test_claude_code_pages_become_notes_and_the_index_does_not() -> None:
    found = parsed("claude", "claude")
    records = by_title(found)
    assert set(records) == {"Response style", "user-role", "Deploys run from main only, and never on Fridays"}
    style, role = records["Response style"], records["user-role"]
    assert (style.meta.scope, style.meta.type, style.tags) == ("user", "preference", ("feedback",))
    assert style.content.startswith("How the user wants answers to look\n\nKeep answers short.")
    assert (role.meta.scope, [one.name for one in role.references]) == ("user", ["Response style"])


def test_pages_of_obsidian_keep_links_tags_and_other_fields() -> None:
    records = by_title(parsed("obsidian", "markdown"))
    auth, deploy = records["Auth middleware"], records["Deploy"]
    assert auth.tags == ("auth", "backend", "security")
    assert [one.name for one in auth.references] == ["Projects/Deploy", "Nowhere"]
    assert auth.fields == {"status": "reviewed"}
    assert auth.created_at == "2026-03-01T00:00:00.000Z"
    assert not auth.content.startswith("#")
    assert "# no-tag" in auth.content
    assert [one.name for one in deploy.references] == ["JWT check"]


def test_relations_of_basic_memory_are_links_with_their_type() -> None:
    records = by_title(parsed("basic-memory", "basic-memory"))
    brewing = records["Coffee Brewing Methods"]
    assert [(one.name, one.reason) for one in brewing.references] == [
        ("Coffee Beans", "relates to"),
        ("Grinding", "requires"),
    ]
    assert "- [method] Pour over" in brewing.content
    assert set(brewing.tags) == {"coffee", "brewing", "water"}


def test_bullets_of_instructions_are_memories_and_the_rest_is_named() -> None:
    found = parsed("agents", "agents")
    records = by_title(found)
    assert list(records) == ["Build: make all", "Tests", "Four spaces in Python", "No abbreviations"]
    assert records["Tests"].content == (
        "run `pytest -q` before each commit\nand read what it says\n- slow ones with `-m slow`"
    )
    assert [record.tags for record in records.values()] == [
        ("commands",),
        ("commands",),
        ("style",),
        ("style",),
    ]
    assert left_out(found) == [("AGENTS.md: line 3", "4 lines are no bullets")]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_lines_that_connect_an_agent_are_no_memories_and_not_named(tmp_path: Path, newline: str) -> None:
    ours = "<!-- nuggets:begin (ours) -->\n## Memory\n\nAsk memory.\n- As a bullet\n<!-- nuggets:end -->\n"
    text = f"- Use pnpm\n\n{ours}\nA sentence.\n- Never push on Fridays\n"
    page = tmp_path / "CLAUDE.md"
    page.write_bytes(text.replace("\n", newline).encode())
    found = parse(read_source(page), "agents")
    assert [(one.title, one.where) for one in found.records] == [
        ("Use pnpm", "CLAUDE.md: line 1"), ("Never push on Fridays", "CLAUDE.md: line 11"),
    ]  # fmt: skip
    assert left_out(found) == [("CLAUDE.md: line 10", "is no bullet")]


def test_rows_of_a_table_are_facts() -> None:
    found = parsed("csv/facts.csv", "csv")
    assert [(one.nugget, one.title, one.content, one.hits) for one in found.records] == [
        ("project", "test command", "pytest -q", 3),
        ("project", "quote", 'says "hi",\nand goes on', 0),
        ("prefs", "editor", "Helix", 0),
        ("", "no nugget", "here", 1),
    ]
    assert left_out(found) == [("facts.csv: line 7", "has no key or no value")]


def test_memories_of_mem0_keep_whom_they_are_about_and_when_they_were_made() -> None:
    found = parsed("mem0/export.json", "mem0")
    first, second = found.records
    assert first.title == first.content == "Dev works at TechCorp as a senior engineer"
    assert (first.meta.subject, first.meta.scope) == ("user:dev", "user")
    assert first.tags == ("professional_details", "work")
    assert first.created_at == "2026-01-05T16:00:00.123Z"
    assert second.title == "Prefers morning meetings"
    assert [what for _, what in left_out(found)] == [
        "holds no text",
        "1 relation of its graph belongs to no memory",
    ]


def test_a_backup_of_openmemory_is_read_with_the_names_of_its_categories_and_its_user(tmp_path: Path) -> None:
    memory = {"user_id": "6f0c", "app_id": "11aa", "created_at": "2026-03-04T05:06:07+00:00", "metadata": {}}
    backup = {
        "user": {"id": "6f0c", "user_id": "ann"},
        "categories": [{"id": "c1", "name": "Travel"}],
        "memories": [
            {
                **memory,
                "id": "m1",
                "content": "Flies only from Basel.",
                "state": "active",
                "category_ids": ["c1"],
            },
            {
                **memory,
                "id": "m2",
                "content": "Had a boat.",
                "state": "archived",
                "category_ids": ["gone", 7],
            },
            {**memory, "id": "m3", "content": "Was wrong.", "state": "deleted", "category_ids": []},
        ],
        "export_meta": {"version": "1"},
    }
    (tmp_path / "memories.json").write_text(json.dumps(backup))
    found = parsed(str(tmp_path / "memories.json"), "mem0")
    basel, boat = found.records
    assert (basel.content, basel.tags) == ("Flies only from Basel.", ("Travel",))
    assert (basel.meta.subject, basel.created_at) == ("user:ann", "2026-03-04T05:06:07.000Z")
    assert (boat.tags, boat.fields["state"]) == ((), "archived")
    assert left_out(found) == [("memories.json: memory 3", "was deleted there")]


def test_one_page_of_mem0_says_how_much_of_the_whole_it_holds(tmp_path: Path) -> None:
    page = {
        "count": 3,
        "next": "https://example.org/?page=2",
        "previous": None,
        "results": [{"memory": "Likes tea."}],
    }
    (tmp_path / "page.json").write_text(json.dumps(page))
    found = parsed(str(tmp_path / "page.json"), "mem0")
    assert left_out(found) == [("page.json", "is one page: it holds 1 of 3 memories")]
    (tmp_path / "page.json").write_text(json.dumps(page | {"count": 1, "next": None}))
    assert left_out(parsed(str(tmp_path / "page.json"), "mem0")) == []


def test_what_basic_memory_calls_a_page_is_kept(tmp_path: Path) -> None:
    for name, kind in (("guide", "guide"), ("plain", "note")):
        (tmp_path / f"{name}.md").write_text(
            f"---\ntitle: {name}\ntype: {kind}\npermalink: {name}\n---\nText.\n"
        )
    found = by_title(parsed(str(tmp_path), "basic-memory"))
    assert found["guide"].fields == {"type": "guide"}
    assert found["plain"].fields == {}


def test_observations_of_engram_keep_project_type_and_times() -> None:
    found = parsed("engram/engram-export.json", "engram")
    jwt, reviews = found.records
    assert (jwt.title, jwt.nugget, jwt.tags) == ("Switched to JWT", "shop", ("decision",))
    assert (jwt.created_at, jwt.updated_at) == ("2026-01-01T00:01:00.000Z", "2026-01-02T00:01:00.000Z")
    assert jwt.fields["topic_key"] == "auth/jwt"
    assert (reviews.meta.scope, reviews.meta.type) == ("user", "preference")
    assert [what for _, what in left_out(found)] == [
        "was deleted there",
        "1 session is no memory",
        "1 prompt is no memory",
    ]


def test_entities_of_the_mcp_server_are_notes_and_relations_are_links(tmp_path: Path) -> None:
    found = parsed("mcp-memory/memory.jsonl", "mcp-memory")
    john = by_title(found)["John_Smith"]
    assert (john.content, john.tags) == ("- Speaks fluent Spanish\n- Graduated in 2019", ("person",))
    assert [where for where, _ in left_out(found)] == ["memory.jsonl: line 5", "memory.jsonl: line 6"]
    memory = Memory.open(tmp_path / "home")
    result = memory.bring_import(memory.read_import(SAMPLES / "mcp-memory" / "memory.jsonl"))
    notes = {note.title: note for note in memory.snapshot.notes}
    assert [(link.to, link.reason) for link in notes["John_Smith"].links] == [
        (notes["Anthropic"].id, "works_at")
    ]
    assert [link.to for link in notes["Anthropic"].links] == [notes["John_Smith"].id]
    assert any("Nobody" in one.what for one in result.left_out)


def test_a_graph_of_the_mcp_server_as_one_document_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text(
        '{"entities": [{"name": "A", "entityType": "x", "observations": ["one"]}, {"name": "B"}],'
        ' "relations": [{"from": "A", "to": "B", "relationType": "knows"}]}'
    )
    source = read_source(path)
    found = parse(source, "mcp-memory")
    assert format_of(source) == "mcp-memory"
    assert [record.title for record in found.records] == ["A", "B"]
    assert found.records[0].references[0].reason == "knows"


def test_a_folder_of_the_newest_original_comes_whole_with_what_only_it_knows(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "home")
    memory.bring_import(memory.read_import(SAMPLES / "donna"))
    graph: Any = json.loads((memory.home / "graph" / "graph.json").read_text())
    facts: Any = json.loads((memory.home / "project.nugget.json").read_text())
    assert (graph["theme"], graph["notes"][0]["colour"], graph["notes"][0]["hits"]) == ("dark", "red", 3)
    assert (facts["later"], facts["facts"][0]["mood"]) == ({"kept": True}, "calm")
    assert memory.recall("test command", record=False).answer == "pytest -q"
