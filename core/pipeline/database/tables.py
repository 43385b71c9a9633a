"""The tables through one connection: each aggregate is a class of its own, and no other code asks its tables."""

from __future__ import annotations

import sqlite3
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.pipeline.database.calls import Calls
    from core.pipeline.database.decisions import Decisions
    from core.pipeline.database.documents import Documents
    from core.pipeline.database.embeddings import Embeddings
    from core.pipeline.database.entities import Entities
    from core.pipeline.database.facts import Facts
    from core.pipeline.database.found_relations import FoundRelations
    from core.pipeline.database.hints import Hints
    from core.pipeline.database.history import History
    from core.pipeline.database.jobs import Jobs
    from core.pipeline.database.masking import Masking
    from core.pipeline.database.meta import Meta
    from core.pipeline.database.note_edits import NoteEdits
    from core.pipeline.database.note_names import NoteNames
    from core.pipeline.database.proposals import Proposals
    from core.pipeline.database.raw import RawMemories
    from core.pipeline.database.session_memories import SessionMemories
    from core.pipeline.database.sessions import Sessions
    from core.pipeline.database.transcripts import Transcripts


class Tables:
    """All aggregates, for one reader, or for one transaction. Each stands in the module of its name, which is imported
    when it is first asked for.
    """

    calls: Calls
    decisions: Decisions
    documents: Documents
    embeddings: Embeddings
    entities: Entities
    facts: Facts
    found_relations: FoundRelations
    hints: Hints
    history: History
    jobs: Jobs
    masking: Masking
    meta: Meta
    note_names: NoteNames
    note_edits: NoteEdits
    proposals: Proposals
    raw: RawMemories
    session_memories: SessionMemories
    sessions: Sessions
    transcripts: Transcripts

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def __getattr__(self, name: str) -> Any:
        if name not in Tables.__annotations__:
            raise AttributeError(name)
        kind = getattr(import_module(f"core.pipeline.database.{name}"), Tables.__annotations__[name])
        made = self.__dict__[name] = kind(self.connection)
        return made
