"""Compares accepted facts with the notes in the graph, for `nuggets verify`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.errors import NuggetsError
from core.folder import DATABASE_FILE
from core.model.draft import Draft
from core.model.note import ORIGIN, replace
from core.model.snapshot import Snapshot
from core.pipeline.database.connection import Database, open_read_only, refuse_damaged
from core.pipeline.writes.note_of import fact_of
from core.pipeline.writes.note_sync import ChangedNote, changed_notes, sync_from_notes
from core.verify import Finding, RepairKind, quote, sentence

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.pipeline.database.tables import Tables

# What a person did to notes by hand is no fault: the pipeline takes it over at its next turn. A note that is gone for
# good is told of, since it may be lost.
_FOLLOWED: Final = ("hidden", "back")


def drift(memory: Memory, *, faults_only: bool = False) -> tuple[Finding, ...]:
    """What differs between the pipeline's database and the note graph, each with what repairing does about it.

    faults_only: without what the pipeline takes over by itself: notes that were hidden or shown again by hand.

    Nothing, and no file made, where there is no such database. Nothing is written. Errors as
    `Memory.refresh`.
    """
    if not Database.exists(memory.home):
        return ()
    try:
        with open_read_only(memory.home) as reader:
            refuse_damaged(memory.home)
            facts = reader.facts.fact_statuses()
            memory.refresh(patient=False)
            changed = tuple(
                one
                for one in changed_notes(facts, memory.snapshot)
                if not (faults_only and one.what in _FOLLOWED)
            )
            return tuple(_findings(reader, changed, memory.snapshot))
    except NuggetsError as error:
        if error.where != str(memory.home / DATABASE_FILE):
            raise
        detail = f"{error.what[:1].upper()}{error.what[1:]}. It holds submitted texts, facts and proposals."
        todo = sentence(error.more)
        return (Finding("unreadable-pipeline", error.where, detail, todo=todo, remedy=error.remedy),)


def _findings(reader: Tables, changed: tuple[ChangedNote, ...], snapshot: Snapshot) -> Iterator[Finding]:
    path = str(Path(snapshot.home) / DATABASE_FILE)
    for one in changed:
        yield from _describe(one)
    yield from _unknown_origins(reader, snapshot, path)


def _describe(one: ChangedNote) -> Iterator[Finding]:
    fact, words = one.fact, quote(one.fact.content)
    if one.what == "gone" or one.what == "hidden":
        went = "was deleted" if one.what == "gone" else "was hidden"
        detail = f"The pipeline still treats a fact as true whose note {went}: {words}."
        yield Finding(
            f"fact-{one.what}",
            fact.note_id,
            detail,
            "marks it as retracted; the pipeline does not learn it again",
            RepairKind.PIPELINE,
        )
    elif one.what == "back":
        detail = f"The pipeline treats a fact as retracted whose note is visible: {words}."
        yield Finding("fact-back", fact.note_id, detail, "marks it as true again", RepairKind.PIPELINE)
    # A note that was reworded is as its reader wants it, and the pipeline follows by itself.


def _unknown_origins(reader: Tables, snapshot: Snapshot, path: str) -> Iterator[Finding]:
    """Notes of facts that the database never had: it was begun anew, or the notes were brought from elsewhere."""
    unknown = _notes_of_unknown_facts(reader, snapshot)
    if unknown:
        one = len(unknown) == 1
        some = "1 note names" if one else f"{len(unknown):,} notes name"
        detail = f"{some} a fact as source that the pipeline does not know: {unknown[0]}"
        detail += "." if one else ", for one."
        yield Finding("unknown-origin", path, detail, "removes the unknown source", RepairKind.PIPELINE)


def _notes_of_unknown_facts(reader: Tables, snapshot: Snapshot) -> list[str]:
    """Ids of the notes that bear an origin which the database does not know, in file order."""
    named = [(note.id, fact) for note in snapshot.notes if (fact := fact_of(note))]
    known = reader.facts.known_facts() if named else frozenset()
    return [id for id, fact in named if fact not in known]


def _remove_origins(draft: Draft, ids: Collection[str]) -> None:
    for id in ids:
        note = draft.note(id)
        if note is not None:
            extra = {name: value for name, value in note.extra.items() if name != ORIGIN}
            draft.put(replace(note, extra=extra))


def repair_drift(memory: Memory, *, now: int) -> tuple[ChangeSet, ...]:
    """Takes over what a person did to the notes; what was written to the graph.

    Nothing where there is no database. now: epoch ms. Raises what keeps either side from being read or written.
    """
    if not Database.exists(memory.home):
        return ()
    with closing(Database.open(memory.home)) as database, database.errors():
        sync_from_notes(database, memory, now=now)
        unknown = _notes_of_unknown_facts(database.reading, memory.snapshot)
        if not unknown:
            return ()
        reason = "removed unknown sources"
        return (memory.change(reason, lambda draft: _remove_origins(draft, unknown), kind="repair")[1],)
