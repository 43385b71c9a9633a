"""The `nuggets` command: its commands by name, and what happens to errors on the way out."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from core.errors import ConflictError, InvalidInputError, Notice, NuggetsError, Remedy, as_command, remedy_for
from nuggets_tui.cli.groups import CommandEntry, LazyGroup
from nuggets_tui.cli.invocation import Invocation, has_terminal, open_app
from nuggets_tui.cli.output import JSON_VERSION, write_document, write_error, write_lines
from nuggets_tui.streams import prepare_streams

_PACKAGE: Final = "nuggets_tui.cli"
ENTRIES: Final = {
    "demo": CommandEntry(f"{_PACKAGE}.demo:demo", "Open the app on a sample memory."),
    "remember": CommandEntry(f"{_PACKAGE}.facts:remember", "Store a fact in a nugget."),
    "recall": CommandEntry(f"{_PACKAGE}.facts:recall", "Answer a question from facts and notes."),
    "ingest": CommandEntry(f"{_PACKAGE}.ingest:ingest", "Submit a text for fact extraction."),
    "pipeline": CommandEntry(
        f"{_PACKAGE}.pipeline:pipeline_group", "Show the state of the pipeline; decide on its proposals."
    ),
    "document": CommandEntry(
        f"{_PACKAGE}.documents:document_group", "Make files and pages searchable; list, search, remove them."
    ),
    "session": CommandEntry(
        f"{_PACKAGE}.sessions:session_group", "List sessions of agents; keep and recover their checkpoints."
    ),
    "forget": CommandEntry(
        f"{_PACKAGE}.facts:forget", "Take a fact out of recall; its note is kept, hidden."
    ),
    "facts": CommandEntry(f"{_PACKAGE}.facts:facts", "List the facts of a nugget."),
    "clear": CommandEntry(f"{_PACKAGE}.facts:clear", "Forget every fact of a nugget."),
    "projects": CommandEntry(
        f"{_PACKAGE}.projects:projects_group", "List projects with their nuggets, join and rename."
    ),
    "list": CommandEntry(f"{_PACKAGE}.overview:list_", "List the nuggets with facts, notes and capacity."),
    "status": CommandEntry(f"{_PACKAGE}.overview:status", "Show totals, paths and what cannot be read."),
    "search": CommandEntry(f"{_PACKAGE}.search:search", "Search the notes, best first."),
    "why": CommandEntry(
        f"{_PACKAGE}.search:why_command", "Explain why a note answers a question, or why not."
    ),
    "searches": CommandEntry(f"{_PACKAGE}.searches:searches_group", "List saved searches."),
    "bench": CommandEntry(
        f"{_PACKAGE}.bench:bench", "Measure recall and search on questions with known answers."
    ),
    "notes": CommandEntry(f"{_PACKAGE}.notes:notes", "List notes."),
    "note": CommandEntry(
        f"{_PACKAGE}.notes:note_group", "Work on one note: add, show, edit, hide, link, merge."
    ),
    "reflect": CommandEntry(
        f"{_PACKAGE}.reflection:reflect", "Clean up: merge near-duplicates, tidy text, tags and links."
    ),
    "promote": CommandEntry(f"{_PACKAGE}.promotion:promote", "Write often recalled notes into MEMORY.md."),
    "secrets": CommandEntry(
        f"{_PACKAGE}.secrets:secrets", "List what looks like a credential; --mask removes it for good."
    ),
    "daemon": CommandEntry(
        f"{_PACKAGE}.daemon:daemon", "Run the daily pass and the pipeline in the background."
    ),
    "mcp": CommandEntry(f"{_PACKAGE}.mcp:mcp", "Serve the memory to an agent, over MCP."),
    "schedule": CommandEntry(
        f"{_PACKAGE}.schedule:schedule_group", "Let systemd, cron or launchd run the daily pass."
    ),
    "agent": CommandEntry(
        f"{_PACKAGE}.agent:agent_group", "Connect coding agents with this memory: install, status, remove."
    ),
    "hook": CommandEntry(f"{_PACKAGE}.hook:hook", "Take an event of an agent; agents call it."),
    "doctor": CommandEntry(
        f"{_PACKAGE}.doctor:doctor", "Check agents, memory and installation; say what to do."
    ),
    "log": CommandEntry(f"{_PACKAGE}.history:log", "Show the history of every change, newest first."),
    "history": CommandEntry(f"{_PACKAGE}.history:history_group", "Delete the history of changes."),
    "undo": CommandEntry(f"{_PACKAGE}.history:undo", "Undo a change: your last, or any by its id."),
    "redo": CommandEntry(f"{_PACKAGE}.history:redo", "Redo what you undid."),
    "restore": CommandEntry(
        f"{_PACKAGE}.maintenance:restore", "Restore the memory, or one note, to an earlier state."
    ),
    "verify": CommandEntry(
        f"{_PACKAGE}.maintenance:verify", "Check facts, notes, links and files; --repair fixes them."
    ),
    "resolve": CommandEntry(
        f"{_PACKAGE}.merging:resolve", "Merge conflict copies of sync tools; resolve conflicts."
    ),
    "sync": CommandEntry(
        f"{_PACKAGE}.sync:sync_group", "Keep the memory the same on several machines, through git."
    ),
    "team": CommandEntry(
        f"{_PACKAGE}.team:team_group", "Show the notes of a team in a project's repository."
    ),
    "share": CommandEntry(f"{_PACKAGE}.team:share", "Propose your notes for the notes of a team."),
    "import": CommandEntry(
        f"{_PACKAGE}.exchange:import_",
        "Import a memory: Claude Code, AGENTS.md, MCP, Obsidian and others.",
    ),
    "export": CommandEntry(
        f"{_PACKAGE}.exchange:export", "Export the memory: JSON with its history, or Markdown."
    ),
    "watch": CommandEntry(
        f"{_PACKAGE}.watch:watch", "Print a line for each change as it happens, by whomever."
    ),
    "completion": CommandEntry(
        f"{_PACKAGE}.completion:completion", "Print the completion script of a shell."
    ),
    "merge-file": CommandEntry(f"{_PACKAGE}.merging:merge_file", "Merge three versions of a file, for git."),
}
BAD_INPUT: Final = 2
INTERRUPTED: Final = 130
# What a shell sees of a program that a closed pipe ended: 128 and the number of SIGPIPE.
PIPE_CLOSED: Final = 141
_NAMES: Final = ("nuggets", "nuggets-tui")


class Program(LazyGroup):
    """The whole program: every way out is an exit code and at most one line on standard error."""

    def main(self, *args: Any, **settings: Any) -> Any:
        """Runs one call and ends the process; arguments as click's `main` takes them."""
        prepare_streams()
        settings |= {"standalone_mode": False, "prog_name": settings.get("prog_name") or _program_name()}
        call = settings.setdefault("obj", Invocation())
        try:
            code = super().main(*args, **settings)
        except BaseException as error:
            code = exit_code(error, _notices(call))
        else:
            _print_notices(call)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; a closed pipe is told apart here, before click takes it for its own."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            _silence_streams()
            raise SystemExit(PIPE_CLOSED) from None


