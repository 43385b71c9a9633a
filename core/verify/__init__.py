"""Verify: what is not right in a memory, and one undoable change set that repairs it."""

from core.verify.finding import Finding
from core.verify.run import findings, repair

__all__ = ["Finding", "findings", "repair"]
