"""The modes of the pipeline, as pure functions of the flags; and whether a memory has one."""

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
    CONTROLLED_WRITE = "controlled-write"  # ADD and NONE are carried out
    FULL = "full"  # UPDATE and DELETE become reviews too


class Intake(StrEnum):
    """What happens to a raw memory that is submitted; it is stored verbatim in every mode."""

    QUEUED = "queued"  # its job waits for a worker
    HELD = "held"  # the pipeline is frozen: it waits until that ends


class Destructive(StrEnum):
    """What becomes of a decision to change or delete."""

    UNDECIDED = "undecided"  # off: no decision is made
    PROPOSED = "proposed"  # shadow: kept as a proposal
    BLOCKED = "destructive_mutations_disabled"  # the reason in the audit row
    REVIEWED = "review"  # a person accepts it; a deletion only ever hides


def mode_of(*, enabled: bool, shadow_mode: bool, mutations_frozen: bool, allow_update_delete: bool) -> Mode:
    """The mode of the flags: off goes before frozen and shadow, these before full."""
    if not enabled:
        return Mode.OFF
    if shadow_mode or mutations_frozen:
        return Mode.SHADOW
    return Mode.FULL if allow_update_delete else Mode.CONTROLLED_WRITE


def mode(configuration: PipelineConfiguration) -> Mode:
    """The mode of a configuration."""
    return mode_of(
        enabled=configuration.enabled,
        shadow_mode=configuration.shadow_mode,
        mutations_frozen=configuration.mutations_frozen,
        allow_update_delete=configuration.autonomous.allow_update_delete,
    )


def intake(configuration: PipelineConfiguration) -> Intake:
    """What happens to raw text now: it is always accepted, and held while the pipeline is frozen."""
    return Intake.HELD if configuration.mutations_frozen else Intake.QUEUED


def processes_jobs(current: Mode) -> bool:
    """Whether extraction jobs are leased."""
    return current is not Mode.OFF


def writes_notes(current: Mode) -> bool:
    """Whether an accepted ADD is written without a person. In shadow a kept proposal can be applied later."""
    return current in (Mode.CONTROLLED_WRITE, Mode.FULL)


def destructive(current: Mode) -> Destructive:
    """What becomes of UPDATE and DELETE."""
    return {
        Mode.OFF: Destructive.UNDECIDED,
        Mode.SHADOW: Destructive.PROPOSED,
        Mode.CONTROLLED_WRITE: Destructive.BLOCKED,
        Mode.FULL: Destructive.REVIEWED,
    }[current]


def changed_by(current: Mode) -> str:
    """The author of an audit row."""
    return "pipeline-v2" if writes_notes(current) else "pipeline-shadow"


def result_mode(current: Mode) -> str:
    """The mode as a job's result names it."""
    return "phase-c" if writes_notes(current) else "shadow"


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
