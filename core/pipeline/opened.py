"""A pipeline that was opened: its database, its configuration as it is now, its memory and who asks the model."""

from __future__ import annotations

import os
import random
import secrets
import socket
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from core.folder import default_home
from core.model.change import Author
from core.pipeline.config import Mode, mode
from core.pipeline.database.connection import Database
from core.storage.files import absolute_path

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.window import Window
    from core.pipeline.config import ConfigurationWarning, PipelineConfiguration
    from core.pipeline.config.loading import Loaded
    from core.pipeline.models.provider import Provider
    from core.pipeline.workers.asking import Asking
    from core.pipeline.workers.runner import Worker

AGENT: Final = Author("agent")


class OpenedPipeline:
    """The pipeline of one memory folder, opened.

    A configuration that cannot be used never stops anything: see `warnings`.
    """

    def __init__(
        self,
        home: Path,
        database: Database,
        *,
        memory: Memory | None,
        window: Window | None,
        author: Author,
        clock: Callable[[], datetime],
        ids: Callable[[], str],
        provider: Provider | None,
        chance: Callable[[], float],
        name: str,
    ) -> None:
        self.home = home
        self.database = database
        self.author = author
        self._clock = clock
        self._ids = ids
        self._given_provider = provider
        self._chance = chance
        self._name = name
        self._memory = memory
        self._window = window
        self._own_memory = memory is None
        self._guard = threading.RLock()
        self._opening = threading.Lock()
        self._loaded: Loaded | None = None
        self._asking: Asking | None = None
        self._worker: Worker | None = None

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
        provider: Provider | None = None,
        chance: Callable[[], float] | None = None,
        name: str = "",
    ) -> Self:
        """Opens the pipeline of a memory folder (default: NUGGETS_HOME, else ~/.nuggets), making its database.

        memory: the opened memory to write notes through; else one is opened when it is needed, for `author`, as one of
        the memories of `window`. clock:
        gives aware datetimes. ids: 16 new hexadecimal digits a call. provider: instead of the configured one. chance:
        from 0 to 1, for the jitter. name: of this worker, "" for host and process. Raises StorageError, ReadOnlyError.
        """
        folder = absolute_path(default_home() if home is None else Path(home).expanduser())
        return cls(
            folder,
            Database.open(folder),
            memory=memory,
            window=window,
            author=author,
            clock=clock or (lambda: datetime.now(UTC)),
            ids=ids or (lambda: secrets.token_hex(8)),
            provider=provider,
            chance=chance or random.random,
            name=name or f"{socket.gethostname()}:{os.getpid()}",
        )

    @staticmethod
    def exists(home: str | Path) -> bool:
        """Whether a memory folder has a pipeline, or what stands in its place; looking makes none."""
        return Database.stands(Path(home).expanduser())

    @property
    def notice(self) -> str:
        """What happened to a database that could not be read when this was opened, "" for nothing."""
        return self.database.notice

    def close(self) -> None:
        """Lets the files go. May be called twice."""
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
        return self._load().configuration

    @property
    def warnings(self) -> tuple[ConfigurationWarning, ...]:
        """What of the configuration was not taken as it was given."""
        return self._load().warnings

    @property
    def mode(self) -> Mode:
        """How far a raw memory goes now."""
        return mode(self.configuration)

    def _load(self) -> Loaded:
        from core.pipeline.config.loading import load_configuration, newer

        with self._guard:
            before = self._loaded
            if before is None:
                self._loaded = load_configuration(self.home)
            else:
                self._loaded = newer(before, self.home) or before
            changed = before is not None and before.configuration != self._loaded.configuration
            if changed:
                # Made again for the new configuration when somebody asks next.
                self._asking = None
            return self._loaded

    @property
    def memory(self) -> Memory:
        """The memory that notes are written through; opened when it is first asked for."""
        # A lock of its own: reading a large memory takes long, and nobody who asks for counts waits for it.
        with self._opening:
            if self._memory is None:
                from core.memory import Memory

                self._memory = Memory.open(
                    self.home, author=self.author, clock=self._clock, window=self._window
                )
            return self._memory

    def _asking_now(self, *, as_loaded: bool = False) -> Asking:
        """as_loaded: for the configuration as it was read last, without looking at its files again."""
        from core.pipeline.workers.asking import Asking

        with self._guard:
            loaded = self._loaded if as_loaded and self._loaded is not None else self._load()
            configuration = loaded.configuration
            if self._asking is None:
                self._asking = Asking.of(
                    configuration, self.database, clock=self._clock, provider=self._given_provider
                )
            return self._asking

    def _working(self) -> Worker:
        from core.pipeline.workers.runner import Worker

        with self._guard:
            if self._worker is None:
                self._worker = Worker(
                    self.database,
                    memory=lambda: self.memory,
                    now=self._now,
                    ids=self._ids,
                    chance=self._chance,
                    name=self._name,
                )
            return self._worker

    def _now(self) -> int:
        return int(self._clock().timestamp() * 1000)
