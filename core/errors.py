"""One tree of errors; each says what went wrong, where, what was kept safe and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class NuggetsError(Exception):
    """Base of every error that the engine raises on purpose.

    what: what happened, a short clause. where: the file, note or option it concerns.
    kept: what was kept safe. todo: the next step for a person. `exit_code` is what a
    command line returns for it.
    """

    exit_code = 2

    def __init__(self, what: str, *, where: str = "", kept: str = "", todo: str = "") -> None:
        self.what = what
        self.where = where
        self.kept = kept
        self.todo = todo
        super().__init__(self.message)

    @property
    def message(self) -> str:
        """The error as one line: where: what; what was kept safe; what to do."""
        head = f"{self.where}: {self.what}" if self.where else self.what
        return "; ".join(part for part in (head, self.kept, self.todo) if part).replace("\n", " ")


@contextmanager
def partly_done(kept: str, todo: str = "") -> Iterator[None]:
    """Within this, work goes on of which a part is done: an error says what stands, in place of its own words.

    kept: what was kept safe, which is more than the call that failed knows of. todo: the next step, "" for its own.
    """
    try:
        yield
    except UnfinishedError:
        raise
    except (StorageError, LockTimeoutError, ReadOnlyError) as error:
        error.kept, error.todo = kept, todo or error.todo
        error.args = (error.message,)
        raise


class InvalidInputError(NuggetsError):
    """Something handed in cannot be accepted: a name, a value, an option."""


class NotFoundError(NuggetsError):
    """What was named or asked for does not exist."""

    exit_code = 1


class AmbiguousError(NuggetsError):
    """A name fits more than one thing."""


class BrokenFileError(NuggetsError):
    """A file of the memory cannot be read; its bytes were left as they are."""


class ReadOnlyError(NuggetsError):
    """The memory may be read but not written (a newer format, missing permission)."""


class LockTimeoutError(NuggetsError):
    """Another process kept the memory locked for too long."""


class StorageError(NuggetsError):
    """The operating system refused a read or a write."""


class NotSyncedError(StorageError):
    """A file was replaced or removed, and the system then did not say that this is safe on disk."""


class UnfinishedError(StorageError):
    """A change was begun and could not be finished now. It is in the log, and whoever opens the memory next finishes
    it: it is not to be made again. `entry` is its id there.
    """

    entry = ""


class ConflictError(NuggetsError):
    """The same thing was changed in two ways. Nothing was written.

    base, ours and theirs hold the three values as text where there are any. `field` is the name of the note's
    or fact's field; "" when it is about the whole thing, deleted on one side for example. `entry` is the id under
    which the change waits in the log, "" when it does not.
    """

    exit_code = 3

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        kept: str = "",
        todo: str = "",
        base: str = "",
        ours: str = "",
        theirs: str = "",
        field: str = "",
    ) -> None:
        super().__init__(what, where=where, kept=kept, todo=todo)
        self.field = field
        self.base = base
        self.ours = ours
        self.theirs = theirs
        self.entry = ""
