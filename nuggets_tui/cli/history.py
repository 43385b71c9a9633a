"""Commands about what changed: log, undo, redo."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import click

from core.errors import (
    AmbiguousError,
    BrokenFileError,
    ErrorCode,
    InvalidInputError,
    NotFoundError,
    NuggetsError,
    few_of,
)
from core.model.names import iso
from core.settings import SETTINGS_FILE
from core.text.exact import exact_form
from nuggets_tui.cli.calling_agent import agent_name, refuse_agents
from nuggets_tui.cli.groups import TEXT, CommandEntry, LazyGroup, command, example
from nuggets_tui.cli.invocation import Invocation, must_confirm, pass_call
from nuggets_tui.cli.log_text import (
    change_set_document,
    entry_document,
    log_lines,
    pending_conflict_lines,
    verbose_lines,
)
from nuggets_tui.cli.moments import moment
from nuggets_tui.cli.options import LIMIT, yes_option
from nuggets_tui.cli.output import LONGEST, Line, Span, shorten
from nuggets_tui.differences import titles
from nuggets_tui.log import DEEDS, Scope, listed
from nuggets_tui.words import deed, plural

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.model.entry import Entry
    from core.model.note import Note

_SHOWN: Final = 50
_PAGE: Final = 500
# How authors are called where a person reads.
_AUTHORS: Final = {"me": "person", "you": "person", "another program": "program"}


@command(
    "log",
    epilog=example(
        "nuggets log --since yesterday",
        'nuggets log --note "JWT format" --verbose',
        "nuggets log --author agent --kind merged --words auth",
        "nuggets log --author agent --limit 200 --json",
    ),
)
@click.option(
    "--author", type=TEXT, metavar="A",
    help="Only changes by this author: person (or me), agent, reflection, pipeline, program, or a name.",
)  # fmt: skip
@click.option("--note", type=TEXT, metavar="ID", help="Only changes of this note; a deleted one too.")
@click.option(
    "--kind", "kinds", type=click.Choice([deeds.name for deeds in DEEDS]), multiple=True, metavar="K",
    help=f"Only these kinds, may be repeated: {', '.join(deeds.name for deeds in DEEDS)} (a recall).",
)  # fmt: skip
@click.option("--run", type=TEXT, metavar="ID", help="Only this entry, such as a cleanup, and its undo.")
@click.option(
    "--words", type=TEXT, metavar="W", help="Only entries with all these words in reason, title, key or path."
)
@click.option(
    "--since", type=TEXT, metavar="T",
    help='Only since this local time: 2026-11-20, "2026-11-20 14:30", 2h, 3d or yesterday.',
)  # fmt: skip
@click.option("--until", type=TEXT, metavar="T", help="Only until this time; a day counts to its end.")
@click.option(
    "--limit", type=LIMIT, default=_SHOWN, show_default=True, metavar="N", help="Show the newest N."
)
@click.option("-v", "--verbose", is_flag=True, help="Show each change in full, before and after.")
@pass_call
def log(
    call: Invocation,
    /,
    author: str | None,
    note: str | None,
    kinds: tuple[str, ...],
    run: str | None,
    words: str | None,
    since: str | None,
    until: str | None,
    limit: int,
    verbose: bool,
) -> None:
    """Show the history: every change, whoever made it, newest first.

    Each entry has an id, and so has each change in it (--verbose shows them). nuggets undo accepts both.
    """
    memory = call.memory_with_log
    wanted = _author(author)
    scope = Scope(
        recalls=True,
        authors=(wanted,) if wanted is not None else (),
        note_id=known_note(memory, note) if note is not None else "",
        deeds=kinds,
        run=memory.history.entry(run).id if run is not None else "",
        text=words or "",
        since=_moment(since) or "",
    )
    found = listed(memory, scope, limit + 1, _moment(until, end_of_day=True))
    call.answer(
        lambda: entry_documents(memory, found[:limit]),
        lambda: _log_lines(memory, found[:limit], len(found) > limit, verbose),
    )


history_group = LazyGroup(
    "history",
    entries={"clear": CommandEntry("nuggets_tui.cli.history:clear", "Delete every entry for good.")},
    help="Delete the history of changes; nuggets log shows it.",
    epilog=example("nuggets history clear"),
)


@command("clear", epilog=example("nuggets history clear --yes"))
@yes_option
@pass_call
def clear(call: Invocation, /, yes: bool) -> None:
    """Delete every entry of the history for good, with the conflicts that wait. Notes, facts and submitted texts stay
    as they are; nothing done before can be undone.
    """
    refuse_agents("deleting the history")
    memory = call.memory_with_log
    count = sum(number for *_, number in memory.history.counts())
    go_on = must_confirm(call, yes, "history clear", f"Delete {plural(count, 'entry', 'entries')} for good?")
    if go_on:
        memory.history.clear()
    call.answer(
        lambda: {"deleted": count if go_on else 0},
        lambda: [f"Deleted {plural(count, 'entry', 'entries')}." if go_on else "Nothing was changed."],
    )


def _author(given: str | None) -> str | None:
    if given is None:
        return None
    if not given.strip():
        raise InvalidInputError(
            "the name is empty",
            code=ErrorCode.EMPTY,
            where="--author",
            todo="give a kind or a name",
        )
    return _AUTHORS.get(given.strip().lower(), given.strip())


def _moment(given: str | None, *, end_of_day: bool = False) -> str | None:
    if given is None:
        return None
    return iso(moment(given, datetime.now().astimezone(), end_of_day=end_of_day))


def _log_lines(memory: Memory, entries: Sequence[Entry], more: bool, verbose: bool) -> Iterator[Line]:
    if not entries:
        yield "No entry of the history matches." if memory.history.log(limit=1) else "The history is empty."
    elif verbose:
        yield from verbose_lines(entries, memory.history.taken_back(), titles(memory.snapshot))
    else:
        yield from log_lines(entries, memory.history.taken_back())
    if more:
        yield Span(f"The newest {len(entries):,}; --limit shows more.", "dim")
    yield from pending_conflict_lines(memory.history.conflicts())


# Notes that are gone


def known_note(memory: Memory, wanted: str) -> str:
    """The id of the note that is meant, of one that was deleted as well, as far as the log knows it.

    Raises NotFoundError, AmbiguousError, InvalidInputError.
    """
    try:
        return memory.snapshot.resolve(wanted).id
    except (NotFoundError, BrokenFileError):
        pass
    wanted = wanted.strip()
    if memory.history.log(limit=1, note=wanted):
        return wanted
    found = dict.fromkeys(note.id for note in _logged_notes(memory) if _is_meant(note, wanted))
    if not found:
        near = memory.snapshot.nearest_notes(wanted)
        raise NotFoundError(
            "no note has this id or title, and none in the history had it", field="note",
            where=wanted, todo="; ".join(filter(None, ("nuggets notes lists all notes", near))),
        )  # fmt: skip
    if len(found) > 1:
        few = few_of(list(found))
        raise AmbiguousError(
            f"matches {len(found)} notes in the history: {few}", where=wanted, todo="give the id"
        )
    return next(iter(found))


def _is_meant(note: Note, wanted: str) -> bool:
    beginnings = (note.id, note.id.rpartition("-")[2])
    return exact_form(note.title) == exact_form(wanted) or any(id.startswith(wanted) for id in beginnings)


def _logged_notes(memory: Memory) -> Iterator[Note]:
    """Every former or present version of a note in the log, newest first."""
    before: int | None = None
    while entries := memory.history.log(limit=_PAGE, before=before):
        for entry in entries:
            for change in entry.change_set.notes:
                yield from (note for note in (change.after, change.before) if note is not None)
        before = entries[-1].seq


# Taking back


@command("undo", epilog=example("nuggets undo", "nuggets undo 3f2a91c0", "nuggets undo 3f2a91c0.2"))
@click.argument("id", type=TEXT, required=False)
@pass_call
def undo(call: Invocation, /, id: str | None) -> None:
    """Undo your own last change, or any change by its ID, whoever made it.

    nuggets log shows the ids; ID.2 names only the second change of an entry. Later changes stay. If a
    later change is in the way, nothing is changed, and the error names it.
    """
    _refuse_settings(call, id)
    _answer_turn(call, call.memory.history.undo(id))


@command("redo", epilog=example("nuggets redo", "nuggets redo 3f2a91c0"))
@click.argument("id", type=TEXT, required=False)
@pass_call
def redo(call: Invocation, /, id: str | None) -> None:
    """Redo the change that you undid last, or any undone change by its ID."""
    _refuse_settings(call, id)
    _answer_turn(call, call.memory.history.redo(id))


def _refuse_settings(call: Invocation, id: str | None) -> None:
    """Refuses an agent to take back or repeat a change of the settings, and what a person did last."""
    if not agent_name():
        return
    if id is None:
        if call.author.kind == "person":
            refuse_agents("undoing or redoing a person's last change")
        return
    entry = call.memory.history.entry(id.partition(".")[0])
    if any(change.path == SETTINGS_FILE for change in entry.change_set.files):
        refuse_agents("changing settings")


def _answer_turn(call: Invocation, done: ChangeSet) -> None:
    touched = not done.empty or call.memory.history.is_decision(done)
    call.answer(lambda: applied_document(call.memory, done), lambda: _turn_lines(done, touched))
    _follow_undo(call)


def _follow_undo(call: Invocation) -> None:
    """Lets proposals wait again whose acceptance was undone; what cannot be done now the pipeline does later."""
    from core.pipeline.service import Pipeline

    if Pipeline.exists(call.folder):
        with suppress(NuggetsError), Pipeline.open(call.folder, memory=call.memory) as pipeline:
            pipeline.follow_undo()


def entry_documents(memory: Memory, entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Entries of the log, each with what of it is taken back at present."""
    taken_back = memory.history.taken_back()
    return [entry_document(entry, taken_back) for entry in entries]


def applied_document(memory: Memory, done: ChangeSet) -> dict[str, Any]:
    """A change set that was just applied, as the log has it."""
    if not done.empty or memory.history.is_decision(done):
        try:
            return entry_document(memory.history.entry(done.id), memory.history.taken_back())
        except NotFoundError:
            pass
    return change_set_document(done)


def _turn_lines(done: ChangeSet, touched: bool) -> Iterator[Line]:
    if not touched:
        yield "Nothing was changed: it is already so."
        return
    told = deed(done)
    yield (f"{told.verb.capitalize()} ", Span(shorten(told.what, LONGEST), "bold"))
    if done.mends:
        yield Span("To repair it again: nuggets verify --repair", "dim")
    elif done.kind == "undo":
        yield Span(f"To redo it: nuggets redo {done.about}", "dim")
    else:
        yield Span(f"To undo it again: nuggets undo {done.about}", "dim")
