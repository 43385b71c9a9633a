"""A person's decisions: proposals accepted and refused, hints removed; and what of it they undid or redid since.

What touches notes is one change set with them. What touches none gets an entry of the log of its own, and is followed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from core.errors import NotFoundError, NuggetsError
from core.pipeline.decide import Saying, saying, says_the_same
from core.pipeline.intake.normalisation import normalise
from core.pipeline.records import Accepted, ProposalReason
from core.pipeline.writes.at_once import write_at_once
from core.pipeline.writes.execution import (
    Execution,
    ExecutionResult,
    Graph,
    note_down,
    record,
    settle_replaced,
    stand_together,
)

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.pipeline.database.connection import Database
    from core.pipeline.database.proposals import Decision
    from core.pipeline.database.tables import Tables
    from core.pipeline.records import StoredProposal

# Of the proposals that wait the newest are looked at.
_MOST_REPEATED: Final = 500
_LONGEST_REASON: Final = 120
TOLD: Final = {
    ProposalReason.REPLACED: "a later one replaces it",
    ProposalReason.EMPTY: "the text is empty",
    ProposalReason.TARGET_GONE: "the note is hidden or deleted",
    ProposalReason.TARGET_CHANGED: "the note has changed since this was proposed; look at both again",
}


def accept(database: Database, memory: Memory, ids: Iterable[str], *, by: str, now: int) -> Accepted:
    """Carries open proposals out, in the order given, with their notes, as one change set that `undo` takes back.

    Confidence, grounding, contradictions and the mode are no gates here, since a person decided; a fact that is there
    already and a note that is gone or was changed are. by: who. now: epoch ms. Raises what keeps the notes or the
    database from being written; nothing is accepted then.
    """
    with suppress(NuggetsError):
        memory.refresh(patient=False)
    chosen, graph = tuple(dict.fromkeys(ids)), Graph(memory.snapshot)
    done = write_at_once(
        database,
        lambda: memory,
        lambda writer: _Acceptance(writer, graph, by, now).of(chosen),
        now=now,
        asked=True,
    )
    accepted, refused = done.result, dict(done.refused)
    written = tuple(id for id in accepted.written if id not in refused)
    return replace(
        accepted,
        written=() if done.unfinished else written,
        waiting=written if done.unfinished else (),
        skipped=(*accepted.skipped, *refused.items()),
        change_set=done.change_set,
    )


class _Acceptance:
    """What a person accepts at once, carried out in the tables."""

    def __init__(self, writer: Tables, graph: Graph, by: str, now: int) -> None:
        self._writer = writer
        self._graph = graph
        self._by = by
        self._now = now
        # By nugget, the proposals that were open at first.
        self._waiting: dict[str, list[tuple[str, Saying]]] = {}

    def of(self, ids: Sequence[str]) -> Accepted:
        written: list[str] = []
        deduped: list[str] = []
        skipped: list[tuple[str, str]] = []
        proposals = self._writer.proposals
        chosen = {id: proposals.by_id(id) for id in ids}
        replaced = _replaced([one for one in chosen.values() if one is not None and one.open])
        for one in chosen.values():
            if one is not None and one.id in replaced:
                settle_replaced(self._writer, one, self._by, self._now)
        for id, before in chosen.items():
            # What was accepted before may have settled it, or changed what it is about.
            proposal = proposals.by_id(id)
            if proposal is None:
                skipped.append((id, "no such proposal"))
            elif id in replaced:
                skipped.append((id, TOLD[ProposalReason.REPLACED]))
            elif proposal.open:
                outcome = self._one(proposal)
                if outcome.status == "applied":
                    written.append(id)
                elif outcome.status == "deduped":
                    deduped.append(id)
                else:
                    skipped.append((id, TOLD[outcome.reason]))
            elif before is not None and before.open and proposal.status == "deduped":
                deduped.append(id)
            else:
                skipped.append((id, f"already decided ({proposal.status})"))
        learned = dict.fromkeys(one.raw_id for id in written if (one := chosen[id]) is not None)
        self._writer.raw.want_knowledge(learned)
        settled = {other for id in written for other in proposals.settled_with(id)}
        return Accepted(
            tuple(written), tuple(deduped), tuple(skipped), settled=tuple(sorted(settled | (replaced & set(chosen))))
        )  # fmt: skip

    def _one(self, proposal: StoredProposal) -> ExecutionResult:
        writer, proposals = self._writer, self._writer.proposals
        if proposal.reason == ProposalReason.UNDONE:
            writer.note_edits.forget_done(proposal.id)
        raw = writer.raw.raw_of(proposal.raw_id)
        if proposal.action != "delete" and not normalise(proposal.content).normalised_content:
            outcome = ExecutionResult("skipped", ProposalReason.EMPTY)
        else:
            project = raw.project if raw else ""
            outcome = Execution(writer, self._graph, proposal, project, self._now, self._by).run()
        if outcome.reason == ProposalReason.TARGET_CHANGED:
            # It waits on, held against what the note says by now.
            proposals.retarget(proposal.id, outcome.note_id, outcome.former)
            return outcome
        proposals.resolve(
            proposal.id,
            outcome.status,
            reason=outcome.reason,
            by=self._by,
            now=self._now,
            note_id=outcome.note_id if outcome.status == "applied" else "",
            repeated=outcome.note_id if outcome.status == "deduped" else "",
        )
        record(writer, proposal, outcome, self._now, event="accepted", by=self._by)
        if outcome.status == "applied":
            self._move_others(proposal, outcome)
        if outcome.status in ("applied", "deduped"):
            self._settle_repeated(proposal, outcome)
        return outcome

    def _move_others(self, accepted: StoredProposal, outcome: ExecutionResult) -> None:
        """Other open changes of what is replaced, or was a proposal until now, are held against what stands there now.

        What may stand beside it changes the old note still, which is hidden or has other words by now.
        """
        content = self._graph.text(self._writer, outcome.note_id)
        if content is None:
            return
        to = (outcome.note_id, content)
        _move(self._writer, accepted, accepted.id, to, all=True)
        stays = outcome.note_id == accepted.target_note
        if stays or accepted.action == "update":
            _move(self._writer, accepted, accepted.target_note, to, all=stays)

    def _settle_repeated(self, accepted: StoredProposal, outcome: ExecutionResult) -> None:
        """Settles the open proposals that say what was accepted just now; a change of another note waits on, and so
        does a deletion.
        """
        proposals, said, nugget = self._writer.proposals, saying(accepted.content), accepted.nugget
        repeats = ExecutionResult("deduped", ProposalReason.DUPLICATE, outcome.note_id, outcome.fact_id)
        if nugget not in self._waiting:
            waiting = proposals.open_of(nugget, _MOST_REPEATED)
            self._waiting[nugget] = [(one.id, saying(one.content)) for one in waiting]
        near = (id for id, other in self._waiting[nugget] if id != accepted.id and says_the_same(other, said))
        for one in filter(None, map(proposals.by_id, near)):
            if not one.open or one.action == "delete":
                continue
            if one.changes and one.target_note != accepted.target_note:
                continue
            proposals.resolve(
                one.id, "deduped", reason=repeats.reason, by=self._by, now=self._now, repeated=outcome.note_id
            )
            record(self._writer, one, repeats, self._now, event="accepted", by=self._by)


def _move(writer: Tables, accepted: StoredProposal, here: str, to: tuple[str, str], *, all: bool) -> None:
    """Holds the other open changes of a note or proposal against another note, by its id and what it says. all: also
    those that may stand beside what was accepted.
    """
    for other in writer.proposals.open_changes(here):
        if other.id != accepted.id and (all or not stand_together(accepted, other)):
            writer.proposals.retarget(other.id, *to)


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

    changes = [one for one in chosen if one.changes]
    return frozenset(
        other.id for one in changes for other in chosen if other.id != one.id and replaces(one, other)
    )


def refuse(database: Database, ids: Iterable[str], *, by: str, now: int, entry_id: str) -> tuple[str, ...]:
    """Settles open proposals without doing what they say; the ids of those. Their facts are not proposed again.

    entry_id: of the entry of the log that is to tell of it.
    """
    outcome = ExecutionResult("rejected", ProposalReason.REFUSED)
    refused: list[StoredProposal] = []
    with database.write() as writer:
        for id in dict.fromkeys(ids):
            proposal = writer.proposals.by_id(id)
            if proposal is None or not proposal.open:
                continue
            writer.proposals.resolve(id, outcome.status, reason=outcome.reason, by=by, now=now)
            record(writer, proposal, outcome, now, event="refused", by=by)
            refused.append(proposal)
        if refused:
            # It stands within sentences, which end for themselves.
            said = " ".join((refused[0].content or refused[0].target_content).split()).removesuffix(".")
            if len(said) > _LONGEST_REASON:
                said = f"{said[: _LONGEST_REASON - 1].rstrip()}…"
            told = f"refused {len(refused):,} proposals" if len(refused) > 1 else f"refused: {said}"
            writer.decisions.refused(entry_id, told, by, now, refused)
    return tuple(one.id for one in refused)


def remove_hints(
    database: Database, note_id: str, hints: Collection[str], *, by: str, now: int, entry_id: str
) -> tuple[str, ...]:
    """Removes hints of a note, for good until it is undone; those that it had. entry_id: of the log's entry for it."""
    with database.write() as writer:
        removed = tuple(hint for hint in dict.fromkeys(hints) if writer.hints.remove(note_id, hint))
        if removed:
            many = len(removed) > 1
            said = f"removed {len(removed)} hints of a note" if many else f'removed the hint "{removed[0]}"'
            writer.decisions.removed(entry_id, said, by, now, note_id, removed)
    return removed


