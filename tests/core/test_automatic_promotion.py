"""Whether the daily pass promotes: asked once, remembered, and nothing written before."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from kits.memory_files import note_object, write_graph

from core.daily import DailyResult, answer_promotion, pending_promotion, run_daily_pass
from core.memory import Memory
from core.model.change import Author

MORNING = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)


@pytest.fixture
def goal(tmp_path: Path) -> Path:
    return tmp_path / "docs" / "MEMORY.md"


@pytest.fixture
def home(tmp_path: Path, goal: Path) -> Path:
    """A memory with a note to promote, and a folder to promote to."""
    home = tmp_path / "memory"
    write_graph(home, [note_object(1, content="Recalled often.", hits=3)])
    (home / "settings.toml").write_text(f'[promotion]\nmemory_dir = "{goal.parent}"\n', encoding="utf-8")
    return home


def passed(home: Path, *, day: int = 0) -> DailyResult:
    moment = MORNING.replace(day=22 + day)
    memory = Memory.open(home, author=Author("reflection"), clock=lambda: moment)
    try:
        return run_daily_pass(memory, lambda: moment, zone=UTC)
    finally:
        memory.close()


def test_the_first_pass_says_what_waits_and_writes_nothing(home: Path, goal: Path) -> None:
    done = passed(home)
    assert done.ran
    assert done.asks is not None
    assert Path(done.asks.path) == goal
    assert done.to_dict()["promotionWaits"] == {"path": str(goal), "lines": 1}
    assert not goal.exists()
    assert passed(home, day=1).asks is not None


@pytest.mark.parametrize(("answer", "written"), [("project", True), ("always", True), ("never", False)])
def test_an_answer_is_remembered_and_followed_by_the_next_pass(
    home: Path, goal: Path, answer: str, written: bool
) -> None:
    passed(home)
    memory = Memory.open(home)
    answer_promotion(memory, answer, str(goal))
    assert pending_promotion(memory) is None
    assert f'memory_dir = "{goal.parent}"' in (home / "settings.toml").read_text(encoding="utf-8")
    done = passed(home, day=1)
    assert done.asks is None
    assert goal.exists() is written
    assert done.problems == ()


@pytest.mark.parametrize("answer", ["project", "always"])
def test_no_pass_writes_again_what_was_undone_until_a_person_promotes(
    home: Path, goal: Path, answer: str
) -> None:
    memory = Memory.open(home)
    answer_promotion(memory, answer, str(goal))
    assert passed(home).promotions
    assert goal.exists()
    promoted = memory.history.log(kind="promotion")[0]
    memory.history.undo(promoted.id)
    assert not goal.exists()
    for day in (1, 2):
        done = passed(home, day=day)
        assert (done.ran, done.promotions, done.problems) == (True, (), ())
        assert not goal.exists()
    memory.refresh()
    memory.promotion.promote(memory_dir=goal.parent)
    goal.unlink()
    assert passed(home, day=3).promotions
    assert goal.exists()
