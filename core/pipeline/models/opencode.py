"""OpenCode, which is not offered: its command always starts the person's tools and servers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.pipeline.models.provider import Answer, Availability, ModelUnavailableError, Schema

# What was seen of 1.18: MCP servers of a user's folder start whatever the configuration handed over says, a bound on
# turns is not kept, and an agent without tools that it does not know becomes its usual one with all of them.
WHY: Final = "OpenCode cannot switch its tools and MCP servers off"
TODO: Final = 'set extraction.provider to "ollama" or "claude-code"'
NEVER_ASKED: Final = f"{WHY}, so it is never asked; {TODO}"


@dataclass(frozen=True, slots=True)
class OpenCode:
    """A provider that a configuration may name and that is never asked. No command is run."""

    model: str = ""
    name: str = "opencode"

    def generate(self, prompt: str, schema: Schema | None, deadline: float) -> Answer:
        """Raises ModelUnavailableError."""
        raise ModelUnavailableError(WHY, todo=TODO)

    @property
    def identity(self) -> str:
        """Name and model."""
        return f"{self.name} {self.model}".rstrip()

    def available(self) -> Availability:
        """Never; it says what to choose instead."""
        return Availability(False, "no_command", f"{WHY}; {TODO}")
