"""The `sync` and `team` commands: the same memory on several machines, and notes of a team in its repository."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from core.errors import ErrorCode, InvalidInputError
from nuggets_tui.cli import invocation
from nuggets_tui.cli.calling_agent import agent_name, refuse_agents
from nuggets_tui.cli.invocation import CONFLICT, Invocation, bad_input
from nuggets_tui.cli.options import DRY_RUN, YES, arg, flag, group, opt
from nuggets_tui.cli.output import (
    Line,
    Span,
    SpanStyle,
    bad,
    bold,
    dim,
    pick,
    picks,
    step_lines,
    warn,
    write_lines,
)
from nuggets_tui.cli.values import FOLDER
from nuggets_tui.words import local_time, plural

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.sync import SyncResult, SyncState
    from core.team import SharePlan

# Of each step of setting up: what is said once it is done, where it was so before, and of a dry run.
_SYNC_STEPS: Final = {
    "folder": ("Made the folder {}.", "", "Would make the folder {}."),
    "repository": (
        "Made a git repository in {}.", "The git repository in {} is used.", "Would make a git repository in {}.",
    ),
    "branch": ("Syncs the branch {}.", "Syncs the branch {}.", "Would sync the branch {}."),
    "remote": ("Added the remote {}.", "The remote {} is used.", "Would add the remote {}."),
    "ignore": ("Added this machine's own files to {}.", "{} is ready.", "Would add this machine's own files to {}."),
    "attributes": ("Added the merge driver to {}.", "{} is ready.", "Would add the merge driver to {}."),
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
    "ignore": "Removed the added lines from {}.",
    "attributes": "Removed the added lines from {}.",
    "driver": "Removed git's merge driver for memories from the repository's settings.",
    "remote": "Removed the remote {}.",
    "history": "The memory stays as it is, and so do the commits in {}.",
}
_STANDINGS: Final[dict[str, tuple[str, SpanStyle]]] = {
    "off": ("Sync isn't set up. To begin: nuggets sync init [REMOTE]", "dim"),
    "conflict": ("Conflicts wait for you.", "warn"),
    "offline": ("Offline: the remote could not be reached.", "warn"),
    "stopped": ("The last sync failed.", "bad"),
    "to-send": ("There are changes to push.", ""),
    "in-step": ("Up to date.", "good"),
}
_STATE: Final = (
    "standing set_up remote branch machine to_send came_in conflicts offline problem where kept=safe todo at"
)


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
    "init", arg("remote", FOLDER, required=False),
    opt("--machine", "NAME", "Name of this machine in commits (default: its host name)."), DRY_RUN,
    examples=(
        "nuggets sync init git@example.com:me/memory.git",
        "nuggets sync init /media/stick/memory.git --dry-run",
    ),
)  # fmt: skip
def sync_init(call: Invocation, remote: str | None, machine: str | None, dry_run: bool) -> int:
    """Set up sync in the memory's folder, and sync for the first time.

    REMOTE is an address as `git clone` takes it, or the name of a remote that git knows. Without it the repository's
    own remote is used; if there is none, syncs only commit. A repository around the folder is used, unless it ignores
    the folder.

    A remote that already holds a memory is merged with yours: nothing is lost on either side. What differs waits as a
    conflict.
    """
    from core.sync import set_up
    from core.sync.service import refuse_pages

    memory = call.memory
    if memory.pages is not None:
        raise refuse_pages(memory.pages)
    name = (socket.gethostname().partition(".")[0] if machine is None else machine).strip()
    if not name or not name.isprintable():
        if machine is not None:
            raise bad_input("cannot be the name of a machine", "--machine", code=ErrorCode.BAD_NAME)
        name = "this machine"
    # The command with which git merges the files of a memory.
    found = shutil.which("nuggets") is not None
    program = "nuggets" if found else f"{shlex.quote(sys.executable)} -P -m nuggets_tui"
    driver, had_notes = f"{program} merge-file %O %A %B %P", bool(memory.snapshot.notes)
    asks = invocation.can_ask()
    steps = set_up(memory.home, remote, driver=driver, machine=name, dry_run=dry_run, asks=asks)
    lines = [*step_lines(steps, _SYNC_STEPS, dry_run)]
    document: dict[str, Any] = {"steps": picks(steps, "step what already"), "sync": None, "doubles": 0}
    if dry_run:
        call.answer(document, lines)
        return 0
    if not call.as_json:
        write_lines(lines)
    result = _run(memory)
    lines, most = [*_result_lines(memory, result)], len(memory.snapshot.notes)
    if had_notes and result.came_in:
        # Now that two memories are one, pairs of notes may look like one.
        doubles = memory.reflect(dry_run=True, limit=most, max_merged=most).counts["merged"]
        said = f"{plural(doubles, 'pair')} of notes look like one. To merge them: "
        lines += [(said, bold("nuggets reflect --all"))] if doubles else []
        document["doubles"] = doubles
    call.answer(document | {"sync": _result_document(result)}, lines)
    return _exit_code(result.state)


@sync.add("status", examples=("nuggets sync status", "nuggets sync status --json"))
def sync_status(call: Invocation) -> int:
    """Compare the memory with its remote, without contacting it."""
    from core.sync import Sync

    state = Sync(call.memory).state()
    call.answer(lambda: pick(state, _STATE), _state_lines(state))
    return _exit_code(state)


@sync.add("off", examples=("nuggets sync off",))
def sync_off(call: Invocation) -> None:
    """Undo what `nuggets sync init` set up. The memory stays, and so do its commits."""
    from core.sync import take_back

    steps = take_back(call.memory_as_it_is.home)
    lines = [_TAKEN_BACK[one.step].format(one.what) for one in steps]
    call.answer({"steps": picks(steps, "step what already")}, lines)


def _run(memory: Memory) -> SyncResult:
    from core.sync import BY_HAND_SILENCE, Sync

    return Sync(memory, asks=invocation.can_ask(), silence=BY_HAND_SILENCE).run()


def _exit_code(state: SyncState) -> int:
    return CONFLICT if state.conflicts else 1 if state.problem else 0


def _result_document(result: SyncResult) -> dict[str, Any]:
    left_out = [ascii(path)[1:-1] if not path.isprintable() else path for path in result.left_out]
    more = pick(result, "committed sent change_sets kept_here brought_back", leftOut=left_out)
    return pick(result.state, _STATE) | more


def _result_lines(memory: Memory, result: SyncResult) -> Iterator[Line]:
    if result.committed:
        yield f"Committed {plural(result.committed, 'note')}."
    if result.came_in:
        undo = "  ".join(f"nuggets undo {id}" for id in result.change_sets)
        yield (f"Pulled {plural(result.came_in, 'note')}.", dim(f"  {undo}"))
    for ids, said in (
        (result.kept_here, "was deleted elsewhere and changed here: it is kept."),
        (result.brought_back, "was deleted here and changed elsewhere: it is back."),
    ):
        named: dict[str, None] = {}
        for id in ids:
            # Notes by their titles, facts by nugget and key, each once.
            note = memory.snapshot.by_id.get(id)
            title = f'"{note.title}"' if note is not None and not note.is_fact else id
            named[f"{note.nugget_name}: {note.key}" if note is not None and note.is_fact else title] = None
        yield from (warn(f"{name} {said}") for name in named)
    yield from (warn(f"Left out, because it is not a file of a memory: {path!r}") for path in result.left_out)
    if result.sent:
        yield f"Pushed {plural(result.sent, 'note')}."
    yield from _state_lines(result.state, after=True)


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


# The team

_IGNORED: Final = "Git ignores {}: take it out of .gitignore."
_TEAM_STEPS: Final = {
    "folder": ("Made the folder {}.", "The folder {} is there.", "Would make the folder {}."),
    "index": (
        "Wrote {}, which says what the folder is.", "{} is there and stays.",
        "Would write {}, which says what the folder is.",
    ),
    "ignored": (_IGNORED, "", _IGNORED),
}  # fmt: skip


@group(
    "team", examples=("nuggets team", "nuggets team init", "nuggets team trust", "nuggets team index --check")
)
def team(call: Invocation) -> int:
    """Show a team's notes, which are kept in its project's repository.

    The folder is .nuggets/notes, found from the working directory upwards, with one Markdown file per note. Without a
    command, it shows where the folder is, how many notes it holds, what differs from the last commit, and which files
    cannot be read. Exit code 1 when there are such files. To search and edit these notes alone, name the folder:
    nuggets --home FOLDER. They are used beside your own once you trust the project.
    """
    from core.settings import load_settings
    from core.team import answer_for, entry_for, team_state

    memory = _opened(call)
    state, everybody = team_state(memory), load_settings(call.folder).team.trust == "all"
    trusted = True if everybody else answer_for(entry_for(memory.folder))
    problems = [{"file": file, "what": what} for file, what in state.problems]
    document = pick(state, "folder notes hidden git", trusted=trusted, problems=problems)
    hidden = f", {state.hidden:,} hidden" if state.hidden else ""
    lines: list[Line] = [f"{state.folder}: {plural(state.notes, 'note')}{hidden}"]
    lines += [bad(f"{file}: {what}") for file, what in state.problems]
    lines += [f"{changed.how:>8}  {changed.file}" for changed in state.changed]
    if not state.git:
        lines.append(dim("It is in no git repository, or git is not installed."))
    elif not state.changed:
        lines.append(dim("Nothing differs from the last commit."))
    if not trusted:
        lines.append(warn("These notes are not used beside your own. To use them: nuggets team trust"))
    call.answer(document | {"changed": picks(state.changed, "file how")}, lines)
    return 1 if state.problems else 0


def _near(call: Invocation) -> Path:
    """The folder as searches find it, which know the settings of one's own memory."""
    from core.settings import load_settings
    from core.team import nearest_folder

    return nearest_folder(os.getcwd(), load_settings(call.folder).team.folder, os.environ)


