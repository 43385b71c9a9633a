"""Claude Code as a model: its command, run for one answer."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from core.pipeline.config.parts import DEFAULT_MODELS
from core.pipeline.guard import assert_outside_transaction
from core.pipeline.models.commands import GRACE_SECONDS, Said, answered, answers_to_version, run
from core.pipeline.models.provider import Answer, Availability, Schema

USUAL_SECONDS: Final = 60.0
# Longer prompts stand on no command line, where everybody on the machine can read them.
SHORT: Final = 200
# What a command line may hold everywhere.
_LONGEST_ARGUMENT: Final = 8_000
# So that hooks of a memory do not answer to a session that only extracts.
_NO_HOOKS: Final = ("NUGGETS_NO_HOOKS", "SIGNET_NO_HOOKS")


@dataclass(frozen=True, slots=True)
class ClaudeCode:
    """A model that the command `claude` asks. grace: seconds between asking a late one to end and killing it."""

    model: str = DEFAULT_MODELS["claude-code"]
    command: str = "claude"
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    grace: float = GRACE_SECONDS
    name: str = "claude-code"

    def generate(self, prompt: str, schema: Schema | None, deadline: float) -> Answer:
        """The model's answer; the schema is left out, since the command takes none. See `Provider.generate`."""
        assert_outside_transaction("asking Claude Code")
        said = self._run(prompt, is_short(prompt), deadline)
        if (
            said.code != 0
            and not is_short(prompt)
            and _refuses_input(said)
            and len(prompt) <= _LONGEST_ARGUMENT
        ):
            said = self._run(prompt, True, deadline)
        return Answer(answered(self.name, said), self.model)

    def arguments(self, prompt: str | None) -> list[str]:
        """The command line. prompt: None when it comes on standard input."""
        return [
            self.command, "-p", *([] if prompt is None else [prompt]), *(["--model", self.model] if self.model else []),
            "--no-session-persistence", "--output-format", "text",
        ]  # fmt: skip

    @property
    def identity(self) -> str:
        """Name and model."""
        return f"{self.name} {self.model}".rstrip()

    def available(self) -> Availability:
        """Whether `claude --version` ends well."""
        assert_outside_transaction("asking Claude Code")
        return answers_to_version(self.name, self.command, own_environ(self.environ))

    def _run(self, prompt: str, as_argument: bool, deadline: float) -> Said:
        arguments = self.arguments(prompt if as_argument else None)
        text = None if as_argument else prompt
        environ = own_environ(self.environ)
        return run(self.name, arguments, text, deadline, environ=environ, grace=self.grace)


def own_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without what tells Claude Code that it runs within itself, and with hooks and colours off."""
    kept = {
        name: value
        for name, value in environ.items()
        if name != "CLAUDECODE" and not name.startswith("CLAUDE_CODE_")
    }
    return kept | {"NO_COLOR": "1"} | dict.fromkeys(_NO_HOOKS, "1")


def is_short(prompt: str) -> bool:
    """Whether a prompt goes on the command line: short, and nothing that would be read as an option there."""
    return 0 < len(prompt) <= SHORT and not prompt.startswith("-") and "\0" not in prompt


def _refuses_input(said: Said) -> bool:
    """Whether an old version asks for the prompt on its command line."""
    told = said.error.lower()
    return "prompt" in told and ("argument" in told or "stdin" in told)
