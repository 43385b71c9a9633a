"""Queries with the notes that answer them: the project's own over the demo memory, and data of others from files."""

from __future__ import annotations

import json
import re
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.model.note import Link, Note
from core.model.snapshot import Snapshot

QUERIES = Path(__file__).with_name("retrieval_queries.toml")
LANGUAGES = Path(__file__).with_name("retrieval_languages.toml")
NAMED = Path(__file__).with_name("retrieval_named.toml")
UNANSWERED = Path(__file__).with_name("retrieval_unanswered.toml")
# Words of a text that stand for a title where a note has none.
_TITLE_WORDS = 6
_FORMS = {
    "quotes": re.compile(r"([\"'`])(?<!\w.)\S(?:.*?\S)??\1(?!\w)|[\u201c\u201e\u00ab]"),
    "flags": re.compile(r"(?<!\S)--?[A-Za-z]"),
}
# Kinds whose queries nothing answers.
MISSES = ("miss", "near_miss")


@dataclass(frozen=True)
class Query:
    """What somebody types. relevant: grade above 0 of each note that answers, by id; none for a miss."""

    text: str
    kind: str
    split: str
    relevant: Mapping[str, float]

    @property
    def forms(self) -> tuple[str, ...]:
        """How it is written: "quotes" (and backquotes), "flags" of a command, or "plain words"."""
        found = [form for form, shape in _FORMS.items() if shape.search(self.text)]
        return tuple(found) or ("plain words",)

    @property
    def is_miss(self) -> bool:
        """Whether nothing answers it."""
        return not self.relevant


@dataclass(frozen=True)
class Collection:
    """Notes that are searched together, with their queries."""

    snapshot: Snapshot
    queries: tuple[Query, ...]


@dataclass(frozen=True)
class DataSet:
    """A named set of collections. `linked`: whether its notes have links."""

    name: str
    collections: tuple[Collection, ...]

    @property
    def linked(self) -> bool:
        """Whether any note has a link."""
        return any(note.links for part in self.collections for note in part.snapshot.notes)

    def of_split(self, split: str) -> DataSet:
        """The set with the queries of one split ("all": of every one); collections without any are left out."""
        parts = (
            replace(part, queries=tuple(q for q in part.queries if split in ("all", q.split)))
            for part in self.collections
        )
        return replace(self, collections=tuple(part for part in parts if part.queries))


def own_set() -> DataSet:
    """The project's own queries over the demo memory. Raises ValueError for a label that names no visible note."""
    snapshot = _demo()
    ids = _demo_ids(snapshot)
    queries = []
    for kind, entries in tomllib.loads(QUERIES.read_text(encoding="utf-8")).items():
        for place, (text, labels) in enumerate(entries):
            gone = [label for label in labels if label not in ids]
            if gone:
                raise ValueError(
                    f"{QUERIES.name}: {kind}: {text!r}: the demo has no visible note {gone[0]!r}"
                )
            if bool(labels) == (kind in MISSES):
                raise ValueError(f"{QUERIES.name}: {kind}: {text!r}: only misses have no notes")
            relevant = {ids[label]: float(grade) for label, grade in labels.items()}
            queries.append(Query(text, kind, "test" if place % 2 else "dev", relevant))
    return DataSet("demo", (Collection(snapshot, tuple(queries)),))


def languages_set() -> DataSet:
    """The project's own memory in several languages, with its questions. Raises ValueError for a label of no note."""
    kinds = tomllib.loads(LANGUAGES.read_text(encoding="utf-8"))
    notes = _notes(
        [{"id": title, "title": title, "content": text} for title, text in kinds.pop("notes").items()], ()
    )
    titles = {note.title for note in notes}
    queries = []
    for kind, entries in kinds.items():
        for place, (text, labels) in enumerate(entries["queries"]):
            if not labels or not titles.issuperset(labels):
                raise ValueError(f"{LANGUAGES.name}: {kind}: {text!r}: no such note among {labels}")
            queries.append(Query(text, kind, "test" if place % 2 else "dev", dict.fromkeys(labels, 1.0)))
    return DataSet("languages", (Collection(Snapshot(notes=notes), tuple(queries)),))


