"""The ingestion pipeline without its model: taking texts in, and draining the queue, beside plain durable writes; a
long run through an outage; looking after a large one; and how long others wait while old rows are deleted.

Run from the root of the repository: python tests/benchmarks/pipeline.py [PART] [COUNT]
"""

from __future__ import annotations

import json
import random
import re
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.search import notes_and_queries
from kits.scripted_model import NamedModel
from kits.soak import OUTAGE_SECONDS, server, soak

from core.memory import Memory
from core.model.change import PERSON
from core.model.snapshot import Snapshot
from core.pipeline.database.connection import Database
from core.pipeline.database.tables import Tables
from core.pipeline.health import MaintenanceAction, measure
from core.pipeline.models.provider import Answer, Schema
from core.pipeline.retention import BATCH, DAY_MS
from core.pipeline.service import Pipeline
from core.pipeline.statements import words_hash
from core.search import SearchIndex

# Bars, in milliseconds; of health in seconds of the processor, and how many times as long a search beside maintenance
# may take as alone, or the bar of a search, whichever is more.
OWN, HELD, DIAGNOSED, SLOWER, QUERY = 10.0, 20.0, 0.5, 3.0, 80.0
ROUNDS, SEARCHES = 201, 60
OLD = 400 * DAY_MS
# Nobody listens there: the model is down.
DOWN = '[pipeline.extraction]\nendpoint = "http://127.0.0.1:9"\n'
PEOPLE = [
    f"{first} {last}"
    for first in ("Anna", "Bola", "Carla", "Emil", "Farah")
    for last in ("Weber", "Ito", "Kaya")
]
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
    module, project = (
        chance.choice(("billing", "search", "login", "export")),
        f"Project{chance.randrange(60)}",
    )
    said = chance.choice(SAYINGS)
    return said.format(who=chance.choice(PEOPLE), tool=tool, other=other, module=module, project=project)


def text(chance: random.Random, number: int, length: int) -> str:
    """A text of some length that no other is like."""
    said = f"Entry {number}."
    while len(said) < length:
        said += f" {sentence(chance)}."
    return said


