"""Which project a folder belongs to, and which one a folder of Claude Code's is for, by the files alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path


def main_root(folder: str) -> str:
    """The root of the repository around a folder, of a worktree that of its main worktree; else the folder."""
    at = Path(os.path.abspath(folder))
    for root in (at, *at.parents):
        git = root / ".git"
        if git.is_dir():
            return str(root)
        if git.is_file():
            return str(_main_of(root, git) or root)
    return str(at)


def _main_of(root: Path, pointer: Path) -> Path | None:
    """The main worktree of a linked one; None for a submodule, and for a repository without one."""
    try:
        private = root / pointer.read_text("utf-8", "surrogateescape").removeprefix("gitdir:").strip()
        shared = private / (private / "commondir").read_text("utf-8", "surrogateescape").strip()
    except (OSError, ValueError):
        return None
    git = Path(os.path.realpath(shared))
    return git.parent if git.name == ".git" else None


def folders_called(name: str, called: Callable[[str], str], above: str = os.sep) -> Iterator[str]:
    """The folders for which Claude Code has a folder of this name. called: the name that it gives to a text."""
    rest = name.removeprefix(called(os.sep)) if above == os.sep else name
    try:
        with os.scandir(above) as entries:
            near = [(one.path, called(one.name)) for one in entries if rest.startswith(called(one.name))]
    except OSError:
        return
    for path, own in near:
        if rest == own:
            yield path
        elif rest.startswith(f"{own}-") and os.path.isdir(path):
            yield from folders_called(rest[len(own) + 1 :], called, path)
