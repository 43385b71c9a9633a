"""Pipeline: the one object that fronts hand raw text to, ask how things stand, and run the work with.

pipeline = Pipeline.open("~/.nuggets")
pipeline.ingest("We chose PostgreSQL over MongoDB because of the reports.")
while pipeline.tick().did_something: ...
pipeline.accept([proposal.id for proposal in pipeline.proposals()])
"""

from __future__ import annotations

import contextlib
import os
import random
import secrets
import socket
import threading
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, TypeVar

from core.errors import ErrorCode, InvalidInputError, NotFoundError, NuggetsError
from core.folder import default_home, pages_named, pages_of
from core.model.change import Author
from core.pipeline.database.connection import Database
from core.pipeline.database.tables import PAUSED
from core.pipeline.modes import Mode, mode
from core.pipeline.records import TickResult
from core.storage.files.atomic import absolute_path

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.model.window import Window
    from core.pipeline import records
    from core.pipeline.database.tables import Tables
    from core.pipeline.documents import Documents
    from core.pipeline.fetch import Network
    from core.pipeline.health import (
        Asked,
        HealthReport,
        MaintenanceAction,
        MaintenancePlan,
        MaintenanceRun,
    )
    from core.pipeline.maintenance import Maintainer
    from core.pipeline.meaning import BeyondWords
    from core.pipeline.model_calls import ModelCaller
    from core.pipeline.models.provider import EmbeddingProvider, NamedProvider
    from core.pipeline.sessions import Sessions
    from core.pipeline.workers.runner import Worker
    from core.settings import Settings, SettingsReader
    from core.settings.pipeline_sections import PipelineConfiguration
    from core.settings.warnings import ConfigurationWarning

AGENT: Final = Author("agent")
STOP_SECONDS: Final = 10.0
PAUSE_SECONDS: Final = 30.0

_Record = TypeVar("_Record")


def status_before(home: str | Path) -> records.PipelineStatus:
    """How it stands with a memory folder that has no pipeline yet; makes none."""
    from core.pipeline.workers.status import status_without_database
    from core.settings import load_settings

    settings = load_settings(absolute_path(Path(home).expanduser()))
    return status_without_database(settings.pipeline, settings.of_pipeline)


def health_of(home: str | Path, clock: Callable[[], datetime] | None = None) -> HealthReport | None:
    """How healthy the pipeline of a memory folder is, None where there is none. Looks only: nothing is made or
    repaired. Raises StorageError, BrokenFileError, and ReadOnlyError for what a newer version wrote.
    """
    from core.pipeline.database.connection import open_read_only
    from core.pipeline.intake.redaction import shown
    from core.pipeline.maintenance import health_report
    from core.settings import load_settings

    folder = absolute_path(Path(home).expanduser())
    if not Database.exists(folder):
        return None
    now = (clock or (lambda: datetime.now(UTC)))()
    configuration = load_settings(folder).pipeline
    with open_read_only(folder) as reader:
        report = health_report(reader, configuration, int(now.timestamp() * 1000))
        return shown(report, reader.masking.load_not_secrets())


