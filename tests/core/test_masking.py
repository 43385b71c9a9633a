"""Masking: after it no file of the memory holds the credential, the search says so, and all else is as it was."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import signal
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
from kits.forked import forked_process
from kits.laws import examples
from kits.memory_files import note_object

from core.errors import InvalidInputError, NotFoundError, NuggetsError
from core.facts.edits import remember
from core.folder import DATABASE_FILE
from core.graph.edits import create_note, delete_note, edit_note
from core.memory import Memory
from core.model.change import FileChange
from core.model.masks import Masks, is_distinctive
from core.model.note import vector_spec
from core.model.saved_search import SavedSearch
from core.model.secrets import Held
from core.pipeline.service import Pipeline
from core.pipeline.writes import secrets
from core.storage import masking as masking_steps
from core.storage.files.atomic import locked
from core.storage.masking import files_left
from core.storage.personal.unsaved_files import unsaved_folder
from core.storage.safety import make_backup, set_aside
from core.unsaved import Unsaved, UnsavedTexts
from core.workspace import Workspace

VALUE = 'Tr0"b4\\d/Ä😀+z9'
TOKEN = "ghp" + "_16C7e42F292c6912E7710c838347Ae178B4a"
NOW = 1_800_000_000_000
SAMPLES = (
    VALUE, TOKEN, "Blau3&Katze!77", "correct horse/9!",
    "-----BEGIN KEY-----\n" + "aB3d" * 12 + "\n-----END KEY-----",
)  # fmt: skip


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
                            yield f"{name}!{table!r}", zlib.decompress(cell) if cell[:1] == b"\x78" else cell


def holding(folder: Path, *values: str) -> list[str]:
    """The files in which one of the values stands, in clear, in lower case or in any string of JSON."""
    found = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name.endswith("-shm"):
            continue
        for name, data in _parts(str(path), path.read_bytes()):
            said = _json_texts(data.decode("utf-8", "replace")) if path.suffix != ".db" or "!" in name else ()
            for value in values:
                if (
                    value.encode() in data
                    or value.lower().encode() in data
                    or any(value in text for text in said)
                ):
                    found.append(name)
    return found


# Texts and bytes


def _spellings(value: str) -> Iterator[str]:
    for ascii_only in (True, False):
        escaped = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        yield from (escaped, json.dumps(escaped)[1:-1])
    yield from (quote(value), quote(value, safe=""), quote_plus(value), quote(value, safe="!'()*"))
    yield re.sub("%..", lambda found: found[0].lower(), quote(value, safe=""))
    yield from (value, value.lower())


def test_every_sample_is_masked_in_every_spelling_and_what_is_like_it_stays() -> None:
    for value in SAMPLES:
        masks = Masks([Held("password", value)])
        for spelled in _spellings(value):
            for text in (f"it is {spelled}.", json.dumps({"a": f"it is {spelled}."})):
                told = masks.data(text.encode()).decode()
                assert told == text.replace(
                    text[text.index("is ") + 3 : text.rindex(".")], "[masked: password]"
                ), spelled
                assert masks.data(told.encode()) == told.encode()
                assert masks.stands_in(b"\0" + spelled.encode() + b"\0")
        for other in (
            ()
            if "\n" in value
            else (
                value[:-1],
                value[1:],
                json.dumps(value[:-1]),
                quote(value[1:]),
                "a\\b\\n" * 50,
                "100% of 25%25",
            )
        ):
            assert masks.data(other.encode()) == other.encode()


ALPHABET = st.sampled_from("abcXYZ019\"\\/'&<>:{}[], \nü😀éé`*$\t\u2028")
VALUES = st.text(ALPHABET, min_size=6, max_size=20).map(lambda text: "Q7" + text.strip() + "x")
STYLES: tuple[Callable[[str], str], ...] = (
    json.dumps,
    lambda text: json.dumps(text, ensure_ascii=False),
    lambda text: json.dumps({"k": text, "n": [1, "x"]}),
)
# How the outermost layer is written by programs in other languages.
OUTER: tuple[Callable[[str], str], ...] = (
    *STYLES,
    lambda text: json.dumps(text).replace("/", "\\/"),
    lambda text: json.dumps(text).replace("&", "\\u0026").replace("<", "\\u003c"),
    lambda text: re.sub(r"\\u([0-9a-f]{4})", lambda found: "\\u" + found[1].upper(), json.dumps(text)),
    lambda text: '"' + "".join(f"\\u{ord(char):04x}" if ord(char) < 0x10000 else char for char in text) + '"',
)


@pytest.mark.slow
@given(
    VALUES,
    st.text(ALPHABET, max_size=6),
    st.lists(st.sampled_from(STYLES), max_size=2),
    st.sampled_from(OUTER),
)
@example('Q7"a\\', "", [STYLES[0]], STYLES[0])
@example("Q7a/bx", "\\", [], OUTER[3])
def test_a_value_is_masked_in_layers_of_json_and_the_json_stays_sound(
    value: str, around: str, inner: list[Callable[[str], str]], outer: Callable[[str], str]
) -> None:
    text = around + value + around
    for style in (*inner, outer):
        text = style(text)
    told = Masks([Held("password", value)]).data(text.encode())
    said = told.decode()
    for _ in (*inner, outer):
        said = json.loads(said)
        said = said["k"] if isinstance(said, dict) else said
    assert value not in said
    assert "[masked: password]" in said
    assert Masks([Held("password", value)]).data(told) == told


# A whole memory


def put_everywhere(home: Path, value: str) -> str:
    """A memory that has had a value in each kind of file, as people, agents and sync tools leave it there; the id of
    the note that holds it.
    """
    quoted = json.dumps({"password": value})
    with closing(Memory.open(home)) as memory:
        note, _ = memory.change("made", lambda d: create_note(d, "web", "Staging", "password:\n" + quoted))
        memory.change("made", lambda d: remember(d, "web", "db password", value))
        memory.change("said", lambda d: remember(d, "web", "config", json.dumps({"db": quoted})))
        memory.change("longer", lambda d: edit_note(d, note.id, content=quoted + "\nlong text" * 500))
        memory.change("shorter", lambda d: edit_note(d, note.id, content=quoted))
        gone, _ = memory.change("more", lambda d: create_note(d, "web", "Gone", f"the password is `{value}`"))
        memory.change("less", lambda d: delete_note(d, gone.id))
        memory.searches.save(SavedSearch("mine", quoted))
        memory.search.index()
        memory.search.keep()
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
    texts.keep().put_aside(Unsaved("note", title=quoted, values={"content": quoted}))
    texts.keep().write(Unsaved("note", values={"content": f"a line\n{value}"}))
    texts.close()
    folder = unsaved_folder(home, os.environ)
    assert folder is not None
    (folder / "0123456789abcdef-0123456789abcdef.json").write_text(json.dumps(value)[:-1] + '\\n", broken')
    return note.id


def masked(memory: Memory) -> None:
    plan = secrets.masking(memory)
    Workspace(memory, lambda: NOW).mask_secrets(plan)
    assert memory.secrets.left(plan) == ()


@pytest.mark.slow
def test_no_file_of_folder_cache_or_state_holds_it_afterwards(outside: Path) -> None:
    home = outside / "memory"
    note_id = put_everywhere(home, VALUE)
    with Pipeline.open(home) as pipeline:
        pipeline.ingest("It answers " + json.dumps({"token": "x", "password": VALUE}) + " and nothing else.")
        memory = pipeline.memory
        assert len(holding(outside, VALUE)) > 15
        plan = Workspace(memory).masking()
        assert {place.what for place in plan.rewritten} >= {
            "file", "log", "backup", "quarantine", "copy", "pipeline",
        }  # fmt: skip
        assert VALUE not in repr(plan) + json.dumps(plan.to_dict(), ensure_ascii=False)
        deleted = {place.path for place in plan.places if place.deleted}
        assert {path.parent.name for path in deleted} == {"backups", "quarantine", "graph"}
        masked(memory)
        assert holding(outside, VALUE) == []
        assert not any(path.exists() for path in deleted)
        assert not memory.secrets.holders()
        told = memory.snapshot.note(note_id)
        assert (told.content, told.vector) == ('{"password": "[masked: password]"}', vector_spec(told))
        assert len(list((home / "graph").glob("*conflict*"))) == 2
    assert holding(outside, VALUE) == []
    with closing(Memory.open(home)) as again:
        assert not [
            found
            for found in again.maintenance.verify()
            if found.kind not in ("conflict", "conflict-copy", "unreadable-file")
        ]
        assert json.loads((home / "graph/graph.json").read_bytes())["notes"]
        assert not [problem for problem in again.snapshot.problems if "graph.json:" in problem.where]


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
            plan = memory.secrets.preview()
            plan = plan.__class__(plan.holders, masks=Masks([Held("password", value)]))
            memory.secrets.mask(plan)
            assert memory.secrets.left(plan) == ()
        assert holding(outside, value) == []


@pytest.mark.slow
def test_what_another_program_writes_in_the_middle_stays_and_holds_it_no_more(
    outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = outside / "memory"
    note_id = put_everywhere(home, VALUE)
    graph = home / "graph/graph.json"
    carry_out, writes = masking_steps.Write.carry_out, iter(("before", "after"))

    def beside(write: masking_steps.Write) -> object:
        when = next(writes, "")
        known = json.loads(graph.read_bytes()) if when else {}
        known.get("notes", []).append(
            note_object(len(known.get("notes", ())) + 7, content=f"{when}: the password is {VALUE}")
        )
        if when == "before":
            graph.write_text(json.dumps(known))
        done = carry_out(write)
        if when == "after":
            graph.write_text(json.dumps(known))
        return done

    monkeypatch.setattr(masking_steps.Write, "carry_out", beside)
    with closing(Memory.open(home)) as memory:
        plan = memory.secrets.preview()
        memory.secrets.mask(plan)
        # What came after the last look is told by the search, and masked when it is done again.
        if memory.secrets.left(plan):
            memory.secrets.mask(memory.secrets.preview())
        assert memory.secrets.left(plan) == ()
        contents = {note.content for note in memory.snapshot.notes}
        assert contents >= {f"{when}: the password is [masked: password]" for when in ("before", "after")}
        assert memory.snapshot.note(note_id).content == '{"password": "[masked: password]"}'
    assert holding(outside, VALUE) == []


def test_a_damaged_file_that_was_set_aside_is_deleted_and_one_without_it_stays(outside: Path) -> None:
    home = outside / "memory"
    with closing(Memory.open(home)) as memory:
        memory.change("made", lambda d: create_note(d, "web", "Staging", f"the password is {VALUE}"))
        (home / "quarantine").mkdir()
        for number, held in enumerate((VALUE.encode(), zlib.compress(VALUE.encode() * 9), b"nothing")):
            aside = home / "quarantine" / f"2026-01-0{number + 1}T000000Z-nuggets.db"
            aside.write_bytes(b"SQLite format 3\0" + bytes(500) + held + b"tail")
        plan = memory.secrets.preview()
        memory.secrets.mask(plan)
        assert [(one.path, one.why) for one in memory.secrets.left(plan)] == [(aside, "unreadable")]
        assert list((home / "quarantine").iterdir()) == [aside]


# What it leaves


@pytest.fixture
def memory(outside: Path) -> Iterator[Memory]:
    with closing(Memory.open(outside / "memory")) as opened:
        note, _ = opened.change(
            "made", lambda d: create_note(d, "web", "Staging", f"The password is {VALUE} for all.")
        )
        opened.change(
            "longer", lambda d: edit_note(d, note.id, content=f"password: {VALUE}\n" + "long text " * 500)
        )
        opened.change(
            "shorter", lambda d: edit_note(d, note.id, content=f"The password is {VALUE}", title="Staging db")
        )
        opened.change("other", lambda d: create_note(d, "web", "Plain", "Nothing of the kind.", tags=["x"]))
        yield opened


def test_it_is_one_entry_with_masked_text_and_final(memory: Memory, outside: Path) -> None:
    done = memory.secrets.mask(memory.secrets.preview())
    assert (done.kind, len(done.notes), done.notes[0].before) == ("mask", 1, done.notes[0].after)
    for undo in (
        lambda: memory.history.undo(done.id),
        memory.history.undo,
        Memory.open(memory.home).history.undo,
    ):
        with pytest.raises(InvalidInputError, match="cannot be undone") as raised:
            undo()
    # The change before it is taken back only by whoever names it.
    assert raised.value.remedy is not None
    assert memory.history.undo(raised.value.remedy.about).reason == "undid: other"
    memory.change("later", lambda d: create_note(d, "web", "Later", "x"))
    assert memory.history.undo().reason == "undid: later"


def test_nothing_that_can_be_undone_brings_it_back(memory: Memory, outside: Path) -> None:
    memory.secrets.mask(memory.secrets.preview())
    for entry in memory.history.log():
        try:
            memory.history.undo(entry.id)
        except NuggetsError:
            continue
        assert holding(outside, VALUE) == []
    assert any("[masked: password]\\nlong text" in repr(entry) for entry in memory.history.log())


def test_only_what_is_named_is_masked(memory: Memory) -> None:
    (held,) = memory.secrets.holders()
    other, _ = memory.change("made", lambda d: create_note(d, "web", "CI", f"uses {TOKEN}"))
    memory.secrets.mask(memory.secrets.preview([held.id]))
    assert [one.id for one in memory.secrets.holders()] == [other.id]
    assert TOKEN in memory.snapshot.note(other.id).content
    with pytest.raises(NotFoundError, match="holds nothing that looks like a credential"):
        memory.secrets.preview([held.id])


def test_what_is_said_to_be_none_is_none_until_it_changes(memory: Memory) -> None:
    (held,) = memory.secrets.holders()
    memory.secrets.mark_not_secret([held.id])
    again = Memory.open(memory.home)
    assert not again.secrets.holders()
    again.change("new", lambda d: edit_note(d, held.id, content="The password is An0ther!one"))
    assert [one.id for one in again.secrets.holders()] == [held.id]


def test_a_page_of_promoted_lines_is_masked_and_the_rest_of_it_stays(memory: Memory, outside: Path) -> None:
    page = outside / "docs" / "MEMORY.md"
    page.parent.mkdir()
    line = f"- **Staging db**: The password is {VALUE}\r\n"
    page.write_bytes(f"# Mine\r\n\r\nI wrote {VALUE}\r\n{line}".encode())
    memory.apply(
        memory.draft().change_set("made", author=memory.author).__class__(
            id="f", at="2026-01-01T00:00:00Z", author=memory.author, reason="page",
            files=(FileChange(path=str(page), before=page.read_bytes(), after=page.read_bytes() + b"\n"),),
        )
    )  # fmt: skip
    plan = memory.secrets.preview()
    assert plan.pages == (page,)
    memory.secrets.mask(plan)
    wanted = f"I wrote {VALUE}\r\n{line.replace(VALUE, '[masked: password]')}\n"
    assert page.read_bytes().endswith(wanted.encode())
    assert holding(memory.home, VALUE) == []


def test_files_of_others_are_told_of_and_left_alone(memory: Memory) -> None:
    mine = memory.home / "mine.txt"
    mine.write_text(VALUE)
    plan = memory.secrets.preview()
    assert plan.untouched == (mine,)
    memory.secrets.mask(plan)
    assert mine.read_text() == VALUE
    assert [one.path for one in memory.secrets.left(plan)] == [mine]


# Stopped in the middle, and twice at once


def _mask_until_killed(home: str, call: int) -> None:
    memory = Memory.open(home)
    plan = memory.secrets.preview()
    count = 0

    def counting(work: Callable[..., object]) -> Callable[..., object]:
        def counted(*given: object, **named: object) -> object:
            nonlocal count
            count += 1
            if count == call:
                os.kill(os.getpid(), signal.SIGKILL)
            return work(*given, **named)

        return counted

    for owner, name in (
        (os, "replace"),
        (os, "unlink"),
        (masking_steps, "_mask_journal"),
        (masking_steps, "_entry"),
    ):
        setattr(owner, name, counting(getattr(owner, name)))
    memory.secrets.mask(plan)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a process")
def test_killed_at_any_step_it_is_finished_by_doing_it_again(outside: Path) -> None:
    note_id = put_everywhere(outside / "before", VALUE)
    for call in range(1, 200):
        home = outside / f"m{call}"
        shutil.copytree(outside / "before", home)
        process = forked_process(target=_mask_until_killed, args=(str(home), call))
        process.start()
        process.join()
        with closing(Memory.open(home)) as again:
            assert len(again.history.log()) > 7
            again.secrets.mask(again.secrets.preview())
            assert again.snapshot.note(note_id).content == '{"password": "[masked: password]"}'
        assert holding(home, VALUE) == [], call
        if process.exitcode == 0:
            break
    assert call > 10


def test_two_processes_mask_at_once(memory: Memory, outside: Path) -> None:
    with closing(Memory.open(memory.home)) as other:
        one, two = memory.secrets.preview(), other.secrets.preview()
        memory.secrets.mask(one)
        other.secrets.mask(two)
    assert holding(outside, VALUE) == []


# The search


def test_the_search_names_each_file_that_holds_it_or_cannot_be_looked_into(tmp_path: Path) -> None:
    masks = Masks([Held("password", VALUE)])
    (tmp_path / "plain.txt").write_text(VALUE)
    (tmp_path / "nested.json").write_text(json.dumps(json.dumps({"a": VALUE})))
    (tmp_path / "link.txt").write_text(f"https://x.example/?a=1&token={quote(VALUE)}&b=2")
    (tmp_path / "pressed.gz").write_bytes(gzip.compress(json.dumps(VALUE).encode()))
    (tmp_path / "PACK").write_bytes(
        b"PACK" + bytes(20) + zlib.compress(b"other") + zlib.compress(VALUE.encode())
    )
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("inner.gz", gzip.compress(VALUE.encode()))
    (tmp_path / "harmless.txt").write_text(VALUE[:-1])
    (tmp_path / "deleted").mkdir()
    rows = (
        (tmp_path, zlib.compress(VALUE.encode()), "SELECT 1"),
        (tmp_path / "deleted", VALUE, "DELETE FROM t"),
    )
    for folder, cell, statement in rows:
        with closing(sqlite3.connect(folder / DATABASE_FILE)) as writer:
            writer.execute("CREATE TABLE t (x)")
            writer.execute("INSERT INTO t VALUES (?)", (cell,))
            writer.commit()
            writer.execute("PRAGMA secure_delete = OFF")
            writer.execute(statement)
            writer.commit()
    names = (
        "plain.txt", "nested.json", "link.txt", "pressed.gz", "PACK", "a.zip", DATABASE_FILE,
        f"deleted/{DATABASE_FILE}",
    )  # fmt: skip
    left = {str(one.path.relative_to(tmp_path)): one.why for one in files_left([tmp_path], masks)}
    assert left == dict.fromkeys(names, "holds")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "nuggets.db").write_bytes(b"no database at all" * 100)
    (tmp_path / "broken" / "a.zip").write_bytes((tmp_path / "a.zip").read_bytes()[:40])
    left = {one.path.name: one.why for one in files_left([tmp_path / "broken"], masks)}
    assert left == dict.fromkeys(("nuggets.db", "a.zip"), "unreadable")
