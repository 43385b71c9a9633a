"""The `pipeline` commands: how the work on texts stands, its jobs and health, and what of its proposals is written."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import click

from core.errors import NotFoundError
from core.pipeline.health import HealthProblem, MaintenanceAction
from nuggets_tui.cli.calling_agent import refuse_agents
from nuggets_tui.cli.invocation import NOT_FOUND, NOTHING_CHANGED, Invocation, bad_input
from nuggets_tui.cli.options import DRY_RUN, YES, Group, arg, choice, flag, limit, opt
from nuggets_tui.cli.output import (
    Line,
    Span,
    SpanStyle,
    as_json,
    bold,
    camel,
    dim,
    pick,
    shorten,
    table,
    undo_line,
    warn,
)
from nuggets_tui.cli.values import WholeNumber
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.pipeline.health import HealthReport
    from core.pipeline.records import Entity, PipelineStatus, RemovedText, StoredProposal, TextTrail
    from core.pipeline.service import Pipeline

_STATUSES: Final = ("held", "pending", "leased", "completed", "dead")
_ID: Final = arg("id")
_LIMIT: Final = limit("Show at most N (50).", default=50)
_MOST: Final = 100_000
# What a proposal would do to the note that it is about.
_TO_TARGET: Final = {"update": "replaces", "delete": "hides"}
_STYLES: Final[Mapping[str, SpanStyle]] = {"stuck": "bad", "paused": "warn", "review": "warn", "off": "dim"}
_HEALTH: Final[Mapping[str, SpanStyle]] = {
    "healthy": "good", "degraded": "warn", "unhealthy": "bad", "unknown": "dim",
}  # fmt: skip
_SHOWN_RUNS: Final = 5
_LISTED: Final = 50

pipeline = Group(
    "pipeline",
    "Show how submitted texts are getting on, and decide on the proposals.\n\n"
    "`nuggets daemon` or the open app does the work.",
    usual="status",
    examples=("nuggets pipeline", "nuggets pipeline proposals", "nuggets pipeline accept --above 0.8"),
)


@pipeline.add("status", examples=("nuggets pipeline status --json",))
def status(call: Invocation) -> None:
    """Show the state of the pipeline and why, its jobs and notes, the model, and wrong settings."""
    from core.pipeline.service import status_before

    with call.pipeline() as opened:
        found = opened.status() if opened is not None else status_before(call.folder)
        paused = opened is not None and opened.paused
    messages = [one.message for one in found.warnings]
    more = {"paused": paused, "warnings": messages, "warningCodes": [one.code for one in found.warnings]}
    call.answer(lambda: as_json(found) | more, _status_lines(found))


def _status_lines(found: PipelineStatus) -> Iterator[Line]:
    from nuggets_tui.pipeline_words import MODES, counts, embedding_state, mode_of, model_state

    yield (Span(f"{found.light.value}  ", _STYLES.get(found.light, "good")), found.why)
    if found.light == "working" and found.running is None:
        yield dim("       `nuggets daemon` does the work, or the app while it is open")
    yield dim(f"mode   {MODES[mode_of(found)]}")
    entities = plural(found.entities, "entity", "entities")
    yield f"texts  {found.raw:,} submitted; {plural(found.facts, 'fact')} written; {entities} named"
    if said := counts(found):
        yield f"jobs   {said}"
    if found.jobs.get("dead"):
        yield dim("       why: nuggets pipeline jobs --status dead; try again: nuggets pipeline retry ID")
    if found.proposals_open:
        yield f"{plural(found.proposals_open, 'proposal')} for you: nuggets pipeline proposals"
    model = found.provider
    if model is not None:
        # Without a provider its name is "none", which is no name.
        named = "" if model.state == "off" else f"{model.name} {model.model}".rstrip() + ": "
        calls = f"{model.calls_today:,} of {model.budget:,} calls today"
        yield f"model  {named}{model_state(model, datetime.now(UTC))}; {calls}"
    if found.embeddings is not None:
        yield f"embeddings  {embedding_state(found.embeddings)}"
    yield from (warn(one.message) for one in found.warnings)


@pipeline.add(
    "setup",
    choice(
        "--provider provider", ("ollama", "claude-code"), "Provider of the model (ollama).", default="ollama"
    ),
    opt("--model", "NAME", "Model (default: from the settings, else the first one found)."),
    DRY_RUN,
    YES,
    examples=("nuggets pipeline setup", "nuggets pipeline setup --model llama3.2:3b --yes"),
)
def setup(call: Invocation, provider: Any, model: str | None, dry_run: bool, yes: bool) -> None:
    """Find a model, have it read one text, and name it in the settings, as one entry of the history."""
    from core.pipeline.setup import TEXT, try_model

    if not dry_run:
        refuse_agents("choosing the model that reads your texts")
    memory = call.memory
    found = try_model(memory.settings.pipeline, provider, model or "")
    others = [name for name in found.models if name != found.model]
    lines: list[Line] = [
        f"{found.model or found.provider} answers" + (f" at {found.where}" if found.where else ""),
        dim(f"read:   {TEXT}"),
        *(f"found:  {fact}" for fact in found.facts),
        dim(f"in {found.seconds:.1f} s" + (f"; also there: {', '.join(others)}" if others else "")),
    ]
    document = pick(found, "provider model where models facts seconds")
    if dry_run:
        call.answer(document, lines)
        return
    if not call.agreed("Let it read your texts from now on?", lines, yes=yes):
        return
    done = memory.save_settings(found.settings)
    kept = (
        f"Kept in settings.toml.  nuggets undo {done.id}" if done.files else "The settings name it already."
    )
    call.answer(
        document | {"changeSet": done.id if done.files else None},
        [
            *(lines if yes else ()),
            kept,
            dim("Submit a text: nuggets ingest FILE; `nuggets daemon` or the open app reads it."),
        ],
    )


@pipeline.add(
    "jobs", choice("--status only", _STATUSES, "Only jobs with this status."), _LIMIT,
    examples=("nuggets pipeline jobs --status dead",),
)  # fmt: skip
def jobs(call: Invocation, only: Any, limit: int) -> None:
    """List jobs, most recently active first, and why they failed."""
    from nuggets_tui.pipeline_words import JOB_TYPES, job_state

    with call.pipeline() as opened:
        found = opened.jobs(only, limit) if opened is not None else ()
    now, rows = datetime.now(UTC), []
    for job in found:
        incomplete = job.status == "completed" and job.unread
        style: SpanStyle = "bad" if job.status == "dead" else "warn" if incomplete else ""
        state = Span(job_state(job, now, whole=True), style)
        rows.append(
            (str(job.id), state, JOB_TYPES.get(job.type, job.type), dim(job.preview), warn(job.error))
        )
    call.answer(found, table(rows, right=[0], flexible=3) or ["No jobs."])


@pipeline.add(
    "retry", arg("ids", WholeNumber(min=1), nargs=-1, metavar="[ID...]"),
    flag("--all every", "Retry all dead jobs."),
    examples=("nuggets pipeline retry 17", "nuggets pipeline retry --all"),
)  # fmt: skip
def retry(call: Invocation, ids: tuple[int, ...], every: bool) -> None:
    """Retry dead jobs. A job that waits after a failure is retried at once, and one that left part of its text unread
    reads on.
    """
    if bool(ids) == every:
        raise bad_input("needs either ids or --all", "pipeline retry")
    with call.needed_pipeline() as opened:
        count = opened.retry_dead() if every else len([opened.retry(each) for each in dict.fromkeys(ids)])
    call.answer({"retried": count}, [f"{plural(count, 'job waits', 'jobs wait')} again."])


@pipeline.add(
    "pause",
    opt(
        "--wait", "SECONDS", "Wait this long for running jobs (30).", click.FloatRange(0.0, 3600.0), default=30.0,
    ),
    examples=("nuggets pipeline pause --wait 60",),
)  # fmt: skip
def pause(call: Invocation, wait: float) -> None:
    """Start no more jobs until `resume`, in any process. You can still submit texts."""
    with call.needed_pipeline() as opened:
        left = opened.pause(wait)
    still = f"; {plural(len(left), 'job is', 'jobs are')} still running" if left else ""
    call.answer({"running": left}, [(f"Paused{still}.", dim("  nuggets pipeline resume"))])


@pipeline.add("resume", examples=("nuggets pipeline resume",))
def resume(call: Invocation) -> None:
    """Resume after a pause."""
    with call.needed_pipeline() as opened:
        was = opened.paused
        opened.resume()
    call.answer({"resumed": was}, ["Resumed." if was else "It was not paused."])


# Proposals


@pipeline.add(
    "proposals", flag("--all decided_too", "Include those already decided."), _LIMIT,
    examples=("nuggets pipeline proposals", "nuggets pipeline proposals --all --json"),
)  # fmt: skip
def proposals(call: Invocation, decided_too: bool, limit: int) -> None:
    """List proposals that wait for you, newest first, each with the sentence it comes from."""
    found: Sequence[StoredProposal] = ()
    said: dict[str, str] = {}
    with call.pipeline() as opened:
        if opened is not None:
            found = opened.proposals(all=decided_too, most=limit)
            for one in found:
                try:
                    said[one.id] = opened.raw(one.raw_id).content[slice(*one.span)] if one.span else ""
                except NotFoundError:
                    said[one.id] = ""
    document = lambda: [as_json(one) | {"sentence": said[one.id]} for one in found]  # noqa: E731
    call.answer(document, _proposal_lines(found, said))


def _proposal_lines(found: Sequence[StoredProposal], said: Mapping[str, str]) -> Iterator[Line]:
    from nuggets_tui.pipeline_words import ACTIONS, STATES, reason_of

    if not found:
        yield "No proposals."
    for one in found:
        yield (f"{ACTIONS[one.action][0]} ", bold(one.content), dim(f"  {one.sure:.2f}  {one.id}"))
        if one.target_content:
            yield dim(f"    {_TO_TARGET.get(one.action, 'about')}: {one.target_content}")
        if one.becomes:
            yield dim(f"    the note then says: {one.becomes}")
        if said.get(one.id):
            yield dim(f"    from: {said[one.id]}")
        told = "; ".join(filter(None, (STATES[one.status][2], reason_of(one), one.contradiction)))
        yield from [warn(f"    {told}")] if told else []


@pipeline.add(
    "accept", arg("ids", nargs=-1, metavar="[ID...]"),
    opt(
        "--above", "0..1", "Every new note with at least this confidence that no rule objects to.",
        click.FloatRange(0.0, 1.0),
    ),
    DRY_RUN, YES,
    examples=("nuggets pipeline accept proposal-0123456789abcdef", "nuggets pipeline accept --above 0.8 --dry-run"),
)  # fmt: skip
def accept(
    call: Invocation, ids: tuple[str, ...], above: float | None, dry_run: bool, yes: bool
) -> int | None:
    """Write proposals into the notes, as one entry of the history that you can undo."""
    if bool(ids) == (above is not None):
        raise bad_input("needs either ids or --above", "pipeline accept")
    if not dry_run:
        refuse_agents("accepting a proposal")
    with call.needed_pipeline() as opened:
        wanted = opened.resolve_ids(ids) if above is None else opened.above(above)
        waiting = opened.proposals(most=_MOST)
        chosen = [one for one in waiting if one.id in set(wanted)]
        changes = [one for one in waiting if one.changes] if above is not None else []
        preview = [*_proposal_lines(chosen, {}), *_left_lines(changes)]
        if dry_run:
            call.answer(chosen, preview)
            return None
        # Both sides of a change are seen beside each other before they are accepted at once.
        several = len(chosen) > 1 and any(one.changes for one in chosen)
        question = f"Write {plural(len(chosen), 'note')}?"
        if (above is not None or several) and not call.agreed(question, preview, yes=yes):
            return None
        done = opened.accept(wanted, by=call.author.signature)
    entry = done.change_set.id if done.change_set is not None else None
    lines: list[Line] = []
    if done.written:
        lines += [f"Wrote {plural(len(done.written), 'note')}.", *undo_line(entry)]
    if done.deduped:
        lines.append(f"{plural(len(done.deduped), 'fact')} known already.")
    if done.waiting:
        lines.append(
            warn(f"{plural(len(done.waiting), 'note')} could not be written yet; to be tried again.")
        )
    lines += [warn(f"{each}: {why}") for each, why in done.skipped]
    document = pick(
        done, "written deduped waiting", skipped=[{"id": id, "why": why} for id, why in done.skipped],
        changeSet=entry, changesLeft=[one.id for one in changes],
    )  # fmt: skip
    call.answer(document, [*(lines or ["Nothing to accept."]), *_left_lines(changes)])
    return NOT_FOUND if done.skipped and not (done.written or done.deduped or done.waiting) else None


def _left_lines(changes: Collection[StoredProposal]) -> Iterator[Line]:
    """The changes of notes that wait on: a confidence alone takes none, since a person compares the two."""
    if changes:
        wait = plural(len(changes), "change of a note waits", "changes of notes wait")
        yield warn(f"{wait} for you, old and new: nuggets pipeline proposals")
        yield dim(f"To take one: nuggets pipeline accept {next(iter(changes)).id}")


@pipeline.add(
    "refuse", arg("ids", nargs=-1, required=True, metavar="ID..."),
    examples=("nuggets pipeline refuse proposal-0123456789abcdef",),
)  # fmt: skip
def refuse(call: Invocation, ids: tuple[str, ...]) -> int | None:
    """Refuse proposals, as one entry of the history that you can undo. They are not proposed again."""
    with call.needed_pipeline() as opened:
        wanted = opened.resolve_ids(ids)
        refused = opened.refuse(wanted, by=call.author.signature)
        unknown = [each for each in wanted if not opened.history(each, 1)]
    for each in unknown:
        call.note(f"{shorten(each)}: no such proposal")
    if decided := len(wanted) - len(unknown) - refused:
        call.note(f"{plural(decided, 'proposal')} already decided")
    entry = refused.change_set.id if refused.change_set is not None else None
    lines = [f"Refused {plural(refused, 'proposal')}.", *undo_line(entry)]
    call.answer({"refused": int(refused), "changeSet": entry}, lines)
    return None if refused else NOT_FOUND


# Texts


@pipeline.add(
    "text", _ID, examples=("nuggets pipeline text raw-0123456789abcdef", "nuggets pipeline text 17 --json")
)
def text(call: Invocation, id: str) -> None:
    """Show a submitted text, how much of it was read, and what became of each fact in it. Credentials are shown as
    dots.

    ID is the id of the text, the start of it, or the number of its job.
    """
    from nuggets_tui.pipeline_words import stamp

    with call.needed_pipeline() as opened:
        found = opened.text(id)
    raw = found.raw
    document = pick(
        raw, "id status content nugget_name=nugget project session=source_id source_type author model prompt_version",
        submittedAt=stamp(raw.created_at), readAt=stamp(raw.extracted_at) or None,
        duplicateOf=raw.duplicate_of or None, removedAt=stamp(raw.removed_at) or None,
        deletedAt=stamp(raw.gone_at) or None,
        unread=[{"start": start, "end": end} for start, end in found.unread],
    ) | pick(found, "entities job facts=proposals")  # fmt: skip
    call.answer(document, _text_lines(found))


def _text_lines(found: TextTrail) -> Iterator[Line]:
    from nuggets_tui.pipeline_words import STATES, reason_of, removed_line, submitted_line

    raw = found.raw
    yield bold(raw.id)
    yield dim(submitted_line(raw, datetime.now(UTC)))
    if raw.removed_at is not None:
        yield warn(removed_line(raw.removed_at, raw.gone_at))
    yield from _reading_lines(found)
    if found.entities:
        yield f"names  {', '.join(found.entities)}"
    if found.proposals:
        yield f"facts  {len(found.proposals):,}"
    elif raw.status == "extracted":
        yield "facts  none found"
    for one in found.proposals:
        sign, _, word = STATES[one.status]
        why = reason_of(one)
        told = (
            f"waits for you: {why}".removesuffix(": ") if one.open else "; ".join(filter(None, (word, why)))
        )
        style: SpanStyle = "warn" if one.open else "good" if one.status == "applied" else "dim"
        at = one.note_id or one.target_note or one.id
        yield (f"  {sign or '!'} ", one.content, Span(f"  {told}", style), dim(f"  {at}"))
    yield from ("", *raw.content.split("\n"))


def _reading_lines(found: TextTrail) -> Iterator[Line]:
    """What was read of it, and by whom."""
    from nuggets_tui.pipeline_words import age, job_state

    raw, job, now = found.raw, found.job, datetime.now(UTC)
    if raw.duplicate_of:
        yield dim(f"read   not again: {raw.duplicate_of} says the same")
    elif raw.status == "skipped":
        yield dim("read   by no model" + (": it says too little" if raw.removed_at is None else ""))
    elif raw.status == "held":
        yield warn("read   not yet: the pipeline is frozen")
    elif not found.unread:
        by = " ".join(filter(None, (raw.model, raw.prompt_version)))
        yield f"read   whole, {age(raw.extracted_at, now)}" + (f", by {by}" if by else "")
    else:
        share = f"{found.unread_length:,} of {len(raw.content):,} characters are not read"
        yield warn(f"read   {share}{f' ({job_state(job, now)})' if job is not None else ''}")
        if found.unread != ((0, len(raw.content)),):
            yield dim(f"       those {', '.join(f'{start:,} to {end:,}' for start, end in found.unread)}")
    if job is not None and job.error:
        yield Span(f"job    {job.id}: {job.error}", "bad" if job.status == "dead" else "warn")


@pipeline.add("remove", _ID, DRY_RUN, examples=("nuggets pipeline remove raw-0123456789abcdef",))
def remove(call: Invocation, id: str, dry_run: bool) -> None:
    """Remove a submitted text and hide the notes made from it, as one entry of the history that you can undo.

    ID is the id of the text, the start of it, or the number of its job. The text is deleted after 30 days; its notes
    stay hidden.
    """
    from nuggets_tui.pipeline_words import removal_words

    with call.needed_pipeline() as opened:
        if dry_run:
            planned = opened.plan_removal(id)
            titles = [dim(f"  {opened.memory.snapshot.by_id[one].title}") for one in planned.notes]
            lines: list[Line] = [("Would remove ", bold(planned.raw_id)), *removal_words(planned), *titles]
            call.answer(pick(planned, "id=raw_id notes proposals waits days", dryRun=True), lines)
            return
        done = opened.remove_text(id, by=call.author.signature)
    _answer_removed(call, done, "Removed", "hidden", back="restore")


@pipeline.add("restore", _ID, examples=("nuggets pipeline restore raw-0123456789abcdef",))
def restore(call: Invocation, id: str) -> None:
    """Restore a removed text, and unhide the notes that were hidden with it."""
    with call.needed_pipeline() as opened:
        done = opened.restore_text(id, by=call.author.signature)
    _answer_removed(call, done, "Restored", "shown", back="remove")


def _answer_removed(call: Invocation, done: RemovedText, word: str, became: str, *, back: str) -> None:
    notes = f", {plural(len(done.notes), 'note')} {became}" if done.notes else ""
    lines: list[Line] = [
        (f"{word} ", bold(done.raw_id), notes, dim(f"  nuggets pipeline {back} {done.raw_id}"))
    ]
    if done.left:
        stay = plural(len(done.left), "note stays", "notes stay")
        lines.append(dim(f"{stay} hidden: the same was said again meanwhile"))
    entry = done.change_set.id if done.change_set is not None else None
    call.answer(pick(done, "id=raw_id notes left", changeSet=entry), lines)


@pipeline.add(
    "sweep", DRY_RUN, examples=("nuggets pipeline sweep --dry-run", "nuggets pipeline sweep --json")
)
def sweep(call: Invocation, dry_run: bool) -> None:
    """Delete what is past its retention: removed texts and documents, finished jobs, old conversations and rows of the
    pipeline's history. What a note, an open proposal or a waiting text needs is kept.

    The daemon and the open app do this every six hours. Settings: [pipeline.retention].
    """
    from nuggets_tui.pipeline_words import SWEPT

    with call.needed_pipeline() as opened:
        done = opened.sweep(dry_run)
    found = [(f"{count:,}", SWEPT[kind][count != 1]) for kind, count in done.counts.items() if count]
    nothing: list[Line] = ["Nothing is old enough to be deleted."]
    lines = ["Would delete:" if done.dry_run else "Deleted:", *table(found)] if found else nothing
    deleted = {camel(kind): count for kind, count in done.counts.items()}
    call.answer(pick(done, "dry_run whole", deleted=deleted), lines)


@pipeline.add("clear", YES, examples=("nuggets pipeline clear --yes",))
def clear(call: Invocation, yes: bool) -> None:
    """Delete every submitted text, document, conversation, proposal and job for good. Notes, facts and the history stay
    as they are.
    """
    refuse_agents("deleting the submitted texts")
    with call.needed_pipeline() as opened:
        question = "Delete all texts, documents, conversations and proposals for good?"
        agreed = call.agreed(question, yes=yes, needs_yes="pipeline clear")
        if agreed:
            opened.clear()
    call.answer({"cleared": agreed}, ["Deleted them all." if agreed else NOTHING_CHANGED])


# Entities


@pipeline.add(
    "entities", arg("query", default="", metavar="[NAME]"), _LIMIT,
    examples=("nuggets pipeline entities", "nuggets pipeline entities postgres"),
)  # fmt: skip
def entities(call: Invocation, query: str, limit: int) -> None:
    """List the people, products and things named in texts, those named most often first."""
    with call.pipeline() as opened:
        found = opened.entities(query, limit) if opened is not None else ()
    rows = [(bold(one.name), dim(", ".join(one.aliases)), plural(one.mentions, "mention")) for one in found]
    call.answer(found, table(rows, flexible=1) or ["No entities."])


@pipeline.add("merge", arg("keep"), arg("other"), examples=("nuggets pipeline merge PostgreSQL Postgres",))
def merge(call: Invocation, keep: str, other: str) -> None:
    """Merge two entities that are the same thing. From then on, the other's names mean the kept one."""
    with call.needed_pipeline() as opened:
        done = opened.merge_entities(_entity(opened, keep).id, _entity(opened, other).id)
    back = dim(f'  nuggets pipeline part "{done.name}" "{other}"')
    call.answer(done, [(f"{done.name} is also {', '.join(done.aliases)} now.", back)])


