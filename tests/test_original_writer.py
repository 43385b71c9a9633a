"""The model of the original does what the original was seen to do."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from kits.memory_files import fact_object, facts_of, notes_of, write_graph, write_nugget
from kits.original_writer import Original, squeezed

SCRIPT = Path(__file__).parent / "kits" / "original_writer.py"


def test_loading_leaves_what_the_original_left(store: Path, golden: Path) -> None:
    told = json.loads((golden / "store_after_loadall.json").read_bytes())["files"]
    files = {name: json.loads(text) if isinstance(text, str) else text for name, text in told.items()}
    for name in ("memory", "projects"):
        Original(store, name)
        assert json.loads((store / f"{name}.donna.json").read_bytes()) == files[f"{name}.donna.json"]
    theirs = {note["id"]: note for note in files["graph/graph.json"]["notes"]}
    ours = notes_of(store)
    kept = theirs.keys() & ours.keys()
    assert len(kept) == 21
    for id in kept:
        assert _untimed(ours[id]) == _untimed(theirs[id])
    made = [_mirrored(note) for note in ours.values() if note["id"] not in kept]
    assert made == [_mirrored(note) for note in theirs.values() if note["id"] not in kept]


def _untimed(note: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in note.items() if name not in ("updatedAt", "vector")}


def _mirrored(note: dict[str, object]) -> tuple[object, ...]:
    return note["sourceKey"], note["title"], note["content"], note["links"], note["hits"]


def test_white_space_is_squeezed_as_the_original_squeezes_it() -> None:
    # Taken from the operations that made the golden memory, and their results.
    assert (
        squeezed("milk\r\nbread\r\n\r\n\r\n\r\n  oat   flakes  \r\nmilk") == "milk\nbread\n\noat flakes\nmilk"
    )
    assert squeezed("- \\backslash and \t tab") == "- \\backslash and tab"
    assert squeezed("   \n\n  ") == ""


@pytest.mark.slow
def test_the_script_says_which_notes_it_added(tmp_path: Path) -> None:
    write_graph(tmp_path, [])
    write_nugget(tmp_path, "memory", [fact_object("user:a")])
    command = [sys.executable, str(SCRIPT), str(tmp_path), "--seconds", "0.2", "--pause", "1", "--hold"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == set(notes_of(tmp_path))
    assert [fact["key"] for fact in facts_of(tmp_path, "memory.nugget.json")] == ["user:a"]
