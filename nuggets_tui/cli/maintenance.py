"""Commands that maintain a memory: verify and restore."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click
import msgspec

from core.errors import AmbiguousError, InvalidInputError, NotFoundError, Remedy, few_of
from core.model.names import iso
from core.workspace import Workspace
from nuggets_tui.cli.groups import TEXT, command, example
from nuggets_tui.cli.history import applied_document, known_note
from nuggets_tui.cli.invocation import Invocation, asks, must_confirm, pass_call
from nuggets_tui.cli.log_text import preview_lines
from nuggets_tui.cli.moments import is_day, moment
from nuggets_tui.cli.options import dry_run_option, yes_option
from nuggets_tui.cli.output import Line, Span, table
from nuggets_tui.words import counted, data_size, local_time, plural, things

if TYPE_CHECKING:
    from core.memory import Backup, Memory
    from core.model.change import ChangeSet
    from core.verify import Finding

_SOUND = "Nothing is wrong: facts, notes, links, tags and files agree."
_UNSOUND = 1


# Verify


@command("verify", epilog=example("nuggets verify", "nuggets verify --json", "nuggets verify --repair --yes"))
@click.option("--repair", is_flag=True, help="Repair what can be repaired, as one change that you can undo.")
@yes_option
@pass_call
def verify(call: Invocation, /, repair: bool, yes: bool) -> int:
    """Check that facts, notes, links, tags, ids and files agree. Exit code 1 when something is wrong.

    On a terminal, --repair shows what it would do and asks; elsewhere it repairs at once. What only you can decide
    stays, with advice.
    """
    memory = call.memory_as_it_is
    workspace = Workspace(memory)
    found = workspace.verify()
    repairable = [finding for finding in found if finding.means is not None]
    if not repair or not repairable:
        call.answer(lambda: _verify_document(found, repair), lambda: _verify_lines(found))
        return _UNSOUND if found else 0
    if asks(yes=yes):
        call.preview(_finding_lines(repairable))
        if not call.confirm(f"Repair {plural(len(repairable), 'finding')}?"):
            call.answer(lambda: _verify_document(found, repair), lambda: ["Nothing was changed."])
            return _UNSOUND
    before = memory.history.newest()
    done = workspace.repair()
    # A repair of several kinds is several entries; the last is undone first.
    made = [entry.id for entry in memory.history.log(after=before, kind="repair")]
    undo = made or ([] if done.empty else [done.id])
    call.drop_warnings()
    left = workspace.verify()
    call.answer(
        lambda: (
            _verify_document(left, repair, len(repairable), applied_document(memory, done)) | {"undo": undo}
        ),
        lambda: _repair_lines(done, len(repairable), left, undo),
    )
    return _UNSOUND if left else 0


def _verify_document(
    found: Sequence[Finding], repair: bool, repaired: int = 0, change_set: dict[str, Any] | None = None
) -> dict[str, Any]:
    document = {"ok": not found, "findings": [finding.to_dict() for finding in found]}
    return document | ({"repaired": repaired, "changeSet": change_set} if repair else {})


def _verify_lines(found: Sequence[Finding]) -> Iterator[Line]:
    if not found:
        yield Span(_SOUND, "good")
        return
    yield from _finding_lines(found)
    repairable = sum(finding.means is not None for finding in found)
    said = plural(len(found), "finding")
    if repairable:
        yield f"{said}; {_amount(repairable, len(found))} can be repaired: nuggets verify --repair"
    else:
        yield f"{said}; {'it' if len(found) == 1 else 'each'} says what to do."


def _amount(count: int, of: int) -> str:
    if count == of:
        return "it" if of == 1 else "all"
    return f"{count:,}" if count else "none"


def _finding_lines(found: Sequence[Finding]) -> Iterator[Line]:
    for finding in found:
        yield (Span(finding.kind, "warn"), "  ", Span(finding.where, "dim"))
        yield f"  {finding.detail}"
        if finding.means is not None:
            yield (Span("  to repair: ", "dim"), finding.repair)


def _repair_lines(
    done: ChangeSet, repaired: int, left: Sequence[Finding], undo: Sequence[str]
) -> Iterator[Line]:
    said = counted(done)
    told = f": {said}." if said else "."
    yield (Span(f"Repaired {plural(repaired, 'finding')}", "bold"), told)
    if undo:
        yield Span(f"To undo it: {' && '.join(f'nuggets undo {id}' for id in undo)}", "dim")
    if left:
        yield ""
        yield from _finding_lines(left)
        yield f"{plural(len(left), 'finding')} left; {'it' if len(left) == 1 else 'each'} says what to do."


# Restore


@command(
    "restore",
    epilog=example(
        "nuggets restore",
        "nuggets restore yesterday",
        'nuggets restore "2026-11-20 14:30" --note "JWT format"',
        "nuggets restore 2026-11-20T081500Z-day --dry-run",
    ),
)
@click.argument("when", type=TEXT, required=False)
@click.option("--note", type=TEXT, metavar="ID", help="Only this note and its fact; a deleted one too.")
@dry_run_option
@yes_option
@pass_call
def restore(call: Invocation, /, when: str | None, note: str | None, dry_run: bool, yes: bool) -> None:
    """Restore the memory, or one note, to an earlier state. Without WHEN, list what you can restore.

    WHEN is the name of a backup or the start of it, a day (its end), a local time, or an age such as 2h or 3d. You see
    what would change before anything is written, and nuggets undo undoes it.
    """
    memory = call.memory_as_it_is if when is None else call.memory
    if when is None:
        if note is not None or dry_run or yes:
            raise InvalidInputError(
                "no time is given",
                where="restore",
                todo="give WHEN; nuggets log shows times, for one note with --note",
            )
        call.answer(
            lambda: [_backup_document(one) for one in memory.maintenance.backups()],
            lambda: _choice_lines(memory),
        )
        return
    goal = _goal(memory.maintenance.backups(), when)
    meant = known_note(memory, note) if note is not None else None
    try:
        change_set = memory.maintenance.restoration(goal, note=meant)
    except NotFoundError as error:
        if error.field == "backup":
            # As it was typed.
            error.reword(where=when)
        raise
    if dry_run or change_set.empty:
        call.answer(lambda: applied_document(memory, change_set), lambda: _would_lines(change_set, when))
        return
    if not yes:
        # Where nobody can be asked, too: what --yes would do is seen before it is given.
        call.preview(_would_lines(change_set, when))
    if not must_confirm(call, yes, f"restore {when}", f"Restore {things(change_set)}?"):
        nothing = _nothing_of(change_set)
        call.answer(lambda: applied_document(memory, nothing), lambda: ["Nothing was changed."])
        return
    done = memory.apply(change_set)
    call.answer(lambda: applied_document(memory, done), lambda: _restored_lines(done))


def _goal(backups: Sequence[Backup], when: str) -> str:
    """What the memory understands: the name of a backup, or a time in UTC. Raises AmbiguousError, InvalidInputError."""
    wanted = when.strip().removesuffix(".zip")
    if not is_day(wanted):
        named = [one.name for one in backups if wanted and one.name.startswith(wanted)]
        if wanted in named or len(named) == 1:
            return wanted if wanted in named else named[0]
        if named:
            raise AmbiguousError(
                f"matches {len(named)} backups: {few_of(named)}",
                remedy=Remedy("name-it", "more of the name"),
                where=when,
            )
    now = datetime.now().astimezone()
    found = moment(when, now, end_of_day=True)
    if found > now:
        raise InvalidInputError(
            "is in the future",
            where=repr(when[:80]),
            todo="give a time in the past",
        )
    return iso(found)


def _nothing_of(change_set: ChangeSet) -> ChangeSet:
    return msgspec.structs.replace(change_set, notes=(), facts=(), nuggets=(), files=())


def _backup_document(backup: Backup) -> dict[str, Any]:
    return {"name": backup.name, "at": backup.at, "reason": backup.reason, "size": backup.size}


def _choice_lines(memory: Memory) -> Iterator[Line]:
    rows = [
        (
            Span(one.name, "bold"),
            Span(local_time(one.at), "dim"),
            one.reason,
            Span(data_size(one.size), "dim"),
        )
        for one in memory.maintenance.backups()
    ]
    yield from table(rows, right=(3,), flexible=2)
    first = _first_entry(memory)
    if memory.history.problem is not None:
        yield Span(memory.history.problem.message, "warn")
    if first:
        yield f"You can restore any moment since {local_time(first)}, when the history begins."
    if not rows and not first and memory.history.problem is None:
        yield "There is nothing to restore yet. The history begins with your first change."
    elif rows or first:
        yield Span("To see what would change: nuggets restore WHEN --dry-run", "dim")


def _first_entry(memory: Memory) -> str:
    """When the oldest entry of the log was made; "" for an empty log. Looks at few entries of a long log."""
    newest = memory.history.log(limit=1)
    if not newest:
        return ""
    first, low, high = newest[0], 1, newest[0].seq
    while low < high:
        middle = (low + high) // 2
        older = memory.history.log(limit=1, before=middle + 1)
        if older:
            first, high = older[0], older[0].seq
        else:
            low = middle + 1
    return first.change_set.at


def _would_lines(change_set: ChangeSet, when: str) -> Iterator[Line]:
    if change_set.empty:
        yield f"Nothing to do: everything is as it was then ({when})."
        return
    yield from preview_lines(change_set)
    yield f"Would change {things(change_set)}: {counted(change_set)}."


def _restored_lines(done: ChangeSet) -> Iterator[Line]:
    if done.empty:
        yield "Nothing was changed: it is like that already."
        return
    yield (Span(f"Restored {things(done)}", "bold"), f": {counted(done)}.")
    yield Span(f"To undo it: nuggets undo {done.id}", "dim")
