"""A person's decisions: proposals accepted and refused, hints removed; and what of it they undid or redid since.

What touches notes is one change set with them. What touches none gets an entry of the log of its own, and is followed.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from core.errors import NuggetsError
from core.pipeline.database.proposals import OPEN
from core.pipeline.intake.normalisation import normalise
from core.pipeline.knowledge_graph import bring_in
from core.pipeline.records import Accepted, ProposalReason, Refused
from core.pipeline.statements import Saying, saying, says_the_same
from core.pipeline.writes.at_once import beside, write_at_once
from core.pipeline.writes.execution import Execution, ExecutionResult, note_down, record, stand_together

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.model.snapshot import Snapshot
    from core.pipeline.database.connection import Database
    from core.pipeline.database.tables import Tables
    from core.pipeline.records import StoredProposal
    from core.pipeline.writes.notes import NoteEdit
    from core.settings.pipeline_sections import PipelineConfiguration

# Of the proposals that wait the newest are looked at.
_MOST_REPEATED: Final = 500
_LONGEST_REASON: Final = 120
TOLD: Final = {
    ProposalReason.REPLACED: "a later one replaces it",
    ProposalReason.EMPTY: "the text is empty",
    ProposalReason.TARGET_GONE: "the note is hidden or deleted",
    ProposalReason.TARGET_CHANGED: "the note has changed since this was proposed; look at both again",
}


def accept(
    database: Database,
    memory: Memory,
    configuration: PipelineConfiguration,
    ids: Iterable[str],
    *,
    by: str,
    now: int,
) -> Accepted:
    """Carries open proposals out, in the order given, with their notes, as one change set that `undo` takes back.

    Confidence, grounding, contradictions and the mode are no gates here, since a person decided; a fact that is there
    already and a note that is gone or was changed are. by: who. now: epoch ms. Raises what keeps the notes or the
    database from being written; nothing is accepted then.
    """
    with suppress(NuggetsError):
        memory.refresh(patient=False)
    chosen = tuple(dict.fromkeys(ids))

    def work(writer: Tables, notes: Snapshot) -> tuple[Accepted, list[NoteEdit]]:
        execution = Execution(writer, notes, now, by)
        return _accept(execution, configuration, chosen), execution.edits

    done = write_at_once(database, lambda: memory, work, now=now, asked=True)
    accepted, written = done.result, done.result.written
    later = done.unfinished is not None
    return replace(
        accepted,
        written=() if later else written,
        waiting=written if later else (),
        change_set=done.change_set,
    )


def _accept(work: Execution, configuration: PipelineConfiguration, ids: Sequence[str]) -> Accepted:
    written: list[str] = []
    deduped: list[str] = []
    skipped: list[tuple[str, str]] = []
    proposals = work.writer.proposals
    chosen = {id: proposals.by_id(id) for id in ids}
    open_ones = [one for one in chosen.values() if one is not None and one.open]
    replaced = _replaced(open_ones)
    for one in open_ones:
        if one.id in replaced:
            work.settle_replaced(one)
    # By nugget, the proposals that were open at first.
    waiting: dict[str, list[tuple[str, Saying]]] = {}
    for id, before in chosen.items():
        # What was accepted before may have settled it, or changed what it is about.
        proposal = proposals.by_id(id)
        if proposal is None:
            skipped.append((id, "no such proposal"))
        elif id in replaced:
            skipped.append((id, TOLD[ProposalReason.REPLACED]))
        elif proposal.open:
            outcome = _accept_one(work, proposal, waiting)
            if outcome.status in ("applied", "deduped"):
                (written if outcome.status == "applied" else deduped).append(id)
            else:
                skipped.append((id, TOLD[outcome.reason]))
        elif before is not None and before.open and proposal.status == "deduped":
            deduped.append(id)
        else:
            skipped.append((id, f"already decided ({proposal.status})"))
    for raw_id in dict.fromkeys(one.raw_id for one in open_ones if one.id in written):
        # What was found beside it is wanted now.
        bring_in(work.writer, raw_id, configuration, work.now)
    settled = {other for id in written for other in _settled_with(work.writer, id)} | (replaced & set(chosen))
    return Accepted(tuple(written), tuple(deduped), tuple(skipped), settled=tuple(sorted(settled)))


def _accept_one(
    work: Execution, proposal: StoredProposal, waiting: dict[str, list[tuple[str, Saying]]]
) -> ExecutionResult:
    writer, proposals = work.writer, work.writer.proposals
    if proposal.reason == ProposalReason.UNDONE:
        # Room for a second decision: what was done the last time is undone.
        last = "SELECT entry_id FROM note_edits WHERE proposal_id = ?1 AND entry_id <> '' ORDER BY id DESC LIMIT 1"
        writer.run(f"DELETE FROM note_edits WHERE proposal_id = ?1 AND entry_id = ({last})", proposal.id)
    if proposal.action != "delete" and not normalise(proposal.content).normalised_content:
        outcome = ExecutionResult("skipped", ProposalReason.EMPTY)
    else:
        project = writer.text("SELECT project FROM raw_memories WHERE id = ?", proposal.raw_id)
        outcome = work.run(proposal, project)
    if outcome.reason == ProposalReason.TARGET_CHANGED:
        # It waits on, held against what the note says by now.
        _retarget(writer, proposal.id, outcome.note_id, outcome.former)
        return outcome
    applied, deduped = outcome.status == "applied", outcome.status == "deduped"
    proposals.resolve(
        proposal.id,
        outcome.status,
        reason=outcome.reason,
        by=work.accepted_by,
        now=work.now,
        note_id=outcome.note_id if applied else "",
        repeated=outcome.note_id if deduped else "",
    )
    record(writer, proposal, outcome, work.now, event="accepted", by=work.accepted_by)
    content = work.text(outcome.note_id) if applied else None
    if content is not None:
        # Other open changes of what is replaced, or was a proposal until now, are held against what stands there now.
        # What may stand beside it changes the old note still, which is hidden or has other words by now.
        to, stays = (outcome.note_id, content), outcome.note_id == proposal.target_note
        _move(writer, proposal, proposal.id, to, all=True)
        if stays or proposal.action == "update":
            _move(writer, proposal, proposal.target_note, to, all=stays)
    if applied or deduped:
        _settle_repeated(work, proposal, outcome, waiting)
    return outcome


def _settle_repeated(
    work: Execution,
    accepted: StoredProposal,
    outcome: ExecutionResult,
    waiting: dict[str, list[tuple[str, Saying]]],
) -> None:
    """Settles the open proposals that say what was accepted just now; a change of another note waits on, and so does a
    deletion.
    """
    proposals, said, nugget = work.writer.proposals, saying(accepted.content), accepted.nugget
    repeats = ExecutionResult("deduped", ProposalReason.DUPLICATE, outcome.note_id, outcome.fact_id)
    if nugget not in waiting:
        waiting[nugget] = [(one.id, saying(one.content)) for one in proposals.open_of(nugget, _MOST_REPEATED)]
    near = (id for id, other in waiting[nugget] if id != accepted.id and says_the_same(other, said))
    for one in filter(None, map(proposals.by_id, near)):
        if not one.open or one.action == "delete":
            continue
        if one.changes and one.target_note != accepted.target_note:
            continue
        proposals.resolve(
            one.id, "deduped", reason=repeats.reason, by=work.accepted_by, now=work.now, repeated=outcome.note_id
        )  # fmt: skip
        record(work.writer, one, repeats, work.now, event="accepted", by=work.accepted_by)


def _retarget(writer: Tables, proposal_id: str, note_id: str, content: str) -> None:
    """Which note an open change would change, and what that says by now."""
    changes = "UPDATE proposals SET target_note = ?, target_content = ? WHERE id = ?"
    writer.run(changes, note_id, content, proposal_id)


def _move(writer: Tables, accepted: StoredProposal, here: str, to: tuple[str, str], *, all: bool) -> None:
    """Holds the other open changes of a note or proposal against another note, by its id and what it says. all: also
    those that may stand beside what was accepted.
    """
    for other in writer.proposals.those(f"target_note <> '' AND target_note = ? AND {OPEN}", here):
        if other.id != accepted.id and (all or not stand_together(accepted, other)):
            _retarget(writer, other.id, *to)


def _settled_with(writer: Tables, proposal_id: str) -> tuple[str, ...]:
    """The proposals that were settled as replaced when this one was accepted, undone since or not."""
    return writer.column(
        "SELECT other.id FROM proposals AS one JOIN proposals AS other ON other.resolved_at = one.resolved_at"
        " AND other.resolved_by = one.resolved_by AND other.id <> one.id"
        f" WHERE one.id = ? AND other.reason IN ('{ProposalReason.REPLACED}', '{ProposalReason.UNDONE}')",
        proposal_id,
    )


def _replaced(chosen: Sequence[StoredProposal]) -> frozenset[str]:
    """The proposals among those accepted together which another one of them would change: the later one wins.

    So two statements never both come to stand of which one replaces the other. Two that change the same note and go
    together both stand.
    """

    def replaces(one: StoredProposal, other: StoredProposal) -> bool:
        if not one.target_note:
            # An earlier fact of the same text.
            return other.raw_id == one.raw_id and other.content == one.target_content
        if one.target_note == other.target_note:
            later = one.created_at > other.created_at
            return other.changes and later and not stand_together(other, one)
        return one.target_note == other.id

    return frozenset(
        other.id
        for one in chosen
        if one.changes
        for other in chosen
        if other.id != one.id and replaces(one, other)
    )


def refuse(database: Database, memory: Memory, ids: Iterable[str], *, by: str, now: int) -> Refused:
    """Settles open proposals without doing what they say, with an entry of the log. Their facts are not proposed again.
    Raises what keeps the log from being written; nothing is refused then.
    """
    found = filter(None, map(database.reading.proposals.by_id, dict.fromkeys(ids)))
    waiting = [one for one in found if one.open]
    if not waiting:
        return Refused(0)
    # It stands within sentences, which end for themselves.
    said = " ".join((waiting[0].content or waiting[0].target_content).split()).removesuffix(".")
    if len(said) > _LONGEST_REASON:
        said = f"{said[: _LONGEST_REASON - 1].rstrip()}…"
    told = f"refused {len(waiting):,} proposals" if len(waiting) > 1 else f"refused: {said}"
    outcome = ExecutionResult("rejected", ProposalReason.REFUSED)
    before: list[tuple[str, str, str]] = []

    def settle(writer: Tables, entry_id: str) -> None:
        for proposal in filter(None, (writer.proposals.by_id(one.id) for one in waiting)):
            if proposal.open:
                writer.proposals.resolve(proposal.id, "rejected", reason=outcome.reason, by=by, now=now)
                record(writer, proposal, outcome, now, event="refused", by=by)
                before.append((proposal.id, proposal.status, proposal.reason))
        _store_decision(writer, entry_id, by, now, "", before)

    change_set = memory.record_decision(told, beside(settle))
    return Refused(len(before), change_set)


def remove_hints(
    database: Database, memory: Memory, note_id: str, hints: Collection[str], *, by: str, now: int
) -> ChangeSet | None:
    """Removes hints of a note, for good until it is undone: the entry of the log; None where it has none of them."""
    held = {hint.casefold() for hint in database.reading.hints.of_note(note_id)}
    removed = [hint for hint in dict.fromkeys(hints) if hint.casefold() in held]
    if not removed:
        return None

    def remove(writer: Tables, entry_id: str) -> None:
        for hint in removed:
            writer.hints.remove(note_id, hint)
        _store_decision(writer, entry_id, by, now, note_id, removed)

    many = len(removed) > 1
    said = f"removed {len(removed)} hints of a note" if many else f'removed the hint "{removed[0]}"'
    return memory.record_decision(said, beside(remove))


def _store_decision(
    writer: Tables, entry_id: str, author: str, at: int, note_id: str, items: Sequence[object]
) -> None:
    """items: removed hints of a note, or refused proposals, each with its status and reason before."""
    writer.insert_row(
        "decisions", entry_id=entry_id, author=author, at=at, note_id=note_id,
        items=json.dumps(items, ensure_ascii=False),
    )  # fmt: skip


# What was undone and redone

# What was done for proposals of entries that are undone, and for those that wait again by that. Of what was done for a
# proposal, that which settled it. What was added by itself is not asked about: undone, it is kept as taken back, so
# that nothing learns it again. What was changed by itself, as a correction within one text, is a person's to decide
# once it is undone.
_FOLLOWED: Final = f"""
SELECT proposals.id, proposals.status, op, fact_id, done.note_id, entry_id
FROM proposals JOIN note_edits AS done ON done.proposal_id = proposals.id
WHERE entry_id = (SELECT entry_id FROM note_edits AS last WHERE last.proposal_id = proposals.id
    AND entry_id <> '' ORDER BY id DESC LIMIT 1)
