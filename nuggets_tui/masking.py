"""Credentials in all that a memory's folder holds: looked for and masked in its files and the pipeline's database."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import TYPE_CHECKING

from nuggets_tui.words import plural

if TYPE_CHECKING:
    from core.memory import Holder, Left, Masking, Memory
    from core.model.change import ChangeSet
    from core.model.progress import Progress


def counted(holders: Collection[Holder]) -> str:
    """How many there are, with their noun."""
    if not any(one.kept_id for one in holders):
        return plural(len(holders), "note or fact", "notes and facts")
    if all(one.kept_id for one in holders):
        return plural(len(holders), "text")
    return plural(len(holders), "note, fact or text", "notes, facts and texts")


def secrets(memory: Memory, progress: Progress | None = None) -> tuple[Holder, ...]:
    """What looks as if it held a credential. Errors as `Memory.secrets`, and of the database."""
    from core.pipeline.writes.secrets import secrets

    return secrets(memory, progress)


def masking(memory: Memory, ids: Collection[str] | None = None) -> Masking:
    """What `mask` would do, everywhere; writes nothing. Errors as `Memory.masking`."""
    from core.pipeline.writes.secrets import masking

    return masking(memory, ids)


def mask(memory: Memory, plan: Masking) -> ChangeSet:
    """Masks what was previewed; it cannot be undone. Errors as `Memory.mask_secrets`."""
    from core.pipeline.writes.secrets import mask

    return mask(memory, plan, now=time.time_ns() // 1_000_000)


def left(memory: Memory, plan: Masking) -> tuple[Left, ...]:
    """The files that hold what was masked after all, or that cannot be looked into; see `Memory.masking_left`."""
    return memory.masking_left(plan)


def say_not_secret(memory: Memory, ids: Collection[str]) -> ChangeSet:
    """Remembers that what these hold now is no secret. Errors as `Memory.say_not_secret`."""
    from core.pipeline.writes.secrets import say_not_secret

    return say_not_secret(memory, ids)
