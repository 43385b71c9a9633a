"""Texts that were not saved: kept while they are typed, offered at the start and where somebody goes on with them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from core.errors import NotFoundError
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.pace import run_in_thread
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.model.note import Note
    from core.model.snapshot import Snapshot
    from core.unsaved import Offered, Unsaved, UnsavedFile, UnsavedTexts
    from nuggets_tui.screens.main import MainScreen
    from nuggets_tui.screens.typed import TypedTextStore


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
        from nuggets_tui.screens.unsaved import AS_IT_IS, UnsavedScreen

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
