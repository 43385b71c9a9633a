"""The `sync` commands: the same memory on several machines, through git."""

from __future__ import annotations

import shlex
import shutil
import socket
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from core.errors import ErrorCode
from nuggets_tui.cli.invocation import Invocation, bad_input, can_ask
from nuggets_tui.cli.options import DRY_RUN, arg, group, opt
from nuggets_tui.cli.output import Line, Span, SpanStyle, bold, dim, pick, step_lines, warn, write_lines
from nuggets_tui.cli.values import FOLDER
from nuggets_tui.words import local_time, plural

if TYPE_CHECKING:
    from core.memory import Memory
    from core.sync import SyncResult, SyncState

_NOT_UP_TO_DATE, _CONFLICT = 1, 3
# Of each step of setting up: what is said once it is done, where it was so before, and of a dry run.
_STEPS: Final = {
    "folder": ("Made the folder {}.", "", "Would make the folder {}."),
    "repository": (
        "Made a git repository in {}.", "The git repository in {} is used.", "Would make a git repository in {}.",
    ),
    "branch": ("Syncs the branch {}.", "Syncs the branch {}.", "Would sync the branch {}."),
    "remote": ("Added the remote {}.", "The remote {} is used.", "Would add the remote {}."),
    "ignore": (
        "Added what belongs to this machine alone to {}.", "{} has what it needs.",
        "Would add what belongs to this machine alone to {}.",
    ),
    "attributes": (
        "Added the merge driver to {}.", "{} has what it needs.", "Would add the merge driver to {}.",
    ),
    "driver": (
        "Set git's merge driver for memories: {}.", "Git's merge driver is set: {}.",
        "Would set git's merge driver for memories: {}.",
    ),
    "sync": (
        "Sync is ready; commits call this machine {}.", "Sync was ready before; commits call this machine {}.",
        "Would commit the memory, pull what the remote has, and push.",
    ),
}  # fmt: skip
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
    "stopped": ("The last sync failed.", "bad"),
    "to-send": ("There are changes to push.", ""),
    "in-step": ("Up to date.", "good"),
}


@group(
    "sync",
    examples=("nuggets sync init git@example.com:me/memory.git", "nuggets sync", "nuggets sync status"),
)
def sync(call: Invocation) -> int:
    """Keep the memory the same on several machines, through your own git.

    Without a command it syncs: commits what changed, pulls what others pushed, and pushes. What comes in is in the
    history and can be undone. Exit codes: 1 the remote could not be reached, 2 it could not go on, 3 conflicts wait.
    """
    memory = call.memory
    result = _run(memory)
    call.answer(lambda: _result_document(result), _result_lines(memory, result))
    return _exit_code(result.state)


@sync.add(
    "init",
    arg("remote", FOLDER, required=False),
    opt("--machine", "NAME", "What commits call this machine (default: its host name)."),
    DRY_RUN,
    examples=(
        "nuggets sync init git@example.com:me/memory.git",
        "nuggets sync init /media/stick/memory.git --dry-run",
    ),
)
def init(call: Invocation, remote: str | None, machine: str | None, dry_run: bool) -> int:
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
    lines = [*step_lines(steps, _STEPS, dry_run)]
    told = [pick(one, "step what already") for one in steps]
    if dry_run:
        call.answer({"steps": told, "sync": None, "doubles": 0}, lines)
        return 0
    if not call.as_json:
        write_lines(lines)
    result = _run(memory)
    doubles, most = 0, len(memory.snapshot.notes)
    if had_notes and result.came_in:
        # Now that two memories are one, pairs of notes may look like one.
        doubles = memory.reflect(dry_run=True, limit=most, max_merged=most).counts["merged"]
    said = (
        f"{plural(doubles, 'pair')} of notes look like one. To merge them: ",
        bold("nuggets reflect --all"),
    )
    call.answer(
        lambda: {"steps": told, "sync": _result_document(result), "doubles": doubles},
        [*_result_lines(memory, result), *([said] if doubles else [])],
    )
    return _exit_code(result.state)


