"""Where MEMORY.md is looked for."""

from __future__ import annotations

import os.path

import pytest

from core.promotion import target_path
from core.promotion.target import project_folder
from core.settings import PromotionSettings

HOME = os.path.join(os.sep, "home", "ann")


def target(memory_dir: str | None, setting: str = "", *there: str) -> str | None:
    return target_path(
        memory_dir, ["/srv/my proj/src", "/srv/my proj"], HOME, os.path.join(HOME, ".claude"),
        PromotionSettings(memory_dir=setting), there.__contains__,
    )  # fmt: skip


def test_the_setting_is_the_last_resort_and_without_it_there_is_no_target() -> None:
    assert target(None, "elsewhere") == os.path.join("elsewhere", "MEMORY.md")
    assert target(None, "~/notes") == os.path.join(HOME, "notes", "MEMORY.md")
    assert target("~") == os.path.join(HOME, "MEMORY.md")
    assert target(None) is None


@pytest.mark.parametrize(
    ("cwd", "folder"),
    [
        ("/home/ann/work/my proj", "-home-ann-work-my-proj"),
        ("/srv/app_v1.2", "-srv-app-v1-2"),
        ("C:\\Users\\ann", "C--Users-ann"),
        ("/wörk/京/👍", "-w-rk-----"),
    ],
)
def test_every_character_that_is_no_letter_or_digit_becomes_a_hyphen(cwd: str, folder: str) -> None:
    assert project_folder(cwd) == folder
