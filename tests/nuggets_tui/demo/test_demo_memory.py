"""The demo memory: always the same, sound in every field, and of any size."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.errors import InvalidInputError
from core.memory import Memory
from core.model.change import ChangeSet
from core.model.draft import Draft
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.names import iso, parse_iso
from core.model.note import (
    FILE_NAMES,
    OPTIONAL_FIELDS,
    SCOPES,
    SOURCES,
    STABILITIES,
    TYPES,
    Note,
    vector_spec,
)
from core.model.snapshot import Snapshot
from core.pipeline.database.connection import Database
from core.reflection import reflect
from nuggets_tui.demo import DEMO_NOW, copy_for_session, copying, write_demo
from tools.demo.__main__ import build
from tools.demo.build import change_set
from tools.demo.handwritten import entries
from tools.demo.resizing import numbered

pytestmark = pytest.mark.slow

BY_HAND = len(entries())
SIZES = (BY_HAND, 1000)


def made(notes: int | None = None) -> ChangeSet:
    return change_set(Draft(Snapshot(), now=DEMO_NOW, ids=numbered()), notes)


def notes_in(changes: ChangeSet) -> list[Note]:
    return [change.after for change in changes.notes if change.after is not None]


def nuggets_in(changes: ChangeSet) -> dict[str, Nugget]:
    facts: dict[str, list[Fact]] = {change.name: [] for change in changes.nuggets}
    for change in changes.facts:
        assert change.after is not None
        facts[change.nugget].append(change.after)
    return {name: Nugget(meta=NuggetMeta(name=name), facts=tuple(rows)) for name, rows in facts.items()}


@pytest.fixture(scope="module")
def demo() -> ChangeSet:
    return made()


@pytest.fixture(scope="module", params=SIZES)
def sized(request: pytest.FixtureRequest) -> tuple[int, ChangeSet]:
    return request.param, made(request.param)


def links_of(notes: list[Note]) -> Iterator[tuple[str, str, str, str]]:
    for note in notes:
        for link in note.links:
            yield note.id, link.to, link.reason, link.created_at


def test_links_go_both_ways_and_lead_somewhere(sized: tuple[int, ChangeSet]) -> None:
    notes = notes_in(sized[1])
    known = {note.id: note for note in notes}
    links = set(links_of(notes))
    for source, target, reason, at in links:
        assert target in known
        assert target != source
        assert reason
        assert (target, source, reason, at) in links
        assert at >= max(known[source].created_at, known[target].created_at)
    assert len(links) == sum(len(note.links) for note in notes)


def test_facts_and_their_notes_agree(sized: tuple[int, ChangeSet]) -> None:
    changes = sized[1]
    mirrored = {(n.nugget_name, n.key): n for n in notes_in(changes) if n.is_fact and not n.hidden}
    assert len(mirrored) == len(changes.facts)
    for change in changes.facts:
        fact, note = change.after, mirrored[change.nugget, change.key]
        assert fact is not None
        assert (fact.key, fact.value, fact.hits, fact.last_hit_session) == (
            note.title,
            note.content,
            note.hits,
            note.last_hit_session,
        )


def test_a_hidden_fact_is_out_of_its_nugget_and_can_come_back_whole(demo: ChangeSet) -> None:
    nuggets = nuggets_in(demo)
    for note in notes_in(demo):
        if note.is_fact and note.hidden:
            kept = note.hidden_fact
            assert kept is not None
            assert (kept.key, kept.value, kept.hits) == (note.key, note.content, note.hits)
            assert nuggets[note.nugget_name].find(note.key) is None
            assert 0 < kept.index < len(nuggets[note.nugget_name].facts)
        else:
            assert note.hidden_fact is None


def test_every_field_holds_a_value_of_the_format(sized: tuple[int, ChangeSet]) -> None:
    for note in notes_in(sized[1]):
        assert note.scope in SCOPES
        assert note.type in TYPES
        assert note.source in SOURCES
        assert note.stability in STABILITIES
        assert note.subject
        assert 0 < note.confidence <= 1
        assert note.hidden is (note.archived_at is not None)
        assert (note.hits > 0) is bool(note.last_hit_session)
        assert (note.source_key is not None) is note.is_fact
        required = [name for name in FILE_NAMES if name not in OPTIONAL_FIELDS]
        assert all(getattr(note, name) is not None for name in required)


def test_every_link_written_by_hand_names_an_entry_that_exists() -> None:
    written = entries()
    names = Counter(entry.name for entry in written)
    assert max(names.values()) == 1
    assert [t for entry in written for t in entry.links if t not in names] == []


def proposals(demo: ChangeSet, limit: int | None) -> Counter[str]:
    snapshot = Snapshot(notes=tuple(notes_in(demo)), nuggets=tuple(nuggets_in(demo).values()))
    result = reflect(Draft(snapshot, now=DEMO_NOW, ids=numbered()), limit=limit)
    return Counter(change.type for change in result.changes)


def test_the_first_reflection_pass_shows_every_kind_of_proposal(demo: ChangeSet) -> None:
    assert set(proposals(demo, None)) == {"hide", "rewrite", "tag", "merge", "link"}


def test_a_merged_away_note_points_to_a_survivor_that_keeps_its_lines(demo: ChangeSet) -> None:
    known = {note.id: note for note in notes_in(demo)}
    merged = [(n, link) for n in known.values() if n.hidden for link in n.links if link.reason == "merged"]
    assert len(merged) >= 3
    for note, link in merged:
        survivor = known[link.to]
        assert not survivor.hidden
        assert set(note.content.split("\n")) <= set(survivor.content.split("\n"))


def test_several_scripts_and_hostile_looking_text_are_there(demo: ChangeSet) -> None:
    text = "\n".join(f"{note.title}\n{note.content}" for note in notes_in(demo))
    for sample in (
        "فاتورة",
        "חשבונית",
        "請求書",
        "Žižka",
        "🎁",
        "[red]",
        "[/x]",
        "```",
        "|---|",
        "## ",
    ):
        assert sample in text
    assert all(char >= " " or char == "\n" for char in text)


def same_memory(one: Snapshot, other: Snapshot) -> bool:
    facts = [{nugget.name: nugget.facts for nugget in snapshot.nuggets} for snapshot in (one, other)]
    return one.notes == other.notes and facts[0] == facts[1]


def test_the_story_ends_in_the_very_memory_that_one_import_makes(tmp_path: Path) -> None:
    from core.memory import Memory

    told = Memory.open(write_demo(tmp_path / "told")).snapshot
    imported = Memory.open(tmp_path / "imported", clock=lambda: DEMO_NOW, ids=numbered())
    imported.apply(change_set(imported.draft(), None))
    assert told.problems == ()
    assert len(told.notes) == BY_HAND
    assert same_memory(told, imported.snapshot)


def test_the_finished_memory_is_the_one_that_its_story_tells(home: Path, tmp_path: Path) -> None:
    from core.memory import Memory
    from core.pipeline.service import Pipeline

    build(tmp_path / "told")
    told, finished = Memory.open(tmp_path / "told"), Memory.open(home)
    assert same_memory(told.snapshot, finished.snapshot)
    logs = [[entry.change_set for entry in one.history.log(limit=None)] for one in (told, finished)]
    assert logs[0] == logs[1]
    visit = write_demo(tmp_path / "visit", texts=True)
    proposals = []
    for folder in (tmp_path / "told", visit):
        with Pipeline.open(folder) as pipeline:
            proposals.append(
                [(one.id, one.content, one.action, one.created_at) for one in pipeline.proposals()]
            )
    assert proposals[0] == proposals[1] != []


def test_all_times_are_counted_from_now(home: Path, tmp_path: Path) -> None:
    from core.memory import Memory
    from core.pipeline.service import Pipeline

    now = DEMO_NOW + timedelta(days=400, hours=5, milliseconds=7)
    later = now - DEMO_NOW
    memory, fixed = Memory.open(write_demo(tmp_path / "now", now=now, texts=True)), Memory.open(home)
    for one, other in zip(memory.snapshot.notes, fixed.snapshot.notes, strict=True):
        assert parse_iso(one.created_at) == (parse_iso(other.created_at) or now) + later
        assert [parse_iso(link.created_at) for link in one.links] == [
            (parse_iso(link.created_at) or now) + later for link in other.links
        ]
    ats = [
        [parse_iso(entry.change_set.at) for entry in one.history.log(limit=None)] for one in (memory, fixed)
    ]
    assert ats[0] == [(at or now) + later for at in ats[1]]
    assert memory.maintenance.verify() == ()
    assert memory.take_notices() == ()
    with Pipeline.open(memory.home) as pipeline:
        made_at = {one.created_at for one in pipeline.proposals()}
    assert all(now - timedelta(days=3) < datetime.fromtimestamp(at / 1000, UTC) <= now for at in made_at)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo memory, written once; nothing changes it."""
    return write_demo(tmp_path_factory.mktemp("story") / "memory")


