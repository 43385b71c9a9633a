"""The memory on which tests open the app, unless they make one of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from app_kit import small_memory


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A small memory."""
    small_memory(tmp_path / "memory")
    return tmp_path / "memory"
