"""The one model of the tests: it says what a script tells it to, keeps what it was asked, and quotes as models do."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from core.pipeline.intake.sentences import sentences
from core.pipeline.models.provider import AVAILABLE, Answer, Availability, Schema
from core.text.tokens import stems

Line = str | Answer | BaseException | dict[str, object]


class NamedModel:
    """A provider's name, model and availability."""

    model = ""

    @property
    def name(self) -> str:
        return type(self).__name__

    @property
    def identity(self) -> str:
        return f"{self.name} {self.model}".rstrip()

    def available(self) -> Availability:
        return AVAILABLE


@dataclass
class ScriptedModel(NamedModel):
    """Answers with the lines of a script, one a call, with what a function of the prompt gives, or always the same; an
    error is raised. Facts that are given as a dictionary get their quotes, as a model copies them.
    """

    script: list[Line] = field(default_factory=list)
    by_prompt: Callable[[str], Line] | None = None
    always: Line | None = None
    prompts: list[str] = field(default_factory=list)
    schemas: list[Schema | None] = field(default_factory=list)

    @property
    def calls(self) -> int:
        return len(self.prompts)

    def generate(self, prompt: str, schema: Schema | None, deadline: float) -> Answer:
        assert deadline > 0
        self.prompts.append(prompt)
        self.schemas.append(schema)
        line = self.always
        if line is None:
            line = self.by_prompt(prompt) if self.by_prompt else self.script.pop(0)
        if isinstance(line, BaseException):
            raise line
        if isinstance(line, dict):
            line = json.dumps(with_quotes(line, prompt))
        return line if isinstance(line, Answer) else Answer(line, model="scripted", done_reason="stop")


def quote_of(fact: str, text: str) -> str:
    """The words of a text that a fact repeats, else its sentence that shares most words with the fact; the fact itself,
    as if invented, where none does.
    """
    if fact in text:
        return fact
    said = frozenset(stems(fact))
    best = max(
        (text[one.start : one.end].strip() for one in sentences(text)),
        key=lambda one: len(said.intersection(stems(one))),
        default="",
    )
    return best if said.intersection(stems(best)) else fact


def with_quotes(answer: dict[str, Any], prompt: str) -> dict[str, Any]:
    """An answer with a quote for each fact that a script gave none."""
    begins, facts = prompt.rfind("\nText: "), answer.get("facts")
    if begins < 0 or not isinstance(facts, list):
        return answer
    text = json.loads(prompt[begins:].removeprefix("\nText: ").partition("\nAnswer:")[0])
    return answer | {"facts": [_with_quote(one, text) for one in facts]}


def _with_quote(fact: Any, text: str) -> Any:
    content = fact.get("content") if isinstance(fact, dict) else None
    return {"quote": quote_of(content, text), **fact} if isinstance(content, str) else fact
