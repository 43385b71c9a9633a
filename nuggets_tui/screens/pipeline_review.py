"""Several proposals at once: the review screen over them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final

from core.model.change import ChangeSet
from nuggets_tui.pipeline_session import BY, PipelineSession
from nuggets_tui.pipeline_words import ACTIONS, is_uncertain, reason_of
from nuggets_tui.safe_text import safe_line
from nuggets_tui.screens.review import DecidingReview, Reviewed, ReviewItem
from nuggets_tui.session import Session
from nuggets_tui.widgets.pipeline_details import proposal_lines
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.model.note import Note
    from core.pipeline.records import Accepted, RawMemory, StoredProposal

_TITLE: Final = 200


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
        tell, ids = self._pipeline.tell, tuple(accepted)
        done = await tell(lambda pipeline: pipeline.accept(ids, BY)) if accepted else None
        gone = await tell(lambda pipeline: pipeline.refuse(refused, BY)) if refused else None
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
