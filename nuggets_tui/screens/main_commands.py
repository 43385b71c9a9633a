"""What each command of the main screen does; the catalogue names them, the main screen gives them its state."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from textual import work

from core.errors import NotFoundError, NuggetsError
from core.model.change import ChangeSet
from core.model.note import Note
from nuggets_tui.notices import say, say_error, warn
from nuggets_tui.safe_text import safe_line
from nuggets_tui.screens.main_opening import MainOpening
from nuggets_tui.threads import aside
from nuggets_tui.view import ORDER_NAMES, ORDERS
from nuggets_tui.widgets.facts import FactsPane
from nuggets_tui.widgets.neighbours import NeighboursPane
from nuggets_tui.widgets.panes import Panes
from nuggets_tui.widgets.row_list import RowList
from nuggets_tui.widgets.row_text import PINNED
from nuggets_tui.widgets.search_box import SearchBox
from nuggets_tui.words import deed

if TYPE_CHECKING:
    from core.model.draft import Draft
    from core.promotion import PromotionResult
    from nuggets_tui.application import NuggetsApp

_Result = TypeVar("_Result")
_MOST_HOPS = 3


class MainCommands(MainOpening):
    """The commands of the main screen."""

    # The folder of MEMORY.md that was typed last; asked for where nothing else names it.
    _memory_folder = ""

    # Carrying out

    async def action_command(self, name: str) -> None:
        """Carries out a command of the catalogue."""
        if name.startswith("pane_"):
            self.go_to(name.removeprefix("pane_"))  # type: ignore[arg-type]
        elif self.can(name):
            getattr(self, f"do_{name}")()

    @property
    def _window(self) -> NuggetsApp:
        return self.app  # type: ignore[return-value]

    def _note(self) -> Note:
        note = self.view.note
        assert note is not None
        return note

    @work(group="change", exit_on_error=False)
    async def _change(
        self, reason: str, edit: Callable[[Draft], object], said: str, *, reveal: bool = False
    ) -> None:
        done = await self.attempt(self.desk.change(reason, edit))
        if done is not None:
            self.changed(done[1], said)
            if reveal:
                self.reveal()

    def changed(self, done: ChangeSet, said: str = "") -> None:
        """Shows the memory after a change of mine, and says what was done."""
        self.show_snapshot(self.desk.snapshot)
        if done.empty:
            say(self, "Nothing to change.")
            return
        told = deed(done)
        say(self, f"{said or f'{told.verb.capitalize()} {safe_line(told.what, 200)}'}. u takes it back.")

    # Finding and looking

    def do_search(self) -> None:
        """The cursor goes to the search box."""
        self.set_focus(self.query_one(SearchBox))

    def do_open(self) -> None:
        """Opens what the cursor is on; lists see to the key themselves, so this is for palette and mouse."""
        if isinstance(self.focused, RowList):
            self.focused.action_open()

    def do_back(self) -> None:
        """Back to the note that was shown before."""
        while self.trail:
            note_id = self.trail.pop()
            if note_id in self.view.snapshot.by_id and note_id != self.view.note_id:
                self.show_note(note_id)
                return

    def do_copy(self) -> None:
        """The text goes to the clipboard, through the terminal."""
        text = self._note().content
        self.app.copy_to_clipboard(text.encode("utf-8", "replace").decode("utf-8"))
        say(self, "Copied the text.")

    def open_fact(self, nugget: str, key: str) -> None:
        """The recall behind a fact."""
        from nuggets_tui.screens.recall import RecallScreen

        self.app.push_screen(RecallScreen(self.desk, nugget, key))

    def open_entry(self, change_id: str) -> None:
        """An entry of the audit log, whole."""
        from nuggets_tui.screens.entry import EntryScreen

        notes = self.view.snapshot.by_id
        for entry in self.view.history:
            if entry.id == change_id:
                screen = EntryScreen(entry, self.view.now, lambda id: notes[id].title if id in notes else id)
                self.app.push_screen(screen)

    # Changing the note shown

    def do_edit(self) -> None:
        """The editor."""
        from nuggets_tui.screens.editor import too_long_to_edit_here

        note = self._note()
        if too_long_to_edit_here(note):
            warn(
                self,
                f"A text of {len(note.content):,} characters is too long to edit here. E opens it in $EDITOR.",
            )
        else:
            self._edit(note, None)

    def _edit(self, note: Note | None, text: str | None) -> None:
        from nuggets_tui.screens.editor import EditorScreen

        nugget = self.query_one(FactsPane).current_nugget if note is None else ""
        self.app.push_screen(
            EditorScreen(self.desk, self.view.snapshot, note, nugget=nugget, text=text), self._edited
        )

    def _edited(self, done: tuple[Note, ChangeSet] | None) -> None:
        if done is not None:
            note, change_set = done
            self.changed(change_set)
            self.show_note(note.id, follow=True)
            self.reveal()

    @work(group="change", exit_on_error=False)
    async def do_edit_outside(self) -> None:
        """The text in the person's own editor."""
        from nuggets_tui.screens.outside import edit_outside

        note, base = self._note(), self.view.snapshot
        try:
            text = edit_outside(self.app, note.content)
        except NuggetsError as error:
            say_error(self, error)
            return
        if text == note.content:
            return
        from core.graph.edits import edit_note

        edit = partial(edit_note, id=note.id, content=text)
        done = await self.attempt(self.desk.change_from(base, f"edited {note.title}", edit))
        if done is not None:
            self.changed(done[1])
        else:
            # What was written is not lost: it waits in the app's own editor.
            self._edit(note, text)

    def do_tags(self) -> None:
        """A line to edit the tags in."""
        from nuggets_tui.screens.forms import tags_form

        self.app.push_screen(tags_form(self.desk, self.view.snapshot, self._note()), self._edited)

    def do_pin(self) -> None:
        """Pins, or lets go."""
        from core.graph.edits import edit_note

        note = self._note()
        if PINNED in note.tags:
            self._change(
                f"unpinned {note.title}", partial(edit_note, id=note.id, remove_tags=[PINNED]), "Unpinned"
            )
        else:
            self._change(f"pinned {note.title}", partial(edit_note, id=note.id, add_tags=[PINNED]), "Pinned")

    def do_hide(self) -> None:
        """Hides a note, or brings it back."""
        from core.graph.edits import hide_note, unhide_note

        note = self._note()
        edit = unhide_note if note.hidden else hide_note
        verb = "brought back" if note.hidden else "hid"
        self._change(f"{verb} {note.title}", partial(edit, id=note.id), "", reveal=note.hidden)

    def do_delete(self) -> None:
        """Deletes for good, after asking."""
        from nuggets_tui.screens.confirm import ConfirmScreen

        note = self._note()
        question = ConfirmScreen(
            f"Delete “{safe_line(note.title, 120)}” for good?",
            "It leaves the files, and links to it go too. To keep it out of the way instead, press x in the main "
            "screen: that hides it.",
            yes="delete it",
        )

        def answered(sure: bool | None) -> None:
            from core.graph.edits import delete_note

            if sure:
                self._change(f"deleted {note.title}", partial(delete_note, id=note.id), "")

        self.app.push_screen(question, answered)

    def do_link(self) -> None:
        """Chooses a note and a reason, then links."""
        from nuggets_tui.screens.picker import PickerScreen

        note = self._note()
        picker = PickerScreen(self.desk, self.view.snapshot, note, "Link to", ask_reason=True)

        def picked(choice: tuple[str, str] | None) -> None:
            from core.graph.edits import link_notes

            if choice is not None:
                edit = partial(link_notes, a=note.id, b=choice[0], reason=choice[1])
                self._change(f"linked {note.title}", edit, "")

        self.app.push_screen(picker, picked)

    def do_accept(self) -> None:
        """Makes the suggested link under the cursor, or the first one suggested."""
        from core.graph.edits import link_notes

        suggestion = self.query_one(NeighboursPane).suggestion or self.view.suggested[0]
        reason = f"shared context: {', '.join(suggestion.shared)}"
        edit = partial(link_notes, a=self.view.note_id, b=suggestion.note.id, reason=reason)
        self._change(f"linked {self._note().title}", edit, "")

    def do_merge(self) -> None:
        """Chooses a note, shows what merging would do, then merges."""
        from nuggets_tui.screens.picker import PickerScreen

        note = self._note()
        picker = PickerScreen(self.desk, self.view.snapshot, note, "Merge into this note", ask_reason=False)

        def picked(choice: tuple[str, str] | None) -> None:
            if choice is not None:
                self._review_merge(note, choice[0])

        self.app.push_screen(picker, picked)

    @work(group="change", exit_on_error=False)
    async def _review_merge(self, note: Note, other_id: str) -> None:
        from core.graph.edits import merge_notes
        from nuggets_tui.screens.reviews import merge_review

        edit = partial(merge_notes, survivor_id=note.id, other_id=other_id)
        proposed = await self.attempt(self.desk.preview(f"merged into {note.title}", edit))
        if proposed is not None:
            self.app.push_screen(merge_review(self.desk, proposed), self._reviewed)

    # Making

    def do_new_note(self) -> None:
        """An empty editor."""
        self._edit(None, None)

    def do_new_fact(self) -> None:
        """A form for key and value."""
        from nuggets_tui.screens.forms import fact_form

        nugget = self.query_one(FactsPane).current_nugget
        self.app.push_screen(fact_form(self.desk, nugget), self._edited)

    # Cleaning up

    @work(group="change", exit_on_error=False)
    async def do_reflect(self) -> None:
        """Proposes a cleanup."""
        from nuggets_tui.screens.reviews import reflection_review

        result = await self.long_work("looking for what to clean up", self.desk.reflection())
        if result is None:
            return
        if not result.changes:
            say(self, f"Nothing to clean up: looked at {result.inspected} notes and found them in order.")
            return
        self.app.push_screen(reflection_review(self.desk, result), self._reviewed)

    @work(group="change", exit_on_error=False)
    async def do_promote(self) -> None:
        """Proposes lines for MEMORY.md."""
        from nuggets_tui.screens.forms import FolderScreen

        result = await self.long_work("looking for what to promote", self._promotion())
        if isinstance(result, NotFoundError):
            self.app.push_screen(FolderScreen(self._memory_folder), self._folder_typed)
        elif result is not None:
            self._review_promotion(result)

    async def _promotion(self) -> PromotionResult | NotFoundError:
        try:
            return await self.desk.promotion()
        except NotFoundError as error:
            return error

    def _folder_typed(self, folder: str | None) -> None:
        if folder:
            self._memory_folder = folder
            self._promote_to(folder)

    @work(group="change", exit_on_error=False)
    async def _promote_to(self, folder: str) -> None:
        asked = aside(self.desk.memory.promote, dry_run=True, memory_dir=folder)
        result = await self.long_work("looking for what to promote", asked)
        if result is not None:
            self._review_promotion(result, as_shown=True)

    def _review_promotion(self, result: PromotionResult, *, as_shown: bool = False) -> None:
        from nuggets_tui.screens.reviews import promotion_review

        if result.change_set.empty:
            say(self, f"Nothing to promote: {result.path} is up to date.")
        else:
            self.app.push_screen(promotion_review(self.desk, result, as_shown=as_shown), self._reviewed)

    def _reviewed(self, done: tuple[ChangeSet, str] | None) -> None:
        if done is not None:
            self.changed(*done)

    @work(group="change", exit_on_error=False)
    async def do_undo(self) -> None:
        """Takes back my last change."""
        if not self.desk.mine:
            say(self, "You have changed nothing since you opened this memory.")
            return
        taken = await self.attempt(self.desk.undo())
        if taken is not None:
            self.show_snapshot(self.desk.snapshot)
            told = deed(taken)
            say(self, f"Took back: {told.verb} {safe_line(told.what, 200)}.")

    # Views

    def do_show_hidden(self) -> None:
        """Hidden notes come and go."""
        self.view = self.view.with_(show_hidden=not self.view.show_hidden)

    def do_sort(self) -> None:
        """The next order."""
        order = ORDERS[(ORDERS.index(self.view.order) + 1) % len(ORDERS)]
        self.view = self.view.with_(order=order)
        say(self, f"Notes: {ORDER_NAMES[order]}.")

    def do_graph(self) -> None:
        """The graph alone, and back."""
        panes = self.query_one(Panes)
        panes.zoomed = not (panes.zoomed and panes.active == "graph")
        self.go_to("graph" if panes.zoomed else "notes")

    def do_audit(self) -> None:
        """The cursor goes to the audit log."""
        self.go_to("audit")

    def do_zoom(self) -> None:
        """The pane with the cursor alone, and back."""
        panes = self.query_one(Panes)
        panes.zoomed = not panes.zoomed
        self.go_to(panes.active)

    def do_fewer_hops(self) -> None:
        """A smaller picture."""
        self.view = self.view.with_(hops=max(1, self.view.hops - 1))

    def do_more_hops(self) -> None:
        """A larger picture."""
        self.view = self.view.with_(hops=min(_MOST_HOPS, self.view.hops + 1))

    # The app

    def do_theme(self) -> None:
        """Dark to light, and back."""
        self._window.action_toggle_theme()

    @work(group="change", exit_on_error=False)
    async def do_demo(self) -> None:
        """A copy of the demo memory."""
        home = await self.long_work("writing the demo memory", self._window.make_demo())
        if home is not None:
            notice = f"A copy of the demo memory, in {home}. It goes when you leave; change what you like."
            self.open_another(home, notice)

    def do_help(self) -> None:
        """Keys, words and signs."""
        from nuggets_tui.screens.help import HelpScreen

        self.app.push_screen(HelpScreen())

    def do_quit(self) -> None:
        """Leaves."""
        self.app.exit()
