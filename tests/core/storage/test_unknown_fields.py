"""Fields that this version does not know survive every kind of write, wherever they stand."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kits.drafts import LONG_AGO
from kits.laws import examples
from kits.memory_files import (
    GRAPH,
    fact_object,
    graph_of,
    note_object,
    notes_of,
    write_graph,
    write_nugget,
)

from core import Memory
from core.facts.edits import forget, record_hit, remember
from core.graph.edits import delete_note, edit_note, hide_note, link_notes, unhide_note, unlink_notes
from core.graph.merging import merge_notes
from core.model.change import ChangeSet
from core.model.draft import Draft
from core.model.infer import MetaInput

KNOWN = {*note_object(1), *fact_object("k"), "hiddenFact", "archivedAt", "sourceKey", "lastRewrittenAt", "index",
         "mergedInto", "mergedHits", "to", "reason", "createdAt", "notes", "version", "seed", "basis", "facts",
         "name", "D", "banks", "ensembles", "max_facts", "config"}  # fmt: skip
NAMES = st.one_of(
    st.sampled_from(["extra", "<unknown fields>", "__proto__", "é", 'quote"d', "", "Hidden", "tag"]),
    st.text(max_size=8).filter(lambda name: name not in KNOWN),
)
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**30), 10**30),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=8),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
EXTRAS = st.dictionaries(NAMES, VALUES, min_size=1, max_size=4)
FACT_NOTE, FIRST, SECOND = "fact-memory-00000001", "note-memory-00000002", "note-memory-00000003"


def _write_folder(home: Path, extra: dict[str, Any]) -> None:
    first = note_object(2, links=[_link(SECOND, "kin", extra), _link(FACT_NOTE, "about", extra)])
    second = note_object(3, links=[_link(FIRST, "kin", extra)])
    fact_note = note_object(1) | {
        "id": FACT_NOTE, "kind": "fact", "sourceKey": "colour", "title": "colour", "content": "green",
        "type": "fact", "links": [_link(FIRST, "about", extra)],
    }  # fmt: skip
    notes = [note | extra for note in (fact_note, first, second)]
    for note in notes:
        note["vector"] = note["vector"] | extra
    facts = [fact_object("size") | extra, fact_object("colour", "green") | extra, fact_object("age") | extra]
    path = home / GRAPH
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"version": 3, "notes": notes} | extra, indent=2) + "\n")
    write_nugget(home, "memory", [])
    shaped = json.loads((home / "memory.nugget.json").read_bytes()) | extra | {"facts": facts}
    (home / "memory.nugget.json").write_text(json.dumps(shaped))


def _link(to: str, reason: str, extra: dict[str, Any]) -> dict[str, Any]:
    return {"to": to, "reason": reason, "createdAt": LONG_AGO} | extra


EDITS: dict[str, Callable[[Draft], object]] = {
    "content": lambda draft: edit_note(draft, FIRST, content="Other words."),
    "fact": lambda draft: edit_note(draft, FACT_NOTE, content="blue"),
    "rename": lambda draft: edit_note(draft, FACT_NOTE, title="hue"),
    "tags": lambda draft: edit_note(draft, FIRST, add_tags=["x"]),
    "metadata": lambda draft: edit_note(draft, FIRST, meta=MetaInput(scope="self", confidence=0.2)),
    "hide": lambda draft: hide_note(draft, FACT_NOTE),
    "link": lambda draft: link_notes(draft, FIRST, SECOND, "another"),
    "unlink": lambda draft: unlink_notes(draft, FIRST, FACT_NOTE),
    "merge": lambda draft: merge_notes(draft, FIRST, SECOND),
    "hit": lambda draft: record_hit(draft, "memory", "colour", FACT_NOTE, "s-1"),
    "remember": lambda draft: remember(draft, "memory", "colour", "red"),
    "forget": lambda draft: forget(draft, "memory", "colour"),
    "hide and unhide": lambda draft: (hide_note(draft, FACT_NOTE), unhide_note(draft, FACT_NOTE)),
}


@contextmanager
def _folder(extra: dict[str, Any]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        home = Path(name) / "memory"
        _write_folder(home, extra)
        yield home


def _assert_kept(extra: dict[str, Any], *objects: dict[str, Any]) -> None:
    for shaped in objects:
        assert {name: shaped.get(name, "missing") for name in extra} == extra


QUICK = settings(max_examples=examples(4), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.slow
@pytest.mark.parametrize("kind", EDITS)
@QUICK
@given(extra=EXTRAS)
def test_unknown_fields_survive(kind: str, extra: dict[str, Any]) -> None:
    with _folder(extra) as home:
        memory = Memory.open(home)
        assert not memory.snapshot.problems
        _, done = memory.change(kind, EDITS[kind])
        _assert_kept(extra, graph_of(home), *notes_of(home).values())
        for note in notes_of(home).values():
            _assert_kept(extra, note["vector"])
            _assert_kept(extra, *(link for link in note["links"] if link["reason"] in ("kin", "about")))
        nugget = json.loads((home / "memory.nugget.json").read_bytes())
        _assert_kept(extra, nugget, *nugget["facts"])
        hidden = notes_of(home)[FACT_NOTE].get("hiddenFact")
        assert (hidden is not None) is (kind in ("hide", "forget"))
        if hidden is not None:
            _assert_kept(extra, hidden)
        _assert_undone(memory, done, home, extra)
        assert list(notes_of(home)[FIRST])[:3] == ["id", "nuggetName", "title"]


@pytest.mark.slow
@QUICK
@given(extra=EXTRAS)
def test_unknown_fields_come_back_with_a_deleted_note(extra: dict[str, Any]) -> None:
    with _folder(extra) as home:
        memory = Memory.open(home)
        _, done = memory.change("delete", lambda draft: delete_note(draft, FACT_NOTE))
        assert FACT_NOTE not in notes_of(home)
        _assert_undone(memory, done, home, extra)


def _assert_undone(memory: Memory, done: ChangeSet, home: Path, extra: dict[str, Any]) -> None:
    with _folder(extra) as other:
        fresh = Memory.open(other)
        if not done.empty:
            memory.history.undo(done)
        assert Memory.open(home).snapshot.notes == fresh.snapshot.notes
        assert Memory.open(home).snapshot.nuggets == fresh.snapshot.nuggets
        assert graph_of(home) == graph_of(other)


@pytest.mark.parametrize("name", ["extra", "<unknown fields>"])
@pytest.mark.parametrize("value", [5, {"a": 1}, {}, None, [{"b": 2}]])
def test_a_field_with_a_name_that_we_use_inside_is_kept_as_it_is(
    tmp_path: Path, name: str, value: object
) -> None:
    _write_folder(tmp_path, {name: value})
    memory = Memory.open(tmp_path)
    assert not memory.snapshot.problems
    before = notes_of(tmp_path)
    _, done = memory.change("delete", lambda draft: delete_note(draft, SECOND))
    memory.history.undo(done)
    assert notes_of(tmp_path)[SECOND] == before[SECOND]


@pytest.mark.parametrize(
    "number", ["1e-7", "0.90", "1.0", "1" + "0" * 30, "-0", "1E5", "123456789012345678901234567890.5"]
)
def test_numbers_keep_their_text_in_fields_that_are_not_touched(tmp_path: Path, number: str) -> None:
    path = write_graph(tmp_path, [note_object(1, weight="@", links=[_link("note-memory-00000002", "kin", {"w": "@"})]),
                                  note_object(2, confidence="@")], factor="@")  # fmt: skip
    confidence = "0.90" if number.startswith(("1E5", "1234", "10", "-0")) else number
    text = path.read_text().replace('"confidence": "@"', f'"confidence": {confidence}').replace('"@"', number)
    path.write_text(text)
    memory = Memory.open(tmp_path)
    assert not memory.snapshot.problems
    for id in ("note-memory-00000001", "note-memory-00000002"):
        memory.change("edit", lambda draft, id=id: edit_note(draft, id, content="Other words."))
    memory.change(
        "link", lambda draft: link_notes(draft, "note-memory-00000001", "note-memory-00000002", "more")
    )
    after = path.read_text()
    for name, wanted in (("weight", number), ("w", number), ("factor", number), ("confidence", confidence)):
        assert re.search(rf'"{name}": {re.escape(wanted)}[,\n]', after), name
