"""Search settings with parts switched off, for measuring what each part is worth."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from core.settings import SearchSettings

# The gains that are lines of their own in a hit's breakdown; other weights shape one of these.
LEGS = ("vector_weight", "text_weight")
WEIGHTS = tuple(name for name in SearchSettings.__struct_fields__ if name.endswith("_weight"))
BOOSTS = tuple(name for name in SearchSettings.__struct_fields__ if name.endswith("_boost"))
FLOORS = tuple(name for name in SearchSettings.__struct_fields__ if name.endswith("_floor"))


def off(*names: str) -> SearchSettings:
    """The defaults with some weights at 0."""
    switched: dict[str, Any] = dict.fromkeys(names, 0.0)
    return replace(SearchSettings(), **switched)


def alone(leg: str) -> SearchSettings:
    """One leg without the others, without boosts and without the floor that leaves weak hits out."""
    return off(*(name for name in LEGS if name != leg), *BOOSTS, *FLOORS)


def ablations() -> list[tuple[str, SearchSettings]]:
    """Every part switched off by its name, boosts together, the floor, and each of the two legs alone."""
    made = [(f"without {name.removesuffix('_weight')}", off(name)) for name in WEIGHTS]
    made.append(("without boosts", off(*BOOSTS)))
    made += [(f"without {name}", off(name)) for name in FLOORS]
    made.append(("vector leg alone", alone("vector_weight")))
    made.append(("text leg alone", alone("text_weight")))
    return made
