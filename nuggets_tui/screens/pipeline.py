"""The Pipeline page: what is worked on, documents, sessions of agents, and how healthy it all is."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple, cast

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import DescendantFocus, Resize
from textual.widgets import Static

from core.errors import NuggetsError
from core.verbs import add_document
from nuggets_tui.notices import notify, notify_error, warn
from nuggets_tui.pipeline_session import BY, PipelineSession, PipelineView
from nuggets_tui.pipeline_status import STATUS_ICONS, WORDS
from nuggets_tui.pipeline_words import (
    SHORT_MODES,
    counts,
    mode_of,
    model_state,
    removed_at,
    run_words,
)
from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.screens.dialog import AskScreen, Dialog, Here, LinesReview, key_content
from nuggets_tui.screens.typed import TypedDialog
from nuggets_tui.session import Session
from nuggets_tui.widgets import pipeline_details as details
from nuggets_tui.widgets.fields import CompletedField, TextField, nugget_offers
from nuggets_tui.widgets.line_view import LineView, MakeLines
from nuggets_tui.widgets.row_list import Row, RowList
from nuggets_tui.widgets.row_text import MUTED
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.model.snapshot import Snapshot
    from core.pipeline.health import MaintenanceAction
    from core.pipeline.records import Document, HistoryRow, RawMemory
    from core.pipeline.service import Pipeline
    from nuggets_tui.pipeline_session import KeptOfSession
    from nuggets_tui.screens.typed import TypedTextStore


_EVERY: Final = 1.0
# Times on screen are told anew after so many looks at which nothing had changed.
_AGES: Final = 5
# Lines of the stack below which the lists without the cursor show their title alone.
_ROOMY: Final = 26
_KEPT: Final = 200
_STALE: Final = object()


class ListOf(NamedTuple):
    """One list. about: the title of what its row is about. keys: of its line, as `key_content` takes them."""

    title: str
    about: str
    empty: str
    keys: str


class ListsScreen(Dialog[None]):
    """Reads once a second while it is open. The list in use has the most room.

    news: told after each decision that may have changed the memory.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "list_beside(1)", show=False),
        Binding("left", "list_beside(-1)", show=False),
        Binding("tab", "switch", show=False, priority=True),
        Binding("u", "undo", show=False),
        Binding("q", "close", show=False),
    ]
    LISTS: ClassVar[Mapping[str, ListOf]]
    HERE: ClassVar[Here]
    # Ids of lists whose rows can be selected.
    MULTI: ClassVar[frozenset[str]] = frozenset()

    said = getters.query_one("#lists-said", Static)
    details_view = getters.query_one("#details", LineView)

    def __init__(self, pipeline: PipelineSession, session: Session, news: Callable[[], None]) -> None:
        super().__init__(classes="full lists")
        self.pipeline = pipeline
        self.session = session
        self.now_shown: PipelineView | None = None
        self.news = news
        self.open_list = next(iter(self.LISTS))
        # What takes back what was done here, the latest last; each says what became of it, "" where it failed.
        self.undoing: list[Callable[[], Awaitable[str]]] = []
        self._chosen = False
        self._same = self._reading = 0
        self._trouble: tuple[object, ...] = ()
        # What was read for the details, by the row that it is about, and of which state of that row.
        self.read_of: dict[str, tuple[object, object]] = {}
        self._about = ""

    def compose_inside(self) -> ComposeResult:
        yield Static(id="lists-said")
        with Horizontal(id="lists-sides"):
            with Vertical(id="stack"):
                for name, one in self.LISTS.items():
                    yield RowList(
                        id=name, classes="pane", multi_select=name in self.MULTI, empty_text=one.empty
                    )
            yield LineView(id="details", classes="pane")

    def on_mount(self) -> None:
        self.go_to(self.open_list)
        self.read()
        self.set_interval(_EVERY, self._refresh)

    # What is shown

    async def load(self) -> PipelineView:
        """Everything as it is now. Errors as `PipelineSession.shown`."""
        return await self.pipeline.shown()

    def show(self, shown: PipelineView) -> None:
        raise NotImplementedError

    def lines_of(self, shown: PipelineView, row: Row | None) -> tuple[MakeLines, str]:
        """What a row is about, and the key by which `fetch` is to read more of it, "" for nothing."""
        raise NotImplementedError

    async def fetch(self, wanted: str) -> object:
        """What else belongs to a row. None where it cannot be read, which was said."""
        raise NotImplementedError

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
            shown = await self.load()
        except RuntimeError:
            # The memory was left meanwhile.
            return
        except NuggetsError as error:
            # Asked every second, it is said once.
            if error.identity != self._trouble:
                self._trouble = error.identity
                icon, style = STATUS_ICONS["stuck"]
                told = f"{icon} cannot be read now"
                told += "; this is the last known state" if self.now_shown else ""
                self.said.update(Content.styled(told, f"bold {style}"))
                notify_error(self, error)
            return
        finally:
            self._reading -= 1
        if not self.is_mounted:
            return
        over, self._trouble = bool(self._trouble), ()
        self._same += 1
        running = shown.status.running is not None
        if shown == self.now_shown and not (running or over) and self._same < _AGES:
            return
        self._same = 0
        self.now_shown = shown
        self.show(shown)
        self.refresh_keys()
        self.show_details()

    def list_of(self, name: str) -> RowList:
        return self.query_one(f"#{name}", RowList)

    def name_list(self, name: str, told: str) -> None:
        """Puts a list's number and title above it, with a few words of how it stands."""
        one = self.LISTS[name]
        number = f"{list(self.LISTS).index(name) + 1} " if len(self.LISTS) > 1 else ""
        self.list_of(name).border_title = Content(f"{number}{one.title}" + (f"  {told}" if told else ""))

    # From list to list

    def go_to(self, name: str) -> None:
        """Gives a list the cursor and the room; the others keep their titles, and a few rows where there is room."""
        self.open_list = name
        for other in self.LISTS:
            self.list_of(other).set_class(other == name, "-open")
        self.set_focus(self.list_of(name))
        self.show_details()

    def action_list(self, name: str) -> None:
        if self.list_of(name).display:
            self._chosen = True
            self.go_to(name)

    def action_list_beside(self, step: int) -> None:
        there = [name for name in self.LISTS if self.list_of(name).display]
        self.action_list(there[(there.index(self.open_list) + step) % len(there)])

    @property
    def chosen(self) -> bool:
        return self._chosen

    def action_switch(self) -> None:
        text = self.details_view
        self.set_focus(self.list_of(self.open_list) if text.has_focus else text)

    @on(RowList.RowSelected)
    def open_row(self, event: RowList.RowSelected) -> None:
        event.stop()
        self.details_view.focus()

    @on(DescendantFocus)
    def follow(self, event: DescendantFocus) -> None:
        name = event.widget.id or ""
        if name in self.LISTS and name != self.open_list:
            self._chosen = True
            self.go_to(name)
        self.refresh_keys()

    @on(Resize)
    def fit(self) -> None:
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        if self.is_mounted:
            stack = self.query_one("#stack")
            stack.set_class(stack.size.height < _ROOMY and len(self.LISTS) > 1, "-tight")
            self.refresh_keys()

    def key_line(self) -> Content:
        if self.focused is not None and self.focused.id == "details":
            return key_content("↑↓  scroll · tab  back to the list · esc  close")
        return key_content(f"{self.LISTS[self.open_list].keys} · ?  help · esc  close")

    def here(self) -> Here:
        return self.HERE

    # What the row under the cursor is about

    @property
    def row(self) -> Row | None:
        """The row under the cursor of the list in use."""
        return self.list_of(self.open_list).cursor_row

    @on(RowList.RowHighlighted)
    def show_row(self, event: RowList.RowHighlighted) -> None:
        event.stop()
        if event.row_list.id == self.open_list:
            self.show_details()

    def show_details(self) -> None:
        """Shows what the row under the cursor is about; reads what it needs for that."""
        shown = self.now_shown
        if shown is None:
            return
        row = self.row
        about = f"{self.open_list} {row.key if row is not None else ''}"
        make, wanted = self.lines_of(shown, row)
        text = self.details_view
        text.show_lines(make, keep_scroll=about == self._about)
        text.border_title = Content(self.LISTS[self.open_list].about if row is not None else "Status")
        self._about = about
        if wanted:
            self._fetch(wanted, row.data if row is not None else None)

    def known(self, key: str, data: object) -> tuple[object, str]:
        """What was read of a row, None before; and the key to fetch it by, "" where it is of this state of the row."""
        of, found = self.read_of.get(key, (None, None))
        return found, "" if of == data and found is not None else key

    @work(group="details", exclusive=True, exit_on_error=False)
    async def _fetch(self, wanted: str, data: object) -> None:
        found = await self.fetch(wanted)
        if found is None:
            return
        if len(self.read_of) > _KEPT:
            self.read_of.clear()
        self.read_of[wanted] = (data, found)
        if self.is_mounted:
            self.show_details()

    # What is done here

    def done(self, said: str, undo: Callable[[], Awaitable[str]] | None = None) -> None:
        """Says what was done here and how it is taken back, and shows everything as it is then."""
        if undo is not None:
            self.undoing.append(undo)
            said += ". u undoes it"
        notify(self, f"{said}.")
        # What was read of rows stands there until it is read again.
        self.read_of = {key: (_STALE, found) for key, (_, found) in self.read_of.items()}
        self.news()
        self.read()

    def action_undo(self) -> None:
        self._undo_last()

    @work(group="decide", exclusive=True, exit_on_error=False)
    async def _undo_last(self) -> None:
        if not self.undoing:
            notify(self, "There is nothing to undo here. Older changes are in the audit log.")
            return
        said = await self.attempt(self.undoing[-1]())
        if said:
            self.undoing.pop()
            self.done(said)


