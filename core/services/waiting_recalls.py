"""Counting of recalls that were answered in a hurry: each that waits becomes one change, with its own id and time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from typing import Final

from msgspec.structs import replace

from core.errors import AmbiguousError, ConflictError, NotFoundError, NuggetsError
from core.model.change import Author, ChangeSet
from core.model.names import parse_iso
from core.services.repository import Repository
from core.storage import waiting
from core.storage.files.atomic import try_lock

# How long somebody else who counts is waited for: one who opens the memory wants to see what was counted.
_WAIT_SECONDS: Final = 2.0
# So often one recall is thought out again, where it met a change of the same note.
_TRIES: Final = 3


def count_waiting(
    repository: Repository,
    following: Callable[[], AbstractContextManager[object]],
    known: Collection[str] = (),
) -> bool:
    """Counts what waits; whether nothing is left. following: entered while one is counted. known: the records that
    waited before the snapshot was read: it is read again where one of them was counted since.

    What cannot be counted now, because the folder may not be written or is locked, waits on. Raises nothing of that,
    but of a snapshot that is read again what `Repository.refresh_read_only` raises.
    """
    none_left = _count_all(repository, following)
    if not all(map(os.path.lexists, known)):
        repository.refresh_read_only()
    return none_left


def _count_all(repository: Repository, following: Callable[[], AbstractContextManager[object]]) -> bool:
    home = os.fspath(repository.home)
    # Who left a record while another one counted relies on that one to look again.
    for _ in range(_TRIES):
        if not waiting.paths(home):
            return True
        if not repository.store.stands:
            return False
        try:
            lock = try_lock(repository.home / waiting.FOLDER / waiting.LOCK, _WAIT_SECONDS)
        except NuggetsError:
            return False
        if lock is None:
            return False
        try:
            with repository.guard:
                left = [path for path in waiting.paths(home) if not _count(repository, path, following)]
        finally:
            lock.release()
        if left:
            return False
    return not waiting.paths(home)


def _count(
    repository: Repository, path: str, following: Callable[[], AbstractContextManager[object]]
) -> bool:
    """Counts one; whether it is done with."""
    record = waiting.read(path)
    if record is None:
        return not os.path.lexists(path)
    for turn in range(_TRIES):
        try:
            if not _is_counted(repository, record):
                change_set = _change_set(repository, record)
                if not change_set.empty:
                    with following():
                        repository.apply_deciding(change_set, None, record.author)
            break
        except ConflictError:
            # The note moved on, or is gone: a recall of what is no more is nobody's to count.
            try:
                repository.refresh(patient=False)
            except NuggetsError:
                return False
            if turn == _TRIES - 1:
                break
        except NuggetsError:
            return False
    with contextlib.suppress(OSError):
        waiting.remove(path)
    return not os.path.lexists(path)


def _is_counted(repository: Repository, record: waiting.Waiting) -> bool:
    """Whether the log has it: who counted it was killed before the record was removed."""
    journal = repository.store.journal
    if journal is None:
        return False

    def look() -> bool:
        try:
            found = journal.entry(record.id)
        except (AmbiguousError, NotFoundError):
            return False
        done = found.change_set
        return (done.id, done.at, done.kind) == (record.id, record.at, "hit")

    return repository.with_sound_log(look)


def _change_set(repository: Repository, record: waiting.Waiting) -> ChangeSet:
    from core.facts.edits import record_hit

    draft = repository.draft()
    moment = parse_iso(record.at)
    if moment is not None:
        draft.now, draft.at = moment, record.at
    record_hit(draft, record.nugget, record.key or None, record.note or None, record.session)
    said = record.key
    if not said:
        note = draft.note(record.note)
        said = note.title if note is not None else record.note
    made = draft.change_set(f"recalled {said}", author=Author("agent", record.session), kind="hit")
    return replace(made, id=record.id)
