"""Masking: after it no file of the memory, nor its cache, holds a byte of the credential, and all else is as it was."""

from __future__ import annotations

import gzip
import json
import os
import signal
import sqlite3
import zipfile
import zlib
from pathlib import Path

import pytest
from kits.forked import forked_process

from core.errors import InvalidInputError, NotFoundError, Undo
from core.facts.edits import remember
from core.graph.edits import create_note, edit_note
from core.memory import Memory

pytestmark = pytest.mark.slow

VALUE = "Tr0ub4dor&3/Ä\\z9"
TOKEN = "ghp" + "_16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUGGETS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def spellings(value: str) -> set[bytes]:
    texts = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    found = {text.encode() for text in texts} | {text.lower().encode() for text in texts}
    return found | {value.encode("utf-16-le"), value.encode("utf-16-be")}


def all_bytes(folder: Path) -> dict[str, bytes]:
    """Every file's bytes, and what stands pressed in them."""
    found: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        data = path.read_bytes()
        found[str(path)] = data
        if path.suffix == ".gz":
            found[f"{path}!"] = gzip.decompress(data)
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                found |= {f"{path}!{name}": archive.read(name) for name in archive.namelist()}
        if path.suffix == ".db":
            connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            for seq, body in connection.execute("SELECT seq, body FROM entry").fetchall():
                found[f"{path}!{seq}"] = zlib.decompress(body) if body[:1] == b"\x78" else body
            connection.close()
    return found


def assert_gone(folder: Path, value: str, *others: Path) -> None:
    for place in (folder, *others):
        for name, data in all_bytes(place).items():
            for form in spellings(value):
                assert form not in data, name


def a_memory(home: Path) -> tuple[Memory, str]:
    memory = Memory.open(home)
    note, _ = memory.change(
        "made", lambda d: create_note(d, "web", "Staging", f"The password is {VALUE} for all.")
    )
    memory.change("made", lambda d: remember(d, "web", "db password", VALUE))
    memory.change(
        "longer", lambda d: edit_note(d, note.id, content=f"password: {VALUE}\n" + "long text " * 500)
    )
    memory.change(
        "shorter", lambda d: edit_note(d, note.id, content=f"The password is {VALUE}", title="Staging db")
    )
    memory.change("other", lambda d: create_note(d, "web", "Plain", "Nothing of the kind.", tags=["x"]))
    memory.index()
    memory.keep_index()
    return memory, note.id


def test_no_file_holds_it_afterwards(tmp_path: Path, cache: Path) -> None:
    home = tmp_path / "memory"
    memory, note_id = a_memory(home)
    assert any(form in data for data in all_bytes(home).values() for form in spellings(VALUE))
    aside = home / "quarantine"
    from datetime import UTC, datetime

    from core.storage.files.atomic import locked
    from core.storage.safety.backups import make_backup
    from core.storage.safety.quarantine import set_aside

    with locked(home):
        make_backup(home, at=datetime.now(UTC), reason="bulk")
        raw = ('{"id": broken, "content": "password is ' + json.dumps(VALUE)[1:-1] + '"').encode()
        set_aside(
            home,
            file="graph/graph.json",
            data=raw,
            reason="broken",
            where="note 1",
            at="2026-01-01T00:00:00Z",
            whole=False,
        )
    assert len(list(aside.iterdir())) == 2
    plan = memory.masking()
    assert note_id in {one.id for one in plan.holders}
    assert {place.what for place in plan.rewritten} >= {"file", "log", "backup", "quarantine"}
    assert VALUE not in repr(plan)
    assert VALUE not in json.dumps(plan.to_dict())
    done = memory.mask_secrets(plan)
    assert done.kind == "mask"
    assert done.reason == "masked a secret"
    assert memory.snapshot.note(note_id).content == "The password is [masked: password]"
    assert memory.snapshot.nugget("web").facts[0].value == "[masked: password]"
    assert not memory.secrets()
    assert not memory.masking().holders
    assert not [f for f in memory.verify() if f.kind != "conflict"]
    assert_gone(home, VALUE, cache)
    memory.close()
    assert_gone(home, VALUE, cache)
    assert "tr0ub4dor" not in (home / "graph/graph.json").read_text()
    again = Memory.open(home)
    assert not again.take_notices()
    assert [entry.change_set.reason for entry in again.log()] == [
        "masked a secret", "other", "shorter", "longer", "made", "made"
    ]  # fmt: skip


def test_older_entries_are_undone_into_masked_text(tmp_path: Path) -> None:
    memory, note_id = a_memory(tmp_path / "m")
    shorter = next(entry for entry in memory.log() if entry.change_set.reason == "shorter")
    memory.mask_secrets(memory.masking())
    memory.undo(shorter.id)
    assert memory.snapshot.note(note_id).content.startswith("password: [masked: password]\nlong text")
    assert_gone(tmp_path / "m", VALUE)


def test_it_is_final(tmp_path: Path) -> None:
    memory, _ = a_memory(tmp_path / "m")
    done = memory.mask_secrets(memory.masking())
    with pytest.raises(InvalidInputError, match="cannot be undone"):
        memory.undo(done.id)
    # The change before it is taken back only by whoever names it.
    with pytest.raises(InvalidInputError, match="cannot be undone") as raised:
        memory.undo()
    assert isinstance(raised.value.remedy, Undo)
    assert memory.undo(raised.value.remedy.entry).reason == "undid: other"


