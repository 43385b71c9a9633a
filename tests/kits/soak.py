"""A long run of the pipeline with work of every kind: providers that fail now and then and are away for two hours, and
a clock that is moved by hand.
"""

from __future__ import annotations

import json
import random
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.pipeline.health import HealthReport
from core.pipeline.models.provider import (
    Answer,
    AskedToWaitError,
    Availability,
    Embedded,
    ModelError,
    ModelHttpError,
    ModelTimeoutError,
    ModelUnavailableError,
    Schema,
)
from core.pipeline.records import PipelineStatus
from core.pipeline.service import Pipeline
from kits.scripted_model import NamedModel
from kits.service_kit import Clock, configure, open_pipeline

OUTAGE_SECONDS = 2 * 60 * 60
FAILING = 0.1
# How a provider fails once, and how one that is away does.
_ONCE = ("500", "503", "429", "wait", "dropped", "timeout")
_AWAY = ("down", "500", "429", "wait", "dropped", "limit")
SETTINGS = """[pipeline.extraction]
daily_call_budget = 1000000
window_chars = 1500
window_overlap_chars = 150
[pipeline.hints]
enabled = true
[pipeline.embedding]
model = "unsteady"
"""
# Each so manieth text comes with the end of a session, or with a document.
_SESSION_EVERY, _DOCUMENT_EVERY = 25, 20
# So long nothing happens before a run is over: what failed rests meanwhile.
_QUIET_SECONDS = 300
# After that what is done is old enough to be deleted, but the history.
_LATER_DAYS = 40


@dataclass
class Unsteady(NamedModel):
    """A model that takes each statement for a fact, and makes vectors; fails by chance, and wholly from one moment to
    another.

    A call takes 0.4 seconds of the clock. away: from and until when, in epoch seconds.
    """

    clock: Clock
    chance: random.Random
    away: tuple[float, float] = (0.0, 0.0)
    failing: float = FAILING
    name: str = "unsteady"
    model: str = ""
    identity: str = "unsteady"
    outcomes: Counter[str] = field(default_factory=Counter)
    embedded: Counter[str] = field(default_factory=Counter)

    def is_away(self) -> bool:
        return self.away[0] <= self.clock.now.timestamp() < self.away[1]

    def available(self) -> Availability:
        # In the first half of the outage somebody listens and answers nothing of use.
        gone = self.is_away() and self.clock.now.timestamp() > sum(self.away) / 2
        return Availability(False, "unreachable", "nobody answers") if gone else Availability(True)

    def generate(self, prompt: str, schema: Schema | None, deadline: float) -> Answer:
        self.clock.forward(seconds=0.4)
        kind = self._failure()
        self.outcomes[kind or "ok"] += 1
        if kind:
            raise self._error(kind)
        said = _said(prompt, schema or {})
        spoken = said if isinstance(said, str) else json.dumps(said)
        return Answer(spoken, model="unsteady", done_reason="stop")

    def embed(self, texts: Sequence[str], deadline: float) -> Embedded:
        self.clock.forward(seconds=0.1)
        kind = self._failure()
        self.embedded[kind or "ok"] += 1
        if kind:
            raise self._error(kind)
        made = (random.Random(text) for text in texts)
        return Embedded(tuple(array("f", (one.random() - 0.5 for _ in range(8))) for one in made))

    def _failure(self) -> str:
        if self.is_away():
            return self.chance.choice(_AWAY)
        return self.chance.choice(_ONCE) if self.chance.random() < self.failing else ""

    def _error(self, kind: str) -> ModelError:
        if kind == "down":
            return ModelUnavailableError("connection refused")
        if kind == "wait":
            return AskedToWaitError("HTTP 429", status=429, seconds=self.chance.uniform(1, 60))
        if kind == "limit":
            return AskedToWaitError("usage limit reached")
        if kind == "timeout":
            return ModelTimeoutError("late")
        return ModelHttpError(f"HTTP {kind}", status=None if kind == "dropped" else int(kind))


def _said(prompt: str, schema: Schema) -> object:
    if not schema:
        note = prompt.partition("<note>")[2].partition("</note>")[0]
        return f"In which rack does {note.strip().splitlines()[0].partition(' stands')[0]} stand?"
    asked = schema.get("properties")
    keys = set(asked) if isinstance(asked, dict) else set()
    if "facts" in keys:
        text = json.loads(prompt.rpartition("Text: ")[2].splitlines()[0])
        said = [part.partition(".")[0] for part in text.split("Server ")[1:]]
        facts = [
            {"content": f"Server {one}.", "type": "fact", "confidence": 0.9} for one in said if "rack" in one
        ]
        ends = {"relationship": "part_of", "target": "Datacenter", "confidence": 0.8}
        return {
            "facts": facts,
            "entities": [{"source": one.split()[2], **ends} for one in said if "rack" in one],
        }
    labels = [
        line.partition(":")[0] for line in prompt.splitlines() if line[:1] in "FA" and line[1:2].isdigit()
    ]
    new = {"action": "add", "confidence": 0.9, "reason": "new"}
    if "decisions" in keys:
        return {"decisions": [{"fact": one, **new} for one in labels]}
    if "action" in keys:
        return new
    if "per_memory" in keys:
        numbers = {"score": 0.5, "confidence": 0.9, "memories_used": 0, "novel_context_count": 0}
        return {**numbers, "reasoning": "nothing was used", "per_memory": []}
    return {
        "entity_type": "system",
        "results": [{"id": one, "aspect": "general", "kind": "attribute"} for one in labels],
    }


