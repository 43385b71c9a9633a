"""Files that are odd but legible: read whole, and written back without touching what is odd about them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kits.hostile import HOSTILE
from kits.memory_files import (
    GRAPH,
    fact_object,
    facts_of,
    graph_of,
    note_object,
    notes_of,
    tree,
    write_graph,
    write_nugget,
)

from core import Memory
from core.facts.edits import remember
from core.graph.edits import create_note, edit_note, hide_note, unhide_note
from core.model.note import Note

FIRST, SECOND, THIRD = (f"note-memory-{number:08x}" for number in (1, 2, 3))


def _edited(home: Path, id: str = SECOND) -> Memory:
    memory = Memory.open(home)
    memory.change("edit", lambda draft: edit_note(draft, id, content="Other words."))
    assert notes_of(home)[id]["content"] == "Other words."
    return memory


def test_half_a_character_is_read_as_a_replacement_and_its_bytes_stay(tmp_path: Path) -> None:
    path = write_graph(tmp_path, [note_object(1, content="@"), note_object(2)])
    path.write_text(path.read_text().replace('"@"', r'"cut \ud83d off \uDE00"'))
    memory = _edited(tmp_path)
    assert not memory.snapshot.problems
    assert memory.snapshot.note(FIRST).content == "cut \ufffd off \ufffd"
    assert rb'"cut \ud83d off \uDE00"' in path.read_bytes()
    memory.change("edit", lambda draft: edit_note(draft, FIRST, add_tags=["seen"]))
    assert rb'"cut \ud83d off \uDE00"' in path.read_bytes()
    memory.change("edit", lambda draft: edit_note(draft, FIRST, content="still \ud83d cut"))
    # What is written anew is text.
    assert notes_of(tmp_path)[FIRST]["content"] == "still \ufffd cut"


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:12]))
def test_hostile_text_is_stored_and_read_as_it_is(tmp_path: Path, text: str) -> None:
    memory = Memory.open(tmp_path)
    content = "before\n" + text.strip() + "\nafter" if "\r" not in text else text
    note, _ = memory.change("add", lambda draft: create_note(draft, "", f"t {text}", content))
    assert Memory.open(tmp_path).snapshot.note(note.id) == note
    assert "before" in note.content
    assert note.content.endswith("after")
    (tmp_path / GRAPH).read_bytes().decode("utf-8")


def test_a_byte_order_mark_stays(tmp_path: Path) -> None:
    graph = write_graph(tmp_path, [note_object(1), note_object(2)])
    facts = write_nugget(tmp_path, "memory", [fact_object("a")])
    for path in (graph, facts):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    memory = _edited_bom(tmp_path)
    assert not memory.snapshot.problems
    assert [path.read_bytes().count(b"\xef\xbb\xbf{") for path in (graph, facts)] == [1, 1]


def _edited_bom(home: Path) -> Memory:
    memory = Memory.open(home)
    memory.change("edit", lambda draft: edit_note(draft, SECOND, content="Other words."))
    memory.change("more", lambda draft: remember(draft, "memory", "b", "new"))
    return memory


@pytest.mark.parametrize("style", ["compact", "tabs", "seven", "crlf", "no newline", "spaces around"])
def test_any_layout_is_read_and_untouched_notes_keep_theirs(tmp_path: Path, style: str) -> None:
    path = write_graph(tmp_path, [note_object(number, more={"a": [1, {}]}) for number in (1, 2, 3)], later=1)
    shaped = graph_of(tmp_path)
    layouts = {
        "compact": json.dumps(shaped, separators=(",", ":")),
        "tabs": json.dumps(shaped, indent="\t"),
        "seven": json.dumps(shaped, indent=7),
        "crlf": json.dumps(shaped, indent=2).replace("\n", "\r\n"),
        "no newline": json.dumps(shaped, indent=2),
        "spaces around": "\n\n  " + json.dumps(shaped, separators=(" ,  ", "  : ")) + "  \n\n",
    }
    path.write_bytes(layouts[style].encode())
    before = notes_of(tmp_path)
    untouched = _raw_note(path.read_bytes().decode(), FIRST, SECOND)
    _edited(tmp_path)
    after = notes_of(tmp_path)
    assert {id for id in after if after[id] != before[id]} == {SECOND}
    assert graph_of(tmp_path)["later"] == 1
    assert untouched in path.read_bytes().decode()


def _raw_note(text: str, id: str, following: str) -> str:
    start = text.rindex("{", 0, text.index(f'"{id}"'))
    end = text.rindex("}", 0, text.rindex("{", 0, text.index(f'"{following}"')))
    return text[start : end + 1]


@pytest.mark.parametrize("version", [1, 2])
def test_notes_of_old_versions_get_metadata_in_memory_and_keep_their_text(
    tmp_path: Path, version: int
) -> None:
    bare = {name: value for name, value in note_object(1).items() if name not in METADATA}
    old = bare | {"title": "self:voice", "sourceKey": "voice"}
    path = write_graph(tmp_path, [old, note_object(2)], version=version)
    before = path.read_bytes()
    memory = Memory.open(tmp_path)
    note = memory.snapshot.note(FIRST)
    assert (note.scope, note.subject, note.type, note.source) == (
        "user",
        "user:primary",
        "style",
        "explicit_user",
    )
    assert note.title == "self:voice"
    assert path.read_bytes() == before
    memory.change("edit", lambda draft: edit_note(draft, SECOND, content="Other."))
    assert notes_of(tmp_path)[FIRST] == old
    assert graph_of(tmp_path)["version"] == version


METADATA = ("subject", "scope", "type", "source", "confidence", "stability")


def test_changing_a_note_without_metadata_writes_the_inferred_metadata(tmp_path: Path) -> None:
    bare = {name: value for name, value in note_object(1).items() if name not in METADATA}
    write_graph(tmp_path, [bare], version=1)
    memory = _edited(tmp_path, FIRST)
    written = notes_of(tmp_path)[FIRST]
    assert {name: written.get(name) for name in METADATA} == {
        name: getattr(memory.snapshot.note(FIRST), name) for name in METADATA
    }


def test_of_a_donna_and_a_nugget_file_the_donna_file_is_the_nugget(tmp_path: Path) -> None:
    other = write_nugget(tmp_path, "memory", [fact_object("old")])
    write_nugget(tmp_path, "memory", [fact_object("new")], suffix=".donna.json")
    before = other.read_bytes()
    memory = Memory.open(tmp_path)
    assert [fact.key for fact in memory.snapshot.nugget("memory").facts] == ["new"]
    assert [problem.nugget for problem in memory.snapshot.problems] == ["memory"]
    assert "memory.nugget.json" in memory.snapshot.problems[0].where
    memory.change("more", lambda draft: remember(draft, "memory", "more", "value"))
    assert [fact["key"] for fact in facts_of(tmp_path, "memory.donna.json")] == ["new", "more"]
    assert other.read_bytes() == before


@pytest.mark.parametrize(
    ("folder", "there", "made"),
    [
        ("memory", [], "new.nugget.json"),
        ("memory", [".nugget.json"], "new.nugget.json"),
        ("memory", [".donna.json"], "new.donna.json"),
        ("memory", [".nugget.json", ".donna.json"], "new.donna.json"),
        (".donna", [], "new.donna.json"),
        (".donna", [".nugget.json"], "new.nugget.json"),
    ],
)
def test_a_new_nugget_is_called_as_the_programs_that_use_the_folder_call_theirs(
    tmp_path: Path, folder: str, there: list[str], made: str
) -> None:
    home = tmp_path / folder
    for suffix in there:
        write_nugget(home, f"other{suffix[1:-5]}", [fact_object("k")], suffix=suffix)
    before = {path.name for path in home.glob("*.json")} if home.exists() else set()
    memory = Memory.open(home)
    memory.change("stored", lambda draft: remember(draft, "new", "k", "v"))
    assert {path.name for path in home.glob("*.json")} - before == {made}


@pytest.mark.parametrize("file_name", ["x.nugget.json", "x.donna.json"])
def test_a_fact_file_without_a_name_is_the_nugget_of_its_file_name(tmp_path: Path, file_name: str) -> None:
    (tmp_path / file_name).write_text('{"facts":[{"key":"a","value":"b"}]}')
    memory = Memory.open(tmp_path)
    assert memory.snapshot.nugget("x").find("a") is not None
    memory.change("more", lambda draft: remember(draft, "x", "c", "d"))
    assert "name" not in json.loads((tmp_path / file_name).read_bytes())
    assert [fact["key"] for fact in facts_of(tmp_path, file_name)] == ["a", "c"]


def test_a_name_that_leads_out_of_the_folder_is_written_in_its_own_file_alone(tmp_path: Path) -> None:
    home = tmp_path / "memory"
    write_nugget(home, "x", [fact_object("a")], name="../evil")
    Memory.open(home).change("more", lambda draft: remember(draft, "../evil", "b", "new"))
    assert sorted(tree(tmp_path)) == ["memory/graph/graph.json", "memory/x.nugget.json"]


def test_a_note_that_was_hidden_by_the_original_comes_back_with_its_fact(tmp_path: Path) -> None:
    hidden = note_object(1, kind="fact", sourceKey="colour", title="colour", content="green", hidden=True,
                         hits=4, lastHitSession="s-1", archivedAt="2026-01-01T00:00:00.000Z")  # fmt: skip
    write_graph(tmp_path, [hidden])
    write_nugget(tmp_path, "memory", [fact_object("size")])
    memory = Memory.open(tmp_path)
    note, _ = memory.change("unhide", lambda draft: unhide_note(draft, FIRST))
    assert isinstance(note, Note)
    assert facts_of(tmp_path, "memory.nugget.json")[1] == {
        "key": "colour", "value": "green", "hits": 4, "last_hit_session": "s-1",
    }  # fmt: skip
    assert "archivedAt" not in notes_of(tmp_path)[FIRST]


def test_null_in_an_optional_field_is_no_value(tmp_path: Path) -> None:
    write_graph(
        tmp_path, [note_object(1, archivedAt=None, sourceKey=None, lastRewrittenAt=None, hiddenFact=None)]
    )
    memory = Memory.open(tmp_path)
    assert not memory.snapshot.problems
    assert memory.snapshot.notes[0].archived_at is None
    memory.change("hide", lambda draft: hide_note(draft, FIRST))
    assert notes_of(tmp_path)[FIRST]["archivedAt"]
