"""Commands that bring memories in and carry them away: import and export."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from core.errors import ErrorCode, InvalidInputError, NotFoundError
from core.exchange.records import FORMATS
from nuggets_tui.cli.cautions import Caution, of_note
from nuggets_tui.cli.groups import FOLDER, TEXT, command, example
from nuggets_tui.cli.history import applied_document
from nuggets_tui.cli.invocation import LONGEST_INPUT, Invocation, asks, pass_call
from nuggets_tui.cli.options import dry_run_option, id_list, unknown_where, yes_option
from nuggets_tui.cli.output import Line, Span, is_terminal, json_text, table, write_lines
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.memory import ExportFormat, ExportResult, Format, ImportResult, Memory
    from core.model.change import ChangeSet

_EXPORTS: Final = ("json", "markdown")
_CONFLICT: Final = 3
_SHOWN: Final = 20
_EVERY_SECONDS: Final = 0.1


class ProgressLine:
    """One line on a terminal's standard error that says how far the work is, and is gone afterwards."""

    def __init__(self, doing: str, things: str) -> None:
        self._doing, self._things = doing, things
        self._shown = is_terminal(sys.stderr)
        self._last = 0.0
        self._width = 0

    def __call__(self, done: int, of: int) -> None:
        """So many of so many are done; 0 of 0 where that is not known."""
        now = time.monotonic()
        if not self._shown or now - self._last < _EVERY_SECONDS:
            return
        self._last = now
        said = f"{self._doing} … {done:,} of {of:,} {self._things}" if of else f"{self._doing} …"
        self._write(said)

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r{text.ljust(self._width)}")
        sys.stderr.flush()
        self._width = len(text)

    def end(self) -> None:
        """Takes the line away."""
        if self._width:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()
            self._width = 0


# Import


@command(
    "import",
    epilog=example(
        "nuggets import ~/.claude/projects/-home-me-app/memory",
        "nuggets import AGENTS.md --nugget app --dry-run",
        "nuggets import backup.json",
    ),
)
@click.argument("source", type=FOLDER)
@click.option(
    "--format",
    "format_",
    type=click.Choice(("auto", *FORMATS)),
    default="auto",
    help="What SOURCE is (default: told by its contents).",
)
@click.option("--nugget", type=TEXT, metavar="NAME", help="Nugget for what names none (default: memory).")
@click.option("--accept", type=TEXT, metavar="ID,...", help="Only these items of the dry run.")
@dry_run_option
@yes_option
@pass_call
def import_(
    call: Invocation,
    /,
    source: str,
    format_: str,
    nugget: str | None,
    accept: str | None,
    dry_run: bool,
    yes: bool,
) -> int:
    """Import what another program remembers: SOURCE is a file or folder, or - for standard input.

    What the memory holds already is not added again, and nothing in it is replaced: what differs is a conflict that is
    listed, with exit code 3. On a terminal it shows what it would do and asks; elsewhere it acts. It is one entry of
    the history, and nuggets undo undoes it.
    """
    if nugget is not None and not nugget.strip():
        raise InvalidInputError(
            "the name is empty", code=ErrorCode.EMPTY, where="--nugget", kept="nothing was imported",
            todo="give a name",
        )  # fmt: skip
    wanted = id_list(accept, "--accept") if accept is not None else None
    memory, line = call.memory, ProgressLine("Reading", "notes")
    try:
        read = memory.exchange.read(_source(source), None if format_ == "auto" else _format(format_), line)
    finally:
        line.end()
    options: dict[str, Any] = {"nugget": nugget or "", "accept": wanted}
    asked = asks(yes=yes, dry_run=dry_run)
    line = ProgressLine("Comparing" if asked or dry_run else "Importing", "notes")
    try:
        if asked or dry_run or wanted is not None:
            proposed = memory.exchange.bring(read, dry_run=True, progress=line, **options)
            line.end()
            _check_accepted(proposed, wanted)
            if dry_run or proposed.change_set.empty:
                return _answer(call, memory, proposed, dry_run=dry_run)
            if asked:
                call.preview(_result_lines(proposed, would=True))
                if not call.confirm(f"Import {plural(len(proposed.of('new')), 'note')}?"):
                    nothing = msgspec.structs.replace(
                        proposed.change_set, notes=(), facts=(), nuggets=(), files=()
                    )
                    call.answer(
                        lambda: _document(memory, proposed, nothing, True), lambda: ["Nothing was changed."]
                    )
                    return 0
                line = ProgressLine("Importing", "notes")
        done = memory.exchange.bring(read, progress=line, **options)
    finally:
        line.end()
    return _answer(call, memory, done, dry_run=False)


