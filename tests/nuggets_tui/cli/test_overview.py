"""status, and the options that every command takes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

ORIGINAL = Path(__file__).parents[2] / "golden" / "original" / "store"


def test_without_a_memory_in_the_usual_folder_the_one_of_the_newest_original_is_named_and_how_to_open_it(
    nuggets: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NUGGETS_HOME")
    assert "--home" not in nuggets("status").output
    shutil.copytree(ORIGINAL, tmp_path / ".donna")
    opens = f"nuggets --home {tmp_path / '.donna'}"
    assert opens in nuggets.ok("status")
    assert [opens in warning for warning in nuggets.json("status")["warnings"]] == [True]
    missed = nuggets("recall", "what")
    assert (missed.exit_code, opens in missed.stderr) == (1, True)
    assert not (tmp_path / ".nuggets").exists()
    assert opens in nuggets("remember", "project", "a key", "1").stderr
    assert opens not in nuggets("status").output
    assert "--home" not in nuggets("status", "--home", str(tmp_path / "other")).output


def test_a_broken_fact_file_is_named_and_left_alone(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "a key", "1")
    broken = nuggets.home / "project.nugget.json"
    broken.write_bytes(broken.read_bytes()[:-9])
    before = nuggets.bytes()
    (problem,) = nuggets.json("status")["problems"]
    assert "project.nugget.json" in problem["where"]
    assert "project.nugget.json" in nuggets("status").stderr
    assert nuggets.bytes() == before


@pytest.mark.slow
def test_looking_at_a_memory_of_the_original_changes_no_byte_of_it(nuggets: Any) -> None:
    shutil.copytree(ORIGINAL, nuggets.home)
    before = nuggets.bytes()
    note = nuggets.json("notes", "--include-hidden")[0]
    for args in (
        ("status",),
        ("notes", "--facts", "--nugget", "memory"),
        ("note", "show", note["id"]),
        ("search", note["title"], "--include-hidden"),
        ("reflect", "--dry-run"),
    ):
        nuggets.ok(*args)
        nuggets.json(*args)
    assert nuggets.bytes() == before


def write_settings(nuggets: Any, text: str) -> None:
    nuggets.home.mkdir(parents=True, exist_ok=True)
    (nuggets.home / "settings.toml").write_text(text, encoding="utf-8")


def test_status_lists_every_line_of_the_settings_that_is_not_followed_with_what_may_be_meant(
    nuggets: Any,
) -> None:
    wrong_keys = "".join(f'{name} = "ctrl+y"\n' for name in ("serch", "hidee", "linkk", "undoo", "quitt"))
    write_settings(nuggets, f'[app]\ntheme = "nuggets-lite"\nvimm = true\n[keys]\n{wrong_keys}')
    warnings = "\n".join(nuggets.json("status")["warnings"])
    for meant in ("search", "hide", "link", "undo", "quit", "app.vim"):
        assert f"did you mean {meant}?" in warnings
    assert "did you mean quit?" in nuggets.ok("status")


@pytest.mark.parametrize("settings", ["[app]\nvim = 3\n", "[app]\nvim = 3\ntheme = 7\n", "[app"])
def test_status_tells_a_problem_of_the_settings_once_and_other_commands_beside_their_answer(
    nuggets: Any, settings: str
) -> None:
    write_settings(nuggets, settings)
    for more in ((), ("--json",)):
        told = nuggets("status", *more)
        assert ("settings.toml" in told.stdout, told.stderr) == (True, "")
    assert "settings.toml" in nuggets("notes").stderr
