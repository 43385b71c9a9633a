"""The daily pass: once a day whoever asks, each part for itself, and nothing where there is nothing to do."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from kits.forked import Forked
from kits.memory_files import note_object, write_graph

from core import daily
from core.daily import count_as_daily, counts_of, daily_state, request_review, run_daily_pass
from core.errors import (
    BrokenFileError,
    ConflictError,
    InvalidInputError,
    LockTimeoutError,
    NotFoundError,
    NuggetsError,
)
from core.memory import Memory
from core.model.change import Author
from core.promotion.target import project_folder
from core.services.promotion import Promoter
from core.storage.journal.kept import runs

ROOT = Path(__file__).parents[2]
MORNING = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
DAY = timedelta(days=1)
UNTIDY = "Said   with  gaps.\n\n\n\n\nAnd more."


def at(moment: datetime) -> Callable[[], datetime]:
    return lambda: moment


def opened(home: Path, moment: datetime = MORNING) -> Memory:
    return Memory.open(home, author=Author("reflection"), clock=at(moment))


def passed(home: Path, moment: datetime = MORNING, **more: Any) -> daily.DailyResult:
    memory = opened(home, moment)
    try:
        return run_daily_pass(memory, at(moment), zone=UTC, **more)
    finally:
        memory.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "memory"
    write_graph(home, [note_object(1, content=UNTIDY)])
    return home


@pytest.fixture
def goal(home: Path, tmp_path: Path) -> Path:
    """The MEMORY.md of the settings, for a memory with something to promote."""
    write_graph(home, [note_object(1, content=UNTIDY, hits=9)])
    (tmp_path / "goal").mkdir()
    (home / "settings.toml").write_text(
        f'[promotion]\nmemory_dir = "{tmp_path / "goal"}"\n', encoding="utf-8"
    )
    return tmp_path / "goal" / "MEMORY.md"


def test_a_due_pass_cleans_up_once_and_is_in_the_log(home: Path) -> None:
    done = passed(home)
    assert done.ran
    assert done.reflection is not None
    assert done.reflection.counts["rewritten"] == 1
    assert done.summary.startswith("checked 1 note: ")
    assert done.next_due == MORNING + DAY
    newest = Memory.open(home).history.log(limit=1)[0].change_set
    assert (newest.kind, newest.author.kind) == ("reflection", "reflection")
    again = passed(home, MORNING + timedelta(minutes=5))
    assert (again.ran, again.why_not) == (False, "not due")
    assert again.last == runs(home)[0]
    assert again.last.counts["rewritten"] == 1
    assert passed(home, MORNING + DAY).ran


def test_who_asks_changes_nothing_and_makes_no_log(home: Path) -> None:
    before = sorted(path.name for path in home.iterdir())
    state = daily_state(home, MORNING, UTC)
    assert (state.due, state.last, state.running, state.daemon) == (True, None, False, None)
    assert state.waits_for_a_person
    assert not daily_state(home, MORNING - timedelta(hours=3), UTC).due
    assert sorted(path.name for path in home.iterdir()) == before


def test_a_reflection_that_fails_leaves_the_promotion_and_stays_due(
    home: Path, goal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def held(self: Memory, **_: object) -> None:
        raise LockTimeoutError("somebody keeps it locked")

    with monkeypatch.context() as patch:
        patch.setattr(Memory, "reflect", held)
        done = passed(home, promote=True)
    assert done.reflection is None
    assert [Path(promotion.path) for promotion in done.promotions] == [goal]
    assert goal.exists()
    assert [str(problem) for problem in done.problems] == ["somebody keeps it locked"]
    assert done.summary == "the cleanup failed"
    assert daily_state(home, MORNING, UTC).due
    assert passed(home).ran


@pytest.mark.parametrize("error", [NotFoundError("no MEMORY.md"), ConflictError("changed")])
def test_a_promotion_that_fails_leaves_the_reflection(
    home: Path, goal: Path, monkeypatch: pytest.MonkeyPatch, error: NuggetsError
) -> None:
    def refuse(self: Promoter, **_: object) -> None:
        raise error

    monkeypatch.setattr(Promoter, "promote", refuse)
    done = passed(home, promote=True)
    assert done.reflection is not None
    assert done.reflection.counts["rewritten"] == 1
    assert done.problems == (error,)
    assert runs(home)[0].problems == (error.message,)
    assert not passed(home, MORNING + timedelta(hours=1)).ran


def test_every_file_that_was_promoted_to_before_is_kept_up_and_no_other(
    home: Path, goal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    here = tmp_path / ".claude" / "projects" / project_folder(str(tmp_path))
    here.mkdir(parents=True)
    (tmp_path / "other").mkdir()
    memory = opened(home)
    memory.promotion.promote(memory_dir=tmp_path / "other")
    memory.close()
    (tmp_path / "other" / "MEMORY.md").unlink()
    done = passed(home, promote=True)
    assert {Path(promotion.path) for promotion in done.promotions} == {goal, tmp_path / "other" / "MEMORY.md"}
    assert (tmp_path / "other" / "MEMORY.md").exists()
    assert not list(here.iterdir())


def test_a_memory_that_cannot_be_read_is_no_pass(home: Path) -> None:
    Memory.open(home).close()
    whole = (home / "graph" / "graph.json").read_bytes()
    (home / "graph" / "graph.json").write_bytes(whole[:-20])
    memory = Memory.open(home, clock=at(MORNING), tolerant=True)
    with pytest.raises(BrokenFileError):
        run_daily_pass(memory, if_due=False)
    memory.close()
    assert runs(home) == ()


def test_what_a_person_looked_through_is_the_pass_of_today(home: Path) -> None:
    memory = Memory.open(home, clock=at(MORNING))
    proposed = memory.reflect(dry_run=True)
    count_as_daily(memory, MORNING, {"inspected": proposed.inspected})
    assert runs(home)[0].by == "person"
    assert runs(home)[0].counts == {"inspected": 1}
    assert not run_daily_pass(memory).ran
    assert counts_of(proposed)["rewritten"] == 1


RUNNER = """
import os, sys
from datetime import datetime, UTC
os.fsync = lambda handle: None
from core.daily import run_daily_pass
from core.memory import Memory
from core.model.change import Author
memory = Memory.open(sys.argv[1], author=Author("reflection"), clock=lambda: datetime(2026, 11, 22, 12, 0, tzinfo=UTC))
print("ready", flush=True)
sys.stdin.readline()
done = run_daily_pass(memory)
print(done.ran, done.why_not)
"""


@pytest.mark.slow
def test_of_twenty_processes_at_once_exactly_one_runs_it(home: Path) -> None:
    write_graph(home, [note_object(number, content=f"{number} {UNTIDY}") for number in range(30)])
    workers = [
        Forked(
            [sys.executable, "-c", RUNNER, str(home)],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"TZ": "UTC", "PATH": ""},
        )
        for _ in range(20)
    ]  # fmt: skip
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    said = [worker.communicate()[0].strip() for worker in workers]
    assert all(worker.returncode == 0 for worker in workers)
    assert sorted(said)[-1] == "True"
    assert sum(line == "True" for line in said) == 1
    assert {line for line in said if line != "True"} <= {"False not due", "False running"}
    assert len(runs(home)) == 1
    entries = Memory.open(home).history.log(limit=None)
    assert sum(entry.change_set.kind == "reflection" for entry in entries) == 1


@pytest.mark.parametrize(
    "text", ["[schedule]\ndaemon_applies = 'no'\n", "[reflection]\nmax_notes = -1\n", "[schedule"]
)
def test_where_a_setting_of_its_own_is_wrong_the_pass_waits(home: Path, text: str) -> None:
    (home / "settings.toml").write_text(text)
    memory = Memory.open(home)
    with pytest.raises(InvalidInputError, match="the daily pass waits"):
        run_daily_pass(memory, lambda: MORNING, zone=UTC)
    assert not runs(home)
    assert daily_state(home, MORNING, UTC).unsure
    assert memory.reflect(dry_run=True) is not None


# A review that is asked for


EIGHT = datetime(2026, 11, 22, 8, 0, tzinfo=UTC)
CODEX = Author("agent", "codex")


@pytest.fixture
def memory(store: Path) -> Memory:
    memory = Memory.open(store, author=CODEX, clock=lambda: EIGHT)
    run_daily_pass(memory, if_due=False)
    return memory


def test_a_review_that_is_asked_for_waits_for_a_person_even_where_no_pass_is_due(memory: Memory) -> None:
    before = daily_state(memory.home, EIGHT, UTC)
    assert not before.due
    assert not before.waits_for_a_person
    assert "reviewAsked" not in before.to_dict()
    assert request_review(memory, EIGHT, 3)
    memory.close()
    state = daily_state(memory.home, EIGHT, UTC)
    assert state.waits_for_a_person
    assert state.to_dict()["reviewAsked"] == {"at": "2026-11-22T08:00:00.000Z", "by": "codex", "changes": 3}


@pytest.mark.parametrize("by", ["person", "pass"])
def test_it_is_done_once_a_person_looked_through_a_cleanup_or_a_pass_ran(memory: Memory, by: str) -> None:
    request_review(memory, EIGHT, 3)
    if by == "person":
        count_as_daily(memory, EIGHT, {"inspected": 1})
    else:
        run_daily_pass(memory, if_due=False)
    assert daily_state(memory.home, EIGHT, UTC).asked is None


def test_without_a_log_nothing_is_kept_and_no_file_made(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "empty", reconcile=False)
    assert not request_review(memory, EIGHT, 1)
    assert not (tmp_path / "empty").exists()