@dataclass(eq=False)
class Pipeline:
    """The pipeline of one memory folder. Safe to use from several threads, beside other processes.

    Nothing here waits for a model but `tick` and `run`. Reads are of this moment, and show no credentials but those
    that somebody said are none. Errors are those of core.errors; a configuration that cannot be used never stops
    anything: see `warnings`.
    """

    home: Path
    database: Database
    author: Author
    clock: Callable[[], datetime]
    ids: Callable[[], str]
    _chance: Callable[[], float]
    _name: str
    _memory: Memory | None
    _window: Window | None
    _provider: NamedProvider | None
    _embedder: EmbeddingProvider | None
    _network: Network | None
    _own_memory: bool = field(init=False)
    _guard: threading.RLock = field(init=False, default_factory=threading.RLock)
    _opening: threading.Lock = field(init=False, default_factory=threading.Lock)
    _settings: SettingsReader | None = field(init=False, default=None)
    _configured: PipelineConfiguration | None = field(init=False, default=None)
    _beyond: BeyondWords | None = field(init=False, default=None)
    _caller: ModelCaller | None = field(init=False, default=None)
    _worker: Worker | None = field(init=False, default=None)
    _maintainer: Maintainer | None = field(init=False, default=None)
    _running: tuple[threading.Thread, threading.Event] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._own_memory = self._memory is None

    @classmethod
    def open(
        cls,
        home: str | Path | None = None,
        *,
        memory: Memory | None = None,
        window: Window | None = None,
        author: Author = AGENT,
        clock: Callable[[], datetime] | None = None,
        ids: Callable[[], str] | None = None,
        provider: NamedProvider | None = None,
        chance: Callable[[], float] | None = None,
        name: str = "",
        network: Network | None = None,
        embedder: EmbeddingProvider | None = None,
    ) -> Self:
        """Opens the pipeline of a memory folder (default: NUGGETS_HOME, else ~/.nuggets), and creates its database.

        memory: the opened memory to write notes through; without it, one is opened when needed, for `author`, in
        `window`. clock: gives aware datetimes. ids: 16 new hexadecimal digits a call. provider: instead of the
        configured one. chance: from 0 to 1, for the jitter. name: of this worker, "" for host and process. network:
        that pages are fetched from, None for the internet. embedder: instead of the configured one, where a model for
        embeddings is named. Raises StorageError, ReadOnlyError.
        """
        folder = absolute_path(default_home() if home is None else Path(home).expanduser())
        pages = pages_of(folder)
        if pages is not None:
            raise InvalidInputError(
                f"the pipeline makes facts of texts, and {pages_named(pages)} have no place for facts",
                code=ErrorCode.NO_PLACE, where=str(pages), kept="nothing was written",
                todo="submit the text to a memory of your own, or add a note",
            )  # fmt: skip
        return cls(
            folder, Database.open(folder), author, clock or (lambda: datetime.now(UTC)),
            ids or (lambda: secrets.token_hex(8)), chance or random.random,
            name or f"{socket.gethostname()}:{os.getpid()}", memory, window, provider, embedder, network,
        )  # fmt: skip

    @staticmethod
    def exists(home: str | Path) -> bool:
        """Whether a memory folder has a pipeline, or something else in its place. Creates none."""
        return Database.exists(Path(home).expanduser())

    @property
    def notice(self) -> str:
        """What happened to a database that could not be read on opening; "" for nothing."""
        return self.database.notice

    def close(self) -> None:
        """Ends the loop that `start` began, and closes the files. May be called twice."""
        self.stop()
        with self._opening:
            if self._own_memory and self._memory is not None:
                self._memory.close()
                self._memory = None
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Configuration

    @property
    def configuration(self) -> PipelineConfiguration:
        """The configuration, read again when one of its files changed."""
        return self._load().pipeline

    @property
    def warnings(self) -> tuple[ConfigurationWarning, ...]:
        """The configuration's values that are not used as given, and reserved keys that were set."""
        return self._load().of_pipeline

    @property
    def mode(self) -> Mode:
        """How far a raw memory goes now."""
        return mode(self.configuration)

    def _load(self) -> Settings:
        with self._guard:
            if self._settings is None:
                from core.settings import SettingsReader

                self._settings = SettingsReader(self.home)
            found = self._settings.read()
            if self._configured != found.pipeline:
                self._configured = found.pipeline
                # Made again for the new configuration when somebody asks next.
                self._caller = None
            return found

    @property
    def memory(self) -> Memory:
        """The memory through which notes are written; opened on first use."""
        # A lock of its own: reading a large memory takes long, and nobody who asks for counts waits for it.
        with self._opening:
            if self._memory is None:
                from core.memory import Memory

                self._memory = Memory.open(
                    self.home, author=self.author, clock=self.clock, window=self._window
                )
            return self._memory

    def _model_caller(self, configuration: PipelineConfiguration | None = None) -> ModelCaller:
        """configuration: as it was just read; None to look at its files again."""
        from core.pipeline.model_calls import ModelCaller

        with self._guard:
            configuration = configuration or self._load().pipeline
            if self._caller is None:
                self._caller = ModelCaller.of(
                    configuration, self.database, clock=self.clock, provider=self._provider,
                    embedder=self._embedder,
                )  # fmt: skip
            return self._caller

    def _working(self) -> Worker:
        from core.pipeline.workers.runner import Worker

        with self._guard:
            if self._worker is None:
                self._worker = Worker(
                    self.database, memory=lambda: self.memory, now=self.now, ids=self.ids, chance=self._chance,
                    name=self._name, network=self._network,
                )  # fmt: skip
            return self._worker

    def _maintaining(self) -> Maintainer:
        from core.pipeline.maintenance import Maintainer, Others

        with self._guard:
            if self._maintainer is None:
                others = Others(self.sweep, self.embedding_coverage, self.reembed)
                self._maintainer = Maintainer(self.database, now=self.now, others=others)
            return self._maintainer

    def now(self) -> int:
        """Epoch ms."""
        return int(self.clock().timestamp() * 1000)

    # Intake

    def ingest(
        self,
        text: str,
        *,
        nugget: str = "",
        project: str = "",
        session: str = "",
        source_type: str = "text",
        author: str = "",
        transcript: str | None = None,
    ) -> records.Ingested:
        """Stores a text verbatim, links what the rules find in it, and queues its job, in one transaction. No model is
        asked: it works while the model is down and while the pipeline is off or frozen.

        nugget: where its facts go, else the project's, else `memory`. session: the id of the conversation it is
        from. author: who says it, else who opened the pipeline. transcript: the whole conversation so far, as its agent
        keeps it; what was said in it is kept. Raises InvalidInputError for a blank text and for a transcript in a
        format that is not known.
        """
        from core.pipeline.conversation import read_conversation
        from core.pipeline.writes.submit import Submission, store_submission

        said = None if transcript is None else read_conversation(transcript)
        submission = Submission(
            text, nugget, project, session, source_type, author or self.author.signature,
            said.text if said is not None and said.text.strip() else None,
        )  # fmt: skip
        done = store_submission(
            self.database, self.configuration, submission, raw_id=f"raw-{self.ids()}", now=self.now(),
            known_nuggets=self._memory.snapshot.nugget_names if self._memory is not None else (),
        )  # fmt: skip
        if said is not None and said.left_out:
            lines = f"lines of the transcript that cannot be read were left out: {said.left_out:,}"
            done = replace(done, warning="; ".join(filter(None, (done.warning, lines))))
        self.nudge()
        return done

    def raw(self, raw_id: str) -> records.RawMemory:
        """A text as it was submitted, as people see it. Raises NotFoundError."""
        found = self.shown(lambda reader: reader.raw.raw_of(raw_id))
        if found is None:
            raise NotFoundError("no submitted text has this id", where=raw_id)
        return found

    def shown(self, read: Callable[[Tables], _Record]) -> _Record:
        """What is read, as people see it: without credentials but those that somebody said are none."""
        from core.pipeline.intake.redaction import shown

        with self.database.checked_reading() as reader:
            return shown(read(reader), reader.masking.load_not_secrets())

    def text(self, said: str) -> records.TextTrail:
        """What was read of a submitted text, and what came of it. said: its id or an unambiguous beginning of it, or
        the number of the job that reads it. Raises NotFoundError, AmbiguousError, InvalidInputError for "".
        """
        from core.pipeline.removal import text_trail

        return self.shown(lambda reader: text_trail(reader, said))

    def remove_text(self, said: str, *, by: str = "person") -> records.RemovedText:
        """Hides the notes that came of a text, as one change that `undo` undoes, and marks the text as removed: it goes
        after `retention.removed_days`. said: as for `text`. Raises NotFoundError, AmbiguousError, and ConflictError for
        a text that is just being read.
        """
        from core.pipeline.removal import remove_text

        with self.database.errors():
            return remove_text(self.database, self.memory, said, by=by, now=self.now())

    def plan_removal(self, said: str) -> records.PlannedRemoval:
        """What `remove_text` would do now; nothing is changed. said, and what is raised: as there."""
        from core.pipeline.removal import plan_removal

        with self.database.errors():
            days = self.configuration.retention.removed_days
            return plan_removal(self.database, self.memory, said, days=days)

    def restore_text(self, said: str, *, by: str = "person") -> records.RemovedText:
        """Takes the removal of a text back, and shows the notes again that it hid, as one change. Raises NotFoundError,
        AmbiguousError, and ConflictError for a text that is deleted.
        """
        from core.pipeline.removal import bring_text_back

        with self.database.errors():
            attempts = self.configuration.worker.max_retries
            back = bring_text_back(self.database, self.memory, said, attempts=attempts, by=by, now=self.now())
        self.nudge()
        return back

    def credentials_in(self, raw_id: str) -> tuple[str, ...]:
        """The kinds of credentials that a text seems to hold and that were not marked as none, each once. Of a very
        long text only the beginning is searched; `Workspace.secrets` searches all of it.
        """
        from core.pipeline.writes.secrets import kinds_in

        with self.database.checked_reading() as reader:
            raw = reader.raw.raw_of(raw_id)
            return kinds_in(reader, raw.content) if raw is not None else ()

    # Parts

    @property
    def documents(self) -> Documents:
        """What a person does with documents."""
        from core.pipeline.documents import Documents

        return Documents(self)

    @property
    def sessions(self) -> Sessions:
        """What happens in the sessions of agents, and what they left."""
        from core.pipeline.sessions import Sessions

        return Sessions(self)

    def beyond_words(self) -> BeyondWords:
        """The model that finds chunks of documents by what they mean."""
        from core.pipeline.meaning import BeyondWords

        with self._guard:
            if self._beyond is None:
                self._beyond = BeyondWords(self.home, time.monotonic, lambda id: None, self._embedder)
            return self._beyond

    # The queue

    def status(self) -> records.PipelineStatus:
        """Everything in counts, and the status with what it means."""
        from core.pipeline.workers.status import status_of

        settings = self._load()
        return self.shown(
            lambda _: status_of(
                self.database, settings.pipeline, settings.of_pipeline, self._model_caller().health(), self.now(),
                self.embedding_coverage(),
            )
        )  # fmt: skip

    def jobs(self, status: records.JobStatus | None = None, most: int = 200) -> tuple[records.Job, ...]:
        """Jobs, those that something happened to last first."""
        return self.shown(lambda reader: reader.jobs.jobs(status, most=most))

    def retry(self, job_id: int) -> records.Job:
        """Queues a dead job again, or runs one that rests at once. Raises NotFoundError, InvalidInputError."""
        self._model_caller().reset_breakers()
        with self.database.write() as writer:
            writer.jobs.retry(job_id, self.now())
        self.nudge()
        found = self.shown(lambda reader: reader.jobs.job(job_id))
        assert found is not None
        return found

    def retry_dead(self) -> int:
        """Lets all dead jobs wait again; how many."""
        self._model_caller().reset_breakers()
        with self.database.write() as writer:
            revived = writer.jobs.retry_dead(self.now())
        self.nudge()
        return revived

    def try_again(self) -> None:
        """Looks at once for a model that failed, and ends the rest of jobs that failed: a person who starts something
        has often just put it right. A model that asked to wait is left alone until then.
        """
        caller = self._model_caller()
        if caller.health().last_error_kind not in ("", "asked_to_wait"):
            caller.reset_breakers()
        with self.database.write(lasting=False) as writer:
            writer.jobs.wake(self.now())
        self.nudge()

    def texts_waiting(self) -> int:
        """How many texts wait to be read."""
        with self.database.checked_reading() as reader:
            return reader.count("SELECT count(*) FROM jobs WHERE status = 'pending' AND type = 'extract'")

    def health(self) -> records.ProviderHealth:
        """How the model has been, and what of today's calls is spent."""
        return self.shown(lambda _: self._model_caller().health())

    # Health and maintenance

    def diagnose(self) -> HealthReport:
        """How healthy each part is, from 0 to 1, with what is recommended and what maintenance did lately. Writes
        nothing; takes under half a second for a hundred thousand memories.
        """
        from core.pipeline.maintenance import health_report

        return self.shown(lambda reader: health_report(reader, self.configuration, self.now()))

    def maintenance_plan(self, action: MaintenanceAction, *, force: bool = False) -> MaintenancePlan:
        """What a repair would do now, one by one, and what keeps it from running. Writes nothing."""
        return self.shown(lambda _: self._maintaining().plan(action, self.configuration, self._asked(force)))

    def maintain(
        self, actions: Iterable[MaintenanceAction] | None = None, *, force: bool = False
    ) -> tuple[MaintenanceRun, ...]:
        """Runs repairs, None for those that are recommended; of each what came of it, "denied" where it may not run
        now. The limits hold for everyone: `force` lets a person, and no agent, pass all but a freeze.
        """
        recommended = (one.action for one in self.diagnose().recommendations) if actions is None else actions
        with self.database.errors():
            runs = tuple(
                self._maintaining().run(one, self.configuration, self._asked(force), self.author.signature)
                for one in tuple(recommended)
            )
        self.nudge()
        return self.shown(lambda _: runs)

    def _asked(self, force: bool) -> Asked:
        from core.pipeline.health import Asked

        return Asked(unattended=self.author.kind != "person", forced=force)

    # Embeddings

    def embedding_coverage(self) -> records.EmbeddingCoverage | None:
        """How far vectors of notes and documents are made; None where no model for embeddings is named."""
        from core.pipeline.workers.embedding_tracker import coverage

        return coverage(self.database, self.configuration, self._model_caller().embedder_health())

    def reembed(self, most: int = 1) -> int:
        """Makes vectors that are missing or of another text or model, also those that failed and rest, in at most so
        many calls; how many. Waits for the model. 0 where no call can be made now.
        """
        with self.database.errors():
            return self._working().reembed(self.configuration, self._model_caller(), most)

    # Proposals

    def proposals(self, *, all: bool = False, most: int = 500) -> tuple[records.StoredProposal, ...]:
        """Proposals that wait for a person, newest first; all: those that were settled too."""
        from core.pipeline.writes.execution import foreseen

        return self.shown(
            lambda reader: tuple(foreseen(reader, one) for one in reader.proposals.stored(all=all, most=most))
        )

    def resolve_ids(self, said: Iterable[str]) -> tuple[str, ...]:
        """Ids of proposals, each given as an unambiguous beginning of it or as the exact text of one that waits."""
        with self.database.checked_reading() as reader:
            return tuple(dict.fromkeys(reader.proposals.resolve_id(each) for each in said))

    def accept(self, ids: Iterable[str], by: str = "person") -> records.Accepted:
        """Accepts proposals and writes them into the notes at once, as one change set that `undo` undoes."""
        from core.pipeline.writes.deciding import accept

        with self.database.errors():
            return accept(self.database, self.memory, self.configuration, ids, by=by, now=self.now())

    def above(self, confidence: float) -> tuple[str, ...]:
        """The ids of the open additions with at least this confidence (0 to 1) that no rule objects to."""
        with self.database.checked_reading() as reader:
            return reader.proposals.above(confidence)

    def refuse(self, ids: Iterable[str], by: str = "person") -> records.Refused:
        """Refuses proposals. Returns how many were still open, with the entry of the log that `undo` takes back: the
        proposals wait again then. Nothing is written into the notes.
        """
        from core.pipeline.writes.deciding import refuse

        with self.database.errors():
            return refuse(self.database, self.memory, ids, by=by, now=self.now())

    # Hints

    def hints(self, note_id: str) -> records.NoteHints:
        """The questions by which a note is found, too."""
        from core.pipeline.records import NoteHints

        enabled = self.configuration.hints.enabled
        with self.database.checked_reading() as reader:
            rows = reader.hints
            return NoteHints(
                note_id, rows.of_note(note_id), rows.removed_of(note_id), enabled, rows.made_for(note_id)
            )

    def remove_hints(self, note_id: str, hints: Collection[str]) -> ChangeSet:
        """Lets some hints of a note find it no more, also when they are made again; `undo` puts them back. The entry of
        the log. Raises NotFoundError for hints that the note does not have.
        """
        from core.pipeline.writes.deciding import remove_hints

        with self.database.errors():
            by, now = self.author.signature, self.now()
            removed = remove_hints(self.database, self.memory, note_id, hints, by=by, now=now)
        if removed is None:
            raise NotFoundError("the note has no such hint", where=note_id, kept="nothing was changed")
        return removed

    def follow_undo(self) -> int:
        """Follows what a person undid or redid: proposals that they accepted or refused, hints that they removed.
        Returns how many stand otherwise by that.
        """
        from core.pipeline.removal import follow_shown
        from core.pipeline.writes.deciding import follow_undo

        follow_shown(self.database, self.memory, now=self.now())
        return follow_undo(self.database, self.memory, now=self.now())

    def origin(self, note_id: str) -> records.Origin | None:
        """Where a note came from; None for one that no pipeline made."""
        return self.shown(lambda reader: reader.proposals.origin_of(note_id))

    def history(self, raw_or_note_id: str, most: int = 500) -> tuple[records.HistoryRow, ...]:
        """The audit of a raw memory, a proposal or a note, oldest first."""
        return self.shown(lambda reader: reader.history.history_of(raw_or_note_id, most))

    def conversations(self, note_ids: Collection[str]) -> tuple[records.Conversation, ...]:
        """The conversations that notes came from, redacted, cut to `recall_truncate_chars` around what was said."""
        most = self.configuration.guardrails.recall_truncate_chars
        return self.shown(lambda reader: reader.transcripts.conversations(note_ids, most))

    # Knowledge

    def entities(self, query: str = "", most: int = 200) -> tuple[records.Entity, ...]:
        """Entities, those named most first; query: a part of a name or alias."""
        return self.shown(lambda reader: reader.entities.entities(query, most))

    def entity(self, entity_id: int) -> records.EntityPage:
        """Everything about an entity. Raises NotFoundError."""
        found = self.shown(lambda reader: reader.entities.entity_page(entity_id))
        if found is None:
            raise NotFoundError("no such entity", field="entity", where=str(entity_id))
        return found

    def pin(self, entity_id: int, pinned: bool) -> None:
        """Keeps an entity whatever becomes of its mentions, or no longer. Raises NotFoundError."""
        with self.database.write() as writer:
            found = writer.entities.pin(entity_id, pinned, self.now())
        if not found:
            where, kept = str(entity_id), "nothing was changed"
            raise NotFoundError("no such entity", field="entity", where=where, kept=kept)

    def merge_entities(self, keep_id: int, other_id: int) -> records.Entity:
        """Makes one entity of two; the other's names become aliases. Raises NotFoundError, InvalidInputError."""
        from core.pipeline.knowledge_graph import merge_entities

        return merge_entities(self.database, keep_id, other_id, by=self.author.signature, now=self.now())

    def alias(self, entity_id: int, name: str) -> records.Entity:
        """Gives an entity one more name, under which later memories find it. Raises NotFoundError, and
        InvalidInputError for a name that is none, or another entity's.
        """
        from core.pipeline.knowledge_graph import add_alias

        return add_alias(self.database, entity_id, name, by=self.author.signature, now=self.now())

    def part_entity(self, entity_id: int, name: str) -> records.Entity:
        """Takes a name from an entity: one that was merged into it is there again with all that it had, and a name that
        was only given is nobody's. What came since stays with the one that was kept. Raises NotFoundError, also for a
        name that was neither merged nor given.
        """
        from core.pipeline.knowledge_graph import part_entity

        return part_entity(self.database, entity_id, name, by=self.author.signature, now=self.now())

    # Work

    def tick(self) -> TickResult:
        """Does one unit of work: releases held texts, takes back lost jobs, runs one job, and writes notes when it is
        time. Waits for the model while it runs a job.

        An error of a job becomes its outcome. Errors of the database and the files are raised.
        """
        with self.database.errors():
            configuration = self.configuration
            self.sessions.settle_due(configuration.continuity)
            done = self._working().tick(configuration, self._model_caller(configuration))
            runs = self._maintaining().run_when_due(configuration)
        if not runs:
            return done
        failed = tuple(f"maintenance: {run.error}" for run in runs if run.error)
        repaired = sum(run.did for run in runs)
        delay_ms = 0 if repaired else done.delay_ms
        return replace(done, repaired=repaired, warnings=(*done.warnings, *failed), delay_ms=delay_ms)

    def sweep(self, dry_run: bool = False) -> records.Sweep:
        """Deletes all that was kept long enough, as `retention` says, also while the pipeline is off; nothing that a
        note, an open proposal or a waiting text needs. dry_run: what it would delete now, and nothing is written.
        Raises StorageError, LockTimeoutError.
        """
        from core.pipeline.removal import standing_in
        from core.pipeline.retention import rehearse, sweep

        with self.database.errors():
            work = rehearse if dry_run else sweep
            return work(self.database, self.configuration, standing_in(lambda: self.memory), now=self.now())

    def clear(self) -> None:
        """Deletes every text, document, conversation, proposal and job for good; notes, facts and the history stay.
        Raises StorageError, LockTimeoutError.
        """
        self.database.clear()

    def run(self, stop: threading.Event, notify: Callable[[str], None] = lambda line: None) -> None:
        """Ticks until `stop` is set, and rests while there is nothing to do. notify: called with a line for each
        failure.
        """
        from core.pipeline.workers.runner import run

        with contextlib.suppress(NuggetsError):
            self.try_again()
        run(self.tick, stop, self._working().nudged, notify)

    def start(self, notify: Callable[[str], None] = lambda line: None) -> None:
        """Runs the loop in a thread until `stop`; does nothing when it runs already."""
        with self._guard:
            if self._running is not None and self._running[0].is_alive():
                return
            stop = threading.Event()
            thread = threading.Thread(
                target=self.run, args=(stop, notify), name="nuggets-pipeline", daemon=True
            )
            self._running = thread, stop
            thread.start()

    def stop(self, seconds: float = STOP_SECONDS) -> bool:
        """Ends the loop of `start`. Waits for the running job for at most the given time, then releases it for another
        worker.

        False when it was released; its result is not written then.
        """
        with self._guard:
            running, self._running = self._running, None
        if running is None:
            return True
        thread, stopped = running
        stopped.set()
        self.nudge()
        thread.join(seconds)
        if not thread.is_alive():
            return True
        self.release_job()
        return False

    def release_job(self) -> None:
        """Releases the running job for another worker; its result here is not written."""
        self._working().release_job()

    def nudge(self) -> None:
        """Wakes a resting loop of this process."""
        with self._guard:
            if self._worker is not None:
                self._worker.look_for_documents()
                self._worker.nudged.set()

    # Pausing

    @property
    def paused(self) -> bool:
        """Whether a person paused the pipeline; it still accepts texts."""
        with self.database.checked_reading() as reader:
            return reader.meta.number(PAUSED) is not None

    def pause(self, seconds: float = PAUSE_SECONDS) -> tuple[records.Job, ...]:
        """Keeps all processes from taking another job until `resume`. Waits for running jobs for at most the given
        time, and returns those that still run.
        """
        with self.database.write() as writer:
            writer.meta.put(PAUSED, self.now())
        from core.pipeline.workers.runner import until_idle

        with self.database.errors():
            return until_idle(lambda: self.database.reading.jobs.running(), seconds)

    def resume(self) -> None:
        """Ends a pause."""
        with self.database.write() as writer:
            writer.meta.drop(PAUSED)
        self.nudge()
