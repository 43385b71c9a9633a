"""Commands about what changed: log, watch, undo, redo, history clear."""

from __future__ import annotations

import contextlib
import select
import sys
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Final

import click

from core.errors import AmbiguousError, BrokenFileError, NotFoundError, NuggetsError, few_of
from core.model.names import iso
from core.settings import SETTINGS_FILE
from core.text.exact import exact_form
from nuggets_tui.cli import entries
from nuggets_tui.cli.calling_agent import agent_name, refuse_agents
from nuggets_tui.cli.invocation import NOTHING_CHANGED, Invocation
from nuggets_tui.cli.moments import moment
from nuggets_tui.cli.options import YES, Group, arg, command, flag, limit, must_be_named, opt
from nuggets_tui.cli.output import (
    Line,
    bold,
    dim,
    shorten,
    undo_line,
    write_document,
    write_error,
    write_lines,
)
from nuggets_tui.differences import titles
from nuggets_tui.log import DEEDS, Scope, listed
from nuggets_tui.words import deed, plural

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.model.note import Note

_SHOWN: Final = 50
_PAGE: Final = 500
_KINDS: Final = [deeds.name for deeds in DEEDS]
# How authors are called where a person reads.
_AUTHORS: Final = {"me": "person", "you": "person", "another program": "program"}
_ID: Final = arg("id", required=False)


@command(
    "log",
    opt(
        "--author", "A",
        "Only changes by this author: person (or me), agent, reflection, pipeline, program, or a name.",
    ),
    opt("--note", "ID", "Only changes of this note; a deleted one too."),
    opt(
        "--kind kinds", "K", f"Only these kinds, may be repeated: {', '.join(_KINDS)} (a recall).",
        click.Choice(_KINDS), multiple=True,
    ),
    opt("--run", "ID", "Only this entry, such as a cleanup, and its undo."),
    opt("--words", "W", "Only entries with all these words in reason, title, key or path."),
    opt("--since", "T", 'Only since this local time: 2026-11-20, "2026-11-20 14:30", 2h, 3d or yesterday.'),
    opt("--until", "T", "Only until this time; a day counts to its end."),
    limit("Show the newest N.", default=_SHOWN, show_default=True),
    flag("-v --verbose", "Show each change in full, before and after."),
    examples=(
        "nuggets log --since yesterday",
        'nuggets log --note "JWT format" --verbose',
        "nuggets log --author agent --kind merged --words auth",
        "nuggets log --author agent --limit 200 --json",
    ),
)  # fmt: skip
def log(
    call: Invocation, author: str | None, note: str | None, kinds: tuple[str, ...], run: str | None,
    words: str | None, since: str | None, until: str | None, limit: int, verbose: bool,
) -> None:  # fmt: skip
    """Show the history: every change, whoever made it, newest first.

    Each entry has an id, and so has each change in it (--verbose shows them). nuggets undo accepts both.
    """
    memory, now = call.memory_with_log, datetime.now().astimezone()
    must_be_named(author, "--author", "", "give a kind or a name")
    wanted = (author or "").strip()
    scope = Scope(
        recalls=True,
        authors=(_AUTHORS.get(wanted.lower(), wanted),) if wanted else (),
        note_id=known_note(memory, note) if note is not None else "",
        deeds=kinds,
        run=memory.history.entry(run).id if run is not None else "",
        text=words or "",
        since=iso(moment(since, now)) if since is not None else "",
    )
    last = iso(moment(until, now, end_of_day=True)) if until is not None else None
    found = listed(memory, scope, limit + 1, last)
    shown, history = found[:limit], memory.history

    def lines() -> Iterator[Line]:
        if not shown:
            yield "No entry of the history matches." if history.log(limit=1) else "The history is empty."
        elif verbose:
            yield from entries.verbose_lines(shown, history.taken_back(), titles(memory.snapshot))
        else:
            yield from entries.log_lines(shown, history.taken_back())
        if len(found) > limit:
            yield dim(f"The newest {limit:,}; --limit shows more.")
        yield from entries.pending_conflict_lines(history.conflicts())

    call.answer(lambda: entries.entry_documents(memory, shown), lines)


def known_note(memory: Memory, wanted: str) -> str:
    """The id of the note that is meant, of one that was deleted as well, as far as the log knows it.

    Raises NotFoundError, AmbiguousError, InvalidInputError.
    """
    with contextlib.suppress(NotFoundError, BrokenFileError):
        return memory.snapshot.resolve(wanted).id
    wanted = wanted.strip()
    if memory.history.log(limit=1, note=wanted):
        return wanted
    title, found = exact_form(wanted), dict[str, None]()
    for note in _logged_notes(memory):
        beginnings = (note.id, note.id.rpartition("-")[2])
        if exact_form(note.title) == title or any(id.startswith(wanted) for id in beginnings):
            found[note.id] = None
    if not found:
        near = memory.snapshot.nearest_notes(wanted)
        raise NotFoundError(
            "no note has this id or title, and none in the history had it", field="note",
            where=wanted, todo="; ".join(filter(None, ("nuggets notes lists all notes", near))),
        )  # fmt: skip
    if len(found) > 1:
        what = f"matches {len(found)} notes in the history: {few_of(list(found))}"
        raise AmbiguousError(what, where=wanted, todo="give the id")
    return next(iter(found))


