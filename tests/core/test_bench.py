"""Recall and search measured on questions with known answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kits.memory_files import tree

from core import Memory
from core.bench import BM25, Share, run_own, run_set
from core.errors import InvalidInputError
from core.facts.edits import remember
from core.graph.edits import create_note

NOTES = [
    {
        "id": "a",
        "title": "Backups",
        "content": "Every night at two, kept for 35 days.",
        "created": "2026-03-01",
    },
    {"id": "b", "title": "Deploys", "content": "Run make deploy from a clean checkout.", "tags": ["ops"]},
    {"id": "c", "key": "test command", "content": "pytest -q", "nugget": "app"},
    {"id": "d", "content": "Jonas: I moved to Ghent last spring, the piano came along."},
]
QUERIES = [
    {"text": "how long are backups kept", "relevant": {"a": 1}},
    {"text": "test command", "relevant": {"c": 2}},
    {"text": "where did Jonas move", "relevant": {"d": 1}},
    {"text": "who painted the ceiling", "relevant": {}},
]


def written(path: Path, **more: object) -> Path:
    path.write_text(
        json.dumps({"name": "small", "collections": [{"notes": NOTES, "queries": QUERIES}]} | more)
    )
    return path


def test_a_prepared_set_is_measured_beside_bm25(tmp_path: Path) -> None:
    found = run_set(written(tmp_path / "set.json"))
    assert (found.name, found.notes, len(found.answers), len(found.answerable)) == ("small", 4, 4, 3)
    ours, plain = found.ndcg
    assert ours.low <= ours.value <= ours.high
    assert plain.value > 0.6
    assert found.right.total == 3
    assert found.right.number >= 2
    assert found.claims_right.value == 1.0
    assert found.unanswerable_claimed == Share(0, 1)
    counted = dict(found.reliability())
    assert sum(share.total for share in counted.values()) == found.claims_right.total
    assert run_set(tmp_path / "set.json") == found


def test_own_questions_are_put_to_the_memory_and_leave_every_byte(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "memory")
    memory.change("fact", lambda draft: remember(draft, "app", "test command", "pytest -q"))
    memory.change("note", lambda draft: create_note(draft, "app", "Backups", "Every night at two."))
    before = tree(memory.home)
    path = tmp_path / "questions.toml"
    path.write_text(
        '[[question]]\ntext = "test command"\nexpect = "test command"\n'
        '[[question]]\ntext = "when do backups run"\nexpect = ["Backups"]\n'
        '[[question]]\ntext = "who is the pope"\nexpect = "unknown"\n'
    )
    found = run_own(memory, path)
    assert (len(found.answerable), found.right.number >= 1, found.unanswerable_claimed) == (
        2,
        True,
        Share(0, 1),
    )
    assert tree(memory.home) == before


@pytest.mark.parametrize(
    "text",
    [
        "", "question = 3", '[[question]]\ntext = "x"', '[[question]]\ntext = "x"\nexpect = 3',
        '[[question]]\ntext = ""\nexpect = "unknown"', '[[question]]\ntext = "x"\nexpect = "No such note"', "\x00",
    ],
    ids=ascii,
)  # fmt: skip
def test_questions_that_cannot_be_read_are_one_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "questions.toml").write_text(text)
    with pytest.raises(InvalidInputError):
        run_own(Memory.open(tmp_path / "memory"), tmp_path / "questions.toml")


@pytest.mark.parametrize("data", ["", "[]", "{}", '{"collections": [{}]}', '{"collections": [{"notes": 3}]}'])
def test_a_set_of_another_shape_is_one_error(tmp_path: Path, data: str) -> None:
    (tmp_path / "set.json").write_text(data)
    with pytest.raises(InvalidInputError):
        run_set(tmp_path / "set.json")


def test_a_share_has_wilsons_interval() -> None:
    low, high = Share(8, 10).interval
    assert (round(low, 3), round(high, 3)) == (0.490, 0.943)
    assert Share(0, 0).interval == (0.0, 1.0)


def test_the_baseline_ranks_by_words_and_their_rarity(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path)
    memory.change("a", lambda draft: create_note(draft, "web", "Kettle", "tea tea tea"))
    memory.change("b", lambda draft: create_note(draft, "web", "Periscope", "tea on a submarine"))
    titles = {note.id: note.title for note in memory.snapshot.notes}
    assert [titles[id] for id in BM25(memory.snapshot.notes).search("submarine tea")] == [
        "Periscope",
        "Kettle",
    ]
    assert BM25(()).search("tea") == []
