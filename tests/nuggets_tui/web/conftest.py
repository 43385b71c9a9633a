"""A small memory that `nuggets serve` shows."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from kits.app_kit import small_memory

ROOT = Path(__file__).parents[3]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """The process that serves; the first line it prints is the URL."""
    small_memory(tmp_path / "memory")
    process = subprocess.Popen(
        [sys.executable, "-m", "nuggets_tui.cli", "serve", "--home", str(tmp_path / "memory")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=60)


@pytest.fixture
def served(server: subprocess.Popen[str]) -> str:
    """The URL."""
    assert server.stdout is not None
    return server.stdout.readline().strip()
