"""What a person changes with a key: the note under the cursor or those selected, and notes and facts that are made.

One note is changed at once; several are reviewed first, and are one entry of the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Final

from core.errors import NotFoundError, NuggetsError
from core.model.change import ChangeSet
from core.model.note import Note
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.pace import LongWork, run_in_thread
from nuggets_tui.safe_text import cut, safe_line
from nuggets_tui.session import PendingConflict, or_pending_conflict
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.model.draft import Draft
    from core.model.snapshot import Snapshot
    from core.unsaved import Offered, Unsaved, UnsavedFile, UnsavedTexts
    from nuggets_tui.screens.bulk_forms import BulkEdit
    from nuggets_tui.screens.main import MainScreen
    from nuggets_tui.screens.typed import TypedTextStore
    from nuggets_tui.session import Session

# Work that brings other rows into Notes or Results.
_OF_LISTS: Final = ("search", "listing")
# Characters of a title in a notice that names two.
_NAME: Final = 40


class NotesController(Controller):
    """Changes notes and makes them."""

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

    async def _written(
        self, asked: Awaitable[tuple[object, ChangeSet]], *, reveal: bool = False
    ) -> ChangeSet | None:
        """Writes something and shows it, or opens the conflict in which it ended. None where it failed."""
        done = await self.attempt(or_pending_conflict(asked))
        if isinstance(done, PendingConflict):
            self.main.history.open_conflict(done.entry_id)
            return None
        if done is None:
            return None
        self.main.history.changed(done[1])
        if reveal:
            # The next key acts where this one did: no change takes the focus to another pane.
            self.main.reading.move_cursors()
        await self._go_on_in_list(done[1])
        return done[1]

    @background("change")
    async def _change(
        self, note: Note, reason: str, edit: Callable[[Draft], object], *, reveal: bool = False
    ) -> None:
        await self._written(self.main.session_of(note.id).change(reason, edit), reveal=reveal)

    @background("change")
    async def _apply(self, edit: BulkEdit, *, at_once: bool = False) -> None:
        """Carries an edit out: of one note at once, of several once it was looked through. at_once: it was agreed to,
        and is written where nothing keeps a note from it.
        """
        from nuggets_tui.screens.bulk_forms import BulkReview, carry_out, propose

        session, snapshot = self._memory_of(edit.ids[0])
        note = snapshot.by_id.get(edit.ids[0])
        if len(edit.ids) == 1 and note is not None:
            reason = f"{edit.done} {note.title}{edit.suffix}"
            asked = session.change(reason, lambda draft: edit.edit(draft, note.id))
            await self._written(asked, reveal=note.hidden)
            return
        selected = len(self.view.selected)
        looking = LongWork("computing the changes")
        found = run_in_thread(propose, session, snapshot, edit, looking.report_progress)
        proposal = await self.long_work("", found, looking)
        if proposal is None:
            return
        done: tuple[ChangeSet, str] | PendingConflict | None = None
        if at_once and proposal.edited.changed and not proposal.edited.refused:
            done = await self.attempt(
                or_pending_conflict(carry_out(session, proposal, proposal.edited.changed))
            )
        elif proposal.edited.changed:
            done = await self.ask(BulkReview(session, proposal, selected, self.view.keys.key("undo")))
        elif proposal.edited.refused:
            from nuggets_tui.notices import message

            why = message(proposal.edited.refused[0][1], self.view.keys)
            self.warn(f"None of the {selected:,} selected notes can be changed: {why}.")
        else:
            self.notify(f"Nothing to change: the {selected:,} selected notes are already like that.")
        self.main.history.reviewed(done)
        if isinstance(done, tuple):
            self.main.selection.clear()
            await self._go_on_in_list(done[0])

    async def _go_on_in_list(self, done: ChangeSet) -> None:
        """Once lists show a change of mine, shows the note that the cursor of Notes came to where the one shown left
        the list by it.
        """
        # A search that a newer one replaces ends early.
        while under_way := self.main.running(*_OF_LISTS):
            await asyncio.gather(*(one.wait() for one in under_way), return_exceptions=True)
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
        from nuggets_tui.screens.editor import LONGEST_TEXT

        if len(note.content) > LONGEST_TEXT:
            self.warn(
                f"The text has {len(note.content):,} characters, too many to edit here. "
                f"{self.view.keys.key('edit_outside')} opens it in $EDITOR."
            )
        else:
            self.push_editor(note)

    @background("open")
    async def push_editor(
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
        if text_store is None:
            about = (note.id, note.title) if note is not None else ("", "")
            text_store = self.main.texts.text_store("note", *about)
        session, shown = self._memory_of(note.id) if note is not None else (self.session, self.view.snapshot)
        editor = EditorScreen(session, base or shown, note, nugget=nugget, typed=typed, text_store=text_store)
        done = await self.ask(editor)
        self._edited(done)

    def _edited(self, done: tuple[Note, ChangeSet] | PendingConflict | None) -> None:
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
        from core.graph.edits import edit_note
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
        edit = partial(edit_note, id=note.id, content=text)
        asked = or_pending_conflict(session.change_from(base, f"edited {note.title}", edit))
        done = await self.attempt(asked)
        if done is not None:
            self._edited(done)
        else:
            # What was written is not lost: it waits in the app's own editor.
            self.push_editor(note, {"text": text}, base=base)

    def new_note(self) -> None:
        self.push_editor(None)

    @background("open")
    async def new_fact(self) -> None:
        from nuggets_tui.screens.forms import fact_form

        done = await self.ask(fact_form(self.session, self.main.facts_pane.current_nugget))
        self._edited(done)

    # Commands on one note or several

    @background("open")
    async def tags(self) -> None:
        """A line to edit the tags in; of several notes it asks which tags come and which go."""
        from nuggets_tui.screens.bulk_forms import TagsOfManyScreen, tagging
        from nuggets_tui.screens.forms import tags_form

        notes = self._targets()
        if len(notes) == 1:
            done = await self.ask(tags_form(*self._memory_of(notes[0].id), notes[0]))
            self._edited(done)
        elif notes:
            _, snapshot = self._memory_of(notes[0].id)
            tags = await self.ask(TagsOfManyScreen(snapshot, notes))
            if tags is not None:
                self._apply(tagging(notes, tags.add, tags.remove), at_once=not tags.review)

    def pin(self) -> None:
        from nuggets_tui.screens.bulk_forms import pinning

        if notes := self._targets():
            self._apply(pinning(notes))

    @background("open")
    async def hide(self) -> None:
        """Hides, or brings back; in Neighbours asks, as the link alone may be meant."""
        from nuggets_tui.screens.bulk_forms import hiding
        from nuggets_tui.screens.dialog import HIDE, neighbour_choice

        notes, shown, row = self._targets(), self.view.note, self.main.neighbour
        answer: str | None = HIDE
        if len(notes) == 1 and shown is not None and row is not None:
            answer = await self.ask(neighbour_choice(shown, notes[0], row))
            if answer not in (None, HIDE):
                self._unlink(shown, notes[0], row.reason)
        if notes and answer == HIDE:
            self._apply(hiding(notes))

    @background("open")
    async def delete(self) -> None:
        from nuggets_tui.screens.bulk_forms import deleting
        from nuggets_tui.screens.dialog import ConfirmScreen

        notes = self._targets()
        if len(notes) == 1:
            question = ConfirmScreen(
                f'Delete "{safe_line(notes[0].title, 120)}" for good?',
                "This deletes the note and all links to it. You can undo it from the audit log. To hide "
                f"it instead, press {self.view.keys.key('hide')} in the main screen.",
                yes="delete it",
            )
            sure = await self.ask(question)
            notes = notes if sure else []
        if notes:
            self._apply(deleting(notes))

    @background("open")
    async def move(self) -> None:
        """Asks for the scope to move to."""
        from nuggets_tui.screens.bulk_forms import ScopeScreen, moving

        notes = self._targets()
        if not notes:
            return
        scope = await self.ask(ScopeScreen(notes))
        if scope is not None and {note.scope for note in notes} == {scope}:
            self.notify(f"It is already in the scope {scope}.")
        elif scope is not None:
            self._apply(moving(notes, scope))

    # Links and merging

    @background("open")
    async def link(self) -> None:
        """Chooses a note and a reason, then links; several are all linked to the one chosen."""
        from core.graph.edits import already_linked, link_reasons
        from nuggets_tui.screens.bulk_forms import linking
        from nuggets_tui.screens.picker import PickerScreen

        notes = self._targets()
        if not notes:
            return
        one = notes[0] if len(notes) == 1 else None
        picker = PickerScreen(
            *self._memory_of(notes[0].id),
            one,
            "Link to" if one is not None else f"Link {len(notes):,} selected notes to",
            ask_reason=True,
            first=self._likely(one) if one is not None else None,
        )
        choice = await self.ask(picker)
        if choice is None:
            return
        note_id, reason = choice
        _, snapshot = self._memory_of(notes[0].id)
        target, held = snapshot.by_id.get(note_id), snapshot.by_id.get(notes[0].id, notes[0])
        if target is not None and one is not None and already_linked(held, target, reason):
            titles = " and ".join(f'"{cut(each.title, _NAME)}"' for each in (held, target))
            why = cut("; ".join(link_reasons(held, target)), _NAME)
            self.notify(f"Nothing to change: {titles} are already linked ({why}).")
        elif target is not None:
            self._apply(linking(notes, target, reason))

    @background("open")
    async def remove_link(self) -> None:
        """Removes the link under the cursor of Neighbours; elsewhere asks which of the note's links."""
        from core.graph.neighbours import neighbours
        from nuggets_tui.screens.dialog import link_choice

        note, shown, row = self.main.selection.target(), self.view.note, self.main.neighbour
        if note is None:
            return
        if shown is not None and row is not None and row.suggestion is None:
            self._unlink(shown, note, row.reason)
            return
        around = neighbours(self.view.holder(note.id), note.id)
        links = {
            (other.id, link.reason): (other, link) for other, link in (*around.outgoing, *around.incoming)
        }
        found = list(links.values())
        place = await self.ask(link_choice(note, found))
        if place is not None:
            other, link = found[int(place)]
            self._unlink(note, other, link.reason)

    def _unlink(self, note: Note, other: Note, reason: str) -> None:
        from core.graph.edits import unlink_notes

        edit = partial(unlink_notes, a=note.id, b=other.id, reason=reason)
        self._change(note, f"unlinked {note.title}", edit)

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
        if note is not None:
            reason = f"shared context: {', '.join(suggestion.shared)}"
            edit = partial(link_notes, a=note.id, b=suggestion.note.id, reason=reason)
            self._change(note, f"linked {note.title}", edit)

    @background("open")
    async def merge(self) -> None:
        """Chooses a note to merge into this one, then what is taken from each; two that are selected are merged: the
        one under the cursor stays, if it is one of them.
        """
        from nuggets_tui.screens.picker import PickerScreen

        notes = self._targets()
        if len(notes) > 2:
            key = self.view.keys.key("merge")
            self.notify(f"{key} merges two notes, but {len(notes):,} are selected. esc deselects them.")
        elif len(notes) == 2:
            second = notes[1].id == self.main.selection.under_cursor
            survivor, other = reversed(notes) if second else notes
            await self._merge(survivor, other.id)
        elif notes:
            likely = self._likely(notes[0], linked=True)
            session, snapshot = self._memory_of(notes[0].id)
            picker = PickerScreen(session, snapshot, notes[0], "Merge into this note", first=likely)
            if (choice := await self.ask(picker)) is not None:
                await self._merge(notes[0], choice[0])

    async def _merge(self, note: Note, other_id: str) -> None:
        """Asks what the merged note takes from each of two."""
        from core.graph.merging import merge_notes
        from nuggets_tui.screens.merge import MergeScreen

        # What cannot be merged at all is said here, before anybody chooses.
        edit = partial(merge_notes, survivor_id=note.id, other_id=other_id)
        session = self.main.session_of(note.id)
        if await self.attempt(session.preview("", edit)) is not None:
            snapshot = session.snapshot
            done = await self.ask(MergeScreen(session, snapshot.note(note.id), snapshot.note(other_id)))
            self.main.history.reviewed(done)


