"""The `hook` command, for its help and for options before its name; `nuggets_tui.hooks` does the work."""

from __future__ import annotations

import click

from nuggets_tui.cli.groups import command, example
from nuggets_tui.cli.invocation import Invocation, pass_call


@command(
    "hook",
    epilog=example("nuggets hook claude < event.json"),
    context_settings={"ignore_unknown_options": True},
)
@click.argument("agent", metavar="[AGENT]", required=False, default="")
@click.argument("more", nargs=-1, type=click.UNPROCESSED, metavar="")
@pass_call
def hook(call: Invocation, /, agent: str, more: tuple[str, ...]) -> None:
    """Take an event of an agent, as JSON on standard input. `nuggets agent install` makes agents call this.

    At the start of a session it prints a briefing. Of a prompt it keeps what begins with "remember that", "always use",
    "I prefer" or "never"; of edits, the paths of the files. It always ends with exit code 0.
    """
    from nuggets_tui.hooks.fast import main

    main([agent, *(("--home", call.home) if call.home else ())])
