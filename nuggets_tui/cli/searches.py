"""The `searches` commands: saved searches listed, saved, deleted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from core.model.saved_search import SavedSearch
from nuggets_tui.cli.groups import TEXT, CommandEntry, LazyGroup, command, example
from nuggets_tui.cli.invocation import Invocation, pass_call
from nuggets_tui.cli.output import Line, Span, table

UNREADABLE = 1
_NONE = 'No saved searches. To save one: nuggets searches keep NAME QUERY, such as "auth" "token tag:auth".'


def _list(call: Invocation) -> int:
    """Lists the searches."""
    searches, problem = call.memory.searches.all, call.memory.searches.problem
    if call.memory.searches.broken is not None:
        raise call.memory.searches.broken
    call.answer(lambda: [_document(one) for one in searches], lambda: _lines(searches))
    return UNREADABLE if problem else 0


searches_group = LazyGroup(
    "searches",
    entries={
        "keep": CommandEntry("nuggets_tui.cli.searches:keep", "Save a search."),
        "drop": CommandEntry("nuggets_tui.cli.searches:drop", "Delete saved searches."),
    },
    by_default=_list,
    help="List saved searches. Exit code 1 when one of the file makes no sense.",
    subcommand_metavar="[COMMAND ...]",
    epilog=example("nuggets searches", "nuggets searches keep tokens 'auth token'"),
)


@command("keep", epilog=example("nuggets searches keep tokens 'auth token'"))
@click.argument("name", type=TEXT)
@click.argument("query", type=TEXT)
@click.option("--replace", "again", is_flag=True, help="Replace the search saved under this name.")
@pass_call
def keep(call: Invocation, /, name: str, query: str, again: bool) -> None:
    """Save a search under a name, in searches.toml of the memory."""
    search = SavedSearch(" ".join(name.split()), query)
    done = call.memory.searches.save(search, instead_of=search.name if again else "")
    call.answer(
        lambda: _document(search) | {"changeSet": done.id},
        lambda: [("Saved ", Span(search.name, "bold"), ".")],
    )


@command("drop", epilog=example("nuggets searches drop tokens"))
@click.argument("names", type=TEXT, nargs=-1, required=True, metavar="NAME...")
@pass_call
def drop(call: Invocation, /, names: tuple[str, ...]) -> None:
    """Delete saved searches. No note is touched, and nuggets undo brings them back."""
    done = call.memory.searches.delete(names)
    call.answer(
        lambda: {"dropped": list(names), "changeSet": done.id},
        lambda: [("Deleted ", Span(", ".join(names), "bold"), Span(f"  nuggets undo {done.id}", "dim"))],
    )


def _document(search: SavedSearch) -> dict[str, Any]:
    return {"name": search.name, "query": search.query}


def _lines(searches: tuple[SavedSearch, ...]) -> Iterator[Line]:
    if not searches:
        yield _NONE
        return
    yield from table([(Span(one.name, "bold"), Span(one.query, "dim")) for one in searches], flexible=1)
