"""The `sync` commands: the same memory on several machines, through git."""

from __future__ import annotations

import shlex
import shutil
import socket
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from core.errors import ErrorCode, InvalidInputError
from nuggets_tui.cli.groups import FOLDER, TEXT, CommandEntry, LazyGroup, command, example
from nuggets_tui.cli.invocation import Invocation, can_ask, pass_call
from nuggets_tui.cli.options import dry_run_option
from nuggets_tui.cli.output import Line, Span, SpanStyle, write_lines
from nuggets_tui.words import local_time, plural

if TYPE_CHECKING:
    from core.memory import Memory
    from core.sync import StepDone, SyncResult, SyncState

_MODULE: Final = "nuggets_tui.cli.sync"
_NOT_IN_STEP, _CONFLICT = 1, 3
_DONE: Final = {
    "folder": ("Made the folder {}.", ""),
    "repository": ("Made a git repository in {}.", "The git repository in {} is used."),
    "branch": ("Syncs the branch {}.", "Syncs the branch {}."),
    "remote": ("Added the remote {}.", "The remote {} is used."),
    "ignore": ("Added what belongs to this machine alone to {}.", "{} has what it needs."),
    "attributes": ("Added the merge driver to {}.", "{} has what it needs."),
    "driver": ("Set git's merge driver for memories: {}.", "Git's merge driver is set: {}."),
    "sync": ("Set the sync up; commits call this machine {}.", "It was set up before; commits call this machine {}."),
}  # fmt: skip
_WOULD: Final = {
    "folder": "Would make the folder {}.",
    "repository": "Would make a git repository in {}.",
    "branch": "Would sync the branch {}.",
    "remote": "Would add the remote {}.",
    "ignore": "Would add what belongs to this machine alone to {}.",
    "attributes": "Would add the merge driver to {}.",
    "driver": "Would set git's merge driver for memories: {}.",
    "sync": "Would commit the memory, take in what the remote has, and push.",
}
_TAKEN_BACK: Final = {
    "ignore": "Took the added lines out of {}.",
    "attributes": "Took the added lines out of {}.",
    "driver": "Took git's merge driver for memories out of the repository's settings.",
    "remote": "Removed the remote {}.",
    "history": "The memory stays as it is, and so do the commits in {}.",
}
_STANDINGS: Final[dict[str, tuple[str, SpanStyle]]] = {
    "off": ("No sync is set up. To begin: nuggets sync init [REMOTE]", "dim"),
    "conflict": ("Conflicts wait for you.", "warn"),
    "offline": ("Offline: the remote could not be reached.", "warn"),
    "stopped": ("The last sync did not go through.", "bad"),
    "to-send": ("Changes wait to be sent.", ""),
    "in-step": ("In step.", "good"),
}


sync_group = LazyGroup(
    "sync",
    entries={
        "init": CommandEntry(f"{_MODULE}:init", "Set the sync up, and sync for the first time."),
        "status": CommandEntry(f"{_MODULE}:status", "Show how the memory stands, without asking the remote."),
        "off": CommandEntry(f"{_MODULE}:off", "Take back what init set up; the memory stays."),
    },
    by_default=lambda call: _sync(call),
    help="""Keep the memory the same on several machines, through your own git.

Without a command it syncs: commits what changed, takes in what others pushed, and pushes. What comes in is in the
history and can be undone. Exit codes: 1 the remote could not be reached, 2 it could not go on, 3 conflicts wait.""",
    subcommand_metavar="[COMMAND ...]",
    epilog=example("nuggets sync init git@example.com:me/memory.git", "nuggets sync", "nuggets sync status"),
)


