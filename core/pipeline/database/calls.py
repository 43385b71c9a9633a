"""The ledger of calls to models, and the circuit breaker of each provider, which all processes share."""

from __future__ import annotations

from typing import Final, NamedTuple

from core.pipeline.database.tables import Rows
from core.pipeline.models.provider import (
    OF_THE_QUESTION,
    AskedToWaitError,
    CallRefusedError,
    ModelError,
    ModelHttpError,
    ModelMissingError,
    ModelUnavailableError,
)


class Breaker(NamedTuple):
    """How a provider has been. open_until: epoch ms, 0 when it is closed; in the past: its pause is over."""

    failures: int = 0
    open_until: int = 0
    last_ok_at: int | None = None
    last_failed_at: int | None = None
    last_error: str = ""
    error_class: str = ""

    def is_open(self, now: int) -> bool:
        """Whether the provider is left alone at a moment, epoch ms."""
        return is_open(self.open_until, now, self.last_failed_at)


class Day(NamedTuple):
    """The calls of one day. calls: of all providers; the rest is of one."""

    calls: int
    tokens: int
    median_latency_ms: int | None
    fallbacks: int


class Calls(Rows):
    """The log of calls to models, and the circuit breaker of each provider."""

    def begin(
        self,
        *,
        at: int,
        day: str,
        provider: str,
        model: str,
        purpose: str,
        raw_id: str,
        fallback_for: str = "",
    ) -> int:
        """Puts down that a call is made; its id. It counts from now on, also when nobody lives to see its answer."""
        return self.insert_row(
            "llm_calls", at=at, day=day, provider=provider, model=model, purpose=purpose, raw_id=raw_id,
            latency_ms=0, outcome="asked", error="", fallback_for=fallback_for,
        )  # fmt: skip

    def finish(
        self,
        call_id: int,
        *,
        latency_ms: int,
        outcome: str,
        error: str = "",
        prompt_tokens: int | None = None,
        answer_tokens: int | None = None,
    ) -> None:
        """Puts down how a call ended. outcome: "ok" or the kind of the error."""
        self.run(
            "UPDATE llm_calls SET latency_ms = ?, outcome = ?, error = ?, prompt_tokens = ?, answer_tokens = ?"
            " WHERE id = ?",
            latency_ms, outcome, error, prompt_tokens, answer_tokens, call_id,
        )  # fmt: skip

    def drop(self, call_id: int) -> None:
        """Forgets a call that was not made after all."""
        self.run("DELETE FROM llm_calls WHERE id = ?", call_id)

    def calls_on(self, day: str) -> int:
        """How many calls were made on a day, to whatever provider and however they ended."""
        return self.count("SELECT count(*) FROM llm_calls WHERE day = ?", day)

    def spent(self, day: str, budget: int) -> bool:
        """Whether a day's calls are at least so many."""
        # There are no more than their numbers leave room for; to count thousands before each call would take long.
        room = self.count(
            "SELECT (SELECT max(id) FROM llm_calls WHERE day = ?1) + 1"
            " - (SELECT min(id) FROM llm_calls WHERE day = ?1)",
            day,
        )
        return room >= budget and self.calls_on(day) >= budget

    def day_of(self, day: str, provider: str) -> Day:
        """What a day's calls came to."""
        tokens, fallbacks = self.row(
            "SELECT coalesce(sum(coalesce(prompt_tokens, 0) + coalesce(answer_tokens, 0))"
            " FILTER (WHERE provider = ?1), 0), coalesce(sum(fallback_for = ?1), 0) FROM llm_calls WHERE day = ?2",
            provider, day,
        )  # fmt: skip
        answered = "FROM llm_calls WHERE day = ?1 AND provider = ?2 AND outcome = 'ok'"
        median = self.value(
            f"SELECT latency_ms {answered} ORDER BY latency_ms LIMIT 1 OFFSET (SELECT count(*) / 2 {answered})",
            day, provider,
        )  # fmt: skip
        return Day(self.calls_on(day), tokens, median, fallbacks)

    def latency_of(self, raw_id: str, purpose: str) -> int | None:
        """How long the last call of a purpose about a raw memory took, in milliseconds; None when there was none."""
        found: int | None = self.value(
            "SELECT latency_ms FROM llm_calls WHERE raw_id = ? AND purpose = ? AND outcome <> 'asked'"
            " ORDER BY id DESC LIMIT 1",
            raw_id, purpose,
        )  # fmt: skip
        return found

    def breaker_of(self, provider: str) -> Breaker:
        """The breaker of a provider; closed for one that was never asked."""
        return self.record(Breaker, "SELECT * FROM providers WHERE name = ?", provider) or Breaker()

    def succeeded(self, provider: str, now: int) -> None:
        """The provider answered: whatever it did before is forgotten."""
        self.run(
            "INSERT INTO providers (name, last_ok_at) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE"
            " SET failures = 0, open_until = 0, last_ok_at = ?2, error_class = ''",
            provider, now,
        )  # fmt: skip

    def failed(self, provider: str, now: int, *, error: str, error_class: str, open_until: int) -> None:
        """The provider failed once more. open_until: 0 to leave its breaker as it is."""
        self.run(
            "INSERT INTO providers (name, failures, open_until, last_failed_at, last_error, error_class)"
            " VALUES (?1, 1, ?5, ?2, ?3, ?4) ON CONFLICT (name) DO UPDATE SET failures = failures + 1,"
            " open_until = CASE WHEN ?5 > 0 THEN ?5 ELSE open_until END, last_failed_at = ?2, last_error = ?3,"
            " error_class = ?4",
            provider, now, error, error_class, open_until,
        )  # fmt: skip

    def claim_check(self, provider: str, now: int, until: int) -> bool:
        """Takes the turn to look for a provider, until a moment; False when its breaker is open or another looks."""
        if self.breaker_of(provider).is_open(now):
            return False
        self.run(
            "INSERT INTO providers (name, open_until) VALUES (?1, ?2)"
            " ON CONFLICT (name) DO UPDATE SET open_until = ?2",
            provider, until,
        )  # fmt: skip
        return True

    def close_breaker(self, provider: str, *, forget: bool) -> None:
        """Lets calls through again. forget: its failures too; else the next one opens it again at once."""
        self.run(
            "UPDATE providers SET open_until = 0, failures = CASE WHEN ?2 THEN 0 ELSE failures END,"
            " error_class = CASE WHEN ?2 THEN '' ELSE error_class END WHERE name = ?1",
            provider, forget,
        )  # fmt: skip


