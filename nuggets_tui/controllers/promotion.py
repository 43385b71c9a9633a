"""Lines for MEMORY.md: proposed and reviewed, and whether the daily pass may write them by itself."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.long_work import LongWork

if TYPE_CHECKING:
    from core.promotion import PromotionResult
    from nuggets_tui.screens.main import MainScreen


class PromotionController(Controller):
    """Promotes, and asks whether the daily pass may."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        # The folder of MEMORY.md that was typed last; asked for where nothing else names it.
        self._memory_folder = ""
        # Whether this window asked if the pass may promote.
        self._question_shown = False

    @background("open")
    async def promote(self) -> None:
        """Proposes lines for MEMORY.md; asks which one where several are known, or none."""
        from nuggets_tui.screens.choice import target_choice

        targets = await self.attempt(self.session.read(self.session.memory.promotion.targets))
        if targets is None:
            return
        there = [target for target in targets if target.there]
        if not there:
            self._ask_folder()
        elif len(targets) == 1 and there[0].current:
            self._promote_to(None)
        else:
            self.app.push_screen(target_choice(targets, self.session.clock()), self._target_chosen)

    def _target_chosen(self, folder: str | None) -> None:
        from nuggets_tui.screens.choice import ANOTHER

        if folder == ANOTHER:
            self._ask_folder()
        elif folder is not None:
            self._promote_to(folder)

    def _ask_folder(self) -> None:
        from nuggets_tui.screens.forms import folder_screen

        self.app.push_screen(folder_screen(self._memory_folder), self._folder_typed)

    def _folder_typed(self, folder: str | None) -> None:
        if folder:
            self._memory_folder = folder
            self._promote_to(folder)

    @background("open")
    async def _promote_to(self, folder: str | None) -> None:
        from nuggets_tui.screens.promotion_review import PromotionReview, worth_showing

        looking = LongWork("looking for notes to promote")
        result = await self.long_work(
            looking.words,
            self.session.read(
                self.session.memory.promotion.promote,
                dry_run=True,
                memory_dir=folder,
                progress=looking.report_progress,
            ),
            looking,
        )
        if result is None:
            return
        if worth_showing(result):
            self.app.push_screen(PromotionReview(self.session, result), self.main.history.reviewed)
        else:
            self.notify(f"Nothing to promote: {result.path} is up to date.")

    # Whether the pass may write MEMORY.md

    @background("promotable", exclusive=True)
    async def refresh(self, *, ask: bool = False) -> None:
        """Shows what waits for the person's word; after a pass of this window the question itself, once."""
        from core.daily import pending_promotion

        session = self.session
        result = await self.attempt(session.read(pending_promotion, session.memory))
        if session is not self.main.open_session or not self.main.is_mounted:
            return
        from core.daily import lines_of

        self.main.show(promotable=lines_of(result) if result is not None else 0)
        if result is not None and ask and not self._question_shown and self.main.is_active:
            self._question_shown = True
            self._ask(result)

    @background("open")
    async def ask_again(self) -> None:
        """Asks whether the pass may promote; says what holds where that was said before."""
        from core.daily import pending_promotion

        result = await self.attempt(self.session.read(pending_promotion, self.session.memory))
        if result is not None:
            self._ask(result)
            return
        from core.daily import promotes_by

        mode = promotes_by(self.session.memory.settings)
        said = "Nothing to promote now." if mode == "ask" else f"Automatic promotion: {mode}."
        self.notify(f"{said} To change it, set promotion.automatic in settings.toml.")

    def _ask(self, result: PromotionResult) -> None:
        from nuggets_tui.screens.choice import automatic_choice

        self.app.push_screen(automatic_choice(result), partial(self._answered, result))

    def _answered(self, result: PromotionResult, answer: str | None) -> None:
        from nuggets_tui.screens.choice import SHOW

        if answer == SHOW:
            self._promote_to(os.path.dirname(result.path))
        elif answer is not None:
            self._remember_answer(result, answer)

    @background("change")
    async def _remember_answer(self, result: PromotionResult, answer: str) -> None:
        from core.daily import answer_promotion

        done = await self.attempt(
            self.session.write(answer_promotion, self.session.memory, answer, result.path)
        )
        if done is None:
            return
        self.main.show(promotable=0)
        said = (
            "The daily pass does not write MEMORY.md"
            if answer == "never"
            else "Each daily pass now writes MEMORY.md"
        )
        self.main.history.changed(done, said)
        if answer != "never":
            # What waits now is what the person was asked about.
            self._promote_to(os.path.dirname(result.path))
