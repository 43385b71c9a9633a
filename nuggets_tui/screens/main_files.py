"""What leaves the app: a text or an id for the clipboard, and the files that a note speaks of, opened in the editor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual import on, work

from core.errors import NuggetsError
from nuggets_tui.messages import FileWanted
from nuggets_tui.notices import say, say_error, warn
from nuggets_tui.safe_text import cut, plain, safe_line
from nuggets_tui.screens.main_changes import MainChanges
from nuggets_tui.threads import aside
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from nuggets_tui.file_opening import Found

# Many terminals take no longer OSC 52 sequence than 100,000 bytes, of which base64 leaves three quarters.
_MOST_BYTES: Final = 74_994
_TITLE: Final = 60


class MainFiles(MainChanges):
    """The commands that hand something to the terminal or to an editor."""

    # The clipboard

    def do_copy(self) -> None:
        """The text goes to the clipboard, through the terminal."""
        text = self.target().content
        lines = text.count("\n") + 1
        self._copy(text, f"the text: {plural(len(text), 'character')}, {plural(lines, 'line')}")

    def do_copy_reference(self) -> None:
        """Id and title of the note, as commands and people name it."""
        note = self.target()
        self._copy(f"{safe_line(note.id)} {safe_line(note.title)}", f"{safe_line(note.id, 80)} and the title")

    def _copy(self, text: str, said: str) -> None:
        # As it is shown: what a terminal or shell would obey, reorder or hide when it is pasted goes nowhere.
        text = text.replace("\r\n", "\n")
        harmless = plain(text)
        changed = sum(before != after for before, after in zip(text, harmless, strict=True))
        self.app.copy_to_clipboard(harmless)
        more = f" {plural(changed, 'control or invisible character')} replaced." if changed else ""
        size = len(harmless.encode())
        if size > _MOST_BYTES:
            warn(
                self,
                f"Copied {said}.{more} That is more than some terminals take (75,000 bytes); where nothing arrives, "
                f"{self.view.keys.key('edit_outside')} opens the text in $EDITOR.",
            )
        else:
            say(self, f"Copied {said}.{more}")

    # Files

    @work(group="open", exit_on_error=False)
    async def do_open_file(self) -> None:
        """The file that the note speaks of; a list of them where there are several."""
        from nuggets_tui.file_opening import files_named

        note = self.view.note
        folder = self._folder()
        if note is None or folder is None:
            return
        named = await aside(files_named, note.content, folder)
        there = [one for one in named if one.path is not None]
        if not named:
            say(self, "This note names no file such as src/auth.ts:47.")
        elif not there:
            self._say_not_found(named, folder)
        elif len(there) == 1 and not there[0].surprising:
            self._open(there[0])
        else:
            self._choose(named, folder)

    @on(FileWanted)
    def open_clicked(self, event: FileWanted) -> None:
        """A file in Note was clicked."""
        event.stop()
        self._find_and_open(event)

    @work(group="open", exit_on_error=False)
    async def _find_and_open(self, event: FileWanted) -> None:
        from nuggets_tui.file_opening import find

        folder = self._folder()
        if folder is None:
            return
        found = await aside(find, event.reference, folder)
        if found.path is None:
            self._say_not_found([found], folder)
        elif found.surprising:
            self._choose([found], folder)
        else:
            self._open(found)

    def _folder(self) -> Path | None:
        try:
            return Path.cwd()
        except OSError:
            warn(self, "The folder that the app was started in is gone: there is nowhere to look for files.")
            return None

    def _say_not_found(self, named: list[Found], folder: Path) -> None:
        from nuggets_tui.file_opening import roots_of

        first = cut(named[0].reference.path, _TITLE)
        others = f" and {plural(len(named) - 1, 'other')}" if len(named) > 1 else ""
        places = " and ".join(cut(str(root), _TITLE) for root in roots_of(folder))
        warn(
            self,
            f"No file {first}{others} here. Looked in {places}; start the app in the project it is about.",
        )

    def _choose(self, named: list[Found], folder: Path) -> None:
        from nuggets_tui.screens.files import FilesScreen

        def chosen(key: str | None) -> None:
            one = named[int(key)] if key is not None else None
            if one is not None and one.path is not None:
                self._open(one)
            elif one is not None:
                self._say_not_found([one], folder)

        self.app.push_screen(FilesScreen(named), chosen)

    @work(group="open", exit_on_error=False)
    async def _open(self, found: Found) -> None:
        from nuggets_tui.screens.outside import open_at

        assert found.path is not None
        try:
            await open_at(self.app, found.path, found.reference.line, found.reference.column)
        except NuggetsError as error:
            say_error(self, error)
