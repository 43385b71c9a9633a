"""Carries out a proposal: the fact and the change to its note, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Final, Literal, NamedTuple

from core.model.note import Note
from core.model.snapshot import Snapshot
from core.pipeline.contradiction import gives_other_value
from core.pipeline.database.facts import StoredFact
from core.pipeline.database.note_edits import Op
from core.pipeline.database.tables import Tables
from core.pipeline.decide import match_terms, saying, says_the_same
from core.pipeline.intake.normalisation import Normalised, normalise
from core.pipeline.records import ProposalReason, ProposalStatus, StoredProposal
from core.pipeline.writes.note_of import note_id_of
from core.pipeline.writes.revising import revised

_NEAREST: Final = 5
# No note has this id.
_NO_NOTE: Final = "-"


@dataclass(frozen=True, slots=True)
class ExecutionRequest:
    """A proposal that is to be carried out.

    accepted_by: the person who said so, "" when the mode alone allows it. fresh: no other fact was stored since it was
    decided, so that the rule that compares words need not be asked again.
    """

    proposal: StoredProposal
    prompt_version: str
    project: str
    accepted_by: str = ""
    fresh: bool = False


class ExecutionResult(NamedTuple):
    """What became of an order. note_id, fact_id: of what was written, or of what says it already.

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


def carry_out(writer: Tables, order: ExecutionRequest, graph: Graph, now: int) -> ExecutionResult:
    """Does what a proposal says. now: epoch ms.

    A fact that is there already is not written again; a note that is gone or says something else by now is left alone.
    """
    said = normalise(order.proposal.content)
    proposal = order.proposal
    if proposal.action == "add":
        return _add(writer, order, said, graph, now)
    aimed = writer.proposals.by_id(proposal.target_note)
    if aimed is not None and aimed.id != proposal.id:
        return _change_proposal(writer, order, aimed, graph, now)
    target = proposal.target_note or writer.proposals.note_of_sibling(proposal.id, proposal.target_content)
    if not target and proposal.action == "update":
        # It refines a fact of the same text that was not accepted: so it is the first to say it.
        return _add(writer, order, said, graph, now)
    return _change(writer, order, said, target, graph, now)


def _change_proposal(
    writer: Tables, order: ExecutionRequest, aimed: StoredProposal, graph: Graph, now: int
) -> ExecutionResult:
    """What is said replaces another proposal: its note where it has one by now, else it is settled, and what it would
    have done is done with the new words.
    """
    proposal = order.proposal
    if not aimed.open:
        stands = aimed.note_id if aimed.status == "applied" else aimed.target_note
        seen = stands if aimed.status in ("applied", "deduped") else ""
        order = _aimed_at(order, seen or _NO_NOTE, proposal.target_content)
        return carry_out(writer, order, graph, now)
    if aimed.changes:
        # A wrong word of one that would hide a note does not bring that note back.
        order = _aimed_at(order, aimed.target_note, aimed.target_content)
        done = carry_out(writer, order, graph, now)
    elif proposal.action == "delete":
        done = ExecutionResult("deduped", ProposalReason.DUPLICATE)
    else:
        done = _add(writer, order, normalise(proposal.content), graph, now)
    if done.status in ("applied", "deduped"):
        settle_replaced(writer, aimed, order.accepted_by, now)
    return done


def settle_replaced(writer: Tables, proposal: StoredProposal, by: str, now: int) -> None:
    """Settles an open proposal that a later one replaces."""
    writer.proposals.resolve(proposal.id, "skipped", reason=ProposalReason.REPLACED, by=by, now=now)


def _aimed_at(order: ExecutionRequest, note_id: str, content: str) -> ExecutionRequest:
    return replace(order, proposal=replace(order.proposal, target_note=note_id, target_content=content))


def stand_together(one: StoredProposal, later: StoredProposal) -> bool:
    """Whether two accepted changes of one note both stand: of one text they do, of two unless the later one gives what
    the other says another value.
    """
    return one.raw_id == later.raw_id or not gives_other_value(later.content, one.content)


def foreseen(reader: Tables, proposal: StoredProposal) -> StoredProposal:
    """An open change with what its note says once it is accepted, where the note stays."""
    content = (
        _revised(reader, proposal, proposal.target_content) if proposal.open and proposal.changes else ""
    )
    return proposal if content == proposal.content else replace(proposal, becomes=content)


def _revised(reader: Tables, proposal: StoredProposal, text: str) -> str:
    beside = [one for one in reader.proposals.accepted_meanwhile(proposal) if stand_together(one, proposal)]
    return revised(text, proposal.content, [one.content for one in beside])


def _add(
    writer: Tables, order: ExecutionRequest, said: Normalised, graph: Graph, now: int, replaces: str = ""
) -> ExecutionResult:
    proposal = order.proposal
    there = writer.facts.same(proposal.nugget, said.content_hash)
    if there is None and not order.fresh:
        there = _near_duplicate(writer, proposal.nugget, said)
    if there is not None:
        return ExecutionResult("deduped", ProposalReason.DUPLICATE, there.note_id, there.id)
    return _new_note(writer, order, said, graph, now, replaces)


