"""Calls the models of a configuration: what is refused beforehand, what is recorded of each call, and which fallback is
asked.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, NoReturn, Protocol, Self, TypeVar

from core.errors import NuggetsError
from core.pipeline.database.calls import THRESHOLD, Breaker, is_fault, opens_at_once, pause_ms
from core.pipeline.database.connection import Database
from core.pipeline.models.commands import NEVER_ASKED, ClaudeCode, OpenCode, OwnCommand
from core.pipeline.models.ollama import Ollama
from core.pipeline.models.provider import (
    Answer,
    AskedToWaitError,
    BreakerOpenError,
    BudgetSpentError,
    CallRefusedError,
    Embedded,
    EmbeddingProvider,
    ModelError,
    ModelUnavailableError,
    Named,
    NamedProvider,
    Schema,
)
from core.pipeline.records import ProviderHealth
from core.pipeline.transaction_guard import assert_outside_transaction
from core.schedule import local_zone
from core.settings.pipeline_sections import DEFAULT_MODELS, PipelineConfiguration
from core.settings.pipeline_sections import Provider as ProviderName

if TYPE_CHECKING:
    from core.pipeline.database.tables import Tables

# Room for twenty facts and fifty relations; a model that repeats itself ends there.
ANSWER_TOKENS: Final = 4_096
# What is extracted should not change from one call to the next.
TEMPERATURE: Final = 0.1


NO_MODEL: Final = "no model is configured"
NO_EMBEDDER: Final = "no model for embeddings is configured"
HOW_TO_CONFIGURE: Final = (
    'set extraction.provider under [pipeline] in settings.toml to "ollama" or "claude-code"'
)
# As long as looking takes at most, and a little more.
_LOOK_MS: Final = 5_000
# Who answered so lately is taken for there.
_RECENT_MS: Final = 600_000
_LONGEST_ERROR: Final = 500
# Embeddings of stored texts leave such a share of the day's calls to the reading of new ones.
_SHARE_LEFT: Final = 2


# The providers that a configuration names


def provider_of(configuration: PipelineConfiguration) -> NamedProvider | None:
    """The provider of a configuration; None when it names none."""
    return _made(configuration.extraction.provider, configuration.extraction.model, configuration)


def fallback_of(configuration: PipelineConfiguration) -> NamedProvider | None:
    """The provider that is asked when the other fails, with its own model; None for none, or the same one."""
    name = configuration.extraction.fallback_provider
    if name == configuration.extraction.provider or configuration.extraction.provider == "none":
        return None
    return _made(name, DEFAULT_MODELS[name], configuration)


def embedder_of(configuration: PipelineConfiguration) -> EmbeddingProvider | None:
    """The provider of embeddings; None where no model is named for them."""
    part = configuration.embedding
    if not part.model or part.provider != "ollama":
        return None
    endpoint = part.endpoint or configuration.extraction.endpoint
    return Ollama(endpoint, part.model, dimensions=part.dimensions)


def reranker_of(configuration: PipelineConfiguration) -> NamedProvider | None:
    """The model that puts hits in order; None where none is named, or there is no provider."""
    part = configuration.reranker
    if not part.enabled or not part.model:
        return None
    return _made(configuration.extraction.provider, part.model, configuration)


def deadline_of(configuration: PipelineConfiguration) -> float:
    """Seconds that one call may take."""
    return configuration.extraction.timeout / 1_000


def _made(name: ProviderName, model: str, configuration: PipelineConfiguration) -> NamedProvider | None:
    if name == "ollama":
        endpoint = configuration.extraction.endpoint
        return Ollama(endpoint, model, max_tokens=ANSWER_TOKENS, context="fit", temperature=TEMPERATURE)
    if name == "claude-code":
        return ClaudeCode(model)
    if name == "command":
        return OwnCommand(configuration.extraction.command)
    return OpenCode(model) if name == "opencode" else None


# Calls


class _Counted(Protocol):
    """An answer with its tokens, None where nobody counted."""

    @property
    def prompt_tokens(self) -> int | None: ...

    @property
    def answer_tokens(self) -> int | None: ...


_Answered = TypeVar("_Answered", bound=_Counted)


class Readiness(NamedTuple):
    """Whether work that needs a model may begin. until: epoch ms to wait for, 0 when waiting alone does not help."""

    ok: bool
    until: int = 0
    why: str = ""


class Made(NamedTuple):
    """A call that went well and is still to be put down as such. at: when it was answered, epoch ms."""

    call: int
    identity: str
    at: int
    latency_ms: int
    answer: _Counted


class ModelCaller:
    """A provider whose calls are guarded, bounded by a budget of the day, put down in the ledger, and spared for a
    while after failures; another provider is asked in its place where the configuration names one.

    A call counts before it is made. That one went well is put down with the next thing that is written: by `settle`,
    the next call, or `flush`. All processes of a memory share the ledger and the breakers. Safe to use from several
    threads.
    """

    def __init__(
        self,
        database: Database,
        provider: NamedProvider | None,
        *,
        clock: Callable[[], datetime],
        budget: int,
        fallback: NamedProvider | None = None,
        embedder: EmbeddingProvider | None = None,
        threshold: int = THRESHOLD,
    ) -> None:
        """clock: aware times. budget: calls in one day of the local calendar. threshold: failures until a pause.

        embedder: who makes vectors; it has no fallback, since vectors of two models cannot be compared.
        """
        self.database = database
        self.provider = provider
        self.fallback = fallback
        self.embedder = embedder
        self.budget = budget
        self.purpose = ""
        self.raw_id = ""
        self._clock = clock
        self._threshold = threshold
        self._seen: set[str] = set()
        # Both are shared by all that `about` made: calls that went well and are still to be put down as such; calls
        # that are put down and still to be made, by provider, purpose and raw memory.
        self._open: list[Made] = []
        self._reserved: dict[tuple[str, str, str], int] = {}

    @classmethod
    def of(
        cls,
        configuration: PipelineConfiguration,
        database: Database,
        *,
        clock: Callable[[], datetime],
        provider: NamedProvider | None = None,
        embedder: EmbeddingProvider | None = None,
    ) -> Self:
        """The asking that a configuration describes. provider, embedder: to ask instead of those that it names; an
        embedder is asked only where the configuration names a model for it.
        """
        vectors = (embedder or embedder_of(configuration)) if configuration.embedding.model else None
        return cls(
            database, provider or provider_of(configuration), clock=clock,
            budget=configuration.extraction.daily_call_budget,
            fallback=None if provider else fallback_of(configuration), embedder=vectors,
        )  # fmt: skip

    def about(self, purpose: str, raw_id: str = "") -> Self:
        """The same, with what its calls are for, and which raw memory they are about; the ledger tells both."""
        other = copy(self)
        other.purpose, other.raw_id = purpose, raw_id
        return other

    # Asking

    def generate(self, prompt: str, schema: Schema | None, deadline: float) -> Answer:
        """The model's answer; see `Provider.generate`. deadline: seconds of each provider that is asked.

        Raises a CallRefusedError where nothing was asked: the budget is spent, the provider's breaker is open, or
        there is nobody to ask. Then the work may wait until `error.until`, and no attempt was made. The database's
        errors, when it cannot be written before the call.
        """
        assert_outside_transaction("asking a model")
        if self.provider is None:
            raise ModelUnavailableError(NO_MODEL, todo=HOW_TO_CONFIGURE)
        asked, instead = self.provider, self.fallback
        try:
            return self._ask(asked, lambda: asked.generate(prompt, schema, deadline))
        except BudgetSpentError:
            raise
        except ModelError as error:
            if instead is None or not (is_fault(error) or isinstance(error, BreakerOpenError)):
                raise
            first = error
        try:
            call = lambda: instead.generate(prompt, schema, deadline)  # noqa: E731
            return self._ask(instead, call, fallback_for=asked.name)
        except ModelError as second:
            raise _of_both(first, second) from second

    def embed(self, texts: Sequence[str], deadline: float) -> Embedded:
        """The vectors of some texts, in one call; see `EmbeddingProvider.embed`. Raises as `generate` does."""
        assert_outside_transaction("asking for embeddings")
        embedder = self.embedder
        if embedder is None:
            raise ModelUnavailableError(NO_EMBEDDER)
        return self._ask(embedder, lambda: embedder.embed(texts, deadline))

    def reserve(self, writer: Tables, purpose: str, raw_id: str) -> None:
        """Puts the first call of a job down with its lease, where it may be made now."""
        now, day = self._now()
        if self.provider is None or writer.calls.breaker_of(self.provider.identity).is_open(now):
            return
        if not writer.calls.spent(day, self.budget):
            key = self.provider.identity, purpose, raw_id
            self._reserved[key] = self._begin(writer, self.provider, purpose, raw_id)

    def _begin(
        self, writer: Tables, provider: Named, purpose: str, raw_id: str, fallback_for: str = ""
    ) -> int:
        now, day = self._now()
        return writer.calls.begin(
            at=now, day=day, provider=provider.name, model=provider.model, purpose=purpose, raw_id=raw_id,
            fallback_for=fallback_for,
        )  # fmt: skip

    def _ask(self, provider: Named, call_it: Callable[[], _Answered], *, fallback_for: str = "") -> _Answered:
        began, day = self._now()
        identity = provider.identity
        call = self._reserved.pop((identity, self.purpose, self.raw_id), None)
        if call is None:
            with self.database.write(lasting=False) as writer:
                done = self.settle(writer)
                breaker = writer.calls.breaker_of(identity)
                if breaker.is_open(began):
                    raise BreakerOpenError(_left_alone(provider.name, breaker), until=breaker.open_until)
                if writer.calls.spent(day, self.budget):
                    raise BudgetSpentError(self._spent(), until=self._midnight())
                call = self._begin(writer, provider, self.purpose, self.raw_id, fallback_for)
            self.forget(done)
        try:
            answer = call_it()
        except ModelError as error:
            self._failed(call, identity, began, error)
        except BaseException as error:
            with contextlib.suppress(NuggetsError), self.database.write(lasting=False) as writer:
                writer.calls.finish(call, latency_ms=self._since(began), outcome=type(error).__name__)
            raise
        self._open.append(Made(call, identity, self._now()[0], self._since(began), answer))
        return answer

    def settle(self, writer: Tables) -> tuple[Made, ...]:
        """Puts down how the calls so far went, as part of a transaction; those, for `forget` once it is through. To do
        it again changes nothing.
        """
        made = tuple(self._open)
        for one in made:
            writer.calls.finish(
                one.call, latency_ms=one.latency_ms, outcome="ok", prompt_tokens=one.answer.prompt_tokens,
                answer_tokens=one.answer.answer_tokens,
            )  # fmt: skip
            writer.calls.succeeded(one.identity, one.at)
        return made

    def forget(self, made: Iterable[Made]) -> None:
        """Calls that `settle` put down."""
        for one in made:
            with contextlib.suppress(ValueError):
                self._open.remove(one)

    def flush(self) -> None:
        """Puts down how the calls so far went where nothing else is written, and takes back those that were reserved
        and not made. An answer is not thrown away because this cannot be done.
        """
        if not (self._open or self._reserved):
            return
        unused, done = [*self._reserved.values()], tuple(self._open)
        self._reserved.clear()
        with contextlib.suppress(NuggetsError), self.database.write(lasting=False) as writer:
            done = self.settle(writer)
            for call in unused:
                writer.calls.drop(call)
        self.forget(done)

    def _failed(self, call: int, identity: str, began: int, error: ModelError) -> NoReturn:
        """Puts a failure down and raises it; as refused when there was nobody to ask."""
        now, until = self._now()[0], 0
        told = error.message[:_LONGEST_ERROR]
        with contextlib.suppress(NuggetsError), self.database.write(lasting=False) as writer:
            writer.calls.finish(call, latency_ms=self._since(began), outcome=error.kind, error=told)
            if is_fault(error):
                failures = writer.calls.breaker_of(identity).failures + 1
                if failures >= self._threshold or opens_at_once(error):
                    asked = error.seconds if isinstance(error, AskedToWaitError) else None
                    until = now + pause_ms(failures, self._threshold, asked)
                writer.calls.failed(identity, now, error=told, error_class=error.kind, open_until=until)
            else:
                # It answered, if not well, or would have answered another question.
                writer.calls.succeeded(identity, now)
        if isinstance(error, ModelUnavailableError):
            raise BreakerOpenError(error.what, where=error.where, todo=error.todo, until=until) from error
        raise error

    # Whether it could be asked

    def ready(self) -> Readiness:
        """Whether a call would be made now; to be asked before work is taken up, outside of transactions.

        A provider that nobody knows of yet, or whose pause is over, is looked at first, for three seconds at most and
        by one process at a time. So a server that is down costs no attempt of any work.
        """
        if self.provider is None:
            return Readiness(False, 0, f"{NO_MODEL}: {HOW_TO_CONFIGURE}")
        first = self._ready(self.provider, self.budget)
        if first.ok or self.fallback is None or self._is_spent(self.budget):
            return first
        second = self._ready(self.fallback, self.budget)
        return second if second.ok else Readiness(False, min(first.until, second.until), first.why)

    def ready_to_embed(self) -> Readiness:
        """Whether stored texts may be embedded now, as `ready`; half of the day's calls are left to other work."""
        if self.embedder is None:
            return Readiness(False, 0, NO_EMBEDDER)
        return self._ready(self.embedder, max(1, self.budget // _SHARE_LEFT))

    def _is_spent(self, budget: int) -> bool:
        with self.database.checked_reading() as reader:
            return reader.calls.spent(self._now()[1], budget)

    def _ready(self, provider: Named, budget: int) -> Readiness:
        assert_outside_transaction("looking whether a model is there")
        if self._is_spent(budget):
            return Readiness(False, self._midnight(), self._spent())
        now, identity = self._now()[0], provider.identity
        breaker = self._breaker(provider)
        if breaker.is_open(now):
            return Readiness(False, breaker.open_until, _left_alone(provider.name, breaker))
        if breaker.open_until:
            # Until the look is over, others see the breaker as open.
            with self.database.write(lasting=False) as writer:
                if not writer.calls.claim_check(identity, now, now + _LOOK_MS):
                    breaker = writer.calls.breaker_of(identity)
                    return Readiness(False, breaker.open_until, _left_alone(provider.name, breaker))
        elif identity in self._seen or now - (breaker.last_ok_at or 0) < _RECENT_MS:
            return Readiness(True)
        found = provider.available()
        now = self._now()[0]
        with self.database.write(lasting=False) as writer:
            if found.ok:
                # Being there is what had been missing; answering is still to be shown.
                writer.calls.close_breaker(identity, forget=breaker.error_class == "unavailable")
                self._seen.add(identity)
                return Readiness(True)
            until = now + pause_ms(breaker.failures + 1, self._threshold)
            kind = "model_missing" if found.reason == "model_missing" else "unavailable"
            writer.calls.close_breaker(identity, forget=False)
            writer.calls.failed(identity, now, error=found.message, error_class=kind, open_until=until)
        return Readiness(False, until, found.message)

    def _breaker(self, provider: Named) -> Breaker:
        with self.database.checked_reading() as reader:
            return reader.calls.breaker_of(provider.identity)

    # How it has been, by what was put down; nobody is asked

    def embedder_health(self) -> str:
        """Why embeddings are not made just now; "" where nothing is in the way."""
        breaker = Breaker() if self.embedder is None else self._breaker(self.embedder)
        alone = self.embedder is not None and breaker.is_open(self._now()[0])
        return _left_alone(self.embedder.name, breaker) if alone and self.embedder else ""

    def health(self) -> ProviderHealth:
        """How the provider is."""
        now, day = self._now()
        name = "none" if self.provider is None else self.provider.name
        with self.database.checked_reading() as reader:
            today = reader.calls.day_of(day, name)
        if self.provider is None:
            return ProviderHealth(name, "", "off", 0, 0, None, "", today.calls, self.budget, None, 0)
        never = self.fallback is None and name == "opencode"
        breaker = self._breaker(self.provider)
        opened = breaker.is_open(now)
        troubled = breaker.failures > 0 or opened
        state: Literal["off", "open", "failing", "unknown", "healthy"] = (
            "off" if never else "open" if opened else "failing" if troubled
            else "unknown" if breaker.last_ok_at is None else "healthy"
        )  # fmt: skip
        return ProviderHealth(
            name=name,
            model=self.provider.model,
            state=state,
            failures=breaker.failures,
            open_until=breaker.open_until if opened else 0,
            last_ok_at=breaker.last_ok_at,
            last_error=NEVER_ASKED if never else breaker.last_error if troubled else "",
            calls_today=today.calls,
            budget=self.budget,
            median_latency_ms=today.median_latency_ms,
            tokens_today=today.tokens,
            fallbacks_today=today.fallbacks,
            last_error_kind=breaker.error_class if troubled else "",
        )

    def last_ok_at(self) -> int:
        """When a provider last answered, epoch ms; 0 for never."""
        known = [one for one in (self.provider, self.fallback) if one is not None]
        return max((self._breaker(one).last_ok_at or 0 for one in known), default=0)

    def reset_breakers(self) -> None:
        """Closes the breakers, for the providers to be looked at again: somebody put right what was wrong."""
        self._seen.clear()
        known: tuple[Named | None, ...] = (self.provider, self.fallback, self.embedder)
        with self.database.write(lasting=False) as writer:
            for provider in known:
                if provider is not None:
                    writer.calls.close_breaker(provider.identity, forget=True)

    def _now(self) -> tuple[int, str]:
        """Epoch ms, and the day of the local calendar."""
        moment = self._clock()
        return _milliseconds(moment), moment.astimezone(local_zone()).date().isoformat()

    def _since(self, began: int) -> int:
        return max(0, self._now()[0] - began)

    def _midnight(self) -> int:
        """When the budget begins anew."""
        today = self._clock().astimezone(local_zone()).replace(hour=0, minute=0, second=0, microsecond=0)
        return _milliseconds(today + timedelta(days=1))

    def _spent(self) -> str:
        return f"today's limit of {self.budget:,} calls is used up"


def _of_both(first: ModelError, second: ModelError) -> ModelError:
    """The one error for a provider that failed and another that did in its place."""
    if isinstance(second, CallRefusedError):
        both = isinstance(first, CallRefusedError) and second.until < first.until
        return second if both else first
    return (
        second if isinstance(first, CallRefusedError) else second.during(f"{first.what}; then the fallback")
    )


def _left_alone(name: str, breaker: Breaker) -> str:
    why = f": {breaker.last_error}" if breaker.last_error else ""
    return f"{name} fails and is not asked for a while{why}"


def _milliseconds(moment: datetime) -> int:
    return int(moment.astimezone(UTC).timestamp() * 1_000)