@pipeline.add("part", arg("entity"), arg("name"), examples=("nuggets pipeline part PostgreSQL Postgres",))
def part(call: Invocation, entity: str, name: str) -> None:
    """Undo a merge: NAME is an entity of its own again. What was learned since stays with ENTITY."""
    with call.needed_pipeline() as opened:
        done = opened.part_entity(_entity(opened, entity).id, name)
    call.answer(done, [f"{done.name} is no longer {name}."])


def _entity(opened: Pipeline, said: str) -> Entity:
    name = " ".join(said.casefold().split())
    for one in opened.entities(said, _MOST):
        if name in map(str.casefold, (one.name, one.canonical_name, *one.aliases)):
            return one
    raise NotFoundError(
        "no such entity", where=said, kept=NOTHING_CHANGED, todo="nuggets pipeline entities lists them"
    )


# Health


@pipeline.add("health", examples=("nuggets pipeline health", "nuggets pipeline health --json"))
def health(call: Invocation) -> int | None:
    """Show how healthy each part is, what is recommended and what maintenance did. Exit code 1 unless it is healthy.

    Nothing is changed.
    """
    from core.pipeline.service import health_of

    report = health_of(call.folder)
    if report is None:
        call.answer(None, ["No text was submitted yet: there is nothing to measure."])
        return None
    domains = [
        pick(one, "name score status said problems")
        | {"figures": {camel(name): value for name, value in one.figures.items()}}
        for one in report.domains
    ]
    call.answer(as_json(report) | {"domains": domains}, _health_lines(report))
    return None if report.healthy else 1


