"""Commands, groups and options of this program: common options that stand anywhere, values that begin with a dash."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from core.errors import ErrorCode, NotFoundError
from core.model.note import SCOPES, SOURCES, STABILITIES, TYPES
from nuggets_tui.cli.invocation import Invocation, bad_input
from nuggets_tui.cli.values import COUNT, TEXT, Number, Text

if TYPE_CHECKING:
    from core.model.infer import MetaInput
    from core.model.snapshot import Snapshot
    from core.search import Filters

Does = Callable[..., int | None]
_OPTION: Final = re.compile(r"--?[^\W\d_][\w-]*(=.*)?", re.DOTALL)
_HELP: Final = {"help_option_names": ["-h", "--help"]}


# Parameters, a line each


def arg(name: str, type: click.ParamType[Any] = TEXT, **more: Any) -> click.Argument:
    """A value. more: as click takes it."""
    return click.Argument([name], type=type, **more)


def opt(names: str, metavar: str, help: str, type: Any = TEXT, **more: Any) -> click.Option:
    """An option with a value. names: with spaces between, the parameter's own name among them."""
    return click.Option(names.split(), metavar=metavar, help=help, type=type, **more)


def choice(names: str, choices: Sequence[str], help: str, **more: Any) -> click.Option:
    """An option with one of some values."""
    return click.Option(names.split(), type=click.Choice(choices), help=help, **more)


def flag(names: str, help: str, **more: Any) -> click.Option:
    """An option without a value."""
    return click.Option(names.split(), is_flag=True, help=help, **more)


def limit(help: str = "Show at most N.", **more: Any) -> click.Option:
    """--limit N."""
    return opt("--limit", "N", help, COUNT, **more)


def _kept(attribute: str) -> dict[str, Any]:
    """What an option says goes into the invocation."""

    def keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
        if value not in (None, False):
            setattr(ctx.find_root().ensure_object(Invocation), attribute, value)

    return {"expose_value": False, "callback": keep}


def common_options() -> list[click.Parameter]:
    """--home, --project, --json and --as, which every command takes at any place."""
    home = "Folder of the memory (default: NUGGETS_HOME, else ~/.nuggets)."
    project = "Work in this project (default: NUGGETS_PROJECT, else that of the folder you are in)."
    return [
        opt("--home", "DIR", home, None, **_kept("home")),
        opt("--project in_project", "NAME", project, **_kept("project_name")),
        flag("--json", "Print one JSON document.", **_kept("as_json")),
        opt("--as as_name", "NAME", "Author of the change: the name of an agent, or me.", **_kept("as_name")),
    ]


YES: Final = flag("--yes", "Do not ask.")
DRY_RUN: Final = flag("--dry-run", "Show what would change, and change nothing.")
NUGGET: Final = opt("--nugget", "NAME", "Only this nugget.")
TAGS: Final = opt("--tag tags", "TAG", "Add a tag; may be repeated.", multiple=True)
UNTAGS: Final = opt("--untag untags", "TAG", "Remove a tag; may be repeated.", multiple=True)
NOTES: Final = arg("ids", nargs=-1, required=True, metavar="ID...")
# Several words need no quotes.
QUERY: Final = arg("words", metavar="QUERY", nargs=-1)
_EXPLAIN: Final = "Explain each score; with ID, explain why that note is found, or why not."
EXPLAIN: Final = opt("--explain", "[ID]", _EXPLAIN, is_flag=False, flag_value="")
# For commands that answer with notes as JSON.
VECTORS: Final = flag("--vectors", "Include the vector recipe of each note in JSON.", **_kept("with_vectors"))
FILTERS: Final = (
    NUGGET,
    choice("--scope", SCOPES, "Only this scope."),
    choice("--type type_", TYPES, "Only this type."),
    opt("--subject", "TEXT", "Only this subject."),
)
LISTING: Final = (
    *FILTERS,
    opt("--tag", "TAG", "Only notes with this tag."),
    flag("--include-hidden", "Include hidden notes."),
)
METADATA: Final = (
    choice("--scope", SCOPES, "Whom it concerns."),
    choice("--type type_", TYPES, "What kind of memory it is."),
    choice("--source", SOURCES, "How it was learned."),
    opt("--confidence", "0..1", "How sure it is.", Number()),
    choice("--stability", STABILITIES, "How long it should last."),
    opt("--subject", "TEXT", "Who or what it is about."),
)