# The health is measured so often, and seldom while another list is in use: that takes a moment with a large memory.
_MEASURE_EVERY: Final = 5.0
_SELDOM: Final = 12
_LONGEST_SAID: Final = 300
_QUOTE: Final = 60
# Before anything was handed in.
_FIRST_KEYS: Final = "n  submit · tab  read · ?  help · esc  close"


class PipelineScreen(ListsScreen):
    """Jobs, documents, sessions, where there are any, and health.

    text_store_of: where a text is kept that is typed and not handed in yet.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(str(number), f"list('{name}')", show=False)
            for number, name in enumerate(("work", "documents", "sessions", "health"), 1)
        ),
        Binding("r", "retry", show=False),
        Binding("R", "retry_all", show=False),
        Binding("x", "remove", show=False),
        Binding("p", "pause", show=False),
        Binding("n", "submit", show=False),
        Binding("d", "add_document", show=False),
        Binding("f", "repair", show=False),
    ]
    LISTS = {  # noqa: RUF012  As in the base.
        "work": ListOf(
            "Jobs", "Job", "No jobs.\nn submits a text.",
            "r  retry · R  retry all · x  remove text … · u  bring back · p  pause · n  submit",
        ),
        "documents": ListOf(
            "Documents", "Document", "No documents.\nd adds a file or a page.",
            "d  add · x  remove · u  bring back · tab  read",
        ),
        "sessions": ListOf("Sessions", "Session", "No sessions.", "tab  read"),
        "health": ListOf("Health", "Health", "", "f  repair … · p  pause · n  submit · tab  read"),
    }  # fmt: skip
    HERE = Here(
        "Pipeline",
        "Turns submitted texts into notes; its proposals wait in the Inbox. Jobs run, wait or failed. Documents are "
        "files and pages that a search finds. Sessions are those of agents, with what each was given, whether it "
        "helped, and what it left. Health scores each part, recommends repairs, and shows the model, today's calls "
        "and errors in the configuration.",
        (
            ("1 2 3 4  ← →", "go to a list; the current one is the largest"),
            ("tab  ⏎", "go to the details, to scroll them; tab goes back"),
            ("r  R", "jobs: retry a dead one; retry all"),
            ("x  u", "jobs: remove the text and hide its notes, after a look; bring it back"),
            ("d", "add a document: a file or a page"),
            ("x  u", "documents: remove one; bring the last one back"),
            ("f", "health: see what the recommended repairs would do, then run them"),
            ("p", "pause or resume all programs; you can still submit texts"),
            ("n", "submit a text"),
            ("esc", "close"),
        ),
    )
    heading = "Pipeline: from texts to notes"
    text_store_of: Callable[[], TypedTextStore | None] = staticmethod(lambda: None)
    # How often it was time to measure the health.
    _measures = 0

    def on_mount(self) -> None:
        self.list_of("sessions").display = False
        self._measure()
        self.set_interval(_MEASURE_EVERY, self._measure)

    # What is shown

    def show(self, shown: PipelineView) -> None:
        """Fills the lists; somebody who chose none begins where there is something."""
        first = shown.begun and not self.chosen and not shown.jobs and self.open_list == "work"
        now, status = self.session.clock(), shown.status
        self._show_status(shown)
        self.list_of("work").set_rows(details.work_rows(shown.jobs, now, status.jobs))
        self.list_of("documents").set_rows([details.document_row(one) for one in shown.documents])
        sessions = self.list_of("sessions")
        sessions.display = bool(shown.sessions)
        sessions.set_rows([details.session_row(one, now) for one in shown.sessions])
        self._show_health(shown)
        self.name_list("work", counts(status))
        self.name_list("documents", f"{status.documents:,} searchable" if status.documents else "")
        self.name_list("sessions", f"{len(shown.sessions):,}")
        if first:
            self.go_to("health")

    def _show_health(self, shown: PipelineView, *, keep_cursor: bool = True) -> None:
        measured = self.pipeline.measured if shown.begun else None
        rows = details.health_rows(shown.status, measured, self.session.clock()) if shown.begun else []
        self.list_of("health").set_rows(rows, keep_cursor=keep_cursor)
        self.name_list("health", "" if measured is None else f"{measured.status} {measured.score:.0%}")

    @work(group="measure", exclusive=True, exit_on_error=False)
    async def _measure(self) -> None:
        """How healthy everything is; seldom while something else is looked at."""
        self._measures += 1
        if self.open_list != "health" and self._measures % _SELDOM != 1:
            return
        first = self.pipeline.measured is None
        # What cannot be read is said by the look at everything else.
        with contextlib.suppress(NuggetsError, RuntimeError):
            await self.pipeline.measure()
        if self.is_mounted and self.now_shown is not None:
            self._show_health(self.now_shown, keep_cursor=not first)
            if self.open_list == "health":
                self.show_details()

    def _show_status(self, shown: PipelineView) -> None:
        """The status icon, and what it means."""
        status = shown.status
        light = str(status.light) if shown.begun else "off"
        icon, style = STATUS_ICONS[light]
        parts = [
            Content(SHORT_MODES[mode_of(status)]),
            *([Content(counts(status))] if counts(status) else []),
        ]
        provider = status.provider
        if provider is not None and provider.state == "off":
            parts.append(Content("no model"))
        elif provider is not None:
            parts.append(content(f"{provider.name} {provider.model}".strip() + f" {model_state(provider)}"))
            parts.append(Content(f"{provider.calls_today:,} of {provider.budget:,} calls today"))
        if status.warnings:
            parts.append(Content.styled(f"! {plural(len(status.warnings), 'warning')}", "$text-warning"))
        head = f"{icon} {WORDS[light] if shown.begun else 'nothing submitted yet'}"
        first = Content.assemble(
            (head, f"bold {style}"), (" · ", MUTED), Content.styled(" · ", MUTED).join(parts)
        )
        # In words of the command line, where this is not.
        begins = not shown.begun and status.light != "off"
        why = details.with_commands("`n` submits a first text" if begins else status.why)
        self.said.update(Content("\n").join((first, why)))

    def key_line(self) -> Content:
        if self.now_shown is not None and not self.now_shown.begun:
            return key_content(_FIRST_KEYS)
        return super().key_line()

    def lines_of(self, shown: PipelineView, row: Row | None) -> tuple[MakeLines, str]:
        from core.pipeline.health import HealthDomain, HealthReport, Recommendation
        from core.pipeline.records import Document, Job, SessionOverview

        now, data = self.session.clock(), row.data if row is not None else None
        if not shown.begun:
            return partial(details.beginning_lines, shown.status), ""
        if isinstance(data, Job):
            wanted = data.target if data.type == "extract" else ""
            found, wanted = self.known(wanted, data) if wanted else (None, "")
            raw, history = cast("tuple[RawMemory | None, tuple[HistoryRow, ...]]", found or (None, ()))
            return partial(details.job_lines, data, raw, history, now), wanted
        if isinstance(data, Document):
            left = (one for one in shown.jobs if one.target == data.id and one.status != "completed")
            return partial(details.document_lines, data, now, job=next(left, None)), ""
        if isinstance(data, SessionOverview):
            found, wanted = self.known(data.session, data)
            kept = cast("KeptOfSession", found or (None, None))
            by_id = self.session.snapshot.by_id
            given = kept[0].memories if kept[0] is not None else ()
            noted = {one.note_id: by_id[one.note_id].title for one in given if one.note_id in by_id}
            return partial(details.session_lines, data, kept, noted, now), wanted
        if row is not None and row.key.startswith("warning"):
            return partial(details.warning_lines, data), ""  # type: ignore[arg-type]
        if isinstance(data, HealthDomain):
            return partial(details.domain_lines, data), ""
        measured, status = self.pipeline.measured, shown.status
        if isinstance(data, HealthReport | Recommendation) and measured is not None:
            return lambda width: [
                *details.report_lines(measured, now, width),
                Content(""),
                *details.health_lines(status, now, width),
            ], ""
        return partial(details.health_lines, status, now), ""

    async def fetch(self, wanted: str) -> object:
        """A session's page, or a submitted text with what came of it."""
        if self.open_list == "sessions":
            return await self.attempt(self.pipeline.session_page(wanted))
        raws = await self.attempt(self.pipeline.raws((wanted,)))
        history = await self.attempt(self.pipeline.ask(lambda pipeline: pipeline.history(wanted)))
        return (raws.get(wanted), history or ()) if raws is not None else None

    # Jobs

    @work(group="decide", exit_on_error=False)
    async def action_retry(self) -> None:
        from core.pipeline.records import Job

        job = self.row.data if self.row is not None else None
        if not isinstance(job, Job):
            return
        if job.status not in ("dead", "pending") and not (job.status == "completed" and job.unread):
            notify(self, "Only dead or failed jobs, and texts that were not read whole, can be retried.")
        elif await self.attempt(self.pipeline.ask(lambda pipeline: pipeline.retry(job.id))) is not None:
            rest = job.status == "completed"
            self.done("The rest of the text will be read" if rest else "The job will be retried")

    @work(group="decide", exit_on_error=False)
    async def action_retry_all(self) -> None:
        if self.open_list != "work" or not self.pipeline.begun:
            return
        count = await self.attempt(self.pipeline.ask(lambda pipeline: pipeline.retry_dead()))
        if count is not None:
            self.done(f"Retrying {plural(count, 'dead job')}" if count else "There are no dead jobs")

    @work(group="decide", exit_on_error=False)
    async def action_pause(self) -> None:
        if not self.pipeline.begun:
            return
        paused = await self.attempt(self.pipeline.ask(_pause_or_resume))
        if paused is not None:
            self.done("Paused: no program processes texts of this memory. p resumes" if paused else "Resumed")

    def action_submit(self) -> None:

        screen = SubmitScreen(self.pipeline, self.session.snapshot, text_store=self.text_store_of())
        self.app.push_screen(screen, self._submitted)

    def _submitted(self, said: str | None) -> None:
        if said:
            self.done(said.removesuffix("."))

    # What is removed and comes back

    def action_remove(self) -> None:
        if self.open_list == "documents":
            self._remove_document()
        elif self.open_list == "work":
            self._review_removal()

    @work(group="decide", exit_on_error=False)
    async def _remove_document(self) -> None:
        row = self.row
        if row is None:
            return
        id = row.key
        done = await self.attempt(self.pipeline.ask(lambda pipeline: pipeline.documents.remove(id)))
        if done is not None:
            self.done(f"Removed {_named(done)}", partial(self._restore_document, id))

    async def _restore_document(self, id: str) -> str:
        return f"{_named(await self.pipeline.ask(lambda pipeline: pipeline.documents.restore(id)))} is back"

    def _text_here(self) -> str:
        """The id of the text that the job under the cursor reads; "" for none."""
        from core.pipeline.records import Job

        row = self.list_of("work").cursor_row
        job = row.data if row is not None else None
        return job.target if isinstance(job, Job) and job.type == "extract" else ""

    @work(group="open", exclusive=True, exit_on_error=False)
    async def _review_removal(self) -> None:
        """Shows what becomes of the text under the cursor and of its notes; removes it after a yes."""
        raw_id = self._text_here()
        if not raw_id:
            notify(self, "This job is about no text. Documents are removed in Documents.")
            return
        planned = await self.attempt(self.pipeline.ask(lambda pipeline: pipeline.plan_removal(raw_id)))
        found = await self.attempt(self.pipeline.raws((raw_id,))) if planned is not None else None
        if planned is None or not found:
            return
        by_id = self.session.snapshot.by_id
        shown = [by_id[id].title if id in by_id else id for id in planned.notes]
        review = LinesReview(
            "Remove this text?",
            partial(details.removal_lines, planned, shown, found[raw_id]),
            yes="remove",
            about="Nothing is done before you press y. In Jobs, u brings it back with its notes.",
        )
        self.if_sure(review, lambda: self._remove_text(raw_id))

    @work(group="decide", exit_on_error=False)
    async def _remove_text(self, raw_id: str) -> None:
        done = await self.attempt(self.pipeline.tell(lambda pipeline: pipeline.remove_text(raw_id, by=BY)))
        if done is not None:
            hidden = f", {plural(len(done.notes), 'note')} hidden" if done.notes else ""
            self.done(f"Removed the text{hidden}", partial(self._restore_text, raw_id))

    async def _restore_text(self, raw_id: str) -> str:
        done = await self.pipeline.tell(lambda pipeline: pipeline.restore_text(raw_id, by=BY))
        shown = f", {plural(len(done.notes), 'note')} shown" if done.notes else ""
        left = f", {plural(len(done.left), 'note')} said again meanwhile" if done.left else ""
        return f"The text is back{shown}{left}"

    def action_undo(self) -> None:
        raw_id = self._text_here() if self.open_list == "work" else ""
        _, history = cast("tuple[object, tuple[HistoryRow, ...]]", self.read_of.get(raw_id, (0, (0, ())))[1])
        if removed_at(history) is not None and not self.undoing:
            self.undoing.append(partial(self._restore_text, raw_id))
        super().action_undo()

    # Documents and health

    def action_add_document(self) -> None:

        self.app.push_screen(document_screen(self.pipeline), self._submitted)

    @work(group="open", exclusive=True, exit_on_error=False)
    async def action_repair(self) -> None:
        from core.pipeline.health import Recommendation

        row, report = self.row, self.pipeline.measured
        if self.open_list != "health":
            return
        if row is not None and isinstance(row.data, Recommendation):
            wanted: tuple[MaintenanceAction, ...] = (row.data.action,)
        else:
            wanted = tuple(one.action for one in report.recommendations) if report is not None else ()
        if not wanted:
            notify(self, "Nothing is recommended." if report else "The health is not measured yet.")
            return
        plans = await self.attempt(
            self.pipeline.ask(
                lambda pipeline: tuple(pipeline.maintenance_plan(one, force=True) for one in wanted)
            )
        )
        if plans is None:
            return
        review = LinesReview(
            "Repair this?",
            partial(details.plan_lines, plans, self.session.clock()),
            yes="run",
            about="Nothing is done before you press y. Repairs hide, merge and change no note; what they did is listed "
            "after.",
        )
        self.if_sure(review, lambda: self._repair(wanted))

    @work(group="decide", exit_on_error=False)
    async def _repair(self, actions: tuple[MaintenanceAction, ...]) -> None:
        runs = await self.attempt(self.pipeline.tell(lambda pipeline: pipeline.maintain(actions, force=True)))
        if runs is None:
            return
        await self.attempt(self.pipeline.measure())
        now = self.session.clock()
        said = safe_line("; ".join(run_words(run, now) for run in runs), _LONGEST_SAID)
        failed = any(run.status in ("denied", "failed") for run in runs)
        (warn if failed else notify)(self, f"{said[:1].upper()}{said[1:]}.")
        self.news()
        self.read()


