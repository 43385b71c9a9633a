"""The hints of a note: questions of a model by which it is found, too; each can be removed, and put back."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from textual import getters, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from core.errors import NotFoundError
from nuggets_tui.notices import notify
from nuggets_tui.pane_help import Here
from nuggets_tui.pipeline_session import PipelineSession
from nuggets_tui.pipeline_words import HINTS_OFF, hints_state
from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.session import Session
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED

if TYPE_CHECKING:
    from core.model.note import Note
    from core.pipeline.records import NoteHints

_LONGEST: Final = 400


class HintsScreen(Dialog[None]):
    """The questions that find one note."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "remove", show=False),
        Binding("u", "undo", show=False),
    ]
    heading = "Hints: questions that find this note, too"
    keys = "x  remove · u  undo · ?  help · esc  close"
    hints = getters.query_one("#hints", RowList)
    said = getters.query_one("#hints-said", Static)

    def __init__(
        self, pipeline: PipelineSession, session: Session, note: Note, found: NoteHints | None
    ) -> None:
        super().__init__(classes="large")
        self._pipeline = pipeline
        self._session = session
        self._note = note
        self._found = found
        # Ids of the entries that were written here and are not taken back, the latest last.
        self._done: list[str] = []

    def compose_inside(self) -> ComposeResult:
        """The note, what is to be said of its hints, and the list."""
        yield Static(id="hints-said")
        yield RowList(id="hints", classes="pane", empty_text="No hints.")

    def on_mount(self) -> None:
        """The list has the cursor."""
        self.hints.focus()
        self._show()

    def here(self) -> Here:
        """What hints are, and the keys."""
        return Here(
            "Hints",
            "A model makes questions that a note answers, so that a search in other words finds it. A question that"
            " you remove finds the note no more, also when hints are made again.",
            (("x", "remove the question"), ("u", "undo what you removed here last"), ("esc", "close")),
        )

    def _show(self) -> None:
        found = self._found
        told = hints_state(found) if found is not None else HINTS_OFF
        title = content(safe_line(self._note.title), "bold")
        self.said.update(Content("\n").join((title, content(told, MUTED))) if told else title)
        self.hints.set_rows(
            [
                Row(hint, (Content.assemble("? ", content(safe_line(hint, _LONGEST))),), data=hint)
                for hint in (found.hints if found is not None else ())
            ]
        )

    async def _read(self) -> None:
        self._found = await self.attempt(self._pipeline.hints(self._note.id))
        if self.is_mounted:
            self._show()

    @work(group="hints", exit_on_error=False)
    async def action_remove(self) -> None:
        """Removes the question under the cursor."""
        row = self.hints.cursor_row
        if row is None:
            notify(self, "There is no hint to remove.")
            return
        try:
            done = await self.attempt(self._pipeline.remove_hint(self._note.id, str(row.data)))
        finally:
            await self._read()
        if done is not None:
            self._done.append(done.id)
            notify(self, f'Removed "{safe_line(str(row.data), 60)}". u undoes it.')

    @work(group="hints", exclusive=True, exit_on_error=False)
    async def action_undo(self) -> None:
        """Puts back what was removed here last."""
        if not self._done:
            notify(self, "You removed nothing here. Older changes are in the audit log.")
            return
        if await self.attempt(self._turned_back(self._done[-1])) is not None:
            self._done.pop()
            notify(self, "The hint is back.")
        await self._read()

    async def _turned_back(self, entry_id: str) -> bool:
        try:
            await self._session.write(self._session.memory.history.undo, entry_id)
        except NotFoundError:
            return True
        await self._pipeline.follow_undo()
        return True
