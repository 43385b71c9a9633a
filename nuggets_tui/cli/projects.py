"""The `projects` commands: which nuggets belong to which project."""

from __future__ import annotations

import os
from typing import Final

import click

from core.errors import ErrorCode, InvalidInputError, NotFoundError
from core.projects import Project, Registered, registered, rename, take_over
from nuggets_tui.cli.groups import TEXT, CommandEntry, LazyGroup, command, example
from nuggets_tui.cli.invocation import Invocation, pass_call
from nuggets_tui.cli.output import Line, Span

_MODULE: Final = "nuggets_tui.cli.projects"

projects_group = LazyGroup(
    "projects",
    entries={
        "join": CommandEntry(f"{_MODULE}:join", "Give a nugget to the project here."),
        "rename": CommandEntry(f"{_MODULE}:rename_", "Rename a project."),
    },
    by_default=lambda call: _list(call),
    help="""List the projects that the memory knows, with their nuggets.

A nugget belongs to the project it was first written from, or that has its name. All other nuggets are yours, and hold
everywhere. Asked in a project, recall and search answer from it and from what is yours; what another project says is
never more than a candidate.""",
    subcommand_metavar="[COMMAND ...]",
    epilog=example(
        "nuggets projects", "nuggets projects join deploys", "nuggets projects rename web website"
    ),
)


def _list(call: Invocation) -> None:
    known = registered(str(call.folder))
    here = call.project
    call.answer(lambda: [one.document() for one in known], lambda: (_line(one, here) for one in known))


def _line(one: Registered, here: Project | None) -> Line:
    at = here is not None and here.root == one.root
    return (
        Span(one.name, "bold"),
        f"  {', '.join(one.nuggets)}",
        Span(f"  {one.root}{'  (here)' if at else ''}", "dim"),
    )


@command("join", epilog=example("nuggets projects join deploys"))
@click.argument("nugget", type=TEXT)
@pass_call
def join(call: Invocation, /, nugget: str) -> None:
    """Give a nugget to the project here: it answers in this project, and is foreign in others."""
    if nugget not in call.memory.snapshot.nugget_names:
        raise call.memory.snapshot.no_nugget(nugget)
    here = call.project
    if here is None or not here.root:
        raise InvalidInputError(
            "this folder is no project", code=ErrorCode.NO_PLACE, where=os.getcwd(), kept="nothing was changed",
            todo="run this in the project's folder",
        )  # fmt: skip
    done = take_over(str(call.folder), here, nugget)
    call.answer(done.document, lambda: [f"{nugget} belongs to {done.name}."])


@command("rename", epilog=example("nuggets projects rename web website"))
@click.argument("name", type=TEXT)
@click.argument("new", type=TEXT)
@pass_call
def rename_(call: Invocation, /, name: str, new: str) -> None:
    """Rename a project; its nuggets keep their names."""
    done = rename(str(call.folder), name, new)
    if done is None:
        raise NotFoundError(
            "no project has this name",
            where=name,
            kept="nothing was changed",
            todo="nuggets projects lists them",
        )
    call.answer(done.document, lambda: [f"{name} is called {done.name} now."])
