"""The memory as one agent has it open: as whom it writes, for which session its recalls count, what it did so far."""

from __future__ import annotations

import os
import secrets
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.errors import BrokenFileError, NuggetsError
from core.pipeline.session_events import SessionEvent
from core.projects import project_at, project_root
from nuggets_tui.calling_session import named_session, working_folder
from nuggets_tui.cli.calling_agent import author_of_client

if TYPE_CHECKING:
    from core.briefing import Briefing
    from core.memory import Memory
    from core.model.change import Author
    from core.pipeline.records import KeptCheckpoint
    from core.pipeline.service import Pipeline
    from core.projects import Project

# So much of what an agent asked and stored waits for the first checkpoint of a memory.
_MOST_WAITING: Final = 40


class AgentSession:
    """One agent's view of one memory folder. Safe to use from several threads.

    author: who changes are put down to; None: whoever the client says it is. home need not exist: it is made by the
    first change.
    """

    def __init__(
        self,
        home: Path,
        *,
        author: Author | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.home = home
        self.clock = clock
        self._folder = working_folder()
        self._given_author = author
        self._client = ""
        self._mark = secrets.token_hex(4)
        self._guard = threading.RLock()
        self._memory: Memory | None = None
        self._conversation = ""
        self._waiting: deque[SessionEvent] = deque(maxlen=_MOST_WAITING)

    # Who

    def identify(self, client: str) -> None:
        """Takes over which program is at the other end, as it says itself; "" changes nothing."""
        if not client or client == self._client:
            return
        with self._guard:
            before = self.author
            self._client = client
            if self._memory is not None and self.author != before:
                # What is written from now on is somebody else's.
                self._memory.close()
                self._memory = None

    @property
    def author(self) -> Author:
        """As whom changes are logged."""
        return self._given_author or author_of_client(self._client)

    @property
    def id(self) -> str:
        """The session for which recalls count, unless a call names another: as the environment says, else the agent's
        hooks, else one for each day of this connection.
        """
        named = named_session(None, str(self.home), server=True)
        return named or f"{self.author.name or 'agent'}-mcp-{self.clock().date().isoformat()}-{self._mark}"

    @property
    def project(self) -> str:
        """The project's folder that the server was started in, as hooks tell it; "" for one that tells nothing."""
        return project_root(self._folder)

    @property
    def here(self) -> Project | None:
        """The project at hand; None for none."""
        return project_at(self._folder)

    def work_in(self, folder: str) -> None:
        """The client says in which folder it works; "" changes nothing."""
        if folder and os.path.isdir(folder):
            with self._guard:
                self._folder = folder
                if self._memory is not None:
                    self._memory.use_project(self.here)

    # What

    def reading(self) -> Memory:
        """The memory as its files are now; looking at it writes nothing. Where the notes cannot be read, the facts are
        there alone. Errors as `Memory.refresh`.
        """
        memory = self._opened()
        try:
            memory.refresh_read_only()
        except BrokenFileError:
            # An open memory keeps the last good state; who opens it anew has what can be read now.
            with self._guard:
                if self._memory is memory:
                    self._memory = None
                    memory.close()
            memory = self._opened()
        return memory

    def pipeline(self) -> Pipeline:
        """The pipeline of the folder, whose database is made if there is none, to be closed by the caller."""
        from core.pipeline.service import Pipeline

        return Pipeline.open(self.home, author=self.author, clock=self.clock)

    def has_pipeline(self) -> bool:
        """Whether the folder has one."""
        from core.workspace import has_pipeline

        return has_pipeline(self.home)

    def briefing(self) -> Briefing:
        """What to know at the start, in the project here. Errors as `reading`."""
        from core.workspace import session_briefing

        made = session_briefing(self.reading(), project=self.here, folder=self.project)
        self._follow(SessionEvent("start", self.id, self.project, ahead=made.places))
        return made

    def prepare(self) -> None:
        """Loads the memory and what a first recall needs, ahead of it, and keeps it for the next server: agents end
        servers without a word. What is wrong with the memory, the first call says.
        """
        with suppress(NuggetsError, OSError):
            memory = self.reading()
            memory.search.index()
            memory.search.keep()

    def close(self) -> None:
        """Closes the files, and keeps the search index for who comes next."""
        with self._guard:
            memory, self._memory = self._memory, None
        if memory is not None:
            with suppress(NuggetsError, OSError):
                memory.search.keep()
            memory.close()

    def _opened(self) -> Memory:
        from core.workspace import open_memory, refuse_untrusted, use_team_near

        with self._guard:
            if self._memory is None:
                memory = open_memory(
                    self.home, author=self.author, clock=self.clock, reconcile=False, tolerant=True
                )
                refuse_untrusted(memory)
                use_team_near(memory, lambda: self._folder)
                memory.use_project(self.here)
                self._memory = memory
            return self._memory

    # What it did

    def asked(self, question: str, note_id: str = "", session: str = "") -> None:
        """Remembers a question for the next checkpoint. note_id: what answered it. session: that the agent named."""
        self._follow(
            SessionEvent("recall", session or self.id, self.project, texts=(question,), note_id=note_id)
        )

    def stored(self, what: str) -> None:
        """Remembers what was stored for the next checkpoint."""
        self._follow(SessionEvent("remember", self.id, self.project, texts=(what,)))

    def checkpoint(self, digest: str, *, session: str, project: str) -> tuple[KeptCheckpoint, str]:
        """Keeps a checkpoint with what was asked and stored since the last one, and what is to be said of the database.
        Errors as `Pipeline.checkpoint`.
        """
        # What happens from now on is of the conversation that the agent named.
        self._conversation = session or self._conversation
        with self.pipeline() as pipeline:
            self._hand_over(pipeline)
            done = pipeline.sessions.checkpoint(
                digest, session=self._conversation or self.id, project=project or self.project
            )
            return done, pipeline.notice

    def _follow(self, event: SessionEvent) -> None:
        """Puts down what happened where the memory has a pipeline; without one it waits for the first checkpoint, which
        makes it: a question makes no file.
        """
        with self._guard:
            self._waiting.append(event)
        with suppress(NuggetsError, OSError):
            if self.has_pipeline():
                with self.pipeline() as pipeline:
                    self._hand_over(pipeline)

    def _hand_over(self, pipeline: Pipeline) -> None:
        """Puts down what waits; a second time where another thread does it at once, which merges into one."""
        waiting = tuple(self._waiting)
        named = self._conversation
        pipeline.sessions.follow(*(one._replace(session=named or one.session) for one in waiting))
        with self._guard:
            for event in waiting:
                with suppress(ValueError):
                    self._waiting.remove(event)
