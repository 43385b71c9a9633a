"""Twenty coding sessions with what a person labelled in them before any rule was made to fit."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "data" / "coding_sessions"


@dataclass(frozen=True)
class LabelledFact:
    """What is worth remembering, as a model would say it, and its type."""

    content: str
    type: str


@dataclass(frozen=True)
class LabelledChange:
    """A fact that was known and the one that takes its place, with what somebody would ask for it."""

    old: str
    new: str
    ask: str


@dataclass(frozen=True)
class CodingSession:
    """A session and its labels: the names of people, products, projects, files and identifiers in it, what should be
    remembered, what changed, and what a model might say though nobody should remember it."""

    name: str
    text: str
    names: frozenset[str]
    facts: tuple[LabelledFact, ...]
    changes: tuple[LabelledChange, ...]
    no_facts: tuple[str, ...]


@cache
def coding_sessions() -> tuple[CodingSession, ...]:
    """All sessions, in order of their files."""
    return tuple(map(_session, sorted(_FOLDER.glob("*.toml"))))


def _session(path: Path) -> CodingSession:
    read = tomllib.loads(path.read_text("utf-8"))
    return CodingSession(
        path.stem,
        read["text"],
        frozenset(read["names"]),
        tuple(LabelledFact(**one) for one in read["facts"]),
        tuple(LabelledChange(**one) for one in read["changes"]),
        tuple(read["no_facts"]),
    )
