"""Every command that writes, with each of its changing calls refused once: done or not done, and said truly.

A few calls of the commonest commands here; NUGGETS_FAULTS=1 refuses every call of every command, with all four errors.
"""

from __future__ import annotations

import errno
import os
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kits.fault_kit import COMMANDS, Bench, sweep
from kits.faults import ERRORS, failing

FULL = bool(os.environ.get("NUGGETS_FAULTS"))
# Each call of a long command takes minutes.
pytestmark = [pytest.mark.slow, *([pytest.mark.timeout(1800)] if FULL else [])]
COMMON = (
    "remember", "forget", "recall", "note hide", "promote", "undo", "repair a file", "resolve copies", "mask",
    "save a setting", "ingest", "accept", "share",
)  # fmt: skip
# How many calls of a command are refused where not all are.
FEW = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("faults")


_benches: dict[Path, Bench] = {}


@pytest.fixture
def bench(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Copies of one memory to run in, which is made once; the environment is this test's alone."""
    for name in ("HOME", "NUGGETS_HOME", "NUGGETS_CACHE", "NUGGETS_STATE", "NUGGETS_TEAM"):
        monkeypatch.setenv(name, str(folder))
    monkeypatch.chdir(folder)
    if folder not in _benches:
        _benches[folder] = Bench(folder)
    return _benches[folder]


@pytest.mark.parametrize("name", COMMANDS if FULL else COMMON)
def test_a_command_whose_call_is_refused_leaves_the_state_before_or_after_and_says_which(
    bench: Bench, name: str
) -> None:
    if FULL:
        runs, bad = sweep(bench, name, ERRORS)
        assert runs >= 4 * len(ERRORS)
    else:
        _, _, count = bench.states(name)
        code = ERRORS[zlib.crc32(name.encode()) % len(ERRORS)]
        every = max(1, count // FEW)
        runs, bad = sweep(bench, name, (code,), every, start=zlib.crc32(name.encode()))
        assert runs >= FEW - 1
    assert not bad, "\n".join(map(str, bad))


@pytest.mark.parametrize("name", COMMANDS if FULL else ("remember", "note hide"))
def test_on_a_disk_that_stays_full_a_command_leaves_what_the_next_opening_makes_whole(
    bench: Bench, name: str
) -> None:
    _, _, count = bench.states(name)
    every = 1 if FULL else max(1, count // FEW)
    _, bad = sweep(bench, name, (errno.ENOSPC,), every, start=every - 1, more=10_000)
    assert not bad, "\n".join(map(str, bad))


@pytest.mark.parametrize("code", ERRORS)
@pytest.mark.parametrize(
    "args", [("recall", "db port"), ("log",), ("search", "port"), ("remember", "ops", "a", "b")]
)
def test_what_is_advised_fits_what_the_disk_says(
    nuggets: Any, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...], code: int
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    nuggets.ok("remember", "ops", "db port", "5432")
    wanted = {
        errno.ENOSPC: "free space", errno.EDQUOT: "free space", errno.EIO: "the disk is failing",
        errno.EROFS: "allow writing",
    }  # fmt: skip
    if code == errno.EROFS:
        # SQLite says no more than that it may not write.
        flags = SimpleNamespace(f_bavail=1, f_favail=1, f_files=1, f_flag=os.ST_RDONLY)
        monkeypatch.setattr(os, "statvfs", lambda path: flags)
    for start in (0, 1, 3):
        with failing(start, code, more=10_000) as faults:
            said = nuggets(*args).stderr
        # Looking into the log and searching write nothing, so that nothing of them is refused.
        assert faults.failed or start or args[0] in ("log", "search")
        others = {one for one in (*wanted.values(), "check its permissions") if one != wanted[code]}
        assert not [one for one in others if one in said], said
        if os.strerror(code) in said:
            assert wanted[code] in said, said
