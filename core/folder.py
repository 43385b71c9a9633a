"""Where a memory lies and what its files are called: the one place that reading, watching and every front ask."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

HOME_VARIABLE: Final = "NUGGETS_HOME"
USUAL_HOME: Final = "~/.nuggets"
GRAPH_FILE: Final = Path("graph") / "graph.json"
# In this order: where a nugget has a file of each name, the first is the nugget.
FACT_SUFFIXES: Final = (".donna.json", ".nugget.json")


def home_as_named() -> str:
    """The folder that is meant when none is named, as it was written: NUGGETS_HOME, else ~/.nuggets."""
    return os.environ.get(HOME_VARIABLE) or USUAL_HOME


def default_home() -> Path:
    """The folder that is opened when none is named. Raises RuntimeError when there is no home folder."""
    return Path(home_as_named()).expanduser()
