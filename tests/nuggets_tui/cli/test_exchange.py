"""The commands import and export: previews, answers, JSON, exit codes, standard input and output."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kits.memory_files import tree

SAMPLES = Path(__file__).parents[2] / "golden" / "exchange"
AGENTS = str(SAMPLES / "agents" / "AGENTS.md")


def test_a_dry_run_changes_nothing_and_its_ids_choose(nuggets: Any) -> None:
    document = nuggets.json("import", AGENTS, "--dry-run")
    assert not nuggets.home.exists()
    assert (document["dryRun"], document["format"], document["detected"]) == (True, "agents", True)
    wanted = next(entry["id"] for entry in document["entries"] if entry["title"] == "Tests")
    done = nuggets.json("import", AGENTS, "--accept", wanted)
    assert (done["imported"], done["left"], done["dryRun"]) == (1, 3, False)
    assert [note["title"] for note in nuggets.notes()] == ["Tests"]
    assert "new-ffff" in nuggets.fails("import", AGENTS, "--accept", "new-ffff", code=1)


def test_the_json_of_an_import_holds_counts_and_the_change_set_as_the_log_has_it(nuggets: Any) -> None:
    document = nuggets.json("import", AGENTS)
    assert (document["version"], document["imported"], document["same"]) == (1, 4, 0)
    assert document["skipped"] == [{"where": "AGENTS.md: line 3", "reason": "4 lines are no bullets"}]
    (logged,) = nuggets.json("log")
    assert document["changeSet"] == logged
    again = nuggets.json("import", AGENTS)
    assert (again["imported"], again["same"], again["changeSet"]["changes"]) == (0, 4, [])


def test_a_person_is_shown_what_would_come_and_asked(
    nuggets: Any, at_keyboard: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_keyboard()
    declined = nuggets("import", AGENTS, input="n\n")
    assert declined.exit_code == 0
    assert "Would import 4 notes" in declined.stderr + declined.stdout
    assert "Nothing was changed." in declined.stdout
    assert not nuggets.home.exists()
    assert nuggets("import", AGENTS, input="y\n").exit_code == 0
    assert len(nuggets.notes()) == 4
    nuggets.ok("undo")
    nuggets.ok("import", AGENTS, "--yes")
    assert len(nuggets.notes()) == 4


def test_a_conflict_is_shown_with_both_texts_and_exit_code_3(nuggets: Any, tmp_path: Path) -> None:
    nuggets.ok("remember", "memory", "editor", "Helix")
    before = nuggets.bytes()
    (tmp_path / "memory.nugget.json").write_text(
        '{"version": 4, "name": "memory", "facts": [{"key": "editor", "value": "Emacs"}]}'
    )
    result = nuggets("import", "memory.nugget.json")
    assert result.exit_code == 3
    assert "Helix" in result.stdout
    assert "Emacs" in result.stdout
    document = nuggets.json("import", "memory.nugget.json", code=3)
    assert [(one["ours"], one["theirs"]) for one in document["conflicts"]] == [("Helix", "Emacs")]
    assert nuggets.bytes() == before


def test_a_broken_source_is_one_line_with_the_place(nuggets: Any, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text('{"results": [\n{"memory": }\n]}')
    assert "broken.json: line 2" in nuggets.fails("import", "broken.json")
    nuggets.fails("import", "broken.json", "--format", "engram")
    nuggets.fails("import", "gone.md", code=1)
    nuggets.fails("import", AGENTS, "--nugget", "../evil")
    assert not nuggets.home.exists()


def test_each_imported_credential_is_a_warning_that_names_its_note(nuggets: Any, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    nuggets("remember", "home", "token", token)
    known = {note["id"] for note in nuggets.notes()}
    (tmp_path / "many.md").write_text("".join(f"- token {one} is {token}\n" for one in range(7)))
    document = json.loads(nuggets("import", "many.md", "--format", "agents", "--json").stdout)
    assert {one["code"] for one in document["warnings"]} == {"credential"}
    assert {one["id"] for one in document["warnings"]} == {note["id"] for note in nuggets.notes()} - known
    (tmp_path / "more.md").write_text("".join(f"- token {one} was {token}\n" for one in range(7)))
    # As many as are read: the last line counts the others.
    assert len(nuggets("import", "more.md", "--format", "agents").stderr.splitlines()) == 6


def test_export_and_import_through_pipes_give_the_same_memory(nuggets: Any, tmp_path: Path) -> None:
    nuggets.ok("import", AGENTS)
    nuggets.ok("remember", "memory", "editor", "Helix")
    nuggets.ok("forget", "memory", "editor")
    data = nuggets("export", "-").stdout_bytes
    assert json.loads(data)["format"] == "nuggets-memory"
    nuggets.ok("--home", "second", "import", "-", input=data)
    assert tree(tmp_path / "second") == tree(nuggets.home)


@pytest.mark.parametrize(
    ("name", "format"), [("plain", "json"), ("notes.md", "json"), ("folder/", "markdown")]
)
def test_the_name_of_the_target_says_which_format_is_meant(
    nuggets: Any, tmp_path: Path, name: str, format: str
) -> None:
    assert nuggets.json("export", f"{tmp_path}/{name}")["format"] == format


def test_reading_for_an_export_writes_nothing_into_the_memory(nuggets: Any) -> None:
    nuggets.ok("import", AGENTS)
    before, log = nuggets.bytes(), nuggets.json("log")
    nuggets.ok("export", "whole.json")
    nuggets.ok("export", "vault", "--format", "markdown")
    assert nuggets.bytes() == before
    assert nuggets.json("log") == log


def test_an_export_replaces_only_an_earlier_one_and_is_for_its_owner_alone(
    nuggets: Any, tmp_path: Path
) -> None:
    nuggets.ok("remember", "memory", "editor", "Helix")
    nuggets.fails("export", "--format", "markdown")
    (tmp_path / "whole.json").write_text("mine")
    nuggets.fails("export", "whole.json", code=3)
    nuggets.ok("export", "whole.json", "--force")
    assert nuggets.json("export", "whole.json")["notes"] == 1
    assert (tmp_path / "whole.json").stat().st_mode & 0o777 == 0o600
