"""Applies a person's decisions: accepted proposals are carried out as if the mode allowed it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from core.errors import NuggetsError
from core.pipeline.decide import SAME_SAYING, Saying, saying, says_the_same
from core.pipeline.intake.normalisation import normalise
from core.pipeline.records import Accepted, ProposalReason
from core.pipeline.writes import audit
from core.pipeline.writes.at_once import write_at_once
from core.pipeline.writes.execution import (
    ExecutionRequest,
    ExecutionResult,
    Graph,
    carry_out,
    settle_replaced,
    stand_together,
)

if TYPE_CHECKING:
    from core.memory import Memory
    from core.pipeline.database.connection import Database
    from core.pipeline.database.tables import Tables
    from core.pipeline.records import StoredProposal

_MOST_REPEATED: Final = 2_000
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
        database, lambda: memory, lambda writer: _accept(writer, chosen, graph, by, now), now=now, asked=True
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


def _accept(writer: Tables, ids: Sequence[str], graph: Graph, by: str, now: int) -> Accepted:
    """The same in the tables."""
    written: list[str] = []
    deduped: list[str] = []
    skipped: list[tuple[str, str]] = []
    learned: dict[str, None] = {}
    chosen = {id: writer.proposals.by_id(id) for id in ids}
    replaced = _replaced([one for one in chosen.values() if one is not None and one.open])
    for one in chosen.values():
        if one is not None and one.id in replaced:
            settle_replaced(writer, one, by, now)
    waiting = _Waiting(writer)
    for proposal_id, before in chosen.items():
        # What was accepted before may have settled it, or changed what it is about.
        proposal = writer.proposals.by_id(proposal_id)
        if proposal is None:
            skipped.append((proposal_id, "no such proposal"))
            continue
        if proposal_id in replaced:
            skipped.append((proposal_id, TOLD[ProposalReason.REPLACED]))
            continue
        if not proposal.open:
            if before is not None and before.open and proposal.status == "deduped":
                deduped.append(proposal_id)
            else:
                skipped.append((proposal_id, f"already decided ({proposal.status})"))
            continue
        outcome = _accept_one(writer, proposal, graph, by, now)
        if outcome.reason == ProposalReason.TARGET_CHANGED:
            # It waits on, held against what the note says by now.
            writer.proposals.retarget(proposal_id, outcome.note_id, outcome.former)
        if outcome.status == "applied":
            written.append(proposal_id)
            learned[proposal.raw_id] = None
            _move_others(writer, proposal, outcome, graph)
        elif outcome.status == "deduped":
            deduped.append(proposal_id)
        else:
            skipped.append((proposal_id, TOLD[outcome.reason]))
        if outcome.status in ("applied", "deduped"):
            _settle_repeated(writer, waiting, proposal, outcome, by, now)
    writer.found_relations.want_knowledge(learned)
    settled = {other for id in written for other in writer.proposals.settled_with(id)}
    return Accepted(
        tuple(written),
        tuple(deduped),
        tuple(skipped),
        settled=tuple(sorted(settled | (replaced & set(chosen)))),
    )


def _replaced(chosen: Sequence[StoredProposal]) -> frozenset[str]:
    """The proposals among those accepted together which another one of them would change: the later one wins.

    So two statements never both come to stand of which one replaces the other. Two that change the same note and go
    together both stand.
    """
    return frozenset(
        other.id
        for one in chosen
        for other in chosen
        if one.changes and other.id != one.id and _replaces(one, other)
    )


def _replaces(one: StoredProposal, other: StoredProposal) -> bool:
    if not one.target_note:
        # An earlier fact of the same text.
        return other.raw_id == one.raw_id and other.content == one.target_content
    if one.target_note == other.target_note:
        later = one.created_at > other.created_at
        return other.changes and later and not stand_together(other, one)
    return one.target_note == other.id


class _Waiting:
    """The open proposals of each nugget by the words in them, for those that repeat what is accepted."""

    def __init__(self, writer: Tables) -> None:
        self._writer = writer
        self._by_word: dict[str, dict[str, list[tuple[str, Saying]]]] = {}

    def repeating(self, accepted: StoredProposal) -> Iterator[StoredProposal]:
        """Those that say what was accepted; a change of another note waits on, and so does a deletion."""
        words = self._words_of(accepted.nugget)
        said = saying(accepted.content)
        # Two texts of which one in so many words differs share at least one of any so many: the rarest lead to fewest.
        rarest = sorted(said.all, key=lambda word: len(words.get(word, ())))
        near = {
            id: other
            for word in rarest[: int(len(rarest) * (1 / SAME_SAYING - 1)) + 1]
            for id, other in words.get(word, ())
        }
        for id, other in near.items():
            if id == accepted.id or not says_the_same(other, said):
                continue
            one = self._writer.proposals.by_id(id)
            if one is None or not one.open or one.action == "delete":
                continue
            if not one.changes or one.target_note == accepted.target_note:
                yield one

    def _words_of(self, nugget: str) -> dict[str, list[tuple[str, Saying]]]:
        if nugget not in self._by_word:
            words = self._by_word[nugget] = {}
            for one in self._writer.proposals.open_of(nugget, _MOST_REPEATED):
                said = saying(one.content)
                for word in said.all:
                    words.setdefault(word, []).append((one.id, said))
        return self._by_word[nugget]


def _settle_repeated(
    writer: Tables,
    waiting: _Waiting,
    accepted: StoredProposal,
    outcome: ExecutionResult,
    by: str,
    now: int,
) -> None:
    """Settles the open proposals that say what was accepted just now."""
    for one in waiting.repeating(accepted):
        repeats = ExecutionResult("deduped", ProposalReason.DUPLICATE, outcome.note_id, outcome.fact_id)
        writer.proposals.resolve(
            one.id, repeats.status, reason=repeats.reason, by=by, now=now, repeated=outcome.note_id
        )
        version = writer.proposals.prompt_version(one.id)
        audit.record_resolution(writer, one, repeats, accepted=True, by=by, prompt_version=version, now=now)


def _move_others(writer: Tables, accepted: StoredProposal, outcome: ExecutionResult, graph: Graph) -> None:
    """Other open changes of what is replaced, or was a proposal until now, are held against what stands there now.

    What may stand beside it changes the old note still, which is hidden or has other words by now.
    """
    content = graph.text(writer, outcome.note_id)
    if content is None:
        return
    for other in writer.proposals.open_changes(accepted.id):
        writer.proposals.retarget(other.id, outcome.note_id, content)
    for other in writer.proposals.open_changes(accepted.target_note):
        stays = outcome.note_id == accepted.target_note
        if stays or (accepted.action == "update" and not stand_together(accepted, other)):
            writer.proposals.retarget(other.id, outcome.note_id, content)


def _accept_one(writer: Tables, proposal: StoredProposal, graph: Graph, by: str, now: int) -> ExecutionResult:
    version = writer.proposals.prompt_version(proposal.id)
    if proposal.reason == ProposalReason.UNDONE:
        writer.note_edits.forget_done(proposal.id)
    memory = writer.raw.raw_of(proposal.raw_id)
    order = ExecutionRequest(proposal, version, memory.project if memory else "", by)
    if proposal.action != "delete" and not normalise(proposal.content).normalised_content:
        outcome = ExecutionResult("skipped", ProposalReason.EMPTY)
    else:
        outcome = carry_out(writer, order, graph, now)
    if outcome.reason == ProposalReason.TARGET_CHANGED:
        return outcome
    writer.proposals.resolve(
        proposal.id,
        outcome.status,
        reason=outcome.reason,
        by=by,
        now=now,
        note_id=outcome.note_id if outcome.status == "applied" else "",
        repeated=outcome.note_id if outcome.status == "deduped" else "",
    )
    audit.record_resolution(writer, proposal, outcome, accepted=True, by=by, prompt_version=version, now=now)
    return outcome


def refuse(database: Database, ids: Iterable[str], *, by: str, now: int, entry_id: str) -> tuple[str, ...]:
    """Settles open proposals without doing what they say; the ids of those. Their facts are not proposed again.

    entry_id: of the entry of the log that is to tell of it.
    """
    outcome = ExecutionResult("rejected", ProposalReason.REFUSED)
    refused: list[StoredProposal] = []
    with database.write() as writer:
        for proposal_id in dict.fromkeys(ids):
            proposal = writer.proposals.by_id(proposal_id)
            if proposal is None or not proposal.open:
                continue
            writer.proposals.resolve(proposal_id, outcome.status, reason=outcome.reason, by=by, now=now)
            version = writer.proposals.prompt_version(proposal_id)
            audit.record_resolution(
                writer, proposal, outcome, accepted=False, by=by, prompt_version=version, now=now
            )
            refused.append(proposal)
        if refused:
            writer.decisions.insert(entry_id, _refusal(refused), by, now)
            writer.decisions.add_refused(entry_id, refused)
    return tuple(one.id for one in refused)


def _refusal(proposals: Sequence[StoredProposal]) -> str:
    """What was refused, for the log."""
    if len(proposals) > 1:
        return f"refused {len(proposals):,} proposals"
    # It stands within sentences, which end for themselves.
    said = " ".join((proposals[0].content or proposals[0].target_content).split()).removesuffix(".")
    return f"refused: {said if len(said) <= _LONGEST_REASON else said[: _LONGEST_REASON - 1].rstrip() + '…'}"
