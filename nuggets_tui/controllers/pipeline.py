"""The pipeline in the app: its light, its screen, where a note came from; and its work, while the app is open."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace
from textual.content import Content

from core.errors import NuggetsError
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.pipeline_status import PipelineIndicator
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.model.note import Note
    from core.pipeline.records import HistoryRow, Origin
    from nuggets_tui.pipeline_session import PipelineSession
    from nuggets_tui.screens.main import MainScreen
    from nuggets_tui.screens.typed import TypedTextStore
    from nuggets_tui.widgets.note_view import NoteAuthors

_EVERY: Final = 2.0
_MEASURE_EVERY: Final = 60.0
# Seconds that work under way is given when the memory is left.
_FAREWELL: Final = 0.6
_UNREADABLE: Final = PipelineIndicator("stuck", "pipeline unreadable")


class PipelineController(Controller):
    """Nothing of it happens before the first frame; of a memory without a pipeline nothing but a file is looked for."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self._pipeline: PipelineSession | None = None
        self._refreshing = False
        self._trouble: tuple[object, ...] = ()
        self._work_trouble = ""
        # The newest entry of the log when undo was last followed.
        self._newest = ""

    def mounted(self) -> None:
        """Looks again and again: another program may hand something in."""
        self.main.set_interval(_EVERY, self.refresh)
        self.main.set_interval(_MEASURE_EVERY, self.measure)

    def leaving(self) -> None:
        left, self._pipeline = self._pipeline, None
        if left is not None:
            left.close(_FAREWELL)

    def snapshot_shown(self) -> None:
        """The first time of a memory looks at its pipeline."""
        if self._pipeline is None:
            self.refresh()

    def log_shown(self) -> None:
        """What was undone or redone may have been accepted here before."""
        newest = self.view.log.lines[0].id if self.view.log.lines else ""
        if newest != self._newest:
            self._newest = newest
            self._follow_undo()

    @background("pipeline-undo", exclusive=True)
    async def _follow_undo(self) -> None:
        session = self._pipeline
        if session is None or not self.main.reconciled:
            return
        # What cannot be written just now is taken over by the worker later.
        with contextlib.suppress(NuggetsError, RuntimeError):
            if await session.follow_undo():
                self.refresh()
                self._refresh_hints()

    @property
    def _pipeline_session(self) -> PipelineSession:
        if self._pipeline is None or self._pipeline.memory is not self.session.memory:
            from nuggets_tui.pipeline_session import PipelineSession

            self.leaving()
            self._pipeline = PipelineSession(self.session.memory, self.session.clock)
        return self._pipeline

    @background("pipeline")
    async def refresh(self) -> None:
        """Shows the status; runs the pipeline where nobody else does."""
        if (
            self._refreshing
            or self.main.open_session is None
            or not self.view.loaded
            or not self.main.reconciled
        ):
            return
        session = self._pipeline_session
        self._refreshing = True
        try:
            indicator = await session.refresh(runs=not (self.view.snapshot.read_only or self.view.trouble))
            self._trouble = ()
        except NuggetsError as error:
            indicator = _UNREADABLE
            if error.identity != self._trouble:
                self._trouble = error.identity
                self.notify_error(error)
        except RuntimeError:
            # The memory was left meanwhile.
            return
        finally:
            self._refreshing = False
        if session is not self._pipeline or not self.main.is_mounted:
            return
        for line in session.take_troubles()[-1:]:
            # What goes on failing is said once; the icon goes on showing it.
            if line != self._work_trouble:
                self._work_trouble = line
                self.warn(f"Pipeline: {line}")
        if indicator != self.view.pipeline:
            self.main.show(pipeline=indicator)

    @background("pipeline-health", exclusive=True)
    async def measure(self) -> None:
        """Looks how healthy the pipeline is; the next refresh of the icon says when it is not."""
        if self.main.open_session is None or not self.view.loaded or not self.main.reconciled:
            return
        # What cannot be read is shown by the icon already.
        with contextlib.suppress(NuggetsError, RuntimeError):
            await self._pipeline_session.measure()

    async def with_trail(self, origin: NoteAuthors, note: Note) -> NoteAuthors:
        """With the sentence that the note was made of, where the pipeline made it, and with the hints that find it."""
        from nuggets_tui.widgets.note_view import made_by_pipeline, trail_of

        if self._pipeline_session.begun:
            with contextlib.suppress(NuggetsError, RuntimeError):
                found = await self._pipeline_session.hints(note.id)
                if found is not None and found.enabled:
                    origin = replace(origin, hints=found.hints)
        if not made_by_pipeline(note):
            return origin
        known = None
        # What cannot be read just now is shown by the icon.
        with contextlib.suppress(NuggetsError, RuntimeError):
            known = await self._pipeline_session.origin(note.id)
        return replace(origin, trail=trail_of(note, known))

    # Commands

    def open(self) -> None:
        """The page of jobs, documents, sessions and health."""
        from nuggets_tui.screens.pipeline import PipelineScreen

        screen = PipelineScreen(self._pipeline_session, self.session, self._pipeline_wrote)
        screen.text_store_of = partial(self.main.texts.text_store, "text")
        self.app.push_screen(screen, self._pipeline_left)

    def open_inbox(self) -> None:
        """What waits for the person, and what others brought."""
        from nuggets_tui.screens.inbox import InboxScreen

        view, keys = self.view, self.view.keys
        waiting = []
        if view.waiting:
            waiting.append(f"{plural(len(view.waiting), 'conflict')}: {keys.key('conflicts')} resolves")
        if view.reflection_due:
            changes = f": {plural(view.proposed, 'change')}" if view.proposed else ""
            waiting.append(f"cleanup ready{changes}: {keys.key('reflect')}")
        if view.promotable:
            waiting.append(f"{plural(view.promotable, 'line')} for MEMORY.md: {keys.key('promote')}")
        screen = InboxScreen(
            self._pipeline_session,
            self.session,
            self._pipeline_wrote,
            lambda id, undoing: self.main.history.open_entry(id, undoing=undoing),
            tuple(map(Content, waiting)),
        )
        self.app.push_screen(screen, self._pipeline_left)

    def resume_submit(self, typed: Mapping[str, str], text_store: TypedTextStore) -> None:
        """A text that was not handed in yet."""
        from nuggets_tui.screens.pipeline import SubmitScreen

        screen = SubmitScreen(
            self._pipeline_session, self.session.snapshot, typed=typed, text_store=text_store
        )
        self.app.push_screen(screen, self._submitted)

    def _submitted(self, said: str | None) -> None:
        if said:
            self.notify(said)
            self.refresh()

    def _pipeline_left(self, _: None) -> None:
        self.refresh()

    def _pipeline_wrote(self) -> None:
        if self.view.past is None:
            self.main.show_snapshot(self.session.snapshot)

    @background("open")
    async def show_origin(self) -> None:
        """Where the note under the cursor came from: the whole text with its sentence, and what was decided."""
        note = self.main.selection.target()
        if note is None:
            return
        asked = await self.attempt(self._origin_of(note.id))
        if asked is None:
            return
        found, rows = asked
        if found is None:
            words = "The pipeline did not make this note. The audit log says who did: {log_of_note}."
            self.notify(self.view.keys.filled(words))
            return
        from nuggets_tui.screens.why import origin_screen

        self.app.push_screen(origin_screen(note, found, rows, self.session.clock()))

    @background("hints", exclusive=True)
    async def _refresh_hints(self) -> None:
        """The hints of the note shown, as they are now."""
        origin, session = self.view.origin, self._pipeline
        if origin is None or session is None or not session.begun:
            return
        with contextlib.suppress(NuggetsError, RuntimeError):
            found = await session.hints(origin.note_id)
            if found is not None and found.enabled and self.view.origin == origin:
                self.main.show(origin=replace(origin, hints=found.hints))

    async def _origin_of(self, note_id: str) -> tuple[Origin | None, tuple[HistoryRow, ...]]:
        found = await self._pipeline_session.origin(note_id)
        return found, await self._pipeline_session.ask(
            lambda one: tuple(one.history(note_id))
        ) if found is not None else ()