THRESHOLD: Final = 3
FIRST_PAUSE_MS: Final = 30_000
LONGEST_PAUSE_MS: Final = 300_000
# No provider that asks to wait is left alone for longer; then it is asked again.
LONGEST_WAIT_MS: Final = 86_400_000


def is_fault(error: ModelError) -> bool:
    """Whether an error says something about the provider, not about one question or one answer."""
    if isinstance(error, CallRefusedError):
        return False
    if isinstance(error, ModelHttpError):
        return error.status not in OF_THE_QUESTION
    return error.kind == "timeout"


def opens_at_once(error: ModelError) -> bool:
    """Whether asking again soon is of no use."""
    return isinstance(error, ModelMissingError | ModelUnavailableError | AskedToWaitError)


def pause_ms(failures: int, threshold: int = THRESHOLD, asked: float | None = None) -> int:
    """Milliseconds that a provider is left alone after so many failures in a row: doubled for each one more.

    asked: the seconds that it asks for itself, which count instead.
    """
    if asked is not None:
        return min(max(0, round(1_000 * min(asked, LONGEST_WAIT_MS))), LONGEST_WAIT_MS)
    doublings = min(max(0, failures - threshold), 16)
    return min(FIRST_PAUSE_MS << doublings, LONGEST_PAUSE_MS)


def is_open(open_until: int, now: int, failed_at: int | None = None) -> bool:
    """Whether a provider is left alone at a moment; all in epoch ms. failed_at: when it failed last.

    A clock that was put back ends every pause: none is longer than it can be, counted from the failure.
    """
    if not now < open_until:
        return False
    since = now if failed_at is None or open_until <= now + LONGEST_PAUSE_MS else failed_at
    return since <= now and open_until <= since + (LONGEST_PAUSE_MS if failed_at is None else LONGEST_WAIT_MS)
