"""Several proposals at once: the review screen over them, and how sure those must be that come into it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from core.errors import InvalidInputError
from core.model.change import ChangeSet
from nuggets_tui.pipeline_session import PipelineSession
from nuggets_tui.pipeline_words import ACTIONS, is_uncertain, reason_of
from nuggets_tui.safe_text import safe_line
from nuggets_tui.screens.review import DecidingReview, Reviewed, ReviewItem
from nuggets_tui.screens.typed import FieldsDialog
from nuggets_tui.session import Session
from nuggets_tui.widgets.fields import Field
from nuggets_tui.widgets.pipeline_details import proposal_lines
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.model.note import Note
    from core.pipeline.records import Accepted, RawMemory, StoredProposal

_TITLE: Final = 200
_SURE: Final = 80


class ProposalsReview(DecidingReview):
    """Proposals to accept, to refuse, or to leave for later; what is accepted is one entry of the log, what is refused
    another one.
    """

    def __init__(
        self,
        pipeline: PipelineSession,
        session: Session,
        proposals: Sequence[StoredProposal],
        raws: Mapping[str, RawMemory],
        now: datetime,
    ) -> None:
        notes = session.snapshot.by_id
        items = [_item(one, raws.get(one.raw_id), notes.get(one.target_note), now) for one in proposals]
        doubtful = [one.id for one in proposals if is_uncertain(one)]
        said = "Nothing is written until you apply. What you refuse (space) is not proposed again."
        if doubtful:
            said += f" {plural(len(doubtful), 'uncertain proposal')}, unticked."
        super().__init__("Proposals to review", said, items, self._written, doubtful=doubtful)
        self._pipeline = pipeline
        # The entry of what was refused, once the review is applied.
        self.refusal: ChangeSet | None = None

    async def _written(self, accepted: Collection[str]) -> Reviewed:
        # Asked before anything is written: what is refused is what is so now.
        refused = self.refused
        done = await self._pipeline.accept(accepted) if accepted else None
        gone = await self._pipeline.refuse(refused) if refused else None
        said = describe_accepted(done) if done is not None else ""
        said = ", ".join(filter(None, (said, f"{gone:,} refused" if gone else "")))
        change_set = done.change_set if done is not None else None
        self.refusal = gone.change_set if gone is not None else None
        return change_set or nothing_written(), f"{said[:1].upper()}{said[1:]}"


def _item(proposal: StoredProposal, raw: RawMemory | None, target: Note | None, now: datetime) -> ReviewItem:
    sign, _, what = ACTIONS.get(proposal.action, ("?", "", proposal.action))
    title = safe_line(proposal.content or proposal.target_content, _TITLE)
    detail = reason_of(proposal, short=True) or f"{proposal.type} · {what}"
    lines = partial(proposal_lines, proposal, raw, target, now)
    return ReviewItem(proposal.id, f"{sign} {proposal.sure:.0%}", title, detail, lines)


def nothing_written() -> ChangeSet:
    """In place of a change set, where nothing came into the memory."""
    from core.model.change import Author

    return ChangeSet(id="", at="", author=Author("pipeline"), reason="")


def describe_accepted(done: Accepted) -> str:
    """What came of accepted proposals, in a clause."""
    parts = [f"{plural(len(done.written), 'proposal')} accepted"] if done.written else []
    if done.waiting:
        parts.append(f"{len(done.waiting):,} accepted, to be written once the files are writable")
    if done.deduped:
        parts.append(f"{len(done.deduped):,} already known")
    if done.skipped:
        reasons = "; ".join(dict.fromkeys(safe_line(why, 100) for _, why in done.skipped[:3]))
        parts.append(f"{len(done.skipped):,} left out ({reasons})")
    return ", ".join(parts) or "nothing left to accept"


class AboveScreen(FieldsDialog[tuple[str, ...]]):
    """Asks how sure a proposal must be, and says how many are; answers with their ids."""

    heading = "Accept above a confidence"
    keys = "⏎  review them · esc  close"
    about = (
        "All open additions with at least this confidence and no objection. You review each "
        "before it is written."
    )

    def __init__(self, pipeline: PipelineSession, waiting: int, changes: int) -> None:
        super().__init__(classes="small")
        self._pipeline = pipeline
        self._waiting = waiting
        self._changes = changes

    def compose_inside(self) -> ComposeResult:
        """The number, and how many it lets through."""
        with Vertical(classes="words"):
            yield Static(
                Content(
                    "Accepts additions with at least this confidence and no objection. You review "
                    "each before it is written."
                    + (
                        f" {plural(self._changes, 'change')} of notes not among them: a takes each, after a look."
                        if self._changes
                        else ""
                    )
                )
            )
        yield Field("Least confidence, in percent", str(_SURE), id="sure", hint="0 to 100")

    def on_mount(self) -> None:
        """The number can be typed over."""
        field = self.query_one("#sure", Input)
        field.focus()
        field.select_all()

    @property
    def begun(self) -> Mapping[str, str]:
        """What stood in the field at first: a number typed is nothing to lose."""
        return self.values

    @on(Input.Changed)
    def count(self) -> None:
        """Says how many there are."""
        self._count()

    @work(group="count", exclusive=True, exit_on_error=False)
    async def _count(self) -> None:
        field = self.query_one("#sure", Field)
        try:
            found = await self._pipeline.above(self._sure())
        except InvalidInputError:
            return
        if field.is_mounted:
            field.remark(f"{len(found):,} of {self._waiting:,}")

    def _sure(self) -> float:
        typed = self.values["sure"].strip().removesuffix("%").strip().replace(",", ".")
        try:
            sure = float(typed)
        except ValueError:
            sure = -1.0
        if not 0 <= sure <= 100:
            raise InvalidInputError("must be a number from 0 to 100", field="sure", where="sure")
        # "0.8" is meant as 80 percent.
        return sure if 0 < sure < 1 else sure / 100

    async def saved(self) -> tuple[str, ...]:
        """The ids of those that are sure enough. Raises InvalidInputError for no number, and when there are none."""
        found = await self._pipeline.above(self._sure())
        if not found:
            raise InvalidInputError("no proposal is that sure", field="sure", where="sure")
        return found