# Decisions without notes, in the log


def new_entry_id(memory: Memory, ids: Callable[[], str]) -> str:
    """The id of an entry that the log does not have. ids: new hexadecimal digits a call, 8 of them or more."""
    made = ids()[-8:]
    # Where the log cannot be read, the entry gets there later; ids are drawn from four thousand million.
    with suppress(NuggetsError):
        while _entry(memory, made) is not None:
            made = ids()[-8:]
    return made


def note_decisions(database: Database, memory: Memory) -> tuple[ChangeSet, ...]:
    """Puts those decisions into the log that it does not have; what was put there, oldest first.

    The decision itself is safe before: one that a crash kept from the log gets there later. Raises what keeps the
    log or the database from being written.
    """
    made = []
    for one in database.reading.decisions.unnoted():
        made.append(_entry(memory, one.entry_id) or memory.record_decision(one.entry_id, one.reason))
        with database.write() as writer:
            writer.decisions.note(one.entry_id)
    return tuple(made)


def _entry(memory: Memory, entry_id: str) -> ChangeSet | None:
    try:
        return memory.history.entry(entry_id).change_set
    except NotFoundError:
        return None


# What was undone and redone


def follow_undo(database: Database, memory: Memory, *, now: int) -> int:
    """Reopens the proposals whose entry of the log is undone, and settles those whose entry was redone; how many, with
    the refusals and hints that stand otherwise by that. What somebody decided otherwise meanwhile stays.

    An entry of many proposals may be undone in part: of additions those are reopened whose notes are gone. now: epoch
    ms. Raises what keeps the database or the memory from being read or written.
    """
    taken_back = memory.history.taken_back()
    undone = sorted({id.partition(".")[0] for id in taken_back})
    done = 0
    if turned := database.reading.decisions.turned(taken_back):
        with database.write() as writer:
            done = sum(_turn(writer, one, now) for one in turned)
    found = database.reading.proposals.undone(undone)
    if not found:
        return done
    by_id = memory.snapshot.by_id
    shown = {id for row in found if (id := row["note_id"]) in by_id and not by_id[id].hidden}
    with database.write() as writer:
        rows = writer.proposals.undone(undone)
        # A change is several rows of one entry: what one of them tells is so of all.
        undone_ids = {row["id"] for row in rows if _is_undone(row, taken_back, shown)}
        followed = {row["id"]: row for row in rows if _follow(writer, row, row["id"] in undone_ids)}
        for id, row in followed.items():
            back = id in undone_ids
            ids = {"fact_id": row["fact_id"], "note_id": row["note_id"]}
            _record(writer, id, row["entry_id"], now, undone=back, ids=ids)
            # What an acceptance replaced waits again with it, or no longer.
            for other in writer.proposals.settled_with(id):
                status = ("review", ProposalReason.UNDONE) if back else ("skipped", ProposalReason.REPLACED)
                writer.proposals.set_status(other, *status)
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
    writer.proposals.set_status(row["id"], status, why)
    accepted = writer.proposals.by_id(row["id"]) if row["op"] == "add" else None
    if accepted is not None and accepted.changes:
        old, new = (accepted.target_note, accepted.target_content), (row["note_id"], accepted.content)
        here, to = (new[0], old) if undone else (old[0], new)
        _move(writer, accepted, here, to, all=undone)
    if row["op"] != "update":
        # A fact that was added is not so while its proposal waits, one that was denied is so again.
        writer.facts.let_stand(row["note_id"], undone == (row["op"] == "hide"))
    return True


