"""Facts and the nuggets that hold them, as they stand in *.nugget.json and *.donna.json."""

from __future__ import annotations

import math
from typing import Any, Final

import msgspec

from core.model.note import EXTRA
from core.text.exact import exact_form

CAPACITY_WARNING: Final = 0.8
CAPACITY_CRITICAL: Final = 0.9


class Fact(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A short fact: what an agent recalls by `key`. `extra` holds fields this version does not know."""

    key: str
    value: str
    hits: int = 0
    last_hit_session: str = ""
    extra: dict[str, Any] = msgspec.field(default_factory=dict, name=EXTRA)


class FactConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How a nugget is decoded: sharpening power, limiter, softmax temperature, decorrelation rounds."""

    sharpen_p: float = 1
    corvacs_a: float = 0
    temp_T: float = 0.9
    orth_iters: int = 1


class NuggetMeta(msgspec.Struct, frozen=True, kw_only=True):
    """Everything of a nugget but its facts. D: dimension of a phase vector."""

    name: str
    version: int = 4
    D: int = 16384
    banks: int = 4
    ensembles: int = 1
    max_facts: int = 0
    config: FactConfig = FactConfig()

    @property
    def capacity(self) -> int:
        """How many facts decode reliably: banks x floor(sqrt(D))."""
        return self.banks * math.isqrt(max(self.D, 0))


class Nugget(msgspec.Struct, frozen=True, kw_only=True):
    """A nugget: its settings, its facts in file order, and the name of its file ("" before the first write)."""

    meta: NuggetMeta
    facts: tuple[Fact, ...] = ()
    file: str = ""
    problem: str = ""

    @property
    def name(self) -> str:
        """The nugget's name."""
        return self.meta.name

    @property
    def load(self) -> float:
        """Share of the capacity in use; 0.5 is half full."""
        return len(self.facts) / self.meta.capacity if self.meta.capacity else 0.0

    @property
    def capacity_used_pct(self) -> float:
        """Share of the capacity in use, in percent with one decimal."""
        return round(self.load * 100, 1)

    @property
    def capacity_warning(self) -> str:
        """What a person should know about the load: "" below 80 %, a warning above, critical above 90 %."""
        if self.load > CAPACITY_CRITICAL:
            return f"critical: {self.capacity_used_pct:g}% of capacity used, recall becomes unreliable"
        if self.load > CAPACITY_WARNING:
            return f"warning: {self.capacity_used_pct:g}% of capacity used"
        if self.meta.max_facts and len(self.facts) > self.meta.max_facts:
            return f"warning: {len(self.facts)} facts, more than the limit of {self.meta.max_facts}"
        return ""

    def find(self, key: str) -> tuple[int, Fact] | None:
        """Place and fact of a key: equal text first, else the first that is equal when case is folded."""
        folded = exact_form(key)
        for index, fact in enumerate(self.facts):
            if fact.key == key:
                return index, fact
        for index, fact in enumerate(self.facts):
            if exact_form(fact.key) == folded:
                return index, fact
        return None
