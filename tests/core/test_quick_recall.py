"""Recalls that do not open the memory: right or no answer at all, and counted once, whatever comes between."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from kits.forked import run
from kits.memory_files import fact_object, facts_of, notes_of, replace_bytes, tree, write_nugget
from kits.quick_kit import answered, cache_files, make_ahead, quick

from core import Memory
from core.facts import edits
from core.graph.edits import create_note, hide_note
from core.pipeline.writes.disputing import mark_disputing
from core.quick_recall import SWITCH, cache_of, is_locked, take_lock, try_again
from core.services.repository import Repository
from core.storage import waiting
from core.storage.cache import answers
from core.storage.files.atomic import locked

ROOT = Path(__file__).parents[2]
KEYS = ("port", "host")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A memory of two nuggets with answers made ahead, whose files are not of this very moment."""
    home = tmp_path / "memory"
    write_nugget(home, "web", [fact_object("port", "8080"), fact_object("host", "web.local")], D=64)
    write_nugget(home, "zoo", [fact_object("Port", "5432")], D=64)
    memory = Memory.open(home)
    memory.change("mirrored", lambda draft: edits.remember(draft, "web", "port", "8081"))
    memory.close()
    _age(home)
    assert make_ahead(home)
    return home


def _age(home: Path) -> None:
    """As if nobody had written for an hour."""
    for path in home.rglob("*.json"):
        found = path.stat()
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns - 3600 * 10**9))


def _leave(home: Path, key: str, session: str) -> None:
    found = quick(home, key)
    assert found is not None
    assert found.counts_in(session)
    found.leave(session, "agent:tester")


def _hits(home: Path, nugget: str, key: str) -> int:
    return next(fact["hits"] for fact in facts_of(home, f"{nugget}.nugget.json") if fact["key"] == key)


# Answers


def test_an_exact_key_is_answered_in_any_spelling_of_it(home: Path) -> None:
    assert answered(home, "port") == "8081"
    assert answered(home, " HOST ") == "web.local"
    assert answered(home, "PORT", "zoo") == "5432"
    assert answered(home, "nothing of the kind") == ""


def test_a_question_that_was_asked_is_kept_with_its_answer(home: Path) -> None:
    question = "which host is it?"
    assert quick(home, question) is None
    assert make_ahead(home, [(question, None)])
    found = quick(home, question)
    assert found is not None
    memory = Memory.open(home)
    assert (found.code == 0) == memory.recall(question, record=False).found
    assert quick(home, question, "web") is None


def _edit(home: Path) -> None:
    Memory.open(home).change("edited", lambda draft: edits.remember(draft, "web", "port", "9090"))


def _forget(home: Path) -> None:
    Memory.open(home).change("forgot", lambda draft: edits.forget(draft, "web", "port"))


def _hide(home: Path) -> None:
    memory = Memory.open(home)
    note = next(note.id for note in memory.snapshot.notes if note.key == "port")
    memory.change("hid", lambda draft: hide_note(draft, note))


def _outside(home: Path) -> None:
    write_nugget(home, "web", [fact_object("port", "8089"), fact_object("host", "web.local")], D=64)


