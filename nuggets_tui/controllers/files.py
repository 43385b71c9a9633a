"""What leaves the app: a text or an id for the clipboard, and the files that a note speaks of, opened in the editor."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.errors import NuggetsError
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.safe_text import cut, plain, safe_line
from nuggets_tui.threads import run_in_thread
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.text.file_references import FileReference
    from nuggets_tui.file_opening import Found
    from nuggets_tui.screens.main import MainScreen

# Many terminals take no longer OSC 52 sequence than 100,000 bytes, of which base64 leaves three quarters.
_MOST_BYTES: Final = 74_994
_TITLE: Final = 60
_TMUX_SECONDS: Final = 2


class FilesController(Controller):
    """Hands something to the terminal or to an editor."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self._asked_tmux = False

    # The clipboard

    def copy(self) -> None:
        """The text goes to the clipboard, through the terminal; of several notes each under its title."""
        notes = self.main.selection.targets()
        if not notes:
            return
        if len(notes) > 1:
            text = "\n\n".join(f"## {note.title}\n\n{note.content}" for note in notes)
            self._copy(text, f"the texts of {len(notes):,} selected: {plural(len(text), 'character')}")
            return
        text = notes[0].content
        lines = text.count("\n") + 1
        self._copy(text, f"the text: {plural(len(text), 'character')}, {plural(lines, 'line')}")

    def copy_reference(self) -> None:
        """Id and title of the note, as commands and people name it."""
        note = self.main.selection.target()
        if note is not None:
            self._copy(
                f"{safe_line(note.id)} {safe_line(note.title)}", f"{safe_line(note.id, 80)} and the title"
            )

    def _copy(self, text: str, said: str) -> None:
        # As it is shown: what a terminal or shell would obey, reorder or hide when it is pasted goes nowhere.
        text = text.replace("\r\n", "\n")
        harmless = plain(text)
        changed = sum(before != after for before, after in zip(text, harmless, strict=True))
        self.app.copy_to_clipboard(harmless)
        more = f" Replaced {plural(changed, 'control or invisible character')}." if changed else ""
        size = len(harmless.encode())
        if size > _MOST_BYTES:
            self.warn(
                f"Copied {said}.{more} Some terminals take only 75,000 bytes. If nothing arrives, "
                f"{self.view.keys.key('edit_outside')} opens the text in $EDITOR.",
            )
        else:
            self.notify(f"Copied {said}.{more}")
        if os.environ.get("TMUX") and not self._asked_tmux:
            self._asked_tmux = True
            self._ask_tmux()

    @background("clipboard")
    async def _ask_tmux(self) -> None:
        """Says once where tmux, as it comes, lets nothing that was copied in it reach the clipboard."""
        if await run_in_thread(_tmux_drops_copies):
            self.warn("tmux kept this from the clipboard. Run: tmux set -s set-clipboard on, and copy again.")

    # Files

    @background("open")
    async def open_named(self) -> None:
        """The file that the note speaks of; a list of them where there are several."""
        from nuggets_tui.file_opening import files_named

        note = self.main.selection.target()
        folder = self._folder()
        if note is None or folder is None:
            return
        named = await run_in_thread(files_named, note.content, folder)
        there = [one for one in named if one.path is not None]
        if not named:
            self.notify("This note names no file, such as src/auth.ts:47.")
        elif not there:
            self._notify_not_found(named, folder)
        elif len(there) == 1 and not there[0].surprising:
            self._open(there[0])
        else:
            self._choose(named, folder)

    @background("open")
    async def find_and_open(self, reference: FileReference) -> None:
        """A file that was clicked in Note."""
        from nuggets_tui.file_opening import find

        folder = self._folder()
        if folder is None:
            return
        found = await run_in_thread(find, reference, folder)
        if found.path is None:
            self._notify_not_found([found], folder)
        elif found.surprising:
            self._choose([found], folder)
        else:
            self._open(found)

    def _folder(self) -> Path | None:
        try:
            return Path.cwd()
        except OSError:
            self.warn(
                "The folder where you started the app no longer exists. Start the app in the "
                "project's folder."
            )
            return None

    def _notify_not_found(self, named: list[Found], folder: Path) -> None:
        from nuggets_tui.file_opening import roots_of

        first = cut(named[0].reference.path, _TITLE)
        others = f" and {plural(len(named) - 1, 'other')}" if len(named) > 1 else ""
        places = " and ".join(cut(str(root), _TITLE) for root in roots_of(folder))
        self.warn(
            f"Cannot find {first}{others} in {places}. Start the app in the project's folder.",
        )

    def _choose(self, named: list[Found], folder: Path) -> None:
        from nuggets_tui.screens.choice import file_choice

        def chosen(key: str | None) -> None:
            one = named[int(key)] if key is not None else None
            if one is not None and one.path is not None:
                self._open(one)
            elif one is not None:
                self._notify_not_found([one], folder)

        self.app.push_screen(file_choice(named), chosen)

    @background("open")
    async def _open(self, found: Found) -> None:
        from nuggets_tui.screens.outside import open_at

        assert found.path is not None
        try:
            await open_at(self.app, found.path, found.reference.line, found.reference.column)
        except NuggetsError as error:
            self.notify_error(error)


def _tmux_drops_copies() -> bool:
    """Whether tmux is known to drop what programs in it copy; False where it does not tell."""
    import subprocess

    try:
        asked = subprocess.run(
            ("tmux", "show-options", "-sv", "set-clipboard"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TMUX_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return asked.returncode == 0 and asked.stdout.strip() in (b"external", b"off")
