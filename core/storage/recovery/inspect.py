"""Inspects the folder itself: who may write to it, where its files really lie, and leftovers in it."""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from core.errors import NuggetsError, ReadOnlyError, Remedy
from core.folder import DATABASE_FILE, FACT_SUFFIXES, GRAPH_FILE
from core.model.saved_search import SEARCHES_FILE
from core.settings import SETTINGS_FILE
from core.storage.files.atomic import LOCK_NAME, leftovers, write_target, wrong_kind
from core.storage.merge.copies import conflict_copies, read_copy
from core.storage.safety.backups import BACKUPS
from core.verify import Finding, sentence

_TEMPORARY_OF_OTHERS: Final = re.compile(r"[^.].*\.json\..*\btmp|[^.].*\.json\.tmp.*")


def inspect_folder(home: Path) -> list[Finding]:
    """What is not right with the folder and its files, whatever stands in them. Reads names, rights and links;
    of files that look like conflict copies also what they hold. Nothing for a folder that does not exist.

    Raises StorageError when the system refuses to show the folder.
    """
    if not home.is_dir():
        return []
    graph, own = home / GRAPH_FILE, (SETTINGS_FILE, SEARCHES_FILE, DATABASE_FILE)
    names = _names(home)
    # The memory's own files, also those that are links to nothing.
    files = [graph] if os.path.lexists(graph) else []
    files += [home / n for n in names if n in own or (n.endswith(FACT_SUFFIXES) and not n.startswith("."))]
    return [
        *_false_links(home, files),
        *_open_to_others((home, home / GRAPH_FILE.parent, *files)),
        *_conflict_copies(home),
        *_leftovers(home),
        *_obstacles(home),
    ]


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _false_links(home: Path, files: list[Path]) -> Iterator[Finding]:
    """Files that are links out of the folder, which are read but never written through, and links to nothing."""
    for path in files:
        if not path.exists():
            detail = f"{path.name} is a link to {os.path.realpath(path)}, which does not exist. "
            detail += "Restore the file there, or put it into the folder itself."
            yield Finding("broken-link", str(path), detail)
            continue
        try:
            write_target(home, path)
        except ReadOnlyError as error:
            detail = f"{path.name} {error.what}: it is read, but never written. "
            detail += "Move the file itself into the folder."
            yield Finding("link-out-of-folder", str(path), detail)


def _open_to_others(paths: tuple[Path, ...]) -> Iterator[Finding]:
    """What everybody on this machine may write."""
    for path in paths if os.name != "nt" else ():
        try:
            mode = path.stat().st_mode
        except OSError:
            continue
        if mode & stat.S_IWOTH:
            what = "folder" if stat.S_ISDIR(mode) else "file"
            detail = f"Every user of this machine may write this {what}, and so change what agents read. "
            detail += f"Close it with: chmod o-w {shlex.quote(str(path))}"
            yield Finding("writable-by-others", str(path), detail)


def _conflict_copies(home: Path) -> Iterator[Finding]:
    try:
        copies = conflict_copies(home)
    except NuggetsError as error:
        what = f"The file {error.what}."
        yield Finding("unreadable-file", error.where, what, todo=sentence(error.more), remedy=error.remedy)
        return
    for copy in copies:
        problem = copy.problem
        try:
            _ = problem or read_copy(copy)
        except NuggetsError as error:
            problem = error.what
        name, original = copy.path.name, copy.original.name
        detail = (
            f"{name} is a copy of {original}, left by a sync tool or another build of an agent: its contents "
        )
        detail += "are not in the memory."
        if problem:
            detail = f"{name} looks like a conflict copy of {original} and {problem}: it is not joined. "
            detail += "Fix it or move it away."
        remedy = None if problem else Remedy("resolve-join")
        yield Finding("conflict-copy", str(copy.path), detail, remedy=remedy)


def _leftovers(home: Path) -> Iterator[Finding]:
    """Temporary files of writers that were killed, ours and those of other programs."""
    for path, target in leftovers(home):
        detail = f"A write of {target.name} was interrupted and left this file. The next change removes it."
        yield Finding("leftover", str(path), detail)
    for folder in (home, home / GRAPH_FILE.parent):
        for name in filter(_TEMPORARY_OF_OTHERS.fullmatch, _names(folder)):
            detail = "Another program began to write a file of the memory and did not finish. "
            yield Finding("leftover", str(folder / name), f"{detail}Delete it when no agent is running.")


def _obstacles(home: Path) -> Iterator[Finding]:
    """What stands where the lock and the backups belong, so that nothing can be written or kept."""
    lock, backups = home / LOCK_NAME, home / BACKUPS
    wrong = wrong_kind(lock)
    if wrong:
        detail = f"{lock.name} {wrong}: the memory cannot be locked, so nothing can be written. "
        detail += "Delete it when no agent is running; it is created again."
        yield Finding("blocked-lock", str(lock), detail)
    refused = ""
    if os.path.lexists(backups) and not backups.is_dir():
        refused = (
            "it is a link to a folder that is not there" if backups.is_symlink() else "it is not a folder"
        )
    elif backups.is_dir() and not backups.resolve().is_relative_to(home.resolve()):
        refused = f"it is a link to {backups.resolve()}, outside the memory's folder"
    elif backups.is_dir() and os.access(home, os.W_OK) and not os.access(backups, os.W_OK | os.X_OK):
        refused = "it is read-only"
    if refused:
        detail = (
            f"No backups can be made in {backups.name}: {refused}. Changes are written and logged without "
        )
        detail += "them. Delete it, or allow writing there; it is created again."
        yield Finding("no-backups", str(backups), detail)