def test_the_log_tells_a_story_by_many_hands(home: Path) -> None:
    from core.memory import Memory

    entries = Memory.open(home).history.log(limit=None)
    times = [entry.change_set.at for entry in reversed(entries)]
    authors = {str(entry.change_set.author) for entry in entries}
    assert 25 <= len(entries) <= 60
    assert times == sorted(times)
    assert times[0].startswith("2026-08-20")
    assert times[-1] <= iso(DEMO_NOW)
    assert {"mira", "claude", "codex", "pi", "reflection", "another program"} <= authors
    assert {entry.change_set.kind for entry in entries} == {"edit", "hit", "reflection", "undo", "outside"}
    assert [entry.state for entry in entries] == ["done"] * len(entries)
    assert all(entry.change_set.reason and not entry.change_set.empty for entry in entries)
    assert sum(entry.undone for entry in entries) == 1


def test_each_state_on_the_way_is_sound(home: Path) -> None:
    from core.memory import Memory

    timeline = Memory.open(home).history.timeline()
    counts = []
    for position in range(len(timeline), -1, -1):
        state = timeline.at(position)
        counts.append(len(state.notes))
        links = set(links_of(list(state.notes)))
        assert {(target, source, reason, at) for source, target, reason, at in links} == links
        facts = {(n.name, f.key): (f.value, f.hits) for n in state.nuggets for f in n.facts}
        visible = [note for note in state.notes if note.is_fact and not note.hidden]
        assert {(note.nugget_name, note.key): (note.content, note.hits) for note in visible} == facts
        for note in state.notes:
            assert note.vector == vector_spec(note)
            later = (note.created_at, note.updated_at, note.archived_at or "")
            assert max(later) <= timeline.time_at(position)
    assert counts == sorted(counts)
    assert counts[0] == 0


