"""The daily pass in the app: a badge while it waits for a person, or run by the app itself where that is allowed."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Final

from textual import work

from core.errors import NuggetsError
from core.model.change import ChangeSet
from nuggets_tui.desk import Desk
from nuggets_tui.long_work import LongWork, StoppedError
from nuggets_tui.notices import say, say_error, warn
from nuggets_tui.screens.main_history import MainHistory

if TYPE_CHECKING:
    from core.daily import DailyResult
    from core.model.snapshot import Snapshot
    from core.promotion import PromotionResult
    from core.reflection import ReflectionResult

_EVERY: Final = 60.0
_SOON: Final = 0.25
# Notes of a memory whose proposals are counted: a pass looks through them in half a second.
_MOST_COUNTED: Final = 5_000


class MainDaily(MainHistory):
    """Looks now and then, never before the first frame, whether the daily pass waits."""

    _asked_of: Desk | None = None
    _looking = False
    # What kept the app from running the pass, said once.
    _daily_trouble = ""
    # Whether this window asked if the pass may promote, and the pass after which it looked for what to ask about.
    _asked_to_promote = False
    _looked_after = ""
    # Counting what the pass would propose, and what it was counted on.
    _counting: LongWork | None = None
    _counted_on: Snapshot | None = None

    def on_mount(self) -> None:
        """Looks once a minute: the day goes on while the app is open."""
        self.set_interval(_EVERY, self.look_at_daily_pass)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """As before; the first time of a memory also looks whether its pass waits."""
        super().show_snapshot(snapshot)
        if self._asked_of is not self._desk:
            self._asked_of = self._desk
            self.look_at_daily_pass()

    def looked_through(self, result: ReflectionResult, written: ChangeSet | None) -> None:
        """A person looked through a reflection and had so much of it written: that was the pass of today."""
        self._show_due(False)
        self._count(result.inspected, written)
        self.look_what_to_promote(ask=True)

    @work(group="daily", exit_on_error=False)
    async def _count(self, inspected: int, written: ChangeSet | None) -> None:
        counts = {"inspected": inspected} | ({"changed": written.size} if written is not None else {})
        await self.attempt(self.desk.count_as_daily(counts))

    # Whether the pass may write MEMORY.md

    @work(group="promotable", exclusive=True, exit_on_error=False)
    async def look_what_to_promote(self, *, ask: bool = False) -> None:
        """Shows what waits for the person's word; after a pass of this window the question itself, once."""
        desk = self.desk
        result = await self.attempt(desk.waiting_promotion())
        if desk is not self._desk or not self.is_mounted:
            return
        from core.daily import lines_of

        self.view = self.view.with_(promotable=lines_of(result) if result is not None else 0)
        if result is not None and ask and not self._asked_to_promote and self.app.screen is self:
            self._asked_to_promote = True
            self._ask_to_promote(result)

    @work(group="open", exit_on_error=False)
    async def do_automatic(self) -> None:
        """Asks whether the pass may promote; says what holds where that was said before."""
        result = await self.attempt(self.desk.waiting_promotion())
        if result is not None:
            self._ask_to_promote(result)
            return
        from core.daily import promotes_by

        mode = promotes_by(self.desk.memory.settings)
        said = "Nothing waits to be promoted." if mode == "ask" else f"The daily pass promotes: {mode}."
        say(self, f"{said} promotion.automatic in settings.toml is where that is said.")

    def _ask_to_promote(self, result: PromotionResult) -> None:
        from nuggets_tui.screens.automatic import AutomaticScreen

        self.app.push_screen(AutomaticScreen(result), partial(self._promotion_answered, result))

    def _promotion_answered(self, result: PromotionResult, answer: str | None) -> None:
        from nuggets_tui.screens.automatic import SHOW

        if answer == SHOW:
            self.promote_to(os.path.dirname(result.path))
        elif answer is not None:
            self._remember_answer(result, answer)

    def promote_to(self, folder: str | None) -> None:
        """Reviews what is promoted to the MEMORY.md of a folder."""
        raise NotImplementedError

    @work(group="change", exit_on_error=False)
    async def _remember_answer(self, result: PromotionResult, answer: str) -> None:
        done = await self.attempt(self.desk.answer_promotion(answer, result.path))
        if done is None:
            return
        self.view = self.view.with_(promotable=0)
        said = (
            "The daily pass leaves MEMORY.md alone"
            if answer == "never"
            else "Each daily pass promotes from now on"
        )
        self.changed(done, said)
        if answer != "never":
            # What waits now is what the person was asked about.
            self.promote_to(os.path.dirname(result.path))

    @work(group="daily", exit_on_error=False)
    async def look_at_daily_pass(self) -> None:
        """Shows whether the pass waits, or runs it where the app may."""
        desk = self._desk
        if self._looking or desk is None or not self.view.loaded or self.view.trouble:
            return
        self._looking = True
        try:
            state = await desk.daily_state()
            waits = state.waits_for_a_person and not (self.view.empty or self.view.snapshot.read_only)
            if desk is not self._desk or not self.is_mounted:
                return
            # Nothing changes under the hands of somebody who is in the middle of something.
            if waits and state.app_applies and self.app.screen is self:
                waits = not await self._run_pass(desk)
            if desk is self._desk:
                self._show_due(waits)
                if state.last is not None and state.last.at != self._looked_after:
                    self._looked_after = state.last.at
                    self.look_what_to_promote()
        except NuggetsError:
            # Settings or log that cannot be read just now are told elsewhere.
            self._show_due(False)
        finally:
            self._looking = False

    async def _run_pass(self, desk: Desk) -> bool:
        """Whether the pass ran, here or elsewhere."""
        self.view = self.view.with_(busy="reflecting, as once a day …")
        try:
            result = await desk.daily_pass()
        except NuggetsError as error:
            if error.message != self._daily_trouble:
                self._daily_trouble = error.message
                say_error(self, error)
            return False
        finally:
            self.view = self.view.with_(busy="")
        if desk is self._desk and result.ran:
            self._tell(result)
            self.look_what_to_promote(ask=True)
        return result.reflection is not None or result.why_not != ""

    def _tell(self, result: DailyResult) -> None:
        if result.reflection is not None:
            promoted = any(not promotion.change_set.empty for promotion in result.promotions)
            undo = self.view.keys.key("undo")
            key = f"{undo} takes back what was promoted, {undo} again the rest" if promoted else ""
            self.changed(result.reflection.change_set, f"The daily reflection {result.told}", key)
        for problem in result.problems:
            if problem.message != self._daily_trouble:
                self._daily_trouble = problem.message
                warn(self, problem.message)

    def _show_due(self, waits: bool) -> None:
        if waits != self.view.reflection_due:
            self.view = self.view.with_(reflection_due=waits, proposed=0)
        if waits:
            self._count_once_at_rest()

    def _count_once_at_rest(self) -> None:
        if not self.complete:
            self.set_timer(_SOON, self._count_once_at_rest)
        elif self.view.reflection_due and self._counted_on is not self.view.snapshot:
            self._count_proposed()

    @work(group="daily", exit_on_error=False)
    async def _count_proposed(self) -> None:
        """Looks how many changes the pass would propose, in the background and as long as nothing else wants to go
        on. Of a large memory that would take too long for a number.
        """
        desk, snapshot = self.desk, self.view.snapshot
        if self._counting is not None or self.view.past is not None or len(snapshot.visible) > _MOST_COUNTED:
            return
        self._counted_on, self._counting = snapshot, LongWork("counting", asked_for=False)
        try:
            result = await desk.reflection(self._counting.told)
        except (NuggetsError, StoppedError):
            # Pressing the key tells what is the matter.
            return
        finally:
            self._counting = None
        if desk is self._desk and self.view.reflection_due:
            self.view = self.view.with_(proposed=len(result.changes))
