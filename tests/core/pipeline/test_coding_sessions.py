"""Twenty coding sessions through the pipeline: what is wanted stays, what changed can be taken and is recalled."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from kits.coding_sessions import CodingSession, coding_sessions
from kits.scripted_model import Line, ScriptedModel
from kits.service_kit import Clock, configure, drain, note_texts, open_pipeline
from kits.writes_kit import decision, fact, found

from core.pipeline.service import Pipeline

MODES = {"writing": "shadowMode = false", "shadow": "shadowMode = true"}


class Reader:
    """A model that finds what was labelled, and says of a changed fact that it updates the one it replaces."""

    def __init__(self) -> None:
        self.model = ScriptedModel(by_prompt=self._answer)
        self.says: list[dict[str, object]] = []
        self.replaces: dict[str, str] = {}

    def reads(self, session: CodingSession) -> None:
        """What is found from here on, as a model writes it: with one thing that nobody should remember."""
        wanted = [fact(one.content, 0.9, one.type) for one in session.facts]
        changed = [fact(one.new, 0.85) for one in session.changes]
        noise = [fact(one, 0.4) for one in session.no_facts]
        self.says = [*wanted, *changed, *noise]
        self.replaces |= {one.new: one.old for one in session.changes}

    def _answer(self, prompt: str) -> Line:
        if '"action"' not in prompt:
            return (
                "Here is what I found:\n```json\n"
                + json.dumps(found(*self.says), ensure_ascii=False)
                + "\n```"
            )
        candidates, facts = _listed(prompt, "C"), _listed(prompt, "F")
        decided = {label: self._decided(content, candidates) for label, content in facts.items()}
        if '{"decisions"' not in prompt:
            return next(iter(decided.values()))
        return {"decisions": [{"fact": label, **one} for label, one in decided.items()]}

    def _decided(self, content: str, candidates: dict[str, str]) -> dict[str, object]:
        old = self.replaces.get(content)
        label = next((label for label, said in candidates.items() if said == old), None)
        line = decision("update" if label else "add", label)
        assert isinstance(line, dict)
        return line


def _listed(prompt: str, letter: str) -> dict[str, str]:
    """What stands in a prompt behind labels: C1, C2 and so on, or F1."""
    read = {}
    for line in prompt.splitlines():
        label, colon, shown = line.partition(": ")
        if colon and label[:1] == letter and label[1:].isdigit():
            read[label] = json.JSONDecoder().raw_decode(shown)[0]["content"]
    return read


def _known(pipeline: Pipeline, reader: Reader, session: CodingSession, clock: Clock) -> None:
    """What was so before the session."""
    for change in session.changes:
        reader.says = [fact(change.old)]
        pipeline.ingest(change.old)
        drain(pipeline)
        clock.forward(minutes=1)
    # In shadow a person has accepted it.
    pipeline.accept([one.id for one in pipeline.proposals()])
    drain(pipeline)


# Each where notes are written without asking, and every fifth where everything waits.
CASES = [(one, "writing") for one in coding_sessions()] + [(one, "shadow") for one in coding_sessions()[::5]]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0].name} {case[1]}")
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[CodingSession, Pipeline]]:
    """A session, and the pipeline that has read it."""
    session, mode = request.param
    clock, reader = Clock(), Reader()
    pipeline = open_pipeline(configure(tmp_path / "home", MODES[mode]), reader.model, clock)
    _known(pipeline, reader, session, clock)
    reader.reads(session)
    pipeline.ingest(session.text)
    drain(pipeline)
    yield session, pipeline
    pipeline.close()


def _kept(pipeline: Pipeline) -> set[str]:
    """What is a note, or waits for a person."""
    return {*note_texts(pipeline), *(one.content for one in pipeline.proposals())}


@pytest.mark.slow
def test_what_is_wanted_of_a_session_stays_and_what_changed_is_recalled_once_it_is_taken(
    case: tuple[CodingSession, Pipeline],
) -> None:
    session, pipeline = case
    kept = _kept(pipeline)
    wanted = [one.content for one in session.facts]
    lost = [content for content in wanted if content not in kept]
    assert len(lost) <= 0.1 * len(wanted), lost
    assert set(note_texts(pipeline)).isdisjoint(session.no_facts)
    waiting = {one.content: one for one in pipeline.proposals()}
    for change in session.changes:
        proposal = waiting[change.new]
        assert (proposal.open, proposal.target_content) == (True, change.old)
        assert pipeline.accept([proposal.id]).written == (proposal.id,)
        drain(pipeline)
        pipeline.memory.refresh()
        hits = [hit.note.content for hit in pipeline.memory.search(change.ask, 3)]
        assert hits[0] == change.new
        assert change.old not in hits
