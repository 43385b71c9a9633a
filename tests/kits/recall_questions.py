"""Questions as people and agents put them, over two memories, with what answers each and some that nothing answers."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from core import Memory
from core.facts.edits import remember
from core.model.draft import Draft
from core.model.note import Note

_DATA: Final = tomllib.loads(
    (Path(__file__).parents[1] / "data" / "recall_questions.toml").read_text(encoding="utf-8")
)


@dataclass(frozen=True)
class Questions:
    """answered: each with the keys of the facts and the titles of the notes that answer it, any of which is right."""

    write: Callable[[Path], object]
    answered: tuple[tuple[str, tuple[str, ...]], ...]
    unanswered: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """Of the questions with an answer: how many got it, another one, or none; of the others: how many got one."""

    right: int
    wrong: int
    missed: int
    false: int


def ask(questions: Questions, rule: Callable[[str], str | None]) -> Outcome:
    """Puts every question to a rule that gives the key or title of its answer, None for a miss."""
    found = [(rule(query), right) for query, right in questions.answered]
    right = sum(answer in accepted for answer, accepted in found)
    missed = sum(answer is None for answer, _ in found)
    false = sum(rule(query) is not None for query in questions.unanswered)
    return Outcome(right, len(found) - right - missed, missed, false)


def recalled(memory: Memory) -> Callable[[str], str | None]:
    """The rule that a memory follows, the fall-back to the notes included; nothing is counted."""

    def rule(query: str) -> str | None:
        found = memory.recall(query, record=False)
        return found.key if found.found else None

    return rule


def write_demo(home: Path) -> None:
    """The demo memory, written by hand: 155 facts and about 200 notes of a team."""
    from nuggets_tui.demo import write_demo

    write_demo(home)


def write_personal(home: Path) -> None:
    """A small memory of one person at home and at work."""

    def build(draft: Draft) -> None:
        for key, value in _DATA["facts"].items():
            remember(draft, "main", key, value)
        for number, (title, content) in enumerate(_DATA["notes"].items()):
            draft.put(Note(id=f"note-main-{number:08x}", nugget_name="main", title=title, content=content))

    Memory.open(home).change("written for the questions", build)


def _questions(name: str, write: Callable[[Path], object]) -> Questions:
    told = _DATA[name]
    answered = tuple((query, tuple(right)) for query, *right in told["answered"])
    return Questions(write, answered, tuple(told["unanswered"]))


DEMO: Final = _questions("demo", write_demo)
PERSONAL: Final = _questions("personal", write_personal)