def _health_lines(report: HealthReport) -> Iterator[Line]:
    from nuggets_tui.pipeline_words import DOMAINS, MAINTENANCE, REPAIRS, age, gate_words, run_words

    now = datetime.now(UTC)
    yield (Span(f"{report.status}  {report.score:.0%}  ", _HEALTH[report.status]), report.said)
    rows = []
    for one in report.domains:
        score = Span(one.status if one.score is None else f"{one.score:.0%}", _HEALTH[one.status])
        rows.append((DOMAINS[one.name], score, Span(one.said, "" if one.problems else "dim")))
    yield from table(rows, right=[1], flexible=2)
    for advice in report.recommendations:
        held = gate_words(advice.gate, advice.until, now)
        yield (warn("to do  "), REPAIRS[advice.action], dim(f"  {held}" if held else ""))
    if report.recommendations:
        yield dim("       nuggets pipeline maintain --dry-run")
    if any(HealthProblem.JOBS_LOST in one.problems for one in report.domains):
        again = "to try one all the same: nuggets pipeline retry ID"
        yield dim(f"why    nuggets pipeline jobs --status dead; {again}")
    yield dim(MAINTENANCE[report.mode])
    yield from (dim(f"{age(run.at, now)}: {run_words(run)}") for run in report.runs[:_SHOWN_RUNS])


