"""Commands about what was changed on both sides: merge-file and resolve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from core.errors import ErrorCode, InvalidInputError, Remedy
from nuggets_tui.cli import entries
from nuggets_tui.cli.invocation import CONFLICT, NOTHING_CHANGED, Invocation, bad_input, read_text
from nuggets_tui.cli.options import DRY_RUN, arg, command, flag, opt
from nuggets_tui.cli.output import Line, bad, bold, dim, pick, picks, undo_line, write_lines
from nuggets_tui.cli.values import FOLDER
from nuggets_tui.words import counted, deed, plural, things

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.model.entry import Entry
    from core.services.maintenance import Resolved

Side = Literal["ours", "theirs"]
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
    "merge-file", arg("base", FOLDER), arg("ours", FOLDER), arg("theirs", FOLDER),
    arg("path", FOLDER, required=False), epilog=_DRIVER,
)  # fmt: skip
def merge_file(call: Invocation, base: str, ours: str, theirs: str, path: str | None) -> int:
    """Merge three versions of a file, for git: what THEIRS changed since BASE goes into OURS.

    Different notes, and different fields of one note, merge by themselves. What was changed on both sides is a
    conflict: OURS keeps its version, the conflict is listed, and the exit code is 3. With PATH, the file's place in the
    memory, the conflict waits there until nuggets resolve.
    """
    from core.memory import keep_undecided, merge_file

    result = merge_file(Path(base), Path(ours), Path(theirs))
    if path is not None and result.conflicts:
        keep_undecided(Path(path).absolute(), result)
    said = [
        plural(number, name) for number, name in ((result.notes, "note"), (result.facts, "fact")) if number
    ]
    if result.fields:
        said.append(f"the {'field' if len(result.fields) == 1 else 'fields'} {', '.join(result.fields)}")
    # Where all that differs is in conflict, that is said.
    nothing = [] if result.conflicts else [f"Nothing to merge into {ours}."]
    lines = [f"Merged {' and '.join(said)} into {ours}."] if said else nothing
    if result.conflicts and not call.as_json:
        for conflict in result.conflicts:
            write_lines(entries.conflict_lines(conflict, ("ours", "theirs")), to_error=True)
        call.note(f"{plural(len(result.conflicts), 'conflict')}: {ours} keeps its version there.")
    call.answer(pick(result, "merged notes facts fields conflicts"), lines)
    return 0 if result.merged else CONFLICT


@command(
    "resolve", arg("id", required=False),
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
)  # fmt: skip
def resolve(
    call: Invocation,
    id: str | None,
    incoming: bool,
    current: bool,
    text: str | None,
    every: bool,
    dry_run: bool,
) -> int:
    """Merge the conflict copies that sync tools leave behind, and resolve conflicts.

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
    side: Side | None = "theirs" if current else "ours" if chosen else None
    if every and side is not None:
        return _resolve_all(call, side, dry_run)
    if id is not None:
        return _resolve_one(call, id, side, text, dry_run)
    if chosen:
        raise bad_input("no conflict is named", "resolve", "", "give its ID; nuggets resolve lists them")
    memory = call.memory
    result = memory.maintenance.resolve(dry_run=dry_run)
    waiting = memory.history.conflicts()
    document = lambda: _document(memory, waiting, result.change_set, result)  # noqa: E731
    call.answer(document, _copies_lines(result, waiting, dry_run))
    if waiting or result.conflicts:
        return CONFLICT
    return 1 if any(copy.problem for copy in result.copies) else 0


def _document(
    memory: Memory, waiting: Sequence[Entry], done: ChangeSet | None = None, result: Resolved | None = None
) -> dict[str, Any]:
    return {
        "joined": picks(result.copies if result else (), "path original kept problem left_out"),
        "conflicts": entries.entry_documents(memory, waiting),
        "changeSet": entries.applied_document(memory, done) if done is not None else None,
    }


