"""A long run of the pipeline: a provider that fails now and then and is away for two hours, a clock moved by hand."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from core.pipeline.models.provider import (
    Answer,
    AskedToWaitError,
    Availability,
    ModelError,
    ModelHttpError,
    ModelTimeoutError,
    ModelUnavailableError,
    Schema,
)
from core.pipeline.records import PipelineStatus
from core.pipeline.service import Pipeline
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
"""


@dataclass
class Unsteady:
    """A model that takes each statement for a fact; fails by chance, and wholly from one moment to another.

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
        return Answer(json.dumps(_said(prompt, schema or {})), model="unsteady", done_reason="stop")

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
    """What a run came to. seconds: of the clock. away_calls: calls made while the provider was away."""

    status: PipelineStatus
    notes: list[str]
    outcomes: Counter[str]
    seconds: float
    away_calls: int
    findings: list[str]
    most_attempts: int


def soak(home: Path, count: int, *, seed: int = 1, workers: int = 2) -> Soaked:
    """Hands in so many texts, which workers take in turn, through two hours without the provider; until all is done."""
    configure(home, SETTINGS)
    clock, chance = Clock(), random.Random(seed)
    model = Unsteady(clock, chance)
    begin = clock.now.timestamp()
    pipelines = [open_pipeline(home, model, clock, f"worker {number}") for number in range(workers)]
    try:
        for number in range(count // 2):
            pipelines[0].ingest(text(number))
        # When about a quarter is read it goes away.
        model.away = (begin + count / 4 * 0.5, begin + count / 4 * 0.5 + OUTAGE_SECONDS)
        handed, during = count // 2, 0
        for turn in range(400 * count + 100_000):
            pipeline = pipelines[turn % workers]
            was_away, calls = model.is_away(), sum(model.outcomes.values())
            if was_away and handed < count:
                pipeline.ingest(text(handed))
                handed += 1
            ticked = pipeline.tick()
            during += (sum(model.outcomes.values()) - calls) * was_away
            if not ticked.did_something:
                if handed >= count and not was_away and not _open(pipeline):
                    break
                clock.forward(seconds=max(0.1, ticked.delay_ms / 1000 / workers))
        else:
            raise AssertionError(f"not done: {pipelines[0].status()}")
        pipelines[0].flush()
        memory = pipelines[0].memory
        memory.refresh()
        from core.pipeline.writes.verify import drift

        return Soaked(
            pipelines[0].status(),
            [note.content for note in memory.snapshot.notes if not note.hidden],
            model.outcomes,
            clock.now.timestamp() - begin,
            during,
            [finding.detail for finding in drift(memory, now=clock.ms + 120_000)],
            max((job.attempts for job in pipelines[0].jobs(most=100_000)), default=0),
        )
    finally:
        for pipeline in pipelines:
            pipeline.close()


def _open(pipeline: Pipeline) -> bool:
    jobs = pipeline.database.reading.jobs.counts()
    return any(jobs.get(status) for status in ("pending", "leased", "held"))  # type: ignore[call-overload]
