"""The `team` commands: notes of a team, in the repository of their project."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from core.errors import ErrorCode, InvalidInputError
from nuggets_tui.cli.calling_agent import agent_name, refuse_agents
from nuggets_tui.cli.invocation import Invocation, bad_input, can_ask
from nuggets_tui.cli.options import DRY_RUN, YES, arg, flag, group, opt
from nuggets_tui.cli.output import Line, bad, bold, dim, pick, step_lines, warn
from nuggets_tui.cli.values import FOLDER
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.team import SharedFile, SharePlan, TeamState

_STALE = 1
_IGNORED: Final = "Git ignores {}: take it out of .gitignore."
# Of each step of making a folder: what is said once it is done, where it was so before, and of a dry run.
_STEPS: Final = {
    "folder": ("Made the folder {}.", "The folder {} is there.", "Would make the folder {}."),
    "index": (
        "Wrote {}, which says what the folder is.", "{} is there and stays.",
        "Would write {}, which says what the folder is.",
    ),
    "ignored": (_IGNORED, "", _IGNORED),
}  # fmt: skip


@group(
    "team",
    examples=("nuggets team", "nuggets team init", "nuggets team trust", "nuggets team index --check"),
)
def team(call: Invocation) -> int:
    """Show the notes of a team, which lie in their project's repository.

    The folder is .nuggets/notes, found from the working directory upwards: one Markdown file a note. Without a command
    it says where the folder is, how many notes it holds, what differs from the last commit, and which files cannot be
    read. Exit code 1 when there are such files. To search and edit these notes alone, name the folder: nuggets --home
    FOLDER. Beside your own they are used once you trust the project.
    """
    from core.settings import load_settings
    from core.team import answer_for, entry_for, team_state

    memory = _opened(call)
    state, everybody = team_state(memory), load_settings(call.folder).team.trust == "all"
    trusted = True if everybody else answer_for(entry_for(memory.folder))
    document = pick(
        state, "folder notes hidden git", trusted=trusted,
        changed=[pick(one, "file how") for one in state.changed],
        problems=[{"file": file, "what": what} for file, what in state.problems],
    )  # fmt: skip
    call.answer(document, _state_lines(state, trusted))
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


def _state_lines(state: TeamState, trusted: bool | None) -> Iterator[Line]:
    hidden = f", {state.hidden:,} hidden" if state.hidden else ""
    yield f"{state.folder}: {plural(state.notes, 'note')}{hidden}"
    yield from (bad(f"{file}: {what}") for file, what in state.problems)
    yield from (f"{changed.how:>8}  {changed.file}" for changed in state.changed)
    if not state.git:
        yield dim("It lies in no git repository, or git is not there.")
    elif not state.changed:
        yield dim("Nothing differs from the last commit.")
    if not trusted:
        yield warn("Beside your own notes they are not used. To use them: nuggets team trust")


@team.add(
    "trust", flag("--off", "Do not use them, and ask no more."),
    examples=("nuggets team trust", "nuggets team trust --off"),
)  # fmt: skip
def trust(call: Invocation, off: bool) -> None:
    """Let the notes of the project you are in be used: by searches, recalls and agents.

    One answer counts for the repository, wherever you clone it, and until its remote is another. It is kept on this
    machine. Give it in a terminal; agents and scripts can't. To be asked for no project, set [team] trust to "all" in
    settings.toml.
    """
    from core.team import count_pages, entry_for, remember

    refuse_agents("trusting a project")
    if not can_ask():
        todo = 'run it in a terminal, or set [team] trust to "all" in settings.toml'
        raise bad_input("not a terminal", "trust", todo=todo)
    folder = _near(call)
    project, notes = entry_for(folder), count_pages(folder)
    remember(project, trusted=not off)
    came = f", cloned from {project.remote}" if project.remote else ""
    used = "are not used, and nothing asks again" if off else "are used from now on"
    call.answer(
        {"folder": str(folder), "remote": project.remote, "notes": notes, "trusted": not off},
        [f"{folder}: {plural(notes, 'note')}{came}; they {used}."],
    )


@team.add(
    "init", arg("folder", FOLDER, required=False), DRY_RUN,
    examples=("nuggets team init", "nuggets team init ~/work/shop --dry-run"),
)  # fmt: skip
def init(call: Invocation, folder: str | None, dry_run: bool) -> None:
    """Make the folder of a team's notes in a project.

    It is made at the root of the git repository around FOLDER (default: the working directory), else in FOLDER itself,
    with a short README beside it. Nothing is committed.
    """
    from core.team import make_team_folder, trust_folder

    steps = make_team_folder(Path(folder or os.getcwd()).expanduser(), dry_run=dry_run)
    made = next((Path(one.what) for one in steps if one.step == "folder" and not one.already), None)
    if made and not dry_run and can_ask() and not agent_name():
        # Nobody else's notes are in it.
        trust_folder(made)
    then = dim("Commit it like any other folder. To propose notes for it: nuggets team share NOTE...")
    lines = [*step_lines(steps, _STEPS, dry_run), *([] if dry_run else [then])]
    call.answer({"steps": [pick(one, "step what already") for one in steps]}, lines)


@team.add(
    "index", flag("--check", "Write nothing; exit code 1 when the index is out of date."),
    examples=("nuggets team index", "nuggets team index --check"),
)  # fmt: skip
def index(call: Invocation, check: bool) -> int:
    """Bring the list of the notes in .nuggets/README.md up to date.

    The list is in the order of the files. What stands around it stays. Edits leave it alone, so that merges do not
    conflict in it.
    """
    from core.team import write_index

    memory = _opened(call)
    path, changed = write_index(memory.folder, memory.snapshot.notes, dry_run=check)
    count = sum(not note.hidden for note in memory.snapshot.notes)
    said = f"{path} lists {plural(count, 'note')}."
    if check:
        said = f"{path} is out of date: nuggets team index" if changed else f"{path} is up to date."
    elif not changed:
        said = f"{path} was up to date."
    document = {"file": str(path), "notes": count, "stale": changed, "written": changed and not check}
    call.answer(document, [said])
    return _STALE if check and changed else 0


# Sharing


@team.add(
    "share",
    arg("ids", nargs=-1, required=True, metavar="NOTE..."),
    opt("--to", "FOLDER", "The project (default: the working directory).", FOLDER),
    DRY_RUN,
    YES,
    examples=(
        'nuggets team share "Deploy to staging"',
        "nuggets team share note-web-1a2b3c4d note-web-5e6f7a8b --dry-run",
    ),
)
def share(call: Invocation, ids: Sequence[str], to: str | None, dry_run: bool, yes: bool) -> int:
    """Propose notes of your own for the notes of a team.

    Shows the files as they will be, asks, and writes them into the project's .nuggets/notes. It commits nothing: review
    them with git. Links among shared notes become links of pages; others are left out. A note shared again updates its
    file, unless somebody changed that meanwhile.

    A note that looks like it holds a credential is refused; change what it says. Exit code 2 says so, with --dry-run
    too. A path of somebody's home folder is pointed out.
    """
    from core.team import plan_share, share
    from core.team.sharing import refusal_text

    own, team = call.memory, _opened(call, to)
    plan = plan_share(own, team, [own.snapshot.resolve(id) for id in ids])
    if dry_run:
        refused = [warn(f"Refused: {refusal_text(one)}.") for one in plan.refused]
        call.answer(_share_document(plan, team, None), [*_review(plan), *refused])
        return InvalidInputError.exit_code if plan.refused else 0
    if not plan.refused and plan.change_set is not None and not yes:
        if can_ask():
            call.preview(_review(plan))
        question = f"Write {plural(len(plan.files), 'file')} into {team.folder}?"
        if not call.must_confirm(yes, "share", question):
            raise InvalidInputError(
                "nothing was shared", code=ErrorCode.EMPTY, field="change", kept="nothing was written"
            )
    done = share(team, plan)
    call.answer(_share_document(plan, team, done), _done_lines(plan, team, done))
    return 0


def _share_document(plan: SharePlan, team: Memory, done: ChangeSet | None) -> dict[str, Any]:
    files = [
        pick(one, "note title file before after", homes=[pick(found, "line what") for found in one.homes])
        for one in plan.files
    ]
    refused = [
        pick(one, "note=id title why=code", found=[pick(found, "kind line what") for found in one.found])
        for one in plan.refused
    ]
    return {
        "folder": str(team.folder), "files": files, "refused": refused,
        "leftOut": [pick(one, "title to") for one in plan.left_out], "same": list(plan.same),
        "changeSet": done.id if done is not None else None,
    }  # fmt: skip


def _review(plan: SharePlan) -> Iterator[Line]:
    for one in plan.files:
        yield bold(f"{one.file} ({'new' if one.before is None else 'changed'})")
        yield from (f"  {line}" for line in _page_lines(one))
        yield ""
    yield from _notes_lines(plan)


def _page_lines(one: SharedFile) -> list[str]:
    if one.before is None:
        return one.after.rstrip("\n").split("\n")
    from difflib import unified_diff

    return list(unified_diff(one.before.split("\n"), one.after.split("\n"), lineterm="", n=2))[2:]


def _notes_lines(plan: SharePlan) -> Iterator[Line]:
    """What is pointed out, what is shared already, and what is left out."""
    for one in plan.files:
        for found in one.homes:
            yield warn(f'"{one.title}" names a path of a home folder: {found.what} (line {found.line})')
    yield from (dim(f'"{title}" is shared as it is.') for title in plan.same)
    for link in plan.left_out:
        yield dim(f'Left out: the link of "{link.title}" to "{link.to}", which is not shared.')


def _done_lines(plan: SharePlan, team: Memory, done: ChangeSet | None) -> Iterator[Line]:
    for one in plan.files:
        yield f"{'Wrote' if one.before is None else 'Changed'} {team.folder / one.file}"
    yield from _notes_lines(plan)
    if done is None:
        yield "Nothing to share."
        return
    yield dim("Nothing is committed. Add the files, review them with git diff --staged, and commit as usual.")
    yield dim(f"To take it back: nuggets undo {done.id} --home {team.folder}")
