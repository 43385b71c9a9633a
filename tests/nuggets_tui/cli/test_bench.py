"""`nuggets bench`: recall and search measured on questions with known answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SET = {
    "name": "small",
    "collections": [
        {
            "notes": [{"id": "a", "title": "Backups", "content": "Every night at two."}],
            "queries": [{"text": "backups", "relevant": {"a": 1}}, {"text": "zebra", "relevant": {}}],
        }
    ],
}


def test_own_questions_and_prepared_sets_come_in_one_document(nuggets: Any, tmp_path: Path) -> None:
    nuggets.ok("remember", "app", "test command", "pytest -q")
    folder = tmp_path / "sets"
    folder.mkdir()
    (folder / "small.json").write_text(json.dumps(SET))
    (folder / "questions.toml").write_text('[[question]]\ntext = "test command"\nexpect = "test command"\n')
    prepared, own = nuggets.json("bench", str(folder))
    assert (prepared["name"], prepared["notes"], prepared["questions"]) == ("small", 1, 2)
    assert (own["name"], own["right"]["number"], own["right"]["total"]) == ("questions", 1, 1)
    assert prepared["unanswerableClaimed"]["total"] == 1
    assert {one["from"] for one in prepared["reliability"]} == {0.7, 0.8, 0.9, 0.95}
    said = nuggets.ok("bench", str(folder))
    assert "small" in said
    assert "1/1" in said


def test_what_is_no_set_ends_with_one_error(nuggets: Any, tmp_path: Path) -> None:
    for name, text in (("a.json", "{"), ("b.toml", "x = 1"), ("c.json", '{"collections": 3}')):
        (tmp_path / name).write_text(text)
        nuggets.fails("bench", str(tmp_path / name), code=2)
    nuggets.fails("bench", str(tmp_path / "nothing"), code=2)