# Commands


class MemoryCommand(click.Command):
    """A command with the common options, whose values may begin with a dash.

    What does not look like an option is a value, wherever it stands. What does look like one that the command does not
    know, and a call for help behind the first value, are values where just as many are still missing.
    """

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
        doubtful, slip = 0, False
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


def _is_slip(word: str, known: Mapping[str, object]) -> bool:
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


def _settings(
    does: Does | None, params: Sequence[click.Parameter], examples: Sequence[str], epilog: str = ""
) -> dict[str, Any]:
    """What click makes a command of: its docstring is the help; of the common options, those it has not itself."""
    own = {name for one in params for name in one.opts}
    shown = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in examples) if examples else ""
    return {
        "help": inspect.getdoc(does) if does is not None else None,
        "epilog": epilog + shown or None,
        "params": [*params, *(one for one in common_options() if own.isdisjoint(one.opts))],
    }


def command(
    name: str, *params: click.Parameter, examples: Sequence[str] = (), epilog: str = "", **more: Any
) -> Callable[[Does], MemoryCommand]:
    """Makes a command of the function below it, which is given the invocation and the parameters by name; its docstring
    is the help, its result the exit code. more: for click's context.
    """

    def make(does: Does) -> MemoryCommand:
        @click.pass_context
        def callback(ctx: click.Context, /, **given: Any) -> int | None:
            return does(ctx.find_root().ensure_object(Invocation), **given)

        settings = _settings(does, params, examples, epilog)
        return MemoryCommand(name, callback=callback, context_settings=_HELP | more, **settings)

    return make


def short_help(command: click.Command) -> str:
    """The first sentence of a command's help."""
    text = " ".join((command.help or "").partition("\n\n")[0].split())
    return text.partition(". ")[0].rstrip(".") + "."


