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
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

from core.errors import NotFoundError
from core.workspace import has_pipeline
from nuggets_tui.pipeline_status import NOT_BEGUN, PipelineIndicator, indicator_of

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.pipeline.health import (
        HealthReport,
        MaintenanceAction,
        MaintenancePlan,
        MaintenanceRun,
    )
    from core.pipeline.records import (
        Accepted,
        AddedDocument,
        Document,
        Entity,
        EntityChange,
        EntityPage,
        HistoryRow,
        Ingested,
        Job,
        NoteHints,
        Origin,
        PipelineStatus,
        PlannedRemoval,
        RawMemory,
        Recovery,
        Refused,
        RemovedText,
        SessionOverview,
        SessionPage,
        StoredProposal,
    )
    from core.pipeline.service import Pipeline

    # All of a session, and what it left to whoever picks it up.
    KeptOfSession = tuple[SessionPage | None, Recovery | None]

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_BY: Final = "person"
_MOST_TROUBLES: Final = 20
# Names that begin with the same letters, so many of them, are likely those of one thing.
_ALIKE: Final = 4


@dataclass(frozen=True)
class PipelineView:
    """What the Pipeline screen shows at one moment. begun: whether anything was ever handed in.

    query: what entities are asked for. decided: whether decided proposals are among them.
    """

    status: PipelineStatus
    begun: bool = False
    proposals: tuple[StoredProposal, ...] = ()
    jobs: tuple[Job, ...] = ()
    entities: tuple[Entity, ...] = ()
    query: str = ""
    decided: bool = False
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
        """The pipeline, opened by the first who asks; for threads alone. Errors as `Pipeline.open`."""
        with self._opening:
            if self._over:
                raise RuntimeError("the memory was left")
            if self._pipeline is None:
                self._pipeline = open_pipeline(self.memory, self.clock)
                if self._pipeline.notice:
                    self._troubles.append(self._pipeline.notice)
            return self._pipeline

    # Running

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

    async def _read(
        self, ask: Callable[_Arguments, _Result], *arguments: _Arguments.args, **named: _Arguments.kwargs
    ) -> _Result:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._reads, lambda: ask(*arguments, **named))

    # Asking

    async def shown(self, *, decided: bool = False, query: str = "") -> PipelineView:
        """Everything in lists. decided: decided proposals too; query: of the entities."""

        def work() -> PipelineView:
            if not self.begun:
                return PipelineView(status_before(self.memory), query=query, decided=decided)
            pipeline = self.pipeline()
            return PipelineView(
                pipeline.status(), True, tuple(pipeline.proposals(all=decided)), tuple(pipeline.jobs()),
                tuple(pipeline.entities(query)), query, decided, tuple(pipeline.documents()), pipeline.sessions(),
            )  # fmt: skip

        return await self._read(work)

    async def measure(self) -> HealthReport | None:
        """The health as it is now; None where nothing was handed in. In a thread of its own: it takes a while."""

        def work() -> HealthReport | None:
            return self.pipeline().diagnose() if self.begun else None

        self.measured = await asyncio.to_thread(work)
        return self.measured

    async def repair_plans(self, actions: Collection[MaintenanceAction]) -> tuple[MaintenancePlan, ...]:
        """What some repairs would do now, and what keeps them from it."""
        return await asyncio.to_thread(
            lambda: tuple(self.pipeline().maintenance_plan(one, force=True) for one in actions)
        )

    async def repair(self, actions: Collection[MaintenanceAction]) -> tuple[MaintenanceRun, ...]:
        """Runs repairs, since a person looked at what they do, and measures the health anew."""

        def work() -> tuple[MaintenanceRun, ...]:
            pipeline = self.pipeline()
            runs = pipeline.maintain(actions, force=True)
            self.measured = pipeline.diagnose()
            return runs

        return await asyncio.to_thread(work)

    async def session_page(self, session: str) -> KeptOfSession:
        """All that is kept of a session, and what it left to whoever picks it up; None for what is gone."""

        def work() -> KeptOfSession:
            pipeline = self.pipeline()
            page: SessionPage | None = None
            with contextlib.suppress(NotFoundError):
                page = pipeline.session(session)
            return page, pipeline.recover(session)

        return await self._read(work)

    async def status(self) -> PipelineStatus:
        """How the work stands, once a text was handed in."""
        return await self._read(lambda: self.pipeline().status())

    async def raws(self, ids: Collection[str]) -> dict[str, RawMemory]:
        """Texts that were handed in, by their ids; what is gone is left out."""

        def work() -> dict[str, RawMemory]:
            found = {}
            for raw_id in ids:
                with contextlib.suppress(NotFoundError):
                    found[raw_id] = self.pipeline().raw(raw_id)
            return found

        return await self._read(work)

    async def above(self, confidence: float) -> tuple[str, ...]:
        """The ids of the open additions from a confidence on (0 to 1) that nothing is to be said against."""
        return await self._read(lambda: self.pipeline().above(confidence))

    async def entity(self, entity_id: int) -> EntityPage:
        """Everything about an entity. Raises NotFoundError."""
        return await self._read(lambda: self.pipeline().entity(entity_id))

    async def merge_candidates(self, entity: Entity, query: str) -> tuple[Entity, ...]:
        """Other entities with such a name; without one, those with a name that begins alike come first."""

        def work() -> tuple[Entity, ...]:
            pipeline = self.pipeline()
            alike = pipeline.entities(entity.name[:_ALIKE]) if not query else ()
            found = {one.id: one for one in (*alike, *pipeline.entities(query))}
            found.pop(entity.id, None)
            return tuple(found.values())

        return await self._read(work)

    async def last_entity_change(self, entity_id: int) -> EntityChange | None:
        """What was merged into an entity, or which name it was given, last and not undone; None for nothing."""

        def work() -> EntityChange | None:
            found = self.pipeline().entity_changes(entity_id)
            return next((one for one in found if not one.undone), None)

        return await self._read(work)

    async def origin(self, note_id: str) -> Origin | None:
        """Where a note came from; None for one that the pipeline did not make."""
        return await self._read(lambda: self.pipeline().origin(note_id) if self.begun else None)

    async def hints(self, note_id: str) -> NoteHints | None:
        """The questions by which a note is found, too; None where nothing was ever handed in."""
        return await self._read(lambda: self.pipeline().hints(note_id) if self.begun else None)

    async def remove_hint(self, note_id: str, hint: str) -> ChangeSet | None:
        """Removes a hint; the entry of the log that undo takes back."""

        def work() -> ChangeSet | None:
            done = self.pipeline().remove_hints(note_id, (hint,))
            self.memory.refresh()
            return done

        return await asyncio.to_thread(work)

    async def history(self, about: str) -> tuple[HistoryRow, ...]:
        """What was decided about a raw memory or a note, oldest first."""
        return await self._read(lambda: tuple(self.pipeline().history(about)))

    # Deciding

    async def follow_undo(self) -> int:
        """Takes over what was undone or redone of what was accepted; how many proposals stand otherwise by it."""
        return await asyncio.to_thread(lambda: self.pipeline().follow_undo() if self.begun else 0)

    async def accept(self, ids: Collection[str]) -> Accepted:
        """Accepts proposals; what came of them is in the memory then."""

        def work() -> Accepted:
            done = self.pipeline().accept(tuple(ids), _BY)
            self.memory.refresh()
            return done

        return await asyncio.to_thread(work)

    async def refuse(self, ids: Collection[str]) -> Refused:
        """Refuses proposals; how many, with the entry of the log that undo takes back."""

        def work() -> Refused:
            done = self.pipeline().refuse(tuple(ids), _BY)
            self.memory.refresh()
            return done

        return await asyncio.to_thread(work)

    async def retry(self, job_id: int) -> Job:
        """Gives a dead job another try."""
        return await asyncio.to_thread(lambda: self.pipeline().retry(job_id))

    async def retry_dead(self) -> int:
        """Gives all dead jobs another try; how many."""
        return await asyncio.to_thread(lambda: self.pipeline().retry_dead())

    async def pin(self, entity_id: int, pinned: bool) -> None:
        """Pins an entity, or lets it go."""
        await asyncio.to_thread(lambda: self.pipeline().pin(entity_id, pinned))

    async def merge_entities(self, keep_id: int, other_id: int) -> EntityChange:
        """Makes one entity of two."""

        def work() -> EntityChange:
            pipeline = self.pipeline()
            pipeline.merge_entities(keep_id, other_id)
            return pipeline.entity_changes(keep_id)[0]

        return await asyncio.to_thread(work)

    async def name_entity(self, entity_id: int, name: str) -> EntityChange | None:
        """Gives an entity another name; None when it has it already."""

        def work() -> EntityChange | None:
            pipeline = self.pipeline()
            before = pipeline.entity_changes(entity_id)[:1]
            pipeline.alias(entity_id, name)
            after = pipeline.entity_changes(entity_id)[:1]
            return after[0] if after != before else None

        return await asyncio.to_thread(work)

    async def undo_entity_change(self, change_id: int) -> EntityChange:
        """Takes back a merge or a name."""
        return await asyncio.to_thread(lambda: self.pipeline().undo_entity_change(change_id))

    async def resolve_outdated(self, attribute_id: int, superseded: bool) -> bool:
        """A person's word on what may be outdated; False when it was settled already."""
        return await asyncio.to_thread(lambda: self.pipeline().resolve_attribute(attribute_id, superseded))

    async def pause_or_resume(self) -> bool:
        """Stops the work of all processes, or lets it go on; whether it rests now."""

        def work() -> bool:
            pipeline = self.pipeline()
            if pipeline.paused:
                pipeline.resume()
            else:
                pipeline.pause(0)
            return pipeline.paused

        return await asyncio.to_thread(work)

    async def ingest(self, text: str, nugget: str = "") -> Ingested:
        """Hands a text in; the first one makes the database. nugget: of its notes, "" for the usual one."""
        return await asyncio.to_thread(lambda: self.pipeline().ingest(text, nugget=nugget, author="person"))

    async def plan_removal(self, raw_id: str) -> PlannedRemoval:
        """What the removal of a text would do."""
        return await asyncio.to_thread(lambda: self.pipeline().plan_removal(raw_id))

    async def remove_text(self, raw_id: str) -> RemovedText:
        """Removes a text and hides its notes, until `restore_text`."""

        def work() -> RemovedText:
            done = self.pipeline().remove_text(raw_id, by=_BY)
            self.memory.refresh()
            return done

        return await asyncio.to_thread(work)

    async def restore_text(self, raw_id: str) -> RemovedText:
        """Brings a text and its notes back."""

        def work() -> RemovedText:
            done = self.pipeline().restore_text(raw_id, by=_BY)
            self.memory.refresh()
            return done

        return await asyncio.to_thread(work)

    async def add_document(self, source: str) -> AddedDocument:
        """Adds the file of a path or the page of an address; the first one makes the database."""
        from nuggets_tui.document_deeds import add_named

        return await asyncio.to_thread(lambda: add_named(self.pipeline(), source))

    async def remove_document(self, document_id: str) -> Document:
        """Takes a document out of the search, until `restore_document`."""
        return await asyncio.to_thread(lambda: self.pipeline().remove_document(document_id))

    async def restore_document(self, document_id: str) -> Document:
        """Brings a document back."""
        return await asyncio.to_thread(lambda: self.pipeline().restore_document(document_id))


def open_pipeline(memory: Memory, clock: Callable[[], datetime]) -> Pipeline:
    """The pipeline of a memory, with a memory of its own: what a person accepts is theirs, the rest its own."""
    from core.model.change import PERSON
    from core.pipeline.service import Pipeline

    return Pipeline.open(memory.home, author=PERSON, clock=clock, window=memory.window)


def status_before(memory: Memory) -> PipelineStatus:
    """How it stands before anything was handed in: as the configuration says."""
    from core.pipeline.service import status_before as before

    return before(memory.home)
