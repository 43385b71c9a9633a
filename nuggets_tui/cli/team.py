"""The `team` commands and `share`: notes of a team, in the repository of their project."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from core.errors import ErrorCode, InvalidInputError
from nuggets_tui.cli.calling_agent import agent_name, refuse_agents
from nuggets_tui.cli.groups import FOLDER, TEXT, CommandEntry, LazyGroup, command, example
from nuggets_tui.cli.invocation import Invocation, can_ask, must_confirm, pass_call
from nuggets_tui.cli.options import dry_run_option, yes_option
from nuggets_tui.cli.output import Line, Span
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.team import FolderStep, SharedFile, SharePlan, TeamState

_MODULE: Final = "nuggets_tui.cli.team"
_STALE = 1
_DONE: Final = {
    "folder": ("Made the folder {}.", "The folder {} is there."),
    "index": ("Wrote {}, which says what the folder is.", "{} is there and stays."),
    "ignored": ("Git ignores {}: take it out of .gitignore.", ""),
}
_WOULD: Final = {
    "folder": "Would make the folder {}.",
    "index": "Would write {}, which says what the folder is.",
    "ignored": "Git ignores {}: take it out of .gitignore.",
}


team_group = LazyGroup(
    "team",
    entries={
        "init": CommandEntry(f"{_MODULE}:init", "Make the folder of a team's notes in a project."),
        "index": CommandEntry(f"{_MODULE}:index", "Bring the list of the notes in the README up to date."),
        "trust": CommandEntry(f"{_MODULE}:trust", "Let this project's notes be used, or no longer."),
    },
    by_default=lambda call: _state(call),
    help="""Show the notes of a team, which lie in their project's repository.

