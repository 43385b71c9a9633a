"""Runs the extraction: one call, then the reading of its answer."""

from __future__ import annotations

from typing import Final

from core.pipeline.extraction.prompt import (
    EXTRACTION_SCHEMA,
    PROMPT_VERSION,
    cut_input,
    extraction_prompt,
    sendable,
)
from core.pipeline.extraction.result import Extraction, Limits
from core.pipeline.extraction.validation import Warnings, valid_facts, valid_relations
from core.pipeline.intake.redaction import MARK, redact
from core.pipeline.models.answer_parsing import last_object, says_nothing
from core.pipeline.models.lenient_json import JsonObject
from core.pipeline.models.provider import Answer, ModelError, Provider

_KEYS: Final = ("facts", "entities")
_STAGE: Final = "LLM extraction failed"
_DEFAULT_LIMITS: Final = Limits()


def extract(
    text: str, provider: Provider, *, deadline: float, limits: Limits = _DEFAULT_LIMITS
) -> Extraction:
    """The facts and relations that a model finds in a text.

    Credentials are taken out before the text is sent, and out of what comes back. A text too short to say anything is
    not sent. deadline: seconds for the call. Raises a ModelError when the model
    cannot be asked or its answer cannot be read as a whole; single items that are wrong become warnings.
    """
    tidied = sendable(text)
    said = len(tidied.replace(MARK, "").strip())
    if said < limits.shortest_input:
        short = f"Input too short ({said} characters, {limits.shortest_input} needed)"
        return Extraction(warnings=(short,), prompt_version=PROMPT_VERSION)
    sent = cut_input(tidied, limits)
    try:
        prompt = extraction_prompt(sent, cut=len(tidied) > limits.longest_input, most_facts=limits.most_facts)
        answer = provider.generate(prompt, EXTRACTION_SCHEMA, deadline)
        # Line ends, which are not sent, part sentences as well.
        seen = sent if len(tidied) > limits.longest_input else redact(text).text
        return _read(answer, tidied, seen, limits)
    except ModelError as error:
        raise error.during(_STAGE) from error


def _read(answer: Answer, tidied: str, seen: str, limits: Limits) -> Extraction:
    warnings = Warnings()
    if says_nothing(answer):
        warnings.add("Answer has neither facts nor entities")
        found: JsonObject = {}
    else:
        found = last_object(answer, _KEYS, _has_a_list)
    if len(tidied) > limits.longest_input:
        warnings.add(f"Input truncated from {len(tidied)} to {limits.longest_input} characters")
    facts = valid_facts(found, seen, limits, warnings)
    relations = valid_relations(found, limits, warnings)
    most = {"facts": limits.most_facts, "entities": limits.most_relations}
    full = len(facts) >= limits.most_facts or len(relations) >= limits.most_relations
    over = full and any(_count(found.get(key)) > number for key, number in most.items())
    return Extraction(
        facts, relations, warnings.all(), answer.model, PROMPT_VERSION, calls=1, full=full, over=over
    )


def _count(listed: object) -> int:
    return len(listed) if isinstance(listed, list) else 0


def _has_a_list(found: JsonObject) -> bool:
    return any(isinstance(found.get(key), list) for key in _KEYS)
