"""A source of an import, read: one file, or the files of a folder, within bounds, without following a link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from core.errors import ErrorCode, InvalidInputError, NotFoundError, StorageError, remedy_for
from core.exchange.detect import MANIFEST, folder_format, format_of, parse
from core.exchange.pages import is_page
from core.exchange.records import (
    FORMATS,
    MOST_RECORDS,
    NAMES,
    Format,
    FormatError,
    LeftOut,
    Parsed,
    Source,
    SourceFile,
    place,
)  # fmt: skip
from core.model.progress import Progress, watched
from core.settings import InferenceSettings
from core.storage.exchange.whole import WholeMemory, read_home, read_memory_file, read_whole

LARGEST_FILE: Final = 512 * 1024 * 1024
_LARGEST_PAGE: Final = 4 * 1024 * 1024
_MOST_FILES: Final = 100_000
_DEEPEST: Final = 24
_PASSED_OVER: Final = frozenset(("node_modules", "__pycache__"))
_KEPT: Final = "nothing was imported"
_IN_PARTS: Final = "import its folders one by one"
_LINK: Final = "is a link, which is not followed"


@dataclass(frozen=True)
class ReadSource:
    """A source that was read. detected: whether its format was told by what it holds. whole: of a memory as a whole."""

    source: Source
    format: Format
    detected: bool
    parsed: Parsed
    whole: WholeMemory | None = None


def read_as(
    source: str | Path | bytes,
    format: Format | None,
    rules: InferenceSettings,
    progress: Progress | None = None,
) -> ReadSource:
    """What another program keeps, read; see `Exchange.read`."""
    if isinstance(source, bytes):
        found = Source("", (SourceFile("standard input", source),))
    else:
        found = read_source(Path(source).expanduser(), progress)
    where = found.path or found.name
    try:
        told = format or format_of(found)
        if told is None:
            raise InvalidInputError(
                "is in no format that can be told", code=ErrorCode.UNKNOWN_FORMAT, where=where, kept=_KEPT,
                todo=f"name one with --format: {', '.join(FORMATS)}",
            )  # fmt: skip
        whole, parsed = _taken_apart(found, told, rules, progress)
    except FormatError as error:
        said = place(where if not found.folder or not error.file else f"{where}/{error.file}", error.line)
        advice = "leave out --format to have it told by what it holds" if format is not None else ""
        raise InvalidInputError(
            error.what, code=ErrorCode.UNREADABLE_SOURCE, where=said, kept=_KEPT, todo=advice
        ) from error
    count = len(parsed.records) + (len(parsed.whole.notes) if parsed.whole is not None else 0)
    if count > MOST_RECORDS:
        raise _refused(
            Path(where), f"holds {count:,} notes, more than {MOST_RECORDS:,}", todo="split it into parts"
        )
    return ReadSource(found, told, format is None, parsed, whole)


def _taken_apart(
    source: Source, format: Format, rules: InferenceSettings, progress: Progress | None
) -> tuple[WholeMemory | None, Parsed]:
    if format in ("json", "donna"):
        if not source.folder:
            read = read_whole if format == "json" else read_memory_file
            whole = read(source.files[0], rules, progress)
        elif format == "json":
            raise FormatError("is a folder, and an export is one file")
        else:
            whole = read_home(Path(source.path), rules)
        return whole, Parsed(left_out=whole.left_out)
    if not source.files and MANIFEST not in source.names:
        raise FormatError(f"holds nothing that could be {NAMES[format]}")
    found = parse(source, format)
    if not found.records and found.whole is None and len(source.files) == 1 and found.left_out:
        # A single file of which nothing can be read is an error, not an empty import.
        first = found.left_out[0]
        raise FormatError(f"holds nothing that can be imported ({first.where}: {first.what})")
    return None, found


def read_source(path: Path, progress: Progress | None = None) -> Source:
    """What stands at a path. Raises NotFoundError, InvalidInputError for what is too large or no file, StorageError."""
    try:
        is_folder = stat.S_ISDIR(path.stat().st_mode)
        names = frozenset(os.listdir(path)) if is_folder else frozenset[str]()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFoundError(
            "there is no such file or folder", field="file", where=str(path), kept=_KEPT
        ) from error
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    inner = path / "memory"
    if path.parent.name == "projects" and inner.is_dir() and not inner.is_symlink():
        # The folder of a project of Claude Code, with its memory in it.
        return read_source(inner, progress)
    place, left_out = os.path.abspath(path), list[LeftOut]()
    if not is_folder:
        return Source(path.name, (SourceFile(path.name, read_bounded(path, LARGEST_FILE)),), path=place)
    # The files of a memory are read as such, not as pages.
    is_memory = folder_format(names, str(path.absolute())) == "donna"
    files = () if is_memory else _read_pages(path, left_out, progress)
    return Source(path.name, files, True, names, place, tuple(left_out))


def read_bounded(path: Path, most: int, flags: int = 0) -> bytes:
    """A regular file's bytes. Raises InvalidInputError for one that is larger or no file, StorageError."""
    flags |= os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise _refused(path, "is not a regular file", ErrorCode.WRONG_KIND_OF_FILE)
            data = file.read(most + 1)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    if len(data) > most:
        raise _refused(path, f"is larger than {most // (1 << 20):,} MB", todo="split it into parts")
    return data


def _refused(
    path: Path, what: str, code: ErrorCode = ErrorCode.TOO_LONG, todo: str = ""
) -> InvalidInputError:
    return InvalidInputError(what, code=code, where=str(path), kept=_KEPT, todo=todo)


def _unreadable(path: Path, error: Exception) -> StorageError:
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    remedy = remedy_for(error, path) if isinstance(error, OSError) else None
    return StorageError(f"cannot be read ({said})", remedy=remedy, where=str(path), kept=_KEPT)


def _read_pages(path: Path, left_out: list[LeftOut], progress: Progress | None) -> tuple[SourceFile, ...]:
    files: list[SourceFile] = []
    size = 0
    for name in watched(_pages(path, left_out), progress):
        try:
            data = read_bounded(path / name, _LARGEST_PAGE, getattr(os, "O_NOFOLLOW", 0))
        except (InvalidInputError, StorageError) as error:
            left_out.append(LeftOut(name, error.what))
            continue
        files.append(SourceFile(name, data))
        size += len(data)
        if len(files) > _MOST_FILES:
            raise _refused(path, f"holds more than {_MOST_FILES:,} pages", todo=_IN_PARTS)
        if size > LARGEST_FILE:
            raise _refused(path, f"holds more than {LARGEST_FILE >> 20:,} MB of pages", todo=_IN_PARTS)
    return tuple(files)


def _pages(path: Path, left_out: list[LeftOut]) -> Iterator[str]:
    """The paths of the pages of a folder and of those in it. Links are named and not followed."""

    def unreadable(error: OSError) -> None:
        left_out.append(LeftOut(str(error.filename), f"cannot be read ({error.strerror})"))

    for folder, folders, names in os.walk(path, onerror=unreadable):
        inner = Path(folder).relative_to(path)
        shown = [one for one in folders if not one.startswith(".") and one not in _PASSED_OVER]
        folders[:] = sorted(shown) if len(inner.parts) < _DEEPEST else []
        if shown and not folders:
            left_out.append(LeftOut(inner.as_posix(), "lies too deep"))
        for name in [*folders, *sorted(names)]:
            if name.startswith("."):
                continue
            if os.path.islink(os.path.join(folder, name)):
                left_out.append(LeftOut((inner / name).as_posix(), _LINK))
            elif is_page(name) and name not in folders:
                yield (inner / name).as_posix()
