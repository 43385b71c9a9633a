"""What the queue goes by, as pure rules: how an error counts for its job, when a job is tried again, and the status in
words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.errors import (
    BrokenFileError,
    ConflictError,
    InvalidInputError,
    LockTimeoutError,
    NotFoundError,
    NuggetsError,
    ReadOnlyError,
    StorageError,
)
from core.model.names import counted, duration
from core.pipeline.document_text import DocumentError
from core.pipeline.models.provider import (
    CallRefusedError,
    CommandFailedError,
    ModelError,
    ModelHttpError,
    ModelMissingError,
    ModelTimeoutError,
)
from core.pipeline.modes import Mode
from core.pipeline.records import PipelineState, ProviderHealth

# Classes of errors that are no model's; those of models are their kinds. First match counts.
_OURS: Final[tuple[tuple[type[NuggetsError], str], ...]] = (
    (LockTimeoutError, "busy"),
    (ReadOnlyError, "read_only"),
    (BrokenFileError, "broken_file"),
    (StorageError, "storage"),
    (ConflictError, "conflict"),
    (InvalidInputError, "invalid"),
    (NotFoundError, "not_found"),
)
# What stays as it is however often it is tried.
_PERMANENT: Final = frozenset(("invalid", "not_found"))
# The machine's trouble, not the job's.
_CIRCUMSTANCES: Final = frozenset(("busy", "read_only", "broken_file", "storage"))
BAD_REQUEST: Final = "bad_request"
BUG: Final = "bug"
# The classes of an outage. No job dies of one.
OUTAGES: Final = ("http", "unavailable", "asked_to_wait")
# What a job dies of that may have been the provider's: a model that is there by now, a server that hung.
MAYBE_OUTAGES: Final = ("model_missing", "timeout")
# The classes of dead jobs that another try may help. Others end the same however often: a request or address that is
# refused, a text that cannot be read, what is gone.
RETRYABLE: Final = (
    *OUTAGES, "timeout", "command_failed", "empty", "parse", "truncated", *sorted(_CIRCUMSTANCES), "conflict", BUG,
    "lease_expired", "fetch_timeout", "fetch_unreachable", "fetch_failed",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Failure:
    """What became of an attempt.

    error_class: a name for counting. permanent: no other attempt can help, the job is dead. counts: the attempt is the
    job's own. refused: no model was asked at all, so that the job goes back as if it had not been taken. doubtful: it
    may be the job or the provider, so that the attempt counts only if that is there. outage: it is the provider, which
    the job waits for. spreads: the next job is likely to
    meet the same, so that the worker had better rest; other jobs need not wait for what is wrong with one.
    """

    error_class: str
    message: str
    permanent: bool = False
    counts: bool = True
    refused: bool = False
    doubtful: bool = False
    outage: bool = False
    spreads: bool = False


def failure_of(error: Exception) -> Failure:
    """What an error means for its job. An error may name its own class as `error_class`; the rest is told by type."""
    if isinstance(error, ModelError):
        return _of_model(error)
    if not isinstance(error, NuggetsError):
        # Bounded by the attempts: it may be what is in this text, or what lies in memory just now.
        return Failure(BUG, f"this is a bug in nuggets-tui: {type(error).__name__}: {error}")
    known = next((name for kind, name in _OURS if isinstance(error, kind)), "error")
    circumstance = known in _CIRCUMSTANCES
    return Failure(
        getattr(error, "error_class", known), error.message, known in _PERMANENT or _is_permanent(error),
        not circumstance,
        spreads=circumstance,
    )  # fmt: skip


def _is_permanent(error: NuggetsError) -> bool:
    return isinstance(error, DocumentError) and error.permanent


def _of_model(error: ModelError) -> Failure:
    if isinstance(error, CallRefusedError):
        return Failure(error.kind, error.message, counts=False, refused=True, spreads=True)
    name = getattr(error, "error_class", error.kind)
    if isinstance(error, ModelHttpError) and not (error.retryable or isinstance(error, ModelMissingError)):
        name = BAD_REQUEST
    return Failure(
        name,
        error.message,
        permanent=not error.retryable,
        counts=not error.outage,
        doubtful=isinstance(error, ModelTimeoutError | CommandFailedError),
        outage=error.outage,
        spreads=error.outage or isinstance(error, ModelTimeoutError | CommandFailedError),
    )


BASE_MS: Final = 1_000
LONGEST_MS: Final = 30_000
JITTER_MS: Final = 500
WINDOW_SECONDS: Final = 5
LONGEST_WINDOW_SECONDS: Final = 120
FIRST_OUTAGE_REST_MS: Final = 10_000
LONGEST_OUTAGE_REST_MS: Final = 3_600_000

# Doubled so often both delays are at their longest; a larger power would only be a larger number.
_MOST_DOUBLINGS: Final = 32


def poll_delay_ms(consecutive_failures: int, *, poll_ms: int, chance: float = 0.0) -> int:
    """Milliseconds until the worker looks for a job again.

    Without failures `poll_ms`; else 1,000 doubled for each failure in a row, 30,000 at most, plus `chance` times 500.
    chance: from 0 to 1, drawn by the caller; outside it is clamped. A nudge simply does not wait for the rest.
    """
    if consecutive_failures <= 0:
        return poll_ms
    doubled: int = BASE_MS * 2 ** min(consecutive_failures, _MOST_DOUBLINGS)
    return min(doubled, LONGEST_MS) + longest_jitter_ms(consecutive_failures, chance)


def longest_jitter_ms(consecutive_failures: int, chance: float = 1.0) -> int:
    """Milliseconds of jitter for a chance, 1 for the most that there is; 0 without failures."""
    if consecutive_failures <= 0:
        return 0
    # Not `max(0, min(...))`: of a NaN neither bound would be taken.
    return round(JITTER_MS * (chance if 0.0 <= chance <= 1.0 else float(chance > 1.0)))


def retry_window_seconds(attempts: int) -> int:
    """Seconds that a job rests after its last failure: 5 doubled for each attempt, 120 at most; 0 before the first."""
    if attempts <= 0:
        return 0
    doubled: int = WINDOW_SECONDS * 2 ** min(attempts, _MOST_DOUBLINGS)
    return min(doubled, LONGEST_WINDOW_SECONDS)


def outage_rest_ms(rested_ms: int, *, answered: bool) -> int:
    """Milliseconds that a job rests after an outage: ten seconds, since the provider is left alone anyway.

    rested_ms: how long it rested after the one before, 0 for the first. answered: whether the provider has answered
    others since: then it may be this job that it breaks at, which rests twice as long, an hour at most.
    """
    return min(max(2 * rested_ms if answered else rested_ms, FIRST_OUTAGE_REST_MS), LONGEST_OUTAGE_REST_MS)


def run_after_ms(failed_at_ms: int, attempts: int) -> int:
    """The moment (epoch milliseconds) after which a failed job may run again."""
    return failed_at_ms + 1_000 * retry_window_seconds(attempts)


# Work that nothing came of for so long is stuck (milliseconds).
STUCK_AFTER_MS: Final = 300_000
# So many texts may hold nothing worth keeping before that looks wrong.
_TEXTS_WITHOUT_FACT: Final = 10
_HOW_TO_START: Final = (
    "no model is configured: install Ollama, run `ollama serve` and `ollama pull qwen3:4b`, and set provider ="
    ' "ollama" under [pipeline.extraction] in settings.toml'
)


@dataclass(frozen=True, slots=True)
class StateInputs:
    """How things stand. waiting: jobs that wait, but those of documents; documents: these; held: texts of a frozen
    pipeline.

    since: from when on the oldest of the work has waited; progress: when something last came of some; died: when a
    job was last given up; all epoch ms, None for never. read: texts that the model has read, facts: what came of them,
    settled proposals and repetitions included. unread: texts of which a part was not read. model_named: whether a
    person said which model is asked, and where.
    unreadable: what is wrong with a file of the configuration that cannot be read, "" for none.
    """

    mode: Mode
    frozen: bool
    paused: bool
    provider: ProviderHealth
    now: int
    waiting: int = 0
    documents: int = 0
    held: int = 0
    running: int = 0
    dead: int = 0
    proposals_open: int = 0
    read: int = 0
    facts: int = 0
    since: int | None = None
    progress: int | None = None
    died: int | None = None
    died_of: str = ""
    unread: int = 0
    model_named: bool = True
    unreadable: str = ""


def pipeline_state(inputs: StateInputs) -> tuple[PipelineState, str]:
    """The status, and what it means with what to do about it."""
    state, why = _state(inputs)
    if inputs.dead and not (state is PipelineState.STUCK and _died_in_vain(inputs)):
        why += f"; {counted(inputs.dead, 'job', 'jobs')} failed for good: see why and retry"
    if inputs.unread:
        why += f"; {counted(inputs.unread, 'text was', 'texts were')} not read whole: see why and retry"
    return state, why


def _state(inputs: StateInputs) -> tuple[PipelineState, str]:
    provider, waiting = inputs.provider, inputs.waiting + inputs.held
    texts = f"; {counted(waiting, 'text is waiting', 'texts are waiting')}" if waiting else ""
    if inputs.mode is Mode.OFF and inputs.unreadable:
        return PipelineState.OFF, inputs.unreadable + texts
    if inputs.mode is Mode.OFF:
        return (
            PipelineState.OFF,
            f"the pipeline is off: set enabled = true under [pipeline] in settings.toml{texts}",
        )
    if provider.state == "off" and inputs.proposals_open:
        # To decide on what was found takes no model.
        jobs = f"; {counted(waiting, 'job is waiting', 'jobs are waiting')}" if waiting else ""
        return PipelineState.REVIEW, f"{_proposals(inputs)}; no model is configured{jobs}"
    if provider.state == "off" and inputs.documents and not (waiting or inputs.frozen or inputs.paused):
        # To index a document takes no model.
        return PipelineState.WORKING, _work(inputs)
    if provider.state == "off":
        return PipelineState.OFF, (provider.last_error or _HOW_TO_START) + texts
    if inputs.frozen:
        proposals = f"; {_proposals(inputs)}" if inputs.proposals_open else ""
        return (
            PipelineState.PAUSED,
            "frozen: texts are kept, none is read, until mutations_frozen is false under [pipeline] in"
            f" settings.toml{texts}{proposals}",
        )
    if inputs.paused:
        return PipelineState.PAUSED, f"paused by hand{texts}"
    if waiting and provider.calls_today >= provider.budget:
        return (
            PipelineState.PAUSED,
            f"today's limit of {provider.budget} calls is used up; it continues tomorrow{texts}",
        )
    if waiting and _never_begun(inputs):
        return PipelineState.OFF, f"no model answers yet: {provider.last_error}{texts}"
    if waiting and provider.state == "open" and provider.last_error_kind == "asked_to_wait":
        return PipelineState.PAUSED, f"{_named(provider)} asks to wait ({provider.last_error}){texts}"
    stuck = _stuck(inputs)
    if stuck:
        return PipelineState.STUCK, stuck
    if provider.state == "open" and waiting:
        said = f" ({provider.last_error})" if provider.last_error else ""
        return (
            PipelineState.PAUSED,
            f"{_named(provider)} fails{said}; the pipeline waits a while before it asks again{texts}",
        )
    if inputs.waiting or inputs.documents or inputs.running:
        return PipelineState.WORKING, _work(inputs)
    if inputs.proposals_open:
        return PipelineState.REVIEW, _proposals(inputs)
    return PipelineState.IDLE, "nothing to do"


def _never_begun(inputs: StateInputs) -> bool:
    """Whether nobody named a model and there has been none so far: so everybody begins, and nothing went wrong."""
    provider = inputs.provider
    return (
        not inputs.model_named
        and not inputs.read
        and provider.state in ("failing", "open")
        and provider.last_ok_at is None
        and provider.last_error_kind in ("unavailable", "model_missing")
    )


def _work(inputs: StateInputs) -> str:
    parts = [
        counted(inputs.running, "job running", "jobs running") if inputs.running else "",
        counted(inputs.waiting, "job waiting", "jobs waiting") if inputs.waiting else "",
        counted(inputs.documents, "document to index", "documents to index") if inputs.documents else "",
    ]
    return ", ".join(part for part in parts if part)


def _proposals(inputs: StateInputs) -> str:
    return f"{counted(inputs.proposals_open, 'proposal waits', 'proposals wait')} for your decision"


def _stuck(inputs: StateInputs) -> str:
    """Why nothing comes of the work, "" when something does."""
    quiet = _quiet_ms(inputs)
    if quiet > STUCK_AFTER_MS:
        return f"nothing has been written for {duration(quiet / 1000)}; {_obstacle(inputs)}"
    if _died_in_vain(inputs):
        reason = f" ({inputs.died_of})" if inputs.died_of else ""
        return f"{counted(inputs.dead, 'job', 'jobs')} failed without any result{reason}: retry"
    writes = inputs.mode in (Mode.CONTROLLED_WRITE, Mode.FULL)
    nothing = not inputs.facts and not inputs.proposals_open
    if writes and nothing and inputs.read >= _TEXTS_WITHOUT_FACT:
        return f"{inputs.read} texts gave no facts: check the rejected proposals"
    return ""


def _quiet_ms(inputs: StateInputs) -> int:
    """For how long nothing has come of work that waits or runs, 0 where there is none."""
    work = inputs.waiting + inputs.documents + inputs.running
    if not work or inputs.since is None:
        return 0
    return inputs.now - max(inputs.since, inputs.progress or 0)


def _died_in_vain(inputs: StateInputs) -> bool:
    """Whether it is dead jobs that nothing came of: what the status says of work that is stuck."""
    in_vain = inputs.dead > 0 and (inputs.progress or 0) < (inputs.died or 0)
    return in_vain and _quiet_ms(inputs) <= STUCK_AFTER_MS


def _obstacle(inputs: StateInputs) -> str:
    provider = inputs.provider
    if provider.state in ("open", "failing"):
        said = f": {provider.last_error}" if provider.last_error else ""
        start = " - is `ollama serve` running?" if provider.name == "ollama" else ""
        return f"{_named(provider)} fails{said}{start}"
    if inputs.running:
        return f"{counted(inputs.running, 'job has', 'jobs have')} been running all this time"
    return "no worker is running: start `nuggets daemon`, or keep the app open"


def _named(provider: ProviderHealth) -> str:
    return f"{provider.name} with {provider.model}" if provider.model else provider.name
