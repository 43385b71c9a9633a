"""Saved searches in words: how each stands, for the app and the command line alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.search.search_checks import SearchCheckResult

# Colour is never the only sign.
FOUND, LOST = "✓", "✗"


def status_icon(verdict: SearchCheckResult) -> str:
    """✓ or ✗ for a search check, nothing for another."""
    return "" if not verdict.search.is_check else LOST if verdict.lost else FOUND


def rank_of(verdict: SearchCheckResult) -> str:
    """Where the note stands that must be found; "–" for nowhere."""
    return f"#{verdict.rank}" if verdict.rank else "–"


def status_text(verdict: SearchCheckResult) -> str:
    """One search's standing in a few words; a note of a person's own name is not in them."""
    hits = plural(verdict.total, "hit")
    if not verdict.search.is_check:
        return hits
    if verdict.trouble:
        return f"failed: {why_failed(verdict)}"
    through = " through the note it was merged into" if verdict.merged else ""
    return f"found at {rank_of(verdict)} of {hits}{through}"


def why_failed(verdict: SearchCheckResult) -> str:
    """Why a search check failed, in a clause; of one with trouble."""
    if verdict.trouble == "deleted":
        return "its note was deleted"
    if verdict.trouble == "hidden":
        return "its note is hidden"
    if verdict.trouble == "no hit":
        return f"its note is not among its hits ({verdict.total:,})" if verdict.total else "it finds nothing"
    within = verdict.search.within
    note = "the note it was merged into" if verdict.merged else "its note"
    first = "first" if within == 1 else f"in the first {within}"
    return f"{note} is {rank_of(verdict)}, expected {first}"


def lost_in_words(verdicts: Sequence[SearchCheckResult]) -> str:
    """How many search checks are lost; "" for none."""
    lost = sum(verdict.lost for verdict in verdicts)
    return f"{plural(lost, 'search check', 'search checks')} failed" if lost else ""
