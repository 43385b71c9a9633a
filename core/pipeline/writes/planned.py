"""The plan for a raw memory: each extracted fact with its decision, ready to be written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.pipeline.decide import Proposal
from core.pipeline.extract import ExtractedFact, ExtractedRelation
from core.pipeline.intake.normalisation import Normalised
from core.pipeline.modes import Mode
from core.pipeline.records import RawMemory
from core.pipeline.windows import NOTHING_READ, Outcome, Progress
from core.pipeline.writes.execution import Graph


@dataclass(frozen=True, slots=True)
class PlannedFact:
    """An extracted fact on its way. place: its index in the extraction. span: where in the raw text it comes from.

    proposal: None where no model could be asked, or its answer cannot be used. told: why, then.
    contradiction: how the fact contradicts the text that it would change, "" when it does not. unchecked: whether a
    model was to say that and did not. pinned: whether the
    note it would change bears a pin. replaced: whether a later fact of the same text corrects it.
    """

    place: int
    fact: ExtractedFact
    said: Normalised
    proposal: Proposal | None
    told: str = ""
    contradiction: str = ""
    pinned: bool = False
    span: tuple[int, int] | None = None
    replaced: bool = False
    unchecked: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """Which part of its text a plan is of. before, after: how far the text is read without and with it.

    outcome: what becomes of the job. windows: of the text in all. unread: characters that are not read then. so_far:
    the result of the job without this part. repeated: facts that an earlier part gave already, left out of the plan.
    """

    before: Progress = NOTHING_READ
    after: Progress = NOTHING_READ
    outcome: Outcome = "whole"
    windows: int = 1
    unread: int = 0
    so_far: Mapping[str, Any] = field(default_factory=dict)
    repeated: int = 0


@dataclass(frozen=True, slots=True)
class ExtractPlan:
    """Everything that is to be written about one raw memory, or one window of it. Making it has written nothing.

    graph: the notes as they were when it was made. newest: of the facts that were known then. warnings: of extraction
    and decision, in words. calls: to models.
    """

    job_id: int
    raw: RawMemory
    mode: Mode
    least_confidence: float
    knowledge: bool
    graph: Graph
    newest: int
    facts: tuple[PlannedFact, ...] = ()
    relations: tuple[ExtractedRelation, ...] = ()
    warnings: tuple[str, ...] = ()
    model: str = ""
    prompt_version: str = ""
    calls: int = 0
    reading: Reading = field(default_factory=Reading)

    def place_of(self, planned: PlannedFact) -> int:
        """The place of a fact among all of the text."""
        return self.reading.before.facts + planned.place
