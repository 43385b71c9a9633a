"""`nuggets pipeline health` and `maintain`: what is wrong in plain words, what would be done, and what was done."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from kits.health_kit import drop_from_index, kill_jobs
from kits.service_kit import Clock, configure, drain, open_pipeline

from core.pipeline.service import Pipeline
from core.storage.database import VERSION


@pytest.fixture
def pipeline(nuggets: Any) -> Iterator[Pipeline]:
    with closing(open_pipeline(nuggets.home, clock=Clock())) as opened:
        opened.ingest("Anna moved the staging cluster to Frankfurt.")
        drain(opened)
        yield opened


def test_what_is_wrong_is_said_with_what_to_do_and_ends_with_1(nuggets: Any, pipeline: Pipeline) -> None:
    kill_jobs(pipeline, Clock())
    with pipeline.database.write() as writer:
        drop_from_index(writer)
    told = nuggets.json("pipeline", "health", code=1)
    assert told["status"] == "degraded"
    assert [one["action"] for one in told["recommendations"]] == ["requeueDeadJobs", "checkFtsConsistency"]
    lines = nuggets("pipeline", "health").stdout
    assert "3 jobs failed for good." in lines
    assert "1 row cannot be found by their words." in lines
    assert "nuggets pipeline maintain --dry-run" in lines


@pytest.mark.slow
def test_a_dry_run_lists_each_thing_and_changes_nothing_and_the_run_does_just_that(
    nuggets: Any, pipeline: Pipeline
) -> None:
    ids = kill_jobs(pipeline, Clock())
    for _ in range(2):
        [plan] = nuggets.json("pipeline", "maintain", "--dry-run")
        assert [one["target"] for one in plan["repairs"]] == [str(id) for id in ids]
    assert "job 2 is tried again: Rack 0 of parse holds server 3. (parse)" in nuggets.ok(
        "pipeline", "maintain", "--dry-run"
    )
    [run] = nuggets.json("pipeline", "maintain")
    assert (run["action"], run["status"], run["did"]) == ("requeueDeadJobs", "done", 3)
    assert "Nothing is recommended." in nuggets.ok("pipeline", "maintain")


def test_no_retry_is_recommended_where_none_can_help_and_the_dead_jobs_still_count(
    nuggets: Any, pipeline: Pipeline
) -> None:
    kill_jobs(pipeline, Clock(), error_class="not_found")
    told = nuggets.json("pipeline", "health", code=1)
    assert (told["status"], told["recommendations"]) == ("degraded", [])
    assert next(one for one in told["domains"] if one["name"] == "queue")["problems"] == ["jobs_lost"]
    lines = nuggets("pipeline", "health").stdout
    assert "3 jobs failed for good: another try would end the same, or was made already." in lines
    assert "nuggets pipeline jobs --status dead" in lines
    assert nuggets.ok("pipeline", "maintain") == "Nothing is recommended.\n"
    # One that may help is.
    kill_jobs(pipeline, Clock(), count=1)
    told = nuggets.json("pipeline", "health", code=1)
    assert [one["action"] for one in told["recommendations"]] == ["requeueDeadJobs"]


def test_what_a_newer_version_wrote_is_not_called_healthy(nuggets: Any, pipeline: Pipeline) -> None:
    pipeline.close()
    with closing(sqlite3.connect(nuggets.home / "nuggets.db", isolation_level=None)) as newer:
        newer.execute(f"PRAGMA user_version = {VERSION + 1}")
    before = (nuggets.home / "nuggets.db").read_bytes()
    assert "newer than nuggets-tui supports" in nuggets.fails("pipeline", "health")
    assert (nuggets.home / "nuggets.db").read_bytes() == before
    assert "newer than nuggets-tui supports" in nuggets("doctor").stdout


def test_doctor_names_an_unhealthy_pipeline_and_settings_that_are_reserved(
    nuggets: Any, pipeline: Pipeline
) -> None:
    kill_jobs(pipeline, Clock())
    configure(nuggets.home, "telemetryEnabled = true")
    document = json.loads(nuggets("doctor", "--json").stdout)
    checks = {one["name"]: one for one in document["checks"] if one["section"] in ("pipeline", "settings")}
    assert checks["health"]["state"] == "note"
    assert checks["queue"]["state"] == "wrong"
    assert not document["ok"]
    nuggets.json("doctor", code=1)
    assert checks["health"]["todo"] == "nuggets pipeline health"
    assert checks["setting-reserved"]["state"] == "note"
    assert "todo" not in checks["setting-reserved"]
    assert "telemetryEnabled" in checks["setting-reserved"]["what"]
    status = nuggets.json("pipeline", "status")
    assert status["warningCodes"] == ["reserved"]
    assert "telemetryEnabled" in nuggets.ok("pipeline")