def _opened(call: Invocation, start: str | None = None) -> Memory:
    from core.memory import Memory
    from core.team import nearest_folder

    folder = _near(call) if start is None else nearest_folder(Path(start).expanduser())
    memory = Memory.open(folder, author=call.author, reconcile=False)
    call.tells_of(memory)
    return memory


@team.add(
    "trust", flag("--off", "Do not use them, and do not ask again."),
    examples=("nuggets team trust", "nuggets team trust --off"),
)  # fmt: skip
def team_trust(call: Invocation, off: bool) -> None:
    """Let searches, recalls and agents use the notes of the project you are in.

    Your answer holds for the repository, wherever you clone it, until its remote changes. It is kept on this machine.
    Only a person at a terminal can give it. To trust every project, set [team] trust to "all" in settings.toml.
    """
    from core.team import count_pages, entry_for, remember

    refuse_agents("trusting a project")
    if not invocation.can_ask():
        todo = 'run it in a terminal, or set [team] trust to "all" in settings.toml'
        raise bad_input("not a terminal", "trust", todo=todo)
    folder = _near(call)
    project, notes = entry_for(folder), count_pages(folder)
    remember(project, trusted=not off)
    came = f", cloned from {project.remote}" if project.remote else ""
    used = "are not used, and nothing asks again" if off else "are used from now on"
    document = {"folder": str(folder), "remote": project.remote, "notes": notes, "trusted": not off}
    call.answer(document, [f"{folder}: {plural(notes, 'note')}{came}; they {used}."])


