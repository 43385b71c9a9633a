"""Storage tests write thousands of small files; whether the disk has them is the business of a test of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from kits.memory_files import fact_object, note_object, write_graph, write_nugget

from core.storage import ledger


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "durable" not in request.node.name:
        monkeypatch.setattr(os, "fsync", lambda _: None)
        monkeypatch.setattr(ledger, "DURABLE", "OFF")
        monkeypatch.setattr(ledger, "RELAXED", "OFF")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A memory of three notes and a fact without a note, which nobody has opened yet."""
    folder = tmp_path / "memory"
    write_graph(folder, [note_object(number) for number in (1, 2, 3)])
    write_nugget(folder, "memory", [fact_object("user:a")])
    return folder
