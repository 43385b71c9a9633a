"""A pipeline's configuration as files hold it: every key, in our names and in those of the Signet pipeline."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
import tomlkit

from core.settings.loading import Source, settings_of
from core.settings.pipeline_sections import PipelineConfiguration
from core.settings.warnings import ConfigurationWarning


class ParsedConfiguration(NamedTuple):
    """A configuration, and what was not taken as given."""

    configuration: PipelineConfiguration
    warnings: tuple[ConfigurationWarning, ...]


def as_table(configuration: PipelineConfiguration) -> dict[str, Any]:
    """What settings.toml holds under [pipeline]."""
    table: dict[str, Any] = msgspec.to_builtins(configuration)
    return table


def as_toml(configuration: PipelineConfiguration) -> str:
    """settings.toml with the table [pipeline]."""
    return tomlkit.dumps({"pipeline": as_table(configuration)})


def camel_case(snake: str) -> str:
    """`chunk_target_chars` as `chunkTargetChars`."""
    head, *rest = snake.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest)


def read_configuration(
    settings: Any = None, original: Any = None, *, environ: Mapping[str, str] | None = None
) -> ParsedConfiguration:
    """The configuration that parsed files give, settings.toml before agent.yaml, and both before the environment; None
    for a file that is not there.
    """
    sources = [Source("settings.toml", settings, own=True, users=True)] if settings is not None else []
    sources += [Source("agent.yaml", original)] if original is not None else []
    found = settings_of(sources, environ or {})
    return ParsedConfiguration(found.pipeline, found.of_pipeline)


def read_toml(text: str) -> ParsedConfiguration:
    """The same of a text of settings.toml."""
    return read_configuration(tomllib.loads(text))
