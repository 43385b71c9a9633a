"""What is exported is imported again: JSON in full, Markdown as far as the manual promises."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kits.laws import examples
from kits.memory_files import fact_object, note_object, tree, write_graph, write_nugget
from kits.steps import KEYS, STEPS, make_folder, take_step

from core import Memory
from core.errors import NuggetsError
from core.facts.edits import remember
from core.model.entry import Entry
from core.model.note import Note, custom_tags
from core.model.snapshot import Snapshot

LIVES = st.lists(
    st.tuples(
        st.sampled_from([*STEPS, "undo"]), st.integers(0, 40), st.integers(0, 40), st.sampled_from(KEYS)
    ),
    max_size=8,
)
TEXT = st.text(st.characters(codec="utf-8"), max_size=60)


@contextmanager
def _lived(life: list[tuple[str, int, int, str]]) -> Iterator[tuple[Memory, Path]]:
    """A memory that went through a life, and a place beside it."""
    with tempfile.TemporaryDirectory() as name:
        memory = make_folder(Path(name) / "first")
        for step in life:
            if step[0] == "undo":
                entries = memory.history.log(limit=None)
                if entries and not entries[0].undone:
                    try:
                        memory.history.undo(entries[0].id)
                    except NuggetsError:
                        continue
            else:
                take_step(memory, step)
        yield memory, Path(name)


def _told(entries: tuple[Entry, ...]) -> list[tuple[object, ...]]:
    """What a log says, without the numbers of its entries."""
    return [(one.change_set, one.state, one.undone, one.conflict, one.origin) for one in entries]


def carried(memory: Memory, place: Path, name: str = "second") -> Memory:
    """The memory that an export becomes in an empty folder."""
    memory.exchange.export("json", place / "whole.json", force=True)
    other = Memory.open(place / name)
    other.exchange.bring(other.exchange.read(place / "whole.json"))
    return other


@pytest.mark.slow
@settings(max_examples=examples(15))
@given(LIVES)
def test_json_gives_the_same_memory_with_its_history(life: list[tuple[str, int, int, str]]) -> None:
    with _lived(life) as (memory, place):
        other = carried(memory, place)
        assert other.snapshot.notes == memory.snapshot.notes
        assert [n.meta for n in other.snapshot.nuggets] == [n.meta for n in memory.snapshot.nuggets]
        assert [n.facts for n in other.snapshot.nuggets] == [n.facts for n in memory.snapshot.nuggets]
        assert tree(other.home) == tree(memory.home)
        mine, theirs = _told(memory.history.log(limit=None)), _told(other.history.log(limit=None))
        assert [one for one in theirs if one in mine] == mine
        assert {one[0].kind for one in theirs if one not in mine} == {"import"}
        assert [one.where for one in other.maintenance.verify()] == [
            one.where for one in memory.maintenance.verify()
        ]


@pytest.mark.slow
@settings(max_examples=examples(8))
@given(LIVES)
def test_every_earlier_state_can_be_looked_at_in_the_other_folder(
    life: list[tuple[str, int, int, str]],
) -> None:
    with _lived(life) as (memory, place):
        before, after = memory.history.timeline(), carried(memory, place).history.timeline()
        places = {mark.id: at for at, mark in enumerate(after.marks)}
        for at, mark in enumerate(before.marks):
            one, other = before.at(at), after.at(places[mark.id])
            assert other.notes == one.notes
            assert [n.facts for n in other.nuggets if n.facts] == [n.facts for n in one.nuggets if n.facts]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(
    st.dictionaries(st.text("xyz", min_size=4, max_size=6), JSON, max_size=3),
    st.lists(TEXT, max_size=4),
    TEXT,
)
def test_json_keeps_what_this_program_does_not_know(
    unknown: dict[str, Any], contents: list[str], title: str
) -> None:
    with tempfile.TemporaryDirectory() as name:
        home = Path(name) / "first"
        notes = [note_object(n, content=text, title=title) | unknown for n, text in enumerate(contents)]
        if notes or unknown:
            write_graph(home, notes, **unknown)
        facts = [fact_object(f"key {n}", text) | unknown for n, text in enumerate(contents)]
        write_nugget(home, "odd", facts, suffix=".donna.json", **unknown)
        assert tree(carried(Memory.open(home), Path(name)).home) == tree(home)


def test_an_export_of_the_first_version_gives_the_memory_that_it_was_made_of(tmp_path: Path) -> None:
    golden = Path(__file__).parents[2] / "golden" / "exchange" / "whole" / "export.json"
    memory = Memory.open(tmp_path)
    result = memory.exchange.bring(memory.exchange.read(golden))
    assert (result.format, len(result.of("new")), result.history, result.left_out) == ("json", 8, 4, ())
    assert not memory.exchange.bring(memory.exchange.read(golden), dry_run=True).of("new")
    assert (memory.recall("editor", record=False).answer, memory.settings.search.text_weight) == (
        "Helix",
        0.5,
    )


def test_an_export_says_what_it_is_and_holds_the_version(tmp_path: Path) -> None:
    memory = make_folder(tmp_path / "first")
    document = json.loads(memory.exchange.export("json").data)
    assert (document["format"], document["version"]) == ("nuggets-memory", 1)
    assert "history" not in json.loads(memory.exchange.export("json", history=False).data)


# Markdown


def _said(note: Note) -> object:
    """What the manual promises of a note in a vault."""
    return (
        note.id, note.nugget_name, note.title, note.content, note.kind, note.source_key, sorted(custom_tags(note)),
        sorted((link.to, " ".join(link.reason.split())) for link in note.links), note.hidden, note.hits,
        note.last_hit_session, note.created_at, note.updated_at, note.last_accessed_at, note.last_rewritten_at,
        note.archived_at, note.subject, note.scope, note.type, note.source, note.confidence, note.stability,
        note.extra, note.hidden_fact is None,
    )  # fmt: skip


def _facts(snapshot: Snapshot) -> object:
    return {
        (nugget.name, fact.key): (fact.value, fact.hits, fact.last_hit_session)
        for nugget in snapshot.nuggets
        for fact in nugget.facts
    }


def through_markdown(memory: Memory, place: Path) -> Memory:
    """The memory that a vault becomes in an empty folder."""
    memory.exchange.export("markdown", place / "vault", secrets=True)
    other = Memory.open(place / "from vault")
    other.exchange.bring(other.exchange.read(place / "vault"))
    return other


@pytest.mark.slow
@settings(max_examples=examples(12))
@given(LIVES)
def test_markdown_gives_what_the_manual_promises(life: list[tuple[str, int, int, str]]) -> None:
    with _lived(life) as (memory, place):
        # Links that do not go both ways, and unknown fields with half characters, are not promised.
        memory.maintenance.repair()
        other = through_markdown(memory, place)
        mine, theirs = ({note.id: _said(note) for note in one.snapshot.notes} for one in (memory, other))
        assert theirs == mine
        assert _facts(other.snapshot) == _facts(memory.snapshot)
        assert other.maintenance.verify() == ()


@pytest.mark.slow
@settings(max_examples=examples(15))
@given(TEXT, TEXT, TEXT)
def test_markdown_keeps_every_text_letter_for_letter(title: str, content: str, tail: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        home = Path(name) / "first"
        texts = [
            content,
            f"{content}\n\n%% nuggets:links %%\n\n- {tail}",
            f"---\n{tail}\n---\n{content}",
            f"\n{tail}\r\n",
        ]
        write_graph(home, [note_object(n, content=text, title=title) for n, text in enumerate(texts)])
        memory = Memory.open(home)
        other = through_markdown(memory, Path(name))
        assert [n.content for n in sorted(other.snapshot.notes, key=lambda n: n.id)] == texts
        assert {n.title for n in other.snapshot.notes} == {title}


def test_a_vault_has_safe_names_that_stay(tmp_path: Path) -> None:
    titles = [
        "../../evil", "CON", "a/b\\c:d*e?", "x" * 300, "", "日本語" * 40, "\u202eevil", "same", "same", "Same",
    ]  # fmt: skip
    home = tmp_path / "first"
    write_graph(home, [note_object(n, title=title) for n, title in enumerate(titles)])
    memory = Memory.open(home)
    memory.exchange.export("markdown", tmp_path / "vault")
    first = sorted(str(path.relative_to(tmp_path / "vault")) for path in (tmp_path / "vault").rglob("*.md"))
    assert len({name.casefold() for name in first}) == len(titles)
    assert all(name.isprintable() and len(Path(name).name.encode()) < 200 for name in first)
    write_graph(home, [note_object(n, title=title) for n, title in enumerate([*titles, "same"])])
    memory.refresh()
    memory.exchange.export("markdown", tmp_path / "vault")
    again = {str(path.relative_to(tmp_path / "vault")) for path in (tmp_path / "vault").rglob("*.md")}
    assert set(first) < again


def test_credentials_stay_out_of_what_other_programs_read(tmp_path: Path) -> None:
    memory = make_folder(tmp_path / "first")
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    memory.change("kept", lambda draft: remember(draft, "memory", "github token", secret))
    place = tmp_path / "vault"
    result = memory.exchange.export("markdown", place)
    assert not any(secret.encode() in path.read_bytes() for path in place.rglob("*.md"))
    assert any("credential" in one.what for one in result.left_out)
    place = tmp_path / "again" / place.name
    assert memory.exchange.export("markdown", place, secrets=True).secrets == 1
    assert memory.exchange.export("json").secrets == 1


@pytest.mark.parametrize(
    "text",
    [
        '[pipeline.extraction]\nprovider = "claude-code"\nendpoint = "https://evil.example"\n',
        '[team]\ntrust = "all"\n',
        '[schedule]\napp_applies = true\npromotes = true\n',
        '[sync]\nevery = "1m"\n',
        '[promotion]\nmemory_dir = "/home/ada/other"\nautomatic = "always"\nthreshold = 1\n',
        '[reflection]\njaccard = 0.01\n',
        'memory.pipelineV2.enabled = true\n',
    ],
)  # fmt: skip
def test_an_import_brings_no_setting_that_names_a_server_or_loosens_a_guard(
    tmp_path: Path, text: str
) -> None:
    memory = make_folder(tmp_path / "first")
    (memory.home / "settings.toml").write_text(f"# mine\n[search]\ntext_weight = 0.5\n\n{text}")
    if text.startswith("memory."):
        (memory.home / "settings.toml").write_text(f"{text}[search]\ntext_weight = 0.5\n")
    exported = Memory.open(memory.home).exchange.export("json").data
    other = Memory.open(tmp_path / "second")
    read = other.exchange.read(exported)
    for dry_run in (True, False):
        done = other.exchange.bring(read, dry_run=dry_run)
        named = {one.where.partition(".")[0] for one in done.left_out}
        assert named == {text.removeprefix("[").partition("]")[0].partition(".")[0]}
    kept = (other.home / "settings.toml").read_text()
    assert Memory.open(other.home).settings.search.text_weight == 0.5
    assert not [line for line in text.splitlines() if "=" in line and line in kept]