def took(work: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds of the clock, and of the processor in this thread."""
    began, worked = time.perf_counter(), time.thread_time()
    work()
    return (time.perf_counter() - began) * 1000, (time.thread_time() - worked) * 1000


def times(work: Callable[[str], object], texts: list[str]) -> list[float]:
    """Milliseconds of `work` for each text."""
    return [took(lambda one=one: work(one))[0] for one in texts]  # type: ignore[misc]


def spread(found: list[float]) -> str:
    """The median, 19 of 20, and the most."""
    return f"{median(found):8.2f} ({quantiles(found, n=20)[-1]:.2f}) {max(found):8.2f}"


@contextmanager
def opened(settings: str, **given: Any) -> Iterator[tuple[Path, Pipeline]]:
    """A pipeline of a new memory."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        (home / "settings.toml").write_text(settings)
        with Pipeline.open(home, **given) as pipeline:
            yield home, pipeline


def plain_rows(home: Path) -> sqlite3.Connection:
    """A table whose durable row is the least that one can cost: the same journal, one insert, one commit."""
    connection = sqlite3.connect(home / "plain.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, content TEXT)")
    return connection


def intake(count: int) -> str:
    """Taking a text in with the model down and `count` memories stored, beside one plain durable row."""
    chance, medians = random.Random(7), {}
    with opened(DOWN) as (home, pipeline):
        with pipeline.database.write(lasting=False) as writer:
            _store(writer, count, int(time.time() * 1000))
        print(
            f"intake: {count:,} memories stored, the model down; milliseconds, median of {ROUNDS} (95 %) most"
        )
        print(f"{'':<24}taken in                   plain durable row")
        plain = plain_rows(home)
        for kind, length in (("a sentence", 80), ("a paragraph", 500), ("a session summary", 4_000)):
            texts = [text(chance, count + number, length) for number in range(ROUNDS)]
            least = times(lambda one: plain.execute("INSERT INTO rows (content) VALUES (?)", (one,)), texts)
            taken, again = times(pipeline.ingest, texts), times(pipeline.ingest, texts)
            medians[kind] = median(taken)
            ratio = f"{median(taken) / median(least):8.1f} x, said again: {median(again):.2f}"
            print(f"{kind:<20}{spread(taken)}   {spread(least)}{ratio}")
    slow = [kind for kind, found in medians.items() if found > OWN]
    return f"taking in {', '.join(slow)} is slower than {OWN:g} ms" if slow else ""


_LABEL = re.compile(r"^([FA]\d+): ", re.MULTILINE)
_TEXT = re.compile(r"^Text: (\".*\")\nAnswer:\Z", re.MULTILINE)
_NEW = {"action": "add", "confidence": 0.9, "reason": "new"}
_NAME = re.compile(r"[A-Z][a-z]+ [A-Z][a-z]+")


class Instant(NamedModel):
    """Takes every sentence for a fact, holds every fact for new, and names one relation; counts its own seconds."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def generate(self, prompt: str, schema: Schema | None, deadline: float) -> Answer:
        start = time.perf_counter()
        said = json.dumps(self._answer(prompt, schema or {}))
        self.seconds += time.perf_counter() - start
        return Answer(said, model="instant", done_reason="stop")

    def _answer(self, prompt: str, schema: Schema) -> object:
        asked = schema.get("properties")
        keys = set(asked) if isinstance(asked, dict) else set()
        if "facts" in keys:
            said = json.loads(_TEXT.findall(prompt)[-1]).split(". ")[1:]
            facts = [{"content": one.rstrip("."), "type": "fact", "confidence": 0.9} for one in said]
            ends = {"relationship": "works_on", "target": "Atlas", "confidence": 0.8}
            names = _NAME.findall(" ".join(said))
            return {"facts": facts, "entities": [{"source": one, **ends} for one in names[:2]]}
        if "decisions" in keys:
            return {"decisions": [{"fact": one, **_NEW} for one in _LABEL.findall(prompt)]}
        if "action" in keys:
            return _NEW
        placed = [{"id": one, "aspect": "general", "kind": "attribute"} for one in _LABEL.findall(prompt)]
        return {"entity_type": "person", "results": placed}


def drain(count: int) -> str:
    """Draining `count` memories with a model that answers at once, of one fact each and of three."""
    print(f"drain: {count:,} memories, the model answers at once; milliseconds of our own for each")
    print(f"{'facts in each':<16}{'all':>8}{'processor':>12}   {'extraction: median (95 %) most':<32}of it")
    own, _ = [_drained(count, facts) for facts in (1, 3)]
    return f"draining costs {own:.1f} ms a memory of one fact, more than {OWN:g}" if own > OWN else ""


def _drained(count: int, facts: int) -> float:
    """Hands texts of so many sentences in and works until nothing is left; milliseconds a text without the model's."""
    chance, model, spent, ticks = random.Random(11), Instant(), Counter[str](), list[float]()
    with opened("[pipeline.extraction]\ndailyCallBudget = 1000000\n", provider=model) as (home, pipeline):
        for number in range(count):
            said = (f"{sentence(chance)}, in {number}.{place}" for place in range(facts))
            pipeline.ingest(f"Entry {number}. {'. '.join(said)}.")
        processor = time.process_time()
        while True:
            before, start = model.seconds, time.perf_counter()
            ticked = pipeline.tick()
            taken = (time.perf_counter() - start - (model.seconds - before)) * 1000
            if not ticked.did_something:
                break
            kind = ticked.job.type if ticked.job else "notes"
            spent[kind] += taken  # type: ignore[assignment]
            ticks += [taken] if kind == "extract" else []
        processor = time.process_time() - processor - model.seconds
        status = pipeline.status()
        # Statements are sorted a few at a time: what waits for its next turn is not waited for.
        assert {job.type for job in pipeline.jobs("pending")} <= {"structural_classify"}
        # What seems to contradict something waits for a person.
        assert len(pipeline.memory.snapshot.notes) == status.facts == facts * count - status.proposals_open
        plain = plain_rows(home)
        least = median(
            times(lambda one: plain.execute("INSERT INTO rows (content) VALUES (?)", (one,)), ["a"] * count)
        )
    own = sum(spent.values()) / count
    parts = ", ".join(f"{kind} {value / count:.2f}" for kind, value in spent.items())
    rows = f"{own / least:.0f} durable rows of {least:.2f}"
    print(f"{facts:<16}{own:8.2f}{processor * 1000 / count:12.2f}   {spread(ticks):<32}{parts}; {rows}")
    return own


def soaked(count: int) -> str:
    """`count` jobs, two a text, through two hours without the provider and a tenth of calls failing, with a clock that
    is moved by hand.
    """
    count //= 2
    with tempfile.TemporaryDirectory() as name:
        began = time.perf_counter()
        done = soak(Path(name), count)
        spent = time.perf_counter() - began
    jobs, looks = sum(done.status.jobs.values()), (done.health, done.later)
    print(
        f"soak: {count:,} texts, {jobs:,} jobs, {done.seconds / 3600:.1f} hours of the clock in {spent:.0f} s"
    )
    print(f"calls: {dict(done.outcomes)}; {done.away_calls} in {OUTAGE_SECONDS // 3600} hours of outage")
    print(
        f"jobs: {done.status.jobs}; {done.status.light.value}, {done.status.why}; {len(done.notes):,} notes"
    )
    health = ", ".join(f"{one.status} {one.score}" for one in looks)
    print(
        f"of them {dict(done.types)}; {done.hinted:,} with hints, {done.embedded:.0%} with vectors; health {health}"
    )
    missed = {
        "jobs that are not done": set(done.status.jobs) != {"completed"},
        "facts that are no notes": sorted(done.notes) != sorted(map(server, range(count))),
        "a status that is not idle": done.status.light.value != "idle",
        "database and notes that differ": bool(done.findings),
        "a health that is not green": any(not one.healthy for one in looks),
        "a domain that is unhealthy": any(
            each.status == "unhealthy" for one in looks for each in one.domains
        ),
        "notes without hints": done.hinted != count,
        "notes without vectors": done.embedded < 1.0,
        "old jobs that are kept": done.swept < jobs,
    }
    left = ", ".join(name for name, is_so in missed.items() if is_so)
    return f"the soak left {left}" if left else ""


def health(count: int) -> str:
    """Diagnosing `count` memories, and searching as many notes while they are maintained in another thread."""
    missed = []
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        memory = Memory.open(home, author=PERSON)
        with Pipeline.open(home, memory=memory, author=PERSON) as pipeline:
            with pipeline.database.write(lasting=False) as writer:
                _store(writer, count, int(time.time() * 1000))
                # So that each repair has something to do.
                writer.connection.execute(
                    "UPDATE jobs SET status = 'dead', error_class = 'parse' WHERE id % 50 = 0"
                )
            wall, own = map(min, zip(*(took(pipeline.diagnose) for _ in range(3)), strict=True))
            print(
                f"diagnose, {count:,} memories: {wall:.0f} ms ({own:.0f} ms of the processor), bar {DIAGNOSED} s"
            )
            report = pipeline.diagnose()
            print(
                f"  {report.status} {report.score}: {', '.join(one.action for one in report.recommendations)}"
            )
            # Of the processor, as on an idle machine.
            missed += ["diagnosing takes too long"] if own > DIAGNOSED * 1000 else []
            for domain in ("queue", "storage", "index", "provider", "mutation", "duplicate"):
                at = pipeline.now()
                reads = (pipeline.database.reading, pipeline.configuration, at, domain)
                print(f"  {domain:10} {took(lambda reads=reads: measure(*reads))[0]:7.1f} ms")  # type: ignore[misc]
            notes, kinds = notes_and_queries(count)
            index = SearchIndex()
            index.update(Snapshot(notes=tuple(notes)))
            queries = [query for each in kinds.values() for query in each]
            alone = list(_searches(index, queries, lambda: True))
            working = threading.Thread(target=_maintain, args=(pipeline,))
            working.start()
            beside = list(_searches(index, queries, lambda: not working.is_alive()))
            working.join()
        memory.close()
    print(
        f"search, {count:,} notes, median (95 %) most: {spread(alone)} ms alone, {spread(beside)} ms while maintained"
    )
    slow = median(beside) > max(SLOWER * median(alone), QUERY)
    return "; ".join([*missed, *(["search is slow while the pipeline is maintained"] if slow else [])])


def _searches(index: SearchIndex, queries: list[str], stop: Callable[[], bool]) -> Iterator[float]:
    """Milliseconds of one search after another, until it is told to stop, at least `SEARCHES`."""
    made = 0
    while made < SEARCHES or not stop():
        query = queries[made % len(queries)]
        yield took(lambda query=query: index.result(query, 10))[0]  # type: ignore[misc]
        made += 1


def _maintain(pipeline: Pipeline) -> None:
    for action in MaintenanceAction:
        planned = took(lambda: pipeline.maintenance_plan(action))[0]  # noqa: B023
        ran = took(lambda: pipeline.maintain([action]))[0]  # noqa: B023
        print(f"  {action}: plan {planned:.0f} ms, run {ran:.0f} ms")


# Of one transaction: milliseconds of the clock, and of the processor, which no other program makes longer.
Held = tuple[float, float]


def retention(count: int) -> str:
    """How long transactions hold the write lock while half of `count` memories, removed long ago, are deleted and a
    document is indexed, beside one plain transaction that deletes 500 rows.
    """
    with opened('[pipeline.extraction]\nprovider = "none"\n') as (home, pipeline):
        with pipeline.database.write(lasting=False) as writer:
            _store(writer, count, int(datetime.now(UTC).timestamp() * 1000) - OLD, removed=True)
        pipeline.database.empty_log()
        print(
            f"retention: {count:,} memories, half of them due; milliseconds of the write lock, median (95 %) most"
        )
        print(f"{'':<26}{'of the clock':<30}{'of the processor':<30}")
        plain, held = _plain_deletion(home), list[Held]()
        rehearsal, began = pipeline.sweep(dry_run=True), time.perf_counter()
        with _holding(held):
            done = pipeline.sweep()
        spent = time.perf_counter() - began
        assert done.counts == rehearsal.counts, (done, rehearsal)
        worst = {"a batch of retention": _said("a batch of retention", held, plain)}
        # The facts here have no notes, and nothing is to be made of that.
        pipeline._working()._done_at["follow"] = pipeline.now()
        for title, end in (("a part of a text", ".\n\n"), ("a part of one long line", "")):
            held.clear()
            pipeline.documents.add("text", data=_words(500_000, end).encode())
            with _holding(held):
                while pipeline.tick().job is not None:
                    pass
            worst[title] = _said(title, held, plain)
        print(f"{sum(done.counts.values()):,} rows deleted in {spent:.1f} s")
    slow = [f"{title} {most:.0f} ms" for title, most in worst.items() if most > HELD]
    return f"the write lock is held for more than {HELD:g} ms: {', '.join(slow)}" if slow else ""


@contextmanager
def _holding(into: list[Held]) -> Iterator[None]:
    """Adds to a list how long each transaction holds the lock, from its beginning to the end of its commit. What
    SQLite does after it, copying the log into the file, is done between two: nobody waits for that.
    """
    plain = Database.write

    @contextmanager
    def timed(self: Database, **named: Any) -> Iterator[Tables]:
        with plain(self, **named) as writer:
            began, worked = time.perf_counter(), time.thread_time()
            yield writer
        into.append(((time.perf_counter() - began) * 1000, (time.thread_time() - worked) * 1000))
        self.connect().execute("PRAGMA wal_autocheckpoint = 0")
        self.connect().execute("PRAGMA wal_checkpoint(PASSIVE)")

    Database.write = timed  # type: ignore[method-assign]
    try:
        yield
    finally:
        Database.write = plain  # type: ignore[method-assign]


def _said(title: str, held: list[Held], plain: float) -> float:
    clock, processor = ([one[place] for one in held] for place in (0, 1))
    ratio = f"{median(clock) / plain:6.1f} x a plain deletion of {BATCH} rows"
    print(f"{title:<26}{spread(clock):<30}{spread(processor):<30}{ratio}")
    return max(processor)


def _plain_deletion(home: Path) -> float:
    """The median of transactions that delete 500 rows of a table without an index, in milliseconds."""
    connection = plain_rows(home)
    connection.executemany("INSERT INTO rows (content) VALUES (?)", (("x" * 200,) for _ in range(41 * BATCH)))
    delete = f"DELETE FROM rows WHERE id IN (SELECT id FROM rows LIMIT {BATCH})"
    return median(took(lambda: connection.execute(delete))[0] for _ in range(41))


def _words(length: int, end: str) -> str:
    chance, made = random.Random(5), ""
    while len(made) < length:
        made += (
            " ".join(f"{chance.choice('bcdfgkmprst')}{chance.randrange(9_000)}word" for _ in range(40)) + end
        )
    return made


# Name, entity or part of so many rows; the tables that years fill, each with what its rows hold.
NAMES = 5_000


def _store(writer: Tables, count: int, at: int, *, removed: bool = False) -> None:
    """Stores texts with facts, a tenth of them said twice, names, relations, jobs, decisions, sessions and documents,
    all of one time. removed: whether half of the texts and documents were removed then.
    """
    put: Callable[..., Any] = writer.connection.executemany
    chance, numbers, chunks, gone = random.Random(7), range(count), range(count // 5), at if removed else None
    said = [f"server {n} stands in rack {n % 97} of hall {n % 31}" for n in range(count - count // 10)]
    facts = [said[n % len(said)] for n in numbers]
    put(
        "INSERT INTO raw_memories (id, content, content_hash, source_type, source_id, project, nugget, author, status,"
        " created_at, removed_at) VALUES (?, ?, ?, 'text', ?, 'app', 'memory', 'person', 'extracted', ?, ?)",
        ((f"raw-{n}", text(chance, n, 400), f"hash {n}", f"session {n // 20}", at, None if n % 2 else gone)
         for n in numbers),
    )  # fmt: skip
    put(
        "INSERT INTO proposals (id, raw_id, job_id, place, action, content, type, fact_confidence, grounded,"
        " target_note, target_content, confidence, told, decided_by, model, prompt_version, status, reason,"
        " review_needed, contradiction, note_id, nugget, created_at) VALUES (?, ?, ?, 0, 'add', ?, 'fact', .9, 1,"
        " '', '', .9, '', 'model', 'm', 'p', ?, '', 0, '', ?, 'memory', ?)",
        ((f"proposal-{n}", f"raw-{n}", n, facts[n], *(("applied", f"note-{n}") if n % 3 else ("skipped", "")), at)
         for n in numbers),
    )  # fmt: skip
    put(
        "INSERT INTO facts VALUES (?, ?, ?, 'memory', ?, ?, ?, 'fact', .9, ?, ?, 'm', 'p', ?, ?)",
        ((f"fact-{n}", f"raw-{n}", f"proposal-{n}", facts[n], facts[n], f"f{n}", f"note-memory-{n:08x}",
          "active" if n % 2 or not removed else "denied", at + n, words_hash(facts[n])) for n in numbers if n % 3),
    )  # fmt: skip
    put(
        "INSERT INTO entities (id, name, canonical_name, type, created_at, updated_at) VALUES (?, ?, ?, 'tool', ?, ?)",
        ((n, f"Name{n}", f"name{n}", at, at) for n in range(1, NAMES + count // 10)),
    )
    put(
        "INSERT OR IGNORE INTO mentions VALUES (?, ?, 'it', .8, 'linker', ?)",
        ((entity, f"raw-{n}", at) for n in numbers
         for entity in {*chance.sample(range(1, NAMES), 3), NAMES + n // 10 - 1}),
    )  # fmt: skip
    put(
        "INSERT OR IGNORE INTO relations (id, source_id, target_id, type, strength, created_at, updated_at)"
        " VALUES (?, ?, ?, 'related_to', .3, ?, ?)",
        ((n + 1, 1 + n % (NAMES - 2), 2 + n % (NAMES - 2), at, at) for n in range(NAMES - 2)),
    )
    put(
        "INSERT OR IGNORE INTO relation_evidence VALUES (?, ?, .3, ?)",
        ((1 + n % (NAMES - 2), f"raw-{n}", at) for n in numbers),
    )
    put(
        "INSERT INTO attributes (entity_id, aspect_id, raw_id, fact_id, kind, content, normalised_content, confidence,"
        " importance, status, created_at, updated_at)"
        " VALUES (?, NULL, ?, '', 'attribute', ?, ?, .7, .5, 'active', ?, ?)",
        ((1 + n % (NAMES - 1), f"raw-{n}", f"says {n}", f"says {n}", at, at) for n in numbers),
    )
    put(
        "INSERT INTO history (at, event, changed_by, reason, raw_id, proposal_id, fact_id, note_id, old_content,"
        " new_content, model, prompt_version, metadata)"
        " VALUES (?, 'created', 'pipeline-v2', '', ?, ?, ?, ?, '', ?, 'm', 'p', ?)",
        ((at, f"raw-{n}", f"proposal-{n}", f"fact-{n}", f"note-{n}", facts[n], json.dumps({"x": "y" * 300}))
         for n in numbers for _ in range(2)),
    )  # fmt: skip
    put(
        "INSERT INTO jobs (type, target, status, max_attempts, run_after, created_at, updated_at, completed_at,"
        " failed_at) VALUES ('extract', ?, ?, 3, ?, ?, ?, ?, ?)",
        ((f"raw-{n}", *(("completed", at, at, at, at, None) if n % 10 else ("dead", at, at, at, None, at)))
         for n in numbers),
    )  # fmt: skip
    put(
        "INSERT INTO llm_calls (at, day, provider, model, purpose, raw_id, latency_ms, outcome, error)"
        " VALUES (?, 'd', 'p', 'm', 'extract', ?, 900, 'ok', '')",
        ((at, f"raw-{n}") for n in numbers),
    )
    put(
        "INSERT INTO session_memories (session_key, note_id, times, recalled_at) VALUES (?, ?, 1, ?)",
        ((f"session {n // 20}", f"note-{n}", at) for n in numbers),
    )
    parts = (f"Part {n}. " + " ".join(f"word{chance.randrange(20_000)}" for _ in range(200)) for n in chunks)
    put(
        "INSERT INTO chunks (content, terms, content_hash, created_at) VALUES (?, ?, ?, ?)",
        ((part, part.lower(), f"chunk {n}", at) for n, part in enumerate(parts)),
    )
    documents = max(1, count // 1000)
    put(
        "INSERT INTO documents (id, kind, source, title, media_type, status, source_hash, nugget, project, author,"
        " created_at, updated_at, removed_at)"
        " VALUES (?, 'text', '', '', 'text/plain', 'done', '', '', '', '', ?, ?, ?)",
        ((f"doc-{n}", at, at, gone if n % 2 else None) for n in range(documents)),
    )
    put(
        "INSERT INTO document_chunks VALUES (?, ?, ?)",
        ((f"doc-{n * documents // len(chunks)}", n, n + 1) for n in chunks),
    )
    # What nobody finds any more, for the repair of the index.
    lost = writer.connection.execute("SELECT rowid, content FROM facts WHERE rowid % 100 = 0").fetchall()
    forget = "INSERT INTO facts_fts (facts_fts, rowid, content) VALUES ('delete', ?, ?)"
    put(forget, [] if removed else list(map(tuple, lost)))
    writer.connection.execute("ANALYZE")


# Each part, with how many it is run with; it says what missed its bar, or "".
PARTS: dict[str, tuple[Callable[[int], str], int]] = {
    "intake": (intake, 10_000), "drain": (drain, 1_000), "soak": (soaked, 10_000), "health": (health, 100_000),
    "retention": (retention, 100_000),
}  # fmt: skip


def main() -> None:
    words = sys.argv[1:]
    count = next((int(word) for word in words if word.isdigit()), None)
    named = [PARTS[word] for word in words if word in PARTS] or list(PARTS.values())
    if missed := [said for part, usual in named if (said := part(count or usual))]:
        sys.exit("; ".join(missed))


if __name__ == "__main__":
    main()
