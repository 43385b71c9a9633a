"""Taking a text in with the model down and many memories stored, beside one plain durable row of the same bytes."""

from __future__ import annotations

import random
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles

from core.pipeline.service import Pipeline

ROUNDS = 201
BAR = 10.0
# Nobody listens there: the model is down.
SETTINGS = '[pipeline.extraction]\nendpoint = "http://127.0.0.1:9"\n'
SURNAMES = ("Weber", "Okafor", "Larsen", "Ito", "Novak", "Silva", "Haddad", "Petrov", "Moreau", "Kaya")
FORENAMES = ("Anna", "Bola", "Carla", "Dmitri", "Emil", "Farah", "Goran", "Hanna", "Ivo", "Jun")
TOOLS = (
    "PostgreSQL",
    "Redis",
    "Kafka",
    "Terraform",
    "Grafana",
    "Sentry",
    "FastAPI",
    "Celery",
    "Nginx",
    "Vault",
)
SAYINGS = (
    "{who} decided to use {tool} over {other} for the reports of {project}",
    "The `{module}_limiter` in src/{module}/limits.py needs a lock, {who} says",
    "{who} prefers {tool} because the old setup was hard to watch",
    "We moved the {module} service from {other} to {tool} in March",
    "{who} works at {project} and leads the {module} team",
    "Deploys of {project} run at nine, and nobody touches {tool} while they do",
)


def sentence(chance: random.Random) -> str:
    """One of some thousand different sentences."""
    tool, other = chance.sample(TOOLS, 2)
    who = f"{chance.choice(FORENAMES)} {chance.choice(SURNAMES)}"
    module = chance.choice(("billing", "search", "login", "export", "audit"))
    project = f"Project{chance.randrange(60)}"
    return chance.choice(SAYINGS).format(who=who, tool=tool, other=other, module=module, project=project)


def text(chance: random.Random, number: int, length: int) -> str:
    """A text of some length that no other is like."""
    said = f"Entry {number}."
    while len(said) < length:
        said += f" {sentence(chance)}."
    return said


def times(work: Callable[[str], object], texts: list[str]) -> list[float]:
    """Milliseconds of `work` for each text."""
    taken = []
    for one in texts:
        start = time.perf_counter()
        work(one)
        taken.append((time.perf_counter() - start) * 1000)
    return taken


def run(count: int) -> str:
    """Prints what taking in costs with `count` memories stored; what missed its bar, or ""."""
    chance = random.Random(7)
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        (home / "settings.toml").write_text(SETTINGS)
        _fill(home, chance, count)
        with Pipeline.open(home) as pipeline:
            said = (
                f"intake: {count:,} memories stored, the model down; milliseconds, median of {ROUNDS} (95 %)"
            )
            print(f"{said}\n{'':<28}taken in          plain durable row   ratio")
            medians = {}
            for kind, length in (("a sentence", 80), ("a paragraph", 500), ("a session summary", 4_000)):
                texts = [text(chance, count + number, length) for number in range(ROUNDS)]
                plain = times(_plain_rows(home), texts)
                taken = times(pipeline.ingest, texts)
                again = times(pipeline.ingest, texts)
                medians[kind] = median(taken)
                ratio = median(taken) / median(plain)
                print(
                    f"{kind:<24}{_both(taken)}  {_both(plain)}{ratio:8.1f}   said again: {median(again):.2f}"
                )
            assert pipeline.status().raw == count + 6 * ROUNDS
    slow = [kind for kind, found in medians.items() if found > BAR]
    return f"taking in {', '.join(slow)} is slower than {BAR:g} ms" if slow else ""


def _fill(home: Path, chance: random.Random, count: int) -> None:
    """Stores memories by the same way in, only without waiting for the disk."""
    with Pipeline.open(home) as pipeline:
        with pipeline.database.write() as writer:
            writer.connection.execute("SELECT 1")
        pipeline.database.connect().execute("PRAGMA synchronous = OFF")
        for number in range(count):
            pipeline.ingest(
                text(chance, number, 400), session=f"session {number // 20}", project=f"app{number % 9}"
            )


def _plain_rows(home: Path) -> Callable[[str], object]:
    """The least that a durable row can cost: the same journal, one insert, one commit."""
    connection = sqlite3.connect(home / "plain.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS rows (content TEXT)")
    return lambda one: connection.execute("INSERT INTO rows VALUES (?)", (one,))


def _both(found: list[float]) -> str:
    return f"{median(found):8.2f} ({quantiles(found, n=20)[-1]:.2f})"
