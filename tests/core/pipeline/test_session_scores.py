"""The end of a session: its conversation is read whole, what was recalled and helped weighs more, the rest fades."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from kits.retention_kit import Text, put
from kits.service_kit import Clock, configure, open_pipeline

from core.graph import edits
from core.memory import Memory
from core.pipeline.database.connection import Database
from core.pipeline.retention import DAY_MS
from core.pipeline.service import Pipeline
from core.pipeline.session_events import SessionEvent
from core.pipeline.session_scores import lexical_use, words_of
from core.settings.pipeline_sections import FeedbackPart

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "vectors" / "aspect_feedback.json").read_text(encoding="utf-8")
)
NO_MODEL = '[pipeline.extraction]\nprovider = "none"\n'
SECRET = "sk-proj-" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"


def worked(pipeline: Pipeline, ticks: int = 10) -> None:
    """What waits is done, as far as it can be."""
    for _ in range(ticks):
        if not pipeline.tick().did_something:
            return


def weight_after(database: Database, given: dict[str, Any]) -> float:
    """The weight of an aspect after facts of so many notes confirmed it, or after so many days without any."""
    now = 1_000 * DAY_MS
    settings = FeedbackPart(
        fts_weight_delta=given.get("delta", 0.0), max_aspect_weight=given.get("max", 1.0),
        min_aspect_weight=given.get("min", given.get("minWeight", 0.0)), decay_rate=given.get("decayRate", 0.0),
        stale_days=given.get("staleDays", 0),
    )  # fmt: skip
    notes = [f"note-{number}" for number in range(given.get("confirmations", 0))]
    with database.write() as writer:
        entity = writer.entities.find_or_make_entity("Postgres", "product", now)
        aspect = writer.entities.find_or_make_aspect(entity, "network", now)
        updated = now - int(given.get("days_since_update", 0) * DAY_MS)
        writer.connection.execute("UPDATE aspects SET weight = ?, created_at = ?", (given["weight"], updated))
        for number, _ in enumerate(notes):
            put(writer, Text(number, fact="active"))
            writer.entities.add_attribute(
                entity_id=entity, aspect_id=aspect, raw_id=f"raw-{number}", kind="attribute", content=f"says {number}",
                normalised_content=f"says {number}", confidence=0.7, importance=0.5, now=now, fact_id=f"fact-{number}",
            )  # fmt: skip
        if "confirmations" in given:
            for note in notes:
                writer.sessions.add_recall("s", note, now)
            writer.sessions.confirm("s", notes, settings, now)
        else:
            writer.sessions.fade_aspects(settings, now)
    return aspect_weights(database)[aspect]


def aspect_weights(database: Database) -> dict[int, float]:
    """The weight of each aspect."""
    rows = database.reading.connection.execute("SELECT id, weight FROM aspects")
    return {row[0]: row[1] for row in rows}


MORE: list[dict[str, Any]] = [
    {"input": {"weight": 0.5, "delta": 0.02, "confirmations": 2, "min": 0.1, "max": 1.0}, "expected": 0.54},
    {"input": {"weight": 0.99, "delta": 0.02, "confirmations": 3, "min": 0.1, "max": 1.0}, "expected": 1.0},
    {"input": {"weight": 0.5, "delta": 0.02, "confirmations": 1, "min": 0.9, "max": 0.4}, "expected": 0.4},
]


def test_weights_become_what_the_vectors_say(tmp_path: Path) -> None:
    for number, vector in enumerate((*VECTORS, *MORE)):
        with closing(Database.open(tmp_path / str(number))) as database:
            assert weight_after(database, vector["input"]) == pytest.approx(vector["expected"]), vector


def test_a_memory_was_used_when_its_words_were_said() -> None:
    said = words_of("The deploy script runs on port 5433 now.")
    assert lexical_use("Deploys run on port 5433", said) == pytest.approx(2 / 3, abs=0.34)
    assert lexical_use("Anna likes green tea", said) == 0
    assert lexical_use("", said) == 0


def test_the_end_of_a_session_reads_its_conversation_and_weighs_what_helped(tmp_path: Path) -> None:
    home = configure(tmp_path, NO_MODEL)
    memory = Memory.open(home)
    note, _ = memory.change(
        "added", lambda draft: edits.create_note(draft, "web", "Port", "Postgres port 5433")
    )
    other, _ = memory.change(
        "added", lambda draft: edits.create_note(draft, "web", "Tea", "Anna likes green tea")
    )
    memory.close()
    with open_pipeline(home, clock=Clock()) as pipeline:
        done = pipeline.ingest("Postgres listens on port 5433.")
        with pipeline.database.write() as writer:
            entity = writer.entities.find_or_make_entity("Postgres", "product", 1)
            aspect = writer.entities.find_or_make_aspect(entity, "network", 1)
            writer.connection.execute(
                "INSERT INTO facts (id, raw_id, proposal_id, nugget, content, normalised_content, content_hash, "
                "type, confidence, status, note_id, model, prompt_version, created_at) "
                "VALUES ('f1', ?, '', 'web', 'x', 'x', 'h', 'fact', 1, 'active', ?, '', '', 1)",
                (done.raw_id, note.id),
            )
            writer.entities.add_attribute(
                entity_id=entity, aspect_id=aspect, raw_id=done.raw_id, kind="attribute", content="c",
                normalised_content="c", confidence=0.7, importance=0.5, now=1, fact_id="f1",
            )  # fmt: skip
        for answer in (note.id, note.id, other.id):
            pipeline.sessions.follow(SessionEvent("recall", "s1", texts=("which?",), note_id=answer))
        talk = f"User: which port? The key is {SECRET}.\n\nAssistant: Postgres is on port 5433."
        ended = pipeline.sessions.end("s1", project="web", conversation=talk)
        assert ended.text is not None
        assert ended.text.status == "queued"
        assert (ended.score.recalled, ended.score.used) == (2, 1)
        assert ended.score.lexical == pytest.approx(0.5)
        assert (ended.score.status, ended.score.score) == ("waiting", None)
        worked(pipeline)
        score = pipeline.sessions.page("s1").overview.score
        assert score is not None
        assert (score.status, score.score, score.used) == ("by_words", None, 1)
        assert score.lexical == ended.score.lexical
        assert [one.cause for one in ended.checkpoints] == ["session_end"]
        weights = aspect_weights(pipeline.database)
        assert weights[aspect] == pytest.approx(0.52)
        # Once: the same end again confirms nothing twice, and the text is known.
        again = pipeline.sessions.end("s1", project="web", conversation=talk)
        assert again.score == score
        worked(pipeline)
        assert pipeline.sessions.page("s1").overview.score == score
        assert again.text is not None
        assert again.text.status == "duplicate"
        weights = aspect_weights(pipeline.database)
        assert weights[aspect] == pytest.approx(0.52)


def test_an_aspect_that_nothing_confirms_fades_every_so_many_sessions(tmp_path: Path) -> None:
    home = configure(tmp_path, f"{NO_MODEL}[pipeline.feedback]\ndecayIntervalSessions = 2\ndecayRate = 0.1")
    clock = Clock()
    with open_pipeline(home, clock=clock) as pipeline:
        with pipeline.database.write() as writer:
            entity = writer.entities.find_or_make_entity("Postgres", "product", clock.ms)
            writer.entities.pin(entity, True, clock.ms)
            writer.entities.find_or_make_aspect(entity, "network", clock.ms)
        found = []
        for number, days in enumerate((1, 1, 20, 20, 1, 1)):
            clock.forward(minutes=days * 1440)
            pipeline.sessions.end(f"s{number}")
            worked(pipeline)
            found += aspect_weights(pipeline.database).values()
        assert found == pytest.approx([0.5, 0.5, 0.5, 0.4, 0.4, 0.4])


def test_a_session_in_which_nothing_was_recalled_has_a_row_all_the_same(tmp_path: Path) -> None:
    with open_pipeline(tmp_path) as pipeline:
        ended = pipeline.sessions.end("s1")
        assert (ended.score.score, ended.score.recalled, ended.text) == (None, 0, None)
        # A worker that is killed before its job changes nothing of that.
    with closing(sqlite3.connect(tmp_path / "nuggets.db")) as connection:
        assert connection.execute("SELECT count(*) FROM session_scores").fetchone() == (1,)
