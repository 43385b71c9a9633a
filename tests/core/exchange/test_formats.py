"""What each format says, read from samples that were written to its documentation."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from core import Memory
from core.exchange import front_matter
from core.exchange.detect import format_of, parse
from core.exchange.json_source import lines_of
from core.exchange.records import Parsed, Record, SourceFile
from core.facts.edits import remember
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
    assert auth.fields == {"status": "reviewed", "aliases": ["JWT check"]}
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


def test_each_relation_to_one_page_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "---\npermalink: a\n---\n- needs [[B]]\n- part_of [[B|the B]]\n- see [[C#Part]] and [[B]]\n"
    )
    (record,) = parsed(str(tmp_path), "basic-memory").records
    assert [(one.name, one.reason) for one in record.references] == [
        ("B", "needs"), ("B", "part of"), ("C", "see"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "links", "tags"),
    [
        ("| a |\n|---|\n| [[Hub\\|shown]] |", ["Hub"], []),
        ("[[#Steps to take]] and [[Hub#Part one]] and [[Hub (2)#part]]", ["Hub", "Hub (2)"], []),
        ("[[^b1]] [[Hub^b2]] [[Hub#^b3]]", ["Hub"], []),
        ("![[Hub]] ![[picture.png]] ![[Plan.pdf#page=3]]", ["Hub"], []),
        (
            "[shown](Other%20page.md#part) [up](#steps) [t](<My page.md> 'title')",
            ["Other page", "My page"],
            [],
        ),
        ("[web](https://example.org/x.md#frag) #real and (#also)", [], ["real", "also"]),
        ("`[[code]] #code`\n\n    [[code]] #code", [], []),
    ],
)
def test_links_of_obsidian_make_neither_a_tag_nor_a_wrong_link(
    tmp_path: Path, text: str, links: list[str], tags: list[str]
) -> None:
    (tmp_path / "page.md").write_text(f"{text}\n")
    (record,) = parsed(str(tmp_path), "markdown").records
    assert [one.name for one in record.references] == links
    assert list(record.tags) == tags


def test_aliases_of_a_page_are_in_the_vault_again(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "hub.md").write_text("---\naliases: [The Hub, Nabe]\n---\nThe centre.\n")
    (vault / "asks.md").write_text("Ask at [[nabe]].\n")
    memory = Memory.open(tmp_path / "home")
    assert memory.bring_import(memory.read_import(vault)).left_out == ()
    memory.export("markdown", tmp_path / "out")
    (page,) = (tmp_path / "out").rglob("hub*.md")
    assert front_matter.read(page.read_text())[0]["aliases"] == ["hub", "The Hub", "Nabe"]


def test_a_page_that_has_properties_alone_says_what_they_say(tmp_path: Path) -> None:
    (tmp_path / "may.md").write_text(
        "---\ntitle: May\namount: 960\npaid by: [Ann, Bo]\nup: '[[Year]]'\n---\n"
    )
    (tmp_path / "bare.md").write_text("---\n---\n")
    found = parsed(str(tmp_path), "markdown")
    (may,) = found.records
    assert (may.title, may.content) == ("May", "- amount: 960\n- paid by: Ann, Bo\n- up: [[Year]]")
    assert [one.name for one in may.references] == ["Year"]
    assert [where for where, _ in left_out(found)] == ["bare.md"]


def test_a_page_whose_front_matter_is_no_yaml_comes_with_all_of_its_text(tmp_path: Path) -> None:
    (tmp_path / "letter.md").write_text("---\nHarbour Works\n---\nDear reader\n")
    (record,) = parsed(str(tmp_path), "markdown").records
    assert record.content == "---\nHarbour Works\n---\nDear reader"


def test_notes_beside_instructions_for_agents_come_in_too(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text(
        "<!-- nuggets:begin -->\nours\n<!-- nuggets:end -->\nKeep it short.\n"
    )
    (tmp_path / "daily").mkdir()
    (tmp_path / "daily" / "monday.md").write_text("Rain today.\n")
    assert {one.title: one.content for one in parsed(str(tmp_path), "markdown").records} == {
        "CLAUDE": "Keep it short.",
        "monday": "Rain today.",
    }


def test_a_name_in_either_form_of_its_accents_is_one_name(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    apart, joined = "Cafe\u0301 u\u0308ber", "Caf\u00e9 \u00fcber"
    (vault / f"{apart}.md").write_text("Opens at nine.\n")
    (vault / "asks.md").write_text(f"Ask at [[{joined}]].\n")
    memory = Memory.open(tmp_path / "home")
    assert memory.bring_import(memory.read_import(vault)).left_out == ()
    assert memory.snapshot.resolve(joined).title == apart
    (vault / f"{apart}.md").rename(vault / f"{joined}.md")
    assert not memory.bring_import(memory.read_import(vault)).of("new")
    for key, value in ((apart, "8"), (joined, "9")):
        memory.change("fact", lambda draft, key=key, value=value: remember(draft, "hours", key, value))
    assert [(fact.key, fact.value) for fact in memory.snapshot.by_name["hours"].facts] == [(apart, "9")]


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


def test_two_machines_that_number_their_observations_alike_both_come_in(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "home")
    for machine, title in (("desk", "Port of the grader"), ("laptop", "Choice of the queue")):
        one = {"id": 1, "session_id": f"s-{machine}", "title": title, "content": f"Said on the {machine}."}
        (tmp_path / f"{machine}.json").write_text(json.dumps({"observations": [one]}))
        for times in (1, 0):
            result = memory.bring_import(memory.read_import(tmp_path / f"{machine}.json"))
            assert (len(result.of("new")), len(result.of("conflict"))) == (times, 0)


def test_memories_of_mcp_memory_service_come_with_their_tags_and_times(tmp_path: Path) -> None:
    one = {
        "content": "The pump runs at night", "content_hash": "ab12", "tags": ["pump"], "memory_type": "decision",
        "created_at": 1741485000.5, "created_at_iso": "2025-03-09T01:50:00Z", "metadata": {"a": 1},
    }  # fmt: skip
    (tmp_path / "service.json").write_text(json.dumps({"memories": [one]}))
    (record,) = parsed(str(tmp_path / "service.json"), "mem0").records
    assert (record.tags, record.created_at) == (("pump", "decision"), "2025-03-09T01:50:00.500Z")


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


def mcp_memory(tmp_path: Path, *lines: str) -> Parsed:
    (tmp_path / "memory.jsonl").write_text("\ufeff" + "\r\n".join(lines))
    return parsed(str(tmp_path / "memory.jsonl"), "mcp-memory")


def entity(name: str, *observations: object, **fields: object) -> str:
    return json.dumps({"type": "entity", "name": name, "observations": observations} | fields)


def test_glued_objects_are_all_read_and_a_torn_line_is_named(tmp_path: Path) -> None:
    torn = entity("Torn", "half of")[:-4]
    relation = '{"type": "relation", "from": "Quay", "to": "Harbor", "relationType": "uses"}'
    found = mcp_memory(
        tmp_path, '{"type": "_aim"}', entity("Harbor", "a") + relation, "", torn + entity("Quay", "b"), torn
    )
    assert {one.title: one.content for one in found.records} == {"Harbor": "- a", "Quay": "- b"}
    assert [one.reason for one in by_title(found)["Quay"].references] == ["uses"]
    assert [where for where, _ in left_out(found)] == ["memory.jsonl: line 4", "memory.jsonl: line 5"]


def test_observations_come_in_whatever_shape_they_have(tmp_path: Path) -> None:
    code = "Run:\n```\nmake\n```\nand again:\n```\nmake\n```"
    found = mcp_memory(
        tmp_path,
        entity("Odd", observations="one text only"),
        entity("Quay", {"content": "written in Zig", "timestamp": "2025-02-03T04:05:06Z"}, 42, None),
        entity("Runbook", code, entityType="doc", createdAt="2025-02-03T04:05:06Z"),
        entity("Runbook", "Owner is the night crew", code, entityType="page"),
    )
    records = by_title(found)
    assert records["Odd"].content == "- one text only"
    assert records["Quay"].content == "- written in Zig\n- 42"
    assert records["Runbook"].content == f"- {code}\n- Owner is the night crew"
    assert (records["Runbook"].tags, records["Runbook"].created_at[:10]) == (("doc", "page"), "2025-02-03")
    assert [where for where, _ in left_out(found)] == ["memory.jsonl: line 2"]


def test_names_that_differ_in_case_alone_are_two(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "home")
    relation = '{"type": "relation", "from": "harbor", "to": "Quay", "relationType": "lives at"}'
    mcp_memory(tmp_path, entity("Harbor", "a"), entity("harbor", "b"), entity("Quay", "c"), relation)
    memory.bring_import(memory.read_import(tmp_path / "memory.jsonl"))
    assert [bool(memory.snapshot.resolve(name).links) for name in ("Harbor", "harbor")] == [False, True]


@pytest.mark.slow
@pytest.mark.parametrize("piece", ['{"type"', '{"type":"', "{}", '{"type":{', "[", '"', "\\"])
def test_a_line_of_a_megabyte_is_read_in_a_time_that_grows_with_its_size(piece: str) -> None:
    def seconds(size: int) -> float:
        begun = process_time()
        list(lines_of(SourceFile("x.jsonl", (piece * (size // len(piece))).encode())))
        return process_time() - begun

    # A square would be 64 times as long.
    assert seconds(1 << 20) < 30 * max(seconds(1 << 17), 0.02)


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


@pytest.mark.parametrize(
    ("page", "title", "content"),
    [
        ("# The real title\n\nText.\n", "The real title", "Text."),
        ("---\ntitle: Of the fields\n---\n# A heading\n\nText.\n", "Of the fields", "# A heading\n\nText."),
        ("Text.\n\n# A heading\n", "page", "Text.\n\n# A heading"),
        ("## A section\n\nText.\n", "page", "## A section\n\nText."),
    ],
)
def test_a_page_has_the_title_of_its_fields_else_of_its_first_heading(
    tmp_path: Path, page: str, title: str, content: str
) -> None:
    (tmp_path / "page.md").write_text(page)
    (tmp_path / "other.md").write_text("See [[page]].\n")
    records = {record.where: record for record in parsed(str(tmp_path), "markdown").records}
    assert (records["page.md"].title, records["page.md"].content.strip()) == (title, content)
    assert "page" in records["page.md"].names
