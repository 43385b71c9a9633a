"""The memory on which tests open the app, unless they make one of their own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from kits.app_kit import small_memory
from kits.bound_keys import BOUND
from kits.frames import draw_at_pauses
from kits.idle import find_garbage, shorten_waits
from kits.styles import share_styles
from msgspec.structs import replace

from core.settings import Settings
from nuggets_tui import pace
from nuggets_tui.commands import COMMANDS, KeyMap, key_map


@pytest.fixture(scope="session")
def _made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small") / "memory"
    small_memory(folder).close()
    return folder


@pytest.fixture
def home(tmp_path: Path, _made_once: Path) -> Path:
    """A small memory: a copy, for each test has one."""
    return shutil.copytree(_made_once, tmp_path / "memory")


@pytest.fixture
def bound_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody has bound commands that have no key in [keys], besides what the settings say."""
    # A key set to what the catalogue says would be bound only at times; beside another it counts always.
    bound = {
        command.name: f"{command.keys},ctrl+f{place}"
        for place, command in enumerate((c for c in COMMANDS if c.key_when), 1)
    }
    bound |= BOUND

    def with_bound(settings: Settings) -> KeyMap:
        return key_map(replace(settings, keys=tuple((bound | dict(settings.keys)).items())))

    monkeypatch.setattr("nuggets_tui.application.key_map", with_bound)


@pytest.fixture(autouse=True, scope="session")
def _waiting_little() -> Iterator[None]:
    """Tests do not wait longer than they must; those of the resting of a cursor put back how long that is."""
    with pytest.MonkeyPatch.context() as patch:
        shorten_waits(patch)
        find_garbage(patch)
        draw_at_pauses(patch)
        share_styles(patch)
        patch.setattr(pace, "REST", 0.0)
        yield
