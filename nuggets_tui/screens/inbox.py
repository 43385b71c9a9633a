"""The Inbox: what waits for a person and what others brought since the last visit, grouped by who."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual import on, work
from textual.binding import Binding, BindingType
from textual.content import Content

from core.errors import ConflictError, NotFoundError
from core.model.change import ChangeSet
from nuggets_tui.differences import titles
from nuggets_tui.log import LogLine, Scope, listed, log_line
from nuggets_tui.notices import notify
from nuggets_tui.pipeline_session import BY, PipelineSession, PipelineView
from nuggets_tui.pipeline_words import (
    ACTIONS,
    is_uncertain,
    reason_of,
)
from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.screens.dialog import ConfirmScreen, Here
from nuggets_tui.screens.pipeline import ListOf, ListsScreen
from nuggets_tui.screens.review import DecidingReview, Reviewed, ReviewItem
from nuggets_tui.session import Session
from nuggets_tui.widgets import pipeline_details as details
from nuggets_tui.widgets.line_view import MakeLines, change_lines, wrapped
from nuggets_tui.widgets.pipeline_details import proposal_lines
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED, sides
from nuggets_tui.words import ago, deed, plural

if TYPE_CHECKING:
    from core.model.entry import Entry
    from core.model.note import Note
    from core.pipeline.records import Accepted, RawMemory, StoredProposal
    from nuggets_tui.session import PendingConflict


_QUOTE: Final = 60
# Entries of others that are listed; the log has the rest.
_MOST: Final = 200


class InboxScreen(ListsScreen):
    """Proposals of the pipeline, and the changes of others.

    open_entry: opens an entry of the history by its id; the flag: it was asked to be undone. waiting: what waits
    elsewhere, as sentences of `Content`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "accept", show=False),
        Binding("x", "refuse", show=False),
        Binding("v", "decided", show=False),
        Binding("i", "close", show=False),
    ]
    LISTS = {  # noqa: RUF012  Textual's own is no class variable.
        "proposals": ListOf(
            "For you", "Details", "Nothing waits for you.\nv shows proposals already decided.",
            "a  accept · x  refuse · space  select · u  undo · v  decided",
        )
    }  # fmt: skip
    MULTI = frozenset(("proposals",))
    HERE = Here(
        "Inbox",
        "Proposals of the pipeline, each with its source sentence: nothing of them is written before you accept it. "
        "Below, what agents, other programs and sync changed since your last visit, by who did it.",
        (
            ("a  x", "accept or refuse the proposal; for several, a review comes first"),
            ("space  shift+↑↓", "select proposals; ctrl+a selects all"),
            ("+  ~  ⊘  =", "add, change or hide a note; = already known; ! check it"),
            ("⏎", "go to the details; on a change of others, open its entry"),
            ("u", "undo what you accepted or refused here last; on a change of others, that change"),
            ("v", "show decided proposals too"),
            ("esc  i", "close"),
        ),
    )
    heading = "Inbox"

    def __init__(
        self,
        pipeline: PipelineSession,
        session: Session,
        news: Callable[[], None],
        open_entry: Callable[[str, bool], object],
        waiting: Sequence[Content] = (),
    ) -> None:
        super().__init__(pipeline, session, news)
        self._open_entry = open_entry
        self._waiting = waiting
        self._decided = False
        self._others: tuple[LogLine, ...] = ()

    async def load(self) -> PipelineView:
        """The proposals, and what others did since the last visit."""
        session = self.session
        if session.last_visit:
            self._others = await session.read(_of_others, session)
        return await self.pipeline.shown(decided=self._decided)

    def show(self, shown: PipelineView) -> None:
        """Proposals first, then what others did, by who did it."""
        now = self.session.clock()
        rows: list[Row] = []
        if shown.proposals and self._others:
            rows.append(_heading("Proposals", f"{shown.status.proposals_open:,} open"))
        rows += [details.proposal_row(one, now) for one in shown.proposals]
        for who in dict.fromkeys(str(line.author) for line in self._others):
            own = [line for line in self._others if str(line.author) == who]
            rows.append(_heading(who, f"{plural(len(own), 'change')} since your last visit"))
            rows += [_other_row(line, ago(line.at, now)) for line in own]
        decidable = {one.id for one in shown.proposals if one.open}
        heights = [len(row.lines) for row in rows]
        self.list_of("proposals").set_source(
            len(rows), rows.__getitem__, height=heights, key_at=lambda place: rows[place].key,
            mark_at=lambda place: rows[place].key if rows[place].key in decidable else "",
        )  # fmt: skip
        self._count()
        self.said.update(Content.styled(" · ", MUTED).join(self._waiting))
        self.said.display = bool(self._waiting)

    @on(RowList.SelectionChanged)
    def _count(self) -> None:
        shown, selected = self.now_shown, len(self.list_of("proposals").selected)
        told = f"{shown.status.proposals_open:,} to decide" if shown is not None else ""
        told = f"{selected:,} selected" if selected else told
        self.name_list("proposals", told + (" · decided ones too" if self._decided else ""))

    def lines_of(self, shown: PipelineView, row: Row | None) -> tuple[MakeLines, str]:
        """A proposal with its sentence, or what an entry changed."""
        now = self.session.clock()
        if row is None:
            said = "Proposals of the pipeline wait here, and what others change while you are away is listed here."
            return lambda width: wrapped([content(said, MUTED)], width), ""
        if isinstance(row.data, LogLine):
            entry, wanted = self.known(row.key, row.data)
            if entry is None:
                return lambda width: [content("reading …", MUTED)], wanted
            change_set, title_of = cast("Entry", entry).change_set, titles(self.session.snapshot)
            return lambda width: change_lines(change_set, width, title_of), wanted
        proposal = cast("StoredProposal", row.data)
        raw, wanted = self.known(proposal.raw_id, None)
        target = self.session.snapshot.by_id.get(proposal.target_note)
        return partial(details.proposal_lines, proposal, cast("RawMemory | None", raw), target, now), wanted

    async def fetch(self, wanted: str) -> object:
        """The submitted text of a proposal, or an entry."""
        if any(line.id == wanted for line in self._others):
            found = await self.attempt(self.session.entry_now(wanted))
            return found[0] if found is not None else None
        return (await self.attempt(self.pipeline.raws((wanted,))) or {}).get(wanted)

    def known(self, key: str, data: object) -> tuple[object, str]:
        """Texts never change, and are read once."""
        found, wanted = super().known(key, data)
        return found, wanted if found is None else ""

    @on(RowList.RowSelected)
    def open_row(self, event: RowList.RowSelected) -> None:
        event.stop()
        if isinstance(event.row.data, LogLine):
            self._open_entry(event.row.key, False)
        else:
            self.details_view.focus()

    def action_decided(self) -> None:
        self._decided = not self._decided
        self.read()

    def action_close(self) -> None:
        if self.list_of("proposals").selected:
            self.list_of("proposals").select(())
        else:
            super().action_close()

    # Deciding

    def _meant(self) -> tuple[StoredProposal, ...]:
        """The open proposals that are selected, else the one under the cursor."""
        known = self.now_shown.proposals if self.now_shown is not None else ()
        row, selected = self.row, self.list_of("proposals").selected
        if not selected and row is not None and isinstance(row.data, LogLine):
            notify(self, "This change is written already. u undoes it.")
            return ()
        ids = selected or ({row.key} if row is not None else set())
        found = tuple(one for one in known if one.id in ids and one.open)
        if not found:
            notify(self, "This proposal is already decided." if ids else "No proposals.")
        return found

    def action_accept(self) -> None:
        meant = self._meant()
        if len(meant) == 1:
            self._accept(meant[0])
        elif meant:
            self.review(meant)

    @work(group="decide", exit_on_error=False)
    async def _accept(self, proposal: StoredProposal) -> None:

        done: Accepted | None = await self.attempt(
            self.pipeline.tell(lambda pipeline: pipeline.accept((proposal.id,), BY))
        )
        if done is None:
            return
        self.list_of("proposals").select(())
        if done.change_set is not None and not done.change_set.empty:
            said = f'Accepted "{safe_line(proposal.content or proposal.target_content, _QUOTE)}"'
            self.done(said, partial(self._taken_back, done.change_set.id))
        else:
            words = describe_accepted(done)
            self.done(words[:1].upper() + words[1:])

    @work(group="open", exclusive=True, exit_on_error=False)
    async def review(self, proposals: Collection[StoredProposal]) -> None:

        raws = await self.attempt(self.pipeline.raws({one.raw_id for one in proposals}))
        if raws is not None:
            review = ProposalsReview(
                self.pipeline, self.session, tuple(proposals), raws, self.session.clock()
            )
            self.app.push_screen(review, lambda done: self._reviewed(done, review.refusal))

    def _reviewed(self, done: Reviewed | PendingConflict | None, refusal: ChangeSet | None) -> None:
        if not isinstance(done, tuple):
            return
        change_set, said = done
        # What was refused is undone first, then what was accepted.
        *first, last = [one.id for one in (change_set, refusal) if one is not None and one.id] or [""]
        self.undoing += [partial(self._taken_back, id) for id in first]
        self.list_of("proposals").select(())
        self.done(said, partial(self._taken_back, last) if last else None)

    def action_refuse(self) -> None:
        meant = self._meant()
        if len(meant) == 1:
            self._refuse(meant)
        elif meant:
            count = plural(len(meant), "proposal")
            said = f"{count} will not be proposed again. The submitted texts stay. u undoes it."
            question = ConfirmScreen(f"Refuse {count}?", said, yes="refuse them")
            self.if_sure(question, lambda: self._refuse(meant))

    @work(group="decide", exit_on_error=False)
    async def _refuse(self, proposals: Collection[StoredProposal]) -> None:
        ids = tuple(one.id for one in proposals)
        done = await self.attempt(self.pipeline.tell(lambda pipeline: pipeline.refuse(ids, BY)))
        if done is None:
            return
        self.list_of("proposals").select(())
        undo = partial(self._taken_back, done.change_set.id) if done.change_set is not None else None
        self.done(f"Refused {plural(done, 'proposal')}; not proposed again", undo)

    async def _taken_back(self, entry_id: str) -> str:
        try:
            done = await self.session.write(self.session.memory.history.undo, entry_id)
        except NotFoundError:
            return "It is already undone"
        except ConflictError as error:
            from nuggets_tui.screens.conflict import in_the_way

            return f"This cannot be undone now. {in_the_way(error, self.session.snapshot)}".rstrip(".")
        await self.pipeline.follow_undo()
        told = deed(done, quoted=True)
        return f"{told.verb.capitalize()} {safe_line(told.what, 200)}"

    def action_undo(self) -> None:
        row = self.row
        if row is not None and isinstance(row.data, LogLine):
            self._open_entry(row.key, True)
        else:
            super().action_undo()


def _of_others(session: Session) -> tuple[LogLine, ...]:
    """The changes of others since the last visit that still stand, newest first; for a thread."""
    memory = session.memory
    found = listed(memory, Scope(since=session.last_visit or ""), _MOST)
    return tuple(
        log_line(entry)
        for entry in found
        if entry.change_set.author != memory.author and entry.state == "done" and not entry.undone
    )


def _heading(title: str, told: str) -> Row:
    said = Content.assemble(content(title, f"bold {MUTED}"), (f"  {told}", MUTED))
    return Row(f"heading {title}", (said,), selectable=False)


def _other_row(line: LogLine, when: str) -> Row:
    told = line.deed
    said = Content.assemble((f" {told.verb} ", MUTED), content(line.counts or told.what))
    return Row(line.id, (sides(said, Content.styled(when, MUTED)),), data=line)


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
