"""Bringing in what other programs remember: chosen among what was found or typed, previewed, one entry of the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors import ErrorCode, InvalidInputError
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.long_work import LongWork
from nuggets_tui.threads import run_in_thread

if TYPE_CHECKING:
    from core.memories import FoundMemory
    from core.memory import ReadSource
    from core.model.progress import Progress
    from nuggets_tui.screens.main import MainScreen
    from nuggets_tui.session import Session


class ImportsController(Controller):
    """Asks what to import, shows what would come in, and brings in what is accepted."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        # The path that was typed last.
        self._path = ""

    @background("open")
    async def choose(self) -> None:
        """Lists what was found on this machine."""
        from nuggets_tui.screens.imports import ImportScreen
        from nuggets_tui.screens.memories import files_here, memories_here

        home = self.view.home
        looking = LongWork("looking for memories", stops=False)
        found = await self.long_work(looking.words, run_in_thread(memories_here, home), looking)
        if found is None:
            return
        files = await self.long_work(looking.words, run_in_thread(files_here, home), looking) or ()
        others = importable(found, home)
        if others or files:
            self.app.push_screen(ImportScreen(others, self.session.clock(), files), self._chosen)
        else:
            self._ask_path()

    def _chosen(self, path: str | None) -> None:
        from nuggets_tui.screens.imports import ANOTHER

        if path == ANOTHER:
            self._ask_path()
        elif path is not None:
            self.preview(path)

    def _ask_path(self) -> None:
        from nuggets_tui.screens.imports import path_screen

        self.app.push_screen(path_screen(self._path), self._typed)

    def _typed(self, path: str | None) -> None:
        if path:
            self._path = path
            self.preview(path)

    @background("open")
    async def preview(self, source: str) -> None:
        """Reads a file or a folder and shows what of it would come in."""
        from nuggets_tui.screens.imports import ImportReview

        session = self.session
        reading = LongWork("reading")
        read = await self.long_work(
            reading.words, session.read(_read, session, source, reading.report_progress), reading
        )
        if read is None:
            return
        comparing = LongWork("comparing")
        proposed = await self.long_work(
            comparing.words,
            session.read(
                session.memory.exchange.bring, read, dry_run=True, progress=comparing.report_progress
            ),
            comparing,
        )
        if proposed is None or session is not self.main.open_session:
            return
        if not (proposed.of("new") or proposed.of("conflict") or proposed.left_out):
            self.notify("Nothing to import: this memory holds all of it already.")
            return
        self.app.push_screen(ImportReview(session, read, proposed), self.main.history.reviewed)


def _read(session: Session, source: str, progress: Progress) -> ReadSource:
    """What a file or a folder holds. Errors as `Exchange.read`, with what to do here."""
    try:
        return session.memory.exchange.read(source, None, progress)
    except InvalidInputError as error:
        if error.code is not ErrorCode.UNKNOWN_FORMAT:
            raise
        raise InvalidInputError(
            error.what,
            code=error.code,
            where=error.where,
            kept=error.kept,
            todo="choose another file or folder",
        ) from error


def importable(found: tuple[FoundMemory, ...], home: str) -> tuple[FoundMemory, ...]:
    """The memories that can be brought into the one that is open."""
    return tuple(one for one in found if not one.problem and one.path != home)
