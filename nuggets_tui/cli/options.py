"""Options that several commands take: filters, metadata, names of nuggets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from core.errors import ErrorCode, InvalidInputError
from core.model.note import SCOPES, SOURCES, STABILITIES, TYPES
from nuggets_tui.cli.groups import TEXT

if TYPE_CHECKING:
    from core.model.infer import MetaInput
    from core.model.snapshot import Snapshot
    from core.search import Filters

F = TypeVar("F", bound=Callable[..., Any])


class WholeNumber(click.IntRange):
    """A whole number within bounds, called so."""

    name = "whole number"


class Number(click.types.FloatParamType):
    """A number, called so."""

    name = "number"


LIMIT: Final = WholeNumber(min=1)

nugget_option = click.option("--nugget", type=TEXT, metavar="NAME", help="Only this nugget.")
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")


explain_option = click.option(
    "--explain",
    type=TEXT,
    is_flag=False,
    flag_value="",
    metavar="[ID]",
    help="Explain each score; with ID, explain why that note is found, or why not.",
)


# Several words need no quotes.
query_argument = click.argument("words", metavar="QUERY", type=TEXT, nargs=-1)


def query_and_note(words: Sequence[str], explain: str | None) -> tuple[str, str | None]:
    """The query and the note that `--explain` names, "" for none: without another text, what follows it is the query.

    Raises click.MissingParameter for no query, InvalidInputError for an empty one.
    """
    if not words and explain:
        words, explain = (explain,), ""
    query = " ".join(words)
    if not words:
        raise click.MissingParameter(param_hint="'QUERY'", param_type="argument")
    if not query.strip():
        raise InvalidInputError(
            "the question is empty",
            code=ErrorCode.EMPTY,
            where="QUERY",
            kept="nothing was counted",
            todo="give a question",
        )
    return query, explain


def _together(function: F, options: list[Callable[[F], F]]) -> F:
    for option in reversed(options):
        function = option(function)
    return function


def filter_options(function: F) -> F:
    """--nugget, --scope, --type, --subject: which notes a command looks at."""
    return _together(
        function,
        [
            nugget_option,
            click.option("--scope", type=click.Choice(SCOPES), help="Only this scope."),
            click.option("--type", "type_", type=click.Choice(TYPES), help="Only this type."),
            click.option("--subject", type=TEXT, metavar="TEXT", help="Only this subject."),
        ],
    )


def listing_options(function: F) -> F:
    """Filters, --tag and --include-hidden."""
    return _together(
        function,
        [
            filter_options,
            click.option("--tag", type=TEXT, metavar="TAG", help="Only notes with this tag."),
            click.option("--include-hidden", is_flag=True, help="Include hidden notes."),
        ],
    )


def metadata_options(function: F) -> F:
    """--scope, --type, --source, --confidence, --stability, --subject: metadata given by hand."""
    return _together(
        function,
        [
            click.option("--scope", type=click.Choice(SCOPES), help="Whom it concerns."),
            click.option("--type", "type_", type=click.Choice(TYPES), help="What kind of memory it is."),
            click.option("--source", type=click.Choice(SOURCES), help="How it was learned."),
            click.option("--confidence", type=Number(), metavar="0..1", help="How sure it is."),
            click.option("--stability", type=click.Choice(STABILITIES), help="How long it should last."),
            click.option("--subject", type=TEXT, metavar="TEXT", help="Who or what it is about."),
        ],
    )


def id_list(text: str | None, option: str) -> tuple[str, ...]:
    """The ids of an option that takes "ID,..."; none when it is not given. Raises InvalidInputError for a text without
    any: a variable that a script forgot to set is no wish for everything.
    """
    ids = tuple(id.strip() for id in (text or "").split(",") if id.strip())
    if text is not None and not ids:
        raise InvalidInputError(
            "names no id",
            code=ErrorCode.EMPTY,
            field="id",
            where=option,
            kept="nothing was changed",
            todo="give at least one id",
        )
    return ids


def new_nugget(name: str, known: Sequence[str]) -> str:
    """Says that a name that was typed begins a new nugget, and which one it may have been meant for; else ""."""
    if name in known:
        return ""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    folded = {other.casefold(): other for other in known}
    reach = 2 if len(name) > 4 else 1
    near = process.extractOne(name.casefold(), list(folded), scorer=OSA.distance, score_cutoff=reach)
    meant = f"; there is also {folded[near[0]]}" if near else ""
    return f"{name} is a new nugget{meant}."


def unknown_where(unknown: Sequence[str], accepted: Sequence[str], refused: Sequence[str]) -> str:
    """The options, of --accept and --refuse, in which ids stand that nothing proposed has."""
    given = (("--accept", accepted), ("--refuse", refused))
    return ", ".join(name for name, ids in given if any(id in unknown for id in ids))


def meta_input(values: dict[str, Any]) -> MetaInput:
    """What metadata options gave. Raises InvalidInputError for a confidence that is no number from 0 to 1."""
    from core.model.infer import MetaInput

    sure = values["confidence"]
    if sure is not None and not 0.0 <= sure <= 1.0:
        raise InvalidInputError(
            "must be a number from 0 to 1",
            where="confidence",
            kept="nothing was written",
        )

    return MetaInput(
        subject=values["subject"],
        scope=values["scope"],
        type=values["type_"],
        source=values["source"],
        confidence=values["confidence"],
        stability=values["stability"],
    ).checked()


def filters(snapshot: Snapshot, values: dict[str, Any]) -> Filters:
    """The filters that listing options gave. Raises NotFoundError for a nugget that is not there."""
    from core.search import Filters

    known_nugget(snapshot, values["nugget"])
    return Filters(
        nugget=values["nugget"],
        scope=values["scope"],
        type=values["type_"],
        subject=values["subject"],
        tag=values["tag"],
        include_hidden=values["include_hidden"],
    )


def known_nugget(snapshot: Snapshot, name: str | None) -> None:
    """Raises NotFoundError when a nugget is named that neither a fact file nor a note knows."""
    if name is None or name in snapshot.nugget_names:
        return
    if not name.strip():
        raise InvalidInputError(
            "the name is empty", code=ErrorCode.EMPTY, where="--nugget", todo="give a name"
        )
    raise snapshot.no_nugget(name)
