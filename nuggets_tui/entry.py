"""Where the `nuggets` command begins: the app alone starts without what only the command line needs."""

from __future__ import annotations

import sys

from core.home import home_as_named
from nuggets_tui import quick
from nuggets_tui.streams import prepare_streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def main() -> None:
    """Entry point of `nuggets` and `nuggets-tui`. Somebody who opens the app waits for its first frame, and an agent
    that recalls a fact for the answer.
    """
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & set(sys.argv):
        from nuggets_tui.hooks.fast import main as take_event

        take_event(sys.argv[2:])
    if sys.argv[1:] == ["--version"] and sys.stdout is not None and sys.stderr is not None:
        from nuggets_tui.version import version_line

        sys.exit(quick.write(b"", f"{version_line()}\n".encode(), 0))
    asked = quick.question_of(sys.argv[1:])
    if asked is not None:
        sys.exit(_recall(asked))
    home = home_of_app(sys.argv[1:])
    wanted = home is not None or sys.argv[1:] == ["demo"]
    if wanted and sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty():
        sys.exit(_open(home))
    from nuggets_tui.cli import main as command_line

    command_line()


def _recall(asked: quick.Question) -> int | str | None:
    code = quick.recall(asked)
    if code is not None:
        return code
    from nuggets_tui.cli import BAD_INPUT, program
    from nuggets_tui.cli.invocation import Invocation

    call = Invocation()
    try:
        program.main(obj=call)
    except SystemExit as end:
        # Of pages no answers are made ahead.
        pages = call.opened is not None and call.opened.pages is not None
        if end.code != BAD_INPUT and not pages:
            quick.make_ahead(asked.home, asked=asked, memory=call.opened)
        return end.code
    return None


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
            from nuggets_tui.demo.visiting import visit

            return visit()
        from nuggets_tui.app import run_app

        return run_app(home)
    except BaseException as error:
        from nuggets_tui.cli import exit_code

        return exit_code(error)


if __name__ == "__main__":
    main()
