"""Editing a text or a file in the person's own editor, with the terminal handed over meanwhile."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from textual.app import App, SuspendNotSupported

from core.errors import InvalidInputError
from nuggets_tui.key_map import keys_of
from nuggets_tui.threads import run_in_thread

_EDITORS = ("VISUAL", "EDITOR")


class _Instead(NamedTuple):
    """What to say where no editor can be had: what is kept safe, and what to do instead."""

    kept: str
    todo: str


_NOTE = _Instead("the note is as it was", "press {edit} to edit here")
_FILE = _Instead("the file is as it was", "open it in an editor by hand")


def edit_outside(app: App[Any], text: str) -> str:
    """The text after editing. Raises InvalidInputError when there is no editor or it ended with an error."""
    instead = _NOTE._replace(todo=keys_of(app).filled(_NOTE.todo))
    words = _editor(instead)
    with tempfile.TemporaryDirectory(prefix="nuggets-") as folder:
        # Stored text may hold what UTF-8 has no bytes for; that survives the round trip this way.
        path = Path(folder) / "note.md"
        path.write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
        _hand_over(app, words, [*words, str(path)], instead)
        try:
            after = path.read_bytes().decode("utf-8", errors="surrogatepass")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInputError(
                f"the edited text cannot be read ({error})",
                where=words[0],
                kept=_NOTE.kept,
                todo="save it as UTF-8",
            ) from error
    # Most editors end the last line; the note does not.
    return after.removesuffix("\n") if after != text and not text.endswith("\n") else after


def open_outside(app: App[Any], path: Path) -> None:
    """Opens a file itself in the editor. Raises InvalidInputError when there is none or it ended with an error."""
    words = _editor(_FILE)
    _hand_over(app, words, [*words, str(path)], _FILE)


async def open_at(app: App[Any], path: Path, line: int, column: int) -> None:
    """Opens a file in the editor at a line and column (from 1; 0: wherever). Raises InvalidInputError as
    `open_outside`. An editor with a window of its own leaves the terminal to the app.
    """
    from nuggets_tui.file_opening import editor_command, has_a_window

    words = _editor(_FILE)
    command = editor_command(words, path, line, column)
    if has_a_window(words):
        _check_end(await run_in_thread(_run_quietly, command), words, _FILE)
    else:
        _hand_over(app, words, command, _FILE)


def _editor(instead: _Instead) -> list[str]:
    command = next((os.environ[name] for name in _EDITORS if os.environ.get(name, "").strip()), "")
    if not command:
        raise InvalidInputError(
            "no editor is set",
            where="$VISUAL, $EDITOR",
            kept=instead.kept,
            todo=f"set EDITOR, or {instead.todo}",
        )
    return _words(command, instead)


def _hand_over(app: App[Any], words: list[str], command: list[str], instead: _Instead) -> None:
    """Gives the terminal to the editor until it ends."""
    try:
        with app.suspend():
            ended = _run(command)
    except SuspendNotSupported:
        raise InvalidInputError(
            "this terminal cannot run an editor",
            kept=instead.kept,
            todo=instead.todo,
        ) from None
    _check_end(ended, words, instead)


def _check_end(ended: int | OSError, words: list[str], instead: _Instead) -> None:
    if isinstance(ended, OSError):
        raise InvalidInputError(
            f"the editor did not start ({ended})",
            where=" ".join(words),
            kept=instead.kept,
            todo=f"set EDITOR to another editor, or {instead.todo}",
        ) from ended
    if ended != 0:
        raise InvalidInputError(
            f"the editor ended with an error ({ended})",
            where=" ".join(words),
            kept=instead.kept,
            todo="try again",
        )


def _words(command: str, instead: _Instead) -> list[str]:
    """The command's words. Looked at before the terminal is handed over: a program that is not there gets nothing."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InvalidInputError(
            f"the editor's command cannot be read ({error})",
            where=command,
            kept=instead.kept,
            todo=f"set EDITOR, or {instead.todo}",
        ) from error
    if not words or shutil.which(words[0]) is None:
        raise InvalidInputError(
            f"program {words[0] if words else command} not found",
            where="$VISUAL, $EDITOR",
            kept=instead.kept,
            todo=f"set EDITOR, or {instead.todo}",
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


def _run_quietly(words: list[str]) -> int | OSError:
    """As `_run`, for a program that has nothing to do with the terminal."""
    nowhere = subprocess.DEVNULL
    try:
        return subprocess.run(words, check=False, stdin=nowhere, stdout=nowhere, stderr=nowhere).returncode
    except OSError as error:
        return error
