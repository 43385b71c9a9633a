"""The version as installed, found without loading what reads whole descriptions of packages."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_BEGINS: Final = "nuggets_tui-"
_ENDS: Final = ".dist-info"


def installed_version() -> str | None:
    """The version; None where the program runs from its sources and was not installed."""
    for folder in sys.path:
        try:
            names = os.listdir(folder or os.curdir)
        except OSError:
            continue
        found = [name for name in names if name.startswith(_BEGINS) and name.endswith(_ENDS)]
        if len(found) == 1 and "_" not in (version := found[0][len(_BEGINS) : -len(_ENDS)]):
            return version
        if found:
            break
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as described

    try:
        return described("nuggets-tui")
    except PackageNotFoundError:
        return None


def version_line() -> str:
    return f"nuggets {installed_version() or '(not installed, runs from its sources)'}"
