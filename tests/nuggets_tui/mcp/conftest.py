"""A server on a memory of its own, which the tests of a module share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kits.mcp_client import AgentClient, connected

from core.memory import Memory
from core.model.note import Note


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served") / "memory"


@pytest.fixture(scope="module")
def agent(home: Path) -> Iterator[AgentClient]:
    """Claude Code, as it calls itself."""
    with connected(home) as client:
        yield client


@pytest.fixture
def stored(home: Path) -> Callable[[str], Note]:
    """Finds a note or fact by its title or key in the memory as it is now."""

    def found(title: str) -> Note:
        (note,) = (one for one in Memory.open(home, reconcile=False).snapshot.notes if one.title == title)
        return note

    return found
