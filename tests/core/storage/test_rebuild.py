"""A broken file: what still stands whole in it is found, what is missing comes from what was last seen, and it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.memory_files import fact_object, javascript, note_object

from core.model.fact import NuggetMeta
from core.settings import InferenceSettings
from core.storage.format.documents import (
    Document,
    new_nugget,
    read_graph,
    read_nugget,
    remembered_graph,
    remembered_nugget,
)
from core.storage.recovery import rebuilt

RULES = InferenceSettings()
EXTRA = {"later": {"deep": [1.5, "\ud800", None], "notes": ["notes"]}, "extra": 5}
NO_GRAPH = remembered_graph(Path("graph.json"), b'{"version": 3, "notes": []}', [], RULES, None)
NO_NUGGET = new_nugget(Path("memory.nugget.json"), NuggetMeta(name="memory"))


def _note(number: int, **fields: Any) -> dict[str, Any]:
    link = {"to": f"note-memory-{number + 1:08x}", "reason": "kin", "createdAt": ""}
    text = f'Brackets {{ [ "{number}" \\ }} and\nlines ä'
    return note_object(number, **({"content": text, "links": [link]} | fields))


def _graph(notes: list[Any], indent: int | None = 2, **top: Any) -> bytes:
    return javascript({"version": 3, "early": [1, {"a": "b"}], "notes": notes} | top, indent) + b"\n"


def _nugget(facts: list[Any], **top: Any) -> bytes:
    head = {
        "version": 4,
        "name": "memory",
        "D": 1024,
        "banks": 8,
        "ensembles": 1,
        "max_facts": 0,
        "facts": facts,
    }
    return javascript(head | {"config": {"sharpen_p": 2}} | top)


def _raws(data: bytes, items: list[Any], indent: int | None) -> list[tuple[bytes, int, int]]:
    """Each item's bytes in a file, with where they begin and end."""
    found, place = [], 0
    for item in items:
        raw = javascript(item, indent)
        raw = raw.replace(b"\n", b"\n    ") if indent else raw
        start = data.index(raw, place)
        place = start + len(raw)
        found.append((raw, start, place))
    return found


NOTES = [_note(number) | (EXTRA if number % 2 else {}) for number in range(1, 6)]
FACTS = [fact_object(f"key {n}", f'value {{"{n}"}}', **(EXTRA if n % 2 else {})) for n in range(6)]
INDENTED, FLAT, NUGGET = _graph(NOTES, tail={"x": [1]}), _graph(NOTES, None), _nugget(FACTS)
FILES: list[tuple[bytes, list[tuple[bytes, int, int]], Document]] = [
    (INDENTED, _raws(INDENTED, NOTES, 2), NO_GRAPH),
    (FLAT, _raws(FLAT, NOTES, None), NO_GRAPH),
    (NUGGET, _raws(NUGGET, FACTS, None), NO_NUGGET),
]


def _rebuilt(data: bytes, former: Document = NO_GRAPH) -> Document:
    """The rebuilt file as the store reads it."""
    made = b"".join(rebuilt(data, former, RULES))
    if former.path.name == "graph.json":
        return read_graph(former.path, made, None, RULES)
    found = read_nugget(former.path, made, None)
    assert not found.broken
    return found


def _ids(document: Document) -> list[str]:
    return [json.loads(raw)["id"][-2:] for raw in document.raws]


@pytest.mark.slow
@pytest.mark.parametrize("file", range(len(FILES)))
def test_cut_off_anywhere_all_before_the_cut_is_found_and_the_rest_put_back_from_what_was_seen(
    file: int,
) -> None:
    data, items, nothing = FILES[file]
    raws = [raw for raw, _, _ in items]
    head = javascript(json.loads(data) | {"notes" if file < 2 else "facts": []})
    seen = (
        remembered_graph(nothing.path, head, raws, RULES, None)
        if file < 2
        else remembered_nugget(nothing.path, head, raws)
    )
    for cut in range(0, len(data), 7):
        assert list(_rebuilt(data[:cut], nothing).raws) == [raw for raw, _, end in items if end <= cut]
        again = _rebuilt(data[:cut], seen)
        assert list(again.raws) == raws
        assert list(again.fields) == list(json.loads(data))