The folder is .nuggets/notes, found from the working directory upwards: one Markdown file a note. Without a command it
says where the folder is, how many notes it holds, what differs from the last commit, and which files cannot be read.
Exit code 1 when there are such files. To search and edit these notes alone, name the folder: nuggets --home FOLDER.
Beside your own they are used once you trust the project.""",
    subcommand_metavar="[COMMAND ...]",
    epilog=example("nuggets team", "nuggets team init", "nuggets team trust", "nuggets team index --check"),
)


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


def _state(call: Invocation) -> int:
    from core.settings import load_settings
    from core.team import answer_for, entry_for, team_state

    memory = _opened(call)
    state, everybody = team_state(memory), load_settings(call.folder).team.trust == "all"
    trusted = True if everybody else answer_for(entry_for(memory.folder))
    call.answer(lambda: _state_document(state) | {"trusted": trusted}, lambda: _state_lines(state, trusted))
    return 1 if state.problems else 0


@command("trust", epilog=example("nuggets team trust", "nuggets team trust --off"))
@click.option("--off", is_flag=True, help="Do not use them, and ask no more.")
@pass_call
def trust(call: Invocation, /, off: bool) -> None:
    """Let the notes of the project you are in be used: by searches, recalls and agents.

    One answer counts for the repository, wherever you clone it, and until its remote is another. It is kept on this
    machine. Give it in a terminal; agents and scripts can't. To be asked for no project, set [team] trust to "all" in
    settings.toml.
    """
    from core.team import count_pages, entry_for, remember

    refuse_agents("trusting a project")
    if not can_ask():
        raise InvalidInputError(
            "not a terminal", where="trust", kept="nothing was changed",
            todo='run it in a terminal, or set [team] trust to "all" in settings.toml',
        )  # fmt: skip
    folder = _near(call)
    project, notes = entry_for(folder), count_pages(folder)
    remember(project, trusted=not off)
    call.answer(
        lambda: {
            "folder": str(folder), "remote": project.remote, "notes": notes, "trusted": not off
        },
        lambda: [_trusted_line(str(folder), project.remote, notes, off=off)],
    )  # fmt: skip


def _trusted_line(folder: str, remote: str, notes: int, *, off: bool) -> Line:
    came = f", cloned from {remote}" if remote else ""
    used = "are not used, and nothing asks again" if off else "are used from now on"
    return f"{folder}: {plural(notes, 'note')}{came}; they {used}."


@command("init", epilog=example("nuggets team init", "nuggets team init ~/work/shop --dry-run"))
@click.argument("folder", type=FOLDER, required=False)
@dry_run_option
@pass_call
def init(call: Invocation, /, folder: str | None, dry_run: bool) -> None:
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
    call.answer(
        lambda: {"steps": [_step_document(one) for one in steps]}, lambda: _step_lines(steps, dry_run=dry_run)
    )


@command("index", epilog=example("nuggets team index", "nuggets team index --check"))
@click.option("--check", is_flag=True, help="Write nothing; exit code 1 when the index is out of date.")
@pass_call
def index(call: Invocation, /, check: bool) -> int:
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
    call.answer(
        lambda: {"file": str(path), "notes": count, "stale": changed, "written": changed and not check},
        lambda: [said],
    )
    return _STALE if check and changed else 0


@command(
    "share",
    epilog=example(
        'nuggets share "Deploy to staging"', "nuggets share note-web-1a2b3c4d note-web-5e6f7a8b --dry-run"
    ),
)
@click.argument("ids", type=TEXT, nargs=-1, required=True, metavar="NOTE...")
@click.option(
    "--to", "to", type=FOLDER, metavar="FOLDER", help="The project (default: the working directory)."
)
@dry_run_option
@yes_option
@pass_call
def share(call: Invocation, /, ids: Sequence[str], to: str | None, dry_run: bool, yes: bool) -> int:
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
    notes = [own.snapshot.resolve(id) for id in ids]
    plan = plan_share(own, team, notes)
    if dry_run:
        refused: list[Line] = [Span(f"Refused: {refusal_text(one)}.", "warn") for one in plan.refused]
        call.answer(lambda: _share_document(plan, team, None), lambda: [*_review(plan), *refused])
        return InvalidInputError.exit_code if plan.refused else 0
    if not plan.refused and plan.change_set is not None and not yes:
        if can_ask():
            call.preview(_review(plan))
        many = plural(len(plan.files), "file")
        if not must_confirm(call, yes, "share", f"Write {many} into {team.folder}?"):
            raise InvalidInputError(
                "nothing was shared", code=ErrorCode.EMPTY, field="change", kept="nothing was written"
            )
    done = share(team, plan)
    call.answer(lambda: _share_document(plan, team, done), lambda: _done_lines(plan, team, done))
    return 0


# Lines


def _step_lines(steps: Iterable[FolderStep], *, dry_run: bool) -> Iterator[Line]:
    for one in steps:
        said = (
            _DONE[one.step][1]
            if one.already
            else (_WOULD if dry_run else {k: v[0] for k, v in _DONE.items()})[one.step]
        )
        yield Span(said.format(one.what), "warn" if one.step == "ignored" else "")
    if not dry_run:
        yield Span("Commit it as any folder. To propose notes for it: nuggets share NOTE...", "dim")


def _state_lines(state: TeamState, trusted: bool | None) -> Iterator[Line]:
    hidden = f", {state.hidden:,} hidden" if state.hidden else ""
    yield f"{state.folder}: {plural(state.notes, 'note')}{hidden}"
    for file, what in state.problems:
        yield Span(f"{file}: {what}", "bad")
    for changed in state.changed:
        yield f"{changed.how:>8}  {changed.file}"
    if not state.git:
        yield Span("It lies in no git repository, or git is not there.", "dim")
    elif not state.changed:
        yield Span("Nothing differs from the last commit.", "dim")
    if not trusted:
        yield Span("Beside your own notes they are not used. To use them: nuggets team trust", "warn")


def _review(plan: SharePlan) -> Iterator[Line]:
    for one in plan.files:
        yield Span(f"{one.file} ({'new' if one.before is None else 'changed'})", "bold")
        yield from _page_lines(one)
        yield ""
    yield from _beside_lines(plan)


def _page_lines(one: SharedFile) -> Iterator[Line]:
    if one.before is None:
        yield from (f"  {line}" for line in one.after.rstrip("\n").split("\n"))
        return
    from difflib import unified_diff

    lines = unified_diff(one.before.split("\n"), one.after.split("\n"), lineterm="", n=2)
    yield from (f"  {line}" for line in list(lines)[2:])


def _beside_lines(plan: SharePlan) -> Iterator[Line]:
    for one in plan.files:
        for found in one.homes:
            yield Span(
                f'"{one.title}" names a path of a home folder: {found.what} (line {found.line})', "warn"
            )
    for title in plan.same:
        yield Span(f'"{title}" is shared as it is.', "dim")
    for link in plan.left_out:
        yield Span(f'Left out: the link of "{link.title}" to "{link.to}", which is not shared.', "dim")


def _done_lines(plan: SharePlan, team: Memory, done: ChangeSet | None) -> Iterator[Line]:
    for one in plan.files:
        yield f"{'Wrote' if one.before is None else 'Changed'} {team.folder / one.file}"
    yield from _beside_lines(plan)
    if done is None:
        yield "Nothing to share."
        return
    yield Span(
        "Nothing is committed. Add the files, review them with git diff --staged, and commit as usual.", "dim"
    )
    yield Span(f"To take it back: nuggets undo {done.id} --home {team.folder}", "dim")


# JSON


def _step_document(one: FolderStep) -> dict[str, Any]:
    return {"step": one.step, "what": one.what, "already": one.already}


def _state_document(state: TeamState) -> dict[str, Any]:
    return {
        "folder": str(state.folder),
        "notes": state.notes,
        "hidden": state.hidden,
        "git": state.git,
        "changed": [{"file": one.file, "how": one.how} for one in state.changed],
        "problems": [{"file": file, "what": what} for file, what in state.problems],
    }


def _share_document(plan: SharePlan, team: Memory, done: ChangeSet | None) -> dict[str, Any]:
    return {
        "folder": str(team.folder),
        "files": [
            {"note": one.note, "title": one.title, "file": one.file, "before": one.before, "after": one.after}
            | {"homes": [{"line": found.line, "what": found.what} for found in one.homes]}
            for one in plan.files
        ],
        "refused": [
            {
                "note": one.id,
                "title": one.title,
                "why": one.code,
                "found": [
                    {"kind": found.kind, "line": found.line, "what": found.what} for found in one.found
                ],
            }
            for one in plan.refused
        ],
        "leftOut": [{"title": one.title, "to": one.to} for one in plan.left_out],
        "same": list(plan.same),
        "changeSet": done.id if done is not None else None,
    }
