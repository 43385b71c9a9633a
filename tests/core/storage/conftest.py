"""The memory on which tests of storage work, unless they make one of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from kits.made_databases import make_databases
from kits.memory_files import fact_object, note_object, write_graph, write_nugget

from core.storage.files import exchange


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A memory of three notes and a fact without a note, which nobody has opened yet."""
    folder = tmp_path / "memory"
    write_graph(folder, [note_object(number) for number in (1, 2, 3)])
    write_nugget(folder, "memory", [fact_object("user:a")])
    return folder


@pytest.fixture(autouse=True)
def _nobody_is_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that cannot be read is as whole as it will be, however young it is."""
    monkeypatch.setattr(exchange, "SETTLING_SECONDS", 0.0)


@pytest.fixture(autouse=True)
def _databases_made(monkeypatch: pytest.MonkeyPatch) -> None:
    make_databases(monkeypatch)
