"""Starts a process that nobody waits for. Loaded where an agent waits, so it loads nothing."""

from __future__ import annotations

import os


def start(words: list[str]) -> None:
    """Starts a program with its arguments, with streams that lead nowhere and, where the system can, in a session of
    its own. Handles that are inheritable go along. Raises OSError, ValueError.
    """
    if hasattr(os, "posix_spawn"):
        nowhere = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in range(3)]
        try:
            os.posix_spawn(words[0], words, os.environ, file_actions=nowhere, setsid=True)
        except NotImplementedError:
            os.posix_spawn(words[0], words, os.environ, file_actions=nowhere, setpgroup=0)
        return
    import subprocess

    quiet = subprocess.DEVNULL
    flags = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    subprocess.Popen(words, stdin=quiet, stdout=quiet, stderr=quiet, creationflags=flags)
