"""Hints: a model's questions find a note by other words, and go when the note says something else."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from kits.scripted_model import ScriptedModel

from core.errors import NotFoundError
from core.graph.edits import create_note, edit_note
from core.memory import Memory
from core.model.draft import Draft
from core.pipeline.database.connection import Database
from core.pipeline.models.provider import Answer, ModelUnavailableError
from core.pipeline.service import Pipeline
from core.pipeline.signals import hint_signal
from core.pipeline.workers.hints_job import parse_hints, shown_windows
from core.settings.pipeline_sections import PipelineConfiguration
from core.workspace import open_memory

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "recall.json").read_text())
SETTINGS = "[pipeline.hints]\nenabled = true\nmax = 2\n"
ANSWER = (
    "1. Which service receives payments?\n- Who handles payments now?\n"
    "which service receives payments?\nWhat is the weather?"
)


@pytest.mark.parametrize("vector", VECTORS["hints_parse"], ids=lambda vector: vector["id"])
def test_vectors_of_reading_hints(vector: dict[str, Any]) -> None:
    text = vector["input"].replace("<300 x>", "x" * 300)
    assert list(parse_hints(text, 20)) == vector["expected"]


@pytest.mark.parametrize("vector", VECTORS["hints_merge"], ids=lambda vector: vector["id"])
def test_vectors_of_merging_hints(vector: dict[str, Any]) -> None:
    content, hint = vector["input"]["content"], vector["input"]["hint"]
    score = content or 0.0
    if hint is not None:
        score = hint_signal("", hint, alone=content is None).applied(score)
    assert score == pytest.approx(vector["expected"]["score"])


def test_no_more_than_were_asked_for_none_about_something_else_and_a_statement_is_no_question() -> None:
    assert parse_hints(ANSWER, 2, "Acme: payments go to the Acme service") == (
        "Which service receives payments?",
        "Who handles payments now?",
    )
    assert parse_hints(ANSWER, 20, "about the disk") == ()
    assert parse_hints("Issue tracker is at port 8080", 5) == ()
    assert hint_signal("", 0.9, alone=True).applied(0.0) == 0.75


def drained(home: Path, memory: Memory, model: ScriptedModel) -> None:
    with Pipeline.open(home, memory=memory, provider=model) as pipeline:
        for _ in range(20):
            if not pipeline.tick().did_something:
                break


def asked_free(database: Path) -> None:
    """A second writer gets in while the model is asked."""
    other = Database.open(database, seconds=0.0)
    with other.write() as writer:
        writer.meta.put("asked", 1)
    other.close()


def test_a_note_is_found_by_the_words_of_a_hint_until_it_says_something_else(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text(SETTINGS)
    memory = open_memory(tmp_path)

    def build(draft: Draft) -> None:
        create_note(draft, "shop", "Acme", "All payments go through Acme.")
        create_note(draft, "shop", "Disk", "The disk is full.")

    memory.change("written", build)
    (note,) = [note for note in memory.snapshot.notes if note.title == "Acme"]

    def answered(prompt: str) -> str:
        asked_free(tmp_path)
        return ANSWER if "Acme" in prompt else "nothing"

    model = ScriptedModel(by_prompt=answered)
    drained(tmp_path, memory, model)
    assert len(model.prompts) == 2
    with closing(Database.open(tmp_path)) as database:
        assert database.reading.hints.of_note(note.id) == (
            "Which service receives payments?",
            "Who handles payments now?",
        )
    found = memory.search.result("service receives")
    assert [hit.note.id for hit in found.hits] == [note.id]
    (told,) = [one for one in found.hits[0].breakdown.reasons if one.line == "signals"]
    assert (told.kind, told.found) == ("hint", "Which service receives payments?")
    (tmp_path / "settings.toml").write_text("")
    assert [hit.note.id for hit in memory.search("service receives")] == []
    (tmp_path / "settings.toml").write_text(SETTINGS)
    memory.change("edited", lambda draft: edit_note(draft, note.id, content="Payments stopped at Acme."))
    drained(tmp_path, memory, model)
    assert len(model.prompts) == 3


def test_hints_are_made_also_where_names_are_not_looked_for(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text(f"{SETTINGS}[pipeline.graph]\nenabled = false\n")
    memory = open_memory(tmp_path)
    memory.change("written", lambda draft: create_note(draft, "shop", "Acme", "The Acme service pays."))
    (note,) = memory.snapshot.notes
    drained(tmp_path, memory, ScriptedModel(by_prompt=lambda _: "Which service receives payments?"))
    with Pipeline.open(tmp_path, memory=memory) as pipeline:
        assert pipeline.hints(note.id).hints == ("Which service receives payments?",)
    assert [hit.note.id for hit in memory.search("which service receives payments")] == [note.id]


def test_an_outage_keeps_the_job(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text(SETTINGS)
    memory = open_memory(tmp_path)
    memory.change("written", lambda draft: create_note(draft, "shop", "Acme", "All payments go to Acme."))

    def away(prompt: str) -> Any:
        return ModelUnavailableError("no connection")

    with Pipeline.open(tmp_path, memory=memory, provider=ScriptedModel(by_prompt=away)) as pipeline:
        for _ in range(6):
            pipeline.tick()
        assert [job.status for job in pipeline.jobs() if job.type == "hints"] == ["pending"]


def test_a_long_note_is_shown_in_windows_spread_over_all_of_it_and_a_short_one_whole(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text(
        "[pipeline.hints]\nenabled = true\nmax = 3\n"
        "[pipeline.guardrails]\nmax_content_chars = 120\nchunk_target_chars = 60\n"
    )
    memory = open_memory(tmp_path)
    names = [f"service{number}" for number in range(12)]
    long = " ".join(f"The {name} listens on its own port today." for name in names)
    memory.change("written", lambda draft: create_note(draft, "shop", "Ports", long))

    def asked(prompt: str) -> str:
        shown = prompt.partition("<note>")[2]
        said = [name for name in names if f"{name} " in shown]
        return "\n".join(f"Where does {name} listen?" for name in said)

    model = ScriptedModel(by_prompt=asked)
    drained(tmp_path, memory, model)
    windows = [prompt.partition("<note>\n")[2].partition("\n</note>")[0] for prompt in model.prompts]
    assert len(windows) == 3
    assert max(map(len, windows)) <= 60
    shown = [next(number for number, name in enumerate(names) if f"{name} " in window) for window in windows]
    assert [number // 4 for number in shown] == [0, 1, 2]
    (note,) = memory.snapshot.notes
    with closing(Database.open(tmp_path)) as database:
        assert len(database.reading.hints.of_note(note.id)) == 3
    configuration = PipelineConfiguration()
    assert shown_windows("short", configuration) == ("short",)
    assert shown_windows("x" * 500, configuration) == ("x" * 500,)


def test_a_removed_hint_finds_its_note_no_more_until_it_is_undone_also_when_hints_are_made_again(
    tmp_path: Path,
) -> None:
    (tmp_path / "settings.toml").write_text(SETTINGS)
    memory = open_memory(tmp_path)
    memory.change(
        "written", lambda draft: create_note(draft, "shop", "Acme", "All payments go through Acme.")
    )
    (note,) = memory.snapshot.notes
    drained(tmp_path, memory, ScriptedModel([Answer(ANSWER)]))
    handles, receives = "Who handles payments now?", "Which service receives payments?"
    with Pipeline.open(tmp_path, memory=memory) as pipeline:
        assert pipeline.hints(note.id).hints == (receives, handles)

        def reasons() -> set[str]:
            return {
                one.found
                for hit in memory.search.result("who handles").hits
                for one in hit.breakdown.reasons
                if one.kind == "hint"
            }

        assert reasons() == {handles}
        done = pipeline.remove_hints(note.id, [handles])
        assert done is not None
        assert (pipeline.hints(note.id).hints, pipeline.hints(note.id).removed) == ((receives,), (handles,))
        assert handles not in reasons()
        with pytest.raises(NotFoundError):
            pipeline.remove_hints(note.id, [handles])
        memory.change(
            "more", lambda draft: edit_note(draft, note.id, content="Payments go through Acme by now.")
        )
        drained(tmp_path, memory, ScriptedModel([Answer(ANSWER)]))
        assert pipeline.hints(note.id).hints == (receives,)
        for turned, hints in ((memory.history.undo, {receives, handles}), (memory.history.redo, {receives})):
            turned(done.id)
            assert pipeline.follow_undo() == 1
            assert set(pipeline.hints(note.id).hints) == hints
        assert f'removed the hint "{handles}"' in [entry.change_set.reason for entry in memory.history.log()]
