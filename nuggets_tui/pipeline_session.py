"""The session between screens and the pipeline: opened once there is something in it, asked and told in threads."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from core.errors import NotFoundError
from core.workspace import has_pipeline
from nuggets_tui.pipeline_status import NOT_BEGUN, PipelineIndicator, indicator_of

if TYPE_CHECKING:
    from core.memory import Memory
    from core.pipeline.health import HealthReport
    from core.pipeline.records import (
        Document,
        Job,
        NoteHints,
        Origin,
        PipelineStatus,
        RawMemory,
        Recovery,
        SessionOverview,
        SessionPage,
        StoredProposal,
    )
    from core.pipeline.service import Pipeline

    # All of a session, and what it left to whoever picks it up.
    KeptOfSession = tuple[SessionPage | None, Recovery | None]

_Result = TypeVar("_Result")
BY: Final = "person"
"""Who decides in the app."""
_MOST_TROUBLES: Final = 20


@dataclass(frozen=True)
class PipelineView:
    """What Inbox and Pipeline show at one moment. begun: whether anything was ever handed in."""

    status: PipelineStatus
    begun: bool = False
    proposals: tuple[StoredProposal, ...] = ()
    jobs: tuple[Job, ...] = ()
    documents: tuple[Document, ...] = ()
    sessions: tuple[SessionOverview, ...] = ()


class PipelineSession:
    """Carries questions and decisions to the pipeline of one memory. It makes no database by being asked."""

    def __init__(self, memory: Memory, clock: Callable[[], datetime]) -> None:
        self.memory = memory
        self.clock = clock
        # One thread for all that is read: each thread has a connection of its own.
        self._reads = ThreadPoolExecutor(1, thread_name_prefix="pipeline")
        self._opening = threading.Lock()
        self._pipeline: Pipeline | None = None
        self._running = self._over = False
        # The health as it was measured last.
        self.measured: HealthReport | None = None
        # Filled by the thread that works, emptied by the screen.
        self._troubles: deque[str] = deque(maxlen=_MOST_TROUBLES)

    @property
    def begun(self) -> bool:
        """Whether anything was ever handed in: then there is a database."""
        return self._pipeline is not None or has_pipeline(self.memory.home)

    def pipeline(self) -> Pipeline:
        """The pipeline, opened by the first who asks; for threads alone. Errors as `Pipeline.open`; RuntimeError once
        the memory was left.
        """
        with self._opening:
            if self._over:
                raise RuntimeError("the memory was left")
            if self._pipeline is None:
                self._pipeline = open_pipeline(self.memory, self.clock)
                if self._pipeline.notice:
                    self._troubles.append(self._pipeline.notice)
            return self._pipeline

    async def refresh(self, *, runs: bool) -> PipelineIndicator:
        """The status. runs: whether the app may do the work, in a thread of its own; it does while no daemon does."""

        def work() -> PipelineIndicator:
            from core.daily import daemon_on
            from core.pipeline.modes import has_work

            home = Path(self.memory.home)
            if not self.begun and not (runs and has_work(home)):
                return NOT_BEGUN
            pipeline = self.pipeline()
            wanted = runs and daemon_on(home) is None
            if wanted and not self._running:
                pipeline.start(self._troubles.append)
            elif self._running and not wanted:
                pipeline.stop(0)
            self._running = wanted
            return indicator_of(pipeline.status(), self.measured)

        return await self._read(work)

    def close(self, seconds: float) -> None:
        """Closes the database's files, and stops what is worked on with them; gives that so long to end."""

        def close() -> None:
            with self._opening:
                self._over = True
                if self._pipeline is not None:
                    # What a model is busy with is given back: another worker, or the next start, takes it up.
                    self._pipeline.stop(seconds / 2)
                    self._pipeline.close()

        self._reads.shutdown(wait=False, cancel_futures=True)
        closing = threading.Thread(target=close, name="closing-pipeline", daemon=True)
        closing.start()
        closing.join(seconds)

    def take_troubles(self) -> tuple[str, ...]:
        """What went wrong in the work since the last call, in lines."""
        taken = []
        while self._troubles:
            taken.append(self._troubles.popleft())
        return tuple(taken)

    async def _read(self, work: Callable[[], _Result]) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(self._reads, work)

    async def ask(self, question: Callable[[Pipeline], _Result]) -> _Result:
        """What the pipeline answers; the first question opens it."""
        return await self._read(lambda: question(self.pipeline()))

    async def tell(self, order: Callable[[Pipeline], _Result]) -> _Result:
        """What becomes of a decision; the memory is loaded anew, since it may hold other notes then."""

        def work() -> _Result:
            done = order(self.pipeline())
            self.memory.refresh()
            return done

        return await asyncio.to_thread(work)

    async def shown(self, *, decided: bool = False) -> PipelineView:
        """Everything in lists. decided: decided proposals too."""

        def work() -> PipelineView:
            if not self.begun:
                return PipelineView(status_before(self.memory))
            pipeline = self.pipeline()
            return PipelineView(
                pipeline.status(), True, tuple(pipeline.proposals(all=decided)), tuple(pipeline.jobs()),
                tuple(pipeline.documents.all()), pipeline.sessions.all(),
            )  # fmt: skip

        return await self._read(work)

    async def measure(self) -> HealthReport | None:
        """The health as it is now; None where nothing was handed in. In a thread of its own: it takes a while."""
        self.measured = await asyncio.to_thread(lambda: self.pipeline().diagnose() if self.begun else None)
        return self.measured

    async def session_page(self, session: str) -> KeptOfSession:
        """All that is kept of a session, and what it left to whoever picks it up; None for what is gone."""

        def work() -> KeptOfSession:
            pipeline = self.pipeline()
            page: SessionPage | None = None
            with contextlib.suppress(NotFoundError):
                page = pipeline.sessions.page(session)
            return page, pipeline.sessions.recover(session)

        return await self._read(work)

    async def raws(self, ids: Collection[str]) -> dict[str, RawMemory]:
        """Texts that were handed in, by their ids; what is gone is left out."""

        def work() -> dict[str, RawMemory]:
            found = {}
            for raw_id in ids:
                with contextlib.suppress(NotFoundError):
                    found[raw_id] = self.pipeline().raw(raw_id)
            return found

        return await self._read(work)

    async def origin(self, note_id: str) -> Origin | None:
        """Where a note came from; None for one that the pipeline did not make."""
        return await self._read(lambda: self.pipeline().origin(note_id) if self.begun else None)

    async def hints(self, note_id: str) -> NoteHints | None:
        """The questions by which a note is found, too; None where nothing was ever handed in."""
        return await self._read(lambda: self.pipeline().hints(note_id) if self.begun else None)

    async def follow_undo(self) -> int:
        """Takes over what was undone or redone of what was accepted; how many proposals stand otherwise by it."""
        return await asyncio.to_thread(lambda: self.pipeline().follow_undo() if self.begun else 0)


def open_pipeline(memory: Memory, clock: Callable[[], datetime]) -> Pipeline:
    """The pipeline of a memory, with a memory of its own: what a person accepts is theirs, the rest its own."""
    from core.model.change import PERSON
    from core.pipeline.service import Pipeline

    return Pipeline.open(memory.home, author=PERSON, clock=clock, window=memory.window)


def status_before(memory: Memory) -> PipelineStatus:
    """How it stands before anything was handed in: as the configuration says."""
    from core.pipeline.service import status_before as before

    return before(memory.home)
