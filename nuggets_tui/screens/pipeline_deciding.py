"""What the Pipeline screen does when somebody decides: accept, refuse, take back, try again, hand in, pause."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from textual import work

from core.errors import ConflictError, NotFoundError
from nuggets_tui.desk import Desk
from nuggets_tui.notices import say, warn
from nuggets_tui.pipeline_desk import PipelineDesk, PipelineView
from nuggets_tui.safe_text import safe_line
from nuggets_tui.screens.dialog import Dialog
from nuggets_tui.widgets.row_list import RowList
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.model.change import ChangeSet
    from core.pipeline.records import Accepted, StoredProposal
    from nuggets_tui.keeping import Keeping
    from nuggets_tui.screens.review import Reviewed
    from nuggets_tui.waiting import Waiting

_SAID = 60


class PipelineDeciding(Dialog[None]):
    """The decisions. news: told after each that may have changed the memory."""

    def __init__(self, pipeline: PipelineDesk, desk: Desk, news: Callable[[], None]) -> None:
        super().__init__(classes="full")
        self.pipeline = pipeline
        self.desk = desk
        self.now_shown: PipelineView | None = None
        self._news = news
        # Where a text is kept that is typed and not handed in yet.
        self.keeping_of: Callable[[], Keeping | None] = lambda: None
        # Ids of the entries that were written here and are not taken back, the latest last.
        self._done: list[str] = []

    def read(self) -> None:
        """Reads everything anew."""
        raise NotImplementedError

    @property
    def proposals(self) -> RowList:
        """The list of proposals."""
        return self.query_one("#proposals", RowList)

    def _meant(self) -> tuple[StoredProposal, ...]:
        """The open proposals that are selected, else the one under the cursor."""
        known = self.now_shown.proposals if self.now_shown is not None else ()
        row = self.proposals.cursor_row
        ids = self.proposals.selected or ({row.key} if row is not None else set())
        found = tuple(one for one in known if one.id in ids and one.open)
        if not found:
            say(self, "That is decided already." if ids else "No proposal waits.")
        return found

    # Proposals

    def action_accept(self) -> None:
        """Accepts what is meant; several of them are looked through before."""
        meant = self._meant()
        if len(meant) == 1:
            self._accept(meant[0])
        elif meant:
            self.review(meant)

    @work(group="decide", exit_on_error=False)
    async def _accept(self, proposal: StoredProposal) -> None:
        done = await self.attempt(self.pipeline.accept((proposal.id,)))
        if done is None:
            return
        self._tell(done, f"Accepted “{safe_line(proposal.content or proposal.target_content, _SAID)}”")
        self.proposals.clear_selection()

    def _tell(self, done: Accepted, said: str) -> None:
        from nuggets_tui.screens.pipeline_review import told

        if done.change_set is not None and not done.change_set.empty:
            self._done.append(done.change_set.id)
            say(self, f"{said}. u takes it back.")
        else:
            words = told(done)
            say(self, f"{words[:1].upper()}{words[1:]}.")
        self._news()
        self.read()

    @work(group="open", exclusive=True, exit_on_error=False)
    async def review(self, proposals: Collection[StoredProposal]) -> None:
        """The review screen over some proposals."""
        from nuggets_tui.screens.pipeline_review import ProposalsReview

        raws = await self.attempt(self.pipeline.raws({one.raw_id for one in proposals}))
        if raws is not None:
            now = self.desk.clock()
            review = ProposalsReview(self.pipeline, self.desk, tuple(proposals), raws, now)
            self.app.push_screen(review, self._reviewed)

    def _reviewed(self, done: Reviewed | Waiting | None) -> None:
        if not isinstance(done, tuple):
            return
        change_set, said = done
        if not change_set.empty:
            self._done.append(change_set.id)
            said += ". u takes back what was written"
        say(self, f"{said}.")
        self.proposals.clear_selection()
        self._news()
        self.read()

    def action_above(self) -> None:
        """Reviews all that are sure enough."""
        from nuggets_tui.screens.pipeline_review import AboveScreen

        waiting = self.now_shown.status.proposals_open if self.now_shown is not None else 0
        if not waiting:
            say(self, "No proposal waits.")
            return
        self.app.push_screen(AboveScreen(self.pipeline, waiting), self._above)

    def _above(self, ids: tuple[str, ...] | None) -> None:
        if ids and self.now_shown is not None:
            wanted = set(ids)
            self.review([one for one in self.now_shown.proposals if one.id in wanted])

    def action_refuse(self) -> None:
        """Refuses what is meant for good; several only when asked once more."""
        meant = self._meant()
        if len(meant) == 1:
            self._refuse(meant)
        elif meant:
            from nuggets_tui.screens.confirm import ConfirmScreen

            said = (
                f"{plural(len(meant), 'proposal')} will not be proposed again. The texts that they come from stay. "
                "This cannot be taken back."
            )
            question = ConfirmScreen(f"Refuse {plural(len(meant), 'proposal')}?", said, yes="refuse them")

            def answered(sure: bool | None) -> None:
                if sure:
                    self._refuse(meant)

            self.app.push_screen(question, answered)

    @work(group="decide", exit_on_error=False)
    async def _refuse(self, proposals: Collection[StoredProposal]) -> None:
        count = await self.attempt(self.pipeline.refuse([one.id for one in proposals]))
        if count is not None:
            self.proposals.clear_selection()
            say(self, f"Refused {plural(count, 'proposal')}: not proposed again. v lists what was decided.")
            self.read()

    @work(group="decide", exclusive=True, exit_on_error=False)
    async def action_undo(self) -> None:
        """Takes back what was written here last, and nothing that was done elsewhere."""
        if not self._done:
            say(self, "There is nothing to take back that was accepted here. The audit log has the rest.")
            return
        done = await self.attempt(self._turned_back(self._done[-1]))
        if done is None:
            return
        self._done.pop()
        if isinstance(done, str):
            warn(self, done)
        else:
            say(self, f"T{safe_line(done.reason, 200)[1:]}.")
        self._news()
        self.read()

    async def _turned_back(self, entry_id: str) -> ChangeSet | str:
        try:
            return await self.desk.undo(entry_id)
        except NotFoundError:
            return "It was taken back already."
        except ConflictError as error:
            from nuggets_tui.clash import in_the_way

            return f"This cannot be taken back as it is. {in_the_way(error, self.desk.snapshot)}"

    # Work

    @work(group="decide", exit_on_error=False)
    async def action_retry(self) -> None:
        """Gives the dead job under the cursor another try."""
        from core.pipeline.records import Job

        row = self.query_one("#work", RowList).cursor_row
        if row is None or not isinstance(row.data, Job):
            return
        if row.data.status not in ("dead", "pending"):
            say(self, "Only what is dead, or rests after a failure, is tried again.")
        elif await self.attempt(self.pipeline.retry(row.data.id)) is not None:
            say(self, "It is tried again.")
            self.read()

    @work(group="decide", exit_on_error=False)
    async def action_retry_all(self) -> None:
        """Gives every dead job another try."""
        count = await self.attempt(self.pipeline.retry_dead()) if self.pipeline.begun else 0
        if count is not None:
            say(self, f"{plural(count, 'dead job')} tried again." if count else "No job is dead.")
            self.read()

    @work(group="decide", exit_on_error=False)
    async def action_pause(self) -> None:
        """Stops the work of all processes, or lets it go on."""
        if not self.pipeline.begun:
            return
        paused = await self.attempt(self.pipeline.pause_or_resume())
        if paused is not None:
            said = (
                "Paused: no program takes up work on this memory until p." if paused else "The work goes on."
            )
            say(self, said)
            self.read()

    def action_hand_in(self) -> None:
        """A text to hand in."""
        from nuggets_tui.screens.pipeline_intake import HandInScreen

        screen = HandInScreen(self.pipeline, self.desk.snapshot, keeping=self.keeping_of())
        self.app.push_screen(screen, self._handed_in)

    def _handed_in(self, said: str | None) -> None:
        if said:
            say(self, said)
            self.read()
