"""The notes that commands act on: those selected, else the one under the cursor of the pane in focus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from nuggets_tui.controllers.controller import Controller

if TYPE_CHECKING:
    from core.model.change import ChangeSet
    from core.model.note import Note
    from core.model.snapshot import Snapshot
    from nuggets_tui.view import View


@runtime_checkable
class PointsAtNote(Protocol):
    """A pane whose cursor stands on notes."""

    @property
    def note_under_cursor(self) -> str:
        """The id of a note; "" where the cursor stands on something else, or nothing."""
        ...


class SelectionController(Controller):
    """Keeps `view.selected`, and says what commands act on."""

    def select(self, ids: frozenset[str]) -> None:
        """These notes are selected, and no others."""
        if ids is not self.view.selected:
            self.main.show(selected=ids)

    def toggle(self) -> None:
        """Selects the note under the cursor, or lets it go; lists see to the key themselves."""
        note_id = self.under_cursor
        if self.view.find(note_id) is not None:
            self.select(self.view.selected ^ {note_id})

    def select_all(self) -> None:
        """Selects all notes of the list, or lets them go."""
        self.main.notes_pane.action_select_all()

    def clear(self) -> None:
        self.select(frozenset())

    @property
    def elsewhere(self) -> bool:
        """Whether the pane in focus shows no selection: there commands act on what is under its cursor alone."""
        pane = self.main.focused
        return pane is not None and pane.id in ("note", "neighbours", "graph", "audit")

    @property
    def selected(self) -> frozenset[str]:
        """The selected notes that commands act on."""
        return frozenset() if self.elsewhere else self.view.selected

    @property
    def under_cursor(self) -> str:
        """The id of the note under the cursor of the pane in focus, "" for none; outside of lists, of that shown."""
        pane = self.main.focused
        return pane.note_under_cursor if isinstance(pane, PointsAtNote) else self.view.note_id

    def targets(self) -> list[Note]:
        """The notes that a command acts on: those selected, in the order of the list, else the one under the cursor."""
        one = self.target()
        return self.main.notes_pane.in_order(self.selected) or ([one] if one is not None else [])

    def target(self) -> Note | None:
        """The one note that a command acts on: the selected one, where it is one, else the one under the cursor."""
        selected = self.selected
        return self.view.find(next(iter(selected)) if len(selected) == 1 else self.under_cursor)

    @property
    def acted_on(self) -> View:
        """The view with what commands act on in place of the note shown and of all suggestions."""
        note, neighbour = self.target(), self.main.neighbour
        suggestion = neighbour.suggestion if neighbour is not None else None
        return self.view.with_(
            note_id=note.id if note is not None else next(iter(self.selected), ""),
            selected=self.selected,
            suggested=(suggestion,) if suggestion is not None else (),
        )

    def drop_gone(self, snapshot: Snapshot) -> None:
        """What is gone is not selected any more."""
        # What the list has by now: the screen may not have heard of it yet.
        selected = self.main.notes_pane.selected
        kept = frozenset(id for id in selected if id in snapshot.by_id or self.view.of_team(id))
        if len(kept) < len(selected):
            self.select(kept)

    def release(self, done: ChangeSet) -> None:
        """What a command was carried out on is selected no more."""
        touched = {change.id for change in done.notes} if done.kind == "edit" else set()
        if self.view.selected and self.view.selected <= touched:
            self.clear()
