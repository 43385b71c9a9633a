"""Rows of the Pipeline screen: proposals, work, entities, health."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from textual.content import Content

from nuggets_tui.pipeline_words import (
    ACTIONS,
    JOB_TYPES,
    SHORT_MODES,
    STATES,
    age,
    job_state,
    model_state,
    reason_of,
    stamp,
)
from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.widgets.bars import bar
from nuggets_tui.widgets.row_list import Row
from nuggets_tui.widgets.row_text import MUTED, sides
from nuggets_tui.words import ago, plural

if TYPE_CHECKING:
    from core.pipeline.records import Entity, Job, PipelineStatus, StoredProposal

_LINE: Final = 400
_ERROR: Final = "$text-error"
_GAUGE: Final = 8
# Colours of what a model may be; one that was never asked has none.
_STATES: Final = {"healthy": "$text-success", "failing": _ERROR, "open": _ERROR}
# Headings of the work, and which jobs stand below each.
_WORK: Final = (
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
        (f" {sign} ", f"bold {style}"), content(safe_line(said, _LINE), "" if proposal.open else MUTED)
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


def work_rows(jobs: Sequence[Job], now: datetime) -> list[Row]:
    """The jobs under headings: what runs, what died, what waits, what is done."""
    rows: list[Row] = []
    for heading, states in _WORK:
        own = [job for job in jobs if job.status in states]
        if own:
            said = Content.assemble((heading, f"bold {MUTED}"), (f"  {len(own):,}", MUTED))
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
        content(safe_line(said, _LINE), MUTED if job.status == "completed" else ""),
    )
    lines = [sides(head, content(job_state(job, now), _ERROR if job.status == "dead" else MUTED))]
    if job.status == "dead":
        lines.append(
            sides(content(f"  {safe_line(job.error or job.error_class, _LINE)}", MUTED), Content(""))
        )
    return Row(f"job {job.id}", tuple(lines), data=job)


def entity_row(entity: Entity) -> Row:
    """Its name and type, and in how many texts it stands."""
    head = Content.assemble(
        ("★ " if entity.pinned else "  ", "$text-accent"), content(safe_line(entity.name, _LINE))
    )
    kind = "" if entity.type == "extracted" else f"{safe_line(entity.type, 24)} "
    flagged = (f"! {entity.review:,}  " if entity.review else "", "$text-warning")
    said = Content.assemble(flagged, content(f"{kind}{entity.mentions:,}×", MUTED))
    return Row(f"entity {entity.id}", (sides(head, said),), data=entity)


def health_rows(status: PipelineStatus, now: datetime) -> list[Row]:
    """The model, what it may still be asked today, what was written, and what is wrong with the configuration."""
    rows = [_health("mode", "Mode", "frozen" if status.frozen else SHORT_MODES[str(status.mode)], "")]
    provider = status.provider
    if provider is None:
        rows.append(_health("model", "Model", "none", ""))
    else:
        rows.append(_health("model", "Model", model_state(provider), _STATES.get(provider.state, "")))
        share = provider.calls_today / provider.budget if provider.budget else 0.0
        spent = share >= 1
        gauge = f"{bar(share, _GAUGE)} {provider.calls_today:,} of {provider.budget:,}"
        rows.append(_health("budget", "Calls today", gauge, "$text-warning" if spent else ""))
    written = age(status.last_written_at, now) or "never"
    rows.append(_health("written", "Last written", written, ""))
    if status.outbox_pending:
        rows.append(_health("outbox", "On their way", plural(status.outbox_pending, "note"), ""))
    if status.outbox_conflicts:
        rows.append(
            _health("conflicts", "Left alone", plural(status.outbox_conflicts, "note"), "$text-warning")
        )
    for number, warning in enumerate(status.warnings):
        head = Content.assemble(("! ", "bold $text-warning"), content(safe_line(warning.name, _LINE)))
        rows.append(Row(f"warning {number}", (sides(head, content(str(warning.why), MUTED)),), data=warning))
    return rows


def _health(key: str, name: str, said: str, style: str) -> Row:
    return Row(key, (sides(Content(name), content(said, style)),))
