"""Weights as a person turns them: steps, what is saved, and how hits move."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from core.memory import Memory
from core.settings import SearchSettings
from nuggets_tui.tuning import USUAL, WEIGHTS, Weight, changes, describe_moves, move_sign, moved

BY_NAME = {weight.name: weight for weight in WEIGHTS}


def hits(*ids: str) -> Any:
    return [SimpleNamespace(note=SimpleNamespace(id=id), rank=rank) for rank, id in enumerate(ids, 1)]


def test_every_setting_that_moves_a_note_can_be_turned_but_what_asks_for_new_vectors() -> None:
    moving = set(SearchSettings.__struct_fields__) - {"passages"}
    assert {weight.name for weight in WEIGHTS} == moving - {"dimension"}


@pytest.mark.parametrize("weight", WEIGHTS, ids=lambda weight: weight.name)
def test_wherever_a_weight_is_turned_it_can_be_saved(weight: Weight, tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / weight.name)
    for step, fine in ((1, False), (-1, False), (1, True), (-1, True)):
        settings = USUAL
        for _ in range(120):
            settings = weight.stepped(settings, step, fine=fine)
        assert settings != USUAL
        memory.save_settings(changes(memory.settings.search, settings))
        assert memory.settings.search == settings


def test_steps_there_and_back_end_at_the_very_value() -> None:
    weight = BY_NAME["text_weight"]
    settings = USUAL
    for step in (1, 1, 1, -1, -1, -1):
        settings = weight.stepped(settings, step)
    assert settings == USUAL


def test_a_value_beyond_the_end_is_not_pulled_back_by_a_step_upwards() -> None:
    weight = BY_NAME["text_weight"]
    far = msgspec.structs.replace(USUAL, text_weight=7.0)
    assert weight.stepped(far, 1).text_weight == 7.0
    assert weight.stepped(far, -1).text_weight == 6.95


def test_only_what_differs_is_saved() -> None:
    assert changes(USUAL, USUAL) == {}
    assert changes(USUAL, BY_NAME["link_weight"].put(USUAL, 0.5)) == {"search.link_weight": 0.5}


def test_moves_are_told_against_the_order_before() -> None:
    found = moved(hits("a", "b", "c", "d"), hits("c", "a", "e", "b"))
    assert dict(found.up) == {"c": 2, "a": -1, "b": -2}
    assert (found.new, found.gone, found.count) == (1, 1, 3)
    assert describe_moves(found) == "3 moved · 1 new · 1 gone"
    assert [move_sign(places) for places in (2, -1, 0, None)] == ["↑2", "↓1", "", "new"]
    assert describe_moves(moved(hits("a"), hits("a"))) == "unchanged"
