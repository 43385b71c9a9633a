"""A pipeline that is killed at any moment: every text kept, no job lost, each fact one note, both sides agree.

The number of kills at random moments is small here; NUGGETS_KILLS=100 makes it the full test.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from kits.forked import Forked, run
from kits.memory_files import note_object, notes_of, write_graph

from core import Memory
from core.pipeline.service import Pipeline
from core.pipeline.writes.following import drift
from core.verify import findings

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
KILLS = int(os.environ.get("NUGGETS_KILLS", "5"))
OLD_NOTES = 3
SETTINGS = """
[pipeline]
enabled = true
shadowMode = false
[pipeline.extraction]
provider = "ollama"
[pipeline.worker]
maxRetries = 10
[pipeline.graph]
enabled = true
"""

# A model that finds one fact in a text: its first sentence. The words of two texts have nothing in common.
SETTING = """
import hashlib, json, os, re, sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
sys.path.insert(0, "tests")
from kits.scripted_model import ScriptedModel
from core.pipeline.service import Pipeline

def text_of(number):
    digits = hashlib.sha256(str(number).encode()).hexdigest()
    words = [digits[at : at + 8].translate(str.maketrans("0123456789", "ghijklmnop")) for at in range(0, 32, 8)]
    return " ".join(words).capitalize() + ". Nothing more was said."

def answer(prompt):
    fact = re.findall(r"([A-Z][a-p]+(?: [a-p]+){3}[.]) Nothing more was said", prompt)[-1]
    return {"facts": [{"content": fact, "type": "fact", "confidence": 0.9}], "entities": []}

def opened(home, hours):
    clock = lambda: datetime.now(UTC) + timedelta(hours=hours)
    return Pipeline.open(home, clock=clock, provider=ScriptedModel(by_prompt=answer))
"""

# Hands in, works and brings over, and says of each text, once it is told to be kept, that it must be there.
WRITER = (
    SETTING
    + """
pipeline, start = opened(sys.argv[1], float(sys.argv[2])), int(sys.argv[2]) * 1000
print("ready", flush=True)
for number in range(start, start + 1000):
    pipeline.ingest(text_of(number))
    print("kept", number, flush=True)
    pipeline.tick()
    if number % 3 == 2:
        print("flushed", number, flush=True)
"""
)

# Ends a process, as kill -9 would, right before each step that reaches the disk, a copy of the memory for each.
AT_STEP = (
    SETTING
    + """
import shutil, traceback
from kits.faults import end_before_step
from core.pipeline.database.connection import Database
from core.pipeline.writes import submit
from core.pipeline.workers import extract_job, runner
import core.memory

def work(home):
    pipeline = opened(home, 0)
    for number in range(2):
        pipeline.ingest(text_of(number))
    for _ in range(2):
        pipeline.tick()

home, stride = Path(sys.argv[1]), int(sys.argv[2])
for number in range(0, 10_000, stride):
    copy = home.with_name(f"copy-{number}")
    shutil.copytree(home, copy)
    child = os.fork()
    if child == 0:
        try:
            end_before_step(number, (Database, "write"))
            work(copy)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(number, code, flush=True)
    if code != 9:
        break
