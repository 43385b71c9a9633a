"""Programs that save copies of the graph that they read some time ago, in any order, beside us."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kits.memory_files import GRAPH, fact_object, graph_of, note_object, write_graph, write_nugget
from kits.original_writer import new_note, squeezed, vector

from core import Memory
from core.errors import NotFoundError
from core.graph.edits import create_note, delete_note, edit_note

Event = tuple[str, int]
_NOTES = 5
_events = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["read", "save", "save"]), st.integers(0, 1)),
        st.tuples(st.sampled_from(["edit", "delete"]), st.integers(0, _NOTES - 1)),
        st.tuples(st.sampled_from(["look", "quiet", "create"]), st.just(0)),
    ),
    min_size=4,
    max_size=40,
)


class _Beside:
    """A memory of ours, two programs that hold copies of its graph, and what each of the three wrote."""

    def __init__(self, home: Path) -> None:
        write_graph(home, [note_object(number) for number in range(_NOTES)])
        write_nugget(home, "memory", [fact_object("user:a")])
        self.home = home
        self.memory = Memory.open(home)
        self.memory.maintenance.repair()
        self.ours: dict[str, str | None] = {}
        self.theirs: dict[str, str] = {}
        self._held: list[dict[str, Any] | None] = [None, None]

    def do(self, event: Event) -> None:
        what, number = event
        id = f"note-memory-{number:08x}"
        text = f"Ours {len(self.ours)}."
        if what == "read":
            self._held[number] = graph_of(self.home)
        elif what == "save":
            self._save(number)
        elif what == "edit":
            with suppress(NotFoundError):
                self.memory.change("edit", partial(edit_note, id=id, content=text))
                self.ours[id] = text
        elif what == "delete":
            with suppress(NotFoundError):
                self.memory.change("delete", partial(delete_note, id=id))
                self.ours[id] = None
        elif what == "create":
            made, _ = self.memory.change(
                "new", partial(create_note, nugget="memory", title=text, content=text)
            )
            self.ours[made.id] = text
        else:
            if what == "quiet":
                self.age(2)
            self.memory.refresh(patient=False)

    def _save(self, number: int) -> None:
        """Adds a note to the copy that a program holds, and saves all of it."""
        graph = self._held[number] or graph_of(self.home)
        self._held[number] = None
        turn = len(self.theirs)
        text = f"Theirs {number} {turn}."
        made = new_note(
            "note", "memory", f"Theirs {turn}", text,
            id=f"f{number}{turn:06x}", at="2026-01-01T00:00:00.000Z", scope="user",
        )  # fmt: skip
        graph["notes"].append(made)
        for note in graph["notes"]:
            note["content"] = squeezed(note["content"])
            note["vector"] = vector(note)
        (self.home / GRAPH).write_text(json.dumps(graph, indent=2, ensure_ascii=False) + "\n")
        self.theirs[made["id"]] = text

    def age(self, seconds: float) -> None:
        """The graph as it is when nobody has written for so long."""
        found = (self.home / GRAPH).stat()
        os.utime(self.home / GRAPH, ns=(found.st_atime_ns, found.st_mtime_ns - int(seconds * 1e9)))

    def end(self) -> None:
        """It is quiet, and we look until nothing is to be done any more."""
        self.age(10)
        for _ in range(5):
            self.memory.refresh()


@pytest.mark.slow
@given(_events)
@example(
    # A copy of what was there between two saves that we saw as one.
    [("read", 0), ("save", 0), ("read", 1), ("save", 0), ("look", 0), ("save", 1), ("look", 0)]
)
@example(
    # The same where what we saw had also taken back a change of ours.
    [("read", 0), ("delete", 1), ("save", 0), ("read", 1), ("save", 0), ("look", 0), ("save", 1), ("look", 0)]
)
def test_what_was_seen_of_any_program_and_all_of_ours_stands_at_the_end(events: list[Event]) -> None:
    with TemporaryDirectory() as folder:
        beside = _Beside(Path(folder))
        for event in events:
            beside.do(event)
        beside.end()
        texts = {note["id"]: note["content"] for note in graph_of(beside.home)["notes"]}
        waiting = {
            change.id for entry in beside.memory.history.conflicts() for change in entry.change_set.notes
        }
        seen = {
            change.id for entry in beside.memory.history.log(limit=None) for change in entry.change_set.notes
        }
        assert {id: texts.get(id) for id in beside.ours if id not in waiting} == {
            id: text for id, text in beside.ours.items() if id not in waiting
        }
        assert [id for id in beside.theirs if id in seen and texts.get(id) != beside.theirs[id]] == []
        assert beside.memory.maintenance.verify() == ()
        beside.memory.close()
