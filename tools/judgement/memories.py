"""The memories that the rule of `core/search/judging.py` is fitted on: notes, questions, and foreign questions.

They were written for this purpose. With them go the demo memory and a person's memory with their questions in
`tests/recall_questions.py`. Nothing else may be used to fit the rule.
"""

from __future__ import annotations

import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parents[1] / "tests")]

from core.model.note import Note  # noqa: E402
from core.model.snapshot import Snapshot  # noqa: E402


@dataclass(frozen=True)
class SmallMemory:
    """asked: questions with the ids of the notes that answer them. foreign: questions that no note answers."""

    name: str
    snapshot: Snapshot
    asked: tuple[tuple[str, frozenset[str]], ...]
    foreign: tuple[str, ...]


def written() -> tuple[SmallMemory, ...]:
    """The memories beside this file; foreign to each are the questions of all others too."""
    read = [_written(path) for path in sorted(HERE.glob("*.toml"))]
    return tuple(
        SmallMemory(
            one.name,
            one.snapshot,
            one.asked,
            (*one.foreign, *(text for other in read if other is not one for text, _ in other.asked)),
        )
        for one in read
    )


def of_the_tests() -> tuple[SmallMemory, ...]:
    """The demo memory and that of one person."""
    from recall_questions import DEMO, PERSONAL

    from core import Memory

    made = []
    for name, questions in (("demo", DEMO), ("personal", PERSONAL)):
        with tempfile.TemporaryDirectory() as folder:
            questions.write(Path(folder))
            snapshot = Memory.open(Path(folder)).snapshot
        named: dict[str, set[str]] = {}
        for note in snapshot.visible:
            for text in {note.title, *([note.key] if note.is_fact else [])}:
                named.setdefault(text, set()).add(note.id)
        asked = tuple(
            (text, frozenset(id for key in keys for id in named.get(key, ())))
            for text, keys in questions.answered
        )
        made.append(SmallMemory(name, snapshot, asked, tuple(questions.unanswered)))
    return tuple(made)


def _written(path: Path) -> SmallMemory:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    titled = [
        (" ".join(note.split()[:6]), note) if isinstance(note, str) else (note[0], note[1])
        for note in data["notes"]
    ]
    notes = tuple(_note(f"{data['name']}-{place}", *note) for place, note in enumerate(titled))
    places = {title: place for place, (title, _) in enumerate(titled)}
    asked = tuple(
        (text, frozenset(f"{data['name']}-{places.get(right, right)}" for right in rights))
        for text, rights in data["questions"]
    )
    return SmallMemory(data["name"], Snapshot(notes=notes), asked, tuple(data["foreign"]))


def _note(id: str, title: str, content: str) -> Note:
    return Note(
        id=id,
        nugget_name="memory",
        title=title,
        content=content,
        created_at="2026-01-01T00:00:00.000Z",
        updated_at="2026-01-01T00:00:00.000Z",
        subject="session:current",
        scope="shared",
        type="note",
        source="explicit_user",
        confidence=0.5,
        stability="durable",
    )
