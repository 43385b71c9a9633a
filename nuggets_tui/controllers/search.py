"""Searching: what is typed in the search box, its hits and why they are, and what is made ahead for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace
from textual.timer import Timer

from nuggets_tui import garbage
from nuggets_tui.controllers.context import Context
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.listing import topics
from nuggets_tui.long_work import LongWork

if TYPE_CHECKING:
    from core.facts.recall import Recall
    from core.model.note import Note
    from core.model.snapshot import Snapshot
    from core.search.results import Passage
    from nuggets_tui.controllers.arrangement import ArrangementController
    from nuggets_tui.controllers.time_travel import TimeTravelController
    from nuggets_tui.view import Found

_RECALL_PATIENCE: Final = 0.008
# Seconds without a key after which a model is asked about what was typed.
_PAUSE_SECONDS: Final = 0.3
# Seconds without a change after which work that nobody waits for begins.
_QUIET_SECONDS: Final = 3.0


class SearchController(Controller):
    """Keeps `view.found` in step with the search box and the memory. index_put_off: whether somebody stopped the making
    of the index.
    """

    def __init__(
        self, context: Context, arrangement: ArrangementController, time_travel: TimeTravelController
    ) -> None:
        super().__init__(context)
        self._arrangement = arrangement
        self._time_travel = time_travel
        self.index_put_off = False
        self._preparing: Timer | None = None
        self._last_shown: Snapshot | None = None
        # The note that was shown before a search found nothing.
        self._note_before = ""

    def focus(self) -> None:
        """The cursor goes to the search box."""
        self.context.screen.set_focus(self.context.search_box)

    def typed(self, text: str) -> None:
        """The text of the search box is now this."""
        # The language of queries is loaded by the first of them, not before the first frame.
        from core.search.query_syntax import parse_question

        session = self.context.open_session
        if parse_question(text).empty:
            if session is not None:
                session.forget_question()
            self.context.cancel("search")
            self.context.cancel("answer")
            self._show(None)
        elif session is not None:
            # Where one pane has the screen, it is the one with the hits.
            self.context.panes.active = "notes"
            self._arrangement.show_tabs()
            if self.index_put_off:
                self.make_index_after_all()
            self._search(text)

    def again(self) -> None:
        """Looks for what stands in the search box once more."""
        if self.view.found is not None:
            self._search(self.context.search_box.value)

    @background("search", exclusive=True)
    async def _search(self, text: str) -> None:
        self.context.cancel("answer")
        if self.view.past is not None:
            found = await self.context.attempt(self._time_travel.find(text))
            if found is not None:
                self._show(found)
            return
        found = await self.context.attempt(self.session.find(text))
        if found is None:
            return
        asked = asyncio.ensure_future(self.context.attempt(self.session.recall(text)))
        # The answer mostly comes along at once; hits do not wait for facts that are decoded for the first time.
        await asyncio.wait([asked], timeout=_RECALL_PATIENCE)
        shown = self.view.found
        # Asked once more, the answer stays until the next one, and so does the cursor on it.
        kept = shown.recall if shown is not None and shown.query == found.query else None
        self._show(replace(found, recall=asked.result() if asked.done() else kept))
        if found.more or not asked.done():
            self._complete(found, asked)

    @background("answer", exclusive=True)
    async def _complete(self, found: Found, asked: asyncio.Future[Recall | None]) -> None:
        """The hits with the answer; once nobody types, with what models say of the query, where settings name one."""
        if not asked.done():
            self._show(replace(found, recall=await asked))
        if found.more:
            await asyncio.sleep(_PAUSE_SECONDS)
            more = await self.context.attempt(self.session.find_more(found.query))
            if more is not None and self.view.past is None:
                self._show(replace(more, recall=await self.context.attempt(self.session.recall(found.query))))

    def _show(self, found: Found | None) -> None:
        before, note_id = self.view.found, self.view.note_id
        again = before is not None and found is not None and before.nothing and before.query == found.query
        if found is not None and found.nothing and note_id and not again:
            # A note that has nothing to do with the search would pass for what it found.
            self._note_before = note_id
            self.context.show(found=found, note_id="", suggested=())
        elif found is None and not note_id and self.view.find(self._note_before) is not None:
            self.context.show(found=None, note_id=self._note_before)
        else:
            self.context.show(found=found)
        if self.view.note_id != note_id:
            self.context.refresh_bindings()
        self._arrangement.show_tabs()

    def leave(self, *, to_results: bool) -> None:
        """The cursor goes from the search box to the first hit, or back to where it was."""
        if to_results:
            self.context.notes_pane.action_first()
        self.context.go_to("notes")

    def find_tagged(self, tag: str) -> None:
        """Lists the notes with a tag."""
        from core.search.query_syntax import typed_value

        value = typed_value(tag)
        if value:
            self.context.search_box.value = f"tag:{value}"
            self.context.go_to("notes")
        else:
            self.context.warn("A tag with quotation marks cannot be searched.")

    def open_passage(self, passage: Passage) -> None:
        """Shows a part of a document, with its whole text."""
        from nuggets_tui.screens.document_part import DocumentPartScreen

        self.context.open_dialog(DocumentPartScreen(passage, self.session.memory.document_text))

    def find_same_tag(self) -> None:
        """Lists the notes with a tag of the note under the cursor; asks which where it has several."""
        from nuggets_tui.screens.choice import TagsScreen

        note = self.context.target
        tags = topics(note) if note is not None else ()
        if len(tags) == 1:
            self.find_tagged(tags[0])
        elif tags:
            self.context.open_dialog(TagsScreen(tags, *self.view.searched), self._tag_chosen)

    def find_project(self) -> None:
        """Asks for one of the memory's projects and lists its notes."""
        from nuggets_tui.screens.choice import ProjectsScreen

        self.context.open_dialog(ProjectsScreen(self.view.projects, self.view.snapshot), self._project_chosen)

    def _project_chosen(self, name: str | None) -> None:
        from core.search.query_syntax import typed_value

        if name is not None and (value := typed_value(name)):
            self.context.search_box.value = f"project:{value}"
            self.context.go_to("notes")

    def _tag_chosen(self, tag: str | None) -> None:
        if tag is not None:
            self.find_tagged(tag)

    # What is made ahead

    def snapshot_shown(self) -> None:
        """Another state has other hits."""
        shown = self.view.snapshot
        if self.context.complete and self.view.past is None and shown is not self._last_shown:
            self.prepare_later()
        if self.view.past is None:
            self._last_shown = shown
        self.again()

    def first_frame_shown(self) -> None:
        """What is shown now is what searches are prepared for."""
        self._last_shown = self.view.snapshot

    def leaving(self) -> None:
        """Nothing more is made for this memory."""
        if self._preparing is not None:
            self._preparing.stop()
            self._preparing = None

    async def make_index(self) -> None:
        """The index of the search; esc puts it off until somebody searches."""
        self.index_put_off = False
        indexing = LongWork("indexing", asked_for=False)
        await self.context.long_work("", self.session.warm_up(indexing.report_progress), indexing)
        self.index_put_off = indexing.was_stopped
        garbage.freeze()

    @background("rest")
    async def make_index_after_all(self) -> None:
        """The index that was put off."""
        if self.index_put_off:
            await self.make_index()
            self.prepare_later()

    def prepare_later(self) -> None:
        """Once nothing has changed for a moment, the index is brought up to date and kept for the next start."""
        if self.index_put_off:
            return
        if self._preparing is None:
            self._preparing = self.context.after(_QUIET_SECONDS, self._prepare)
        else:
            self._preparing.reset()

    def _prepare(self) -> None:
        self._preparing = None
        if self.context.open_session is not None:
            self._prepare_in_background()

    @background("index", exclusive=True)
    async def _prepare_in_background(self) -> None:
        await self.session.keep_index()

    # Why

    def why(self) -> None:
        """The score of the note under the cursor, taken apart."""
        if not self._searched():
            return
        note = self.context.target
        if note is None:
            words = "There is no note here. Choose one in Results, or press {why_not} to ask about any note."
            self.context.notify(self.view.keys.filled(words))
        else:
            self._explain(note)

    def why_not(self) -> None:
        """Chooses a note, hidden ones among them, and says what keeps it out."""
        if not self._searched():
            return
        from nuggets_tui.screens.picker import PickerScreen

        heading = "Why is which note missing?"
        picker = PickerScreen(self.session, self.view.snapshot, None, heading, hidden=True)

        def picked(choice: tuple[str, str] | None) -> None:
            note = self.view.snapshot.by_id.get(choice[0]) if choice is not None else None
            if note is not None:
                self._explain(note)

        self.context.open_dialog(picker, picked)

    def _searched(self) -> bool:
        """Whether there is a search to ask about; says so when there is none."""
        if self.view.found is None:
            words = (
                "Search first ({search}). Then {why} explains why the note is a hit, and "
                "{why_not} why another is not."
            )
            self.context.notify(self.view.keys.filled(words))
        return self.view.found is not None

    def _explain(self, note: Note) -> None:
        from nuggets_tui.screens.why import WhyScreen

        if self.view.found is not None:
            self.context.open_dialog(WhyScreen(self.session, self.view.found, note))
