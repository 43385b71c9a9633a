"""Whether some program has a file open to write it: its content may be half of something then."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from pathlib import Path
from typing import Final

# How long a program that writes a file in place is waited for, in seconds.
WAIT_SECONDS: Final = 5.0
_GLANCE_SECONDS: Final = 0.01
# Where the system cannot tell who has a file open, one that was written so recently may still be.
_RECENT_SECONDS: Final = 0.3


def is_open_to_write(path: Path) -> bool | None:
    """Whether any process has the file open for writing; None where the system does not tell.

    Linux grants a read lease on a file (fcntl(2), F_SETLEASE) only while nobody has it open for writing.
    """
    try:
        import fcntl
        import signal

        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (ImportError, OSError):
        return None
    try:
        # Who opens the file to write while the lease is held would otherwise end this process with SIGIO.
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except AttributeError:
        return None
    except OSError as error:
        return True if error.errno in (errno.EAGAIN, errno.EACCES) else None
    finally:
        os.close(handle)
    return False


def wait_for_writers(path: Path, seconds: float = WAIT_SECONDS) -> bool:
    """Waits while a program has the file open for writing, at most so long. Whether there was one to wait for."""
    end = time.monotonic() + seconds
    waited = False
    while is_open_to_write(path) and time.monotonic() < end:
        waited = True
        time.sleep(_GLANCE_SECONDS)
    return waited


def wait_until_whole(path: Path, begun: float) -> bool:
    """Waits a moment when a file that cannot be read is being written. Whether to read it again.

    begun: `time.monotonic()` at the first try; what is never finished is not waited for for ever.
    """
    if time.monotonic() - begun > WAIT_SECONDS:
        return False
    writing = is_open_to_write(path)
    if writing is None:
        with contextlib.suppress(OSError):
            age = time.time() - path.stat().st_mtime
            writing = 0 <= age < _RECENT_SECONDS
    if writing:
        time.sleep(_GLANCE_SECONDS)
    return bool(writing)
