"""What extraction finds in a raw memory: facts, relations between entities, and what was wrong with the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

FactType = Literal["fact", "preference", "decision", "procedural", "semantic"]
FACT_TYPES: Final[tuple[FactType, ...]] = get_args(FactType)
# What kind of thing an entity may be; "unknown" is a model that cannot tell.
ENTITY_TYPES: Final = ("person", "project", "system", "tool", "concept", "skill", "task", "unknown")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is sent, looked at and kept: lengths in characters, counts in items."""

    shortest_input: int = 10
    longest_input: int = 12_000
    shortest_fact: int = 10
    longest_fact: int = 2_000
    most_facts: int = 20
    longest_name: int = 200
    most_relations: int = 50


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    """One statement that stands on its own.

    confidence: in [0, 1], the model's own. quote: the sentences of the text that say it, "" where none do. order:
    whether it tells whoever reads it what to do. Either way a person looks at it before it is written.
    """

    content: str
    type: FactType
    confidence: float
    quote: str = ""
    order: bool = False

    @property
    def grounded(self) -> bool:
        """Whether a sentence of the text says it."""
        return bool(self.quote)

    @property
    def review_needed(self) -> bool:
        return self.order or not self.grounded


@dataclass(frozen=True, slots=True)
class ExtractedRelation:
    """Source, relationship, target: two entities and what one is to the other.

    confidence: in [0, 1]. source_type and target_type: what kind of thing they are as the model has it, "" where it
    does not say.
    """

    source: str
    relationship: str
    target: str
    confidence: float
    source_type: str = ""
    target_type: str = ""


@dataclass(frozen=True, slots=True)
class Extraction:
    """All that came of one raw memory.

    model: the model that answered, "" when none was asked. calls: how many times one was. full: whether the answer
    holds as much as one may, so that the text may say more; over: whether it held more than that. Facts and relations
    stand in the order of the answer.
    """

    facts: tuple[ExtractedFact, ...] = ()
    relations: tuple[ExtractedRelation, ...] = ()
    warnings: tuple[str, ...] = ()
    model: str = ""
    prompt_version: str = ""
    calls: int = 0
    full: bool = False
    over: bool = False