class Group(click.Group):
    """Commands under one name. usual: the one that is meant where none is named; does: what is done instead."""

    def __init__(
        self, name: str, help: str, *params: click.Parameter, usual: str = "", does: Does | None = None,
        examples: Sequence[str] = (), **more: Any,
    ) -> None:  # fmt: skip
        settings = _settings(does, params, examples) | ({"help": help} if help else {})
        self.usual, self.does = usual, does
        self.alone = bool(usual or does)
        metavar = "[COMMAND ...]" if self.alone else "COMMAND ..."
        super().__init__(
            name, context_settings=_HELP, callback=self._without_command, invoke_without_command=self.alone,
            no_args_is_help=False, **{"subcommand_metavar": metavar} | settings | more,
        )  # fmt: skip

    def _without_command(self, **given: Any) -> int | None:
        ctx = click.get_current_context()
        if ctx.invoked_subcommand:
            return None
        if self.does is not None:
            return self.does(ctx.find_root().ensure_object(Invocation), **given)
        usual = self.commands[self.usual]
        with usual.make_context(self.usual, [], parent=ctx) as inner:
            done: int | None = usual.invoke(inner)
        return done

    def add(self, name: str, *params: click.Parameter, **more: Any) -> Callable[[Does], MemoryCommand]:
        """A command of this group, made of the function below it; see `command`."""

        def make(does: Does) -> MemoryCommand:
            made = command(name, *params, **more)(does)
            self.add_command(made)
            return made

        return make

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which help shows them."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of the first word; a mistyped one is answered with the nearest names."""
        name, names = args[0], self.list_commands(ctx)
        if name not in names and not name.startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches

            near = get_close_matches(name, names, n=2)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            ctx.fail(f"No such command '{name}'.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the commands, each with the first sentence of its help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, short_help(one)) for name, one in self.commands.items()])


def group(name: str, *params: click.Parameter, **more: Any) -> Callable[[Does], Group]:
    """Makes a group of the function below it, which is what the group does where no command is named; its docstring is
    the help.
    """
    return lambda does: Group(name, "", *params, does=does, **more)


# What options say


def query_and_note(words: Sequence[str], explain: str | None) -> tuple[str, str | None]:
    """The query and the note that `--explain` names, "" for none: without another text, what follows it is the query.

    Raises click.MissingParameter for no query, InvalidInputError for an empty one.
    """
    if not words and explain:
        words, explain = (explain,), ""
    if not words:
        raise click.MissingParameter(param_hint="'QUERY'", param_type="argument")
    query = " ".join(words)
    must_be_named(query, "QUERY", "nothing was counted", "give a question", what="the question is empty")
    return query, explain


def must_be_named(
    name: str | None,
    where: str,
    kept: str = "nothing was changed",
    todo: str = "give a name",
    what: str = "the name is empty",
) -> None:
    """Raises InvalidInputError for a name that is given and empty. where: the option or argument."""
    if name is not None and not name.strip():
        raise bad_input(what, where, kept, todo, ErrorCode.EMPTY)


def id_list(text: str | None, option: str) -> tuple[str, ...]:
    """The ids of an option that takes "ID,..."; none when it is not given. Raises InvalidInputError for a text without
    any: a variable that a script forgot to set is no wish for everything.
    """
    ids = tuple(id.strip() for id in (text or "").split(",") if id.strip())
    if text is not None and not ids:
        raise bad_input("names no id", option, todo="give at least one id", code=ErrorCode.EMPTY)
    return ids


def chosen_ids(accept: str | None, refuse: str | None) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """What --accept and --refuse name; None for the first where neither chose: to refuse some is no order to do the
    others.
    """
    refused = id_list(refuse, "--refuse")
    return (id_list(accept, "--accept") if accept is not None or refused else None), refused


def refuse_unknown(
    unknown: Sequence[str],
    accepted: Sequence[str] | None,
    refused: Sequence[str],
    what: str,
    command: str,
    kept: str = "nothing was changed",
) -> None:
    """Raises NotFoundError for ids of --accept and --refuse that nothing proposed has. what: one of those."""
    if unknown:
        given = (("--accept", accepted or ()), ("--refuse", refused))
        where = ", ".join(name for name, ids in given if any(id in unknown for id in ids))
        todo = f"nuggets {command} --dry-run lists them"
        raise NotFoundError(f"there is no {what} {', '.join(unknown)}", where=where, kept=kept, todo=todo)


def new_nugget(name: str, known: Sequence[str]) -> str:
    """Says that a name that was typed begins a new nugget, and which one it may have been meant for; else ""."""
    if not name or name in known:
        return ""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    folded = {other.casefold(): other for other in known}
    reach = 2 if len(name) > 4 else 1
    near = process.extractOne(name.casefold(), list(folded), scorer=OSA.distance, score_cutoff=reach)
    meant = f"; there is also {folded[near[0]]}" if near else ""
    return f"{name} is a new nugget{meant}."


def meta_input(values: Mapping[str, Any]) -> MetaInput:
    """What metadata options gave. Raises InvalidInputError for a confidence that is no number from 0 to 1."""
    from core.model.infer import MetaInput

    sure = values["confidence"]
    if sure is not None and not 0.0 <= sure <= 1.0:
        raise bad_input("must be a number from 0 to 1", "confidence", "nothing was written")
    names = ("subject", "scope", "source", "confidence", "stability")
    return MetaInput(type=values["type_"], **{name: values[name] for name in names}).checked()


def filters(snapshot: Snapshot, values: Mapping[str, Any]) -> Filters:
    """The filters that listing options gave. Raises NotFoundError for a nugget that is not there."""
    from core.search import Filters

    known_nugget(snapshot, values["nugget"])
    names = ("nugget", "scope", "subject", "tag", "include_hidden")
    return Filters(type=values["type_"], **{name: values[name] for name in names})


def known_nugget(snapshot: Snapshot, name: str | None) -> None:
    """Raises NotFoundError when a nugget is named that neither a fact file nor a note knows."""
    must_be_named(name, "--nugget", kept="")
    if name is not None and name not in snapshot.nugget_names:
        raise snapshot.no_nugget(name)
