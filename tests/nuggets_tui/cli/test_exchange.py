"""The commands import and export: previews, answers, JSON, exit codes, standard input and output."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kits.memory_files import tree

from nuggets_tui.cli import exchange

SAMPLES = Path(__file__).parents[2] / "golden" / "exchange"
AGENTS = str(SAMPLES / "agents" / "AGENTS.md")


def test_import_says_what_it_took_the_source_for_and_how_to_undo_it(nuggets: Any) -> None:
    said = nuggets.ok("import", AGENTS)
    assert "It looks like instructions for agents (agents)." in said
    assert "Imported 4 notes; 1 skipped." in said
    assert "skipped  AGENTS.md: line 3" in said
    id = nuggets.json("log", "--limit", "1")[0]["id"]
    assert f"nuggets undo {id}" in said
    nuggets.ok("undo", id)
    assert nuggets.json("notes") == []


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
    (tmp_path / "facts.csv").write_text("nugget,key,value\nmemory,editor,Emacs\n")
    result = nuggets("import", "facts.csv")
    assert result.exit_code == 3
    assert "Helix" in result.stdout
    assert "Emacs" in result.stdout
    document = nuggets.json("import", "facts.csv", code=3)
    assert [(one["ours"], one["theirs"]) for one in document["conflicts"]] == [("Helix", "Emacs")]
    assert nuggets.bytes() == before


def test_a_broken_source_is_one_line_with_the_place(nuggets: Any, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text('{"results": [\n{"memory": }\n]}')
    said = nuggets.fails("import", "broken.json")
    assert "broken.json: line 2: is not valid JSON" in said
    assert "nothing was imported" in said
    assert "--format" in nuggets.fails("import", "broken.json", "--format", "csv")
    assert "there is no such file" in nuggets.fails("import", "gone.md", code=1)
    assert "nugget" in nuggets.fails("import", AGENTS, "--nugget", "../evil")


def test_hostile_names_reach_no_terminal(nuggets: Any, tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("- \x1b[2Jclear \u202ethe screen\n")
    said = nuggets.ok("import", "AGENTS.md")
    assert "\x1b" not in said
    assert "\u202e" not in said


def test_a_warning_tells_of_imported_credentials(nuggets: Any, tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("- the token is ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\n")
    assert "nuggets secrets" in nuggets("import", "AGENTS.md").stderr


def test_what_is_imported_is_warned_of_in_the_form_in_which_remember_warns(
    nuggets: Any, tmp_path: Path
) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    nuggets("remember", "home", "token", token)
    told = nuggets("remember", "home", "other token", token).stderr
    (noted,) = [note["id"] for note in nuggets.notes() if note["title"] == "other token"]
    (tmp_path / "one.md").write_text(f"- the token is {token}\n")
    (tmp_path / "many.md").write_text("".join(f"- token {one} is {token}\n" for one in range(7)))
    said = nuggets("import", "one.md", "--format", "agents").stderr
    known = {note["id"] for note in nuggets.notes()}
    (new,) = [
        note["id"]
        for note in nuggets.notes()
        if token in note["content"] and note["id"] not in (noted,) and not note["id"].startswith("fact-")
    ]
    assert said == told.replace("this fact", "this note").replace(noted, new)
    document = json.loads(nuggets("import", "many.md", "--format", "agents", "--json").stdout)
    assert len(document["warnings"]) == 7
    assert {one["code"] for one in document["warnings"]} == {"credential"}
    assert not {one["id"] for one in document["warnings"]} & known
    (tmp_path / "more.md").write_text("".join(f"- token {one} was {token}\n" for one in range(7)))
    lines = nuggets("import", "more.md", "--format", "agents").stderr.splitlines()
    assert len(lines) == 6
    assert lines[-1] == "warning: 2 more like these; nuggets secrets lists credentials"


def test_export_and_import_through_pipes_give_the_same_memory(nuggets: Any, tmp_path: Path) -> None:
    nuggets.ok("import", AGENTS)
    nuggets.ok("remember", "memory", "editor", "Helix")
    nuggets.ok("forget", "memory", "editor")
    data = nuggets("export", "-").stdout_bytes
    assert json.loads(data)["format"] == "nuggets-memory"
    nuggets.ok("--home", "second", "import", "-", input=data)
    assert tree(tmp_path / "second") == tree(nuggets.home)
    assert "carried over the history of another folder" in nuggets.ok("--home", "second", "log")
    (tmp_path / "whole.json").write_bytes(data)
    assert nuggets.json("--home", "second", "verify", "--against", "whole.json")["identical"]
    nuggets.ok("--home", "second", "remember", "memory", "shell", "fish")
    told = nuggets.json("--home", "second", "verify", "--against", "whole.json", code=1)
    assert not told["identical"]
    assert "memory: shell" in {one["where"] for one in told["differences"]}


@pytest.mark.parametrize(
    ("name", "format"), [("plain", "JSON"), ("notes.md", "JSON"), ("a.csv", "CSV"), ("folder/", "Markdown")]
)
def test_an_export_says_which_format_it_took(nuggets: Any, tmp_path: Path, name: str, format: str) -> None:
    assert f" {format} " in nuggets.ok("export", f"{tmp_path}/{name}")


def test_reading_for_an_export_writes_nothing_into_the_memory(nuggets: Any) -> None:
    nuggets.ok("import", AGENTS)
    before, log = nuggets.bytes(), nuggets.json("log")
    nuggets.ok("export", "whole.json")
    nuggets.ok("export", "vault", "--format", "markdown")
    nuggets.ok("export", "facts.csv")
    assert nuggets.bytes() == before
    assert nuggets.json("log") == log


def test_the_target_says_which_format_is_meant(nuggets: Any, tmp_path: Path) -> None:
    nuggets.ok("remember", "memory", "editor", "Helix")
    assert (
        nuggets.ok("export", "--format", "csv")
        == "nugget,key,value,hits,last_hit_session\nmemory,editor,Helix,0,\n"
    )
    nuggets.ok("export", "facts.csv")
    nuggets.ok("export", "vault/")
    assert (tmp_path / "facts.csv").read_text().startswith("nugget,key")
    assert list((tmp_path / "vault" / "memory").glob("editor - *.md"))
    assert nuggets.json("export", "vault")["format"] == "markdown"
    assert "--force" in nuggets.fails("export", "facts.csv", code=3)
    assert "folder" in nuggets.fails("export", "--format", "markdown")
    (tmp_path / "whole.json").write_text("mine")
    assert "--force" in nuggets.fails("export", "whole.json", code=3)
    nuggets.ok("export", "whole.json", "--force")
    assert nuggets.json("export", "whole.json")["notes"] == 1
    assert (tmp_path / "whole.json").stat().st_mode & 0o777 == 0o600


def test_a_folder_of_claude_code_comes_by_the_name_of_its_project(nuggets: Any, tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "projects" / "-home-me-app"
    shutil.copytree(SAMPLES / "claude", folder / "memory")
    assert nuggets.json("import", str(folder))["format"] == "claude"


def test_progress_is_shown_on_a_terminal_and_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(exchange, "is_terminal", lambda one: True)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(exchange, "_EVERY_SECONDS", 0.0)
    line = exchange.ProgressLine("Importing", "notes")
    line(0, 10_000)
    line(5_000, 10_000)
    line.end()
    assert "Importing … 5,000 of 10,000 notes" in stream.getvalue()
    assert stream.getvalue().split("\r")[-2].strip() == ""
    monkeypatch.setattr(exchange, "is_terminal", lambda one: False)
    silent = exchange.ProgressLine("Importing", "notes")
    silent(1, 2)
    silent.end()
    assert stream.getvalue().count("Importing") == 2
