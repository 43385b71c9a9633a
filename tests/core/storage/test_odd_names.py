"""Fact files whose names are no UTF-8: named, left alone, and in nobody's way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core import Memory
from core.facts.edits import remember
from core.model.snapshot import ProblemKind


@pytest.fixture
def odd(home: Path) -> bytes:
    """A fact file with such a name, beside the others."""
    path = os.path.join(os.fsencode(home), b"caf\xe9.nugget.json")
    with open(path, "wb") as file:
        file.write((home / "memory.nugget.json").read_bytes())
    return path


def test_a_fact_file_whose_name_is_no_utf_8_is_a_problem_and_stays_as_it_is(home: Path, odd: bytes) -> None:
    for reconcile in (False, True):
        memory = Memory.open(home, reconcile=reconcile)
        (problem,) = memory.snapshot.problems
        assert problem.kind is ProblemKind.UNREADABLE_FILE
        assert problem.where.isprintable()
    memory.change("store", lambda draft: remember(draft, "memory", "user:b", "new"))
    memory.maintenance.repair()
    with open(odd, "rb") as file:
        assert file.read().startswith(b"{")
    assert {fact.key for fact in Memory.open(home).snapshot.nuggets[-1].facts} == {"user:a", "user:b"}
    assert memory.maintenance.verify() != ()
