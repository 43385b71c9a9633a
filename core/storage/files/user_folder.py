"""The user's folders outside of every memory, with a subfolder for each memory."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

OFF: Final = "off"


def folder_of(home: Path, named: str, users: Callable[[], str]) -> Path | None:
    """The folder for what belongs to the memory in `home`; nothing is made. None when there is to be none.

    It lies in the folder that is `named`, else in the one that `users` gives, under a name made of the memory's path.
    named "off": none. None also for a place inside the memory's own folder, which people copy, commit and share.
    """
    named = named.strip()
    if named.casefold() == OFF:
        return None
    with contextlib.suppress(OSError, ValueError, RuntimeError):
        memory = os.path.realpath(home)
        root = Path(os.path.realpath(_root(named, users)))
        return None if root.is_relative_to(memory) else root / name_of(os.fsencode(memory))
    return None


def _root(named: str, users: Callable[[], str]) -> Path:
    """Raises RuntimeError when there is no home folder to start from, OSError when the working directory is gone."""
    if named:
        return Path(os.getcwd(), Path(named).expanduser())
    root = Path(users())
    if not root.is_absolute():
        raise RuntimeError("the user has no such folder")
    return root


def name_of(memory: bytes) -> str:
    """The name of the folder for a memory, made of its path: 16 hexadecimal digits."""
    return hashlib.blake2b(memory, digest_size=8).hexdigest()
