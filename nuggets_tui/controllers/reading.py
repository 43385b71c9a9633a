"""The note at hand: which one is shown and the way back, which ones commands act on, its files and its text to copy."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from core.errors import NuggetsError
from core.model.change import PROGRAM, Author
from core.model.note import Note, replace
from core.model.snapshot import Snapshot
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.pace import run_in_thread
from nuggets_tui.safe_text import cut, plain, safe_line
from nuggets_tui.widgets.facts import fact_key
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.model.change import ChangeSet
    from core.model.judgement import Standing
    from core.text.file_references import FileReference
    from nuggets_tui.file_opening import Found
    from nuggets_tui.screens.main import MainScreen
    from nuggets_tui.view import View
    from nuggets_tui.widgets.panes import PaneName

_PAUSE: Final = 0.1
_TITLE: Final = 60
# Seconds in which the same is told once of a note that is written again and again.
_AGAIN: Final = 10.0


class ReadingController(Controller):
    """Shows one note after the other. `trail` holds those that backspace goes back to."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self.trail: list[str] = []
        # What was last told of which note, and when.
        self._last_notified: tuple[str, float] = ("", 0.0)

    def show_note(self, note_id: str, *, follow: bool = False) -> None:
        """Shows a note. `follow`: backspace comes back to the one before."""
        before = self.view.note_id
        if note_id == before or self.view.find(note_id) is None:
            return
        if follow and before:
            self.trail.append(before)
        self.main.show(note_id=note_id, suggested=())
        self.find_suggestions()
        self.main.refresh_bindings()

    def back(self) -> bool:
        """Back to the note that was shown before; False where there is none."""
        while self.trail:
            note_id = self.trail.pop()
            if self.view.find(note_id) is not None and note_id != self.view.note_id:
                self.show_note(note_id)
                self.reveal()
                return True
        return False

    def open_fact(self, nugget: str, key: str) -> None:
        from nuggets_tui.screens.why import recall_screen

        self.app.push_screen(recall_screen(self.session, nugget, key))

    def leaving(self) -> None:
        """Notes of one memory lead to none of another."""
        self.trail = []

    def move_cursors(self) -> None:
        """Puts the cursors of the lists on the note shown, and so brings its rows into view."""
        note = self.view.note
        if note is None:
            return
        self.main.notes_pane.move_to(note.id)
        if note.is_fact:
            self.main.facts_pane.move_to(fact_key(note.nugget_name, note.key))

    def reveal(self) -> None:
        """Puts the cursors of the lists on the note shown, and from Notes or Facts goes to the one that lists it."""
        note = self.view.note
        if note is None:
            return
        self.move_cursors()
        # The cursor stands on what commands act on.
        focused = self.main.focused
        if focused is self.main.notes_pane and self.list_with_note("notes") == "facts":
            self.main.go_to("facts")
        elif focused is self.main.facts_pane and self.main.facts_pane.note is not note:
            self.main.go_to("notes")

    def follow_facts(self) -> None:
        """With the cursor in Facts, the note of its row is shown: commands act on what the cursor marks."""
        facts = self.main.facts_pane
        if self.main.focused is not facts or facts.fact is None:
            return
        if facts.note is not None:
            self.show_note(facts.note.id)
        elif self.view.note_id:
            self.main.show(note_id="", suggested=())
            self.main.refresh_bindings()

    def follow_notes(self) -> None:
        """With the cursor in Notes, and only Facts listing the note shown, that of the row is shown."""
        notes = self.main.notes_pane
        if self.main.focused is notes and notes.note_under_cursor and self.list_with_note("notes") == "facts":
            self.show_note(notes.note_under_cursor)

    def list_with_note(self, pane: PaneName) -> PaneName:
        """The pane, or Facts in place of Notes where only Facts lists the note shown."""
        note = self.view.note
        if pane != "notes" or note is None or not note.is_fact or self.main.notes_pane.holds(note.id):
            return pane
        return "facts" if self.main.facts_pane.holds(fact_key(note.nugget_name, note.key)) else pane

    def note_under_cursor(self) -> None:
        """Shows the note on which the cursor of Notes came to stand, when none is shown."""
        row = self.main.notes_pane.cursor_row
        if not self.view.note_id and row is not None and isinstance(row.data, str):
            self.show_note(row.data)

    def first_frame_shown(self) -> None:
        """What belongs to the first note shown comes behind the first frame."""
        self.find_suggestions()

    def snapshot_shown(self) -> None:
        """Another state has other facts, and other suggestions."""
        self.follow_facts()
        self.find_suggestions()

    @background("suggestions", exclusive=True)
    async def find_suggestions(self) -> None:
        """Looks for notes that might be linked to the one shown."""
        note_id = self.view.note_id
        # Somebody who holds an arrow key down passes over many notes.
        await asyncio.sleep(_PAUSE)
        note = self.view.find(note_id)
        if not self.view.loaded or note is None:
            return
        from nuggets_tui.widgets.note_view import origin_of

        session = self.main.session_of(note_id)
        found = await session.suggestions(self.view.holder(note_id), note_id)
        if note_id == self.view.note_id:
            self.main.show(suggested=found)
        # The log may be in use for a while; the suggestions do not wait for it.
        origin = await run_in_thread(origin_of, session.memory, note)
        if session is self.main.open_session:
            origin = await self.main.pipeline.with_trail(origin, note)
        if note_id == self.view.note_id and origin != self.view.origin:
            self.main.show(origin=origin)

    # Changes from elsewhere

    def notify_change(self, before: Note | None, after: Snapshot) -> None:
        """Says who changed, hid or deleted the note shown, unless it was the person at the keyboard; of all else the
        log tells. before: the note as it was shown.
        """
        if before is None or self.view.past is not None or not self.view.loaded:
            return
        said = _what_became_of(before, after.by_id.get(before.id))
        told, at = self._last_notified
        if said and not (told == f"{said} {before.id}" and time.monotonic() - at < _AGAIN):
            self._notify_unless_own(before, said)

    @background("elsewhere", exclusive=True)
    async def _notify_unless_own(self, note: Note, said: str) -> None:
        memory = self.session.memory
        try:
            makers = await run_in_thread(memory.history.makers, note.id)
        except NuggetsError:
            makers = ()
        author: Author = makers[-1][0] if makers else PROGRAM
        if author == memory.author:
            return
        self._last_notified = f"{said} {note.id}", time.monotonic()
        who, title = safe_line(str(author), _TITLE), safe_line(note.title, _TITLE)
        self.notify(f'"{title}", the note shown, was {said} by {who}.')


