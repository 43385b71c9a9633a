"""A configuration as plain data and as TOML, to be read back the same."""

from __future__ import annotations

from typing import Any

import msgspec

from core.pipeline.config.parts import PipelineConfiguration


def as_table(configuration: PipelineConfiguration) -> dict[str, Any]:
    """Every key by the reference's names, nested; what settings.toml holds under [pipeline]."""
    table: dict[str, Any] = msgspec.to_builtins(configuration)
    return table


def as_toml(configuration: PipelineConfiguration) -> str:
    """The table [pipeline] of settings.toml with every key."""
    import tomlkit

    return tomlkit.dumps({"pipeline": as_table(configuration)})


def as_original(configuration: PipelineConfiguration) -> dict[str, Any]:
    """The table as the reference keeps it, under memory.pipelineV2."""
    return {"memory": {"pipelineV2": as_table(configuration)}}
