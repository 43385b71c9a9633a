"""Sessions: what happens in them is on the disk at once, becomes checkpoints in time, and comes back after a crash."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from kits.service_kit import Clock, configure, open_pipeline

from core.memory import Memory
from core.pipeline.database.sessions import Activity, is_due
from core.pipeline.session_events import SessionEvent
from core.pipeline.sessions import digest, duration
from core.workspace import Workspace

SECRET = "sk-proj-" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"
VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "vectors" / "checkpoints.json").read_text(encoding="utf-8")
)


def prompts(count: int, session: str = "s1", **more: Any) -> list[SessionEvent]:
    return [SessionEvent("prompt", session, texts=(f"prompt {number}",), **more) for number in range(count)]


def _merged(given: dict[str, Any], home: Path) -> dict[str, Any]:
    queue = [Activity().merged(Activity(one["prompts"], tuple(one["queries"]), tuple(one["remembers"])))
             for one in given["queue"]]  # fmt: skip
    first, second = queue
    done = first.merged(second)
    return {
        "prompt_count": done.prompts,
        "memory_queries": list(done.queries),
        "recent_remembers": list(done.remembers),
    }


def _remembers(given: dict[str, Any], home: Path) -> dict[str, Any]:
    first, second = (
        Activity(remembers=tuple(f"{part}-{number}" for number in range(count)))
        for part, count in enumerate(given["merge_remember_counts"])
    )
    kept = first.merged(second).remembers
    both = (*first.remembers, *second.remembers)
    return {"kept": len(kept), "which": "last" if kept == both[-len(kept) :] else "others"}


def _debounced(given: dict[str, Any], home: Path) -> dict[str, Any]:
    clock = Clock()

    def count() -> int:
        return sum(one.checkpoints for one in pipeline.sessions.all())

    with open_pipeline(home, clock=clock) as pipeline:
        pipeline.sessions.follow(*prompts(10))
        clock.forward(seconds=given["flush_delay_ms"] / 1000 - 0.001)
        pipeline.tick()
        before = count()
        clock.forward(seconds=0.001)
        pipeline.tick()
        return {"writes_before": before, "writes_after": count()}


def _capped(given: dict[str, Any], home: Path) -> dict[str, Any]:
    configure(home, f"[pipeline.continuity]\nmaxCheckpointsPerSession = {given['max_per_session']}")
    with open_pipeline(home) as pipeline:
        for number in range(given["written"]):
            pipeline.sessions.follow(
                SessionEvent("prompt", "s1", texts=(f"said {number}",)), SessionEvent("compaction", "s1")
            )
        found = pipeline.sessions.recover("s1", tokens=5_000)
    assert found is not None
    said = [number for number in range(given["written"]) if f"said {number}" in found.text]
    newest = list(range(given["written"]))[-found.count :]
    return {"kept": found.count, "order": "newest three" if said == newest else str(said)}


def _pruned(given: dict[str, Any], home: Path) -> dict[str, Any]:
    configure(home, f"[pipeline.continuity]\nretentionDays = {given['prune_days']}")
    clock = Clock()
    with open_pipeline(home, clock=clock) as pipeline:
        for age in given["ages_days"]:
            pipeline.sessions.checkpoint("Done.", session=f"of {age}")
        with sqlite3.connect(home / "nuggets.db") as connection:
            for age in given["ages_days"]:
                at = clock.ms - age * 86_400_000
                connection.execute(
                    "UPDATE checkpoints SET created_at = ? WHERE session_key = ?", (at, f"of {age}")
                )
        pipeline.sessions.follow(SessionEvent("start", "s1"))
        left = sum(one.checkpoints for one in pipeline.sessions.all())
    return {"deleted": len(given["ages_days"]) - left}


def _of_compaction(given: dict[str, Any], home: Path) -> str:
    made = Activity(context=given["pre_compaction"]["sessionContext"])
    return digest(made, cause="pre_compaction", project="", prompts=0, milliseconds=0, now=0)


def _periodic(given: dict[str, Any], home: Path) -> str:
    return digest(Activity(), cause="periodic", project="", prompts=0, milliseconds=0, now=0)


def _snippets(given: dict[str, Any], home: Path) -> dict[str, Any]:
    made = Activity()
    for number in range(given["snippets_recorded"]):
        made = made.merged(Activity(1, snippets=(f"prompt {number}", "  ")))
    return {"kept": len(made.snippets), "first": made.snippets[0], "last": made.snippets[-1]}


def _length(given: dict[str, Any], home: Path) -> dict[str, Any]:
    made = Activity().merged(Activity(1, snippets=("x" * given["snippet_length"],)))
    return {"stored_length": len(made.snippets[0])}


def _recovery(given: dict[str, Any], home: Path) -> dict[str, Any]:
    long = "word " * (given["recovery"]["digest_length"] // 5)
    with open_pipeline(home) as pipeline:
        pipeline.sessions.follow(
            SessionEvent("edit", "s1", texts=("src/app.py",)),
            *[SessionEvent("prompt", "s1", texts=(long,))] * 3,
        )
        found = pipeline.sessions.recover("s1", tokens=given["recovery"]["budget"] // 4)
    assert found is not None
    assert "- src/app.py" in found.text
    assert found.text.endswith("[… cut to the budget]")
    return {
        "max_length": given["recovery"]["budget"] if len(found.text) <= given["recovery"]["budget"] else -1
    }


def _due(given: dict[str, Any], home: Path) -> bool:
    asked = given["should_checkpoint"]
    return is_due(asked["elapsed_ms"], asked["prompts"], interval=900_000, prompt_interval=10)


def _duration(given: dict[str, Any], home: Path) -> str:
    return duration(given["duration_min"] * 60_000)


WAYS: dict[str, Callable[[dict[str, Any], Path], Any]] = {
    "queue": _merged, "merge_remember_counts": _remembers, "flush_delay_ms": _debounced, "max_per_session": _capped,
    "prune_days": _pruned, "duration_min": _duration, "pre_compaction": _of_compaction, "periodic": _periodic,
    "snippets_recorded": _snippets, "snippet_length": _length, "recovery": _recovery, "should_checkpoint": _due,
}  # fmt: skip


@pytest.mark.parametrize("vector", VECTORS, ids=[one["id"] for one in VECTORS])
def test_checkpoints_come_out_as_the_vectors_say(vector: dict[str, Any], tmp_path: Path) -> None:
    given, expected = vector["input"], vector["expected"]
    done = WAYS[next(iter(given))](given, tmp_path / "memory")
    if isinstance(done, str) and isinstance(expected, dict):
        assert all(part in done for part in expected.get("digest_contains", ()))
        assert not any(part in done for part in expected.get("digest_lacks", ()))
    else:
        assert done == expected


def test_the_end_of_a_session_tells_of_all_of_it_and_the_next_start_opens_it_again(tmp_path: Path) -> None:
    clock = Clock()
    with open_pipeline(tmp_path, clock=clock) as pipeline:
        pipeline.sessions.follow(*prompts(3, project="app"), SessionEvent("compaction", "s1"))
        clock.forward(minutes=65)
        (kept,) = pipeline.sessions.follow(*prompts(1), SessionEvent("end", "s1"))
        assert kept.cause == "session_end"
        assert "project app, 4 prompts in 1h 5m" in kept.digest
        assert pipeline.sessions.follow(SessionEvent("end", "s1")) == ()
        assert [one.ended for one in pipeline.sessions.all()] == [clock.ms]
        pipeline.sessions.follow(*prompts(1))
        assert [(one.ended, one.prompts) for one in pipeline.sessions.all()] == [(None, 5)]


def test_an_event_that_is_handed_in_twice_counts_once(tmp_path: Path) -> None:
    with open_pipeline(tmp_path) as pipeline:
        for _ in range(2):
            pipeline.sessions.follow(*(one._replace(mark=place + 1) for place, one in enumerate(prompts(3))))
        assert [one.prompts for one in pipeline.sessions.all()] == [3]


def test_an_agents_checkpoint_takes_along_what_happened_and_begins_anew(tmp_path: Path) -> None:
    with open_pipeline(tmp_path) as pipeline:
        pipeline.sessions.follow(*prompts(2), SessionEvent("recall", "s1", texts=("which port?",)))
        pipeline.sessions.checkpoint("Half done.", session="s1")
        found = pipeline.sessions.recover("s1")
        assert found is not None
        assert "Half done." in found.text
        assert "- prompt 1" in found.text
        assert "which port?" in found.text
        assert [one.pending for one in pipeline.sessions.all()] == [False]


def test_what_a_beginning_session_does_is_not_what_it_picks_up(tmp_path: Path) -> None:
    clock = Clock()
    with open_pipeline(tmp_path, clock=clock) as pipeline:
        pipeline.sessions.follow(*prompts(2, "crashed", project="app"))
        clock.forward(minutes=5)
        pipeline.sessions.follow(*prompts(1, "new", project="app"))
        assert pipeline.sessions.recover("new", asking="new") is None
        found = pipeline.sessions.recover(project="app", asking="new")
        assert found is not None
        assert found.session == "crashed"


@pytest.mark.slow
def test_what_happened_outlives_a_kill_before_its_checkpoint_is_due(tmp_path: Path) -> None:
    code = (
        "import os, sys\nfrom core.pipeline.service import Pipeline\n"
        "from core.pipeline.session_events import SessionEvent\n"
        "pipeline = Pipeline.open(sys.argv[1])\n"
        "pipeline.sessions.follow(*[SessionEvent('prompt', 's1', texts=(f'said {n}',)) for n in range(10)])\n"
        "os.kill(os.getpid(), 9)\n"
    )
    root = Path(__file__).parents[3]
    assert subprocess.run([sys.executable, "-c", code, tmp_path], cwd=root, check=False).returncode == -9
    with open_pipeline(tmp_path, clock=Clock()) as pipeline:
        found = pipeline.sessions.recover("s1")
        assert found is not None
        assert "said 9" in found.text
        assert [(one.checkpoints, one.pending) for one in pipeline.sessions.all()] == [(0, True)]


def test_no_event_keeps_a_credential_and_what_got_in_is_found_and_masked(tmp_path: Path) -> None:
    with open_pipeline(tmp_path) as pipeline:
        for kind in ("prompt", "recall", "remember", "edit", "context"):
            pipeline.sessions.follow(
                SessionEvent(kind, "s1", project=f"https://me:{SECRET}@h/p", texts=(SECRET,))
            )
    held = b"".join(path.read_bytes() for path in tmp_path.glob("nuggets.db*"))
    assert SECRET.encode() not in held
    with closing(sqlite3.connect(tmp_path / "nuggets.db")) as connection:
        connection.execute(
            "UPDATE sessions SET activity = ?", (json.dumps(Activity(1, (f"key {SECRET}",))._asdict()),)
        )
        connection.commit()
    workspace = Workspace(Memory.open(tmp_path))
    assert [holder.id for holder in workspace.secrets()] == ["pending s1"]
    masking = workspace.masking(["pending s1"])
    workspace.mask_secrets(masking)
    assert workspace.memory.secrets.left(masking) == ()
    assert SECRET.encode() not in b"".join(path.read_bytes() for path in tmp_path.glob("nuggets.db*"))
    with open_pipeline(tmp_path) as pipeline:
        assert [one.pending for one in pipeline.sessions.all()] == [True]


def test_switched_off_nothing_is_followed_but_what_an_agent_says_is_kept(tmp_path: Path) -> None:
    configure(tmp_path, "[pipeline.continuity]\nenabled = false")
    with open_pipeline(tmp_path) as pipeline:
        assert pipeline.sessions.follow(*prompts(20), SessionEvent("end", "s1")) == ()
        assert pipeline.sessions.all() == ()
        pipeline.sessions.checkpoint("Done.", session="s1")
        assert [one.checkpoints for one in pipeline.sessions.all()] == [1]


def test_a_command_that_says_no_name_leaves_a_session_to_its_agent(tmp_path: Path) -> None:
    with open_pipeline(tmp_path) as pipeline:
        for author in ("agent:claude", "agent:command line", "agent:codex", "agent:command line"):
            pipeline.sessions.follow(SessionEvent("prompt", "s1", author=author, texts=("hi",)))
        assert [one.author for one in pipeline.sessions.all()] == ["agent:codex"]
