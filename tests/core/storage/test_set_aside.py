"""One note or fact that cannot be understood: it is set aside with its bytes, all others load and can be changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kits.memory_files import (
    fact_object,
    facts_of,
    note_object,
    notes_of,
    write_graph,
    write_nugget,
)

from core import Memory
from core.facts.edits import forget
from core.graph.edits import create_note, delete_note, edit_note, hide_note

FIRST, SECOND, THIRD = (f"note-memory-{number:08x}" for number in (1, 2, 3))


BAD_FIELDS: dict[str, dict[str, Any]] = {
    "content a number": {"content": 5},
    "title null": {"title": None},
    "tags a string": {"tags": "memory"},
    "tags with a number": {"tags": ["a", 5]},
    "links an object": {"links": {}},
    "a link that is a string": {"links": [FIRST]},
    "a link without a target": {"links": [{"reason": "kin"}]},
    "no vector object": {"vector": []},
    "hidden a string": {"hidden": "yes"},
    "hits a text": {"hits": "many"},
    "hits a fraction": {"hits": 1.5},
    "id a number": {"id": 7},
    "id null": {"id": None},
    "confidence a text": {"confidence": "high"},
    "hiddenFact a text": {"hiddenFact": "gone"},
    "hiddenFact without key": {"hiddenFact": {"value": "x"}},
}


@pytest.mark.parametrize("kind", BAD_FIELDS)
def test_one_bad_field_costs_no_note_at_all(tmp_path: Path, kind: str) -> None:
    notes = [note_object(number) for number in range(1, 11)]
    bad = notes[4] | BAD_FIELDS[kind]
    notes[4] = bad
    path = write_graph(tmp_path, notes)
    _nine_load_and_the_tenth_stays(path, _text_of(bad))


@pytest.mark.parametrize("item", ["null", "5", '"text"', "[]", "{}", "[[]]", "true"])
def test_an_item_that_is_no_note_costs_no_note_at_all(tmp_path: Path, item: str) -> None:
    path = write_graph(tmp_path, [note_object(number) for number in range(1, 11)])
    _put_raw_note(path, item)
    _nine_load_and_the_tenth_stays(path, item.encode())


@pytest.mark.parametrize(
    "raw",
    [
        '"content": NaN',
        '"confidence": NaN',
        '"weight": NaN',
        '"weight": -Infinity',
        '"confidence": 1e999',
        '"hits": ' + "1" * 5000,
        '"content": "raw \x01 control"',
        '"more": ' + "[" * 300 + "]" * 300,
        '"content": "a", "content": 5',
    ],
    ids=lambda raw: raw[:24],
)
def test_one_value_that_is_no_json_sets_aside_its_note_alone(tmp_path: Path, raw: str) -> None:
    path = write_graph(tmp_path, [note_object(number) for number in range(1, 11)])
    item = '{"id": "note-memory-00000005", "nuggetName": "memory", "title": "t", "content": "c", ' + raw + "}"
    _put_raw_note(path, item)
    _nine_load_and_the_tenth_stays(path, item.encode())


def _text_of(note: dict[str, Any]) -> bytes:
    return json.dumps(note, indent=2, ensure_ascii=False).replace("\n", "\n    ").encode()


def _put_raw_note(path: Path, item: str) -> None:
    text = path.read_text()
    good = _text_of(note_object(5)).decode()
    assert text.count(good) == 1
    path.write_text(text.replace(good, item))


def _nine_load_and_the_tenth_stays(path: Path, raw: bytes) -> None:
    home = path.parent.parent
    memory = Memory.open(home)
    assert len(memory.snapshot.notes) == 9
    assert len(memory.snapshot.problems) == 1
    problem = memory.snapshot.problems[0]
    assert str(path) in problem.where
    assert "note 5" in problem.where
    assert "\n" not in problem.where + problem.what
    assert path.read_bytes().count(raw) >= 1
    memory.change("edit", lambda draft: edit_note(draft, SECOND, content="Other."))
    memory.change("hide", lambda draft: hide_note(draft, THIRD))
    note, _ = memory.change("add", lambda draft: create_note(draft, "memory", "New", "Text."))
    memory.change("delete", lambda draft: delete_note(draft, "note-memory-00000009"))
    assert path.read_bytes().count(raw) >= 1
    again = Memory.open(home).snapshot
    assert [n.id for n in again.notes] == [
        *(f"note-memory-{number:08x}" for number in (1, 2, 3, 4, 6, 7, 8, 10)),
        note.id,
    ]


def test_links_to_a_note_that_cannot_be_read_stay(tmp_path: Path) -> None:
    link = {"to": SECOND, "reason": "kin", "createdAt": ""}
    path = write_graph(
        tmp_path, [note_object(1, links=[link]), note_object(2, content=5), note_object(3, links=[link])]
    )
    memory = Memory.open(tmp_path)
    memory.change("edit", lambda draft: edit_note(draft, FIRST, content="Other."))
    assert notes_of(tmp_path)[FIRST]["links"] == [link]
    path.write_text(path.read_text().replace('"content": 5,', '"content": NaN,'))
    memory.change("edit", lambda draft: edit_note(draft, THIRD, content="Other."))
    assert Memory.open(tmp_path).snapshot.note(THIRD).links[0].to == SECOND


@pytest.mark.parametrize(
    "bad", [None, 5, {"key": "k"}, {"key": 5, "value": "x"}, {"key": "k", "value": None}]
)
def test_one_bad_fact_costs_no_fact_at_all(tmp_path: Path, bad: object) -> None:
    path = write_nugget(tmp_path, "memory", [fact_object("a"), bad, fact_object("b"), fact_object("c")])
    memory = Memory.open(tmp_path)
    assert [fact.key for fact in memory.snapshot.nugget("memory").facts] == ["a", "b", "c"]
    assert "fact 2" in memory.snapshot.problems[0].where
    before = path.read_bytes()
    _, done = memory.change("forget", lambda draft: forget(draft, "memory", "b"))
    assert facts_of(tmp_path, "memory.nugget.json") == [fact_object("a"), bad, fact_object("c")]
    memory.history.undo(done)
    assert path.read_bytes() == before
