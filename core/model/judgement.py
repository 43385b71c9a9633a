"""The result of a question: the memory answers it, may answer it, or has no answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from core.model.joined import Whose

Judgement = Literal["found", "not sure", "nothing"]


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A note that may answer a question. first_line: of its text. holds and lacks: words of the question.

    guessed: those of `holds` that count as another word, half typed or misspelt, each with that word.
    likelihood: how likely it answers, in [0, 1]. project: the other project that it is from, "" for none. whose:
    as of `Hit`.
    """

    note_id: str
    title: str
    first_line: str
    nugget_name: str
    holds: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    guessed: tuple[tuple[str, str], ...] = ()
    likelihood: float = 0.0
    project: str = ""
    whose: Whose = ""


class OpenChange(NamedTuple):
    """What is proposed in the place of a note, and waits for a person."""

    proposal_id: str
    content: str


# Gives the changes of one note that wait, or of all notes for "", by the id of the note. Never raises, from any thread.
OpenChanges = Callable[[str], Mapping[str, Sequence[OpenChange]]]
