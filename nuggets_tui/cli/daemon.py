"""The `daemon` command: runs the daily pass at its time, the pipeline and syncs, one process for each folder."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from datetime import UTC, datetime
from types import FrameType
from typing import Final, NoReturn

import click

from core.errors import InvalidInputError
from nuggets_tui.cli.calling_agent import refuse_agents
from nuggets_tui.cli.daily import folder_of
from nuggets_tui.cli.groups import command, example
from nuggets_tui.cli.invocation import Invocation, pass_call
from nuggets_tui.cli.output import write_lines

_SHORTEST, _LONGEST = 1.0, 3600.0
NOTHING_READ: Final = 1


class _Ended(BaseException):
    """A signal asked for the end."""


@command("daemon", epilog=example("nuggets daemon", "nuggets daemon --once --verbose"))
@click.option("--once", is_flag=True, help="Do once what is due and what waits in the pipeline, then exit.")
@click.option(
    "--interval", type=click.FloatRange(_SHORTEST, _LONGEST), default=60.0, metavar="SECONDS",
    help="Check at least every so many seconds (default: 60).",
)  # fmt: skip
@click.option(
    "--pipeline",
    "only_pipeline",
    is_flag=True,
    help="With --once: only the pipeline, no cleanup and no sync.",
)
@click.option("--verbose", is_flag=True, help="Print when the next pass is due.")
@pass_call
def daemon(
    call: Invocation, /, once: bool, interval: float, only_pipeline: bool, verbose: bool
) -> int | None:
    """Run the daily pass at its time, and the pipeline, until you press ctrl+c. One daemon runs for each folder.

    A missed pass is caught up in waking hours. Each pass prints one line on standard error. If it changes something,
    it is one entry of the history, which you can undo. Settings: [reflection] hour and minute, [schedule].

    Meanwhile it extracts facts from submitted texts (nuggets ingest). Settings: [pipeline]. It syncs every so often
    where you want it (nuggets sync). Settings: [sync]. With --once, exit code 1 says that texts wait and none could be
    read, or that a sync did not go through.
    """
    from nuggets_tui.daemon import Daemon, PipelineBeside, Together
    from nuggets_tui.sync_beside import SyncBeside

    if only_pipeline and not once:
        raise InvalidInputError("needs --once", where="--pipeline", kept="nothing was changed")
    if not only_pipeline:
        refuse_agents("running the daily pass")
    folder = folder_of(call)
    _end_on_signals()
    output = _Output()
    if not folder.exists():
        output.to_error(f"there is no memory in {folder} yet; waiting for one")

    def clock() -> datetime:
        return datetime.now(UTC)

    pipeline = PipelineBeside(folder, clock=clock, report=output.to_error)
    worker = Daemon(
        folder,
        clock=clock,
        wait=time.sleep,
        report=output.to_error,
        chat=output.if_new if verbose else lambda _: None,
        interval=interval,
        beside=Together(pipeline, SyncBeside(folder, clock=clock, report=output.to_error)),
    )
    try:
        done = pipeline.once() if only_pipeline else worker.run(once=once)
        return None if done else NOTHING_READ
    except _Ended:
        return None


class _Output:
    """Lines of a process that runs for months, also when nobody reads them any more: each with its time, no chat twice
    in a row.
    """

    def __init__(self) -> None:
        self._last = ""

    def to_error(self, line: str) -> None:
        """Something happened."""
        with contextlib.suppress(OSError):
            write_lines([f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S}  {line}"], to_error=True)

    def if_new(self, line: str) -> None:
        """Something that has not just been said."""
        if line != self._last:
            self._last = line
            with contextlib.suppress(OSError):
                write_lines([line])


def _end_on_signals() -> None:
    def end(number: int, frame: FrameType | None) -> NoReturn:
        # What is being put away now is put away in peace.
        for each in wanted:
            signal.signal(each, signal.SIG_IGN)
        raise _Ended

    wanted = [signal.SIGINT, signal.SIGTERM]
    if sys.platform != "win32":
        wanted.append(signal.SIGHUP)
    # Who started it with nohup, or in the background of a script, said which signals are not for it.
    wanted = [each for each in wanted if signal.getsignal(each) is not signal.SIG_IGN]
    for each in wanted:
        signal.signal(each, end)
