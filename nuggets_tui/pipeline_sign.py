"""The pipeline's light as the header shows it: a sign, a few words, and which of them wait for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.pipeline.records import PipelineStatus

# Sign and colour of each light, by the names of `core.pipeline.records.Light`.
LIGHTS: Final = {
    "off": ("○", "$text-muted"),
    "idle": ("●", "$text-success"),
    "working": ("◔", "$text-accent"),
    "review": ("!", "$text-warning"),
    "paused": ("‖", "$text-warning"),
    "stuck": ("✗", "$text-error"),
}
_CALM: Final = ("off", "idle", "working")


class PipelineSign(msgspec.Struct, frozen=True):
    """light: as `core.pipeline.records.Light` names it. said: what stands behind its sign."""

    light: str = "off"
    said: str = "pipeline"

    @property
    def calm(self) -> bool:
        """Whether nothing waits for a person: what is calm gives way where there is little room."""
        return self.light in _CALM


# What each light means, in the words of the Pipeline screen.
WORDS: Final = {
    "off": "off", "idle": "all done", "working": "working", "review": "waits for you", "paused": "paused",
    "stuck": "stuck",
}  # fmt: skip
# Before anything was handed in; nothing had to be read for it.
NOT_BEGUN: Final = PipelineSign()


def sign_of(status: PipelineStatus) -> PipelineSign:
    """The light of a status in a few words."""
    light = str(status.light)
    if light == "review":
        return PipelineSign(light, plural(status.proposals_open, "proposal"))
    waiting = status.jobs.get("pending", 0) + status.jobs.get("leased", 0)
    words = {"idle": "pipeline", "working": f"pipeline {waiting:,}" if waiting else "pipeline"}
    return PipelineSign(light, words.get(light, f"pipeline {light}"))