def test_opening_the_written_memory_finds_nothing_from_outside(home: Path) -> None:
    from core.memory import Memory

    before = len(Memory.open(home).history.log(limit=None))
    memory = Memory.open(home)
    memory.refresh()
    assert len(memory.history.log(limit=None)) == before
    assert all(entry.change_set.at <= iso(DEMO_NOW) for entry in memory.history.log(limit=None))
    assert memory.history.conflicts() == ()
    assert memory.take_notices() == ()


def test_what_is_cut_off_leaves_no_half_told_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from core.memory import Memory

    home = tmp_path / "demo"

    def cut_off(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(copying, "_move_history", cut_off)
    with pytest.raises(KeyboardInterrupt):
        write_demo(home)
    assert list(home.iterdir()) == []
    assert list(tmp_path.iterdir()) == [home]
    monkeypatch.undo()
    assert len(Memory.open(write_demo(home)).snapshot.notes) == BY_HAND


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX")
def test_what_is_written_is_for_its_owner_alone(tmp_path: Path) -> None:
    home = write_demo(tmp_path / "deep" / "demo")
    for path in (home, *home.rglob("*")):
        assert path.stat().st_mode & 0o077 == 0


def test_two_written_memories_are_equal_byte_for_byte(tmp_path: Path) -> None:
    one, other = write_demo(tmp_path / "one"), write_demo(tmp_path / "other")
    for folder in (one, other):
        assert (folder / "graph" / "graph.json").is_file()
    names = sorted(path.relative_to(one) for path in one.rglob("*.json"))
    assert [(one / name).read_bytes() for name in names] == [(other / name).read_bytes() for name in names]


def test_a_folder_that_holds_a_memory_is_refused_and_left_alone(tmp_path: Path) -> None:
    home = write_demo(tmp_path)
    before = (home / "graph" / "graph.json").read_bytes()
    with pytest.raises(InvalidInputError, match="already holds a memory"):
        write_demo(home)
    assert (home / "graph" / "graph.json").read_bytes() == before


def test_each_session_gets_a_new_folder() -> None:
    one, other = copy_for_session(), copy_for_session()
    try:
        assert one != other
        assert list(one.iterdir()) == []
        assert one.name.startswith("nuggets-demo-")
    finally:
        one.rmdir()
        other.rmdir()


def test_a_text_can_be_handed_in_where_there_was_none_and_the_history_stays(tmp_path: Path) -> None:
    write_demo(tmp_path / "memory")
    before = len(list(Memory.open(tmp_path / "memory").history.log()))
    with closing(Database.open(tmp_path / "memory")) as database:
        assert database.notice == ""
    assert before
    assert len(list(Memory.open(tmp_path / "memory").history.log())) == before
