"""The memories that the rule of `core/search/judge.py` is fitted on: notes, questions, and foreign questions.

They were written for this purpose. With them go the demo memory and a person's memory with their questions in
`tests/recall_questions.py`. Nothing else may be used to fit the rule.
"""

from __future__ import annotations

import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
# So many memories are made of several; so many notes stand on a page.
JOINED, ON_A_PAGE = 3, 4
# Sizes of the memories that are drawn of other data.
SIZES = (30, 100, 300)
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parents[1] / "tests")]

from core.model.note import Note  # noqa: E402
from core.model.note import replace as change_note  # noqa: E402
from core.model.snapshot import Snapshot  # noqa: E402


@dataclass(frozen=True)
class SmallMemory:
    """asked: questions with the ids of the notes that answer them. foreign: questions that no note answers; near: those
    of them that were written for this memory. left_out: questions whose notes were taken away; something else may
    answer them after all.

    members: names of the memories that its notes are from. about: what they are about. A question of another memory is
    foreign only where that is about something else: how to run the tests is known to more than one project.
    """

    name: str
    members: frozenset[str]
    about: frozenset[str]
    snapshot: Snapshot
    asked: tuple[tuple[str, frozenset[str]], ...]
    foreign: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    near: frozenset[str] = frozenset()


def written() -> tuple[SmallMemory, ...]:
    """The memories beside this file; foreign to each are the questions of others about something else too."""
    return _with_foreign([_written(path) for path in sorted(HERE.glob("*.toml"))])


def of_the_tests() -> tuple[SmallMemory, ...]:
    """The demo memory and that of one person, both of people who write software."""
    from kits.recall_questions import DEMO, PERSONAL

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
        unanswered = tuple(questions.unanswered)
        made.append(
            SmallMemory(
                name=name,
                members=frozenset((name,)),
                about=frozenset(("software",)),
                snapshot=snapshot,
                asked=asked,
                foreign=unanswered,
                near=frozenset(unanswered),
            )
        )
    return tuple(made)


def all_memories() -> tuple[SmallMemory, ...]:
    """All of them; then halves of each, several as one, and the same with longer notes."""
    files = sorted(HERE.glob("*.toml"))
    whole = _with_foreign([*map(_written, files), *conversations(), *of_projects(), *of_the_tests()])
    halves = [_half(one, place) for one in whole for place in range(2)]
    beside = [one for one in whole if one.name != "demo"]
    joined = [_joined(beside[place::JOINED], whole) for place in range(JOINED)]
    paged = [_paged(one) for one in (*whole, *joined) if len(one.snapshot.visible) >= ON_A_PAGE * 12]
    return (*whole, *halves, *joined, *paged)


def drawn(paths: Sequence[Path]) -> Iterator[SmallMemory]:
    """Small memories of other data, with the questions of its dev split. They fit nothing."""
    from benchmarks.retrieval_memories import stores
    from benchmarks.retrieval_sets import outside_files, outside_set

    for path in outside_files(paths):
        data = outside_set(path).of_split("dev")
        for size in SIZES:
            for store in stores(data, size):
                yield SmallMemory(
                    name=f"{data.name}, {len(store.snapshot.visible)} notes",
                    members=frozenset((data.name,)),
                    about=frozenset((data.name,)),
                    snapshot=store.snapshot,
                    asked=tuple((query.text, frozenset(query.relevant)) for query in store.own),
                    foreign=(),
                    left_out=tuple(query.text for query in store.foreign),
                )


def _with_foreign(memories: list[SmallMemory]) -> tuple[SmallMemory, ...]:
    return tuple(replace(one, foreign=(*one.foreign, *_of_others(one, memories))) for one in memories)


def _of_others(one: SmallMemory, memories: Sequence[SmallMemory]) -> Iterator[str]:
    for other in memories:
        if not one.about & other.about:
            yield from (text for text, _ in other.asked)


def _half(one: SmallMemory, place: int) -> SmallMemory:
    """Every other note of a memory."""
    kept = {note.id for note in one.snapshot.visible[place::2]}
    notes = tuple(note for note in one.snapshot.visible if note.id in kept)
    return replace(
        one,
        name=f"{one.name}, half",
        snapshot=Snapshot(notes=notes),
        asked=tuple((text, ids & kept) for text, ids in one.asked if ids & kept),
        left_out=tuple(text for text, ids in one.asked if not ids & kept),
    )


def _joined(some: Sequence[SmallMemory], memories: Sequence[SmallMemory]) -> SmallMemory:
    """Several memories as one. Questions that some of them cannot answer are not asked: another one may."""
    made = SmallMemory(
        name=f"{some[0].name} and more",
        members=frozenset(name for one in some for name in one.members),
        about=frozenset(about for one in some for about in one.about),
        snapshot=Snapshot(notes=tuple(note for one in some for note in one.snapshot.visible)),
        asked=tuple(question for one in some for question in one.asked),
        foreign=(),
    )
    return replace(made, foreign=tuple(_of_others(made, memories)))


