"""Fixtures of the workers' tests: a clock moved by hand, and pipelines of one memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kits.service_kit import Clock, Opened, configure, open_pipeline

from core.pipeline.models.provider import Provider
from core.pipeline.service import Pipeline


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def opened(tmp_path: Path, clock: Clock) -> Iterator[Opened]:
    """Opens pipelines of one memory, with lines of its settings; they are closed at the end."""
    pipelines = []

    def open_one(
        model: Provider | None = None, settings: str | None = None, name: str = "worker"
    ) -> Pipeline:
        if settings is not None:
            configure(tmp_path, settings)
        pipelines.append(open_pipeline(tmp_path, model, clock, name))
        return pipelines[-1]

    yield open_one
    for pipeline in pipelines:
        pipeline.close()
