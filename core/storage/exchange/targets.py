"""What an export writes: one file, or a folder with a list of what in it is ours. Nothing of others is replaced."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from core.errors import ConflictError, ErrorCode, InvalidInputError, few_of
from core.exchange.detect import MANIFEST
from core.model.progress import Progress, counted
from core.storage.files.atomic import make_folder, read_file, refused, replace_file

_KEPT: Final = "nothing was written"
_FORCE: Final = "choose another place, or replace it with --force"


def _refused(path: Path, what: str, code: ErrorCode, todo: str) -> InvalidInputError:
    return InvalidInputError(what, code=code, where=str(path), kept=_KEPT, todo=todo)


def check_outside(path: Path, home: Path) -> None:
    """Raises InvalidInputError for a place in the memory's own folder: nothing there masks what an export holds."""
    if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(home)):
        what = "lies in the memory's own folder"
        raise _refused(path, what, ErrorCode.BAD_NAME, "export to a place outside of it")


def write_file(path: Path, data: bytes, *, ours: bool, force: bool) -> None:
    """Writes one file that only its owner may read. ours: whether one that is there is an earlier export of the same
    memory. Raises ConflictError for any other one without force, InvalidInputError, StorageError.
    """
    if path.is_dir():
        raise _refused(path, "is a folder, not a file", ErrorCode.WRONG_KIND_OF_FILE, "name a file")
    if os.path.lexists(path) and not (ours or force):
        raise _in_the_way(str(path), "exists, and is not an earlier export of this memory")
    target = Path(os.path.realpath(path))
    make_folder(target.parent)
    replace_file(target, data)


def _in_the_way(where: str, what: str) -> ConflictError:
    return ConflictError(what, code=ErrorCode.NAME_TAKEN, where=where, kept=_KEPT, todo=_FORCE)


def write_folder(
    folder: Path, files: Mapping[str, bytes], *, force: bool, progress: Progress | None = None
) -> tuple[int, int]:
    """Writes files into a folder: how many were written, and how many of an earlier export were taken out.

    What an earlier export wrote and nobody changed since is replaced, or taken out when it is no more. Any other file
    of one of these names stays: raises ConflictError without force. Raises InvalidInputError for a path that leads
    through a link, StorageError.
    """
    if os.path.lexists(folder) and not folder.is_dir():
        raise _refused(folder, "is a file, not a folder", ErrorCode.WRONG_KIND_OF_FILE, "name a folder")
    known = _manifest(folder)
    for parent in {(folder / name).parent for name in files}:
        if parent.is_symlink():
            what = "is a link, and may lead anywhere"
            raise _refused(parent, what, ErrorCode.LINK_OUT_OF_FOLDER, "choose another folder")
    strangers = [name for name, data in files.items() if not _is_ours(folder, name, data, known)]
    if strangers and not force:
        what = "holds files that are not ours, or were edited since the export"
        raise _in_the_way(f"{folder}: {few_of(strangers)}", what)
    stale = [name for name in known if name not in files and _is_ours(folder, name, None, known)]
    make_folder(folder)
    # First the list of all that is ours then: whoever is stopped in between can do it again.
    digests = {name: sha256(data).hexdigest() for name, data in files.items()}
    _write_manifest(folder, digests | known)
    written = sum(_write(folder / name, files[name]) for name in counted(list(files), progress))
    for name in stale:
        with contextlib.suppress(OSError):
            (folder / name).unlink()
            (folder / name).parent.rmdir()
    _write_manifest(folder, digests)
    if progress is not None:
        progress(len(files), len(files))
    return written, len(stale)


def _is_ours(folder: Path, name: str, data: bytes | None, known: Mapping[str, str]) -> bool:
    """Whether a name is free, or bears what an earlier export wrote, or just what is to be written."""
    path = folder / name
    if path.is_symlink() or path.parent.is_symlink():
        return False
    found = read_file(path) if path.is_file() else None
    if found is None:
        return not os.path.lexists(path)
    return found[0] == data or known.get(name) == sha256(found[0]).hexdigest()


def _write(path: Path, data: bytes) -> bool:
    """Puts a file in place in one step; whether it was another one. An export can be made again, so that nothing waits
    for the disk.
    """
    temporary = path.with_name(f".{path.name[:40]}.{os.getpid()}.tmp")
    try:
        if path.is_file() and not path.is_symlink() and path.read_bytes() == data:
            return False
        make_folder(path.parent)
        temporary.write_bytes(data)
        with contextlib.suppress(PermissionError):
            temporary.chmod(0o600)
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise refused(path, "cannot be written", error) from error
    return True


def _manifest(folder: Path) -> dict[str, str]:
    """What an earlier export wrote into a folder: for each page its SHA-256. Anybody may have written the list."""
    try:
        found = read_file(folder / MANIFEST)
        held = json.loads(found[0])["files"].items() if found is not None else ()
        return {name: str(digest) for name, digest in held if _is_inside(Path(name))}
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return {}


def _is_inside(name: Path) -> bool:
    return not name.is_absolute() and ".." not in name.parts and name.suffix == ".md"


def _write_manifest(folder: Path, files: Mapping[str, str]) -> None:
    shaped = {"format": "nuggets-vault", "version": 1, "files": dict(sorted(files.items()))}
    replace_file(folder / MANIFEST, f"{json.dumps(shaped, indent=1)}\n".encode())
