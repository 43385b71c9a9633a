"""What the benchmark of retrieval counts is what happened: small memories, forms of questions, answers of recall."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.retrieval_answers import Answers
from benchmarks.retrieval_baselines import bm25
from benchmarks.retrieval_memories import QUESTIONS, Recalled, Searched, asked, stores
from benchmarks.retrieval_metrics import share
from benchmarks.retrieval_sets import DataSet, Query, languages_set, outside_files, outside_set


@pytest.fixture(scope="module")
def data() -> DataSet:
    return languages_set()


@pytest.mark.slow
def test_small_memories_hold_what_answers_their_own_questions_and_nothing_that_answers_foreign_ones(
    data: DataSet,
) -> None:
    everything = {query.text: query.relevant for query in data.collections[0].queries}
    drawn = stores(data, 30)
    again = stores(data, 30)
    assert [(one.snapshot.notes, one.own, one.foreign) for one in drawn] == [
        (one.snapshot.notes, one.own, one.foreign) for one in again
    ]
    for store in drawn:
        held = {note.id for note in store.snapshot.visible}
        assert len(held) == 30
        assert 0 < len(store.own) <= QUESTIONS
        for query in store.own:
            assert query.relevant.keys() == everything[query.text].keys() & held
            assert query.relevant
        assert store.foreign
        assert not any(held & everything[query.text].keys() for query in store.left_out)
        assert not any(query.text in everything for query in store.foreign)
        assert all(link.to in held for note in store.snapshot.notes for link in note.links)


def test_a_set_that_is_small_itself_gives_no_smaller_memories(data: DataSet) -> None:
    assert stores(data, 100) == []


@pytest.mark.slow
def test_a_memory_of_the_notes_answers_searches_and_recalls_of_people_and_agents(data: DataSet) -> None:
    store = stores(data, 30, 1)[0]
    with asked(store.snapshot) as memory:
        answers = Answers()
        answers.ask(memory, bm25(store.snapshot.visible).search, store.own, store.foreign)
        titles = [memory.search(note.title, 3).ids[0] == note.id for note in store.snapshot.visible]
        assert memory.recall("zzyzx qwop").note_id is None
        assert not memory.search("zzyzx qwop", 3).sure
    assert all(titles)
    assert len(answers.first) == len(store.own)
    assert len(answers.foreign) == len(store.foreign)
    assert {sum(one) for one in zip(answers.right, answers.wrong, answers.silent, strict=True)} == {1}


def test_an_answer_is_right_wrong_or_none_and_what_is_offered_is_no_answer() -> None:
    class Scripted:
        def search(self, text: str, limit: int) -> Searched:
            return Searched([text], sure=True)

        def recall(self, text: str) -> Recalled:
            return {"right": Recalled("a", ()), "wrong": Recalled("b", ())}.get(
                text, Recalled(None, ("b", "a"))
            )

    answers = Answers()
    questions = [Query(text, "query", "dev", {"a": 1.0}) for text in ("right", "wrong", "silent", "a")]
    answers.ask(Scripted(), lambda text, limit: ["b"], questions, [Query("wrong", "miss", "dev", {})])  # type: ignore[arg-type]
    assert (answers.right, answers.wrong, answers.silent) == ([1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1])
    assert (answers.offered, answers.first, answers.words) == ([0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0])
    assert answers.foreign == [1]


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ('Add content of "filename" to the cron jobs', ("quotes",)),
        ("what does `make ship` do", ("quotes",)),
        ("rename 'old name' to 'new'", ("quotes",)),
        ("ls -la /tmp", ("flags",)),
        ('ferry export --reason "audit"', ("quotes", "flags")),
        ("what's the team's well-known port - and why", ("plain words",)),
        ("pytest", ("plain words",)),
    ],
)
def test_quotes_and_flags_are_told_from_plain_words(text: str, forms: tuple[str, ...]) -> None:
    assert Query(text, "query", "dev", {"a": 1.0}).forms == forms


def test_outside_data_comes_from_files_and_from_folders(tmp_path: Path) -> None:
    notes = [{"id": "a", "title": "Kettle", "content": "boils"}]
    part = {"notes": notes, "queries": [{"text": "kettle", "relevant": {"a": 1}}]}
    for name in ("two.json", "one.json"):
        (tmp_path / name).write_text(json.dumps({"collections": [part]}))
    (tmp_path / "README.md").write_text("no data")
    assert outside_files([tmp_path, tmp_path / "two.json"]) == [
        tmp_path / "one.json", tmp_path / "two.json", tmp_path / "two.json",
    ]  # fmt: skip
    assert outside_set(tmp_path / "one.json").collections[0].queries[0].relevant == {"a": 1}


def test_a_share_lies_in_its_interval() -> None:
    mean, low, high = share([1.0] * 30 + [0.0] * 70)
    assert mean == pytest.approx(0.3)
    assert low < mean < high
    assert share([]) == (0.0, 0.0, 0.0)
