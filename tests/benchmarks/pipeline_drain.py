"""Draining the queue with a model that answers at once: our own time for each memory, beside plain commits."""

from __future__ import annotations

import json
import random
import re
import sqlite3
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median, quantiles

from kits.scripted_model import NamedModel
from pipeline_intake import sentence

from core.pipeline.models.provider import Answer, Schema
from core.pipeline.service import Pipeline

BAR = 10.0
SETTINGS = "[pipeline.extraction]\ndailyCallBudget = 1000000\n"
_LABEL = re.compile(r"^([FA]\d+): ", re.MULTILINE)
_TEXT = re.compile(r"^Text: (\".*\")\nAnswer:\Z", re.MULTILINE)
_NEW = {"action": "add", "confidence": 0.9, "reason": "new"}
_NAME = re.compile(r"[A-Z][a-z]+ [A-Z][a-z]+")


class Instant(NamedModel):
    """Takes every sentence for a fact, holds every fact for new, and names one relation; counts its own seconds."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.calls: Counter[str] = Counter()

    def generate(self, prompt: str, schema: Schema | None, deadline: float) -> Answer:
        start = time.perf_counter()
        text = json.dumps(self._answer(prompt, schema or {}))
        self.seconds += time.perf_counter() - start
        return Answer(text, model="instant", done_reason="stop")

    def _answer(self, prompt: str, schema: Schema) -> object:
        asked = schema.get("properties")
        keys = set(asked) if isinstance(asked, dict) else set()
        if "facts" in keys:
            self.calls["extract"] += 1
            texts = _TEXT.findall(prompt)
            said = json.loads(texts[-1]).split(". ")[1:]
            facts = [{"content": one.rstrip("."), "type": "fact", "confidence": 0.9} for one in said]
            names = _NAME.findall(" ".join(said))
            ends = {"relationship": "works_on", "target": "Atlas", "confidence": 0.8}
            return {"facts": facts, "entities": [{"source": one, **ends} for one in names[:2]]}
        if "decisions" in keys:
            self.calls["decide"] += 1
            labels = _LABEL.findall(prompt)
            return {"decisions": [{"fact": one, **_NEW} for one in labels]}
        if "action" in keys:
            self.calls["decide one"] += 1
            return _NEW
        self.calls["classify"] += 1
        placed = [{"id": one, "aspect": "general", "kind": "attribute"} for one in _LABEL.findall(prompt)]
        return {"entity_type": "person", "results": placed}


def run(count: int) -> str:
    """Prints what draining `count` memories costs, of one fact and of three; what missed its bar, or ""."""
    print(f"drain: {count:,} memories, the model answers at once; milliseconds of our own for each")
    print(f"{'facts in each':<16}{'all':>8}{'processor':>12}{'extraction: median (95 %)':>28}   of it")
    each = {facts: _drained(count, facts) for facts in (1, 3)}
    own = each[1]
    return f"draining costs {own:.1f} ms a memory of one fact, more than {BAR:g}" if own > BAR else ""


def _drained(count: int, facts: int) -> float:
    """Hands texts of so many sentences in and works until nothing is left; milliseconds a text without the model's."""
    chance = random.Random(11)
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        (home / "settings.toml").write_text(SETTINGS)
        model = Instant()
        with Pipeline.open(home, provider=model) as pipeline:
            for number in range(count):
                said = (f"{sentence(chance)}, in {number}.{place}" for place in range(facts))
                pipeline.ingest(f"Entry {number}. {'. '.join(said)}.")
            spent: dict[str, float] = {}
            processor = time.process_time()
            ticks: list[float] = []
            while True:
                before, start = model.seconds, time.perf_counter()
                ticked = pipeline.tick()
                taken = (time.perf_counter() - start - (model.seconds - before)) * 1000
                if not ticked.did_something:
                    break
                kind = ticked.job.type if ticked.job else "notes"
                spent[kind] = spent.get(kind, 0.0) + taken
                if kind == "extract":
                    ticks.append(taken)
            processor = time.process_time() - processor - model.seconds
            status = pipeline.status()
            # Statements are sorted a few at a time: what waits for its next turn is not waited for.
            assert {job.type for job in pipeline.jobs("pending")} <= {"structural_classify"}
            assert set(status.jobs) <= {"completed", "pending"}
            assert len(pipeline.memory.snapshot.notes) == status.facts == facts * count
            plain = _plain_commits(home, count)
    own = sum(spent.values()) / count
    parts = ", ".join(f"{kind} {value / count:.2f}" for kind, value in spent.items())
    one = f"{median(ticks):.2f} ({quantiles(ticks, n=20)[-1]:.2f})"
    each = f"{facts:<16}{own:8.2f}{processor * 1000 / count:12.2f}{one:>28}"
    print(f"{each}   {parts}; {own / plain:.0f} durable rows of {plain:.2f}")
    return own


def _plain_commits(home: Path, count: int) -> float:
    """Milliseconds of one durable commit of a row, the least that completing a job can cost."""
    connection = sqlite3.connect(home / "plain.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE rows (content TEXT)")
    start = time.perf_counter()
    for _ in range(count):
        connection.execute("INSERT INTO rows VALUES ('a row')")
    return (time.perf_counter() - start) * 1000 / count
