"""Ollama over HTTP: what is sent, what is made of each reply, and what of each way not to reply."""

from __future__ import annotations

import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kits.fake_ollama import FakeOllama, Reply

from core.pipeline import web
from core.pipeline.extra import install_command
from core.pipeline.model_calls import provider_of
from core.pipeline.models import ollama
from core.pipeline.models.ollama import Ollama, context_for
from core.pipeline.models.provider import (
    EmptyAnswerError,
    ModelError,
    ModelHttpError,
    ModelMissingError,
    ModelTimeoutError,
    ModelUnavailableError,
    TruncatedAnswerError,
    UnreadableAnswerError,
)
from core.pipeline.transaction_guard import CallInsideTransactionError, holding_a_transaction

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "providers.json").read_text(encoding="utf-8"))
SCHEMA = {"type": "object", "properties": {"facts": {"type": "array"}}, "required": ["facts"]}
SECONDS = 30.0


@pytest.fixture(autouse=True)
def _a_slow_machine_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.pipeline.models.ollama.AVAILABLE_SECONDS", 60.0)


def of_ollama(key: str) -> list[Any]:
    found = [pytest.param(one, id=one["id"]) for one in VECTORS["providers"] if key in one["input"]]
    assert found
    return found


def error_of(server: FakeOllama, deadline: float = SECONDS) -> ModelError:
    with pytest.raises(ModelError) as caught:
        Ollama(server.url).generate("a prompt", None, deadline)
    return caught.value


@pytest.mark.parametrize("vector", of_ollama("ollama_request"))
def test_a_request_is_that_of_the_vectors_with_thinking_switched_off(vector: dict[str, Any]) -> None:
    told, expected = vector["input"]["ollama_request"], vector["expected"]
    with FakeOllama(["well"]) as server:
        model = Ollama(server.url, told["model"], max_tokens=told["maxTokens"])
        model.generate(told["prompt"], None, SECONDS)
    asked = server.requests[0]
    assert (asked.method, asked.path) == (expected["method"], expected["path"])
    assert asked.json == expected["json"] | {"think": False}


@pytest.mark.parametrize("vector", of_ollama("ollama_status"))
def test_a_reply_fails_as_in_the_vectors(vector: dict[str, Any]) -> None:
    told, expected = vector["input"], vector["expected"]
    body = told.get("body", json.dumps(told.get("json")))
    with FakeOllama([Reply(status=told["ollama_status"], body=body)]) as server:
        error = error_of(server)
    if expected["error"] == "empty_output":
        assert isinstance(error, EmptyAnswerError)
    else:
        assert error.what == expected["error"]
    assert error.retryable is expected.get("retryable", True)


@pytest.mark.parametrize("vector", of_ollama("tags_status"))
def test_availability_is_that_of_the_vectors(vector: dict[str, Any]) -> None:
    told, expected = vector["input"], vector["expected"]
    models = tuple(told.get("models", ("qwen3:4b",)))
    with FakeOllama(models=models, tags_status=told["tags_status"]) as server:
        found = Ollama(server.url, told.get("wanted", "qwen3:4b")).available()
    assert found.ok is expected["available"]
    assert found.reason == expected.get("reason", "" if found.ok else "unreachable")
    assert bool(found.message) is not found.ok


def test_a_schema_is_handed_on_and_what_came_of_it_is_told_with_its_cost() -> None:
    reply = Reply(' {"facts": []} \n', prompt_tokens=321, answer_tokens=9)
    with FakeOllama([reply]) as server:
        answer = Ollama(server.url).generate("a prompt", SCHEMA, SECONDS)
    assert server.requests[0].json["format"] == SCHEMA
    assert (answer.text, answer.model, answer.done_reason) == ('{"facts": []}', "qwen3:4b", "stop")
    assert (answer.prompt_tokens, answer.answer_tokens) == (321, 9)


def test_a_number_of_tokens_that_is_none_is_not_counted() -> None:
    for count in [-5, True, 1.5, "9", 2**63, 10**30, [], None]:
        reply = Reply("x", fields={"prompt_eval_count": count, "eval_count": count})
        with FakeOllama([reply]) as server:
            answer = Ollama(server.url).generate("a prompt", None, SECONDS)
        assert (answer.prompt_tokens, answer.answer_tokens) == (None, None)


