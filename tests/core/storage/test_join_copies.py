"""Conflict copies joined into a memory: without loss, doubles or false conflicts."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kits.laws import examples
from kits.memory_files import GRAPH, fact_object, facts_of, note_object, notes_of, write_graph, write_nugget

from core import Memory
from core.facts.edits import forget, remember
from core.graph.edits import create_note, delete_note, edit_note, hide_note, link_notes
from core.model.change import PERSON, ChangeSet
from core.model.draft import Draft
from core.model.fact import Fact
from core.model.note import Note
from core.model.snapshot import Snapshot
from core.storage.merge.copies import Joined, conflict_copies, join, read_copy

FIRST, SECOND = (f"note-memory-{number:08x}" for number in (1, 2))
FACT = "fact-memory-000000ff"
Edit = Callable[[Draft], object]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "memory"
    fact_note = note_object(0xFF, kind="fact", type="fact", sourceKey="k", title="k", content="v", id=FACT)
    write_graph(home, [fact_note, note_object(1), note_object(2)])
    write_nugget(home, "memory", [fact_object("k", "v")])
    return home


class Machine:
    """One of two machines that share a folder; it remembers what its memory once held."""

    def __init__(self, home: Path, start: datetime) -> None:
        self.home = home
        counter = itertools.count()
        self.memory = Memory.open(home, clock=lambda: start + timedelta(seconds=next(counter)))
        self.former: list[Snapshot] = [self.memory.snapshot]

    def change(self, *edits: Edit) -> None:
        for edit in edits:
            self.memory.change("edit", edit)
            self.former.append(self.memory.snapshot)

    def versions(self, where: str, item: Note | Fact) -> list[Note | Fact]:
        found: list[Note | Fact] = []
        for snapshot in self.former:
            held = snapshot.by_name.get(where) if isinstance(item, Fact) else None
            found += (one for one in (held.facts if held is not None else ()) if one.key == item.key)
            found += [snapshot.by_id[where]] if where in snapshot.by_id else []
        return found

    def take(self, other: Machine) -> None:
        """Gets the other machine's files beside its own, as a sync tool leaves them."""
        for path in (other.home / GRAPH, *other.home.glob("*.nugget.json")):
            target = self.home / path.relative_to(other.home)
            target.with_name(f"{target.stem}.sync-conflict-20261120-103000-ABCDEFG.json").write_bytes(
                path.read_bytes()
            )

    def joined(self, *, knows: bool = True) -> Joined:
        """What joining comes to, with the log beside it or without."""
        copies = [read_copy(copy) for copy in conflict_copies(self.home)]
        self.memory.refresh()
        ids = itertools.count(0xA0)
        found = join(
            copies,
            self.memory.snapshot,
            self.versions if knows else lambda *_: (),
            lambda present: Draft(
                present, now=datetime(2026, 11, 21, tzinfo=UTC), ids=lambda: f"{next(ids):08x}"
            ),
            ChangeSet(
                id="joined00", at="2026-11-21T00:00:00.000Z", author=PERSON, reason="joined", kind="import"
            ),
        )
        self.memory.apply(found.change_set)
        _assert_in_step(self.memory.snapshot)
        return found


def _assert_in_step(snapshot: Snapshot) -> None:
    notes = sorted((n.nugget_name, n.key, n.content) for n in snapshot.visible if n.is_fact)
    facts = sorted((held.name, fact.key, fact.value) for held in snapshot.nuggets for fact in held.facts)
    assert notes == facts
    ids = {note.id for note in snapshot.notes}
    assert all(link.to in ids for note in snapshot.notes for link in note.links)


@pytest.fixture
def machines(home: Path, tmp_path: Path) -> tuple[Machine, Machine]:
    """Ours and another one, with the same files so far."""
    other = tmp_path / "other"
    for path in (GRAPH, Path("memory.nugget.json")):
        (other / path).parent.mkdir(parents=True, exist_ok=True)
        (other / path).write_bytes((home / path).read_bytes())
    return Machine(home, datetime(2026, 11, 20, 10, tzinfo=UTC)), Machine(
        other, datetime(2026, 11, 20, 11, tzinfo=UTC)
    )


def test_a_copy_that_says_nothing_new_changes_nothing(machines: tuple[Machine, Machine]) -> None:
    ours, theirs = machines
    ours.take(theirs)
    assert ours.joined().change_set.empty
    ours.change(
        lambda draft: edit_note(draft, FIRST, content="Newer."), lambda draft: delete_note(draft, SECOND)
    )
    assert ours.joined().change_set.empty


