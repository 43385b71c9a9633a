"""Ollama over HTTP: a model on this machine or one near by."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

from core.pipeline.models.answers import excerpt
from core.pipeline.models.http import Reply, request, within
from core.pipeline.models.provider import (
    AVAILABLE,
    Answer,
    AskedToWaitError,
    Availability,
    Embedded,
    EmptyAnswerError,
    ModelError,
    ModelHttpError,
    ModelMissingError,
    ModelUnavailableError,
    Schema,
    TruncatedAnswerError,
    UnreadableAnswerError,
    vector_of,
)
from core.pipeline.transaction_guard import assert_outside_transaction
from core.settings.pipeline_sections import DEFAULT_ENDPOINT, DEFAULT_MODELS

AVAILABLE_SECONDS: Final = 3.0
_SHOWN: Final = 200
# The context is kept to few sizes, since Ollama reloads a model for each. A text that does not fit is cut by the
# server without a word.
_CONTEXTS: Final = (8_192, 16_384, 32_768)
_BYTES_A_TOKEN: Final = 3
_MOST_TOKENS: Final = 1_000_000_000
# How a server says that its model made no numbers of a text: JSON has none for them.
_NOT_A_NUMBER: Final = "unsupported value"


@dataclass(frozen=True, slots=True)
class Ollama:
    """A model of an Ollama server.

    endpoint: its address. max_tokens: of one answer. context: tokens that prompt and answer may have together; what
    is no finite number is left to the server, and so is None, "fit" chooses it for each prompt. temperature: None for
    the model's own. dimensions: numbers of an embedding, 0 for as many as the model gives.
    """

    endpoint: str = DEFAULT_ENDPOINT
    model: str = DEFAULT_MODELS["ollama"]
    max_tokens: int | None = None
    context: float | Literal["fit"] | None = None
    temperature: float | None = None
    dimensions: int = 0
    name: str = "ollama"

    def generate(self, prompt: str, schema: Schema | None, deadline: float) -> Answer:
        """The model's answer, its thinking switched off; see `Provider.generate`."""
        assert_outside_transaction("asking Ollama")
        what = f"Ollama timeout after {round(deadline * 1000)}ms"
        body = self.request(prompt, schema)
        return within(deadline, what, self._where, partial(self._ask, body))

    def embed(self, texts: Sequence[str], deadline: float) -> Embedded:
        """The vectors of some texts; see `EmbeddingProvider.embed`."""
        assert_outside_transaction("asking Ollama")
        what = f"Ollama timeout after {round(deadline * 1000)}ms"
        return within(deadline, what, self._where, partial(self._embed, tuple(texts)))

    def request(self, prompt: str, schema: Schema | None = None) -> dict[str, Any]:
        """What is sent to /api/generate."""
        body: dict[str, Any] = {"model": self.model, "prompt": prompt, "stream": False, "think": False}
        if schema is not None:
            body["format"] = dict(schema)
        options = {
            "num_predict": self.max_tokens,
            "num_ctx": self._context(prompt),
            "temperature": self.temperature,
        }
        body["options"] = {name: value for name, value in options.items() if value is not None}
        return body

    def available(self) -> Availability:
        """Whether the server answers within three seconds, and has the model."""
        assert_outside_transaction("asking Ollama")
        try:
            late = f"Ollama timeout after {AVAILABLE_SECONDS:g}s"
            reply = within(
                AVAILABLE_SECONDS, late, self._where, partial(self._request, "GET", "/api/tags", None)
            )
            if reply.status != 200:
                raise ModelHttpError(_http_error(reply), where=self._where, status=reply.status)
        except ModelError as error:
            if isinstance(error, ModelUnavailableError) and error.library_missing:
                return Availability(False, "no_library", error.message)
            return Availability(False, "unreachable", f"{error.message}; start it with `ollama serve`")
        if self.model and not _has(_parsed(reply.body), self.model):
            return Availability(False, "model_missing", self._missing().message)
        return AVAILABLE

    @property
    def identity(self) -> str:
        """Name, address and model."""
        return f"{self.name} {self._where} {self.model}"

    @property
    def _where(self) -> str:
        """The server without user and password."""
        return self.endpoint.partition("://")[2].partition("/")[0].rpartition("@")[2]

    def _context(self, prompt: str) -> int | None:
        if self.context == "fit":
            return context_for(prompt, self.max_tokens or 0)
        return int(self.context) if self.context is not None and math.isfinite(self.context) else None

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None, seconds: float) -> Reply:
        return request(method, self.endpoint + path, body, seconds, who="Ollama", where=self._where)

    def _ask(self, body: dict[str, Any], seconds: float) -> Answer:
        reply = self._request("POST", "/api/generate", body, seconds)
        if reply.status == 400 and "think" in reply.body[:_SHOWN].decode(errors="replace"):
            # Some versions know only models that think, or others that cannot stop.
            less = {name: value for name, value in body.items() if name != "think"}
            reply = self._request("POST", "/api/generate", less, seconds)
        return self._answer(self._object(reply))

    def _object(self, reply: Reply) -> dict[str, Any]:
        """The JSON object of a reply. Raises a ModelError for any other, and for one that refuses."""
        if reply.status == 404 and "model" in _said(reply):
            raise self._missing()
        if reply.wait is not None and reply.status in (429, 503):
            raise AskedToWaitError(
                _http_error(reply), where=self._where, status=reply.status, seconds=reply.wait
            )
        if reply.status != 200:
            raise ModelHttpError(_http_error(reply), where=self._where, status=reply.status)
        said = _parsed(reply.body)
        if not isinstance(said, dict):
            raise UnreadableAnswerError("Ollama returned no JSON object", where=self._where)
        error = said.get("error")
        if isinstance(error, str):
            raise ModelHttpError(f"Ollama refused: {excerpt(error, _SHOWN)}", where=self._where, status=500)
        return said

    def _embed(self, texts: tuple[str, ...], seconds: float) -> Embedded:
        body: dict[str, Any] = {"model": self.model, "input": list(texts), "truncate": True}
        if self.dimensions:
            body["dimensions"] = self.dimensions
        reply = self._request("POST", "/api/embed", body, seconds)
        if reply.status == 500 and _NOT_A_NUMBER in _said(reply):
            raise UnreadableAnswerError(
                f"the model made no numbers of a text ({_said(reply)})", where=self._where
            )
        said = self._object(reply)
        made = said.get("embeddings")
        if not isinstance(made, list) or len(made) != len(texts):
            raise UnreadableAnswerError(
                f"Ollama returned no embedding for each of {len(texts)} texts", where=self._where
            )
        return Embedded(tuple(map(vector_of, made)), _count(said.get("prompt_eval_count")))

    def _answer(self, said: dict[str, Any]) -> Answer:
        text, reason = said.get("response"), said.get("done_reason")
        if not isinstance(text, str):
            raise UnreadableAnswerError("Ollama returned no response field", where=self._where)
        if not text.strip():
            if reason == "length":
                raise TruncatedAnswerError("the model ran out of room while thinking", where=self._where)
            raise EmptyAnswerError("Ollama returned an empty answer", where=self._where)
        return Answer(
            text.strip(),
            self.model,
            reason if isinstance(reason, str) else "",
            _count(said.get("prompt_eval_count")),
            _count(said.get("eval_count")),
        )

    def _missing(self) -> ModelMissingError:
        return ModelMissingError(
            f"Ollama has no model {excerpt(self.model, 80)}", where=self._where,
            todo=f"fetch it with `ollama pull {excerpt(self.model, 80)}`", status=404,
        )  # fmt: skip


def context_for(prompt: str, answer_tokens: int) -> int:
    """The smallest of few sizes of context that a prompt and its answer fit into, in tokens; estimated."""
    needed = len(prompt.encode("utf-8", "replace")) // _BYTES_A_TOKEN + answer_tokens
    return next((size for size in _CONTEXTS if size >= needed), _CONTEXTS[-1])


def _has(tags: Any, wanted: str) -> bool:
    """Whether a listing of models names one; without a tag it is the latest."""
    listed = tags.get("models") if isinstance(tags, dict) else None
    names = {
        str(one.get(key))
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, dict)
        for key in ("name", "model")
    }
    full = wanted if ":" in wanted.rpartition("/")[2] else f"{wanted}:latest"
    return full in names or wanted in names


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _http_error(reply: Reply) -> str:
    return f"Ollama HTTP {reply.status}: {_said(reply)}"


def _said(reply: Reply) -> str:
    """The first characters of a body, on one line."""
    return excerpt(reply.body.decode("utf-8", "replace")[:_SHOWN], _SHOWN)


def _count(value: Any) -> int | None:
    """A number of tokens; None for what is none. The ledger adds them up, and holds no larger sums."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value <= _MOST_TOKENS else None
