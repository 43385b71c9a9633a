"""One commit with what no memory has: the sync takes what it knows, names the rest, and goes on, also afterwards."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import msgspec
import pytest
from kits.synced import Machine, git

from core.errors import NuggetsError
from core.facts.edits import remember
from core.sync.git import Git
from core.sync.kept import followed, write_kept

pytestmark = pytest.mark.slow

FILE, LINK, MODULE, TREE = "100644", "120000", "160000", "40000"
_FACTS = b'{"version":4,"name":"evil","D":1024,"banks":4,"ensembles":1,"max_facts":0,"facts":[]}'


def _object(remote: Path, kind: str, data: bytes) -> str:
    words = ["git", "hash-object", "-t", kind, "-w", "--stdin", "--literally"]
    return (
        subprocess.run(words, cwd=remote, input=data, capture_output=True, check=True).stdout.decode().strip()
    )


def _commit(remote: Path, *added: tuple[str, bytes, str], but: bytes = b"") -> str:
    """A commit on the remote whose tree has raw entries beside those that it had; the commit before."""
    before = git(remote, "rev-parse", "main")
    listed = subprocess.run(
        ["git", "ls-tree", "-z", "main"], cwd=remote, capture_output=True, check=True
    ).stdout
    entries = []
    for line in listed.split(b"\0")[:-1]:
        about, _, name = line.partition(b"\t")
        mode, _, id = about.decode().split()
        if name != but:
            entries.append((mode.lstrip("0"), name, id))
    data = b"".join(
        mode.encode() + b" " + name + b"\0" + bytes.fromhex(id) for mode, name, id in [*entries, *added]
    )
    tree = _object(remote, "tree", data)
    commit = git(remote, "commit-tree", tree, "-p", before, "-m", "by somebody")
    git(remote, "update-ref", "refs/heads/main", commit)
    return before


def _entries(remote: Path, name: str) -> list[tuple[str, bytes, str]]:
    blob = _object(remote, "blob", _FACTS)
    raw = os.fsencode(name)
    if name == "link":
        return [(LINK, b"evil.nugget.json", _object(remote, "blob", b"/etc/passwd"))]
    if name == "linked graph":
        return [(LINK, b"graph", _object(remote, "blob", b"/etc"))]
    if name == "module":
        return [(MODULE, b"evil.nugget.json", "1" * 40), (MODULE, b"vendored", "1" * 40)]
    if name == "filter":
        inside = b"100644 .gitattributes\0" + bytes.fromhex(_object(remote, "blob", b"* filter=evil\n"))
        held = git(remote, "rev-parse", "main:graph/graph.json")
        inside += b"100644 graph.json\0" + bytes.fromhex(held)
        return [(TREE, b"graph", _object(remote, "tree", inside))]
    if name == "name":
        return [(FILE, b"evil.nugget.json", _object(remote, "blob", _FACTS.replace(b"evil", b"../evil")))]
    if name.endswith("tree"):
        inside = b"100644 evil.nugget.json\0" + bytes.fromhex(blob)
        return [(TREE, raw.removesuffix(b" tree"), _object(remote, "tree", inside))]
    return [(FILE, raw, blob)]


NAMES = [
    "filter", "link", "module", "name", "..", ".git", ".GIT", "git~1", "/etc/evil.nugget.json", "a/b",
    ".. tree", ".git tree",
    "../evil.nugget.json", "\udcff.nugget.json", "a\x1b[2J.nugget.json", "two\nlines.nugget.json", "a\\b.nugget.json",
    f"{'a' * 300}.nugget.json", "-n.nugget.json", "backups", "nuggets.db", "settings.toml", "nuggets.db-wal",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ahead", [False, True], ids=["nothing to send", "with changes of its own"])
def test_what_no_memory_has_stops_no_sync_and_reaches_no_folder(
    pair: tuple[Machine, Machine], tmp_path: Path, remote: Path, name: str, ahead: bool
) -> None:
    laptop, desk = pair
    git(laptop.home, "config", "filter.evil.clean", "false")
    git(laptop.home, "config", "filter.evil.required", "true")
    around = {path.name for path in tmp_path.iterdir()}
    folder = {path.name for path in laptop.home.iterdir()}
    if ahead:
        laptop.memory.change("store", lambda draft: remember(draft, "web", "host", "one"))
    _commit(remote, *_entries(remote, name), but=b"graph" if name == "filter" else b"")
    first = laptop.sync()
    assert bool(first.left_out) == (name not in ("a/b", "-n.nugget.json"))
    laptop.memory.change("store", lambda draft: remember(draft, "web", "port", "9090"))
    assert laptop.sync().sent
    desk.sync()
    assert desk.facts["web"]["port"] == "9090"
    assert desk.facts["web"].get("host") == ("one" if ahead else None)
    made = {"backups", "-n.nugget.json"} if name == "-n.nugget.json" else {"backups"}
    assert {path.name for path in laptop.home.iterdir()} - folder <= made
    assert {path.name for path in tmp_path.iterdir()} == around


@pytest.mark.parametrize("name", ["linked graph", "filter", "..", "module"])
def test_a_remote_that_is_put_right_is_followed_again(
    pair: tuple[Machine, Machine], remote: Path, name: str
) -> None:
    laptop, desk = pair
    sound = _commit(
        remote, *_entries(remote, name), but=b"graph" if "graph" in name or name == "filter" else b""
    )
    notes = laptop.memory.snapshot.notes
    for one in (laptop, desk):
        one.sync()
    assert laptop.memory.snapshot.notes == notes
    right = git(remote, "commit-tree", f"{sound}^{{tree}}", "-p", "main", "-m", "put right")
    git(remote, "update-ref", "refs/heads/main", right)
    desk.memory.change("store", lambda draft: remember(draft, "web", "port", "9090"))
    desk.send(laptop)
    assert laptop.facts["web"]["port"] == "9090"
    assert laptop.memory.snapshot.by_id.keys() >= {note.id for note in notes}
    assert laptop.sync().left_out == ()


def test_what_a_sync_leaves_out_is_said_once_until_it_changes(
    pair: tuple[Machine, Machine], remote: Path
) -> None:
    laptop, desk = pair
    _commit(remote, *_entries(remote, "settings.toml"))
    assert laptop.sync().left_out == ("settings.toml",)
    desk.memory.change("store", lambda draft: remember(draft, "web", "port", "9090"))
    desk.send(laptop)
    desk.memory.change("store", lambda draft: remember(draft, "web", "port", "7070"))
    desk.sync()
    assert laptop.sync().left_out == ()
    assert laptop.facts["web"]["port"] == "7070"
    changed = (FILE, b"settings.toml", _object(remote, "blob", b"changed"))
    _commit(remote, changed, but=b"settings.toml")
    assert laptop.sync().left_out == ("settings.toml",)


def test_a_file_that_is_gone_while_a_sync_reads_is_not_deleted_elsewhere(
    pair: tuple[Machine, Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop, desk = pair
    notes = desk.memory.snapshot.notes
    refresh = laptop.memory.refresh

    def and_then_saved() -> bool:
        newer = refresh()
        os.replace(laptop.home / "graph" / "graph.json", laptop.home / "graph" / "graph.json~")
        return newer

    with monkeypatch.context() as patch:
        patch.setattr(laptop.memory, "refresh", and_then_saved)
        with pytest.raises(NuggetsError):
            laptop.sync()
    os.replace(laptop.home / "graph" / "graph.json~", laptop.home / "graph" / "graph.json")
    laptop.send(desk)
    assert desk.memory.snapshot.notes == notes
    assert laptop.memory.snapshot.notes


def test_the_name_of_the_remote_in_the_state_of_a_sync_is_no_option_of_git(
    pair: tuple[Machine, Machine], tmp_path: Path
) -> None:
    laptop, _ = pair
    folder, kept = followed(Git(laptop.home))
    made = tmp_path / "made"
    write_kept(
        folder, msgspec.structs.replace(kept, remote=f"--upload-pack=touch {made};", synced="--output=x")
    )
    with pytest.raises(NuggetsError):
        laptop.sync()
    assert not made.exists()
