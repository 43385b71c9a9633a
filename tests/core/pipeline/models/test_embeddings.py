"""Embeddings of Ollama: what is sent, what is made of each reply, and what of each way not to reply."""

from __future__ import annotations

import json

import pytest
from kits.fake_ollama import FakeOllama, Reply

from core.pipeline.models.ollama import Ollama
from core.pipeline.models.provider import (
    ModelError,
    ModelHttpError,
    ModelMissingError,
    ModelTimeoutError,
    ModelUnavailableError,
    UnreadableAnswerError,
    fitting,
    vector_of,
)

MODEL = "nomic-embed-text"
SECONDS = 30.0


def server(numbers: object = (1.0, 2.0), **named: object) -> FakeOllama:
    def answer(text: str) -> list[float] | Reply:
        return numbers if isinstance(numbers, Reply) else list(numbers)  # type: ignore[call-overload,no-any-return]

    return FakeOllama(models=(MODEL,), vector_of=answer, **named)  # type: ignore[arg-type]


def error_of(ollama: FakeOllama, deadline: float = SECONDS) -> ModelError:
    with pytest.raises(ModelError) as caught:
        Ollama(ollama.url, MODEL).embed(["a text"], deadline)
    return caught.value


def test_some_texts_are_embedded_in_one_request_with_the_dimensions_that_were_asked_for() -> None:
    with server() as ollama:
        made = Ollama(ollama.url, MODEL, dimensions=2).embed(["one", "two"], SECONDS)
        assert [list(one or ()) for one in made.vectors] == [[1.0, 2.0], [1.0, 2.0]]
        assert made.prompt_tokens == 3
        (asked,) = ollama.requests
        assert (asked.path, asked.json) == (
            "/api/embed",
            {"model": MODEL, "input": ["one", "two"], "truncate": True, "dimensions": 2},
        )
        Ollama(ollama.url, MODEL).embed(["one"], SECONDS)
        assert "dimensions" not in ollama.requests[-1].json


def test_each_way_not_to_answer_is_an_error_of_its_kind() -> None:
    for reply, error, retried in [
        (Reply("busy", status=500), ModelHttpError, True),
        (Reply("too long", status=400), ModelHttpError, False),
        (
            Reply("failed to encode response: json: unsupported value: NaN", status=500),
            UnreadableAnswerError,
            True,
        ),
        (Reply(body="{}"), UnreadableAnswerError, True),
        (Reply(body='{"embeddings": [[1.0], [2.0]]}'), UnreadableAnswerError, True),
        (Reply(body="[1.0]"), UnreadableAnswerError, True),
        (Reply(body='{"error": "out of memory"}'), ModelHttpError, True),
        (Reply(drop="before"), ModelHttpError, True),
        (Reply(body='{"embeddings": [[1.0]]}', drop="within"), ModelHttpError, True),
    ]:
        with server(reply) as ollama:
            found = error_of(ollama)
            assert isinstance(found, error)
            assert found.retryable is retried


@pytest.mark.slow
def test_a_missing_model_a_missing_server_and_a_late_one_are_told_apart() -> None:
    with FakeOllama(models=(), vector_of=lambda text: [1.0]) as ollama:
        assert isinstance(error_of(ollama), ModelMissingError)
        assert not Ollama(ollama.url, MODEL).available().ok
    assert isinstance(error_of(ollama), ModelUnavailableError)
    with server(Reply(delay=30.0)) as ollama:
        assert isinstance(error_of(ollama, 0.05), ModelTimeoutError)
    with server(Reply(body='{"embeddings": [[1.0, 2.0]]}', drip=5.0)) as ollama:
        assert isinstance(error_of(ollama, 0.05), ModelTimeoutError)


def test_what_is_no_vector_is_none() -> None:
    for numbers in [
        [],
        [0.0, 0.0],
        [float("nan"), 1.0],
        [float("inf")],
        [1e39],
        [1.0, None],
        [True],
        ["1"],
        "12",
        None,
        {},
        [10**400],
        [1.0] * 20_000,
        [[1.0]],
    ]:
        assert vector_of(numbers) is None
        with pytest.raises(UnreadableAnswerError):
            fitting(vector_of(numbers), 0)


def test_a_vector_of_other_dimensions_does_not_fit() -> None:
    made = vector_of(json.loads("[1, 2.5]"))
    assert made is not None
    assert list(fitting(made, 2)) == list(fitting(made, 0)) == [1.0, 2.5]
    with pytest.raises(UnreadableAnswerError):
        fitting(made, 3)
