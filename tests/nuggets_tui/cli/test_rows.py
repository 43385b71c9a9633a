"""Commands as rows of `rows/*.toml`: arguments -> exit code, fields of the JSON, kind of the new entry of the history.

A file holds scenarios. Each begins in an empty place with `files` (below the working directory, which holds the memory
in `memory/`) and what `given` names (see `GIVEN`), and takes its steps one by one. A step has:

run        words as in a shell; $NAME is what an earlier step kept by `save`
code       the exit code, 0 where it is left out. Of 2, or with `error`: one line on standard error, nothing beside it
json       what the document must hold at least; each: the field of each item of a list that is compared instead
entry      the kind of the history's new entry, "" for none; unchanged: no byte of the memory is another
text       words of the output for people, which is made then
stdin, keyboard (a person answers), agent (it runs for one), write (files that come first)
"""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from string import Template
from typing import Any

import pytest
from kits.memory_files import note_object, write_graph, write_nugget
from kits.scripted_model import ScriptedModel
from kits.service_kit import Clock, configure, drain, open_pipeline
from kits.writes_kit import fact, found

from core.errors import ConflictError
from core.graph.edits import create_note, edit_note
from core.memory import Memory
from core.model.change import Author

ROWS = Path(__file__).parent / "rows"
SCENARIOS = [
    pytest.param(scenario, id=f"{file.stem}: {scenario['name']}", marks=[pytest.mark.slow] * bool(scenario.get("slow")))
    for file in sorted(ROWS.glob("*.toml"))
    for scenario in tomllib.loads(file.read_text(encoding="utf-8"))["scenario"]
]  # fmt: skip
MOVED, CAT = "Anna moved the billing service to PostgreSQL.", "The office cat is called Turing."
LONG_AGO = "2026-01-02T03:04:05.000Z"


def crooked(home: Path) -> None:
    """A link that goes one way, which can be repaired."""
    link = {"to": "note-memory-00000002", "reason": "kin", "createdAt": LONG_AGO}
    write_graph(home, [note_object(1, links=[link]), note_object(2)])


def undecided(home: Path) -> None:
    """A value that only a person can put right."""
    write_graph(home, [note_object(3, confidence=7)])


def torn(home: Path) -> None:
    """A fact file that cannot be read, beside one that can."""
    write_nugget(home, "sound", [{"key": "deploy command", "value": "make ship"}])
    (home / "torn.nugget.json").write_bytes(b'{"version": 4, "name": "torn", "facts": [{"key"')


def proposed(home: Path) -> None:
    """Two proposals that wait, of which one is not sure."""
    configure(home, "shadowMode = true")
    model = ScriptedModel([found(fact(MOVED, 0.9), fact(CAT, 0.4))])
    with open_pipeline(home, model, Clock()) as pipeline:
        pipeline.ingest(f"{MOVED} {CAT}", session="s-7", project="app")
        drain(pipeline)


def extracted(home: Path) -> None:
    """A text whose two facts are notes."""
    configure(home)
    with open_pipeline(home, ScriptedModel([found(MOVED, CAT)]), Clock()) as pipeline:
        pipeline.ingest(f"{MOVED} {CAT}", session="s-7", project="app")
        drain(pipeline)


def conflicting(home: Path) -> None:
    """An agent's edit of a note that waits, since a person edited the same text meanwhile."""
    with (
        closing(Memory.open(home, author=Author("person"))) as person,
        closing(Memory.open(home, author=Author("agent", "codex"))) as agent,
    ):
        note, _ = person.change("add", lambda draft: create_note(draft, "memory", "Deploy day", "Tuesday"))
        agent.refresh()
        draft = agent.draft()
        edit_note(draft, note.id, content="Monday")
        late = draft.change_set("late", author=agent.author)
        person.change("edit", lambda draft: edit_note(draft, note.id, content="Sunday"))
        with pytest.raises(ConflictError):
            agent.apply(late)


GIVEN: dict[str, Callable[[Path], None]] = {
    given.__name__: given for given in (crooked, undecided, torn, proposed, extracted, conflicting)
}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_command_does_what_its_row_says(
    nuggets: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scenario: dict[str, Any]
) -> None:
    write(tmp_path, scenario.get("files", {}))
    if "given" in scenario:
        GIVEN[scenario["given"]](nuggets.home)
    saved = {"TMP": str(tmp_path)}
    for step in scenario["steps"]:
        with monkeypatch.context() as patch:
            if step.get("keyboard"):
                patch.setattr("nuggets_tui.cli.invocation.can_ask", lambda: True)
            if step.get("agent"):
                patch.setenv("CLAUDECODE", "1")
            write(tmp_path, step.get("write", {}))
            take(nuggets, step, saved)


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace("$TMP", str(folder)), encoding="utf-8")


def take(nuggets: Any, step: dict[str, Any], saved: dict[str, str]) -> None:
    """Runs one step and compares."""
    words = shlex.split(Template(step["run"]).safe_substitute(saved))
    where, code = step["run"], step.get("code", 0)
    before = nuggets.bytes() if step.get("unchanged") else None
    known = entries(nuggets) if "entry" in step else []
    as_json = not ("text" in step or code == 2 or step.get("error"))
    done = nuggets(*words, *(["--json"] if as_json else []), input=step.get("stdin"))
    assert done.exit_code == code, (where, done.stdout, done.stderr)
    if code == 2 or step.get("error"):
        assert (done.stdout, len(done.stderr.splitlines())) == ("", 1), (where, done.stderr)
    for text in step.get("text", ()):
        assert Template(text).safe_substitute(saved) in done.stdout + done.stderr, (
            where,
            done.stdout,
            done.stderr,
        )
    document: Any = json.loads(done.stdout) if as_json else None
    if "json" in step:
        told = [one.get(step["each"]) for one in document] if "each" in step else document
        matches(json.loads(Template(json.dumps(step["json"])).safe_substitute(saved)), told, where)
    for name, path in step.get("save", {}).items():
        value = document
        for part in path.split("."):
            value = value[int(part)] if part.lstrip("-").isdigit() else value[part]
        saved[name] = str(value)
    if "entry" in step:
        new = entries(nuggets)[: len(entries(nuggets)) - len(known)]
        assert [one["kind"] for one in new] == ([step["entry"]] if step["entry"] else []), where
    if before is not None:
        assert nuggets.bytes() == before, where


def entries(nuggets: Any) -> list[dict[str, Any]]:
    return list(nuggets.json("log", "--limit", "1000"))


def matches(wanted: Any, told: Any, where: str) -> None:
    """Compares; of objects only the fields that are wanted. "*" is anything but null, a list is as long as it is."""
    if isinstance(wanted, dict) and isinstance(told, dict):
        for name, value in wanted.items():
            assert name in told, (where, name, told)
            matches(value, told[name], f"{where}.{name}")
    elif isinstance(wanted, list) and isinstance(told, list):
        assert len(wanted) == len(told), (where, wanted, told)
        for one, other in zip(wanted, told, strict=True):
            matches(one, other, where)
    elif wanted == "*":
        assert told is not None, where
    elif wanted == "null":
        assert told is None, where
    else:
        assert wanted == told, where
