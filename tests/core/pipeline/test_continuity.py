"""Continuity: a model says how much of what a session was given helped, in a job that no kill and no outage loses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kits.forked import Forked
from kits.scripted_model import Line, ScriptedModel
from kits.service_kit import Clock, configure, open_pipeline
from kits.writes_kit import parrot

from core.facts.edits import remember
from core.graph.edits import create_note
from core.memory import Memory
from core.pipeline.database.sessions import SessionScore
from core.pipeline.models.provider import Answer, ModelUnavailableError, UnreadableAnswerError
from core.pipeline.service import Pipeline
from core.pipeline.session_events import SessionEvent
from core.pipeline.session_scores import judging_prompt, labels, read_judgement

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "vectors" / "continuity.json").read_text(encoding="utf-8")
)
PARSED = [one for one in VECTORS if "llm_output" in one["input"]]
WHOLE = {one["id"]: one for one in VECTORS if "llm_output" not in one["input"]}
SECRET = "sk-proj-" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"
SCORED = "[pipeline.continuity]\nscore_with_model = true\n"
TALK = "User: Which port?\n\nAssistant: Postgres is on port 5433."


def judged(**said: Any) -> dict[str, object]:
    return {"score": 0.8, "confidence": 0.9, "memories_used": 1, "reasoning": "it served", **said}


def by_task(answer: Callable[[], Line]) -> ScriptedModel:
    """A model that judges sessions with an answer, and takes each sentence of any other text for a fact."""
    others = parrot()

    def said(prompt: str) -> Line:
        return answer() if "<memories>" in prompt else others.generate(prompt, None, 1)

    return ScriptedModel(by_prompt=said)


def noted(home: Path, *texts: str) -> list[str]:
    memory = Memory.open(home)
    made = [
        memory.change("added", lambda draft, t=text: create_note(draft, "web", t[:20], t))[0]
        for text in texts
    ]
    memory.close()
    return [note.id for note in made]


def recalled(pipeline: Pipeline, note_ids: list[str], session: str = "s1") -> None:
    for id in note_ids:
        pipeline.sessions.follow(SessionEvent("recall", session, texts=("which?",), note_id=id))


def worked(pipeline: Pipeline, ticks: int = 40) -> None:
    for _ in range(ticks):
        if not pipeline.tick().did_something:
            return


def score_of(pipeline: Pipeline, session: str = "s1") -> SessionScore:
    found = pipeline.sessions.page(session).overview.score
    assert found is not None
    return found


def end_jobs(pipeline: Pipeline) -> list[str]:
    return [job.status for job in pipeline.jobs() if job.type == "session_end"]


@pytest.mark.parametrize("vector", PARSED, ids=[one["id"] for one in PARSED])
def test_an_answer_is_read_as_the_vectors_say(vector: dict[str, Any]) -> None:
    done = read_judgement(Answer(vector["input"]["llm_output"]), ("abcdef12",))
    found = {
        "score": done.score, "confidence": done.confidence, "memories_used": done.used,
        "per_memory": list(done.relevance), "relevance": dict(done.relevance),
    }  # fmt: skip
    for name, expected in vector["expected"].items():
        if name == "relevance" and not isinstance(expected, dict):
            assert list(done.relevance.values()) == [expected]
        else:
            assert found[name] == expected


@pytest.mark.parametrize("said", ['"high"', "true", "null", "NaN", "[0.5]"])
def test_a_score_that_is_no_number_is_no_score(said: str) -> None:
    with pytest.raises(UnreadableAnswerError):
        read_judgement(Answer(f'{{"score": {said}}}'), ())


def test_a_label_that_nobody_was_shown_counts_for_nothing_and_one_that_is_said_twice_differently_neither() -> (
    None
):
    said = [{"id": "m1", "relevance": 0.4}, {"id": "M9", "relevance": 1}, {"id": "M2", "relevance": 0.1},
            {"id": "M2", "relevance": 0.9}, {"id": "M3", "relevance": "high"}, "M1", {"relevance": 1}]  # fmt: skip
    done = read_judgement(Answer(json.dumps(judged(per_memory=said))), labels(3))
    assert dict(done.relevance) == {"M1": 0.4}


def test_memories_are_shown_under_labels_bounded_and_without_credentials() -> None:
    prompt = judging_prompt(
        [f"The key is {SECRET}.", *("x" * 500 for _ in range(80))], SECRET, f"a{SECRET}b " * 900
    )
    assert "M1: The key is " in prompt
    assert "M50: " in prompt
    assert "M51: " not in prompt
    assert SECRET not in prompt
    assert len(prompt) < 50 * 130 + 2_000 + 4_000 + 1_500


def test_a_session_that_was_given_nothing_has_a_row_and_asks_no_model(tmp_path: Path) -> None:
    vector = WHOLE["continuity.08"]
    model = by_task(lambda: judged())
    with open_pipeline(configure(tmp_path, SCORED), model) as pipeline:
        pipeline.sessions.end("s1", conversation="Hello there, who is it?")
        worked(pipeline)
        score = score_of(pipeline)
    assert vector["expected"] == {"row_written": score.rounds == 1, "memories_recalled": score.recalled}
    assert score.status == "nothing_recalled"
    assert not any("<memories>" in prompt for prompt in model.prompts)


def test_what_was_given_is_counted_by_us_and_what_was_used_is_told_by_the_model_beside_it(
    tmp_path: Path,
) -> None:
    vector = WHOLE["continuity.09"]
    count, said = vector["input"]["injected"], vector["input"]["llm_memories_used"]
    ids = noted(configure(tmp_path, SCORED), *(f"fact number {n} of them" for n in range(count)))
    with open_pipeline(tmp_path, by_task(lambda: judged(memories_used=said))) as pipeline:
        pipeline.sessions.follow(
            SessionEvent("start", "s1", ahead=tuple((id, n) for n, id in enumerate(ids, 1)))
        )
        pipeline.sessions.end("s1", conversation=TALK)
        worked(pipeline)
        score = score_of(pipeline)
    assert vector["expected"] == {"memories_recalled": score.recalled, "memories_used": score.said_used}
    assert (score.status, score.score, score.confidence, score.model) == ("scored", 0.8, 0.9, "scripted")


def test_an_answer_that_says_no_score_leaves_a_row_without_one_beside_what_the_words_tell(
    tmp_path: Path,
) -> None:
    ids = noted(configure(tmp_path, SCORED), "Postgres port 5433")
    model = by_task(lambda: '{"score": "high"}')
    clock = Clock()
    with open_pipeline(tmp_path, model, clock) as pipeline:
        recalled(pipeline, ids)
        pipeline.sessions.end("s1", conversation=TALK)
        for _ in range(6):
            worked(pipeline)
            clock.forward(minutes=5)
        score = score_of(pipeline)
        assert (score.status, score.score, score.lexical, score.used) == ("unparseable", None, 1.0, 1)
        assert end_jobs(pipeline) == ["completed"]
    assert sum("<memories>" in prompt for prompt in model.prompts) == 3


def test_no_model_is_asked_without_the_setting_and_without_a_conversation(tmp_path: Path) -> None:
    ids = noted(tmp_path, "Postgres port 5433")
    model = by_task(lambda: judged())
    with open_pipeline(tmp_path, model) as pipeline:
        recalled(pipeline, ids)
        pipeline.sessions.end("s1", conversation=TALK)
        worked(pipeline)
        assert score_of(pipeline).status == "by_words"
    configure(tmp_path, SCORED)
    with open_pipeline(tmp_path, model) as pipeline:
        recalled(pipeline, ids, "s2")
        pipeline.sessions.end("s2")
        worked(pipeline)
        assert (score_of(pipeline, "s2").status, score_of(pipeline, "s2").lexical) == (
            "no_conversation",
            None,
        )
    assert not any("<memories>" in prompt for prompt in model.prompts)


@pytest.mark.slow
def test_an_outage_burns_no_attempt_and_the_session_is_scored_once_the_model_is_back(tmp_path: Path) -> None:
    ids = noted(configure(tmp_path, SCORED), "Postgres port 5433")
    clock, answers = Clock(), [ModelUnavailableError("no connection") for _ in range(8)]

    def answer() -> Line:
        return answers.pop() if answers else judged()

    with open_pipeline(tmp_path, by_task(answer), clock) as pipeline:
        recalled(pipeline, ids)
        pipeline.sessions.end("s1", conversation=TALK)
        for _ in range(40):
            worked(pipeline)
            clock.forward(minutes=6)
            (job,) = [job for job in pipeline.jobs() if job.type == "session_end"]
            assert job.attempts <= 1
        assert not answers
        assert score_of(pipeline).status == "scored"


def test_a_session_is_scored_with_the_model_out_of_reach_where_none_is_to_judge(tmp_path: Path) -> None:
    ids = noted(tmp_path, "Postgres port 5433")
    away = ScriptedModel(by_prompt=lambda prompt: ModelUnavailableError("no connection"))
    with open_pipeline(tmp_path, away) as pipeline:
        recalled(pipeline, ids)
        pipeline.sessions.end("s1", conversation=TALK)
        worked(pipeline)
        assert score_of(pipeline).status == "by_words"
        assert pipeline.status().jobs.get("pending", 0) == 1


def test_a_session_that_goes_on_is_scored_anew_and_gives_no_memory_its_weight_twice(tmp_path: Path) -> None:
    ids = noted(configure(tmp_path, SCORED), "Postgres port 5433")
    model = by_task(lambda: judged(per_memory=[{"id": "M1", "relevance": 1}]))
    confirmed = []
    with open_pipeline(tmp_path, model) as pipeline:
        recalled(pipeline, ids)
        for talk in (TALK, TALK, f"{TALK}\n\nUser: And the host?"):
            pipeline.sessions.end("s1", conversation=talk)
            worked(pipeline)
            confirmed.append([one.confirmed for one in pipeline.sessions.page("s1").memories])
        assert score_of(pipeline).rounds == 2
    assert confirmed == [[True]] * 3
    assert sum("<memories>" in prompt for prompt in model.prompts) == 2


def test_recalls_that_only_the_memory_counted_are_of_the_session_too(tmp_path: Path) -> None:
    memory = Memory.open(configure(tmp_path, '[pipeline.extraction]\nprovider = "none"'))
    memory.change("added", lambda draft: remember(draft, "web", "port", "Postgres port 5433"))
    assert memory.recall("port", session="s1").found
    assert memory.recall("port", session="other").found
    memory.close()
    with open_pipeline(tmp_path) as pipeline:
        ended = pipeline.sessions.end("s1", conversation=TALK)
        assert (ended.score.recalled, ended.score.used) == (1, 1)
        assert len(pipeline.sessions.page("s1").memories) == 1
        worked(pipeline)
        assert (score_of(pipeline).recalled, score_of(pipeline).used) == (1, 1)


KILLED = """
import sys, time
from pathlib import Path
from kits.scripted_model import ScriptedModel
from kits.service_kit import Clock, open_pipeline
def hang(prompt):
    print("asked", flush=True)
    time.sleep(600)
