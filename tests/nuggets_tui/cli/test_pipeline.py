"""The pipeline on the command line: how it stands, its jobs, and proposals that are accepted or refused."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kits.scripted_model import Line, ScriptedModel
from kits.service_kit import Clock, Failing, configure, drain, open_pipeline
from kits.writes_kit import decision, fact, found

from core.pipeline.models.provider import ModelHttpError, Provider
from core.pipeline.service import Pipeline

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


def contents(nuggets: Any) -> list[str]:
    return [note["content"] for note in nuggets.notes()] if nuggets.graph.exists() else []


def shown(nuggets: Any) -> list[str]:
    return [note["content"] for note in nuggets.notes() if not note.get("archivedAt")]


def test_where_nothing_was_handed_in_it_says_how_to_start_and_makes_nothing(nuggets: Any) -> None:
    assert "nuggets ingest" in nuggets.ok("pipeline")
    assert nuggets.json("pipeline", "jobs") == nuggets.json("pipeline", "proposals") == []
    assert "no text was submitted yet" in nuggets.fails("pipeline", "accept", "x", code=1)
    assert not Pipeline.exists(nuggets.home)


def test_status_tells_the_light_counts_and_the_model(nuggets: Any, worked: Worked) -> None:
    worked(FIRST, settings="[pipeline.worker]\nmaxRetries = 99")
    told = nuggets.json("pipeline", "status")
    assert (told["light"], told["mode"], told["raw"], told["facts"]) == ("idle", "controlled-write", 1, 1)
    assert told["jobs"] == {"completed": 1}
    assert (told["paused"], told["running"]) == (False, None)
    assert told["provider"]["budget"] == 2_000
    assert len(told["warnings"]) == 1
    lines = nuggets.ok("pipeline")
    assert lines.startswith("idle  nothing to do\n")
    assert "worker.max_retries" in lines


@pytest.mark.parametrize(("fallback", "light"), [("none", "off"), ("ollama", "working")])
def test_a_provider_that_is_never_asked_is_said_before_and_while_a_text_waits(
    nuggets: Any, fallback: str, light: str
) -> None:
    lines = f'[pipeline.extraction]\nprovider = "opencode"\nfallback_provider = "{fallback}"'
    configure(nuggets.home, lines)
    nuggets.json("ingest", "-", input=FIRST)
    told = nuggets.json("pipeline")
    assert (told["light"], told["jobs"], told["warningCodes"]) == (light, {"pending": 1}, ["not_used"])
    assert ('"claude-code"' in told["why"]) is (light == "off")
    checks = {one["name"]: one["state"] for one in nuggets.json("doctor", code=1)["checks"]}
    assert checks["setting-not_used"] == "wrong"


def test_a_job_is_listed_with_why_it_failed_and_is_tried_again(nuggets: Any, worked: Worked) -> None:
    worked(FIRST, model=Failing(ModelHttpError("Ollama HTTP 400: bad", status=400)))
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


def test_proposals_come_with_their_sentence_and_are_accepted_by_id(nuggets: Any, worked: Worked) -> None:
    worked(f"{FIRST} {SECOND}", settings="shadowMode = true")
    listed = nuggets.json("pipeline", "proposals")
    assert {one["sentence"] for one in listed} == {FIRST, SECOND}
    chosen = next(one for one in listed if one["content"] == FIRST)
    assert f"from: {FIRST}" in nuggets.ok("pipeline", "proposals")
    done = nuggets.json("pipeline", "accept", chosen["id"])
    assert (done["written"], done["skipped"]) == ([chosen["id"]], [])
    assert contents(nuggets) == [FIRST]
    nuggets.ok("undo", done["changeSet"])
    assert contents(nuggets) == []
    # Undone, it waits again.
    assert nuggets.json("pipeline", "accept", chosen["id"])["written"] == [chosen["id"]]
    assert contents(nuggets) == [FIRST]
    again = nuggets.json("pipeline", "accept", chosen["id"], code=1)
    assert again["skipped"][0]["why"].startswith("already decided")


def test_an_agent_accepts_nothing_and_the_proposal_waits(
    nuggets: Any, worked: Worked, monkeypatch: pytest.MonkeyPatch
) -> None:
    worked(FIRST, settings="shadowMode = true")
    (waiting,) = nuggets.json("pipeline", "proposals")
    with monkeypatch.context() as agent:
        agent.setenv("CLAUDECODE", "1")
        for chosen in ([waiting["id"]], ["--above", "0.1", "--yes"]):
            nuggets.fails("pipeline", "accept", *chosen)
        # Whoever only looks may.
        assert nuggets.json("pipeline", "accept", waiting["id"], "--dry-run")[0]["id"] == waiting["id"]
    assert nuggets.json("pipeline", "proposals") == [waiting]
    assert nuggets.json("pipeline", "accept", waiting["id"])["written"] == [waiting["id"]]


def test_all_above_a_confidence_are_accepted_at_once_and_can_be_looked_at_before(
    nuggets: Any, worked: Worked
) -> None:
    from kits.scripted_model import ScriptedModel

    sure, unsure = fact(FIRST, 0.9), fact(SECOND, 0.4)
    worked(f"{FIRST} {SECOND}", settings="shadowMode = true", model=ScriptedModel([found(sure, unsure)]))
    assert [one["content"] for one in nuggets.json("pipeline", "accept", "--above", "0.8", "--dry-run")] == [
        FIRST
    ]
    assert contents(nuggets) == []
    assert nuggets.ok("pipeline", "accept", "--above", "0.8").startswith("Wrote 1 note.")
    assert contents(nuggets) == [FIRST]
    assert nuggets.ok("pipeline", "accept", "--above", "0.8") == "Nothing to accept.\n"


@pytest.mark.slow
def test_a_refusal_is_undone_and_redone_by_the_next_commands_and_stands_in_the_log(
    nuggets: Any, worked: Worked
) -> None:
    worked(FIRST, SECOND, settings="shadowMode = true")
    ids = [one["id"] for one in nuggets.json("pipeline", "proposals")]
    done = nuggets.json("pipeline", "refuse", *ids)
    assert done["refused"] == 2
    [entry] = nuggets.json("log")
    assert (entry["id"], entry["kind"], entry["changes"]) == (done["changeSet"], "decision", [])
    assert nuggets.json("log", "--kind", "decision") == [entry]
    assert "decided: refused 2 proposals" in nuggets.ok("log")
    assert "Undid: refused 2 proposals" in nuggets.ok("undo")
    assert len(nuggets.json("pipeline", "proposals")) == 2
    assert "Redid: refused 2 proposals" in nuggets.ok("redo")
    assert nuggets.json("pipeline", "proposals") == []
    assert f"nuggets redo {entry['id']}" in nuggets.ok("undo", entry["id"])
    assert "already undone" in nuggets.fails("undo", entry["id"])
    assert len(nuggets.json("pipeline", "proposals")) == 2
    assert nuggets.fails("undo", code=1)


def test_a_pause_holds_for_every_process_until_it_ends(nuggets: Any, worked: Worked) -> None:
    worked()
    assert nuggets.json("pipeline", "pause", "--wait", "0") == {"running": []}
    worked(FIRST)
    assert nuggets.json("pipeline")["light"] == "paused"
    assert contents(nuggets) == []
    assert nuggets.json("pipeline", "resume") == {"resumed": True}
    assert nuggets.json("pipeline", "resume") == {"resumed": False}
    worked()
    assert contents(nuggets) == [FIRST]
    assert nuggets.ok("pipeline", "pause", "--wait", "0") == "Paused.  nuggets pipeline resume\n"


@pytest.mark.parametrize(
    "asked", [["accept"], ["accept", "x", "--above", "0.5"], ["retry"], ["retry", "1", "--all"], ["refuse"]]
)
def test_a_command_that_says_too_little_or_too_much_is_bad_input(
    nuggets: Any, worked: Worked, asked: list[str]
) -> None:
    worked()
    nuggets.fails("pipeline", *asked)


@pytest.mark.slow
def test_proposals_are_named_by_the_beginning_of_their_id_or_by_their_text(
    nuggets: Any, worked: Worked
) -> None:
    worked(FIRST, SECOND, "Ben waters the plants on Mondays.", settings="shadowMode = true")
    one, two, three = (each["id"] for each in nuggets.json("pipeline", "proposals"))
    assert "give more of the id" in nuggets.fails("pipeline", "accept", "proposal-", code=2)
    length = next(n for n in range(1, 17) if len({each[9 : 9 + n] for each in (one, two, three)}) == 3)
    assert nuggets.json("pipeline", "accept", one[: 9 + length])["written"] == [one]
    assert nuggets.json("pipeline", "refuse", two[9 : 9 + length])["refused"] == 1
    (left,) = nuggets.json("pipeline", "proposals")
    assert nuggets.json("pipeline", "accept", left["content"], left["id"])["written"] == [three]
    assert nuggets.json("pipeline", "proposals") == []


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


@pytest.mark.slow
def test_a_removed_text_hides_its_notes_and_comes_back_by_undo_or_by_its_id(
    nuggets: Any, worked: Worked
) -> None:
    worked(f"{FIRST} {SECOND}")
    (job,) = nuggets.json("pipeline", "jobs")
    planned = nuggets.json("pipeline", "remove", str(job["id"]), "--dry-run")
    assert planned["dryRun"]
    assert "will be hidden" in nuggets.ok("pipeline", "remove", str(job["id"]), "--dry-run")
    done = nuggets.json("pipeline", "remove", str(job["id"]))
    assert (done["id"], done["notes"]) == (planned["id"], planned["notes"])
    assert (done["id"], len(done["notes"])) == (job["target"], 2)
    assert shown(nuggets) == []
    told = nuggets.json("pipeline", "text", done["id"])
    assert (told["content"], told["deletedAt"]) == (f"{FIRST} {SECOND}", None)
    assert "removed on 20" in nuggets.ok("pipeline", "text", done["id"])
    assert "removed already" in nuggets.fails("pipeline", "remove", done["id"], code=1)
    back = nuggets.json("pipeline", "restore", done["id"])
    assert back["notes"] == done["notes"]
    assert shown(nuggets) == [FIRST, SECOND]
    assert "was not removed" in nuggets.fails("pipeline", "restore", done["id"], code=1)
    nuggets.ok("pipeline", "remove", done["id"])
    nuggets.ok("undo")
    assert shown(nuggets) == [FIRST, SECOND]
    assert nuggets.json("verify")["findings"] == []


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
    assert shown(nuggets) == [FIRST]
