"""The daily pass, and lines for MEMORY.md: proposed and reviewed, and whether the pass may write them by itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from core.errors import NuggetsError
from core.model.change import ChangeSet
from nuggets_tui.controllers.controller import Controller, background
from nuggets_tui.pace import LongWork, StoppedError
from nuggets_tui.session import Session

if TYPE_CHECKING:
    from core.daily import DailyResult
    from core.model.snapshot import Snapshot
    from core.promotion import PromotionResult
    from core.reflection import ReflectionResult
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
        from nuggets_tui.screens.dialog import ANOTHER, target_choice
        from nuggets_tui.screens.forms import folder_screen

        targets = await self.attempt(self.session.read(self.session.memory.promotion.targets))
        if targets is None:
            return
        there = [target for target in targets if target.there]
        folder: str | None = ANOTHER
        if len(targets) == 1 and there and there[0].current:
            await self._promote_to(None)
            return
        if there:
            folder = await self.ask(target_choice(targets, self.session.clock()))
        if folder == ANOTHER:
            folder = await self.ask(folder_screen(self._memory_folder))
            self._memory_folder = folder or self._memory_folder
        if folder is not None:
            await self._promote_to(folder)

    async def _promote_to(self, folder: str | None) -> None:
        from nuggets_tui.screens.share_review import PromotionReview, worth_showing

        session = self.session
        promote = session.memory.promotion.promote
        result = await self.look(
            "looking for notes to promote",
            lambda work: session.read(
                promote, dry_run=True, memory_dir=folder, progress=work.report_progress
            ),
        )
        if result is None:
            return
        if worth_showing(result):
            done = await self.ask(PromotionReview(session, result))
            self.main.history.reviewed(done)
        else:
            self.notify(f"Nothing to promote: {result.path} is up to date.")

    # Whether the pass may write MEMORY.md

    @background("promotable", exclusive=True)
    async def refresh(self, *, ask: bool = False) -> None:
        """Shows what waits for the person's word; after a pass of this window the question itself, once."""
        from core.daily import lines_of, pending_promotion

        session = self.session
        result = await self.attempt(session.read(pending_promotion, session.memory))
        if session is not self.main.open_session or not self.main.is_mounted:
            return
        self.main.show(promotable=lines_of(result) if result is not None else 0)
        if result is not None and ask and not self._question_shown and self.main.is_active:
            self._question_shown = True
            self._ask(result)

    @background("open")
    async def ask_again(self) -> None:
        """Asks whether the pass may promote; says what holds where that was said before."""
        from core.daily import pending_promotion, promotes_by

        result = await self.attempt(self.session.read(pending_promotion, self.session.memory))
        if result is not None:
            self._ask(result)
            return
        mode = promotes_by(self.session.memory.settings)
        said = "Nothing to promote now." if mode == "ask" else f"Automatic promotion: {mode}."
        self.notify(f"{said} To change it, set promotion.automatic in settings.toml.")

    @background("open")
    async def _ask(self, result: PromotionResult) -> None:
        from core.daily import answer_promotion
        from nuggets_tui.screens.dialog import SHOW, automatic_choice

        session = self.session
        answer = await self.ask(automatic_choice(result))
        if answer not in (None, SHOW):
            done = await self.attempt(session.write(answer_promotion, session.memory, answer, result.path))
            if done is None:
                return
            self.main.show(promotable=0)
            writes = "does not write" if answer == "never" else "now writes"
            self.main.history.changed(done, f"The daily pass {writes} MEMORY.md")
        if answer not in (None, "never"):
            # What waits now is what the person was asked about.
            await self._promote_to(os.path.dirname(result.path))


_EVERY: Final = 60.0
_SOON: Final = 0.25
# Notes of a memory whose proposals are counted: a pass looks through them in half a second.
_MOST_COUNTED: Final = 5_000


