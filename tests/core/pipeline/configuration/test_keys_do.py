"""Keys whose effect no other test sets: another value changes what comes out."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from kits.service_kit import Clock, configure, drain, note_texts, open_pipeline
from kits.writes_kit import parrot

from core.pipeline.retention import RULES
from core.pipeline.signals import gravity, hub, least_hub, resolution
from core.settings.pipeline_sections import DampeningPart, RetentionPart

BORNE = tuple(range(1, 41))


def dampened(part: DampeningPart) -> list[object]:
    """What each stage makes of the same notes."""
    return [
        gravity(part, 0.9, ("queue",), ("redis",)),
        least_hub(part, len(BORNE), 0, BORNE.__getitem__),
        hub(part, ("a",), ("a",)),
        resolution(part, True, ""),
    ]


@pytest.mark.parametrize(
    ("key", "value", "stage"),
    [
        ("gravity_enabled", False, 0), ("gravity_penalty", 0.9, 0), ("hub_enabled", False, 1),
        ("hub_percentile", 0.5, 1), ("hub_penalty", 0.9, 2), ("resolution_enabled", False, 3),
        ("resolution_boost", 1.9, 3),
    ],
)  # fmt: skip
def test_each_key_of_dampening_changes_its_stage_and_no_other(key: str, value: Any, stage: int) -> None:
    usual, other = dampened(DampeningPart()), dampened(DampeningPart(**{key: value}))
    assert [place for place in range(4) if usual[place] != other[place]] == [stage]


@pytest.mark.parametrize("key", [name for name in RetentionPart.__struct_fields__ if name.endswith("_days")])
def test_each_key_of_retention_is_the_window_of_a_kind(key: str) -> None:
    assert key in {rule.window for rule in RULES.values()}


def learned(home: Path, lines: str, text: str) -> list[str]:
    """The notes that come of a text under some settings."""
    with closing(open_pipeline(configure(home, lines), parrot(), Clock())) as pipeline:
        pipeline.ingest(text)
        drain(pipeline)
        return note_texts(pipeline)


@pytest.mark.slow
def test_a_fact_that_the_model_is_less_sure_of_than_min_confidence_is_not_written(tmp_path: Path) -> None:
    text = "Anna moved the staging cluster to Frankfurt."
    assert learned(tmp_path / "one", "[pipeline.extraction]\nmin_confidence = 0.5", text) == [text]
    assert learned(tmp_path / "two", "[pipeline.extraction]\nmin_confidence = 1.0", text) == []


def test_a_text_shorter_than_min_input_chars_is_not_read(tmp_path: Path) -> None:
    text = "Anna likes green tea."
    assert learned(tmp_path / "one", "[pipeline.extraction]\nmin_input_chars = 21", text) == [text]
    assert learned(tmp_path / "two", "[pipeline.extraction]\nmin_input_chars = 22", text) == []
