"""The demo command: a memory made up for trying things out."""

from __future__ import annotations

from pathlib import Path

import click

from core.errors import ErrorCode, InvalidInputError
from nuggets_tui.cli.groups import FOLDER, command, example
from nuggets_tui.cli.invocation import Invocation, has_terminal, pass_call
from nuggets_tui.cli.options import LIMIT
from nuggets_tui.words import plural


@command("demo", epilog=example("nuggets demo", "nuggets demo --notes 10000 --dir big-memory"))
@click.option("--notes", type=LIMIT, metavar="N", help="Make a memory with this many notes.")
@click.option("--dir", "folder", type=FOLDER, metavar="DIR", help="Only write the memory into this folder.")
@pass_call
def demo(call: Invocation, /, notes: int | None, folder: str | None) -> int:
    """Open the app on a sample memory. Your own is not touched."""
    if folder is not None:
        return _write(call, folder, notes)
    if call.as_json or not has_terminal():
        raise InvalidInputError(
            "the app needs a terminal", where="demo", todo="--dir DIR writes the sample memory to a folder"
        )
    from nuggets_tui.demo.visiting import visit

    return visit(notes)


def _write(call: Invocation, folder: str, notes: int | None) -> int:
    if not folder.strip():
        raise InvalidInputError(
            "the name is empty", code=ErrorCode.EMPTY, where="--dir", todo="give a folder"
        )
    from core.memory import Memory
    from nuggets_tui.demo import write_visit

    home = write_visit(Path(folder).expanduser(), notes)
    snapshot = Memory.open(home).snapshot
    note_count, fact_count = len(snapshot.notes), snapshot.fact_count
    totals = {"home": str(home), "noteCount": note_count, "factCount": fact_count}
    call.answer(
        lambda: totals,
        lambda: [
            f"Wrote {plural(note_count, 'note')} and {plural(fact_count, 'fact')} to {home}.",
            f"To open it: nuggets --home {home}",
        ],
    )
    return 0
