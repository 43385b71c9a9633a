"""One tree of errors; each says what went wrong, where, what was kept safe and what to do.

Programs go by the type, the `code`, the `field` and the `remedy` of an error. The words are for people alone.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import msgspec

# So much of a name stands in a message: what is wrong with it is to be read as well.
_NAME_BEGINS, _NAME_ENDS = 200, 100


_FEW: Final = 4


def few_of(names: Sequence[str]) -> str:
    """The first few of some names, in a message, and how many more there are."""
    more = f" and {len(names) - _FEW:,} more" if len(names) > _FEW else ""
    return ", ".join(names[:_FEW]) + more


class ErrorCode(StrEnum):
    """Which error it is: stable names for programs, whatever its words say. A class of errors has one, and more where
    a program acts differently; the `field` of an error says which thing it is about.
    """

    ERROR = "error"
    INVALID_INPUT = "invalid-input"
    NOT_FOUND = "not-found"
    AMBIGUOUS = "ambiguous"
    BROKEN_FILE = "broken-file"
    READ_ONLY = "read-only"
    LOCKED = "locked"
    STORAGE = "storage"
    UNFINISHED = "unfinished"
    CONFLICT = "conflict"
    # What was handed in
    EMPTY = "empty"
    BAD_NAME = "bad-name"
    NAME_TAKEN = "name-taken"
    TOO_LONG = "too-long"
    NO_PLACE = "no-place"
    NOT_TRUSTED = "not-trusted"
    UNKNOWN_FORMAT = "unknown-format"
    UNREADABLE_SOURCE = "unreadable-source"
    # The history
    NOTHING_TO_UNDO = "nothing-to-undo"
    CANNOT_UNDO = "cannot-undo"
    # Files
    NEWER_VERSION = "newer-version"
    WRONG_KIND_OF_FILE = "wrong-kind-of-file"
    LINK_OUT_OF_FOLDER = "link-out-of-folder"
    SETTINGS_UNSURE = "settings-unsure"
    # Conflicts
    MADE_MEANWHILE = "made-meanwhile"
    STORED_MEANWHILE = "stored-meanwhile"
    CHANGED_MEANWHILE = "changed-meanwhile"
    DELETED_MEANWHILE = "deleted-meanwhile"
    RENAMED_MEANWHILE = "renamed-meanwhile"
    FACT_CHANGED_MEANWHILE = "fact-changed-meanwhile"
    CHANGED_IN_TWO_WAYS = "changed-in-two-ways"
    UNREADABLE_SIDE = "unreadable-side"
    # Sync
    SYNC = "sync"
    NO_GIT = "no-git"
    GIT_FAILED = "git-failed"
    GIT_UNDER_WAY = "git-under-way"
    REMOTE = "remote"
    # Models, whose own kinds of errors say more
    MODEL = "model"


# What can be done about an error, by its name, as somebody at a shell is told it; {} is what the remedy is about. A
# front says it in its own way: the app as a key.
REMEDIES: Final[Mapping[str, str]] = {
    "verify": "nuggets verify shows what to do",
    "verify-repairable": "nuggets verify shows whether it can be repaired",
    "repair": "nuggets verify --repair fixes it",
    "repair-or-copy": "nuggets verify --repair fixes it, or replace it with a good copy",
    "repair-facts": "nuggets verify --repair restores the facts",
    "repair-again": "nuggets verify --repair repairs the file again",
    "repair-go-on": "nuggets verify --repair continues",
    "restore": "nuggets restore lists the backups",
    "restore-copy": "fix it, or get a good copy with: nuggets restore",
    "log": "nuggets log lists the entries",
    "log-others": "nuggets log lists the changes of others; nuggets undo ID undoes one",
    "undo": "nuggets undo {} undoes it",
    "undo-go-on": "nuggets undo {} continues",
    "redo": "nuggets redo {} redoes it",
    "redo-older": "to redo an older change, give its id: nuggets redo ID",
    "resolve": "nuggets resolve {} lets you decide",
    "resolve-again": "nuggets resolve {} finishes it",
    "resolve-go-on": "nuggets resolve continues",
    "resolve-join": "merge both with: nuggets resolve",
    "resolve-list": "nuggets resolve lists the open conflicts",
    "resolve-waiting": "your change is kept as a conflict: nuggets resolve {}",
    "list-notes": "nuggets notes lists them",
    "list-notes-unread": "nuggets notes lists them; notes that cannot be read are not listed there: nuggets verify",
    "list-note-ids": "nuggets notes --json lists all ids",
    "list-secrets": "nuggets secrets lists them",
    "list-proposals": "nuggets pipeline proposals lists them",
    # No command and no key of this program.
    "free-space": "free space on the disk and try again",
    "free-quota": "your disk quota is used up: free space and try again",
    "permissions": "check its permissions",
    "allow-writing": "the disk is read-only: allow writing there, or use another folder",
    "check-disk": "the disk is failing: copy the folder to another disk and check this one",
    "try-again": "try again",
    "look-again": "look at the newest version and try again",
    "update": "update nuggets-tui to {}",
    "name-it": "give {}",
}


class Remedy(msgspec.Struct, frozen=True):
    """What can be done about an error. name: one of `REMEDIES`. about: the id of the entry that is to be undone, redone
    or resolved; what a new version can do; what to give, such as "more of the id".
    """

    name: str
    about: str = ""


def as_command(remedy: Remedy | None) -> str:
    """A remedy in words for somebody at a shell, mostly with a command; "" for none."""
    return "" if remedy is None else REMEDIES[remedy.name].format(remedy.about)


def opens_with_command(remedy: Remedy | None) -> bool:
    """Whether what `as_command` says begins with something to type."""
    return as_command(remedy).startswith("nuggets ")


class NuggetsError(Exception):
    """Base of every error that the engine raises on purpose.

    what: what happened, a short clause. where: the file, note or option it concerns. kept: what was kept safe. more:
    what a person can do beside the remedy. All of that is for people to read, never for programs.

    code: which error it is. field: the name of the field at fault, "" for none. remedy: what can be done about it, None
    where nothing typed can. `exit_code` is what a command line returns for it.
    """

    exit_code = 2
    code: ErrorCode = ErrorCode.ERROR

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        kept: str = "",
        todo: str = "",
        code: ErrorCode | None = None,
        field: str = "",
        remedy: Remedy | None = None,
    ) -> None:
        self.what = what
        self.where = where
        self.kept = kept
        self.more = todo
        self.field = field
        self.remedy = remedy
        if code is not None:
            self.code = code
        super().__init__(self.message)

    @property
    def todo(self) -> str:
        """What to do, for somebody at a shell."""
        return "; ".join(filter(None, (as_command(self.remedy), self.more)))

    @property
    def message(self) -> str:
        """The error as one line: where: what; what was kept safe; what to do."""
        where = self.where
        if len(where) > _NAME_BEGINS + _NAME_ENDS:
            where = f"{where[:_NAME_BEGINS]}…{where[-_NAME_ENDS:]}"
        head = f"{where}: {self.what}" if where else self.what
        return "; ".join(part for part in (head, self.kept, self.todo) if part).replace("\n", " ")

    @property
    def identity(self) -> tuple[object, ...]:
        """Equal for two errors that say the same, so that a repeated one is not reported again."""
        return type(self), self.code, self.where, self.field, self.remedy

    def reword(
        self,
        *,
        where: str | None = None,
        kept: str | None = None,
        todo: str = "",
        remedy: Remedy | None = None,
    ) -> None:
        """Replaces the words of the error, and what to do where either of these is given."""
        self.where = self.where if where is None else where
        self.kept = self.kept if kept is None else kept
        if todo or remedy is not None:
            self.more, self.remedy = todo, remedy
        self.args = (self.message,)


class Notice(str):
    """Something that a person should know beside the answer: a text, with its subject for programs.

    where: the file, note or option it concerns. code: of the error that it is about, None for none. said: the text
    before the remedy's words; more: the text after them.
    """

    where: str
    code: ErrorCode | None
    remedy: Remedy | None
    said: str
    more: str

    def __new__(
        cls,
        said: str,
        *,
        where: str = "",
        code: ErrorCode | None = None,
        remedy: Remedy | None = None,
        more: str = "",
    ) -> Notice:
        """The text, where it is said before it and what to do behind it."""
        head = (f"{where}: {said}" if where else said).replace("\n", " ")
        made = super().__new__(cls, "; ".join(filter(None, (head, as_command(remedy), more))))
        made.where, made.code, made.remedy, made.said, made.more = where, code, remedy, head, more
        return made

    @classmethod
    def of(cls, error: NuggetsError, kept: str = "") -> Notice:
        """What a notice says of an error. kept: what was kept safe of what the notice is about, "" for nothing."""
        said = "; ".join(filter(None, (error.what, kept)))
        return cls(said, where=error.where, code=error.code, remedy=error.remedy, more=error.more)

    def is_about(self, error: NuggetsError) -> bool:
        """Whether an error tells the same."""
        return self.where == error.where if self.where else self.code is error.code


_REMEDIES: Final[Mapping[int, Remedy]] = {
    errno.ENOSPC: Remedy("free-space"), errno.EDQUOT: Remedy("free-quota"),
    errno.EACCES: Remedy("permissions"), errno.EPERM: Remedy("permissions"),
    errno.EROFS: Remedy("allow-writing"), errno.EIO: Remedy("check-disk"),
}  # fmt: skip


def remedy_for(error: BaseException, path: Path) -> Remedy | None:
    """What to do when the system or SQLite refused a file: one remedy for each reason; None for an unknown reason."""
    if isinstance(error, OSError):
        return _REMEDIES.get(error.errno or 0)
    code = int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
    if not code:
        return None
    import sqlite3

    if code == sqlite3.SQLITE_FULL:
        return Remedy("free-space")
    if code == sqlite3.SQLITE_PERM:
        return Remedy("permissions")
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY):
        # SQLite keeps the system's own reason to itself.
        fails = code == sqlite3.SQLITE_IOERR
        return _seen_on_disk(path) or (Remedy("check-disk") if fails else Remedy("permissions"))
    return None


def _seen_on_disk(path: Path) -> Remedy | None:
    """What lets a file be used again, as far as its disk and its permissions show it; None for nothing."""
    try:
        disk = os.statvfs(path.parent)
    except (OSError, AttributeError):
        return None
    if disk.f_flag & os.ST_RDONLY:
        return Remedy("allow-writing")
    # Some file systems count no inodes at all.
    if disk.f_bavail == 0 or (disk.f_files > 0 and disk.f_favail == 0):
        return Remedy("free-space")
    wanted = os.R_OK | os.W_OK
    allowed = os.access(path, wanted) if path.exists() else os.access(path.parent, wanted)
    return None if allowed else Remedy("permissions")


@contextmanager
def partly_done(kept: str, todo: str = "", remedy: Remedy | None = None) -> Iterator[None]:
    """Within this, an error says what is already done, in place of its own words.

    kept: what was kept safe, more than the failing call knows of. todo, remedy: the next step; its own where
    neither is given.
    """
    try:
        yield
    except UnfinishedError:
        raise
    except (StorageError, LockTimeoutError, ReadOnlyError) as error:
        error.reword(kept=kept, todo=todo, remedy=remedy)
        raise


class InvalidInputError(NuggetsError):
    """Something handed in cannot be accepted: a name, a value, an option."""

    code = ErrorCode.INVALID_INPUT


class NotFoundError(NuggetsError):
    """What was named or asked for does not exist."""

    code = ErrorCode.NOT_FOUND
    exit_code = 1


class AmbiguousError(NuggetsError):
    """A name fits more than one thing."""

    code = ErrorCode.AMBIGUOUS


class BrokenFileError(NuggetsError):
    """A file of the memory cannot be read; its bytes were left as they are."""

    code = ErrorCode.BROKEN_FILE


class ReadOnlyError(NuggetsError):
    """The memory may be read but not written (a newer format, missing permission)."""

    code = ErrorCode.READ_ONLY


class LockTimeoutError(NuggetsError):
    """Another process kept the memory locked for too long."""

    code = ErrorCode.LOCKED


class StorageError(NuggetsError):
    """The operating system refused a read or a write. `damaged`: it gave damaged or foreign bytes."""

    code = ErrorCode.STORAGE
    damaged = False


class SyncError(NuggetsError):
    """Git, or what came from a remote, keeps memories from being synced. The memory itself is unchanged by that."""

    code = ErrorCode.SYNC


class NotSyncedError(StorageError):
    """A file was replaced or removed, but the system did not confirm that this is safe on disk."""


class UnfinishedError(StorageError):
    """A change was begun and could not be finished now. It is in the log, and the next opening finishes it: do not
    make it again. `entry` is its id there.
    """

    code = ErrorCode.UNFINISHED
    entry = ""


class ConflictError(NuggetsError):
    """The same thing was changed in two ways. Nothing was written.

    base, ours and theirs hold the three values as text where there are any. `field` is the name of the note's
    or fact's field; "" when it is about the whole thing, deleted on one side for example. `entry` is the id under
    which the change waits in the log, "" when it does not.
    """

    code = ErrorCode.CONFLICT
    exit_code = 3

    def __init__(self, what: str, *, base: str = "", ours: str = "", theirs: str = "", **named: Any) -> None:
        """named: as of any error."""
        super().__init__(what, **named)
        self.base, self.ours, self.theirs = base, ours, theirs
        self.entry = ""
