"""Where a memory lies and what its files are called: the one place that reading, watching and every front ask."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

HOME_VARIABLE: Final = "NUGGETS_HOME"
USUAL_HOME: Final = "~/.nuggets"
# Where the newest build of the original keeps a memory when it is told no folder.
DONNA_HOME: Final = "~/.donna"
GRAPH_FILE: Final = Path("graph") / "graph.json"
# In this order: where a nugget has a file of each name, the first is the nugget.
FACT_SUFFIXES: Final = (".donna.json", ".nugget.json")


def suffix_in_use(folder: Path, names: Iterable[str]) -> str:
    """How the fact file of a new nugget ends, so that the programs which work in a folder find it.

    names: of the fact files there are. Where one is called as the newest build of the original calls them, that build
    is at work, and would begin a second file of a nugget that is called otherwise.
    """
    newest, usual = FACT_SUFFIXES
    known = list(names)
    if any(name.endswith(newest) for name in known) or (not known and folder.name == Path(DONNA_HOME).name):
        return newest
    return usual


def home_as_named() -> str:
    """The folder that is meant when none is named, as it was written: NUGGETS_HOME, else ~/.nuggets."""
    return os.environ.get(HOME_VARIABLE) or USUAL_HOME


def default_home() -> Path:
    """The folder that is opened when none is named. Raises RuntimeError when there is no home folder."""
    return Path(home_as_named()).expanduser()


def user_configuration_folder() -> Path:
    """The folder where the user's settings for all memories lie."""
    from platformdirs import user_config_path

    return user_config_path("nuggets", appauthor=False)
