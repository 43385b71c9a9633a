"""The extraction job in three phases: read, ask models, write in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from core.errors import NuggetsError
from core.pipeline.contradiction import check
from core.pipeline.database.jobs import LostLeaseError
from core.pipeline.database.tables import Tables
from core.pipeline.decide import Decisions, Proposal, decide, saying, says_the_same
from core.pipeline.extract import ExtractedFact, Extraction, Limits, extract
from core.pipeline.intake.normalisation import normalise
from core.pipeline.intake.sentences import TextSpan
from core.pipeline.model_calls import ModelCaller
from core.pipeline.models.factory import deadline_of
from core.pipeline.models.provider import CallRefusedError, Provider, TruncatedAnswerError
from core.pipeline.modes import Mode, mode, writes_notes
from core.pipeline.queue import Failure
from core.pipeline.records import Job, RawMemory
from core.pipeline.windows import Progress, Windows, progress_of, size_after, smaller, window_text
from core.pipeline.writes.at_once import Written, write_at_once
from core.pipeline.writes.candidates import CandidateSearch
from core.pipeline.writes.committing import Committed, reading_result, write_plan
from core.pipeline.writes.execution import Graph
from core.pipeline.writes.planned import ExtractPlan, PlannedFact, Reading
from core.pipeline.writes.source_sentence import source_spans
from core.settings.pipeline_sections import PipelineConfiguration

if TYPE_CHECKING:
    from core.memory import Memory
    from core.pipeline.database.connection import Database


@dataclass(frozen=True, slots=True)
class ExtractWork:
    """What an extraction starts from. mode: what it may do, as it was when the job began.

    progress: how far its text was read before. so_far: the result of the job by then.
    """

    job: Job
    raw: RawMemory
    configuration: PipelineConfiguration
    mode: Mode
    progress: Progress
    so_far: Mapping[str, Any]

    @property
    def windows(self) -> Windows:
        """How its text is cut."""
        settings = self.configuration.extraction
        return Windows(settings.window_chars, settings.window_overlap_chars, settings.max_windows)

    def window(self, size: int = 0) -> TextSpan:
        """What of the text is to be read now: all of it where it fits. size: instead of the usual one."""
        text = self.raw.content
        return self.progress.next_window(text, self.windows, size) or TextSpan(0, len(text))

    def reading(self, after: Progress, last: TextSpan, repeated: int = 0) -> Reading:
        """How far the text is read with the window that was the last."""
        text, windows = self.raw.content, self.windows
        return Reading(
            self.progress,
            after,
            after.outcome(text, windows, last, self.progress),
            after.windows_in_all(text, windows),
            after.unread(text),
            self.so_far,
            repeated,
        )


def prepare(database: Database, job: Job, configuration: PipelineConfiguration) -> ExtractWork | None:
    """Reads what a job is about, and how far it came before; None when its raw memory is gone."""
    found = database.reading.raw.raw_of(job.target)
    if found is None:
        return None
    so_far = database.reading.jobs.result_of(job.id)
    progress = progress_of(so_far, len(found.content))
    return ExtractWork(job, found, configuration, mode(configuration), progress, so_far)


def think(
    work: ExtractWork,
    database: Database,
    memory: Memory,
    provider: Provider,
    *,
    between: Callable[[], None] = lambda: None,
) -> ExtractPlan:
    """Asks for the facts of the next window, looks for what is stored beside them, asks what should become of them.
    Writes nothing.

    between: called between two calls to the model, for the lease to be renewed; what it raises ends the job. Raises a
    ModelError when the job should be tried again: the model was of no use at all, or could not be asked about some
    facts while attempts are left.
    """
    deadline = deadline_of(work.configuration)
    window, size, extraction = _extraction(work, _about(provider, "extract", work), deadline, between)
    after = work.progress.after(window, size=size, facts=len(extraction.facts))
    extraction, repeated = _new_ones(extraction, window, database, work)
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
    contradictions, unchecked = _contradictions(extraction, decisions, work, provider, between)
    return ExtractPlan(
        job_id=work.job.id,
        raw=work.raw,
        mode=work.mode,
        least_confidence=work.configuration.extraction.min_confidence,
        knowledge=work.configuration.graph.enabled,
        graph=graph,
        newest=newest,
        facts=tuple(
            replace(one, unchecked=one.place in unchecked)
            for one in _planned(extraction, decisions, contradictions, graph, work.raw.content, window)
        ),
        relations=extraction.relations,
        warnings=(*extraction.warnings, *decisions.warnings, *unchecked.values()),
        model=extraction.model,
        prompt_version=extraction.prompt_version,
        calls=extraction.calls + decisions.calls,
        reading=work.reading(after, window, repeated),
    )


def step_over(database: Database, work: ExtractWork, failure: Failure, lease_token: str, now: int) -> bool:
    """Goes on with the next window of a text where one was tried for the last time; False where there is none.

    So what cannot be read keeps nothing else from being read. When all else is read the job dies of it, and a retry
    reads what was left out.
    """
    window = work.window(work.progress.size)
    whole = not work.progress.begun and not work.raw.content[window.end :].strip()
    if whole or window in work.progress.failed:
        return False
    left = work.reading(work.progress.without(window, failure.message, failure.error_class), window)
    result = {**work.so_far, **reading_result(left, now)}
    with database.write(lasting=False) as writer:
        if left.outcome == "goes_on":
            return writer.jobs.put_back(work.job.id, lease_token, now=now, result=result)
        writer.jobs.keep_result(work.job.id, lease_token, result)
        return False


def commit(
    database: Database,
    memory: Callable[[], Memory],
    plan: ExtractPlan,
    lease_token: str,
    now: int,
) -> Written[Committed] | None:
    """Writes a plan with its notes and completes its job, or lets it wait for its turn where more of the text is to be
    read, in one transaction; None when the lease was lost, and nothing is written.

    memory: opens it where notes are to be written. now: epoch ms. Raises what keeps the notes from being written.
    """

    def work(writer: Tables) -> Committed:
        if not writer.jobs.holds(plan.job_id, lease_token):
            raise LostLeaseError(plan.job_id)
        latencies = [writer.calls.latency_of(plan.raw.id, purpose) for purpose in ("extract", "decide")]
        known = [latency for latency in latencies if latency is not None]
        done = write_plan(writer, plan, latency_ms=sum(known) if known else None, now=now)
        if not _ended(writer, plan, done, lease_token, now):
            raise LostLeaseError(plan.job_id)
        return done

    try:
        return write_at_once(database, memory, work, now=now)
    except LostLeaseError:
        return None


def _ended(writer: Tables, plan: ExtractPlan, done: Committed, lease_token: str, now: int) -> bool:
    """Ends the job, or its turn; False when the lease is lost."""
    reading, jobs = plan.reading, writer.jobs
    if reading.outcome == "goes_on":
        return jobs.put_back(plan.job_id, lease_token, now=now, result=done.result)
    if reading.outcome == "failed":
        left = len(reading.after.failed)
        told = f"{left} of {reading.windows} parts could not be read: {reading.after.error}"
        return jobs.keep_result(plan.job_id, lease_token, done.result) and bool(
            jobs.fail(
                plan.job_id,
                lease_token,
                now=now,
                error=told,
                error_class=reading.after.error_class,
                permanent=True,
            )
        )
    unread = ""
    if reading.outcome == "limited":
        share = f"{reading.unread:,} of {len(plan.raw.content):,} characters"
        unread = f"{share} were not read: the limit of extraction.max_windows is reached; a retry reads on"
    return jobs.complete(plan.job_id, lease_token, now=now, result=done.result, unread=unread)


def _extraction(
    work: ExtractWork, provider: Provider, deadline: float, between: Callable[[], None]
) -> tuple[TextSpan, int, Extraction]:
    """What the next window says, and the size of windows from now on: smaller ones where it says more than one answer
    holds, 0 for the usual one.
    """
    settings, size, text = work.configuration.extraction, work.progress.size, work.raw.content
    while True:
        window = work.window(size)
        limits = Limits(
            shortest_input=settings.min_input_chars,
            # What stands for a credential may be longer than it.
            longest_input=2 * settings.window_chars,
            shortest_fact=settings.min_fact_chars,
            most_facts=settings.max_facts,
        )
        again = window in work.progress.failed
        try:
            found = extract(window_text(text, window), provider, deadline=deadline, limits=limits)
            less = smaller(window, text, over=found.over) if found.full and not again else 0
            if not less:
                grown = size_after(size, work.windows, facts=len(found.facts), most_facts=settings.max_facts)
                return window, grown, found
        except TruncatedAnswerError:
            less = 0 if again else smaller(window, text, over=True)
            if not less:
                raise
        size = less
        between()


def _new_ones(
    extraction: Extraction, window: TextSpan, database: Database, work: ExtractWork
) -> tuple[Extraction, int]:
    """What the window before did not give already, and how many facts it did, from where the two overlap.

    What is said again further on is not left out: it may take a correction back.
    """
    overlap = work.progress.at - window.start
    if not work.progress.begun or overlap <= 0 or not extraction.facts:
        return extraction, 0
    earlier = [saying(text) for text in database.reading.proposals.said_of(work.raw.id)]
    spans = source_spans(
        window.of(work.raw.content), [fact.quote or fact.content for fact in extraction.facts]
    )

    def repeats(fact: ExtractedFact, span: tuple[int, int] | None) -> bool:
        said = saying(fact.content)
        return span is not None and span[1] <= overlap and any(says_the_same(said, one) for one in earlier)

    new = tuple(fact for fact, span in zip(extraction.facts, spans, strict=True) if not repeats(fact, span))
    return replace(extraction, facts=new), len(extraction.facts) - len(new)


def _about(provider: Provider, purpose: str, work: ExtractWork) -> Provider:
    return provider.about(purpose, work.raw.id) if isinstance(provider, ModelCaller) else provider


def _raise_for_another_try(decisions: Decisions, job: Job) -> None:
    """Raises what kept the model from being asked about some facts, when all of it can be done again."""
    for _, error in decisions.errors:
        another = error.outage or (error.retryable and job.attempts < job.max_attempts)
        if isinstance(error, CallRefusedError) or another:
            raise error


def _contradictions(
    extraction: Extraction,
    decisions: Decisions,
    work: ExtractWork,
    provider: Provider,
    between: Callable[[], None],
) -> tuple[dict[int, str], dict[int, str]]:
    """By the index of the fact, how it contradicts what it would change; and why nobody knows whether it does.

    While the model cannot be asked at all the work waits for it: no verdict is none that the two go together.
    """
    found: dict[int, str] = {}
    unchecked: dict[int, str] = {}
    caller = _about(provider, "contradiction", work)
    for proposal in decisions.proposals:
        if proposal.target is None or proposal.action not in ("update", "delete"):
            continue
        between()
        fact = extraction.facts[proposal.fact].content
        verdict = check(proposal.action, fact, proposal.target.content, caller, work.configuration)
        if verdict.kind:
            found[proposal.fact] = verdict.said
        elif verdict.error is not None:
            if isinstance(verdict.error, CallRefusedError) or verdict.error.outage:
                raise verdict.error
            unchecked[proposal.fact] = (
                f"Fact {proposal.fact + 1}: not checked for a contradiction: {verdict.error.kind}"
            )
    return found, unchecked


def _planned(
    extraction: Extraction,
    decisions: Decisions,
    contradictions: Mapping[int, str],
    graph: Graph,
    whole: str,
    window: TextSpan,
) -> Sequence[PlannedFact]:
    proposals = {proposal.fact: proposal for proposal in decisions.proposals}
    told = {
        place: _told(decisions, place) for place in range(len(extraction.facts)) if place not in proposals
    }
    spans = source_spans(window.of(whole), [fact.quote or fact.content for fact in extraction.facts])
    return [
        PlannedFact(
            place=place,
            fact=fact,
            said=normalise(fact.content),
            proposal=proposals.get(place),
            told=told.get(place, ""),
            contradiction=contradictions.get(place, ""),
            pinned=_pinned(graph, proposals.get(place)),
            span=_moved(spans[place], window.start),
        )
        for place, fact in enumerate(extraction.facts)
    ]


def _moved(span: tuple[int, int] | None, by: int) -> tuple[int, int] | None:
    return None if span is None else (span[0] + by, span[1] + by)


def _told(decisions: Decisions, place: int) -> str:
    """Why there is no proposal for a fact, from the warnings that name it by its number."""
    head = f"Fact {place + 1}: "
    return next((one.removeprefix(head) for one in decisions.warnings if one.startswith(head)), "")


def _pinned(graph: Graph, proposal: Proposal | None) -> bool:
    from core.reflection.judge import pinned

    if proposal is None or proposal.target is None:
        return False
    note = graph.visible(proposal.target.id)
    return note is not None and pinned(note)
