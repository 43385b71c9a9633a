"""A review of a cleanup that an agent asks for: it waits, durably, until a person or a pass has done it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.daily import count_as_daily, daily_state, request_review, run_daily_pass
from core.memory import Memory
from core.model.change import Author

MORNING = datetime(2026, 11, 22, 8, 0, tzinfo=UTC)
CODEX = Author("agent", "codex")


@pytest.fixture
def memory(store: Path) -> Memory:
    memory = Memory.open(store, author=CODEX, clock=lambda: MORNING)
    run_daily_pass(memory, if_due=False)
    return memory


def test_a_review_that_is_asked_for_waits_for_a_person_even_where_no_pass_is_due(memory: Memory) -> None:
    before = daily_state(memory.home, MORNING, UTC)
    assert not before.due
    assert not before.waits_for_a_person
    assert "reviewAsked" not in before.to_dict()
    assert request_review(memory, MORNING, 3)
    memory.close()
    state = daily_state(memory.home, MORNING, UTC)
    assert state.waits_for_a_person
    assert state.to_dict()["reviewAsked"] == {"at": "2026-11-22T08:00:00.000Z", "by": "codex", "changes": 3}


@pytest.mark.parametrize("by", ["person", "pass"])
def test_it_is_done_once_a_person_looked_through_a_cleanup_or_a_pass_ran(memory: Memory, by: str) -> None:
    request_review(memory, MORNING, 3)
    if by == "person":
        count_as_daily(memory, MORNING, {"inspected": 1})
    else:
        run_daily_pass(memory, if_due=False)
    assert daily_state(memory.home, MORNING, UTC).asked is None


def test_without_a_log_nothing_is_kept_and_no_file_made(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "empty", reconcile=False)
    assert not request_review(memory, MORNING, 1)
    assert not (tmp_path / "empty").exists()
