"""The memory on which tests open the app, unless they make one of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kits.app_kit import small_memory
from kits.frames import draw_at_pauses
from kits.idle import shorten_waits
from kits.styles import share_styles

from nuggets_tui import pace


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A small memory."""
    small_memory(tmp_path / "memory")
    return tmp_path / "memory"


@pytest.fixture(autouse=True, scope="session")
def _waiting_little() -> Iterator[None]:
    """Tests do not wait longer than they must; those of the resting of a cursor put back how long that is."""
    with pytest.MonkeyPatch.context() as patch:
        shorten_waits(patch)
        draw_at_pauses(patch)
        share_styles(patch)
        patch.setattr(pace, "REST", 0.0)
        yield
