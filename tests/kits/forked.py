"""Python processes forked from one that has loaded the product already: 20 ms each in place of 300 to 1,500.

They are processes like any other, with a memory, files, signals and an end of their own. What happens while Python
starts, and which modules a program loads, is for tests that run the interpreter itself.
"""

from __future__ import annotations

import contextlib
import fcntl
import multiprocessing
import os
import pty
import runpy
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing import forkserver, reduction
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, Final

from pexpect import fdpexpect

_HANG_UP_SECONDS: Final = 2.0
_context: Final = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["kits.preloaded"])


class Forked(subprocess.Popen[Any]):
    """`subprocess.Popen` for `[sys.executable, "-c", code, ...]`, `"-m", module` or a file, but forked.

    on_terminal: standard input is a terminal, which becomes the process's own.
    """

    def __init__(self, args: Sequence[str | Path], *, on_terminal: bool = False, **given: Any) -> None:
        self._on_terminal = on_terminal
        super().__init__(args, **given)

    def _execute_child(  # type: ignore[no-untyped-def]
        self, args, executable, preexec, close, passed, cwd, env, startup, flags, shell,
        read_in, write_in, read_out, write_out, read_errors, write_errors, *_,
    ) -> None:  # fmt: skip
        assert args[0] == sys.executable
        files = [own if own != -1 else place for place, own in enumerate((read_in, write_out, write_errors))]
        self._process = forked_process(
            target=_become,
            args=(
                [str(each) for each in args[1:]],
                str(cwd or os.getcwd()),
                dict(os.environ if env is None else env),
                [_Handed(number) for number in files],
                self._on_terminal,
            ),
        )
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid
        self._child_created = True
        self._close_pipe_fds(read_in, write_in, read_out, write_out, read_errors, write_errors)

    def _internal_poll(self, *_: object, **__: object) -> int | None:
        if self.returncode is None:
            self.returncode = self._process.exitcode
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        self._process.join(timeout)
        if self._internal_poll() is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self.returncode


def forked_process(*, target: Callable[..., object], args: tuple[object, ...]) -> ForkServerProcess:
    """A process that calls a function which it can import."""
    before = os.environ.get("PYTHONPATH")
    # The process from which all are forked finds what it loads where these tests stand.
    os.environ["PYTHONPATH"] = os.pathsep.join(str(folder) for folder in Path(__file__).parents[1:3])
    try:
        forkserver.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
    return _context.Process(target=target, args=args)


def run(args: Sequence[str | Path], **given: Any) -> subprocess.CompletedProcess[Any]:
    """`subprocess.run`, forked. Takes no input and does not check how it ended."""
    timeout = given.pop("timeout", None)
    if given.pop("capture_output", False):
        given |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    check = given.pop("check", False)
    with Forked(args, **given) as process:
        try:
            out, errors = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    if check and process.returncode:
        raise subprocess.CalledProcessError(process.returncode, args, out, errors)
    return subprocess.CompletedProcess(args, process.returncode, out, errors)


class ForkedSpawn(fdpexpect.fdspawn):  # type: ignore[misc]
    """`pexpect.spawn` for a command as `Forked` takes it. dimensions: lines and columns of its terminal."""

    def __init__(
        self,
        args: Sequence[str | Path],
        *,
        dimensions: tuple[int, int] = (24, 80),
        timeout: float = 30,
        **given: Any,
    ) -> None:
        ours, theirs = pty.openpty()
        _set_size(ours, *dimensions)
        try:
            self._forked = Forked(args, on_terminal=True, stdin=theirs, stdout=theirs, stderr=theirs, **given)
        finally:
            os.close(theirs)
        # Unlike select, poll takes a file of any number.
        super().__init__(ours, timeout=timeout, use_poll=True)
        self.pid = self._forked.pid

    @property
    def exitstatus(self) -> int | None:
        """The exit code of a process that ended by itself."""
        code = self._forked.returncode
        return None if code is None or code < 0 else code

    @exitstatus.setter
    def exitstatus(self, _: object) -> None:
        pass

    @property
    def signalstatus(self) -> int | None:
        """The signal that ended the process."""
        code = self._forked.returncode
        return None if code is None or code >= 0 else -code

    @signalstatus.setter
    def signalstatus(self, _: object) -> None:
        pass

    def isalive(self) -> bool:
        """Whether the process has not ended."""
        return self._forked.poll() is None

    def wait(self) -> int | None:
        """Waits for the end of the process; its exit code."""
        self._forked.wait()
        return self.exitstatus

    def setwinsize(self, lines: int, columns: int) -> None:
        """Gives the terminal another size, of which the process is told."""
        _set_size(self.child_fd, lines, columns)

    def close(self, force: bool = True) -> None:
        """Takes the terminal away, and waits for the process to end of it. force: at last kills it."""
        if not self.closed:
            super().close()
        try:
            self._forked.wait(_HANG_UP_SECONDS)
        except subprocess.TimeoutExpired:
            if force:
                self._forked.kill()
            self._forked.wait()


class _Handed:
    """An open file that goes to the new process with what else it is given."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (reduction.DupFd(self._number),)


def _received(handed: Any) -> int:
    return int(handed.detach())


def _set_size(terminal: int, lines: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


def _become(
    arguments: list[str], cwd: str, environment: Mapping[str, str], files: list[int], on_terminal: bool
) -> None:
    """Makes of a fresh fork what the interpreter would be for these arguments."""
    for place, number in enumerate(files):
        os.dup2(number, place)
    for number in {*files} - {0, 1, 2}:
        os.close(number)
    if on_terminal:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:0] = environment.get("PYTHONPATH", "").split(os.pathsep)
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
    try:
        _run(arguments)
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()


def _run(arguments: list[str]) -> None:
    first = arguments[0]
    if first == "-c":
        sys.argv = ["-c", *arguments[2:]]
        sys.path.insert(0, "")
        exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
    elif first == "-m":
        sys.argv = arguments[1:]
        sys.path.insert(0, "")
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path.insert(0, str(Path(first).parent))
        runpy.run_path(first, run_name="__main__")


@contextlib.contextmanager
def ready(words: Sequence[str], **given: Any) -> Iterator[subprocess.Popen[str]]:
    """A process that has said "ready" and begins when it is sent a line; it does not outlive the test. given: as for
    `Popen`.
    """
    process = Forked(list(words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **given)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()
