"""Finds MEMORY.md: in the folder given, the agent's folder for the project, or the one in the settings."""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Iterable
from typing import Final

from core.settings import PromotionSettings

MEMORY_FILE: Final = "MEMORY.md"
_NOT_ALPHANUMERIC: Final = re.compile(r"[^A-Za-z0-9]")


def target_path(
    memory_dir: str | None,
    places: Iterable[str],
    home_dir: str,
    claude: str,
    settings: PromotionSettings,
    exists: Callable[[str], bool],
) -> str | None:
    """Path of the MEMORY.md to write, or None when nothing says where.

    memory_dir: the folder that was asked for; it wins. Else the project folder that Claude Code keeps for the first of
    `places` in its own folder `claude`, if `exists` says that it is there; else the folder in the settings. "~" stands
    for `home_dir`.
    """
    if memory_dir:
        return os.path.join(_expanded(memory_dir, home_dir), MEMORY_FILE)
    for place in places:
        project = os.path.join(claude, "projects", project_folder(place))
        if exists(project):
            return os.path.join(project, "memory", MEMORY_FILE)
    if settings.memory_dir:
        return os.path.join(_expanded(settings.memory_dir, home_dir), MEMORY_FILE)
    return None


def project_folder(cwd: str) -> str:
    """Name of the folder that Claude Code gives a project: all but ASCII letters and digits become "-".

    A character outside the basic plane counts twice, as in the UTF-16 text of JavaScript.
    """
    return _NOT_ALPHANUMERIC.sub(lambda found: "--" if ord(found[0]) > 0xFFFF else "-", cwd)


def _expanded(folder: str, home_dir: str) -> str:
    if folder == "~":
        return home_dir
    return os.path.join(home_dir, folder[2:]) if folder.startswith(("~/", "~\\")) else folder