def _same_size_and_time(home: Path) -> None:
    path = home / "web.nugget.json"
    before = path.stat()
    replace_bytes(path, path.read_bytes().replace(b"8081", b"8088"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _in_place(home: Path) -> None:
    path = home / "web.nugget.json"
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"8081", b"8088"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _another_nugget(home: Path) -> None:
    write_nugget(home, "aaa", [fact_object("port", "1")], D=64)


def _newer_file_of_the_nugget(home: Path) -> None:
    write_nugget(home, "web", [fact_object("port", "1")], ".donna.json", D=64)


def _nugget_gone(home: Path) -> None:
    (home / "zoo.nugget.json").unlink()


def _settings(home: Path) -> None:
    (home / "settings.toml").write_text("[search]\ntext_weight = 0.9\n")


def _unfinished(home: Path) -> None:
    (home / ".graph.json.1-00000000.tmp").write_bytes(b"")


def _log_gone(home: Path) -> None:
    for path in home.glob("ledger*"):
        path.unlink()


def _broken_graph(home: Path) -> None:
    replace_bytes(home / "graph" / "graph.json", b"{")


@pytest.mark.parametrize(
    "change",
    [
        _edit, _forget, _hide, _outside, _same_size_and_time, _in_place, _another_nugget, _newer_file_of_the_nugget,
        _nugget_gone, _settings, _unfinished, _log_gone, _broken_graph,
    ],
)  # fmt: skip
def test_after_any_change_no_former_answer_is_given(home: Path, change: Callable[[Path], None]) -> None:
    change(home)
    assert quick(home, "port") is None


def test_a_change_at_the_very_time_of_the_look_is_seen(home: Path) -> None:
    path = home / "web.nugget.json"
    # The files as they were looked at, but for one that was written again within the same tick of the clock.
    state_file = cache_files(home)[1]
    state = answers.State.unpacked(state_file.read_bytes())
    path.write_bytes(path.read_bytes().replace(b"8081", b"8088"))
    state.files[path.name] = (answers.version_of(str(path)), state.files[path.name][1])
    same_time = answers.State(
        state.version, state.content, path.stat().st_ctime_ns, state.files, state.sessions
    )
    answers.replace(str(state_file), [same_time.packed()])
    assert quick(home, "port") is None


def test_after_a_change_only_what_it_concerns_is_answered_anew(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.open(home, reconcile=False)
    asked: list[tuple[str, str | None]] = []
    plain = memory._answers._ask
    monkeypatch.setattr(memory._answers, "_ask", lambda s, q, n: asked.append((q, n)) or plain(s, q, n))
    memory.change("remembered", lambda draft: edits.remember(draft, "zoo", "user", "app"))
    from nuggets_tui.cli.recalled import present

    assert memory.keep_answers(present)
    assert {query.strip().lower() for query, _ in asked} == {"port", "user"}
    assert answered(home, "host") == "web.local"
    assert answered(home, "user") == "app"


def test_an_answer_made_ahead_says_that_it_is_disputed_as_long_as_it_is(home: Path) -> None:
    memory = Memory.open(home)
    old = memory.snapshot.fact_notes["web", "port"]
    _, made = memory.change(
        "disputed",
        lambda draft: mark_disputing(draft, create_note(draft, "web", "a port", "the port is 9999"), old),
    )

    def said() -> str:
        _age(home)
        assert make_ahead(home)
        found = quick(home, "port", "web")
        assert found is not None
        return b"".join(found.texts).decode()

    assert "undecided: the port is 9999" in said()
    memory.undo(made.id)
    assert "undecided" not in said()


def test_nothing_is_kept_of_a_memory_that_says_something_beside_its_answers(home: Path) -> None:
    write_nugget(home, "web", [fact_object("port", 7)], D=64)
    assert not make_ahead(home)
    assert quick(home, "port") is None


def test_no_cache_means_no_answer(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUGGETS_CACHE", "off")
    assert quick(home, "port") is None
    assert not make_ahead(home)
    assert cache_of(str(home)) is None


# Damage


@pytest.mark.slow
@pytest.mark.parametrize("which", [0, 1])
def test_a_damaged_cache_is_no_answer_and_made_anew(home: Path, which: int) -> None:
    path = cache_files(home)[which]
    whole = path.read_bytes()
    right = quick(home, "port")
    assert right is not None
    for place in range(0, len(whole), max(1, len(whole) // 150)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        found = quick(home, "port")
        assert found is None or found.texts == right.texts
    for length in (0, 1, 40, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        found = quick(home, "port")
        assert found is None or found.texts == right.texts
    assert make_ahead(home)
    assert answered(home, "port") == "8081"


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("kind", ["link", "folder", "fifo", "gone"])
def test_what_stands_in_the_place_of_a_cache_file_is_no_answer(
    home: Path, tmp_path: Path, which: int, kind: str
) -> None:
    path = cache_files(home)[which]
    other = tmp_path / "elsewhere"
    shutil.copy(path, other)
    path.unlink()
    if kind == "link":
        path.symlink_to(other)
    elif kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    assert quick(home, "port") is None


def test_answers_are_readable_by_their_owner_alone(home: Path) -> None:
    assert {path.stat().st_mode & 0o777 for path in cache_files(home)} == {0o600}
    _leave(home, "port", "one")
    assert Path(waiting.paths(str(home))[0]).stat().st_mode & 0o777 == 0o600
    assert (home / waiting.FOLDER).stat().st_mode & 0o777 == 0o700


# Counting


def test_a_recall_that_waits_is_counted_by_who_reads_the_memory_next(home: Path) -> None:
    before = tree(home)
    _leave(home, "port", "one")
    assert tree(home).keys() - before.keys() <= {".recalls/" + os.path.basename(waiting.paths(str(home))[0])}
    memory = Memory.open(home, reconcile=False)
    assert memory.snapshot.by_name["web"].facts[0].hits == 1
    assert _hits(home, "web", "port") == 1
    entry = memory.log(kind="hit")[0]
    assert entry.change_set.author.name == "one"
    assert entry.change_set.reason == "recalled port"
    assert waiting.paths(str(home)) == []
    note = next(note for note in notes_of(home).values() if note["sourceKey"] == "port" and note["hits"])
    assert note["lastHitSession"] == "one"
    assert note["lastAccessedAt"] == entry.change_set.at


@pytest.mark.slow
def test_a_recall_that_meets_a_writer_is_counted_once_that_is_done(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(SWITCH)
    memory = Memory.open(home, reconcile=False)
    with locked(home):
        found: list[object] = []
        # In a thread of its own: who holds the lock may take it again.
        asking = threading.Thread(target=lambda: found.append(memory.recall("port", session="one")))
        asking.start()
        asking.join()
    assert memory.uncounted_recalls == 0
    assert _hits(home, "web", "port") == 0
    Memory.open(home, reconcile=False).close()
    assert _hits(home, "web", "port") == 1


def test_a_session_counts_once_as_it_does_in_the_usual_way(home: Path) -> None:
    for session in ("one", "one", "two", "one"):
        found = quick(home, "port")
        assert found is not None
        if found.counts_in(session):
            found.leave(session, "agent:tester")
    Memory.open(home).close()
    assert _hits(home, "web", "port") == 3
    found = quick(home, "port")
    assert found is not None
    assert not found.counts_in("one")
    assert found.counts_in("two")


def test_counting_changes_no_answer_so_that_the_next_one_is_as_quick(home: Path) -> None:
    for session in ("one", "two", "three"):
        _leave(home, "port", session)
        Memory.open(home, reconcile=False).close()
        assert answered(home, "host") == "web.local"
        Memory.open(home).recall("host", session=session)
        assert answered(home, "port") == "8081"
    assert _hits(home, "web", "port") == 3


def test_what_was_counted_and_not_removed_counts_no_second_time(home: Path) -> None:
    _leave(home, "port", "one")
    path = Path(waiting.paths(str(home))[0])
    record = path.read_bytes()
    Memory.open(home).recall("port", session="two")
    path.write_bytes(record)
    Memory.open(home).close()
    assert _hits(home, "web", "port") == 2
    assert not path.exists()


@pytest.mark.slow
def test_two_hundred_at_once_all_count(home: Path) -> None:
    threads = [
        threading.Thread(target=_leave, args=(home, "port", f"session {number}")) for number in range(200)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    openers = [threading.Thread(target=lambda: Memory.open(home).close()) for _ in range(3)]
    for thread in openers:
        thread.start()
    for thread in openers:
        thread.join()
    Memory.open(home).close()
    assert _hits(home, "web", "port") == 200
    assert len(Memory.open(home).log(kind="hit", limit=None)) == 200
    assert make_ahead(home)


KILLED = """
import sys
sys.path.insert(0, "tests")
from kits.kill_steps import end_before_step
from core import Memory
end_before_step(int(sys.argv[2]))
Memory.open(sys.argv[1], reconcile=False)
print("done", flush=True)
"""


@pytest.mark.slow
def test_who_is_killed_while_counting_loses_no_recall_and_counts_none_twice(
    home: Path, tmp_path: Path
) -> None:
    _leave(home, "port", "one")
    found = quick(home, "host")
    assert found is not None
    found.leave("one", "agent:tester")
    for step in range(200):
        copy = tmp_path / f"copy {step}"
        shutil.copytree(home, copy)
        done = run(
            [sys.executable, "-c", KILLED, str(copy), str(step)], cwd=ROOT, capture_output=True, check=False
        )
        Memory.open(copy).close()
        assert (_hits(copy, "web", "port"), _hits(copy, "web", "host")) == (1, 1), step
        assert waiting.paths(str(copy)) == []
        shutil.rmtree(copy)
        if done.stdout:
            break
    else:
        pytest.fail("it never came to an end")


def test_a_record_that_is_not_whole_is_kept_and_keeps_nothing_from_being_counted(home: Path) -> None:
    _leave(home, "port", "one")
    whole = Path(waiting.paths(str(home))[0])
    folder = whole.parent
    torn, old, binary = (folder / f"0{number}.recall" for number in range(3))
    torn.write_bytes(whole.read_bytes()[:20])
    old.write_bytes(whole.read_bytes()[:20])
    binary.write_bytes(bytes(range(256)))
    (folder / "03.recall").symlink_to("/etc/hostname")
    (folder / "04.recall").mkdir()
    for path in (old, binary):
        os.utime(path, (1, 1))
    Memory.open(home).close()
    assert _hits(home, "web", "port") == 1
    assert torn.exists()
    assert {path.name for path in folder.glob("*.damaged")} >= {"01.recall.damaged", "02.recall.damaged"}
    assert (folder / "02.recall.damaged").read_bytes() == bytes(range(256))


def test_any_text_comes_back_from_a_record_as_it_was(tmp_path: Path) -> None:
    texts = ("web", "a\nkey \\n\udcff\x00 日本\u2028", "", "s\r\nid x", "agent:ö")
    waiting.put(str(tmp_path), *texts)
    found = waiting.read(waiting.paths(str(tmp_path))[0])
    assert found is not None
    assert (found.nugget, found.key, found.note, found.session, found.author) == texts


@pytest.mark.parametrize("kind", ["link", "file"])
def test_something_in_the_place_of_the_folder_is_refused(home: Path, tmp_path: Path, kind: str) -> None:
    other = tmp_path / "other"
    other.mkdir()
    if kind == "link":
        (home / waiting.FOLDER).symlink_to(other)
    else:
        (home / waiting.FOLDER).write_bytes(b"")
    found = quick(home, "port")
    assert found is not None
    with pytest.raises(ValueError, match=waiting.FOLDER):
        found.leave("one", "agent:tester")
    assert list(other.iterdir()) == []
    assert Memory.open(home).count_waiting()


@pytest.mark.parametrize("reconcile", [True, False])
def test_a_recall_that_another_one_counts_while_the_memory_is_opened_is_seen(
    home: Path, monkeypatch: pytest.MonkeyPatch, reconcile: bool
) -> None:
    _leave(home, "port", "one")
    read = Repository.refresh if reconcile else Repository.refresh_read_only

    def read_then_counted(*given: Any, **named: Any) -> bool:
        newer = read(*given, **named)
        monkeypatch.undo()
        Memory.open(home).close()
        return newer

    monkeypatch.setattr(Repository, read.__name__, read_then_counted)
    with closing(Memory.open(home, reconcile=reconcile)) as memory:
        assert memory.snapshot.by_name["web"].facts[0].hits == 1
    assert _hits(home, "web", "port") == 1


def test_a_recall_of_a_fact_that_is_gone_waits_for_nobody(home: Path) -> None:
    _leave(home, "host", "one")
    write_nugget(home, "web", [fact_object("port", "8081")], D=64)
    Memory.open(home).close()
    assert waiting.paths(str(home)) == []
    assert _hits(home, "web", "port") == 0


# Who counts


def test_one_process_at_a_time_counts_and_looks_again_before_it_ends(home: Path) -> None:
    folder = cache_of(str(home))
    assert folder is not None
    lock = take_lock(folder)
    assert lock >= 0
    assert is_locked(folder)
    assert take_lock(folder) == -1
    assert try_again(lock, lambda: True)
    assert is_locked(folder)
    assert not try_again(lock, lambda: False)
    assert not is_locked(folder)
    os.close(lock)
