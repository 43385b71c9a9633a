"""The `pipeline` commands: how the work on texts stands, its jobs, and what of its proposals is to be written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import click

from core.errors import InvalidInputError, NotFoundError, NuggetsError
from nuggets_tui.cli.calling_agent import refuse_agents
from nuggets_tui.cli.groups import TEXT, CommandEntry, LazyGroup, command, example
from nuggets_tui.cli.invocation import Invocation, asks, must_confirm, pass_call
from nuggets_tui.cli.options import LIMIT, WholeNumber, dry_run_option, yes_option
from nuggets_tui.cli.output import LONGEST, Line, Span, SpanStyle, shorten, table, write_error
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.pipeline.records import (
        Accepted,
        Job,
        PipelineStatus,
        PlannedRemoval,
        RemovedText,
        StoredProposal,
        Sweep,
    )
    from core.pipeline.service import Pipeline

NOT_FOUND: Final = 1
_ID: Final = WholeNumber(min=1)
_STATUSES: Final = ("held", "pending", "leased", "completed", "dead")
_MODULE: Final = "nuggets_tui.cli.pipeline"


pipeline_group = LazyGroup(
    "pipeline",
    entries={
        "status": CommandEntry(f"{_MODULE}:status", "Show its state, the counts and the model."),
        "jobs": CommandEntry(f"{_MODULE}:jobs", "List jobs, the latest first, with why they failed."),
        "text": CommandEntry(
            "nuggets_tui.cli.provenance:text",
            "Show a submitted text, what was read of it and what came of it.",
        ),
        "proposals": CommandEntry(f"{_MODULE}:proposals", "List proposals that wait for you."),
        "accept": CommandEntry(f"{_MODULE}:accept", "Write proposals into the notes."),
        "refuse": CommandEntry(f"{_MODULE}:refuse", "Refuse proposals; you can undo it."),
        "retry": CommandEntry(f"{_MODULE}:retry", "Try dead jobs again."),
        "remove": CommandEntry(f"{_MODULE}:remove", "Remove a submitted text and hide its notes."),
        "restore": CommandEntry(f"{_MODULE}:restore", "Bring a removed text and its notes back."),
        "sweep": CommandEntry(f"{_MODULE}:sweep", "Delete what is old and nothing needs any more."),
        "clear": CommandEntry(f"{_MODULE}:clear", "Delete every text, document and proposal for good."),
        "health": CommandEntry(
            "nuggets_tui.cli.pipeline_health:health", "Show how healthy each part is, and what to do."
        ),
        "maintain": CommandEntry(
            "nuggets_tui.cli.pipeline_health:maintain", "Run the repairs that are recommended."
        ),
        "pause": CommandEntry(f"{_MODULE}:pause", "Start no more jobs, in any process."),
        "resume": CommandEntry(f"{_MODULE}:resume", "Go on after a pause."),
    },
    by_default=lambda call: _print_status(call),
    help="""Show how submitted texts are getting on, and decide on the proposals.

