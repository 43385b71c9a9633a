"""Keeps versions of files that another program wrote at the moment of our own write."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from core.errors import BrokenFileError, Notice
from core.model.change import PROGRAM, ChangeSet
from core.model.compare import differences, outside_changes
from core.model.names import iso
from core.settings import InferenceSettings
from core.storage.files.atomic import fingerprint, leftovers, read_file
from core.storage.format.documents import Document, Loaded, assembled, read_graph, read_nugget
from core.storage.journal.codec import TAKEN_IN, fact_item, items_of, note_item
from core.storage.journal.journal import Journal
from core.storage.journal.session import JournalSession
from core.storage.reconcile.lost_updates import item_names, own_changes
from core.storage.reconcile.repairs import find_repairs
from core.storage.reconcile.restoring import restoration_of
from core.storage.safety.quarantine import QUARANTINE, set_aside
from core.storage.writing import Written, name_of

_PLACE: Final = "a version that another program wrote at the same moment as nuggets-tui"


def with_concurrent_write(
    home: Path, path: Path, target: Path, base: Loaded, rules: InferenceSettings, now: datetime
) -> Loaded | None:
    """The memory as it would be with the version at `path`, which was to stand at `target`, in `base`.

    What of it cannot be read is kept in the quarantine, with its exact bytes. None when it is gone or cannot be read
    at all. Under the memory's lock. Raises StorageError.
    """
    found = read_file(path)
    if found is None:
        return None
    nuggets, graph = dict(base.nuggets), base.graph
    document: Document
    try:
        if target != base.graph.path and base.graph.pages is not None:
            from core.storage.format.pages import with_page

            document = graph = with_page(base.graph, target, found[0], rules)
        elif target == base.graph.path:
            document = graph = read_graph(target, *found, rules, base.graph)
        else:
            document = nuggets[target] = read_nugget(target, *found)
        reasons = [problem.what for problem in document.problems]
        legible = not document.broken
    except BrokenFileError as error:
        reasons, legible = [error.what], False
    if reasons:
        file = str(target.relative_to(home)) if target.is_relative_to(home) else target.name
        set_aside(home, file=file, data=found[0], reason=reasons[0], where=_PLACE, at=iso(now), whole=True)
    return assembled(home, graph, nuggets, base) if legible else None


def intended_changes(
    journal: Journal, base: Loaded, theirs: Loaded, ids: Callable[[], str], at: str
) -> tuple[ChangeSet, ...]:
    """What another program wanted when it made `theirs` of `base`, without what it took back unseen."""
    found = differences(base.snapshot, theirs.snapshot)
    made = restoration_of(journal, base, theirs, found, ids, at)
    if made is not None:
        return made.wanted
    repairs = find_repairs(
        base.snapshot,
        theirs.snapshot,
        own_changes(journal, theirs),
        ids=ids,
        at=at,
        author=PROGRAM,
        found=found,
    )
    unseen = item_names(repairs.pending_restores).union(
        *(items_of(change_set) for change_set, _ in repairs.conflicts)
    )
    sets = outside_changes(base.snapshot, theirs.snapshot, ids=ids, at=at, author=PROGRAM, found=found)
    meant = (_without(change_set, unseen) for change_set in sets)
    return tuple(change_set for change_set in meant if not change_set.empty)


def taken_in(session: JournalSession, path: Path, target: Path, base: Loaded) -> tuple[ChangeSet, ...]:
    """What another program wanted with the version at `path`, which was to stand at `target`, on top of `base`.

    Under the memory's lock. Raises StorageError.
    """
    theirs = with_concurrent_write(session.home, path, target, base, session.rules, session.now())
    if theirs is None:
        session.notices.add(
            Notice(
                "another program wrote this file during a change, and its version cannot be read; "
                f"it is kept in {session.home / QUARANTINE}",
                where=str(target),
            )
        )
        return ()
    assert session.journal is not None
    return intended_changes(session.journal, base, theirs, session.ids, session.at())


def concurrent_changes(
    session: JournalSession, written: Written, before: Loaded
) -> Callable[[], tuple[ChangeSet, ...]]:
    """What other programs wanted that wrote in the instant of a write of ours on top of `before`, once it is asked."""
    return lambda: tuple(
        one
        for concurrent in written.concurrent_writes
        for one in taken_in(session, concurrent.path, concurrent.document.path, before)
    )


def recover_concurrent_writes(session: JournalSession, loaded: Loaded) -> None:
    """Finds versions of other programs that a killed write had replaced unseen, before leftovers are cleared."""
    pending = session.pending()
    stages = {file: stage for entry in pending for file, stage in entry.stages.items()}
    if session.journal is None or not stages:
        return
    baseline = session.baseline.load(session.journal, loaded)
    # The kill may have come after such a version was put into the log, and before its file was cleared.
    known = [(entry.change_set.notes, entry.change_set.facts) for entry in pending]
    for temporary, target in leftovers(session.home, *loaded.page_folders):
        stage = stages.get(name_of(session.home, target))
        if stage is None:
            continue
        found = fingerprint(temporary)
        if found is None or found.same_data(stage.read) or found.same_data(stage.staged):
            continue
        with session.journal.transaction(durable=True) as connection:
            for change_set in taken_in(session, temporary, target, baseline):
                if (change_set.notes, change_set.facts) not in known:
                    session.journal.record(connection, change_set, TAKEN_IN, state="pending")


def _without(change_set: ChangeSet, names: frozenset[str]) -> ChangeSet:
    return msgspec.structs.replace(
        change_set,
        notes=tuple(change for change in change_set.notes if note_item(change.id) not in names),
        facts=tuple(fact for fact in change_set.facts if fact_item(fact.nugget, fact.key) not in names),
    )
