"""The Pipeline screen: what waits for a decision, what is worked on, what is known, and how it goes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Coroutine
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import DescendantFocus, Resize
from textual.widgets import Input, Static

from core.errors import ConflictError, NotFoundError, NuggetsError
from nuggets_tui.notices import notify, notify_error, warn
from nuggets_tui.pane_help import Here
from nuggets_tui.pipeline_session import PipelineSession, PipelineView
from nuggets_tui.pipeline_status import STATUS_ICONS, WORDS
from nuggets_tui.pipeline_words import SHORT_MODES, age, counts, mode_of, model_state, removed_at, run_words
from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.screens.confirm import ConfirmScreen
from nuggets_tui.screens.dialog import Dialog, key_content
from nuggets_tui.screens.lines_review import LinesReview
from nuggets_tui.session import Session
from nuggets_tui.widgets import pipeline_details as details
from nuggets_tui.widgets.fields import Field
from nuggets_tui.widgets.line_view import LineView, MakeLines
from nuggets_tui.widgets.pipeline_details import (
    document_row,
    entity_row,
    health_rows,
    proposal_row,
    session_row,
    work_rows,
)
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED
from nuggets_tui.words import deed, plural

if TYPE_CHECKING:
    from core.model.change import ChangeSet
    from core.pipeline.health import MaintenanceAction
    from core.pipeline.records import (
        Accepted,
        Entity,
        EntityChange,
        EntityPage,
        HistoryRow,
        RawMemory,
        SessionOverview,
        StoredProposal,
    )
    from nuggets_tui.pending_conflict import PendingConflict
    from nuggets_tui.pipeline_session import KeptOfSession
    from nuggets_tui.screens.review import Reviewed
    from nuggets_tui.typed_text import TypedTextStore

_EVERY: Final = 1.0
# The health is measured so often: that takes a moment with a large memory.
_MEASURE_EVERY: Final = 5.0
_LONGEST_QUOTE: Final = 60
_LONGEST_SAID: Final = 300
# While another list is in use, the health is measured once in so many times.
_SELDOM: Final = 12
# Times on screen are told anew after so many looks at which nothing had changed.
_AGES: Final = 5
# Lines of the stack below which the panes without the cursor show their title alone.
_ROOMY: Final = 26
_NARROW: Final = 110
_PAGES_KEPT: Final = 200
_TITLES: Final = {
    "proposals": "Proposals", "work": "Jobs", "entities": "Entities", "health": "Health", "documents": "Documents",
    "sessions": "Sessions",
}  # fmt: skip
_PANES: Final = tuple(_TITLES)
_ABOUT: Final = {
    "proposals": "Proposal", "work": "Job", "entities": "Entity", "health": "Health", "documents": "Document",
    "sessions": "Session",
}  # fmt: skip
_EMPTY: Final = {
    "proposals": "No proposals.\nv shows those already decided.",
    "work": "No jobs.\nn submits a text.",
    "entities": "No entities yet:\nthe pipeline finds them in submitted texts.",
    "health": "",
    "documents": "No documents.\nd adds a file or a page.",
    "sessions": "No sessions.",
}
# What is done to a row of one list, and so only while that one is in use.
_OF_PANES: Final = {
    "accept": "proposals", "above": "proposals", "retry": "work", "retry_all": "work",
    "pin": "entities", "resolve": "entities", "merge": "entities", "name": "entities", "repair": "health",
}  # fmt: skip


class PipelineScreen(Dialog[None]):
    """Lists above each other, the one in use with the most room, and beside them what its row is about.

    The list of sessions is there once there are any.

    news: told after each decision that may have changed the memory.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "pane('proposals')", show=False),
        Binding("2", "pane('work')", show=False),
        Binding("3", "pane('entities')", show=False),
        Binding("4", "pane('health')", show=False),
        Binding("5", "pane('documents')", show=False),
        Binding("6", "pane('sessions')", show=False),
        Binding("right", "pane_beside(1)", show=False),
        Binding("left", "pane_beside(-1)", show=False),
        Binding("tab", "switch", show=False, priority=True),
        Binding("a", "accept", show=False),
        Binding("x", "refuse", show=False),
        Binding("A", "above", show=False),
        Binding("v", "decided", show=False),
        Binding("u", "undo", show=False),
        Binding("r", "retry", show=False),
        Binding("R", "retry_all", show=False),
        Binding("p", "pause", show=False),
        Binding("P", "pin", show=False),
        Binding("s", "resolve", show=False),
        Binding("m", "merge", show=False),
        Binding("o", "name", show=False),
        Binding("n", "submit", show=False),
        Binding("d", "add_document", show=False),
        Binding("f", "repair", show=False),
        Binding("slash", "find", show=False),
        Binding("i,q", "close", show=False),
    ]
    heading = "Pipeline: from texts to notes"

    proposals = getters.query_one("#proposals", RowList)
    work_list = getters.query_one("#work", RowList)
    entities = getters.query_one("#entities", RowList)
    said = getters.query_one("#pipeline-said", Static)
    stack = getters.query_one("#stack", Vertical)
    name_field = getters.query_one("#query", Field)
    details_view = getters.query_one("#details", LineView)

    def __init__(self, pipeline: PipelineSession, session: Session, news: Callable[[], None]) -> None:
        super().__init__(classes="full")
        self.pipeline = pipeline
        self.session = session
        self.now_shown: PipelineView | None = None
        self._news = news
        # Where a text is kept that is typed and not handed in yet.
        self.text_store_of: Callable[[], TypedTextStore | None] = lambda: None
        # Ids of the entries that were written here and are not taken back, the latest last; a number is the id of a
        # change of entities.
        self._done: list[str | int] = []
        # Ids of the documents that were removed here and are not back, the latest last.
        self._removed: list[str] = []
        # The same of texts.
        self._removed_texts: list[str] = []
        # The part of a name that entities are looked for by.
        self.query_text = ""
        self.open_pane = "proposals"
        self._chosen = False
        self._decided = False
        self._same = self._reading = 0
        self._trouble: tuple[object, ...] = ()
        self._raws: dict[str, RawMemory] = {}
        self._entities: dict[int, EntityPage] = {}
        # What is kept of a session, by its name, and how it stood when that was read.
        self._left: dict[str, tuple[SessionOverview | None, KeptOfSession]] = {}
        # What came of a text, by its id.
        self._histories: dict[str, tuple[HistoryRow, ...]] = {}
        self._stale: set[int] = set()
        self._stale_texts: set[str] = set()
        self._about = ""
        # How often it was time to measure the health.
        self._measures = 0

    def compose_inside(self) -> ComposeResult:
        """How it stands; the lists; and what the row under the cursor is about."""
        yield Static(id="pipeline-said")
        with Horizontal(id="pipeline-sides"):
            with Vertical(id="stack"):
                yield Field("Find entities", id="query", hint="part of a name")
                for name in _PANES:
                    yield RowList(
                        id=name, classes="pane", multi_select=name == "proposals", empty_text=_EMPTY[name]
                    )
            yield LineView(id="details", classes="pane")

    def on_mount(self) -> None:
        """Reads at once, then again and again while it is open."""
        self.name_field.display = False
        self._list("sessions").display = False
        self._open("proposals")
        self.proposals.focus()
        self.read()
        self.set_interval(_EVERY, self._refresh)
        self._measure()
        self.set_interval(_MEASURE_EVERY, self._measure)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A key that acts on a row acts on one that is seen."""
        return _OF_PANES.get(action, self.open_pane) == self.open_pane and super().check_action(
            action, parameters
        )

    # What is shown

    def read(self) -> None:
        """Everything as it is now, after something was done here."""
        self._same = _AGES
        self._read()

    def _refresh(self) -> None:
        # Where a look takes long, the next one waits for it.
        if not self._reading:
            self._read()

    @work(group="read", exclusive=True, exit_on_error=False)
    async def _read(self) -> None:
        self._reading += 1
        try:
            shown = await self.pipeline.shown(decided=self._decided, query=self.query_text)
        except RuntimeError:
            # The memory was left meanwhile.
            return
        except NuggetsError as error:
            # Asked every second, it is said once.
            if error.identity != self._trouble:
                self._trouble = error.identity
                self._show_unreadable()
                notify_error(self, error)
            return
        finally:
            self._reading -= 1
        if not self.is_mounted:
            return
        over, self._trouble = bool(self._trouble), ()
        self._same += 1
        running = shown.status.running is not None
        if shown == self.now_shown and not running and not over and self._same < _AGES:
            return
        self._same = 0
        # What is said of an entity may be another by now; until it is read it stands there as it was.
        self._stale, self._stale_texts = set(self._entities), set(self._raws)
        self._show(shown)

    def _show(self, shown: PipelineView) -> None:
        first, self.now_shown = self.now_shown is None, shown
        now = self.session.clock()
        self._show_status(shown)
        proposals = shown.proposals
        self.proposals.set_source(
            len(proposals), lambda place: proposal_row(proposals[place], now), height=2,
            key_at=lambda place: proposals[place].id,
            mark_at=lambda place: proposals[place].id if proposals[place].open else "",
        )  # fmt: skip
        self._list("work").set_rows(work_rows(shown.jobs, now, shown.status.jobs))
        self._list("documents").set_rows([document_row(one) for one in shown.documents])
        self._list("entities").set_rows([entity_row(one) for one in shown.entities])
        self._list("health").set_rows(self._health_rows(shown))
        sessions = self._list("sessions")
        sessions.display = bool(shown.sessions)
        sessions.set_rows([session_row(one, now) for one in shown.sessions])
        self._name_panes()
        self.refresh_keys()
        if first and not self._chosen:
            self._begin_where_it_waits(shown)
        self.show_details()

    @work(group="measure", exclusive=True, exit_on_error=False)
    async def _measure(self) -> None:
        """How healthy everything is; seldom while something else is looked at."""
        self._measures += 1
        if self.open_pane != "health" and self._measures % _SELDOM != 1:
            return
        first = self.pipeline.measured is None
        # What cannot be read is said by the look at everything else.
        with contextlib.suppress(NuggetsError, RuntimeError):
            await self.pipeline.measure()
        if self.is_mounted and self.now_shown is not None:
            self._list("health").set_rows(self._health_rows(self.now_shown), keep_cursor=not first)
            self._name_panes()
            if self.open_pane == "health":
                self.show_details()

    def _health_rows(self, shown: PipelineView) -> list[Row]:
        if not shown.begun:
            return []
        return health_rows(shown.status, self.pipeline.measured, self.session.clock())

    def _begin_where_it_waits(self, shown: PipelineView) -> None:
        """What needs a person is what somebody comes here for."""
        dead = shown.status.jobs.get("dead", 0)
        if not shown.proposals and shown.begun and self._list("proposals").has_focus:
            self.go_to("work" if dead or shown.jobs else "health")

    def _list(self, name: str) -> RowList:
        return self.query_one(f"#{name}", RowList)

    def _show_status(self, shown: PipelineView) -> None:
        """The status icon, and what it means."""
        status = shown.status
        light = str(status.light) if shown.begun else "off"
        icon, style = STATUS_ICONS[light]
        parts = [Content(SHORT_MODES[mode_of(status)])]
        if counts(status):
            parts.append(Content(counts(status)))
        provider = status.provider
        if provider is not None and provider.state == "off":
            parts.append(Content("no model"))
        elif provider is not None:
            parts.append(content(f"{provider.name} {provider.model}".strip() + f" {model_state(provider)}"))
            parts.append(Content(f"{provider.calls_today:,} of {provider.budget:,} calls today"))
        if status.warnings:
            parts.append(Content.styled(f"! {plural(len(status.warnings), 'warning')}", "$text-warning"))
        first = Content.assemble(
            (f"{icon} {WORDS[light] if shown.begun else 'nothing submitted yet'}", f"bold {style}"),
            (" · ", MUTED),
            Content.styled(" · ", MUTED).join(parts),
        )
        # In words of the command line, where this is not.
        begins = not shown.begun and status.light != "off"
        why = details.with_commands("`n` submits a first text" if begins else status.why)
        self.said.update(Content("\n").join((first, why)))

    def _show_unreadable(self) -> None:
        """That what stands here is not of now, or is nothing yet: an empty list would say that nothing waits."""
        icon, style = STATUS_ICONS["stuck"]
        told = f"{icon} cannot be read now" + ("; this is the last known state" if self.now_shown else "")
        self.said.update(Content.styled(told, f"bold {style}"))

    def _name_panes(self) -> None:
        shown = self.now_shown
        if shown is None:
            return
        status, measured = shown.status, self.pipeline.measured if shown.begun else None
        told = {
            "proposals": f"{status.proposals_open:,}" if status.proposals_open else "",
            "work": counts(status),
            "entities": f"{status.entities:,} in submitted texts" if status.entities else "",
            "health": "" if measured is None else f"{measured.status} {measured.score:.0%}",
            "documents": f"{status.documents:,} searchable" if status.documents else "",
            "sessions": f"{len(shown.sessions):,}",
        }
        selected = len(self.proposals.selected)
        if selected:
            told["proposals"] = f"{selected:,} of {status.proposals_open:,} selected"
        elif self._decided:
            told["proposals"] += " and decided ones" if told["proposals"] else "decided"
        if self.query_text:
            told["entities"] = f'named "{safe_line(self.query_text, 30)}"'
        for number, (name, title) in enumerate(_TITLES.items(), 1):
            head = Content(f"{number} {title}")
            self._list(name).border_title = Content.assemble(head, f"  {told[name]}") if told[name] else head

    # Panes

    def _open(self, name: str) -> None:
        """Gives a list the room; the others keep their titles, and a few rows where there is room for that."""
        self.open_pane = name
        for other in _PANES:
            self._list(other).set_class(other == name, "-open")

    def go_to(self, name: str) -> None:
        """Gives a list the cursor, and the room."""
        self._open(name)
        self.set_focus(self._list(name))
        self.show_details()

    def action_pane(self, name: str) -> None:
        """To a list that is there."""
        if not self._list(name).display:
            return
        self._chosen = True
        self.go_to(name)

    def action_pane_beside(self, step: int) -> None:
        """To the next list."""
        there = [name for name in _PANES if self._list(name).display]
        self.action_pane(there[(there.index(self.open_pane) + step) % len(there)])

    def action_switch(self) -> None:
        """From the list to what it is about, and back."""
        text = self.details_view
        self.set_focus(self._list(self.open_pane) if text.has_focus else text)

    @on(RowList.RowSelected)
    def read_details(self, event: RowList.RowSelected) -> None:
        """Enter goes to the text."""
        event.stop()
        self.details_view.focus()

    @on(DescendantFocus)
    def follow(self, event: DescendantFocus) -> None:
        """The list with the cursor has the room; the keys are its keys."""
        name = event.widget.id or ""
        if name in _PANES and name != self.open_pane:
            self._chosen = True
            self._open(name)
            self.show_details()
        self.refresh_keys()

    @on(Resize)
    def fit(self) -> None:
        """With few lines, only the list in use shows rows."""
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        if self.is_mounted:
            stack = self.stack
            stack.set_class(stack.size.height < _ROOMY, "-tight")
            self.refresh_keys()

    def key_line(self) -> Content:
        """The keys of the list in use."""
        focused = self.focused.id if self.focused is not None and self.focused.id in KEYS else self.open_pane
        if self.now_shown is not None and not self.now_shown.begun and focused in _PANES:
            return key_content(FIRST_KEYS)
        if focused == "proposals" and self.now_shown is not None and not self.now_shown.proposals:
            return key_content(NO_PROPOSAL_KEYS)
        keys = NARROW_KEYS if self.app.size.width < _NARROW else KEYS
        return key_content(keys[focused or self.open_pane])

    def here(self) -> Here:
        """The keys of all lists."""
        return HERE

    # What the row under the cursor is about

    @on(RowList.RowHighlighted)
    def show_row(self, event: RowList.RowHighlighted) -> None:
        """Another row."""
        event.stop()
        if event.row_list.id == self.open_pane:
            self.show_details()

    @on(RowList.SelectionChanged)
    def count_selected(self, event: RowList.SelectionChanged) -> None:
        """Says how many are selected."""
        event.stop()
        self._name_panes()

    def show_details(self) -> None:
        """Shows what the row under the cursor is about; reads what it needs for that."""
        shown = self.now_shown
        if shown is None:
            return
        row = self._list(self.open_pane).cursor_row
        about = f"{self.open_pane} {row.key if row is not None else ''}"
        make, wanted = self._lines(shown, row)
        text = self.details_view
        text.show_lines(make, keep_scroll=about == self._about)
        begun = shown.begun and row is not None
        text.border_title = Content(
            _ABOUT[self.open_pane] if begun else "Status" if shown.begun else "Get started"
        )
        self._about = about
        if wanted:
            self._fetch(wanted)

    def _lines(self, shown: PipelineView, row: Row | None) -> tuple[MakeLines, str | int]:
        """The lines of a row, and the id of the text or entity that must still be read for them, "" for none."""
        from core.pipeline.health import HealthDomain, HealthReport, Recommendation
        from core.pipeline.records import Document, Entity, Job, SessionOverview, StoredProposal

        now, data = self.session.clock(), row.data if row is not None else None
        if not shown.begun:
            return partial(details.beginning_lines, shown.status), ""
        if isinstance(data, StoredProposal):
            raw = self._raws.get(data.raw_id)
            target = self.session.snapshot.by_id.get(data.target_note)
            return partial(details.proposal_lines, data, raw, target, now), "" if raw else data.raw_id
        if isinstance(data, Job):
            raw = self._raws.get(data.target)
            known = data.target in self._histories and data.target not in self._stale_texts
            wanted = "" if known or data.type != "extract" else data.target
            return partial(details.job_lines, data, raw, self._histories.get(data.target, ()), now), wanted
        if isinstance(data, Document):
            left = (one for one in shown.jobs if one.target == data.id and one.status != "completed")
            return partial(details.document_lines, data, now, job=next(left, None)), ""
        if isinstance(data, Entity):
            page = self._entities.get(data.id)
            if page is None:
                return lambda width: [content(safe_line(data.name), "bold")], data.id
            return partial(details.entity_lines, page, now), data.id if data.id in self._stale else ""
        if isinstance(data, SessionOverview):
            at, kept = self._left.get(data.session, (None, (None, None)))
            by_id = self.session.snapshot.by_id
            given = kept[0].memories if kept[0] is not None else ()
            titles = {one.note_id: by_id[one.note_id].title for one in given if one.note_id in by_id}
            return partial(details.session_lines, data, kept, titles, now), "" if at == data else data.session
        if row is not None and row.key.startswith("warning"):
            return partial(details.warning_lines, data), ""  # type: ignore[arg-type]
        if isinstance(data, HealthDomain):
            return partial(details.domain_lines, data), ""
        measured = self.pipeline.measured
        if isinstance(data, HealthReport | Recommendation) and measured is not None:
            return lambda width: [
                *details.report_lines(measured, now, width),
                Content(""),
                *details.health_lines(shown.status, now, width),
            ], ""
        return partial(details.health_lines, shown.status, now), ""

    @work(group="details", exclusive=True, exit_on_error=False)
    async def _fetch(self, wanted: str | int) -> None:
        if isinstance(wanted, int):
            page = await self.attempt(self.pipeline.entity(wanted))
            if page is None:
                return
            if len(self._entities) > _PAGES_KEPT:
                self._entities.clear()
            self._entities[wanted] = page
            self._stale.discard(wanted)
        elif self.open_pane == "sessions":
            await self._fetch_session(wanted)
        else:
            found = await self.attempt(self.pipeline.raws((wanted,)))
            if not found:
                return
            if len(self._raws) > _PAGES_KEPT:
                self._raws.clear()
                self._histories.clear()
            self._raws |= found
            if self.open_pane == "work":
                self._histories[wanted] = await self.attempt(self.pipeline.history(wanted)) or ()
                self._stale_texts.discard(wanted)
        if self.is_mounted:
            self.show_details()

    async def _fetch_session(self, name: str) -> None:
        known = {one.session: one for one in self.now_shown.sessions} if self.now_shown is not None else {}
        kept = await self.attempt(self.pipeline.session_page(name))
        if len(self._left) > _PAGES_KEPT:
            self._left.clear()
        self._left[name] = known.get(name), kept or (None, None)

    # What else is shown

    def action_decided(self) -> None:
        """Decided proposals too, or only those that wait."""
        self._decided = not self._decided
        self.go_to("proposals")
        self.read()

    def action_close(self) -> None:
        """esc ends what was begun last: the search for an entity, a selection, then the screen."""
        field = self.name_field
        if field.display and (field.has_focus or self.open_pane == "entities"):
            self.end_search()
        elif self.proposals.selected and self.open_pane == "proposals":
            self.proposals.clear_selection()
        else:
            super().action_close()

    # Deciding

    def _meant(self) -> tuple[StoredProposal, ...]:
        """The open proposals that are selected, else the one under the cursor."""
        known = self.now_shown.proposals if self.now_shown is not None else ()
        row = self.proposals.cursor_row
        ids = self.proposals.selected or ({row.key} if row is not None else set())
        found = tuple(one for one in known if one.id in ids and one.open)
        if not found:
            notify(self, "This proposal is already decided." if ids else "No proposals.")
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
        self._notify_accepted(
            done, f'Accepted "{safe_line(proposal.content or proposal.target_content, _LONGEST_QUOTE)}"'
        )
        self.proposals.clear_selection()

    def _notify_accepted(self, done: Accepted, said: str) -> None:
        from nuggets_tui.screens.pipeline_review import describe_accepted

        if done.change_set is not None and not done.change_set.empty:
            self._done.append(done.change_set.id)
            notify(self, f"{said}. u undoes it.")
        else:
            words = describe_accepted(done)
            notify(self, f"{words[:1].upper()}{words[1:]}.")
        self._news()
        self.read()

    @work(group="open", exclusive=True, exit_on_error=False)
    async def review(self, proposals: Collection[StoredProposal]) -> None:
        """The review screen over some proposals."""
        from nuggets_tui.screens.pipeline_review import ProposalsReview

        raws = await self.attempt(self.pipeline.raws({one.raw_id for one in proposals}))
        if raws is not None:
            now = self.session.clock()
            review = ProposalsReview(self.pipeline, self.session, tuple(proposals), raws, now)
            self.app.push_screen(review, lambda done: self._reviewed(done, review.refusal))

    def _reviewed(self, done: Reviewed | PendingConflict | None, refusal: ChangeSet | None) -> None:
        if not isinstance(done, tuple):
            return
        change_set, said = done
        # What was refused is undone first, then what was accepted.
        made = [one.id for one in (change_set, refusal) if one is not None and one.id]
        if made:
            self._done += made
            said += ". u undoes it" if len(made) == 1 else ". u undoes the refusals, u again the rest"
        notify(self, f"{said}.")
        self.proposals.clear_selection()
        self._news()
        self.read()

    def action_above(self) -> None:
        """Reviews all that are sure enough."""
        from nuggets_tui.screens.pipeline_review import AboveScreen

        waiting = self.now_shown.status.proposals_open if self.now_shown is not None else 0
        if not waiting:
            notify(self, "No proposals.")
            return
        known = self.now_shown.proposals if self.now_shown is not None else ()
        changes = sum(one.open and one.changes for one in known)
        self.app.push_screen(AboveScreen(self.pipeline, waiting, changes), self._above)

    def _above(self, ids: tuple[str, ...] | None) -> None:
        if ids and self.now_shown is not None:
            wanted = set(ids)
            self.review([one for one in self.now_shown.proposals if one.id in wanted])

    def action_refuse(self) -> None:
        """Refuses what is meant; several only when asked once more. Of documents and texts: removes one."""
        if self.open_pane == "documents":
            self._remove_document()
            return
        if self.open_pane == "work":
            self._review_removal()
            return
        if self.open_pane != "proposals":
            return
        meant = self._meant()
        if len(meant) == 1:
            self._refuse(meant)
        elif meant:
            said = (
                f"{plural(len(meant), 'proposal')} will not be proposed again. The submitted texts "
                "stay. u undoes it."
            )
            question = ConfirmScreen(f"Refuse {plural(len(meant), 'proposal')}?", said, yes="refuse them")

            def answered(sure: bool | None) -> None:
                if sure:
                    self._refuse(meant)

            self.app.push_screen(question, answered)

    @work(group="decide", exit_on_error=False)
    async def _refuse(self, proposals: Collection[StoredProposal]) -> None:
        done = await self.attempt(self.pipeline.refuse([one.id for one in proposals]))
        if done is None:
            return
        said = f"Refused {plural(done, 'proposal')}; not proposed again"
        if done.change_set is not None:
            self._done.append(done.change_set.id)
            said += ". u undoes it"
        notify(self, f"{said}.")
        self.proposals.clear_selection()
        self._news()
        self.read()

    @work(group="decide", exclusive=True, exit_on_error=False)
    async def action_undo(self) -> None:
        """Takes back what was written here last, and nothing that was done elsewhere."""
        if self.open_pane == "documents":
            await self._restore_document()
            return
        if self.open_pane == "work" and await self._restore_text():
            return
        if not self._done:
            await self._offer_older_undo()
            return
        last = self._done[-1]
        if isinstance(last, int):
            if await self._undo_entity_change(last):
                self._done.pop()
            return
        done = await self.attempt(self._turned_back(last))
        if done is None:
            return
        self._done.pop()
        if isinstance(done, str):
            warn(self, done)
        else:
            told = deed(done, quoted=True)
            notify(self, f"{told.verb.capitalize()} {safe_line(told.what, 200)}.")
        self._news()
        self.read()

    async def _undo_entity_change(self, change_id: int) -> bool:
        """Takes a merge or a name back; whether it is."""
        try:
            change = await self.attempt(self.pipeline.undo_entity_change(change_id))
        finally:
            self.read()
        if change is None:
            return False
        name, entity = (safe_line(one, _LONGEST_QUOTE) for one in (change.name, change.entity))
        merged = f'"{name}" and "{entity}" are two entities again.'
        notify(self, merged if change.kind == "merged" else f'"{name}" is no name of "{entity}" any more.')
        return True

    async def _offer_older_undo(self) -> None:
        """What was merged into the entity under the cursor earlier can be taken back, too."""
        entity = self._entity_here() if self.open_pane == "entities" else None
        change = await self.attempt(self.pipeline.last_entity_change(entity.id)) if entity else None
        if change is None:
            notify(self, "There is nothing to undo here. Older changes are in the audit log.")
            return
        name, kept = (safe_line(one, _LONGEST_QUOTE) for one in (change.name, change.entity))
        merged = change.kind == "merged"
        text = f'"{name}" was merged into "{kept}"' if merged else f'"{name}" became a name of "{kept}"'
        text += f' {age(change.at, self.session.clock())}. What came since stays with "{kept}".'
        question = ConfirmScreen("Undo this?", text, yes="undo")

        def answered(sure: bool | None) -> None:
            if sure:
                self.run_worker(self._undo_entity_change(change.id), group="decide", exit_on_error=False)

        self.app.push_screen(question, answered)

    async def _turned_back(self, entry_id: str) -> ChangeSet | str:
        try:
            done = await self.session.write(self.session.memory.history.undo, entry_id)
            await self.pipeline.follow_undo()
            return done
        except NotFoundError:
            return "It is already undone."
        except ConflictError as error:
            from nuggets_tui.clash import in_the_way

            return f"This cannot be undone now. {in_the_way(error, self.session.snapshot)}"

    # Work

    @work(group="decide", exit_on_error=False)
    async def action_retry(self) -> None:
        """Gives the dead job under the cursor another try; one that left a part of its text reads on."""
        from core.pipeline.records import Job

        row = self.work_list.cursor_row
        if row is None or not isinstance(row.data, Job):
            return
        job = row.data
        if job.status not in ("dead", "pending") and not (job.status == "completed" and job.unread):
            notify(self, "Only dead or failed jobs, and texts that were not read whole, can be retried.")
        elif await self.attempt(self.pipeline.retry(job.id)) is not None:
            notify(
                self,
                "The rest of the text will be read."
                if job.status == "completed"
                else "The job will be retried.",
            )
            self.read()

    @work(group="decide", exit_on_error=False)
    async def action_retry_all(self) -> None:
        """Gives every dead job another try."""
        count = await self.attempt(self.pipeline.retry_dead()) if self.pipeline.begun else 0
        if count is not None:
            notify(self, f"Retrying {plural(count, 'dead job')}." if count else "There are no dead jobs.")
            self.read()

    @work(group="decide", exit_on_error=False)
    async def action_pause(self) -> None:
        """Stops the work of all processes, or lets it go on."""
        if not self.pipeline.begun:
            return
        paused = await self.attempt(self.pipeline.pause_or_resume())
        if paused is not None:
            said = "Paused: no program processes texts of this memory. p resumes." if paused else "Resumed."
            notify(self, said)
            self.read()

    def action_submit(self) -> None:
        """A text to hand in."""
        from nuggets_tui.screens.pipeline_intake import SubmitScreen

        screen = SubmitScreen(self.pipeline, self.session.snapshot, text_store=self.text_store_of())
        self.app.push_screen(screen, self._submitted)

    def _submitted(self, said: str | None) -> None:
        if said:
            notify(self, said)
            self.read()

    # Texts

    def _text_here(self) -> str:
        """The id of the text that the job under the cursor reads; "" for none."""
        from core.pipeline.records import Job

        row = self.work_list.cursor_row
        job = row.data if row is not None else None
        return job.target if isinstance(job, Job) and job.type == "extract" else ""

    @work(group="open", exclusive=True, exit_on_error=False)
    async def _review_removal(self) -> None:
        """Shows what becomes of the text under the cursor and of its notes; removes it after a yes."""
        raw_id = self._text_here()
        if not raw_id:
            notify(self, "This job is about no text. Documents are removed in Documents.")
            return
        planned = await self.attempt(self.pipeline.plan_removal(raw_id))
        found = await self.attempt(self.pipeline.raws((raw_id,))) if planned is not None else None
        if planned is None or not found:
            return
        by_id = self.session.snapshot.by_id
        titles = [by_id[id].title if id in by_id else id for id in planned.notes]

        def answered(sure: bool | None) -> None:
            if sure:
                self._remove_text(raw_id)

        review = LinesReview(
            "Remove this text?",
            partial(details.removal_lines, planned, titles, found[raw_id]),
            yes="remove",
            about="Nothing is done before you press y. In Jobs, u brings it back with its notes.",
        )
        self.app.push_screen(review, answered)

    @work(group="decide", exit_on_error=False)
    async def _remove_text(self, raw_id: str) -> None:
        done = await self.attempt(self.pipeline.remove_text(raw_id))
        if done is not None:
            self._removed_texts.append(raw_id)
            hidden = f", {plural(len(done.notes), 'note')} hidden" if done.notes else ""
            notify(self, f"Removed the text{hidden}. u brings it back.")
            self._news()
            self.read()

    async def _restore_text(self) -> bool:
        """Brings back the text under the cursor, else the one that was removed here last; False where none is."""
        raw_id = self._text_here()
        if removed_at(self._histories.get(raw_id, ())) is None:
            if not self._removed_texts:
                return False
            raw_id = self._removed_texts[-1]
        done = await self.attempt(self.pipeline.restore_text(raw_id))
        if done is not None:
            self._removed_texts = [one for one in self._removed_texts if one != raw_id]
            shown = f", {plural(len(done.notes), 'note')} shown" if done.notes else ""
            left = f", {plural(len(done.left), 'note')} said again meanwhile" if done.left else ""
            notify(self, f"The text is back{shown}{left}.")
            self._news()
            self.read()
        return True

    # Health

    @work(group="open", exclusive=True, exit_on_error=False)
    async def action_repair(self) -> None:
        """Shows what the repair under the cursor would do, else all that are recommended; runs them after a yes."""
        from core.pipeline.health import Recommendation

        row, report = self._list("health").cursor_row, self.pipeline.measured
        if row is not None and isinstance(row.data, Recommendation):
            wanted: tuple[MaintenanceAction, ...] = (row.data.action,)
        else:
            wanted = tuple(one.action for one in report.recommendations) if report is not None else ()
        if not wanted:
            notify(self, "Nothing is recommended." if report else "The health is not measured yet.")
            return
        plans = await self.attempt(self.pipeline.repair_plans(wanted))
        if plans is None:
            return

        def answered(sure: bool | None) -> None:
            if sure:
                self._repair(tuple(plan.action for plan in plans))

        review = LinesReview(
            "Repair this?",
            partial(details.plan_lines, plans, self.session.clock()),
            yes="run",
            about="Nothing is done before you press y. Repairs hide, merge and change no note; what they did is listed "
            "after.",
        )
        self.app.push_screen(review, answered)

    @work(group="decide", exit_on_error=False)
    async def _repair(self, actions: tuple[MaintenanceAction, ...]) -> None:
        runs = await self.attempt(self.pipeline.repair(actions))
        if runs is None:
            return
        now = self.session.clock()
        said = safe_line("; ".join(run_words(run, now) for run in runs), _LONGEST_SAID)
        failed = any(run.status in ("denied", "failed") for run in runs)
        (warn if failed else notify)(self, f"{said[:1].upper()}{said[1:]}.")
        self.read()

    # Documents

    def action_add_document(self) -> None:
        """A file or page to add."""
        from nuggets_tui.screens.pipeline_intake import AddDocumentScreen

        self.app.push_screen(AddDocumentScreen(self.pipeline), self._submitted)

    @work(group="decide", exit_on_error=False)
    async def _remove_document(self) -> None:
        row = self._list("documents").cursor_row
        if row is None:
            return
        done = await self.attempt(self.pipeline.remove_document(row.key))
        if done is not None:
            self._removed.append(done.id)
            notify(
                self, f'Removed "{safe_line(done.title or done.source, _LONGEST_QUOTE)}". u brings it back.'
            )
            self.read()

    async def _restore_document(self) -> None:
        if not self._removed:
            notify(self, "You removed no document here.")
            return
        done = await self.attempt(self.pipeline.restore_document(self._removed[-1]))
        if done is not None:
            self._removed.pop()
            notify(self, f'"{safe_line(done.title or done.source, _LONGEST_QUOTE)}" is back.')
            self.read()

    # Entities

    def end_search(self) -> None:
        """All entities again."""
        field = self.name_field
        field.value, self.query_text = "", ""
        field.display = False
        self.go_to("entities")
        self.read()

    def action_find(self) -> None:
        """Looks for an entity by its name."""
        field = self.name_field
        field.display = True
        self.go_to("entities")
        field.focus()

    @on(Input.Changed, "#query")
    def find(self, event: Input.Changed) -> None:
        """Entities as the name is typed."""
        event.stop()
        self.query_text = event.value.strip()
        self.read()

    @on(Input.Submitted, "#query")
    def found(self, event: Input.Submitted) -> None:
        """Enter goes to the list."""
        event.stop()
        self.go_to("entities")

    @work(group="open", exclusive=True, exit_on_error=False)
    async def action_resolve(self) -> None:
        """Asks about what may be outdated of the entity under the cursor, one after the other."""
        from core.pipeline.records import Entity

        row = self.entities.cursor_row
        page = None
        if row is not None and isinstance(row.data, Entity):
            page = await self.attempt(self.pipeline.entity(row.data.id))
        if page is None:
            return
        flagged = [one for one in page.attributes if one.review_needed]
        if not flagged:
            notify(self, "No statement about this entity may be outdated.")
            return
        said = {one.id: one.content for one in page.attributes}
        first = flagged[0]
        newer = said.get(first.superseded_by or 0, "") or first.superseded_why
        text = f'About "{page.entity.name}":\n\n{first.content}\n\nLater:\n\n{newer}'
        question = ConfirmScreen("Is the first statement outdated?", text, yes="outdated", no="both are true")
        question.keys += " · esc  later"

        def answered(outdated: bool | None) -> None:
            if outdated is not None:
                self._resolve(first.id, outdated, len(flagged) > 1)

        self.app.push_screen(question, answered)

    @work(group="decide", exit_on_error=False)
    async def _resolve(self, attribute_id: int, outdated: bool, more: bool) -> None:
        if await self.attempt(self.pipeline.resolve_outdated(attribute_id, outdated)) is None:
            return
        notify(self, "Marked as outdated." if outdated else "Both statements stay.")
        self.read()
        if more:
            self.action_resolve()

    def _entity_here(self) -> Entity | None:
        from core.pipeline.records import Entity

        row = self.entities.cursor_row
        return row.data if row is not None and isinstance(row.data, Entity) else None

    def action_merge(self) -> None:
        """Asks which entity is the same as the one under the cursor, and shows what a merge does."""
        from nuggets_tui.screens.entities import EntityPicker

        entity = self._entity_here()
        if entity is None:
            return
        kept = entity.id

        def chosen(other: int | None) -> None:
            if other is not None:
                self._review_merge(kept, other)

        self.app.push_screen(EntityPicker(self.pipeline, entity), chosen)

    @work(group="open", exclusive=True, exit_on_error=False)
    async def _review_merge(self, kept: int, other: int) -> None:
        from nuggets_tui.screens.entities import MergeReview

        pages = [await self.attempt(self.pipeline.entity(one)) for one in (kept, other)]
        if pages[0] is not None and pages[1] is not None:
            self.app.push_screen(MergeReview(pages[0], pages[1]), self._reviewed_merge)

    def _reviewed_merge(self, ids: tuple[int, int] | None) -> None:
        if ids is not None:
            self._change_entity(self.pipeline.merge_entities(*ids))

    def action_name(self) -> None:
        """Gives the entity under the cursor another name."""
        from nuggets_tui.screens.entities import AliasScreen

        entity = self._entity_here()
        if entity is None:
            return
        entity_id = entity.id

        def named(name: str | None) -> None:
            if name is not None:
                self._change_entity(self.pipeline.name_entity(entity_id, name))

        self.app.push_screen(AliasScreen(entity), named)

    @work(group="decide", exit_on_error=False)
    async def _change_entity(self, asked: Coroutine[object, object, EntityChange | None]) -> None:
        try:
            change = await asked
        except NuggetsError as error:
            notify_error(self, error)
            return
        if change is None:
            notify(self, "The entity has this name already.")
            return
        self._done.append(change.id)
        name, entity = (safe_line(one, _LONGEST_QUOTE) for one in (change.name, change.entity))
        said = (
            f'Merged "{name}" into "{entity}"'
            if change.kind == "merged"
            else f'"{name}" means "{entity}" now'
        )
        notify(self, f"{said}. u undoes it.")
        self.read()

    @work(group="decide", exit_on_error=False)
    async def action_pin(self) -> None:
        """Pins the entity under the cursor, or lets it go."""
        from core.pipeline.records import Entity

        row = self.entities.cursor_row
        if row is None or not isinstance(row.data, Entity):
            return
        await self.attempt(self.pipeline.pin(row.data.id, not row.data.pinned))
        self.read()


# By what has the cursor.
KEYS: Final = {
    "proposals": (
        "a  accept · x  refuse · space  select · A  accept above … · v  decided · u  undo · n  submit · "
        "?  help · esc  close"
    ),
    "work": (
        "r  retry · R  retry all · x  remove text … · u  bring back · p  pause · n  submit · ?  help · esc  close"
    ),
    "entities": (
        "/  find · m  merge · o  other name · u  undo · P  pin · s  resolve · n  submit · tab  read · ?  help · "
        "esc  close"
    ),
    "health": "f  repair … · p  pause · n  submit · tab  read · ?  help · esc  close",
    "documents": "d  add · x  remove · u  bring back · tab  read · ?  help · esc  close",
    "sessions": "tab  read · ?  help · esc  close",
    "details": "↑↓  scroll · tab  back to the list · esc  close",
    "query": "⏎  go to the list · esc  show all",
}
# Where the line has no room for all of them, the help has the rest.
NARROW_KEYS: Final = KEYS | {
    "proposals": "a  accept · x  refuse · space  select · A  above · u  undo · ?  help · esc  close",
    "work": "r  retry · R  all dead · x  remove · u  undo · n  submit · ?  help · esc  close",
    "entities": "/  find · m  merge · o  other name · u  undo · P  pin · ?  help · esc  close",
}
# Where no proposal waits.
NO_PROPOSAL_KEYS: Final = "n  submit · v  decided · u  undo · tab  read · ?  help · esc  close"
# Before anything was handed in.
FIRST_KEYS: Final = "n  submit · tab  read · ?  help · esc  close"
HERE: Final = Here(
    "Pipeline",
    "Turns submitted texts into notes. Proposals are changes that wait for your decision, each with "
    "its source sentence; accept writes them. Jobs run, wait or failed. Entities are names in the "
    "texts, with what the texts say about them. Documents are files and pages that a search finds. "
    "Sessions are those of agents, with what each was given, whether it helped, and what it left. "
    "Health scores each part, recommends repairs, and shows the model, today's calls and errors in the "
    "configuration.",
    (
        ("1 2 3 4 5 6  ← →", "go to a list; the current one is the largest"),
        ("tab  ⏎", "go to the details, to scroll them; tab goes back"),
        (
            "a  x",
            "proposals: accept or refuse; for several, a review comes first",
        ),
        ("space  shift+↑↓", "proposals: select; ctrl+a selects all"),
        ("+  ~  ⊘  =", "proposals: add, change or hide a note; = already known; ! check it"),
        ("A", "proposals: review all above a confidence"),
        ("v", "proposals: show decided ones too"),
        ("u", "undo what you accepted, refused, merged or named here last"),
        ("r  R", "jobs: retry a dead one; retry all"),
        ("x  u", "jobs: remove the text and hide its notes, after a look; bring it back"),
        ("/", "entities: find by part of a name"),
        ("P", "entities: pin or unpin"),
        ("s", "entities: decide which statements are outdated"),
        ("m", "entities: merge another one into it, after a look; u undoes it"),
        ("o", "entities: give it another name, under which later texts mean it"),
        ("f", "health: see what the recommended repairs would do, then run them"),
        ("p", "pause or resume all programs; you can still submit texts"),
        ("n", "submit a text"),
        ("d", "add a document: a file or a page"),
        ("x  u", "documents: remove one; bring the last one back"),
        ("esc  i", "close"),
    ),
)
