"""Our entries written into the files of agents and taken out again: previewed, checked, backed up, all or nothing."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace as replace_fields

from core.agents.jsonc import PieceError
from core.agents.pieces import FilePiece, JsonPiece, Part, State, TomlPiece
from core.agents.targets import Target, command_line
from core.errors import BrokenFileError, ConflictError, ErrorCode, NuggetsError, ReadOnlyError, StorageError
from core.storage.files.atomic import Lock, make_folder, read_file, refused, replace_file
from core.storage.files.others import MovedOnError, make_folders, remove_empty, replace_unless_moved_on
from core.user_folders import state_root

Kind = Literal["created", "changed", "unchanged", "deleted", "kept"]
_KEPT: Final = "no file was changed"
_FOLDER: Final = "agents"
_RECORDS: Final = "files.json"
_LOCK_SECONDS: Final = 5.0
_TRIES: Final = 5
_Plan: TypeAlias = Callable[[str, Path, list[Target], bytes | None, "FileRecord | None"], "FileChange"]


class FileRecord(msgspec.Struct, frozen=True):
    """What is known of a file since ours was put into it.

    owners: agents that it was done for. first: the file as it was, and would be, without ours; None for no file.
    after: digest of the file as it was written. folders: those made for it, outermost first.
    """

    owners: tuple[str, ...]
    first: bytes | None
    after: str
    folders: tuple[str, ...]


@dataclass(frozen=True)
class FileChange:
    """What becomes of one file. path: as the agent names it; real: behind links. before and after: its bytes, None for
    no file. parts: what of ours is meant. kept: another agent still needs what is there. record: what is to be known
    of it afterwards, None for nothing; known: what is known now.
    """

    path: Path
    real: Path
    before: bytes | None
    after: bytes | None
    parts: tuple[Part, ...]
    record: FileRecord | None = field(repr=False, compare=False, default=None)
    known: FileRecord | None = field(repr=False, compare=False, default=None)
    kept: bool = False

    @property
    def kind(self) -> Kind:
        """What is done to the file."""
        if self.kept:
            return "kept"
        if self.before == self.after:
            return "unchanged"
        return "created" if self.before is None else "deleted" if self.after is None else "changed"


@dataclass(frozen=True)
class Standing:
    """How a piece of ours stands in a file. problem: why it cannot be told or what to know of it, "" for nothing.

    ignored: whether the agent pays no heed to it, as `problem` says.
    """

    target: Target
    state: State | Literal["broken"]
    problem: str = ""
    ignored: bool = False

    @property
    def works(self) -> bool:
        """Whether it is there, and the agent reads it."""
        return self.state == "current" and not self.ignored

    @property
    def shown(self) -> State | Literal["broken", "ignored"]:
        """The state, as people are told it."""
        return "ignored" if self.state == "current" and self.ignored else self.state


def agents_folder(environ: Mapping[str, str]) -> Path | None:
    """Where it is kept what was done to the files of agents; nothing is made. None for nowhere."""
    root = state_root(environ)
    return None if root is None else Path(root, _FOLDER)


def standings(targets: Sequence[Target]) -> tuple[Standing, ...]:
    """How each piece stands in its file. Never raises; nothing is written."""
    return tuple(map(_standing, targets))


def _standing(target: Target) -> Standing:
    try:
        found = read_file(target.path)
        data = found[0] if found else b""
        ignored = target.piece.ignored(data) if isinstance(target.piece, JsonPiece) else ""
        return Standing(target, target.piece.state(data), ignored or target.caution, bool(ignored))
    except PieceError as error:
        return Standing(target, "broken", str(error))
    except (NuggetsError, OSError) as error:
        return Standing(target, "broken", error.what if isinstance(error, NuggetsError) else str(error))


def registered_server(targets: Sequence[Target]) -> tuple[str, ...]:
    """The command line under which an agent has the server of this program; none where it has none. Never raises."""
    for target in targets:
        piece = target.piece
        if piece.part == "server" and isinstance(piece, JsonPiece | TomlPiece):
            with contextlib.suppress(PieceError, NuggetsError, OSError):
                found = read_file(target.path)
                entry = piece.entry(found[0]) if found else None
                if piece.mine(entry):
                    return command_line(entry)
    return ()


class Connections:
    """Connects agents and takes that back. folder: as `agents_folder` gives it.

    private: whether what is made is for its owner alone, as in a home folder; else as the system makes it.
    """

    def __init__(self, folder: Path | None, *, private: bool = True) -> None:
        self._folder = folder
        self._private = private

    def install(
        self, agent: str, targets: Sequence[Target], *, dry_run: bool = False
    ) -> tuple[FileChange, ...]:
        """Puts our pieces into the files of an agent; what became of each file.

        Raises BrokenFileError for a file that cannot be read, ConflictError where something else has our name,
        ReadOnlyError, StorageError, LockTimeoutError; no file is changed then.
        """
        return self._run(agent, targets, dry_run, self._installed)

    def remove(
        self, agent: str, targets: Sequence[Target], *, dry_run: bool = False
    ) -> tuple[FileChange, ...]:
        """Takes our pieces out again; a file and a folder that were made for them go, too. Errors as in `install`."""
        return self._run(agent, targets, dry_run, self._removed)

    def _run(
        self, agent: str, targets: Sequence[Target], dry_run: bool, plan: _Plan
    ) -> tuple[FileChange, ...]:
        if dry_run:
            return self._planned(agent, targets, self._records(), plan)
        with self._locked():
            for _ in range(_TRIES):
                records = self._records()
                changes = self._planned(agent, targets, records, plan)
                with contextlib.suppress(MovedOnError):
                    self._carry_out(agent, changes, records)
                    return changes
            # Planned anew on what stands there now.
        raise StorageError(
            "another program keeps changing these files", code=ErrorCode.LOCKED, kept=_KEPT,
            todo="close the agent and try again",
        )  # fmt: skip

    @staticmethod
    def _planned(
        agent: str, targets: Sequence[Target], records: Mapping[str, FileRecord], plan: _Plan
    ) -> tuple[FileChange, ...]:
        files: dict[Path, list[Target]] = {}
        for target in targets:
            files.setdefault(_real(target.path), []).append(target)
        changes = []
        for real, pieces in files.items():
            found = read_file(real)
            try:
                change = plan(agent, real, pieces, found[0] if found else None, records.get(str(real)))
            except PieceError as error:
                raise _as_error(pieces[0].path, error) from error
            if change.kind not in ("unchanged", "kept") and change.before is not None:
                _check_writable(pieces[0].path, real)
            changes.append(change)
        return tuple(changes)

    def _installed(
        self, agent: str, real: Path, pieces: list[Target], data: bytes | None, known: FileRecord | None
    ) -> FileChange:
        text, path, parts = data or b"", pieces[0].path, _parts(pieces)
        if all(target.piece.state(text) == "absent" for target in pieces):
            known = None
        first, after = _first(known), text
        for target in pieces:
            after = target.piece.put(after, first)
        owners = tuple(dict.fromkeys((*(known.owners if known else ()), agent)))
        if data is not None and after == data:
            # What stands there as it should was put there by a person, or by us before.
            return FileChange(path, real, data, data, parts, known and replace_fields(known, owners=owners))
        without = data if known is None else _without(text, pieces, known)
        folders = tuple(map(str, _missing_folders(real))) or (known.folders if known is not None else ())
        record = FileRecord(owners, without, _digest(after), folders)
        return FileChange(path, real, data, after, parts, record, known)

    def _removed(
        self, agent: str, real: Path, pieces: list[Target], data: bytes | None, known: FileRecord | None
    ) -> FileChange:
        path, parts = pieces[0].path, _parts(pieces)
        if data is None:
            return FileChange(path, real, None, None, parts, known=known)
        others = tuple(owner for owner in known.owners if owner != agent) if known else ()
        if known is not None and others:
            return FileChange(
                path, real, data, data, parts, replace_fields(known, owners=others), known, kept=True
            )
        return FileChange(path, real, data, _without(data, pieces, known), parts, known=known)

    # Writing

    def _carry_out(self, agent: str, changes: Sequence[FileChange], records: dict[str, FileRecord]) -> None:
        """Writes all files, or none. Raises MovedOnError where one is another than it was when it was planned."""
        wanted = [change for change in changes if change.kind not in ("unchanged", "kept")]
        before = dict(records)
        for change in changes:
            records.pop(str(change.real), None)
            if change.record is not None:
                records[str(change.real)] = change.record
        done: list[FileChange] = []
        made: list[Path] = []
        # First what is known, then the files: who is killed in between finds at the next call what was begun.
        self._save({**before, **records})
        try:
            for change in wanted:
                folders = _missing_folders(change.real) if change.after is not None else []
                made += folders
                make_folders(folders, private=self._private)
                self._write(change)
                done.append(change)
        except BaseException:
            for change in reversed(done):
                with contextlib.suppress(NuggetsError, OSError):
                    self._write(replace(change, before=change.after, after=change.before))
            remove_empty(made)
            with contextlib.suppress(NuggetsError):
                self._save(before)
            raise
        self._save(records)
        for change in changes:
            if change.after is None and change.known is not None:
                remove_empty([Path(folder) for folder in change.known.folders])

    def _write(self, change: FileChange) -> None:
        replace_unless_moved_on(change.real, change.before, change.after, private=self._private)

    # What is known of former calls

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        if self._folder is None:
            yield
            return
        make_folder(self._folder)
        lock = Lock(self._folder / ".lock")
        try:
            lock.acquire(_LOCK_SECONDS, kept=_KEPT)
        except OSError as error:
            raise refused(self._folder, "cannot be locked", error) from error
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                lock.release()

    def _records(self) -> dict[str, FileRecord]:
        found = read_file(self._folder / _RECORDS) if self._folder is not None else None
        with contextlib.suppress(msgspec.MsgspecError):
            return msgspec.json.decode(found[0], type=dict[str, FileRecord]) if found else {}
        return {}

    def _save(self, records: Mapping[str, FileRecord]) -> None:
        if self._folder is not None:
            replace_file(self._folder / _RECORDS, msgspec.json.format(msgspec.json.encode(dict(records))))


def _first(known: FileRecord | None) -> bytes | None:
    """See `core.agents.pieces`."""
    return (known.first or b"") if known is not None else None


def _without(data: bytes, pieces: Sequence[Target], known: FileRecord | None) -> bytes | None:
    """A file without ours; None where nothing is left of one that was made for it."""
    if known is not None and _digest(data) == known.after:
        # As we wrote it: what was there before is there again.
        return known.first
    first, after = _first(known), data
    for target in reversed(pieces):
        after = target.piece.take(after, first)
    whole = all(isinstance(target.piece, FilePiece) for target in pieces)
    made = whole or (known is not None and known.first is None)
    return None if made and data and not after else after


def _as_error(path: Path, error: PieceError) -> NuggetsError:
    where = str(path)
    if error.foreign:
        todo = "rename or remove it, and try again"
        return ConflictError(str(error), code=ErrorCode.NAME_TAKEN, where=where, kept=_KEPT, todo=todo)
    return BrokenFileError(
        f"cannot be changed: {error}", where=where, kept=_KEPT, todo="fix the file and try again"
    )


def _check_writable(path: Path, real: Path) -> None:
    """Raises ReadOnlyError for a file that nobody may write, or not we: replacing it would go round that."""
    try:
        mode = real.stat().st_mode
    except OSError as error:
        raise refused(path, "cannot be accessed", error) from error
    if not mode & 0o222 or not os.access(real, os.W_OK):
        raise ReadOnlyError(
            "is read-only", where=str(path), kept=_KEPT, todo="allow writing to it, or add the entry by hand"
        )


def _real(path: Path) -> Path:
    """Where a file really is, behind links. Raises StorageError for links that lead in a circle."""
    try:
        real = Path(os.path.realpath(path))
        if real.is_symlink():
            raise OSError(0, "the link leads in a circle")
    except OSError as error:
        raise refused(path, "cannot be accessed", error) from error
    return real


def _missing_folders(path: Path) -> list[Path]:
    return [*takewhile(lambda folder: not folder.exists(), path.parents)][::-1]


def _parts(pieces: Sequence[Target]) -> tuple[Part, ...]:
    return tuple(dict.fromkeys(target.part for target in pieces))


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
