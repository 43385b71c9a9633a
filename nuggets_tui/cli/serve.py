"""The `serve` command: the app in a browser of this machine."""

from __future__ import annotations

import sys

import click

from core.errors import ErrorCode, InvalidInputError
from nuggets_tui.cli.groups import command, example
from nuggets_tui.cli.invocation import Invocation, pass_call
from nuggets_tui.cli.options import WholeNumber
from nuggets_tui.cli.output import write_document, write_lines


@command("serve", epilog=example("nuggets serve", "nuggets serve --port 9000 --open"))
@click.option(
    "--port",
    type=WholeNumber(1, 65535),
    metavar="N",
    help="Listen on this port (default: 8642, or the next free one).",
)
@click.option("--open", "opens", is_flag=True, help="Open the URL in your browser, too.")
@pass_call
def serve(call: Invocation, /, port: int | None, opens: bool) -> None:
    """Show the app in a browser on this machine, until you press ctrl+c.

    Only this machine can reach it, and only with the printed URL, which holds a new secret at each start. Each page is
    an app of its own on the same memory.
    """
    folder = call.folder.absolute()
    if folder.exists() and not folder.is_dir():
        raise InvalidInputError(
            "is not a folder",
            code=ErrorCode.WRONG_KIND_OF_FILE,
            where=str(folder),
            todo="name the folder of a memory",
        )
    from nuggets_tui.web.server import LoopbackServer, listening

    def report(url: str) -> None:
        if call.as_json:
            write_document({"url": url, "home": str(folder)})
        else:
            write_lines([url])
            write_lines([f"serving {folder} to this machine only; ctrl+c stops it"], to_error=True)
        sys.stdout.flush()
        if opens:
            import webbrowser

            webbrowser.open(url)

    LoopbackServer(folder, listening(port), report=report).serve()
