"""The `schedule` commands: how the system itself is told to run the daily pass."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from nuggets_tui.cli.groups import Entry, LazyGroup, command, example
from nuggets_tui.cli.invocation import Invocation, pass_call
from nuggets_tui.cli.output import Line, Span

if TYPE_CHECKING:
    from nuggets_tui.schedules import Kind, Plan

_NAMES: Final = ("nuggets", "nuggets-tui")
_VARIABLES: Final = "MEMORY_REFLECTION_"

schedule_group = LazyGroup(
    "schedule",
    entries={
        "print": Entry("nuggets_tui.cli.schedule:print_", "Print a systemd timer, crontab line or plist.")
    },
    help="Have the system run the daily reflection.",
    no_args_is_help=False,
    subcommand_metavar="COMMAND ...",
)


@command("print", epilog=example("nuggets schedule print", "nuggets schedule print --cron"))
@click.option("--systemd", "kind", flag_value="systemd", help="A user unit and its timer.")
@click.option("--cron", "kind", flag_value="cron", help="A line of the crontab.")
@click.option("--launchd", "kind", flag_value="launchd", help="A plist for launchd (macOS).")
@pass_call
def print_(call: Invocation, /, kind: Kind | None) -> None:
    """Print what makes the system run `nuggets reflect --if-due` for this memory. Nothing is installed.

    It asks every hour whether the pass is due, so that a missed one is caught up. Without an option: what this system
    has. Where `nuggets daemon` runs, it is not needed.
    """
    from core.settings import load_settings
    from nuggets_tui.schedules import plan

    home = call.folder.absolute()
    minute = load_settings(home).reflection.minute
    made = plan(kind or _usual_kind(), program(), home, minute, usual=_is_usual(home))
    call.answer(made.to_dict, lambda: _lines(made))


def program() -> list[str]:
    """The words that start this very program, whatever the search path is then."""
    called = Path(sys.argv[0]) if sys.argv and sys.argv[0] else Path()
    if called.name in _NAMES and called.is_file() and os.access(called, os.X_OK):
        return [str(called.absolute())]
    beside = Path(sys.executable).with_name(_NAMES[0])
    found = str(beside) if os.access(beside, os.X_OK) else None
    if found is None and "nuggets_tui" not in str(called):
        found = shutil.which(_NAMES[0])
    return [found] if found else [sys.executable, "-m", "nuggets_tui.cli"]


def _usual_kind() -> Kind:
    if sys.platform == "darwin":
        return "launchd"
    return "systemd" if Path("/run/systemd/system").is_dir() else "cron"


def _is_usual(home: Path) -> bool:
    try:
        return home == Path("~/.nuggets").expanduser()
    except RuntimeError:
        return False


def _lines(made: Plan) -> Iterator[Line]:
    for part in made.parts:
        if part.path:
            yield Span(f"# {part.path}" if made.kind != "launchd" else f"<!-- {part.path} -->", "dim")
        yield from part.text.splitlines()
        yield ""
    mark = ("<!-- ", " -->") if made.kind == "launchd" else ("# ", "")
    yield Span(f"{mark[0]}then: {made.then}{mark[1]}", "dim")
    named = sorted(name for name in os.environ if name.startswith(_VARIABLES))
    if named:
        left = f"{', '.join(named)}: set here, but not where this will run; put it into settings.toml"
        yield Span(f"{mark[0]}{left}{mark[1]}", "warn")
