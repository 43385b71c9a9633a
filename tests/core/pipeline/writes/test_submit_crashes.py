"""A program that is killed while it takes texts in: what it said was kept is whole, the rest is not there at all.

The number of kills at random moments is small here; NUGGETS_KILLS=200 makes it the full test.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from kits.forked import Forked, run

from core.pipeline.database.connection import Database
from core.pipeline.writes.submit import Submission, store_submission
from core.settings.pipeline_sections import PipelineConfiguration

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[4]
KILLS = int(os.environ.get("NUGGETS_KILLS", "10"))
TEXT = "Anna{0} chose PostgreSQL over MongoDB in src/app{0}.py. We met Bob and Carla{0}.\n"

# Takes texts in one after the other, every third one twice, and says so each time it is told that one is kept.
WRITER = """
import sys
from pathlib import Path
from core.settings.pipeline_sections import PipelineConfiguration
from core.pipeline.database.connection import Database
from core.pipeline.writes.submit import Submission, store_submission
database, text = Database.open(Path(sys.argv[1])), sys.argv[3]
print("ready", flush=True)
for turn in range(int(sys.argv[2]), 1 << 40):
    for again in range(1 + (turn % 3 == 0)):
        handed = Submission(text.format(turn), session=f"s{turn}", transcript=f"talk {turn}")
        store_submission(database, PipelineConfiguration(), handed, raw_id=f"raw-{turn:015x}{again}", now=turn)
    print(turn, flush=True)
"""

# Takes one text in again and again, each time in a process of its own that is killed right before its nth statement.
AT_STATEMENT = """
import itertools, os, signal, sys
from pathlib import Path
from core.settings.pipeline_sections import PipelineConfiguration
from core.pipeline.database.connection import Database
from core.pipeline.writes.submit import Submission, store_submission
def one(number):
    database, left = Database.open(Path(sys.argv[1])), iter(range(number))
    def step(statement):
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
    database.connect().set_trace_callback(step)
    handed = Submission(sys.argv[2].format(number))
    store_submission(database, PipelineConfiguration(), handed, raw_id=f"raw-{number:016x}", now=number)
for number in itertools.count():
    child = os.fork()
    if not child:
        one(number)
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        break
print(number)
"""


def _is_whole(home: Path) -> dict[str, str]:
    """Holds that nothing of any memory is left half done; the texts by id."""
    database = Database.open(home)
    reader = database.reading.connection
    assert database.notice == ""
    assert [tuple(row) for row in reader.execute("PRAGMA integrity_check")] == [("ok",)]
    assert not reader.execute("PRAGMA foreign_key_check").fetchall()
    texts = {row["id"]: row["content"] for row in reader.execute("SELECT id, content FROM raw_memories")}
    queued = {row["id"] for row in reader.execute("SELECT id FROM raw_memories WHERE status = 'queued'")}
    assert sorted(row["target"] for row in reader.execute("SELECT target FROM jobs")) == sorted(queued)
    mentions = reader.execute("SELECT target, count(*) FROM mentions GROUP BY target").fetchall()
    assert dict(map(tuple, mentions)) == dict.fromkeys(queued, 6)
    unnamed = "SELECT name FROM entities WHERE id NOT IN (SELECT entity_id FROM mentions)"
    assert not reader.execute(unnamed).fetchall()
    database.close()
    return texts


def test_a_program_killed_at_random_moments_loses_no_text_that_it_said_was_kept(tmp_path: Path) -> None:
    chance, turn, said = random.Random(7), 0, set[int]()
    for _ in range(KILLS):
        writer = Forked(
            [sys.executable, "-c", WRITER, str(tmp_path), str(turn), TEXT],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        for _ in range(chance.randrange(1, 30)):
            said.add(int(writer.stdout.readline()))
        writer.send_signal(signal.SIGKILL)
        rest, errors = writer.communicate()
        assert errors == ""
        said.update(map(int, rest.split()))
        texts = _is_whole(tmp_path)
        for number in said:
            assert texts[f"raw-{number:015x}0"] == TEXT.format(number)
            assert (f"raw-{number:015x}1" in texts) == (number % 3 == 0)
        # A turn that was cut off may be there already; the next begins behind it.
        turn = max(int(id[4:-1], 16) for id in texts) + 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that part")
def test_before_whichever_statement_a_program_is_killed_nothing_of_the_text_is_there(tmp_path: Path) -> None:
    told = run(
        [sys.executable, "-c", AT_STATEMENT, str(tmp_path), TEXT], cwd=ROOT, capture_output=True, text=True, check=True
    )  # fmt: skip
    last = int(told.stdout)
    assert last > 25
    assert _is_whole(tmp_path) == {f"raw-{last:016x}": TEXT.format(last)}


def test_a_writer_that_was_killed_leaves_the_next_one_free(tmp_path: Path) -> None:
    run(
        [sys.executable, "-c", _HOLDER, str(tmp_path)], cwd=ROOT, capture_output=True, check=False, timeout=60
    )
    database = Database.open(tmp_path, seconds=0.1)
    store_submission(database, PipelineConfiguration(), Submission(TEXT.format(1)), raw_id="raw-1", now=1)
    database.close()
    assert set(_is_whole(tmp_path)) == {"raw-1"}


_HOLDER = """
import os, signal, sys
from pathlib import Path
from core.pipeline.database.connection import Database
with Database.open(Path(sys.argv[1])).write() as writer:
    writer.execute("INSERT INTO meta VALUES ('half', 1)")
    os.kill(os.getpid(), signal.SIGKILL)
"""
