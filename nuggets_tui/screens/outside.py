"""Editing a text in the person's own editor, with the terminal handed over meanwhile."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from textual.app import App, SuspendNotSupported

from core.errors import InvalidInputError

_EDITORS = ("VISUAL", "EDITOR")
_KEPT = "the note is as it was"


def edit_outside(app: App[object], text: str) -> str:
    """The text after editing. Raises InvalidInputError when there is no editor or it ended with an error."""
    command = next((os.environ[name] for name in _EDITORS if os.environ.get(name, "").strip()), "")
    if not command:
        raise InvalidInputError(
            "no editor is named",
            where="$VISUAL, $EDITOR",
            kept=_KEPT,
            todo="set EDITOR, or press e to edit here",
        )
    words = _words(command)
    with tempfile.TemporaryDirectory(prefix="nuggets-") as folder:
        # Stored text may hold what UTF-8 has no bytes for; that survives the round trip this way.
        path = Path(folder) / "note.md"
        path.write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
        try:
            with app.suspend():
                ended = _run([*words, str(path)])
        except SuspendNotSupported:
            raise InvalidInputError(
                "the terminal cannot be handed to an editor here",
                kept=_KEPT,
                todo="press e to edit in the app",
            ) from None
        if isinstance(ended, OSError):
            raise InvalidInputError(
                f"the editor does not start ({ended})",
                where=command,
                kept=_KEPT,
                todo="set EDITOR to another one, or press e",
            ) from ended
        if ended != 0:
            raise InvalidInputError(
                f"the editor ended with an error ({ended})", where=command, kept=_KEPT, todo="try again"
            )
        try:
            after = path.read_bytes().decode("utf-8", errors="surrogatepass")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInputError(
                f"what the editor left cannot be read ({error})",
                where=command,
                kept=_KEPT,
                todo="save it as UTF-8",
            ) from error
    # Most editors end the last line; the note does not.
    return after.removesuffix("\n") if after != text and not text.endswith("\n") else after


def _words(command: str) -> list[str]:
    """The command's words. Looked at before the terminal is handed over: a program that is not there gets nothing."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InvalidInputError(
            f"the editor's command cannot be read ({error})",
            where=command,
            kept=_KEPT,
            todo="set EDITOR, or press e",
        ) from error
    if not words or shutil.which(words[0]) is None:
        raise InvalidInputError(
            f"no program {words[0] if words else command} here",
            where="$VISUAL, $EDITOR",
            kept=_KEPT,
            todo="set EDITOR, or press e",
        )
    return words


def _run(words: list[str]) -> int | OSError:
    """How the program ended, or why it did not start.

    Textual takes the terminal back only when nothing is raised while it is handed over.
    """
    try:
        return subprocess.run(words, check=False).returncode
    except OSError as error:
        return error
