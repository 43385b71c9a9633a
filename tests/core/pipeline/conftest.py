"""What most tests of the pipeline need: its database in a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.pipeline.database.connection import Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database.open(tmp_path)
    yield opened
    opened.close()