def _turn(writer: Tables, decision: Decision, now: int) -> int:
    """Takes over that a decision without notes was undone or redone; how many proposals and hints that changes."""
    undone, proposals = not decision.undone, writer.proposals
    writer.decisions.set_undone(decision.entry_id, undone)
    done = 0
    for proposal_id, *former in decision.refused:
        if proposals.turn_refusal(proposal_id, *former, undone=undone, by=decision.author, now=now):
            _record(writer, proposal_id, decision.entry_id, now, undone=undone)
            done += 1
    turn = writer.hints.restore if undone else writer.hints.remove
    return done + sum(turn(decision.note_id, hint) for hint in decision.hints)


def _record(
    writer: Tables, proposal_id: str, entry_id: str, now: int, *, undone: bool, ids: Mapping[str, str] | None = None
) -> None:  # fmt: skip
    """The row of the audit for a decision that was undone, or made once more. ids: of the fact and note of one that was
    accepted, None for one that was refused.
    """
    proposal = writer.proposals.by_id(proposal_id)
    assert proposal is not None
    event, reason = (
        ("refused", ProposalReason.REFUSED) if ids is None else ("written", ProposalReason.WRITTEN)
    )
    if undone:
        event, reason = "reopened", ProposalReason.UNDONE
    note_down(
        writer, proposal, now, event=event, by="person", reason=reason, metadata={"entry": entry_id}, **(ids or {})
    )  # fmt: skip
