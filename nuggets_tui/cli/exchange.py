"""Commands that bring memories in and carry them away: import and export."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from core import verbs
from core.exchange.records import FORMATS
from nuggets_tui.cli import options
from nuggets_tui.cli.entries import applied_document, nothing_of
from nuggets_tui.cli.invocation import (
    CONFLICT,
    NOTHING_CHANGED,
    STANDARD_INPUT,
    Invocation,
    bad_input,
    bytes_of,
)
from nuggets_tui.cli.options import arg, choice, command, flag, must_be_named, opt
from nuggets_tui.cli.output import (
    Line,
    bad,
    bold,
    dim,
    good,
    is_terminal,
    json_text,
    pick,
    table,
    undo_line,
    warn,
    write_lines,
)
from nuggets_tui.cli.values import FOLDER
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.memory import ExportFormat, ExportResult, ImportResult, Memory
    from core.model.change import ChangeSet

_NOTHING: Final = "nothing was imported"
_SHOWN: Final = 20
_EVERY_SECONDS: Final = 0.1


@contextmanager
def _progress(doing: str, things: str = "notes") -> Iterator[Callable[[int, int], None]]:
    """A line on a terminal that says how far the work is, and is gone afterwards; 0 of 0 is unknown."""
    shown, last = is_terminal(sys.stderr), 0.0

    def tell(done: int, of: int) -> None:
        nonlocal last
        if shown and time.monotonic() - last >= _EVERY_SECONDS:
            last = time.monotonic()
            said = f" {done:,} of {of:,} {things}" if of else ""
            sys.stderr.write(f"\r\x1b[K{doing} …{said}")
            sys.stderr.flush()

    try:
        yield tell
    finally:
        if last:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


# Import


@command(
    "import", arg("source", FOLDER),
    choice("--format format_", ("auto", *FORMATS), "Format of SOURCE (default: detected).", default="auto"),
    opt("--nugget", "NAME", "Nugget for items without one (default: memory)."),
    opt("--accept", "ID,...", "Only these items from the dry run."),
    options.DRY_RUN, options.YES,
    examples=(
        "nuggets import ~/.claude/projects/-home-me-app/memory",
        "nuggets import AGENTS.md --nugget app --dry-run",
        "nuggets import backup.json",
    ),
)  # fmt: skip
def import_(
    call: Invocation,
    source: str,
    format_: str,
    nugget: str | None,
    accept: str | None,
    dry_run: bool,
    yes: bool,
) -> int:
    """Import what another program remembers: SOURCE is a file or folder, or - for standard input.

    Nothing is added twice, and nothing is replaced: what differs is listed as a conflict, with exit code 3. On a
    terminal it shows what it would do and asks; elsewhere it acts. It is one entry of the history, and nuggets undo
    undoes it.
    """
    must_be_named(nugget, "--nugget", _NOTHING)
    wanted = options.id_list(accept, "--accept") if accept is not None else None
    must_be_named(source, "SOURCE", _NOTHING, "give a file, a folder, or -")
    if source == "-" and sys.stdin is None:
        raise bad_input("is closed", STANDARD_INPUT, _NOTHING)
    memory, data = call.memory, None
    if source == "-":
        data = bytes_of(sys.stdin.buffer, where=STANDARD_INPUT, kept=_NOTHING, todo="give it as a file")
    format = next((one for one in FORMATS if one == format_), None)
    with _progress("Reading") as tell:
        read = memory.exchange.read(source if data is None else data, format, tell)
    named: dict[str, Any] = {"nugget": nugget or "", "accept": wanted}
    asked = call.asks(yes=yes, dry_run=dry_run)
    if asked or dry_run or wanted is not None:
        with _progress("Comparing" if asked or dry_run else "Importing") as tell:
            proposed = memory.exchange.bring(read, dry_run=True, progress=tell, **named)
        options.refuse_unknown(proposed.unknown, wanted, (), "item", "import", _NOTHING)
        if dry_run or proposed.change_set.empty:
            return _answer(call, memory, proposed, dry_run=dry_run)
        question = f"Import {plural(len(proposed.of('new')), 'note')}?"
        if asked and not call.agreed(question, _result_lines(proposed, would=True)):
            nothing = nothing_of(proposed.change_set)
            call.answer(lambda: _document(memory, proposed, nothing, True), [NOTHING_CHANGED])
            return 0
    with _progress("Importing") as tell:
        done = memory.exchange.bring(read, progress=tell, **named)
    return _answer(call, memory, done, dry_run=False)


def _answer(call: Invocation, memory: Memory, result: ImportResult, *, dry_run: bool) -> int:
    # What to warn of in what was imported, as of a note that somebody types.
    new = [memory.snapshot.by_id.get(item.note_id) for item in result.of("new")] if not dry_run else []
    call.answer(
        lambda: _document(memory, result, result.change_set, dry_run),
        _result_lines(result, would=dry_run),
        [caution for note in new if note is not None for caution in verbs.warnings_of(note)],
    )
    return CONFLICT if result.of("conflict") else 0


def _document(memory: Memory, result: ImportResult, made: ChangeSet, dry_run: bool) -> dict[str, Any]:
    return result.to_dict() | {"dryRun": dry_run, "changeSet": applied_document(memory, made)}


def _result_lines(result: ImportResult, *, would: bool) -> Iterator[Line]:
    from core.exchange.records import NAMES

    taken = "It looks like" if result.detected else "Taken as"
    yield dim(f"{taken} {NAMES[result.format]} ({result.format}).")
    new, conflicts, left = result.of("new"), result.of("conflict"), result.left_out
    rows = [
        (dim(one.id), one.kind, bold(one.title), dim(f"{one.nugget} · {one.where}")) for one in new[:_SHOWN]
    ]
    yield from table(rows, flexible=2)
    if len(new) > _SHOWN:
        yield dim(f"and {len(new) - _SHOWN:,} more")
    for item in conflicts[:_SHOWN]:
        yield (warn("conflict"), "  ", bold(item.title), dim(f"  {item.where}"))
        yield f"  {item.detail}"
        yield (dim("  memory  "), good(_first(item.ours)))
        yield (dim("  source  "), bad(_first(item.theirs)))
    if len(conflicts) > _SHOWN:
        yield warn(f"and {plural(len(conflicts) - _SHOWN, 'more conflict')}")
    for one in left[:_SHOWN]:
        yield (warn("incomplete" if one.partly else "skipped"), "  ", bold(one.where), f"  {one.what}")
    if len(left) > _SHOWN:
        yield warn(f"and {len(left) - _SHOWN:,} more are skipped or incomplete")
    same, incomplete = len(result.of("same")), sum(one.partly for one in left)
    skipped = len(left) - incomplete
    parts = (
        f"{same:,} here already" if same else "",
        f"{plural(len(conflicts), 'conflict')} left as it is in the memory" if conflicts else "",
        f"{skipped:,} skipped" if skipped else "",
        f"{incomplete:,} incomplete" if incomplete else "",
        f"{plural(result.history, 'entry', 'entries')} of history" if result.history else "",
    )
    rest = "; " + ", ".join(filter(None, parts)) if any(parts) else ""
    if result.change_set.empty or not new:
        yield f"Nothing to import{rest}."
    else:
        yield f"{'Would import' if would else 'Imported'} {plural(len(new), 'note')}{rest}."
    if not would and not result.change_set.empty:
        yield from undo_line(result.change_set.id)


def _first(text: str) -> str:
    line = next((line for line in text.split("\n") if line.strip()), "(nothing)")
    return f"{line} …" if "\n" in text.strip() else line


# Export


@command(
    "export", arg("target", FOLDER, default="-"),
    choice("--format format_", ("json", "markdown"), "Format (default: by TARGET, else json)."),
    flag("--force", "Replace files that are not from an earlier export."),
    flag("--no-history", "Leave the history out of JSON."),
    flag("--with-secrets", "Include what looks like a credential in Markdown."),
    examples=(
        "nuggets export backup.json",
        "nuggets export vault --format markdown",
        "nuggets export | gzip > backup.json.gz",
    ),
)  # fmt: skip
def export(
    call: Invocation, target: str, format_: str | None, force: bool, no_history: bool, with_secrets: bool
) -> None:
    """Export the memory to TARGET: a file, a folder for Markdown, or - for standard output.

    JSON holds everything, the history too: imported into an empty folder, it gives the same memory. Markdown is a
    folder that opens in Obsidian, one file per note. Markdown leaves out what looks like a credential; JSON keeps it.
    """
    inside = target == "-"
    is_folder = not inside and (target.endswith("/") or Path(target).expanduser().is_dir())
    markdown = format_ == "markdown" or (format_ is None and is_folder)
    chosen: ExportFormat = "markdown" if markdown else "json"
    if inside and markdown:
        raise bad_input("Markdown is a folder of files", "export", "nothing was written", "name a folder")
    with _progress("Writing", "files") as tell:
        done = call.memory.exchange.export(
            chosen, None if inside else target, force=force, history=not no_history, secrets=with_secrets,
            progress=tell,
        )  # fmt: skip
    if not inside:
        skipped = [{"where": one.where, "reason": one.what} for one in done.left_out]
        names = "format path notes facts history files removed secrets"
        call.answer(pick(done, names, version=1, skipped=skipped), _export_lines(done))
        return
    call.warn()
    if is_terminal(sys.stdout):
        # Nothing of it acts on a terminal.
        write_lines([json_text(msgspec.json.decode(done.data), indent=True)])
    else:
        sys.stdout.buffer.write(done.data)
        sys.stdout.buffer.flush()
    write_lines(_left_out_lines(done), to_error=True)


def _export_lines(done: ExportResult) -> Iterator[Line]:
    markdown = done.format == "markdown"
    counts = [plural(done.notes, "note")]
    counts += [plural(done.facts, "fact")] if not markdown or done.facts else []
    counts += [f"{plural(done.history, 'entry', 'entries')} of history"] if done.history else []
    name = "Markdown" if markdown else done.format.upper()
    yield (f"Exported {', '.join(counts)} as {name} to ", bold(done.path), ".")
    if markdown:
        gone = f", {done.removed:,} of notes that are gone removed" if done.removed else ""
        yield dim(f"{plural(done.files, 'file')} written{gone}.")
    yield from _left_out_lines(done)


def _left_out_lines(done: ExportResult) -> Iterator[Line]:
    for left in done.left_out[:_SHOWN]:
        yield (warn("left out"), "  ", bold(left.where), f"  {left.what}")
    if len(done.left_out) > _SHOWN:
        yield warn(f"and {len(done.left_out) - _SHOWN:,} more are left out")
    if done.secrets:
        one, many = "note or fact in it looks like it holds", "notes and facts in it look like they hold"
        said = plural(done.secrets, one, many)
        yield warn(f"{said} a credential: keep the file safe; nuggets secrets lists them.")
