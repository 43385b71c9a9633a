"""Databases as the product makes them, step by step."""

from __future__ import annotations

import pytest
from kits.made_databases import make_databases


@pytest.fixture(autouse=True)
def _databases_made(monkeypatch: pytest.MonkeyPatch) -> None:
    make_databases(monkeypatch)
