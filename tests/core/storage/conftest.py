"""Storage tests write thousands of small files; whether the disk has them is the business of a test of its own."""

from __future__ import annotations

import os

import pytest

from core.storage import ledger


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "durable" not in request.node.name:
        monkeypatch.setattr(os, "fsync", lambda _: None)
        monkeypatch.setattr(ledger, "DURABLE", "OFF")
        monkeypatch.setattr(ledger, "RELAXED", "OFF")