AND (proposals.status = 'review' AND reason = '{ProposalReason.UNDONE}' OR proposals.status = 'applied'
    AND (proposals.action <> 'add' OR resolved_by <> '' AND resolved_by NOT LIKE 'pipeline%')
    AND entry_id IN (SELECT value FROM json_each(?)))
ORDER BY done.id
"""


def follow_undo(database: Database, memory: Memory, *, now: int) -> int:
    """Reopens the proposals whose entry of the log is undone, and settles those whose entry was redone; how many, with
    the refusals and hints that stand otherwise by that. What somebody decided otherwise meanwhile stays.

    An entry of many proposals may be undone in part: of additions those are reopened whose notes are gone. now: epoch
    ms. Raises what keeps the database or the memory from being read or written.
    """
    taken_back = memory.history.taken_back()
    undone = json.dumps(sorted({id.partition(".")[0] for id in taken_back}))
    done, reader = 0, database.reading
    known = reader.ask("SELECT * FROM decisions ORDER BY at, entry_id").fetchall()
    turned = [one for one in known if (one["entry_id"] in taken_back) != bool(one["undone"])]
    if turned:
        with database.write() as writer:
            done = sum(_turn(writer, one, now) for one in turned)
    found = reader.ask(_FOLLOWED, undone).fetchall()
    if not found:
        return done
    by_id = memory.snapshot.by_id
    shown = {id for row in found if (id := row["note_id"]) in by_id and not by_id[id].hidden}
    with database.write() as writer:
        rows = writer.ask(_FOLLOWED, undone).fetchall()
        # A change is several rows of one entry: what one of them tells is so of all.
        undone_ids = {row["id"] for row in rows if _is_undone(row, taken_back, shown)}
        followed = {row["id"]: row for row in rows if _follow(writer, row, row["id"] in undone_ids)}
        for id, row in followed.items():
            back = id in undone_ids
            event, reason = (
                ("reopened", ProposalReason.UNDONE) if back else ("written", ProposalReason.WRITTEN)
            )
            _note_turn(writer, id, row["entry_id"], now, event, reason, row["fact_id"], row["note_id"])
            # What an acceptance replaced waits again with it, or no longer.
            for other in _settled_with(writer, id):
                again = ("review", ProposalReason.UNDONE) if back else ("skipped", ProposalReason.REPLACED)
                _set_status(writer, other, *again)
        return len(followed) + done


def _is_undone(row: sqlite3.Row, taken_back: Collection[str], shown: Collection[str]) -> bool:
    if row["entry_id"] in taken_back:
        return True
    in_part = any(id.startswith(f"{row['entry_id']}.") for id in taken_back)
    there = row["note_id"] in shown
    return in_part and ((row["op"] == "add" and not there) or (row["op"] == "hide" and there))


def _follow(writer: Tables, row: sqlite3.Row, undone: bool) -> bool:
    """Takes over what became of one row; False where it stands so already."""
    if undone == (row["status"] == "review"):
        return False
    status, why = ("review", ProposalReason.UNDONE) if undone else ("applied", ProposalReason.WRITTEN)
    _set_status(writer, row["id"], status, why)
    accepted = writer.proposals.by_id(row["id"]) if row["op"] == "add" else None
    if accepted is not None and accepted.changes:
        old, new = (accepted.target_note, accepted.target_content), (row["note_id"], accepted.content)
        here, to = (new[0], old) if undone else (old[0], new)
        _move(writer, accepted, here, to, all=undone)
    if row["op"] != "update":
        # A fact that was added is not so while its proposal waits, one that was denied is so again.
        writer.facts.let_stand(row["note_id"], undone == (row["op"] == "hide"))
    return True


def _set_status(writer: Tables, proposal_id: str, status: str, reason: ProposalReason) -> None:
    writer.run("UPDATE proposals SET status = ?, reason = ? WHERE id = ?", status, str(reason), proposal_id)


def _turn(writer: Tables, decision: sqlite3.Row, now: int) -> int:
    """Takes over that a decision without notes was undone or redone; how many proposals and hints that changes."""
    undone, entry_id, note_id = not decision["undone"], decision["entry_id"], decision["note_id"]
    writer.run("UPDATE decisions SET undone = ? WHERE entry_id = ?", undone, entry_id)
    items, done = json.loads(decision["items"]), 0
    if note_id:
        turn = writer.hints.restore if undone else writer.hints.remove
        return sum(turn(note_id, hint) for hint in items)
    refused = ("rejected", str(ProposalReason.REFUSED), now, decision["author"])
    for proposal_id, *former in items:
        # Where nobody decided otherwise since.
        standing, values = ("status = 'rejected'", (*former, None, "")) if undone else (OPEN, refused)
        changes = "UPDATE proposals SET status = ?, reason = ?, resolved_at = ?, resolved_by = ?"
        if writer.run(f"{changes} WHERE id = ? AND {standing}", *values, proposal_id):
            event, reason = (
                ("reopened", ProposalReason.UNDONE) if undone else ("refused", ProposalReason.REFUSED)
            )
            _note_turn(writer, proposal_id, entry_id, now, event, reason)
            done += 1
    return done


def _note_turn(
    writer: Tables,
    proposal_id: str,
    entry_id: str,
    now: int,
    event: str,
    reason: ProposalReason,
    fact_id: str = "",
    note_id: str = "",
) -> None:
    """The row of the audit for a decision that was undone, or made once more."""
    proposal = writer.proposals.by_id(proposal_id)
    assert proposal is not None
    note_down(
        writer, proposal, now, event=event, by="person", reason=reason, fact_id=fact_id, note_id=note_id,
        metadata={"entry": entry_id},
    )  # fmt: skip
