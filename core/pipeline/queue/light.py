"""What the light in the header shows, and the words for it: a pure function of how things stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.pipeline.config import Mode
from core.pipeline.records import Light, ProviderHealth

# Work that nothing came of for so long is stuck (milliseconds).
STUCK_AFTER_MS: Final = 300_000
# So many texts may hold nothing worth keeping before that looks wrong.
_TEXTS_WITHOUT_FACT: Final = 10
_HOW_TO_START: Final = (
    "no model is configured: install Ollama, run `ollama serve` and `ollama pull qwen3:4b`, and set provider ="
    ' "ollama" under [pipeline.extraction] in settings.toml'
)


@dataclass(frozen=True, slots=True)
class Standing:
    """How things stand. waiting: jobs that wait; held: texts of a frozen pipeline; outbox: facts without their note.

    since: from when on the oldest of the work has waited; progress: when something last came of some; died: when a
    job was last given up; all epoch ms, None for never. read: texts that the model has read, facts: what came of them,
    settled proposals and repetitions included. model_named: whether a person said which model is asked, and where.
    unreadable: what is wrong with a file of the configuration that cannot be read, "" for none.
    """

    mode: Mode
    frozen: bool
    paused: bool
    provider: ProviderHealth
    now: int
    waiting: int = 0
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
    model_named: bool = True
    unreadable: str = ""


def light_of(standing: Standing) -> tuple[Light, str]:
    """The light, and what it means with what to do about it."""
    light, why = _light(standing)
    if standing.dead and not (light is Light.STUCK and _died_in_vain(standing)):
        why += f"; {_counted(standing.dead, 'job', 'jobs')} failed for good: see why and retry"
    return light, why


def _light(standing: Standing) -> tuple[Light, str]:
    provider, waiting = standing.provider, standing.waiting + standing.held
    texts = f"; {_counted(waiting, 'text is waiting', 'texts are waiting')}" if waiting else ""
    if standing.mode is Mode.OFF and standing.unreadable:
        return Light.OFF, standing.unreadable + texts
    if standing.mode is Mode.OFF:
        return Light.OFF, f"the pipeline is off: set enabled = true under [pipeline] in settings.toml{texts}"
    if provider.state == "off" and standing.proposals_open:
        # To decide on what was found takes no model.
        jobs = f"; {_counted(waiting, 'job is waiting', 'jobs are waiting')}" if waiting else ""
        return Light.REVIEW, f"{_proposals(standing)}; no model is configured{jobs}"
    if provider.state == "off":
        return Light.OFF, _HOW_TO_START + texts
    if standing.frozen:
        return Light.PAUSED, f"frozen: settings.toml sets mutationsFrozen, so nothing is written{texts}"
    if standing.paused:
        return Light.PAUSED, f"paused by hand{texts}"
    if waiting and provider.calls_today >= provider.budget:
        return (
            Light.PAUSED,
            f"today's limit of {provider.budget} calls is used up; it continues tomorrow{texts}",
        )
    if waiting and _never_begun(standing):
        return Light.OFF, f"no model answers yet: {provider.last_error}{texts}"
    stuck = _stuck(standing)
    if stuck:
        return Light.STUCK, stuck
    if provider.state == "open" and waiting:
        said = f" ({provider.last_error})" if provider.last_error else ""
        return (
            Light.PAUSED,
            f"{_named(provider)} fails{said}; the pipeline waits a while before it asks again{texts}",
        )
    if standing.waiting or standing.running or standing.outbox:
        return Light.WORKING, _work(standing)
    if standing.proposals_open:
        return Light.REVIEW, _proposals(standing)
    return Light.IDLE, "nothing to do"


def _never_begun(standing: Standing) -> bool:
    """Whether nobody named a model and there has been none so far: so everybody begins, and nothing went wrong."""
    provider = standing.provider
    return (
        not standing.model_named
        and not standing.read
        and provider.state in ("failing", "open")
        and provider.last_ok_at is None
        and provider.last_error_kind in ("unavailable", "model_missing")
    )


def _work(standing: Standing) -> str:
    parts = [
        _counted(standing.running, "job running", "jobs running") if standing.running else "",
        _counted(standing.waiting, "job waiting", "jobs waiting") if standing.waiting else "",
        _counted(standing.outbox, "note to write", "notes to write") if standing.outbox else "",
    ]
    return ", ".join(part for part in parts if part)


def _proposals(standing: Standing) -> str:
    return f"{_counted(standing.proposals_open, 'proposal waits', 'proposals wait')} for your decision"


def _stuck(standing: Standing) -> str:
    """Why nothing comes of the work, "" when something does."""
    quiet = _quiet_ms(standing)
    if quiet > STUCK_AFTER_MS:
        return f"nothing has been written for {quiet // 60_000} minutes; {_what_keeps_it(standing)}"
    if _died_in_vain(standing):
        reason = f" ({standing.died_of})" if standing.died_of else ""
        return f"{_counted(standing.dead, 'job', 'jobs')} failed without any result{reason}: retry"
    writes = standing.mode in (Mode.CONTROLLED_WRITE, Mode.FULL)
    nothing = not standing.facts and not standing.proposals_open
    if writes and nothing and standing.read >= _TEXTS_WITHOUT_FACT:
        return f"{standing.read} texts gave no facts: check the rejected proposals"
    return ""


def _quiet_ms(standing: Standing) -> int:
    """For how long nothing has come of work that waits or runs, 0 where there is none."""
    work = standing.waiting + standing.running + standing.outbox
    if not work or standing.since is None:
        return 0
    return standing.now - max(standing.since, standing.progress or 0)


def _died_in_vain(standing: Standing) -> bool:
    """Whether it is dead jobs that nothing came of: what the light says of work that is stuck."""
    in_vain = standing.dead > 0 and (standing.progress or 0) < (standing.died or 0)
    return in_vain and _quiet_ms(standing) <= STUCK_AFTER_MS


def _what_keeps_it(standing: Standing) -> str:
    provider = standing.provider
    if provider.state in ("open", "failing"):
        said = f": {provider.last_error}" if provider.last_error else ""
        start = " - is `ollama serve` running?" if provider.name == "ollama" else ""
        return f"{_named(provider)} fails{said}{start}"
    if standing.running:
        return f"{_counted(standing.running, 'job has', 'jobs have')} been running all this time"
    if standing.waiting:
        return "no worker is running: start `nuggets daemon`, or keep the app open"
    return "the notes cannot be written: check the memory with `nuggets verify`"


def _named(provider: ProviderHealth) -> str:
    return f"{provider.name} with {provider.model}" if provider.model else provider.name


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
