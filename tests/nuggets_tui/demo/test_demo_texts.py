"""The texts of the demo: what was found in them waits for the visitor, and nothing of the memory is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.memory import Memory
from core.model.change import PERSON
from core.pipeline.records import PipelineState
from core.pipeline.service import Pipeline
from nuggets_tui.demo import write_demo, write_visit

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo as its visitor finds it; nothing changes it."""
    return write_visit(tmp_path_factory.mktemp("visit") / "memory")


def test_a_visitor_finds_proposals_of_each_kind_and_no_model_is_asked_for_them(home: Path) -> None:
    with Pipeline.open(home) as pipeline:
        status, found = pipeline.status(), pipeline.proposals()
        texts = {one.raw_id: pipeline.raw(one.raw_id).content for one in found}
        names = {one.name for one in pipeline.entities()}
    assert (status.light, status.warnings) == (PipelineState.REVIEW, ())
    assert status.provider is not None
    assert status.provider.state == "off"
    assert {one.action for one in found} == {"add", "update"}
    assert {one.grounded for one in found} == {True, False}
    assert {one.type for one in found} == {"decision", "procedural", "fact", "preference"}
    assert all(one.span and texts[one.raw_id][slice(*one.span)] for one in found if one.grounded)
    assert {"Amal", "Zoë", "Studio Blåbär"} <= names


def test_the_texts_leave_notes_and_log_as_the_story_has_them(tmp_path: Path) -> None:
    plain = write_demo(tmp_path / "plain")
    shown, told = Memory.open(write_demo(tmp_path / "texts", texts=True)), Memory.open(plain)
    assert shown.snapshot.by_id == told.snapshot.by_id
    assert len(shown.history.log(limit=None)) == len(told.history.log(limit=None))
    assert not Pipeline.exists(plain)


def test_what_a_visitor_accepts_is_written_and_taken_back_without_a_model(tmp_path: Path) -> None:
    home = write_visit(tmp_path / "memory")
    memory = Memory.open(home, author=PERSON)
    with Pipeline.open(home, memory=memory, author=PERSON) as pipeline:
        (change,) = [one for one in pipeline.proposals() if one.action == "update"]
        assert pipeline.accept([change.id]).written == (change.id,)
    assert "3 December" in str(memory.recall("code freeze").answer)
    memory.history.undo()
    assert "1 December" in str(memory.recall("code freeze").answer)
