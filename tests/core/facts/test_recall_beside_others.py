"""A key that several nuggets hold: one answer however it is spelt, and what the others hold is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import Memory
from core.facts.edits import remember

SPELLINGS = "test command", "Test Command", "tset comand", "test comand", "the test command"


def memory_of(home: Path, nuggets: dict[str, dict[str, str]]) -> Memory:
    memory = Memory.open(home)
    for name, facts in nuggets.items():
        for key, value in facts.items():
            memory.change("stored", lambda draft, n=name, k=key, v=value: remember(draft, n, k, v))
    return memory


APP = {
    "deploy command": "make deploy",
    "test url": "https://t",
    "test command": "pytest -q",
    "db": "postgres",
}


@pytest.mark.parametrize("spelt", SPELLINGS)
@pytest.mark.parametrize("full", ["app", "other"])
def test_one_nugget_answers_however_the_key_is_spelt_and_the_other_is_named(
    tmp_path: Path, spelt: str, full: str
) -> None:
    more = {key: value for key, value in APP.items() if key != "test command"}
    nuggets = {"app": {"test command": "pytest -q"}, "other": {"test command": "npm test"}}
    nuggets[full] |= more
    found = memory_of(tmp_path, nuggets).recall(spelt, record=False)
    assert (found.answer, found.nugget_name) == ("pytest -q", "app")
    assert [(one.nugget_name, one.key, one.answer) for one in found.also] == [
        ("other", "test command", "npm test")
    ]
    assert found.match is not None
    assert found.certainty <= (1.0 if found.match.kind != "fuzzy" else found.match.strength) + 1e-9
    if found.match.kind == "fuzzy":
        assert found.certainty < 1.0


def test_the_same_value_elsewhere_is_nothing_to_say(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, {"app": {"k one": "v"}, "other": {"k one": "v"}, "third": {"k two": "w"}})
    assert memory.recall("k one", record=False).also == ()


def test_of_a_named_nugget_nothing_else_is_said(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, {"app": {"k one": "v"}, "other": {"k one": "w"}})
    found = memory.recall("k one", "other", record=False)
    assert (found.answer, found.also) == ("w", ())


@pytest.mark.slow
def test_a_fact_more_beside_it_does_not_change_who_answers(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, {"app": {"k one": "v"}, "other": {"k one": "w"}})
    for number in range(12):
        memory.change("more", lambda draft, n=number: remember(draft, "app", f"filler {n}", f"value {n}"))
        assert memory.recall("k one", record=False).answer == "v"
