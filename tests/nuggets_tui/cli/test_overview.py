"""status, and the options that every command takes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

ORIGINAL = Path(__file__).parents[2] / "golden" / "original" / "store"


def test_an_empty_place_stays_empty(nuggets: Any) -> None:
    status = nuggets.json("status")
    assert (status["nuggets"], status["exists"]) == ([], False)
    assert "nuggets remember" in nuggets.ok("status")
    assert not nuggets.home.exists()


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


def test_status_counts_facts_notes_and_hidden_in_all_and_for_each_nugget(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "a key", "1")
    gone = nuggets.json("note", "add", "Old idea", "Not any more.", "--nugget", "project")
    nuggets.ok("note", "hide", gone["id"])
    nuggets.ok("note", "add", "Loose", "No fact here.", "--nugget", "loose")
    status = nuggets.json("status")
    loose, project = status["nuggets"]
    assert project == {
        "name": "project", "factCount": 1, "noteCount": 2, "hiddenCount": 1, "dimension": 16384, "banks": 4,
        "capacityUsedPct": 0.2, "capacityWarning": "",
    }  # fmt: skip
    assert (loose["name"], loose["factCount"], loose["noteCount"], loose["dimension"]) == ("loose", 0, 1, 0)
    # Both count all notes, and the hidden ones among them apart.
    assert (status["noteCount"], status["hiddenCount"], status["nuggetCount"]) == (3, 1, 2)
    lines = nuggets.ok("status").splitlines()
    rows = {line.split()[0]: line.split()[1:4] for line in lines if line.endswith("%")}
    assert rows == {"project": ["1", "1", "1"], "loose": ["0", "1", "0"]}
    assert len({line.find("%") for line in lines if line.endswith("%")}) == 1
    assert Path(status["graphFile"]) == nuggets.graph
    assert [Path(path).name for path in status["nuggetFiles"]] == ["project.nugget.json"]
    assert (status["home"], status["problems"], status["readOnly"]) == (str(nuggets.home), [], "")


def test_a_broken_fact_file_is_named_and_left_alone(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "a key", "1")
    broken = nuggets.home / "project.nugget.json"
    broken.write_bytes(broken.read_bytes()[:-9])
    before = nuggets.bytes()
    (problem,) = nuggets.json("status")["problems"]
    assert "project.nugget.json" in problem["where"]
    assert "project.nugget.json" in nuggets("status").stderr
    assert nuggets.bytes() == before


@pytest.mark.parametrize(
    "args",
    [
        ("--home", "{}", "--json", "notes", "--facts", "--nugget", "project"),
        ("notes", "--home", "{}", "--json", "--facts", "--nugget", "project"),
        ("notes", "--facts", "--nugget", "project", "--json", "--home", "{}"),
        ("--json", "notes", "--facts", "--nugget", "project", "--home={}"),
    ],
)
def test_home_and_json_stand_before_and_after_the_command(
    nuggets: Any, tmp_path: Path, args: tuple[str, ...]
) -> None:
    other = str(tmp_path / "other")
    nuggets.ok("--home", other, "remember", "project", "a key", "1")
    output = nuggets.ok(*(arg.format(other) for arg in args))
    assert json.loads(output) == [{"key": "a key", "value": "1", "hits": 0}]
    assert not nuggets.home.exists()


def test_a_home_beginning_with_a_tilde_is_the_persons_and_an_empty_one_is_refused(
    nuggets: Any, tmp_path: Path
) -> None:
    nuggets.ok("remember", "project", "a key", "1", "--home", "~/mine")
    assert (tmp_path / "mine" / "project.nugget.json").exists()
    assert "--home" in nuggets.fails("status", "--home", "")


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
