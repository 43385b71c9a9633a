"""Programs without a lock that write a memory beside ours, each in its own careless way, and writers of ours.

Each writer prints what it did, a JSON line a change, once that is in the file; `missing` tells what of it is gone.
As a script it is one such writer: python tests/kits/partners.py HOME ROLE NUMBER SECONDS
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kits.forked import Forked
from kits.memory_files import facts_of, graph_of
from kits.original_writer import Original, new_note, squeezed, vector

if TYPE_CHECKING:
    from core.model.draft import Draft

ROOT = Path(__file__).parents[2]
NUGGET = "memory.nugget.json"
Change = dict[str, Any]


# Programs that know no lock


def _read(path: Path) -> Any:
    """A JSON file; one that somebody is writing is read again, as a program that fails would be started again."""
    for _ in range(400):
        try:
            return json.loads(path.read_bytes())
        except (ValueError, FileNotFoundError):
            time.sleep(0.01)
    raise AssertionError(f"{path} stays broken")


def _save(path: Path, text: str, how: str) -> None:
    data = text.encode()
    if how == "rename":
        temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        temporary.write_bytes(data)
        os.replace(temporary, path)
        return
    if how == "vim":
        # The file is a backup until the new one is written.
        backup = path.with_name(f"{path.name}~")
        os.replace(path, backup)
        time.sleep(random.uniform(0, 0.1))
        path.write_bytes(data)
        backup.unlink()
        return
    with path.open("wb") as file:
        if how == "slow":
            file.write(data[: len(data) // 2])
            file.flush()
            time.sleep(0.15)
            file.write(data[len(data) // 2 :])
        else:
            file.write(data)


def foreign(home: Path, how: str, number: int, seconds: float, hold: float) -> Iterator[Change]:
    """Adds a note or changes a text of its own, each time to a copy of graph.json that it held for up to `hold`."""
    chance = random.Random(number)
    path, end, turn = home / "graph" / "graph.json", time.monotonic() + seconds, 0
    while time.monotonic() < end:
        turn += 1
        graph = _read(path)
        time.sleep(chance.uniform(0, hold))
        made = new_note(
            "note", "memory", f"Foreign {number} {turn}", f"Written by {how} {number} in turn {turn}.",
            id=f"f{number}{turn:06x}", at=_now(), scope="user",
        )  # fmt: skip
        graph["notes"].append(made)
        for note in graph["notes"]:
            note["content"] = squeezed(note["content"])
            note["vector"] = vector(note)
        _save(path, json.dumps(graph, indent=2, ensure_ascii=False) + "\n", how)
        yield {"kind": "note", "id": made["id"], "content": made["content"]}
        time.sleep(chance.uniform(0, 0.3))


def holding(home: Path, number: int, seconds: float, hold: float, how: str = "rename") -> Iterator[Change]:
    """Remembers facts, always saving the whole list that it took into memory at its start."""
    chance = random.Random(number)
    held = Original(home, load=False)
    end, turn = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        turn += 1
        key = f"user:foreign {number} {turn}"
        held.facts.append({"key": key, "value": f"held {turn}", "hits": 0, "last_hit_session": ""})
        names = ("key", "value", "hits", "last_hit_session")
        facts = [{name: fact[name] for name in names} for fact in held.facts]
        _save(home / NUGGET, json.dumps(held._head | {"facts": facts} | held._tail), how)
        yield {"kind": "fact", "key": key, "value": f"held {turn}"}
        time.sleep(chance.uniform(0, hold))


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + f".{time.time_ns() // 1_000_000 % 1000:03d}Z"


# A writer of ours


def ours(home: Path, number: int, seconds: float, pause: float) -> Iterator[Change]:
    """Edits, creates, remembers, hides and deletes, each thing of its own."""
    from core import Memory
    from core.errors import ConflictError, NotFoundError
    from core.facts.edits import remember
    from core.graph.edits import create_note, delete_note, edit_note, hide_note

    def write(edit: Callable[[Draft], Any]) -> Any:
        return memory.change("turn", edit)[0]

    memory, chance = Memory.open(home), random.Random(number)
    end, turn = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        own = f"note-memory-{number * 1000 + turn % 40:08x}"
        key = f"user:own {number} {turn}"
        text = f"By {number} in turn {turn}."
        kind = ("edit", "create", "fact", "hide", "value", "delete", "hide fact")[turn % 7]
        done: Change
        try:
            if kind == "edit":
                write(partial(edit_note, id=own, content=text))
                done = {"kind": "note", "id": own, "content": text}
            elif kind == "create":
                made = write(
                    partial(create_note, nugget="memory", title=f"Ours {number} {turn}", content=text)
                )
                done = {"kind": "note", "id": made.id, "content": text}
            elif kind in ("fact", "value"):
                key = f"user:kept {number * 100 + turn % 60}" if kind == "value" else key
                write(partial(remember, nugget="memory", key=key, value=text))
                done = {"kind": "fact", "key": key, "value": text}
            elif kind == "hide":
                write(partial(hide_note, id=own))
                done = {"kind": "hidden", "id": own}
            elif kind == "delete":
                write(partial(delete_note, id=own))
                done = {"kind": "deleted", "id": own}
            else:
                key = f"user:kept {number * 100 + turn % 60}"
                note = memory.snapshot.fact_notes["memory", key]
                write(partial(hide_note, id=note.id))
                done = {"kind": "forgotten", "key": key, "id": note.id}
        except NotFoundError:
            turn += 1
            continue
        except ConflictError as error:
            done = {"kind": "conflict", "id": error.entry}
        yield done | {"turn": turn}
        turn += 1
        time.sleep(chance.uniform(0, 2 * pause))


# Both


def start(home: Path, role: str, number: int, seconds: float, *options: str) -> subprocess.Popen[str]:
    """A writer in a process of its own."""
    arguments = [sys.executable, __file__, str(home), role, str(number), str(seconds), *options]
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    return Forked(
        arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": paths},
    )  # fmt: skip


def changes_of(process: subprocess.Popen[str]) -> list[Change]:
    """What a writer did, when it ended as it should."""
    out, errors = process.communicate()
    assert (process.returncode, errors) == (0, ""), errors
    return [json.loads(line) for line in out.splitlines()]


def missing(home: Path, changes: Iterable[Change]) -> list[Change]:
    """The changes that the files do not show, each the last one of its thing."""
    notes = {note["id"]: note for note in graph_of(home)["notes"]}
    facts = {fact["key"]: fact["value"] for fact in facts_of(home, NUGGET)}
    last = {(change.get("id") if "id" in change else change["key"]): change for change in changes}
    return [change for change in last.values() if not _stands(change, notes, facts)]


def _stands(change: Change, notes: dict[str, Any], facts: dict[str, str]) -> bool:
    kind = change["kind"]
    note = notes.get(change.get("id", ""))
    if kind == "note":
        return note is not None and note["content"] == change["content"] and not note["hidden"]
    if kind == "hidden":
        return note is not None and note["hidden"]
    if kind == "deleted":
        return note is None
    if kind == "fact":
        return facts.get(change["key"]) == change["value"]
    if kind == "forgotten":
        return change["key"] not in facts and note is not None and note["hidden"]
    return kind == "conflict"


def _main(home: str, role: str, number: str, seconds: str, *options: str) -> None:
    folder, own, length = Path(home), int(number), float(seconds)
    if role == "ours":
        made = ours(folder, own, length, float(options[0]))
    elif role == "holding":
        made = holding(folder, own, length, float(options[0]), *options[1:])
    else:
        made = foreign(folder, role, own, length, float(options[0]))
    for change in made:
        print(json.dumps(change), flush=True)


if __name__ == "__main__":
    _main(*sys.argv[1:])
