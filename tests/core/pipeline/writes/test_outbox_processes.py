"""Several processes that bring the outbox over at once: each note is made once, whoever makes it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from kits.forked import Forked
from kits.memory_files import note_object, notes_of, write_graph
from kits.outbox_kit import NOW, learned

from core import Memory
from core.pipeline.database.connection import Database
from core.pipeline.writes.verify import drift
from core.verify import findings

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[4]
FACTS = 60

# Begins when it is told to, brings over what waits in small batches, and says what it wrote.
BRINGER = """
import contextlib, json, sys
from core import Memory
from core.pipeline.database.connection import Database
from core.pipeline.writes import outbox
if sys.argv[2] == "unlocked":
    # As on a file system whose locks hold nobody back.
    outbox.turn = lambda home, seconds: contextlib.nullcontext(True)
memory, database = Memory.open(sys.argv[1]), Database.open(__import__("pathlib").Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
written = []
while True:
    done = outbox.flush_outbox(database, memory, now=1, most=7, seconds=0.01)
    assert done.problem is None, done.problem
    written += done.written
    if not done.waiting:
        break
print(json.dumps(written), flush=True)
"""


@pytest.mark.parametrize("locks", ["locked", "unlocked"])
def test_two_processes_at_once_make_each_note_once(tmp_path: Path, locks: str) -> None:
    write_graph(tmp_path, [note_object(number) for number in range(3)])
    database = Database.open(tmp_path)
    handed = [learned(database, f"Service {number} has port {number * 7}.") for number in range(FACTS)]
    bringers = [
        Forked(
            [sys.executable, "-c", BRINGER, str(tmp_path), locks],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    for bringer in bringers:
        assert bringer.stdout is not None
        assert bringer.stdout.readline() == "ready\n", bringer.communicate()[1]
    for bringer in bringers:
        assert bringer.stdin is not None
        bringer.stdin.write("go\n")
        bringer.stdin.flush()
    told = [bringer.communicate() for bringer in bringers]
    assert [errors for _, errors in told] == ["", ""]
    written = [proposal for out, _ in told for proposal in json.loads(out)]
    assert len(written) == len(set(written)) <= FACTS
    memory = Memory.open(tmp_path)
    assert Counter(notes_of(tmp_path)).keys() >= {one.note for one in handed}
    assert len(notes_of(tmp_path)) == FACTS + 3
    assert findings(memory.snapshot) == []
    assert memory.history.conflicts() == ()
    assert drift(memory, now=NOW + 10**7) == ()
    rows = database.reading.connection.execute("SELECT status, count(*) FROM graph_outbox GROUP BY status")
    assert [tuple(row) for row in rows] == [("done", FACTS)]
    audited = database.reading.connection.execute(
        "SELECT count(*), count(DISTINCT note_id) FROM history"
    ).fetchone()
    assert tuple(audited) == (FACTS, FACTS)
    database.close()