@sync.add("status", examples=("nuggets sync status", "nuggets sync status --json"))
def status(call: Invocation) -> int:
    """Show how the memory stands to its remote, without asking it."""
    from core.sync import Sync

    state = Sync(call.memory).state()
    call.answer(lambda: _state_document(state), _state_lines(state))
    return _exit_code(state)


@sync.add("off", examples=("nuggets sync off",))
def off(call: Invocation) -> None:
    """Take back what `nuggets sync init` set up. The memory stays, and so do git's commits."""
    from core.sync import take_back

    steps = take_back(call.memory_as_it_is.home)
    lines = [_TAKEN_BACK[one.step].format(one.what) for one in steps]
    call.answer({"steps": [pick(one, "step what already") for one in steps]}, lines)


def _run(memory: Memory) -> SyncResult:
    from core.sync import BY_HAND_SILENCE, Sync

    return Sync(memory, asks=can_ask(), silence=BY_HAND_SILENCE).run()


def _exit_code(state: SyncState) -> int:
    return _CONFLICT if state.conflicts else _NOT_UP_TO_DATE if state.problem else 0


def _machine(given: str | None) -> str:
    name = socket.gethostname().partition(".")[0] if given is None else given
    if name.strip() and name.isprintable():
        return name.strip()
    if given is None:
        return "this machine"
    raise bad_input("is no name for a machine", "--machine", code=ErrorCode.BAD_NAME)


def _driver() -> str:
    """The command with which git merges the files of a memory."""
    found = shutil.which("nuggets") is not None
    program = "nuggets" if found else f"{shlex.quote(sys.executable)} -P -m nuggets_tui"
    return f"{program} merge-file %O %A %B %P"


# Lines


def _result_lines(memory: Memory, result: SyncResult) -> Iterator[Line]:
    if result.committed:
        yield f"Committed {plural(result.committed, 'note')}."
    if result.came_in:
        undo = "  ".join(f"nuggets undo {id}" for id in result.change_sets)
        yield (f"Pulled {plural(result.came_in, 'note')}.", dim(f"  {undo}"))
    for what in _named(memory, result.kept_here):
        yield warn(f"{what} was deleted elsewhere and changed here: it is kept.")
    for what in _named(memory, result.brought_back):
        yield warn(f"{what} was deleted here and changed elsewhere: it is back.")
    for path in result.left_out:
        yield warn(f"Left out, since it's no file of a memory: {path!r}")
    if result.sent:
        yield f"Pushed {plural(result.sent, 'note')}."
    yield from _state_lines(result.state, after=True)


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
    if state.set_up and not state.remote and state.standing == "in-step":
        said = "Committed on this machine only: there is no remote. To add one: nuggets sync init REMOTE"
    yield Span(said, style)
    if not state.set_up:
        return
    if state.conflicts:
        yield f"{plural(state.conflicts, 'conflict')}: nuggets resolve"
    if state.offline and state.standing != "offline":
        yield Span(*_STANDINGS["offline"])
    if state.problem:
        yield dim(f"  {': '.join(filter(None, (state.where, state.problem)))}")
        yield from (dim(f"  {one}") for one in filter(None, (state.safe, state.todo)))
    if state.to_send:
        yield f"{plural(state.to_send, 'note')} to push{', with the next sync' if after else ': nuggets sync'}."
    if not after:
        if state.remote:
            yield dim(f"Remote: {state.remote}, branch {state.branch}")
        when = f"last sync {local_time(state.at)}" if state.at else "never synced yet"
        yield dim(f"This machine: {state.machine}, {when}")


# JSON


def _state_document(state: SyncState) -> dict[str, Any]:
    names = "standing set_up remote branch machine to_send came_in conflicts offline problem where kept=safe todo at"
    return pick(state, names)


def _result_document(result: SyncResult) -> dict[str, Any]:
    left_out = [ascii(path)[1:-1] if not path.isprintable() else path for path in result.left_out]
    more = pick(result, "committed sent change_sets kept_here brought_back", leftOut=left_out)
    return _state_document(result.state) | more
