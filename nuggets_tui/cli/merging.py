"""Commands about what was changed in two ways: merge-file and resolve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from core.errors import ErrorCode, InvalidInputError, Remedy
from nuggets_tui.cli.invocation import NOTHING_CHANGED, Invocation, asks, bad_input, read_text
from nuggets_tui.cli.log_text import (
    applied_document,
    conflict_lines,
    entry_documents,
    pending_conflict_lines,
    waiting_lines,
)
from nuggets_tui.cli.options import DRY_RUN, arg, command, flag, opt
from nuggets_tui.cli.output import Line, bad, bold, dim, pick, write_lines
from nuggets_tui.cli.values import FOLDER
from nuggets_tui.words import counted, deed, plural, things

if TYPE_CHECKING:
    from core.memory import Memory, MergeResult
    from core.model.change import ChangeSet
    from core.model.entry import Entry
    from core.services.maintenance import Resolved

Side = Literal["ours", "theirs"]
_CONFLICT: Final = 3
# Fields of which a third text can take the place of both versions.
_TEXTS: Final = ("content", "title", "value", "key")
_DRIVER: Final = """\b
To let git merge the files of a memory, put this into .gitattributes:
  graph.json     merge=nuggets
  *.nugget.json  merge=nuggets
  *.donna.json   merge=nuggets
and run once:
  git config merge.nuggets.driver "nuggets merge-file %O %A %B %P"
History, submitted texts and backups belong to one machine. Put these into .gitignore:
  nuggets.db*
  backups/
  quarantine/
  .nuggets.*
