"""Takes a person's edits of pipeline notes over into the facts: removed, restored or reworded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from core.errors import NuggetsError, partly_done
from core.graph.merging import survivor
from core.model.note import Note
from core.model.snapshot import Snapshot
from core.pipeline.database.facts import FactStatus
from core.pipeline.intake.normalisation import collapse_white_space, normalise

if TYPE_CHECKING:
    from core.memory import Memory
    from core.pipeline.database.connection import Database
    from core.pipeline.database.tables import Tables

What = Literal["gone", "hidden", "back", "reworded"]
_EVENTS: Final[dict[What, str]] = {
    "gone": "retracted",
    "hidden": "retracted",
    "back": "restored",
    "reworded": "reworded",
}
_REASONS: Final[dict[What, str]] = {
    "gone": "its note was deleted",
    "hidden": "its note was hidden",
    "back": "its note was restored",
    "reworded": "its note was changed",
}

# So many facts go in one transaction, and so many milliseconds it may take: others wait for it.
_BATCH: Final = 100
_HOLD_MS: Final = 10.0
_TAKEN: Final = "some of the changed notes are taken over, and the rest follows"


@dataclass(frozen=True, slots=True)
class ChangedNote:
    """A fact whose note stands otherwise than the database has it. content: the note's words, "" when it is gone."""

    fact: FactStatus
    what: What
    content: str = ""


def changed_notes(facts: tuple[FactStatus, ...], snapshot: Snapshot) -> Iterator[ChangedNote]:
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
            if fact.status == "active" and not _lives_on(note, snapshot):
                yield ChangedNote(fact, "hidden", note.content)
        elif fact.status == "retracted":
            yield ChangedNote(fact, "back", note.content)
        elif note.content != fact.content and collapse_white_space(note.content) != fact.content:
            yield ChangedNote(fact, "reworded", note.content)


def _lives_on(note: Note, snapshot: Snapshot) -> bool:
    """Whether a hidden note was merged into one that stands."""
    other = snapshot.by_id.get(survivor(snapshot, note.id))
    return other is not None and not other.hidden


def sync_from_notes(
    database: Database, memory: Memory, *, now: int, timer: Callable[[], float] = time.perf_counter
) -> int:
    """Takes over what was done to the notes of facts since; how many facts differ by that. now: epoch ms. timer:
    seconds that only grow.

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
    makers: dict[str, str] = {}
    start = taken = 0
    while start < len(found):
        # Looked up before each transaction, so that nobody waits for it, and others have their turn meanwhile.
        batch = found[start : start + _BATCH]
        makers |= {id: _maker(memory, id) for one in batch if (id := one.fact.note_id) not in makers}
        with partly_done(_TAKEN) if start else nullcontext(), database.write(lasting=False) as writer:
            ends = timer() + _HOLD_MS / 1000
            for one in batch:
                taken += _take_over(writer, one, makers[one.fact.note_id], now)
                start += 1
                if timer() >= ends:
                    break
    return taken


def _maker(memory: Memory, note_id: str) -> str:
    """Who changed a note last, as the log has it."""
    try:
        makers = memory.history.makers(note_id)
    except NuggetsError:
        makers = ()
    return makers[-1][0].signature if makers else "program"


def _take_over(writer: Tables, one: ChangedNote, by: str, now: int) -> bool:
    if one.what == "reworded":
        forms = normalise(one.content)
        taken = writer.facts.set_content(one.fact, forms.storage_content, forms.normalised_content)
    else:
        taken = writer.facts.set_status(one.fact, "active" if one.what == "back" else "retracted")
    if taken:
        writer.history.append(
            at=now,
            event=_EVENTS[one.what],
            changed_by=by,
            reason=_REASONS[one.what],
            raw_id=one.fact.raw_id,
            proposal_id=one.fact.proposal_id,
            fact_id=one.fact.id,
            note_id=one.fact.note_id,
            old_content=one.fact.content,
            new_content=one.content if one.what == "reworded" else "",
        )
    return taken
