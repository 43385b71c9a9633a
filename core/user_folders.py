"""What the folder of a memory is called, where a team has its notes, and the user's folders outside of every memory, a
subfolder for each memory. All else is loaded behind it, and agents wait for it, so it loads nothing.
"""

from __future__ import annotations

import os
import sys

try:
    # As `core.text.digests`, whose package loads more than the first frame needs.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

HOME_VARIABLE: Final = "NUGGETS_HOME"
USUAL_HOME: Final = "~/.nuggets"
# In this order: where a nugget has a file of each name, the first is the nugget.
FACT_SUFFIXES: Final = (".donna.json", ".nugget.json")
# The folder of a team's notes, or "off"; without it, this one at or above the working directory.
TEAM_VARIABLE: Final = "NUGGETS_TEAM"
TEAM_NOTES: Final = os.path.join(".nuggets", "notes")
CACHE_VARIABLE: Final = "NUGGETS_CACHE"
STATE_VARIABLE: Final = "NUGGETS_STATE"
# In the folder for state: the projects whose notes a person said may be used.
TRUSTED_FILE: Final = "trusted.json"
OFF: Final = "off"
# The user's own variable for such folders, and where they are without it.
_CACHES: Final = ("XDG_CACHE_HOME", "~/.cache")
_STATES: Final = ("XDG_STATE_HOME", "~/.local/state")


def cache_folder(home: str, environ: Mapping[str, str] | None = None) -> str | None:
    """The folder for the cache of the memory in `home`; nothing is made. None where there is to be none: also for a
    place inside the memory's own folder, which people copy, commit and share.

    It lies in the folder that NUGGETS_CACHE names ("off": in none), else in the user's folder for caches, under a name
    made of the memory's path.
    """
    return _folder(home, cache_root(environ))


def state_folder(home: str, environ: Mapping[str, str] | None = None) -> str | None:
    """The folder for the state of the memory in `home`, such as unsaved texts; else as `cache_folder`, with
    NUGGETS_STATE and the user's folder for state.
    """
    return _folder(home, state_root(environ))


def configuration_files(environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Where the user's settings for all memories may lie, on any system."""
    environ = os.environ if environ is None else environ
    folders = (
        environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"),
        os.path.expanduser("~/Library/Application Support"),
        environ.get("LOCALAPPDATA", ""),
    )
    names = ("settings.toml", "agent.yaml")
    return tuple(os.path.join(folder, "nuggets", name) for folder in folders if folder for name in names)


def cache_root(environ: Mapping[str, str] | None = None) -> str | None:
    """The folder that has the caches of all memories; None where there is to be none."""
    return _root(CACHE_VARIABLE, _CACHES, environ)


def state_root(environ: Mapping[str, str] | None = None) -> str | None:
    """The folder that has the state of all memories; None where there is to be none."""
    return _root(STATE_VARIABLE, _STATES, environ)


def file_stats(path: str) -> list[object]:
    """What tells one state of a file from another, without reading it; one number, of the error, for no file."""
    try:
        found = os.stat(path)
    except OSError as error:
        return [error.errno]
    return [found.st_ino, found.st_size, found.st_mtime_ns]


def name_of(memory: bytes) -> str:
    """The name of the folder for a memory, made of its path: 16 hexadecimal digits."""
    return blake2b(memory, digest_size=8).hexdigest()


def _folder(home: str, root: str | None) -> str | None:
    if root is None:
        return None
    try:
        memory, root = os.path.realpath(home), os.path.realpath(root)
        name = name_of(os.fsencode(memory))
    except (OSError, ValueError):
        return None
    above, below = os.path.normcase(memory), os.path.normcase(root)
    if below == above or below.startswith(os.path.join(above, "")):
        return None
    return os.path.join(root, name)


def _root(variable: str, users: tuple[str, str], environ: Mapping[str, str] | None) -> str | None:
    environ = os.environ if environ is None else environ
    named = environ.get(variable, "").strip()
    if named.casefold() == OFF:
        return None
    try:
        if not named:
            root = _users(*users, environ)
            return root if os.path.isabs(root) else None
        named = os.path.expanduser(named)
        # No such user, or nobody knows where their home folder is.
        return None if named.startswith("~") else os.path.join(os.getcwd(), named)
    except (OSError, RuntimeError, ValueError):
        return None


def _users(variable: str, usual: str, environ: Mapping[str, str]) -> str:
    """The user's own folder for ours. Raises RuntimeError where they have none."""
    # The library knows of other systems, and of a home folder that is named wrong.
    plain = sys.platform == "linux" and os.path.isabs(os.environ.get("HOME", "/"))
    if plain and "ANDROID_DATA" not in os.environ:
        named = environ.get(variable, "")
        return os.path.join(named if os.path.isabs(named) else os.path.expanduser(usual), "nuggets")
    from platformdirs import user_cache_dir, user_state_dir

    find = user_cache_dir if usual == _CACHES[1] else user_state_dir
    return find("nuggets", appauthor=False)


# Of a memory, and of a team


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
