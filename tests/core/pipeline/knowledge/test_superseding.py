"""Newer statements flag older ones of the same aspect; they stand all the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kits.knowledge_kit import DAY, Knowledge, triple

from core.pipeline.knowledge_graph import flag_outdated
from core.pipeline.records import EntityAttribute

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "contradiction.json").read_text())


@pytest.fixture
def knowledge(tmp_path: Path) -> Iterator[Knowledge]:
    with Knowledge(tmp_path) as opened:
        yield opened


def compare(knowledge: Knowledge, attribute_id: int, now: int = 9) -> int:
    with knowledge.database.write() as writer:
        said = writer.entities.attribute(attribute_id)
        assert said is not None
        return flag_outdated(writer, said, now)


def said(knowledge: Knowledge, attribute_id: int, entity: str = "it") -> EntityAttribute:
    return next(one for one in knowledge.entity(entity).attributes if one.id == attribute_id)


@pytest.mark.parametrize("vector", VECTORS["supersession"], ids=lambda vector: vector["id"])
def test_vectors_of_supersession_are_flags_of_the_older(vector: dict[str, Any], knowledge: Knowledge) -> None:
    given, expected = vector["input"], vector["expected"]
    older = knowledge.say(given["old"], at=1)
    newer = knowledge.say(given["new"], at=1 + (given["gap_days"] or 0) * DAY)
    flags = compare(knowledge, newer)
    found = said(knowledge, older)
    if expected is None or expected["signal"] is None:
        assert (flags, found.review_needed, found.superseded_by) == (0, False, None)
    else:
        assert (flags, found.review_needed, found.superseded_by) == (1, True, newer)
        assert found.superseded_why == f"{expected['signal']} {expected['confidence']:.2f}"
    # Nothing but a person's word takes it away.
    assert found.status == "active"
    assert not said(knowledge, newer).review_needed


def test_the_older_memory_is_the_outdated_one_whichever_was_read_first(knowledge: Knowledge) -> None:
    newer = knowledge.say("lives in denver", at=5 * DAY)
    older = knowledge.say("lives in boulder", at=2 * DAY)
    assert compare(knowledge, older) == 1
    assert said(knowledge, older).superseded_by == newer


def test_constraints_other_aspects_and_other_entities_are_left_alone(knowledge: Knowledge) -> None:
    knowledge.say("lives in boulder", kind="constraint")
    knowledge.say("lives in leadville", entity="somebody else")
    knowledge.say("lives in salida", aspect="wishes")
    assert compare(knowledge, knowledge.say("lives in denver", at=2)) == 0


def test_a_memory_does_not_outdate_itself(knowledge: Knowledge) -> None:
    knowledge.submit("raw-1", "Long ago Marisol lives in Boulder. Then Marisol lives in Denver.")
    knowledge.find("raw-1", triple("Marisol", "lives in", "Denver"))
    assert knowledge.bring_in().flagged == 0


def test_what_the_rules_read_is_compared_when_its_memory_was_extracted(knowledge: Knowledge) -> None:
    knowledge.submit("raw-1", "In short: Marisol lives in Boulder.", at=1)
    knowledge.submit("raw-2", "By now Marisol lives in Denver.", at=2)
    knowledge.find("raw-2", triple("Marisol", "lives in", "Denver"))
    assert knowledge.bring_in().flagged == 1
    page = knowledge.entity("Marisol")
    assert page.entity.review == 1
    assert [(one.content, one.review_needed) for one in page.attributes] == [
        ("lives in Boulder", True),
        ("lives in Denver", False),
    ]


def test_a_flag_goes_with_the_fact_that_raised_it(knowledge: Knowledge) -> None:
    older = knowledge.say("Ben lives in Boulder", entity="Ben", aspect="home", at=1)
    knowledge.learn("raw-2", triple("Ben", "lives in", "Denver"), said=("Ben lives in Denver",), at=2)
    (newer,) = (one.id for one in knowledge.entity("Ben").attributes if not one.aspect)
    with knowledge.database.write() as writer:
        aspect = writer.entities.attribute(older)
        assert aspect is not None
        assert aspect.aspect_id is not None
        writer.entities.assign_aspect(newer, aspect.aspect_id, "attribute", 3)
    assert compare(knowledge, newer) == 1
    with knowledge.database.write() as writer:
        writer.connection.execute("UPDATE facts SET status = 'retracted'")
    found = said(knowledge, older, "Ben")
    assert (found.review_needed, found.superseded_by, found.status) == (False, None, "active")
