"""The command that cleans up: reflect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from core.errors import NotFoundError
from nuggets_tui.cli.calling_agent import refuse_agents
from nuggets_tui.cli.daily import count_as_todays, reflect_if_due
from nuggets_tui.cli.groups import TEXT, command, example
from nuggets_tui.cli.invocation import Invocation, asks, pass_call
from nuggets_tui.cli.options import (
    LIMIT,
    dry_run_option,
    filter_options,
    id_list,
    known_nugget,
    unknown_where,
    yes_option,
)
from nuggets_tui.cli.output import Line, Span, table
from nuggets_tui.words import left_for_later, plural

if TYPE_CHECKING:
    from core.reflection import ReflectionResult

_UNBOUNDED: Final = 1_000_000_000


@command(
    "reflect",
    epilog=example("nuggets reflect --dry-run", "nuggets reflect --accept merge-50086c --refuse link-f1557"),
)
@dry_run_option
@yes_option
@click.option("--accept", type=TEXT, metavar="ID,...", help="Make only these changes of the dry run.")
@click.option(
    "--refuse",
    type=TEXT,
    metavar="ID,...",
    help="Do not propose these again until their text changes; make only what --accept names.",
)
@click.option("--limit", type=LIMIT, metavar="N", help="Look at no more than N notes.")
@click.option(
    "--all", "everything", is_flag=True, help="Look at all notes, with no limit on archiving and merging."
)
@click.option("--if-due", is_flag=True, help="Run the daily pass if it is due; for cron and systemd.")
@filter_options
@pass_call
def reflect(
    call: Invocation,
    /,
    dry_run: bool,
    yes: bool,
    accept: str | None,
    refuse: str | None,
    limit: int | None,
    everything: bool,
    if_due: bool,
    **values: Any,
) -> None:
    """Clean up: merge near-duplicates, hide worthless notes, tidy text, tags and links.

    On a terminal it shows what it would do and asks; elsewhere, as in a scheduled job, it acts at once. An agent's call
    is refused. --dry-run also lists uncertain changes; they are made only when --accept names them. A pass looks at the
    ten notes that most need it (--limit changes that), and archives and merges at most five each (--all lifts both).
    """
    if not dry_run:
        refuse_agents("cleaning up")
    if if_due:
        others = (dry_run, accept, refuse, limit, everything, *values.values())
        reflect_if_due(call, alone=not any(others))
        return
    memory = call.memory
    known_nugget(memory.snapshot, values["nugget"])
    where = {
        **_limits(limit, everything),
        "nugget": values["nugget"],
        "scope": values["scope"],
        "type": values["type_"],
        "subject": values["subject"],
    }
    asked, refused = asks(yes=yes, dry_run=dry_run), id_list(refuse, "--refuse")
    # To refuse some is no order to do the others.
    wanted = id_list(accept, "--accept") if accept is not None or refused else None
    if not asked and wanted is None:
        done = memory.reflect(dry_run=dry_run, sure=not dry_run, **where)
        if not dry_run:
            count_as_todays(call, done, values)
        _answer_reflection(call, done, dry_run)
        return
    proposed = memory.reflect(dry_run=True, accept=wanted, refuse=refused, sure=wanted is None, **where)
    if proposed.unknown:
        raise NotFoundError(
            f"there is no proposed change {', '.join(proposed.unknown)}",
            where=unknown_where(proposed.unknown, wanted or (), refused),
            kept="nothing was changed",
            todo="nuggets reflect --dry-run lists them",
        )
    if dry_run or not (proposed.changes or proposed.refused):
        _answer_reflection(call, proposed, dry_run, named=wanted is not None)
        return
    if asked and proposed.changes:
        call.preview(_reflection_lines(call, proposed, dry_run=True, named=True))
        if not call.confirm(f"Make {plural(len(proposed.changes), 'change')}?"):
            nothing = memory.reflect(dry_run=True, accept=[], **where)
            call.answer(nothing.to_dict, lambda: ["Nothing was changed."])
            return
    # Only what was proposed and agreed to, also when somebody changed the memory meanwhile.
    agreed = [change.id for change in proposed.changes]
    done = memory.reflect(accept=agreed, refuse=refused, sure=wanted is None, **where)
    count_as_todays(call, done, values)
    _answer_reflection(call, done, dry_run)


def _limits(limit: int | None, everything: bool) -> dict[str, int | None]:
    if not everything:
        return {"limit": limit}
    return {"limit": limit or _UNBOUNDED, "max_archived": _UNBOUNDED, "max_merged": _UNBOUNDED}


def _answer_reflection(
    call: Invocation, result: ReflectionResult, dry_run: bool, *, named: bool = False
) -> None:
    call.answer(result.to_dict, lambda: _reflection_lines(call, result, dry_run=dry_run, named=named))


def _reflection_lines(
    call: Invocation, result: ReflectionResult, *, dry_run: bool, named: bool
) -> Iterator[Line]:
    """named: somebody chose these changes; else what is doubtful would not be done."""
    from core.reflection.proposals import COUNTED

    notes = call.memory.snapshot.by_id
    open_to_doubt = dry_run and not named
    rows, doubtful = (
        [],
        Counter(COUNTED[one.type] for one in result.changes if open_to_doubt and one.doubtful),
    )
    for change in sorted(result.changes, key=lambda change: change.doubtful):
        note, other = notes.get(change.note_id), notes.get(change.other_id)
        title = note.title if note else change.note_id
        detail = change.detail(other.title if other else "")
        kind = f"{change.type}?" if open_to_doubt and change.doubtful else change.type
        rows.append((Span(change.id, "dim"), kind, Span(title, "bold"), detail))
    yield from table(rows, flexible=3)
    counts = Counter(result.counts) - doubtful
    said = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
    if result.refused:
        said = f"{said}, {result.refused} refused" if said else f"{result.refused} refused"
    looked = f"Looked at {plural(result.inspected, 'note')}"
    done = "Would change" if dry_run else "Changed"
    yield f"{looked}. {done}: {said}." if said else f"{looked}. Nothing to do."
    if doubtful:
        changes = plural(doubtful.total(), "uncertain change")
        yield Span(f"{changes} (link?, hide?, scope?); only --accept carries them out", "dim")
    left = left_for_later(result)
    if left:
        yield Span(f"{left} To do all at once: nuggets reflect --all", "dim")
