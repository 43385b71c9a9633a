"""Programs without a lock beside a person, in any order: no version is lost, and what the person did stands once the
others are quiet, unless a notice names the entry that took it over.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from kits.beside import NUGGET
from kits.laws import examples
from kits.memory_files import GRAPH, fact_object, facts_of, graph_of, note_object, write_graph, write_nugget
from kits.original_writer import Original, new_note, read_graph, save_graph

from core import Memory
from core.errors import ConflictError
from core.facts.edits import remember
from core.graph.edits import create_note, edit_note, hide_note, unhide_note
from core.storage import store

pytestmark = pytest.mark.slow
NOTES = [f"note-memory-{number:08x}" for number in range(4)]
KEYS = ["user:a", "user:b", "user:c"]
PROGRAMS = st.integers(0, 1)


class Beside(RuleBasedStateMachine):
    """A person's memory, and programs that save files of it. `stands`: what is to stand, by note or fact."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp())
        write_graph(self.home, [note_object(number) for number in range(4)])
        write_nugget(self.home, "memory", [fact_object(key, f"first {key}") for key in KEYS])
        self.memory = Memory.open(self.home)
        self.memory.maintenance.repair()
        self.stands: dict[str, Any] = {}
        self.seen: set[str] = set()
        self.held: dict[int, tuple[dict[str, Any], Original]] = {}
        self.backups: list[bytes] = []
        self.taken_over: set[str] = set()
        self.turn = 0
        # Who waits for the rest of a save finds that there is none.
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(store.time, "sleep", lambda seconds: self.old())

    def teardown(self) -> None:
        try:
            self.settle()
            # Who saves a fact alone makes no note of it.
            found = self.memory.maintenance.verify()
            assert [one for one in found if one.kind != "missing-note"] == []
        finally:
            self.patch.undo()
            self.memory.close()
            shutil.rmtree(self.home)

    # What stands

    def text(self) -> str:
        self.turn += 1
        return f"Text {self.turn}."

    def state(self, name: str) -> Any:
        """A note's text and whether it is hidden, or a fact's value; None for what is not there."""
        if name in KEYS:
            return {fact["key"]: fact["value"] for fact in facts_of(self.home, NUGGET)}.get(name)
        note = {note["id"]: note for note in graph_of(self.home)["notes"]}.get(name)
        return note and (note["content"], note["hidden"])

    def look(self) -> None:
        """Somebody looks at the files: each version in them is seen."""
        self.seen |= {note["content"] for note in graph_of(self.home)["notes"]}
        self.seen |= {fact["value"] for fact in facts_of(self.home, NUGGET)}
        self.memory.refresh(patient=False)
        self.told()

    def told(self) -> None:
        """What notices say that another program took over."""
        for notice in self.memory.take_notices():
            if "to restore yours" in notice:
                entry = self.memory.history.entry(re.findall(r"undo (\w+)", notice)[0])
                self.taken_over |= {change.id for change in entry.change_set.notes}
                self.taken_over |= {fact.key for fact in entry.change_set.facts}

    def done(self, name: str) -> None:
        """A person did something to this."""
        self.stands[name] = self.state(name)
        self.taken_over.discard(name)

    def old(self) -> None:
        """Nobody has written for a while."""
        for path in (self.home / GRAPH, self.home / NUGGET):
            os.utime(path, ns=(1, path.stat().st_mtime_ns - 10**10))

    @rule()
    def settle(self) -> None:
        """Everybody is quiet, and the memory is looked at until nothing is to be done."""
        self.old()
        for _ in range(3):
            self.look()
            self.old()
        assert self.memory.store.reconciled
        for name, wanted in self.stands.items():
            if self.state(name) != wanted:
                assert name in self.taken_over, (name, wanted, self.state(name))
                self.stands[name] = self.state(name)
        self.taken_over.clear()
        assert self.memory.history.conflicts() == ()

    @invariant()
    def no_version_is_lost(self) -> None:
        found = {note["content"] for note in graph_of(self.home)["notes"]}
        found |= {fact["value"] for fact in facts_of(self.home, NUGGET)}
        missing = self.seen - found
        if missing:
            for entry in self.memory.history.log(limit=None):
                for note in (side for c in entry.change_set.notes for side in (c.before, c.after) if side):
                    missing.discard(note.content)
                    missing.discard(note.hidden_fact.value if note.hidden_fact else "")
                for fact in (side for c in entry.change_set.facts for side in (c.before, c.after) if side):
                    missing.discard(fact.value)
        assert missing == set()

    # A person

    @rule(id=st.sampled_from(NOTES))
    def edit(self, id: str) -> None:
        self.memory.change("edit", partial(edit_note, id=id, content=self.text()))
        self.done(id)

    @rule(key=st.sampled_from(KEYS))
    def remember(self, key: str) -> None:
        self.memory.change("fact", partial(remember, nugget="memory", key=key, value=self.text()))
        self.done(key)

    @rule()
    def create(self) -> None:
        text = self.text()
        made, _ = self.memory.change("new", partial(create_note, nugget="memory", title=text, content=text))
        self.done(made.id)

    @rule(name=st.sampled_from(NOTES + KEYS))
    def hide_or_bring_back(self, name: str) -> None:
        id = name
        self.memory.refresh(patient=False)
        if name in KEYS:
            notes = [n for n in self.memory.snapshot.notes if n.is_fact and n.key == name]
            if not notes:
                return
            id = min(notes, key=lambda note: note.hidden).id
        note = self.memory.snapshot.by_id.get(id)
        if note is None:
            return
        # A file that was restored may hold another fact of the key that waits.
        with suppress(ConflictError):
            self.memory.change("hide", partial(unhide_note if note.hidden else hide_note, id=id))
            self.done(name)

    # Programs

    @rule(program=PROGRAMS)
    def hold(self, program: int) -> None:
        """Reads all and keeps it."""
        self.held[program] = read_graph(self.home), Original(self.home, load=False)

    @rule(program=PROGRAMS, files=st.sampled_from(["graph", "facts", "both"]), new=st.booleans())
    def save_held(self, program: int, files: str, new: bool) -> None:
        """Saves all that it holds, with or without something new."""
        if program not in self.held:
            return
        graph, facts = self.held[program]
        self.memory.refresh(patient=False)
        if files != "graph":
            if new:
                text = self.text()
                facts.facts.append(fact_object(f"user:{text}", text))
            facts.save_facts()
        if files != "facts":
            if new:
                text = self.text()
                graph["notes"].append(
                    new_note(
                        "note", "memory", text, text,
                        id=f"f{self.turn:07x}", at="2026-01-01T00:00:00.000Z", scope="user",
                    )
                )  # fmt: skip
            save_graph(self.home, json.loads(json.dumps(graph)))

    @rule(id=st.sampled_from(NOTES), unhide=st.booleans())
    def edit_properly(self, id: str, unhide: bool) -> None:
        """Reads, edits and saves at once."""
        self.settle()
        if self.state(id) is None:
            return
        fields = {"hidden": False} if unhide else {"content": self.text()}
        Original(self.home, load=False).edit_note(id, **fields)
        wanted = self.state(id)
        self.stands.pop(id, None)
        self.settle()
        assert self.state(id) == wanted

    @rule()
    def keep_a_copy(self) -> None:
        self.settle()
        self.backups.append((self.home / GRAPH).read_bytes())

    @rule(number=st.integers(0, 5))
    def restore(self, number: int) -> None:
        """Puts an old file back on purpose."""
        if number >= len(self.backups):
            return
        self.settle()
        put_back = {
            change.id
            for entry in self.memory.history.log(limit=None, kind="restore")
            for change in entry.change_set.notes
        }
        # A fact and its note are one, and this is the file of notes alone.
        wanted = {
            note["id"]: (note["content"], note["hidden"])
            for note in json.loads(self.backups[number])["notes"]
            if note["kind"] != "fact"
        }
        (self.home / GRAPH).write_bytes(self.backups[number])
        self.settle()
        if not put_back:
            assert {name: self.state(name) for name in wanted} == wanted

    @rule()
    def somebody_looks(self) -> None:
        self.look()


TestBeside = pytest.mark.timeout(3600)(Beside.TestCase)
TestBeside.settings = settings(
    max_examples=3000 if os.environ.get("NUGGETS_EXPLORE") else min(200, examples(1000)),
    stateful_step_count=20,
    deadline=None,
)
