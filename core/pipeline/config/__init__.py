"""The pipeline's configuration: keys and ranges, reading with warnings, writing, and modes."""

from core.pipeline.config.keys import Key, all_keys, key_named
from core.pipeline.config.modes import Destructive, Intake, Mode, intake, mode, mode_of
from core.pipeline.config.parts import PipelineConfiguration
from core.pipeline.config.reading import ParsedConfiguration, read_configuration, read_toml
from core.pipeline.config.warnings import ConfigurationWarning, WarningKind
from core.pipeline.config.writing import as_original, as_table, as_toml

__all__ = [
    "ConfigurationWarning",
    "Destructive",
    "Intake",
    "Key",
    "Mode",
    "ParsedConfiguration",
    "PipelineConfiguration",
    "WarningKind",
    "all_keys",
    "as_original",
    "as_table",
    "as_toml",
    "intake",
    "key_named",
    "mode",
    "mode_of",
    "read_configuration",
    "read_toml",
]
