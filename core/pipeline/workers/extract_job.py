"""The extraction job in three phases: read, ask models, write in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from core.errors import NuggetsError
from core.pipeline.database.jobs import LostLeaseError
from core.pipeline.database.tables import Tables
from core.pipeline.decision.result import Decisions, Proposal
from core.pipeline.decision.run import decide
from core.pipeline.extraction.result import Extraction, Limits
from core.pipeline.extraction.run import extract
from core.pipeline.intake.entailment import entailment, source_of
from core.pipeline.intake.normalisation import normalise
from core.pipeline.intake.redaction import redact
from core.pipeline.knowledge.contradictions import check
from core.pipeline.models.factory import deadline_of
from core.pipeline.models.provider import ModelError, Provider
from core.pipeline.modes import Mode, mode, writes_notes
from core.pipeline.records import Job, RawMemory
from core.pipeline.workers.model_calls import ModelCaller
from core.pipeline.writes.candidates import CandidateSearch
from core.pipeline.writes.committing import Committed, write_plan
from core.pipeline.writes.execution import Graph
from core.pipeline.writes.planned import ExtractPlan, PlannedFact
from core.pipeline.writes.source_sentence import source_spans
from core.settings.pipeline_sections import PipelineConfiguration

if TYPE_CHECKING:
    from core.memory import Memory
    from core.pipeline.database.connection import Database

# Nothing was asked then, so that another time costs no attempt.
_REFUSED_CALLS: Final = ("breaker_open", "budget_spent")


@dataclass(frozen=True, slots=True)
class ExtractWork:
    """What an extraction starts from. mode: what it may do, as it was when the job began."""

    job: Job
    raw: RawMemory
    configuration: PipelineConfiguration
    mode: Mode


def prepare(database: Database, job: Job, configuration: PipelineConfiguration) -> ExtractWork | None:
    """Reads what a job is about; None when its raw memory is gone."""
    found = database.reading.raw.raw_of(job.target)
    return None if found is None else ExtractWork(job, found, configuration, mode(configuration))


def think(
    work: ExtractWork,
    database: Database,
    memory: Memory,
    provider: Provider,
    *,
    between: Callable[[], None] = lambda: None,
) -> ExtractPlan:
    """Asks for facts, looks for what is stored beside them, asks what should become of them. Writes nothing.

    between: called between two calls to the model, for the lease to be renewed; what it raises ends the job. Raises a
    ModelError when the job should be tried again: the model was of no use at all, or could not be asked about some
    facts while attempts are left.
    """
    settings = work.configuration.extraction
    deadline = deadline_of(work.configuration)
    extraction = extract(
        work.raw.content,
        _about(provider, "extract", work),
        deadline=deadline,
        limits=Limits(shortest_input=settings.min_input_chars, shortest_fact=settings.min_fact_chars),
    )
    # The last good snapshot serves, when the files cannot be read just now.
    with suppress(NuggetsError):
        memory.refresh(patient=False)
    graph = Graph(memory.snapshot)
    newest = database.reading.facts.newest()
    sought = CandidateSearch(
        database, memory, work.raw.nugget, work.configuration.search, not writes_notes(work.mode)
    )
    candidates = sought.of(extraction.facts)
    if any(candidates):
        between()
    caller = _about(provider, "decide", work)
    decisions = decide(extraction.facts, candidates, caller, deadline=deadline, between=between)
    _raise_for_another_try(decisions, work.job)
    contradictions = _contradictions(extraction, decisions, work, provider, between)
    return ExtractPlan(
        job_id=work.job.id,
        raw=work.raw,
        mode=work.mode,
        least_confidence=settings.min_confidence,
        knowledge=work.configuration.graph.enabled,
        graph=graph,
        newest=newest,
        facts=tuple(_planned(extraction, decisions, contradictions, graph, work.raw.content)),
        relations=extraction.relations,
        warnings=(*extraction.warnings, *decisions.warnings),
        model=extraction.model,
        prompt_version=extraction.prompt_version,
        calls=extraction.calls + decisions.calls,
    )


def commit(
    database: Database,
    plan: ExtractPlan,
    lease_token: str,
    now: int,
    *,
    also: Callable[[Tables], None] = lambda _: None,
) -> Committed | None:
    """Writes a plan and completes its job, in one transaction; None when the lease was lost, and nothing is written.

    now: epoch ms. also: what else goes into the transaction, before the rest.
    """
    try:
        with database.write() as writer:
            if not writer.jobs.holds(plan.job_id, lease_token):
                raise LostLeaseError(plan.job_id)
            also(writer)
            latencies = [writer.calls.latency_of(plan.raw.id, purpose) for purpose in ("extract", "decide")]
            known = [latency for latency in latencies if latency is not None]
            done = write_plan(writer, plan, latency_ms=sum(known) if known else None, now=now)
            if not writer.jobs.complete(plan.job_id, lease_token, now=now, result=done.result):
                raise LostLeaseError(plan.job_id)
    except LostLeaseError:
        return None
    return done


def _about(provider: Provider, purpose: str, work: ExtractWork) -> Provider:
    return provider.about(purpose, work.raw.id) if isinstance(provider, ModelCaller) else provider


def _raise_for_another_try(decisions: Decisions, job: Job) -> None:
    """Raises what kept the model from being asked about some facts, when all of it can be done again."""
    for _, error in decisions.errors:
        if error.kind in _REFUSED_CALLS or (error.retryable and job.attempts < job.max_attempts):
            raise error


def _contradictions(
    extraction: Extraction,
    decisions: Decisions,
    work: ExtractWork,
    provider: Provider,
    between: Callable[[], None],
) -> dict[int, str]:
    """By the index of the fact, how it contradicts what it would change."""
    found: dict[int, str] = {}
    caller = _about(provider, "contradiction", work)
    for proposal in decisions.proposals:
        if proposal.target is None or proposal.action not in ("update", "delete"):
            continue
        between()
        fact = extraction.facts[proposal.fact].content
        verdict = check(proposal.action, fact, proposal.target.content, caller, work.configuration)
        if verdict:
            found[proposal.fact] = verdict.said
    return found


def _planned(
    extraction: Extraction,
    decisions: Decisions,
    contradictions: Mapping[int, str],
    graph: Graph,
    text: str,
) -> Sequence[PlannedFact]:
    proposals = {proposal.fact: proposal for proposal in decisions.proposals}
    errors: dict[int, ModelError] = dict(decisions.errors)
    told = {
        place: _told(decisions, place) for place in range(len(extraction.facts)) if place not in proposals
    }
    spans = source_spans(text, [fact.content for fact in extraction.facts])
    # As the model saw it; a fact may hold the sign that stands for a credential.
    source = source_of(redact(text).text)
    return [
        PlannedFact(
            place=place,
            fact=fact,
            said=normalise(fact.content),
            proposal=proposals.get(place),
            missing="" if place in proposals else "unasked" if place in errors else "dropped",
            told=told.get(place, ""),
            contradiction=contradictions.get(place, ""),
            pinned=_pinned(graph, proposals.get(place)),
            span=spans[place],
            entailment=entailment(source, fact.content, preference=fact.type == "preference"),
        )
        for place, fact in enumerate(extraction.facts)
    ]


def _told(decisions: Decisions, place: int) -> str:
    """Why there is no proposal for a fact, from the warnings that name it by its number."""
    head = f"Fact {place + 1}: "
    return next((one.removeprefix(head) for one in decisions.warnings if one.startswith(head)), "")


def _pinned(graph: Graph, proposal: Proposal | None) -> bool:
    from core.reflection.select import pinned

    if proposal is None or proposal.target is None:
        return False
    note = graph.visible(proposal.target.id)
    return note is not None and pinned(note)