def exit_code(error: BaseException, notices: Sequence[str] = ()) -> int:
    """Says what went wrong in one line, and the exit code for it. notices: what else should be told."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else BAD_INPUT
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return INTERRUPTED
    if isinstance(error, NuggetsError):
        more = (one for one in notices if not (isinstance(one, Notice) and one.is_about(error)))
        write_error("; also: ".join((_describe(error), *more)))
        return error.exit_code
    if isinstance(error, click.ClickException):
        write_error(_usage_message(error))
        return BAD_INPUT
    if isinstance(error, OSError):
        said = f"{error.filename or 'input or output'}: {error.strerror or error}"
        path = Path(os.fsdecode(error.filename)) if error.filename else Path()
        todo = as_command(remedy_for(error, path))
        write_error("; ".join(filter(None, (said, todo))))
        _silence_streams()
        return BAD_INPUT
    return _bug(error)


def _describe(error: NuggetsError) -> str:
    """The error as one line; of a conflict that waits in the log, with how to settle it."""
    if isinstance(error, ConflictError) and error.entry:
        parts = (f"{error.where}: {error.what}" if error.where else error.what, error.kept)
        todo = as_command(Remedy("resolve-waiting", error.entry))
        return "; ".join(part for part in (*parts, todo) if part)
    return error.message


def _notices(call: object) -> tuple[str, ...]:
    return call.take_notices() if isinstance(call, Invocation) else ()


def _print_notices(call: object) -> None:
    """Tells on standard error what the memory has to say beside the answer."""
    with contextlib.suppress(OSError):
        if isinstance(call, Invocation):
            call.warn()
        write_lines([f"note: {notice}" for notice in _notices(call)], to_error=True)


def _usage_message(error: click.ClickException) -> str:
    message = error.format_message()
    context = getattr(error, "ctx", None)
    if not isinstance(context, click.Context):
        return message
    path = context.command_path.partition(" ")[2]
    where = f"{path}: " if path else ""
    return f"{where}{message} See: {context.command_path} --help"


def _bug(error: BaseException) -> int:
    if os.environ.get("NUGGETS_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
    write_error(
        f"this is a bug in nuggets-tui: {type(error).__name__}: {error}; no file is left half written, "
        "for files are only replaced whole; set NUGGETS_DEBUG=1 to see where it happened"
    )
    return BAD_INPUT


def _silence_streams() -> None:
    """Lets the interpreter's own last flush fail without a word."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            os.dup2(nowhere, stream.fileno())
        except (OSError, ValueError):
            continue


def _program_name() -> str:
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    return name if name in _NAMES else _NAMES[0]


_HELP: Final = """See, search and repair what your coding agents remember: facts and linked notes, in one folder.

Without a command, the app opens. Exit codes: 0 done, 1 not found, 2 bad input, 3 conflict."""


@click.pass_context
def _open_or_dispatch(ctx: click.Context, version: bool) -> int | None:
    """Opens the app when no command was given."""
    if version:
        _show_version(ctx, ctx.find_root().ensure_object(Invocation).as_json)
    if ctx.invoked_subcommand is not None:
        return None
    call = ctx.find_root().ensure_object(Invocation)
    if not call.as_json and not has_terminal():
        click.echo(ctx.get_help())
    if call.as_json or not has_terminal():
        raise InvalidInputError(
            "the app needs a terminal",
            kept="nothing was opened",
            todo="open it in one, or give a command, such as nuggets list (nuggets --help has all)",
        )
    if call.as_name is not None:
        raise click.UsageError("--as works with commands only. In the app, all changes are yours.", ctx)
    call.hand_on_project()
    return open_app(call.folder)


def _show_version(ctx: click.Context, as_json: bool) -> None:
    from nuggets_tui.version import installed_version, version_line

    if as_json:
        write_document({"version": installed_version(), "json": JSON_VERSION})
    else:
        click.echo(version_line())
    ctx.exit()


program = Program(
    name="nuggets",
    entries=ENTRIES,
    callback=_open_or_dispatch,
    invoke_without_command=True,
    help=_HELP,
    subcommand_metavar="COMMAND ...",
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            help="Show the version and exit.",
        )
    ],
)


def main() -> None:
    """Entry point of `nuggets` and `nuggets-tui`."""
    program.main()
