"""The demo memory: what newcomers see and what screenshots show, always the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from nuggets_tui.demo.moment import DEMO_NOW as DEMO_NOW

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.change import ChangeSet
    from core.model.draft import Draft

# Notes of the largest demo memory that is an entry of its log.
_MOST_IN_THE_LOG: Final = 5_000
_LOG: Final = "ledger.db"


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

    Its log tells how the notes written by hand came to be; made-up ones are its last entry. Raises InvalidInputError
    when the folder holds a memory already or `notes` is less than one, StorageError when the system refuses to write.
    """
    from core.errors import InvalidInputError
    from core.memory import Memory

    memory = Memory.open(home)
    snapshot = memory.snapshot
    memory.close()
    if snapshot.notes or snapshot.nuggets or snapshot.problems:
        raise InvalidInputError(
            "the folder already holds a memory",
            where=str(home),
            kept="nothing was written",
            todo="name an empty folder",
        )
    _lay_down(home, notes)
    return home


def write_visit(home: Path, notes: int | None = None) -> Path:
    """As `write_demo`; the whole demo also has texts that were handed in, and proposals that wait for its visitor."""
    write_demo(home, notes)
    if notes is None:
        from nuggets_tui.demo.texts import submit_texts

        submit_texts(home)
    return home


def _lay_down(home: Path, notes: int | None) -> None:
    """Makes the memory beside its folder and moves its files there, so that a half-told story is never opened."""
    import shutil
    import tempfile

    from core.errors import StorageError, UnfinishedError, remedy_for
    from core.folder import FACT_SUFFIXES, GRAPH_FILE
    from core.memory import Memory
    from nuggets_tui.demo.build import DEMO, numbered

    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home.parent, prefix=f".{home.name}-") as folder:
            made = Memory.open(folder, author=DEMO, clock=lambda: DEMO_NOW, ids=numbered())
            logged = _make(made, notes)
            made.close()
            for place in (home, (home / GRAPH_FILE).parent):
                place.mkdir(exist_ok=True, mode=0o700)
            for path in made.home.iterdir():
                if path.name.endswith(FACT_SUFFIXES):
                    shutil.move(path, home / path.name)
            shutil.move(made.home / GRAPH_FILE, home / GRAPH_FILE)
            if logged:
                shutil.move(made.home / _LOG, home / _LOG)
    except UnfinishedError as error:
        # Nobody opens the folder beside it, which is gone: there is nothing to be finished.
        raise StorageError(error.what, where=str(home), kept="nothing was written") from error
    except OSError as error:
        raise StorageError(
            f"cannot be written ({error.strerror})", remedy=remedy_for(error, home), where=str(home)
        ) from error


def _make(memory: Memory, notes: int | None) -> bool:
    """Fills an empty memory; whether its log is one to keep.

    Nobody reads an entry that holds a whole large memory, and it takes as much room again: such a memory has no log, as
    one has that another program wrote.
    """
    from nuggets_tui.demo.build import change_set, oldest
    from nuggets_tui.demo.handwritten import entries
    from nuggets_tui.demo.history import write_history

    changes = change_set(memory.draft(), notes)
    large = len(changes.notes) > _MOST_IN_THE_LOG
    if not large:
        every = entries()
        written = oldest(every, notes)
        write_history(memory, written, changes, whole=len(written) == len(every))
    if large or len(changes.notes) > len(written):
        memory.apply(changes, keep_time=True)
    return not large


def copy_for_session() -> Path:
    """A new folder of its own for one visit to the demo, so that nothing of the person's is touched."""
    import tempfile

    from nuggets_tui.words import COPY_PREFIX

    return Path(tempfile.mkdtemp(prefix=COPY_PREFIX))
