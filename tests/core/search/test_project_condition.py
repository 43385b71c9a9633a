"""`project:NAME` admits the notes of all nuggets of a project, by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.facts.edits import remember
from core.memory import Memory
from core.model.infer import MetaInput
from core.projects import Project, register


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    made = Memory.open(tmp_path)
    for nugget, key in (("scanner", "port"), ("deploys", "target"), ("prefs", "editor"), ("website", "host")):
        scope = "user" if nugget == "prefs" else "project"
        meta = MetaInput(scope=scope)
        made.change("x", lambda draft, n=nugget, k=key, m=meta: remember(draft, n, k, f"the {k}", meta=m))
    register(str(tmp_path), Project("scanner", "/work/scanner"), "deploys", ())
    return Memory.open(tmp_path)


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("project:scanner", {"port", "target"}),
        ("project:Scanner", {"port", "target"}),
        ("project:website", {"host"}),
        ("project:scanner,website", {"port", "target", "host"}),
        ("-project:scanner", {"editor", "host"}),
        ("target project:website", set()),
        ("project:port", {"port"}),
    ],
)
def test_the_condition_admits_a_projects_nuggets(memory: Memory, query: str, titles: set[str]) -> None:
    assert {hit.note.title for hit in memory.search(query)} == titles
