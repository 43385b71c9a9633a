"""What the Pipeline screen says of the row under the cursor: a proposal with its sentence, a job, an entity, health."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from textual.content import Content

from core.pipeline.extra import install_command
from nuggets_tui.pipeline_words import (
    ACTIONS,
    DOMAINS,
    HEALTH_STYLES,
    JOB_TYPES,
    MAINTENANCE,
    MODES,
    REPAIRS,
    SHORT_MODES,
    STATES,
    age,
    author_name,
    counts,
    document_state,
    embedding_counts,
    embedding_state,
    gate_words,
    job_state,
    mode_of,
    model_state,
    outcomes,
    reason_of,
    removal_words,
    removed_at,
    removed_line,
    run_words,
    stamp,
    submitted_line,
    until,
)
from nuggets_tui.safe_text import content, safe_block, safe_line
from nuggets_tui.session_words import memory_lines, score_lines
from nuggets_tui.widgets.line_view import text_difference, wrapped
from nuggets_tui.widgets.row_list import Row
from nuggets_tui.widgets.row_text import MUTED, bar, sides
from nuggets_tui.words import ago, plural

if TYPE_CHECKING:
    from core.model.note import Note
    from core.pipeline.health import (
        HealthDomain,
        HealthReport,
        MaintenancePlan,
        Recommendation,
    )
    from core.pipeline.records import (
        Document,
        HistoryRow,
        Job,
        JobStatus,
        PipelineStatus,
        PlannedRemoval,
        RawMemory,
        SessionOverview,
        StoredProposal,
    )
    from core.settings.warnings import ConfigurationWarning
    from nuggets_tui.pipeline_session import KeptOfSession

# Characters shown before and after a sentence, of a text handed in, and of a line.
_AROUND: Final = 500
_SHOWN: Final = 20_000
_LINE: Final = 2_000
_SENTENCE: Final = "bold underline $text-accent"
_HEADING: Final = f"bold {MUTED}"
_MOST: Final = 200
_RUNS: Final = 8
_USUAL_MODEL: Final = "qwen3:4b"
_DECIDERS: Final = {"rule": "a rule", "model": "the model", "maintenance": "maintenance"}
Lines = list[Content]


def _heading(said: str) -> Lines:
    return [Content(""), Content.styled(said, _HEADING)]


def _muted(said: str) -> Content:
    return content(safe_line(said, _LINE), MUTED)


def with_commands(said: str, style: str = MUTED) -> Content:
    """A sentence of the pipeline; what it names between back-ticks, to be typed into a shell, stands out."""
    parts = safe_line(said, _LINE).split("`")
    if len(parts) % 2 == 0:
        return Content.styled("`".join(parts), style)
    return Content.assemble(
        *((part, "bold $text-accent" if place % 2 else style) for place, part in enumerate(parts) if part)
    )


def sentence_lines(text: str, span: tuple[int, int] | None, *, around: int = _AROUND) -> Lines:
    """A text with the sentence of a span marked and so many characters around it; its beginning where there is none."""
    if span is None or not 0 <= span[0] < span[1] <= len(text):
        return [_block(text[: 2 * around] + ("…" if len(text) > 2 * around else ""))]
    start, end = span
    before, after = text[max(0, start - around) : start], text[end : end + around]
    return [
        Content.assemble(
            ("…" if start > around else "", MUTED),
            (safe_block(before), MUTED),
            (safe_block(text[start:end]), _SENTENCE),
            (safe_block(after), MUTED),
            ("…" if end + around < len(text) else "", MUTED),
        )
    ]


def _block(text: str) -> Content:
    return Content.styled(safe_block(text, _SHOWN), MUTED)


def proposal_lines(
    proposal: StoredProposal, raw: RawMemory | None, target: Note | None, now: datetime, width: int
) -> Lines:
    """What it would do as a difference, why it waits, and the sentence that it comes from."""
    sign, style, told = ACTIONS.get(proposal.action, ("?", MUTED, proposal.action))
    mark, colour, state = STATES.get(proposal.status, ("", MUTED, proposal.status))
    done = f"   {mark} {state}" if state and not proposal.open else ""
    lines = [
        Content.assemble((f"{sign} {told}", f"bold {style}"), (done, colour)),
        _muted(
            (
                f"{proposal.type} · {proposal.fact_confidence:.0%} sure of the fact, "
                f"{proposal.confidence:.0%} of the change"
            )
            + (f" · {proposal.nugget}" if proposal.nugget else "")
        ),
    ]
    reason = reason_of(proposal)
    if reason and proposal.contradiction:
        reason = f"it contradicts a note: {safe_line(proposal.contradiction, _LINE)}"
    if reason:
        lines.append(
            content(f"{reason[:1].upper()}{reason[1:]}.", "$text-warning" if proposal.open else MUTED)
        )
    lines += [Content(""), *_difference(proposal, target)]
    lines += _heading("Where it comes from")
    if raw is None:
        lines.append(_muted("reading …"))
    else:
        lines += [*sentence_lines(raw.content, proposal.span), _muted(submitted_line(raw, now))]
    decided = f"decided by {_DECIDERS.get(proposal.decided_by, proposal.decided_by or 'nobody')}"
    decided += f" · found by {proposal.model}" if proposal.model else ""
    lines += [*_heading("Why"), _muted(f'"{proposal.told}"' if proposal.told else "—"), _muted(decided)]
    if proposal.resolved_at is not None and not proposal.open:
        by = f" by {author_name(proposal.resolved_by)}" if proposal.resolved_by else ""
        lines.append(_muted(f"{state or proposal.status}{by} {age(proposal.resolved_at, now)}"))
    return wrapped(lines, width)


def _difference(proposal: StoredProposal, target: Note | None) -> Lines:
    title = target.title if target is not None else proposal.target_note
    about = [content(safe_line(title, _LINE), "bold")] if title and proposal.action != "add" else []
    before = proposal.target_content or (target.content if target is not None else "")
    if proposal.action == "update":
        return [*about, *text_difference(before, proposal.becomes or proposal.content)]
    if proposal.action == "delete":
        return [*about, *text_difference(before, proposal.becomes)]
    if proposal.action == "none":
        return [Content(safe_block(proposal.content, _SHOWN)), *about, _block(before)]
    return text_difference("", proposal.content)


def job_lines(
    job: Job, raw: RawMemory | None, history: Sequence[HistoryRow], now: datetime, width: int
) -> Lines:
    """How it stands with a job, why it failed, what came of it, and the text that it is about."""
    tries = f"{job.attempts} of {job.max_attempts} tries"
    lines = [
        content(JOB_TYPES.get(job.type, job.type), "bold"),
        _muted(f"{job_state(job, now, whole=True)} · {tries} · submitted {age(job.created_at, now)}"),
    ]
    if job.status == "leased" and job.leased_by:
        lines.append(_muted(f"run by {job.leased_by}"))
    if job.error:
        style = "$text-error" if job.status == "dead" else "$text-warning"
        lines += [*_heading("What went wrong"), Content.styled(safe_block(job.error, _LINE), style)]
        lines += [_muted(job.error_class)] if job.error_class else []
    removed = removed_at(history)
    if removed is not None:
        lines.append(content(f"{removed_line(removed, None)}; its notes are hidden", "$text-warning"))
    if job.status == "dead":
        lines += [Content(""), Content.assemble(("r", "bold $text-accent"), (" retries it", MUTED))]
    elif job.status == "completed" and job.unread:
        lines += [Content(""), Content.assemble(("r", "bold $text-accent"), (" reads the rest", MUTED))]
    came = outcomes(history)
    if came:
        lines += _heading("Result")
        lines += [
            Content.assemble(
                ("✓ " if written else "– ", "$text-success" if written else MUTED),
                content(safe_line(said, _LINE)),
                content(f"  {became}", MUTED),
            )
            for said, became, written in came[:_MOST]
        ]
    elif job.status == "completed" and job.type == "extract":
        lines += [*_heading("Result"), _muted("no facts found in it")]
    if raw is not None:
        lines += [*_heading("The text"), _muted(submitted_line(raw, now)), _block(raw.content)]
        key, does = ("x", " removes it and hides its notes") if removed is None else ("u", " brings it back")
        lines += [Content(""), Content.assemble((key, "bold $text-accent"), (does, MUTED))]
    return wrapped(lines, width)


def removal_lines(planned: PlannedRemoval, titles: Sequence[str], raw: RawMemory, width: int) -> Lines:
    """What becomes of a text that is removed, and of its notes. titles: of those that would be hidden."""
    lines = [Content(one) for one in removal_words(planned)]
    lines += [content(f"· {safe_line(title, _LINE)}", MUTED) for title in titles[:_MOST]]
    if len(titles) > _MOST:
        lines.append(_muted(f"and {len(titles) - _MOST:,} more"))
    lines += [*_heading("The text"), _block(raw.content)]
    return wrapped(lines, width)


def document_lines(document: Document, now: datetime, width: int, *, job: Job | None = None) -> Lines:
    """Where a document comes from, how far it is, and why it failed. job: the one that works on it, or is to."""
    lines = [
        content(safe_line(document.title or document.source or document.id, _LINE), "bold"),
        _muted(f"{document_state(document)} · added {age(document.created_at, now)}"),
    ]
    if document.source and document.title:
        lines.append(_muted(document.source))
    if document.length:
        lines.append(_muted(f"{document.length:,} characters"))
    if document.error:
        lines += [
            *_heading("What went wrong"),
            Content.styled(safe_block(document.error, _LINE), "$text-error"),
        ]
        lines += [Content(""), _muted("Its job is dead: retry it in Jobs.")]
    elif job is not None:
        lines.append(_muted(f"its job: {job_state(job, now)}"))
        if job.error:
            trouble = Content.styled(safe_block(job.error, _LINE), "$text-warning")
            lines += [*_heading("What went wrong so far"), trouble]
    lines += [
        Content(""),
        Content.assemble(("x", "bold $text-accent"), (" takes it out of the search", MUTED)),
    ]
    return wrapped(lines, width)


def health_lines(status: PipelineStatus, now: datetime, width: int) -> Lines:
    """How it stands with everything, in sentences."""
    lines = [*with_commands(status.why, "bold").wrap(width)] if status.why else []
    lines.append(_muted(MODES[mode_of(status)]))
    lines += _heading("Stored")
    lines.append(
        _muted(
            f"{plural(status.raw, 'text')} · {plural(status.facts, 'fact')} written · "
            f"{plural(status.entities, 'entity', 'entities')}"
            + (f" · {counts(status)}" if counts(status) else "")
        )
    )
    provider = status.provider
    if provider is not None:
        lines += _heading("Model")
        if provider.state != "off":
            lines.append(_muted(f"{provider.name} · {provider.model or 'default model'}"))
        lines.append(_muted(model_state(provider, now)))
        if provider.state == "open" and status.jobs.get("pending"):
            lines.append(
                Content.assemble(("r", "bold $text-accent"), (" on a text in Jobs asks it now", MUTED))
            )
        if provider.last_ok_at is not None:
            lines.append(_muted(f"last answer {age(provider.last_ok_at, now)}"))
        if provider.last_error:
            lines.append(with_commands(provider.last_error, "$text-error"))
        lines += _heading("Today")
        spent = f"{provider.calls_today:,} of {provider.budget:,} calls · {provider.tokens_today:,} tokens"
        if provider.median_latency_ms is not None:
            spent += f" · median {provider.median_latency_ms / 1000:.1f} s a call"
        if provider.fallbacks_today:
            spent += f" · {plural(provider.fallbacks_today, 'call')} answered by the fallback"
        lines.append(_muted(spent))
    if status.embeddings is not None:
        lines += _heading("Embeddings")
        lines.append(_muted(safe_line(embedding_state(status.embeddings), _LINE)))
    if status.warnings:
        lines += _heading("Configuration")
        lines += [_warning(one) for one in status.warnings[:_MOST]]
    return wrapped(lines, width)


def warning_lines(warning: ConfigurationWarning, width: int) -> Lines:
    """One value of the configuration that was not taken as it was given."""
    return wrapped(
        [
            content(safe_line(warning.name, _LINE), "bold"),
            Content(safe_block(warning.message, _LINE)),
            Content(""),
            _muted("A default is used instead. Correct the value in the file, and this warning disappears."),
        ],
        width,
    )


def _warning(warning: ConfigurationWarning) -> Content:
    return Content.assemble(("! ", "bold $text-warning"), content(safe_line(warning.message, _LINE)))


def beginning_lines(status: PipelineStatus, width: int) -> Lines:
    """How to begin, where nothing was handed in yet."""

    def shell(command: str) -> Content:
        return Content.assemble("    ", (command, "bold $text-accent"))

    provider = status.provider
    name = provider.name if provider is not None else "none"
    if name in ("ollama", "none"):
        wanted = provider.model if provider is not None and name == "ollama" else ""
        # What asks it is an extra: httpx2 comes with it.
        extra = [] if find_spec("httpx2") else [shell(safe_line(install_command(), 400))]
        model = [
            Content("1  A model on this machine, with Ollama (ollama.com):"),
            *extra,
            shell(f"ollama pull {safe_line(wanted or _USUAL_MODEL, 80)}"),
        ]
    else:
        model = [content(f"1  The model is {name}, as configured.")]
    lines: Sequence[Content] = [
        Content.styled("Submit a text; a model extracts facts and writes them as notes.", "bold"),
        Content(""),
        *([with_commands(status.why, "$text-warning"), Content("")] if status.light == "off" else []),
        *model,
        Content(""),
        Content.assemble("2  A text to submit: ", ("n", "bold $text-accent"), " here, or"),
        shell("nuggets ingest notes.md"),
        Content(""),
        Content("3  New facts become notes while this app is open, or with"),
        shell("nuggets daemon"),
        Content("   Each note links back to its sentence."),
        Content(""),
        Content.styled("To see each note before it is written, in settings.toml:", MUTED),
        shell("[pipeline]"),
        shell("shadow_mode = true"),
    ]
    return wrapped([*lines, *(_heading("Configuration") if status.warnings else [])], width) + [
        part for one in status.warnings for part in _warning(one).wrap(width)
    ]


_ROW_LINE: Final = 400
_ERROR: Final = "$text-error"
_GAUGE: Final = 8
# Of the name of a session in a row.
_NAME: Final = 16
# Colours of what a model may be; one that was never asked has none.
_STATES: Final = {"healthy": "$text-success", "failing": _ERROR, "open": _ERROR}
# Headings of the work, and which jobs stand below each.
_WORK: Final[tuple[tuple[str, tuple[JobStatus, ...]], ...]] = (
    ("Running", ("leased",)),
    ("Dead", ("dead",)),
    ("Waiting", ("pending",)),
    ("Held", ("held",)),
    ("Done", ("completed",)),
)


def proposal_row(proposal: StoredProposal, now: datetime) -> Row:
    """What it says and how sure it is; below, of what kind it is or why it waits, or what became of it."""
    sign, style, _ = ACTIONS.get(proposal.action, ("?", MUTED, proposal.action))
    sure = Content.styled(f"{proposal.sure:.0%}", MUTED)
    said = proposal.content or proposal.target_content
    head = Content.assemble(
        (f" {sign} ", f"bold {style}"), content(safe_line(said, _ROW_LINE), "" if proposal.open else MUTED)
    )
    mark, colour, word = STATES.get(proposal.status, ("", MUTED, proposal.status))
    reason = reason_of(proposal, short=True)
    if proposal.open and reason:
        mark, colour, _ = STATES["review"]
        words = content(f"   {mark} {reason}", colour)
    elif word:
        words = content(f"   {mark} {word}" + (f": {reason}" if reason else ""), colour)
    else:
        words = content(f"   {' · '.join(filter(None, (proposal.type, proposal.nugget)))}", MUTED)
    when = Content.styled(ago(stamp(proposal.resolved_at or proposal.created_at), now), MUTED)
    return Row(proposal.id, (sides(head, sure), sides(words, when)), data=proposal)


def work_rows(jobs: Sequence[Job], now: datetime, counts: Mapping[JobStatus, int] | None = None) -> list[Row]:
    """The jobs under headings: what runs, what died, what waits, what is done. counts: of all jobs by status, where
    these are the latest.
    """
    rows: list[Row] = []
    for heading, states in _WORK:
        own = [job for job in jobs if job.status in states]
        if own:
            all_of_them = sum((counts or {}).get(state, 0) for state in states)
            shown = f"the last {len(own):,} of {all_of_them:,}" if all_of_them > len(own) else f"{len(own):,}"
            said = Content.assemble((heading, f"bold {MUTED}"), (f"  {shown}", MUTED))
            rows.append(Row(f"heading {heading}", (said,), selectable=False))
            rows += [job_row(job, now) for job in own]
    return rows


def job_row(job: Job, now: datetime) -> Row:
    """What it is about and how it stands; below, why it is dead."""
    sign, style = {
        "leased": ("◔", "$text-accent"), "dead": ("✗", _ERROR), "completed": ("✓", MUTED), "held": ("‖", MUTED)
    }.get(job.status, ("·", MUTED))  # fmt: skip
    said = job.preview or f"{JOB_TYPES.get(job.type, job.type)} {job.target}"
    head = Content.assemble(
        (f"{sign} ", f"bold {style}"),
        content(safe_line(said, _ROW_LINE), MUTED if job.status == "completed" else ""),
    )
    lines = [sides(head, content(job_state(job, now), _ERROR if job.status == "dead" else MUTED))]
    if job.status == "dead" or (job.status == "completed" and job.unread):
        lines.append(
            sides(content(f"  {safe_line(job.error or job.error_class, _ROW_LINE)}", MUTED), Content(""))
        )
    return Row(f"job {job.id}", tuple(lines), data=job)


def document_row(document: Document) -> Row:
    """Its title and how far it is; below, why it failed."""
    style = {"failed": _ERROR, "done": MUTED}.get(document.status, "$text-accent")
    sign = {"failed": "✗", "done": "✓"}.get(document.status, "◔")
    title = document.title or document.source or document.id
    head = Content.assemble((f"{sign} ", f"bold {style}"), content(safe_line(title, _ROW_LINE)))
    said = content(document_state(document), style)
    if document.status == "indexing" and document.chunks:
        share = document.chunks_written / document.chunks
        said = content(f"{bar(share, _GAUGE)} {document_state(document)}", style)
    lines = [sides(head, said)]
    if document.error:
        lines.append(sides(content(f"  {safe_line(document.error, _ROW_LINE)}", MUTED), Content("")))
    return Row(document.id, tuple(lines), data=document)


def session_row(one: SessionOverview, now: datetime) -> Row:
    """Its project and name, whether it goes on, what of its memories helped, and how many checkpoints are kept."""
    where = one.project.rstrip("/").rpartition("/")[2] or one.project
    # Sessions of one project are told apart by their names.
    name = f"  {safe_line(one.session, _NAME)}" if where else ""
    head = Content.assemble(
        content(safe_line(where or one.session, _ROW_LINE)),
        content(f"{name}  {age(one.updated, now)}", MUTED),
    )
    said = ["open"] if one.ended is None else []
    if one.score is not None and one.score.lexical is not None:
        said.append(f"{one.score.used} of {one.score.recalled} helped")
    elif one.given:
        said.append(f"{one.given} given")
    said.append(plural(one.checkpoints, "checkpoint") if one.checkpoints else "no checkpoint")
    return Row(f"session {one.session}", (sides(head, content("  ".join(said), MUTED)),), data=one)


def session_lines(
    one: SessionOverview, kept: KeptOfSession, titles: Mapping[str, str], now: datetime, width: int
) -> Lines:
    """Whose session it is, how it stands, what it was given and whether that helped, and what it left to whoever picks
    it up. titles: of the notes that it was given, by id.
    """
    page, left = kept
    state = f"ended {age(one.ended, now)}" if one.ended is not None else "open, or cut off"
    lines = [
        content(safe_line(one.session, _LINE), "bold"),
        _muted(f"{safe_line(one.project, _LINE) or 'no project'} · {author_name(one.author)} · {state}"),
        _muted(f"{plural(one.prompts, 'prompt')} · {plural(one.checkpoints, 'checkpoint')}"),
    ]
    if page is not None and page.memories:
        lines += _heading("What it was given")
        lines += [content(safe_line(said, _LINE)) for said in memory_lines(page, titles)]
    if page is not None and page.overview.score is not None:
        lines += _heading("How much that helped")
        lines += [content(safe_line(said, _LINE)) for said in score_lines(page)]
    if left is not None:
        said = safe_block(left.text, _SHOWN).splitlines()
        lines += [*_heading("To pick it up"), *(content(safe_line(one, _LINE)) for one in said)]
    return wrapped(lines, width)


def health_rows(status: PipelineStatus, report: HealthReport | None, now: datetime) -> list[Row]:
    """How healthy each part is and what is recommended; the model, what it may still be asked today, what was written,
    and what is wrong with the configuration. report: None while it is measured.
    """
    rows = [*(_report_rows(report) if report is not None else ())]
    rows.append(_health("mode", "Mode", SHORT_MODES[mode_of(status)], ""))
    provider = status.provider
    if provider is None:
        rows.append(_health("model", "Model", "none", ""))
    else:
        rows.append(_health("model", "Model", model_state(provider), _STATES.get(provider.state, "")))
        share = provider.calls_today / provider.budget if provider.budget else 0.0
        spent = share >= 1
        gauge = f"{bar(share, _GAUGE)} {provider.calls_today:,} of {provider.budget:,}"
        rows.append(_health("budget", "Calls today", gauge, "$text-warning" if spent else ""))
    if status.embeddings is not None:
        troubled = status.embeddings.failing or status.embeddings.waits
        said = embedding_counts(status.embeddings)
        rows.append(_health("embeddings", "Embeddings", said, "$text-warning" if troubled else ""))
    written = age(status.last_written_at, now) or "never"
    rows.append(_health("written", "Last written", written, ""))
    for number, warning in enumerate(status.warnings):
        head = Content.assemble(("! ", "bold $text-warning"), content(safe_line(warning.name, _ROW_LINE)))
        rows.append(Row(f"warning {number}", (sides(head, content(str(warning.why), MUTED)),), data=warning))
    return rows


def _report_rows(report: HealthReport) -> Iterator[Row]:
    whole = sides(
        Content.styled("Health", "bold"),
        content(f"{report.status} {report.score:.0%}", HEALTH_STYLES[report.status]),
    )
    yield Row("health", (whole,), data=report)
    for one in report.recommendations:
        head = Content.assemble(("! ", "bold $text-warning"), REPAIRS[one.action])
        yield Row(f"repair {one.action}", (sides(head, content(str(one.gate) or "f", MUTED)),), data=one)
    for domain in report.domains:
        score = "unknown" if domain.score is None else f"{domain.score:.0%}"
        said = content(score, HEALTH_STYLES[domain.status])
        yield Row(f"domain {domain.name}", (sides(Content(f"  {DOMAINS[domain.name]}"), said),), data=domain)


def report_lines(report: HealthReport, now: datetime, width: int) -> Lines:
    """How healthy all is, in a sentence for each part; what is recommended, and what was done lately."""
    style = f"bold {HEALTH_STYLES[report.status]}"
    lines = [Content.styled(f"{report.status} · {report.score:.0%}", style)]
    for one in report.domains:
        score = one.status if one.score is None else f"{one.score:.0%}"
        lines.append(Content.assemble((f"{DOMAINS[one.name]}  ", "bold"), (score, HEALTH_STYLES[one.status])))
        lines.append(with_commands(one.said))
    if report.recommendations:
        lines += _heading("Recommended")
        lines += [_recommendation(one, now) for one in report.recommendations]
        shows = (" shows what it would do, before it runs", MUTED)
        lines.append(Content.assemble(("f", "bold $text-accent"), shows))
    lines += [*_heading("By itself"), _muted(MAINTENANCE[report.mode])]
    if report.next_at is not None:
        lines.append(_muted(f"next look {until(report.next_at, now)}"))
    if report.runs:
        lines += _heading("Done lately")
        lines += [_muted(f"{age(one.at, now)}: {run_words(one)}") for one in report.runs[:_RUNS]]
    return wrapped(lines, width)


def _recommendation(one: Recommendation, now: datetime) -> Content:
    held = gate_words(one.gate, one.until, now)
    return Content.assemble(
        ("! ", "bold $text-warning"), REPAIRS[one.action], (f"  {held}" if held else "", MUTED)
    )


def domain_lines(domain: HealthDomain, width: int) -> Lines:
    """How healthy one part is, and what was measured of it."""
    score = domain.status if domain.score is None else f"{domain.status} · {domain.score:.0%}"
    lines = [
        Content.assemble((DOMAINS[domain.name], "bold"), (f"   {score}", HEALTH_STYLES[domain.status])),
        with_commands(domain.said, ""),
        *_heading("Measured"),
    ]
    for name, value in domain.figures.items():
        said = f"{value:,.2f}" if 0 < value < 1 else f"{value:,.0f}"
        lines.append(_muted(f"{name.replace('_', ' ')}: {said}"))
    return wrapped(lines, width)


def plan_lines(plans: Sequence[MaintenancePlan], now: datetime, width: int) -> Lines:
    """What repairs would do, one by one, and what they leave alone."""
    lines: Lines = []
    for plan in plans:
        lines += [content(REPAIRS[plan.action], "bold"), with_commands(plan.said, "")]
        lines += [_muted(f"· {one.said}") for one in plan.repairs[:_MOST]]
        if len(plan.repairs) > _MOST:
            lines.append(_muted(f"and {len(plan.repairs) - _MOST:,} more"))
        if plan.left_alone:
            lines.append(with_commands(plan.left_alone))
        if plan.gate:
            held = gate_words(plan.gate, plan.until, now)
            lines.append(content(f"It will not run: {held}.", "$text-warning"))
        lines.append(Content(""))
    return wrapped(lines, width)


def _health(key: str, name: str, said: str, style: str) -> Row:
    return Row(key, (sides(Content(name), content(said, style)),))