def test_new_notes_and_facts_come_over_with_their_links(machines: tuple[Machine, Machine]) -> None:
    ours, theirs = machines

    def made(draft: Draft) -> None:
        one, two = (create_note(draft, "memory", title, "Text.") for title in ("One", "Two"))
        link_notes(draft, two.id, one.id, "kin")
        link_notes(draft, FIRST, two.id, "kin")
        remember(draft, "memory", "user:name", "Ada")
        remember(draft, "project", "language", "Python")

    theirs.change(made)
    ours.change(lambda draft: remember(draft, "memory", "mine", "1"))
    ours.take(theirs)
    joined = ours.joined()
    assert joined.conflicts == ()
    assert set(notes_of(ours.home)) >= set(notes_of(theirs.home))
    for note in theirs.memory.snapshot.notes:
        assert ours.memory.snapshot.note(note.id).links == note.links
    assert [fact["key"] for fact in facts_of(ours.home, "memory.nugget.json")] == ["k", "mine", "user:name"]
    assert [fact["value"] for fact in facts_of(ours.home, "project.nugget.json")] == ["Python"]
    assert ours.joined().change_set.empty


def test_a_fact_hidden_there_is_hidden_here_and_keeps_what_it_held(home: Path, tmp_path: Path) -> None:
    fact_note = note_object(0xFF, kind="fact", type="fact", sourceKey="k", title="k", content="v", id=FACT)
    other = tmp_path / "other"
    for folder in (home, other):
        write_graph(folder, [fact_note, note_object(1)])
        write_nugget(folder, "memory", [fact_object("j"), fact_object("k", "v", hits=4)])
    write_graph(home, [fact_note, note_object(0xFE, kind="fact", type="fact", sourceKey="j", title="j",
                                              content="a value", id="fact-memory-000000fe")])  # fmt: skip
    ours, theirs = (Machine(folder, datetime(2026, 11, 20, 10, tzinfo=UTC)) for folder in (home, other))
    theirs.change(lambda draft: edit_note(draft, FACT, add_tags=["x"]), lambda draft: hide_note(draft, FACT))
    ours.take(theirs)
    ours.joined()
    waiting = ours.memory.snapshot.note(FACT).hidden_fact
    assert waiting is not None
    assert (waiting.value, waiting.hits, waiting.index) == ("v", 4, 1)
    assert [fact["key"] for fact in facts_of(home, "memory.nugget.json")] == ["j"]


def test_what_differs_on_both_sides_stays_as_in_ours_and_is_told_once(
    machines: tuple[Machine, Machine],
) -> None:
    ours, theirs = machines
    for machine, text in ((ours, "Ours."), (theirs, "Theirs.")):
        machine.change(
            lambda draft, text=text: edit_note(
                draft, FIRST, content=text, add_tags=[text.strip(".").lower()]
            ),
            lambda draft, text=text: remember(draft, "memory", "k", text),
            lambda draft, text=text: remember(draft, "memory", "new", text),
        )
    ours.take(theirs)
    joined = ours.joined()
    told = [(conflict.ours, conflict.theirs) for conflict in joined.conflicts]
    assert told == [("Theirs.", "Ours.")] * 3
    note = ours.memory.snapshot.note(FIRST)
    assert note.content == "Ours."
    assert {"ours", "theirs"} <= set(note.tags)
    assert {fact["key"]: fact["value"] for fact in facts_of(ours.home, "memory.nugget.json")} == {
        "k": "Ours.", "new": "Ours.",
    }  # fmt: skip


def test_a_copy_of_a_fact_file_alone_brings_its_facts_and_makes_their_notes(home: Path) -> None:
    facts = [fact_object("k", "v", hits=3, last_hit_session="s"), fact_object("fresh", "w", hits=2)]
    write_nugget(home, "memory", facts, suffix=".nugget (1).json")
    ours = Machine(home, datetime(2026, 11, 20, tzinfo=UTC))
    assert ours.joined().conflicts == ()
    assert facts_of(home, "memory.nugget.json") == facts
    assert ours.memory.snapshot.fact_notes["memory", "fresh"].hits == 2


def test_a_copy_of_the_note_graph_alone_brings_the_facts_of_its_notes(
    machines: tuple[Machine, Machine],
) -> None:
    ours, theirs = machines
    theirs.change(
        lambda draft: remember(draft, "memory", "new", "w"), lambda draft: remember(draft, "other", "o", "x")
    )
    ours.take(theirs)
    for path in ours.home.glob("*.sync-conflict-*"):
        path.unlink()
    ours.joined()
    assert facts_of(ours.home, "memory.nugget.json")[1]["value"] == "w"
    assert facts_of(ours.home, "other.nugget.json")[0]["value"] == "x"