class _RepairName(click.Choice[str]):
    """The name of a repair, in capitals or not. What is wrong is told with the names as they are listed."""

    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        return f"{value!r} is not one of {', '.join(self.choices)}."


@pipeline.add(
    "maintain",
    opt(
        "--action named", "NAME",
        f"Run this repair, recommended or not. Can be repeated. One of {', '.join(MaintenanceAction)}.",
        _RepairName([*map(str, MaintenanceAction)], case_sensitive=False), multiple=True,
    ),
    flag("--force", "Run it even if it just ran or did not help today; not for agents."), DRY_RUN,
    examples=("nuggets pipeline maintain --dry-run", "nuggets pipeline maintain --action checkFtsConsistency"),
)  # fmt: skip
def maintain(call: Invocation, named: tuple[str, ...], force: bool, dry_run: bool) -> int | None:
    """Run the repairs that are recommended, or those you name. Exit code 1 when one could not run.

    --dry-run lists everything that would be repaired. Repairs never delete or merge notes.
    """
    from nuggets_tui.pipeline_words import REPAIRS, gate_words, run_words

    now, lines = datetime.now(UTC), list[Line]()
    with call.needed_pipeline() as opened:
        wanted = [MaintenanceAction(name) for name in dict.fromkeys(named)]
        wanted = wanted or [one.action for one in opened.diagnose().recommendations]
        plans = [opened.maintenance_plan(one, force=force) for one in wanted] if dry_run else []
        runs = () if dry_run else opened.maintain(wanted, force=force)
    for plan in plans:
        lines += [(bold(f"{plan.action}  "), REPAIRS[plan.action]), f"  {plan.said}"]
        lines += [dim(f"    {repair.said}") for repair in plan.repairs[:_LISTED]]
        more = len(plan.repairs) - _LISTED
        lines += [dim(f"    and {more:,} more")] if more > 0 else []
        lines += [dim(f"  {plan.left_alone}")] if plan.left_alone else []
        held = gate_words(plan.gate, plan.until, now)
        lines += [warn(f"  It would not run now: {held}.")] if held else []
    for run in runs:
        lines.append(Span(run_words(run, now), "warn" if run.status in ("denied", "failed") else ""))
        if run.status == "done" and run.left and run.action is MaintenanceAction.REQUEUE:
            lines.append(dim("  nuggets pipeline jobs --status dead says why"))
    document = [as_json(one) | {"count": one.count} for one in plans] if dry_run else runs
    call.answer(document, lines or ["Nothing is recommended."])
    return 1 if any(one.status in ("denied", "failed") for one in runs) else None
