"""From a submitted text to what came of it, and from a note back to its text, on the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from kits.scripted_model import ScriptedModel
from kits.service_kit import Clock, Failing, configure, drain, open_pipeline
from kits.writes_kit import fact, found

from core.pipeline.models.provider import ModelHttpError, Provider
from core.workspace import has_pipeline

TEXT = (
    "Anna moved the billing service to PostgreSQL. The office cat is called Turing.\nNothing else happened."
)
MOVED, CAT = "Anna moved the billing service to PostgreSQL.", "The office cat is called Turing."
Work = Callable[..., str]


@pytest.fixture
def worked(nuggets: Any) -> Work:
    """Submits a text, works on it, and gives its id."""

    def work(text: str = TEXT, *, settings: str = "", model: Provider | None = None) -> str:
        configure(nuggets.home, settings)
        with open_pipeline(nuggets.home, model, Clock()) as pipeline:
            done = pipeline.ingest(text, session="s-7", project="app")
            drain(pipeline)
        return done.raw_id

    return work


def test_a_text_is_shown_word_for_word_with_who_read_it_and_what_came_of_each_fact(
    nuggets: Any, worked: Work
) -> None:
    unsure = fact("Anna likes the new database.", 0.9)
    raw_id = worked(model=ScriptedModel([found(MOVED, CAT, unsure)]))
    told = nuggets.json("pipeline", "text", raw_id)
    assert (told["id"], told["status"], told["content"]) == (raw_id, "extracted", TEXT)
    assert (told["model"], told["session"], told["project"]) == ("scripted", "s-7", "app")
    assert told["promptVersion"].startswith("extract-")
    assert (told["unread"], told["duplicateOf"]) == ([], None)
    assert [(one["content"], one["status"]) for one in told["facts"]] == [
        (MOVED, "applied"), (CAT, "applied"), (unsure["content"], "review"),
    ]  # fmt: skip
    notes = {note["content"]: note["id"] for note in nuggets.notes()}
    assert told["facts"][0]["noteId"] == notes[MOVED]
    lines = nuggets.ok("pipeline", "text", raw_id)
    assert TEXT in lines
    assert "read   whole" in lines
    assert f"{MOVED}  written  {notes[MOVED]}" in lines
    assert f"{unsure['content']}  waits for you: " in lines


def test_a_text_is_named_by_its_job_and_by_the_start_of_its_id(nuggets: Any, worked: Work) -> None:
    raw_id = worked()
    (job,) = nuggets.json("pipeline", "jobs")
    digits = raw_id.removeprefix("raw-")
    for said in (str(job["id"]), raw_id[:12], digits):
        assert nuggets.json("pipeline", "text", said)["id"] == raw_id
    assert "no submitted text or job" in nuggets.fails("pipeline", "text", "raw-zzz", code=1)
    assert "no submitted text or job" in nuggets.fails("pipeline", "text", "9" * 40, code=1)
    assert "the id is empty" in nuggets.fails("pipeline", "text", " ", code=2)


def test_where_no_text_was_submitted_it_says_so_and_makes_nothing(nuggets: Any) -> None:
    assert "no text was submitted yet" in nuggets.fails("pipeline", "text", "1", code=1)
    assert not has_pipeline(nuggets.home)


def test_what_no_model_has_read_is_said_with_its_places_and_why(nuggets: Any, worked: Work) -> None:
    raw_id = worked(model=Failing(ModelHttpError("Ollama HTTP 400: bad", status=400)))
    told = nuggets.json("pipeline", "text", raw_id)
    assert (told["status"], told["unread"]) == ("failed", [{"start": 0, "end": len(TEXT)}])
    lines = nuggets.ok("pipeline", "text", raw_id)
    assert f"{len(TEXT)} of {len(TEXT)} characters are not read" in lines
    assert "Ollama HTTP 400: bad" in lines


def test_a_note_leads_back_to_its_sentence_the_fact_the_model_and_its_prompt(
    nuggets: Any, worked: Work
) -> None:
    raw_id = worked(model=ScriptedModel([found(MOVED, CAT)]))
    note = next(note for note in nuggets.notes() if note["content"] == CAT)
    told = nuggets.json("note", "origin", note["id"])
    assert (told["id"], told["madeBy"]) == (note["id"], "pipeline")
    assert (told["text"]["id"], told["text"]["sentence"], told["text"]["session"]) == (raw_id, CAT, "s-7")
    assert TEXT[slice(*told["text"]["span"])] == CAT
    assert (told["fact"]["content"], told["fact"]["decidedBy"]) == (CAT, "rule")
    assert told["fact"]["id"]
    assert told["fact"]["proposal"].startswith("proposal-")
    assert told["model"] == "scripted"
    assert told["promptVersion"].startswith("extract-")
    assert "created" in [row["event"] for row in told["history"]]
    lines = nuggets.ok("note", "origin", note["title"])
    assert f"text   {raw_id}" in lines
    assert "model  scripted extract-" in lines


def test_a_note_that_a_person_wrote_says_so_and_nothing_of_a_model(nuggets: Any) -> None:
    page = nuggets.json("note", "add", "Deploys", "make deploy")
    told = nuggets.json("note", "origin", page["id"])
    assert (told["text"], told["fact"], told["model"], told["history"]) == (None, None, None, [])
    assert "the pipeline did not make it" in nuggets.ok("note", "origin", page["id"])
    assert "no" in nuggets.fails("note", "origin", "nowhere", code=1)
