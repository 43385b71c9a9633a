"""The same fact told again: in other words, to other workers, after a person took it back; it stays one note."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kits.scripted_model import ScriptedModel
from kits.writes_kit import CONTROLLED, SHADOW, Writes, decision, found

from core.graph.edits import hide_note

TEA = "Anna likes green tea"
TEXT = "Anna likes green tea and coffee; the deploy of checkout runs on Fridays."


@pytest.fixture
def writes(tmp_path: Path) -> Iterator[Writes]:
    with Writes(tmp_path) as made:
        yield made


def test_what_a_person_took_back_is_not_learned_again_in_other_words(writes: Writes) -> None:
    (note_id,) = writes.known(TEA)
    writes.memory.change("hidden", lambda draft: hide_note(draft, note_id))
    done = writes.learn("Anna once more", found(TEA.upper() + "!", "Anna, likes - green tea"))
    assert (done.written, writes.notes(), writes.rows("facts")) == (0, [], 1)
    honey = "Anna likes green tea only on Sundays with honey"
    # Something else about the same is new, and not offered a hidden note as its target.
    done = writes.learn(f"Now {honey}.", found(honey))
    assert (done.written, writes.proposal().decided_by) == (1, "rule")


def test_the_same_fact_of_two_nuggets_is_two_facts(writes: Writes) -> None:
    for nugget in ("one", "two"):
        assert writes.learn(TEXT, found(TEA), nugget=nugget).written == 1
    assert writes.notes() == [TEA, TEA]


def test_a_proposal_that_waits_already_is_not_made_twice(tmp_path: Path) -> None:
    with Writes(tmp_path, SHADOW) as writes:
        writes.learn(TEXT, found(TEA))
        first = writes.proposal().id
        writes.learn("He said it again", found(TEA.lower()))
        assert [(one.id, one.content) for one in writes.proposals(all=False)] == [(first, TEA)]
        writes.refuse(first)
        writes.configuration = CONTROLLED
        writes.learn("And once more", found(TEA))
        assert (writes.proposal().status, writes.proposal().reason) == ("skipped", "refused_by_person")


def test_text_that_looks_like_a_query_is_searched_as_words(writes: Writes) -> None:
    said = 'Use "uv", not -pip: tag:python (always) OR nugget:none'
    writes.learn(said, found(said))
    # An order waits for a person.
    writes.accept(writes.proposal().id)
    writes.learn("Tools of today", found(said.lower() + "!"))
    assert writes.proposal().status == "deduped"


def test_two_workers_that_found_nearly_the_same_at_the_same_time_write_it_once(writes: Writes) -> None:
    plans = []
    for text, said in ((TEXT, TEA), (f"{TEXT} Again", "anna, likes - green tea")):
        writes.submit(text)
        lease = writes.lease()
        plans.append((writes.think(lease, ScriptedModel([found(said)])), lease))
    done = [writes.commit(plan, lease) for plan, lease in plans]
    assert [one.written for one in done if one] == [1, 0]
    assert [one.status for one in writes.proposals()] == ["applied", "deduped"]
    assert writes.rows("facts") == 1


@pytest.mark.slow
def test_200_facts_five_times_in_other_case_spacing_and_punctuation_leave_200_notes(writes: Writes) -> None:
    tools = ["deploy", "backup", "report", "import", "export", "audit", "search", "mail", "cache", "proxy"]
    places = ["Berlin", "Paris", "Oslo", "Rome", "Wien", "Bern", "Lima", "Cairo", "Quito", "Dakar"]
    said = [
        f"The {tool} service in {place} listens on port {8000 + 20 * one + two}"
        for one, tool in enumerate(tools)
        for two, place in enumerate(places + [f"{place} North" for place in places])
    ]
    assert len(set(said)) == 200
    wordings: tuple[Callable[[str], str], ...] = (
        str,
        str.upper,
        lambda text: f"  {text.lower()}!! ",
        lambda text: text.replace(" ", "  ") + " .",
        lambda text: text.replace(" in ", ", in ") + ";",
    )
    for number, worded in enumerate(wordings):
        for start in range(0, 200, 20):
            batch = [worded(text) for text in said[start : start + 20]]
            model = ScriptedModel(by_prompt=_always_adds(batch))
            writes.submit(f"Told for the {number}. time: " + " ".join(batch))
            writes.extract(model)
    assert len(writes.notes()) == len(set(writes.notes())) == writes.rows("facts") == 200


def _always_adds(batch: list[str]) -> Any:
    """Finds these facts and holds each for new."""

    def answer(prompt: str) -> Any:
        if '"decisions"' in prompt:
            labels = [line.partition(":")[0] for line in prompt.splitlines() if line.startswith("F")]
            return {"decisions": [{"fact": label, "action": "add", "reason": "new"} for label in labels]}
        return decision("add") if '{"action"' in prompt else found(*batch)

    return answer
