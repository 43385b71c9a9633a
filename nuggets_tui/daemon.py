"""The daemon: waits for the set time of one folder's daily pass, runs it, and works on texts that were handed in.

What else goes on beside it, such as syncs, is handed to it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from core.daily import DailyResult, DailyState, Presence, daily_state, run_daily_pass
from core.errors import NuggetsError
from core.model.names import iso
from nuggets_tui.words import describe_waiting_promotion, plural

if TYPE_CHECKING:
    from core.pipeline.models.provider import NamedProvider
    from core.pipeline.records import TickResult
    from core.pipeline.service import Pipeline

# However far the set time is: a clock that was set, a suspend and changed settings are noticed within this time.
LONGEST_WAIT: Final = 60.0
SHORTEST_WAIT: Final = 1.0


class Beside(Protocol):
    """Work that goes on beside the looking."""

    def start(self) -> None:
        """Begins in a thread of its own."""

    def stop(self) -> None:
        """Ends it, within seconds."""

    def once(self) -> bool:
        """Does what there is to do now; False when nothing could be done of it."""


class Together:
    """Several kinds of such work as one."""

    def __init__(self, *parts: Beside) -> None:
        self._parts = parts

    def start(self) -> None:
        for part in self._parts:
            part.start()

    def stop(self) -> None:
        for part in self._parts:
            part.stop()

    def once(self) -> bool:
        """Does what there is to do now of each; False when something could not be done."""
        # One that fails keeps no other from its work.
        done = [part.once() for part in self._parts]
        return all(done)


class Daemon:
    """Looks after one folder. What troubles it is said once, until it is over or something else does.

    clock: aware times. wait: waits so many seconds. report: takes a line of what happened, `chat` one that nobody
    needs. interval: seconds between two checks at most. zone: of the clock; None: the system's. beside: what is worked
    on meanwhile, for as long as the folder is this daemon's.
    """

    def __init__(
        self,
        home: Path,
        *,
        clock: Callable[[], datetime],
        wait: Callable[[float], None],
        report: Callable[[str], None],
        chat: Callable[[str], None] = lambda _: None,
        interval: float = LONGEST_WAIT,
        zone: tzinfo | None = None,
        beside: Beside | None = None,
    ) -> None:
        self.home = home
        self._clock = clock
        self._wait = wait
        self._report = report
        self._chat = chat
        self._interval = interval
        self._zone = zone
        self._beside = beside
        self._presence = Presence(home)
        self._since = iso(clock())
        self._trouble = ""

    def run(self, *, once: bool = False) -> bool:
        """Works until `wait` or a signal raises something; once: looks a single time. False when nothing could be done
        of what waits beside.

        Raises ConflictError when another daemon has the folder from the beginning.
        """
        with self._presence:
            self._presence.hold(self._since)
            if once:
                self.run_if_due()
                return self._beside is None or self._beside.once()
            try:
                if self._beside is not None:
                    self._beside.start()
                while True:
                    self._wait(self.run_if_due())
            finally:
                if self._beside is not None:
                    self._beside.stop()

    def run_if_due(self) -> float:
        """Looks whether the pass is due, runs it if so, and returns in how many seconds to look again."""
        trouble, seconds = "", self._interval
        try:
            self._presence.hold(self._since)
            now = self._clock()
            state = daily_state(self.home, now, self._zone)
            if state.why_never_unattended:
                trouble = state.why_never_unattended
            elif not state.daemon_applies:
                trouble = (
                    "schedule.daemon_applies is off in settings.toml: the daily pass does not "
                    "run until you turn it on"
                )
            elif state.unsure:
                trouble = f"{'; '.join(state.unsure)}; the daily pass does not run until this is fixed"
            elif state.due:
                trouble = self._pass()
            else:
                self._chat(f"next pass {state.next_due:%Y-%m-%d %H:%M %Z}")
                seconds = self._until(state, now)
        except NuggetsError as error:
            trouble = error.message
        except Exception as error:
            # Whatever it was, tomorrow is another day.
            trouble = f"this is a bug in nuggets-tui: {type(error).__name__}: {error}"
        if trouble and trouble != self._trouble:
            self._report(trouble)
        elif self._trouble and not trouble:
            self._report("the problem is over")
        self._trouble = trouble
        return seconds

    def _until(self, state: DailyState, now: datetime) -> float:
        ahead = state.next_due.timestamp() - now.timestamp()
        return min(self._interval, max(SHORTEST_WAIT, ahead))

    def _pass(self) -> str:
        """Runs the pass; what troubles it, "" for nothing."""
        from core.memory import Memory
        from core.model.change import Author

        memory = Memory.open(self.home, author=Author("reflection"), clock=self._clock)
        try:
            result = run_daily_pass(memory, self._clock, zone=self._zone)
            notices = memory.take_notices()
        finally:
            memory.close()
        for notice in notices:
            self._report(notice)
        return self._report_result(result)

    def _report_result(self, result: DailyResult) -> str:
        problems = "; ".join(problem.message for problem in result.problems)
        if result.ran and result.last is not None and result.reflection is not None:
            self._report(f"reflection: {result.summary}")
            if problems:
                self._report(problems)
            if result.asks is not None:
                self._report(describe_waiting_promotion(result.asks))
            return ""
        return problems or (result.summary if result.why_not == "no memory" else "")


# How soon a first text is noticed, and how soon a database that cannot be used is looked at again.
POLL_SECONDS: Final = 2.0
TROUBLE_SECONDS: Final = 60.0
# A model takes long to answer; who ends a daemon does not wait for that.
STOP_SECONDS: Final = 10.0


class PipelineBeside:
    """Works on the queue of one folder. report: takes a line of what went wrong. provider: instead of the configured.

    poll_seconds: between two looks for a first text.
    """

    def __init__(
        self,
        home: Path,
        *,
        clock: Callable[[], datetime],
        report: Callable[[str], None],
        provider: NamedProvider | None = None,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self._home = home
        self._poll_seconds = poll_seconds
        self._clock = clock
        self._out = report
        self._provider = provider
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._pipeline: Pipeline | None = None
        self._trouble = ""

    def start(self) -> None:
        """Begins to work; a folder where nothing was handed in is looked at again and again."""
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name="nuggets-pipeline-beside", daemon=True)
        self._thread.start()

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Ends the work; a job that takes longer than so many seconds is left for another worker."""
        self._stop.set()
        thread, self._thread = self._thread, None
        if thread is None:
            return
        thread.join(seconds)
        pipeline = self._pipeline
        if thread.is_alive() and pipeline is not None:
            pipeline.release_job()

    def once(self) -> bool:
        """Does all that can be done now. False when texts wait and none of them could be read."""
        pipeline = self._opened()
        if pipeline is None:
            return True
        with pipeline:
            work = _Once()
            try:
                pipeline.try_again()
                while work.goes_on(ticked := pipeline.tick()):
                    self._report_trouble("; ".join(ticked.warnings))
                self._report_trouble("; ".join(ticked.warnings))
                # Nobody is there to end a rest: whoever works next need not wait for it.
                pipeline.try_again()
            except NuggetsError as error:
                self._report_trouble(error.message)
                work.failed = True
            return self._report_once(work, pipeline)

    def _report_once(self, work: _Once, pipeline: Pipeline) -> bool:
        """Says what came of the work, and what could not be done; whether that is well."""
        if work.read or work.written:
            self._report(_done(work.read, work.written, pipeline))
        if work.indexed:
            self._report(f"{plural(work.indexed, 'document')} indexed")
        try:
            waiting, status = pipeline.texts_waiting(), pipeline.status()
            on_purpose = status.frozen or pipeline.paused or status.mode == "off"
            last = next((job.error for job in pipeline.jobs(most=50) if job.error), "")
        except NuggetsError:
            return False
        if waiting and not (on_purpose or self._trouble):
            self._report(f"{plural(waiting, 'text')} could not be read: {last or status.why}")
        return bool(work.progressed or on_purpose or not (waiting or work.died or work.failed))

    def _run(self) -> None:
        while not self._stop.is_set():
            self._pipeline = pipeline = self._opened()
            if pipeline is not None:
                with pipeline:
                    pipeline.run(self._stop, self._report)
            self._stop.wait(TROUBLE_SECONDS if self._trouble else self._poll_seconds)

    def _opened(self) -> Pipeline | None:
        from core.model.change import Author
        from core.pipeline.modes import has_work
        from core.pipeline.service import Pipeline

        try:
            if not has_work(self._home):
                return None
            opened = Pipeline.open(
                self._home, author=Author("pipeline"), clock=self._clock, provider=self._provider
            )
        except NuggetsError as error:
            self._report_trouble(error.message)
            return None
        if opened.notice:
            self._report(opened.notice)
        self._report_trouble("; ".join(warning.message for warning in opened.warnings))
        return opened

    def _report(self, line: str) -> None:
        self._out(f"pipeline: {line}")

    def _report_trouble(self, trouble: str) -> None:
        """Says what is wrong, once until it is over or something else is."""
        if trouble and trouble != self._trouble:
            self._report(trouble)
        self._trouble = trouble