def _source(source: str) -> str | bytes:
    """A path, or what standard input holds."""
    if source != "-":
        if not source.strip():
            raise InvalidInputError(
                "the name is empty", code=ErrorCode.EMPTY, where="SOURCE", kept="nothing was imported",
                todo="give a file, a folder, or -",
            )  # fmt: skip
        return source
    if sys.stdin is None:
        raise InvalidInputError("is closed", where="standard input", kept="nothing was imported")
    data = sys.stdin.buffer.read(LONGEST_INPUT + 1)
    if len(data) > LONGEST_INPUT:
        raise InvalidInputError(
            f"is longer than {LONGEST_INPUT:,} bytes", code=ErrorCode.TOO_LONG, where="standard input",
            kept="nothing was imported", todo="give it as a file",
        )  # fmt: skip
    return data


def _format(name: str) -> Format:
    from core.exchange.records import FORMATS

    return next(format for format in FORMATS if format == name)


def _check_accepted(proposed: ImportResult, wanted: Sequence[str] | None) -> None:
    if proposed.unknown:
        raise NotFoundError(
            f"there is no item {', '.join(proposed.unknown)}",
            where=unknown_where(proposed.unknown, wanted or (), ()),
            kept="nothing was imported",
            todo="nuggets import --dry-run lists them",
        )


def _answer(call: Invocation, memory: Memory, result: ImportResult, *, dry_run: bool) -> int:
    call.answer(
        lambda: _document(memory, result, result.change_set, dry_run),
        lambda: _result_lines(result, would=dry_run),
        () if dry_run else _cautions(memory, result),
    )
    return _CONFLICT if result.of("conflict") else 0


def _document(memory: Memory, result: ImportResult, change_set: ChangeSet, dry_run: bool) -> dict[str, Any]:
    return result.to_dict() | {"dryRun": dry_run, "changeSet": applied_document(memory, change_set)}


def _cautions(memory: Memory, result: ImportResult) -> list[Caution]:
    """What to warn of in what was imported, as of a note that somebody types."""
    new = (memory.snapshot.by_id.get(item.note_id) for item in result.of("new"))
    return [caution for note in new if note is not None for caution in of_note(note)]


def _result_lines(result: ImportResult, *, would: bool) -> Iterator[Line]:
    from core.exchange.records import NAMES

    taken = "It looks like" if result.detected else "Taken as"
    yield Span(f"{taken} {NAMES[result.format]} ({result.format}).", "dim")
    new, conflicts = result.of("new"), result.of("conflict")
    rows = [
        (
            Span(item.id, "dim"),
            item.kind,
            Span(item.title, "bold"),
            Span(f"{item.nugget} · {item.where}", "dim"),
        )
        for item in new[:_SHOWN]
    ]
    yield from table(rows, flexible=2)
    if len(new) > _SHOWN:
        yield Span(f"and {len(new) - _SHOWN:,} more", "dim")
    for item in conflicts[:_SHOWN]:
        yield (Span("conflict", "warn"), "  ", Span(item.title, "bold"), Span(f"  {item.where}", "dim"))
        yield f"  {item.detail}"
        yield (Span("  memory  ", "dim"), Span(_first(item.ours), "good"))
        yield (Span("  source  ", "dim"), Span(_first(item.theirs), "bad"))
    if len(conflicts) > _SHOWN:
        yield Span(f"and {plural(len(conflicts) - _SHOWN, 'more conflict')}", "warn")
    for left in result.left_out[:_SHOWN]:
        what = "incomplete" if left.partly else "skipped"
        yield (Span(what, "warn"), "  ", Span(left.where, "bold"), f"  {left.what}")
    if len(result.left_out) > _SHOWN:
        yield Span(f"and {len(result.left_out) - _SHOWN:,} more are skipped or incomplete", "warn")
    yield _counts(result, would)
    if not would and not result.change_set.empty:
        yield Span(f"To undo it: nuggets undo {result.change_set.id}", "dim")


def _counts(result: ImportResult, would: bool) -> str:
    new, same, conflicts = (len(result.of(status)) for status in ("new", "same", "conflict"))
    parts = [f"{same:,} here already"] if same else []
    parts += [f"{plural(conflicts, 'conflict')} left as it is in the memory"] if conflicts else []
    skipped = sum(not one.partly for one in result.left_out)
    parts += [f"{skipped:,} skipped"] if skipped else []
    parts += [f"{len(result.left_out) - skipped:,} incomplete"] if len(result.left_out) > skipped else []
    parts += [f"{plural(result.history, 'entry', 'entries')} of history"] if result.history else []
    rest = f"; {', '.join(parts)}" if parts else ""
    if result.change_set.empty or not new:
        return f"Nothing to import{rest}."
    return f"{'Would import' if would else 'Imported'} {plural(new, 'note')}{rest}."


