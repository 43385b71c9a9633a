"""The `nuggets` command: its commands by name, and what happens to errors on the way out."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from core.errors import ConflictError, InvalidInputError, Notice, NuggetsError, Remedy, as_command, remedy_for
from nuggets_tui.cli.invocation import Invocation, has_terminal
from nuggets_tui.cli.options import Group, flag, short_help
from nuggets_tui.cli.output import JSON_VERSION, write_document, write_error, write_lines
from nuggets_tui.process import prepare_streams

# The commands as help lists them, each with its module.
SECTIONS: Final = {
    "Ask and keep": {
        "recall": "recall", "search": "recall", "remember": "facts", "forget": "facts", "notes": "notes",
        "note": "notes",
    },
    "Texts": {"ingest": "texts", "document": "texts", "pipeline": "pipeline"},
    "Clean up": {
        "check": "checking", "reflect": "cleanup", "promote": "cleanup", "secrets": "maintenance",
        "daemon": "background",
    },
    "History": {
        "log": "history", "undo": "history", "redo": "history", "restore": "maintenance", "resolve": "merging",
    },
    "Agents and machines": {"agent": "agents", "sync": "sharing", "team": "sharing"},
    "Import and export": {"import": "exchange", "export": "exchange"},
    "All of it": {"status": "overview", "doctor": "doctor", "demo": "overview"},
}  # fmt: skip
# What agents, scripts and shells call, and what few people need.
HIDDEN: Final = {
    "blame": "checking", "mcp": "agents", "hook": "agents", "session": "sessions", "projects": "overview",
    "searches": "recall", "bench": "overview", "watch": "history", "history": "history", "verify": "maintenance",
    "schedule": "background", "completion": "completion", "merge-file": "merging",
}  # fmt: skip
ENTRIES: Final = {name: where for section in (*SECTIONS.values(), HIDDEN) for name, where in section.items()}
# What commands were called before, and how what they did begins now.
RENAMED: Final = {
    "list": "status", "facts": "notes --facts --nugget", "clear": "forget --all", "why": "search --explain",
    "share": "team share",
}  # fmt: skip
BAD_INPUT: Final = 2
INTERRUPTED: Final = 130
# What a shell sees of a program that a closed pipe ended: 128 and the number of SIGPIPE.
PIPE_CLOSED: Final = 141


class Program(Group):
    """The whole program: every way out is an exit code and at most one line on standard error. Imports a command when
    it is called.
    """

    def main(self, *args: Any, **settings: Any) -> Any:
        """Runs one call and ends the process; arguments as click's `main` takes them."""
        prepare_streams()
        called = os.path.basename(sys.argv[0]) if sys.argv else ""
        name = settings.get("prog_name") or (called if called == "nuggets-tui" else "nuggets")
        settings |= {"standalone_mode": False, "prog_name": name}
        call = settings.setdefault("obj", Invocation())
        code: object
        try:
            code = super().main(*args, **settings)
        except BaseException as error:
            code = exit_code(error, call.take_notices() if isinstance(call, Invocation) else ())
        else:
            # What the memory has to say beside the answer.
            with contextlib.suppress(OSError):
                call.warn()
                write_lines([f"note: {notice}" for notice in call.take_notices()], to_error=True)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; a closed pipe is told apart here, before click takes it for its own."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            _silence_streams()
            raise SystemExit(PIPE_CLOSED) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which help shows them, the hidden ones behind."""
        return list(ENTRIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now; None for a name that is none."""
        if cmd_name not in ENTRIES:
            return None
        module = importlib.import_module(f"nuggets_tui.cli.{ENTRIES[cmd_name]}")
        found = getattr(module, "import_" if cmd_name == "import" else cmd_name.replace("-", "_"))
        assert isinstance(found, click.Command)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of the first word; what was called otherwise before answers as it is called now, and says so."""
        name, rest = args[0], args[1:]
        if name in RENAMED and not ctx.resilient_parsing:
            write_error(f"{name} is now: nuggets {RENAMED[name]}")
            named = RENAMED[name].split()
            if {"-h", "--help"} & {*rest}:
                args = [*(word for word in named if word[0] != "-"), "--help"]
            else:
                # The note stood behind the question.
                args = [*named, *(rest[1::-1] + rest[2:] if name == "why" else rest)]
        return super().resolve_command(ctx, args)

    def shell_complete(
        self, ctx: click.Context, incomplete: str
    ) -> list[click.shell_completion.CompletionItem[str]]:
        """Completes commands without importing one, and options."""
        from click.shell_completion import CompletionItem

        commands = [CompletionItem(name) for name in ENTRIES if name.startswith(incomplete)]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the commands by section, each with the first sentence of its help, and names the others."""
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                found = [(name, self.get_command(ctx, name)) for name in commands]
                formatter.write_dl([(name, short_help(one)) for name, one in found if one is not None])
        with formatter.section("For agents, scripts and shells"):
            formatter.write_text(", ".join(HIDDEN))


