"""Removes a submitted text on a person's word, with the notes that came of it, and brings it back.

The notes are hidden by a change that can be undone, in one transaction with the row of the text. That stays until the
sweep deletes it, some weeks later.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from core.errors import ConflictError, NotFoundError, NuggetsError
from core.graph.edits import hide_note, unhide_note
from core.pipeline.database.tables import Tables
from core.pipeline.records import Job, PlannedRemoval, RawMemory, RemovedText, TextTrail
from core.pipeline.windows import progress_of
from core.pipeline.writes.at_once import beside
from core.reflection.judge import pinned

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.model.draft import Draft
    from core.model.snapshot import Snapshot
    from core.pipeline.database.connection import Database

_KEPT: Final = "nothing was changed"
# Longer numbers are no ids of rows.
_LONGEST_JOB_ID: Final = 18


def plan_removal(database: Database, memory: Memory, said: str, *, days: int) -> PlannedRemoval:
    """See `Pipeline.plan_removal`. days: for how long a removed text is kept."""
    reader = database.reading
    raw_id, notes = _removable(reader, said)
    memory.refresh()
    waits = reader.has("SELECT 1 FROM jobs WHERE target = ? AND status IN ('held', 'pending')", raw_id)
    proposals = reader.count("SELECT count(*) FROM open_proposals WHERE raw_id = ?", raw_id)
    return PlannedRemoval(raw_id, tuple(sorted(shown_notes(memory.snapshot, notes))), proposals, waits, days)


def remove_text(database: Database, memory: Memory, said: str, *, by: str, now: int) -> RemovedText:
    """See `Pipeline.remove_text`. Proposals of it that wait stay open, and a text that waits is not read."""
    raw_id, notes = _removable(database.reading, said)
    memory.refresh()
    hidden = tuple(sorted(shown_notes(memory.snapshot, notes)))

    def bury(writer: Tables) -> None:
        # Somebody may have submitted, accepted or removed something meanwhile.
        _removable(writer, raw_id)
        waited, ids = writer.jobs.withdraw(raw_id, now), json.dumps(hidden)
        writer.run(
            "UPDATE raw_memories SET removed_at = ?, removed_by = ?, hidden_notes = ?,"
            " status = iif(?4, 'skipped', status), extracted_at = iif(?4, NULL, extracted_at) WHERE id = ?5",
            # A clock that was set back shortens no window.
            max(now, writer.history.last_at() or now), by, ids, waited, raw_id,
        )  # fmt: skip
        # Not as what a person hid by itself: who submits the text again wants its facts again.
        writer.run(
            "UPDATE facts SET status = 'denied'"
            " WHERE raw_id = ? AND note_id IN (SELECT value FROM json_each(?))",
            raw_id, ids,
        )  # fmt: skip
        told = {"notes": list(hidden), "waited": waited}
        writer.history.append(at=now, event="text_removed", changed_by=by, raw_id=raw_id, metadata=told)

    change_set = _with_notes(database, memory, f"removed the text {raw_id}", hidden, hide_note, bury)
    return RemovedText(raw_id, hidden, change_set)


def bring_text_back(
    database: Database, memory: Memory, said: str, *, attempts: int, by: str, now: int
) -> RemovedText:
    """See `Pipeline.restore_text`. A text that waited then waits again. Where the same was said again meanwhile, the
    note of that stands alone, and a text that was submitted again is repeated by this one. attempts: of its job.
    """
    reader = database.reading
    raw = _restorable(reader, text_named(reader, said))
    memory.refresh()
    known = memory.snapshot.by_id
    held = json.loads(reader.text("SELECT hidden_notes FROM raw_memories WHERE id = ?", raw.id))
    hidden = [id for id in held if id in known and known[id].hidden]
    left = tuple(id for id in hidden if _said_by_another(reader, memory.snapshot, id))
    notes = tuple(id for id in hidden if id not in left)
    facts = reader.column("SELECT note_id FROM facts WHERE raw_id = ?", raw.id)
    shown = shown_notes(memory.snapshot, facts) | set(notes)

    def restore(writer: Tables) -> None:
        _restorable(writer, raw.id)
        other = "" if shown else writer.raw.earlier_same(raw.nugget, raw.content_hash)
        restore_text(writer, raw.id, shown, now, by, attempts, waits=not other)
        if other:
            repeats = "UPDATE raw_memories SET status = 'duplicate', duplicate_of = ? WHERE id = ?"
            writer.run(repeats, other, raw.id)

    change_set = _with_notes(database, memory, f"restored the text {raw.id}", notes, unhide_note, restore)
    return RemovedText(raw.id, notes, change_set, left)


def _with_notes(
    database: Database,
    memory: Memory,
    reason: str,
    ids: Collection[str],
    edit: Callable[[Draft, str], object],
    work: Callable[[Tables], None],
) -> ChangeSet | None:
    """Does work in the tables in one transaction with an edit of those of some notes that are there."""
    done = False

    def in_tables(tables: Tables, entry: str = "") -> None:
        nonlocal done
        work(tables)
        done = True

    def edits(draft: Draft) -> None:
        for id in ids:
            if draft.note(id) is not None:
                edit(draft, id)

    change_set = None
    if ids:
        _, change_set = memory.change(reason, edits, author=memory.author, beside=beside(in_tables))
    if not done:
        with database.write() as writer:
            in_tables(writer)
    return change_set


def _said_by_another(reader: Tables, snapshot: Snapshot, id: str) -> bool:
    """Whether a hidden note says what a note or fact says that stands."""
    says = snapshot.by_id[id].nugget_name, snapshot.by_id[id].content
    return reader.has(
        "SELECT 1 FROM facts AS mine JOIN facts AS same USING (nugget, content_hash)"
        " WHERE mine.note_id = ? AND same.id <> mine.id AND same.status = 'active'",
        id,
    ) or any(not one.hidden and (one.nugget_name, one.content) == says for one in snapshot.notes)


def restore_text(
    writer: Tables,
    raw_id: str,
    shown: Collection[str],
    now: int,
    by: str = "person",
    attempts: int = 3,
    *,
    waits: bool = True,
) -> bool:
    """Takes the removal of a text back, and lets those of its facts stand whose notes are shown; one that waited to be
    read then waits again. False where it is not removed, or is deleted. attempts: of its job; waits:
    False for one that need not be read.
    """
    raw = writer.raw.raw_of(raw_id)
    if raw is None or raw.removed_at is None or raw.gone_at is not None:
        return False
    # Only what no model has read was skipped by its removal.
    again = waits and raw.status == "skipped" and raw.extracted_at is None
    writer.run(
        "UPDATE raw_memories SET removed_at = NULL, removed_by = '', hidden_notes = '[]',"
        " status = iif(?, 'queued', status) WHERE id = ?",
        again, raw_id,
    )  # fmt: skip
    if again:
        writer.jobs.enqueue(type="extract", target=raw_id, max_attempts=attempts, now=now)
    for note_id in writer.column("SELECT note_id FROM facts WHERE raw_id = ? AND status <> 'active'", raw_id):
        if note_id in shown:
            writer.facts.let_stand(note_id, True)
    writer.history.append(at=now, event="text_restored", changed_by=by, raw_id=raw_id)
    return True


def follow_shown(database: Database, memory: Memory, *, now: int) -> int:
    """Restores removed texts of which a note is shown again, as by an undo; how many."""
    found = database.reading.ask(
        "SELECT raw.id, note_id FROM raw_memories AS raw JOIN facts ON raw_id = raw.id"
        " WHERE removed_at IS NOT NULL AND gone_at IS NULL AND note_id <> ''"
    ).fetchall()
    shown = shown_notes(memory.snapshot, [row[1] for row in found])
    back = dict.fromkeys(row[0] for row in found if row[1] in shown)
    if not back:
        return 0
    with database.write() as writer:
        return sum(restore_text(writer, id, shown, now) for id in back)


def standing_in(memory: Callable[[], Memory]) -> Callable[[Collection[str]], frozenset[str]]:
    """What a sweep asks the notes: those that are shown or pinned. While the graph cannot be read, all are kept."""

    def standing(ids: Collection[str]) -> frozenset[str]:
        try:
            opened = memory()
            opened.refresh(patient=False)
        except NuggetsError:
            return frozenset(ids)
        snapshot, notes = opened.snapshot, opened.snapshot.by_id
        if snapshot.graph_problem:
            return frozenset(ids)
        kept = (id for id in ids if id in snapshot.set_aside or (id in notes and pinned(notes[id])))
        return shown_notes(snapshot, ids) | frozenset(kept)

    return standing


def shown_notes(snapshot: Snapshot, ids: Collection[str]) -> frozenset[str]:
    """Those of some notes that are there and not hidden."""
    return frozenset(id for id in ids if (note := snapshot.by_id.get(id)) is not None and not note.hidden)


def _removable(reader: Tables, said: str) -> tuple[str, tuple[str, ...]]:
    """The id of the text, and the notes that were made of it."""
    raw_id = text_named(reader, said)
    raw = reader.raw.raw_of(raw_id)
    if raw is None or raw.removed_at is not None:
        raise NotFoundError("this text is removed already", where=raw_id, kept=_KEPT)
    if reader.has("SELECT 1 FROM jobs WHERE target = ? AND status = 'leased'", raw_id):
        raise ConflictError(
            "this text is just being read", where=raw_id, kept=_KEPT, todo="remove it when that is done"
        )
    notes = reader.column("SELECT note_id FROM facts WHERE raw_id = ? AND status = 'active'", raw_id)
    return raw_id, notes


def _restorable(reader: Tables, raw_id: str) -> RawMemory:
    raw = reader.raw.raw_of(raw_id)
    if raw is None or raw.removed_at is None:
        raise NotFoundError("this text was not removed", where=raw_id, kept=_KEPT)
    if raw.gone_at is not None:
        raise ConflictError(
            f"this text was removed, and retention deleted it{on_day(raw.gone_at)}", where=raw_id, kept=_KEPT,
            todo="show its notes one by one, they are kept",
        )  # fmt: skip
    return raw


# The trail of a text


def text_trail(reader: Tables, said: str) -> TextTrail:
    """The trail of a text, by its id or a beginning of it, or by the number of its job.

    Raises NotFoundError, AmbiguousError, InvalidInputError for "".
    """
    raw = reader.raw.raw_of(text_named(reader, said))
    assert raw is not None
    job = next((one for one in reader.jobs.jobs(target=raw.id, most=50) if one.type == "extract"), None)
    names = reader.column(
        "SELECT DISTINCT root.name FROM mentions JOIN entities ON entities.id = mentions.entity_id"
        " JOIN entities AS root ON root.id = entities.root WHERE mentions.target = ? ORDER BY root.canonical_name",
        raw.id,
    )
    return TextTrail(raw, job, _unread(reader, raw, job), reader.proposals.of_raw(raw.id), names)


def text_named(reader: Tables, said: str) -> str:
    """The id of the text that somebody means, as for `text_trail`."""
    number = said.strip()
    if number.isascii() and number.isdigit() and len(number) <= _LONGEST_JOB_ID:
        job = reader.jobs.job(int(number))
        if job is not None and job.type != "extract":
            raise NotFoundError("this job is about an entity, not about a text", where=f"job {number}")
        said = said if job is None else job.target
    raw_id = reader.raw.resolve_id(said)
    if reader.raw.raw_of(raw_id) is None:
        todo = "nuggets pipeline jobs lists them"
        raise NotFoundError("no submitted text or job has this id", where=said, todo=todo)
    return raw_id


def on_day(moment: int | None) -> str:
    """ " on 2026-11-23" for a moment in epoch ms, "" where it is none that a calendar has."""
    try:
        return "" if moment is None else f" on {datetime.fromtimestamp(moment / 1000, UTC):%Y-%m-%d}"
    except (ValueError, OverflowError, OSError):
        return ""


def _unread(reader: Tables, raw: RawMemory, job: Job | None) -> tuple[tuple[int, int], ...]:
    """The spans that no model has read, in order."""
    if job is None or not job.windows:
        return () if raw.status == "extracted" or not raw.content else ((0, len(raw.content)),)
    if not job.unread:
        return ()
    progress = progress_of(reader.jobs.result_of(job.id), len(raw.content))
    ahead = [(progress.at, len(raw.content))] if raw.content[progress.at :].strip() else []
    return tuple(sorted([*((one.start, one.end) for one in progress.failed), *ahead]))
