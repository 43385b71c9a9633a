"""When a sync that nobody asks for is due: by the last one, whoever ran it, and less often while it fails."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from kits.synced import Machine

from core.model.names import iso
from core.sync.kept import Rhythm, last_sync

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def _ago(**time: float) -> str:
    return iso(NOW - timedelta(**time))


@pytest.mark.parametrize(
    ("last", "wait"), [("", 0.0), (_ago(minutes=4), 360.0), (_ago(minutes=10), 0.0), (_ago(days=3), 0.0)]
)
def test_it_is_due_so_long_after_the_last_one(last: str, wait: float) -> None:
    assert Rhythm().wait(600, last, NOW) == wait


def test_a_clock_that_was_set_back_keeps_no_sync_waiting() -> None:
    rhythm = Rhythm()
    assert rhythm.wait(600, iso(NOW + timedelta(days=300)), NOW) == 0
    rhythm.ended(NOW + timedelta(days=300), well=False)
    assert rhythm.wait(600, "", NOW) == 0


def test_what_fails_is_tried_less_and_less_often_and_once_an_hour_at_least() -> None:
    rhythm, waits = Rhythm(), []
    for _ in range(40):
        rhythm.ended(NOW, well=False)
        waits.append(rhythm.wait(600, _ago(days=1), NOW))
    assert waits[:4] == [1200, 2400, 3600, 3600]
    assert waits[-1] == 3600
    assert rhythm.wait(7200, "", NOW) == 7200


def test_a_sync_that_goes_through_ends_that_also_one_of_somebody_else() -> None:
    rhythm = Rhythm()
    rhythm.ended(NOW, well=False)
    rhythm.ended(NOW, well=True)
    assert rhythm.wait(600, iso(NOW), NOW) == 600
    rhythm.ended(NOW, well=False)
    later = NOW + timedelta(minutes=1)
    assert rhythm.wait(600, iso(later), later) == 600


@pytest.mark.slow
def test_only_a_memory_whose_sync_is_set_up_has_a_last_one(
    tmp_path: Path, machine: Callable[[str], Machine]
) -> None:
    assert last_sync(tmp_path / "nothing") is None
    laptop = machine("laptop")
    assert last_sync(laptop.home) == ""
    laptop.sync()
    assert (last_sync(laptop.home) or "") > "2020"