`nuggets daemon` does the work, or the app while it is open.""",
    subcommand_metavar="[COMMAND ...]",
    epilog=example("nuggets pipeline", "nuggets pipeline proposals", "nuggets pipeline accept --above 0.8"),
)


@command("status", epilog=example("nuggets pipeline status --json"))
@pass_call
def status(call: Invocation, /) -> None:
    """Show the state of the pipeline and the reason, its jobs and notes, the model, and wrong settings."""
    _print_status(call)


@command("jobs", epilog=example("nuggets pipeline jobs --status dead"))
@click.option("--status", "only", type=click.Choice(_STATUSES), help="Only jobs with this status.")
@click.option("--limit", type=LIMIT, default=50, metavar="N", help="Show at most N (50).")
@pass_call
def jobs(call: Invocation, /, only: Any, limit: int) -> None:
    """List jobs, the last active first, with why they failed."""
    with opened_pipeline(call) as pipeline:
        found = pipeline.jobs(only, limit) if pipeline is not None else ()
    call.answer(lambda: [record_document(job) for job in found], lambda: _job_lines(found))


@command("proposals", epilog=example("nuggets pipeline proposals", "nuggets pipeline proposals --all --json"))
@click.option("--all", "decided_too", is_flag=True, help="Include those already decided.")
@click.option("--limit", type=LIMIT, default=50, metavar="N", help="Show at most N (50).")
@pass_call
def proposals(call: Invocation, /, decided_too: bool, limit: int) -> None:
    """List proposals that wait for you, newest first, each with the sentence it comes from."""
    with opened_pipeline(call) as pipeline:
        found = pipeline.proposals(all=decided_too, most=limit) if pipeline is not None else ()
        said = {one.id: _sentence(pipeline, one) for one in found} if pipeline is not None else {}
    call.answer(
        lambda: [record_document(one) | {"sentence": said[one.id]} for one in found],
        lambda: _proposal_lines(found, said),
    )


@command(
    "accept",
    epilog=example(
        "nuggets pipeline accept proposal-0123456789abcdef", "nuggets pipeline accept --above 0.8 --dry-run"
    ),
)
@click.argument("ids", type=TEXT, nargs=-1, metavar="[ID...]")
@click.option(
    "--above", type=click.FloatRange(0.0, 1.0), metavar="0..1",
    help="Every new note with at least this confidence that no rule objects to.",
)  # fmt: skip
@dry_run_option
@yes_option
@pass_call
def accept(
    call: Invocation, /, ids: tuple[str, ...], above: float | None, dry_run: bool, yes: bool
) -> int | None:
    """Write proposals into the notes, as one entry of the history that you can undo."""
    if bool(ids) == (above is not None):
        raise InvalidInputError(
            "needs either ids or --above",
            where="pipeline accept",
            kept="nothing was changed",
        )
    if not dry_run:
        refuse_agents("accepting a proposal")
    with needed_pipeline(call) as pipeline:
        wanted = pipeline.resolve_ids(ids) if above is None else pipeline.above(above)
        waiting = pipeline.proposals(most=100_000)
        chosen = [one for one in waiting if one.id in set(wanted)]
        changes = [one for one in waiting if one.changes] if above is not None else []
        # Both sides of a change are seen beside each other before they are accepted at once.
        several = len(chosen) > 1 and any(one.changes for one in chosen)
        if dry_run or ((above is not None or several) and asks(yes=yes)):
            if dry_run:
                call.answer(
                    lambda: [record_document(one) for one in chosen],
                    lambda: [*_proposal_lines(tuple(chosen), {}), *_left_lines(changes)],
                )
                return None
            call.preview([*_proposal_lines(tuple(chosen), {}), *_left_lines(changes)])
            if not chosen or not call.confirm(f"Write {plural(len(chosen), 'note')}?"):
                return None
        done = pipeline.accept(wanted, by=call.author.signature)
    call.answer(
        lambda: _accepted_document(done, changes), lambda: [*_accepted_lines(done), *_left_lines(changes)]
    )
    return NOT_FOUND if done.skipped and not (done.written or done.deduped or done.waiting) else None


@command("refuse", epilog=example("nuggets pipeline refuse proposal-0123456789abcdef"))
@click.argument("ids", type=TEXT, nargs=-1, required=True, metavar="ID...")
@pass_call
def refuse(call: Invocation, /, ids: tuple[str, ...]) -> int | None:
    """Refuse proposals, as one entry of the history that you can undo. They are not proposed again."""
    with needed_pipeline(call) as pipeline:
        wanted = pipeline.resolve_ids(ids)
        refused = pipeline.refuse(wanted, by=call.author.signature)
        unknown = pipeline.unknown_proposals(wanted)
    decided = len(wanted) - len(unknown) - refused
    if not call.as_json:
        for each in unknown:
            write_error(f"{shorten(each, LONGEST)}: no such proposal")
        if decided:
            write_error(f"{plural(decided, 'proposal')} already decided")
    entry = refused.change_set.id if refused.change_set is not None else None
    said = (
        f"Refused {plural(refused, 'proposal')}.",
        Span(f"  nuggets undo {entry}" if entry else "", "dim"),
    )
    call.answer(lambda: {"refused": int(refused), "changeSet": entry}, lambda: [said])
    return None if refused else NOT_FOUND


@command("retry", epilog=example("nuggets pipeline retry 17", "nuggets pipeline retry --all"))
@click.argument("ids", type=_ID, nargs=-1, metavar="[ID...]")
@click.option("--all", "every", is_flag=True, help="Try all dead jobs again.")
@pass_call
def retry(call: Invocation, /, ids: tuple[int, ...], every: bool) -> None:
    """Try dead jobs again. A job that waits after a failure is tried at once, and one that left a part of its text
    unread reads on.
    """
    if bool(ids) == every:
        raise InvalidInputError(
            "needs either ids or --all",
            where="pipeline retry",
            kept="nothing was changed",
        )
    with needed_pipeline(call) as pipeline:
        count = pipeline.retry_dead() if every else len([pipeline.retry(each) for each in dict.fromkeys(ids)])
    waits = "waits" if count == 1 else "wait"
    call.answer(lambda: {"retried": count}, lambda: [f"{plural(count, 'job')} {waits} again."])


@command("remove", epilog=example("nuggets pipeline remove raw-0123456789abcdef"))
@click.argument("id", type=TEXT)
@dry_run_option
@pass_call
def remove(call: Invocation, /, id: str, dry_run: bool) -> None:
    """Remove a submitted text and hide the notes that came of it, as one entry of the history that you can undo.

    ID is the id of the text, the start of it, or the number of its job. The text is deleted after 30 days; its notes
    stay hidden.
    """
    with needed_pipeline(call) as pipeline:
        if dry_run:
            planned = pipeline.plan_removal(id)
            titles = [pipeline.memory.snapshot.by_id[one].title for one in planned.notes]
            call.answer(lambda: _planned_document(planned), lambda: _planned_lines(planned, titles))
            return
        done = pipeline.remove_text(id, by=call.author.signature)
    call.answer(
        lambda: _removed_document(done), lambda: _removed_lines(done, "Removed", "hidden", back="restore")
    )


@command("restore", epilog=example("nuggets pipeline restore raw-0123456789abcdef"))
@click.argument("id", type=TEXT)
@pass_call
def restore(call: Invocation, /, id: str) -> None:
    """Bring a removed text back, and show the notes again that were hidden with it."""
    with needed_pipeline(call) as pipeline:
        done = pipeline.restore_text(id, by=call.author.signature)
    call.answer(
        lambda: _removed_document(done), lambda: _removed_lines(done, "Restored", "shown", back="remove")
    )


@command("sweep", epilog=example("nuggets pipeline sweep --dry-run", "nuggets pipeline sweep --json"))
@dry_run_option
@pass_call
def sweep(call: Invocation, /, dry_run: bool) -> None:
    """Delete what has been kept long enough: removed texts and documents, finished jobs, old conversations and rows of
    the pipeline's history. Nothing goes that a note, an open proposal or a waiting text needs.

    The daemon and the open app do so every six hours. Settings: [pipeline.retention].
    """
    with needed_pipeline(call) as pipeline:
        done = pipeline.sweep(dry_run)
    call.answer(lambda: _sweep_document(done), lambda: _sweep_lines(done))


@command("clear", epilog=example("nuggets pipeline clear --yes"))
@yes_option
@pass_call
def clear(call: Invocation, /, yes: bool) -> None:
    """Delete every submitted text, document, conversation, proposal and job for good. Notes, facts and the history stay
    as they are.
    """
    refuse_agents("deleting the submitted texts")
    with needed_pipeline(call) as pipeline:
        question = "Delete all texts, documents, conversations and proposals for good?"
        go_on = must_confirm(call, yes, "pipeline clear", question)
        if go_on:
            pipeline.clear()
    call.answer(
        lambda: {"cleared": go_on}, lambda: ["Deleted them all." if go_on else "Nothing was changed."]
    )


@command("pause", epilog=example("nuggets pipeline pause --wait 60"))
@click.option(
    "--wait", type=click.FloatRange(0.0, 3600.0), default=30.0, metavar="SECONDS",
    help="Wait this long for running jobs (30).",
)  # fmt: skip
@pass_call
def pause(call: Invocation, /, wait: float) -> None:
    """Start no more jobs until `resume`, in any process. You can still submit texts."""
    with needed_pipeline(call) as pipeline:
        left = pipeline.pause(wait)
    still = f"; {plural(len(left), 'job is', 'jobs are')} still running" if left else ""
    call.answer(
        lambda: {"running": [record_document(job) for job in left]},
        lambda: [(f"Paused{still}.", Span("  nuggets pipeline resume", "dim"))],
    )


@command("resume", epilog=example("nuggets pipeline resume"))
@pass_call
def resume(call: Invocation, /) -> None:
    """Go on after a pause."""
    with needed_pipeline(call) as pipeline:
        was = pipeline.paused
        pipeline.resume()
    call.answer(lambda: {"resumed": was}, lambda: ["Resumed." if was else "It was not paused."])


def pipeline_document(call: Invocation) -> dict[str, Any] | None:
    """How it stands, for an overview: None where nothing was handed in; without a light where it cannot be read."""
    try:
        with opened_pipeline(call) as pipeline:
            found = pipeline.status() if pipeline is not None else None
    except NuggetsError as error:
        return {"light": None, "why": error.message, "jobs": {}, "proposalsOpen": 0}
    if found is None:
        return None
    return {
        "light": found.light.value, "why": found.why, "jobs": found.jobs, "proposalsOpen": found.proposals_open,
    }  # fmt: skip


def pipeline_lines(document: dict[str, Any] | None) -> Iterator[Line]:
    """The same for people; nothing where nothing was handed in."""
    if document is not None:
        light = document["light"]
        said = f"texts  {light}: {document['why']}" if light else f"texts  {document['why']}"
        style = "bad" if light is None else "dim" if light in ("idle", "working") else _STYLES[light]
        yield Span(said, style)


@contextmanager
def opened_pipeline(call: Invocation) -> Iterator[Pipeline | None]:
    """The pipeline, None where nothing was handed in yet; looking makes none."""
    # Most memories have none, and whoever asks for their status need not wait for what it takes to open one.
    from core.workspace import has_pipeline

    if not has_pipeline(call.folder):
        yield None
        return
    from core.pipeline.service import Pipeline

    with Pipeline.open(call.folder, author=call.author) as pipeline:
        if pipeline.notice:
            write_error(f"warning: {pipeline.notice}")
        yield pipeline


@contextmanager
def needed_pipeline(call: Invocation) -> Iterator[Pipeline]:
    with opened_pipeline(call) as pipeline:
        if pipeline is None:
            raise NotFoundError(
                "no text was submitted yet", where=str(call.folder), todo="submit one with nuggets ingest"
            )
        yield pipeline


def _print_status(call: Invocation) -> None:
    from core.pipeline.service import status_before

    with opened_pipeline(call) as pipeline:
        found = pipeline.status() if pipeline is not None else status_before(call.folder)
        paused = pipeline is not None and pipeline.paused
    call.answer(lambda: _status_document(found, paused), lambda: _status_lines(found))


def _sentence(pipeline: Pipeline, proposal: StoredProposal) -> str:
    """What of the text a proposal comes from, "" where that is not known."""
    if proposal.span is None:
        return ""
    try:
        return pipeline.raw(proposal.raw_id).content[slice(*proposal.span)]
    except NotFoundError:
        return ""


# As JSON


def record_document(record: object) -> dict[str, Any]:
    """A record with its names in camel case."""
    names = getattr(type(record), "__slots__", ())
    return {camel(name): _plain(getattr(record, name)) for name in names}


def _plain(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    return list(value) if isinstance(value, tuple) else value


def camel(name: str) -> str:
    """A name as JSON spells it."""
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


def _status_document(found: PipelineStatus, paused: bool) -> dict[str, Any]:
    provider, running, embeddings = found.provider, found.running, found.embeddings
    return record_document(found) | {
        "embeddings": record_document(embeddings) if embeddings is not None else None,
        "paused": paused,
        "running": record_document(running) if running is not None else None,
        "provider": record_document(provider) if provider is not None else None,
        "warnings": [warning.message for warning in found.warnings],
        "warningCodes": [warning.code for warning in found.warnings],
    }


def _accepted_document(done: Accepted, changes: Iterable[StoredProposal]) -> dict[str, Any]:
    return {
        "written": list(done.written),
        "deduped": list(done.deduped),
        "waiting": list(done.waiting),
        "skipped": [{"id": each, "why": why} for each, why in done.skipped],
        "changeSet": done.change_set.id if done.change_set is not None else None,
        "changesLeft": [one.id for one in changes],
    }


def _removed_document(done: RemovedText) -> dict[str, Any]:
    return {
        "id": done.raw_id,
        "notes": list(done.notes),
        "left": list(done.left),
        "changeSet": done.change_set.id if done.change_set is not None else None,
    }


def _planned_document(planned: PlannedRemoval) -> dict[str, Any]:
    return {
        "id": planned.raw_id,
        "dryRun": True,
        "notes": list(planned.notes),
        "proposals": planned.proposals,
        "waits": planned.waits,
        "days": planned.days,
    }


def _sweep_document(done: Sweep) -> dict[str, Any]:
    return {
        "dryRun": done.dry_run,
        "whole": done.whole,
        "restored": done.restored,
        "deleted": {camel(kind): count for kind, count in done.counts.items()},
    }


# For people

# What a proposal would do to the note that it is about.
_TO_TARGET: Final = {"update": "replaces", "delete": "hides"}
_STYLES: Final[Mapping[str, SpanStyle]] = {"stuck": "bad", "paused": "warn", "review": "warn", "off": "dim"}


def _status_lines(found: PipelineStatus) -> Iterator[Line]:
    from nuggets_tui.pipeline_words import MODES, counts, embedding_state, mode_of, model_state

    yield (Span(f"{found.light.value}  ", _STYLES.get(found.light, "good")), found.why)
    if found.light == "working" and found.running is None:
        yield Span("       `nuggets daemon` does the work, or the app while it is open", "dim")
    yield Span(f"mode   {MODES[mode_of(found)]}", "dim")
    yield (
        f"texts  {found.raw:,} submitted; {plural(found.facts, 'fact')} written;"
        f" {plural(found.entities, 'entity', 'entities')} named"
    )
    if counts(found):
        yield f"jobs   {counts(found)}"
    if found.jobs.get("dead"):
        yield Span(
            "       why: nuggets pipeline jobs --status dead; try again: nuggets pipeline retry ID", "dim"
        )
    if found.proposals_open:
        yield f"{plural(found.proposals_open, 'proposal')} for you: nuggets pipeline proposals"
    provider = found.provider
    if provider is not None:
        # Without a provider its name is "none", which is no name.
        named = "" if provider.state == "off" else f"{provider.name} {provider.model}".rstrip() + ": "
        yield (
            f"model  {named}{model_state(provider, datetime.now(UTC))};"
            f" {provider.calls_today:,} of {provider.budget:,} calls today"
        )
    if found.embeddings is not None:
        yield f"embeddings  {embedding_state(found.embeddings)}"
    for warning in found.warnings:
        yield Span(warning.message, "warn")


def _job_lines(found: Iterable[Job]) -> Iterator[Line]:
    from nuggets_tui.pipeline_words import JOB_TYPES, job_state

    now = datetime.now(UTC)
    rows = [
        (
            str(job.id),
            Span(
                job_state(job, now, whole=True),
                "bad" if job.status == "dead" else "warn" if job.status == "completed" and job.unread else "",
            ),
            JOB_TYPES.get(job.type, job.type),
            Span(job.preview, "dim"),
            Span(job.error, "warn"),
        )
        for job in found
    ]
    yield from table(rows, right=[0], flexible=3) or ["No jobs."]


def _proposal_lines(found: tuple[StoredProposal, ...], said: Mapping[str, str]) -> Iterator[Line]:
    from nuggets_tui.pipeline_words import ACTIONS, STATES, reason_of

    if not found:
        yield "No proposals."
    for one in found:
        sign, _, _ = ACTIONS[one.action]
        yield (f"{sign} ", Span(one.content, "bold"), Span(f"  {one.sure:.2f}  {one.id}", "dim"))
        if one.target_content:
            yield Span(f"    {_TO_TARGET.get(one.action, 'about')}: {one.target_content}", "dim")
        if one.becomes:
            yield Span(f"    the note then says: {one.becomes}", "dim")
        if said.get(one.id):
            yield Span(f"    from: {said[one.id]}", "dim")
        told = "; ".join(part for part in (STATES[one.status][2], reason_of(one), one.contradiction) if part)
        if told:
            yield Span(f"    {told}", "warn")


def _left_lines(changes: Collection[StoredProposal]) -> Iterator[Line]:
    """The changes of notes that wait on: a confidence alone takes none, since a person compares the two."""
    if changes:
        wait = "change of a note waits" if len(changes) == 1 else "changes of notes wait"
        yield Span(f"{len(changes):,} {wait} for you, old and new: nuggets pipeline proposals", "warn")
        yield Span(f"To take one: nuggets pipeline accept {next(iter(changes)).id}", "dim")


def _accepted_lines(done: Accepted) -> Iterator[Line]:
    if done.written:
        undo = f"  nuggets undo {done.change_set.id}" if done.change_set is not None else ""
        yield (f"Wrote {plural(len(done.written), 'note')}.", Span(undo, "dim"))
    if done.deduped:
        yield f"{plural(len(done.deduped), 'fact')} known already."
    if done.waiting:
        yield Span(
            f"{plural(len(done.waiting), 'note')} could not be written yet; to be tried again.", "warn"
        )
    for each, why in done.skipped:
        yield Span(f"{each}: {why}", "warn")
    if not (done.written or done.deduped or done.waiting or done.skipped):
        yield "Nothing to accept."


def _planned_lines(planned: PlannedRemoval, titles: Iterable[str]) -> Iterator[Line]:
    from nuggets_tui.pipeline_words import removal_words

    yield ("Would remove ", Span(planned.raw_id, "bold"))
    yield from removal_words(planned)
    yield from (Span(f"  {title}", "dim") for title in titles)


def _removed_lines(done: RemovedText, word: str, became: str, *, back: str) -> Iterator[Line]:
    notes = f", {plural(len(done.notes), 'note')} {became}" if done.notes else ""
    yield (
        f"{word} ",
        Span(done.raw_id, "bold"),
        notes,
        Span(f"  nuggets pipeline {back} {done.raw_id}", "dim"),
    )
    if done.left:
        stay = "stays" if len(done.left) == 1 else "stay"
        yield Span(
            f"{plural(len(done.left), 'note')} {stay} hidden: the same was said again meanwhile", "dim"
        )


def _sweep_lines(done: Sweep) -> Iterator[Line]:
    from nuggets_tui.pipeline_words import SWEPT

    found = [(f"{count:,}", SWEPT[kind][count != 1]) for kind, count in done.counts.items() if count]
    if not found:
        yield "Nothing is old enough to be deleted."
    else:
        yield "Would delete:" if done.dry_run else "Deleted:"
        yield from table(found)
    if done.restored:
        stay = "stays" if done.restored == 1 else "stay"
        yield Span(f"{plural(done.restored, 'removed text')} {stay}: a note of it is shown again", "dim")
