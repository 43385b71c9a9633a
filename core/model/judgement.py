"""The result of a question: the memory answers it, may answer it, or has no answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from core.model.joined import Whose

Judgement = Literal["found", "not sure", "nothing"]


class Standing(msgspec.Struct, frozen=True):
    """What became of something that a note names of its project.

    said: as it stands in the note; kind: "file", "symbol", "command", "variable" or "key"; name: what was looked for.
    where: the place now of what moved. commit: that moved or removed it, "" where none did or that can't be told; at:
    its time, in seconds since 1970.
    """

    said: str
    kind: str
    name: str
    state: Literal["fresh", "changed", "moved", "gone", "unknown"]
    where: str = ""
    commit: str = ""
    at: int = 0

    def __str__(self) -> str:
        now = {"moved": f"moved to {self.where}", "gone": "is gone", "changed": "has changed"}
        return f"{' '.join(self.said.split())} {now.get(self.state, self.state)}"


class Stale(NamedTuple):
    """What a text names and its project no longer has as named. gone: which share of all that it names, in [0, 1]."""

    references: tuple[Standing, ...]
    gone: float

    @property
    def lost(self) -> bool:
        """Whether something is not where it was; a change alone is no reason to doubt a text."""
        return any(one.state != "changed" for one in self.references)

    @property
    def outdated(self) -> bool:
        """Whether most of what it is about is gone."""
        return self.gone >= 0.5

    def repointed(self, text: str) -> str:
        """A text that names files where they are now; a symbol keeps its name wherever it went."""
        for one in self.references:
            fit = one.where.isprintable() and not one.said.startswith(("/", "~"))
            if one.state == "moved" and one.kind == "file" and fit:
                shape = rf"(?<![\w./-]){re.escape(one.said)}(?![\w/-])"
                text = re.sub(shape, (one.where + "/" * one.said.endswith("/")).replace("\\", r"\\"), text)
        return text


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A note that may answer a question. first_line: of its text. holds and lacks: words of the question.

    guessed: those of `holds` that count as another word, half typed or misspelt, each with that word.
    likelihood: how likely it answers, in [0, 1]. project: the other project that it is from, "" for none. whose:
    as of `Hit`. stale: what it names and its project has no more.
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
    stale: tuple[Standing, ...] = ()


class OpenChange(NamedTuple):
    """What is proposed in the place of a note, and waits for a person."""

    proposal_id: str
    content: str


# Gives the changes of one note that wait, or of all notes for "", by the id of the note. Never raises, from any thread.
OpenChanges = Callable[[str], Mapping[str, Sequence[OpenChange]]]