def test_what_is_done_after_masking_is_undone_as_ever(tmp_path: Path) -> None:
    memory, _ = a_memory(tmp_path / "m")
    memory.mask_secrets(memory.masking())
    memory.change("later", lambda d: create_note(d, "web", "Later", "x"))
    assert memory.undo().reason == "undid: later"
    memory.redo()
    assert memory.undo().reason == "undid: later"


def test_another_opening_knows_that_the_last_change_was_masking(tmp_path: Path) -> None:
    memory, _ = a_memory(tmp_path / "m")
    memory.mask_secrets(memory.masking())
    memory.close()
    with pytest.raises(InvalidInputError, match="cannot be undone"):
        Memory.open(tmp_path / "m").undo()


def test_only_what_is_named_is_masked(tmp_path: Path) -> None:
    memory, note_id = a_memory(tmp_path / "m")
    other, _ = memory.change("made", lambda d: create_note(d, "web", "CI", f"uses {TOKEN}"))
    memory.mask_secrets(memory.masking([note_id]))
    assert [one.id for one in memory.secrets()] == [other.id]
    assert TOKEN in memory.snapshot.note(other.id).content
    with pytest.raises(NotFoundError, match="holds nothing that looks like a credential"):
        memory.masking([note_id])


def test_what_is_said_to_be_none_is_none_until_it_changes(tmp_path: Path) -> None:
    memory, note_id = a_memory(tmp_path / "m")
    memory.mark_not_secret([one.id for one in memory.secrets()])
    assert not memory.secrets()
    again = Memory.open(tmp_path / "m")
    assert not again.secrets()
    again.change("new", lambda d: edit_note(d, note_id, content="The password is An0ther!one"))
    assert [one.id for one in again.secrets()] == [note_id]


def test_a_page_of_promoted_lines_is_masked_and_the_rest_of_it_stays(tmp_path: Path) -> None:
    memory, _ = a_memory(tmp_path / "m")
    page = tmp_path / "docs" / "MEMORY.md"
    page.parent.mkdir()
    page.write_bytes(
        b"# Mine\r\n\r\nI wrote "
        + VALUE.encode()
        + b"\r\n- **Staging db**: The password is "
        + VALUE.encode()
        + b"\r\n"
    )
    from core.model.change import FileChange

    memory.apply(
        memory.draft().change_set("made", author=memory.author).__class__(
            id="f", at="2026-01-01T00:00:00Z", author=memory.author, reason="page",
            files=(FileChange(path=str(page), before=page.read_bytes(), after=page.read_bytes() + b"\n"),),
        )
    )  # fmt: skip
    plan = memory.masking()
    assert plan.pages == (page,)
    memory.mask_secrets(plan)
    assert (
        b"I wrote " + VALUE.encode() + b"\r\n- **Staging db**: The password is [masked: password]\r\n"
        in page.read_bytes()
    )
    assert_gone(tmp_path / "m", VALUE)


def test_files_of_others_are_told_of_and_left_alone(tmp_path: Path) -> None:
    memory, _ = a_memory(tmp_path / "m")
    mine = tmp_path / "m" / "mine.txt"
    mine.write_text(VALUE)
    plan = memory.masking()
    assert plan.untouched == (mine,)
    memory.mask_secrets(plan)
    assert mine.read_text() == VALUE


def _mask_until_killed(home: str, call: int) -> None:
    import core.storage.files.atomic as files

    count, replace = 0, os.replace

    def counting(*args: object) -> None:
        nonlocal count
        count += 1
        if count == call:
            os.kill(os.getpid(), signal.SIGKILL)
        replace(*args)  # type: ignore[arg-type]

    memory = Memory.open(home)
    plan = memory.masking()
    files.os.replace = counting  # type: ignore[assignment]
    import core.storage.masking.mask as masking

    journal, write = masking.mask_journal, masking.Write.carry_out

    def before_ledger(*args: object) -> int:
        counting_only()
        return journal(*args)  # type: ignore[arg-type]

    def before_write(self: object) -> object:
        counting_only()
        done = write(self)  # type: ignore[arg-type]
        counting_only()
        return done

    def counting_only() -> None:
        nonlocal count
        count += 1
        if count == call:
            os.kill(os.getpid(), signal.SIGKILL)

    masking.mask_journal = before_ledger  # type: ignore[assignment]
    masking.Write.carry_out = before_write  # type: ignore[assignment,method-assign]
    memory.mask_secrets(plan)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a process")
@pytest.mark.parametrize("call", range(1, 6))
def test_killed_at_any_step_it_is_finished_by_doing_it_again(tmp_path: Path, call: int) -> None:
    home = tmp_path / "m"
    memory, note_id = a_memory(home)
    memory.close()
    process = forked_process(target=_mask_until_killed, args=(str(home), call))
    process.start()
    process.join()
    again = Memory.open(home)
    again.mask_secrets(again.masking())
    assert again.snapshot.note(note_id).content == "The password is [masked: password]"
    again.close()
    assert_gone(home, VALUE)
    assert not Memory.open(home).take_notices()


def test_two_processes_mask_at_once(tmp_path: Path) -> None:
    home = tmp_path / "m"
    memory, _ = a_memory(home)
    other = Memory.open(home)
    one, two = memory.masking(), other.masking()
    memory.mask_secrets(one)
    other.mask_secrets(two)
    memory.close()
    other.close()
    assert_gone(home, VALUE)
