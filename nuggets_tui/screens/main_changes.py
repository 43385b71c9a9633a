"""What a person changes with a key: the note shown in Note, and notes and facts that are made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from textual import work

from core.errors import NuggetsError
from core.model.change import ChangeSet
from core.model.note import Note
from nuggets_tui.notices import say, say_error, warn
from nuggets_tui.safe_text import safe_line
from nuggets_tui.screens.main_daily import MainDaily
from nuggets_tui.waiting import Waiting, or_waiting
from nuggets_tui.widgets.facts import FactsPane
from nuggets_tui.widgets.neighbours import NeighboursPane
from nuggets_tui.widgets.notes import NotesPane
from nuggets_tui.widgets.row_text import PINNED

if TYPE_CHECKING:
    from core.model.draft import Draft
    from core.model.snapshot import Snapshot
    from nuggets_tui.keeping import Keeping

# Work that brings other rows into Notes or Results.
_OF_LISTS: Final = ("search", "listing")


class MainChanges(MainDaily):
    """The commands that change a note or make one."""

    def _note(self) -> Note:
        note = self.view.note
        assert note is not None
        return note

    def target(self) -> Note:
        """The note that a command acts on: the selected one, where it is one, else the one shown."""
        selected = self.view.selected
        only = self.view.snapshot.by_id.get(next(iter(selected))) if len(selected) == 1 else None
        return only or self._note()

    @work(group="change", exit_on_error=False)
    async def _change(
        self, reason: str, edit: Callable[[Draft], object], said: str, *, reveal: bool = False
    ) -> None:
        done = await self.attempt(or_waiting(self.desk.change(reason, edit)))
        if isinstance(done, Waiting):
            self.open_conflict(done.entry_id)
        elif done is not None:
            self.changed(done[1], said)
            if reveal:
                self.reading.reveal()
            await self._lists_settled()
            self.go_on_in_list(done[1])

    async def _lists_settled(self) -> None:
        """Waits for what lists show after a change, where that is made or looked for in a thread."""
        # A search that a newer one replaces ends early.
        while under_way := [one for one in self.workers if one.group in _OF_LISTS and not one.is_finished]:
            await asyncio.gather(*(one.wait() for one in under_way), return_exceptions=True)

    def go_on_in_list(self, done: ChangeSet) -> None:
        """Shows the note that the cursor of Notes came to, when the one shown left the list by a change of mine."""
        notes, shown = self.query_one(NotesPane), self.view.note
        mine = shown is None or any(change.id == shown.id for change in done.notes)
        row = notes.cursor_row
        if self.focused is not notes or not mine or row is None or not isinstance(row.data, str):
            return
        if shown is None or (shown.hidden and not notes.holds(shown.id)):
            self.show_note(row.data)

    # Changing the note shown

    def do_edit(self) -> None:
        """The editor."""
        from nuggets_tui.screens.editor import too_long_to_edit_here

        note = self._note()
        if too_long_to_edit_here(note):
            warn(
                self,
                f"A text of {len(note.content):,} characters is too long to edit here. "
                f"{self.view.keys.key('edit_outside')} opens it in $EDITOR.",
            )
        else:
            self.push_editor(note)

    def push_editor(
        self,
        note: Note | None,
        typed: Mapping[str, str] | None = None,
        *,
        base: Snapshot | None = None,
        keeping: Keeping | None = None,
    ) -> None:
        """The editor on a note, or on a new one. typed: what stands in its fields already. base: the memory as it
        was when that was begun; by default as it is shown.
        """
        from nuggets_tui.screens.editor import EditorScreen

        nugget = self.query_one(FactsPane).current_nugget if note is None else ""
        if keeping is None:
            keeping = self.keeping("note", note.id, note.title) if note is not None else self.keeping("note")
        editor = EditorScreen(
            self.desk, base or self.view.snapshot, note, nugget=nugget, typed=typed, keeping=keeping
        )
        self.app.push_screen(editor, self._edited)

    def _edited(self, done: tuple[Note, ChangeSet] | Waiting | None) -> None:
        if isinstance(done, Waiting):
            self.open_conflict(done.entry_id)
        elif done is not None:
            note, change_set = done
            self.changed(change_set)
            self.show_note(note.id, follow=True)
            self.reading.reveal()

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
        done = await self.attempt(or_waiting(self.desk.change_from(base, f"edited {note.title}", edit)))
        if isinstance(done, Waiting):
            self.open_conflict(done.entry_id)
        elif done is not None:
            self.changed(done[1])
        else:
            # What was written is not lost: it waits in the app's own editor.
            self.push_editor(note, {"text": text}, base=base)

    def do_tags(self) -> None:
        """A line to edit the tags in."""
        from nuggets_tui.screens.forms import tags_form

        note = self.target()
        form = tags_form(
            self.desk, self.view.snapshot, note, keeping=self.keeping("tags", note.id, note.title)
        )
        self.app.push_screen(form, self._edited)

    def do_pin(self) -> None:
        """Pins, or lets go."""
        from core.graph.edits import edit_note

        note = self.target()
        if PINNED in note.tags:
            self._change(
                f"unpinned {note.title}", partial(edit_note, id=note.id, remove_tags=[PINNED]), "Unpinned"
            )
        else:
            self._change(f"pinned {note.title}", partial(edit_note, id=note.id, add_tags=[PINNED]), "Pinned")

    def do_hide(self) -> None:
        """Hides a note, or brings it back."""
        from core.graph.edits import hide_note, unhide_note

        note = self.target()
        edit = unhide_note if note.hidden else hide_note
        verb = "brought back" if note.hidden else "hid"
        self._change(f"{verb} {note.title}", partial(edit, id=note.id), "", reveal=note.hidden)

    def do_delete(self) -> None:
        """Deletes for good, after asking."""
        from nuggets_tui.screens.confirm import ConfirmScreen

        note = self.target()
        question = ConfirmScreen(
            f"Delete “{safe_line(note.title, 120)}” for good?",
            "It leaves the files, and links to it go too; from the audit log it can be brought back. To keep it out "
            f"of the way instead, press {self.view.keys.key('hide')} in the main screen: that hides it.",
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

        note = self.target()
        picker = PickerScreen(
            self.desk, self.view.snapshot, note, "Link to", ask_reason=True, first=self._likely(note)
        )

        def picked(choice: tuple[str, str] | None) -> None:
            from core.graph.edits import link_notes

            if choice is not None:
                edit = partial(link_notes, a=note.id, b=choice[0], reason=choice[1])
                self._change(f"linked {note.title}", edit, "")

        self.app.push_screen(picker, picked)

    def _likely(self, note: Note, *, linked: bool = False) -> dict[str, str]:
        """Notes that are likely chosen for a note, each with the reason; `linked`: those it links to as well."""
        suggested = self.view.suggested if note.id == self.view.note_id else ()
        found = {suggestion.note.id: "suggested" for suggestion in suggested}
        if linked:
            found |= {link.to: "linked" for link in note.links if link.to not in found}
        return found | {id: "seen before" for id in reversed(self.reading.trail) if id not in found}

    def do_accept(self) -> None:
        """Makes the suggested link under the cursor, or the first one suggested."""
        from core.graph.edits import link_notes

        suggestion = self.query_one(NeighboursPane).suggestion or self.view.suggested[0]
        reason = f"shared context: {', '.join(suggestion.shared)}"
        edit = partial(link_notes, a=self.view.note_id, b=suggestion.note.id, reason=reason)
        self._change(f"linked {self._note().title}", edit, "")

    def do_merge(self) -> None:
        """Chooses a note, then what the merged one takes from each."""
        from nuggets_tui.screens.picker import PickerScreen

        note = self.target()
        picker = PickerScreen(
            self.desk, self.view.snapshot, note, "Merge into this note", first=self._likely(note, linked=True)
        )

        def picked(choice: tuple[str, str] | None) -> None:
            if choice is not None:
                self._review_merge(note, choice[0])

        self.app.push_screen(picker, picked)

    @work(group="open", exit_on_error=False)
    async def _review_merge(self, note: Note, other_id: str) -> None:
        from core.graph.merging import merge_notes
        from nuggets_tui.screens.merge import MergeScreen

        # What cannot be merged at all is said here, before anybody chooses.
        edit = partial(merge_notes, survivor_id=note.id, other_id=other_id)
        if await self.attempt(self.desk.preview("", edit)) is not None:
            snapshot = self.desk.snapshot
            self.app.push_screen(
                MergeScreen(self.desk, snapshot.note(note.id), snapshot.note(other_id)), self._reviewed
            )

    def _reviewed(self, done: tuple[ChangeSet, str] | Waiting | None) -> None:
        if isinstance(done, Waiting):
            self.open_conflict(done.entry_id)
        elif done is not None and self._desk is None:
            # The memory could not be opened before; it is opened again by itself.
            say(self, f"{done[1]}.")
        elif done is not None:
            self.changed(*done)

    # Making

    def do_new_note(self) -> None:
        """An empty editor."""
        self.push_editor(None)

    def do_new_fact(self) -> None:
        """A form for key and value."""
        from nuggets_tui.screens.forms import fact_form

        nugget = self.query_one(FactsPane).current_nugget
        keeping = self.keeping("fact", own_title="key")
        self.app.push_screen(fact_form(self.desk, nugget, keeping=keeping), self._edited)
