"""Searching: what is typed in the search box, its hits and why they are, and what is made ahead for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace
from textual.timer import Timer

from nuggets_tui import process
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.listing import topics
from nuggets_tui.pace import LongWork
from nuggets_tui.safe_text import safe_line
from nuggets_tui.words import deed

if TYPE_CHECKING:
    from core.facts.recall import Recall
    from core.model.note import Note
    from core.model.saved_search import SavedSearch
    from core.model.snapshot import Snapshot
    from core.search.results import Passage
    from nuggets_tui.screens.main import MainScreen
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

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self.index_put_off = False
        self._preparing: Timer | None = None
        self._last_shown: Snapshot | None = None
        # The note that was shown before a search.
        self._note_before = ""
        # Whether somebody went from the search box into the hits.
        self._went_in = False

    def focus(self) -> None:
        """The cursor goes to the search box."""
        self.main.set_focus(self.main.search_box)

    def typed(self, text: str) -> None:
        """The text of the search box is now this."""
        # The language of queries is loaded by the first of them, not before the first frame.
        from core.search.query_syntax import parse_question

        session = self.main.open_session
        if parse_question(text).empty:
            if session is not None:
                session.forget_question()
            self.main.workers.cancel_group(self.main, "search")
            self.main.workers.cancel_group(self.main, "answer")
            self._show(None)
        elif session is not None:
            # Where one pane has the screen, it is the one with the hits.
            self.main.panes.active = "notes"
            self.main.arrangement.show_tabs()
            if self.index_put_off:
                self.make_index_after_all()
            self._search(text)

    def again(self) -> None:
        """Looks for what stands in the search box once more."""
        if self.view.found is not None:
            self._search(self.main.search_box.value)

    @background("search", exclusive=True)
    async def _search(self, text: str) -> None:
        self.main.workers.cancel_group(self.main, "answer")
        if self.view.past is not None:
            found = await self.attempt(self.main.time_travel.find(text))
            if found is not None:
                self._show(found)
            return
        found = await self.attempt(self.session.find(text))
        if found is None:
            return
        asked = asyncio.ensure_future(self.attempt(self.session.recall(text)))
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
            more = await self.attempt(self.session.find_more(found.query))
            if more is not None and self.view.past is None:
                self._show(replace(more, recall=await self.attempt(self.session.recall(found.query))))

    def _show(self, found: Found | None) -> None:
        before, note_id = self.view.found, self.view.note_id
        again = before is not None and found is not None and before.nothing and before.query == found.query
        if found is not None and found.nothing and note_id and not again:
            # A note that has nothing to do with the search would pass for what it found.
            self._note_before = note_id
            self.main.show(found=found, note_id="", suggested=())
        elif found is None and self.view.find(self._note_before) is not None and not self._stays(before):
            self.main.show(found=None, note_id=self._note_before)
        else:
            if before is None and note_id:
                self._note_before = note_id
            self.main.show(found=found)
        if self.view.note_id != note_id:
            self.main.refresh_bindings()
        self.main.arrangement.show_tabs()

    def _stays(self, before: Found | None) -> bool:
        """Whether somebody went to the note that is shown, and Notes lists it: else one is back where one was."""
        note, hits = self.view.note, before.hits if before is not None else ()
        first = hits[0].note.id if hits else ""
        listed = note is not None and (not note.is_fact or self.view.show_facts)
        return listed and (self._went_in or self.view.note_id != first)

    def leave(self, *, to_results: bool) -> None:
        """The cursor goes from the search box to the first hit, or back to where it was."""
        self._went_in = to_results
        if to_results:
            self.main.notes_pane.action_first()
        self.main.go_to("notes")

    def find_tagged(self, tag: str) -> None:
        from core.search.query_syntax import typed_value

        value = typed_value(tag)
        if value:
            self.find(f"tag:{value}")
        else:
            self.warn("A tag with quotation marks cannot be searched.")

    def open_passage(self, passage: Passage) -> None:
        """Shows a part of a document, with its whole text."""
        from nuggets_tui.screens.why import part_screen

        self.app.push_screen(part_screen(passage, self.session.memory.search.document_text))

    def find(self, query: str) -> None:
        """Searches for something, and goes to what is found."""
        self.main.search_box.value = query
        self.main.go_to("notes")

    @background("open")
    async def find_same_tag(self) -> None:
        """Lists the notes with a tag of the note under the cursor; asks which where it has several."""
        from nuggets_tui.screens.dialog import tag_choice

        note = self.main.selection.target()
        tags = topics(note) if note is not None else ()
        tag = tags[0] if len(tags) == 1 else None
        if len(tags) > 1:
            tag = await self.ask(tag_choice(tags, *self.view.searched))
        if tag is not None:
            self.find_tagged(tag)

    @background("open")
    async def find_project(self) -> None:
        """Asks for one of the memory's projects and lists its notes."""
        from core.search.query_syntax import typed_value
        from nuggets_tui.screens.dialog import project_choice

        name = await self.ask(project_choice(self.view.projects, self.view.snapshot))
        if name is not None and (value := typed_value(name)):
            self.find(f"project:{value}")

    # What is made ahead

    def snapshot_shown(self) -> None:
        shown = self.view.snapshot
        if self.main.complete and self.view.past is None and shown is not self._last_shown:
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
        await self.long_work("", self.session.warm_up(indexing.report_progress), indexing)
        self.index_put_off = indexing.was_stopped
        process.keep_uncollected()

    @background("rest")
    async def make_index_after_all(self) -> None:
        if self.index_put_off:
            await self.make_index()
            self.prepare_later()

    def prepare_later(self) -> None:
        """Once nothing has changed for a moment, the index is brought up to date and kept for the next start."""
        if self.index_put_off:
            return
        if self._preparing is None:
            self._preparing = self.main.set_timer(_QUIET_SECONDS, self._prepare)
        else:
            self._preparing.reset()

    def _prepare(self) -> None:
        self._preparing = None
        if self.main.open_session is not None:
            self._prepare_in_background()

    @background("index", exclusive=True)
    async def _prepare_in_background(self) -> None:
        await self.session.keep_index()

    # Why

    def why(self) -> None:
        """The score of the note under the cursor, taken apart."""
        if not self._searched():
            return
        note = self.main.selection.target()
        if note is None:
            words = "There is no note here. Choose one in Results, or press {why_not} to ask about any note."
            self.notify(self.view.keys.filled(words))
        else:
            self._explain(note)

    @background("open")
    async def why_not(self) -> None:
        """Chooses a note, hidden ones among them, and says what keeps it out."""
        if not self._searched():
            return
        from nuggets_tui.screens.picker import PickerScreen

        heading = "Why is which note missing?"
        choice = await self.ask(PickerScreen(self.session, self.view.snapshot, None, heading, hidden=True))
        note = self.view.snapshot.by_id.get(choice[0]) if choice is not None else None
        if note is not None:
            self._explain(note)

    def _searched(self) -> bool:
        """Whether there is a search to ask about; says so when there is none."""
        if self.view.found is None:
            words = (
                "Search first ({search}). Then {why} explains why the note is a hit, and "
                "{why_not} why another is not."
            )
            self.notify(self.view.keys.filled(words))
        return self.view.found is not None

    def _explain(self, note: Note) -> None:
        from nuggets_tui.screens.why import WhyScreen

        if self.view.found is not None:
            self.app.push_screen(WhyScreen(self.session, self.view.found, note))

    # Saved searches

    @background("open")
    async def open_saved(self) -> None:
        from nuggets_tui.screens.forms import SearchesScreen

        answer = await self.ask(SearchesScreen(self.session))
        if answer is not None and answer.written:
            self.main.show_snapshot(self.session.snapshot)
        if answer is not None and answer.query:
            self.find(answer.query)

    @property
    def saved(self) -> tuple[SavedSearch, ...]:
        """The saved searches; none before a memory is open."""
        return self.session.memory.searches.all if self.main.open_session is not None else ()

    @background("open")
    async def save(self) -> None:
        """Keeps what is searched under a name."""
        found, keys = self.view.found, self.view.keys
        if found is None:
            said = "Search first ({search}). Then {keep_search} saves the search under a name."
            self.notify(keys.filled(said))
            return
        from nuggets_tui.screens.forms import SaveSearchScreen

        done = await self.ask(SaveSearchScreen(self.session, found.query))
        if done is not None:
            told = deed(done)
            said = f"{told.verb.capitalize()} {safe_line(told.what, 120)}: {keys.key('searches')} lists saved searches"
            self.main.history.changed(done, said if told.what else "")
