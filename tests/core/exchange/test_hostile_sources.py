"""Sources that are broken, huge or meant to harm: one clear error that names the place, or the rest with what was
skipped; the memory stays as it was, and nothing outside of the source is read.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kits.hostile import HOSTILE
from kits.laws import examples
from kits.memory_files import fact_object, tree, write_nugget
from kits.steps import make_folder

from core import Memory
from core.errors import ConflictError, ErrorCode, InvalidInputError, NuggetsError
from core.exchange import records
from core.exchange.records import FORMATS

SAMPLES = Path(__file__).parents[2] / "golden" / "exchange"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return make_folder(tmp_path / "home")


def refused(memory: Memory, source: Path | bytes, format: Any = None) -> NuggetsError:
    """The error of an import that changes nothing."""
    before = tree(memory.home)
    with pytest.raises(NuggetsError) as error:
        memory.exchange.bring(memory.exchange.read(source, format))
    assert tree(memory.home) == before
    assert "\n" not in error.value.message
    assert len(error.value.message) < 700
    return error.value


@pytest.mark.parametrize(
    ("name", "data", "line"),
    [
        ("x.json", b'{"results": [\n{"memory": "a"},\n{"memory": \n]}', "line 4"),
        (
            "x.json",
            b'{"format":"nuggets-memory","version":1,\n"graph":{"fields":{},\n"notes":[{]}}',
            "line 3",
        ),
        ("x.json", b'{"results": [NaN]}', "x.json"),
        ("x.json", b"[" * 100_000, "x.json"),
        ("AGENTS.md", b"- fine\n- b\xffd\n", "line 2"),
        ("AGENTS.md", b"- fine\n- b\x00d\n", "line 2"),
        ("AGENTS.md", "- fine".encode("utf-16"), "UTF-16"),
        ("blob.bin", bytes(range(256)) * 40, "blob.bin"),
        ("empty.md", b"", "empty.md"),
        ("empty.json", b"", "empty.json"),
    ],
)
def test_what_cannot_be_read_is_one_error_with_its_place(
    memory: Memory, tmp_path: Path, name: str, data: bytes, line: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    error = refused(memory, path)
    assert line in error.message
    assert error.exit_code == 2


def test_of_a_folder_the_good_pages_come_and_the_bad_ones_are_named(memory: Memory, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    (vault / "inner").mkdir(parents=True)
    outside = tmp_path / "secret.md"
    outside.write_text("outside of the folder")
    (vault / "link.md").symlink_to(outside)
    (vault / "folder").symlink_to(tmp_path)
    (vault / "loop").symlink_to(vault)
    (vault / "good.md").write_text("A good page")
    (vault / "inner" / "bomb.md").write_text("---\na: &a [x]\nb: [*a]\n---\nbomb")
    (vault / "bytes.md").write_bytes(b"\xff\xfe\x00bad")
    (vault / "binary.md").write_bytes(b"line\nnul\0")
    (vault / "huge.md").write_bytes(b"x" * (5 * 1024 * 1024))
    (vault / "empty.md").write_text("")
    (vault / "\u202ebidi\x1b[2J.md").write_text("A page with a name that acts")
    os.mkfifo(vault / "pipe.md")
    result = memory.exchange.bring(memory.exchange.read(vault))
    assert {item.where for item in result.of("new")} == {
        "good.md", "inner/bomb.md", "\u202ebidi\x1b[2J.md",
    }  # fmt: skip
    skipped = {one.where: one.what for one in result.left_out}
    assert set(skipped) == {
        "link.md", "folder", "loop", "bytes.md", "binary.md: line 2", "huge.md", "empty.md",
        "pipe.md",
    }  # fmt: skip
    assert all(skipped.values())
    assert not any("outside" in note.content for note in memory.snapshot.notes)


@pytest.mark.parametrize("name", ["graph", "graph/graph.json", "prefs.nugget.json"])
def test_a_memory_with_a_link_out_of_its_folder_is_refused(memory: Memory, tmp_path: Path, name: str) -> None:
    source = make_folder(tmp_path / "source").home
    (source / "prefs.nugget.json").write_text('{"name": "prefs", "facts": []}')
    (source / name).rename(tmp_path / "moved")
    (source / name).symlink_to(tmp_path / "moved")
    assert refused(memory, source).code is ErrorCode.WRONG_KIND_OF_FILE


def test_more_notes_than_a_memory_holds_are_refused(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.storage.exchange.sources.MOST_RECORDS", 1000)
    assert records.MOST_RECORDS == 100_000
    (tmp_path / "AGENTS.md").write_text("".join(f"- rule {n}\n" for n in range(1001)))
    assert refused(memory, tmp_path / "AGENTS.md").code is ErrorCode.TOO_LONG


def test_names_that_lead_elsewhere_make_no_file(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    for number, name in enumerate(("../../evil", "CON", "fine")):
        page = f"---\nnuggets: 1\ntitle: k\nkind: fact\nnuggetName: {name}\n---\n\nv\n"
        (tmp_path / "vault" / f"{number}.md").write_text(page)
    result = memory.exchange.bring(memory.exchange.read(tmp_path / "vault"))
    assert [item.nugget for item in result.of("new")] == ["fine"]
    assert len(result.left_out) == 2
    assert not list(tmp_path.rglob("*evil*"))


def test_a_nugget_named_as_a_credential_makes_no_file(memory: Memory, tmp_path: Path) -> None:
    name = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    write_nugget(tmp_path / "other", name, [fact_object("k", "v")])
    result = memory.exchange.bring(memory.exchange.read(tmp_path / "other"))
    assert (len(result.of("new")), len(result.left_out)) == (0, 1)
    assert not list(memory.home.rglob("*ghp_*"))


def test_an_export_cannot_name_the_file_that_it_is_written_to(tmp_path: Path) -> None:
    document = json.loads(make_folder(tmp_path / "first").exchange.export("json").data)
    (held,) = document["nuggets"].values()
    document["nuggets"] = {"../../../evil.nugget.json": held, "settings.toml": held | {"name": "other"}}
    document["files"] = [{"path": "../evil.toml", "text": "x"}, {"path": "nuggets.db", "text": "x"}]
    (tmp_path / "evil.json").write_text(json.dumps(document))
    other = Memory.open(tmp_path / "inner" / "other")
    other.exchange.bring(other.exchange.read(tmp_path / "evil.json"))
    assert not list(tmp_path.rglob("evil.nugget.json"))
    assert not [path for path in tmp_path.rglob("*") if path.suffix == ".toml"]
    assert [one.name for one in other.snapshot.nuggets] == ["memory", "other"]


@pytest.mark.parametrize(
    "change",
    [
        {"graph": 5}, {"graph": []}, {"nuggets": []}, {"history": 7}, {"history": {"before": {"notes": 5}}},
        {"history": {"before": {"nuggets": {"a": 1}}}}, {"version": "x"},
    ],
)  # fmt: skip
def test_an_export_with_a_field_of_another_kind_is_one_error(
    memory: Memory, tmp_path: Path, change: dict[str, object]
) -> None:
    document = json.loads(memory.exchange.export("json").data)
    (tmp_path / "odd.json").write_text(json.dumps(document | change))
    assert refused(memory, tmp_path / "odd.json").code is ErrorCode.UNREADABLE_SOURCE


@pytest.mark.parametrize(
    "text", [text for text in HOSTILE if text.strip() and "\ud800" not in text and "\0" not in text]
)
def test_hostile_texts_come_as_they_are(memory: Memory, tmp_path: Path, text: str) -> None:
    (tmp_path / "memory.jsonl").write_text(
        json.dumps({"type": "entity", "name": text[:200], "entityType": text[:50], "observations": [text]})
    )
    result = memory.exchange.bring(memory.exchange.read(tmp_path / "memory.jsonl"))
    note = memory.snapshot.note(result.items[0].note_id)
    assert note.content.removeprefix("- ").strip() == text.strip()
    memory.exchange.export("markdown", tmp_path / "vault")
    assert Memory.open(memory.home).snapshot.notes == memory.snapshot.notes


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(
    st.sampled_from(FORMATS), st.binary(max_size=200) | st.text(max_size=200).map(str.encode), st.randoms()
)
def test_no_bytes_break_any_reader(format: Any, data: bytes, random: Any) -> None:
    samples = [path for path in SAMPLES.rglob("*") if path.is_file()]
    base = random.choice(samples).read_bytes()
    cut = random.randrange(len(base))
    memory = Memory(Path("/nonexistent/memory"))
    for mutated in (data, base[:cut] + data + base[cut + len(data) :], base[:cut]):
        for wanted in (format, None):
            try:
                memory.exchange.bring(memory.exchange.read(mutated, wanted), dry_run=True)
            except NuggetsError as error:
                assert error.exit_code == 2, error  # noqa: PT017


# Where an export is written


def test_an_export_replaces_nothing_that_is_not_its_own(memory: Memory, tmp_path: Path) -> None:
    theirs = tmp_path / "notes.json"
    theirs.write_text("{}")
    with pytest.raises(ConflictError):
        memory.exchange.export("json", theirs)
    assert theirs.read_text() == "{}"
    memory.exchange.export("json", theirs, force=True)
    memory.exchange.export("json", theirs)
    make_folder(tmp_path / "other").exchange.export("json", tmp_path / "other.json")
    with pytest.raises(ConflictError):
        memory.exchange.export("json", tmp_path / "other.json")
    with pytest.raises(InvalidInputError):
        memory.exchange.export("json", memory.home / "inside.json")
    with pytest.raises(InvalidInputError):
        memory.exchange.export("markdown", memory.home / "vault")


def test_pages_of_notes_that_are_gone_leave_a_vault_unless_they_were_edited(
    memory: Memory, tmp_path: Path
) -> None:
    from core.graph.edits import delete_note

    vault = tmp_path / "vault"
    memory.exchange.export("markdown", vault)
    for number in (1, 2):
        memory.change("gone", lambda draft, number=number: delete_note(draft, f"note-memory-0000000{number}"))
    edited = next(path for path in vault.rglob("*.md") if "note-memory-00000002" in path.read_text())
    edited.write_text(edited.read_text() + "mine")
    result = memory.exchange.export("markdown", vault)
    assert result.removed == 1
    assert edited.exists()
    assert not [path for path in vault.rglob("*.md") if "note-memory-00000001" in path.read_text()]


def test_a_list_of_a_vault_that_leads_elsewhere_removes_nothing(memory: Memory, tmp_path: Path) -> None:
    from hashlib import sha256

    victim = tmp_path / "victim.md"
    victim.write_text("mine")
    vault = tmp_path / "vault"
    memory.exchange.export("markdown", vault)
    digest = sha256(b"mine").hexdigest()
    listed = {"files": {"../victim.md": digest, str(victim): digest}}
    (vault / ".nuggets-export.json").write_text(json.dumps(listed))
    memory.exchange.export("markdown", vault, force=True)
    assert victim.read_text() == "mine"
