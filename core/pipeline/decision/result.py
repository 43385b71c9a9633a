"""The results of the decision: candidates, proposals, and facts without a decision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from core.pipeline.models.provider import ModelError

Action = Literal["add", "update", "delete", "none"]
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)
DecidedBy = Literal["rule", "model"]


@dataclass(frozen=True, slots=True)
class StoredCandidate:
    """A stored memory that a fact may repeat or change, or an earlier fact of the same batch.

    content_hash: its hash as intake makes it; "" where there is none. score: relevance in [0, 1]. fact: the index of
    the earlier fact when it is one, and None otherwise; such a candidate has no id yet.
    """

    id: str
    content: str
    type: str = "fact"
    # How well it fits one fact makes it no other candidate.
    score: float = field(default=0.0, compare=False)
    content_hash: str = ""
    fact: int | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """What should become of one fact. Nothing has been written.

    fact: its index in the batch. target: what it would change or what says the same; None for an addition.
    confidence: in [0, 1]. decided_by: a rule, or the model that is named.
    """

    fact: int
    action: Action
    target: StoredCandidate | None
    confidence: float
    reason: str
    decided_by: DecidedBy
    model: str = ""
    prompt_version: str = ""


@dataclass(frozen=True, slots=True)
class Decisions:
    """The outcome for a batch: proposals in the order of their facts, warnings, and the calls that it took.

    errors: for each fact that no model could be asked about, its index and what went wrong. A fact without a proposal
    and without an error was answered in a way that cannot be used; a warning tells how.
    """

    proposals: tuple[Proposal, ...] = ()
    warnings: tuple[str, ...] = ()
    errors: tuple[tuple[int, ModelError], ...] = ()
    calls: int = 0
