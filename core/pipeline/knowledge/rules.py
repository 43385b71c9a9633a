"""Classifies statements about an entity by rules alone, for when no model answers."""

from __future__ import annotations

import re

from core.pipeline.intake.aspects import aspect_of
from core.pipeline.intake.decisions import find_decisions
from core.pipeline.intake.linker import ATTRIBUTE_IMPORTANCE, CONSTRAINT_IMPORTANCE, AttributeKind


def kind_of(content: str) -> AttributeKind:
    """A constraint where the words are a decision's, else an attribute."""
    return "constraint" if find_decisions(content) else "attribute"


def importance_of(kind: AttributeKind) -> float:
    """How much a kind weighs, 0 to 1."""
    return CONSTRAINT_IMPORTANCE if kind == "constraint" else ATTRIBUTE_IMPORTANCE


def aspect_by_rules(content: str, name: str) -> str:
    """The aspect of a statement about an entity, by the verbs behind its name, or in the whole of it without one."""
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", content, re.IGNORECASE)
    return aspect_of(content[found.end() :].lstrip(" ,:;-") if found else content)
