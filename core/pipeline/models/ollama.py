"""Ollama over HTTP: a model on this machine or one near by."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, Literal
from urllib.parse import unquote, urlsplit

from core.pipeline.extra import install_command
from core.pipeline.models.answers import excerpt
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
    ModelTimeoutError,
    ModelUnavailableError,
    Schema,
    TruncatedAnswerError,
    UnreadableAnswerError,
    vector_of,
)
from core.pipeline.transaction_guard import assert_outside_transaction
from core.pipeline.web import Deadline, Reply, WebError, exchange
from core.settings.pipeline_sections import DEFAULT_ENDPOINT, DEFAULT_MODELS

AVAILABLE_SECONDS: Final = 3.0
LARGEST_REPLY: Final = 16_000_000
_SHOWN: Final = 200
# The context is kept to few sizes, since Ollama reloads a model for each. A text that does not fit is cut by the
# server without a word.
_CONTEXTS: Final = (8_192, 16_384, 32_768)
_BYTES_A_TOKEN: Final = 3
_MOST_TOKENS: Final = 1_000_000_000
_MOST_DIGITS: Final = 12
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
        body, ends = self.request(prompt, schema), Deadline(deadline)
        reply = self._send("POST", "/api/generate", body, deadline, ends)
        if reply.status == 400 and "think" in reply.body[:_SHOWN].decode(errors="replace"):
            # Some versions know only models that think, or others that cannot stop.
            del body["think"]
            reply = self._send("POST", "/api/generate", body, deadline, ends)
        said = self._object(reply)
        text, reason = said.get("response"), said.get("done_reason")
        if not isinstance(text, str):
            raise UnreadableAnswerError("Ollama returned no response field", where=self._where)
        if not text.strip():
            if reason == "length":
                raise TruncatedAnswerError("the model ran out of room while thinking", where=self._where)
            raise EmptyAnswerError("Ollama returned an empty answer", where=self._where)
        tokens = _count(said.get("prompt_eval_count")), _count(said.get("eval_count"))
        return Answer(text.strip(), self.model, reason if isinstance(reason, str) else "", *tokens)

    def request(self, prompt: str, schema: Schema | None = None) -> dict[str, Any]:
        """What is sent to /api/generate."""
        body: dict[str, Any] = {"model": self.model, "prompt": prompt, "stream": False, "think": False}
        if schema is not None:
            body["format"] = dict(schema)
        context = context_for(prompt, self.max_tokens or 0) if self.context == "fit" else self.context
        if isinstance(context, float):
            context = int(context) if math.isfinite(context) else None
        options = {"num_predict": self.max_tokens, "num_ctx": context, "temperature": self.temperature}
        return body | {"options": {name: value for name, value in options.items() if value is not None}}

    def embed(self, texts: Sequence[str], deadline: float) -> Embedded:
        """The vectors of some texts; see `EmbeddingProvider.embed`."""
        body: dict[str, Any] = {"model": self.model, "input": list(texts), "truncate": True}
        if self.dimensions:
            body["dimensions"] = self.dimensions
        reply = self._send("POST", "/api/embed", body, deadline, Deadline(deadline))
        if reply.status == 500 and _NOT_A_NUMBER in _told(reply):
            raise UnreadableAnswerError(
                f"the model made no numbers of a text ({_told(reply)})", where=self._where
            )
        said = self._object(reply)
        made = said.get("embeddings")
        if not isinstance(made, list) or len(made) != len(texts):
            raise UnreadableAnswerError(
                f"Ollama returned no embedding for each of {len(texts)} texts", where=self._where
            )
        return Embedded(tuple(map(vector_of, made)), _count(said.get("prompt_eval_count")))

    def models(self) -> tuple[str, ...]:
        """The names of the models that the server has. Raises a ModelError."""
        seconds = AVAILABLE_SECONDS
        reply = self._send("GET", "/api/tags", None, seconds, Deadline(seconds))
        if reply.status != 200:
            raise ModelHttpError(_http_error(reply), where=self._where, status=reply.status)
        tags = _parsed(reply.body)
        listed = tags.get("models") if isinstance(tags, dict) else None
        found = (one for one in (listed if isinstance(listed, list) else ()) if isinstance(one, dict))
        return tuple(str(name) for one in found for key in ("name", "model") if (name := one.get(key)))

    def available(self) -> Availability:
        """Whether the server answers within three seconds, and has the model."""
        try:
            names = self.models()
        except ModelError as error:
            if isinstance(error, ModelUnavailableError) and error.library_missing:
                return Availability(False, "no_library", error.message)
            return Availability(False, "unreachable", f"{error.message}; start it with `ollama serve`")
        # Without a tag it is the latest.
        full = self.model if ":" in self.model.rpartition("/")[2] else f"{self.model}:latest"
        if self.model and {full, self.model}.isdisjoint(names):
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

    def _send(
        self, method: str, path: str, body: Mapping[str, Any] | None, seconds: float, ends: Deadline
    ) -> Reply:
        """One request, JSON in the body, and the whole reply. Raises a ModelError."""
        assert_outside_transaction("asking Ollama")
        where = self._where
        # ASCII only, since half of a surrogate pair has no UTF-8.
        content = None if body is None else json.dumps(body).encode("ascii")
        headers = {"Content-Type": "application/json"} if content is not None else {}
        try:
            parts = urlsplit(self.endpoint)
            if parts.username is not None:
                named = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
                headers["Authorization"] = f"Basic {base64.b64encode(named.encode()).decode()}"
            url = f"{parts.scheme}://{where}{parts.path}{path}"
            return exchange(method, url, ends, LARGEST_REPLY, headers=headers, content=content)
        except WebError as error:
            raise _of_web(error, where, seconds) from error
        except ValueError as error:
            raise ModelHttpError(f"Ollama cannot be used ({error})", where=where) from error

    def _object(self, reply: Reply) -> dict[str, Any]:
        """The JSON object of a reply. Raises a ModelError for any other, and for one that refuses."""
        if reply.status == 404 and "model" in _told(reply):
            raise self._missing()
        wait = seconds_to_wait(reply.headers.get("retry-after", ""), reply.headers.get("date", ""))
        if wait is not None and reply.status in (429, 503):
            raise AskedToWaitError(_http_error(reply), where=self._where, status=reply.status, seconds=wait)
        if reply.status != 200:
            raise ModelHttpError(_http_error(reply), where=self._where, status=reply.status)
        said = _parsed(reply.body)
        if not isinstance(said, dict):
            raise UnreadableAnswerError("Ollama returned no JSON object", where=self._where)
        error = said.get("error")
        if isinstance(error, str):
            raise ModelHttpError(f"Ollama refused: {excerpt(error, _SHOWN)}", where=self._where, status=500)
        return said

    def _missing(self) -> ModelMissingError:
        return ModelMissingError(
            f"Ollama has no model {excerpt(self.model, 80)}", where=self._where,
            todo=f"fetch it with `ollama pull {excerpt(self.model, 80)}`", status=404,
        )  # fmt: skip


def _of_web(error: WebError, where: str, seconds: float) -> ModelError:
    """The error for an exchange that came to nothing. seconds: that it had."""
    if error.kind == "no_library":
        missing = ModelUnavailableError(
            "Ollama needs the library httpx2", todo=f"install it with: {install_command()}"
        )
        missing.library_missing = True
        return missing
    if error.kind == "timeout":
        return ModelTimeoutError(
            f"Ollama timeout after {round(seconds * 1000)}ms", where=where,
            todo="raise extraction.timeout in settings.toml, or choose a smaller model",
        )  # fmt: skip
    if error.kind == "too_large":
        return UnreadableAnswerError(f"Ollama sent more than {LARGEST_REPLY:,} bytes", where=where)
    if error.kind in ("unknown", "unreachable"):
        return ModelUnavailableError(f"Ollama cannot be reached ({error.told})", where=where)
    what = "closed the connection" if error.kind == "broken" else "cannot be used"
    return ModelHttpError(f"Ollama {what} ({error.told})", where=where)


def context_for(prompt: str, answer_tokens: int) -> int:
    """The smallest of few sizes of context that a prompt and its answer fit into, in tokens; estimated."""
    needed = len(prompt.encode("utf-8", "replace")) // _BYTES_A_TOKEN + answer_tokens
    return next((size for size in _CONTEXTS if size >= needed), _CONTEXTS[-1])


def seconds_to_wait(retry_after: str, date: str) -> float | None:
    """The seconds that a header Retry-After asks to wait, given as such or as a moment; None for what says neither.

    date: the header of that name, when the server thinks it is.
    """
    text = retry_after.strip()
    if text.isascii() and text.replace(".", "", 1).isdigit():
        return float(text[:_MOST_DIGITS])
    until, now = _moment(text), _moment(date) or datetime.now(UTC)
    return None if until is None else max(0.0, (until - now).total_seconds())


def _moment(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text).astimezone(UTC)
    except (ValueError, IndexError, TypeError, OverflowError):
        return None


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _http_error(reply: Reply) -> str:
    return f"Ollama HTTP {reply.status}: {_told(reply)}"


def _told(reply: Reply) -> str:
    """The first characters of a body, on one line."""
    return excerpt(reply.body.decode("utf-8", "replace")[:_SHOWN], _SHOWN)


def _count(value: Any) -> int | None:
    """A number of tokens; None for what is none. The ledger adds them up, and holds no larger sums."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value <= _MOST_TOKENS else None
