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
from core.storage.files.atomic import leftovers, write_target
from core.storage.merge.copies import conflict_copies, read_copy
from core.verify import Finding, sentence

_OWN: Final = (SETTINGS_FILE, SEARCHES_FILE, DATABASE_FILE)
_TEMPORARY_OF_OTHERS: Final = re.compile(r"[^.].*\.json\..*\btmp|[^.].*\.json\.tmp.*")


def inspect_folder(home: Path) -> Iterator[Finding]:
    """What is not right with the folder and its files, whatever stands in them. Reads names, rights and links;
    of files that look like conflict copies also what they hold. Nothing for a folder that does not exist.
    """
    if home.is_dir():
        files = [
            path
            for path in (home / GRAPH_FILE, *_entries(home))
            if os.path.lexists(path) and (path.name in (*_OWN, GRAPH_FILE.name) or path.name.endswith(FACT_SUFFIXES))
        ]  # fmt: skip
        yield from _false_links(home, files)
        yield from _open_to_others((home, home / GRAPH_FILE.parent, *files))
        yield from _conflict_copies(home)
        yield from _leftovers(home)


def _entries(folder: Path) -> list[Path]:
    """What the folder holds that is not hidden, in the order of its names."""
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
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
        name, original, problem = copy.path.name, copy.original.name, copy.problem
        try:
            _ = problem or read_copy(copy)
        except NuggetsError as error:
            problem = error.what
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
    for path in (*_entries(home), *_entries(home / GRAPH_FILE.parent)):
        if _TEMPORARY_OF_OTHERS.fullmatch(path.name):
            detail = "Another program began to write a file of the memory and did not finish. "
            yield Finding("leftover", str(path), f"{detail}Delete it when no agent is running.")
