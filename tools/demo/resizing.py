"""Makes of the demo memory one of any size: with the oldest of its notes, or with made-up ones."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.folder import DATABASE_FILE
from core.memory import Memory
from core.model.change import Author
from core.model.fact import Fact
from core.model.note import Note, replace
from nuggets_tui.demo import DEMO_NOW, write_demo
from tools.demo.generated import generate

if TYPE_CHECKING:
    from core.model.draft import Draft

# Nobody at the keyboard: what a person takes back with one key is never the whole demo.
DEMO: Final = Author("program", "demo")
# Notes of the largest demo memory that has a log. Nobody reads an entry that holds a whole large memory, and it takes
# as much room again.
_MOST_IN_THE_LOG: Final = 5_000
# Behind those of the story.
_FIRST_ID: Final = 1_000


def numbered(start: int = 1) -> Callable[[], str]:
    """A source of ids that counts: 00000001, 00000002 and so on."""
    numbers = count(start)
    return lambda: f"{next(numbers):08x}"


def resize(folder: Path, notes: int, now: datetime) -> None:
    """Leaves so many notes in a fresh copy of the demo memory; what comes or stays is one entry of its log."""
    memory = _opened(folder, now)
    snapshot = memory.snapshot
    if notes < len(snapshot.notes):
        memory.close()
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        memory = _opened(folder, now)
        made = _oldest(snapshot.notes, notes)
        ids = {note.id for note in made}
        # In the order of the file, as facts stand in theirs.
        known = snapshot.fact_notes
        facts = [
            (nugget.name, fact)
            for nugget in snapshot.nuggets
            for fact in nugget.facts
            if known[nugget.name, fact.key].id in ids
        ]
    else:
        made = generate(notes - len(snapshot.notes), set(snapshot.by_id), now)
        facts = [(note.nugget_name, fact_of_note(note)) for note in made if note.is_fact]
    draft = memory.draft()
    put_all(draft, made, facts)
    memory.apply(draft.change_set("wrote the demo memory", author=DEMO, kind="import"), keep_time=True)
    memory.close()
    for path in folder.iterdir():
        large = notes > _MOST_IN_THE_LOG and path.name.startswith(DATABASE_FILE)
        if large or path.name in ("backups", ".nuggets.lock"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def write_sized(home: Path, notes: int, now: datetime = DEMO_NOW) -> Path:
    """Writes the demo memory with so many notes, one at least: the oldest of its own, or with made-up ones."""
    resize(write_demo(home, now=now), notes, now)
    return home


def _opened(folder: Path, now: datetime) -> Memory:
    return Memory.open(folder, author=DEMO, clock=lambda: now, ids=numbered(_FIRST_ID))


def _oldest(notes: Iterable[Note], wanted: int) -> list[Note]:
    """The oldest notes, with the links between them."""
    kept = sorted(notes, key=lambda note: (note.created_at, note.id))[:wanted]
    ids = {note.id for note in kept}
    return [replace(note, links=tuple(link for link in note.links if link.to in ids)) for note in kept]


def put_all(draft: Draft, notes: list[Note], facts: Iterable[tuple[str, Fact]]) -> None:
    """Lays notes and facts over the draft; every note stands there before the first link is checked."""
    for name in dict.fromkeys(note.nugget_name for note in notes):
        draft.ensure_nugget(name)
    for note in notes:
        draft.put(replace(note, content="", tags=(), links=()))
    for note in notes:
        draft.put(note)
    for nugget, fact in facts:
        draft.put_fact(nugget, fact)


def fact_of_note(note: Note) -> Fact:
    """The fact that a fact note mirrors."""
    return Fact(key=note.key, value=note.content, hits=note.hits, last_hit_session=note.last_hit_session)
