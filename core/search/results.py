"""What a search takes and gives: filters, hits, and the breakdown that says why a note is a hit."""

from __future__ import annotations

from dataclasses import dataclass

from core.model.basis import normalise_tag
from core.model.note import Note


@dataclass(frozen=True, slots=True)
class Filters:
    """Which notes may be hits; None admits every value. Hidden notes only with `include_hidden`."""

    nugget: str | None = None
    scope: str | None = None
    type: str | None = None
    subject: str | None = None
    tag: str | None = None
    include_hidden: bool = False

    def admits(self, note: Note) -> bool:
        """Whether the note may be a hit."""
        return (
            (self.include_hidden or not note.hidden)
            and (self.nugget is None or note.nugget_name == self.nugget)
            and (self.scope is None or note.scope == self.scope)
            and (self.type is None or note.type == self.type)
            and (self.subject is None or note.subject == self.subject)
            and (self.tag is None or normalise_tag(self.tag) in map(normalise_tag, note.tags))
        )

    @property
    def narrow(self) -> bool:
        """Whether anything but hiddenness is asked for."""
        return any(
            wanted is not None for wanted in (self.nugget, self.scope, self.type, self.subject, self.tag)
        )


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Why a note stands where it does.

    vector, text, boost: the parts after their weights; they add up to `blend`, by which hits are ranked.
    vector_score, text_score: the parts before their weights, in [0, 1]; the best vector of the whole memory
    has 1. raw_vector: cosine of the phase vectors of query and note, in [-1, 1], for the best hits as it is
    with its noise, for others as it is expected. raw_text: 0.75 for the whole query standing in the note, plus
    the share of the query's tokens that the note has, in [0, 1.75]. score: softmax over the best hits, in
    [0, 1]; 0 for a note that is no hit. matched: words of the note that matched, folded, for `highlights`.
    """

    vector: float
    text: float
    boost: float
    blend: float
    vector_score: float
    text_score: float
    raw_vector: float
    raw_text: float
    score: float
    matched: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A note with its place in the ranking. `rank` counts from 1; 0 marks an explained note that is no hit."""

    note: Note
    score: float
    rank: int
    breakdown: Breakdown
