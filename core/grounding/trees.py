"""The files of a project at one moment: as they lie in its folder, or as a commit has them.

A project may be anybody's: nothing that its repository names is run, no link is followed out of it, and nothing but
ordinary files is read.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import cache, cached_property
from itertools import islice
from typing import Final, NamedTuple

from core.git_repository import ask, blob_digest, repository_around
from core.user_folders import file_stats

_LARGEST: Final = 2_000_000
# Of a folder without git so many files are looked at, and none below a folder of this kind.
_MOST_FILES: Final = 5_000
_PASSED_OVER: Final = frozenset(("node_modules", "__pycache__", "target", "dist", "build", "venv"))
_LONGEST_LINE: Final = 2_000
_MOST_UNTRACKED: Final = 300
# Git looks for so many names at once.
_AT_ONCE: Final = 200
_MAY_FAIL: Final = ("merge-base", "cat-file", "rev-list", "blame")
_GREP: Final = ("-n", "-z", "-a", "-E", "-w", "--full-name", "--no-color", "--no-textconv")


class Line(NamedTuple):
    """A line of a file that holds a name. number: from 1."""

    path: str
    number: int
    text: str


class Tree:
    """The files of a project. commit: as that has them; "" for as they lie in the folder. until: the moment of
    `time.monotonic` at which git is asked no more.
    """

    def __init__(self, root: str, commit: str = "", until: float = float("inf")) -> None:
        self.root, self.commit, self.until = root, commit, until
        # Whether git could not answer: then nothing is told of what it alone knows.
        self.failed = False
        # What each file was when its digest was made, and whether a folder is one of the project's own.
        self._digests: dict[str, tuple[object, str]] = {}
        self._inside: dict[str, bool] = {}
        self._stored: dict[str, bytes | None] = {}

    def ask(self, *words: str) -> bytes:
        """What git answers; nothing where it refuses, or the time is up."""
        left = self.until - time.monotonic()
        said = ask(self.root, *words, seconds=min(left, 20.0)) if left > 0 else None
        # A commit that is not here is an answer, too.
        self.failed = self.failed or (said is None and words[0] not in _MAY_FAIL)
        return said or b""

    @property
    def is_late(self) -> bool:
        """Whether git is asked no more, or could not answer."""
        return self.failed or time.monotonic() >= self.until

    @cached_property
    def head(self) -> str:
        """The commit that is checked out; "" for a project without git."""
        found = repository_around(self.root)
        return found.head.partition(" ")[0] if found is not None and found.top == self.root else ""

    @property
    def sign(self) -> object:
        """What tells what git has checked out and staged from another state of it."""
        found = repository_around(self.root)
        return found and (found.head, file_stats(os.path.join(found.private, "index")))

    @cached_property
    def _index(self) -> tuple[dict[str, str], set[str], set[str]]:
        """The digests that git's index has, the paths that are not checked out, and those of submodules."""
        blobs, absent, modules = dict[str, str](), set[str](), set[str]()
        for entry in self.ask("ls-files", "-t", "-s", "-z").split(b"\0") if self.head else ():
            fields, _, name = entry.partition(b"\t")
            if name:
                tag, mode, blob, _ = fields.decode().split(" ")
                path = os.fsdecode(name)
                (modules if mode == "160000" else absent if tag == "S" else set()).add(path)
                blobs |= {path: blob} if mode != "160000" else {}
        return blobs, absent, modules

    @property
    def absent(self) -> Collection[str]:
        """The paths that a sparse checkout leaves out."""
        return self._index[1]

    def in_module(self, path: str) -> bool:
        """Whether a path lies within a submodule."""
        return any(path == one or path.startswith(f"{one}/") for one in self._index[2])

    @cached_property
    def untracked(self) -> Collection[str]:
        """Files that git does not know yet, a few hundred at most."""
        said = self.ask("ls-files", "-o", "--exclude-standard", "-z") if self.head else b""
        return [os.fsdecode(name) for name in said.split(b"\0") if name][:_MOST_UNTRACKED]

    # Files

    @cached_property
    def blobs(self) -> Mapping[str, str]:
        """The digest of each file, by its path: of those that git knows, else of those that lie in the folder."""
        if not self.commit:
            return (
                self._index[0]
                if self.head
                else {path: self.blob(path) for path in islice(_walk(self.root), _MOST_FILES)}
            )
        rows = (row.partition(b"\t") for row in self.ask("ls-tree", "-r", "-z", self.commit).split(b"\0"))
        return {
            os.fsdecode(name): fields.split()[2].decode() for fields, _, name in rows if b" blob " in fields
        }

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(path[:at] for path in self.blobs for at, letter in enumerate(path) if letter == "/")

    def has(self, path: str) -> bool:
        """Whether there is such a file or folder; a sparse checkout has what it leaves out."""
        if self.commit:
            return path in self.blobs or path in self._folders
        there = os.path.lexists(os.path.join(self.root, path))
        return there or any(one == path or one.startswith(f"{path}/") for one in self.absent)

    def blob(self, path: str) -> str:
        """The digest of a file, as git makes it; "" for what has none."""
        seen = file_stats(os.path.join(self.root, path)) if not self.commit else []
        if len(seen) < 2:
            return self.blobs.get(path, "") if self.commit or path in self.absent else ""
        if path not in self._digests or self._digests[path][0] != seen:
            data = self._read(path)
            self._digests[path] = seen, "" if data is None else blob_digest(data, self.head)
        return self._digests[path][1]

    def text(self, path: str) -> str | None:
        """The text of a file; None for none, a folder, a large or a binary one."""
        data = None if self.commit else self._read(path)
        if data is None and (self.commit or path in self.absent):
            if path not in self._stored:
                blob = self.blobs.get(path)
                self._stored[path] = self.ask("cat-file", "blob", blob) if blob else None
            data = self._stored[path]
        bad = data is None or len(data) > _LARGEST or b"\0" in data[:8_000]
        return None if bad or data is None else data.decode("utf-8", "replace")

    def _read(self, path: str) -> bytes | None:
        full = os.path.join(self.root, path)
        folder = os.path.dirname(full)
        try:
            if folder not in self._inside:
                real, root = (os.path.join(os.path.realpath(one), "") for one in (folder, self.root))
                self._inside[folder] = real.startswith(root)
            if not self._inside[folder] or os.path.islink(full):
                return None
            with open(os.open(full, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
                found = os.fstat(file.fileno())
                return file.read() if stat.S_ISREG(found.st_mode) and found.st_size <= _LARGEST else None
        except (OSError, ValueError):
            return None

    @cached_property
    def by_blob(self) -> Mapping[str, list[str]]:
        """Where each content lies."""
        return _grouped((blob, path) for path, blob in self.blobs.items())

    @cached_property
    def by_name(self) -> Mapping[str, list[str]]:
        """Where files of each name lie."""
        return _grouped((path.rpartition("/")[2], path) for path in self.blobs)

    def lines_with(self, names: Collection[str], *where: str) -> Mapping[str, list[Line]]:
        """The lines of all files that git knows, or would know, that hold each of some names as a word. where: patterns
        of paths; none for all.
        """
        found: dict[str, list[Line]] = {name: [] for name in names}
        there, has = (self.commit,) if self.commit else ("--untracked",), cache(self.has)
        ordered = sorted(names) if self.commit or self.head else []
        for some in (ordered[at : at + _AT_ONCE] for at in range(0, len(ordered), _AT_ONCE)):
            wanted = re.compile("|".join(rf"(?<![\w$]){re.escape(name)}(?![\w$])" for name in some))
            # One expression of all names: many at once take git ten times as long.
            shape = "|".join(name.replace("$", "[$]") for name in some)
            for row in self.ask("grep", *_GREP, "-e", shape, *there, "--", *where).split(b"\n"):
                file, number, text = (*row.split(b"\0", 2), b"", b"")[:3]
                path = os.fsdecode(file).removeprefix(f"{self.commit}:")
                # A name with a line break in it makes lines of its own.
                if number.isdigit() and has(path):
                    line = Line(path, int(number), text[:_LONGEST_LINE].decode("utf-8", "replace"))
                    for name in set(wanted.findall(line.text)):
                        found[name].append(line)
        return found


def _grouped(pairs: Iterator[tuple[str, str]]) -> Mapping[str, list[str]]:
    found = defaultdict(list)
    for key, value in pairs:
        found[key].append(value)
    return found


def _walk(root: str) -> Iterator[str]:
    """The paths of files in a folder without git."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(one for one in folders if not one.startswith(".") and one not in _PASSED_OVER)
        inner = "" if folder == root else os.path.relpath(folder, root).replace(os.sep, "/") + "/"
        yield from (inner + name for name in sorted(names))