@team.add(
    "init", arg("folder", FOLDER, required=False), DRY_RUN,
    examples=("nuggets team init", "nuggets team init ~/work/shop --dry-run"),
)  # fmt: skip
def team_init(call: Invocation, folder: str | None, dry_run: bool) -> None:
    """Make the folder of a team's notes in a project.

    It is made at the root of the git repository around FOLDER (default: the working directory), else in FOLDER itself,
    with a short README beside it. Nothing is committed.
    """
    from core.team import make_team_folder, trust_folder

    steps = make_team_folder(Path(folder or os.getcwd()).expanduser(), dry_run=dry_run)
    made = next((Path(one.what) for one in steps if one.step == "folder" and not one.already), None)
    if made and not dry_run and invocation.can_ask() and not agent_name():
        # Nobody else's notes are in it.
        trust_folder(made)
    then = dim("Commit it like any other folder. To propose notes for it: nuggets team share NOTE...")
    lines = [*step_lines(steps, _TEAM_STEPS, dry_run), *([] if dry_run else [then])]
    call.answer({"steps": picks(steps, "step what already")}, lines)


@team.add(
    "index", flag("--check", "Write nothing; exit code 1 when the index is out of date."),
    examples=("nuggets team index", "nuggets team index --check"),
)  # fmt: skip
def team_index(call: Invocation, check: bool) -> int:
    """Update the list of notes in .nuggets/README.md.

    The list is in the order of the files. The text around it stays. Editing notes leaves it alone, so that it causes no
    merge conflicts.
    """
    from core.team import write_index

    memory = _opened(call)
    path, changed = write_index(memory.folder, memory.snapshot.notes, dry_run=check)
    count = sum(not note.hidden for note in memory.snapshot.notes)
    said = f"{path} {'lists ' + plural(count, 'note') if changed else 'was up to date'}."
    if check:
        said = f"{path} is out of date: nuggets team index" if changed else f"{path} is up to date."
    document = {"file": str(path), "notes": count, "stale": changed, "written": changed and not check}
    call.answer(document, [said])
    return 1 if check and changed else 0