def server(number: int) -> str:
    """A statement that no other number's says."""
    return f"Server s{number} named Host{number:05d} stands in rack {number * 7 + 3}."


def text(number: int) -> str:
    """The text of a number: mostly short, each twentieth so long that it is read in several windows."""
    if number % 20:
        return f"Entry {number}. {server(number)}"
    lines = "".join(
        f"12:{line % 60:02d} INFO request {number}-{line} handled in {line * 7 % 90} ms\n"
        for line in range(90)
    )
    return f"{lines}{server(number)}\n{lines}"


@dataclass(frozen=True)
class Soaked:
    """What a run came to. seconds: of the clock. away_calls: calls made while the provider was away.

    health: when all was done; later: after the days in which old rows went, with how many rows those were (`swept`),
    and what did not agree between database and notes, then and before.
    """

    status: PipelineStatus
    notes: list[str]
    outcomes: Counter[str]
    seconds: float
    away_calls: int
    findings: list[str]
    most_attempts: int
    health: HealthReport
    later: HealthReport
    swept: int
    types: Counter[str]
    hinted: int
    embedded: float


def soak(home: Path, count: int, *, seed: int = 1, workers: int = 2) -> Soaked:
    """Hands in so many texts, which workers take in turn, through two hours without the provider; until all is done."""
    configure(home, SETTINGS)
    clock, chance = Clock(), random.Random(seed)
    model = Unsteady(clock, chance)
    begin = clock.now.timestamp()
    pipelines = [open_pipeline(home, model, clock, f"worker {number}", model) for number in range(workers)]
    try:
        for number in range(count // 2):
            _hand_in(pipelines[0], number)
        # When about a quarter is read it goes away.
        model.away = (begin + count / 4 * 0.5, begin + count / 4 * 0.5 + OUTAGE_SECONDS)
        handed, during, quiet = count // 2, 0, 0.0
        for turn in range(400 * count + 100_000):
            pipeline = pipelines[turn % workers]
            was_away, calls = model.is_away(), sum(model.outcomes.values())
            if was_away and handed < count:
                _hand_in(pipeline, handed)
                handed += 1
            ticked = pipeline.tick()
            during += (sum(model.outcomes.values()) - calls) * was_away
            if ticked.did_something:
                quiet = 0.0
                continue
            if quiet > _QUIET_SECONDS and handed >= count and not was_away and not _open(pipeline):
                break
            rest = max(0.1, ticked.delay_ms / 1000 / workers)
            clock.forward(seconds=rest)
            quiet += rest
        else:
            raise AssertionError(f"not done: {pipelines[0].status()}")
        first = pipelines[0]
        jobs = first.jobs(most=100_000)
        made = first.embedding_coverage()
        assert made is not None
        share = (made.embedded_notes + made.embedded_chunks) / (made.notes + made.chunks)
        status, health, findings = first.status(), first.diagnose(), _findings(first, clock)
        hinted = sum(bool(first.hints(note.id).hints) for note in first.memory.snapshot.visible)
        seconds = clock.now.timestamp() - begin
        clock.forward(days=_LATER_DAYS)
        first.tick()
        # A clock that leapt is believed a day later.
        clock.forward(days=1)
        swept = 0
        for _ in range(1_000):
            ticks = [pipeline.tick() for pipeline in pipelines]
            swept += sum(tick.swept for tick in ticks)
            if not any(tick.did_something for tick in ticks):
                break
            clock.forward(seconds=1)
        return Soaked(
            status,
            [note.content for note in first.memory.snapshot.visible],
            model.outcomes,
            seconds,
            during,
            findings + _findings(first, clock),
            max((job.attempts for job in jobs), default=0),
            health,
            first.diagnose(),
            swept,
            Counter(job.type for job in jobs),
            hinted,
            share,
        )
    finally:
        for pipeline in pipelines:
            pipeline.close()


def _hand_in(pipeline: Pipeline, number: int) -> None:
    """The text of a number, now and then with what else agents and people hand in."""
    pipeline.ingest(text(number))
    if number % _SESSION_EVERY == 0:
        pipeline.sessions.end(f"session {number}", conversation=f"It was about entry {number}, and no more.")
    if number % _DOCUMENT_EVERY == 0:
        pipeline.documents.add("text", data=f"Report {number}.\n\nAll racks were counted once more.".encode())


def _findings(pipeline: Pipeline, clock: Clock) -> list[str]:
    """What does not agree between database and notes."""
    from core.pipeline.writes.following import drift

    pipeline.memory.refresh()
    return [finding.detail for finding in drift(pipeline.memory)]


def _open(pipeline: Pipeline) -> bool:
    jobs = pipeline.status().jobs
    return any(jobs.get(status) for status in ("pending", "leased", "held"))
