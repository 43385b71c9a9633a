"""Facts found by their words: the rarest decide, and what is common is asked for together with others only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kits.knowledge_kit import Knowledge

from core.pipeline.database.facts import Counted, StoredFact
from core.pipeline.intake.normalisation import normalise


@pytest.fixture
def knowledge(tmp_path: Path) -> Iterator[Knowledge]:
    with Knowledge(tmp_path) as opened:
        opened.submit("raw-1")
        yield opened


def store(knowledge: Knowledge, *contents: str) -> None:
    with knowledge.database.write() as writer:
        for content in contents:
            said = normalise(content)
            digits = said.content_hash[:16]
            writer.facts.insert(StoredFact(
                    id=f"fact-{digits}", raw_id="raw-1", proposal_id=f"proposal-{digits}", nugget="memory",
                    content=content, normalised_content=said.normalised_content,
                    content_hash=said.content_hash, type="fact", confidence=0.9,
                    note_id=f"note-{digits}", status="active", model="m", prompt_version="1", created_at=1,
                ),
            )  # fmt: skip


def found(knowledge: Knowledge, *words: str, most: int = 10, counted: Counted | None = None) -> list[str]:
    matches = knowledge.database.reading.facts.matching("memory", words, most, counted)
    return [match.fact.content for match in matches]


def test_where_every_word_is_common_only_facts_that_hold_several_are_found(knowledge: Knowledge) -> None:
    store(knowledge, *(f"vault note {number}" for number in range(150)))
    store(knowledge, *(f"grafana note {number}" for number in range(150)))
    store(knowledge, "grafana reads vault")
    assert found(knowledge, "vault", "grafana") == ["grafana reads vault"]
    assert len(found(knowledge, "vault")) == 10


def test_a_rare_word_is_asked_for_before_any_common_one(knowledge: Knowledge) -> None:
    store(knowledge, *(f"vault note {number}" for number in range(150)), "okafor keeps the keys")
    assert found(knowledge, "vault", "okafor") == ["okafor keeps the keys"]
    assert found(knowledge, "nowhere") == []


def test_remembered_counts_are_counted_again_once_there_are_a_quarter_more_facts(
    knowledge: Knowledge,
) -> None:
    counted: Counted = {}
    store(knowledge, *(f"vault note {number}" for number in range(20)))
    found(knowledge, "vault", counted=counted)
    assert counted == {"vault": (20, 20)}
    store(knowledge, *(f"vault entry {number}" for number in range(5)))
    found(knowledge, "vault", counted=counted)
    assert counted == {"vault": (20, 20)}
    store(knowledge, "vault again")
    found(knowledge, "vault", "again", counted=counted)
    assert counted == {"vault": (26, 26)}