def _what_became_of(before: Note, after: Note | None) -> str:
    """What became of a note, as a participle; "" when it says what it said, recalls left out."""
    if after is None:
        return "deleted"
    if before.hidden != after.hidden:
        return "hidden" if after.hidden else "brought back"
    counted = {"hits": 0, "last_hit_session": "", "last_accessed_at": "", "updated_at": ""}
    return "" if replace(before, **counted) == replace(after, **counted) else "changed"


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


# Many terminals take no longer OSC 52 sequence than 100,000 bytes, of which base64 leaves three quarters.
_MOST_BYTES: Final = 74_994


class FilesController(Controller):
    """Hands something to the terminal or to an editor."""

    # The clipboard

    def copy(self) -> None:
        """The text goes to the clipboard, through the terminal; of several notes each under its title."""
        notes = self.main.selection.targets()
        if not notes:
            return
        if len(notes) > 1:
            text = "\n\n".join(f"## {note.title}\n\n{note.content}" for note in notes)
            self._copy(text, f"the texts of {len(notes):,} selected: {plural(len(text), 'character')}")
            return
        text = notes[0].content
        lines = text.count("\n") + 1
        self._copy(text, f"the text: {plural(len(text), 'character')}, {plural(lines, 'line')}")

    def copy_reference(self) -> None:
        """Id and title of the note, as commands and people name it."""
        note = self.main.selection.target()
        if note is not None:
            self._copy(
                f"{safe_line(note.id)} {safe_line(note.title)}", f"{safe_line(note.id, 80)} and the title"
            )

    def _copy(self, text: str, said: str) -> None:
        # As it is shown: what a terminal or shell would obey, reorder or hide when it is pasted goes nowhere.
        text = text.replace("\r\n", "\n")
        harmless = plain(text)
        changed = sum(before != after for before, after in zip(text, harmless, strict=True))
        self.app.copy_to_clipboard(harmless)
        more = f" Replaced {plural(changed, 'control or invisible character')}." if changed else ""
        size = len(harmless.encode())
        if size > _MOST_BYTES:
            self.warn(
                f"Copied {said}.{more} Some terminals take only 75,000 bytes. If nothing arrives, "
                f"{self.view.keys.key('edit_outside')} opens the text in $EDITOR.",
            )
        else:
            self.notify(f"Copied {said}.{more}")

    # Files

    @background("open")
    async def open_named(self) -> None:
        """The file that the note speaks of; a list of them where there are several."""
        from nuggets_tui.file_opening import files_named

        note = self.main.selection.target()
        folder = self._folder()
        if note is None or folder is None:
            return
        named = await run_in_thread(files_named, note.content, folder, self._stale(note.id))
        there = [one for one in named if one.path is not None]
        if not named:
            self.notify("This note names no file, such as src/auth.ts:47.")
        elif not there:
            self._notify_not_found(named, folder)
        elif len(there) == 1 and not there[0].surprising:
            await self._open(there[0])
        else:
            await self._choose(named, folder)

    @background("open")
    async def find_and_open(self, reference: FileReference) -> None:
        """A file that was clicked in Note."""
        from nuggets_tui.file_opening import find, now_at

        folder = self._folder()
        if folder is None:
            return
        found = await run_in_thread(find, now_at(reference, self._stale(self.view.note_id)), folder)
        if found.path is None:
            self._notify_not_found([found], folder)
        elif found.surprising:
            await self._choose([found], folder)
        else:
            await self._open(found)

    def _stale(self, note_id: str) -> Sequence[Standing]:
        known = self.view.stale.get(note_id)
        return known.references if known is not None else ()

    def _folder(self) -> Path | None:
        try:
            return Path.cwd()
        except OSError:
            self.warn(
                "The folder where you started the app no longer exists. Start the app in the "
                "project's folder."
            )
            return None

    def _notify_not_found(self, named: list[Found], folder: Path) -> None:
        from nuggets_tui.file_opening import roots_of

        first = cut(named[0].reference.path, _TITLE)
        others = f" and {plural(len(named) - 1, 'other')}" if len(named) > 1 else ""
        places = " and ".join(cut(str(root), _TITLE) for root in roots_of(folder))
        self.warn(
            f"Cannot find {first}{others} in {places}. Start the app in the project's folder.",
        )

    async def _choose(self, named: list[Found], folder: Path) -> None:
        from nuggets_tui.screens.dialog import file_choice

        key = await self.ask(file_choice(named))
        one = named[int(key)] if key is not None else None
        if one is not None and one.path is not None:
            await self._open(one)
        elif one is not None:
            self._notify_not_found([one], folder)

    async def _open(self, found: Found) -> None:
        from nuggets_tui.file_opening import open_at

        assert found.path is not None
        try:
            await open_at(self.app, found.path, found.reference.line, found.reference.column)
        except NuggetsError as error:
            self.notify_error(error)
