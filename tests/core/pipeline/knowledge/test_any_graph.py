"""Whatever is found, merged and found again: counts are counts of rows, and nothing stands twice."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kits.knowledge_kit import Knowledge, triple
from kits.laws import examples

from core.pipeline.extract import ExtractedRelation
from core.pipeline.intake.names import canonical_name
from core.pipeline.knowledge_graph import merge_entities, part_entity

NAMES = ("Ben", "ben", "Benjamin", "Carla", "npm", "NPM", "Node", "x")
TRIPLES = st.builds(
    triple,
    st.sampled_from(NAMES),
    st.sampled_from(("uses", "Uses", "related to", "related_to", "_")),
    st.sampled_from(NAMES),
    st.floats(0, 1),
)
MEMORIES = st.lists(st.tuples(st.lists(TRIPLES, max_size=4), st.sampled_from(NAMES)), min_size=1, max_size=4)
MERGES = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=3)


def id_of(knowledge: Knowledge, name: str) -> int:
    return knowledge.database.reading.entities.entity_named(canonical_name(name)) or 0


def merge(knowledge: Knowledge, keep: str, other: str) -> bool:
    """Whether the two are one by that: both are known, and each stands for itself."""
    first, second = id_of(knowledge, keep), id_of(knowledge, other)
    alone = "SELECT count(*) FROM entities WHERE id = root AND canonical_name = ?"
    if not (first and second) or first == second:
        return False
    if not knowledge.database.reading.count(alone, canonical_name(other)):
        return False
    merge_entities(knowledge.database, first, second, by="person", now=50)
    return True


def assert_sound(knowledge: Knowledge) -> None:
    reader = knowledge.database.reading.connection
    assert reader.execute("PRAGMA foreign_key_check").fetchall() == []
    names = [row[0] for row in reader.execute("SELECT canonical_name FROM entities")]
    assert len(names) == len(set(names))
    assert reader.execute(
        "SELECT count(*) FROM relations WHERE source_id = target_id OR NOT EXISTS "
        "(SELECT 1 FROM relation_evidence WHERE relation_id = relations.id)"
    ).fetchone()[0] == 0  # fmt: skip
    pairs = [
        frozenset(row)
        for row in reader.execute("SELECT source_id, target_id FROM relations WHERE type = 'related_to'")
    ]
    assert len(pairs) == len(set(pairs))
    for name in names:
        page = knowledge.entity(name)
        assert page.entity.mentions == len({one.raw_id for one in page.mentions}) == len(page.mentions)
        assert page.entity.relations == len(page.relations)
        assert all(0 <= one.confidence <= 1 and one.evidence > 0 for one in page.relations)
        said = [(one.aspect, one.content.lower()) for one in page.attributes if one.status == "active"]
        assert len(said) == len(set(said))


@pytest.mark.slow
@settings(max_examples=examples(15), deadline=None)
@given(MEMORIES, MERGES)
def test_any_memories_and_merges_leave_a_sound_graph(
    memories: list[tuple[list[ExtractedRelation], str]], merges: list[tuple[str, str]]
) -> None:
    with TemporaryDirectory() as folder, Knowledge(Path(folder)) as knowledge:
        for again in (False, True):
            for number, (relations, name) in enumerate(memories):
                raw_id = f"raw-{number}"
                if not again:
                    knowledge.submit(
                        raw_id, f"In short: {name} likes tea {number}. Also {name} met Carla.", at=number
                    )
                    knowledge.find(raw_id, *relations, said=(f"{name} likes green tea {number}",))
                else:
                    knowledge.find(raw_id, *relations)
                knowledge.bring_in(number)
            assert_sound(knowledge)
            before_merges = knowledge.known()
            made = [one for one in merges if merge(knowledge, *one)]
            assert_sound(knowledge)
            if not again:
                for keep, other in reversed(made):
                    part_entity(knowledge.database, id_of(knowledge, keep), other, by="person", now=60)
                    assert_sound(knowledge)
                assert knowledge.known() == before_merges
        before = knowledge.dump()
        for number, (relations, _) in enumerate(memories):
            knowledge.find(f"raw-{number}", *relations)
        knowledge.bring_in(99)
        assert_sound(knowledge)
        if not merges:
            assert knowledge.dump() == before
