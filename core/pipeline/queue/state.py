"""The status icon in the header and its words: a pure function of the pipeline's state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.model.names import counted, duration
from core.pipeline.modes import Mode
from core.pipeline.records import PipelineState, ProviderHealth

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
    pipeline; outbox: facts without their note.

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
    outbox: int = 0
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
    if inputs.waiting or inputs.documents or inputs.running or inputs.outbox:
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
        counted(inputs.outbox, "note to write", "notes to write") if inputs.outbox else "",
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
    work = inputs.waiting + inputs.documents + inputs.running + inputs.outbox
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
    if inputs.waiting or inputs.documents:
        return "no worker is running: start `nuggets daemon`, or keep the app open"
    return "the notes cannot be written: check the memory with `nuggets verify`"


def _named(provider: ProviderHealth) -> str:
    return f"{provider.name} with {provider.model}" if provider.model else provider.name
