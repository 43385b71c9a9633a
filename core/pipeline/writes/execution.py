"""Carries out proposals, in the caller's transaction: the fact, the change to its note, and the row of the audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any, Final, Literal, NamedTuple

from core.model.note import Note
from core.model.snapshot import Snapshot
from core.pipeline.database.facts import StoredFact
from core.pipeline.database.tables import Tables
from core.pipeline.decide import match_terms
from core.pipeline.intake.normalisation import normalise
from core.pipeline.records import ProposalReason, ProposalStatus, StoredProposal
from core.pipeline.statements import gives_other_value, saying, says_the_same
from core.pipeline.writes.notes import NoteEdit, Op, note_ids, revised

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


@dataclass(slots=True)
class Execution:
    """What proposals do in one transaction.

    snapshot: the notes, which may be a little old: whatever has changed since is met again when they are written.
    accepted_by: the person who said so, "" when the mode alone allows it. fresh: no other fact was stored since it was
    decided, so that the rule that compares words need not be asked again. now: epoch ms. edits: what is to be done to
    notes, in order.
    """

    writer: Tables
    snapshot: Snapshot
    now: int
    accepted_by: str = ""
    fresh: bool = False
    edits: list[NoteEdit] = field(default_factory=list)

    def visible(self, note_id: str) -> Note | None:
        """The note, None for one that is hidden or gone."""
        note = self.snapshot.by_id.get(note_id)
        return None if note is None or note.hidden else note

    def text(self, note_id: str) -> str | None:
        """What a note says, or will after this transaction; None for one that is or will be hidden, gone or unknown."""
        for edit in reversed(self.edits):
            if edit.note_id == note_id:
                return edit.content or None
        note = self.visible(note_id)
        return None if note is None else note.content

    def run(self, proposal: StoredProposal, project: str) -> ExecutionResult:
        """Does what a proposal says.

        A fact that is there already is not written again; a note that is gone or says something else by now is left
        alone.
        """
        if proposal.action == "add":
            return self._add(proposal, project)
        aimed = self.writer.proposals.by_id(proposal.target_note)
        if aimed is not None and aimed.id != proposal.id:
            return self._change_proposal(proposal, project, aimed)
        # The note that an earlier fact of one extraction became or repeats, by its text.
        target = proposal.target_note or self.writer.text(
            "SELECT coalesce(nullif(other.note_id, ''), other.target_note) FROM proposals AS one"
            " JOIN proposals AS other ON other.raw_id = one.raw_id AND other.job_id IS one.job_id"
            " AND other.place < one.place WHERE one.id = ? AND other.content = ?"
            " AND other.status IN ('applied', 'deduped') ORDER BY other.place LIMIT 1",
            proposal.id, proposal.target_content,
        )  # fmt: skip
        if not target and proposal.action == "update":
            # It refines a fact of the same text that was not accepted: so it is the first to say it.
            return self._add(proposal, project)
        return self._change(proposal, project, target)

    def _change_proposal(
        self, proposal: StoredProposal, project: str, aimed: StoredProposal
    ) -> ExecutionResult:
        """Replaces another proposal: its note where it has one by now, else it is settled, and what it would have done
        is done with the new words.
        """
        if not aimed.open:
            stands = {"applied": aimed.note_id, "deduped": aimed.target_note}.get(aimed.status)
            return self.run(replace(proposal, target_note=stands or _NO_NOTE), project)
        if aimed.changes:
            # A wrong word of one that would hide a note does not bring that note back.
            target, said = aimed.target_note, aimed.target_content
            done = self.run(replace(proposal, target_note=target, target_content=said), project)
        elif proposal.action == "delete":
            done = ExecutionResult("deduped", ProposalReason.DUPLICATE)
        else:
            done = self._add(proposal, project)
        if done.status in ("applied", "deduped"):
            self.settle_replaced(aimed)
        return done

    def settle_replaced(self, proposal: StoredProposal) -> None:
        """Settles an open proposal that a later one replaces."""
        reason, by = ProposalReason.REPLACED, self.accepted_by
        self.writer.proposals.resolve(proposal.id, "skipped", reason=reason, by=by, now=self.now)

    def _add(self, proposal: StoredProposal, project: str, replaces: str = "") -> ExecutionResult:
        """replaces: the note whose place the new one takes, "" for none."""
        facts, said = self.writer.facts, normalise(proposal.content)
        there = facts.same(proposal.nugget, said.content_hash)
        if there is None and not self.fresh:
            # Other facts may have been written after the decision, and proposals of shadow mode are decided about long
            # before they are accepted.
            mine = saying(said.storage_content, said.content_hash)
            near = facts.matching(proposal.nugget, match_terms(said.storage_content), _NEAREST)
            same = (fact for fact, _ in near if says_the_same(mine, saying(fact.content, fact.content_hash)))
            there = next(same, None)
        if there is not None:
            return ExecutionResult("deduped", ProposalReason.DUPLICATE, there.note_id, there.id)
        return self._new_note(proposal, project, replaces)

    def _new_note(self, proposal: StoredProposal, project: str, replaces: str) -> ExecutionResult:
        def taken(id: str) -> bool:
            notes = self.snapshot
            return id in notes.by_id or id in notes.set_aside or self.writer.facts.bears(id)

        further = note_ids(proposal.nugget, normalise(proposal.content).content_hash)
        note_id = next(id for id in further if not taken(id))
        # Another id where it was accepted and undone before.
        first = f"fact-{proposal.id.partition('-')[2]}"
        ids = chain((first,), (f"{first}-{number}" for number in count(2)))
        fact_id = next(id for id in ids if not self.writer.has("SELECT 1 FROM facts WHERE id = ?", id))
        self.writer.facts.insert(_fact(proposal, fact_id, note_id, self.now))
        edit = NoteEdit("add", proposal, fact_id, note_id, self.now, self.accepted_by, proposal.content)
        self.edits.append(replace(edit, project=project, replaces=replaces))
        return ExecutionResult("applied", ProposalReason.WRITTEN, note_id, fact_id, "add")

    def _change(self, proposal: StoredProposal, project: str, target: str) -> ExecutionResult:
        """Takes the place of the note that it changes, which is hidden. A fact of a nugget, and a note that says more,
        stay and get the new words.
        """
        writer, update = self.writer, proposal.action == "update"
        text = self.text(target) if target else None
        if text is None and update:
            return self._add(proposal, project, target)
        if text is None:
            return ExecutionResult("skipped", ProposalReason.TARGET_GONE, target)
        former = normalise(proposal.target_content).storage_content
        # Its words before or after what the pipeline did to it are no change, undone since or not.
        wrote = "SELECT 1 FROM note_edits WHERE note_id = ? AND ? IN (expected, content) LIMIT 1"
        if normalise(text).storage_content != former and not writer.has(wrote, target, text):
            return ExecutionResult("skipped", ProposalReason.TARGET_CHANGED, target, former=text)
        known = writer.facts.same(proposal.nugget, normalise(proposal.content).content_hash)
        known = None if known is None or known.note_id == target else known
        if update and known is not None and known.status != "active":
            return ExecutionResult("deduped", ProposalReason.DUPLICATE, known.note_id, known.id)
        content, note, fact = (
            _revised(writer, proposal, text),
            self.visible(target),
            writer.facts.of_note(target),
        )
        edit = NoteEdit("hide", proposal, "" if fact is None else fact.id, target, self.now, self.accepted_by)
        if content != proposal.content or (update and note is not None and note.is_fact):
            if fact is not None and content == proposal.content:
                writer.facts.reword(_fact(proposal, fact.id, target, fact.created_at))
            elif fact is not None:
                # It still says what came of another text.
                said = normalise(content).normalised_content
                writer.facts.reword(replace(fact, content=content, normalised_content=said))
            self.edits.append(replace(edit, op="update", expected=text, content=content))
            return ExecutionResult("applied", ProposalReason.WRITTEN, target, edit.fact_id, "update", text)
        made = ExecutionResult("applied", ProposalReason.WRITTEN, target, done="hide", former=text)
        if update and known is not None:
            # Another note says it already; the old one need only go.
            made = made._replace(note_id=known.note_id, fact_id=known.id)
        elif update:
            made = self._new_note(proposal, project, target)._replace(former=text)
        if fact is not None:
            writer.run("UPDATE facts SET status = 'denied' WHERE id = ?", fact.id)
        self.edits.append(replace(edit, expected=text))
        return made if made.fact_id else made._replace(fact_id=edit.fact_id)


def _fact(proposal: StoredProposal, fact_id: str, note_id: str, created_at: int) -> StoredFact:
    said = normalise(proposal.content)
    return StoredFact(
        fact_id, proposal.raw_id, proposal.id, proposal.nugget, proposal.content, said.normalised_content,
        said.content_hash, proposal.type, proposal.fact_confidence, note_id, "active", proposal.model,
        proposal.prompt_version, created_at,
    )  # fmt: skip


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
    """What a note says after a change. What was accepted of it since the change was proposed, whatever clocks say,
    stays beside it.
    """
    meanwhile = reader.proposals.those(
        "target_note = ?1 AND id <> ?2 AND status = 'applied' AND action <> 'add'"
        " AND EXISTS (SELECT 1 FROM history WHERE proposal_id = other.id"
        " AND proposal_id <> '' AND event = 'accepted' AND id > (SELECT coalesce(min(id), 0) FROM history"
        " WHERE proposal_id = ?2 AND proposal_id <> '')) ORDER BY resolved_at, place",
        proposal.target_note, proposal.id,
    )  # fmt: skip
    return revised(
        text, proposal.content, [one.content for one in meanwhile if stand_together(one, proposal)]
    )


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
    more where a fact was made. latency_ms: of the model's calls, None when nobody measured. more: of the metadata,
    which has the names of the reference; those that do not apply are left out.
    """
    told: dict[str, object] = {
        "proposedAction": proposal.action,
        "confidence": proposal.confidence,
        "fact": {
            "content": proposal.content, "type": proposal.type, "confidence": proposal.fact_confidence,
            "grounded": proposal.grounded,
        },
        "extractionModel": proposal.model,
        "reason": proposal.told,
        "decidedBy": proposal.decided_by,
        "outcome": outcome.status,
        "reviewNeeded": proposal.review_needed,
        "contradictionRisk": bool(proposal.contradiction),
    }  # fmt: skip
    if proposal.contradiction:
        told["contradiction"] = proposal.contradiction
    if proposal.target_note or proposal.target_content:
        told |= {"targetMemoryId": proposal.target_note, "targetContent": proposal.target_content}
    if outcome.done:
        told[_DONE[outcome.done]] = outcome.note_id
    if outcome.status == "deduped":
        told["dedupedExistingId"] = outcome.note_id
    if proposal.status == outcome.status == "blocked":
        told["blockedReason"] = str(outcome.reason)
    if outcome.status in ("skipped", "proposed", "review"):
        told["skippedReason"] = str(outcome.reason)
    ids = {"fact_id": outcome.fact_id, "note_id": outcome.note_id}
    note_down(
        writer, proposal, now, event=event, by=by, reason=outcome.reason, latency_ms=latency_ms, **ids,
        old_content=outcome.former or proposal.target_content, metadata=told | dict(more or {}),
    )  # fmt: skip
    if outcome.done == "add":
        made = {"type": proposal.type, "confidence": proposal.fact_confidence}
        note_down(writer, proposal, now, event="created", by=WRITER, reason=CREATED, metadata=made, **ids)
