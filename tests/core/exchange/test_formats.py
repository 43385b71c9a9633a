"""What each format says: a table of files and the notes, facts and skips that come of them."""

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


# For each sample: its format, some fields of each record in order, and where something was left out.
EXPECTED: Any = json.loads((SAMPLES / "expected.json").read_text())


def parsed(place: Path, expected: str) -> Parsed:
    """What a file or folder says, read as the format that it is told to be in."""
    source = read_source(place)
    format = format_of(source)
    assert format == expected
    return parse(source, format)


def _field(record: Record, name: str) -> Any:
    if name in ("scope", "type", "subject"):
        return getattr(record.meta, name)
    if name == "links":
        return [[one.name, one.reason] for one in record.references]
    value = getattr(record, name)
    return list(dict.fromkeys(value)) if name == "tags" else value


@pytest.mark.parametrize("path", EXPECTED)
def test_a_source_says_what_the_table_holds(path: str) -> None:
    wanted = EXPECTED[path]
    found = parsed(SAMPLES / path, wanted["format"])
    pairs = zip(found.records, wanted["said"], strict=True)
    assert [{name: _field(record, name) for name in said} for record, said in pairs] == wanted["said"]
    assert [one.where for one in found.left_out] == wanted["leftOut"]


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
    (record,) = parsed(tmp_path, "markdown").records
    assert [one.name for one in record.references] == links
    assert list(record.tags) == tags


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
    (record,) = parsed(tmp_path, "markdown").records
    assert (record.title, record.content.strip()) == (title, content)
    assert "page" in record.names


def test_relations_are_links_at_both_ends_and_names_that_differ_in_case_are_two(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "home")
    relation = '{"type": "relation", "from": "harbor", "to": "Quay", "relationType": "lives at"}'
    lines = [json.dumps({"type": "entity", "name": name}) for name in ("Harbor", "harbor", "Quay")]
    lines += [relation, relation.replace("Quay", "X")]
    (tmp_path / "memory.jsonl").write_text("\n".join(lines))
    result = memory.exchange.bring(memory.exchange.read(tmp_path / "memory.jsonl"))
    notes = {note.title: note for note in memory.snapshot.notes}
    links = {title: [(link.to, link.reason) for link in note.links] for title, note in notes.items()}
    quay, harbor = notes["Quay"].id, notes["harbor"].id
    assert links == {"Harbor": [], "harbor": [(quay, "lives at")], "Quay": [(harbor, "lives at")]}
    assert [(one.where, one.partly) for one in result.left_out] == [("memory.jsonl: line 2", True)]


def test_a_folder_of_the_newest_original_comes_whole_with_what_only_it_knows(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "home")
    memory.exchange.bring(memory.exchange.read(SAMPLES / "donna"))
    graph: Any = json.loads((memory.home / "graph" / "graph.json").read_text())
    facts: Any = json.loads((memory.home / "project.nugget.json").read_text())
    assert (graph["theme"], graph["notes"][0]["colour"], graph["notes"][0]["hits"]) == ("dark", "red", 3)
    assert (facts["later"], facts["facts"][0]["mood"]) == ({"kept": True}, "calm")
    assert memory.recall("test command", record=False).answer == "pytest -q"
