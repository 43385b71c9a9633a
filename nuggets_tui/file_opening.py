"""Files that a note speaks of: where they lie on this machine, and how an editor is told to open one at its line."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from textual.app import App, SuspendNotSupported

from core.errors import InvalidInputError
from nuggets_tui.commands import keys_of
from nuggets_tui.pace import run_in_thread

if TYPE_CHECKING:
    from core.model.judgement import Standing
    from core.text.file_references import FileReference

_CODE: Final = frozenset(("code", "code-insiders", "code-oss", "codium", "vscodium", "cursor", "windsurf"))
_COLON: Final = frozenset(("subl", "sublime_text", "zed", "zeditor", "hx", "helix"))
_JETBRAINS: Final = frozenset(
    ("idea", "pycharm", "webstorm", "goland", "clion", "rubymine", "phpstorm", "rider", "rustrover", "studio")
)
_PLUS_LINE: Final = frozenset(
    ("vim", "nvim", "vi", "view", "gvim", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "ne", "mcedit",
     "gedit", "nvi", "elvis", "jed", "pico")
)  # fmt: skip
# These take a column behind the line, each in its way.
_PLUS_COLUMN: Final = {"nano": ",", "pico": ",", "emacs": ":", "emacsclient": ":", "micro": ":", "kak": ":"}
_OTHERS: Final = {"kate": ("-l", "-c"), "mate": ("-l", "")}
# These open a window of their own and need no terminal.
_WINDOWED: Final = _CODE | _JETBRAINS | (_COLON - {"hx", "helix"}) | {"gvim", "gedit", "kate", "mate"}
_ENDINGS: Final = (".exe", ".cmd", ".bat", ".sh")


class Found(NamedTuple):
    """A reference and the file that it means here, None for none. surprising: it lies outside of the project."""

    reference: FileReference
    path: Path | None = None
    surprising: bool = False


@lru_cache(maxsize=64)
def names_a_file(text: str) -> bool:
    """Whether a text speaks of a file, wherever that may be."""
    from core.text.file_references import file_references

    return bool(file_references(text))


def files_named(text: str, folder: Path, stale: Sequence[Standing] = ()) -> list[Found]:
    """The files that a text speaks of, each once, looked up from a working directory; for a thread. stale: what of it
    is not where it was.
    """
    from core.text.file_references import file_references

    named = [now_at(each, stale) for each in file_references(text)]
    said = {(each.path, each.line, each.column): each for each in reversed(named)}
    return [find(reference, folder) for reference in reversed(said.values())]


def find(reference: FileReference, folder: Path) -> Found:
    """The ordinary file that a reference means: below a working directory, else below the root of its repository.

    An absolute path, and one from "~", is taken as it is. A relative one never leads out of the project.
    """
    roots = roots_of(folder)
    spelled = reference.path
    # What was written on Windows is looked for elsewhere too.
    for path in dict.fromkeys((spelled, spelled.replace("\\", "/"))):
        for candidate in _candidates(path, roots):
            if _is_file(candidate):
                inside = any(candidate.is_relative_to(root) for root in roots)
                return Found(reference, candidate, not inside)
    return Found(reference)


def now_at(reference: FileReference, stale: Iterable[Standing]) -> FileReference:
    """A reference as it is to be followed now: to where the file moved since the note was written."""
    from core.text.file_references import FileReference, file_references

    for one in stale:
        was = file_references(one.said) if one.state == "moved" and one.kind == "file" else ()
        if was and (was[0].path, was[0].line) == (reference.path, reference.line):
            path, _, line = one.where.rpartition(":")
            return FileReference(path, int(line)) if path and line.isdigit() else FileReference(one.where)
    return reference


def roots_of(folder: Path) -> tuple[Path, ...]:
    """The folders in which relative paths are looked up: the working directory, the root of its git repository."""
    folder = Path(os.path.abspath(folder))
    for parent in (folder, *folder.parents):
        if (parent / ".git").exists():
            return (folder,) if parent == folder else (folder, parent)
    return (folder,)


def _candidates(path: str, roots: Sequence[Path]) -> list[Path]:
    try:
        spelled = Path(path).expanduser() if path.startswith("~") else Path(path)
    except RuntimeError:
        # There is no such user.
        return []
    if spelled.is_absolute():
        return [Path(os.path.normpath(spelled))]
    outer = roots[-1]
    found = (Path(os.path.normpath(root / spelled)) for root in roots)
    return [candidate for candidate in found if candidate.is_relative_to(outer)]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def editor_command(words: Sequence[str], path: Path, line: int = 0, column: int = 0) -> list[str]:
    """The command that opens a file at a line (from 1; 0: where the editor likes), as arguments without a shell.

    words: of the editor's own command. An editor that is not known gets the path alone.
    """
    name, spelled = _name(words[0]), str(path)
    if line <= 0:
        return [*words, spelled]
    place = f"{spelled}:{line}" + (f":{column}" if column > 0 else "")
    if name in _CODE:
        return [*words, "-g", place]
    if name in _COLON:
        return [*words, place]
    if name in _JETBRAINS:
        return [*words, "--line", str(line), *(["--column", str(column)] if column > 0 else []), spelled]
    if name in _OTHERS:
        by_line, by_column = _OTHERS[name]
        columns = [by_column, str(column)] if by_column and column > 0 else []
        return [*words, by_line, str(line), *columns, spelled]
    if name in _PLUS_LINE:
        between = _PLUS_COLUMN.get(name, "")
        return [*words, f"+{line}" + (f"{between}{column}" if between and column > 0 else ""), spelled]
    return [*words, spelled]


def has_a_window(words: Sequence[str]) -> bool:
    """Whether an editor opens a window of its own, so that the terminal stays the app's."""
    return _name(words[0]) in _WINDOWED


def _name(program: str) -> str:
    name = program.replace("\\", "/").rpartition("/")[2].lower()
    return next((name.removesuffix(ending) for ending in _ENDINGS if name.endswith(ending)), name)


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
