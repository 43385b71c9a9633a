"""Validates a model's decision: a known action, a target among the candidates, a reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from core.pipeline.decision.prompt import PROMPT_VERSION, DecisionPrompt, FactQuestion
from core.pipeline.decision.result import ACTIONS, Action, Proposal, StoredCandidate
from core.pipeline.models.answer_parsing import clamped, excerpt, last_object
from core.pipeline.models.lenient_json import Json, JsonObject
from core.pipeline.models.provider import Answer

_LONGEST_REASON: Final = 500
_ACTIONS: Final[dict[str, Action]] = {action: action for action in ACTIONS}
_TARGET_KEYS: Final = ("targetId", "target_id", "target")


def read_one(answer: Answer, asked: DecisionPrompt) -> Proposal | str:
    """The proposal for the only question that was asked, or why there is none. Raises a ModelError when the answer
    cannot be read."""
    question = next(iter(asked.facts.values()))
    return _proposal(last_object(answer, ("action",)), question, asked.labels, answer.model)


def read_many(answer: Answer, asked: DecisionPrompt) -> dict[int, Proposal | str]:
    """For each fact that the answer speaks of, by its index: the proposal or why there is none; the first counts.

    Raises a ModelError when the answer cannot be read.
    """
    found = last_object(answer, ("decisions",), lambda item: isinstance(item.get("decisions"), list))
    items = found["decisions"]
    outcomes: dict[int, Proposal | str] = {}
    for item in items if isinstance(items, list) else []:
        if not isinstance(item, dict):
            continue
        question = asked.facts.get(_label(item.get("fact")))
        if question is not None and question.place not in outcomes:
            outcomes[question.place] = _proposal(item, question, asked.labels, answer.model)
    return outcomes


def _proposal(
    item: JsonObject, question: FactQuestion, labels: Mapping[str, StoredCandidate], model: str
) -> Proposal | str:
    named = item.get("action")
    action = _ACTIONS.get(named.strip().lower()) if isinstance(named, str) else None
    if action is None:
        return f'Invalid action "{excerpt(named)}"'
    said = next((item[key] for key in _TARGET_KEYS if item.get(key) is not None), None)
    target = _target(said, question, labels)
    if action in ("update", "delete") and target is None:
        if not isinstance(said, str) or not said.strip():
            return f"{action} missing targetId"
        return f'{action} names a non-candidate "{excerpt(said)}"'
    reason = item.get("reason")
    if not isinstance(reason, str) or not reason.strip():
        return f"{action} missing reason"
    return Proposal(
        question.place,
        action,
        None if action == "add" else target,
        clamped(item.get("confidence")),
        reason.strip()[:_LONGEST_REASON],
        "model",
        model,
        PROMPT_VERSION,
    )


def _target(
    said: Json, question: FactQuestion, labels: Mapping[str, StoredCandidate]
) -> StoredCandidate | None:
    """The candidate that a label or an id names, when it is one of the question's own."""
    if not isinstance(said, str):
        return None
    labelled = labels.get(_label(said))
    if labelled is not None and labelled in question.candidates:
        return labelled
    return next((one for one in question.candidates if one.id and one.id == said.strip()), None)


def _label(said: Json) -> str:
    return said.strip(" \t\r\n[]():.").upper() if isinstance(said, str) else ""