def test_each_reply_that_is_none_is_an_error_of_its_kind() -> None:
    for reply, kind, told, retryable in [
        (Reply(body="{}"), UnreadableAnswerError, "Ollama returned no response field", True),
        (Reply(fields={"response": 5}), UnreadableAnswerError, "Ollama returned no response field", True),
        (Reply(fields={"response": ["a"]}), UnreadableAnswerError, "Ollama returned no response field", True),
        (Reply(body="[]"), UnreadableAnswerError, "Ollama returned no JSON object", True),
        (Reply(body='{"response": "a'), UnreadableAnswerError, "Ollama returned no JSON object", True),
        (Reply(body=b"\xff\xfe\x00"), UnreadableAnswerError, "Ollama returned no JSON object", True),
        (Reply(body="[" * 100_000), UnreadableAnswerError, "Ollama returned no JSON object", True),
        (Reply(" \n"), EmptyAnswerError, "Ollama returned an empty answer", True),
        (
            Reply("", thinking="Where?", done_reason="length"),
            TruncatedAnswerError,
            "the model ran out of room while thinking",
            True,
        ),
        (Reply(body='{"error": "out of memory"}'), ModelHttpError, "Ollama refused: out of memory", True),
        (Reply("bad format", status=400), ModelHttpError, 'Ollama HTTP 400: {"error": "bad format"}', False),
        (Reply("busy", status=503), ModelHttpError, 'Ollama HTTP 503: {"error": "busy"}', True),
        (Reply(status=302, body=""), ModelHttpError, "Ollama HTTP 302: ", False),
        (
            Reply(status=404, body="404 page not found"),
            ModelHttpError,
            "Ollama HTTP 404: 404 page not found",
            False,
        ),
    ]:
        with FakeOllama([reply]) as server:
            error = error_of(server)
        assert type(error) is kind
        assert error.what == told
        assert error.retryable is retryable


@pytest.mark.parametrize("drop", ["before", "within"])
def test_a_connection_that_breaks_off_is_an_error_that_may_pass(drop: Any) -> None:
    with FakeOllama([Reply("x" * 10_000, drop=drop)]) as server:
        error = error_of(server)
    assert type(error) is ModelHttpError
    assert error.what.startswith("Ollama closed the connection")
    assert error.retryable


def test_what_a_server_says_reaches_nobody_as_control_characters() -> None:
    with FakeOllama([Reply(status=500, body="\x1b[2Jgone\nand \u202emore")]) as server:
        error = error_of(server)
    assert error.what.isprintable()


@pytest.mark.slow
@pytest.mark.parametrize(
    "reply", [Reply("late", delay=60), Reply("drop by drop", drip=0.05), Reply(head_drip=0.01)]
)
def test_the_deadline_is_for_the_whole_call(reply: Reply) -> None:
    with FakeOllama([reply]) as server:
        began = time.monotonic()
        error = error_of(server, 0.3)
        assert time.monotonic() - began < 20
    assert type(error) is ModelTimeoutError
    assert error.what == "Ollama timeout after 300ms"


def test_a_server_that_is_not_there_is_told_apart_from_one_that_fails() -> None:
    with FakeOllama() as server:
        url = server.url
    with pytest.raises(ModelUnavailableError, match="cannot be reached"):
        Ollama(url).generate("a prompt", None, SECONDS)
    found = Ollama(url).available()
    assert (found.ok, found.reason) == (False, "unreachable")
    assert "ollama serve" in found.message


def test_a_model_that_was_never_fetched_is_told_with_the_command_that_fetches_it() -> None:
    with FakeOllama(models=("llama3:8b",)) as server:
        error = error_of(server)
    assert type(error) is ModelMissingError
    assert not error.retryable
    assert "ollama pull qwen3:4b" in error.message


@pytest.mark.parametrize(
    ("wanted", "there"),
    [("qwen3", True), ("qwen3:latest", True), ("qwen3:4b", False), ("library/qwen3", False), ("", True)],
)
def test_a_model_without_a_tag_is_the_latest(wanted: str, there: bool) -> None:
    with FakeOllama(models=("qwen3:latest",)) as server:
        assert Ollama(server.url, wanted).available().ok is there


@pytest.mark.parametrize("listing", ["", "[]", '{"models": 3}', '{"models": [1, {"name": null}]}'])
def test_a_listing_of_models_that_is_none_has_no_model(listing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ollama, "exchange", lambda *_, **named: web.Reply(200, {}, listing.encode()))
    assert Ollama("http://127.0.0.1:9").available().reason == "model_missing"


