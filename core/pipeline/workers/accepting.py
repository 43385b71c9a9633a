"""What fronts do with proposals: accept, refuse, and which ones are accepted all at once."""

from __future__ import annotations

from core.pipeline.database.proposals import above
from core.pipeline.writes.accept import accept, refuse

__all__ = ["above", "accept", "refuse"]
