"""The memory as a read shows it: what the ledger has not seen yet is reconciled in memory, and no file is touched."""

from __future__ import annotations

from typing import Final

from core.errors import NuggetsError
from core.model.change import ChangeSet
from core.model.compare import differences
from core.storage.format.reading import Loaded
from core.storage.journal.baseline import seen_files
from core.storage.journal.belonging import check_what_it_saw
from core.storage.journal.ledger import Ledger
from core.storage.journal.origins import Maker
from core.storage.journal.schema import LEDGER_FILE, BrokenLedgerError
from core.storage.journal.session import JournalSession
from core.storage.merge.compare import without_hollow
from core.storage.merge.deciding import Collect, take_theirs
from core.storage.merge.rebase import rebase
from core.storage.reconcile import outside
from core.storage.reconcile.own import item_names
from core.storage.reconcile.restoring import differing
from core.storage.writing import carried_out

_TURNS: Final = 5
# While somebody may be at it, what is taken back waits for a pause; a read shows it restored all the same.
_AT_IT_SECONDS: Final = 2.0


def reconcile_in_memory(journal: JournalSession, loaded: Loaded) -> Loaded:
    """The files as the next writer will leave them: finished what a crash cut off, restored what was taken back.

    Where that differs from what the ledger knows, the journal's ledger is a copy in memory afterwards, which tells of
    it as the ledger will. Where the ledger cannot be read, the files are as they are and `log_problem` says why.
    """
    journal.log.open_to_read()
    ledger = journal.ledger
    if ledger is None and journal.log.gone(loaded):
        path = journal.home / LEDGER_FILE
        journal.notices.say(f"{path}: the history is missing; the next change starts a new one")
    if ledger is None or loaded.snapshot.graph_problem or loaded.snapshot.read_only:
        return loaded
    try:
        with journal.log.looked_over():
            if not seen_files(ledger):
                return loaded
            check_what_it_saw(ledger, journal.home, loaded)
            if journal.baseline.in_step(loaded, ledger):
                return loaded
            return _reconciled(journal, journal.log.read_in_memory(), loaded)
    except BrokenLedgerError as error:
        journal.log.keep_problem(error)
    except NuggetsError as error:
        journal.log.log_problem = error
    return loaded


def _reconciled(journal: JournalSession, ledger: Ledger, loaded: Loaded) -> Loaded:
    journal.mark_contained(loaded)
    for _ in range(_TURNS):
        journal.draw_ids_from(loaded)
        due = outside.note_outside(journal, loaded, _concerned(journal, ledger, loaded))
        for pending in journal.pending():
            loaded = _carry_out(journal, ledger, loaded, pending.change_set, pending.made_by, pending.seq)
        if not due.restorations and due.white_space is None:
            break
        for restoration in due.restorations:
            taken_back = due.taken_back(restoration)
            loaded = _carry_out(journal, ledger, loaded, restoration, due.made_by, None, taken_back)
        if due.white_space is not None:
            after = carried_out(journal.home, loaded, rebase(due.white_space, loaded.snapshot))
            journal.mark_written(ledger, None, loaded, after)
            loaded = after
    return loaded


def _concerned(journal: JournalSession, ledger: Ledger, loaded: Loaded) -> frozenset[str]:
    """Names of all that differs, where it would wait otherwise."""
    if outside.is_quiet(loaded, _AT_IT_SECONDS):
        return frozenset()
    seen = journal.baseline.seen(ledger, loaded)
    return item_names(differing(differences(seen.snapshot, loaded.snapshot)))


def _carry_out(
    journal: JournalSession,
    ledger: Ledger,
    loaded: Loaded,
    change_set: ChangeSet,
    made_by: Maker,
    seq: int | None,
    preceding: tuple[ChangeSet, ...] = (),
) -> Loaded:
    """seq: of the entry that is pending already."""
    effective = without_hollow(rebase(change_set, loaded.snapshot, Collect(take_theirs)))
    after = loaded if effective.empty else carried_out(journal.home, loaded, effective)
    if seq is None and effective.empty:
        return loaded
    number, _ = journal.begin(effective, made_by, {}, None, preceding) if seq is None else (seq, None)
    journal.mark_written(ledger, number, loaded, after)
    return after
