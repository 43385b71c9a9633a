"""A server on a memory of its own, which the tests of a module share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kits.mcp_client import AgentClient, connected


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served") / "memory"


@pytest.fixture(scope="module")
def agent(home: Path) -> Iterator[AgentClient]:
    """Claude Code, as it calls itself."""
    with connected(home) as client:
        yield client