@dataclass
class _Once:
    """What came of working off the queue a single time. progressed: whether any text was read, or a part of one."""

    read: int = 0
    indexed: int = 0
    written: int = 0
    died: int = 0
    progressed: bool = False
    failed: bool = False
    _seen: set[tuple[object, ...]] = field(default_factory=set)

    def goes_on(self, ticked: TickResult) -> bool:
        """Takes in what a tick did; whether another one has anything to do."""
        job = ticked.job
        self.written += ticked.notes
        if job is not None and job.type == "extract":
            self.read += job.status == "completed"
            self.died += job.status == "dead"
            self.progressed |= ticked.read
        elif job is not None and job.type == "document_ingest":
            self.indexed += job.status == "completed"
            self.died += job.status == "dead"
            self.progressed |= ticked.read
        if job is None or job.status != "pending":
            return ticked.did_something
        # Nobody waits here until the same is tried again.
        came_back = not ticked.read and (job.id, job.attempts) in self._seen
        self._seen.add((job.id, job.attempts))
        return not came_back


def _done(read: int, written: int, pipeline: Pipeline) -> str:
    """What came of the work, in a line."""
    said = f"{plural(read, 'text')} read, {plural(written, 'note')} written"
    with contextlib.suppress(NuggetsError):
        waiting = pipeline.status().proposals_open
        if waiting:
            said += f"; {plural(waiting, 'proposal')} to decide: nuggets pipeline proposals"
    return said
