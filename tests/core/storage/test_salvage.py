"""Salvage: whatever became of a file, what still stands whole in it is found, and the search comes to an end."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.memory_files import fact_object, javascript, note_object

from core.model.fact import FactConfig, NuggetMeta
from core.settings import InferenceSettings
from core.storage.format.documents import GraphDocument, NuggetDocument, read_graph, read_nugget
from core.storage.recovery import salvage
from core.storage.recovery.repaired import repaired_graph, repaired_nugget
from core.storage.recovery.salvage import Salvaged, salvage_facts, salvage_graph

RULES = InferenceSettings()
EXTRA = {"later": {"deep": [1.5, "\ud800", None], "notes": ["notes"]}, "extra": 5}


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


def _files() -> list[tuple[bytes, list[tuple[bytes, int, int]], bool]]:
    indented, flat, nugget = _graph(NOTES, tail={"x": [1]}), _graph(NOTES, None), _nugget(FACTS)
    return [
        (indented, _raws(indented, NOTES, 2), True),
        (flat, _raws(flat, NOTES, None), True),
        (nugget, _raws(nugget, FACTS, None), False),
    ]


FILES = _files()


def _salvage(data: bytes, graph: bool) -> Salvaged:
    return salvage_graph(data, RULES) if graph else salvage_facts(data)


def _mended(data: bytes, graph: bool) -> GraphDocument | NuggetDocument:
    """The mended file as the store reads it."""
    if graph:
        return read_graph(Path("graph.json"), b"".join(repaired_graph(data, {}, RULES)), None, RULES)
    path = Path("memory.nugget.json")
    found = read_nugget(path, b"".join(repaired_nugget(path.name, data, {})), None)
    assert not found.broken
    return found


@pytest.mark.parametrize("file", range(len(FILES)))
def test_of_a_sound_file_everything_is_found_and_nothing_lost(file: int) -> None:
    data, items, graph = FILES[file]
    found = _salvage(data, graph)
    assert found.raws == [raw for raw, _, _ in items]
    assert [data[piece.place :][: len(piece.raw)] for piece in found.pieces] == found.raws
    assert (found.lost, found.repeated, found.reason) == ((), (), "")
    array = "notes" if graph else "facts"
    assert list(found.fields) == list(json.loads(data))
    assert found.fields[array] == b"[]"
    marked = _salvage(b"\xef\xbb\xbf" + data, graph)
    assert (marked.raws, marked.lost, marked.reason) == (found.raws, (), "")


@pytest.mark.slow
@pytest.mark.parametrize("file", range(len(FILES)))
def test_cut_off_at_any_byte_every_note_before_the_cut_is_found(file: int) -> None:
    data, items, graph = FILES[file]
    for cut in range(len(data)):
        found = _salvage(data[:cut], graph)
        assert found.raws == [raw for raw, _, end in items if end <= cut]
        if cut < len(data.rstrip()):
            assert found.reason
        for place, lost in found.lost:
            assert data[place:].startswith(lost)


@pytest.mark.slow
@given(file=st.integers(0, len(FILES) - 1), data=st.data())
def test_garbage_between_notes_harms_none_of_them(file: int, data: st.DataObject) -> None:
    whole, items, graph = FILES[file]
    garbage = st.binary(max_size=40) | st.text('{}[]":,\\\n ai', max_size=30).map(str.encode)
    places = [0, *(start for _, start, _ in items), *(end for _, _, end in items), len(whole)]
    for place in sorted(data.draw(st.sets(st.sampled_from(places), min_size=1)), reverse=True):
        whole = whole[:place] + data.draw(garbage) + whole[place:]
    assert _salvage(whole, graph).raws == [raw for raw, _, _ in items]


@given(file=st.integers(0, len(FILES) - 1), data=st.data())
def test_notes_that_no_damage_touched_are_found_whatever_was_done_to_others(
    file: int, data: st.DataObject
) -> None:
    whole, items, graph = FILES[file]
    damaged = bytearray(whole)
    touched = data.draw(st.sets(st.integers(0, len(items) - 1), max_size=3))
    for number in touched:
        _, start, end = items[number]
        place = data.draw(st.integers(start, end - 1))
        noise = data.draw(st.binary(min_size=1, max_size=end - place))
        damaged[place : place + len(noise)] = noise
    untouched = {raw for number, (raw, _, _) in enumerate(items) if number not in touched}
    assert set(_salvage(bytes(damaged), graph).raws) >= untouched
    assert set(_mended(bytes(damaged), graph).raws) >= untouched
    assert len(_mended(bytes(damaged), graph).problems) <= len(touched)


@given(st.binary(max_size=400) | st.text('{}[]":,\\ \nnotesidkey', max_size=300).map(str.encode))
def test_no_bytes_are_too_strange(data: bytes) -> None:
    for graph in (True, False):
        found = _salvage(data, graph)
        assert found.raws == []
        assert not _mended(data, graph).raws


def test_a_tail_of_zeros_after_a_power_cut_costs_only_what_it_covers() -> None:
    data, items, _ = FILES[0]
    cut = items[3][1] + 20
    found = salvage_graph(data[:cut] + bytes(5000), RULES)
    assert found.raws == [raw for raw, _, end in items if end <= cut]
    assert found.lost == ((items[3][1], data[items[3][1] : cut]),)


def test_two_files_in_one_give_every_note_once_and_the_newer_version_of_it() -> None:
    older = _graph([_note(1), _note(2), _note(3, title="old")])
    newer = _graph([_note(3, title="new", updatedAt="2026-05-05T00:00:00.000Z"), _note(1), _note(4)], other=7)
    for data in (older + newer, newer + older, older[:-3] + newer):
        found = salvage_graph(data, RULES)
        titles = {piece.id[-1]: json.loads(piece.raw)["title"] for piece in found.pieces}
        assert titles == {"1": "Title 1", "2": "Title 2", "3": "new", "4": "Title 4"}
        assert [json.loads(piece.raw)["title"] for piece in found.repeated] == ["old"]
        assert found.fields["other"] == b"7"
        assert not found.lost


def test_a_file_in_another_encoding_is_read_all_the_same() -> None:
    data, items, _ = FILES[0]
    for encoding in ("utf-16", "utf-16-be"):
        mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
        found = salvage_graph(mark + data.decode().encode(encoding), RULES)
        assert found.raws == [raw for raw, _, _ in items]
        assert "UTF-16" in found.reason
    assert salvage_graph(mark + data.decode().encode("utf-16-be")[:-1001], RULES).raws == [
        raw for raw, _, _ in items[:-1]
    ]


def test_notes_inside_other_things_are_not_taken_for_notes_of_the_file() -> None:
    trash = [_note(number) for number in (7, 8)]
    history = _note(2) | {"versions": [_note(9), _note(10)]}
    data = _graph([_note(1), history, _note(3)], trash=trash, early=trash)
    for broken in (data, data.rstrip()[:-1], data + b"}", data.replace(b'"notes": [\n  ', b'"notes": [\n! ')):
        ids = [piece.id[-2:] for piece in salvage_graph(broken, RULES).pieces]
        assert ids == ["01", "02", "03"]


def test_a_whole_note_that_cannot_be_understood_keeps_its_place() -> None:
    notes = [_note(1), _note(2, title=None), None, _note(3, tags="a"), _note(4)]
    found = salvage_graph(_graph(notes)[:-3], RULES)
    assert [(piece.id[-1], piece.sound) for piece in found.pieces] == [
        ("1", True),
        ("2", False),
        ("3", False),
        ("4", True),
    ]
    assert [lost for _, lost in found.lost] == [b"null"]


@pytest.mark.slow
def test_ten_thousand_levels_harm_nobody() -> None:
    deep: Any = b"[" * 10_000 + b"]" * 10_000
    data = _graph([_note(1), "DEEP", _note(2, later="DEEP"), _note(3)])[:-2].replace(b'"DEEP"', deep)
    assert [piece.id[-1] for piece in salvage_graph(data, RULES).pieces] == ["1", "3"]
    objects = b'{"a":' * 10_000 + b"1" + b"}" * 10_000
    data = _graph([_note(1), "DEEP", _note(3)], early="DEEP").replace(b'"DEEP"', objects)
    assert [piece.id[-1] for piece in salvage_graph(data, RULES).pieces] == ["1", "3"]


@pytest.mark.slow
@pytest.mark.timeout(100)
@pytest.mark.parametrize(
    "unit",
    [b'{"', b'{"a":', b'{"a":[', b'{"a":"', b"{", b'"', b'\\"', b'{ "a', b'{"id":"x",', b'{"notes":[', b"\x00",
     b'{"a":{"id":"b"},', b'{"a":1},', b'{"notes":[{"id":"x","nuggetName":"y"},', b'{"":"{":"', b'","{":"'],
)  # fmt: skip
def test_megabytes_of_garbage_come_to_an_end(unit: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(salvage, "_LEAST_BUDGET", 2**22)  # else that alone would do for so small a file
    good = javascript(_note(1))
    data = b'{"version":3,"notes":[' + good + b"," + unit * (500_000 // len(unit))
    assert salvage_graph(data, RULES).raws == [good]


@pytest.mark.slow
def test_random_damage_to_a_large_file_loses_only_what_it_hits() -> None:
    chance = random.Random(5)
    notes = [_note(number, content="word " * chance.randrange(100)) for number in range(1, 400)]
    whole = _graph(notes)
    items = _raws(whole, notes, 2)
    data = bytearray(whole)
    hit = [chance.randrange(len(data)) for _ in range(60)]
    for place in hit:
        data[place] = chance.randrange(256)
    spared = [raw for raw, start, end in items if not any(start <= place < end for place in hit)]
    assert len(spared) > 300
    assert set(salvage_graph(bytes(data), RULES).raws) >= set(spared)


@pytest.mark.slow
def test_a_broken_graph_is_mended_with_what_was_last_seen() -> None:
    notes = [_note(number) for number in range(1, 7)]
    data = _graph(notes, tail={"x": [1]})
    items = _raws(data, notes, 2)
    seen = {note["id"]: raw for note, (raw, _, _) in zip(notes, items, strict=True)}
    for cut in range(0, len(data) - 1, 7):
        mended = b"".join(repaired_graph(data[:cut], seen, RULES))
        assert [note["id"] for note in json.loads(mended)["notes"]] == list(seen)
        assert all(raw in mended for raw in seen.values())
    mended = b"".join(repaired_graph(data[:-2], seen, RULES))
    assert mended == data
    assert b"".join(repaired_graph(data, {}, RULES)) == data


def test_what_the_file_says_wins_over_what_was_last_seen_and_that_over_what_makes_no_sense() -> None:
    seen = {note["id"]: javascript(note) for note in (_note(1), _note(2), _note(3), _note(4))}
    seen["note-memory-00000009"] = b"no JSON"
    data = _graph([_note(3, title="newer"), _note(2, title=None), _note(7, title=None), _note(5)])[:-2]
    mended = json.loads(b"".join(repaired_graph(data, seen, RULES)))
    assert [(note["id"][-1], note["title"]) for note in mended["notes"]] == [
        ("1", "Title 1"),
        ("2", "Title 2"),
        ("3", "newer"),
        ("4", "Title 4"),
        ("7", None),
        ("5", "Title 5"),
    ]


@pytest.mark.parametrize(
    ("data", "version"),
    [(b"", 3), (b"\x00\x00", 3), (b'{"version": 2, "notes": [', 2), (b'{"version": "x", "notes": [', 3),
     (b'{"notes": {}', 3), (b'{"version": 9, "later": [1], "notes": [}', 9)],
)  # fmt: skip
def test_a_graph_of_which_nothing_is_left_becomes_a_sound_one(data: bytes, version: int) -> None:
    mended = json.loads(b"".join(repaired_graph(data, {}, RULES)))
    assert (mended["version"], mended["notes"]) == (version, [])


@pytest.mark.slow
def test_a_broken_fact_file_is_mended_with_what_was_last_seen() -> None:
    data, items, _ = FILES[2]
    seen = {fact["key"]: raw for fact, (raw, _, _) in zip(FACTS, items, strict=True)}
    former = NuggetMeta(name="memory", D=1024, banks=8, config=FactConfig(sharpen_p=2))
    for cut in range(len(data)):
        mended = json.loads(b"".join(repaired_nugget("memory.nugget.json", data[:cut], seen, former)))
        assert [fact["key"] for fact in mended["facts"]] == list(seen)
        assert (mended["name"], mended["D"], mended["banks"]) == ("memory", 1024, 8)
        assert mended["config"]["sharpen_p"] == 2
    assert b"".join(repaired_nugget("memory.nugget.json", data, {})) == data


def test_settings_of_a_nugget_that_make_no_sense_are_replaced_and_unknown_fields_stay() -> None:
    data = _nugget(FACTS, name=5, D="wide", banks=2, config=[], later={"x": 1})
    mended = json.loads(b"".join(repaired_nugget("projects.donna.json", data, {})))
    assert (mended["name"], mended["D"], mended["banks"], mended["later"]) == ("projects", 16384, 2, {"x": 1})
    assert mended["config"]["temp_T"] == 0.9
    assert mended["facts"] == FACTS
