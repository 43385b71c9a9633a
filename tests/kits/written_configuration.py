"""A pipeline's configuration as files hold it: every key, in our names and in those of the Signet pipeline."""

from __future__ import annotations

from typing import Any

import msgspec
import tomlkit

from core.settings.pipeline_sections import PipelineConfiguration
from core.settings.tree import camel_case


def as_table(configuration: PipelineConfiguration) -> dict[str, Any]:
    """What settings.toml holds under [pipeline]."""
    table: dict[str, Any] = msgspec.to_builtins(configuration)
    return table


def as_toml(configuration: PipelineConfiguration) -> str:
    """settings.toml with the table [pipeline]."""
    return tomlkit.dumps({"pipeline": as_table(configuration)})


def as_original(configuration: PipelineConfiguration) -> dict[str, Any]:
    """The table as agent.yaml holds it, under memory.pipelineV2."""
    return {"memory": {"pipelineV2": _camel(as_table(configuration))}}


def _camel(table: dict[str, Any]) -> dict[str, Any]:
    return {
        camel_case(name): _camel(value) if isinstance(value, dict) else value for name, value in table.items()
    }
