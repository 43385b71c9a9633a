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

if sys.dont_write_bytecode:
    # Compiling, and rewriting every assert, takes longer than many a run. Who wants no __pycache__ beside the sources
    # has it here: of what is imported from here on, in workers from their start, and in the processes that tests start.
    sys.pycache_prefix = str(Path(__file__).parents[1] / ".pytest_cache" / "bytecode")
    sys.dont_write_bytecode = False
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

from hypothesis import settings
from kits.isolation import in_memory, isolated, open_files
from kits.laws import profile_for, register_profiles
from kits.loading import load_ones_share
from kits.made_databases import copy_databases
from kits.reports import BriefReports
from kits.signals import heed_signals_in_children
from kits.tiers import FAST, LONG_SECONDS, long_tests

register_profiles()
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
if place := in_memory():
    # Pytest's own variable for where its temporary folders are.
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(place))

_tests = itertools.count(1)
_TESTS_TO_A_LOOK = 40
_OPEN_FILES = 300
# Examples of a law and drawn lines come and go by the thousand; Python's own 700 has it look at them all the time.
_GARBAGE = (20_000, 20, 20)
GOLDEN = Path(__file__).parent / "golden" / "original"
START = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)


def pytest_configure(config: pytest.Config) -> None:
    """Few examples in the fast tier, all of them otherwise; --hypothesis-profile goes before."""
    if not config.getoption("--hypothesis-profile", None):
        settings.load_profile(profile_for(config.getoption("markexpr", ""), os.environ))
    if hasattr(config, "workerinput") and not config.getoption("xmlpath", None):
        config.pluginmanager.register(BriefReports())
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        heed_signals_in_children()


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Two workers more than processors where slow tests run: many of them wait for another process, or for a clock."""
    if config.getoption("markexpr", "") == FAST:
        return None
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (processors or 1) + 2


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With workers the slow tests come first, so that none of them is left to one worker at the end."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """What is collected stays until the end: no search for garbage need pass over it, now or later."""
    gc.disable()
    load_ones_share(session.config)
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(*_GARBAGE)
        gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[object]:
    """Every test in a home of its own, from its first fixture on to its last."""
    if next(_tests) % _TESTS_TO_A_LOOK == 0 and open_files() > _OPEN_FILES:
        # Memories that tests left open hold files.
        gc.collect()
    with isolated(item):
        try:
            return (yield)
        finally:
            # Tests without a terminal do not load it.
            if terminals := sys.modules.get("kits.pseudo_terminal"):
                terminals.close_all()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names the tests of the fast tier that are slow."""
    if terminalreporter.config.getoption("markexpr", "") != FAST:
        return
    said = terminalreporter.stats
    if long := long_tests(phase for each in ("", "passed", "failed") for phase in said.get(each, ())):
        terminalreporter.write_sep("-", f"over {LONG_SECONDS} s: make it faster or mark it slow")
        terminalreporter.write_line("\n".join(long))


@pytest.fixture(autouse=True, scope="session")
def _databases_copied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A new database costs a copy; tests of `core/storage` and `core/pipeline/database` make theirs."""
    with pytest.MonkeyPatch.context() as patch:
        copy_databases(patch, tmp_path_factory.mktemp("databases"))
        yield


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
