"""Facts and notes held against each other: a person's edits of notes are taken over into the facts, and
`nuggets verify` tells what differs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from core.errors import NuggetsError, partly_done
from core.folder import DATABASE_FILE
from core.graph.merging import survivor
from core.model.draft import Draft
from core.model.note import ORIGIN, replace
from core.model.snapshot import Snapshot
from core.pipeline.database.connection import Database, open_read_only, refuse_damaged
from core.pipeline.database.facts import StoredFact
from core.pipeline.intake.normalisation import collapse_white_space, normalise
from core.pipeline.statements import words_hash
from core.pipeline.writes.notes import fact_of
from core.verify import Finding, RepairKind, quote, sentence

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.pipeline.database.tables import Tables

What = Literal["gone", "hidden", "back", "reworded"]
# Of each: the event of the audit and its reason; what is told of it, and what repairing does. A note that was reworded
# is as its reader wants it, and the pipeline follows by itself.
_STILL: Final = "The pipeline still treats a fact as true whose note was {}: {{}}."
_RETRACTS: Final = "marks it as retracted; the pipeline does not learn it again"
_CHANGES: Final[dict[What, tuple[str, str, str, str]]] = {
    "gone": ("retracted", "its note was deleted", _STILL.format("deleted"), _RETRACTS),
    "hidden": ("retracted", "its note was hidden", _STILL.format("hidden"), _RETRACTS),
    "back": (
        "restored",
        "its note was restored",
        "The pipeline treats a fact as retracted whose note is visible: {}.",
        "marks it as true again",
    ),
    "reworded": ("reworded", "its note was changed", "", ""),
}
# So many facts go in one transaction: others wait for it.
_BATCH: Final = 50
_TAKEN: Final = "some of the changed notes are taken over, and the rest follows"
# What a person did to notes by hand is no fault: the pipeline takes it over at its next turn. A note that is gone for
# good is told of, since it may be lost.
_FOLLOWED: Final = ("hidden", "back")


@dataclass(frozen=True, slots=True)
class ChangedNote:
    """A fact whose note stands otherwise than the database has it. content: the note's words, "" when it is gone."""

    fact: StoredFact
    what: What
    content: str = ""


def changed_notes(facts: tuple[StoredFact, ...], snapshot: Snapshot) -> Iterator[ChangedNote]:
    """What differs between facts and their notes. The snapshot must not be older than the facts.

    Where the graph cannot be read, or a note of it cannot, nothing is said.
    """
    if snapshot.graph_problem:
        return
    for fact in facts:
        note = snapshot.by_id.get(fact.note_id)
        if note is None:
            if fact.status == "active" and fact.note_id not in snapshot.set_aside:
                yield ChangedNote(fact, "gone")
        elif note.hidden:
            # It may have been merged into one that stands.
            other = snapshot.by_id.get(survivor(snapshot, note.id))
            if fact.status == "active" and (other is None or other.hidden):
                yield ChangedNote(fact, "hidden", note.content)
        elif fact.status == "retracted":
            yield ChangedNote(fact, "back", note.content)
        elif note.content != fact.content and collapse_white_space(note.content) != fact.content:
            yield ChangedNote(fact, "reworded", note.content)


def sync_from_notes(database: Database, memory: Memory, *, now: int) -> int:
    """Takes over what was done to the notes of facts since; how many facts differ by that. now: epoch ms.

    A fact whose note was taken out or hidden is kept as taken back, under its hash, so that it is not learned again.
    Many are taken over some at a time; each goes by itself, so one that is cut short goes on with the next call.
    Raises what keeps the database or the memory from being read or written.
    """
    # The facts first: a note that is written in between is in the snapshot then.
    facts = database.reading.facts.fact_statuses()
    if not facts:
        return 0
    memory.refresh(patient=False)
    found = tuple(changed_notes(facts, memory.snapshot))
    taken = 0
    for start in range(0, len(found), _BATCH):
        # Who changed a note last, as the log has it; looked up before the transaction, so that nobody waits for it.
        makers = {}
        for note_id in {one.fact.note_id for one in found[start : start + _BATCH]}:
            with suppress(NuggetsError):
                makers[note_id] = [made.signature for made, *_ in memory.history.makers(note_id)][-1:]
        with partly_done(_TAKEN) if start else nullcontext(), database.write(lasting=False) as writer:
            for one in found[start : start + _BATCH]:
                by = makers.get(one.fact.note_id) or ["program"]
                taken += _take_over(writer, one, by[0], now)
    return taken