def _first(text: str) -> str:
    line = next((line for line in text.split("\n") if line.strip()), "(nothing)")
    return f"{line} …" if "\n" in text.strip() else line


# Export


@command(
    "export",
    epilog=example(
        "nuggets export backup.json",
        "nuggets export vault --format markdown",
        "nuggets export | gzip > backup.json.gz",
    ),
)
@click.argument("target", type=FOLDER, default="-")
@click.option("--format", "format_", type=click.Choice(_EXPORTS), help="Default: told by TARGET, else json.")
@click.option("--force", is_flag=True, help="Replace files that are not of an earlier export.")
@click.option("--no-history", is_flag=True, help="Leave the history out of JSON.")
@click.option("--with-secrets", is_flag=True, help="Include what looks like a credential in Markdown.")
@pass_call
def export(
    call: Invocation, /, target: str, format_: str | None, force: bool, no_history: bool, with_secrets: bool
) -> None:
    """Export the memory to TARGET: a file, a folder for Markdown, or - for standard output.

    JSON holds everything, the history too: imported into an empty folder, it gives the same memory. Markdown is a
    folder that opens in Obsidian, a file for each note. What looks like a credential is left out of Markdown, and is
    in JSON.
    """
    chosen = _export_format(target, format_)
    if target == "-" and chosen == "markdown":
        raise InvalidInputError(
            "Markdown is a folder of files", where="export", kept="nothing was written",
            todo="name a folder",
        )  # fmt: skip
    line = ProgressLine("Writing", "files")
    try:
        done = call.memory.exchange.export(
            chosen,
            None if target == "-" else target,
            force=force,
            history=not no_history,
            secrets=with_secrets,
            progress=line,
        )
    finally:
        line.end()
    if target == "-":
        call.warn()
        _write_out(done)
        write_lines(_beside_lines(done), to_error=True)
    else:
        call.answer(lambda: _export_document(done), lambda: _export_lines(done))


def _export_format(target: str, given: str | None) -> ExportFormat:
    """What is asked for: by name, else by what the target is called or is."""
    if given is not None:
        return "markdown" if given == "markdown" else "json"
    is_folder = target != "-" and (target.endswith("/") or Path(target).expanduser().is_dir())
    return "markdown" if is_folder else "json"


def _write_out(done: ExportResult) -> None:
    """The export itself; on a terminal nothing of it acts on that."""
    if not is_terminal(sys.stdout):
        sys.stdout.buffer.write(done.data)
        sys.stdout.buffer.flush()
    else:
        write_lines([json_text(msgspec.json.decode(done.data), indent=True)])


def _export_document(done: ExportResult) -> dict[str, Any]:
    return {
        "version": 1,
        "format": done.format,
        "path": done.path,
        "notes": done.notes,
        "facts": done.facts,
        "history": done.history,
        "files": done.files,
        "removed": done.removed,
        "secrets": done.secrets,
        "skipped": [{"where": one.where, "reason": one.what} for one in done.left_out],
    }


def _export_lines(done: ExportResult) -> Iterator[Line]:
    counts = [plural(done.notes, "note")]
    counts += [plural(done.facts, "fact")] if done.format != "markdown" or done.facts else []
    counts += [f"{plural(done.history, 'entry', 'entries')} of history"] if done.history else []
    name = "Markdown" if done.format == "markdown" else done.format.upper()
    yield (f"Exported {', '.join(counts)} as {name} to ", Span(done.path, "bold"), ".")
    if done.format == "markdown":
        gone = f", {done.removed:,} of notes that are gone taken out" if done.removed else ""
        yield Span(f"{plural(done.files, 'file')} written{gone}.", "dim")
    yield from _beside_lines(done)


def _beside_lines(done: ExportResult) -> Iterator[Line]:
    for one in done.left_out[:_SHOWN]:
        yield (Span("left out", "warn"), "  ", Span(one.where, "bold"), f"  {one.what}")
    if len(done.left_out) > _SHOWN:
        yield Span(f"and {len(done.left_out) - _SHOWN:,} more are left out", "warn")
    if done.secrets:
        said = plural(
            done.secrets,
            "note or fact in it looks like it holds a credential",
            "notes and facts in it look like they hold a credential",
        )
        yield Span(
            f"{said}: keep the file safe; nuggets secrets lists them.",
            "warn",
        )
