"""What the folder of a memory and its fact files are called, and where a team has its notes. It loads nothing, since it
is loaded before everything else.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

HOME_VARIABLE: Final = "NUGGETS_HOME"
USUAL_HOME: Final = "~/.nuggets"
# In this order: where a nugget has a file of each name, the first is the nugget.
FACT_SUFFIXES: Final = (".donna.json", ".nugget.json")
# The folder of a team's notes, or "off"; without it, this one at or above the working directory.
TEAM_VARIABLE: Final = "NUGGETS_TEAM"
TEAM_NOTES: Final = os.path.join(".nuggets", "notes")
OFF: Final = "off"


def home_as_named() -> str:
    """The folder that is meant when none is named, as it was written: NUGGETS_HOME, else ~/.nuggets."""
    return os.environ.get(HOME_VARIABLE) or USUAL_HOME


def team_near(start: str) -> str:
    """Where a team's notes may be for who works in a folder, or what names them; "" for surely none, but for settings
    that name their folder. Costs a look at each folder above.
    """
    named = os.environ.get(TEAM_VARIABLE, "").strip()
    if named:
        return "" if named.casefold() == OFF else named
    folder, inner = os.path.abspath(start), ""
    while folder != inner:
        found = os.path.join(folder, TEAM_NOTES)
        if os.path.isdir(found) and lies_in(found, folder):
            return found
        folder, inner = os.path.dirname(folder), folder
    return ""


def lies_in(path: str, folder: str) -> bool:
    """Whether a path in a folder stays in it, links followed."""
    return os.path.join(os.path.realpath(path), "").startswith(os.path.join(os.path.realpath(folder), ""))
