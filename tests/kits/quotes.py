"""What a model quotes for the facts that a script has it find: the sentence of the text that says most of each."""

from __future__ import annotations

import json
from typing import Any

from core.pipeline.intake.sentences import sentences
from core.text.tokens import stems


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
