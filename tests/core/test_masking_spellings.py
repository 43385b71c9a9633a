"""Masking knows how its stores spell a value: after it no file of the memory holds the value in any spelling."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import sqlite3
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from kits.laws import examples
from kits.memory_files import fact_object, note_object, write_graph, write_nugget

from core.errors import NuggetsError
from core.facts.edits import remember
from core.graph.edits import create_note, delete_note, edit_note
from core.memory import Memory
from core.model.masks import Masks, is_distinctive
from core.model.saved_search import SavedSearch
from core.model.secrets import Held
from core.pipeline.service import Pipeline
from core.pipeline.writes import secrets
from core.storage.files.atomic import locked
from core.storage.masking.proof import files_left
from core.storage.personal.unsaved_files import unsaved_folder
from core.storage.safety.backups import make_backup
from core.storage.safety.quarantine import set_aside
from core.unsaved import Unsaved, UnsavedTexts
from core.workspace import Workspace

VALUE = 'Tr0"b4\\d/Ä😀\u00a0z9'.replace("\u00a0", "+")
NOW = 1_800_000_000_000


@pytest.fixture(autouse=True)
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUGGETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NUGGETS_STATE", str(tmp_path / "state"))
    return tmp_path


# An oracle of its own: it shares nothing with what masks. It takes off what any reader of the files would take off.


def _json_texts(text: str, depth: int = 0) -> Iterator[str]:
    """The text, every string of JSON in it, and in these; strings that are cut off are read as far as they go."""
    yield text
    if depth > 4:
        return
    for found in re.finditer(r'"((?:[^"\\]|\\.)*)', text, re.DOTALL):
        try:
            said = json.loads(f'"{found[1]}"', strict=False)
        except ValueError:
            continue
        if said and (depth < 4 or said != found[1]):
            yield from _json_texts(said, depth + 1) if "\\" in found[1] or '"' in said else iter([said])


def _parts(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    yield name, data
    if name.endswith(".gz"):
        yield f"{name}!", gzip.decompress(data)
    if name.endswith(".zip"):
        with zipfile.ZipFile(name) as archive:
            for one in archive.namelist():
                yield f"{name}!{one}", archive.read(one)
    if name.endswith(".db"):
        with closing(sqlite3.connect(f"file:{name}?mode=ro", uri=True)) as reader:
            reader.text_factory = bytes
            for (table,) in reader.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for row in reader.execute(f'SELECT * FROM "{table.decode()}"').fetchall():
                    for cell in row:
                        if isinstance(cell, bytes):
                            yield f"{name}!{table!r}", cell
                            if cell[:1] == b"\x78":
                                yield f"{name}!{table!r} pressed", zlib.decompress(cell)


def holding(folder: Path, *values: str) -> list[str]:
    """The files in which one of the values stands, in clear or in any string of JSON."""
    found = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name.endswith("-shm"):
            continue
        for name, data in _parts(str(path), path.read_bytes()):
            said = (
                list(_json_texts(data.decode("utf-8", "replace")))
                if path.suffix != ".db" or "!" in name
                else []
            )
            for value in values:
                raw = value.encode() in data or base64.b64encode(value.encode()) in data
                if raw or any(value in text for text in said):
                    found.append(name)
    return found


def masked(memory: Memory) -> None:
    plan = secrets.masking(memory)
    Workspace(memory, lambda: NOW).mask_secrets(plan)
    assert memory.masking_left(plan) == ()


# Bytes


ALPHABET = st.sampled_from("abcXYZ019\"\\/'&<>:{}[], \nü😀éé`*$\t\u2028")
VALUES = st.text(ALPHABET, min_size=6, max_size=20).map(lambda text: "Q7" + text.strip() + "x")
STYLES: tuple[Callable[[str], str], ...] = (
    json.dumps,
    lambda text: json.dumps(text, ensure_ascii=False),
    lambda text: json.dumps(text).replace("/", "\\/"),
    lambda text: re.sub(r"\\u([0-9a-f]{4})", lambda found: "\\u" + found[1].upper(), json.dumps(text)),
    lambda text: '"' + "".join(f"\\u{ord(char):04x}" if ord(char) < 0x10000 else char for char in text) + '"',
    lambda text: json.dumps({"k": text, "n": [1, "x"]}),
)


@pytest.mark.slow
@given(VALUES, st.text(ALPHABET, max_size=6), st.lists(st.sampled_from(STYLES), min_size=1, max_size=3))
@example('Q7"a\\', "", [STYLES[0], STYLES[0]])
@example("Q7a/bx", "\\", [STYLES[2]])
@example("Q7😀éx", "", [STYLES[3], STYLES[3]])
def test_a_value_is_masked_in_any_layers_of_json_and_the_json_stays_sound(
    value: str, around: str, styles: list[Callable[[str], str]]
) -> None:
    text = around + value + around
    for style in styles:
        text = style(text)
    told = Masks([Held("password", value)]).data(text.encode())
    said = told.decode()
    for _ in styles:
        said = json.loads(said)
        said = said["k"] if isinstance(said, dict) else said
    assert value not in said
    assert "[masked: password]" in said
    assert Masks([Held("password", value)]).data(told) == told


@pytest.mark.slow
@given(VALUES, st.sampled_from(STYLES), st.integers(0, 8), st.integers(0, 8))
def test_a_value_is_masked_in_json_that_is_cut_off(
    value: str, style: Callable[[str], str], before: int, after: int
) -> None:
    data = style("abc" + style(value) + "abc")
    cut = data[min(before, 3) : len(data) - min(after, 3)].encode()
    told = Masks([Held("password", value)]).data(cut)
    assert not any(value in text for text in _json_texts(told.decode("utf-8", "replace")))
    assert value.encode() not in told


@pytest.mark.parametrize(
    "spelled",
    [
        base64.b64encode(f"user:{VALUE}".encode()).decode(),
        base64.urlsafe_b64encode(f"us:{VALUE}!".encode()).decode().rstrip("="),
        f"{VALUE[:4]}\u200b{VALUE[4:]}",
        f"{VALUE[:5]}\n  > {VALUE[5:]}",
        VALUE.replace("Ä", "A\u0308"),
        VALUE.lower(),
        f"https://x.example/?a=1&token={quote(VALUE, safe='')}&b=2",
        quote(VALUE),
        re.sub("%..", lambda found: found[0].lower(), quote(VALUE, safe="")),
        quote(VALUE, safe="+\\"),
        quote(quote(VALUE, safe=""), safe=""),
        quote(VALUE.lower()),
        base64.b64encode(quote(VALUE).encode()).decode(),
        "".join(f"\\u{ord(char):04X}" for char in VALUE if ord(char) < 0x10000).replace(
            "\\u002B", "\\ud83d\\ude00+"
        ),
    ],
)
def test_other_spellings_are_masked_too(spelled: str) -> None:
    masks = Masks([Held("password", VALUE)])
    for data in (spelled.encode(), json.dumps({"text": f"it is {spelled}."}).encode()):
        told = masks.data(data)
        assert told != data
        assert masks.data(told) == told
        assert not data.startswith(b"{") or json.loads(told)


def test_a_value_that_was_found_percent_encoded_is_masked_as_it_is_too() -> None:
    value = "correct horse+battery/9!"
    masks = Masks([Held("password", quote(value))])
    for text in (quote(value), quote(value, safe=""), value):
        assert masks.text(f"it is {text}.") == "it is [masked: password]."
    assert Masks([Held("password", value)]).text(f"x={quote_plus(value)}&y") == "x=[masked: password]&y"


def test_what_is_percent_encoded_and_no_value_stays_as_it_is() -> None:
    masks = Masks([Held("password", VALUE), Held("password", "p%zz%41-x9"), Held("password", "%%%%%x1")])
    for text in (
        quote(VALUE[:-1]),
        quote(VALUE[1:]),
        quote(VALUE).replace("%22", "%23"),
        "100% of 25%25",
        "%41-x9",
    ):
        assert masks.data(text.encode()) == text.encode()


def test_the_proof_finds_a_percent_encoded_value_in_raw_bytes() -> None:
    masks = Masks([Held("password", VALUE)])
    assert masks.stands_in(b"\0\x07" + quote(VALUE).encode() + b"\0")
    assert masks.stands_in(b"\0\x07" + quote(VALUE, safe="").encode() + b"\0")
    assert quote(VALUE, safe="").encode() not in masks.blanked(b"\0 " + quote(VALUE, safe="").encode())


def test_what_is_like_it_stays_as_it_is() -> None:
    masks = Masks([Held("password", VALUE)])
    for text in (VALUE[:-1], VALUE.replace("/", "//"), VALUE[1:], json.dumps(VALUE[:-1]), "a\\b\\n" * 50):
        assert masks.data(text.encode()) == text.encode()


def test_a_number_in_json_is_masked_as_a_number() -> None:
    masks = Masks([Held("password", "1234567890")])
    told = masks.data(b'{"pin": 1234567890, "list": [1234567890, 2], "text": "it is 1234567890"}')
    assert json.loads(told) == {"pin": 0, "list": [0, 2], "text": "it is [masked: password]"}


def test_words_are_masked_in_broken_json_where_key_or_title_says_what_they_are() -> None:
    masks = Masks([Held("password", "dragon")])
    told = masks.data(
        b'{"facts": [{"key": "wifi password", "value": "dragon"}, {"key": "pet", "hits": 0, "value": "x"'
    )
    assert b"dragon" not in told
    assert masks.data(b'{"key": "pet", "value": "dragon"') == b'{"key": "pet", "value": "dragon"'


# A whole memory


def put_everywhere(home: Path, value: str) -> None:
    """A memory that has had a value in each kind of file, as people, agents and sync tools leave it there."""
    quoted = json.dumps({"password": value})
    with closing(Memory.open(home)) as memory:
        note, _ = memory.change("made", lambda d: create_note(d, "web", "Staging", "password:\n" + quoted))
        memory.change("made", lambda d: remember(d, "web", "db password", value))
        memory.change("said", lambda d: remember(d, "web", "config", json.dumps({"db": quoted})))
        memory.change("long", lambda d: edit_note(d, note.id, content=quoted + "\nlong text" * 500))
        memory.change("short", lambda d: edit_note(d, note.id, content=quoted))
        gone, _ = memory.change("more", lambda d: create_note(d, "web", "Gone", f"the password is `{value}`"))
        memory.change("less", lambda d: delete_note(d, gone.id))
        memory.save_search(SavedSearch("mine", quoted))
        memory.index()
        memory.keep_index()
    graph = (home / "graph/graph.json").read_bytes()
    (home / "graph" / "graph (conflicted copy).json").write_bytes(graph)
    (home / "graph" / "graph.sync-conflict-20261120-103000-ABCDEFG.json").write_bytes(graph[:-30])
    (home / "graph" / ".graph.json.99999-0123abcd.tmp").write_bytes(graph[: len(graph) // 2])
    (home / "settings.toml").write_text(f"[app]\nname = {json.dumps(value)}\n", "utf-8")
    with locked(home):
        make_backup(home, at=datetime.now(UTC), reason="bulk")
        for cut in (5, 40):
            set_aside(
                home, file="graph/graph.json", data=graph[cut:-cut], reason=f"broken near {quoted}", where="note 1",
                at=f"2026-01-01T00:00:{cut:02}Z", whole=False,
            )  # fmt: skip
    texts = UnsavedTexts.of(home)
    assert texts is not None
    kept = texts.keep()
    kept.put_aside(Unsaved("note", title=quoted, values={"content": quoted}))
    texts.keep().write(Unsaved("note", values={"content": f"a line\n{value}"}))
    texts.close()
    folder = unsaved_folder(home, os.environ)
    assert folder is not None
    (folder / "0123456789abcdef-0123456789abcdef.json").write_text(json.dumps(value)[:-1] + '\\n", broken')


@pytest.mark.slow
def test_no_file_of_folder_cache_or_state_holds_it_afterwards(outside: Path) -> None:
    home = outside / "memory"
    put_everywhere(home, VALUE)
    with Pipeline.open(home) as pipeline:
        pipeline.ingest("It answers " + json.dumps({"token": "x", "password": VALUE}) + " and nothing else.")
        assert len(holding(outside, VALUE)) > 15
        masked(pipeline.memory)
        assert holding(outside, VALUE) == []
        assert not pipeline.memory.secrets()
    assert holding(outside, VALUE) == []
    with closing(Memory.open(home)) as again:
        again.verify()
        assert json.loads((home / "graph/graph.json").read_bytes())["notes"]
        assert not [problem for problem in again.snapshot.problems if "graph.json:" in problem.where]


@pytest.mark.slow
def test_nothing_that_can_be_undone_brings_it_back(outside: Path) -> None:
    home = outside / "memory"
    put_everywhere(home, VALUE)
    with closing(Memory.open(home)) as memory:
        masked(memory)
        for entry in memory.log():
            try:
                memory.undo(entry.id)
            except NuggetsError:
                continue
        assert holding(outside, VALUE) == []


@pytest.mark.slow
@settings(max_examples=examples(3), deadline=None, suppress_health_check=list(HealthCheck))
@given(VALUES.filter(lambda value: is_distinctive(value) and "\n" not in value and '"' not in value[:3]))
def test_whatever_the_value_is_no_file_holds_it_afterwards(
    tmp_path_factory: pytest.TempPathFactory, value: str
) -> None:
    outside = tmp_path_factory.mktemp("any")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUGGETS_CACHE", str(outside / "cache"))
        patch.setenv("NUGGETS_STATE", str(outside / "state"))
        home = outside / "memory"
        put_everywhere(home, value)
        with closing(Memory.open(home)) as memory:
            plan = memory.masking()
            plan = plan.__class__(plan.holders, masks=Masks([Held("password", value)]))
            memory.mask_secrets(plan)
            assert memory.masking_left(plan) == ()
        assert holding(outside, value) == []


def test_what_another_program_wrote_escaped_is_found_and_masked(outside: Path) -> None:
    home = outside / "memory"
    told = json.dumps({"password": VALUE})
    write_graph(
        home, [note_object(1, content=f"the answer was {told}", title="Answer", extra={"raw": [told]})]
    )
    write_nugget(home, "memory", [fact_object("answer", json.dumps(told))])
    with closing(Memory.open(home)) as memory:
        assert len(memory.secrets()) == 2
        masked(memory)
        assert not memory.snapshot.problems
    assert holding(outside, VALUE) == []


# The proof


def test_the_proof_names_each_file_that_holds_it(tmp_path: Path) -> None:
    masks = Masks([Held("password", VALUE)])
    (tmp_path / "plain.txt").write_text(VALUE)
    (tmp_path / "nested.json").write_text(json.dumps(json.dumps({"a": VALUE})))
    (tmp_path / "pressed.gz").write_bytes(gzip.compress(json.dumps(VALUE).encode()))
    (tmp_path / "object").write_bytes(zlib.compress(VALUE.encode()))
    (tmp_path / "PACK").write_bytes(
        b"PACK" + bytes(20) + zlib.compress(b"other") + zlib.compress(VALUE.encode())
    )
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("inner.gz", gzip.compress(VALUE.encode()))
    (tmp_path / "wide.txt").write_text(VALUE, "utf-16")
    (tmp_path / "harmless.txt").write_text(VALUE[:-1])
    for name, statement in (("ledger.db", "SELECT 1"), ("pipeline.db", "DELETE FROM t")):
        with closing(sqlite3.connect(tmp_path / name)) as writer:
            writer.execute("CREATE TABLE t (x)")
            writer.execute(
                "INSERT INTO t VALUES (?)", (VALUE if "pipe" in name else zlib.compress(VALUE.encode()),)
            )
            writer.commit()
            writer.execute("PRAGMA secure_delete = OFF")
            writer.execute(statement)
            writer.commit()
    left = {one.path.name: one.why for one in files_left([tmp_path], masks)}
    assert left == dict.fromkeys(
        (
            "plain.txt",
            "nested.json",
            "pressed.gz",
            "object",
            "PACK",
            "a.zip",
            "wide.txt",
            "ledger.db",
            "pipeline.db",
        ),
        "holds",
    )


def test_what_cannot_be_looked_into_is_named(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_bytes(b"no database at all" * 100)
    (left,) = files_left([tmp_path], Masks([Held("password", VALUE)]))
    assert (left.path.name, left.why) == ("ledger.db", "unreadable")


def test_a_database_that_was_set_aside_is_written_over_where_it_holds_it(outside: Path) -> None:
    home = outside / "memory"
    with closing(Memory.open(home)) as memory:
        memory.change("made", lambda d: create_note(d, "web", "Staging", f"the password is {VALUE}"))
        aside = home / "quarantine" / "2026-01-01T000000Z-ledger.db"
        aside.parent.mkdir(exist_ok=True)
        pressed = zlib.compress(json.dumps(VALUE).encode() * 9)
        before = b"SQLite format 3\0" + bytes(500) + VALUE.encode() + bytes(90) + pressed + b"tail"
        aside.write_bytes(before)
        plan = memory.masking()
        memory.mask_secrets(plan)
        assert [(one.path, one.why) for one in memory.masking_left(plan)] == [(aside, "unreadable")]
        after = aside.read_bytes()
        assert len(after) == len(before)
        assert after.startswith(before[:500])
        assert after.endswith(b"tail")
        assert VALUE.encode() not in after
        assert pressed not in after


@pytest.mark.parametrize("before", ["", "a", "ab"])
def test_no_recipe_of_a_vector_keeps_the_base64_of_a_value(outside: Path, before: str) -> None:
    value = "ghp_ZbCdEfGhIjKlMnOpQrStUvWxYz9876543210"
    encoded = base64.b64encode(f"{before}{value}".encode()).decode()
    home = outside / "home"
    memory = Memory.open(home)
    memory.change("plain", lambda draft: create_note(draft, "m", "plain", f"token {value}"))
    memory.change("coded", lambda draft: create_note(draft, "m", "coded", f"header: {encoded}"))
    copy = home / "graph" / "graph.sync-conflict-20261123-010101-ABCDEFG.json"
    copy.write_bytes((home / "graph" / "graph.json").read_bytes())
    broken = home / "graph" / "graph.sync-conflict-20261123-010102-ABCDEFG.json"
    broken.write_bytes(copy.read_bytes()[:-20])
    masking = memory.masking()
    memory.mask_secrets(masking)
    assert memory.masking_left(masking) == ()
    kept = encoded.lower().rstrip("=")
    for path in (copy, broken, home / "graph" / "graph.json"):
        said = path.read_text(encoding="utf-8").lower()
        assert kept[6:30] not in said, path.name
    assert json.loads(copy.read_bytes())["notes"]