class TextsController(Controller):
    """Keeps texts of dialogs outside of the memory. unsaved: the place; None while there is no such place."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self.unsaved: UnsavedTexts | None = None
        # Whether it is known if there is a place for texts.
        self._known = False

    def open(self) -> None:
        """Finds the place of the open memory; whoever types at once is not too early."""
        if not self._known:
            from core.unsaved import UnsavedTexts

            home = self.session.memory.home
            # What is typed in a copy of the demo goes with it.
            self.unsaved = None if self.app.is_copy(home) else UnsavedTexts.of(home)
            self._known = True

    def leaving(self) -> None:
        """What is not saved is there for the next app; another memory has other texts."""
        unsaved, self.unsaved, self._known = self.unsaved, None, False
        if unsaved is not None:
            unsaved.close()

    def text_store(self, kind: str, about: str = "", title: str = "") -> TypedTextStore | None:
        """Where the text of a dialog is kept against a crash; arguments as in `TypedTextStore`."""
        self.open()
        if self.unsaved is None:
            return None
        from nuggets_tui.screens.typed import TypedTextStore

        return TypedTextStore(self.unsaved.keep(), self.session.clock, kind, about, title)


class UnsavedController(Controller):
    """Brings back what was typed and not saved."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self._offered: tuple[Offered, ...] = ()

    def leaving(self) -> None:
        self._offered = ()

    def first_frame_shown(self) -> None:
        """Looks for texts that a crash left."""
        self._find_unsaved()

    @background("unsaved", exclusive=True)
    async def _find_unsaved(self) -> None:
        """Looks for texts that a crash left, and offers them."""
        await run_in_thread(import_module, "core.unsaved")
        self.main.texts.open()
        await self._find_offers()
        if self._offered and self.main.is_active and not self.main.typing:
            self._choose(self._offered)
        elif self._offered:
            self.notify(f'{plural(len(self._offered), "text")} not saved yet. To continue: ctrl+p "unsaved".')

    def resumed(self) -> None:
        """A dialog closed: a text may have been put aside."""
        if self.main.texts.unsaved is not None:
            self._follow_offers()

    @background("unsaved", exclusive=True)
    async def _follow_offers(self) -> None:
        await self._find_offers()

    async def _find_offers(self) -> None:
        if self.main.texts.unsaved is not None:
            self._offered = await run_in_thread(_open_offers, self.main.texts.unsaved, self.session.snapshot)

    # Choosing one

    @background("change")
    async def choose(self) -> None:
        """The texts that are not saved yet."""
        await self._find_offers()
        if self._offered:
            self._choose(self._offered)
        else:
            self.notify("There is no unsaved text.")

    def edit(self) -> None:
        """The editor; goes on with a text of this note, if one waits."""
        note = self.main.selection.target()
        if note is None:
            return
        waiting = [one for one in self._offered if (one.unsaved.kind, one.unsaved.about) == ("note", note.id)]
        if waiting:
            self._choose(waiting, of_note=note)
        else:
            self.main.notes.edit(note)

    @background("open")
    async def _choose(self, offered: Sequence[Offered], *, of_note: Note | None = None) -> None:
        from nuggets_tui.screens.problems import AS_IT_IS, UnsavedScreen

        texts = self.main.texts.unsaved
        assert texts is not None
        screen = UnsavedScreen(texts, offered, self.session.clock(), of_note=of_note is not None)
        answer = await self.ask(screen)
        if answer == AS_IT_IS and of_note is not None:
            self.main.notes.edit(of_note)
        elif answer is not None and not isinstance(answer, str):
            await self._go_on_with(texts, answer)

    async def _go_on_with(self, texts: UnsavedTexts, offered: Offered) -> None:
        taken = await self.attempt(run_in_thread(lambda: (texts.take(offered),)))
        if taken is None:
            return
        kept, unsaved = taken[0], offered.unsaved
        if kept is None:
            self.notify("Another window is already editing it.")
            return
        if unsaved.kind == "conflict" and await self._resume_conflict(unsaved, kept):
            return
        note = self.session.snapshot.by_id.get(unsaved.about)
        if note is None and unsaved.about:
            # A note of the team's is there once its memory is open.
            await self.main.team.opened()
            note = self.view.find(unsaved.about)
        if unsaved.kind == "text":
            self.main.pipeline.resume_submit(unsaved.values, self._text_store(kept, unsaved))
        elif note is not None:
            from nuggets_tui.screens.typed import as_begun

            # As it was then: what another program changed since is a conflict, not overwritten.
            base, former = as_begun(self.main.session_of(note.id).snapshot, note, unsaved.begun)
            store = self._text_store(kept, unsaved)
            self.main.reading.show_note(note.id, follow=True)
            self.main.notes.push_editor(former, unsaved.values, base=base, text_store=store)
        else:
            if unsaved.about:
                self.notify("The note no longer exists. Your text is in a new note.")
            typed = {**unsaved.values, "text": unsaved.values.get("text", unsaved.values.get("result", ""))}
            typed.setdefault("title", unsaved.title)
            self.main.notes.push_editor(None, typed, text_store=self._text_store(kept))

    def _text_store(self, kept: UnsavedFile, unsaved: Unsaved | None = None) -> TypedTextStore:
        """Where a text that is gone on with is kept; None: it becomes a new note."""
        from nuggets_tui.screens.typed import TypedTextStore

        if unsaved is None:
            return TypedTextStore(kept, self.session.clock, "note")
        title = unsaved.title if unsaved.about else ""
        return TypedTextStore(kept, self.session.clock, unsaved.kind, unsaved.about, title)

    async def _resume_conflict(self, unsaved: Unsaved, kept: UnsavedFile) -> bool:
        """Goes on with the result of a conflict; False when it is settled meanwhile."""
        from nuggets_tui.screens.conflict import ConflictScreen, clash_of

        await self.main.team.opened()
        session = await self.main.history.session_of_entry(unsaved.about)
        try:
            clash = await clash_of(session, unsaved.about)
        except NotFoundError:
            return False
        if clash.entry.state != "conflict" or not clash.textual:
            return False
        store = self._text_store(kept, unsaved)
        done = await self.ask(ConflictScreen(session, clash, typed=unsaved.values, text_store=store))
        self.main.history.resolved(done)
        return True


def _open_offers(texts: UnsavedTexts, snapshot: Snapshot) -> tuple[Offered, ...]:
    """What is offered; texts that were saved in the instant before a crash are let go."""
    from nuggets_tui.screens.typed import is_saved

    offered = []
    for one in texts.offered():
        if is_saved(one.unsaved, snapshot):
            texts.discard(one)
        elif one.unsaved.changed:
            offered.append(one)
    return tuple(offered)
