"""The watch command: a line for each change as it happens, whoever makes it."""

from __future__ import annotations

import asyncio
import contextlib
import select
import sys
from typing import TYPE_CHECKING, Final

from core.errors import NuggetsError
from nuggets_tui.cli.groups import command, example
from nuggets_tui.cli.invocation import Invocation, pass_call
from nuggets_tui.cli.output import write_error, write_json_line, write_lines

if TYPE_CHECKING:
    from core.memory import Memory

_POLLING: Final = "the system has no free file watches, so it looks every second"


@command("watch", epilog=example("nuggets watch", "nuggets watch --json | jq -r .reason"))
@pass_call
def watch(call: Invocation, /) -> None:
    """Print a line for each change as it happens, by whomever: you, an agent, another program.

    With --json, one JSON document on each line, in the shape of `nuggets log`. ctrl+c ends it, and so does the end of
    whatever reads it.
    """
    memory = call.memory_with_log
    memory.refresh()
    call.warn()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_watch(memory, call.as_json))


async def _watch(memory: Memory, as_json: bool) -> None:
    """Raises BrokenPipeError once nobody reads any more, errors of the log."""
    stop = asyncio.Event()
    gone = polling = False
    shown = memory.history.newest()

    def look() -> None:
        nonlocal gone
        if _nobody_reads():
            gone = True
            stop.set()

    async for found in memory.watch_events(stop, look):
        if isinstance(found, NuggetsError):
            write_error(found.message)
            continue
        if memory.polling and not polling:
            write_error(_POLLING)
        polling = memory.polling
        shown = _show(memory, shown, as_json)
    if gone:
        raise BrokenPipeError


def _show(memory: Memory, shown: int, as_json: bool) -> int:
    """Prints the entries of the log after the one of this number, oldest first; the number of the newest."""
    from nuggets_tui.cli.log_text import entry_document, log_lines

    entries = memory.history.log(limit=None, after=shown)[::-1]
    for entry in entries:
        if as_json:
            write_json_line(entry_document(entry))
        else:
            write_lines(log_lines([entry], ()))
    return max((entry.seq for entry in entries), default=shown)


def _nobody_reads() -> bool:
    """Whether standard output leads to a pipe whose other end is closed, as far as the system tells."""
    try:
        looking = select.poll()
        looking.register(sys.stdout, 0)
        return any(event & select.POLLERR for _, event in looking.poll(0))
    except (AttributeError, OSError, ValueError):
        return False
