"""What the pipeline may do, as a function of its flags."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from kits.written_configuration import read_configuration

from core.pipeline.modes import Mode, mode
from core.settings.pipeline_sections import AutonomousPart, PipelineConfiguration

VECTORS = Path(__file__).parents[1] / "vectors"
VECTORS_OF_MODES = json.loads((VECTORS / "config.json").read_text(encoding="utf-8"))["modes"]
# There is no maintenance that could start by itself; what sets its flags is told that they do nothing yet.
MODES = [vector for vector in VECTORS_OF_MODES if "autonomousFrozen" not in vector["input"]]


@pytest.mark.parametrize("vector", MODES, ids=lambda vector: vector["id"])
def test_the_mode_is_that_of_the_reference(vector: dict[str, Any]) -> None:
    flags = vector["input"]
    assert mode(read_configuration({"pipeline": flags}).configuration) == vector["expected"]


def test_notes_are_written_only_when_enabled_and_neither_in_shadow_nor_frozen() -> None:
    for enabled, shadow, frozen, allowed in itertools.product((False, True), repeat=4):
        current = mode(
            PipelineConfiguration(
                enabled=enabled, shadow_mode=shadow, mutations_frozen=frozen,
                autonomous=AutonomousPart(allow_update_delete=allowed),
            )
        )  # fmt: skip
        assert current.writes_notes == (enabled and not shadow and not frozen)
        assert (current is Mode.OFF) == (not enabled)
        assert (current is Mode.FULL) == (current.writes_notes and allowed)


def test_audit_rows_and_results_name_the_mode_as_the_reference_does() -> None:
    assert (Mode.SHADOW.author, Mode.SHADOW.of_result) == ("pipeline-shadow", "shadow")
    for current in (Mode.CONTROLLED_WRITE, Mode.FULL):
        assert (current.author, current.of_result) == ("pipeline-v2", "phase-c")


def test_changing_and_deleting_is_blocked_by_default() -> None:
    assert mode(PipelineConfiguration()) is Mode.CONTROLLED_WRITE