def _take_over(writer: Tables, one: ChangedNote, by: str, now: int) -> bool:
    # Unless it has changed since it was read.
    fact, same = one.fact, "WHERE id = ? AND status = ? AND content = ? AND note_id = ?"
    read = (fact.id, fact.status, fact.content, fact.note_id)
    if one.what == "reworded":
        forms = normalise(one.content)
        normalised = forms.normalised_content
        # Its hash stays, so that the former words are not learned again.
        changes = "UPDATE facts SET content = ?, normalised_content = ?, words_hash = ?"
        told = (forms.storage_content, normalised, words_hash(normalised))
        taken = writer.run(f"{changes} {same}", *told, *read) == 1
    else:
        status = "active" if one.what == "back" else "retracted"
        taken = writer.run(f"UPDATE facts SET status = ? {same}", status, *read) == 1
    if taken:
        event, reason, *_ = _CHANGES[one.what]
        writer.history.append(
            at=now,
            event=event,
            changed_by=by,
            reason=reason,
            raw_id=one.fact.raw_id,
            proposal_id=one.fact.proposal_id,
            fact_id=one.fact.id,
            note_id=one.fact.note_id,
            old_content=one.fact.content,
            new_content=one.content if one.what == "reworded" else "",
        )
    return taken


# For `nuggets verify`


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
            changed = changed_notes(facts, memory.snapshot)
            told = [one for one in changed if not (faults_only and one.what in _FOLLOWED)]
            return tuple(_findings(reader, told, memory.snapshot, str(memory.home / DATABASE_FILE)))
    except NuggetsError as error:
        if error.where != str(memory.home / DATABASE_FILE):
            raise
        detail = f"{error.what[:1].upper()}{error.what[1:]}. It holds submitted texts, facts and proposals."
        todo = sentence(error.more)
        return (Finding("unreadable-pipeline", error.where, detail, todo=todo, remedy=error.remedy),)


def _findings(
    reader: Tables, changed: Collection[ChangedNote], snapshot: Snapshot, path: str
) -> Iterator[Finding]:
    for one in changed:
        _, _, told, repair = _CHANGES[one.what]
        if told:
            detail = told.format(quote(one.fact.content))
            yield Finding(f"fact-{one.what}", one.fact.note_id, detail, repair, RepairKind.PIPELINE)
    # Notes of facts that the database never had: it was begun anew, or the notes were brought from elsewhere.
    unknown = _notes_of_unknown_facts(reader, snapshot)
    if unknown:
        one_note = len(unknown) == 1
        some = "1 note names" if one_note else f"{len(unknown):,} notes name"
        detail = f"{some} a fact as source that the pipeline does not know: {unknown[0]}"
        detail += "." if one_note else ", for one."
        yield Finding("unknown-origin", path, detail, "removes the unknown source", RepairKind.PIPELINE)


def _notes_of_unknown_facts(reader: Tables, snapshot: Snapshot) -> list[str]:
    """Ids of the notes that bear an origin which the database does not know, in file order."""
    named = [(note.id, fact) for note in snapshot.notes if (fact := fact_of(note))]
    known = frozenset(reader.column("SELECT id FROM facts") if named else ())
    return [id for id, fact in named if fact not in known]


def repair_drift(memory: Memory, *, now: int) -> tuple[ChangeSet, ...]:
    """Takes over what a person did to the notes; what was written to the graph.

    Nothing where there is no database. now: epoch ms. Raises what keeps either side from being read or written.
    """
    if not Database.exists(memory.home):
        return ()
    with closing(Database.open(memory.home)) as database, database.errors():
        sync_from_notes(database, memory, now=now)
        unknown = _notes_of_unknown_facts(database.reading, memory.snapshot)

    def remove_origins(draft: Draft) -> None:
        for note in filter(None, map(draft.note, unknown)):
            draft.put(replace(note, extra={name: one for name, one in note.extra.items() if name != ORIGIN}))

    if not unknown:
        return ()
    return (memory.change("removed unknown sources", remove_origins, kind="repair")[1],)
