"""A source read from disk: one file, or the files of a folder, within bounds, without following a link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from core.errors import ErrorCode, InvalidInputError, NotFoundError, StorageError, remedy_for
from core.exchange.detect import folder_format
from core.exchange.pages import is_page
from core.exchange.records import LeftOut, Source, SourceFile
from core.model.progress import Progress

LARGEST_FILE: Final = 512 * 1024 * 1024
_LARGEST_PAGE: Final = 4 * 1024 * 1024
_LARGEST_FOLDER: Final = 512 * 1024 * 1024
_MOST_FILES: Final = 100_000
_DEEPEST: Final = 24
_PASSED_OVER: Final = frozenset(("node_modules", "__pycache__"))
_REPORT_EVERY: Final = 64
_KEPT: Final = "nothing was imported"


def read_source(path: Path, progress: Progress | None = None) -> Source:
    """What stands at a path. Raises NotFoundError, InvalidInputError for what is too large or no file, StorageError."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFoundError(
            "there is no such file or folder", code=ErrorCode.NO_SUCH_FILE, where=str(path), kept=_KEPT
        ) from error
    except (OSError, ValueError) as error:
        raise _refused(path, error) from error
    if stat.S_ISDIR(found.st_mode):
        return _read_folder(path, progress)
    data = read_bounded(path, LARGEST_FILE)
    return Source(path.name, (SourceFile(path.name, data),), path=os.path.abspath(path))


def read_bounded(path: Path, most: int) -> bytes:
    """A regular file's bytes. Raises InvalidInputError for one that is larger or no file, StorageError."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise InvalidInputError(
                    "is not a regular file", code=ErrorCode.WRONG_KIND_OF_FILE, where=str(path), kept=_KEPT
                )
            data = file.read(most + 1)
    except (OSError, ValueError) as error:
        raise _refused(path, error) from error
    if len(data) > most:
        raise InvalidInputError(
            f"is larger than {most // (1 << 20):,} MB",
            code=ErrorCode.TOO_LONG,
            where=str(path),
            kept=_KEPT,
            todo="split it into parts",
        )
    return data


def _refused(path: Path, error: Exception) -> StorageError:
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    remedy = remedy_for(error, path) if isinstance(error, OSError) else None
    return StorageError(f"cannot be read ({said})", remedy=remedy, where=str(path), kept=_KEPT)


def _read_folder(path: Path, progress: Progress | None) -> Source:
    names = _names(path)
    inner = path / "memory"
    if path.parent.name == "projects" and inner.is_dir() and not inner.is_symlink():
        # The folder of a project of Claude Code, with its memory in it.
        return _read_folder(inner, progress)
    format = folder_format(names, str(path.absolute()))
    if format == "donna":
        # Its files are read as a memory's, not as pages.
        return Source(path.name, (), folder=True, names=names, path=os.path.abspath(path))
    left_out: list[LeftOut] = []
    pages = list(_pages(path, "", left_out, 0))
    if len(pages) > _MOST_FILES:
        raise InvalidInputError(
            f"holds more than {_MOST_FILES:,} pages", code=ErrorCode.TOO_LONG, where=str(path), kept=_KEPT,
            todo="import its folders one by one",
        )  # fmt: skip
    files: list[SourceFile] = []
    size = 0
    for number, (name, page) in enumerate(pages):
        if progress is not None and not number % _REPORT_EVERY:
            progress(0, 0)
        try:
            data = b"" if page.is_symlink() else read_bounded(page, _LARGEST_PAGE)
        except (InvalidInputError, StorageError) as error:
            left_out.append(LeftOut(name, error.what))
            continue
        if page.is_symlink():
            left_out.append(LeftOut(name, "is a link, which is not followed"))
            continue
        size += len(data)
        if size > _LARGEST_FOLDER:
            raise InvalidInputError(
                f"holds more than {_LARGEST_FOLDER // (1 << 20):,} MB of pages", code=ErrorCode.TOO_LONG,
                where=str(path), kept=_KEPT, todo="import its folders one by one",
            )  # fmt: skip
        files.append(SourceFile(name, data))
    return Source(path.name, tuple(files), True, names, os.path.abspath(path), tuple(left_out))


def _names(path: Path) -> frozenset[str]:
    try:
        return frozenset(os.listdir(path))
    except OSError as error:
        raise _refused(path, error) from error


def _pages(folder: Path, prefix: str, left_out: list[LeftOut], depth: int) -> Iterator[tuple[str, Path]]:
    """The pages of a folder and of those in it, in the order of their names. Links are named and not followed."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        left_out.append(LeftOut(prefix or str(folder), f"cannot be read ({error.strerror})"))
        return
    for entry in entries:
        name = f"{prefix}{entry.name}"
        if entry.name.startswith(".") or entry.name in _PASSED_OVER:
            continue
        if entry.is_symlink():
            left_out.append(LeftOut(name, "is a link, which is not followed"))
        elif entry.is_dir(follow_symlinks=False):
            if depth < _DEEPEST:
                yield from _pages(Path(entry.path), f"{name}/", left_out, depth + 1)
            else:
                left_out.append(LeftOut(name, "lies too deep"))
        elif is_page(entry.name):
            yield name, Path(entry.path)
