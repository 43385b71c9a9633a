"""What the folder of a memory and its fact files are called. Loaded before everything else, so it loads nothing."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

HOME_VARIABLE: Final = "NUGGETS_HOME"
USUAL_HOME: Final = "~/.nuggets"
# In this order: where a nugget has a file of each name, the first is the nugget.
FACT_SUFFIXES: Final = (".donna.json", ".nugget.json")
# Recalls that wait to be counted.
RECALLS_FOLDER: Final = ".recalls"


def home_as_named() -> str:
    """The folder that is meant when none is named, as it was written: NUGGETS_HOME, else ~/.nuggets."""
    return os.environ.get(HOME_VARIABLE) or USUAL_HOME
