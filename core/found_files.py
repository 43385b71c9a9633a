"""Single files on this machine that an import takes: instructions for agents, and memories in one file."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from core.errors import NuggetsError
from core.exchange.bullets import INSTRUCTIONS
from core.exchange.detect import format_of, parse
from core.exchange.records import Format, FormatError, Source, SourceFile
from core.storage.exchange.sources import read_bounded

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
    with suppress(OSError), os.scandir(folder) as entries:
        names = [entry.name for entry, _ in zip(entries, range(_MOST_ENTRIES), strict=False)]
        for name in sorted(names):
            lower = name.lower()
            if lower in INSTRUCTIONS or (lower.endswith(_SUFFIXES) and not lower.startswith(".")):
                yield folder / name


def _found(path: Path) -> FoundFile | None:
    """What a file is to an import; None for a file of which nothing would come."""
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
            at = datetime.fromtimestamp(held.st_mtime, UTC).isoformat(timespec="milliseconds")
            return FoundFile(str(path), format, records, held.st_size, at.replace("+00:00", "Z"))
    return None
