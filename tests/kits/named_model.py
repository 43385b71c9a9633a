"""What a model for tests says of itself: the name of its class, and that it is there."""

from __future__ import annotations

from core.pipeline.models.provider import AVAILABLE, Availability


class NamedModel:
    """A provider's name, model and availability."""

    model = ""

    @property
    def name(self) -> str:
        return type(self).__name__

    @property
    def identity(self) -> str:
        return f"{self.name} {self.model}".rstrip()

    def available(self) -> Availability:
        return AVAILABLE
