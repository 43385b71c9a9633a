"""What the pipeline may do, as a function of its flags."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from kits.written_configuration import read_configuration

from core.pipeline.modes import (
    Destructive,
    Intake,
    Mode,
    changed_by,
    destructive,
    intake,
    mode,
    mode_of,
    processes_jobs,
    result_mode,
    writes_notes,
)
from core.settings.pipeline_sections import PipelineConfiguration

VECTORS = Path(__file__).parents[1] / "vectors"
VECTORS_OF_MODES = json.loads((VECTORS / "config.json").read_text(encoding="utf-8"))["modes"]
# There is no maintenance that could start by itself; what sets its flags is told that they do nothing yet.
MODES = [vector for vector in VECTORS_OF_MODES if "autonomousFrozen" not in vector["input"]]


@pytest.mark.parametrize("vector", MODES, ids=lambda vector: vector["id"])
def test_the_mode_is_that_of_the_reference(vector: dict[str, Any]) -> None:
    flags = vector["input"]
    assert (
        mode_of(
            enabled=flags["enabled"],
            shadow_mode=flags["shadowMode"],
            mutations_frozen=flags["mutationsFrozen"],
            allow_update_delete=flags["allowUpdateDelete"],
        )
        == vector["expected"]
    )
    assert mode(read_configuration({"pipeline": flags}).configuration) == vector["expected"]


def test_notes_are_written_only_when_enabled_and_neither_in_shadow_nor_frozen() -> None:
    for enabled, shadow, frozen, allowed in itertools.product((False, True), repeat=4):
        current = mode_of(
            enabled=enabled, shadow_mode=shadow, mutations_frozen=frozen, allow_update_delete=allowed
        )
        assert writes_notes(current) == (enabled and not shadow and not frozen)
        assert processes_jobs(current) == enabled
        assert (destructive(current) is Destructive.REVIEWED) == (writes_notes(current) and allowed)


def test_a_frozen_pipeline_still_takes_raw_text_and_holds_it() -> None:
    assert intake(PipelineConfiguration(mutations_frozen=True)) is Intake.HELD
    assert intake(PipelineConfiguration(enabled=False, mutations_frozen=True)) is Intake.HELD
    assert intake(PipelineConfiguration()) is Intake.QUEUED
    assert intake(PipelineConfiguration(enabled=False)) is Intake.QUEUED


def test_audit_rows_and_results_name_the_mode_as_the_reference_does() -> None:
    assert (changed_by(Mode.SHADOW), result_mode(Mode.SHADOW)) == ("pipeline-shadow", "shadow")
    for current in (Mode.CONTROLLED_WRITE, Mode.FULL):
        assert (changed_by(current), result_mode(current)) == ("pipeline-v2", "phase-c")


def test_changing_and_deleting_is_blocked_by_default() -> None:
    assert destructive(mode(PipelineConfiguration())) is Destructive.BLOCKED
    assert Destructive.BLOCKED.value == "destructive_mutations_disabled"
