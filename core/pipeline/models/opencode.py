"""OpenCode as a model: its command, run for one answer."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from core.pipeline.guard import assert_outside_transaction
from core.pipeline.models.commands import GRACE_SECONDS, answered, answers_to_version, run
from core.pipeline.models.provider import Answer, Availability, Schema


@dataclass(frozen=True, slots=True)
class OpenCode:
    """A model that the command `opencode` asks. model: "" for its own choice."""

    model: str = ""
    command: str = "opencode"
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    grace: float = GRACE_SECONDS
    name: str = "opencode"

    def generate(self, prompt: str, schema: Schema | None, deadline: float) -> Answer:
        """The model's answer; the schema is left out, since the command takes none. See `Provider.generate`."""
        assert_outside_transaction("asking OpenCode")
        environ = self._environ()
        said = run(self.name, self.arguments(), prompt, deadline, environ=environ, grace=self.grace)
        return Answer(answered(self.name, said), self.model)

    def arguments(self) -> list[str]:
        """The command line; the prompt comes on standard input."""
        return [self.command, "run", *(["--model", self.model] if self.model else [])]

    @property
    def identity(self) -> str:
        """Name and model."""
        return f"{self.name} {self.model}".rstrip()

    def available(self) -> Availability:
        """Whether `opencode --version` ends well."""
        assert_outside_transaction("asking OpenCode")
        return answers_to_version(self.name, self.command, self._environ())

    def _environ(self) -> dict[str, str]:
        return dict(self.environ) | {"NO_COLOR": "1", "NUGGETS_NO_HOOKS": "1"}
