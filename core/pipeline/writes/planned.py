"""The plan for a raw memory: each extracted fact with its decision, ready to be written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.pipeline.decision.result import Proposal
from core.pipeline.extraction.result import ExtractedFact, ExtractedRelation
from core.pipeline.intake.entailment import Entailment
from core.pipeline.intake.normalisation import Normalised
from core.pipeline.modes import Mode
from core.pipeline.records import RawMemory
from core.pipeline.writes.execution import Graph


@dataclass(frozen=True, slots=True)
class PlannedFact:
    """An extracted fact on its way. place: its index in the extraction. span: where in the raw text it comes from.

    proposal: None where there is none: the model's answer was "dropped", or it was "unasked". told: why, then.
    contradiction: how the fact contradicts the text that it would change, "" when it does not. pinned: whether the
    note it would change bears a pin. entailment: what the text has to say to it. replaced: whether a later fact of the
    same text corrects it.
    """

    place: int
    fact: ExtractedFact
    said: Normalised
    proposal: Proposal | None
    missing: Literal["", "dropped", "unasked"] = ""
    told: str = ""
    contradiction: str = ""
    pinned: bool = False
    span: tuple[int, int] | None = None
    entailment: Entailment = "said"
    replaced: bool = False


@dataclass(frozen=True, slots=True)
class ExtractPlan:
    """Everything that is to be written about one raw memory. Making it has written nothing.

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
