"""What every test starts from: an isolated home, a fixed clock, and a copy of a memory the original wrote."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A machine under load is slow; that is no failure of what is tested. The same examples at every run, so that a change
# is judged by what it changes; NUGGETS_EXPLORE=1 looks for new ones.
settings.register_profile(
    "patient",
    deadline=None,
    derandomize=not os.environ.get("NUGGETS_EXPLORE"),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("patient")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

GOLDEN = Path(__file__).parent / "golden" / "original"
START = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _isolated(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("NUGGETS_", "MEMORY_", "XDG_", "TEXTUAL", "OLLAMA_")):
            monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR", "VISUAL", "EDITOR", "COLORTERM", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / ".cache"))
    # Where the user's folder for caches does not depend on HOME.
    monkeypatch.setenv("NUGGETS_CACHE", str(home / ".cache" / "nuggets"))
    monkeypatch.setenv("NUGGETS_STATE", str(home / ".local" / "state" / "nuggets"))
    monkeypatch.setenv("TZ", "UTC")


@pytest.fixture
def golden() -> Path:
    """The folder of data that the original wrote."""
    return GOLDEN


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A copy of the memory that the original wrote."""
    target = tmp_path / "store"
    shutil.copytree(GOLDEN / "store", target)
    return target


@pytest.fixture
def clock() -> Callable[[], datetime]:
    """A clock that starts at a fixed time and moves a second at each look."""
    counter = itertools.count()
    return lambda: START + timedelta(seconds=next(counter))


@pytest.fixture
def ids() -> Callable[[], str]:
    """Ids that count upwards: 8 hexadecimal digits."""
    counter = itertools.count(0xA0000000)
    return lambda: f"{next(counter):08x}"
