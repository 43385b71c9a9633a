"""A whole pipeline for tests: a folder with settings, a clock that is moved by hand, a scripted model."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from core.model.change import PERSON
from core.pipeline.database.connection import Database
from core.pipeline.models.provider import EmbeddingProvider, NamedProvider
from core.pipeline.records import Job, TickResult
from core.pipeline.service import Pipeline
from kits.writes_kit import parrot

# Opens pipelines of one memory: model, lines of its settings, name of the worker.
Opened = Callable[..., Pipeline]
BEGIN = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
_opened = itertools.count()


class Clock:
    """A time that stands still until it is moved."""

    def __init__(self, now: datetime = BEGIN) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    @property
    def ms(self) -> int:
        return int(self.now.timestamp() * 1000)

    def forward(self, **time: float) -> None:
        self.now += timedelta(**time)


# Lines under [pipeline] for what shall stay as it failed: maintenance would try it once more.
NO_MAINTENANCE = "[pipeline.autonomous]\nenabled = false"


def configure(home: Path, lines: str = "") -> Path:
    """Writes settings.toml with these lines under [pipeline]."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "settings.toml").write_text(f"[pipeline]\n{lines}\n", encoding="utf-8")
    return home


def open_pipeline(
    home: Path,
    model: NamedProvider | None = None,
    clock: Clock | None = None,
    name: str = "worker",
    embedder: EmbeddingProvider | None = None,
) -> Pipeline:
    """A pipeline whose model takes each sentence for a fact, unless another is given."""
    numbers = itertools.count(random.Random(f"{name} {next(_opened)}").getrandbits(48))
    return Pipeline.open(
        home,
        author=PERSON,
        clock=clock or Clock(),
        ids=lambda: f"{next(numbers):016x}",
        provider=model or parrot(),
        chance=lambda: 0.0,
        name=name,
        embedder=embedder,
    )


def drain(pipeline: Pipeline, most: int = 1_000) -> list[TickResult]:
    """Ticks until one does nothing."""
    done = []
    for _ in range(most):
        done.append(pipeline.tick())
        if not done[-1].did_something:
            return done
    raise AssertionError(f"still something to do after {most} ticks")


def note_texts(pipeline: Pipeline) -> list[str]:
    """The texts of the notes that are there now and not hidden."""
    pipeline.memory.refresh()
    return [note.content for note in pipeline.memory.snapshot.notes if not note.hidden]


def only_job(pipeline: Pipeline) -> Job:
    """The one job that there is."""
    (job,) = pipeline.jobs()
    return job


def chunks_of(database: Database, document_id: str) -> tuple[str, ...]:
    """The texts of a document's chunks, in order."""
    rows = database.reading.connection.execute(
        "SELECT content FROM document_chunks JOIN chunks ON chunks.id = chunk_id WHERE document_id = ? ORDER BY place",
        (document_id,),
    )
    return tuple(text for (text,) in rows)