@pytest.mark.parametrize(
    "gone", [(GRAPH,), (Path("memory.nugget.json"),), (GRAPH, Path("memory.nugget.json"))]
)
@pytest.mark.parametrize("seen_gone", [True, False])
def test_of_a_file_that_was_renamed_to_a_copy_everything_comes_back(
    home: Path, gone: tuple[Path, ...], seen_gone: bool
) -> None:
    write_nugget(home, "memory", [], D=2048)
    write_graph(home, [])
    ours = Memory.open(home)
    for key in ("z", "a", "m"):
        ours.change("edit", lambda draft, key=key: remember(draft, "memory", key, f"value of {key}"))
    ours.change("edit", lambda draft: create_note(draft, "memory", "Title", "Text."))
    write_graph(home, list(reversed(notes_of(home).values())))
    ours.refresh()
    before = (notes_of(home), facts_of(home, "memory.nugget.json"))
    for path in gone:
        name = (home / path).name.removesuffix(".json")
        (home / path).rename((home / path).with_name(f"{name}.sync-conflict-20261121-101010-AAAAAAA.json"))
    if seen_gone:
        ours.refresh()
    resolved = Memory.open(home).maintenance.resolve()
    assert resolved.conflicts == ()
    assert (notes_of(home), facts_of(home, "memory.nugget.json")) == before
    assert Memory.open(home).snapshot.nugget("memory").meta.D == 2048
    assert Memory.open(home).maintenance.verify() == ()


@pytest.mark.parametrize("with_graph", [True, False])
def test_a_value_that_the_copied_note_does_not_say_is_told_and_can_be_taken(
    home: Path, with_graph: bool
) -> None:
    Memory.open(home)
    write_nugget(home, "memory", [fact_object("k", "other")], suffix=".nugget (1).json")
    if with_graph:
        (home / "graph" / "graph (1).json").write_bytes((home / GRAPH).read_bytes())
    memory = Memory.open(home)
    (conflict,) = memory.maintenance.resolve().conflicts
    assert (conflict.ours, conflict.theirs) == ("other", "v")
    memory.history.resolve_conflict(memory.history.conflicts()[0].id, "ours")
    _assert_in_step(memory.snapshot)
    assert [(fact.key, fact.value) for fact in memory.snapshot.nugget("memory").facts] == [("k", "other")]
    assert memory.snapshot.note(FACT).content == "other"


def test_a_nugget_that_no_file_can_be_named_after_is_told_and_nothing_of_it_taken(home: Path) -> None:
    odd = note_object(
        9, nugget="a b/c", kind="fact", type="fact", sourceKey="x", title="x", id="fact-odd-00000009"
    )
    write_graph(home, [odd, note_object(10, nugget="a b/c")]).rename(home / "graph" / "graph 2.json")
    write_graph(home, [note_object(1)])
    write_nugget(home, "memory", [])
    joined = Machine(home, datetime(2026, 11, 20, tzinfo=UTC)).joined()
    assert joined.left_out == ["a b/c"]
    assert joined.change_set.empty


EDITS: dict[str, Callable[[str], Edit]] = {
    "content": lambda side: lambda draft: edit_note(draft, FIRST, content=f"by {side}"),
    "tag": lambda side: lambda draft: edit_note(draft, FIRST, add_tags=[side]),
    "second": lambda side: lambda draft: edit_note(draft, SECOND, title=f"by {side}"),
    "fact": lambda side: lambda draft: remember(draft, "memory", "k", f"by {side}"),
    "same fact": lambda side: lambda draft: remember(draft, "memory", "same", "value"),
    "key": lambda side: lambda draft: remember(draft, "memory", "both", f"by {side}"),
    "own key": lambda side: lambda draft: remember(draft, "memory", side, "value"),
    "forget": lambda side: lambda draft: forget(draft, "memory", "k"),
    "hide": lambda side: lambda draft: hide_note(draft, SECOND),
    "note": lambda side: lambda draft: create_note(draft, "memory", side, f"Text of {side}."),
    "link": lambda side: lambda draft: link_notes(draft, FIRST, SECOND, side),
}
DONE: Any = st.lists(st.sampled_from(sorted(EDITS)), max_size=5)


@pytest.mark.slow
@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(ours=DONE, theirs=DONE, knows=st.booleans())
def test_whatever_was_done_on_both_machines_no_note_is_lost_and_facts_stay_in_step(
    tmp_path_factory: pytest.TempPathFactory, ours: list[str], theirs: list[str], knows: bool
) -> None:
    fact_note = note_object(0xFF, kind="fact", type="fact", sourceKey="k", title="k", content="v", id=FACT)
    machines = []
    for side, hour in (("ours", 10), ("theirs", 11)):
        folder = tmp_path_factory.mktemp(side)
        write_graph(folder, [fact_note, note_object(1), note_object(2)])
        write_nugget(folder, "memory", [fact_object("k", "v")])
        machines.append(Machine(folder, datetime(2026, 11, 20, hour, tzinfo=UTC)))
    for machine, edits, side in zip(machines, (ours, theirs), ("ours", "theirs"), strict=True):
        machine.change(*(EDITS[name](side) for name in edits))
    mine, other = machines
    before = mine.memory.snapshot
    mine.take(other)
    joined = mine.joined(knows=knows)
    found = mine.memory.snapshot
    assert {note.id for note in before.notes} <= {note.id for note in found.notes}
    said = {note.content for note in found.notes} | {text.ours for text in joined.conflicts}
    said |= {note.content for snapshot in mine.former for note in snapshot.notes}
    assert {note.content for note in other.memory.snapshot.notes} <= said
    assert mine.joined(knows=knows).change_set.empty
