"""Items of a file that cannot be read: the first are named one by one, the others are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import Memory
from core.storage.format import documents


@pytest.mark.parametrize("item", ["{{}}", '{{"id": "{0}"}}'], ids=["alike", "different"])
def test_what_cannot_be_read_is_put_into_no_history_piece_by_piece(tmp_path: Path, item: str) -> None:
    (tmp_path / "graph").mkdir()
    notes, facts = ([item.format(number) for number in range(20_000)] for _ in range(2))
    (tmp_path / "graph" / "graph.json").write_text(f'{{"version": 3, "notes": [{",".join(notes)}]}}')
    (tmp_path / "a.nugget.json").write_text(f'{{"name": "a", "facts": [{",".join(facts)}]}}')
    memory = Memory.open(tmp_path)
    memory.maintenance.verify()
    memory.close()
    # The bytes stay in the files; a row for each took twenty times their size.
    assert (tmp_path / "nuggets.db").stat().st_size < 500_000
    assert len(list((tmp_path / "quarantine").iterdir())) < 500


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