pipeline = open_pipeline(Path(sys.argv[1]), ScriptedModel(by_prompt=hang), Clock(), name="killed")
while True:
    pipeline.tick()
"""


@pytest.mark.slow
def test_a_worker_killed_while_it_judges_leaves_the_job_to_the_next_one(tmp_path: Path) -> None:
    ids = noted(configure(tmp_path, SCORED), "Postgres port 5433")
    clock = Clock()
    with open_pipeline(tmp_path, clock=clock) as pipeline:
        recalled(pipeline, ids)
        pipeline.sessions.follow(SessionEvent("end", "s1"))
        with pipeline.database.write() as writer:
            from core.pipeline.database.texts import pack
            from core.pipeline.intake.redaction import redact

            writer.transcripts.keep(pack(redact(TALK)), session="s1", project="", now=clock.ms)
    tests = Path(__file__).parents[2]
    process = Forked(
        [sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tests), str(tests.parent)))},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "asked\n"
        process.send_signal(signal.SIGKILL)
    finally:
        process.kill()
        process.communicate()
    with open_pipeline(tmp_path, by_task(lambda: judged()), clock) as pipeline:
        worked(pipeline)
        assert (end_jobs(pipeline), score_of(pipeline).status) == (["leased"], "waiting")
        clock.forward(minutes=6)
        worked(pipeline)
        clock.forward(minutes=6)
        worked(pipeline)
        assert (end_jobs(pipeline), score_of(pipeline).status) == (["completed"], "scored")
