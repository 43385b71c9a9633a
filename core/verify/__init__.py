"""Verify: finds what is wrong in a memory, and repairs it with one change set that can be undone."""

from core.verify.checks import findings, repair
from core.verify.finding import Finding

__all__ = ["Finding", "findings", "repair"]
