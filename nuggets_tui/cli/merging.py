"""Commands about what was changed in two ways: merge-file and resolve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from core.errors import ErrorCode, InvalidInputError, Remedy
from nuggets_tui.clash import TEXTS, Side
from nuggets_tui.cli.groups import FOLDER, TEXT, command, example
from nuggets_tui.cli.history import applied_document, entry_documents
from nuggets_tui.cli.invocation import Invocation, asks, pass_call, read_text
from nuggets_tui.cli.log_text import conflict_lines, pending_conflict_lines, sides_line
from nuggets_tui.cli.options import dry_run_option
from nuggets_tui.cli.output import Line, Span, write_lines
from nuggets_tui.words import counted, deed, plural, things

if TYPE_CHECKING:
    from core.memory import Memory, MergeResult
    from core.model.change import ChangeSet
    from core.model.entry import Entry
    from core.services.maintenance import JoinedCopy, Resolved

_CONFLICT: Final = 3

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


@command("merge-file", epilog=_DRIVER)
@click.argument("base", type=FOLDER)
@click.argument("ours", type=FOLDER)
@click.argument("theirs", type=FOLDER)
@click.argument("path", type=FOLDER, required=False)
@pass_call
def merge_file(call: Invocation, /, base: str, ours: str, theirs: str, path: str | None) -> int:
    """Merge what THEIRS changed since BASE into OURS: three versions of one graph.json or fact file.

    Different notes, and different fields of one note, merge by themselves. What was changed in two ways is a conflict:
    OURS keeps its version, the conflict is listed, and the exit code is 3. With PATH, the file's place in the memory,
    the conflict waits there until nuggets resolve.
    """
    from core.memory import keep_undecided
    from core.memory import merge_file as merge

    result = merge(Path(base), Path(ours), Path(theirs))
    if path is not None and result.conflicts:
        keep_undecided(Path(path).absolute(), result)
    if not call.as_json:
        write_lines(_merge_conflict_lines(result, ours), to_error=True)
    call.answer(lambda: _merge_document(result), lambda: _merge_lines(result, ours))
    return 0 if result.merged else _CONFLICT


def _merge_document(result: MergeResult) -> dict[str, Any]:
    return {
        "merged": result.merged,
        "notes": result.notes,
        "facts": result.facts,
        "fields": list(result.fields),
        "conflicts": [msgspec.structs.asdict(conflict) for conflict in result.conflicts],
    }


def _merge_lines(result: MergeResult, ours: str) -> list[Line]:
    counts = ((result.notes, "note"), (result.facts, "fact"))
    said = [plural(number, name) for number, name in counts if number]
    if result.fields:
        said.append(f"the {'field' if len(result.fields) == 1 else 'fields'} {', '.join(result.fields)}")
    if said:
        return [f"Merged {' and '.join(said)} into {ours}."]
    # Where all that differs is in conflict, that was said.
    return [] if result.conflicts else [f"Nothing to merge into {ours}."]


def _merge_conflict_lines(result: MergeResult, ours: str) -> Iterator[Line]:
    for conflict in result.conflicts:
        yield from conflict_lines(conflict, ("ours", "theirs"))
    if result.conflicts:
        yield f"{plural(len(result.conflicts), 'conflict')}: {ours} keeps its version there."


@command(
    "resolve",
    epilog=example(
        "nuggets resolve",
        "nuggets resolve 3f2a91c0",
        "nuggets resolve 3f2a91c0 --current",
        "nuggets resolve --all --incoming",
        "nuggets resolve 3f2a91c0 --text - < merged.md",
    ),
)
@click.argument("id", type=TEXT, required=False)
@click.option(
    "--incoming", is_flag=True, help="Write the version that waits; after a sync, the other machine's."
)
@click.option("--current", is_flag=True, help="Keep the version in the files; after a sync, this machine's.")
@click.option(
    "--text", type=TEXT, metavar="TEXT", help="Write this text instead of both; - reads standard input."
)
@click.option("--all", "every", is_flag=True, help="Resolve all conflicts; needs --incoming or --current.")
@dry_run_option
@pass_call
def resolve(
    call: Invocation,
    /,
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
    if sum((incoming, current, text is not None)) > 1:
        raise InvalidInputError(
            "only one of --incoming, --current and --text is allowed",
            where="resolve",
        )
    if every:
        return _resolve_all(call, id, incoming, current, dry_run)
    if id is None:
        if incoming or current or text is not None:
            raise InvalidInputError(
                "no conflict is named",
                where="resolve",
                todo="give its ID; nuggets resolve lists them",
            )
        return _join(call, dry_run)
    side: Side | None = "theirs" if current else "ours" if incoming or text is not None else None
    return _resolve_one(call, id, side, text, dry_run)


def _join(call: Invocation, dry_run: bool) -> int:
    memory = call.memory
    result = memory.maintenance.resolve(dry_run=dry_run)
    waiting = memory.history.conflicts()
    call.answer(
        lambda: _document(memory, result=result, waiting=waiting),
        lambda: _join_lines(result, waiting, dry_run),
    )
    if waiting or result.conflicts:
        return _CONFLICT
    return 1 if any(copy.problem for copy in result.copies) else 0


def _document(
    memory: Memory,
    *,
    waiting: Sequence[Entry],
    result: Resolved | None = None,
    resolved: ChangeSet | None = None,
) -> dict[str, Any]:
    done = resolved if result is None else result.change_set
    return {
        "joined": [_copy_document(copy) for copy in (result.copies if result is not None else ())],
        "conflicts": entry_documents(memory, waiting),
        "changeSet": applied_document(memory, done) if done is not None else None,
    }


def _copy_document(copy: JoinedCopy) -> dict[str, Any]:
    return {
        "path": str(copy.path),
        "original": str(copy.original),
        "kept": str(copy.kept) if copy.kept is not None else None,
        "problem": copy.problem,
        "leftOut": list(copy.left_out),
    }


def _join_lines(result: Resolved, waiting: Sequence[Entry], dry_run: bool) -> Iterator[Line]:
    for copy in result.copies:
        if copy.problem:
            yield Span(f"{copy.path}: {copy.problem}; left as it is", "bad")
            continue
        yield (
            "Would merge " if dry_run else "Merged ",
            Span(copy.path.name, "bold"),
            f" into {copy.original.name}.",
        )
        if copy.kept is not None:
            yield Span(f"  The copy is kept: {copy.kept}", "dim")
        for what in copy.left_out:
            yield Span(f"  Not merged: {what}", "bad")
    if not result.copies:
        yield "No conflict copies found."
    bad = sum(1 for copy in result.copies if copy.problem)
    if bad:
        yield Span(f"{plural(bad, 'copy', 'copies')} could not be merged.", "bad")
    if result.change_set is not None and not (result.change_set.empty and result.conflicts):
        yield _counted_line(result.change_set, dry_run)
    known = [] if dry_run else [entry.conflict for entry in waiting]
    for conflict in result.conflicts:
        if conflict not in known:
            yield from conflict_lines(conflict)
    yield from pending_conflict_lines(waiting, whole=True)


def _counted_line(done: ChangeSet, dry_run: bool) -> Line:
    if done.empty:
        return "They held nothing new." if not dry_run else "They hold nothing new."
    if dry_run:
        return f"Would change {things(done)}: {counted(done)}."
    return (
        f"Changed {things(done)}: {counted(done)}.",
        Span(f"  nuggets undo {done.id}", "dim"),
    )


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
    _check_text(entry, text)
    if side is None and asks(dry_run=dry_run):
        side = _ask_side(call, entry)
        if side is None:
            call.answer(
                lambda: _document(memory, waiting=memory.history.conflicts()),
                lambda: ["Nothing was changed."],
            )
            return 0
    if side is None or dry_run:
        call.answer(lambda: _document(memory, waiting=[entry]), lambda: _choice_lines(entry, ways=True))
        return _CONFLICT
    done = memory.history.resolve_conflict(entry.id, side, None if text is None else _words(text))
    call.answer(
        lambda: _document(memory, waiting=memory.history.conflicts(), resolved=done),
        lambda: _resolution_lines(done, side),
    )
    return 0


def _resolve_all(call: Invocation, id: str | None, incoming: bool, current: bool, dry_run: bool) -> int:
    if id is not None or not (incoming or current):
        raise InvalidInputError(
            "--all needs --incoming or --current, and takes no ID",
            where="resolve",
            kept="nothing was written",
            todo="nuggets resolve --all --incoming writes every change that waits",
        )
    memory = call.memory
    waiting = memory.history.conflicts()
    if dry_run:
        call.answer(
            lambda: _document(memory, waiting=waiting),
            lambda: [f"Would resolve {plural(len(waiting), 'conflict')}."],
        )
        return _CONFLICT if waiting else 0
    done = memory.history.resolve_all_conflicts("ours" if incoming else "theirs")
    call.answer(
        lambda: (
            _document(memory, waiting=memory.history.conflicts())
            | {"changeSets": [applied_document(memory, change_set) for change_set in done]}
        ),
        lambda: [
            f"Resolved {plural(len(done), 'conflict')}.",
            *(Span(f"  To undo it: nuggets undo {change_set.id}", "dim") for change_set in done),
        ],
    )
    return 0


def _check_text(entry: Entry, text: str | None) -> None:
    if text is not None and not _is_textual(entry):
        raise InvalidInputError(
            "this conflict is not about a text", where=entry.id, kept="nothing was written",
            todo="pass --incoming or --current",
        )  # fmt: skip


def _words(text: str) -> str:
    words = read_text(text, where="--text")
    if not words.strip():
        raise InvalidInputError(
            "the text is empty",
            code=ErrorCode.EMPTY,
            where="--text",
            kept="nothing was written",
        )
    return words


def _is_textual(entry: Entry) -> bool:
    return entry.conflict is not None and entry.conflict.field in TEXTS


def _choice_lines(entry: Entry, *, ways: bool = False) -> Iterator[Line]:
    """What the conflict is about; `ways`: and how to settle it."""
    told = deed(entry.change_set)
    yield (f"{entry.change_set.author}: {told.verb} ", Span(told.what, "bold"), Span(f"  {entry.id}", "dim"))
    if entry.conflict is not None:
        yield from conflict_lines(entry.conflict)
        yield sides_line(entry)
    if ways:
        text = " or --text TEXT (write that)" if _is_textual(entry) else ""
        yield f"To resolve it: nuggets resolve {entry.id} with --incoming (write it), --current (keep the files){text}"


def _ask_side(call: Invocation, entry: Entry) -> Side | None:
    """What the person at the keyboard chooses; None to leave it."""
    call.preview(_choice_lines(entry))
    chosen = click.prompt(
        "Which version do you want?",
        type=click.Choice(["incoming", "current", "neither"]),
        default="neither",
        err=True,
    )
    sides: dict[str, Side] = {"incoming": "ours", "current": "theirs"}
    return sides.get(chosen)


def _resolution_lines(done: ChangeSet, side: Side) -> Iterator[Line]:
    if not done.empty:
        told = deed(done)
        yield (f"Resolved: {told.verb} ", Span(told.what, "bold"))
    elif side == "theirs":
        yield "Resolved: the files stay as they are."
    else:
        yield "Resolved: nothing had to be written."
    yield Span(f"To undo it: nuggets undo {done.id}", "dim")
