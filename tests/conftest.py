"""What every test starts from: an isolated home, a fixed clock, and a copy of a memory the original wrote."""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from kits.laws import profile_for, register_profiles
from kits.tiers import FAST, LONG_SECONDS, long_tests

from core.storage.journal import ledger

register_profiles()
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

GOLDEN = Path(__file__).parent / "golden" / "original"
START = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)
if sys.dont_write_bytecode:
    # Rewriting every assert takes longer than many a run. Who wants no __pycache__ beside the sources has it here.
    sys.pycache_prefix = str(Path(__file__).parents[1] / ".pytest_cache" / "bytecode")
    sys.dont_write_bytecode = False


def pytest_configure(config: pytest.Config) -> None:
    """Few examples in the fast tier, all of them otherwise; --hypothesis-profile goes before."""
    if not config.getoption("--hypothesis-profile", None):
        settings.load_profile(profile_for(config.getoption("markexpr", ""), os.environ))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With workers the slow tests come first, so that none of them is left to one worker at the end."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_collection_finish() -> None:
    """What stays until the end is no garbage: each search for some need not pass over thousands of tests."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names the tests of the fast tier that are slow."""
    if terminalreporter.config.getoption("markexpr", "") != FAST:
        return
    said = terminalreporter.stats
    if long := long_tests(phase for each in ("", "passed", "failed") for phase in said.get(each, ())):
        terminalreporter.write_sep("-", f"over {LONG_SECONDS} s: make it faster or mark it slow")
        terminalreporter.write_line("\n".join(long))


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for each test. Pytest's own way to a new one looks through all that there are already."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def _isolated(_homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    home = next(_homes)
    home.mkdir(mode=0o700)
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


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests write thousands of small files; whether the disk has them is the business of those named "durable"."""
    if "durable" not in request.node.originalname:
        monkeypatch.setattr(os, "fsync", lambda _: None)
        monkeypatch.setattr(ledger, "DURABLE", "OFF")
        monkeypatch.setattr(ledger, "RELAXED", "OFF")


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