class DailyController(Controller):
    """Looks now and then, never before the first frame, whether the daily pass waits."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self._asked_of: Session | None = None
        self._refreshing = False
        # The session in which somebody closed the review without a decision: the app does not decide for them.
        self._left: Session | None = None
        # What kept the app from running the pass, said once.
        self._trouble: tuple[object, ...] = ()
        # The pass after which the app looked for what to promote.
        self._checked_pass = ""
        # Counting what the pass would propose, and what it was counted on.
        self._counting: LongWork | None = None
        self._counted_on: Snapshot | None = None

    def mounted(self) -> None:
        """Looks once a minute: the day goes on while the app is open."""
        self.main.set_interval(_EVERY, self.refresh)

    def snapshot_shown(self) -> None:
        """The first time of a memory looks whether its pass waits."""
        if self._asked_of is not self.main.open_session:
            self._asked_of = self.main.open_session
            self.refresh()

    def reflection_reviewed(self, result: ReflectionResult, written: ChangeSet | None) -> None:
        """A person looked through a reflection and had so much of it written: that was the pass of today."""
        self._show_due(False)
        self._count(result.inspected, written)
        self.main.promotion.refresh(ask=True)

    def reflection_left(self) -> None:
        """A person closed the review without deciding anything: the pass waits on, as it did before."""
        self._left = self.main.open_session

    @background("daily")
    async def _count(self, inspected: int, written: ChangeSet | None) -> None:
        counts = {"inspected": inspected} | ({"changed": written.size} if written is not None else {})
        from core.daily import count_as_daily

        await self.attempt(
            self.session.write(count_as_daily, self.session.memory, self.session.clock(), counts)
        )

    @background("daily")
    async def refresh(self) -> None:
        """Shows whether the pass waits, or runs it where the app may."""
        session = self.main.open_session
        if self._refreshing or session is None or not self.view.loaded or self.view.trouble:
            return
        self._refreshing = True
        try:
            from core.daily import daily_state

            state = await session.read(daily_state, session.memory.home, session.clock())
            waits = state.waits_for_a_person and not (self.view.empty or self.view.snapshot.read_only)
            if session is not self.main.open_session or not self.main.is_mounted:
                return
            # Nothing changes under the hands of somebody who is in the middle of something.
            unattended = state.due and state.app_applies and self._left is not session
            if waits and unattended and self.main.is_active:
                waits = not await self._run_pass(session)
            if session is self.main.open_session:
                self._show_due(waits)
                if state.last is not None and state.last.at != self._checked_pass:
                    self._checked_pass = state.last.at
                    self.main.promotion.refresh()
        except NuggetsError:
            # Settings or log that cannot be read just now are told elsewhere.
            self._show_due(False)
        finally:
            self._refreshing = False

    async def _run_pass(self, session: Session) -> bool:
        """Whether the pass ran, here or elsewhere."""
        from core.daily import run_daily_pass

        self.main.show(busy="daily reflection …")
        try:
            result = await session.write(lambda: run_daily_pass(session.memory))
        except NuggetsError as error:
            if error.identity != self._trouble:
                self._trouble = error.identity
                self.notify_error(error)
            return False
        finally:
            self.main.show(busy="")
        if session is self.main.open_session and result.ran:
            self._notify_result(result)
            self.main.promotion.refresh(ask=True)
        return result.reflection is not None or result.why_not != ""

    def _notify_result(self, result: DailyResult) -> None:
        if result.reflection is not None:
            promoted = any(not promotion.change_set.empty for promotion in result.promotions)
            undo = self.view.keys.key("undo")
            key = f"{undo} undoes the promotion, {undo} again the rest" if promoted else ""
            self.main.history.changed(
                result.reflection.change_set, f"The daily reflection {result.summary}", key
            )
        for problem in result.problems:
            if problem.identity != self._trouble:
                self._trouble = problem.identity
                from nuggets_tui.notices import message

                self.warn(message(problem, self.view.keys))

    def _show_due(self, waits: bool) -> None:
        if waits != self.view.reflection_due:
            self.main.show(reflection_due=waits, proposed=0)
        if waits:
            self._count_once_at_rest()

    def _count_once_at_rest(self) -> None:
        if not self.main.complete:
            self.main.set_timer(_SOON, self._count_once_at_rest)
        elif self.view.reflection_due and self._counted_on is not self.view.snapshot:
            self._count_proposed()

    @background("daily")
    async def _count_proposed(self) -> None:
        """Looks how many changes the pass would propose, in the background and as long as nothing else wants to go
        on. Of a large memory that would take too long for a number.
        """
        session, snapshot = self.session, self.view.snapshot
        if self._counting is not None or self.view.past is not None or len(snapshot.visible) > _MOST_COUNTED:
            return
        self._counted_on, self._counting = snapshot, LongWork("counting", asked_for=False)
        try:
            result = await session.read(
                session.memory.reflect, dry_run=True, progress=self._counting.report_progress
            )
        except (NuggetsError, StoppedError):
            # Pressing the key tells what is the matter.
            return
        finally:
            self._counting = None
        if session is self.main.open_session and self.view.reflection_due:
            self.main.show(proposed=len(result.changes))
