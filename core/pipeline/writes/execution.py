"""Carries out a proposal, in the caller's transaction: the fact, the change to its note, and the row of the audit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any, Final, Literal, NamedTuple

from core.model.note import Note
from core.model.snapshot import Snapshot
from core.pipeline.contradiction import gives_other_value
from core.pipeline.database.facts import StoredFact
from core.pipeline.database.proposals import Op
from core.pipeline.database.tables import Tables
from core.pipeline.decide import match_terms, saying, says_the_same
from core.pipeline.intake.normalisation import Normalised, normalise
from core.pipeline.records import ProposalReason, ProposalStatus, StoredProposal
from core.pipeline.writes.notes import note_id_of, revised

# Who makes facts, and why, as the reference names it.
WRITER: Final = "pipeline-v2"
CREATED: Final = "extracted-fact"
_NEAREST: Final = 5
# No note has this id.
_NO_NOTE: Final = "-"
_DONE: Final = {"add": "createdMemoryId", "update": "updatedMemoryId", "hide": "deletedMemoryId"}


class ExecutionResult(NamedTuple):
    """What became of a proposal. note_id, fact_id: of what was written, or of what says it already.

    done: what is done to a note, "" for nothing. former: the text that was replaced or hidden.
    """

    status: ProposalStatus
    reason: ProposalReason
    note_id: str = ""
    fact_id: str = ""
    done: Op | Literal[""] = ""
    former: str = ""


@dataclass(frozen=True, slots=True)
class Graph:
    """What the writes must know of the notes: a snapshot of them, which may be a little old.

    Whatever has changed since is met again when they are written.
    """

    snapshot: Snapshot

    def visible(self, note_id: str) -> Note | None:
        """The note, None for one that is hidden or gone."""
        note = self.snapshot.by_id.get(note_id)
        return None if note is None or note.hidden else note

    def text(self, reader: Tables, note_id: str) -> str | None:
        """What a note says, or will after this transaction; None for one that is or will be hidden, gone or unknown."""
        coming = reader.note_edits.coming(note_id)
        if coming is not None:
            return coming.text("content") or None
        if note_id in self.snapshot.by_id:
            note = self.visible(note_id)
            return None if note is None else note.content
        return reader.facts.text_on_its_way(note_id)

    def takes(self, reader: Tables) -> Callable[[str], bool]:
        """Tells whether the id of a note belongs to another already."""
        return lambda id: (
            id in self.snapshot.by_id or id in self.snapshot.set_aside or reader.note_edits.note_id_known(id)
        )


@dataclass(frozen=True, slots=True)
class Execution:
    """What a proposal does in one transaction.

    accepted_by: the person who said so, "" when the mode alone allows it. fresh: no other fact was stored since it was
    decided, so that the rule that compares words need not be asked again. now: epoch ms.
    """

    writer: Tables
    graph: Graph
    proposal: StoredProposal
    project: str
    now: int
    accepted_by: str = ""
    fresh: bool = False

    def run(self) -> ExecutionResult:
        """Does what the proposal says.

        A fact that is there already is not written again; a note that is gone or says something else by now is left
        alone.
        """
        proposal, proposals = self.proposal, self.writer.proposals
        if proposal.action == "add":
            return self._add()
        aimed = proposals.by_id(proposal.target_note)
        if aimed is not None and aimed.id != proposal.id:
            return self._change_proposal(aimed)
        target = proposal.target_note or proposals.note_of_sibling(proposal.id, proposal.target_content)
        if not target and proposal.action == "update":
            # It refines a fact of the same text that was not accepted: so it is the first to say it.
            return self._add()
        return self._change(target)

    @property
    def _said(self) -> Normalised:
        return normalise(self.proposal.content)

    def _aimed_at(self, note_id: str, content: str) -> Execution:
        return replace(self, proposal=replace(self.proposal, target_note=note_id, target_content=content))

    def _change_proposal(self, aimed: StoredProposal) -> ExecutionResult:
        """Replaces another proposal: its note where it has one by now, else it is settled, and what it would have done
        is done with the new words.
        """
        if not aimed.open:
            stands = aimed.note_id if aimed.status == "applied" else aimed.target_note
            seen = stands if aimed.status in ("applied", "deduped") else ""
            return self._aimed_at(seen or _NO_NOTE, self.proposal.target_content).run()
        if aimed.changes:
            # A wrong word of one that would hide a note does not bring that note back.
            done = self._aimed_at(aimed.target_note, aimed.target_content).run()
        elif self.proposal.action == "delete":
            done = ExecutionResult("deduped", ProposalReason.DUPLICATE)
        else:
            done = self._add()
        if done.status in ("applied", "deduped"):
            settle_replaced(self.writer, aimed, self.accepted_by, self.now)
        return done

    def _add(self, replaces: str = "") -> ExecutionResult:
        """replaces: the note whose place the new one takes, "" for none."""
        proposal, facts, said = self.proposal, self.writer.facts, self._said
        there = facts.same(proposal.nugget, said.content_hash)
        if there is None and not self.fresh:
            # Other facts may have been written after the decision, and proposals of shadow mode are decided about long
            # before they are accepted.
            mine = saying(said.storage_content, said.content_hash)
            near = facts.matching(proposal.nugget, match_terms(said.storage_content), _NEAREST)
            there = next(
                (fact for fact, _ in near if says_the_same(mine, saying(fact.content, fact.content_hash))),
                None,
            )
        if there is not None:
            return ExecutionResult("deduped", ProposalReason.DUPLICATE, there.note_id, there.id)
        return self._new_note(replaces)

    def _new_note(self, replaces: str) -> ExecutionResult:
        proposal, facts = self.proposal, self.writer.facts
        note_id = note_id_of(proposal.nugget, self._said.content_hash, self.graph.takes(self.writer))
        # Another id where it was accepted and undone before.
        first = f"fact-{proposal.id.partition('-')[2]}"
        ids = chain((first,), (f"{first}-{number}" for number in count(2)))
        fact = self._fact(next(id for id in ids if not facts.exists(id)), note_id, self.now)
        facts.insert(fact)
        self._enqueue(
            "add", fact.id, note_id, nugget=proposal.nugget, content=proposal.content, type=proposal.type,
            confidence=proposal.fact_confidence, project=self.project, prompt_version=proposal.prompt_version,
            replaces=replaces,
        )  # fmt: skip
        return ExecutionResult("applied", ProposalReason.WRITTEN, note_id, fact.id, "add")

    def _change(self, target: str) -> ExecutionResult:
        """Takes the place of the note that it changes, which is hidden. A fact of a nugget, and a note that says more,
        stay and get the new words.
        """
        proposal, writer = self.proposal, self.writer
        update = proposal.action == "update"
        text = self.graph.text(writer, target) if target else None
        if text is None:
            return (
                self._add(target)
                if update
                else ExecutionResult("skipped", ProposalReason.TARGET_GONE, target)
            )
        former = normalise(proposal.target_content).storage_content
        if normalise(text).storage_content != former and not writer.note_edits.wrote(target, text):
            return ExecutionResult("skipped", ProposalReason.TARGET_CHANGED, target, former=text)
        known = writer.facts.same(proposal.nugget, self._said.content_hash)
        known = None if known is None or known.note_id == target else known
        if update and known is not None and known.status != "active":
            return ExecutionResult("deduped", ProposalReason.DUPLICATE, known.note_id, known.id)
        content, note = _revised(writer, proposal, text), self.graph.visible(target)
        if content != proposal.content or (update and note is not None and note.is_fact):
            return self._reword(target, text, content)
        made = ExecutionResult("applied", ProposalReason.WRITTEN, target, done="hide", former=text)
        if update and known is not None:
            # Another note says it already; the old one need only go.
            made = made._replace(note_id=known.note_id, fact_id=known.id)
        elif update:
            made = self._new_note(target)._replace(former=text)
        fact = writer.facts.of_note(target)
        if fact is not None:
            writer.facts.deny(fact.id)
        fact_id = "" if fact is None else fact.id
        self._enqueue("hide", fact_id, target, expected=text)
        return made if made.fact_id else made._replace(fact_id=fact_id)

    def _reword(self, target: str, text: str, content: str) -> ExecutionResult:
        """A note gets other words, a fact of a nugget under its key. text, content: what it says before and after."""
        proposal, facts = self.proposal, self.writer.facts
        fact = facts.of_note(target)
        if fact is not None and content == proposal.content:
            facts.reword(self._fact(fact.id, target, fact.created_at))
        elif fact is not None:
            # It still says what came of another text.
            facts.reword(
                replace(fact, content=content, normalised_content=normalise(content).normalised_content)
            )
        fact_id = "" if fact is None else fact.id
        self._enqueue(
            "update", fact_id, target, expected=text, content=content, type=proposal.type,
            confidence=proposal.fact_confidence,
        )  # fmt: skip
        return ExecutionResult("applied", ProposalReason.WRITTEN, target, fact_id, "update", text)

    def _fact(self, fact_id: str, note_id: str, created_at: int) -> StoredFact:
        proposal, said = self.proposal, self._said
        return StoredFact(
            id=fact_id,
            raw_id=proposal.raw_id,
            proposal_id=proposal.id,
            nugget=proposal.nugget,
            content=proposal.content,
            normalised_content=said.normalised_content,
            content_hash=said.content_hash,
            type=proposal.type,
            confidence=proposal.fact_confidence,
            note_id=note_id,
            status="active",
            model=proposal.model,
            prompt_version=proposal.prompt_version,
            created_at=created_at,
        )

    def _enqueue(self, op: Op, fact_id: str, note_id: str, **payload: object) -> None:
        proposal = self.proposal
        common = {
            "raw_id": proposal.raw_id, "fact_id": fact_id, "model": proposal.model, "accepted_by": self.accepted_by
        }  # fmt: skip
        self.writer.note_edits.put(
            op=op, proposal_id=proposal.id, fact_id=fact_id, note_id=note_id, payload=payload | common, now=self.now
        )  # fmt: skip


def settle_replaced(writer: Tables, proposal: StoredProposal, by: str, now: int) -> None:
    """Settles an open proposal that a later one replaces."""
    writer.proposals.resolve(proposal.id, "skipped", reason=ProposalReason.REPLACED, by=by, now=now)


def stand_together(one: StoredProposal, later: StoredProposal) -> bool:
    """Whether two accepted changes of one note both stand: of one text they do, of two unless the later one gives what
    the other says another value.
    """
    return one.raw_id == later.raw_id or not gives_other_value(later.content, one.content)


def foreseen(reader: Tables, proposal: StoredProposal) -> StoredProposal:
    """An open change with what its note says once it is accepted, where the note stays."""
    if not (proposal.open and proposal.changes):
        return proposal
    content = _revised(reader, proposal, proposal.target_content)
    return proposal if content == proposal.content else replace(proposal, becomes=content)


def _revised(reader: Tables, proposal: StoredProposal, text: str) -> str:
    beside = [one for one in reader.proposals.accepted_meanwhile(proposal) if stand_together(one, proposal)]
    return revised(text, proposal.content, [one.content for one in beside])


def note_down(
    writer: Tables, proposal: StoredProposal, now: int, *, event: str, by: str, reason: str, **more: Any
) -> None:
    """Puts a row about a proposal into the audit. more: as `History.append` takes it."""
    about = {"raw_id": proposal.raw_id, "new_content": proposal.content, "model": proposal.model}
    writer.history.append(
        at=now, event=event, changed_by=by, reason=reason, proposal_id=proposal.id,
        prompt_version=proposal.prompt_version, **{**about, **more},
    )  # fmt: skip


def record(
    writer: Tables, proposal: StoredProposal, outcome: ExecutionResult, now: int, *, event: str, by: str,
    latency_ms: int | None = None, more: Mapping[str, object] | None = None,
) -> None:  # fmt: skip
    """One row of the audit for what was decided about a proposal, by a model or a person, whatever came of it, and one
    more where a fact was made. latency_ms: of the model's calls, None when nobody measured. more: of the metadata.
    """
    ids = {"fact_id": outcome.fact_id, "note_id": outcome.note_id}
    note_down(
        writer, proposal, now, event=event, by=by, reason=outcome.reason, latency_ms=latency_ms, **ids,
        old_content=outcome.former or proposal.target_content, metadata=_metadata(proposal, outcome) | dict(more or {}),
    )  # fmt: skip
    if outcome.done == "add":
        made = {"type": proposal.type, "confidence": proposal.fact_confidence}
        note_down(writer, proposal, now, event="created", by=WRITER, reason=CREATED, metadata=made, **ids)


def _metadata(proposal: StoredProposal, outcome: ExecutionResult) -> dict[str, object]:
    """The context of a decision under the names of the reference; those that do not apply are left out."""
    found: dict[str, object] = {
        "proposedAction": proposal.action,
        "confidence": proposal.confidence,
        "fact": {
            "content": proposal.content,
            "type": proposal.type,
            "confidence": proposal.fact_confidence,
            "grounded": proposal.grounded,
        },
        "extractionModel": proposal.model,
        "reason": proposal.told,
        "decidedBy": proposal.decided_by,
        "outcome": outcome.status,
        "reviewNeeded": proposal.review_needed,
        "contradictionRisk": bool(proposal.contradiction),
    }
    if proposal.contradiction:
        found["contradiction"] = proposal.contradiction
    if proposal.target_note or proposal.target_content:
        found |= {"targetMemoryId": proposal.target_note, "targetContent": proposal.target_content}
    if outcome.done:
        found[_DONE[outcome.done]] = outcome.note_id
    if outcome.status == "deduped":
        found["dedupedExistingId"] = outcome.note_id
    if proposal.status == outcome.status == "blocked":
        found["blockedReason"] = str(outcome.reason)
    if outcome.status in ("skipped", "proposed", "review"):
        found["skippedReason"] = str(outcome.reason)
    return found