def _logged_notes(memory: Memory) -> Iterator[Note]:
    """Every former or present version of a note in the log, newest first."""
    before: int | None = None
    while found := memory.history.log(limit=_PAGE, before=before):
        for entry in found:
            for change in entry.change_set.notes:
                yield from (note for note in (change.after, change.before) if note is not None)
        before = found[-1].seq


# Deleting it

history = Group(
    "history", "Delete the history of changes; nuggets log shows it.", examples=("nuggets history clear",)
)


@history.add("clear", YES, examples=("nuggets history clear --yes",))
def clear(call: Invocation, yes: bool) -> None:
    """Delete every entry of the history for good, with the conflicts that wait. Notes, facts and submitted texts stay
    as they are; earlier changes can no longer be undone.
    """
    refuse_agents("deleting the history")
    memory = call.memory_with_log
    count = sum(number for *_, number in memory.history.counts())
    said = plural(count, "entry", "entries")
    agreed = call.agreed(f"Delete {said} for good?", yes=yes, needs_yes="history clear")
    if agreed:
        memory.history.clear()
    call.answer({"deleted": count if agreed else 0}, [f"Deleted {said}." if agreed else NOTHING_CHANGED])


# Taking back


@command("undo", _ID, examples=("nuggets undo", "nuggets undo 3f2a91c0", "nuggets undo 3f2a91c0.2"))
def undo(call: Invocation, id: str | None) -> None:
    """Undo a change: your own last one, or any other by its ID, whoever made it.

    nuggets log shows the ids; ID.2 names only the second change of an entry. Later changes stay. If a
    later change is in the way, nothing is changed, and the error names it.
    """
    _refuse_settings(call, id)
    _answer_turn(call, call.memory.history.undo(id))


@command("redo", _ID, examples=("nuggets redo", "nuggets redo 3f2a91c0"))
def redo(call: Invocation, id: str | None) -> None:
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
    told = deed(done)
    lines: list[Line] = [(f"{told.verb.capitalize()} ", bold(shorten(told.what)))]
    if done.empty and not call.memory.history.is_decision(done):
        lines = ["Nothing was changed: it is already so."]
    elif done.mends:
        lines.append(dim("To repair it again: nuggets verify --repair"))
    elif done.kind == "undo":
        lines.append(dim(f"To redo it: nuggets redo {done.about}"))
    else:
        lines += undo_line(done.about, "undo it again")
    call.answer(lambda: entries.applied_document(call.memory, done), lines)
    # Proposals whose acceptance was undone wait again; what cannot be done now the pipeline does later.
    from core.pipeline.service import Pipeline

    if Pipeline.exists(call.folder):
        with contextlib.suppress(NuggetsError), Pipeline.open(call.folder, memory=call.memory) as pipeline:
            pipeline.follow_undo()


# Watching


@command("watch", examples=("nuggets watch", "nuggets watch --json | jq -r .reason"))
def watch(call: Invocation) -> None:
    """Print a line for each change as it happens, whoever makes it: you, an agent or another program.

    With --json, one JSON document per line, in the shape of `nuggets log`. It ends on ctrl+c, or when its reader ends.
    """
    import asyncio

    memory = call.memory_with_log
    memory.refresh()
    call.warn()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_watch(memory, call.as_json))


async def _watch(memory: Memory, as_json: bool) -> None:
    """Raises BrokenPipeError once nobody reads any more, errors of the log."""
    import asyncio

    stop = asyncio.Event()
    polling, shown = False, memory.history.newest()

    def look() -> None:
        if _nobody_reads():
            stop.set()

    async for found in memory.watch_events(stop, look):
        if isinstance(found, NuggetsError):
            write_error(found.message)
            continue
        if memory.polling and not polling:
            write_error("the system has no free file watches, so it looks every second")
        polling = memory.polling
        for entry in memory.history.log(limit=None, after=shown)[::-1]:
            shown = max(shown, entry.seq)
            if as_json:
                write_document(entries.entry_document(entry), one_line=True)
            else:
                write_lines(entries.log_lines([entry], ()))
    if stop.is_set():
        raise BrokenPipeError


def _nobody_reads() -> bool:
    """Whether standard output leads to a pipe whose other end is closed, as far as the system tells."""
    try:
        looking = select.poll()
        looking.register(sys.stdout, 0)
        return any(event & select.POLLERR for _, event in looking.poll(0))
    except (AttributeError, OSError, ValueError):
        return False
