"""Commands that repair a memory: verify, restore, and secrets, which lists and masks what looks like a credential."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from core.errors import AmbiguousError, NotFoundError, Remedy, few_of
from core.model.names import iso
from core.workspace import Workspace
from nuggets_tui.cli.calling_agent import refuse_agents
from nuggets_tui.cli.entries import applied_document, nothing_of, preview_lines
from nuggets_tui.cli.history import known_note
from nuggets_tui.cli.invocation import NOTHING_CHANGED, Invocation, bad_input
from nuggets_tui.cli.moments import is_day, moment
from nuggets_tui.cli.options import DRY_RUN, YES, arg, command, flag, opt
from nuggets_tui.cli.output import Line, bold, dim, good, picks, table, undo_line, warn
from nuggets_tui.words import counted, counted_holders, data_size, local_time, plural, things

if TYPE_CHECKING:
    from core.memory import Backup, Left, Masking, Memory
    from core.verify import Finding

_UNSOUND = 1


# Verify


@command(
    "verify", flag("--repair", "Repair what can be repaired, as one change that you can undo."), YES,
    examples=("nuggets verify", "nuggets verify --json", "nuggets verify --repair --yes"),
)  # fmt: skip
def verify(call: Invocation, repair: bool, yes: bool) -> int:
    """Check that facts, notes, links, tags, ids and files agree. Exit code 1 when something is wrong.

    On a terminal, --repair shows what it would do and asks; elsewhere it repairs at once. What only you can decide is
    left, with advice.
    """
    memory = call.memory_as_it_is
    workspace = Workspace(memory)
    found = workspace.verify()
    repairable = [finding for finding in found if finding.means is not None]
    document: dict[str, Any] = {"ok": not found, "findings": [finding.to_dict() for finding in found]}
    document |= {"repaired": 0, "changeSet": None} if repair else {}
    if not repair or not repairable:
        call.answer(document, _verify_lines(found, len(repairable)))
        return _UNSOUND if found else 0
    many = plural(len(repairable), "finding")
    if not call.agreed(f"Repair {many}?", _finding_lines(repairable), yes=yes):
        call.answer(document, [NOTHING_CHANGED])
        return _UNSOUND
    before = memory.history.newest()
    done = workspace.repair()
    # A repair of several kinds is several entries; the last is undone first.
    made = [entry.id for entry in memory.history.log(after=before, kind="repair")]
    undo = made or ([] if done.empty else [done.id])
    call.drop_warnings()
    left = workspace.verify()
    document = {"ok": not left, "findings": [finding.to_dict() for finding in left], "undo": undo}
    document |= {"repaired": len(repairable), "changeSet": applied_document(memory, done)}
    said = counted(done)
    lines: list[Line] = [(bold(f"Repaired {many}"), f": {said}." if said else ".")]
    lines += undo_line(" && nuggets undo ".join(undo))
    if left:
        lines += ["", *_finding_lines(left), f"{plural(len(left), 'finding')} left; {_says_what(left)}"]
    call.answer(document, lines)
    return _UNSOUND if left else 0


def _verify_lines(found: Sequence[Finding], repairable: int) -> Iterator[Line]:
    if not found:
        yield good("Nothing is wrong: facts, notes, links, tags and files agree.")
        return
    yield from _finding_lines(found)
    every = "it" if len(found) == 1 else "all"
    many = every if repairable == len(found) else f"{repairable:,}"
    said = f"{many} can be repaired: nuggets verify --repair" if repairable else _says_what(found)
    yield f"{plural(len(found), 'finding')}; {said}"


def _says_what(found: Sequence[Finding]) -> str:
    return f"{'it' if len(found) == 1 else 'each'} says what to do."


def _finding_lines(found: Sequence[Finding]) -> Iterator[Line]:
    for finding in found:
        yield (warn(finding.kind), "  ", dim(finding.where))
        yield f"  {finding.detail}"
        if finding.means is not None:
            yield (dim("  to repair: "), finding.repair)


# Restore


@command(
    "restore", arg("when", required=False), opt("--note", "ID", "Only this note and its fact; a deleted one too."),
    DRY_RUN, YES,
    examples=(
        "nuggets restore",
        "nuggets restore yesterday",
        'nuggets restore "2026-11-20 14:30" --note "JWT format"',
        "nuggets restore 2026-11-20T081500Z-day --dry-run",
    ),
)  # fmt: skip
def restore(call: Invocation, when: str | None, note: str | None, dry_run: bool, yes: bool) -> None:
    """Restore the memory, or one note, to an earlier state. Without WHEN, list what you can restore.

    WHEN is the name of a backup or the start of it, a day (its end), a local time, or an age such as 2h or 3d. You see
    what would change before anything is written, and nuggets undo undoes it.
    """
    if when is None:
        if note is not None or dry_run or yes:
            todo = "give WHEN; nuggets log shows times, for one note with --note"
            raise bad_input("no time is given", "restore", "", todo)
        memory = call.memory_as_it_is
        backups = memory.maintenance.backups()
        call.answer(picks(backups, "name at reason size"), _choice_lines(memory, backups))
        return
    memory = call.memory
    goal = _goal(memory.maintenance.backups(), when)
    meant = known_note(memory, note) if note is not None else None
    try:
        planned = memory.maintenance.restoration(goal, note=meant)
    except NotFoundError as error:
        if error.field == "backup":
            # As it was typed.
            error.reword(where=when)
        raise
    many, told = things(planned), counted(planned)
    lines = [*preview_lines(planned), f"Would change {many}: {told}."]
    if planned.empty:
        lines = [f"Nothing to do: everything is as it was then ({when})."]
    if not (dry_run or planned.empty):
        if call.agreed(f"Restore {many}?", lines, yes=yes, needs_yes=f"restore {when}"):
            planned = memory.apply(planned)
            lines = [(bold(f"Restored {things(planned)}"), f": {counted(planned)}.")]
            lines = ["It is like that already."] if planned.empty else [*lines, *undo_line(planned.id)]
        else:
            planned, lines = nothing_of(planned), [NOTHING_CHANGED]
    call.answer(lambda: applied_document(memory, planned), lines)


def _goal(backups: Sequence[Backup], when: str) -> str:
    """What the memory understands: the name of a backup, or a time in UTC. Raises AmbiguousError, InvalidInputError."""
    wanted = when.strip().removesuffix(".zip")
    if not is_day(wanted):
        named = [one.name for one in backups if wanted and one.name.startswith(wanted)]
        if wanted in named or len(named) == 1:
            return wanted if wanted in named else named[0]
        if named:
            what, remedy = (
                f"matches {len(named)} backups: {few_of(named)}",
                Remedy("name-it", "more of the name"),
            )
            raise AmbiguousError(what, remedy=remedy, where=when)
    now = datetime.now().astimezone()
    found = moment(when, now, end_of_day=True)
    if found > now:
        raise bad_input("is in the future", repr(when[:80]), "", "give a time in the past")
    return iso(found)


def _choice_lines(memory: Memory, backups: Sequence[Backup]) -> Iterator[Line]:
    rows = [
        (bold(one.name), dim(local_time(one.at)), one.reason, dim(data_size(one.size))) for one in backups
    ]
    yield from table(rows, right=(3,), flexible=2)
    first, problem = memory.history.began(), memory.history.problem
    if problem is not None:
        yield warn(problem.message)
    if first:
        yield f"You can restore any moment since {local_time(first)}, when the history begins."
    if rows or first:
        yield dim("To see what would change: nuggets restore WHEN --dry-run")
    elif problem is None:
        yield "There is nothing to restore yet. The history begins with your first change."


# Credentials


_SOUND = (
    "No note, fact or submitted text looks like it holds a credential. Earlier versions in the history are not "
    "searched."
)
_ROWS = {
    "documents": ("document",), "chunks": ("chunk of a document", "chunks of documents"),
    "raw_memories": ("submitted text",), "proposals": ("proposal",), "facts": ("fact",),
    "history": ("entry of the history", "entries of the history"), "transcripts": ("transcript",),
    "note_edits": ("accepted change",), "attributes": ("statement",), "entities": ("entity", "entities"),
}  # fmt: skip


@command(
    "secrets", arg("ids", nargs=-1, metavar="[ID]..."),
    flag("--mask", "Mask them for good; delete backups that hold them."),
    flag("--none", "Mark what these hold now as not a credential."), YES,
    examples=("nuggets secrets", "nuggets secrets --mask", "nuggets secrets --none note-web-1a2b3c4d"),
)  # fmt: skip
def secrets(call: Invocation, ids: tuple[str, ...], mask: bool, none: bool, yes: bool) -> int:
    """List notes, facts and submitted texts that seem to hold a credential. The credential is never shown.

    ID is a note's id, "nugget: key" for a fact without a note, or what the list shows for a text.

    --mask replaces the credential wherever it is stored: notes, facts, history, promoted lines, unsaved texts and the
    pipeline. It deletes backups and quarantined files that hold it. You cannot undo that. Then it searches every file
    of the memory. Exit code 1 when a file still holds the credential or cannot be read; the output names the file.
    """
    if mask:
        refuse_agents("masking")
    if mask and none:
        raise bad_input("cannot be combined", "--mask, --none")
    workspace = Workspace(call.memory)
    # Of notes as all commands take them, of facts "nugget: key".
    known = {one.id for one in workspace.secrets() if not one.note_id} if ids else ()
    wanted = [id if id in known else workspace.memory.snapshot.resolve(id).id for id in ids]
    if none:
        if not wanted:
            raise bad_input("needs the ids of notes or facts", "--none")
        marked = workspace.mark_not_secret(wanted)
        many = plural(len(wanted), "note or fact", "notes and facts")
        said = f"Marked {many} as not a credential, until the text changes."
        call.answer({"notSecret": wanted, "changeSet": marked.id or None}, [said, *undo_line(marked.id)])
        return 0
    plan = workspace.masking(wanted or None)
    document = plan.to_dict() | {"masked": False, "changeSet": None, "left": []}
    if not mask or not plan.holders:
        call.answer(document, _masking_lines(plan))
        return 1 if mask and plan.refused else 0
    many = counted_holders(plan.holders)
    question = f"Mask {many} for good? You cannot undo this."
    if not call.agreed(question, _masking_lines(plan), yes=yes, needs_yes="secrets --mask"):
        call.answer(document, ["Nothing was masked."])
        return 0
    entry = workspace.mask_secrets(plan)
    left = workspace.memory.secrets.left(plan)
    document |= {
        "masked": True,
        "changeSet": None if entry.empty else entry.id,
        "left": picks(left, "path why"),
    }
    call.answer(document, [*_refused(plan), *_masked_lines(many, left)])
    return 1 if left or plan.refused else 0


def _masking_lines(plan: Masking) -> Iterator[Line]:
    from core.text.secrets import masked

    if not plan.holders and not plan.refused:
        yield good(_SOUND)
        return
    rows = [
        (dim(one.id), warn(", ".join(one.kinds)), masked(one.title) if one.note_id or one.kept_id else "")
        for one in plan.holders
    ]
    yield from table(rows, flexible=2)
    yield from _refused(plan)
    said = []
    for place in plan.rewritten:
        name, count = place.path.name, place.count
        if not place.deleted:
            said.append(
                f"in {name} ({plural(count, 'thing')})" if place.what == "file"
                else f"in {plural(count, 'entry', 'entries')} of the history" if place.what == "log"
                else f"in {plural(count, *_ROWS.get(place.part, ('row',)))} of the pipeline" if place.what == "pipeline"
                else f"in {name}"
            )  # fmt: skip
    said += [f"in {path}" for path in plan.pages]
    if said:
        yield f"Stored {', '.join(said)}."
    deleted = [f"{place.path.parent.name}/{place.path.name}" for place in plan.places if place.deleted]
    if deleted:
        yield warn(f"Masking deletes what cannot be masked: {', '.join(deleted)}")
    if plan.untouched:
        yield warn(f"Not masked, check yourself: {', '.join(map(str, plan.untouched))}")
    if plan.holders:
        mask, allow = "To mask all of it for good: nuggets secrets --mask", "nuggets secrets --none ID"
        yield dim(f"{mask}. To allow one: {allow}")


def _refused(plan: Masking) -> Iterator[Line]:
    yield from ((dim(id), f"  cannot be masked: {reason}") for id, reason in plan.refused.items())


def _masked_lines(many: str, left: Sequence[Left]) -> Iterator[Line]:
    yield (bold(f"Masked {many}"), ", also in the history and the pipeline; backups with it are deleted.")
    if not left:
        yield "Searched all files of the memory, its cache and unsaved texts: none holds it any more."
    for why, said in (("holds", "Still stored in"), ("unreadable", "Cannot be read, check yourself:")):
        named = ", ".join(str(one.path) for one in left if one.why == why)
        yield from [warn(f"{said} {named}")] if named else []
    yield "Whoever has seen the credential still has it. Replace it where it is used, too."
