"""Three versions of one file for tests of merging: made, merged in files whose names say nothing, and read."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from core.storage.merge.files import MergeResult, merge_file
from kits.memory_files import javascript

Notes = list[dict[str, Any]]
Facts = list[dict[str, Any]]


def graph(notes: list[Any], **top: Any) -> bytes:
    return javascript({"version": 3, "notes": notes} | top, indent=2) + b"\n"


def nugget(facts: list[Any], **top: Any) -> bytes:
    shaped = {
        "version": 4, "name": "memory", "D": 1024, "banks": 4, "ensembles": 1, "max_facts": 0, "facts": facts,
        "config": {"sharpen_p": 1, "corvacs_a": 0, "temp_T": 0.9, "orth_iters": 1},
    }  # fmt: skip
    return javascript(shaped | top)


def merged(base: bytes | None, ours: bytes, theirs: bytes) -> tuple[MergeResult, bytes]:
    """The three versions in files with names that say nothing; the result, and what OURS holds then."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f".merge_file_{name}") for name in ("a1B2c3", "d4E5f6", "g7H8i9")]
        for path, data in zip(paths, (base, ours, theirs), strict=True):
            if data is not None:
                path.write_bytes(data)
        result = merge_file(*paths)
        assert sorted(os.listdir(folder)) == sorted(path.name for path in paths if path.exists())
        return result, paths[1].read_bytes()


def notes_in(data: bytes) -> dict[str, dict[str, Any]]:
    return {note["id"]: note for note in json.loads(data)["notes"]}


def facts_in(data: bytes) -> dict[str, Any]:
    return {fact["key"]: fact["value"] for fact in json.loads(data)["facts"]}


def id_of(number: int) -> str:
    return f"note-memory-{number:08x}"


def with_note(notes: Notes, number: int, **fields: Any) -> Notes:
    return [note | fields if note["id"] == id_of(number) else note for note in notes]


def without_note(notes: Notes, number: int) -> Notes:
    return [note for note in notes if note["id"] != id_of(number)]