@command(
    "init",
    epilog=example(
        "nuggets sync init git@example.com:me/memory.git",
        "nuggets sync init /media/stick/memory.git --dry-run",
    ),
)
@click.argument("remote", type=FOLDER, required=False)
@click.option(
    "--machine", type=TEXT, metavar="NAME", help="What commits call this machine (default: its host name)."
)
@dry_run_option
@pass_call
def init(call: Invocation, /, remote: str | None, machine: str | None, dry_run: bool) -> int:
    """Set the sync up in the memory's folder, and sync for the first time.

    REMOTE is an address as `git clone` takes it, or the name of a remote that git knows. Without it the repository's
    own remote is used; if there is none, syncs only commit. A repository around the folder is used, unless it ignores
    the folder.

    A remote that holds a memory already is joined: nothing of either side is lost. What differs waits as a conflict.
    """
    from core.sync import set_up
    from core.sync.service import refuse_pages

    memory = call.memory
    if memory.pages is not None:
        raise refuse_pages(memory.pages)
    name = _machine(machine)
    had_notes = bool(memory.snapshot.notes)
    steps = set_up(memory.home, remote, driver=_driver(), machine=name, dry_run=dry_run, asks=can_ask())
    if dry_run:
        call.answer(lambda: _set_up_document(steps, None, 0), lambda: _step_lines(steps, _WOULD))
        return 0
    if not call.as_json:
        write_lines(_step_lines(steps))
    result = _run(memory)
    doubles = _doubles(memory) if had_notes and result.came_in else 0
    call.answer(
        lambda: _set_up_document(steps, _result_document(result), doubles),
        lambda: [*_result_lines(memory, result), *_double_lines(doubles)],
    )
    return _exit_code(result.state)


@command("status", epilog=example("nuggets sync status", "nuggets sync status --json"))
@pass_call
def status(call: Invocation, /) -> int:
    """Show how the memory stands to its remote, without asking it."""
    from core.sync import Sync

    state = Sync(call.memory).state()
    call.answer(lambda: _state_document(state), lambda: _state_lines(state))
    return _exit_code(state)


@command("off", epilog=example("nuggets sync off"))
@pass_call
def off(call: Invocation, /) -> None:
    """Take back what `nuggets sync init` set up. The memory stays, and so do git's commits."""
    from core.sync import take_back

    steps = take_back(call.memory_as_it_is.home)
    call.answer(lambda: {"steps": [_step_document(one) for one in steps]}, lambda: _taken_back_lines(steps))


def _sync(call: Invocation) -> int:
    memory = call.memory
    result = _run(memory)
    call.answer(lambda: _result_document(result), lambda: _result_lines(memory, result))
    return _exit_code(result.state)


def _run(memory: Memory) -> SyncResult:
    from core.sync import BY_HAND_SILENCE, Sync

    return Sync(memory, asks=can_ask(), silence=BY_HAND_SILENCE).run()


def _exit_code(state: SyncState) -> int:
    if state.conflicts:
        return _CONFLICT
    return _NOT_IN_STEP if state.problem else 0


def _machine(given: str | None) -> str:
    name = socket.gethostname().partition(".")[0] if given is None else given
    if not name.strip() or not name.isprintable():
        if given is None:
            return "this machine"
        raise InvalidInputError(
            "is no name for a machine", code=ErrorCode.BAD_NAME, where="--machine", kept="nothing was changed"
        )
    return name.strip()


def _driver() -> str:
    """The command with which git merges the files of a memory."""
    found = shutil.which("nuggets") is not None
    program = "nuggets" if found else f"{shlex.quote(sys.executable)} -P -m nuggets_tui"
    return f"{program} merge-file %O %A %B %P"


def _doubles(memory: Memory) -> int:
    """How many pairs of notes look like one, now that two memories are one."""
    return memory.reflect(
        dry_run=True, limit=len(memory.snapshot.notes), max_merged=len(memory.snapshot.notes)
    ).counts["merged"]


def _double_lines(doubles: int) -> Iterator[Line]:
    if doubles:
        yield (
            f"{plural(doubles, 'pair')} of notes look like one. To merge them: ",
            Span("nuggets reflect --all", "bold"),
        )


# Words


def _step_lines(steps: Iterable[StepDone], would: dict[str, str] | None = None) -> Iterator[Line]:
    for one in steps:
        done, was_so = _DONE[one.step]
        said = was_so if one.already else done if would is None else would[one.step]
        if said:
            yield Span(said.format(one.what), "dim" if one.already else "")


