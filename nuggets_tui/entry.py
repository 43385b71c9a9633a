"""Where the `nuggets` command begins: the app alone starts without what only the command line needs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from core.folder import home_as_named
from nuggets_tui.streams import prepare_streams


def main() -> None:
    """Entry point of `nuggets` and `nuggets-tui`. Somebody who opens the app waits for its first frame."""
    home = home_of_app(sys.argv[1:])
    if home is not None and sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty():
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
    try:
        return Path(given).expanduser()
    except RuntimeError:
        return None


def _open(home: Path) -> int:
    prepare_streams()
    try:
        from nuggets_tui.app import run_app

        return run_app(home)
    except BaseException as error:
        from nuggets_tui.cli import exit_code

        return exit_code(error)


if __name__ == "__main__":
    main()
