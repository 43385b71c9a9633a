"""The text of a checkpoint that nobody wrote: what happened in a session, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from core.pipeline.continuity.activity import Activity

_HEADS: Final = {"pre_compaction": "Pre-Compaction Checkpoint", "session_end": "Session End Checkpoint"}
_HEAD: Final = "Session Checkpoint"


def digest(activity: Activity, *, cause: str, project: str, prompts: int, milliseconds: int, now: int) -> str:
    """What happened, the lasting part first: who cuts the text keeps that. prompts: how many to tell of; milliseconds:
    how long the session has been; now: epoch ms. Sections that say nothing are left out.
    """
    at = datetime.fromtimestamp(now / 1000, UTC)
    count = f"{prompts} prompt{'' if prompts == 1 else 's'}"
    head = (
        f"## {_HEADS.get(cause, _HEAD)}\n"
        f"{at:%Y-%m-%d %H:%M} UTC, project {project or 'unknown'}, {count} in {duration(milliseconds)}"
    )
    return "\n\n".join((head, *sections(activity)))


def duration(milliseconds: int) -> str:
    """How long, in whole minutes: "0m", "45m", "1h", "1h 5m"."""
    hours, minutes = divmod(max(0, milliseconds) // 60_000, 60)
    if not hours:
        return f"{minutes}m"
    return f"{hours}h {minutes}m" if minutes else f"{hours}h"


def sections(activity: Activity) -> Iterator[str]:
    """What happened, a section each; those that say nothing are left out."""
    if activity.context:
        yield f"### Session Context\n{activity.context}"
    if activity.files:
        yield "\n".join(("### Edited Files", *(f"- {path}" for path in activity.files)))
    if activity.snippets:
        yield "\n".join(("### Recent Prompts", *(f"- {text}" for text in activity.snippets)))
    memory = (("Asked the memory", activity.queries), ("Stored in the memory", activity.remembers))
    said = [f"{head}: {'; '.join(texts)}" for head, texts in memory if texts]
    if said:
        yield "\n".join(("### Memory Activity", *said))
