"""Texts that were not saved: kept while they are typed, offered at the start and where somebody goes on with them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textual import work

from core.errors import NotFoundError
from nuggets_tui.notices import say
from nuggets_tui.screens.main_changes import MainChanges
from nuggets_tui.threads import aside
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.model.note import Note
    from core.model.snapshot import Snapshot
    from core.unsaved import Kept, Offered, Unsaved, UnsavedTexts
    from nuggets_tui.application import NuggetsApp
    from nuggets_tui.keeping import Keeping
    from nuggets_tui.screens.main import MainScreen


class MainUnsaved(MainChanges):
    """Brings back what was typed and not saved."""

    _offered: tuple[Offered, ...] = ()
    # Whether it is known if there is a place for texts.
    _texts_known = False

    def open_another(self, home: Path, notice: str) -> None:
        """Another memory has other texts."""
        self._let_texts_go()
        super().open_another(home, notice)

    def on_unmount(self) -> None:
        """What is not saved is there for the next app."""
        self._let_texts_go()

    def _let_texts_go(self) -> None:
        texts, self.texts, self._offered, self._texts_known = self.texts, None, (), False
        if texts is not None:
            texts.close()

    def _after_first_frame(self) -> None:
        super()._after_first_frame()
        self._find_unsaved()

    @work(group="unsaved", exclusive=True, exit_on_error=False)
    async def _find_unsaved(self) -> None:
        """Looks for texts that a crash left, and offers them."""
        await aside(import_module, "core.unsaved")
        self._open_texts()
        await self._look_for_offers()
        if self._offered and self.app.screen is self and not self._typing:
            self._show_offers(self._offered)
        elif self._offered:
            say(self, f"{plural(len(self._offered), 'text')} not saved yet: ^p “unsaved” goes on with it.")

    def _open_texts(self) -> None:
        if self._texts_known:
            return
        from core.unsaved import UnsavedTexts

        app: NuggetsApp = self.app  # type: ignore[assignment]
        home = self.desk.memory.home
        # What is typed in a copy of the demo goes with it.
        self.texts = None if app.is_copy(home) else UnsavedTexts.of(home)
        self._texts_known = True

    def keeping(
        self, kind: str, about: str = "", title: str = "", own_title: str = "title"
    ) -> Keeping | None:
        """As in every state; whoever types at once is not too early."""
        self._open_texts()
        return super().keeping(kind, about, title, own_title)

    def on_screen_resume(self) -> None:
        """A text may have been put aside."""
        if self.texts is not None:
            self._follow_offers()

    @work(group="unsaved", exclusive=True, exit_on_error=False)
    async def _follow_offers(self) -> None:
        await self._look_for_offers()

    async def _look_for_offers(self) -> None:
        if self.texts is not None:
            self._offered = await aside(_open_offers, self.texts, self.desk.snapshot)

    # Choosing one

    def do_unsaved(self) -> None:
        """The texts that are not saved yet."""
        self._choose_unsaved()

    @work(group="change", exit_on_error=False)
    async def _choose_unsaved(self) -> None:
        await self._look_for_offers()
        if self._offered:
            self._show_offers(self._offered)
        else:
            say(self, "Everything you typed is saved, or was let go.")

    def do_edit(self) -> None:
        """Goes on with a text of this note, if one waits."""
        note = self.target()
        waiting = [one for one in self._offered if (one.unsaved.kind, one.unsaved.about) == ("note", note.id)]
        if waiting:
            self._show_offers(waiting, of_note=True)
        else:
            super().do_edit()

    def _show_offers(self, offered: Sequence[Offered], *, of_note: bool = False) -> None:
        from nuggets_tui.screens.unsaved import AS_IT_IS, UnsavedScreen

        assert self.texts is not None

        def answered(answer: Offered | str | None) -> None:
            if answer == AS_IT_IS:
                super(MainUnsaved, self).do_edit()
            elif answer is not None and not isinstance(answer, str):
                self._go_on_with(answer)

        screen = UnsavedScreen(self.texts, offered, self.desk.clock(), of_note=of_note)
        self.app.push_screen(screen, answered)

    @work(group="change", exit_on_error=False)
    async def _go_on_with(self, offered: Offered) -> None:
        if self.texts is None:
            return
        taken = await self.attempt(aside(_taken, self.texts, offered))
        if taken is None:
            return
        kept = taken[0]
        if kept is None:
            say(self, "Another window goes on with it already.")
            return
        unsaved = offered.unsaved
        if unsaved.kind == "conflict" and await self._resume_conflict(unsaved, kept):
            return
        note = self.desk.snapshot.by_id.get(unsaved.about)
        if unsaved.kind == "text":
            cast("MainScreen", self).pipeline.resume_hand_in(unsaved.values, self._kept(kept, unsaved))
        elif unsaved.kind == "fact":
            self._resume_fact(unsaved, kept)
        elif note is not None:
            self._resume_note(note, unsaved, kept)
        else:
            if unsaved.about:
                say(self, "What it was about is gone. Your text stands in a new note.")
            typed = {**unsaved.values, "text": unsaved.values.get("text", unsaved.values.get("result", ""))}
            typed.setdefault("title", unsaved.title)
            self.push_editor(None, typed, keeping=self._kept(kept, unsaved, "note", about="", title=""))

    def _kept(
        self,
        kept: Kept,
        unsaved: Unsaved,
        kind: str = "",
        *,
        about: str | None = None,
        title: str | None = None,
    ) -> Keeping:
        from nuggets_tui.keeping import Keeping

        own_title = "key" if unsaved.kind == "fact" else "title"
        return Keeping(
            kept,
            self.desk.clock,
            kind or unsaved.kind,
            unsaved.about if about is None else about,
            (unsaved.title if unsaved.about else "") if title is None else title,
            own_title,
        )

    def _resume_fact(self, unsaved: Unsaved, kept: Kept) -> None:
        from nuggets_tui.screens.forms import fact_form

        nugget = unsaved.begun.get("nugget", "")
        form = fact_form(self.desk, nugget, typed=unsaved.values, keeping=self._kept(kept, unsaved))
        self.app.push_screen(form, self._edited)

    def _resume_note(self, note: Note, unsaved: Unsaved, kept: Kept) -> None:
        from nuggets_tui.keeping import as_begun
        from nuggets_tui.screens.forms import tags_form

        # As it was then: what another program changed since is a conflict, not overwritten.
        base, former = as_begun(self.desk.snapshot, note, unsaved.begun)
        keeping = self._kept(kept, unsaved)
        self.show_note(note.id, follow=True)
        if unsaved.kind == "tags":
            form = tags_form(self.desk, base, former, typed=unsaved.values, keeping=keeping)
            self.app.push_screen(form, self._edited)
        else:
            self.push_editor(former, unsaved.values, base=base, keeping=keeping)

    async def _resume_conflict(self, unsaved: Unsaved, kept: Kept) -> bool:
        """Goes on with the result of a conflict; False when it is settled meanwhile."""
        from nuggets_tui.screens.conflict import ConflictScreen

        try:
            clash = await self.desk.clash(unsaved.about)
        except NotFoundError:
            return False
        if clash.entry.state != "conflict" or not clash.textual:
            return False
        screen = ConflictScreen(self.desk, clash, typed=unsaved.values, keeping=self._kept(kept, unsaved))
        self.app.push_screen(screen, self._settled)
        return True


def _taken(texts: UnsavedTexts, offered: Offered) -> tuple[Kept | None]:
    return (texts.take(offered),)


def _open_offers(texts: UnsavedTexts, snapshot: Snapshot) -> tuple[Offered, ...]:
    """What is offered; texts that were saved in the instant before a crash are let go."""
    from nuggets_tui.keeping import is_saved

    offered = []
    for one in texts.offered():
        if is_saved(one.unsaved, snapshot):
            texts.let_go(one)
        elif one.unsaved.changed:
            offered.append(one)
    return tuple(offered)
