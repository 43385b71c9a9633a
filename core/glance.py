"""A first look at a large memory: its newest titles, its facts and its counts, long before all of it is read."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from pathlib import Path

import msgspec

from core.folder import FACT_SUFFIXES, GRAPH_FILE
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.note import Note


class _Line(msgspec.Struct, rename="camel", gc=False):
    id: str
    title: str
    kind: str = "note"
    hidden: bool = False
    created_at: str = ""
    updated_at: str = ""


class _Graph(msgspec.Struct):
    notes: list[_Line] = []


class _Facts(msgspec.Struct):
    facts: list[Fact] = []


@dataclass(frozen=True)
class Glance:
    """What a first look shows. `newest`: visible notes, newest first, with id, title, kind and dates alone."""

    newest: tuple[Note, ...]
    nuggets: tuple[Nugget, ...]
    visible: int
    hidden: int


def glance(home: Path, *, at_least: int = 2_000_000, newest: int = 100) -> Glance | None:
    """The first look at the memory in a folder, or None: it is small, or not quite as it should be.

    at_least: bytes of the note graph from which a first look is worth it. Reads, changes nothing, and leaves
    every judgement of the files to the loading that follows.
    """
    path = home / GRAPH_FILE
    try:
        if path.stat().st_size < at_least:
            return None
        lines = msgspec.json.decode(path.read_bytes(), type=_Graph).notes
        nuggets = _nuggets(home)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    visible = [line for line in lines if not line.hidden]
    top = heapq.nlargest(newest, visible, key=lambda line: (max(line.updated_at, line.created_at), line.id))
    return Glance(tuple(map(_note, top)), nuggets, len(visible), len(lines) - len(visible))


def _nuggets(home: Path) -> tuple[Nugget, ...]:
    found: dict[str, Nugget] = {}
    for suffix in FACT_SUFFIXES:
        for path in sorted(home.glob(f"[!.]*{suffix}")):
            data = path.read_bytes()
            meta = msgspec.json.decode(data, type=NuggetMeta)
            facts = msgspec.json.decode(data, type=_Facts).facts
            found.setdefault(meta.name, Nugget(meta=meta, facts=tuple(facts), file=path.name))
    return tuple(found[name] for name in sorted(found))


def _note(line: _Line) -> Note:
    return Note(
        id=line.id,
        nugget_name="",
        title=line.title,
        content="",
        kind=line.kind,
        created_at=line.created_at,
        updated_at=line.updated_at,
    )
