"""Runs the decision: rules first, then one call for all other facts, then one call per fact if that fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from core.pipeline.decision.prompt import DecisionPrompt, FactQuestion, decision_prompt
from core.pipeline.decision.result import Decisions, Proposal, StoredCandidate
from core.pipeline.decision.short_cuts import Saying, related, repeated, saying
from core.pipeline.decision.validation import read_many, read_one
from core.pipeline.extraction.result import ExtractedFact
from core.pipeline.models.provider import Answer, CallRefusedError, ModelError, ModelHttpError, Provider

ADD_REASON: Final = "nothing similar is stored"
_STAGE: Final = "LLM decision failed"
# A model that cannot be reached twice in a row is not asked about the other facts.
_GIVES_UP_AFTER: Final = 2


@dataclass(slots=True)
class _DecisionBatch:
    """A batch on its way: outcomes by the index of the fact."""

    provider: Provider
    deadline: float
    between: Callable[[], None]
    outcomes: dict[int, Proposal | str] = field(default_factory=dict)
    errors: dict[int, ModelError] = field(default_factory=dict)
    calls: int = 0

    def call(self, asked: DecisionPrompt) -> Answer:
        if self.calls:
            self.between()
        self.calls += 1
        return self.provider.generate(asked.prompt, asked.schema, self.deadline)


def decide(
    facts: Sequence[ExtractedFact],
    candidates: Sequence[Sequence[StoredCandidate]],
    provider: Provider,
    *,
    deadline: float,
    between: Callable[[], None] = lambda: None,
) -> Decisions:
    """What should become of the facts of one memory. Writes nothing.

    candidates: for each fact those that the search found, best first. Earlier facts of the batch join them where they
    speak of the same. deadline: seconds for each call. between: called between two calls, for a lease to be renewed;
    what it raises ends the batch.

    An answer that cannot be used leaves its fact without a proposal, with a warning. Raises the ModelError when every
    fact ended in one.
    """
    batch = _DecisionBatch(provider, deadline, between)
    questions = _by_rules(facts, candidates, batch.outcomes)
    if len(questions) > 1:
        questions = _all_at_once(questions, batch)
    _one_by_one(questions, batch)
    _follow_undecided(batch)
    if batch.errors and len(batch.errors) == len(facts):
        raise next(iter(batch.errors.values())).during(_STAGE)
    told = {place: outcome for place, outcome in batch.outcomes.items() if isinstance(outcome, str)}
    told |= {place: error.during(_STAGE).what for place, error in batch.errors.items()}
    return Decisions(
        tuple(outcome for _, outcome in sorted(batch.outcomes.items()) if isinstance(outcome, Proposal)),
        tuple(f"Fact {place + 1}: {told[place]}" for place in sorted(told)),
        tuple(sorted(batch.errors.items())),
        batch.calls,
    )


def _by_rules(
    facts: Sequence[ExtractedFact],
    candidates: Sequence[Sequence[StoredCandidate]],
    outcomes: dict[int, Proposal | str],
) -> list[FactQuestion]:
    """Decides what needs no model, into the outcomes; the questions that are left, in order."""
    sayings = [saying(fact.content) for fact in facts]
    own = [
        StoredCandidate("", fact.content, fact.type, content_hash=said.content_hash, fact=place)
        for place, (fact, said) in enumerate(zip(facts, sayings, strict=True))
    ]
    known: dict[StoredCandidate, Saying] = {}
    distinct: list[int] = []
    questions: list[FactQuestion] = []
    for place, (fact, stored) in enumerate(zip(facts, candidates, strict=True)):
        for candidate in stored:
            if candidate not in known:
                known[candidate] = saying(candidate.content, candidate.content_hash)
        held_against = [(one, known[one]) for one in stored] + [
            (own[other], sayings[other]) for other in distinct
        ]
        same = repeated(sayings[place], held_against)
        if same:
            outcomes[place] = Proposal(place, "none", same[0], fact.confidence, same[1], "rule")
            continue
        near = (*stored, *(own[other] for other in related(place, sayings, distinct)))
        distinct.append(place)
        if near:
            questions.append(FactQuestion(place, fact, near))
        else:
            outcomes[place] = Proposal(place, "add", None, fact.confidence, ADD_REASON, "rule")
    return questions


def _all_at_once(questions: list[FactQuestion], batch: _DecisionBatch) -> list[FactQuestion]:
    """Asks for all in one call; the questions that it left open."""
    asked = decision_prompt(questions)
    try:
        batch.outcomes |= read_many(batch.call(asked), asked)
    except (ModelHttpError, CallRefusedError) as error:
        # Nobody is there: asking for each fact alone would be the same call again and again.
        batch.errors |= {question.place: error for question in questions}
        return []
    except ModelError:
        return questions
    return [question for question in questions if question.place not in batch.outcomes]


def _one_by_one(questions: list[FactQuestion], batch: _DecisionBatch) -> None:
    unreached = 0
    last: ModelError | None = None
    for question in questions:
        if last is not None and unreached >= _GIVES_UP_AFTER:
            batch.errors[question.place] = last
            continue
        asked = decision_prompt([question])
        try:
            batch.outcomes[question.place] = read_one(batch.call(asked), asked)
            unreached = 0
        except ModelError as error:
            batch.errors[question.place] = last = error
            unreached = unreached + 1 if error.outage or error.kind == "timeout" else 0


def _follow_undecided(batch: _DecisionBatch) -> None:
    """A fact that repeats or changes an earlier one shares its fate: where that is undecided, so is this."""
    for place, outcome in sorted(batch.outcomes.items()):
        if not isinstance(outcome, Proposal) or outcome.target is None:
            continue
        earlier = outcome.target.fact
        if earlier is None or isinstance(batch.outcomes.get(earlier), Proposal):
            continue
        if earlier in batch.errors:
            batch.errors[place] = batch.errors[earlier]
            del batch.outcomes[place]
        else:
            batch.outcomes[place] = f"depends on fact {earlier + 1}, for which there is no decision"
