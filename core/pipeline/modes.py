"""The modes of the pipeline, as a pure function of the flags; and whether a memory has one."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path

from core.folder import pages_of
from core.settings import load_settings
from core.settings.pipeline_sections import PipelineConfiguration


class Mode(StrEnum):
    """How far a raw memory goes."""

    OFF = "off"  # raw texts are kept and wait; no extraction job is processed
    SHADOW = "shadow"  # extraction and decisions run in full; proposals are kept, nothing is written
    CONTROLLED_WRITE = (
        "controlled-write"  # ADD and NONE are carried out; UPDATE and DELETE are blocked for a person
    )
    FULL = "full"  # UPDATE and DELETE become reviews too; a deletion only ever hides

    @property
    def writes_notes(self) -> bool:
        """Whether an accepted ADD is written without a person. In shadow a kept proposal can be applied later."""
        return self in (Mode.CONTROLLED_WRITE, Mode.FULL)

    @property
    def author(self) -> str:
        """The author of an audit row."""
        return "pipeline-v2" if self.writes_notes else "pipeline-shadow"

    @property
    def of_result(self) -> str:
        """The mode as a job's result names it."""
        return "phase-c" if self.writes_notes else "shadow"


def mode(configuration: PipelineConfiguration) -> Mode:
    """The mode of a configuration: off goes before frozen and shadow, these before full. A frozen pipeline takes texts
    and holds them.
    """
    if not configuration.enabled:
        return Mode.OFF
    if configuration.shadow_mode or configuration.mutations_frozen:
        return Mode.SHADOW
    return Mode.FULL if configuration.autonomous.allow_update_delete else Mode.CONTROLLED_WRITE


def has_work(home: Path) -> bool:
    """Whether a memory has a pipeline, or a model is named for one: hints, embeddings and the names of a person's own
    notes need no submitted text. Makes nothing.
    """
    from core.storage.database import has_pipeline

    if has_pipeline(home):
        return True
    if not os.access(home, os.W_OK) or pages_of(home) is not None:
        return False
    settings = load_settings(home)
    found = settings.pipeline
    named = settings.names_model and found.extraction.provider != "none"
    return mode(found) is not Mode.OFF and (named or found.hints.enabled or bool(found.embedding.model))
