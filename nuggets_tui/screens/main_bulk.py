"""The selection, and the commands that act on several notes at once: each is reviewed, and one entry of the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work

from core.model.change import ChangeSet
from core.model.note import Note
from core.model.snapshot import Snapshot
from nuggets_tui.long_work import LongWork
from nuggets_tui.messages import NotesSelected
from nuggets_tui.notices import in_keys, say, warn
from nuggets_tui.screens.main_commands import MainCommands
from nuggets_tui.screens.main_files import MainFiles
from nuggets_tui.threads import aside
from nuggets_tui.waiting import Waiting
from nuggets_tui.widgets.notes import NotesPane
from nuggets_tui.widgets.row_list import RowList
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from nuggets_tui.bulk import BulkEdit


class MainBulk(MainFiles, MainCommands):
    """Keeps the selection, and takes commands over where more than one note is selected."""

    # The selection

    @on(NotesSelected)
    def _keep_selection(self, event: NotesSelected) -> None:
        event.stop()
        self._select(self.query_one(f"#{event.pane}", RowList).selected)

    def _select(self, ids: frozenset[str]) -> None:
        if ids is not self.view.selected:
            self.view = self.view.with_(selected=ids)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """As before; what is gone is not selected any more."""
        # What the list has by now: the screen may not have heard of it yet.
        selected = self.query_one(NotesPane).selected
        kept = frozenset(filter(snapshot.by_id.__contains__, selected))
        if len(kept) < len(selected):
            self._select(kept)
        super().show_snapshot(snapshot)

    def changed(self, done: ChangeSet, said: str = "", key: str = "") -> None:
        """As before; what a command was carried out on is let go."""
        super().changed(done, said, key)
        touched = {change.id for change in done.notes} if done.kind == "edit" else set()
        if self.view.selected and self.view.selected <= touched:
            self._select(frozenset())

    def do_select(self) -> None:
        """Selects the note shown, or lets it go; lists see to the key themselves."""
        self._select(self.view.selected ^ {self._note().id})

    def do_select_all(self) -> None:
        """Selects all notes of the list, or lets them go."""
        self.query_one(NotesPane).action_select_all()

    def do_let_go(self) -> None:
        """Nothing is selected any more."""
        self._select(frozenset())

    def _several(self) -> list[Note]:
        """The selected notes in the order of the list, when there are more than one; else none."""
        if len(self.view.selected) < 2:
            return []
        return self.query_one(NotesPane).in_order(self.view.selected)

    # Commands on several notes

    def do_hide(self) -> None:
        """Hides what is selected, or brings it back."""
        from nuggets_tui.bulk import hiding

        notes = self._several()
        self._review(hiding(notes)) if notes else super().do_hide()

    def do_delete(self) -> None:
        """Deletes what is selected."""
        from nuggets_tui.bulk import deleting

        notes = self._several()
        self._review(deleting(notes)) if notes else super().do_delete()

    def do_pin(self) -> None:
        """Pins what is selected, or lets it go."""
        from nuggets_tui.bulk import pinning

        notes = self._several()
        self._review(pinning(notes)) if notes else super().do_pin()

    def do_tags(self) -> None:
        """Asks which tags come and which go."""
        from nuggets_tui.bulk import tagging
        from nuggets_tui.screens.bulk_forms import TagsOfManyScreen

        notes = self._several()
        if not notes:
            super().do_tags()
            return

        def typed(tags: tuple[list[str], list[str]] | None) -> None:
            if tags is not None:
                self._review(tagging(notes, *tags))

        self.app.push_screen(TagsOfManyScreen(self.view.snapshot, notes), typed)

    def do_move(self) -> None:
        """Asks for the scope to move to."""
        from nuggets_tui.screens.bulk_forms import ScopeScreen

        notes = self._several() or [self.target()]

        def chosen(scope: str | None) -> None:
            if scope is not None:
                self._move(notes, scope)

        self.app.push_screen(ScopeScreen(notes), chosen)

    def _move(self, notes: list[Note], scope: str) -> None:
        from functools import partial

        from core.graph.bulk import move_to_scope
        from nuggets_tui.bulk import moving

        if len(notes) > 1:
            self._review(moving(notes, scope))
        elif notes[0].scope == scope:
            say(self, f"It is in the scope {scope} already.")
        else:
            note = notes[0]
            edit = partial(move_to_scope, id=note.id, scope=scope)
            self._change(f"moved {note.title} to scope {scope}", edit, f"Moved to scope {scope}")

    def do_link(self) -> None:
        """Chooses the note that all selected ones are linked to, and a reason."""
        from nuggets_tui.bulk import linking
        from nuggets_tui.screens.picker import PickerScreen

        notes = self._several()
        if not notes:
            super().do_link()
            return
        heading = f"Link {len(notes):,} selected to"
        picker = PickerScreen(self.desk, self.view.snapshot, None, heading, ask_reason=True)

        def picked(choice: tuple[str, str] | None) -> None:
            target = self.view.snapshot.by_id.get(choice[0]) if choice is not None else None
            if choice is not None and target is not None:
                self._review(linking(notes, target, choice[1]))

        self.app.push_screen(picker, picked)

    def do_merge(self) -> None:
        """Merges the two that are selected; the one shown stays, if it is one of them."""
        notes = self._several()
        if not notes:
            super().do_merge()
        elif len(notes) > 2:
            key = self.view.keys.key("merge")
            say(self, f"{key} merges two notes, and {len(notes):,} are selected. esc lets them go.")
        else:
            shown = notes[1].id == self.view.note_id
            survivor, other = reversed(notes) if shown else notes
            self._review_merge(survivor, other.id)

    def do_copy(self) -> None:
        """The texts of what is selected go to the clipboard, each under its title."""
        notes = self._several()
        if notes:
            text = "\n\n".join(f"## {note.title}\n\n{note.content}" for note in notes)
            self._copy(text, f"the texts of {len(notes):,} selected: {plural(len(text), 'character')}")
        else:
            super().do_copy()

    # The review

    @work(group="change", exit_on_error=False)
    async def _review(self, edit: BulkEdit) -> None:
        from nuggets_tui.bulk import propose
        from nuggets_tui.screens.bulk_review import BulkReview

        selected = len(self.view.selected)
        looking = LongWork("looking at what would change")
        asked = aside(propose, self.desk, self.view.snapshot, edit, looking.told)
        proposal = await self.long_work("", asked, looking)
        if proposal is None:
            return
        if proposal.edited.changed:
            review = BulkReview(self.desk, proposal, selected, self.view.keys.key("undo"))
            self.app.push_screen(review, self._bulk_reviewed)
        elif proposal.edited.refused:
            error = proposal.edited.refused[0][1]
            warn(self, f"None of the {selected:,} selected can be changed: {in_keys(error.message)}.")
        else:
            say(self, f"Nothing to change: all {selected:,} selected are so already.")

    def _bulk_reviewed(self, done: tuple[ChangeSet, str] | Waiting | None) -> None:
        self._reviewed(done)
        if isinstance(done, tuple):
            self._select(frozenset())
            self._go_on_after(done[0])

    @work(group="change", exit_on_error=False)
    async def _go_on_after(self, done: ChangeSet) -> None:
        await self._lists_settled()
        self.go_on_in_list(done)
