"""Two machines and a remote: what arrives is a change like all others, and nothing of either side is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from kits.memory_files import graph_of, note_object, notes_of, write_graph
from kits.synced import DRIVER, Machine, files, git, titled

from core import Memory
from core.errors import BrokenFileError, ErrorCode, LockTimeoutError, NuggetsError, SyncError
from core.facts.edits import forget, remember
from core.graph.edits import create_note, delete_note, edit_note, link_notes
from core.model.change import Author
from core.sync import Standing, Sync, set_up, take_back
from core.sync.git import Git
from core.sync.kept import followed, one_at_a_time

pytestmark = pytest.mark.slow

Make = Callable[[str], Machine]


def _note(machine: Machine, title: str) -> str:
    return titled(machine.memory, title).id


def _sound(*machines: Machine) -> None:
    for machine in machines:
        assert [one for one in machine.memory.maintenance.verify() if one.kind != "conflict"] == []
        assert git(machine.home, "status", "--porcelain") == ""
        assert machine.state() == machines[0].state()


def _quiet(*machines: Machine) -> None:
    for machine in (*machines, *machines):
        machine.sync()


def test_a_second_machine_gets_the_memory_byte_for_byte(pair: tuple[Machine, Machine]) -> None:
    laptop, desk = pair
    assert files(desk.home)["graph/graph.json"] == files(laptop.home)["graph/graph.json"]
    assert files(desk.home)["web.nugget.json"] == files(laptop.home)["web.nugget.json"]
    _sound(laptop, desk)


def test_what_arrives_is_in_the_log_under_its_author_and_machine_and_can_be_undone(
    pair: tuple[Machine, Machine], tmp_path: Path
) -> None:
    laptop, desk = pair
    claude = Memory.open(desk.home, author=Author("agent", "claude"))
    claude.change("store", lambda draft: remember(draft, "web", "port", "9090"))
    claude.close()
    desk.sync()
    result = laptop.sync()
    (entry,) = laptop.memory.history.log(limit=1)
    assert result.change_sets == (entry.id,)
    assert str(entry.change_set.author) == "claude on desk"
    assert entry.change_set.author.kind == "agent"
    assert "claude changed 1 note" in entry.change_set.reason
    assert laptop.facts["web"]["port"] == "9090"
    laptop.memory.history.undo(entry.id)
    _quiet(laptop, desk)
    assert desk.facts["web"]["port"] == "8080"
    _sound(laptop, desk)


def test_different_edits_of_one_note_merge_and_recalls_of_both_add_up(pair: tuple[Machine, Machine]) -> None:
    laptop, desk = pair
    id = _note(laptop, "Deploy")
    for session in ("a", "b"):
        laptop.memory.recall("port", session=session)
    desk.memory.recall("port", session="c")
    laptop.memory.change("edit", lambda draft: edit_note(draft, id, content="make deploy-all"))
    desk.memory.change("tag", lambda draft: edit_note(draft, id, add_tags=["ops"]))
    _quiet(laptop, desk)
    note = desk.memory.snapshot.by_id[id]
    assert (note.content, "ops" in note.tags) == ("make deploy-all", True)
    (fact,) = desk.memory.snapshot.nugget("web").facts
    assert fact.hits == 3
    _sound(laptop, desk)


def test_one_fact_changed_in_two_ways_waits_as_one_conflict_and_leaves_no_markers(
    pair: tuple[Machine, Machine],
) -> None:
    laptop, desk = pair
    laptop.memory.change("store", lambda draft: remember(draft, "web", "port", "1111"))
    desk.memory.change("store", lambda draft: remember(draft, "web", "port", "2222"))
    laptop.sync()
    assert desk.sync().state.standing is Standing.CONFLICT
    (waits,) = desk.memory.history.conflicts()
    assert desk.facts["web"]["port"] == "2222"
    desk.memory.history.resolve_conflict(waits.id, "ours")
    assert desk.facts["web"]["port"] == "1111"
    _quiet(laptop, desk)
    assert all(b"<<<<" not in data for data in files(laptop.home).values())
    assert laptop.memory.history.conflicts() == desk.memory.history.conflicts() == ()
    _sound(laptop, desk)


@pytest.mark.parametrize("edits_first", [True, False])
def test_an_edit_stands_against_a_deletion_and_the_sync_says_so(
    pair: tuple[Machine, Machine], edits_first: bool
) -> None:
    laptop, desk = pair
    id = _note(laptop, "Deploy")
    laptop.memory.change("edit", lambda draft: edit_note(draft, id, content="make deploy-all"))
    desk.memory.change("delete", lambda draft: delete_note(draft, id))
    first, second = (laptop, desk) if edits_first else (desk, laptop)
    first.sync()
    result = second.sync()
    assert (result.brought_back if edits_first else result.kept_here) == (id,)
    _quiet(first, second)
    assert desk.memory.snapshot.by_id[id].content == "make deploy-all"
    assert laptop.memory.history.conflicts() == desk.memory.history.conflicts() == ()
    _sound(laptop, desk)


@pytest.mark.parametrize("hidden_first", [True, False])
@pytest.mark.parametrize("take", ["ours", "theirs"])
def test_of_a_fact_changed_and_hidden_here_and_changed_there_both_values_are_kept(
    pair: tuple[Machine, Machine], hidden_first: bool, take: Literal["ours", "theirs"]
) -> None:
    laptop, desk = pair
    laptop.memory.change("store", lambda draft: remember(draft, "web", "port", "1111"))
    laptop.memory.change("hide", lambda draft: forget(draft, "web", "port"))
    desk.memory.change("store", lambda draft: remember(draft, "web", "port", "2222"))
    first, second = (laptop, desk) if hidden_first else (desk, laptop)
    mine, other = ("2222", "1111") if hidden_first else ("1111", "2222")
    first.send(second)
    assert second.facts["web"]["port"] == titled(second.memory, "port").content == mine
    (waits,) = second.memory.history.conflicts()
    assert waits.conflict is not None
    assert (waits.conflict.ours, waits.conflict.theirs) == (other, mine)
    second.memory.history.resolve_conflict(waits.id, take)
    _quiet(second, first)
    assert first.facts["web"]["port"] == (other if take == "ours" else mine)
    _sound(first, second)


def test_a_link_to_a_note_that_was_deleted_elsewhere_goes_with_it(pair: tuple[Machine, Machine]) -> None:
    laptop, desk = pair
    a, b = _note(laptop, "Deploy"), _note(laptop, "port")
    laptop.memory.change("delete", lambda draft: delete_note(draft, a))
    desk.memory.change("link", lambda draft: link_notes(draft, a, b))
    _quiet(laptop, desk)
    assert all(not note.links for note in laptop.memory.snapshot.notes)
    _sound(laptop, desk)


def test_two_memories_that_were_apart_are_joined_with_nothing_of_either_lost(machine: Make) -> None:
    laptop, desk = machine("laptop"), machine("desk")
    for one, value in ((laptop, "8080"), (desk, "9090")):
        one.memory.change("store", lambda draft, value=value: remember(draft, "web", "port", value))
        one.memory.change("add", lambda draft, one=one: create_note(draft, "web", one.name, f"of {one.name}"))
    laptop.memory.change("store", lambda draft: remember(draft, "web", "same", "x"))
    desk.memory.change("store", lambda draft: remember(draft, "web", "same", "x"))
    laptop.sync()
    desk.sync()
    assert {"laptop", "desk"} <= {note.title for note in desk.memory.snapshot.notes}
    assert desk.facts["web"] == {"port": "9090", "same": "x"}
    (waits,) = desk.memory.history.conflicts()
    assert waits.conflict is not None
    assert (waits.conflict.ours, waits.conflict.theirs) == ("8080", "9090")
    _quiet(laptop, desk)
    _sound(laptop, desk)


def test_offline_it_commits_and_says_so_and_the_next_sync_sends_it(
    pair: tuple[Machine, Machine], remote: Path
) -> None:
    laptop, desk = pair
    away = remote.rename(remote.with_name("away.git"))
    laptop.memory.change("store", lambda draft: remember(draft, "web", "port", "9090"))
    result = laptop.sync()
    assert (result.committed, result.sent) == (1, 0)
    assert (result.state.standing, result.state.to_send) == (Standing.OFFLINE, 1)
    away.rename(remote)
    result = laptop.sync()
    assert (result.committed, result.sent, result.state.standing) == (0, 1, Standing.IN_STEP)
    desk.sync()
    _sound(laptop, desk)


def test_a_push_by_somebody_faster_is_taken_in_and_the_sync_goes_on(
    pair: tuple[Machine, Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop, desk = pair
    desk.memory.change("store", lambda draft: remember(draft, "web", "tls", "on"))
    laptop.memory.change("store", lambda draft: remember(draft, "web", "port", "9090"))

    def step(at: str) -> None:
        if at == "pushing" and desk.memory.history.conflicts() == () and not told:
            told.append(at)
            desk.sync()

    told: list[str] = []
    Sync(laptop.memory, step=step).run()
    desk.sync()
    assert told
    assert laptop.facts["web"] == {"port": "9090", "tls": "on"}
    _sound(laptop, desk)


def test_other_files_of_the_remote_stay_in_it_and_are_neither_checked_out_nor_staged(
    pair: tuple[Machine, Machine], tmp_path: Path, remote: Path
) -> None:
    laptop, desk = pair
    _pushed(tmp_path, remote, {"README.md": b"ours", "notes about it.txt": b"text"})
    other = tmp_path / "other"

    def in_step() -> None:
        laptop.sync()
        assert git(laptop.home, "status", "--porcelain") == ""
        assert not (laptop.home / "README.md").exists()

    in_step()
    assert git(laptop.home, "show", "HEAD:README.md") == "ours"
    laptop.memory.change("store", lambda draft: remember(draft, "web", "port", "9090"))
    in_step()
    git(other, "pull", "-q")
    (other / "README.md").write_text("changed")
    git(other, "rm", "-q", "notes about it.txt")
    git(other, "commit", "-qam", "by hand")
    git(other, "push", "-q", "origin", "HEAD")
    in_step()
    assert git(laptop.home, "show", "HEAD:README.md") == "changed"
    # What the user does about them stands.
    git(laptop.home, "rm", "-q", "--cached", "--sparse", "README.md")
    laptop.memory.change("store", lambda draft: remember(draft, "web", "port", "9191"))
    laptop.sync()
    assert git(laptop.home, "status", "--porcelain") == "D  README.md"
    git(laptop.home, "reset", "-q", "--hard")
    desk.sync()
    assert desk.facts["web"]["port"] == "9191"


# What is not followed


def _pushed(tmp_path: Path, remote: Path, files: dict[str, bytes], *words: str) -> None:
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(remote), str(other))
    for name, data in files.items():
        (other / name).write_bytes(data)
    git(other, "add", "-A")
    git(other, "commit", "-qm", "by hand", *words)
    git(other, "push", "-qf", "origin", "HEAD")


BROKEN = [
    b'{"version": 3, "notes": [',
    b'{"version": 3, "notes": [\n<<<<<<< HEAD\n{}\n=======\n>>>>>>> x\n]}',
    b'{"version": 3, "notes": [{"id": 7}]}',
    b'{"version": 99, "notes": []}',
    b"",
    b"\xff\xfe\x00",
]


def test_a_broken_file_from_the_remote_is_named_and_not_followed_until_it_is_whole(
    pair: tuple[Machine, Machine], tmp_path: Path, remote: Path
) -> None:
    laptop, desk = pair
    before = files(laptop.home)
    _pushed(tmp_path, remote, {"graph/graph.json": BROKEN[0]})
    other = tmp_path / "other"
    for data in BROKEN:
        (other / "graph" / "graph.json").write_bytes(data)
        git(other, "commit", "-qam", "broken", "--allow-empty")
        git(other, "push", "-q", "origin", "HEAD")
        with pytest.raises(NuggetsError) as caught:
            laptop.sync()
        assert caught.value.code in (ErrorCode.REMOTE, ErrorCode.NEWER_VERSION)
        assert files(laptop.home) == before
        state, error = Sync(laptop.memory).state(), caught.value
        assert state.standing is Standing.STOPPED
        assert (state.problem, state.where, state.safe, state.todo) == (
            error.what,
            error.where,
            error.kept,
            error.todo,
        )
    (other / "graph" / "graph.json").write_bytes(before["graph/graph.json"])
    git(other, "commit", "-qam", "whole again")
    git(other, "push", "-q", "origin", "HEAD")
    state = laptop.sync().state
    assert (state.standing, state.problem, state.where, state.todo) == (Standing.IN_STEP, "", "", "")
    _quiet(desk, laptop)
    _sound(laptop, desk)


def test_a_rewritten_history_is_told_and_not_followed(
    pair: tuple[Machine, Machine], tmp_path: Path, remote: Path
) -> None:
    laptop, _ = pair
    _pushed(tmp_path, remote, {"web.nugget.json": b"{}"}, "--amend")
    before = files(laptop.home)
    with pytest.raises(SyncError) as caught:
        laptop.sync()
    assert caught.value.code is ErrorCode.REMOTE
    assert files(laptop.home) == before


# Git as people have it


def test_somebody_elses_staged_files_and_other_commits_in_a_shared_repository_stay(
    tmp_path: Path, remote: Path
) -> None:
    project = tmp_path / "project"
    git(tmp_path, "clone", "-q", str(remote), str(project))
    (project / "code.py").write_text("1")
    git(project, "add", "code.py")
    git(project, "commit", "-qm", "code")
    git(project, "push", "-q", "origin", "HEAD")
    (project / "staged.py").write_text("2")
    git(project, "add", "staged.py")
    (project / "code.py").write_text("changed")
    memory = Machine(project / "memory", None, "laptop")
    memory.memory.change("store", lambda draft: remember(draft, "web", "port", "8080"))
    memory.sync()
    assert git(project, "status", "--porcelain").splitlines() == ["M code.py", "A  staged.py"]
    assert "memory/web.nugget.json" in git(project, "ls-tree", "-r", "--name-only", "origin/main")
    assert "staged.py" not in git(project, "ls-tree", "-r", "--name-only", "HEAD")
    other = tmp_path / "elsewhere"
    git(tmp_path, "clone", "-q", str(remote), str(other))
    (other / "code.py").write_text("other")
    git(other, "commit", "-qam", "more code")
    git(other, "push", "-q", "origin", "HEAD")
    with pytest.raises(SyncError) as caught:
        memory.sync()
    assert caught.value.code is ErrorCode.REMOTE
    assert (project / "code.py").read_text() == "changed"
    memory.memory.close()


def _begin_merge(home: Path) -> None:
    (home / ".git" / "MERGE_HEAD").write_text(git(home, "rev-parse", "HEAD"))


def test_nothing_is_done_while_git_is_in_the_middle_of_something(pair: tuple[Machine, Machine]) -> None:
    laptop, _ = pair
    laptop.memory.change("store", lambda draft: remember(draft, "web", "port", "9090"))
    before, head = files(laptop.home), git(laptop.home, "rev-parse", "HEAD")

    def refused() -> None:
        with pytest.raises(SyncError) as caught:
            laptop.sync()
        assert caught.value.code is ErrorCode.GIT_UNDER_WAY
        assert (files(laptop.home), git(laptop.home, "rev-parse", "HEAD")) == (before, head)

    _begin_merge(laptop.home)
    refused()
    (laptop.home / ".git" / "MERGE_HEAD").unlink()
    git(laptop.home, "switch", "-qc", "other")
    refused()
    git(laptop.home, "switch", "-q", "--detach")
    refused()


def test_a_folder_of_pages_is_not_synced(tmp_path: Path) -> None:
    pages = tmp_path / "projects" / "-web" / "memory"
    pages.mkdir(parents=True)
    (pages / "MEMORY.md").write_text("# Memory\n")
    memory = Memory.open(pages)
    with pytest.raises(SyncError, match="pages"):
        Sync(memory).run()
    memory.close()


def _hook(home: Path, name: str) -> Path:
    hook = home / ".git" / "hooks" / name
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho not today >&2\nexit 1\n")
    hook.chmod(0o755)
    return hook


def test_a_hook_that_refuses_stops_the_sync_and_once_it_agrees_the_sync_goes_on(
    pair: tuple[Machine, Machine],
) -> None:
    laptop, desk = pair
    laptop.memory.change("store", lambda draft: remember(draft, "web", "port", "9090"))
    for name in ("pre-commit", "commit-msg", "pre-push"):
        hook = _hook(laptop.home, name)
        with pytest.raises(SyncError, match="not today"):
            laptop.sync()
        assert laptop.facts["web"]["port"] == "9090"
        hook.unlink()
    _quiet(laptop, desk)
    _sound(laptop, desk)


def test_a_locked_index_stops_no_sync_and_is_put_in_step_by_the_next(pair: tuple[Machine, Machine]) -> None:
    laptop, desk = pair
    lock = laptop.home / ".git" / "index.lock"
    lock.touch()
    laptop.memory.change("store", lambda draft: remember(draft, "web", "port", "9090"))
    assert laptop.sync().sent == 1
    lock.unlink()
    _quiet(laptop, desk)
    _sound(laptop, desk)


def test_without_a_name_git_cannot_commit_and_the_error_says_what_to_type(
    pair: tuple[Machine, Machine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop, _ = pair
    (tmp_path / "nobody").write_text("[user]\nuseConfigOnly = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "nobody"))
    laptop.memory.change("store", lambda draft: remember(draft, "web", "port", "9090"))
    with pytest.raises(SyncError) as caught:
        laptop.sync()
    assert caught.value.code is ErrorCode.GIT_FAILED
    assert "user.name" in caught.value.todo


def test_without_git_the_error_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SyncError) as caught:
        set_up(tmp_path / "memory", None, driver=DRIVER, machine="laptop")
    assert caught.value.code is ErrorCode.NO_GIT


def test_a_second_sync_waits_for_the_first_one(
    pair: tuple[Machine, Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop, _ = pair
    monkeypatch.setattr("core.sync.kept.LOCK_SECONDS", 0.0)
    with one_at_a_time(followed(Git(laptop.home))[0]), pytest.raises(LockTimeoutError):
        laptop.sync()


def test_no_git_runs_while_the_memory_is_locked(
    pair: tuple[Machine, Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    import subprocess

    from core.storage.files.atomic import try_lock

    laptop, desk = pair
    desk.memory.change("store", lambda draft: remember(draft, "web", "port", "9090"))
    laptop.memory.change("edit", lambda draft: edit_note(draft, _note(laptop, "Deploy"), content="x"))
    desk.sync()
    plain, runs = subprocess.Popen, []

    def popen(*given: object, **named: object) -> object:
        lock = try_lock(laptop.home / ".nuggets.lock", 0.0)
        assert lock is not None
        lock.release()
        runs.append(given)
        return plain(*given, **named)  # type: ignore[call-overload]

    monkeypatch.setattr("core.sync.git.subprocess.Popen", popen)
    laptop.sync()
    assert runs


# Setting up and taking back


def test_setting_up_twice_is_once_and_taking_it_back_leaves_the_memory_and_other_lines(
    tmp_path: Path, remote: Path
) -> None:
    home = tmp_path / "memory"
    home.mkdir()
    (home / ".gitignore").write_text("mine\n")
    write_graph(home, [note_object(1)])
    before = files(home)
    planned = set_up(home, str(remote), driver=DRIVER, machine="laptop", dry_run=True)
    assert files(home) == before
    assert not (home / ".git").exists()
    done = set_up(home, str(remote), driver=DRIVER, machine="laptop")
    assert {one.step for one in planned} <= {one.step for one in done}
    again = set_up(home, str(remote), driver=DRIVER, machine="laptop")
    assert all(one.already for one in again)
    assert "nuggets.db*" in (home / ".gitignore").read_text()
    take_back(home)
    assert files(home) == before
    assert git(home, "config", "--get", "merge.nuggets.driver", code=1) == ""
    assert git(home, "remote") == ""


@pytest.mark.parametrize("address", ["--upload-pack=touch x", "", " ", "a\nb"])
def test_an_address_that_is_none_is_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(NuggetsError):
        set_up(tmp_path / "memory", address, driver=DRIVER, machine="laptop")
    assert not (tmp_path / "memory").exists()


def test_a_folder_that_the_repository_around_it_ignores_gets_one_of_its_own(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "dots")
    (tmp_path / "dots" / ".gitignore").write_text("memory/\n")
    home = tmp_path / "dots" / "memory"
    home.mkdir()
    set_up(home, None, driver=DRIVER, machine="laptop")
    assert (home / ".git").is_dir()


# Other writers


def test_what_a_program_without_our_lock_writes_during_a_sync_is_in_the_next_commit(
    pair: tuple[Machine, Machine],
) -> None:
    laptop, desk = pair
    desk.memory.change("store", lambda draft: remember(draft, "web", "port", "9090"))
    desk.sync()
    laptop.memory.change("edit", lambda draft: edit_note(draft, _note(laptop, "Deploy"), content="x"))
    number = 100

    def step(at: str) -> None:
        nonlocal number
        number += 1
        notes = graph_of(laptop.home)["notes"]
        write_graph(laptop.home, [*notes, note_object(number, nugget="web")])

    Sync(laptop.memory, step=step).run()
    _quiet(laptop, desk)
    made = {f"note-web-{one:08x}" for one in range(101, number + 1)}
    assert made <= notes_of(desk.home).keys()
    assert desk.facts["web"]["port"] == "9090"
    _quiet(desk, laptop)
    _sound(laptop, desk)


def test_forgetting_and_an_unborn_memory_sync_too(machine: Make) -> None:
    laptop, desk = machine("laptop"), machine("desk")
    assert laptop.sync().state.standing is Standing.IN_STEP
    assert desk.sync().sent == 0
    laptop.memory.change("store", lambda draft: remember(draft, "web", "port", "8080"))
    _quiet(laptop, desk)
    laptop.memory.change("forget", lambda draft: forget(draft, "web", "port"))
    _quiet(laptop, desk)
    assert desk.facts == {}
    _sound(laptop, desk)


def test_an_own_file_that_cannot_be_read_is_not_committed(pair: tuple[Machine, Machine]) -> None:
    laptop, _ = pair
    head = git(laptop.home, "rev-parse", "HEAD")
    (laptop.home / "graph" / "graph.json").write_bytes(b'{"notes": [')
    with pytest.raises(BrokenFileError):
        laptop.sync()
    assert git(laptop.home, "rev-parse", "HEAD") == head
