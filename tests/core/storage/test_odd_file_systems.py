"""File systems that lack what local ones have, as shared folders do: a memory works there, and nothing is advised."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from kits.memory_files import notes_of

from core import Memory
from core.graph.edits import create_note

fcntl = pytest.importorskip("fcntl", reason="locks of another kind are used on Windows")
ROOT = Path(__file__).parents[3]


def _add(home: Path, title: str) -> tuple[str, ...]:
    memory = Memory.open(home)
    memory.change("new", lambda draft: create_note(draft, "memory", title, "Text."))
    said = memory.take_notices()
    memory.close()
    return said


def _titles(home: Path) -> list[str]:
    return [note["title"] for note in notes_of(home).values()]


def _refuse(code: int) -> Any:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(code, os.strerror(code))

    return refuse


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_without_locks_a_note_is_stored_and_that_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    for name in ("flock", "lockf"):
        monkeypatch.setattr(fcntl, name, _refuse(code))
    assert len(_add(tmp_path, "One")) == 1
    assert _add(tmp_path, "Two") == ()
    assert _titles(tmp_path) == ["One", "Two"]
    assert len(Memory.open(tmp_path).history.log()) == 2


def test_the_lock_of_a_database_whose_writer_was_killed_is_nobodys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fcntl, "lockf", _refuse(errno.ENOLCK))
    _add(tmp_path, "One")
    lock = tmp_path / "nuggets.db.lock"
    lock.mkdir()
    os.utime(lock, (1, 1))
    _add(tmp_path, "Two")
    assert _titles(tmp_path) == ["One", "Two"]


@pytest.mark.parametrize("call", ["fsync", "link", "chmod"])
def test_a_call_that_a_file_system_does_not_know_keeps_no_note_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    monkeypatch.setattr(os, call, _refuse(errno.EINVAL if call == "fsync" else errno.EPERM))
    _add(tmp_path, "One")
    assert _titles(tmp_path) == ["One"]


_SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static int in(int fd, const char *part) {
    char link[64], path[4096]; snprintf(link, 64, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, 4095); if (n < 0) return 0; path[n] = 0;
    return !strncmp(path, getenv("LACKING"), strlen(getenv("LACKING"))) && strstr(path, part);
}
static int control(const char *name, int fd, int command, void *with) {
    int (*real)(int, int, ...) = dlsym(RTLD_NEXT, name);
    if (!strcmp(getenv("LACKS"), "locks") && (command == F_SETLK || command == F_SETLKW) && in(fd, "")) {
        errno = ENOLCK; return -1; }
    return real(fd, command, with);
}
#define CONTROL(name) int name(int fd, int c, ...) { va_list a; va_start(a, c); void *w = va_arg(a, void *); \\
    va_end(a); return control(#name, fd, c, w); }
CONTROL(fcntl)
CONTROL(fcntl64)
#define MAP(name) void *name(void *s, size_t l, int p, int f, int fd, off_t o) { \\
    void *(*real)(void *, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, #name); \\
    if (fd >= 0 && !strcmp(getenv("LACKS"), "memory") && in(fd, "-shm")) { errno = ENODEV; return MAP_FAILED; } \\
    return real(s, l, p, f, fd, o); }
MAP(mmap)
MAP(mmap64)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("gcc"), reason="needs Linux and a compiler")
@pytest.mark.parametrize("lacks", ["locks", "memory"])
@pytest.mark.parametrize("moved_there", [False, True])
def test_sqlite_itself_goes_without_locks_and_shared_memory(
    tmp_path: Path, lacks: str, moved_there: bool
) -> None:
    (tmp_path / "shim.c").write_text(_SHIM)
    shim, home = str(tmp_path / "shim.so"), tmp_path / "memory"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", shim, "shim.c", "-ldl"], cwd=tmp_path, check=True)
    lacking = os.environ | {"LD_PRELOAD": shim, "LACKS": lacks, "LACKING": str(home), "PYTHONPATH": str(ROOT)}

    def nuggets(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "nuggets_tui.cli", "--home", str(home), *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    if moved_there:
        nuggets(os.environ | {"PYTHONPATH": str(ROOT)}, "note", "add", "Old", "Text.")
    ran = [nuggets(lacking, "note", "add", title, "Text.") for title in ("One", "Two")]
    assert [one.returncode for one in ran] == [0, 0], [one.stderr for one in ran]
    assert _titles(home) == [*(["Old"] if moved_there else []), "One", "Two"]
    assert nuggets(lacking, "log").stdout.count("Two") == 1
