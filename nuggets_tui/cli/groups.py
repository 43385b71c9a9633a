"""Commands and groups of this program: options that stand anywhere, and command modules loaded when named."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
import msgspec

from nuggets_tui.cli.invocation import Invocation

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

C = TypeVar("C", bound=Callable[..., Any])
_OPTION: Final = re.compile(r"--?[^\W\d_][\w-]*(=.*)?", re.DOTALL)


class Text(click.ParamType[str]):
    """Text as it was typed. Refuses bytes that are no text, which no file of a memory could hold."""

    name = "text"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        """The names of the memory's things that it may be."""
        from nuggets_tui.cli.completed_names import completed

        return completed(ctx, param, incomplete)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The value; bytes that the system's own encoding had no characters for are read as UTF-8."""
        text = str(value)
        if text.isascii():
            return text
        try:
            # Where the locale is plain ASCII, whatever else was typed comes as surrogates, one for each byte.
            return os.fsencode(text).decode("utf-8") if _has_surrogate(text) else text
        except UnicodeError:
            self.fail("is not valid UTF-8 text.", param, ctx)


class Folder(Text):
    """A folder in the spelling that the system gave and takes back; of text that is valid."""

    name = "folder"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        """Left to the shell."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The value itself."""
        super().convert(value, param, ctx)
        return str(value)


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)


TEXT = Text()
FOLDER = Folder()


