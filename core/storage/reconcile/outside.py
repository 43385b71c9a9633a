"""Changes from outside: compares the files with the baseline, logs what differs, and repairs it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from core.errors import Notice
from core.model.change import OURSELVES, PROGRAM, ChangeSet
from core.model.compare import Differences, differences, outside_changes
from core.model.entry import Conflict
from core.model.snapshot import Snapshot
from core.storage.format.documents import (
    Document,
    GraphDocument,
    Loaded,
    NuggetDocument,
    assembled,
    changed_graph,
    changed_nugget,
)
from core.storage.journal.baseline import (
    forget_file,
    kept_names,
    named_items,
    record_baseline,
    record_few,
    record_version,
)
from core.storage.journal.codec import (
    OUTSIDE,
    OVERWRITTEN,
    RESTORED,
    RESTORED_IN_PASSING,
    Maker,
    by,
    concerned,
    fact_item,
    items_of,
    note_item,
)
from core.storage.journal.journal import Journal
from core.storage.journal.session import JournalSession
from core.storage.reconcile.lost_updates import item_names, overwritten, own_changes, same, ways_back
from core.storage.reconcile.repairs import Repairs, facts_of, find_repairs
from core.storage.reconcile.restoring import Restoration, came_back, fights, restoration_of

# A restoration waits until nobody has written for so long: a program that saves without a lock and is at it
# would take it back at once.
QUIET_SECONDS: Final = 0.25
# Overwritten again after it was restored: the pause was too short that time.
_LONGER: Final = 4
_LONGEST_SECONDS: Final = 2.0
# What was restored so often is restored without a word each further time, and is a conflict while it has to wait.
_TURNS: Final = 2


class Due(NamedTuple):
    """What is to be written now. white_space: what the original squeezed, put back; no change that a log tells of.
    outside: all that came from outside, restored or not. made_by: how the journal is to know the restorations.
    silent: nobody needs to be told of them again.
    """

    restorations: tuple[ChangeSet, ...] = ()
    white_space: ChangeSet | None = None
    outside: tuple[ChangeSet, ...] = ()
    made_by: Maker = RESTORED
    silent: bool = False

    def taken_back(self, restoration: ChangeSet) -> tuple[ChangeSet, ...]:
        """What another program did to the things that this restores."""
        names = frozenset(items_of(restoration))
        found = (_only(change_set, names) for change_set in self.outside)
        return tuple(change_set for change_set in found if not change_set.empty)


def note_outside(session: JournalSession, loaded: Loaded, urgent: frozenset[str] = frozenset()) -> Due:
    """Finds what changed in the files without us, logs it, and returns what restores that which was taken back.

    While another program is saving again and again, restoring waits for whoever looks when the files are quiet, but
    for the things named in `urgent`, which are about to be changed.
    """
    journal = session.journal
    if journal is None:
        return Due()
    if not session.baseline.moved(loaded, journal):
        return Due()
    baseline = session.baseline.load(journal, loaded)
    found = differences(baseline.snapshot, loaded.snapshot)
    due = _lost_updates(session, journal, baseline, loaded, found, urgent)
    if due is not None:
        return due
    repairs = _repairs(session, journal, baseline, loaded, found)
    if not (repairs.restorations or repairs.white_space is not None):
        _put_down(session, journal, baseline, loaded, repairs, found)
        return Due()
    session.quiet_seconds = QUIET_SECONDS * (_LONGER if repairs.tried else 1)
    sets = _as_sets(session, baseline, loaded, found)
    if is_quiet(loaded, session.quiet_seconds):
        return Due(repairs.restorations, repairs.white_space, sets)
    if not urgent:
        return Due()
    return Due(
        _repairs(session, journal, baseline, loaded, found, urgent).restorations,
        white_space_of(repairs.white_space, urgent),
        sets,
        RESTORED_IN_PASSING,
    )


# Lost files


class Lost(NamedTuple):
    """Files that somebody removed, as the journal last saw them; `told`: what went by that, and what brings it back."""

    documents: tuple[Document, ...] = ()
    told: tuple[ChangeSet, ...] = ()


def lost_files(session: JournalSession, loaded: Loaded) -> Lost:
    """The files that are gone and whose notes and facts nobody else has. Nothing is deleted by removing a file: an
    editor does that while it saves, and a person has other ways.
    """
    gone = session.baseline.gone(loaded, session.journal) if session.journal is not None else ()
    if not gone or session.journal is None:
        return Lost()
    held = loaded.snapshot.by_name
    documents = tuple(
        document
        for path, document in session.baseline.load(session.journal, loaded).documents().items()
        if session.baseline.name(path) in gone
        and not (isinstance(document, NuggetDocument) and document.meta.name in held)
    )
    session.draw_ids_from(loaded)
    whole = with_files(loaded, documents)
    went = outside_changes(whole.snapshot, loaded.snapshot, ids=session.ids, at=session.at(), author=PROGRAM)
    names = ", ".join(session.baseline.name(document.path) for document in documents)
    back = (
        one.inverse(id=session.ids(), at=one.at, author=OURSELVES, reason=f"restored {names}", kind="restore")
        for one in went
    )
    return Lost(documents, (*went, *back))


def with_files(loaded: Loaded, documents: Iterable[Document]) -> Loaded:
    """The folder with files that are not in it."""
    graph, nuggets = loaded.graph, dict(loaded.nuggets)
    for document in documents:
        if isinstance(document, GraphDocument):
            graph = document
        else:
            nuggets[document.path] = document
    return assembled(Path(loaded.snapshot.home), graph, nuggets, loaded)


def log_lost(session: JournalSession, lost: Lost) -> None:
    """Puts down, and says, what was gone and is back."""
    journal = session.journal
    if journal is None or not lost.documents:
        return
    with journal.transaction(durable=True) as connection:
        for change_set in lost.told:
            maker = OUTSIDE if change_set.kind == "outside" else RESTORED
            journal.record(connection, change_set, maker)
    for document in lost.documents:
        undo = f"; if you meant to delete it, undo {lost.told[-1].id}" if lost.told else ""
        session.notices.add(
            Notice(
                f"the file was missing and is restored as it was last seen{undo}", where=str(document.path)
            )
        )


# Lost updates


def _lost_updates(
    session: JournalSession,
    journal: Journal,
    baseline: Loaded,
    loaded: Loaded,
    found: Differences,
    urgent: frozenset[str],
) -> Due | None:
    """Logs what was really meant by a save that took something back unseen, and says what restores the rest.

    None when nothing is surely lost.
    """
    if _is_of_git(loaded):
        return None
    made = restoration_of(journal, baseline, loaded, found, session.ids, session.at())
    if made is None or made.restoring.empty:
        return None
    _log_what_was_meant(session, journal, baseline, loaded, made)
    _keep_conflicts(session, journal, made.conflicts)
    turns = max((journal.restored(name) for name in item_names(made.lost)), default=0)
    session.quiet_seconds = min(QUIET_SECONDS * 2**turns, _LONGEST_SECONDS)
    silent = turns >= _TURNS
    if is_quiet(loaded, session.quiet_seconds):
        return Due((made.restoring,), silent=silent)
    if urgent & (concerned(made.restoring) | item_names(made.apart)):
        return Due((made.restoring,), made_by=RESTORED_IN_PASSING, silent=silent)
    if silent:
        _keep_conflicts(
            session, journal, fights(made.restoring, lambda name: journal.restored(name) >= _TURNS)
        )
    return Due()


def _is_of_git(loaded: Loaded) -> bool:
    """Whether the notes lie in a repository: git brings former versions back, of another branch say, and means it."""
    pages = loaded.graph.pages
    return pages is not None and pages.dialect.whole


def _log_what_was_meant(
    session: JournalSession, journal: Journal, baseline: Loaded, loaded: Loaded, made: Restoration
) -> None:
    """Puts down what another program wanted and what it took back, and remembers the former as seen."""
    newest = _newest(loaded)
    waiting = item_names(made.lost)
    with journal.transaction(durable=True) as connection:
        # A recall of an overwritten change is known from what the program saved: once.
        told = (one for one in made.merged if one.kind != "hit")
        for change_set in (*made.wishes, *told):
            journal.record(connection, change_set, OUTSIDE, written_ns=newest)
        _record_all(connection, session, baseline, loaded, waiting | item_names(made.left))
        _record_merged(connection, session, baseline, made)
        _log_what_came_back(connection, session, journal, loaded, waiting)
        for change_set in made.overwritten:
            _, kept = journal.record(connection, change_set, OVERWRITTEN, written_ns=newest)
            connection.executemany(
                "INSERT OR REPLACE INTO pending_restore (item, entry) VALUES (?, ?)",
                [(name, kept.id) for name in items_of(kept) if name in waiting],
            )


def _log_what_came_back(
    connection: sqlite3.Connection,
    session: JournalSession,
    journal: Journal,
    loaded: Loaded,
    waiting: frozenset[str],
) -> None:
    """What does not wait to be restored any more, since another program put it back, is logged and forgotten."""
    if loaded.broken() or loaded.snapshot.problems:
        return
    gone = journal.pending_restores().keys() - waiting
    if gone:
        back = came_back(journal, gone, loaded.snapshot, session.ids, session.at())
        if not back.empty:
            journal.record(connection, back, OVERWRITTEN, written_ns=_newest(loaded))
        connection.executemany("DELETE FROM pending_restore WHERE item = ?", [(name,) for name in gone])


def _record_merged(
    connection: sqlite3.Connection, session: JournalSession, baseline: Loaded, made: Restoration
) -> None:
    """Remembers what both changed as it is to be; no file shows it so yet."""
    for change_set in made.merged:
        names = frozenset(items_of(change_set))
        documents: list[Document | None] = [changed_graph(baseline.graph, change_set.notes)]
        for document in baseline.nuggets.values():
            facts = [change for change in change_set.facts if change.nugget == document.meta.name]
            documents.append(changed_nugget(document, facts) if facts else None)
        for one in documents:
            if one is not None:
                record_baseline(
                    connection, session.baseline.name(one.path), one, None, fingerprint=None, only=names
                )


def _keep_conflicts(
    session: JournalSession, journal: Journal, conflicts: Iterable[tuple[ChangeSet, Conflict]]
) -> None:
    """One conflict a thing: one that was withdrawn before waits again, a later text takes the place of an earlier."""
    for change_set, conflict in conflicts:
        for earlier in journal.conflicts_gone_beyond(conflict):
            journal.set_state(earlier, "settled")
        known = journal.conflict_about(conflict)
        if known is None:
            session.keep_conflict(change_set, RESTORED, conflict)
        elif known.state == "settled":
            journal.set_state(known.id, "conflict")


def _withdraw_conflicts(journal: Journal, loaded: Loaded) -> None:
    """Nobody is asked any more about a change that stands in the files again."""
    for id, change_set in journal.restorations_in_conflict():
        if _stands(change_set, loaded.snapshot):
            journal.set_state(id, "settled")


def _stands(change_set: ChangeSet, snapshot: Snapshot) -> bool:
    return all(same(snapshot.by_id.get(change.id), change.after) for change in change_set.notes) and all(
        same(facts_of(snapshot, change.nugget).get(change.key), change.after) for change in change_set.facts
    )


# Other changes


def _repairs(
    session: JournalSession,
    journal: Journal,
    baseline: Loaded,
    loaded: Loaded,
    found: Differences,
    only: frozenset[str] | None = None,
) -> Repairs:
    """only: names of things of which each restoration is to concern one."""
    if loaded.graph.pages is not None:
        # Who writes pages writes them by hand, each by itself, and means it.
        return Repairs()
    return find_repairs(
        baseline.snapshot,
        loaded.snapshot,
        own_changes(journal, loaded),
        ids=session.ids,
        at=session.at(),
        author=OURSELVES,
        wanted=None if only is None else lambda items: bool(item_names(items) & only),
        found=found,
    )


def _as_sets(
    session: JournalSession, baseline: Loaded, loaded: Loaded, found: Differences
) -> tuple[ChangeSet, ...]:
    """What came from outside, as change sets."""
    return outside_changes(
        baseline.snapshot, loaded.snapshot, ids=session.ids, at=session.at(), author=PROGRAM, found=found
    )


def _put_down(
    session: JournalSession,
    journal: Journal,
    baseline: Loaded,
    loaded: Loaded,
    repairs: Repairs,
    found: Differences,
) -> None:
    """Puts the differences into the log and remembers the files as they are now."""
    sets = _as_sets(session, baseline, loaded, found)
    made_by, mine = OUTSIDE, session.attribution
    if mine is not None:
        made_by = by(mine.author.signature)
        sets = tuple(
            msgspec.structs.replace(one, author=mine.author, kind=mine.kind, reason=mine.reason)
            for one in sets
        )
    if mine is not None and sets:
        sets = (*sets[:-1], msgspec.structs.replace(sets[-1], mends=mine.mends))
        session.attribution = replace(mine, mends=())
    written_over = (
        frozenset() if mine is not None or _is_of_git(loaded) else overwritten(journal, sets, loaded)
    )
    newest = _newest(loaded)
    said: list[str] = []
    with journal.transaction(durable=True) as connection:
        for change_set in sets:
            _, kept = journal.record(connection, change_set, made_by, written_ns=newest)
            said += ways_back(kept, written_over) if written_over else ()
        _record_all(connection, session, baseline, loaded)
        _log_what_came_back(connection, session, journal, loaded, frozenset())
    for notice in said:
        session.notices.add(notice)
    session.baseline.remember(loaded)
    _withdraw_conflicts(journal, loaded)
    _keep_conflicts(session, journal, repairs.conflicts)


def _record_all(
    connection: sqlite3.Connection,
    session: JournalSession,
    baseline: Loaded,
    loaded: Loaded,
    but: frozenset[str] = frozenset(),
) -> None:
    """Remembers all files as they are now, but for the things named in `but`, which stay remembered as they were."""
    was, now = baseline.documents(), loaded.documents()
    for path, document in now.items():
        _record(connection, session.baseline.name(path), was.get(path), document, but)
    there = {session.baseline.name(path) for path in {*now, *loaded.broken()}}
    for (file,) in connection.execute("SELECT file FROM seen_file").fetchall():
        if file not in there:
            forget_file(connection, file)


def _record(
    connection: sqlite3.Connection,
    file: str,
    was: Document | None,
    document: Document,
    but: frozenset[str] = frozenset(),
) -> None:
    """Remembers a file as it is now, that was last seen as `was`."""
    if was is not None and but:
        before, names = named_items(was), named_items(document)
        if but & ({*before} | {*names}):
            only = {*before, *names} - but - kept_names(document, before)
            record_baseline(connection, file, document, before, fingerprint=None, only=only)
            return
    if document is was:
        record_version(connection, file, document)
        return
    whole = was is not None and not (was.problems or document.problems)
    if was is not None and whole and record_few(connection, file, was, document):
        return
    before = named_items(was) if was is not None else {}
    kept = kept_names(document, before)
    record_baseline(connection, file, document, before, fingerprint=document.fingerprint, keep=kept)


def _only(change_set: ChangeSet, names: frozenset[str]) -> ChangeSet:
    return msgspec.structs.replace(
        change_set,
        notes=tuple(c for c in change_set.notes if note_item(c.id) in names),
        facts=tuple(c for c in change_set.facts if fact_item(c.nugget, c.key) in names),
        nuggets=(),
    )


def white_space_of(change_set: ChangeSet | None, names: frozenset[str]) -> ChangeSet | None:
    """What of it concerns these things: a change of a note that is written on squeezed text would make that the text as
    we last saw it.
    """
    found = None if change_set is None else _only(change_set, names)
    return None if found is None or found.empty else found


# Waiting for quiet


def is_quiet(loaded: Loaded, seconds: float) -> bool:
    """Whether nobody has written to the files for so long."""
    return not 0 <= time.time_ns() - _newest(loaded) < seconds * 1e9


def _newest(loaded: Loaded) -> int:
    return max((made.mtime_ns for made in loaded.fingerprints().values() if made is not None), default=0)
