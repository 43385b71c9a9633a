"""Both sides held against each other: what was accepted and what stands in the graph, for `nuggets verify`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.errors import NuggetsError, partly_done
from core.model.draft import Draft
from core.model.note import replace
from core.model.snapshot import Snapshot
from core.pipeline.database.connection import PIPELINE_FILE, Database
from core.pipeline.database.outbox import counts, oldest_pending, try_failed_again
from core.pipeline.database.standing import Standing, check_whole, failed, known_facts, looking, standing
from core.pipeline.writes.following import Moved, follow, moved
from core.pipeline.writes.note_of import ORIGIN, fact_of
from core.pipeline.writes.outbox import bring_over
from core.verify.finding import Finding, Means, said, sentence

if TYPE_CHECKING:
    import sqlite3

    from core.memory import Memory
    from core.model.change import ChangeSet

_SECONDS: Final = 15.0
_BROUGHT: Final = "the accepted facts are in the notes and in the history"
_ON_ITS_WAY_MS: Final = 60_000
_DOES: Final = {"add": "become a note", "update": "change its note", "hide": "hide its note"}


def drift(memory: Memory, *, now: int) -> tuple[Finding, ...]:
    """What differs between the pipeline's database and the note graph, each with what mending does about it.

    Nothing, and no file made, where there is no such database. Nothing is written. now: epoch ms. Errors as
    `Memory.refresh`.
    """
    if not Database.stands(memory.home):
        return ()
    try:
        with looking(memory.home) as reader:
            check_whole(reader, memory.home)
            facts = standing(reader)
            memory.refresh(patient=False)
            return tuple(_findings(reader, facts, memory.snapshot, now))
    except NuggetsError as error:
        if error.where != str(memory.home / PIPELINE_FILE):
            raise
        detail = f"{error.what[:1].upper()}{error.what[1:]}. It holds submitted texts, facts and proposals."
        todo = sentence(error.more)
        return (Finding("unreadable-pipeline", error.where, detail, todo=todo, remedy=error.remedy),)


def _findings(
    reader: sqlite3.Connection, facts: tuple[Standing, ...], snapshot: Snapshot, now: int
) -> Iterator[Finding]:
    path = str(Path(snapshot.home) / PIPELINE_FILE)
    oldest = oldest_pending(reader)
    # What was accepted just now is on its way, and nothing is wrong with that.
    if oldest is not None and not 0 <= now - oldest < _ON_ITS_WAY_MS:
        waiting = counts(reader)["pending"]
        some = "1 accepted fact is" if waiting == 1 else f"{waiting:,} accepted facts are"
        yield Finding(
            "outbox-waiting", path, f"{some} not in the notes yet.", "writes the notes", Means.PIPELINE
        )
    for row in failed(reader):
        detail = f"An accepted fact could not {_DOES[row.op]}: {row.error}."
        yield Finding("outbox-failed", row.note_id, detail, "tries again", Means.PIPELINE)
    for one in moved(facts, snapshot):
        yield from _told(one)
    yield from _strangers(reader, snapshot, path)


def _told(one: Moved) -> Iterator[Finding]:
    fact, words = one.fact, said(one.fact.content)
    if one.what == "gone" or one.what == "hidden":
        went = "was deleted" if one.what == "gone" else "was hidden"
        detail = f"The pipeline still treats a fact as true whose note {went}: {words}."
        yield Finding(
            f"fact-{one.what}",
            fact.note_id,
            detail,
            "marks it as retracted; the pipeline does not learn it again",
            Means.PIPELINE,
        )
    elif one.what == "back":
        detail = f"The pipeline treats a fact as retracted whose note is visible: {words}."
        yield Finding("fact-back", fact.note_id, detail, "marks it as true again", Means.PIPELINE)
    # A note that was reworded is as its reader wants it, and the pipeline follows by itself.


def _strangers(reader: sqlite3.Connection, snapshot: Snapshot, path: str) -> Iterator[Finding]:
    """Notes of facts that the database never had: it was begun anew, or the notes were brought from elsewhere."""
    unknown = _strange(reader, snapshot)
    if unknown:
        one = len(unknown) == 1
        some = "1 note names" if one else f"{len(unknown):,} notes name"
        detail = f"{some} a fact as source that the pipeline does not know: {unknown[0]}"
        detail += "." if one else ", for one."
        yield Finding("unknown-origin", path, detail, "removes the unknown source", Means.PIPELINE)


def _strange(reader: sqlite3.Connection, snapshot: Snapshot) -> list[str]:
    """Ids of the notes that bear an origin which the database does not know, in file order."""
    named = [(note.id, fact) for note in snapshot.notes if (fact := fact_of(note))]
    known = known_facts(reader) if named else frozenset()
    return [id for id, fact in named if fact not in known]


def _without_trail(draft: Draft, ids: Collection[str]) -> None:
    for id in ids:
        note = draft.note(id)
        if note is not None:
            extra = {name: value for name, value in note.extra.items() if name != ORIGIN}
            draft.put(replace(note, extra=extra))


def mend_drift(memory: Memory, *, now: int) -> tuple[ChangeSet, ...]:
    """Brings over what waits or failed, and takes over what a person did to the notes; what was written to the graph.

    Nothing where there is no database. now: epoch ms. Raises what keeps either side from being read or written.
    """
    if not Database.exists(memory.home):
        return ()
    database = Database.open(memory.home)
    written: list[ChangeSet] = []
    try:
        with database.write() as writer:
            try_failed_again(writer)
        while True:
            done = bring_over(database, memory, now=now, asked=True, seconds=_SECONDS)
            if done.change_set is not None:
                written.append(done.change_set)
            if done.problem is not None:
                raise done.problem
            if not done.waiting or done.busy:
                break
        with partly_done(_BROUGHT) if written else nullcontext():
            with database.telling():
                follow(database, memory, now=now)
                strange = _strange(database.reading, memory.snapshot)
            if strange:
                reason = "removed unknown sources"
                written.append(
                    memory.change(reason, lambda draft: _without_trail(draft, strange), kind="repair")[1]
                )
    finally:
        database.close()
    return tuple(written)
