"""The command that adds the pipeline's libraries fits the way in which nuggets-tui was installed."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from core.pipeline.extra import install_command


@pytest.mark.parametrize(
    ("marker", "begins"),
    [("pipx_metadata.json", "pipx inject nuggets-tui "), ("uv-receipt.toml", "uv pip install --python ")],
)
def test_an_environment_of_pipx_or_uv_is_added_to_by_the_tool_that_made_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marker: str, begins: str
) -> None:
    (tmp_path / marker).touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert install_command().startswith(begins)
    assert install_command().endswith("httpx2")


def test_any_other_environment_is_added_to_by_its_own_pip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/of mine/bin/python")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    assert install_command() == "'/of mine/bin/python' -m pip install 'nuggets-tui[pipeline]'"


def test_an_environment_without_pip_is_added_to_by_uv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert install_command().startswith("uv pip install --python ")