def test_a_model_that_knows_no_switch_for_thinking_is_asked_without_it() -> None:
    refused = Reply('"llama3:8b" does not support thinking', status=400)
    with FakeOllama([refused, "well"]) as server:
        assert Ollama(server.url).generate("a prompt", SCHEMA, SECONDS).text == "well"
    first, second = (asked.json for asked in server.requests)
    assert "think" in first
    assert second == {name: value for name, value in first.items() if name != "think"}


@pytest.mark.parametrize("context", [None, math.nan, math.inf, -math.inf])
def test_a_context_that_is_no_number_is_left_to_the_server(context: float | None) -> None:
    assert Ollama(context=context).request("p")["options"] == {}
    assert Ollama(context=2048.0).request("p")["options"] == {"num_ctx": 2048}


def test_the_context_is_one_of_few_sizes_and_holds_prompt_and_answer() -> None:
    assert context_for("", 4096) == 8192
    assert context_for("a" * 15_000, 4096) == 16_384
    assert context_for("日" * 12_000, 4096) == 16_384
    assert context_for("a" * 1_000_000, 4096) == 32_768
    with FakeOllama(["well"]) as server:
        model = provider_of(server.configuration())
        assert model is not None
        model.generate("a prompt", None, SECONDS)
    assert server.requests[0].json["options"] == {"num_predict": 4096, "num_ctx": 8192, "temperature": 0.1}


@pytest.mark.parametrize("prompt", ["", "half a pair: \ud83d", "日本語 \0 \x1b[2J", "\u2028" * 10, '"}{"'])
def test_any_prompt_arrives_as_it_is(prompt: str) -> None:
    with FakeOllama(["well"]) as server:
        assert Ollama(server.url).generate(prompt, None, SECONDS).text == "well"
    assert server.prompts == [prompt]


def test_a_reply_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ollama, "LARGEST_REPLY", 1_000)
    with FakeOllama([Reply("x" * 5_000)]) as server:
        error = error_of(server)
    assert type(error) is UnreadableAnswerError
    assert "1,000 bytes" in error.what


def test_no_password_of_an_address_is_told() -> None:
    with FakeOllama() as server:
        host = server.url.removeprefix("http://")
    for told in (
        error_told(f"http://me:hunter22@{host}"),
        Ollama(f"http://me:hunter22@{host}").available().message,
    ):
        assert "hunter22" not in told
        assert host in told


def error_told(url: str) -> str:
    with pytest.raises(ModelError) as caught:
        Ollama(url).generate("a prompt", None, SECONDS)
    return caught.value.message


@pytest.mark.parametrize("url", ["http://[::1", "http://127.0.0.1:0", "ftp://127.0.0.1", "http://a b", "x"])
def test_an_address_that_is_none_is_an_error_of_ours(url: str) -> None:
    with pytest.raises(ModelError):
        Ollama(url).generate("a prompt", None, SECONDS)
    assert not Ollama(url).available().ok


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with FakeOllama(["well"]) as server:
        assert Ollama(server.url).generate("a prompt", None, SECONDS).text == "well"


def test_nothing_is_asked_inside_a_transaction() -> None:
    with FakeOllama(["well"]) as server, holding_a_transaction():
        with pytest.raises(CallInsideTransactionError):
            Ollama(server.url).generate("a prompt", None, SECONDS)
        with pytest.raises(CallInsideTransactionError):
            Ollama(server.url).available()
    assert not server.requests


def test_without_the_library_it_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpcore2", None)
    with pytest.raises(ModelUnavailableError) as caught:
        Ollama().generate("a prompt", None, SECONDS)
    assert install_command() in caught.value.message
    found = Ollama().available()
    assert (found.ok, found.reason) == (False, "no_library")
    assert "nuggets-tui[pipeline]" in found.message


FIELDS = st.sampled_from(["response", "done_reason", "thinking", "error", "models", "name", "eval_count"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(FIELDS | st.text(), inner),
)


@pytest.mark.slow
@given(
    st.binary() | JSON.map(lambda value: json.dumps(value).encode()),
    st.sampled_from([200, 200, 400, 404, 500]),
)
def test_whatever_comes_back_is_an_answer_or_an_error_of_ours(body: bytes, status: int) -> None:
    model = Ollama("http://127.0.0.1:9")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ollama, "exchange", lambda *_, **named: web.Reply(status, {}, body))
        try:
            told = model.generate("a prompt", None, SECONDS).text
        except ModelError as error:
            told = " ".join(error.message.split())
            assert told.isprintable()
        assert told == told.strip() != ""
        assert model.available().message.isprintable()
