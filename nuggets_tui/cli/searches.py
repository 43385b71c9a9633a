"""The `searches` commands: kept searches and golden ones, listed with how they stand, kept, let go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from core.errors import BrokenFileError, ErrorCode, InvalidInputError
from core.model.kept import SEARCHES_FILE, WITHIN, KeptSearch
from nuggets_tui.cli.groups import TEXT, Entry, LazyGroup, command, example
from nuggets_tui.cli.invocation import Invocation, pass_call
from nuggets_tui.cli.options import LIMIT
from nuggets_tui.cli.output import Line, Span, table
from nuggets_tui.searches_text import lost_in_words, rank_of, sign_of, standing_of

if TYPE_CHECKING:
    from core.search.goldens import Verdict

LOST = 1
_NONE = 'No search is kept yet: nuggets searches keep NAME QUERY, for instance "auth" "token tag:auth".'


@click.pass_context
def _list(ctx: click.Context) -> int | None:
    """Lists the searches when no command was given."""
    if ctx.invoked_subcommand is not None:
        return None
    call = ctx.find_root().ensure_object(Invocation)
    searches, problem = call.memory.searches, call.memory.searches_problem
    if problem and not searches:
        # A script that relies on golden searches must not take this for none being lost.
        raise BrokenFileError(problem, where=str(call.memory.home / SEARCHES_FILE))
    verdicts = tuple(call.memory.judge_searches(searches))
    call.answer(lambda: [_document(one) for one in verdicts], lambda: _lines(verdicts))
    call.memory.keep_index()
    return LOST if problem or any(one.lost for one in verdicts) else 0


searches_group = LazyGroup(
    "searches",
    entries={
        "keep": Entry("nuggets_tui.cli.searches:keep", "Keep a search; with --must-find, a golden one."),
        "drop": Entry("nuggets_tui.cli.searches:drop", "Let kept searches go."),
    },
    callback=_list,
    invoke_without_command=True,
    help="""List kept searches with their hits, and golden ones with the rank of the note that they must find.

Ends with 1 when a golden search is lost: its note is no longer within the first hits it was kept with. So a
script can tell whether the memory still answers what it must.""",
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
@click.option(
    "--must-find", type=TEXT, metavar="ID", help="The note that it must find, by id or exact title."
)
@click.option("--within", type=LIMIT, metavar="N", help=f"Among the first N hits ({WITHIN} when not said).")
@click.option("--replace", "again", is_flag=True, help="Take the place of the one kept under this name.")
@pass_call
def keep(
    call: Invocation, /, name: str, query: str, must_find: str | None, within: int | None, again: bool
) -> None:
    """Keep a search under a name, in searches.toml of the memory."""
    if within is not None and must_find is None:
        raise InvalidInputError(
            "needs --must-find", code=ErrorCode.BAD_OPTIONS, where="--within", kept="nothing was kept"
        )
    memory = call.memory
    note = memory.snapshot.resolve(must_find) if must_find is not None else None
    search = KeptSearch(
        name,
        query,
        note.id if note is not None else "",
        note.title if note is not None else "",
        within or WITHIN,
    )
    done = memory.keep_search(search, instead_of=" ".join(name.split()) if again else "")
    (verdict,) = memory.judge_searches([one for one in memory.searches if one.name == " ".join(name.split())])
    call.answer(
        lambda: _document(verdict) | {"changeSet": done.id},
        lambda: [("Kept ", Span(verdict.search.name, "bold"), f"{_kept_how(verdict)}.")],
    )


def _kept_how(verdict: Verdict) -> str:
    if not verdict.lost:
        return f": {standing_of(verdict)}"
    reason = standing_of(verdict).removeprefix("lost: ")
    return f", though it does not find what it must as yet: {reason}"


@command("drop", epilog=example("nuggets searches drop tokens"))
@click.argument("names", type=TEXT, nargs=-1, required=True, metavar="NAME...")
@pass_call
def drop(call: Invocation, /, names: tuple[str, ...]) -> None:
    """Let kept searches go. No note is touched, and undo brings them back."""
    done = call.memory.let_searches_go(names)
    call.answer(
        lambda: {"dropped": list(names), "changeSet": done.id},
        lambda: [("Let go: ", Span(", ".join(names), "bold"), Span(f"  nuggets undo {done.id}", "dim"))],
    )


def _document(verdict: Verdict) -> dict[str, Any]:
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
    return document | (golden if search.golden else dict.fromkeys(golden))


def _lines(verdicts: tuple[Verdict, ...]) -> Iterator[Line]:
    if not verdicts:
        yield _NONE
        return
    rows = [
        (
            Span(sign_of(one), "bad" if one.lost else "good"),
            Span(one.search.name, "bold"),
            rank_of(one) if one.search.golden else "",
            Span(standing_of(one), "bad" if one.lost else ""),
            Span(one.search.query, "dim"),
        )
        for one in verdicts
    ]
    yield from table(rows, flexible=4)
    lost = lost_in_words(verdicts)
    if lost:
        yield Span(f"{lost}. What stands in its way: nuggets search QUERY --explain ID", "bad")
