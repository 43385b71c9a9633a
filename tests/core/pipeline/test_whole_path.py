"""From a text that is handed in to the notes it becomes, with an Ollama on loopback that answers or misbehaves."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from kits.fake_ollama import FakeOllama, Line, Reply
from kits.service_kit import Clock, configure, drain
from kits.writes_kit import parrot

from core.memory import Memory
from core.pipeline.records import Job
from core.pipeline.service import Pipeline

TEXT = "The billing service listens on port 8443. Anna moved to Lisbon in spring."
FACTS = ["Anna moved to Lisbon in spring.", "The billing service listens on port 8443."]
ANSWER = json.dumps(
    {"facts": [{"content": fact, "type": "fact", "confidence": 0.9} for fact in FACTS], "entities": []}
)
OTHER = json.dumps(
    {"facts": [{"content": "The moon is made of green cheese.", "confidence": 0.9}], "entities": []}
)


@pytest.fixture(autouse=True)
def _a_slow_machine_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.pipeline.models.ollama.AVAILABLE_SECONDS", 60.0)


def well(prompt: str) -> Line:
    """What a model that works says to any prompt."""
    said = parrot().by_prompt
    assert said is not None
    line = said(prompt)
    assert isinstance(line, dict)
    return line


@contextmanager
def pipeline_at(home: Path, ollama: FakeOllama, clock: Clock, lines: str = "") -> Iterator[Pipeline]:
    configure(home, f"{lines}\n[pipeline.extraction]\nendpoint = '{ollama.url}'")
    numbers = itertools.count()
    opened = Pipeline.open(home, clock=clock, ids=lambda: f"{next(numbers):016x}", chance=lambda: 0.0)
    try:
        yield opened
    finally:
        opened.close()


def notes(home: Path) -> list[str]:
    with closing(Memory.open(home)) as memory:
        return sorted(note.content for note in memory.snapshot.visible)


def only_job(pipeline: Pipeline) -> Job:
    (found,) = [job for job in pipeline.jobs() if job.type == "extract"]
    return found


def until_written(pipeline: Pipeline, clock: Clock) -> None:
    """Works until the job is done, resting as long as it has to."""
    for _ in range(20):
        drain(pipeline)
        if only_job(pipeline).status == "completed":
            return
        clock.forward(minutes=5)
    raise AssertionError(only_job(pipeline))


@pytest.mark.slow
@pytest.mark.parametrize(
    "said",
    [
        ANSWER,
        f"<think>Perhaps {OTHER}? No.</think>\n{ANSWER}",
        f"Perhaps {OTHER}? No.\n</think>\n{ANSWER}",
        f"Sure! Here {{as you asked}} is the JSON:\n```json\n{ANSWER}\n```\nAnything else?",
        ANSWER[:-1] + ",}",
        json.dumps(ANSWER),
        Reply(ANSWER, thinking=f"Perhaps {OTHER}?"),
        Reply(ANSWER, drip=0.0001),
    ],
    ids=["plain", "think", "orphan-think", "prose", "comma", "quoted", "thinking-field", "drip"],
)
def test_an_answer_in_whatever_dress_becomes_notes_with_a_way_back_to_the_sentence(
    tmp_path: Path, said: Line
) -> None:
    with FakeOllama([said]) as ollama, pipeline_at(tmp_path, ollama, clock := Clock()) as pipeline:
        raw = pipeline.ingest(TEXT, nugget="memory", session="s-1", author="an agent").raw_id
        until_written(pipeline, clock)
        assert notes(tmp_path) == sorted(FACTS)
        (proposal, _) = [one for one in pipeline.proposals(all=True) if one.status == "applied"]
        origin = pipeline.origin(proposal.note_id)
        assert origin is not None
        assert origin.span is not None
        assert origin.content[slice(*origin.span)].strip() == proposal.content
        assert (origin.raw_id, origin.author, origin.source_id, origin.model) == (
            raw,
            "an agent",
            "s-1",
            "qwen3:4b",
        )
        assert pipeline.raw(raw).content == TEXT
        health = pipeline.health()
        assert (health.state, health.calls_today, health.tokens_today) == ("healthy", 1, 18)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("trouble", "error_class"),
    [
        (Reply("out of memory", status=500), "http"),
        (Reply("wait", status=429), "http"),
        (Reply(ANSWER, drop="before"), "http"),
        (Reply(ANSWER, drop="within"), "http"),
        (Reply(ANSWER, delay=60), "timeout"),
        (Reply(ANSWER, drip=0.2), "timeout"),
        (Reply(ANSWER[:-30], done_reason="length"), "truncated"),
        (ANSWER[:-30], "truncated"),
        ("<think>What would", "truncated"),
        (Reply("", thinking="Hm", done_reason="length"), "truncated"),
        (Reply("", thinking="Hm"), "empty"),
        ("<think>Nothing.</think>", "empty"),
        ("I am sorry, I cannot do that.", "parse"),
        ("{'facts': []}", "parse"),
        ("[]", "parse"),
        (Reply(body='{"response": 7}'), "parse"),
        (Reply(body="<html>"), "parse"),
    ],
)
def test_a_model_that_misbehaves_costs_nothing_but_time(
    tmp_path: Path, trouble: Line, error_class: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The least that a configuration allows is five seconds.
    deadline = 0.3 if error_class == "timeout" else 60.0
    monkeypatch.setattr("core.pipeline.workers.extract_job.deadline_of", lambda configuration: deadline)
    with FakeOllama() as ollama, pipeline_at(tmp_path, ollama, clock := Clock()) as pipeline:
        ollama.script = [trouble]
        raw = pipeline.ingest(TEXT, nugget="memory").raw_id
        pipeline.tick()
        job = only_job(pipeline)
        assert (job.status, job.error_class) == ("pending", error_class)
        assert job.error
        assert job.run_after > clock.ms
        assert pipeline.raw(raw).content == TEXT
        assert pipeline.proposals(all=True) == ()
        monkeypatch.setattr("core.pipeline.workers.extract_job.deadline_of", lambda configuration: 60.0)
        ollama.by_prompt = well
        until_written(pipeline, clock)
        assert notes(tmp_path) == sorted(FACTS)
