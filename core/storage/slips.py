"""Versions of files that another program put in place in the instant of a write of ours: in no case are they lost."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from core.errors import BrokenFileError
from core.model.change import PROGRAM, ChangeSet
from core.model.compare import differences
from core.model.names import iso
from core.settings import InferenceSettings
from core.storage.compare import outside_changes
from core.storage.documents import Document, read_graph, read_nugget
from core.storage.files import read_file
from core.storage.ledger import Ledger
from core.storage.ledger_codec import fact_item, items_of, note_item
from core.storage.own import item_names, known_versions, own_changes
from core.storage.quarantine import set_aside
from core.storage.reading import Loaded, assembled
from core.storage.restoring import restoration_of
from core.storage.stale import judge

_PLACE: Final = "a version that another program wrote at the moment of a write of this program"


def with_slip(
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
        if target == base.graph.path:
            document = graph = read_graph(target, *found, rules, base.graph)
        else:
            document = nuggets[target] = read_nugget(target, *found)
        reasons = [problem.what for problem in document.problems]
        legible = not document.broken
    except BrokenFileError as error:
        reasons, legible = [error.what], False
    if reasons:
        file = str(target.relative_to(home))
        set_aside(home, file=file, data=found[0], reason=reasons[0], where=_PLACE, at=iso(now), whole=True)
    return assembled(home, graph, nuggets, base) if legible else None


def wished(
    ledger: Ledger, base: Loaded, theirs: Loaded, ids: Callable[[], str], at: str
) -> tuple[ChangeSet, ...]:
    """What another program wanted when it made `theirs` of `base`, without what it took back unseen."""
    found = differences(base.snapshot, theirs.snapshot)
    made = restoration_of(ledger, base, theirs, found, ids, at)
    if made is not None:
        return made.wanted
    judged = judge(
        base.snapshot,
        theirs.snapshot,
        own_changes(ledger, theirs),
        ids=ids,
        at=at,
        author=PROGRAM,
        known=known_versions(ledger),
        found=found,
    )
    unseen = item_names(judged.owed).union(*(items_of(change_set) for change_set, _ in judged.conflicts))
    unseen -= item_names(judged.disputed)
    sets = outside_changes(base.snapshot, theirs.snapshot, ids=ids, at=at, author=PROGRAM, found=found)
    meant = (_without(change_set, unseen) for change_set in sets)
    return tuple(change_set for change_set in meant if not change_set.empty)


def _without(change_set: ChangeSet, names: frozenset[str]) -> ChangeSet:
    return msgspec.structs.replace(
        change_set,
        notes=tuple(change for change in change_set.notes if note_item(change.id) not in names),
        facts=tuple(fact for fact in change_set.facts if fact_item(fact.nugget, fact.key) not in names),
    )