def _copies_lines(result: Resolved, waiting: Sequence[Entry], dry_run: bool) -> Iterator[Line]:
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
    wrong = sum(bool(copy.problem) for copy in result.copies)
    if wrong:
        yield bad(f"{plural(wrong, 'copy', 'copies')} could not be merged.")
    done = result.change_set
    if done is not None and done.empty and not result.conflicts:
        yield "They hold nothing new." if dry_run else "They held nothing new."
    elif done is not None and not done.empty:
        yield f"{'Would change' if dry_run else 'Changed'} {things(done)}: {counted(done)}."
        yield from () if dry_run else undo_line(done.id)
    known = [] if dry_run else [entry.conflict for entry in waiting]
    for conflict in result.conflicts:
        if conflict not in known:
            yield from entries.conflict_lines(conflict)
    yield from entries.pending_conflict_lines(waiting, whole=True)


def _resolve_one(call: Invocation, id: str, side: Side | None, text: str | None, dry_run: bool) -> int:
    memory = call.memory
    entry = memory.history.entry(id)
    if entry.state != "conflict":
        remedy, kept = Remedy("resolve-list"), "nothing was written"
        raise InvalidInputError("is not an open conflict", remedy=remedy, where=entry.id, kept=kept)
    textual = entry.conflict is not None and entry.conflict.field in _TEXTS
    if text is not None and not textual:
        todo = "pass --incoming or --current"
        raise bad_input("this conflict is not about a text", entry.id, "nothing was written", todo)
    told = deed(entry.change_set)
    shown: list[Line] = [(f"{entry.change_set.author}: {told.verb} ", bold(told.what), dim(f"  {entry.id}"))]
    shown += entries.waiting_lines(entry)
    if side is None and call.asks(dry_run=dry_run):
        write_lines(shown, to_error=True)
        ways = click.Choice(["incoming", "current", "neither"])
        answer = click.prompt("Which version do you want?", type=ways, default="neither", err=True)
        sides: dict[str, Side] = {"incoming": "ours", "current": "theirs"}
        side = sides.get(answer)
        if side is None:
            call.answer(lambda: _document(memory, memory.history.conflicts()), [NOTHING_CHANGED])
            return 0
    if side is None or dry_run:
        third = " or --text TEXT (write that)" if textual else ""
        ways_said = f"with --incoming (write it), --current (keep the files){third}"
        shown.append(f"To resolve it: nuggets resolve {entry.id} {ways_said}")
        call.answer(lambda: _document(memory, [entry]), shown)
        return CONFLICT
    if text is not None:
        text = read_text(text, where="--text")
        if not text.strip():
            raise bad_input("the text is empty", "--text", "nothing was written", code=ErrorCode.EMPTY)
    done = memory.history.resolve_conflict(entry.id, side, text)
    told = deed(done)
    said: Line = (f"Resolved: {told.verb} ", bold(told.what))
    if done.empty:
        kept_files = "Resolved: the files stay as they are."
        said = kept_files if side == "theirs" else "Resolved: nothing had to be written."
    document = lambda: _document(memory, memory.history.conflicts(), done)  # noqa: E731
    call.answer(document, [said, *undo_line(done.id)])
    return 0


def _resolve_all(call: Invocation, side: Side, dry_run: bool) -> int:
    memory = call.memory
    waiting = memory.history.conflicts()
    if dry_run:
        said = f"Would resolve {plural(len(waiting), 'conflict')}."
        call.answer(lambda: _document(memory, waiting), [said])
        return CONFLICT if waiting else 0
    done = memory.history.resolve_all_conflicts(side)
    document = _document(memory, memory.history.conflicts())
    document["changeSets"] = [entries.applied_document(memory, one) for one in done]
    undo = [line for one in done for line in undo_line(one.id)]
    call.answer(document, [f"Resolved {plural(len(done), 'conflict')}.", *undo])
    return 0
