"""The demo memory: what newcomers see and what screenshots show, always the same bytes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from core.model.change import ChangeSet
    from core.model.draft import Draft

# The moment at which the demo's story stops; all its dates lie before it.
DEMO_NOW: Final = datetime(2026, 11, 18, 9, 41, tzinfo=UTC)


def demo_change_set(draft: Draft, notes: int | None = None) -> ChangeSet:
    """The demo memory as one change set on a draft of an empty memory; the same one at each call.

    notes: how many notes in all, fact notes and hidden ones counted; None for those written by hand. A
    smaller number takes the oldest of these, a larger one adds made-up notes. Raises InvalidInputError for
    less than one.
    """
    from nuggets_tui.demo.build import change_set

    return change_set(draft, notes)


def write_demo(home: Path, notes: int | None = None) -> Path:
    """Writes the demo memory into a folder and returns the folder.

    Raises InvalidInputError when the folder holds a memory already or `notes` is less than one, StorageError
    when the system refuses to write.
    """
    from core.errors import InvalidInputError
    from core.memory import Memory
    from nuggets_tui.demo.build import DEMO, numbered

    memory = Memory.open(home, author=DEMO, clock=lambda: DEMO_NOW, ids=numbered())
    snapshot = memory.snapshot
    if snapshot.notes or snapshot.nuggets or snapshot.problems:
        raise InvalidInputError(
            "the folder already holds a memory",
            where=str(home),
            kept="nothing was written",
            todo="name an empty folder",
        )
    memory.apply(demo_change_set(memory.draft(), notes))
    return home


def copy_for_session() -> Path:
    """A new folder of its own for one visit to the demo, so that nothing of the person's is touched."""
    import tempfile

    return Path(tempfile.mkdtemp(prefix="nuggets-demo-"))