"""


@command(
    "merge-file",
    arg("base", FOLDER),
    arg("ours", FOLDER),
    arg("theirs", FOLDER),
    arg("path", FOLDER, required=False),
    epilog=_DRIVER,
)
def merge_file(call: Invocation, base: str, ours: str, theirs: str, path: str | None) -> int:
    """Merge three versions of a file, for git: what THEIRS changed since BASE goes into OURS.

    Different notes, and different fields of one note, merge by themselves. What was changed in two ways is a conflict:
    OURS keeps its version, the conflict is listed, and the exit code is 3. With PATH, the file's place in the memory,
    the conflict waits there until nuggets resolve.
    """
    from core.memory import keep_undecided
    from core.memory import merge_file as merge

    result = merge(Path(base), Path(ours), Path(theirs))
    if path is not None and result.conflicts:
        keep_undecided(Path(path).absolute(), result)
    if result.conflicts and not call.as_json:
        for conflict in result.conflicts:
            write_lines(conflict_lines(conflict, ("ours", "theirs")), to_error=True)
        said = f"{plural(len(result.conflicts), 'conflict')}: {ours} keeps its version there."
        write_lines([said], to_error=True)
    call.answer(pick(result, "merged notes facts fields conflicts"), _merged_lines(result, ours))
    return 0 if result.merged else _CONFLICT


def _merged_lines(result: MergeResult, ours: str) -> list[Line]:
    counts = ((result.notes, "note"), (result.facts, "fact"))
    said = [plural(number, name) for number, name in counts if number]
    if result.fields:
        said.append(f"the {'field' if len(result.fields) == 1 else 'fields'} {', '.join(result.fields)}")
    if said:
        return [f"Merged {' and '.join(said)} into {ours}."]
    # Where all that differs is in conflict, that was said.
    return [] if result.conflicts else [f"Nothing to merge into {ours}."]


@command(
    "resolve",
    arg("id", required=False),
    flag("--incoming", "Write the version that waits; after a sync, the other machine's."),
    flag("--current", "Keep the version in the files; after a sync, this machine's."),
    opt("--text", "TEXT", "Write this text instead of both; - reads standard input."),
    flag("--all every", "Resolve all conflicts; needs --incoming or --current."),
    DRY_RUN,
    examples=(
        "nuggets resolve",
        "nuggets resolve 3f2a91c0",
        "nuggets resolve 3f2a91c0 --current",
        "nuggets resolve --all --incoming",
        "nuggets resolve 3f2a91c0 --text - < merged.md",
    ),
)
def resolve(
    call: Invocation,
    id: str | None,
    incoming: bool,
    current: bool,
    text: str | None,
    every: bool,
    dry_run: bool,
) -> int:
    """Merge the conflict copies that sync tools leave, and resolve conflicts.

    Without ID it merges the copies beside graph.json and the fact files into the memory, keeps each copy, and lists
    the conflicts. Exit code 3 when a conflict waits, else 1 when a copy could not be merged.

    With ID you resolve that conflict: incoming is the version that waits, current the one in the files. After a sync
    this machine's version is in the files, and the other machine's waits. Without a terminal it only shows the
    conflict. --all resolves every conflict.
    """
    chosen = sum((incoming, current, text is not None))
    if chosen > 1:
        raise bad_input("only one of --incoming, --current and --text is allowed", "resolve", "")
    if every and (id is not None or not (incoming or current)):
        todo = "nuggets resolve --all --incoming writes every change that waits"
        said = "--all needs --incoming or --current, and takes no ID"
        raise bad_input(said, "resolve", "nothing was written", todo)
    if every:
        return _resolve_all(call, "ours" if incoming else "theirs", dry_run)
    if id is not None:
        side: Side | None = "theirs" if current else "ours" if chosen else None
        return _resolve_one(call, id, side, text, dry_run)
    if chosen:
        raise bad_input("no conflict is named", "resolve", "", "give its ID; nuggets resolve lists them")
    memory = call.memory
    result = memory.maintenance.resolve(dry_run=dry_run)
    waiting = memory.history.conflicts()
    call.answer(
        lambda: _document(memory, waiting, result.change_set, result), _join_lines(result, waiting, dry_run)
    )
    if waiting or result.conflicts:
        return _CONFLICT
    return 1 if any(copy.problem for copy in result.copies) else 0


def _document(
    memory: Memory, waiting: Sequence[Entry], done: ChangeSet | None = None, result: Resolved | None = None
) -> dict[str, Any]:
    copies = result.copies if result is not None else ()
    return {
        "joined": [pick(copy, "path original kept problem left_out") for copy in copies],
        "conflicts": entry_documents(memory, waiting),
        "changeSet": applied_document(memory, done) if done is not None else None,
    }


def _join_lines(result: Resolved, waiting: Sequence[Entry], dry_run: bool) -> Iterator[Line]:
    for copy in result.copies:
        if copy.problem:
            yield bad(f"{copy.path}: {copy.problem}; left as it is")
            continue
        verb = "Would merge " if dry_run else "Merged "
        yield (verb, bold(copy.path.name), f" into {copy.original.name}.")
        if copy.kept is not None:
            yield dim(f"  The copy is kept: {copy.kept}")
        yield from (bad(f"  Not merged: {what}") for what in copy.left_out)
    if not result.copies:
        yield "No conflict copies found."
    wrong = sum(1 for copy in result.copies if copy.problem)
    if wrong:
        yield bad(f"{plural(wrong, 'copy', 'copies')} could not be merged.")
    done = result.change_set
    if done is not None and not (done.empty and result.conflicts):
        if done.empty:
            yield "They hold nothing new." if dry_run else "They held nothing new."
        else:
            said = f"{things(done)}: {counted(done)}."
            undo = dim("" if dry_run else f"  nuggets undo {done.id}")
            yield (f"{'Would change' if dry_run else 'Changed'} {said}", undo)
    known = [] if dry_run else [entry.conflict for entry in waiting]
    for conflict in result.conflicts:
        if conflict not in known:
            yield from conflict_lines(conflict)
    yield from pending_conflict_lines(waiting, whole=True)


def _resolve_one(call: Invocation, id: str, side: Side | None, text: str | None, dry_run: bool) -> int:
    memory = call.memory
    entry = memory.history.entry(id)
    if entry.state != "conflict":
        raise InvalidInputError(
            "is not an open conflict",
            remedy=Remedy("resolve-list"),
            where=entry.id,
            kept="nothing was written",
        )
    if text is not None and not _is_textual(entry):
        todo = "pass --incoming or --current"
        raise bad_input("this conflict is not about a text", entry.id, "nothing was written", todo)
    if side is None and asks(dry_run=dry_run):
        side = _ask_side(call, entry)
        if side is None:
            call.answer(lambda: _document(memory, memory.history.conflicts()), [NOTHING_CHANGED])
            return 0
    if side is None or dry_run:
        third = " or --text TEXT (write that)" if _is_textual(entry) else ""
        ways = f"with --incoming (write it), --current (keep the files){third}"
        shown = [*_choice_lines(entry), f"To resolve it: nuggets resolve {entry.id} {ways}"]
        call.answer(lambda: _document(memory, [entry]), shown)
        return _CONFLICT
    done = memory.history.resolve_conflict(entry.id, side, None if text is None else _words(text))
    call.answer(lambda: _document(memory, memory.history.conflicts(), done), _resolution_lines(done, side))
    return 0


def _resolve_all(call: Invocation, side: Side, dry_run: bool) -> int:
    memory = call.memory
    waiting = memory.history.conflicts()
    if dry_run:
        said = f"Would resolve {plural(len(waiting), 'conflict')}."
        call.answer(lambda: _document(memory, waiting), [said])
        return _CONFLICT if waiting else 0
    done = memory.history.resolve_all_conflicts(side)
    undo = [dim(f"  To undo it: nuggets undo {one.id}") for one in done]
    call.answer(
        lambda: (
            _document(memory, memory.history.conflicts())
            | {"changeSets": [applied_document(memory, one) for one in done]}
        ),
        [f"Resolved {plural(len(done), 'conflict')}.", *undo],
    )
    return 0


def _words(text: str) -> str:
    words = read_text(text, where="--text")
    if not words.strip():
        raise bad_input("the text is empty", "--text", "nothing was written", code=ErrorCode.EMPTY)
    return words


def _is_textual(entry: Entry) -> bool:
    return entry.conflict is not None and entry.conflict.field in _TEXTS


def _choice_lines(entry: Entry) -> Iterator[Line]:
    """What the conflict is about."""
    told = deed(entry.change_set)
    yield (f"{entry.change_set.author}: {told.verb} ", bold(told.what), dim(f"  {entry.id}"))
    yield from waiting_lines(entry)


def _ask_side(call: Invocation, entry: Entry) -> Side | None:
    """What the person at the keyboard chooses; None to leave it."""
    call.preview(_choice_lines(entry))
    ways = click.Choice(["incoming", "current", "neither"])
    chosen = click.prompt("Which version do you want?", type=ways, default="neither", err=True)
    sides: dict[str, Side] = {"incoming": "ours", "current": "theirs"}
    return sides.get(chosen)


def _resolution_lines(done: ChangeSet, side: Side) -> Iterator[Line]:
    if not done.empty:
        told = deed(done)
        yield (f"Resolved: {told.verb} ", bold(told.what))
    elif side == "theirs":
        yield "Resolved: the files stay as they are."
    else:
        yield "Resolved: nothing had to be written."
    yield dim(f"To undo it: nuggets undo {done.id}")