def exit_code(error: BaseException, notices: Sequence[str] = ()) -> int:
    """Says what went wrong in one line, and the exit code for it. notices: what else should be told."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else BAD_INPUT
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return INTERRUPTED
    if isinstance(error, NuggetsError):
        said = error.message
        if isinstance(error, ConflictError) and error.entry:
            parts = (f"{error.where}: {error.what}" if error.where else error.what, error.kept)
            said = "; ".join(filter(None, (*parts, as_command(Remedy("resolve-waiting", error.entry)))))
        more = (one for one in notices if not (isinstance(one, Notice) and one.is_about(error)))
        write_error("; also: ".join((said, *more)))
        return error.exit_code
    if isinstance(error, click.ClickException):
        message, context = error.format_message(), getattr(error, "ctx", None)
        if isinstance(context, click.Context):
            path = context.command_path.partition(" ")[2]
            message = f"{f'{path}: ' if path else ''}{message} See: {context.command_path} --help"
        write_error(message)
    elif isinstance(error, OSError):
        said = f"{error.filename or 'input or output'}: {error.strerror or error}"
        path = os.fsdecode(error.filename) if error.filename else ""
        write_error("; ".join(filter(None, (said, as_command(remedy_for(error, Path(path)))))))
        _silence_streams()
    else:
        if os.environ.get("NUGGETS_DEBUG") == "1":
            import traceback

            traceback.print_exception(error)
        write_error(
            f"this is a bug in nuggets-tui: {type(error).__name__}: {error}; no file is half-written: files are only "
            "ever replaced whole; set NUGGETS_DEBUG=1 for a traceback"
        )
    return BAD_INPUT


def _silence_streams() -> None:
    """Lets the interpreter's own last flush fail without a word."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(nowhere, stream.fileno())


def _open_app(call: Invocation, version: bool) -> int | None:
    """See, search and repair what your coding agents remember: facts and linked notes, in one folder.

    Without a command, the app opens. Exit codes: 0 done, 1 not found, 2 bad input, 3 conflict.
    """
    ctx = click.get_current_context()
    if version:
        from nuggets_tui.process import installed_version, version_line

        if call.as_json:
            write_document({"version": installed_version(), "json": JSON_VERSION})
        else:
            click.echo(version_line())
        ctx.exit()
    if call.as_json or not has_terminal():
        if not call.as_json:
            click.echo(ctx.get_help())
        todo = "open it in one, or give a command, such as nuggets status (nuggets --help has all)"
        raise InvalidInputError("the app needs a terminal", kept="nothing was opened", todo=todo)
    if call.as_name is not None:
        raise click.UsageError("--as works with commands only. In the app, all changes are yours.", ctx)
    call.hand_on_project()
    from nuggets_tui.app import run_app

    return run_app(call.folder)


program = Program(
    "nuggets", "", flag("--version", "Show the version and exit."), does=_open_app, subcommand_metavar="COMMAND ..."
)  # fmt: skip


def main() -> None:
    """Entry point of `nuggets` and `nuggets-tui`."""
    program.main()
