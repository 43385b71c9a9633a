"""A model that says what a script tells it to: answers and errors in turn, and all it was asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from core.pipeline.models.provider import Answer, ModelError, Schema
from kits.named_model import NamedModel
from kits.quotes import with_quotes

Line = str | Answer | ModelError | dict[str, object]


@dataclass
class ScriptedModel(NamedModel):
    """Answers with the lines of a script, one a call, or with what a function of the prompt gives.

    Facts that are given as a dictionary get their quotes, as a model copies them.
    """

    script: list[Line] = field(default_factory=list)
    by_prompt: Callable[[str], Line] | None = None
    prompts: list[str] = field(default_factory=list)
    schemas: list[Schema | None] = field(default_factory=list)

    def generate(self, prompt: str, schema: Schema | None, deadline: float) -> Answer:
        assert deadline > 0
        self.prompts.append(prompt)
        self.schemas.append(schema)
        line = self.by_prompt(prompt) if self.by_prompt else self.script.pop(0)
        if isinstance(line, ModelError):
            raise line
        if isinstance(line, dict):
            line = json.dumps(with_quotes(line, prompt))
        return line if isinstance(line, Answer) else Answer(line, model="scripted", done_reason="stop")
