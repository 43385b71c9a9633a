"""The memory as a read shows it: outside changes are reconciled in memory, and no file is touched."""

from __future__ import annotations

from typing import Final

from core.errors import NuggetsError
from core.folder import DATABASE_FILE
from core.model.change import ChangeSet
from core.model.compare import differences, without_hollow
from core.storage.format.documents import Loaded
from core.storage.journal.baseline import baseline_files
from core.storage.journal.belonging import check_belongs
from core.storage.journal.codec import Maker
from core.storage.journal.journal import Journal
from core.storage.journal.schema import BrokenJournalError
from core.storage.journal.session import JournalSession
from core.storage.merge.deciding import Collect, take_theirs
from core.storage.merge.rebase import rebase
from core.storage.reconcile import outside
from core.storage.reconcile.lost_updates import item_names
from core.storage.reconcile.restoring import differing
from core.storage.writing import carried_out, completed

_TURNS: Final = 5
# While a program may still be writing, a restore waits for a pause; a read shows it restored all the same.
_AT_IT_SECONDS: Final = 2.0


def reconcile_in_memory(session: JournalSession, loaded: Loaded) -> Loaded:
    """The files as the next writer will leave them: finished what a crash cut off, restored what was taken back.

    Where that differs from what the journal knows, the journal's journal is a copy in memory afterwards, which tells of
    it as the journal will. Where the journal cannot be read, the files are as they are and `log_problem` says why.
    """
    session.file.open_to_read()
    journal = session.journal
    if journal is None and session.file.gone(loaded):
        path = session.home / DATABASE_FILE
        session.notices.add(f"{path}: the history is missing; the next change starts a new one")
    if journal is None or loaded.snapshot.graph_problem or loaded.snapshot.read_only:
        return loaded
    try:
        with session.file.detecting_damage():
            if not baseline_files(journal):
                return loaded
            check_belongs(journal, session.home, loaded)
            if session.baseline.in_step(loaded, journal):
                return loaded
            return _reconciled(session, session.file.read_in_memory(), loaded)
    except BrokenJournalError as error:
        session.file.keep_problem(error)
    except NuggetsError as error:
        session.file.log_problem = error
    return loaded


def _reconciled(session: JournalSession, journal: Journal, loaded: Loaded) -> Loaded:
    lost = outside.lost_files(session, loaded)
    if lost.documents:
        loaded = outside.with_files(loaded, lost.documents)
        outside.log_lost(session, lost)
    session.mark_contained(loaded)
    for _ in range(_TURNS):
        session.draw_ids_from(loaded)
        due = outside.note_outside(session, loaded, _concerned(session, journal, loaded))
        for pending in session.pending():
            loaded = _carry_out(session, journal, loaded, pending.change_set, pending.made_by, pending.seq)
        if not due.restorations and due.white_space is None:
            break
        for restoration in due.restorations:
            taken_back = due.taken_back(restoration)
            loaded = _carry_out(session, journal, loaded, restoration, due.made_by, None, taken_back)
        if due.white_space is not None:
            after = carried_out(session.home, loaded, rebase(due.white_space, loaded.snapshot))
            session.mark_written(journal, None, loaded, after)
            loaded = after
    return loaded


def _concerned(session: JournalSession, journal: Journal, loaded: Loaded) -> frozenset[str]:
    """Names of all that differs, where it would wait otherwise."""
    if outside.is_quiet(loaded, _AT_IT_SECONDS):
        return frozenset()
    baseline = session.baseline.load(journal, loaded)
    return item_names(differing(differences(baseline.snapshot, loaded.snapshot)))


def _carry_out(
    session: JournalSession,
    journal: Journal,
    loaded: Loaded,
    change_set: ChangeSet,
    made_by: Maker,
    seq: int | None,
    preceding: tuple[ChangeSet, ...] = (),
) -> Loaded:
    """seq: of the entry that is pending already."""
    effective = without_hollow(rebase(change_set, loaded.snapshot, Collect(take_theirs)))
    effective = completed(loaded, effective)
    after = loaded if effective.empty else carried_out(session.home, loaded, effective)
    if seq is None and effective.empty:
        return loaded
    number, _ = session.begin(effective, made_by, {}, None, preceding) if seq is None else (seq, None)
    session.mark_written(journal, number, loaded, after)
    return after
