"""Memories that other programs keep on this machine, and single files that an import takes: found, counted and read,
never written.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from core.errors import NuggetsError
from core.exchange.records import time_of
from core.folder import CLAUDE_VARIABLE, DONNA_HOME, FACT_SUFFIXES, GRAPH_FILE, HOME_VARIABLE, USUAL_HOME
from core.promotion.target import MEMORY_FILE

if TYPE_CHECKING:
    from core.exchange.records import Format

# Where Claude Code keeps its folder when it is not ~/.claude.
PAGE_LIMIT: Final = 500_000
MOST_PAGES: Final = 500
_MOST_FOLDERS: Final = 2000
_DEPTH: Final = 3
_DONNA: Final = Path(DONNA_HOME).name
_PAGES: Final = (".md", ".markdown", ".txt")

Kind = Literal["claude", "nuggets"]


@dataclass(frozen=True)
class FoundMemory:
    """A folder with memories in it.

    kind: "claude" for pages of Markdown, "nuggets" for facts and notes as this program keeps them. name: of the
    project or folder. files: how many, of `size` bytes in all. at: ISO 8601 time of the newest change, "" for none.
    problem: why it cannot be read, "" when it can.
    """

    kind: Kind
    path: str
    name: str
    files: int = 0
    size: int = 0
    at: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Page:
    """A file of a memory that is kept in Markdown.

    name: its path in the folder. link: where it leads when it is a symbolic link, else "". problem: why it cannot be
    read, "" when it can.
    """

    path: str
    name: str
    size: int = 0
    at: str = ""
    link: str = ""
    problem: str = ""


@dataclass(frozen=True)
class PageText:
    """What a page says. cut: whether it goes on beyond `PAGE_LIMIT` bytes. problem: why there is nothing."""

    text: str = ""
    cut: bool = False
    problem: str = ""


def found_memories(
    home_dir: Path, environ: Mapping[str, str], beside: Iterable[Path] = ()
) -> tuple[FoundMemory, ...]:
    """The memories on this machine: Claude Code's, the newest first, then folders as this program keeps them.

    home_dir: the person's own folder. beside: folders in which others may lie, besides that one.
    """
    claude = Path(environ.get(CLAUDE_VARIABLE, "").strip() or home_dir / ".claude")
    folders = sorted(project / "memory" for project in _entries(claude / "projects"))
    kept = [one for folder in folders if folder.is_dir() and (one := _pages_memory(folder)) is not None]
    kept.sort(key=lambda one: one.at, reverse=True)
    named = environ.get(HOME_VARIABLE, "").strip()
    folders = [Path(named).expanduser()] if named.startswith(("~", "/")) else []
    folders += [home_dir / ".nuggets", home_dir / _DONNA, *_likely_folders([home_dir, *beside])]
    nuggets = (_nuggets_memory(folder) for folder in dict.fromkeys(folders))
    return (*kept, *(one for one in nuggets if one is not None))


def memory_elsewhere(folder: Path, home_dir: Path) -> FoundMemory | None:
    """The memory that the newest build of the original keeps in its own folder, where there is none in `folder` and
    that is the usual one; None when there is no such memory either, or another folder is meant.
    """
    if folder.exists() or folder.absolute() != home_dir / Path(USUAL_HOME).name:
        return None
    return _nuggets_memory(home_dir / _DONNA)


def _likely_folders(places: Iterable[Path]) -> Iterator[Path]:
    for place in dict.fromkeys(places):
        yield place
        yield place / _DONNA
        for entry in sorted(_entries(place)):
            if "nuggets" in entry.name.lower():
                yield entry
                yield entry / ".nuggets"
                yield entry / _DONNA


def _entries(folder: Path) -> list[Path]:
    """What lies in a folder, up to a bound; nothing for one that cannot be looked into."""
    found: list[Path] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in islice(entries, _MOST_FOLDERS):
            found.append(Path(entry.path))
    return found


def _pages_memory(folder: Path) -> FoundMemory | None:
    """A folder of pages; None for one that holds none."""
    project = folder.parent.name
    try:
        os.scandir(folder).close()
    except OSError as error:
        return FoundMemory("claude", str(folder), project, problem=error.strerror or "cannot be read")
    found = pages(folder)
    if not found:
        return None
    newest = max((page.at for page in found), default="")
    return FoundMemory("claude", str(folder), project, len(found), sum(page.size for page in found), newest)


def _nuggets_memory(folder: Path) -> FoundMemory | None:
    """A folder with facts or a note graph in it; None for any other."""
    files = [path for path in _entries(folder) if path.name.endswith(FACT_SUFFIXES)] + [folder / GRAPH_FILE]
    known = [(found.st_size, found.st_mtime) for path in files if (found := _regular(path)) is not None]
    if not known:
        return None
    newest = time_of(max(changed for _, changed in known))
    return FoundMemory(
        "nuggets", str(folder), folder.name, len(known), sum(size for size, _ in known), newest
    )


def _regular(path: Path) -> os.stat_result | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def pages(folder: Path) -> tuple[Page, ...]:
    """The pages of a folder and the folders in it, MEMORY.md first; the first `MOST_PAGES` of them."""
    paths = islice(_page_paths(folder, _DEPTH), MOST_PAGES)
    found = [_page(path, str(path.relative_to(folder))) for path in paths]
    return tuple(sorted(found, key=lambda page: (page.name != MEMORY_FILE, page.name.casefold(), page.name)))


def _page_paths(folder: Path, depth: int) -> Iterator[Path]:
    folders = []
    for path in sorted(_entries(folder)):
        # Folders behind a link are left out: they may lead round in a circle, or anywhere.
        if path.is_dir() and not path.is_symlink():
            folders.append(path)
        elif path.suffix.lower() in _PAGES:
            yield path
    if depth > 1:
        for inner in folders:
            yield from _page_paths(inner, depth - 1)


def _page(path: Path, name: str) -> Page:
    link = ""
    try:
        if path.is_symlink():
            link = os.readlink(path)
        found = path.stat()
    except OSError as error:
        said = "broken link" if link else error.strerror or "cannot be read"
        return Page(str(path), name, link=link, problem=said)
    if not stat.S_ISREG(found.st_mode):
        return Page(str(path), name, link=link, problem="not a regular file")
    return Page(str(path), name, found.st_size, time_of(found.st_mtime), link)


def read_page(path: str) -> PageText:
    """The text of a page, as much of it as anybody reads. What is no UTF-8 shows as U+FFFD; never raises."""
    try:
        # Without waiting: what looked like a file a moment ago may be a pipe by now.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return PageText(problem="not a regular file")
            data = file.read(PAGE_LIMIT + 1)
    except (OSError, ValueError) as error:
        return PageText(problem=getattr(error, "strerror", None) or str(error))
    text = data[:PAGE_LIMIT].decode("utf-8", errors="replace")
    return PageText(text.removeprefix("\ufeff").replace("\r\n", "\n"), len(data) > PAGE_LIMIT)


def nearest_memories(wanted: Path, found: Iterable[FoundMemory], count: int = 3) -> tuple[FoundMemory, ...]:
    """Of the memories that this program can open, those whose paths are most like one that is not there."""
    from rapidfuzz.fuzz import ratio

    openable = [one for one in found if one.kind == "nuggets"]
    return tuple(sorted(openable, key=lambda one: (-ratio(str(wanted), one.path), one.path))[:count])


# Single files: instructions for agents, and memories in one file

# Where the reference server of MCP keeps its memory when it is told to.
MCP_VARIABLE: Final = "MEMORY_FILE_PATH"
_PERSONAL: Final = (".claude", ".codex", ".gemini")
_SUFFIXES: Final = (".json", ".jsonl")
# Any file may end so; only what surely is a memory is listed.
_SURE: Final[tuple[Format, ...]] = ("agents", "mcp-memory", "json")
_LARGEST: Final = 8 << 20
# Of files whose name says nothing, in all folders together.
_MOST_READ: Final = 60
_MOST_ENTRIES: Final = 2000


@dataclass(frozen=True)
class FoundFile:
    """A file that an import takes. records: how many notes and facts it says; 0 for a whole memory, whose are not
    counted. size: bytes. at: ISO 8601 time of its newest change.
    """

    path: str
    format: Format
    records: int
    size: int
    at: str


def found_files(
    home_dir: Path, environ: Mapping[str, str], places: Iterable[Path] = ()
) -> tuple[FoundFile, ...]:
    """Such files in the person's own folder, in those of agents and in other places, without the folders in them.

    Each was read as an import reads it, so that none is listed of which nothing would come. Never raises.
    """
    from core.exchange.bullets import INSTRUCTIONS

    folders = [*places, *(home_dir / name for name in _PERSONAL), home_dir]
    named = environ.get(MCP_VARIABLE, "").strip()
    candidates = [Path(named)] if named.startswith("/") else []
    for folder in dict.fromkeys(map(os.path.abspath, folders)):
        candidates += _candidates(Path(folder))
    found: dict[str, FoundFile] = {}
    left = _MOST_READ
    for path in candidates:
        if path.name.lower() not in INSTRUCTIONS:
            left -= 1
            if left < 0:
                continue
        one = _found(path)
        if one is not None:
            found.setdefault(os.path.realpath(path), one)
    return tuple(found.values())


def _candidates(folder: Path) -> Iterator[Path]:
    from core.exchange.bullets import INSTRUCTIONS

    with suppress(OSError), os.scandir(folder) as entries:
        for name in sorted(entry.name for entry in islice(entries, _MOST_ENTRIES)):
            lower = name.lower()
            if lower in INSTRUCTIONS or (lower.endswith(_SUFFIXES) and not lower.startswith(".")):
                yield folder / name


def _found(path: Path) -> FoundFile | None:
    """What a file is to an import; None for a file of which nothing would come."""
    from core.exchange.detect import format_of, parse
    from core.exchange.records import FormatError, Source, SourceFile
    from core.storage.exchange.sources import read_bounded

    with suppress(OSError, ValueError, NuggetsError, FormatError, RecursionError):
        held = path.stat()
        if not stat.S_ISREG(held.st_mode) or not held.st_size:
            return None
        source = Source(
            path.name, (SourceFile(path.name, read_bounded(path, _LARGEST)),), path=os.path.abspath(path)
        )
        format = format_of(source)
        if format not in _SURE:
            return None
        records = 0 if format == "json" else len(parse(source, format).records)
        if records or format == "json":
            return FoundFile(str(path), format, records, held.st_size, time_of(held.st_mtime))
    return None
