"""list, status, and the options that every command takes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

ORIGINAL = Path(__file__).parents[2] / "golden" / "original" / "store"


def test_an_empty_place_is_an_empty_list_and_stays_empty(nuggets: Any) -> None:
    assert nuggets.json("list") == []
    assert "remember" in nuggets.ok("list")
    assert nuggets.json("status")["exists"] is False
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
    assert opens in nuggets("list").stderr
    assert not (tmp_path / ".nuggets").exists()
    assert opens in nuggets("remember", "project", "a key", "1").stderr
    assert opens not in nuggets("status").output
    assert "--home" not in nuggets("status", "--home", str(tmp_path / "other")).output


def test_list_counts_facts_notes_and_hidden(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "a key", "1")
    gone = nuggets.json("note", "add", "Old idea", "Not any more.", "--nugget", "project")
    nuggets.ok("note", "hide", gone["id"])
    nuggets.ok("note", "add", "Loose", "No fact here.", "--nugget", "loose")
    loose, project = nuggets.json("list")
    assert project == {
        "name": "project",
        "factCount": 1,
        "noteCount": 2,
        "hiddenCount": 1,
        "dimension": 16384,
        "banks": 4,
        "capacityUsedPct": 0.2,
        "capacityWarning": "",
    }
    assert (loose["name"], loose["factCount"], loose["noteCount"], loose["dimension"]) == ("loose", 0, 1, 0)
    lines = nuggets.ok("list").splitlines()
    assert len(lines) == 3
    assert len({line.find("%") for line in lines[1:]}) == 1


def test_status_gives_totals_and_paths(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "a key", "1")
    status = nuggets.json("status")
    assert status["home"] == str(nuggets.home)
    assert (status["nuggetCount"], status["factCount"], status["noteCount"]) == (1, 1, 1)
    assert Path(status["graphFile"]) == nuggets.graph
    assert [Path(path).name for path in status["nuggetFiles"]] == ["project.nugget.json"]
    assert status["problems"] == []
    assert status["readOnly"] == ""
    assert "1 fact" in nuggets.ok("status")


def test_a_broken_fact_file_is_named_and_left_alone(nuggets: Any) -> None:
    nuggets.ok("remember", "project", "a key", "1")
    broken = nuggets.home / "project.nugget.json"
    broken.write_bytes(broken.read_bytes()[:-9])
    before = nuggets.bytes()
    status = nuggets.json("status")
    assert len(status["problems"]) == 1
    assert "project.nugget.json" in status["problems"][0]["where"]
    assert "project.nugget.json" in nuggets("list").stderr
    assert nuggets.bytes() == before


@pytest.mark.parametrize(
    "args",
    [
        ("--home", "{}", "--json", "facts", "project"),
        ("facts", "--home", "{}", "--json", "project"),
        ("facts", "project", "--json", "--home", "{}"),
        ("--json", "facts", "project", "--home={}"),
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


def test_a_home_beginning_with_a_tilde_is_the_persons(nuggets: Any, tmp_path: Path) -> None:
    nuggets.ok("remember", "project", "a key", "1", "--home", "~/mine")
    assert (tmp_path / "mine" / "project.nugget.json").exists()


def test_an_empty_home_is_refused(nuggets: Any) -> None:
    assert "--home" in nuggets.fails("list", "--home", "")


@pytest.mark.slow
def test_looking_at_a_memory_of_the_original_changes_no_byte_of_it(nuggets: Any) -> None:
    shutil.copytree(ORIGINAL, nuggets.home)
    before = nuggets.bytes()
    note = nuggets.json("notes", "--include-hidden")[0]
    for args in (
        ("list",),
        ("status",),
        ("facts", "memory"),
        ("note", "show", note["id"]),
        ("search", note["title"], "--include-hidden"),
        ("reflect", "--dry-run"),
    ):
        nuggets.ok(*args)
        nuggets.json(*args)
    assert nuggets.bytes() == before


def test_status_lists_every_line_of_the_settings_that_is_not_followed_with_what_may_be_meant(
    nuggets: Any,
) -> None:
    nuggets.home.mkdir(parents=True, exist_ok=True)
    wrong_keys = "".join(f'{name} = "ctrl+y"\n' for name in ("serch", "hidee", "linkk", "undoo", "quitt"))
    settings = f'[app]\ntheme = "nuggets-lite"\nvimm = true\n[keys]\n{wrong_keys}'
    (nuggets.home / "settings.toml").write_text(settings, encoding="utf-8")
    warnings = "\n".join(nuggets.json("status")["warnings"])
    for meant in ("search", "hide", "link", "undo", "quit", "app.vim"):
        assert f"did you mean {meant}?" in warnings
    assert "did you mean quit?" in nuggets.ok("status")


@pytest.mark.parametrize("settings", ["[app]\nvim = 3\n", "[app]\nvim = 3\ntheme = 7\n", "[app"])
def test_status_tells_a_problem_of_the_settings_once_and_other_commands_beside_their_answer(
    nuggets: Any, settings: str
) -> None:
    nuggets.home.mkdir(parents=True, exist_ok=True)
    (nuggets.home / "settings.toml").write_text(settings, encoding="utf-8")
    told = nuggets("status")
    assert "settings.toml" in told.stdout
    assert told.stderr == ""
    as_document = nuggets("status", "--json")
    assert "settings.toml" in as_document.stdout
    assert as_document.stderr == ""
    assert "settings.toml" in nuggets("list").stderr


def test_names_that_mean_nothing_are_told_in_one_form_wherever_they_stand(nuggets: Any) -> None:
    nuggets.home.mkdir(parents=True, exist_ok=True)
    (nuggets.home / "settings.toml").write_text(
        'theme = "nord"\n"a.b" = 1\n[backup]\n[promotion]\nthreshhold = 2\n[pipeline.worker]\nmaxRetrys = 2\n'
        "[pipeline.telemetry]\nretention_days = 3\n",
        encoding="utf-8",
    )
    warnings = [warning.rpartition("settings.toml: ")[2] for warning in nuggets.json("status")["warnings"]]
    assert sorted(warnings) == [
        "a.b: no such setting",
        "backup: no such setting (did you mean backups?)",
        "pipeline.telemetry: reserved",
        "pipeline.worker.maxRetrys: no such setting (did you mean pipeline.worker.max_retries?)",
        "promotion.threshhold: no such setting (did you mean promotion.threshold?)",
        "theme: no such setting (did you mean app.theme?)",
    ]


def test_status_tells_what_of_the_pipelines_settings_is_not_followed(nuggets: Any) -> None:
    nuggets.home.mkdir(parents=True, exist_ok=True)
    settings = nuggets.home / "settings.toml"
    settings.write_text("[pipeline]\nshadowMod = true\n[pipeline.worker]\npollMs = 5\n", encoding="utf-8")
    warnings = "\n".join(nuggets.json("status")["warnings"])
    assert "(did you mean pipeline.shadow_mode?); true is used" in warnings
    assert ": pipeline.worker.poll_ms: 5 is not usable (from 100 to 60,000); 2000 is used" in warnings
    assert warnings.count("no such setting") == 1
    settings.write_text("[pipeline", encoding="utf-8")
    assert len(nuggets.json("status")["warnings"]) == 1
    nuggets.ok("ingest", "-", input="The billing service listens on port 8443.")
    assert nuggets.json("pipeline")["mode"] == "off"


def test_list_and_status_count_notes_alike_and_say_hidden_apart(nuggets: Any) -> None:
    nuggets.ok("remember", "app", "k", "v")
    nuggets.ok("note", "add", "One", "text", "--nugget", "notes-only")
    nuggets.ok("note", "add", "Two", "text", "--nugget", "notes-only")
    nuggets.ok("note", "hide", "Two")
    rows = {line.split()[0]: line.split()[1:4] for line in nuggets.ok("list").splitlines()[1:]}
    assert rows == {"app": ["1", "1", "0"], "notes-only": ["0", "1", "1"]}
    assert "2 nuggets · 1 fact · 2 notes, 1 hidden" in nuggets.ok("status")
    # In JSON both count all notes, and the hidden ones among them apart.
    listed, status = nuggets.json("list"), nuggets.json("status")
    for name in ("noteCount", "hiddenCount"):
        assert sum(row[name] for row in listed) == status[name]
    assert (status["noteCount"], status["hiddenCount"], status["nuggetCount"]) == (3, 1, 2)
