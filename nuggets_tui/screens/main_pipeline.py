"""The pipeline in the app: its light, its screen, where a note came from; and its work, while the app is open."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace
from textual import work

from core.errors import NuggetsError
from nuggets_tui.notices import say, say_error, warn
from nuggets_tui.pipeline_sign import PipelineSign
from nuggets_tui.screens.main_history import MainHistory

if TYPE_CHECKING:
    from core.model.note import Note
    from core.model.snapshot import Snapshot
    from core.pipeline.records import HistoryRow, Origin
    from nuggets_tui.keeping import Keeping
    from nuggets_tui.origin import Origin as NoteOrigin
    from nuggets_tui.pipeline_desk import PipelineDesk

_EVERY: Final = 2.0
# Seconds that work under way is given when the memory is left.
_FAREWELL: Final = 0.6
_UNREADABLE: Final = PipelineSign("stuck", "pipeline not readable")


class MainPipeline(MainHistory):
    """Nothing of it happens before the first frame; of a memory without a pipeline nothing but a file is looked for."""

    _pipeline: PipelineDesk | None = None
    _looking_at_pipeline = False
    _pipeline_trouble = ""
    _work_trouble = ""

    def on_mount(self) -> None:
        """Looks again and again: another program may hand something in."""
        self.set_interval(_EVERY, self.look_at_pipeline)

    def on_unmount(self) -> None:
        """Gives back what is worked on."""
        self._leave_pipeline()

    def open_another(self, home: Path, notice: str) -> None:
        """Another memory has another pipeline."""
        self._leave_pipeline()
        super().open_another(home, notice)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """As before; the first time of a memory also looks at its pipeline."""
        super().show_snapshot(snapshot)
        if self._pipeline is None:
            self.look_at_pipeline()

    @property
    def pipeline(self) -> PipelineDesk:
        """The desk of the open memory's pipeline."""
        if self._pipeline is None or self._pipeline.memory is not self.desk.memory:
            from nuggets_tui.pipeline_desk import PipelineDesk

            self._leave_pipeline()
            self._pipeline = PipelineDesk(self.desk.memory, self.desk.clock)
        return self._pipeline

    def _leave_pipeline(self) -> None:
        left, self._pipeline = self._pipeline, None
        if left is not None:
            left.let_go(_FAREWELL)

    @work(group="pipeline", exit_on_error=False)
    async def look_at_pipeline(self) -> None:
        """Shows the light; runs the pipeline where nobody else does."""
        if self._looking_at_pipeline or self._desk is None or not self.view.loaded or not self.settled:
            return
        desk = self.pipeline
        self._looking_at_pipeline = True
        try:
            sign = await desk.look(runs=not (self.view.snapshot.read_only or self.view.trouble))
            self._pipeline_trouble = ""
        except NuggetsError as error:
            sign = _UNREADABLE
            if error.message != self._pipeline_trouble:
                self._pipeline_trouble = error.message
                say_error(self, error)
        except RuntimeError:
            # The memory was left meanwhile.
            return
        finally:
            self._looking_at_pipeline = False
        if desk is not self._pipeline or not self.is_mounted:
            return
        for line in desk.take_troubles()[-1:]:
            # What goes on failing is said once; the light goes on saying so.
            if line != self._work_trouble:
                self._work_trouble = line
                warn(self, line)
        if sign != self.view.pipeline:
            self.view = self.view.with_(pipeline=sign)

    async def traced(self, origin: NoteOrigin, note: Note) -> NoteOrigin:
        """With the sentence that the note was made of, where the pipeline made it."""
        from nuggets_tui.origin import made_by_pipeline, trail_of

        if not made_by_pipeline(note):
            return origin
        known = None
        # What cannot be read just now is said by the light.
        with contextlib.suppress(NuggetsError, RuntimeError):
            known = await self.pipeline.origin(note.id)
        return replace(origin, trail=trail_of(note, known))

    # Commands

    def do_pipeline(self) -> None:
        """The Pipeline screen."""
        from nuggets_tui.screens.pipeline import PipelineScreen

        screen = PipelineScreen(self.pipeline, self.desk, self._pipeline_wrote)
        screen.keeping_of = partial(self.keeping, "text")
        self.app.push_screen(screen, self._pipeline_left)

    def resume_hand_in(self, typed: Mapping[str, str], keeping: Keeping) -> None:
        """A text that was not handed in yet."""
        from nuggets_tui.screens.pipeline_intake import HandInScreen

        screen = HandInScreen(self.pipeline, self.desk.snapshot, typed=typed, keeping=keeping)
        self.app.push_screen(screen, self._handed_in)

    def _handed_in(self, said: str | None) -> None:
        if said:
            say(self, said)
            self.look_at_pipeline()

    def _pipeline_left(self, _: None) -> None:
        self.look_at_pipeline()

    def _pipeline_wrote(self) -> None:
        if self.view.past is None:
            self.show_snapshot(self.desk.snapshot)

    @work(group="open", exit_on_error=False)
    async def do_origin(self) -> None:
        """Where the note shown came from: the whole text with its sentence, and what was decided."""
        note = self.view.note
        if note is None:
            return
        asked = await self.attempt(self._origin_of(note.id))
        if asked is None:
            return
        found, rows = asked
        if found is None:
            words = "The pipeline did not make this note. Who did stands in the audit log: {log_of_note}."
            say(self, self.view.keys.filled(words))
            return
        from nuggets_tui.screens.note_origin import NoteOriginScreen

        self.app.push_screen(NoteOriginScreen(note, found, rows, self.desk.clock()))

    async def _origin_of(self, note_id: str) -> tuple[Origin | None, tuple[HistoryRow, ...]]:
        found = await self.pipeline.origin(note_id)
        return found, await self.pipeline.history(note_id) if found is not None else ()
