"""The whole way from a text to a note and what a person does to it, with a model that follows a script."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest
from kits.hostile import HOSTILE
from kits.memory_files import note_object, notes_of, write_graph
from kits.scripted_model import ScriptedModel

from core.graph.edits import edit_note
from core.model.change import PERSON
from core.pipeline.service import Pipeline
from core.pipeline.writes.following import drift


def _answer(prompt: str) -> dict[str, object]:
    """What stands between the last angle quotation marks of a text is its fact, and each fact is new."""
    if prompt.startswith("Decide what becomes"):
        return {"action": "add", "targetId": None, "confidence": 0.9, "reason": "It is new."}
    facts = re.findall("«(.+?)»", prompt, re.DOTALL)[-1:]
    return {
        "facts": [{"content": fact, "type": "decision", "confidence": 0.9} for fact in facts],
        "entities": [],
    }


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_graph(tmp_path, [note_object(0)])
    _mode(tmp_path, shadow=False)
    return tmp_path


@pytest.fixture
def pipeline(home: Path, clock: Callable[[], datetime]) -> Iterator[Pipeline]:
    with Pipeline.open(home, author=PERSON, clock=clock, provider=ScriptedModel(by_prompt=_answer)) as opened:
        yield opened


def _mode(home: Path, *, shadow: bool) -> None:
    settings = f"[pipeline]\nenabled = true\nshadowMode = {json.dumps(shadow)}\n[pipeline.extraction]\n"
    (home / "settings.toml").write_text(settings + 'provider = "ollama"\n', encoding="utf-8")


def _work(pipeline: Pipeline) -> None:
    while pipeline.tick().did_something:
        pass
    assert {job.status for job in pipeline.jobs() if job.type == "extract"} <= {"completed"}


def _made(home: Path) -> dict[str, str]:
    return {id: note["content"] for id, note in notes_of(home).items() if "origin" in note}


def test_a_note_leads_back_to_the_sentence_of_the_text_that_was_handed_in(
    pipeline: Pipeline, home: Path
) -> None:
    text = "Mo and I talked.\n\nIn the end «we chose PostgreSQL over MongoDB»  for the reports."
    raw = pipeline.ingest(text, project="/src/Billing", session="s1", author="agent:claude")
    _work(pipeline)
    [(id, content)] = _made(home).items()
    note = notes_of(home)[id]
    assert content == "we chose PostgreSQL over MongoDB"
    assert (note["type"], note["source"], note["confidence"]) == ("project", "inferred", 0.6)
    assert {"decision", "billing"} <= set(note["tags"])
    assert note["origin"]["memory"] == raw.raw_id
    origin = pipeline.origin(id)
    assert origin is not None
    assert (origin.raw_id, origin.content, origin.source_id) == (raw.raw_id, text, "s1")
    assert origin.span is not None
    assert "we chose PostgreSQL over MongoDB" in origin.content[slice(*origin.span)]
    assert "written" in [row.event for row in pipeline.history(id)]


def test_what_a_person_reworded_stays_as_it_is_when_the_former_words_come_again(
    pipeline: Pipeline, home: Path
) -> None:
    pipeline.ingest("It is said that «deploys run on Friday» here.")
    _work(pipeline)
    [id] = _made(home)
    pipeline.memory.change(
        "mine", lambda draft: edit_note(draft, id, content="Deploys run on Monday, since May.")
    )
    pipeline.ingest("Once more: «Deploys run on Friday.» as everybody knows.")
    _work(pipeline)
    assert _made(home) == {id: "Deploys run on Monday, since May."}


@pytest.mark.slow
@pytest.mark.parametrize("text", [text for text in HOSTILE if len(text.split()) < 200])
def test_any_text_comes_through_and_both_sides_agree(pipeline: Pipeline, home: Path, text: str) -> None:
    pipeline.ingest(f"Whatever stands here: «a value of {text} was seen» somewhere.")
    _work(pipeline)
    assert drift(pipeline.memory) == ()
    assert pipeline.memory.maintenance.verify() == ()
    made = pipeline.database.reading.connection.execute("SELECT count(*) FROM note_edits").fetchone()[0]
    assert len(_made(home)) == made


def waiting(pipeline: Pipeline, home: Path, *texts: str) -> list[str]:
    _mode(home, shadow=True)
    for text in texts:
        pipeline.ingest(f"It is said that «{text}» here.")
    _work(pipeline)
    return [each.id for each in pipeline.proposals()]


@pytest.mark.slow
def test_of_an_entry_undone_in_part_that_part_waits_again(pipeline: Pipeline, home: Path) -> None:
    ids = waiting(pipeline, home, "deploys run on Friday", "the kitchen is painted green")
    done = pipeline.accept(ids).change_set
    assert done is not None
    pipeline.memory.history.undo(f"{done.id}.1")
    assert pipeline.follow_undo() == 1
    assert len(pipeline.proposals()) == len(_made(home)) == 1
    assert pipeline.proposals()[0].content not in _made(home).values()