def _new_note(
    writer: Tables, order: ExecutionRequest, said: Normalised, graph: Graph, now: int, replaces: str
) -> ExecutionResult:
    """A fact with the note that it becomes. replaces: the note whose place it takes, "" for none."""
    proposal = order.proposal
    note_id = note_id_of(proposal.nugget, said.content_hash, graph.takes(writer))
    fact = _fact(order, said, _fact_id(writer, proposal), note_id, now)
    writer.facts.insert(fact)
    payload: dict[str, object] = {
        "nugget": proposal.nugget,
        "content": proposal.content,
        "type": proposal.type,
        "confidence": proposal.fact_confidence,
        "project": order.project,
        "prompt_version": order.prompt_version,
        "replaces": replaces,
    }
    _enqueue(writer, "add", order, fact.id, note_id, payload, now)
    return ExecutionResult("applied", ProposalReason.WRITTEN, note_id, fact.id, "add")


def _fact_id(reader: Tables, proposal: StoredProposal) -> str:
    """The id of the fact of a proposal; another one where it was accepted and undone before."""
    first = f"fact-{proposal.id.partition('-')[2]}"
    ids = chain((first,), (f"{first}-{number}" for number in count(2)))
    return next(id for id in ids if not reader.facts.exists(id))


def _near_duplicate(reader: Tables, nugget: str, said: Normalised) -> StoredFact | None:
    """The fact that says the same in nearly the same words, as the rule of the decision sees it.

    It is asked once more here, since other facts may have been written after the decision, and proposals of shadow mode
    are decided about long before they are accepted.
    """
    mine = saying(said.storage_content, said.content_hash)
    for match in reader.facts.matching(nugget, match_terms(said.storage_content), _NEAREST):
        if says_the_same(mine, saying(match.fact.content, match.fact.content_hash)):
            return match.fact
    return None


def _change(
    writer: Tables, order: ExecutionRequest, said: Normalised, target: str, graph: Graph, now: int
) -> ExecutionResult:
    """What is said takes the place of the note that it changes, which is hidden. A fact of a nugget, and a note that
    says more, stay and get the new words.
    """
    proposal = order.proposal
    text = graph.text(writer, target) if target else None
    if text is None and proposal.action == "update":
        return _add(writer, order, said, graph, now, target)
    if text is None:
        return ExecutionResult("skipped", ProposalReason.TARGET_GONE, target)
    former = normalise(proposal.target_content).storage_content
    if normalise(text).storage_content != former and not writer.note_edits.wrote(target, text):
        return ExecutionResult("skipped", ProposalReason.TARGET_CHANGED, target, former=text)
    content = _revised(writer, proposal, text)
    whole = content == proposal.content
    known = writer.facts.same(proposal.nugget, said.content_hash)
    known = None if known is None or known.note_id == target else known
    if proposal.action == "update" and known is not None and known.status != "active":
        return ExecutionResult("deduped", ProposalReason.DUPLICATE, known.note_id, known.id)
    note = graph.visible(target)
    if not whole or (proposal.action == "update" and note is not None and note.is_fact):
        return _reword(writer, order, said, target, text, content, now)
    made = ExecutionResult("applied", ProposalReason.WRITTEN, target, done="hide", former=text)
    if proposal.action == "update" and known is not None:
        # Another note says it already; the old one need only go.
        made = made._replace(note_id=known.note_id, fact_id=known.id)
    elif proposal.action == "update":
        made = _new_note(writer, order, said, graph, now, target)._replace(former=text)
    fact = writer.facts.of_note(target)
    if fact is not None:
        writer.facts.deny(fact.id)
    fact_id = "" if fact is None else fact.id
    _enqueue(writer, "hide", order, fact_id, target, {"expected": text}, now)
    return made if made.fact_id else made._replace(fact_id=fact_id)


def _reword(
    writer: Tables,
    order: ExecutionRequest,
    said: Normalised,
    target: str,
    text: str,
    content: str,
    now: int,
) -> ExecutionResult:
    """A note gets other words, a fact of a nugget under its key.

    text, content: what it says before and after.
    """
    proposal = order.proposal
    fact = writer.facts.of_note(target)
    if fact is not None and content == proposal.content:
        writer.facts.reword(_fact(order, said, fact.id, target, fact.created_at))
    elif fact is not None:
        # It still says what came of another text.
        writer.facts.reword(
            replace(fact, content=content, normalised_content=normalise(content).normalised_content)
        )
    payload: dict[str, object] = {
        "expected": text,
        "content": content,
        "type": proposal.type,
        "confidence": proposal.fact_confidence,
    }
    fact_id = "" if fact is None else fact.id
    _enqueue(writer, "update", order, fact_id, target, payload, now)
    return ExecutionResult("applied", ProposalReason.WRITTEN, target, fact_id, "update", text)


def _fact(
    order: ExecutionRequest, said: Normalised, fact_id: str, note_id: str, created_at: int
) -> StoredFact:
    proposal = order.proposal
    return StoredFact(
        id=fact_id,
        raw_id=proposal.raw_id,
        proposal_id=proposal.id,
        nugget=proposal.nugget,
        content=proposal.content,
        normalised_content=said.normalised_content,
        content_hash=said.content_hash,
        hash_version=said.hash_version,
        type=proposal.type,
        confidence=proposal.fact_confidence,
        note_id=note_id,
        status="active",
        model=proposal.model,
        prompt_version=order.prompt_version,
        created_at=created_at,
    )


def _enqueue(
    writer: Tables,
    op: Op,
    order: ExecutionRequest,
    fact_id: str,
    note_id: str,
    payload: dict[str, object],
    now: int,
) -> None:
    common = {
        "raw_id": order.proposal.raw_id,
        "fact_id": fact_id,
        "model": order.proposal.model,
        "accepted_by": order.accepted_by,
    }
    writer.note_edits.put(
        op=op,
        proposal_id=order.proposal.id,
        fact_id=fact_id,
        note_id=note_id,
        payload=payload | common,
        now=now,
    )
