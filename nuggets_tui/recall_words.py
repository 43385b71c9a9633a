"""How a recall was answered, in words: for the command line and the app alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from core.facts.recall import Recall, Undecoded
    from core.model.judgement import Candidate

_UNDECODED: Final[Mapping[Undecoded, str]] = {
    "overfull": "read from the fact file: this nugget holds more facts than its vectors can tell apart",
    "costly": "read from the fact file: decoding this nugget would take too long",
    "unsure": "read from the fact file: the vectors of this nugget are not sure of it",
}


def how_sure(found: Recall) -> str:
    """How the answer was come by: its certainty, or that it was read from the fact file, and why."""
    return _UNDECODED.get(found.undecoded) or f"certainty {found.certainty:.2f}"


def skipped_lines(found: Recall) -> Iterator[str]:
    """A line for each nugget that was passed over. What cannot be read at all is said elsewhere, at each opening."""
    for one in found.skipped:
        if one.reason == "undecodable":
            yield f"{one.nugget_name} was passed over: {one.what}"


def why_candidate(one: Candidate) -> str:
    """Why a note may answer and is not sure to: the words of the question that it holds and lacks."""
    said = [
        f"{verb} {', '.join(words)}" for verb, words in (("holds", one.holds), ("lacks", one.lacks)) if words
    ]
    return "; ".join(said)
