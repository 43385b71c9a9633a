"""Decisions that touch no note: each gets an entry of the log, and what a person undoes of them is followed."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from typing import TYPE_CHECKING

from core.errors import NotFoundError, NuggetsError
from core.pipeline.database.decisions import Decision
from core.pipeline.database.tables import Tables
from core.pipeline.records import ProposalReason

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.pipeline.database.connection import Database


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


def remove_hints(
    database: Database, note_id: str, hints: Collection[str], *, by: str, now: int, entry_id: str
) -> tuple[str, ...]:
    """Removes hints of a note, for good until it is undone; those that it had. entry_id: of the log's entry for it."""
    with database.write() as writer:
        removed = tuple(hint for hint in dict.fromkeys(hints) if writer.hints.remove(note_id, hint))
        if removed:
            many = len(removed) > 1
            said = f"removed {len(removed)} hints of a note" if many else f'removed the hint "{removed[0]}"'
            writer.decisions.insert(entry_id, said, by, now)
            writer.decisions.add_removed(entry_id, note_id, removed)
    return removed


def follow_decisions(writer: Tables, undone: Collection[str], now: int) -> int:
    """Takes over which decisions were undone or redone since; how many proposals and hints stand otherwise by that.

    What somebody decided otherwise meanwhile stays. undone: entries that are undone at present. now: epoch ms.
    """
    return sum(_follow(writer, one, now) for one in writer.decisions.turned(undone))


def _follow(writer: Tables, decision: Decision, now: int) -> int:
    undone = not decision.undone
    writer.decisions.set_undone(decision.entry_id, undone)
    done = sum(
        writer.proposals.turn_refusal(
            one.proposal_id, one.status, one.reason, undone=undone, by=decision.author, now=now
        )
        and _record(writer, one.proposal_id, decision, undone, now)
        for one in writer.decisions.refused_by(decision.entry_id)
    )
    for hint in writer.decisions.removed_by(decision.entry_id):
        done += writer.hints.restore(*hint) if undone else writer.hints.remove(*hint)
    return done


def _record(writer: Tables, proposal_id: str, decision: Decision, undone: bool, now: int) -> bool:
    proposal = writer.proposals.by_id(proposal_id)
    assert proposal is not None
    writer.history.append(
        at=now,
        event="reopened" if undone else "refused",
        changed_by="person",
        reason=ProposalReason.UNDONE if undone else ProposalReason.REFUSED,
        raw_id=proposal.raw_id,
        proposal_id=proposal_id,
        new_content=proposal.content,
        model=proposal.model,
        prompt_version=writer.proposals.prompt_version(proposal_id),
        metadata={"entry": decision.entry_id},
    )
    return True
