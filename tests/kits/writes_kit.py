"""Extraction from handing a text in to the notes, with a scripted model: each step as the worker takes it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from core.memory import Memory
from core.model.change import Author
from core.pipeline.database.connection import Database
from core.pipeline.database.jobs import Lease
from core.pipeline.models.provider import Provider
from core.pipeline.records import Accepted, HistoryRow, StoredProposal
from core.pipeline.workers import extract_job
from core.pipeline.writes import deciding
from core.pipeline.writes.committing import Committed, ExtractPlan
from core.pipeline.writes.submit import Submission, store_submission
from core.settings.pipeline_sections import AutonomousPart, PipelineConfiguration
from kits.scripted_model import Line, ScriptedModel

NOW = 1_790_000_000_000
CONTROLLED = PipelineConfiguration()
SHADOW = PipelineConfiguration(shadow_mode=True)
FROZEN = PipelineConfiguration(mutations_frozen=True)
FULL = PipelineConfiguration(autonomous=AutonomousPart(allow_update_delete=True))


def fact(content: str, confidence: float = 0.9, type: str = "fact") -> dict[str, Any]:
    """A fact as a model writes it."""
    return {"content": content, "type": type, "confidence": confidence}


def found(*facts: dict[str, Any] | str, entities: Sequence[dict[str, Any]] = ()) -> Line:
    """The answer of an extraction."""
    listed = [fact(one) if isinstance(one, str) else one for one in facts]
    return {"facts": listed, "entities": list(entities)}


def decision(action: str, target: str | None = None, confidence: float = 0.8, reason: str = "so") -> Line:
    """The answer to one question of what becomes of a fact. target: the label of a candidate."""
    return {"action": action, "targetId": target, "confidence": confidence, "reason": reason}


def parrot(action: str = "add") -> ScriptedModel:
    """A model that takes each sentence of a text for a fact, and decides the same about every fact."""

    def answer(prompt: str) -> Line:
        if '"decisions"' in prompt:
            labels = [line.partition(":")[0] for line in prompt.splitlines() if line.startswith("F")]
            decided = [
                {"fact": label, "action": action, "confidence": 0.9, "reason": "new"} for label in labels
            ]
            return {"decisions": decided}
        if '{"action"' in prompt:
            return decision(action)
        text = json.loads(prompt.rpartition("Text: ")[2].splitlines()[0])
        return found(*(f"{part.strip(' .')}." for part in text.split(". ")))

    return ScriptedModel(by_prompt=answer)


class Writes:
    """A memory with its pipeline. Times are in epoch milliseconds."""

    def __init__(self, home: Path, configuration: PipelineConfiguration = CONTROLLED) -> None:
        self.configuration = configuration
        self.memory = Memory.open(home, author=Author("pipeline"))
        self.database = Database.open(home)
        self.now = NOW
        self._handed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.database.close()
        self.memory.close()

    def submit(self, text: str, nugget: str = "", project: str = "") -> str:
        """Keeps a text; the id of its raw memory."""
        self._handed += 1
        self.now += 1_000
        raw_id = f"raw-{self._handed:016x}"
        handed = Submission(text, nugget=nugget, project=project)
        store_submission(self.database, self.configuration, handed, raw_id=raw_id, now=self.now)
        return raw_id

    def lease(self) -> Lease:
        with self.database.write() as writer:
            writer.jobs.release_held(self.now)
            found = writer.jobs.lease(
                "extract", now=self.now, lease_ms=60_000, worker="test", token=f"token-{self.now}"
            )
        assert found is not None
        return found

    def think(self, lease: Lease, model: Provider, between: Callable[[], None] = lambda: None) -> ExtractPlan:
        work = extract_job.prepare(self.database, lease.job, self.configuration)
        assert work is not None
        return extract_job.think(work, self.database, self.memory, model, between=between)

    def extract(self, model: Provider) -> Committed:
        """Does the next job."""
        lease = self.lease()
        done = self.commit(self.think(lease, model), lease)
        assert done is not None
        return done

    def commit(self, plan: ExtractPlan, lease: Lease) -> Committed | None:
        """Writes a plan with its notes; None where the lease was lost."""
        done = extract_job.commit(self.database, lambda: self.memory, plan, lease.token, self.now)
        return None if done is None else done.result

    def learn(self, text: str, *script: Line, nugget: str = "", project: str = "") -> Committed:
        """Hands a text in and extracts from it with a model that answers so."""
        self.submit(text, nugget, project)
        return self.extract(ScriptedModel(list(script)))

    def known(self, *texts: str) -> list[str]:
        """Facts that are notes already; the ids of the notes."""
        for text in texts:
            self.learn(text, found(text), *[decision("add")] * 3)
        by_text = {note.content: note.id for note in self.memory.snapshot.notes}
        return [by_text[text] for text in texts]

    def accept(self, *ids: str, by: str = "person") -> Accepted:
        self.now += 1_000
        return deciding.accept(self.database, self.memory, self.configuration, ids, by=by, now=self.now)

    def refuse(self, *ids: str) -> int:
        self.now += 1_000
        return deciding.refuse(self.database, self.memory, ids, by="person", now=self.now)

    def proposals(self, *, all: bool = True) -> tuple[StoredProposal, ...]:
        """The newest first."""
        return self.database.reading.proposals.stored(all=all)

    def proposal(self) -> StoredProposal:
        """The newest one."""
        return self.proposals()[0]

    def history(self, about: str) -> tuple[HistoryRow, ...]:
        return self.database.reading.history.history_of(about)

    def notes(self) -> list[str]:
        """The texts of all visible notes, in the order of the file."""
        return [note.content for note in self.memory.snapshot.notes if not note.hidden]

    def rows(self, table: str) -> int:
        return int(self.database.reading.connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
