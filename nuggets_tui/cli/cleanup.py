"""The command that cleans up: reflect, by hand or as the daily pass."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from core.errors import NotFoundError, NuggetsError
from nuggets_tui.cli.calling_agent import refuse_agents
from nuggets_tui.cli.invocation import NOTHING_CHANGED, Invocation, asks, bad_input
from nuggets_tui.cli.options import (
    DRY_RUN,
    FILTERS,
    YES,
    command,
    flag,
    id_list,
    known_nugget,
    limit,
    opt,
    unknown_where,
)
from nuggets_tui.cli.output import Line, bold, dim, table, warn
from nuggets_tui.words import describe_waiting_promotion, left_for_later, plural

if TYPE_CHECKING:
    from core.daily import DailyResult
    from core.reflection import ReflectionResult

_UNBOUNDED: Final = 1_000_000_000


@command(
    "reflect",
    DRY_RUN,
    YES,
    opt("--accept", "ID,...", "Make only these changes of the dry run."),
    opt(
        "--refuse", "ID,...", "Do not propose these again until their text changes; make only what --accept names.",
    ),
    limit("Look at no more than N notes."),
    flag("--all everything", "Look at all notes, with no limit on archiving and merging."),
    flag("--if-due", "Run the daily pass if it is due; for cron and systemd."),
    *FILTERS,
    examples=("nuggets reflect --dry-run", "nuggets reflect --accept merge-50086c --refuse link-f1557"),
)  # fmt: skip
def reflect(
    call: Invocation, dry_run: bool, yes: bool, accept: str | None, refuse: str | None, limit: int | None,
    everything: bool, if_due: bool, **values: Any,
) -> None:  # fmt: skip
    """Clean up: merge near-duplicates, hide worthless notes, tidy text, tags and links.

    On a terminal it shows what it would do and asks; elsewhere, as in a scheduled job, it acts at once. An agent's call
    is refused. --dry-run also lists uncertain changes; they are made only when --accept names them. A pass looks at the
    ten notes that most need it (--limit changes that), and archives and merges at most five each (--all lifts both).
    """
    if not dry_run:
        refuse_agents("cleaning up")
    if if_due:
        if any((dry_run, accept, refuse, limit, everything, *values.values())):
            todo = "leave out --if-due to choose what to do"
            raise bad_input("can be combined with --yes only", "--if-due", todo=todo)
        _reflect_if_due(call)
        return
    memory = call.memory
    known_nugget(memory.snapshot, values["nugget"])
    where: dict[str, Any] = {name: values[name] for name in ("nugget", "scope", "subject")}
    where |= {"type": values["type_"], "limit": limit}
    if everything:
        where |= {"limit": limit or _UNBOUNDED, "max_archived": _UNBOUNDED, "max_merged": _UNBOUNDED}
    asked, refused = asks(yes=yes, dry_run=dry_run), id_list(refuse, "--refuse")
    # To refuse some is no order to do the others.
    wanted = id_list(accept, "--accept") if accept is not None or refused else None
    if not asked and wanted is None:
        done = memory.reflect(dry_run=dry_run, sure=not dry_run, **where)
        if not dry_run:
            _count_as_todays(call, done, values)
        call.answer(done.to_dict, _lines(call, done, dry_run=dry_run))
        return
    proposed = memory.reflect(dry_run=True, accept=wanted, refuse=refused, sure=wanted is None, **where)
    if proposed.unknown:
        raise NotFoundError(
            f"there is no proposed change {', '.join(proposed.unknown)}", kept="nothing was changed",
            where=unknown_where(proposed.unknown, wanted or (), refused), todo="nuggets reflect --dry-run lists them",
        )  # fmt: skip
    if dry_run or not (proposed.changes or proposed.refused):
        call.answer(proposed.to_dict, _lines(call, proposed, dry_run=dry_run, named=wanted is not None))
        return
    if asked and proposed.changes:
        call.preview(_lines(call, proposed, dry_run=True, named=True))
        if not call.confirm(f"Make {plural(len(proposed.changes), 'change')}?"):
            call.answer(memory.reflect(dry_run=True, accept=[], **where).to_dict, [NOTHING_CHANGED])
            return
    # Only what was proposed and agreed to, also when somebody changed the memory meanwhile.
    agreed = [change.id for change in proposed.changes]
    done = memory.reflect(accept=agreed, refuse=refused, sure=wanted is None, **where)
    _count_as_todays(call, done, values)
    call.answer(done.to_dict, _lines(call, done, dry_run=dry_run))


def _count_as_todays(call: Invocation, result: ReflectionResult, filters: Mapping[str, Any]) -> None:
    """Keeps that a whole reflection ran by hand, so that today needs no other; one over some notes alone is none."""
    from core.daily import count_as_daily, counts_of

    if not any(filters.values()):
        # What was cleaned up is written and said; that there is another pass today does no harm.
        with contextlib.suppress(NuggetsError):
            count_as_daily(call.memory, datetime.now(UTC), counts_of(result))


def _lines(
    call: Invocation, result: ReflectionResult, *, dry_run: bool, named: bool = False
) -> Iterator[Line]:
    """named: somebody chose these changes; else what is doubtful would not be done."""
    from core.reflection.proposals import COUNTED

    notes = call.memory.snapshot.by_id
    open_to_doubt = dry_run and not named
    doubtful = Counter(COUNTED[one.type] for one in result.changes if open_to_doubt and one.doubtful)
    rows = []
    for change in sorted(result.changes, key=lambda change: change.doubtful):
        note, other = notes.get(change.note_id), notes.get(change.other_id)
        kind = f"{change.type}?" if open_to_doubt and change.doubtful else change.type
        title = bold(note.title if note else change.note_id)
        rows.append((dim(change.id), kind, title, change.detail(other.title if other else "")))
    yield from table(rows, flexible=3)
    counts = Counter(result.counts) - doubtful
    parts = [f"{number} {name}" for name, number in counts.items() if number]
    parts += [f"{result.refused} refused"] if result.refused else []
    done = f"{'Would change' if dry_run else 'Changed'}: {', '.join(parts)}." if parts else "Nothing to do."
    yield f"Looked at {plural(result.inspected, 'note')}. {done}"
    if doubtful:
        changes = plural(doubtful.total(), "uncertain change")
        yield dim(f"{changes} (link?, hide?, scope?); only --accept carries them out")
    left = left_for_later(result)
    yield from [dim(f"{left} To do all at once: nuggets reflect --all")] if left else []


def _reflect_if_due(call: Invocation) -> None:
    """The daily pass, when it is due; else says so. Raises what kept the reflection from being done."""
    from core.daily import daily_state

    # Asked every hour, it is mostly not due: that is found out without reading the memory.
    state = daily_state(call.absolute_folder, datetime.now(UTC))
    if not state.due:
        told = state.to_dict()
        document = {"ran": False, "reason": "not due", "nextDue": told["nextDue"], "lastRun": told["lastRun"]}
        document |= {"reflection": None, "promotions": [], "promotionWaits": None, "problems": []}
        call.answer(document, [f"Not due. Next pass: {state.next_due:%Y-%m-%d %H:%M}."])
        return
    result: DailyResult = call.memory.daily_pass()
    if result.ran and result.reflection is None and result.problems:
        raise result.problems[0]
    lines: list[Line] = [f"{result.summary[:1].upper()}{result.summary[1:]}."]
    lines += [warn(problem.message) for problem in result.problems]
    lines += [warn(describe_waiting_promotion(result.asks))] if result.asks is not None else []
    call.answer(result.to_dict, lines)