def _taken_back_lines(steps: Iterable[StepDone]) -> Iterator[Line]:
    for one in steps:
        yield _TAKEN_BACK[one.step].format(one.what)


def _result_lines(memory: Memory, result: SyncResult) -> Iterator[Line]:
    state = result.state
    if result.committed:
        yield f"Committed {_items(result.committed)}."
    if result.came_in:
        undo = "  ".join(f"nuggets undo {id}" for id in result.change_sets)
        yield (f"{_items(result.came_in)} came in.", Span(f"  {undo}", "dim"))
    for what in _named(memory, result.kept_here):
        yield Span(f"{what} was deleted elsewhere and changed here: it is kept.", "warn")
    for what in _named(memory, result.brought_back):
        yield Span(f"{what} was deleted here and changed elsewhere: it is back.", "warn")
    for path in result.left_out:
        yield Span(f"Left out, since it's no file of a memory: {path!r}", "warn")
    if result.sent:
        yield f"Sent {_items(result.sent)}."
    yield from _state_lines(state, after=True)


def _items(count: int) -> str:
    return plural(count, "note")


def _named(memory: Memory, names: Iterable[str]) -> list[str]:
    """Notes by their titles and facts by nugget and key, each once."""
    found: dict[str, None] = {}
    for name in names:
        note = memory.snapshot.by_id.get(name)
        if note is None:
            found[name] = None
        else:
            found[f"{note.nugget_name}: {note.key}" if note.is_fact else f'"{note.title}"'] = None
    return list(found)


def _state_lines(state: SyncState, *, after: bool = False) -> Iterator[Line]:
    said, style = _STANDINGS[state.standing]
    alone = state.set_up and not state.remote
    if alone and state.standing == "in-step":
        said = "Committed on this machine alone: there is no remote. To add one: nuggets sync init REMOTE"
    yield Span(said, style)
    if not state.set_up:
        return
    if state.conflicts:
        yield f"{plural(state.conflicts, 'conflict')}: nuggets resolve"
    if state.offline and state.standing != "offline":
        yield Span(*_STANDINGS["offline"])
    if state.problem:
        yield Span(f"  {': '.join(filter(None, (state.where, state.problem)))}", "dim")
        for said in filter(None, (state.safe, state.todo)):
            yield Span(f"  {said}", "dim")
    if state.to_send:
        yield f"{_items(state.to_send)} to send{', with the next sync' if after else ': nuggets sync'}."
    if not after:
        if state.remote:
            yield Span(f"Remote: {state.remote}, branch {state.branch}", "dim")
        when = f"last sync {local_time(state.at)}" if state.at else "never synced yet"
        yield Span(f"This machine: {state.machine}, {when}", "dim")


# JSON


def _step_document(one: StepDone) -> dict[str, Any]:
    return {"step": str(one.step), "what": one.what, "already": one.already}


def _set_up_document(
    steps: Iterable[StepDone], result: dict[str, Any] | None, doubles: int
) -> dict[str, Any]:
    return {"steps": [_step_document(one) for one in steps], "sync": result, "doubles": doubles}


def _state_document(state: SyncState) -> dict[str, Any]:
    return {
        "standing": str(state.standing),
        "setUp": state.set_up,
        "remote": state.remote,
        "branch": state.branch,
        "machine": state.machine,
        "toSend": state.to_send,
        "cameIn": state.came_in,
        "conflicts": state.conflicts,
        "offline": state.offline,
        "problem": state.problem,
        "where": state.where,
        "kept": state.safe,
        "todo": state.todo,
        "at": state.at,
    }


def _result_document(result: SyncResult) -> dict[str, Any]:
    return _state_document(result.state) | {
        "committed": result.committed,
        "sent": result.sent,
        "changeSets": list(result.change_sets),
        "keptHere": list(result.kept_here),
        "broughtBack": list(result.brought_back),
        "leftOut": [ascii(path)[1:-1] if not path.isprintable() else path for path in result.left_out],
    }
