"""Files of other programs: written as they were found, with mode and owner, and only while they are what was read; and
files that another program is handed for a moment, in a folder that goes afterwards.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from core.storage.files.atomic import (
    discard,
    make_folder,
    put_in_place,
    read_file,
    refused,
    remove_file,
    stage_file,
)


class MovedOnError(Exception):
    """A file is no longer as it was when it was read."""


def replace_unless_moved_on(path: Path, before: bytes | None, after: bytes | None, *, private: bool) -> None:
    """Makes one version of a file the next, in one step; None stands for no file. private: whether a new file is for
    its owner alone. Raises MovedOnError where another one stands there by now, StorageError.
    """
    found = read_file(path)
    if (found[0] if found else None) != before:
        raise MovedOnError
    if after is None:
        remove_file(path)
        return
    held = path.stat() if found else None
    mode = stat.S_IMODE(held.st_mode) if held is not None else 0o600 if private else 0o666
    staged = stage_file(path, after, mode=mode)
    try:
        if held is not None:
            # Some shared folders know no modes and no owners.
            with contextlib.suppress(OSError):
                os.chmod(staged.temporary, mode)
                if hasattr(os, "chown"):
                    os.chown(staged.temporary, held.st_uid, held.st_gid)
        found = read_file(path)
        if (found[0] if found else None) != before:
            raise MovedOnError
    except BaseException:
        discard([staged])
        raise
    put_in_place(staged)


def make_folders(folders: Iterable[Path], *, private: bool) -> None:
    """Makes folders, the outermost first. Raises StorageError."""
    for folder in folders:
        try:
            folder.mkdir(mode=0o700 if private else 0o777, exist_ok=True)
        except OSError as error:
            raise refused(folder, "the folder cannot be created", error) from error


def remove_empty(folders: Sequence[Path]) -> None:
    """Removes those of the folders that are empty, the innermost first."""
    for folder in reversed(folders):
        with contextlib.suppress(OSError):
            folder.rmdir()


@contextmanager
def scratch_folder(parent: Path, contents: Iterable[bytes] = ()) -> Iterator[tuple[Path, list[Path]]]:
    """A new folder in `parent`, which is made, and files with these contents in it. Raises StorageError."""
    make_folder(parent)
    try:
        made = tempfile.TemporaryDirectory(dir=parent, ignore_cleanup_errors=True)
    except OSError as error:
        raise refused(parent, "cannot be written", error) from error
    with made as name:
        folder, paths = Path(name), []
        for number, data in enumerate(contents):
            path = folder / str(number)
            try:
                path.write_bytes(data)
            except OSError as error:
                raise refused(path, "cannot be written", error) from error
            paths.append(path)
        yield folder, paths
