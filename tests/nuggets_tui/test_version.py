"""`--version`: the version as installed, as quickly as Python starts, and the same by every way."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from click.testing import CliRunner

from nuggets_tui.cli import program
from nuggets_tui.process import installed_version

ROOT = Path(__file__).parents[2]


def described() -> str | None:
    try:
        return version("nuggets-tui")
    except PackageNotFoundError:
        return None


def test_the_version_is_the_one_that_the_package_describes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert installed_version() == described()
    for name in ("nuggets_tui-9.8.7.dist-info", "nuggets_tui_extra-1.0.dist-info"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "gone"), str(tmp_path), *sys.path])
    assert installed_version() == "9.8.7"
    # Of two, the library that knows all rules says which it is.
    (tmp_path / "nuggets_tui-9.8.6.dist-info").mkdir()
    assert installed_version() in ("9.8.6", "9.8.7", described())


@pytest.mark.slow
def test_the_short_way_prints_what_the_command_line_prints_and_loads_none_of_it() -> None:
    code = (
        "import atexit, sys; sys.argv = ['nuggets', '--version']\n"
        "atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))\n"
        "from nuggets_tui.entry import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    usual = CliRunner().invoke(program, ["--version"])
    assert (done.stdout, 0) == (usual.stdout, usual.exit_code)
    assert not {"click", "core.memory", "importlib.metadata", "msgspec"} & set(done.stderr.split())
    told = json.loads(CliRunner().invoke(program, ["--json", "--version"]).stdout)
    assert told["version"] == installed_version()


@pytest.mark.slow
def test_looking_at_facts_loads_nothing_that_only_imports_and_repairs_need(home: Path) -> None:
    code = (
        f"import atexit, sys; sys.argv = ['nuggets', '--home', {str(home)!r}, 'status']\n"
        "atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))\n"
        "from nuggets_tui.entry import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    rarely = {
        "core.exchange.plan",
        "core.storage.recovery.repair_files",
        "core.text.secrets",
        "core.promotion.run",
    }
    assert "core.storage.store" in done.stderr.split()
    assert not rarely & set(done.stderr.split())
