"""Items of a file that cannot be read: the first are named one by one, the others are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import Memory
from core.storage.format import documents


def test_many_unreadable_notes_are_few_problems_and_each_text_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[bytes] = []
    real = documents.read_note
    monkeypatch.setattr(documents, "read_note", lambda raw, rules: (read.append(raw), real(raw, rules))[1])
    graph = tmp_path / "graph" / "graph.json"
    graph.parent.mkdir()
    graph.write_text('{"version": 3, "notes": [' + ",".join(["{}"] * 20_000) + "]}")
    (tmp_path / "a.nugget.json").write_text('{"name": "a", "facts": [' + ",".join(["5"] * 5_000) + "]}")
    problems = Memory.open(tmp_path, reconcile=False).snapshot.problems
    assert len(problems) < 300
    assert [one.place for one in problems if "more" in one.place] == ["19,900 more", "4,900 more"]
    assert len(read) < 300
