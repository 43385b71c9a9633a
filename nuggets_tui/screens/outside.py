"""Editing a text in the person's own editor, with the terminal handed over meanwhile."""

from __future__ import annotations

import os
import shlex
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
    with tempfile.TemporaryDirectory(prefix="nuggets-") as folder:
        # Stored text may hold what UTF-8 has no bytes for; that survives the round trip this way.
        path = Path(folder) / "note.md"
        path.write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
        try:
            with app.suspend():
                ended = subprocess.run([*shlex.split(command), str(path)], check=False)
        except SuspendNotSupported:
            raise InvalidInputError(
                "the terminal cannot be handed to an editor here",
                kept=_KEPT,
                todo="press e to edit in the app",
            ) from None
        except (OSError, ValueError) as error:
            raise InvalidInputError(
                f"the editor does not start ({error})",
                where=command,
                kept=_KEPT,
                todo="set EDITOR to another one",
            ) from error
        if ended.returncode != 0:
            raise InvalidInputError(
                f"the editor ended with an error ({ended.returncode})",
                where=command,
                kept=_KEPT,
                todo="try again",
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
