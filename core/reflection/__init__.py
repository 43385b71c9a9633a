"""Reflection: a cleanup pass that proposes what to archive, tidy, tag, merge and link."""

from core.reflection.proposals import ProposedChange, ReflectionResult
from core.reflection.run import reflect

__all__ = ["ProposedChange", "ReflectionResult", "reflect"]
