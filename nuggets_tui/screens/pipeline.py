"""The Pipeline page: what is worked on, documents, sessions of agents, and how healthy it all is."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content

from core.errors import NuggetsError
from nuggets_tui.notices import notify, warn
from nuggets_tui.pipeline_session import BY, PipelineView
from nuggets_tui.pipeline_status import STATUS_ICONS, WORDS
from nuggets_tui.pipeline_words import SHORT_MODES, counts, mode_of, model_state, removed_at, run_words
from nuggets_tui.safe_text import content, safe_line
from nuggets_tui.screens.basic import LinesReview
from nuggets_tui.screens.dialog import key_content
from nuggets_tui.screens.help import Here
from nuggets_tui.screens.lists import ListOf, ListsScreen
from nuggets_tui.widgets import pipeline_details as details
from nuggets_tui.widgets.line_view import MakeLines
from nuggets_tui.widgets.row_list import Row
from nuggets_tui.widgets.row_text import MUTED
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.pipeline.health import MaintenanceAction
    from core.pipeline.records import Document, HistoryRow, RawMemory
    from core.pipeline.service import Pipeline
    from nuggets_tui.pipeline_session import KeptOfSession
    from nuggets_tui.typed_text import TypedTextStore

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
        from nuggets_tui.screens.pipeline_intake import SubmitScreen

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
        from nuggets_tui.screens.pipeline_intake import document_screen

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
