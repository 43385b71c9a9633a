"""What the pipeline may do, as a function of its flags."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from core.pipeline.config import (
    Intake,
    Mode,
    PipelineConfiguration,
    intake,
    mode,
    mode_of,
    read_configuration,
)
from core.pipeline.config.modes import (
    Destructive,
    changed_by,
    destructive,
    maintenance_starts,
    processes_jobs,
    result_mode,
    writes_notes,
)

VECTORS = Path(__file__).parents[1] / "vectors"
MODES = json.loads((VECTORS / "config.json").read_text(encoding="utf-8"))["modes"]


@pytest.mark.parametrize("vector", MODES, ids=lambda vector: vector["id"])
def test_the_mode_is_that_of_the_reference(vector: dict[str, Any]) -> None:
    flags = vector["input"]
    if "autonomousFrozen" in flags:
        reading = read_configuration(original={"memory": {"pipelineV2": flags}})
        autonomous = reading.configuration.autonomous
        starts = maintenance_starts(
            autonomous_enabled=autonomous.enabled, autonomous_frozen=autonomous.frozen
        )
        assert starts == vector["expected"]["maintenance_interval_starts"]
        return
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


def test_the_interval_starts_only_when_enabled_and_not_frozen() -> None:
    assert maintenance_starts(autonomous_enabled=True, autonomous_frozen=False)
    assert not maintenance_starts(autonomous_enabled=True, autonomous_frozen=True)
    assert not maintenance_starts(autonomous_enabled=False, autonomous_frozen=False)


def test_changing_and_deleting_is_blocked_by_default() -> None:
    assert destructive(mode(PipelineConfiguration())) is Destructive.BLOCKED
    assert Destructive.BLOCKED.value == "destructive_mutations_disabled"
