"""How the command line opens the app."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Folders that the app was opened on; the app itself ends at once with exit code 7."""
    homes: list[Path] = []

    def run_app(home: Path, *, notice: str = "", demo: bool = False) -> int:
        homes.append(home)
        assert demo is (home.name != "memory" and "demo" in home.name)
        if notice:
            assert (home / "graph" / "graph.json").exists()
        return 7

    monkeypatch.setattr("nuggets_tui.app.run_app", run_app)
    for module in ("nuggets_tui.cli", "nuggets_tui.cli.overview"):
        monkeypatch.setattr(f"{module}.has_terminal", lambda: True)
    return homes


def test_without_a_command_the_app_opens_on_the_memory(
    nuggets: Any, opened: list[Path], tmp_path: Path
) -> None:
    assert nuggets().exit_code == 7
    assert nuggets("--home", str(tmp_path / "other")).exit_code == 7
    assert opened == [nuggets.home, tmp_path / "other"]
    assert not nuggets.home.exists()


def test_the_demo_opens_on_a_copy_that_goes_afterwards(nuggets: Any, opened: list[Path]) -> None:
    assert nuggets("demo").exit_code == 7
    (home,) = opened
    assert home != nuggets.home
    assert not home.exists()
    assert not nuggets.home.exists()
