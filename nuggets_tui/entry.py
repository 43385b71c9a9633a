"""Where the `nuggets` command begins: the app alone starts without what only the command line needs."""

from __future__ import annotations

import sys

from core.user_folders import home_as_named
from nuggets_tui.process import prepare_streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def main() -> None:
    """Entry point of `nuggets` and `nuggets-tui`: hooks and the app begin without the command line."""
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & set(sys.argv):
        from nuggets_tui.hooks.fast import main as take_event

        take_event(sys.argv[2:])
    if sys.argv[1:] == ["--version"] and sys.stdout is not None and sys.stderr is not None:
        from nuggets_tui.process import version_line

        print(version_line())
        sys.exit()
    home = home_of_app(sys.argv[1:])
    wanted = home is not None or sys.argv[1:] == ["demo"]
    if wanted and sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty():
        sys.exit(_open(home))
    from nuggets_tui.cli import main as command_line

    command_line()


def home_of_app(arguments: Sequence[str]) -> Path | None:
    """The folder to open the app on, when the arguments ask for just that; None leaves them to the command line."""
    given: str | None = None
    if not arguments:
        given = home_as_named()
    elif len(arguments) == 2 and arguments[0] == "--home":
        given = arguments[1]
    elif len(arguments) == 1 and arguments[0].startswith("--home="):
        given = arguments[0].removeprefix("--home=")
    if given is None or not given.strip() or given.startswith("-"):
        return None
    from pathlib import Path

    try:
        return Path(given).expanduser()
    except RuntimeError:
        return None


def _open(home: Path | None) -> int:
    """Opens the app on a folder; None: on the demo."""
    prepare_streams()
    try:
        if home is None:
            from nuggets_tui.app import visit

            return visit()
        from nuggets_tui.app import run_app

        return run_app(home)
    except BaseException as error:
        from nuggets_tui.cli import exit_code

        return exit_code(error)


if __name__ == "__main__":
    main()