@team.add(
    "share", arg("ids", nargs=-1, required=True, metavar="NOTE..."),
    opt("--to", "FOLDER", "The project (default: the working directory).", FOLDER), DRY_RUN, YES,
    examples=(
        'nuggets team share "Deploy to staging"',
        "nuggets team share note-web-1a2b3c4d note-web-5e6f7a8b --dry-run",
    ),
)  # fmt: skip
def team_share(call: Invocation, ids: Sequence[str], to: str | None, dry_run: bool, yes: bool) -> int:
    """Share notes of your own with a team.

    Shows the files as they will be, asks, and writes them into the project's .nuggets/notes. Nothing is committed:
    review them with git. Links among shared notes become links between pages; others are left out. Sharing a note again
    updates its file, unless somebody has changed it since.

    A note that seems to hold a credential is refused with exit code 2, with --dry-run too. Paths of home folders are
    pointed out.
    """
    from core.team import plan_share, share
    from core.team.sharing import refusal_text

    own, team = call.memory, _opened(call, to)
    plan = plan_share(own, team, [own.snapshot.resolve(id) for id in ids])
    if dry_run:
        refused = [warn(f"Refused: {refusal_text(one)}.") for one in plan.refused]
        call.answer(_share_document(plan, team, None), [*_review(plan), *refused])
        return InvalidInputError.exit_code if plan.refused else 0
    question = f"Write {plural(len(plan.files), 'file')} into {team.folder}?"
    asked = not plan.refused and plan.change_set is not None
    if asked and not call.agreed(question, _review(plan), yes=yes, needs_yes="share"):
        raise bad_input("nothing was shared", "", "nothing was written", code=ErrorCode.EMPTY)
    done = share(team, plan)
    lines: list[Line] = [
        f"{'Wrote' if one.before is None else 'Changed'} {team.folder / one.file}" for one in plan.files
    ]
    lines += _pointed_out(plan)
    if done is None:
        lines.append("Nothing to share.")
    else:
        review = "Add the files, review them with git diff --staged, and commit as usual."
        lines.append(dim(f"Nothing is committed. {review}"))
        lines.append(dim(f"To undo it: nuggets undo {done.id} --home {team.folder}"))
    call.answer(_share_document(plan, team, done), lines)
    return 0


def _share_document(plan: SharePlan, team: Memory, done: ChangeSet | None) -> dict[str, Any]:
    files = [
        pick(one, "note title file before after", homes=picks(one.homes, "line what")) for one in plan.files
    ]
    refused = [
        pick(one, "note=id title why=code", found=picks(one.found, "kind line what")) for one in plan.refused
    ]
    return {
        "folder": str(team.folder), "files": files, "refused": refused,
        "leftOut": picks(plan.left_out, "title to"), "same": plan.same,
        "changeSet": done.id if done is not None else None,
    }  # fmt: skip


def _review(plan: SharePlan) -> Iterator[Line]:
    """The files as they will be."""
    from difflib import unified_diff

    for one in plan.files:
        yield bold(f"{one.file} ({'new' if one.before is None else 'changed'})")
        lines = one.after.rstrip("\n").split("\n")
        if one.before is not None:
            lines = list(unified_diff(one.before.split("\n"), one.after.split("\n"), lineterm="", n=2))[2:]
        yield from (f"  {line}" for line in lines)
        yield ""
    yield from _pointed_out(plan)


def _pointed_out(plan: SharePlan) -> Iterator[Line]:
    """What is pointed out, what is shared already, and what is left out."""
    for one in plan.files:
        for found in one.homes:
            yield warn(f'"{one.title}" names a path of a home folder: {found.what} (line {found.line})')
    yield from (dim(f'"{title}" is shared as it is.') for title in plan.same)
    for link in plan.left_out:
        yield dim(f'Left out: the link of "{link.title}" to "{link.to}", which is not shared.')
