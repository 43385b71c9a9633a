"""Settings as one tree: what each is (sections), each by name (tree), what a memory's files say (loading)."""

from core.settings.loading import SETTINGS_FILE as SETTINGS_FILE
from core.settings.loading import SettingsReader as SettingsReader
from core.settings.loading import load_settings as load_settings
from core.settings.sections import AgentSettings as AgentSettings
from core.settings.sections import AppSettings as AppSettings
from core.settings.sections import BackupSettings as BackupSettings
from core.settings.sections import InferenceSettings as InferenceSettings
from core.settings.sections import PromotionSettings as PromotionSettings
from core.settings.sections import ReflectionSettings as ReflectionSettings
from core.settings.sections import ScheduleSettings as ScheduleSettings
from core.settings.sections import SearchSettings as SearchSettings
from core.settings.sections import Settings as Settings
from core.settings.sections import SyncSettings as SyncSettings
from core.settings.sections import Synonyms as Synonyms
from core.settings.sections import TeamSettings as TeamSettings
