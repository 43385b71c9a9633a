"""What a person changes with a key: the note under the cursor or those selected, and notes and facts that are made.

One note is changed at once; several are reviewed first, and are one entry of the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from core.errors import NuggetsError
from core.model.change import ChangeSet
from core.model.note import Note
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.listing import PINNED
from nuggets_tui.pace import LongWork, run_in_thread
from nuggets_tui.safe_text import cut, safe_line
from nuggets_tui.session import PendingConflict, or_pending_conflict

if TYPE_CHECKING:
    from core.model.draft import Draft
    from core.model.snapshot import Snapshot
    from nuggets_tui.screens.bulk_forms import BulkEdit, Proposal, TagsWanted
    from nuggets_tui.screens.typed import TypedTextStore
    from nuggets_tui.session import Session
    from nuggets_tui.widgets.note_view import Neighbour

# Work that brings other rows into Notes or Results.
_OF_LISTS: Final = ("search", "listing")
# Characters of a title in a notice that names two.
_NAME: Final = 40


class NotesController(Controller):
    """Changes notes and makes them."""

    # Whose notes they are

    def _targets(self) -> list[Note]:
        """The notes that a command changes; none where they lie in two memories, which it says."""
        notes = self.main.selection.targets()
        team = sum(self.view.of_team(note.id) for note in notes)
        if 0 < team < len(notes):
            self.notify(
                f"{team:,} of the {len(notes):,} selected notes are the team's. Select those or your own alone."
            )
            return []
        return notes

    def _memory_of(self, note_id: str) -> tuple[Session, Snapshot]:
        """The session of the memory that holds a note, and that memory as it is shown."""
        return self.main.session_of(note_id), self.view.holder(note_id)

    # Writing a change

    @background("change")
    async def _change(
        self,
        note: Note,
        reason: str,
        edit: Callable[[Draft], object],
        said: str = "",
        *,
        reveal: bool = False,
    ) -> None:
        session = self.main.session_of(note.id)
        done = await self.attempt(or_pending_conflict(session.change(reason, edit)))
        if isinstance(done, PendingConflict):
            self.main.history.open_conflict(done.entry_id)
        elif done is not None:
            self.main.history.changed(done[1], said)
            if reveal:
                # The next key acts where this one did: no change takes the focus to another pane.
                self.main.reading.move_cursors()
            await self._lists_refreshed()
            self._go_on_in_list(done[1])

    @background("change")
    async def _review(self, edit: BulkEdit, *, at_once: bool = False) -> None:
        """What an edit of several notes would do, to be looked through before it is written. at_once: it was agreed to,
        and is written where nothing keeps a note from it.
        """
        from nuggets_tui.notices import message
        from nuggets_tui.screens.bulk_forms import BulkReview, propose

        selected = len(self.view.selected)
        session, snapshot = self._memory_of(edit.ids[0])
        looking = LongWork("computing the changes")
        asked = run_in_thread(propose, session, snapshot, edit, looking.report_progress)
        proposal = await self.long_work("", asked, looking)
        if proposal is None:
            return
        if at_once and proposal.edited.changed and not proposal.edited.refused:
            done = await self.attempt(or_pending_conflict(_carried_out(session, proposal)))
            self._several_reviewed(done)
        elif proposal.edited.changed:
            review = BulkReview(session, proposal, selected, self.view.keys.key("undo"))
            self.app.push_screen(review, self._several_reviewed)
        elif proposal.edited.refused:
            error = proposal.edited.refused[0][1]
            self.warn(
                f"None of the {selected:,} selected notes can be changed: {message(error, self.view.keys)}."
            )
        else:
            self.notify(f"Nothing to change: the {selected:,} selected notes are already like that.")

    def _several_reviewed(self, done: tuple[ChangeSet, str] | PendingConflict | None) -> None:
        self.main.history.reviewed(done)
        if isinstance(done, tuple):
            self.main.selection.clear()
            self._go_on_after(done[0])

    @background("change")
    async def _go_on_after(self, done: ChangeSet) -> None:
        await self._lists_refreshed()
        self._go_on_in_list(done)

    async def _lists_refreshed(self) -> None:
        """Waits for what lists show after a change, where that is made or looked for in a thread."""
        # A search that a newer one replaces ends early.
        while under_way := self.main.running(*_OF_LISTS):
            await asyncio.gather(*(one.wait() for one in under_way), return_exceptions=True)

    def _go_on_in_list(self, done: ChangeSet) -> None:
        """Shows the note that the cursor of Notes came to, when the one shown left the list by a change of mine."""
        notes, shown = self.main.notes_pane, self.view.note
        mine = shown is None or any(change.id == shown.id for change in done.notes)
        if shown is not None and self.view.of_team(shown.id) and self.view.found is None:
            # No list holds it while nothing is searched.
            return
        row = notes.cursor_row
        if self.main.focused is not notes or not mine or row is None or not isinstance(row.data, str):
            return
        if shown is None or not notes.holds(shown.id):
            self.main.reading.show_note(row.data)

    # Writing the text

    def edit(self, note: Note) -> None:
        from nuggets_tui.screens.editor import too_long_to_edit_here

        if too_long_to_edit_here(note):
            self.warn(
                f"The text has {len(note.content):,} characters, too many to edit here. "
                f"{self.view.keys.key('edit_outside')} opens it in $EDITOR."
            )
        else:
            self.push_editor(note)

    def push_editor(
        self,
        note: Note | None,
        typed: Mapping[str, str] | None = None,
        *,
        base: Snapshot | None = None,
        text_store: TypedTextStore | None = None,
    ) -> None:
        """The editor on a note, or on a new one. typed: what stands in its fields already. base: the memory as it
        was when that was begun; by default as it is shown.
        """
        from nuggets_tui.screens.editor import EditorScreen

        nugget = self.main.facts_pane.current_nugget if note is None else ""
        if text_store is None and note is not None:
            text_store = self.main.texts.text_store("note", note.id, note.title)
        elif text_store is None:
            text_store = self.main.texts.text_store("note")
        session, shown = self._memory_of(note.id) if note is not None else (self.session, self.view.snapshot)
        editor = EditorScreen(session, base or shown, note, nugget=nugget, typed=typed, text_store=text_store)
        self.app.push_screen(editor, self.edited)

    def edited(self, done: tuple[Note, ChangeSet] | PendingConflict | None) -> None:
        """Shows what a dialog wrote, or opens the conflict in which it ended; None where it was left."""
        if isinstance(done, PendingConflict):
            self.main.history.open_conflict(done.entry_id)
        elif done is not None:
            note, change_set = done
            self.main.history.changed(change_set)
            if note.id != self.main.selection.under_cursor:
                self.main.reading.show_note(note.id, follow=True)
                self.main.reading.reveal()

    @background("change")
    async def edit_outside(self) -> None:
        """The text in the person's own editor."""
        from nuggets_tui.file_opening import edit_outside

        note = self.main.selection.target()
        if note is None:
            return
        session, base = self._memory_of(note.id)
        try:
            text = edit_outside(self.app, note.content)
        except NuggetsError as error:
            self.notify_error(error)
            return
        if text == note.content:
            return
        from core.graph.edits import edit_note

        edit = partial(edit_note, id=note.id, content=text)
        asked = or_pending_conflict(session.change_from(base, f"edited {note.title}", edit))
        done = await self.attempt(asked)
        if isinstance(done, PendingConflict):
            self.main.history.open_conflict(done.entry_id)
        elif done is not None:
            self.main.history.changed(done[1])
        else:
            # What was written is not lost: it waits in the app's own editor.
            self.push_editor(note, {"text": text}, base=base)

    def new_note(self) -> None:
        self.push_editor(None)

    def new_fact(self) -> None:
        from nuggets_tui.screens.forms import fact_form

        nugget = self.main.facts_pane.current_nugget
        self.app.push_screen(fact_form(self.session, nugget), self.edited)

    # Commands on one note or several

    def tags(self) -> None:
        """A line to edit the tags in; of several notes it asks which tags come and which go."""
        from nuggets_tui.screens.bulk_forms import tagging

        notes = self._targets()
        if not notes:
            return
        session, snapshot = self._memory_of(notes[0].id)
        if len(notes) == 1:
            from nuggets_tui.screens.forms import tags_form

            self.app.push_screen(tags_form(session, snapshot, notes[0]), self.edited)
            return
        from nuggets_tui.screens.bulk_forms import TagsOfManyScreen

        def typed(tags: TagsWanted | None) -> None:
            if tags is not None:
                self._review(tagging(notes, tags.add, tags.remove), at_once=not tags.review)

        self.app.push_screen(TagsOfManyScreen(snapshot, notes), typed)

    def pin(self) -> None:
        from core.graph.edits import edit_note
        from nuggets_tui.screens.bulk_forms import pinning

        notes = self._targets()
        if not notes:
            return
        note = notes[0]
        if len(notes) > 1:
            self._review(pinning(notes))
        elif PINNED in note.tags:
            edit = partial(edit_note, id=note.id, remove_tags=[PINNED])
            self._change(note, f"unpinned {note.title}", edit, f'Unpinned "{safe_line(note.title, 60)}"')
        else:
            edit = partial(edit_note, id=note.id, add_tags=[PINNED])
            self._change(note, f"pinned {note.title}", edit, f'Pinned "{safe_line(note.title, 60)}"')

    def hide(self) -> None:
        """Hides, or brings back; in Neighbours asks, as the link alone may be meant."""
        from nuggets_tui.screens.bulk_forms import hiding

        notes, shown, row = self._targets(), self.view.note, self.main.neighbour
        if len(notes) > 1:
            self._review(hiding(notes))
        elif notes and shown is not None and row is not None:
            self._hide_or_unlink(notes[0], shown, row)
        elif notes:
            self._hide(notes[0])

    def _hide(self, note: Note) -> None:
        from core.graph.edits import hide_note, unhide_note

        if note.hidden:
            self._change(note, f"brought back {note.title}", partial(unhide_note, id=note.id), reveal=True)
        else:
            self._change(note, f"hid {note.title}", partial(hide_note, id=note.id))

    def _linked_row(self) -> tuple[Note, str] | None:
        """The note shown and the reason of the link, where the cursor stands on a link in Neighbours."""
        shown, row = self.view.note, self.main.neighbour
        return (
            (shown, row.reason) if shown is not None and row is not None and row.suggestion is None else None
        )

    def _hide_or_unlink(self, note: Note, shown: Note, row: Neighbour) -> None:
        from nuggets_tui.screens.choice import HIDE, neighbour_choice

        def chosen(answer: str | None) -> None:
            if answer == HIDE:
                self._hide(note)
            elif answer is not None:
                self._unlink(shown, note, row.reason)

        self.app.push_screen(neighbour_choice(shown, note, row), chosen)

    def delete(self) -> None:
        from nuggets_tui.screens.bulk_forms import deleting
        from nuggets_tui.screens.dialog import ConfirmScreen

        notes = self._targets()
        if not notes:
            return
        if len(notes) > 1:
            self._review(deleting(notes))
            return
        note = notes[0]
        question = ConfirmScreen(
            f'Delete "{safe_line(note.title, 120)}" for good?',
            "This deletes the note and all links to it. You can undo it from the audit log. To hide "
            f"it instead, press {self.view.keys.key('hide')} in the main screen.",
            yes="delete it",
        )

        def answered(sure: bool | None) -> None:
            from core.graph.edits import delete_note

            if sure:
                self._change(note, f"deleted {note.title}", partial(delete_note, id=note.id))

        self.app.push_screen(question, answered)

    def move(self) -> None:
        """Asks for the scope to move to."""
        from nuggets_tui.screens.bulk_forms import ScopeScreen

        notes = self._targets()
        if not notes:
            return

        def chosen(scope: str | None) -> None:
            if scope is not None:
                self._move(notes, scope)

        self.app.push_screen(ScopeScreen(notes), chosen)

    def _move(self, notes: list[Note], scope: str) -> None:
        from core.graph.edits import move_to_scope
        from nuggets_tui.screens.bulk_forms import moving

        note = notes[0]
        if len(notes) > 1:
            self._review(moving(notes, scope))
        elif note.scope == scope:
            self.notify(f"It is already in the scope {scope}.")
        else:
            edit = partial(move_to_scope, id=note.id, scope=scope)
            self._change(note, f"moved {note.title} to scope {scope}", edit, f"Moved to scope {scope}")

    # Links and merging

    def link(self) -> None:
        """Chooses a note and a reason, then links; several are all linked to the one chosen."""
        from nuggets_tui.screens.picker import PickerScreen

        notes = self._targets()
        if not notes:
            return
        several = len(notes) > 1
        picker = PickerScreen(
            *self._memory_of(notes[0].id),
            None if several else notes[0],
            f"Link {len(notes):,} selected notes to" if several else "Link to",
            ask_reason=True,
            first=None if several else self._likely(notes[0]),
        )
        self.app.push_screen(picker, partial(self._link_picked, notes))

    def remove_link(self) -> None:
        """Removes the link under the cursor of Neighbours; elsewhere asks which of the note's links."""
        from core.graph.neighbours import neighbours
        from nuggets_tui.screens.choice import link_choice

        note, linked = self.main.selection.target(), self._linked_row()
        if note is None:
            return
        if linked is not None:
            self._unlink(linked[0], note, linked[1])
            return
        around = neighbours(self.view.holder(note.id), note.id)
        links = {
            (other.id, link.reason): (other, link) for other, link in (*around.outgoing, *around.incoming)
        }
        found = list(links.values())

        def chosen(place: str | None) -> None:
            if place is not None:
                other, link = found[int(place)]
                self._unlink(note, other, link.reason)

        self.app.push_screen(link_choice(note, found), chosen)

    def _unlink(self, note: Note, other: Note, reason: str) -> None:
        from core.graph.edits import unlink_notes

        edit = partial(unlink_notes, a=note.id, b=other.id, reason=reason)
        self._change(note, f"unlinked {note.title}", edit)

    def _link_picked(self, notes: list[Note], choice: tuple[str, str] | None) -> None:
        from core.graph.edits import already_linked, link_notes
        from nuggets_tui.screens.bulk_forms import linking

        if choice is None:
            return
        note_id, reason = choice
        _, snapshot = self._memory_of(notes[0].id)
        target = snapshot.by_id.get(note_id)
        held = snapshot.by_id.get(notes[0].id, notes[0])
        if len(notes) == 1 and target is not None and already_linked(held, target, reason):
            self._notify_linked(held, target)
        elif len(notes) == 1:
            edit = partial(link_notes, a=notes[0].id, b=note_id, reason=reason)
            self._change(notes[0], f"linked {notes[0].title}", edit)
        elif target is not None:
            self._review(linking(notes, target, reason))

    def _notify_linked(self, note: Note, target: Note) -> None:
        from core.graph.edits import link_reasons

        titles = " and ".join(f'"{cut(one.title, _NAME)}"' for one in (note, target))
        why = cut("; ".join(link_reasons(note, target)), _NAME)
        self.notify(f"Nothing to change: {titles} are already linked ({why}).")

    def _likely(self, note: Note, *, linked: bool = False) -> dict[str, str]:
        """Notes that are likely chosen for a note, each with the reason; `linked`: those it links to as well."""
        suggested = self.view.suggested if note.id == self.view.note_id else ()
        found = {suggestion.note.id: "suggested" for suggestion in suggested}
        if linked:
            # That they are linked is said of them in any case.
            found |= {link.to: "" for link in note.links if link.to not in found}
        return found | {id: "seen before" for id in reversed(self.main.reading.trail) if id not in found}

    def accept(self) -> None:
        """Makes the suggested link under the cursor."""
        from core.graph.edits import link_notes

        note, (suggestion,) = self.view.note, self.main.selection.acted_on.suggested
        if note is None:
            return
        reason = f"shared context: {', '.join(suggestion.shared)}"
        edit = partial(link_notes, a=note.id, b=suggestion.note.id, reason=reason)
        self._change(note, f"linked {note.title}", edit)

    def merge(self) -> None:
        """Chooses a note to merge into this one, then what is taken from each; two that are selected are merged: the
        one under the cursor stays, if it is one of them.
        """
        notes = self._targets()
        if len(notes) > 2:
            key = self.view.keys.key("merge")
            self.notify(f"{key} merges two notes, but {len(notes):,} are selected. esc deselects them.")
        elif len(notes) == 2:
            second = notes[1].id == self.main.selection.under_cursor
            survivor, other = reversed(notes) if second else notes
            self.review_merge(survivor, other.id)
        elif notes:
            self._choose_merge(notes[0])

    def _choose_merge(self, note: Note) -> None:
        from nuggets_tui.screens.picker import PickerScreen

        likely = self._likely(note, linked=True)
        picker = PickerScreen(*self._memory_of(note.id), note, "Merge into this note", first=likely)

        def picked(choice: tuple[str, str] | None) -> None:
            if choice is not None:
                self.review_merge(note, choice[0])

        self.app.push_screen(picker, picked)

    def _text_store_of(self, note: Note) -> TypedTextStore | None:
        return self.main.texts.text_store("note", note.id, note.title)

    @background("open")
    async def review_merge(self, note: Note, other_id: str) -> None:
        """Asks what the merged note takes from each of two."""
        from core.graph.merging import merge_notes
        from nuggets_tui.screens.merge import MergeScreen

        # What cannot be merged at all is said here, before anybody chooses.
        edit = partial(merge_notes, survivor_id=note.id, other_id=other_id)
        session = self.main.session_of(note.id)
        if await self.attempt(session.preview("", edit)) is not None:
            snapshot = session.snapshot
            merge = MergeScreen(session, snapshot.note(note.id), snapshot.note(other_id), self._text_store_of)
            self.app.push_screen(merge, self.main.history.reviewed)


async def _carried_out(session: Session, proposal: Proposal) -> tuple[ChangeSet, str]:
    from nuggets_tui.screens.bulk_forms import carry_out

    done, count = await carry_out(session, proposal, proposal.edited.changed)
    said = proposal.edit.reason(count)
    return done, said[:1].upper() + said[1:]