def _set_home(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is not None:
        ctx.find_root().ensure_object(Invocation).home = value


def _set_json(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.find_root().ensure_object(Invocation).as_json = True


def _set_author(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is not None:
        ctx.find_root().ensure_object(Invocation).as_name = value


def _set_project(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is not None:
        ctx.find_root().ensure_object(Invocation).project_name = value


def _set_vectors(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.find_root().ensure_object(Invocation).with_vectors = True


# For commands that answer with notes as JSON.
vectors_option = click.option(
    "--vectors", is_flag=True, expose_value=False, callback=_set_vectors,
    help="Include the vector recipe of each note in JSON.",
)  # fmt: skip


def common_options() -> list[click.Parameter]:
    """--home, --project, --json and --as, which every command takes at any place."""
    return [
        click.Option(
            ["--home"], metavar="DIR", expose_value=False, callback=_set_home,
            help="Folder of the memory (default: NUGGETS_HOME, else ~/.nuggets).",
        ),
        click.Option(
            ["--project", "in_project"], type=TEXT, metavar="NAME", expose_value=False, callback=_set_project,
            help="Work in this project (default: NUGGETS_PROJECT, else that of the folder you are in).",
        ),
        click.Option(
            ["--json"], is_flag=True, expose_value=False, callback=_set_json,
            help="Print one JSON document.",
        ),
        click.Option(
            ["--as", "as_name"], type=TEXT, metavar="NAME", expose_value=False, callback=_set_author,
            help="Author of the change: the name of an agent, or me.",
        ),
    ]  # fmt: skip


def _with_common_options(params: Sequence[click.Parameter]) -> list[click.Parameter]:
    """The parameters and the common options, but for those that a command means in its own way."""
    own = {name for one in params for name in one.opts}
    return [*params, *(one for one in common_options() if own.isdisjoint(one.opts))]


class MemoryCommand(click.Command):
    """A command with the common options, whose values may begin with a dash.

    What does not look like an option is a value, wherever it stands. What does look like one that the command does not
    know, and a call for help behind the first value, are values where just as many are still missing.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["params"] = _with_common_options(kwargs.get("params") or ())
        kwargs.setdefault("context_settings", {"help_option_names": ["-h", "--help"]})
        super().__init__(*args, **kwargs)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parses as usual, with the values put where no option can stand."""
        try:
            return super().parse_args(ctx, args if ctx.resilient_parsing else self._parted(ctx, args))
        except click.NoSuchOption as error:
            ctx.fail(f"{error.format_message()} Put -- before a value that begins with -.")

    def _parted(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The words with options first; as they were where one remains that is neither option nor missing value."""
        params = self.get_params(ctx)
        known = {name: one for one in params if isinstance(one, click.Option) for name in one.opts}
        options: list[str] = []
        values: list[str] = []
        doubtful = 0
        slip = False
        rest = list(args)
        while rest:
            word = rest.pop(0)
            if word == "--":
                values += rest
                break
            option = known.get(word.partition("=")[0] if word.startswith("--") else word)
            if option is not None and not (values and word in ctx.help_option_names):
                options.append(word)
                if "=" not in word and not _stands_alone(option, rest):
                    options += rest[: option.nargs]
                    del rest[: option.nargs]
            else:
                doubtful += _OPTION.fullmatch(word) is not None
                slip = slip or _is_slip(word, known)
                values.append(word)
        wanted = [one for one in params if isinstance(one, click.Argument)]
        fits = len(wanted) == len(values) and all(isinstance(one.type, Text) for one in wanted)
        return [*options, "--", *values] if (fits and not slip) or not doubtful else args


def _is_slip(word: str, known: Collection[str]) -> bool:
    """Whether a word is the name of an option with a letter or two wrong."""
    name = word.partition("=")[0]
    if not word.startswith("--") or name in known:
        return False
    from rapidfuzz.distance import OSA

    return any(OSA.distance(name, one) <= (1 if len(one) < 7 else 2) for one in known if len(one) > 4)


def _stands_alone(option: click.Option, rest: list[str]) -> bool:
    """Whether an option takes no value from the words behind it."""
    if option.is_flag or option.count:
        return True
    # One that may do without a value takes none that looks like an option, as click has it.
    may = isinstance(option.flag_value, str)
    return may and (not rest or (rest[0].startswith("-") and rest[0] != "-"))


class CommandEntry(msgspec.Struct, frozen=True):
    """Where a command lives, as "module:attribute", and its line in the list of commands."""

    target: str
    help: str


def _where_none_is_given(does: Callable[[Invocation], int | None]) -> Callable[..., int | None]:
    @click.pass_context
    def callback(ctx: click.Context) -> int | None:
        return None if ctx.invoked_subcommand else does(ctx.find_root().ensure_object(Invocation))

    return callback


class LazyGroup(click.Group):
    """A group that knows its commands' names and help, and imports a command when it is called.

    by_default: what it does when no command was given; its result is the exit code.
    """

    def __init__(
        self,
        *args: Any,
        entries: Mapping[str, CommandEntry],
        by_default: Callable[[Invocation], int | None] | None = None,
        **kwargs: Any,
    ) -> None:
        if by_default is not None:
            kwargs |= {"callback": _where_none_is_given(by_default), "invoke_without_command": True}
        kwargs["params"] = _with_common_options(kwargs.get("params") or ())
        kwargs.setdefault("context_settings", {"help_option_names": ["-h", "--help"]})
        super().__init__(*args, **kwargs)
        self.entries = entries

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which help shows them."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now; None for a name that is none."""
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        module, _, attribute = entry.target.partition(":")
        found = getattr(importlib.import_module(module), attribute)
        assert isinstance(found, click.Command)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of the first word; a mistyped one is answered with the nearest names."""
        name = args[0]
        if name not in self.entries and not name.startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches

            near = get_close_matches(name, self.entries, n=2)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            ctx.fail(f"No such command '{name}'.{hint}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Completes commands without importing one, and options."""
        from click.shell_completion import CompletionItem

        named = [(name, entry.help) for name, entry in self.entries.items() if name.startswith(incomplete)]
        commands = [CompletionItem(name, help=told) for name, told in named]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the commands without importing one."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self.entries.items()])


def command(name: str, **settings: Any) -> Callable[[C], MemoryCommand]:
    """Makes a command with the common options of the function below it; its docstring is the help."""
    return click.command(name, cls=MemoryCommand, **settings)


def example(*lines: str) -> str:
    """Examples for the end of a help text, each on a line of its own."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