def _paged(one: SmallMemory) -> SmallMemory:
    """The same with some notes on a page: its title is that of the first, the others begin with theirs."""
    notes = one.snapshot.visible
    page_of: dict[str, str] = {}
    pages = []
    for place in range(0, len(notes), ON_A_PAGE):
        first, *others = notes[place : place + ON_A_PAGE]
        page_of |= {note.id: first.id for note in (first, *others)}
        text = "\n".join([first.content, *(f"{note.title}\n{note.content}" for note in others)])
        pages.append(_note(first.id, first.title, text))
    asked = tuple((text, frozenset(page_of[id] for id in ids if id in page_of)) for text, ids in one.asked)
    return replace(one, name=f"{one.name}, pages", snapshot=Snapshot(notes=tuple(pages)), asked=asked)


def of_projects() -> Iterator[SmallMemory]:
    """The projects of which not all are held back; see `projects.py`."""
    data = tomllib.loads((HERE / "projects" / "dev.toml").read_text(encoding="utf-8"))
    for one in data["project"]:
        notes = [
            change_note(
                _note(f"{one['name']} fact-{place}", key, value), kind="fact", source_key=key, type="fact"
            )
            for place, (key, value) in enumerate(one["facts"])
        ]
        notes += [_note(f"{one['name']}-{place}", *note) for place, note in enumerate(one["notes"])]
        ids = {note.title: note.id for note in notes}
        yield SmallMemory(
            name=one["name"],
            members=frozenset((one["name"],)),
            about=frozenset(("software",)),
            snapshot=Snapshot(notes=tuple(notes)),
            asked=tuple((text, frozenset((ids[right],))) for text, right in one["questions"]),
            foreign=tuple(one["near"]),
            near=frozenset(one["near"]),
        )


def _written(path: Path) -> SmallMemory:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    name = data["name"]
    notes = tuple(_notes(name, data))
    places: dict[object, str] = {place: note.id for place, note in enumerate(notes)}
    places |= {note.title: note.id for note in notes if note.title not in places}
    foreign = tuple(data["foreign"])
    return SmallMemory(
        name=name,
        members=frozenset((name,)),
        about=frozenset((data.get("about", name),)),
        snapshot=Snapshot(notes=notes),
        asked=tuple(
            (text, frozenset(places[right] for right in rights)) for text, rights in data["questions"]
        ),
        foreign=foreign,
        near=frozenset(foreign),
    )


def _notes(name: str, data: Mapping[str, Any]) -> Iterator[Note]:
    """The notes of a file: as they stand there, turns of sessions, or facts."""
    turns = ((turn, day) for day, spoken in data.get("sessions", ()) for turn in spoken)
    for place, (turn, day) in enumerate(turns):
        yield _note(f"{name}-{place}", " ".join(turn.split()[:6]), turn, day)
    for place, (nugget, key, value, day) in enumerate(data.get("facts", ())):
        yield change_note(
            _note(f"{name}-{place}", key, value, day),
            nugget_name=nugget,
            kind="fact",
            source_key=key,
            type="fact",
        )
    for place, note in enumerate(data.get("notes", ())):
        yield _note(
            f"{name}-{place}", *([" ".join(note.split()[:6]), note] if isinstance(note, str) else note)
        )


def _by_session(one: SmallMemory, data: Mapping[str, Any]) -> SmallMemory:
    """A conversation with a session a note."""
    session_of = [place for place, (_, turns) in enumerate(data["sessions"]) for _ in turns]
    notes = tuple(
        _note(f"{one.name} session-{place}", f"Session of {day}", "\n".join(turns), day)
        for place, (day, turns) in enumerate(data["sessions"])
    )
    asked = tuple(
        (text, frozenset(notes[session_of[int(id.rpartition("-")[2])]].id for id in ids))
        for text, ids in one.asked
    )
    return replace(one, name=f"{one.name}, sessions", snapshot=Snapshot(notes=notes), asked=asked)


def conversations() -> Iterator[SmallMemory]:
    """The conversations with a session a note."""
    for path in sorted(HERE.glob("*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        if "sessions" in data:
            yield _by_session(_written(path), data)


def _note(id: str, title: str, content: str, day: str = "2026-01-01") -> Note:
    return Note(
        id=id,
        nugget_name="memory",
        title=title,
        content=content,
        created_at=f"{day}T00:00:00.000Z",
        updated_at=f"{day}T00:00:00.000Z",
        subject="session:current",
        scope="shared",
        type="note",
        source="explicit_user",
        confidence=0.5,
        stability="durable",
    )
