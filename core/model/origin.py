"""The origins of journal entries: an edit, another program, a restore and others."""

from __future__ import annotations

from enum import StrEnum


class Origin(StrEnum):
    """How a change came to be in the log, beside who its author is.

    MADE: somebody made it, at a keyboard or through a program of ours. OUTSIDE: another program saved it.
    TAKEN_IN: another program saved it in the instant of a write of ours, and we brought it in on top.
    OVERWRITTEN: another program took something back without having seen it, which is no wish of anybody's.
    RESTORED: what was taken back so was put back. RESTORED_IN_PASSING: the same, because somebody was about to
    change it; that shows no fight with another program.
    """

    MADE = "made"
    OUTSIDE = "outside"
    TAKEN_IN = "taken-in"
    OVERWRITTEN = "overwritten"
    RESTORED = "restored"
    RESTORED_IN_PASSING = "restored-in-passing"

    @property
    def is_restoration(self) -> bool:
        """Whether it put back what was taken back unseen."""
        return self in (Origin.RESTORED, Origin.RESTORED_IN_PASSING)