@given(file=st.integers(0, len(FILES) - 1), data=st.data())
def test_what_no_damage_touched_is_found_whatever_was_done_to_the_rest(
    file: int, data: st.DataObject
) -> None:
    whole, items, nothing = FILES[file]
    damaged = bytearray(whole)
    touched = data.draw(st.sets(st.integers(0, len(items) - 1), max_size=3))
    garbage = st.binary(max_size=40) | st.text('{}[]":,\\\n ai', max_size=30).map(str.encode)
    for number in sorted(touched, reverse=True):
        _, start, end = items[number]
        if data.draw(st.booleans()):
            damaged[start:start] = data.draw(garbage)
        else:
            place = data.draw(st.integers(start, end - 1))
            noise = data.draw(st.binary(min_size=1, max_size=end - place))
            damaged[place : place + len(noise)] = noise
    found = _rebuilt(bytes(damaged), nothing)
    assert set(found.raws) >= {raw for number, (raw, _, _) in enumerate(items) if number not in touched}
    assert len(found.problems) <= len(touched)


@given(st.binary(max_size=400) | st.text('{}[]":,\\ \nnotesidkey', max_size=300).map(str.encode))
def test_no_bytes_are_too_strange(data: bytes) -> None:
    for nothing in (NO_GRAPH, NO_NUGGET):
        assert not _rebuilt(data, nothing).raws


def test_two_files_in_one_give_every_note_once_and_the_newer_version_of_it() -> None:
    older = _graph([_note(1), _note(2), _note(3, title="old")])
    newer = _graph([_note(3, title="new", updatedAt="2026-05-05T00:00:00.000Z"), _note(1), _note(4)])
    for data in (older + newer, newer + older, older[:-3] + newer):
        titles = {json.loads(raw)["id"][-1]: json.loads(raw)["title"] for raw in _rebuilt(data).raws}
        assert titles == {"1": "Title 1", "2": "Title 2", "3": "new", "4": "Title 4"}


def test_notes_inside_other_things_are_not_taken_for_notes_of_the_file() -> None:
    trash = [_note(number) for number in (7, 8)]
    history = _note(2) | {"versions": [_note(9), _note(10)]}
    data = _graph([_note(1), history, _note(3)], trash=trash, early=trash)
    for broken in (data.rstrip()[:-1], data + b"}", data.replace(b'"notes": [\n  ', b'"notes": [\n! ')):
        assert _ids(_rebuilt(broken)) == ["01", "02", "03"]


def test_fields_that_make_no_sense_are_replaced_and_unknown_ones_stay() -> None:
    data = javascript({"name": 5, "D": "wide", "banks": 2, "later": {"x": 1}, "facts": FACTS})[:-1]
    made = json.loads(b"".join(rebuilt(data, new_nugget(Path("p.donna.json"), NuggetMeta(name="p")), RULES)))
    assert (made["name"], made["D"], made["banks"], made["later"]) == ("p", 16384, 2, {"x": 1})
    assert made["facts"] == FACTS
    for broken, version in (
        (b"", 3), (b"\x00\x00", 3), (b'{"version": 2, "notes": [', 2), (b'{"version": "x", "notes": [', 3),
        (b'{"notes": {}', 3), (b'{"version": 9, "later": [1], "notes": [}', 9),
    ):  # fmt: skip
        made = json.loads(b"".join(rebuilt(broken, NO_GRAPH, RULES)))
        assert (made["version"], made["notes"]) == (version, [])


@pytest.mark.slow
@pytest.mark.timeout(100)
def test_ten_thousand_levels_and_a_file_of_garbage_come_to_an_end() -> None:
    deep: Any = b"[" * 10_000 + b"]" * 10_000
    data = _graph([_note(1), "DEEP", _note(2, later="DEEP"), _note(3)])[:-2].replace(b'"DEEP"', deep)
    assert _ids(_rebuilt(data)) == ["01", "03"]
    good = javascript(_note(1))
    for unit in (
        b'{"', b'{"a":', b'{"a":[', b'{"a":"', b"{", b'"', b'\\"', b'{ "a', b'{"id":"x",', b'{"notes":[', b"\x00", b" ",
        b'{"a":{"id":"b"},', b'{"a":1},', b'{"notes":[{"id":"x","nuggetName":"y"},', b'{"":"{":"', b'","{":"', b'],',
        b'"{"', b'{"a":"{",',
    ):  # fmt: skip
        data = b'{"version":3,"notes":[' + good + b"," + unit * (60_000 // len(unit))
        assert _rebuilt(data).raws[0] == good, unit