def named_set() -> DataSet:
    """Questions that name things in other words than the notes. Raises ValueError for a label of no note."""
    data = tomllib.loads(NAMED.read_text(encoding="utf-8"))
    notes = _notes(
        [{"id": title, "title": title, "content": text} for title, text in data["notes"].items()], ()
    )
    queries = []
    for place, (text, labels) in enumerate(data["queries"].items()):
        if not labels or not data["notes"].keys() >= set(labels):
            raise ValueError(f"{NAMED.name}: {text!r}: no such note among {labels}")
        queries.append(Query(text, "named", "test" if place % 2 else "dev", dict.fromkeys(labels, 1.0)))
    return DataSet("named", (Collection(Snapshot(notes=notes), tuple(queries)),))


def named_knowledge() -> tuple[Mapping[str, Sequence[str]], Mapping[str, str]]:
    """What is known of the names in `named_set`: their aliases, and what belongs to what."""
    data = tomllib.loads(NAMED.read_text(encoding="utf-8"))
    return data["aliases"], data["relations"]


def unanswered_set() -> DataSet:
    """Questions that a memory answers and as many that it does not, of the demo memory and of small ones.

    Raises ValueError for a label that names no note.
    """
    parts = []
    for name, entries in tomllib.loads(UNANSWERED.read_text(encoding="utf-8")).items():
        if name == "demo":
            snapshot = _demo()
            ids = _demo_ids(snapshot)
        else:
            titled = [
                (" ".join(entry.split()[:_TITLE_WORDS]), entry) if isinstance(entry, str) else entry
                for entry in entries["notes"]
            ]
            snapshot = Snapshot(
                notes=_notes([{"id": title, "title": title, "content": text} for title, text in titled], ())
            )
            ids = {note.title: note.id for note in snapshot.notes}
        queries = []
        for place, (text, labels) in enumerate(entries["answered"]):
            if not labels or not ids.keys() >= set(labels):
                raise ValueError(f"{UNANSWERED.name}: {name}: {text!r}: no such note among {labels}")
            right = {ids[label]: 1.0 for label in labels}
            queries.append(Query(text, "answered", "test" if place % 2 else "dev", right))
        for place, text in enumerate(entries["foreign"]):
            queries.append(Query(text, "near_miss", "test" if place % 2 else "dev", {}))
        parts.append(Collection(snapshot, tuple(queries)))
    return DataSet("unanswered", tuple(parts))


def _demo() -> Snapshot:
    from core.memory import Memory
    from nuggets_tui.demo import write_demo

    with tempfile.TemporaryDirectory() as folder:
        return Memory.open(write_demo(Path(folder) / "demo")).snapshot


def _demo_ids(snapshot: Snapshot) -> dict[str, str]:
    return {f"{note.nugget_name} | {note.title}": note.id for note in snapshot.visible}


def outside_files(paths: Sequence[Path]) -> list[Path]:
    """The files of outside data among some paths: each itself, of a folder its JSON files."""
    return [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]


def outside_set(path: Path) -> DataSet:
    """Data from a JSON file: {"collections": [{"notes", "links", "queries"}]}.

    Notes have id, title, content and tags; links are pairs of ids and hold both ways; queries have text,
    relevant (id: grade) and, if wanted, split and kind. Raises OSError, and KeyError or ValueError for another shape.
    """
    data = json.loads(path.read_text(encoding="utf-8"))
    parts = tuple(
        Collection(
            Snapshot(notes=_notes(part["notes"], part.get("links", ()))),
            tuple(
                Query(entry["text"], entry.get("kind", "query"), entry.get("split", "dev"), entry["relevant"])
                for entry in part["queries"]
            ),
        )
        for part in data["collections"]
    )
    return DataSet(data.get("name", path.stem), parts)


def _notes(entries: Sequence[Mapping[str, Any]], links: Sequence[Sequence[str]]) -> tuple[Note, ...]:
    linked: dict[str, dict[str, None]] = {}
    for one, other in links:
        linked.setdefault(one, {})[other] = None
        linked.setdefault(other, {})[one] = None
    known = {entry["id"] for entry in entries}
    return tuple(
        Note(
            id=entry["id"],
            nugget_name="memory",
            title=entry["title"],
            content=entry["content"],
            tags=tuple(entry.get("tags", ())),
            links=tuple(
                Link(to=to) for to in linked.get(entry["id"], ()) if to in known and to != entry["id"]
            ),
            created_at="2026-01-01T00:00:00.000Z",
            updated_at="2026-01-01T00:00:00.000Z",
            subject="session:current",
            scope="shared",
            type="note",
            source="explicit_user",
            confidence=0.5,
            stability="durable",
        )
        for entry in entries
    )
