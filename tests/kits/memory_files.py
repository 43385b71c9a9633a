"""Memory folders for tests: files written the way another program writes them, and what stands in them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from core.model.note import to_file_dict
from kits.drafts import make_note

GRAPH = Path("graph") / "graph.json"


def note_object(number: int, *, nugget: str = "memory", **fields: Any) -> dict[str, Any]:
    """One note as an object of the graph file, sound in every field; `fields` (names of the file) replace or add."""
    plain = make_note(number, id=f"note-{nugget}-{number:08x}", nugget_name=nugget, kind="note")
    return to_file_dict(plain) | fields


def fact_object(key: str, value: str = "a value", **fields: Any) -> dict[str, Any]:
    """One fact as an object of a fact file."""
    return {"key": key, "value": value, "hits": 0, "last_hit_session": ""} | fields


def write_graph(home: Path, notes: Iterable[object], **top: Any) -> Path:
    """Writes graph/graph.json as the original does; `top` replaces or adds top-level fields."""
    path = home / GRAPH
    path.parent.mkdir(parents=True, exist_ok=True)
    shaped = {"version": 3, "notes": list(notes)} | top
    replace_bytes(path, javascript(shaped, indent=2) + b"\n")
    return path


def write_nugget(
    home: Path, file: str, facts: Iterable[object], suffix: str = ".nugget.json", **top: Any
) -> Path:
    """Writes a fact file as the original does; `top` replaces or adds top-level fields."""
    home.mkdir(parents=True, exist_ok=True)
    shaped: dict[str, Any] = {
        "version": 4,
        "name": file,
        "D": 1024,
        "banks": 4,
        "ensembles": 1,
        "max_facts": 0,
        "facts": list(facts),
        "config": {"sharpen_p": 1, "corvacs_a": 0, "temp_T": 0.9, "orth_iters": 1},
    }
    path = home / f"{file}{suffix}"
    replace_bytes(path, javascript(shaped | top))
    return path


def javascript(value: object, indent: int | None = None) -> bytes:
    """JSON as JSON.stringify writes it: characters as they are, lone surrogates as escapes."""
    text = json.dumps(value, indent=indent, ensure_ascii=False, separators=None if indent else (",", ":"))
    return re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text).encode()


def replace_bytes(path: Path, data: bytes) -> None:
    """Replaces a file in one step and without any lock, as the original does."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_bytes(data)
    os.replace(temporary, path)


def graph_of(home: Path) -> Any:
    """graph.json, parsed."""
    return json.loads((home / GRAPH).read_bytes())


def notes_of(home: Path) -> dict[str, dict[str, Any]]:
    """The notes of graph.json by id."""
    return {note["id"]: note for note in graph_of(home)["notes"]}


def facts_of(home: Path, file_name: str) -> list[dict[str, Any]]:
    """The facts of a fact file."""
    found: list[dict[str, Any]] = json.loads((home / file_name).read_bytes())["facts"]
    return found


def _kept_beside(home: Path, path: Path) -> bool:
    parts = path.relative_to(home).parts
    beside = (".nuggets.lock", "backups", "quarantine")
    return any(part in beside or part.startswith("nuggets.db") for part in parts)


def tree(home: Path) -> dict[str, bytes]:
    """Every file under a folder with its bytes, but for the lock and what is kept of former times."""
    files = (path for path in sorted(home.rglob("*")) if path.is_file() and not _kept_beside(home, path))
    return {str(path.relative_to(home)): path.read_bytes() for path in files}
