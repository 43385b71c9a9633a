"""The memory on which tests open the app, unless they make one of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.app_kit import small_memory
from kits.idle import shorten_waits

from nuggets_tui import pace


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A small memory."""
    small_memory(tmp_path / "memory")
    return tmp_path / "memory"


@pytest.fixture(autouse=True)
def _at_rest_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    shorten_waits(monkeypatch)


@pytest.fixture(autouse=True)
def _panes_follow_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests do not wait until a cursor rests; those of the resting put it back."""
    monkeypatch.setattr(pace, "REST", 0.0)
