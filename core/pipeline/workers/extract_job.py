"""The extraction job in three phases: read, ask models, write in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.errors import NuggetsError
from core.pipeline.database.jobs import LostLeaseError
from core.pipeline.database.tables import Tables
from core.pipeline.decide import Contradiction, check, decide
from core.pipeline.extract import ExtractedFact, Extraction, Limits, extract
from core.pipeline.ground import source_spans
from core.pipeline.intake.normalisation import normalise
from core.pipeline.intake.sentences import TextSpan
from core.pipeline.model_calls import Made, ModelCaller, deadline_of
from core.pipeline.models.provider import CallRefusedError, ModelError, Provider, TruncatedAnswerError
from core.pipeline.modes import Mode, mode
from core.pipeline.queue import Failure, failure_of
from core.pipeline.records import Job, RawMemory
from core.pipeline.statements import saying, says_the_same
from core.pipeline.windows import LongText, progress_of
from core.pipeline.writes.at_once import Written, write_at_once
from core.pipeline.writes.candidates import CandidateSearch
from core.pipeline.writes.committing import Committed, ExtractPlan, PlannedFact, write_plan
from core.pipeline.writes.notes import NoteEdit
from core.settings.pipeline_sections import PipelineConfiguration

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.snapshot import Snapshot
    from core.pipeline.database.connection import Database
    from core.pipeline.workers.runner import Done, JobContext


@dataclass(frozen=True, slots=True)
class ExtractWork:
    """What an extraction starts from. mode: what it may do, as it was when the job began. text: of the memory, with how
    far it was read before.
    """

    job: Job
    raw: RawMemory
    configuration: PipelineConfiguration
    mode: Mode
    text: LongText


def run(context: JobContext) -> Done:
    """Reads the next part of a text, and writes what came of it. Raises what keeps it from being done."""
    database, job, token = context.database, context.job, context.lease.token
    work = prepare(database, job, context.configuration)
    if work is None:
        return context.skip("memory_not_found")
    if work.raw.status == "extracted" and not work.text.progress.begun:
        return context.skip("already_extracted")
    if work.mode.writes_notes:
        # What keeps the notes from being written is better known before a model is asked.
        context.memory().refresh(patient=False)
    try:
        plan = think(work, database, context.memory(), context.caller, between=context.heartbeat)
    except ModelError as error:
        failure = failure_of(error)
        final = failure.permanent or (failure.counts and job.attempts >= job.max_attempts)
        if not (final and step_over(database, work, failure, token, context.now())):
            raise
        return (f"a part of a text could not be read: {failure.message}",), 0
    done = commit(database, context.memory, plan, token, context.now(), context.caller)
    if done is None:
        raise LostLeaseError(job.id)
    if done.unfinished is not None:
        return (f"notes are not written yet: {done.unfinished.message}",), 0
    return (), done.result.written if done.change_set is not None else 0


def prepare(database: Database, job: Job, configuration: PipelineConfiguration) -> ExtractWork | None:
    """Reads what a job is about, and how far it came before; None when its raw memory is gone."""
    found = database.reading.raw.raw_of(job.target)
    if found is None:
        return None
    settings, so_far = configuration.extraction, database.reading.jobs.result_of(job.id)
    text = LongText(
        found.content, settings.window_chars, settings.window_overlap_chars, settings.max_windows,
        progress_of(so_far, len(found.content)), so_far,
    )  # fmt: skip
    return ExtractWork(job, found, configuration, mode(configuration), text)


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
    from core.reflection.judge import pinned

    configuration, deadline = work.configuration, deadline_of(work.configuration)

    def ask(purpose: str) -> Provider:
        return provider.about(purpose, work.raw.id) if isinstance(provider, ModelCaller) else provider

    window, size, extraction = _extraction(work, ask("extract"), deadline, between)
    after = work.text.progress.after(window, size=size, facts=len(extraction.facts))
    found, spans = _new_ones(extraction.facts, window, database, work)
    # The last good snapshot serves, when the files cannot be read just now.
    with suppress(NuggetsError):
        memory.refresh(patient=False)
    snapshot, newest = memory.snapshot, database.reading.facts.newest()
    waiting = not work.mode.writes_notes
    candidates = CandidateSearch(database, memory, work.raw.nugget, configuration.search, waiting).of(found)
    if any(candidates):
        between()
    decisions = decide(found, candidates, ask("decide"), deadline=deadline, between=between)
    for _, error in decisions.errors:
        another = error.outage or (error.retryable and work.job.attempts < work.job.max_attempts)
        if isinstance(error, CallRefusedError) or another:
            raise error
    proposals = {proposal.fact: proposal for proposal in decisions.proposals}
    planned: list[PlannedFact] = []
    warnings = [*extraction.warnings, *decisions.warnings]
    for place, fact in enumerate(found):
        proposal, verdict, pinned_target = proposals.get(place), Contradiction(), False
        if proposal is not None and proposal.target is not None:
            note = snapshot.by_id.get(proposal.target.id)
            pinned_target = note is not None and not note.hidden and pinned(note)
            if proposal.action in ("update", "delete"):
                between()
                target = proposal.target.content
                verdict = check(proposal.action, fact.content, target, ask("contradiction"), configuration)
        if verdict.error is not None:
            # While the model cannot be asked at all the work waits: no verdict is none that the two go together.
            if isinstance(verdict.error, CallRefusedError) or verdict.error.outage:
                raise verdict.error
            warnings.append(f"Fact {place + 1}: not checked for a contradiction: {verdict.error.kind}")
        planned.append(
            PlannedFact(
                place=place, fact=fact, said=normalise(fact.content), proposal=proposal,
                told=decisions.told.get(place, ""), contradiction=verdict.said, pinned=pinned_target, span=spans[place],
                unchecked=verdict.error is not None,
            )
        )  # fmt: skip
    return ExtractPlan(
        job_id=work.job.id,
        raw=work.raw,
        mode=work.mode,
        configuration=configuration,
        newest=newest,
        facts=tuple(planned),
        relations=extraction.relations,
        warnings=tuple(warnings),
        model=extraction.model,
        prompt_version=extraction.prompt_version,
        calls=extraction.calls + decisions.calls,
        reading=work.text.reading(after, window, len(extraction.facts) - len(found)),
    )


def step_over(database: Database, work: ExtractWork, failure: Failure, lease_token: str, now: int) -> bool:
    """Goes on with the next window of a text where one was tried for the last time; False where there is none.

    So what cannot be read keeps nothing else from being read. When all else is read the job dies of it, and a retry
    reads what was left out.
    """
    text, progress = work.text, work.text.progress
    window = text.window(progress.size)
    whole = not progress.begun and not text.text[window.end :].strip()
    if whole or window in progress.failed:
        return False
    left = text.reading(progress.without(window, failure.message, failure.error_class), window)
    result = {**text.so_far, **left.result(now)}
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
    caller: ModelCaller | None = None,
) -> Written[Committed] | None:
    """Writes a plan with its notes and completes its job, or lets it wait for its turn where more of the text is to be
    read, in one transaction; None when the lease was lost, and nothing is written.

    memory: opens it where notes are to be written. now: epoch ms. caller: how its calls went is put down, too. Raises
    what keeps the notes from being written.
    """

    settled: dict[int, Made] = {}

    def work(writer: Tables, notes: Snapshot) -> tuple[Committed, list[NoteEdit]]:
        if not writer.jobs.holds(plan.job_id, lease_token):
            raise LostLeaseError(plan.job_id)
        if caller is not None:
            settled.update((one.call, one) for one in caller.settle(writer))
        latencies = [writer.calls.latency_of(plan.raw.id, purpose) for purpose in ("extract", "decide")]
        known = [latency for latency in latencies if latency is not None]
        done, edits = write_plan(writer, notes, plan, latency_ms=sum(known) if known else None, now=now)
        if not _ended(writer, plan, done.result, lease_token, now):
            raise LostLeaseError(plan.job_id)
        return done, edits

    try:
        done = write_at_once(database, memory, work, now=now)
    except LostLeaseError:
        return None
    if caller is not None:
        caller.forget(settled.values())
    return done


def _ended(writer: Tables, plan: ExtractPlan, result: Mapping[str, Any], lease_token: str, now: int) -> bool:
    """Ends the job, or its turn; False when the lease is lost."""
    reading, jobs, id = plan.reading, writer.jobs, plan.job_id
    if reading.outcome == "goes_on":
        return jobs.put_back(id, lease_token, now=now, result=result)
    if reading.outcome == "failed":
        after = reading.after
        told = f"{len(after.failed)} of {reading.windows} parts could not be read: {after.error}"
        return jobs.keep_result(id, lease_token, result) and bool(
            jobs.fail(id, lease_token, now=now, error=told, error_class=after.error_class, permanent=True)
        )
    unread = ""
    if reading.outcome == "limited":
        share = f"{reading.unread:,} of {len(plan.raw.content):,} characters"
        unread = f"{share} were not read: the limit of extraction.max_windows is reached; a retry reads on"
    return jobs.complete(id, lease_token, now=now, result=result, unread=unread)


def _extraction(
    work: ExtractWork, provider: Provider, deadline: float, between: Callable[[], None]
) -> tuple[TextSpan, int, Extraction]:
    """What the next window says, and the size of windows from now on: smaller ones where it says more than one answer
    holds, 0 for the usual one.
    """
    settings, text, size = work.configuration.extraction, work.text, work.text.progress.size
    limits = Limits(
        shortest_input=settings.min_input_chars,
        # What stands for a credential may be longer than it.
        longest_input=2 * settings.window_chars,
        shortest_fact=settings.min_fact_chars,
        most_facts=settings.max_facts,
    )
    while True:
        window = text.window(size)
        again = window in text.progress.failed
        try:
            found = extract(text.sent(window), provider, deadline=deadline, limits=limits)
            less = text.smaller(window, over=found.over) if found.full and not again else 0
            if not less:
                grown = text.size_after(size, facts=len(found.facts), most_facts=settings.max_facts)
                return window, grown, found
        except TruncatedAnswerError:
            less = 0 if again else text.smaller(window, over=True)
            if not less:
                raise
        size = less
        between()


def _new_ones(
    facts: tuple[ExtractedFact, ...], window: TextSpan, database: Database, work: ExtractWork
) -> tuple[tuple[ExtractedFact, ...], list[tuple[int, int] | None]]:
    """What the window before did not give already, from where the two overlap; and where in the text each stands.

    What is said again further on is not left out: it may take a correction back.
    """
    spans = source_spans(window.of(work.raw.content), [fact.quote or fact.content for fact in facts])
    overlap = work.text.progress.at - window.start
    earlier = []
    if work.text.progress.begun and overlap > 0 and facts:
        earlier = [saying(text) for text in database.reading.proposals.said_of(work.raw.id)]
    new = [
        (fact, span)
        for fact, span in zip(facts, spans, strict=True)
        if span is None
        or span[1] > overlap
        or not any(says_the_same(saying(fact.content), one) for one in earlier)
    ]
    start = window.start
    moved = [None if span is None else (span[0] + start, span[1] + start) for _, span in new]
    return tuple(fact for fact, _ in new), moved
