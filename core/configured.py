"""A memory's settings, read again when their file changes, and saved value by value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.errors import NuggetsError
from core.model.change import ChangeSet
from core.settings import SETTINGS_FILE, Settings, load_settings
from core.watched import WatchedMemory

if TYPE_CHECKING:
    from core.model.draft import Draft
    from core.storage.files import Fingerprint
    from core.storage.merging import Decide


class ConfiguredMemory(WatchedMemory):
    """A memory whose settings can be changed while it is open."""

    _settings_seen: Fingerprint | None = None
    _settings_looked_at = False
    _settings_notice = ""
    _settings_told: tuple[str, ...] = ()

    def save_settings(self, changes: Mapping[str, Any]) -> ChangeSet:
        """Changes values in settings.toml, as one entry of the log that `undo` takes back; the rest of the file stays.

        changes: values by name, such as {"search.text_weight": 0.5}; None takes a value out, so that the default
        counts. `settings` holds them afterwards. The change set is empty when they were so already. Raises
        InvalidInputError for no setting or a value that it cannot have, BrokenFileError for a file that cannot be
        read, errors as in `apply`.
        """
        from core.storage.settings_file import changed_settings

        def drafted(draft: Draft) -> tuple[None, ChangeSet]:
            before, after = changed_settings(self.home, changes)
            if after != (before or b""):
                draft.put_file(SETTINGS_FILE, before, after)
            reason = f"set {', '.join(changes)}"
            return None, draft.change_set(reason, author=self.author)

        with self._guard:
            return self._apply_drafted(drafted)[1]

    def refresh(self, *, patient: bool = True) -> bool:
        """As `LoggedMemory.refresh`; settings that another program changed count from then on."""
        newer = super().refresh(patient=patient)
        with self._guard:
            self._look_at_settings()
        return newer

    def _apply_deciding(self, change_set: ChangeSet, decide: Decide | None, made_by: str = "") -> ChangeSet:
        done = super()._apply_deciding(change_set, decide, made_by)
        if any(change.path == SETTINGS_FILE for change in done.files):
            with self._guard:
                self._look_at_settings(written=True)
        return done

    def _look_at_settings(self, *, written: bool = False) -> None:
        """Reads the settings again when their file is another one. What cannot be used of it leaves that in force."""
        from core.storage.settings_file import settings_version

        try:
            version = settings_version(self.home)
            # What stands there at first was read when the memory was opened, but may be another since.
            known = self._settings_looked_at and version == self._settings_seen
            self._settings_looked_at, self._settings_seen = True, version
            if known and not written:
                return
        except NuggetsError as error:
            self._settings_notice = f"{error.message}; the settings in force stay"
            return
        settings = load_settings(self.home, in_force=self.settings)
        new = [told for told in settings.problems if told not in self._settings_told]
        self._settings_told = settings.problems
        self._settings_notice = "; ".join(new)
        if settings != self.settings:
            self._take_settings(settings)

    def _take_settings(self, settings: Settings) -> None:
        self.settings = settings

    def take_notices(self) -> tuple[str, ...]:
        """As `LoggedMemory.take_notices`; settings that cannot be used are among them."""
        said, self._settings_notice = self._settings_notice, ""
        return (*super().take_notices(), *([said] if said else []))

    def _beside(self) -> object:
        return self.settings
