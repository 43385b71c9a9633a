"""`nuggets team trust`: a person's yes, which no agent and no script can give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kits.team_pages import write_team

PAGES = {"zebra.md": "# Zebra\n\nPress the zebra button.\n"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nuggets: Any) -> Path:
    folder = write_team(tmp_path / "shop", PAGES, trusted=False)
    monkeypatch.chdir(tmp_path / "shop")
    return folder


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    return lambda: monkeypatch.setattr("nuggets_tui.cli.invocation.can_ask", lambda: True)


def test_nothing_is_found_until_a_person_says_yes_and_one_line_says_how(
    folder: Path, nuggets: Any, person: Callable[[], None]
) -> None:
    found = nuggets("search", "zebra")
    assert found.exit_code == 1
    assert [line for line in found.stderr.splitlines() if "nuggets team trust" in line] == [
        line for line in found.stderr.splitlines() if "1 note" in line
    ]
    assert nuggets.json("team")["trusted"] is None
    person()
    assert nuggets.json("team", "trust")["trusted"] is True
    assert [hit["whose"] for hit in nuggets.json("search", "zebra")] == ["team"]
    assert nuggets.json("team")["trusted"] is True
    nuggets.ok("team", "trust", "--off")
    found = nuggets("search", "zebra")
    assert (found.exit_code, "trust" in found.stderr) == (1, False)


@pytest.mark.parametrize("agent", ["", "CLAUDECODE", "CODEX_THREAD_ID", "AI_AGENT"])
def test_no_script_and_no_agent_gives_it(
    folder: Path, nuggets: Any, person: Callable[[], None], monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    if agent:
        person()
        monkeypatch.setenv(agent, "x1")
    assert "nothing was changed" in nuggets.fails("team", "trust")
    assert nuggets.json("team")["trusted"] is None


@pytest.mark.parametrize(
    "words",
    [("search", "zebra"), ("recall", "zebra button"), ("notes",), ("note", "show", "Zebra"), ("export", "-")],
)
def test_an_agent_reads_nothing_of_an_untrusted_folder_that_it_names_as_its_memory(
    folder: Path, nuggets: Any, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    named = ("--home", str(folder), *words)
    assert nuggets(*named).exit_code == 0 or words[0] == "export"
    monkeypatch.setenv("CLAUDECODE", "1")
    refused = nuggets(*named)
    assert refused.exit_code == 2
    assert "zebra" not in refused.stdout.lower()


@pytest.mark.parametrize("link", ["memory", "dotn/notes"])
def test_a_link_to_an_untrusted_folder_gets_an_agent_no_further(
    folder: Path, nuggets: Any, monkeypatch: pytest.MonkeyPatch, link: str
) -> None:
    root = folder.parent.parent
    (root / "memory").symlink_to(Path(".nuggets", "notes"))
    (root / "dotn").symlink_to(".nuggets")
    monkeypatch.setenv("CLAUDECODE", "1")
    assert "zebra" not in nuggets("--home", str(root / link), "search", "zebra").stdout.lower()


def test_a_folder_that_a_person_makes_is_trusted(
    tmp_path: Path, nuggets: Any, person: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "new").mkdir()
    monkeypatch.chdir(tmp_path / "new")
    person()
    nuggets.ok("team", "init")
    assert nuggets.json("team")["trusted"] is True
