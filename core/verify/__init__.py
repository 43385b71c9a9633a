"""Verify: finds what is wrong in a memory, and repairs it with one change set that can be undone."""

from core.verify.finding import Finding
from core.verify.run import findings, repair

__all__ = ["Finding", "findings", "repair"]