"""
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    write_graph(home, [note_object(number) for number in range(OLD_NOTES)])
    (home / "settings.toml").write_text(SETTINGS, encoding="utf-8")
    Memory.open(home).maintenance.repair()
    return home


def _setting() -> dict[str, object]:
    setting: dict[str, object] = {}
    exec(SETTING, setting)
    return setting


def _agree(home: Path) -> Memory:
    """Opens a memory and holds that nothing in it, in its log or in the database is left half done."""
    memory = Memory.open(home)
    assert memory.snapshot.problems == ()
    assert findings(memory.snapshot) == []
    assert memory.history.conflicts() == ()
    with sqlite3.connect(home / "nuggets.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        # A text without a job that is open or done is a job that was lost.
        lost = database.execute(
            "SELECT id FROM raw_memories WHERE id NOT IN (SELECT target FROM jobs WHERE status <> 'dead')"
        )
        assert lost.fetchall() == []
        done = database.execute("SELECT note_id FROM note_edits").fetchall()
        assert {note_id for (note_id,) in done} <= memory.snapshot.by_id.keys()
        half = "SELECT id FROM facts WHERE id NOT IN (SELECT fact_id FROM note_edits WHERE op = 'add')"
        assert database.execute(half).fetchall() == []
    texts = Counter(note.content for note in memory.snapshot.notes)
    assert [text for text, count in texts.items() if count > 1] == []
    return memory


def _drain(home: Path, hours: float) -> None:
    pipeline: Pipeline = _setting()["opened"](home, hours)  # type: ignore[operator]
    with pipeline:
        while pipeline.tick().did_something:
            pass
        assert {job.status for job in pipeline.jobs() if job.type == "extract"} <= {"completed"}


def _expected(numbers: range | list[int]) -> set[str]:
    text_of = _setting()["text_of"]
    return {text_of(number).partition(". ")[0] + "." for number in numbers}  # type: ignore[operator]


@pytest.mark.timeout(120 + 20 * KILLS)
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no such end")
def test_a_pipeline_killed_at_random_moments_keeps_every_text_and_makes_each_note_once(home: Path) -> None:
    chance = random.Random(7)
    kept: list[int] = []
    for turn in range(KILLS):
        writer = Forked(
            [sys.executable, "-c", WRITER, str(home), str(turn)],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        # A random moment of its work: after so many lines, plus however long the kill takes.
        told = [writer.stdout.readline() for _ in range(chance.randrange(1, 12))]
        writer.send_signal(signal.SIGKILL)
        rest, errors = writer.communicate()
        assert errors == b""
        told += rest.splitlines()
        kept += [int(line.split()[1]) for line in told if line.startswith(b"kept")]
        _agree(home).close()
        with sqlite3.connect(home / "nuggets.db") as database:
            texts = {row[0] for row in database.execute("SELECT content FROM raw_memories")}
        text_of = _setting()["text_of"]
        assert {text_of(number) for number in kept} <= texts  # type: ignore[operator]
    _drain(home, KILLS + 1)
    memory = _agree(home)
    there = {note.content for note in memory.snapshot.notes}
    assert _expected(kept) <= there
    with sqlite3.connect(home / "nuggets.db") as database:
        texts = {row[0] for row in database.execute("SELECT content FROM raw_memories")}
        assert database.execute("SELECT count(*) FROM note_edits").fetchone() == (len(texts),)
    assert len(notes_of(home)) == OLD_NOTES + len(texts)
    assert drift(memory) == ()


@pytest.mark.timeout(120 + 20 * KILLS)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system makes no copy of a process")
def test_a_pipeline_killed_before_any_step_is_finished_by_the_next_one(home: Path) -> None:
    stride = 1 if KILLS >= 100 else 4
    done = run(
        [sys.executable, "-c", AT_STEP, str(home), str(stride)], cwd=ROOT, capture_output=True, check=False
    )
    assert done.stderr == b""
    steps = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    assert len(steps) > 20 // stride
    assert [code for _, code in steps] == [9] * (len(steps) - 1) + [0]
    for number, _ in steps:
        copy = home.with_name(f"copy-{number}")
        if not (copy / "nuggets.db").exists():
            continue
        _drain(copy, 24)
        memory = _agree(copy)
        assert drift(memory) == ()
        with sqlite3.connect(copy / "nuggets.db") as database:
            count = database.execute("SELECT count(*) FROM raw_memories").fetchone()[0]
        assert {note.content for note in memory.snapshot.notes} >= _expected(range(count))
        assert len(notes_of(copy)) == OLD_NOTES + count
        memory.close()
        shutil.rmtree(copy)
