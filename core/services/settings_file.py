"""settings.toml of a memory: the settings in force, read again when the file changes."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from core.errors import ErrorCode, Notice
from core.settings import SETTINGS_FILE, Settings, load_settings

if TYPE_CHECKING:
    from core.model.draft import Draft


class SettingsFile:
    """The settings of one memory, as a listener of its files. Safe to use from several threads."""

    path: Final = SETTINGS_FILE

    def __init__(self, home: Path) -> None:
        self._home = home
        self._guard = threading.RLock()
        self.settings: Settings = load_settings(home)
        self._problems: tuple[str, ...] = ()
        self._notice = ""

    @property
    def state(self) -> object:
        """What whoever watches the memory is told of when it is another: compared by value."""
        return self.settings

    def change(self, draft: Draft, changes: Mapping[str, Any]) -> str:
        """Lays the file with changed values over a draft; the reason for the log. See `Memory.save_settings`."""
        from core.storage.personal.settings_file import changed_settings

        before, after = changed_settings(self._home, changes)
        if after != (before or b""):
            draft.put_file(SETTINGS_FILE, before, after)
        return f"set {', '.join(changes)}"

    def reload(self) -> None:
        """Reads the settings again."""
        with self._guard:
            settings = load_settings(self._home)
            problems = tuple(one.message for one in settings.problems)
            new = [told for told in problems if told not in self._problems]
            self._problems = problems
            self._notice = "; ".join(new)
            self.settings = settings

    def take_notices(self) -> tuple[str, ...]:
        """What a person should be told since the last call: settings that cannot be used."""
        taken, self._notice = self._notice, ""
        return (Notice(taken, code=ErrorCode.SETTINGS_UNSURE),) if taken else ()
