"""Three versions of one note graph merged into one: its laws, its conflicts, its bytes, and a real git merge."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kits.laws import examples
from kits.memory_files import fact_object, note_object
from kits.three_versions import (
    Facts,
    Notes,
    facts_in,
    graph,
    id_of,
    merged,
    notes_in,
    nugget,
    with_note,
    without_note,
)

from core.errors import BrokenFileError, NotFoundError, ReadOnlyError
from core.storage.merge.files import MergeResult, merge_file

ROOT = Path(__file__).parents[3]
LAWS = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
FACTS: Facts = [fact_object(key, key.upper()) for key in "abcde"]


# Edits as another program makes them


def fact_note(number: int, key: str, value: str, **fields: Any) -> dict[str, Any]:
    own = {"kind": "fact", "type": "fact", "sourceKey": key, "title": key, "content": value}
    return note_object(number, **(own | {"id": f"fact-memory-{number:08x}"} | fields))


BASE: Notes = [note_object(number, tags=["memory", "a", "b"]) for number in range(5)]
TEXTS = ("content", "title")


@st.composite
def edited(draw: st.DrawFn, side: str) -> Notes:
    """The base with edits of one side; its texts and new notes are its own."""
    notes = list(BASE)
    for number in range(5):
        edit = draw(st.sampled_from(("", "", "", "text", "tags", "links", "hits", "unknown", "deleted")))
        note = next(note for note in notes if note["id"] == id_of(number))
        if edit == "deleted":
            notes = without_note(notes, number)
        fields: dict[str, dict[str, Any]] = {
            "text": {draw(st.sampled_from(TEXTS)): f"by {side}"},
            "tags": {"tags": [*note["tags"][draw(st.integers(0, 1)) :], side]},
            "links": {"links": [{"to": id_of((number + 1) % 5), "reason": side, "createdAt": "2026"}]},
            "hits": {
                "hits": draw(st.integers(1, 3)),
                "last_hit_session": side,
                "lastAccessedAt": f"2026-11-0{draw(st.integers(1, 9))}T00:00:00.000Z",
            },
            "unknown": {f"field of {side}": [1, {"x": None}]},
        }
        if edit in fields:
            notes = with_note(notes, number, **fields[edit])
    ids = {note["id"] for note in notes}
    notes = [note | {"links": [link for link in note["links"] if link["to"] in ids]} for note in notes]
    new = draw(st.lists(st.integers(10, 13), unique=True, max_size=2))
    shift = 10 if side == "ours" else 20
    return [*notes, *(note_object(number + shift) for number in new)]


OURS, THEIRS = edited("ours"), edited("theirs")


@LAWS
@given(ours=OURS)
def test_merging_an_unchanged_file_leaves_every_byte_of_ours(ours: Notes) -> None:
    data = graph(ours)
    assert merged(graph(BASE), data, graph(BASE)) == (MergeResult(True), data)


@pytest.mark.slow
@LAWS
@given(ours=OURS, theirs=THEIRS)
def test_merging_without_conflict_says_the_same_from_either_side(ours: Notes, theirs: Notes) -> None:
    one, forward = merged(graph(BASE), graph(ours), graph(theirs))
    other, backward = merged(graph(BASE), graph(theirs), graph(ours))
    assert one.merged is other.merged
    if one.merged:
        assert _content(forward) == _content(backward)


def _content(data: bytes) -> dict[str, Any]:
    """The notes without what depends on the order of tags and links."""
    return {
        id: note
        | {
            "vector": None,
            "tags": sorted(note["tags"]),
            "links": sorted((link["to"], link["reason"]) for link in note["links"]),
        }
        for id, note in notes_in(data).items()
    }


@pytest.mark.slow
@LAWS
@given(ours=OURS, theirs=THEIRS)
def test_no_note_is_lost_that_the_other_side_did_not_delete(ours: Notes, theirs: Notes) -> None:
    result, data = merged(graph(BASE), graph(ours), graph(theirs))
    base, mine, other = ({note["id"] for note in side} for side in (BASE, ours, theirs))
    found = set(notes_in(data))
    assert found >= (mine | other) - (base - mine) - (base - other)
    conflicts = {conflict.where for conflict in result.conflicts}
    assert mine & conflicts <= found
    assert all(link["to"] in found for note in notes_in(data).values() for link in note["links"])


@pytest.mark.slow
@LAWS
@given(ours=OURS, theirs=THEIRS)
def test_notes_that_one_side_alone_touched_keep_the_bytes_of_that_side(ours: Notes, theirs: Notes) -> None:
    _, data = merged(graph(BASE), graph(ours), graph(theirs))
    base, mine, other = ({note["id"]: note for note in side} for side in (BASE, ours, theirs))
    for id, note in base.items():
        sides = [side.get(id) for side in (mine, other)]
        alone = [side for side in sides if side is not None and side != note]
        if (
            note in sides
            and len(alone) == 1
            and all(link["to"] in notes_in(data) for link in alone[0]["links"])
        ):
            assert json.dumps(alone[0], indent=2, ensure_ascii=False).replace("\n", "\n    ").encode() in data


# Notes


def test_a_note_deleted_by_one_side_and_changed_by_the_other_is_a_conflict_and_stays_as_in_ours() -> None:
    changed, deleted = graph(with_note(BASE, 1, content="Kept.")), graph(without_note(BASE, 1))
    result, data = merged(graph(BASE), changed, deleted)
    assert [conflict.where for conflict in result.conflicts] == [id_of(1)]
    assert data == changed
    result, data = merged(graph(BASE), deleted, changed)
    assert [(conflict.ours, conflict.theirs) for conflict in result.conflicts] == [("", "Kept.")]
    assert data == deleted


def test_a_deleted_note_that_was_only_recalled_meanwhile_stays_deleted() -> None:
    recalled = graph(
        with_note(BASE, 1, hits=4, last_hit_session="s", lastAccessedAt="2026-11-11T00:00:00.000Z")
    )
    deleted = graph(without_note(BASE, 1))
    for sides in ((recalled, deleted), (deleted, recalled)):
        result, data = merged(graph(BASE), *sides)
        assert result.merged
        assert id_of(1) not in notes_in(data)


@pytest.mark.parametrize("base", [None, b"", b" \n"])
def test_without_a_common_ancestor_notes_of_both_are_joined_field_by_field(base: bytes | None) -> None:
    def made(**fields: Any) -> bytes:
        return graph(with_note(BASE, 1, **fields))

    ours = made(tags=["memory", "a"], hits=2, updatedAt="2026-11-02T00:00:00.000Z", links=[])
    theirs = made(tags=["memory", "c"], hits=5, updatedAt="2026-11-03T00:00:00.000Z",
                  links=[{"to": id_of(2), "reason": "kin", "createdAt": "2026"}])  # fmt: skip
    result, data = merged(base, ours, theirs)
    note = notes_in(data)[id_of(1)]
    assert result == MergeResult(True, notes=1)
    assert {"a", "c"} <= set(note["tags"])
    assert (note["hits"], note["updatedAt"]) == (5, "2026-11-03T00:00:00.000Z")
    assert [link["to"] for link in note["links"]] == [id_of(2)]
    result, data = merged(base, ours, made(content="Other."))
    assert [(conflict.field, conflict.base) for conflict in result.conflicts] == [("content", "")]
    assert notes_in(data)[id_of(1)]["content"] == "Content of note 1."


def test_one_fact_remembered_on_both_sides_has_one_note_afterwards() -> None:
    mine = fact_note(0xA, "user:name", "Ada", tags=["memory", "mine"])
    link = {"to": "fact-memory-0000000b", "reason": "kin", "createdAt": "2026"}
    other = fact_note(0xB, "user:name", "Ada", tags=["memory", "other"], hits=2)
    theirs = graph([*with_note(BASE, 1, links=[link]), other])
    result, data = merged(graph(BASE), graph([*BASE, mine]), theirs)
    notes = notes_in(data)
    assert result.merged
    assert "fact-memory-0000000b" not in notes
    assert {"mine", "other"} <= set(notes["fact-memory-0000000a"]["tags"])
    assert notes["fact-memory-0000000a"]["hits"] == 2
    assert [link["to"] for link in notes[id_of(1)]["links"]] == ["fact-memory-0000000a"]
    result, data = merged(graph(BASE), graph([*BASE, mine]), graph([*BASE, other | {"content": "Eve"}]))
    assert [(conflict.ours, conflict.theirs) for conflict in result.conflicts] == [("Ada", "Eve")]
    assert [note["content"] for note in notes_in(data).values() if note["kind"] == "fact"] == ["Ada"]


# Bytes and broken input

UNREADABLE = '{"id": "note-memory-000000ee", "content": 5, "odd":   [1]}'


def with_raw(notes: Notes, raw: str) -> bytes:
    return graph([*notes, "MARK"]).replace(b'"MARK"', raw.encode())


def test_an_unreadable_note_keeps_its_bytes_and_a_mended_one_is_told() -> None:
    broken = with_raw(BASE, UNREADABLE)
    assert (
        UNREADABLE.encode()
        in merged(broken, broken, with_raw(with_note(BASE, 1, content="T."), UNREADABLE))[1]
    )
    result, data = merged(broken, broken, graph([*BASE, note_object(0xEE)]))
    assert data == broken
    assert [conflict.where for conflict in result.conflicts] == [id_of(0xEE)]


def test_a_sound_note_never_gives_way_to_an_unreadable_one() -> None:
    sound = graph([*BASE, note_object(0xEE)])
    result, data = merged(sound, sound, with_raw(BASE, UNREADABLE))
    assert [conflict.where for conflict in result.conflicts] == [id_of(0xEE)]
    assert data == sound


def test_unknown_fields_of_the_file_and_of_a_note_merge() -> None:
    ours = graph(with_note(BASE, 1, mine=1), mine={"a": 1}, both=2)
    theirs = graph(with_note(BASE, 1, yours=[2.50]), yours="x")
    result, data = merged(graph(BASE, both=2, gone=True), ours, theirs)
    top = json.loads(data)
    assert [conflict.field for conflict in result.conflicts] == []
    assert {name: top[name] for name in top if name != "notes"} == {
        "version": 3,
        "mine": {"a": 1},
        "yours": "x",
    }
    assert (notes_in(data)[id_of(1)]["mine"], notes_in(data)[id_of(1)]["yours"]) == (1, [2.50])


def test_a_nugget_is_not_renamed_by_merging() -> None:
    base, theirs = nugget([fact_object("k")]), nugget([fact_object("k")], name="other")
    result, data = merged(base, base, theirs)
    (conflict,) = result.conflicts
    assert (conflict.field, conflict.ours, conflict.theirs) == ("name", '"memory"', '"other"')
    assert data == base
    assert merged(theirs, base, theirs)[0].merged


BROKEN: dict[str, bytes] = {
    "cut off": graph(BASE)[:-40],
    "with marks of a merge": b"<<<<<<< HEAD\n" + graph(BASE),
    "empty": b"",
    "a list": b"[]",
    "neither": b'{"a": 1}',
    "facts cut off": nugget([fact_object("k")])[:-3],
    "another kind": nugget([fact_object("k")]),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("place", range(3))
def test_a_broken_version_is_refused_and_nothing_is_written(name: str, place: int, tmp_path: Path) -> None:
    if name == "empty" and place == 0:
        pytest.skip("an empty base means no common ancestor")
    versions = [graph(BASE), graph(with_note(BASE, 1, content="O.")), graph(with_note(BASE, 1, content="T."))]
    versions[place] = BROKEN[name]
    paths = [tmp_path / str(number) for number in range(3)]
    for path, data in zip(paths, versions, strict=True):
        path.write_bytes(data)
    with pytest.raises(BrokenFileError) as caught:
        merge_file(paths[0], paths[1], paths[2])
    assert "no file was changed" in caught.value.message
    assert [path.read_bytes() for path in paths] == versions
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("make", [lambda **top: graph(BASE, **top), lambda **top: nugget([], **top)])
def test_a_version_newer_than_known_is_not_merged(make: Callable[..., bytes]) -> None:
    for versions in ((make(), make(), make(version=9)), (make(version=9), make(), make())):
        with pytest.raises(ReadOnlyError):
            merged(*versions)


def test_a_missing_version_is_named(tmp_path: Path) -> None:
    (tmp_path / "ours").write_bytes(graph(BASE))
    with pytest.raises(NotFoundError, match="theirs"):
        merge_file(tmp_path / "base", tmp_path / "ours", tmp_path / "theirs")


@pytest.mark.skipif(os.name == "nt", reason="modes and links of POSIX")
def test_ours_keeps_its_mode_and_a_link_to_it_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "real"
    for path, data in ((real, graph(BASE)), (tmp_path / "theirs", graph(with_note(BASE, 1, content="T.")))):
        path.write_bytes(data)
    real.chmod(0o640)
    (tmp_path / "ours").symlink_to(real)
    merge_file(tmp_path / "none", tmp_path / "ours", real)
    result = merge_file(tmp_path / "base", tmp_path / "ours", tmp_path / "theirs")
    assert (tmp_path / "ours").is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert not result.merged


# As a merge driver

DRIVER = "import sys; from pathlib import Path; from core.storage.merge.files import merge_file; " \
    "sys.exit(0 if merge_file(*map(Path, sys.argv[1:4])).merged else 3)"  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_git_merges_two_branches_of_a_memory_and_leaves_conflicts_to_a_person(tmp_path: Path) -> None:
    (tmp_path / "driver.py").write_text(f"import sys; sys.path.insert(0, {str(ROOT)!r}); {DRIVER}")
    settings = {
        "user.name": "Test", "user.email": "test@example.org", "commit.gpgsign": "false", "core.autocrlf": "false",
        "merge.nuggets.name": "notes and facts",
        "merge.nuggets.driver": f'"{sys.executable}" "{tmp_path / "driver.py"}" %O %A %B',
    }  # fmt: skip
    repository = tmp_path / "memory"
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}

    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["git", *options, *arguments]
        return subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True)

    def commit(notes: Notes, facts: Facts) -> None:
        (repository / "graph.json").write_bytes(graph(notes))
        (repository / "memory.nugget.json").write_bytes(nugget(facts))
        assert git("add", ".").returncode == 0
        assert git("commit", "-m", "memory").returncode == 0

    repository.mkdir()
    assert git("init", "-b", "main").returncode == 0
    (repository / ".gitattributes").write_text("*.json merge=nuggets\n")
    commit(BASE, FACTS)
    git("switch", "-c", "other")
    commit([*with_note(BASE, 1, title="Theirs"), note_object(40)], [*FACTS, fact_object("theirs")])
    git("switch", "main")
    commit([*with_note(BASE, 1, content="Ours."), note_object(50)], [*FACTS, fact_object("ours")])
    done = git("merge", "other", "-m", "both")
    assert done.returncode == 0, done.stderr + done.stdout
    found = notes_in((repository / "graph.json").read_bytes())
    assert (found[id_of(1)]["title"], found[id_of(1)]["content"]) == ("Theirs", "Ours.")
    assert set(found) == {note["id"] for note in BASE} | {id_of(40), id_of(50)}
    assert list(facts_in((repository / "memory.nugget.json").read_bytes())) == [*"abcde", "ours", "theirs"]

    git("switch", "other")
    commit(with_note(BASE, 2, content="Theirs."), FACTS)
    git("switch", "main")
    commit(with_note(BASE, 2, content="Ours, again."), FACTS)
    assert git("merge", "other", "-m", "both").returncode == 1
    assert "graph.json" in git("diff", "--name-only", "--diff-filter=U").stdout
    assert notes_in((repository / "graph.json").read_bytes())[id_of(2)]["content"] == "Ours, again."
