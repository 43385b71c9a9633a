"""What the pipeline knows of notes counts in searches and recalls, is told of, and can be switched off."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from core import Memory
from core.graph.edits import create_note, edit_note, hide_note
from core.model.draft import Draft
from core.pipeline.database.connection import Database
from core.pipeline.recall import PipelineSignals
from core.pipeline.service import Pipeline
from core.pipeline.signals import MOST_ENTITIES, MOST_NEIGHBOURS, names_in_query, tokens
from core.search.signals import MOST_RANKED, Ranked, Signal
from core.workspace import has_pipeline, open_memory

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "recall.json").read_text())
NOTES = {
    "Backups": "The nightly backups of PostgreSQL go to the second disk.",
    "Queue": "We decided to use RabbitMQ for the mail queue, since Redis lost jobs.",
    "Mail": "The queue of the mail is emptied each morning.",
    "Disk": "The second disk is full each month and the backups stop.",
}
# Words of another note, which ranks first: a boost takes a score to 1 at most.
OTHER = "full each month stop emptied"


def linked(home: Path) -> Memory:
    """A memory whose notes a person wrote, after the pipeline had time to read them."""
    memory = open_memory(home)

    def build(draft: Draft) -> None:
        for title, content in NOTES.items():
            create_note(draft, "ops", title, content)

    memory.change("written", build)
    tick(home, memory)
    return memory


def tick(home: Path, memory: Memory) -> None:
    with Pipeline.open(home, memory=memory) as pipeline:
        while pipeline.tick().did_something:
            pass


def set_(home: Path, text: str) -> None:
    (home / "settings.toml").write_text(text)


def kinds(memory: Memory, query: str, title: str) -> list[str]:
    note = next(note for note in memory.snapshot.notes if note.title == title)
    explanation = memory.search.explain(query, note.id)
    assert explanation is not None
    parts = explanation.hit.breakdown
    given = [reason for reason in parts.reasons if reason.line == "signals"]
    assert sum(one.value for one in given) == pytest.approx(parts.signals)
    lines = ("vector", "text", "boost", "exact", "signals")
    assert sum(getattr(parts, line) for line in lines) == pytest.approx(parts.blend)
    return [reason.kind for reason in given]


def test_a_note_that_a_person_wrote_gains_when_the_query_names_what_it_names(tmp_path: Path) -> None:
    memory = linked(tmp_path)
    assert kinds(memory, f"postgresql {OTHER}", "Backups") == ["entity"]
    assert kinds(memory, "backups disk", "Disk") == []
    set_(tmp_path, "[pipeline.graph]\nboost_weight = 0.0\n")
    assert kinds(memory, f"postgresql {OTHER}", "Backups") == []
    set_(tmp_path, "[pipeline]\nenabled = false\n")
    assert kinds(memory, f"rabbitmq {OTHER}", "Queue") == []


def test_a_decision_about_what_the_query_names_gains_and_comes_to_the_surface(tmp_path: Path) -> None:
    memory = linked(tmp_path)
    (decision,) = [note for note in memory.snapshot.notes if note.title == "Queue"]
    assert kinds(memory, f"rabbitmq {OTHER}", "Queue") == ["entity", "resolution"]
    set_(tmp_path, "[pipeline.dampening]\nresolution_enabled = false\n")
    assert "resolution" not in kinds(memory, f"rabbitmq {OTHER}", "Queue")

    def bury(draft: Draft) -> None:
        for number in range(30):
            create_note(draft, "ops", f"Mail {number}", f"rabbitmq mail queue rabbitmq mail {number}")
        edit_note(draft, decision.id, content=f"{NOTES['Queue']} {'Nothing else is meant by it. ' * 60}")

    memory.change("written", bury)
    tick(tmp_path, memory)
    assert decision.id in [hit.note.id for hit in memory.search("rabbitmq mail", 10)]


def test_a_decision_that_a_query_only_mentions_does_not_push_out_what_answers(tmp_path: Path) -> None:
    memory = linked(tmp_path)

    things = ("invoices", "receipts", "ledgers", "payrolls", "budgets", "tenders", "leases", "quotes")

    def build(draft: Draft) -> None:
        for thing in things:
            create_note(draft, "ops", f"Import of {thing}", f"The import of {thing} failed at a wrong line.")

    memory.change("written", build)
    tick(tmp_path, memory)
    query = f"import of {' '.join(things)} beside rabbitmq"
    found = [hit.note.title for hit in memory.search(query, 8)]
    set_(tmp_path, "[pipeline]\nenabled = false\n")
    assert [hit.note.title for hit in memory.search(query, 8)] == found


def test_a_memory_without_a_pipeline_is_searched_as_before(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.change("written", lambda draft: create_note(draft, "ops", "Queue", NOTES["Queue"]))
    assert kinds(memory, f"rabbitmq {OTHER}", "Queue") == []
    assert not has_pipeline(tmp_path)


def test_what_changes_in_a_note_or_its_being_hidden_is_followed(tmp_path: Path) -> None:
    memory = linked(tmp_path)
    (note,) = [note for note in memory.snapshot.notes if note.title == "Backups"]
    memory.change("edited", lambda draft: edit_note(draft, note.id, content="The backups of MariaDB."))
    tick(tmp_path, memory)
    assert kinds(memory, f"mariadb {OTHER}", "Backups") == ["entity"]
    assert kinds(memory, f"postgresql {OTHER}", "Backups") == []


@pytest.mark.parametrize("damage", [b"", b"no database at all", b"SQLite format 3\0" + bytes(200)])
def test_a_database_that_cannot_be_read_takes_no_answer_away(tmp_path: Path, damage: bytes) -> None:
    memory = linked(tmp_path)
    before = [hit.note.id for hit in memory.search("backups disk")]
    for name in ("nuggets.db-wal", "nuggets.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    (tmp_path / "nuggets.db").write_bytes(damage)
    assert [hit.note.id for hit in memory.search("backups disk")] == before
    assert (tmp_path / "nuggets.db").read_bytes() == damage


# The deadline


def test_the_boost_stops_at_its_deadline_and_the_search_says_so(tmp_path: Path) -> None:
    memory = linked(tmp_path)
    moments = iter(range(0, 1000, 1))
    memory.search.signals = PipelineSignals(tmp_path, clock=lambda: float(next(moments)))
    result = memory.search.result("postgresql backups")
    assert [clause.text for clause in result.clauses if clause.broken] == [
        "names: looked up only in part, since time ran out"
    ]
    assert kinds(memory, f"postgresql {OTHER}", "Backups") == []
    memory.search.signals = PipelineSignals(tmp_path, clock=lambda: 0.0)
    assert not memory.search.result("postgresql backups").cut_short


def late_after(steps: int) -> Callable[[], bool]:
    asked = iter(range(1000))
    return lambda: next(asked) >= steps


def test_what_was_found_before_the_deadline_counts(tmp_path: Path) -> None:
    linked(tmp_path).close()
    with closing(Database.open(tmp_path)) as database:
        reader = database.reading
        none, whole, all_ = (names_in_query(reader, "postgresql backups", late_after(n)) for n in (0, 1, 9))
    assert (none.timed_out, dict(none.names)) == (True, {})
    assert whole.timed_out
    assert whole.whole == all_.whole
    assert not all_.timed_out


# The vectors


def test_vectors_of_the_graph_boost(tmp_path: Path) -> None:
    by_id = {vector["id"]: vector for vector in VECTORS["graph_boost"]}
    first = by_id["graph_boost.01"]
    assert list(tokens(first["input"]["tokens_of"])) == first["expected"]["tokens_len_ge_2"]
    for id in ("graph_boost.02", "graph_boost.03"):
        given = by_id[id]["input"]
        signal = Signal("entity", added=given["boostWeight"])
        assert signal.applied(given["score"]) == pytest.approx(by_id[id]["expected"]["score"])
    caps = by_id["graph_boost.08"]["expected"]
    assert (
        caps["entities"],
        caps["neighbours"],
        caps["memories"],
    ) == (MOST_ENTITIES, MOST_NEIGHBOURS, MOST_RANKED)
    assert tokens(by_id["graph_boost.07"]["input"]["like_token"]) == ("100",)
    memory = linked(tmp_path)
    (note,) = [note for note in memory.snapshot.notes if note.title == "Backups"]
    source = PipelineSignals(tmp_path, clock=lambda: 0.0)
    for odd in ('100%_x "a" OR * NEAR(', "", "\0", "'", "postgresql' --"):
        source.signals(odd, [Ranked(note, 0.5, True)])
    assert list(source.signals("postgresql", [Ranked(note, 0.5, True)]).of_notes) == [note.id]
    memory.change("hidden", lambda draft: hide_note(draft, note.id))
    tick(tmp_path, memory)
    found = source.signals("postgresql", [Ranked(note, 0.5, True)]).of_notes
    assert list(found) == by_id["graph_boost.05"]["expected"]["ids"]
