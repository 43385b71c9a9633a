"""The notes that commands act on: those that are selected, else the one shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nuggets_tui.controllers.controller import Controller

if TYPE_CHECKING:
    from core.model.change import ChangeSet
    from core.model.note import Note
    from core.model.snapshot import Snapshot


class SelectionController(Controller):
    """Keeps `view.selected`."""

    def select(self, ids: frozenset[str]) -> None:
        """These notes are selected, and no others."""
        if ids is not self.view.selected:
            self.context.show(selected=ids)

    def toggle(self) -> None:
        """Selects the note shown, or lets it go; lists see to the key themselves."""
        assert self.view.note is not None
        self.select(self.view.selected ^ {self.view.note.id})

    def select_all(self) -> None:
        """Selects all notes of the list, or lets them go."""
        self.context.notes_pane.action_select_all()

    def clear(self) -> None:
        """Nothing is selected any more."""
        self.select(frozenset())

    def targets(self) -> list[Note]:
        """The notes that a command acts on: those selected, in the order of the list, else the one shown."""
        several = self.view.selected if len(self.view.selected) > 1 else ()
        return self.context.notes_pane.in_order(several) or [self.target()]

    def target(self) -> Note:
        """The one note that a command acts on: the selected one, where it is one, else the one shown."""
        selected = self.view.selected
        only = self.view.find(next(iter(selected))) if len(selected) == 1 else None
        note = only or self.view.note
        assert note is not None
        return note

    def drop_gone(self, snapshot: Snapshot) -> None:
        """What is gone is not selected any more."""
        # What the list has by now: the screen may not have heard of it yet.
        selected = self.context.notes_pane.selected
        kept = frozenset(id for id in selected if id in snapshot.by_id or self.view.of_team(id))
        if len(kept) < len(selected):
            self.select(kept)

    def release(self, done: ChangeSet) -> None:
        """What a command was carried out on is selected no more."""
        touched = {change.id for change in done.notes} if done.kind == "edit" else set()
        if self.view.selected and self.view.selected <= touched:
            self.clear()
