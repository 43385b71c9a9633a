"""The pipeline beside the daemon's daily pass: in a thread of its own, from the moment that something was handed in."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.errors import NuggetsError
from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.pipeline.models.provider import Provider
    from core.pipeline.service import Pipeline

# How soon a first text is noticed, and how soon a database that cannot be used is looked at again.
LOOK_SECONDS: Final = 2.0
TROUBLE_SECONDS: Final = 60.0
# A model takes long to answer; who ends a daemon does not wait for that.
STOP_SECONDS: Final = 10.0


class PipelineBeside:
    """Works on the queue of one folder. say: takes a line of what went wrong. provider: instead of the configured.

    look_seconds: between two looks for a first text.
    """

    def __init__(
        self,
        home: Path,
        *,
        clock: Callable[[], datetime],
        say: Callable[[str], None],
        provider: Provider | None = None,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._home = home
        self._look_seconds = look_seconds
        self._clock = clock
        self._out = say
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
            pipeline.let_go()

    def once(self) -> None:
        """Does all that can be done now."""
        pipeline = self._opened()
        if pipeline is None:
            return
        came_back: set[int] = set()
        read = written = 0
        with pipeline:
            try:
                pipeline.look_again()
                while True:
                    ticked = pipeline.tick()
                    self._tell("; ".join(ticked.warnings))
                    job = ticked.job
                    read += job is not None and (job.type, job.status) == ("extract", "completed")
                    written += ticked.flushed
                    if not ticked.did_something:
                        return
                    if ticked.job is not None and ticked.job.status == "pending":
                        # Nobody waits here until the same is tried again.
                        if ticked.job.id in came_back:
                            return
                        came_back.add(ticked.job.id)
            except NuggetsError as error:
                self._tell(error.message)
            finally:
                if read or written:
                    self._say(_done(read, written, pipeline))

    def _run(self) -> None:
        while not self._stop.is_set():
            self._pipeline = pipeline = self._opened()
            if pipeline is not None:
                with pipeline:
                    pipeline.run(self._stop, self._say)
            self._stop.wait(TROUBLE_SECONDS if self._trouble else self._look_seconds)

    def _opened(self) -> Pipeline | None:
        from core.model.change import Author
        from core.pipeline.service import Pipeline

        try:
            if not Pipeline.exists(self._home):
                return None
            opened = Pipeline.open(
                self._home, author=Author("pipeline"), clock=self._clock, provider=self._provider
            )
        except NuggetsError as error:
            self._tell(error.message)
            return None
        if opened.notice:
            self._say(opened.notice)
        self._tell("; ".join(warning.message for warning in opened.warnings))
        return opened

    def _say(self, line: str) -> None:
        self._out(f"pipeline: {line}")

    def _tell(self, trouble: str) -> None:
        """Says what is wrong, once until it is over or something else is."""
        if trouble and trouble != self._trouble:
            self._say(trouble)
        self._trouble = trouble


def _done(read: int, written: int, pipeline: Pipeline) -> str:
    """What came of the work, in a line."""
    said = f"{plural(read, 'text')} read, {plural(written, 'note')} written"
    with contextlib.suppress(NuggetsError):
        waiting = pipeline.status().proposals_open
        if waiting:
            said += f"; {plural(waiting, 'proposal')} for you: nuggets pipeline proposals"
    return said
