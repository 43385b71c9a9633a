"""The end of a session: its conversation is read whole, what was recalled and helped weighs more, the rest fades."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from kits.service_kit import Clock, configure, open_pipeline

from core.graph import edits
from core.memory import Memory
from core.pipeline.continuity.scores import confirmed_weight, decayed_weight, lexical_use, words_of
from core.pipeline.service import Pipeline
from core.pipeline.session_events import SessionEvent

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


def weight_after(given: dict[str, Any]) -> float:
    if "confirmations" in given:
        return confirmed_weight(
            given["weight"],
            delta=given["delta"],
            confirmations=given["confirmations"],
            least=given["min"],
            most=given["max"],
        )
    return decayed_weight(
        given["weight"],
        rate=given["decayRate"],
        days=given["days_since_update"],
        stale_days=given["staleDays"],
        least=given["minWeight"],
    )


@pytest.mark.parametrize("vector", VECTORS, ids=[one["id"] for one in VECTORS])
def test_weights_become_what_the_vectors_say(vector: dict[str, Any]) -> None:
    assert weight_after(vector["input"]) == pytest.approx(vector["expected"])


def test_more_confirmations_weigh_more_up_to_the_bound() -> None:
    for weight, count, expected in ((0.5, 2, 0.54), (0.99, 3, 1.0)):
        done = confirmed_weight(weight, delta=0.02, confirmations=count, least=0.1, most=1.0)
        assert done == pytest.approx(expected)
    assert confirmed_weight(0.5, delta=0.02, confirmations=1, least=0.9, most=0.4) == 0.4


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
                "hash_version, type, confidence, status, note_id, model, prompt_version, created_at) "
                "VALUES ('f1', ?, '', 'web', 'x', 'x', 'h', 1, 'fact', 1, 'active', ?, '', '', 1)",
                (done.raw_id, note.id),
            )
            writer.connection.execute(
                "UPDATE attributes SET fact_id = 'f1', aspect_id = ? WHERE entity_id = ?", (aspect, entity)
            )
            if not writer.session_memories.aspects_of([note.id]):
                writer.connection.execute(
                    "INSERT INTO attributes (entity_id, aspect_id, raw_id, fact_id, kind, content, "
                    "normalised_content, confidence, importance, status, created_at, updated_at) "
                    "VALUES (?, ?, ?, 'f1', 'attribute', 'c', 'c', 1, 0.5, 'active', 1, 1)",
                    (entity, aspect, done.raw_id),
                )
        for answer in (note.id, note.id, other.id):
            pipeline.follow_session(SessionEvent("recall", "s1", texts=("which?",), note_id=answer))
        talk = f"User: which port? The key is {SECRET}.\n\nAssistant: Postgres is on port 5433."
        ended = pipeline.end_session("s1", project="web", conversation=talk)
        assert ended.text is not None
        assert ended.text.status == "queued"
        assert (ended.score.recalled, ended.score.used) == (2, 1)
        assert ended.score.lexical == pytest.approx(0.5)
        assert (ended.score.status, ended.score.score) == ("waiting", None)
        worked(pipeline)
        score = pipeline.session("s1").overview.score
        assert score is not None
        assert (score.status, score.score, score.used) == ("by_words", None, 1)
        assert score.lexical == ended.score.lexical
        assert [one.cause for one in ended.checkpoints] == ["session_end"]
        weights = {one.id: one.weight for one in pipeline.database.reading.session_memories.weights()}
        assert weights[aspect] == pytest.approx(0.52)
        # Once: the same end again confirms nothing twice, and the text is known.
        again = pipeline.end_session("s1", project="web", conversation=talk)
        assert again.score == score
        worked(pipeline)
        assert pipeline.session("s1").overview.score == score
        assert again.text is not None
        assert again.text.status == "duplicate"
        weights = {one.id: one.weight for one in pipeline.database.reading.session_memories.weights()}
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
            pipeline.end_session(f"s{number}")
            worked(pipeline)
            found += [one.weight for one in pipeline.database.reading.session_memories.weights()]
        assert found == pytest.approx([0.5, 0.5, 0.5, 0.4, 0.4, 0.4])


def test_a_session_in_which_nothing_was_recalled_has_a_row_all_the_same(tmp_path: Path) -> None:
    with open_pipeline(tmp_path) as pipeline:
        ended = pipeline.end_session("s1")
        assert (ended.score.score, ended.score.recalled, ended.text) == (None, 0, None)
        # A worker that is killed before its job changes nothing of that.
    with closing(sqlite3.connect(tmp_path / "nuggets.db")) as connection:
        assert connection.execute("SELECT count(*) FROM session_scores").fetchone() == (1,)
