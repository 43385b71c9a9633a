"""The `searches` commands: kept searches and golden ones, listed with how they stand, kept, let go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from core.errors import ErrorCode, InvalidInputError
from core.model.saved_search import WITHIN, SavedSearch
from nuggets_tui.cli.groups import TEXT, CommandEntry, LazyGroup, command, example
from nuggets_tui.cli.invocation import Invocation, pass_call
from nuggets_tui.cli.options import LIMIT
from nuggets_tui.cli.output import Line, Span, table
from nuggets_tui.searches_text import lost_in_words, rank_of, status_icon, status_text, why_failed

if TYPE_CHECKING:
    from core.search.search_checks import SearchCheckResult

LOST = 1
_NONE = 'No saved searches. To save one: nuggets searches keep NAME QUERY, such as "auth" "token tag:auth".'


def _list(call: Invocation) -> int:
    """Lists the searches with what each finds."""
    searches, problem = call.memory.searches, call.memory.searches_problem
    if call.memory.searches_error is not None:
        # A script that relies on search checks must not take this for none failing.
        raise call.memory.searches_error
    verdicts = tuple(call.memory.judge_searches(searches))
    call.answer(lambda: [_document(one) for one in verdicts], lambda: _lines(verdicts))
    call.memory.keep_index()
    return LOST if problem or any(one.lost for one in verdicts) else 0


searches_group = LazyGroup(
    "searches",
    entries={
        "keep": CommandEntry(
            "nuggets_tui.cli.searches:keep", "Save a search; --must-find makes it a search check."
        ),
        "drop": CommandEntry("nuggets_tui.cli.searches:drop", "Delete saved searches."),
    },
    by_default=_list,
    help="""List saved searches with their hits, and search checks with the rank of the note that they must find.

Exit code 1 when a search check fails: its note is no longer among the first hits. So a script can guard what
your agents must be able to find.""",
    subcommand_metavar="[COMMAND ...]",
    epilog=example(
        "nuggets searches",
        "nuggets searches keep tokens 'auth token' --must-find 'JWT token format' --within 3",
    ),
)


@command(
    "keep", epilog=example("nuggets searches keep tokens 'auth token' --must-find note-web-1a2b --within 3")
)
@click.argument("name", type=TEXT)
@click.argument("query", type=TEXT)
@click.option("--must-find", type=TEXT, metavar="ID", help="Note that it must find, by id or exact title.")
@click.option("--within", type=LIMIT, metavar="N", help=f"Among the first N hits (default: {WITHIN}).")
@click.option("--replace", "again", is_flag=True, help="Replace the search saved under this name.")
@pass_call
def keep(
    call: Invocation, /, name: str, query: str, must_find: str | None, within: int | None, again: bool
) -> None:
    """Save a search under a name, in searches.toml of the memory."""
    if within is not None and must_find is None:
        raise InvalidInputError(
            "needs --must-find", code=ErrorCode.BAD_OPTIONS, where="--within", kept="nothing was saved"
        )
    memory = call.memory
    note = memory.snapshot.resolve(must_find) if must_find is not None else None
    search = SavedSearch(
        name,
        query,
        note.id if note is not None else "",
        note.title if note is not None else "",
        within or WITHIN,
    )
    done = memory.save_search(search, instead_of=" ".join(name.split()) if again else "")
    (verdict,) = memory.judge_searches([one for one in memory.searches if one.name == " ".join(name.split())])
    call.answer(
        lambda: _document(verdict) | {"changeSet": done.id},
        lambda: [("Saved ", Span(verdict.search.name, "bold"), f"{_saved_how(verdict)}.")],
    )


def _saved_how(verdict: SearchCheckResult) -> str:
    if not verdict.lost:
        return f": {status_text(verdict)}"
    return f", but its check fails: {why_failed(verdict)}"


@command("drop", epilog=example("nuggets searches drop tokens"))
@click.argument("names", type=TEXT, nargs=-1, required=True, metavar="NAME...")
@pass_call
def drop(call: Invocation, /, names: tuple[str, ...]) -> None:
    """Delete saved searches. No note is touched, and nuggets undo brings them back."""
    done = call.memory.delete_searches(names)
    call.answer(
        lambda: {"dropped": list(names), "changeSet": done.id},
        lambda: [("Deleted ", Span(", ".join(names), "bold"), Span(f"  nuggets undo {done.id}", "dim"))],
    )


def _document(verdict: SearchCheckResult) -> dict[str, Any]:
    search = verdict.search
    document: dict[str, Any] = {"name": search.name, "query": search.query, "total": verdict.total}
    golden = {
        "mustFind": search.must_find,
        "title": search.title,
        "within": search.within,
        "noteId": verdict.note_id,
        "rank": verdict.rank or None,
        "lost": verdict.lost,
        "trouble": verdict.trouble or None,
    }
    return document | (golden if search.is_check else dict.fromkeys(golden))


def _lines(verdicts: tuple[SearchCheckResult, ...]) -> Iterator[Line]:
    if not verdicts:
        yield _NONE
        return
    rows = [
        (
            Span(status_icon(one), "bad" if one.lost else "good"),
            Span(one.search.name, "bold"),
            rank_of(one) if one.search.is_check else "",
            Span(status_text(one), "bad" if one.lost else ""),
            Span(one.search.query, "dim"),
        )
        for one in verdicts
    ]
    yield from table(rows, flexible=4)
    lost = lost_in_words(verdicts)
    if lost:
        yield Span(f"{lost}. To see why: nuggets search QUERY --explain ID", "bad")
