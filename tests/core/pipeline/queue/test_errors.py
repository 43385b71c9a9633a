"""What an error means for its job: class, whether it is worth another attempt, and whether it was the job's fault."""

from __future__ import annotations

import pytest

from core.errors import BrokenFileError, InvalidInputError, LockTimeoutError, NuggetsError, StorageError
from core.pipeline.models.provider import (
    AskedToWaitError,
    BreakerOpenError,
    BudgetSpentError,
    CommandFailedError,
    EmptyAnswerError,
    ModelError,
    ModelHttpError,
    ModelMissingError,
    ModelTimeoutError,
    ModelUnavailableError,
    TruncatedAnswerError,
    UnreadableAnswerError,
)
from core.pipeline.queue import failure_of


def test_errors_of_models_keep_their_kind_and_some_stay_as_they_are() -> None:
    for error, name, permanent in [
        (ModelTimeoutError("late"), "timeout", False),
        (ModelHttpError("Ollama HTTP 500: no", status=500), "http", False),
        (ModelHttpError("Ollama HTTP 429: slowly", status=429), "http", False),
        (ModelHttpError("Ollama HTTP 400: what?", status=400), "bad_request", True),
        (ModelMissingError("no such model", status=404), "model_missing", True),
        (EmptyAnswerError("nothing"), "empty", False),
        (UnreadableAnswerError("no JSON"), "parse", False),
        (TruncatedAnswerError("cut off"), "truncated", False),
    ]:
        failure = failure_of(error.during("LLM extraction failed"))
        assert (failure.error_class, failure.permanent, failure.refused) == (name, permanent, False)
        assert failure.message.startswith("LLM extraction failed: ")


@pytest.mark.parametrize("error", [BreakerOpenError("spared", until=5), BudgetSpentError("spent", until=5)])
def test_a_call_that_was_never_made_is_no_attempt(error: ModelError) -> None:
    failure = failure_of(error)
    assert failure.refused
    assert not failure.counts


def test_an_outage_is_the_providers_and_burns_no_attempt() -> None:
    for error, outage, doubtful in [
        (ModelHttpError("closed the connection"), True, False),
        (ModelUnavailableError("no command `claude`"), True, False),
        (ModelHttpError("HTTP 500", status=500), True, False),
        (ModelHttpError("HTTP 529", status=529), True, False),
        (ModelHttpError("HTTP 429", status=429), True, False),
        (ModelHttpError("HTTP 401", status=401), True, False),
        (AskedToWaitError("usage limit reached"), True, False),
        (CommandFailedError("exit 1"), False, True),
        (ModelTimeoutError("late"), False, True),
        (ModelMissingError("none"), False, False),
        (ModelHttpError("HTTP 400", status=400), False, False),
        (UnreadableAnswerError("no JSON"), False, False),
    ]:
        failure = failure_of(error.during("LLM extraction failed"))
        assert (failure.outage, failure.counts, failure.doubtful) == (outage, not outage, doubtful)
        assert not (failure.outage and failure.permanent)


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (LockTimeoutError("busy"), "busy"),
        (StorageError("disk full"), "storage"),
        (BrokenFileError("graph.json"), "broken_file"),
    ],
)
def test_trouble_of_the_machine_costs_no_attempt(error: NuggetsError, name: str) -> None:
    failure = failure_of(error)
    assert (failure.error_class, failure.counts, failure.permanent) == (name, False, False)


def test_what_cannot_be_accepted_is_never_tried_again() -> None:
    assert failure_of(InvalidInputError("content empty")).permanent


def test_a_mistake_of_the_program_is_told_as_one_and_bounded_by_the_attempts() -> None:
    failure = failure_of(KeyError("x"))
    assert (failure.error_class, failure.counts, failure.permanent) == ("bug", True, False)
    assert "bug in nuggets" in failure.message


def test_an_error_may_name_its_own_class() -> None:
    class DroppedError(NuggetsError):
        error_class = "dropped_from_llm_output"

    assert failure_of(DroppedError("2 of 3")).error_class == "dropped_from_llm_output"


def test_what_is_wrong_with_one_text_keeps_no_other_waiting() -> None:
    for error, spreads in [
        (ModelTimeoutError("late"), True),
        (ModelHttpError("HTTP 500", status=500), True),
        (BudgetSpentError("spent"), True),
        (StorageError("disk full"), True),
        (UnreadableAnswerError("no JSON"), False),
        (ModelHttpError("HTTP 400", status=400), False),
        (InvalidInputError("empty"), False),
        (KeyError("x"), False),
    ]:
        assert failure_of(error).spreads is spreads
