"""settings.toml of the user, in the system's folder for configurations: what is the same for all memories."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from core.folder import user_configuration_folder
from core.settings import SETTINGS_FILE, AppSettings, load_settings


class UserSettings(NamedTuple):
    """What the user has set for the app in all memories, and what of it cannot be used, each in one line."""

    app: AppSettings
    problems: tuple[str, ...] = ()


def user_settings_file() -> Path:
    """Where the user's settings are, or would be."""
    return user_configuration_folder() / SETTINGS_FILE


def load_user_settings() -> UserSettings:
    """The user's settings of the app. Never fails: for what cannot be used the defaults count."""
    try:
        found = load_settings(user_configuration_folder(), {})
    except (OSError, RuntimeError):
        return UserSettings(AppSettings())
    # Other tables of the file are for others to read.
    own = (one for one in found.problems if one.name.split(".")[0] in ("", "app"))
    return UserSettings(found.app, tuple(one.message for one in own))


def save_user_settings(changes: Mapping[str, Any]) -> None:
    """Changes values in the user's settings.toml, which is made where there is none; the rest of it stays.

    changes: values by name, such as {"app.theme": "nord"}; None takes one out. No memory is touched, and no log has
    it. Raises InvalidInputError for no setting or a value that it cannot have, BrokenFileError for a file that cannot
    be read, StorageError for one that cannot be written.
    """
    from core.storage.files.atomic import make_folder, replace_file
    from core.storage.files.toml import changed_settings

    # A link, such as those that look after such files make, stays one.
    path = Path(os.path.realpath(user_settings_file()))
    before, after = changed_settings(path.parent, changes, path.name)
    if after == (before or b""):
        return
    make_folder(path.parent)
    if before is None:
        replace_file(path, after)
    else:
        replace_file(path, after, mode=stat.S_IMODE(path.stat().st_mode))