def _pause_or_resume(pipeline: Pipeline) -> bool:
    if pipeline.paused:
        pipeline.resume()
    else:
        pipeline.pause(0)
    return pipeline.paused


def _named(document: Document) -> str:
    return f'"{safe_line(document.title or document.source, _QUOTE)}"'


class SubmitScreen(TypedDialog[str]):
    """Takes a text and hands it in; answers with what became of it."""

    heading = "Submit a text"
    keys = "ctrl+s  submit · tab  next field · esc  close"
    about = (
        "A summary, a decision or a paragraph for fact extraction. It is kept word for word. New "
        "facts are proposed, or written as notes of the nugget you name."
    )
    not_saved = "It is not submitted. What you typed is still here; ctrl+s tries again."
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "submit", "submit", show=False)]

    def __init__(
        self,
        pipeline: PipelineSession,
        snapshot: Snapshot,
        *,
        typed: Mapping[str, str] | None = None,
        text_store: TypedTextStore | None = None,
    ) -> None:
        super().__init__(classes="large")
        self._pipeline = pipeline
        self._snapshot = snapshot
        self.typed = typed
        self.text_store = text_store

    def compose_inside(self) -> ComposeResult:
        typed = self.typed or {}
        yield TextField("a paragraph, a decision or a whole session", typed.get("text", ""), id="text")
        yield CompletedField(
            "Nugget for its notes",
            typed.get("nugget", ""),
            id="nugget",
            hint="memory, if left empty",
            offers_for=partial(nugget_offers, self._snapshot),
        )

    def on_mount(self) -> None:
        self.query_one("#text").focus()

    @property
    def values(self) -> dict[str, str]:
        return {
            "text": self.query_one("#text", TextField).text,
            "nugget": self.query_one("#nugget", CompletedField).value,
        }

    @property
    def begun(self) -> Mapping[str, str]:
        return {"text": "", "nugget": ""}

    def action_submit(self) -> None:
        values = self.values
        if values["text"].strip():
            self._submit(values["text"], values["nugget"].strip())
        else:
            self.dismiss(None)

    @work(group="save", exclusive=True, exit_on_error=False)
    async def _submit(self, text: str, nugget: str) -> None:
        done = await self.attempt(
            self._pipeline.ask(lambda pipeline: pipeline.ingest(text, nugget=nugget, author=BY))
        )
        if done is None:
            return
        if done.status == "duplicate":
            said = "This text was submitted before. Nothing is extracted again."
        elif done.status == "held":
            said = "Submitted. The pipeline is frozen; the text waits until you turn that off."
        else:
            found = len(done.entities)
            said = "Submitted" + (f"; it names {plural(found, 'entity', 'entities')}" if found else "")
            said += await self._what_follows()
        self.dismiss(said)

    async def _what_follows(self) -> str:
        """Whether a model reads the text now; nothing where that cannot be told, for it is submitted in any case."""
        try:
            status = await self._pipeline.ask(lambda pipeline: pipeline.status())
        except (NuggetsError, RuntimeError):
            # RuntimeError: the memory was left meanwhile.
            return "."
        if status.no_model:
            return ". It waits: no model is configured."
        if status.rests:
            return f". It waits: the pipeline is {WORDS[str(status.light)]}."
        return ". New facts are being extracted."


_ADDED: Final = {
    "new": "Added; it is being indexed.",
    "changed": "Added; it replaces its former version once it is indexed.",
    "known": "This document is there already.",
    "restored": "This document was removed; it is back.",
}


def document_screen(pipeline: PipelineSession) -> AskScreen[str]:
    """Asks for a document and adds it; answers with what became of it."""

    async def add(source: str) -> str:
        return _ADDED[(await pipeline.ask(lambda opened: add_document(opened, source))).outcome]

    said = (
        "A text, Markdown, HTML or PDF file, or a page of the web. A search finds its parts once it is indexed; a "
        "changed file or page replaces its former version."
    )
    return AskScreen(
        "Add a document", said, "File or address", add, hint="~/notes/design.md or https://…", does="add"
    )
