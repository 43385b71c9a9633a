"""The tables through one connection: each aggregate is a class of its own, and no other code asks its tables."""

from __future__ import annotations

import sqlite3
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.pipeline.database.calls import Calls
    from core.pipeline.database.checkpoints import Checkpoints
    from core.pipeline.database.comparisons import Comparisons
    from core.pipeline.database.counts import Counts
    from core.pipeline.database.decisions import Decisions
    from core.pipeline.database.documents import Documents
    from core.pipeline.database.embeddings import Embeddings
    from core.pipeline.database.entities import Entities
    from core.pipeline.database.entity_rows import EntityRows
    from core.pipeline.database.expired import Expired
    from core.pipeline.database.facts import Facts
    from core.pipeline.database.figures import HealthFigures
    from core.pipeline.database.found_relations import FoundRelations
    from core.pipeline.database.hints import Hints
    from core.pipeline.database.history import History
    from core.pipeline.database.jobs import Jobs
    from core.pipeline.database.maintenance_runs import MaintenanceRuns
    from core.pipeline.database.masking import Masking
    from core.pipeline.database.meta import Meta
    from core.pipeline.database.note_names import NoteNames
    from core.pipeline.database.outbox import Outbox
    from core.pipeline.database.proposals import Proposals
    from core.pipeline.database.raw import RawMemories
    from core.pipeline.database.session_memories import SessionMemories
    from core.pipeline.database.sessions import Sessions
    from core.pipeline.database.transcripts import Transcripts


class Tables:
    """All aggregates, for one reader, or for one transaction. Each is imported when it is first asked for."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    @cached_property
    def calls(self) -> Calls:
        """The log of calls to models, and the circuit breaker of each provider."""
        from core.pipeline.database.calls import Calls

        return Calls(self.connection)

    @cached_property
    def checkpoints(self) -> Checkpoints:
        """What agents said of their sessions."""
        from core.pipeline.database.checkpoints import Checkpoints

        return Checkpoints(self.connection)

    @cached_property
    def comparisons(self) -> Comparisons:
        """How good the order was in which sessions were given memories ahead."""
        from core.pipeline.database.comparisons import Comparisons

        return Comparisons(self.connection)

    @cached_property
    def counts(self) -> Counts:
        """Counts over all tables."""
        from core.pipeline.database.counts import Counts

        return Counts(self.connection)

    @cached_property
    def decisions(self) -> Decisions:
        """What people decided without touching a note."""
        from core.pipeline.database.decisions import Decisions

        return Decisions(self.connection)

    @cached_property
    def documents(self) -> Documents:
        """Documents, and the chunks that they are found by."""
        from core.pipeline.database.documents import Documents

        return Documents(self.connection)

    @cached_property
    def embeddings(self) -> Embeddings:
        """Vectors of notes and chunks."""
        from core.pipeline.database.embeddings import Embeddings

        return Embeddings(self.connection)

    @cached_property
    def entities(self) -> Entities:
        """Entities with all that is known of them: names, mentions, aspects, what is said, relations."""
        from core.pipeline.database.entities import Entities

        return Entities(self.connection)

    @cached_property
    def entity_rows(self) -> EntityRows:
        """The rows of entities, for a change of them to be taken back."""
        from core.pipeline.database.entity_rows import EntityRows

        return EntityRows(self.connection)

    @cached_property
    def expired(self) -> Expired:
        """Rows that have been kept long enough, and what was removed."""
        from core.pipeline.database.expired import Expired

        return Expired(self.connection)

    @cached_property
    def facts(self) -> Facts:
        """What was learned and stands, or was denied."""
        from core.pipeline.database.facts import Facts

        return Facts(self.connection)

    @cached_property
    def figures(self) -> HealthFigures:
        """What the health is measured by."""
        from core.pipeline.database.figures import HealthFigures

        return HealthFigures(self.connection)

    @cached_property
    def found_relations(self) -> FoundRelations:
        """What a model found in raw memories, until it is brought into the graph."""
        from core.pipeline.database.found_relations import FoundRelations

        return FoundRelations(self.connection)

    @cached_property
    def hints(self) -> Hints:
        """Questions that notes answer."""
        from core.pipeline.database.hints import Hints

        return Hints(self.connection)

    @cached_property
    def history(self) -> History:
        """The audit."""
        from core.pipeline.database.history import History

        return History(self.connection)

    @cached_property
    def jobs(self) -> Jobs:
        """The queue."""
        from core.pipeline.database.jobs import Jobs

        return Jobs(self.connection)

    @cached_property
    def maintenance_runs(self) -> MaintenanceRuns:
        """What repairs ran, and when."""
        from core.pipeline.database.maintenance_runs import MaintenanceRuns

        return MaintenanceRuns(self.connection)

    @cached_property
    def masking(self) -> Masking:
        """Every text that may hold a credential."""
        from core.pipeline.database.masking import Masking

        return Masking(self.connection)

    @cached_property
    def meta(self) -> Meta:
        """Small values that all processes share."""
        from core.pipeline.database.meta import Meta

        return Meta(self.connection)

    @cached_property
    def note_names(self) -> NoteNames:
        """What the notes name, and which hold a decision."""
        from core.pipeline.database.note_names import NoteNames

        return NoteNames(self.connection)

    @cached_property
    def outbox(self) -> Outbox:
        """What has still to be written into the notes, and what was."""
        from core.pipeline.database.outbox import Outbox

        return Outbox(self.connection)

    @cached_property
    def proposals(self) -> Proposals:
        """What was proposed, and what became of it."""
        from core.pipeline.database.proposals import Proposals

        return Proposals(self.connection)

    @cached_property
    def raw(self) -> RawMemories:
        """Submitted texts."""
        from core.pipeline.database.raw import RawMemories

        return RawMemories(self.connection)

    @cached_property
    def session_memories(self) -> SessionMemories:
        """Which memories were recalled in which session, and whether they helped."""
        from core.pipeline.database.session_memories import SessionMemories

        return SessionMemories(self.connection)

    @cached_property
    def sessions(self) -> Sessions:
        """Sessions of agents, and what happened in them since their last checkpoints."""
        from core.pipeline.database.sessions import Sessions

        return Sessions(self.connection)

    @cached_property
    def transcripts(self) -> Transcripts:
        """Whole conversations."""
        from core.pipeline.database.transcripts import Transcripts

        return Transcripts(self.connection)
