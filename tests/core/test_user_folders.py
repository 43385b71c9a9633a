"""Where caches and state of a memory lie: the platform's own places, found without loading what knows all platforms."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest

from core.agents.connecting import agents_folder
from core.storage.cache import cache_folder as cache_path
from core.storage.personal.unsaved_files import unsaved_folder
from core.user_folders import cache_folder, cache_root, name_of, state_folder, state_root

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("value", ["", "  ", "relative", "~/xdg", "/somewhere/else", "/trailing/", None])
def test_the_users_own_folders_are_those_that_the_platforms_library_finds(
    value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    assert cache_root({**os.environ, "NUGGETS_CACHE": ""}) == platformdirs.user_cache_dir("nuggets", False)
    assert state_root({**os.environ, "NUGGETS_STATE": ""}) == platformdirs.user_state_dir("nuggets", False)


@pytest.mark.parametrize("value", ["", "relative", "."])
def test_a_home_folder_named_wrong_is_what_the_platforms_library_takes_it_for(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", value)
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "NUGGETS_CACHE", "NUGGETS_STATE"):
        monkeypatch.delenv(name, raising=False)
    assert cache_root() == platformdirs.user_cache_dir("nuggets", False)
    assert state_root() == platformdirs.user_state_dir("nuggets", False)


def test_whoever_asks_is_told_the_same_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "memory"
    (tmp_path / "link").symlink_to(home)
    monkeypatch.chdir(tmp_path)
    for named in (
        "",
        "mine",
        " ~/mine ",
        "OFF",
        "~nobody-of-this-name/x",
        str(home),
        str(home / "in"),
        "/",
        "\0",
    ):
        environ = {"NUGGETS_CACHE": named, "NUGGETS_STATE": named}
        if "\0" not in named:
            for name, value in environ.items():
                monkeypatch.setenv(name, value)
            assert cache_folder(str(home)) == cache_folder(str(home), environ)
        for memory in (home, tmp_path / "link", home / ".." / "memory"):
            cache, state = cache_folder(str(memory), environ), state_folder(str(memory), environ)
            assert cache_path(memory, environ) == (None if cache is None else Path(cache))
            assert unsaved_folder(memory, environ) == (None if state is None else Path(state))
            if cache is not None and state is not None:
                assert os.path.basename(cache) == os.path.basename(state) == name_of(os.fsencode(home))
                assert agents_folder(environ) == Path(state_root(environ) or "", "agents")
    assert not (tmp_path / "mine").exists()


@pytest.mark.slow
def test_finding_them_loads_nothing_of_the_engine_and_no_library() -> None:
    code = (
        "import sys; before = set(sys.modules); from core.user_folders import cache_folder, state_folder;"
        "cache_folder('/m'); state_folder('/m');"
        "print(*sorted(name for name in set(sys.modules) - before if not name.startswith('_')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["core", "core.user_folders"]
