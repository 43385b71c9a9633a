"""The pipeline's status as the header shows it: an icon, a few words, and which of them wait for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.pipeline.health import HealthReport
    from core.pipeline.records import PipelineStatus

# Icon and colour of each status, by the names of `core.pipeline.records.Light`.
STATUS_ICONS: Final = {
    "off": ("○", "$text-muted"),
    "idle": ("●", "$text-success"),
    "working": ("◔", "$text-accent"),
    "review": ("!", "$text-warning"),
    "paused": ("‖", "$text-warning"),
    "stuck": ("✗", "$text-error"),
}
_CALM: Final = ("off", "idle", "working")


class PipelineIndicator(msgspec.Struct, frozen=True):
    """state: as `core.pipeline.records.Light` names it. text: what stands behind its icon."""

    state: str = "off"
    text: str = "pipeline"

    @property
    def calm(self) -> bool:
        """Whether nothing waits for a person: what is calm gives way where there is little room."""
        return self.state in _CALM


# What each status means, in the words of the Pipeline screen.
WORDS: Final = {
    "off": "off", "idle": "all done", "working": "working", "review": "waits for you", "paused": "paused",
    "stuck": "stuck",
}  # fmt: skip
# Before anything was handed in; nothing had to be read for it.
NOT_BEGUN: Final = PipelineIndicator()


def indicator_of(status: PipelineStatus, health: HealthReport | None = None) -> PipelineIndicator:
    """The indicator of a status: its icon and a few words. health: as it was measured last; an unhealthy pipeline says
    so where nothing else is to be said.
    """
    light = str(status.light)
    if health is not None and health.status == "unhealthy" and light in ("idle", "working"):
        return PipelineIndicator("stuck", "pipeline unhealthy")
    if light == "review":
        return PipelineIndicator(light, plural(status.proposals_open, "proposal"))
    waiting = status.jobs.get("pending", 0) + status.jobs.get("leased", 0)
    words = {"idle": "pipeline", "working": f"pipeline {waiting:,}" if waiting else "pipeline"}
    return PipelineIndicator(light, words.get(light, f"pipeline {light}"))
