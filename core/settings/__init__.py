"""Settings as one tree: what each is (sections), by name and by what is no name (tree), what files give (loading)."""

from core.settings.loading import SETTINGS_FILE, load_settings
from core.settings.sections import (
    AppSettings,
    BackupSettings,
    InferenceSettings,
    PromotionSettings,
    ReflectionSettings,
    ScheduleSettings,
    SearchSettings,
    Settings,
    SyncSettings,
    Synonyms,
    TeamSettings,
)

__all__ = [
    "SETTINGS_FILE",
    "AppSettings",
    "BackupSettings",
    "InferenceSettings",
    "PromotionSettings",
    "ReflectionSettings",
    "ScheduleSettings",
    "SearchSettings",
    "Settings",
    "SyncSettings",
    "Synonyms",
    "TeamSettings",
    "load_settings",
]
