"""The commands `pipeline health` and `pipeline maintain`: how healthy the pipeline is, and what is done about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import click

from core.pipeline.health import HealthProblem, MaintenanceAction
from nuggets_tui.cli.groups import command, example
from nuggets_tui.cli.invocation import Invocation, pass_call
from nuggets_tui.cli.options import dry_run_option
from nuggets_tui.cli.output import Line, Span, SpanStyle, table
from nuggets_tui.cli.pipeline import camel, needed_pipeline, record_document

if TYPE_CHECKING:
    from core.pipeline.health import (
        HealthDomain,
        HealthReport,
        MaintenancePlan,
        MaintenanceRun,
    )

NOT_HEALTHY: Final = 1
_NOT_DONE: Final = 1
_STYLES: Final[dict[str, SpanStyle]] = {
    "healthy": "good",
    "degraded": "warn",
    "unhealthy": "bad",
    "unknown": "dim",
}
_SHOWN_RUNS: Final = 5
_LISTED: Final = 50


@command("health", epilog=example("nuggets pipeline health", "nuggets pipeline health --json"))
@pass_call
def health(call: Invocation, /) -> int | None:
    """Show how healthy each part is, what is recommended and what maintenance did. Exit code 1 unless it is healthy.

    Nothing is changed.
    """
    from core.pipeline.service import health_of

    report = health_of(call.folder)
    if report is None:
        call.answer(lambda: None, lambda: ["No text was submitted yet: there is nothing to measure."])
        return None
    call.answer(lambda: health_document(report), lambda: _health_lines(report))
    return None if report.healthy else NOT_HEALTHY


class _RepairName(click.Choice[str]):
    """The name of a repair, in capitals or not. What is wrong is told with the names as they are listed."""

    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        return f"{value!r} is not one of {', '.join(self.choices)}."


@command(
    "maintain",
    epilog=example(
        "nuggets pipeline maintain --dry-run", "nuggets pipeline maintain --action checkFtsConsistency"
    ),
)
@click.option(
    "--action", "named", type=_RepairName([*map(str, MaintenanceAction)], case_sensitive=False),
    multiple=True, metavar="NAME",
    help=f"Run this repair, recommended or not. Can be repeated. One of {', '.join(MaintenanceAction)}.",
)  # fmt: skip
@click.option(
    "--force",
    is_flag=True,
    help="Run it although it ran a short while ago or did not help today; not for agents.",
)
@dry_run_option
@pass_call
def maintain(call: Invocation, /, named: tuple[str, ...], force: bool, dry_run: bool) -> int | None:
    """Run the repairs that are recommended, or those you name. Exit code 1 when one could not run.

    --dry-run lists each thing that would be put right. Repairs never delete or merge notes.
    """
    with needed_pipeline(call) as pipeline:
        wanted = [MaintenanceAction(name) for name in dict.fromkeys(named)]
        if not named:
            wanted = [one.action for one in pipeline.diagnose().recommendations]
        if dry_run:
            plans = [pipeline.maintenance_plan(one, force=force) for one in wanted]
            call.answer(lambda: [_plan_document(one) for one in plans], lambda: _plan_lines(plans))
            return None
        runs = pipeline.maintain(wanted, force=force)
    call.answer(lambda: [run_document(one) for one in runs], lambda: _run_lines(runs))
    return _NOT_DONE if any(one.status in ("denied", "failed") for one in runs) else None


# As JSON


def health_document(report: HealthReport) -> dict[str, Any]:
    """The report with its names in camel case."""
    return record_document(report) | {
        "domains": [_domain_document(one) for one in report.domains],
        "recommendations": [record_document(one) for one in report.recommendations],
        "runs": [run_document(one) for one in report.runs],
    }


def _domain_document(domain: HealthDomain) -> dict[str, Any]:
    return record_document(domain) | {
        "problems": [str(one) for one in domain.problems],
        "figures": {camel(name): value for name, value in domain.figures.items()},
    }


def run_document(run: MaintenanceRun) -> dict[str, Any]:
    """One run of a repair."""
    return record_document(run)


def _plan_document(plan: MaintenancePlan) -> dict[str, Any]:
    return record_document(plan) | {
        "count": plan.count,
        "repairs": [record_document(one) for one in plan.repairs],
    }


# For people


def _health_lines(report: HealthReport) -> Iterator[Line]:
    from nuggets_tui.pipeline_words import DOMAINS, MAINTENANCE, REPAIRS, age, gate_words, run_words

    now = datetime.now(UTC)
    yield (Span(f"{report.status}  {report.score:.0%}  ", _STYLES[report.status]), report.said)
    rows = [
        (
            DOMAINS[one.name],
            Span(one.status if one.score is None else f"{one.score:.0%}", _STYLES[one.status]),
            Span(one.said, "" if one.problems else "dim"),
        )
        for one in report.domains
    ]
    yield from table(rows, right=[1], flexible=2)
    for recommended in report.recommendations:
        held = gate_words(recommended.gate, recommended.until, now)
        yield (
            Span("to do  ", "warn"),
            REPAIRS[recommended.action],
            Span(f"  {held}" if held else "", "dim"),
        )
    if report.recommendations:
        yield Span("       nuggets pipeline maintain --dry-run", "dim")
    if any(HealthProblem.JOBS_LOST in one.problems for one in report.domains):
        yield Span(
            "why    nuggets pipeline jobs --status dead; to try one all the same: nuggets pipeline retry ID",
            "dim",
        )
    yield Span(MAINTENANCE[report.mode], "dim")
    for run in report.runs[:_SHOWN_RUNS]:
        yield Span(f"{age(run.at, now)}: {run_words(run)}", "dim")


def _plan_lines(plans: Sequence[MaintenancePlan]) -> Iterator[Line]:
    from nuggets_tui.pipeline_words import REPAIRS, gate_words

    if not plans:
        yield "Nothing is recommended."
    for plan in plans:
        yield (Span(f"{plan.action}  ", "bold"), REPAIRS[plan.action])
        yield f"  {plan.said}"
        for repair in plan.repairs[:_LISTED]:
            yield Span(f"    {repair.said}", "dim")
        if len(plan.repairs) > _LISTED:
            yield Span(f"    and {len(plan.repairs) - _LISTED:,} more", "dim")
        if plan.left_alone:
            yield Span(f"  {plan.left_alone}", "dim")
        held = gate_words(plan.gate, plan.until, datetime.now(UTC))
        if held:
            yield Span(f"  It would not run now: {held}.", "warn")


def _run_lines(runs: Sequence[MaintenanceRun]) -> Iterator[Line]:
    from nuggets_tui.pipeline_words import run_words

    if not runs:
        yield "Nothing is recommended."
    for run in runs:
        style: SpanStyle = "warn" if run.status in ("denied", "failed") else ""
        yield Span(run_words(run, datetime.now(UTC)), style)
        if run.status == "done" and run.left and run.action is MaintenanceAction.REQUEUE:
            yield Span("  nuggets pipeline jobs --status dead says why", "dim")
