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
from core.model.progress import Progress, watched

LARGEST_FILE: Final = 512 * 1024 * 1024
_LARGEST_PAGE: Final = 4 * 1024 * 1024
_MOST_FILES: Final = 100_000
_DEEPEST: Final = 24
_PASSED_OVER: Final = frozenset(("node_modules", "__pycache__"))
_KEPT: Final = "nothing was imported"
_IN_PARTS: Final = "import its folders one by one"
_LINK: Final = "is a link, which is not followed"


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
