"""The pipeline on the command line: how it stands, its jobs, and proposals that are accepted or refused."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kits.scripted_model import Line, ScriptedModel
from kits.service_kit import Clock, configure, drain, open_pipeline
from kits.writes_kit import decision, found

from core.pipeline.models.provider import ModelHttpError, Provider

FIRST, SECOND = "Anna moved the billing service to PostgreSQL.", "The office cat is called Turing."


@pytest.fixture
def worked(nuggets: Any) -> Iterator[Callable[..., None]]:
    """Hands texts in and works on them."""

    def work(*texts: str, settings: str = "", model: Provider | None = None) -> None:
        configure(nuggets.home, settings)
        with open_pipeline(nuggets.home, model, Clock()) as pipeline:
            for text in texts:
                pipeline.ingest(text)
            drain(pipeline)

    return work  # type: ignore[return-value]


Worked = Callable[..., None]


def test_a_job_is_listed_with_why_it_failed_and_is_tried_again(nuggets: Any, worked: Worked) -> None:
    worked(FIRST, model=ScriptedModel(always=ModelHttpError("Ollama HTTP 400: bad", status=400)))
    (job,) = nuggets.json("pipeline", "jobs", "--status", "dead")
    assert (job["errorClass"], job["attempts"], job["maxAttempts"]) == ("bad_request", 1, 3)
    assert "Ollama HTTP 400: bad" in nuggets.ok("pipeline", "jobs")
    told = nuggets.ok("pipeline", "status")
    assert told.startswith("stuck  ")
    assert "why: nuggets pipeline jobs --status dead; try again: nuggets pipeline retry ID" in told
    assert nuggets.json("pipeline", "retry", str(job["id"])) == {"retried": 1}
    assert [one["status"] for one in nuggets.json("pipeline", "jobs")] == ["pending"]
    assert "no such job" in nuggets.fails("pipeline", "retry", "999", code=1)
    assert nuggets.json("pipeline", "retry", "--all") == {"retried": 0}


OLD, NEW = "The team uses PostgreSQL as its database", "The team moved its database to CockroachDB"


@pytest.fixture
def changed(nuggets: Any) -> str:
    """A fact that is a note, and a text that says otherwise; the id of the proposal."""
    configure(nuggets.home)
    script: list[Line] = [found(OLD), found(NEW), decision("update", "C1")]
    with open_pipeline(nuggets.home, ScriptedModel(script), Clock()) as pipeline:
        for text in (OLD, NEW):
            pipeline.ingest(f"{text}.")
            drain(pipeline)
        (waiting,) = pipeline.proposals()
        return waiting.id


def found_titles(nuggets: Any) -> set[str]:
    return {hit["title"] for hit in nuggets.json("search", "team database")}


@pytest.mark.slow
def test_a_changed_fact_is_taken_and_taken_back_in_one_command_each(nuggets: Any, changed: str) -> None:
    accepted = nuggets.json("pipeline", "accept", changed)
    assert (accepted["written"], accepted["skipped"]) == ([changed], [])
    assert found_titles(nuggets) == {NEW}
    assert nuggets.json("pipeline", "proposals") == []
    assert nuggets.json("verify")["findings"] == []
    nuggets.ok("undo", accepted["changeSet"])
    assert [one["id"] for one in nuggets.json("pipeline", "proposals")] == [changed]
    assert found_titles(nuggets) == {OLD}
    nuggets.ok("redo")
    assert nuggets.json("pipeline", "proposals") == []
    assert nuggets.json("verify")["findings"] == []


@pytest.mark.slow
def test_accepting_all_above_a_confidence_says_which_changes_it_leaves_and_how_to_take_them(
    nuggets: Any, changed: str
) -> None:
    for asked in (["--dry-run"], []):
        told = nuggets.ok("pipeline", "accept", "--above", "0", *asked)
        assert "1 change of a note waits for you, old and new: nuggets pipeline proposals" in told
        assert f"nuggets pipeline accept {changed}" in told
    assert nuggets.json("pipeline", "accept", "--above", "0")["changesLeft"] == [changed]
    assert nuggets.json("pipeline", "accept", changed)["changesLeft"] == []
    assert "waits for you" not in nuggets.ok("pipeline", "accept", "--above", "0")


def test_a_sweep_says_what_it_deletes_and_a_dry_run_deletes_nothing(nuggets: Any, worked: Worked) -> None:
    worked(FIRST)
    assert nuggets.ok("pipeline", "sweep") == "Nothing is old enough to be deleted.\n"
    with sqlite3.connect(nuggets.home / "nuggets.db") as database:
        database.execute("UPDATE jobs SET completed_at = 0")
    rehearsal = nuggets.json("pipeline", "sweep", "--dry-run")
    assert (rehearsal["dryRun"], rehearsal["deleted"]["completedJobs"]) == (True, 1)
    assert nuggets.ok("pipeline", "sweep", "--dry-run").startswith("Would delete:\n1  finished job")
    done = nuggets.json("pipeline", "sweep")
    assert done == rehearsal | {"dryRun": False}
    assert nuggets.json("pipeline", "jobs") == []
    assert [note["content"] for note in nuggets.notes()] == [FIRST]
