"""Finds the memory's folder and names its files: reading, watching and every front ask here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from core.home import FACT_SUFFIXES as FACT_SUFFIXES
from core.home import HOME_VARIABLE as HOME_VARIABLE
from core.home import USUAL_HOME as USUAL_HOME
from core.home import home_as_named as home_as_named

# Where the newest build of the original keeps a memory when it is told no folder.
DONNA_HOME: Final = "~/.donna"
GRAPH_FILE: Final = Path("graph") / "graph.json"
# Of a memory whose notes are pages in another folder: which folder that is, and what is to be written there still.
PLACE_FILE: Final = "pages.json"
# The home of such a memory, in the folder for its state.
PAGES_HOME: Final = "pages"
# Claude Code keeps what it remembers of a project in <its folder>/projects/<project>/memory, with this index.
PROJECTS_FOLDER: Final = "projects"
MEMORY_FOLDER: Final = "memory"
MEMORY_PAGE: Final = "MEMORY.md"
OWED_FILE: Final = "pages-owed.json"
# The pipeline's one database.
PIPELINE_FILE: Final = "pipeline.db"


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


def default_home() -> Path:
    """The folder that is opened when none is named. Raises RuntimeError when there is no home folder."""
    return Path(home_as_named()).expanduser()


def user_configuration_folder() -> Path:
    """The folder where the user's settings for all memories lie."""
    from platformdirs import user_config_path

    return user_config_path("nuggets", appauthor=False)


def pages_of(home: Path) -> Path | None:
    """The folder of the pages that are the notes of the memory in `home`; None for other memories."""
    import json

    try:
        said = json.loads((home / PLACE_FILE).read_bytes())
    except (OSError, ValueError):
        return None
    folder = said.get("folder") if isinstance(said, dict) else None
    return Path(folder) if isinstance(folder, str) and Path(folder).is_absolute() else None
