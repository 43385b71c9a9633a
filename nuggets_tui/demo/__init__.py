"""The demo memory: what newcomers see and what screenshots show. `tools.demo` makes what `memory/` holds."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from nuggets_tui.demo.moment import DEMO_NOW as DEMO_NOW


def write_demo(
    home: Path, notes: int | None = None, *, now: datetime = DEMO_NOW, texts: bool = False
) -> Path:
    """Writes the demo memory, with its history, into a folder and returns the folder; always the same but for its
    times, which are counted from `now`.

    notes: how many in all, fact notes and hidden ones counted; None for those written by hand. A smaller number takes
    the oldest of these, a larger one adds made-up notes. texts: with texts that were submitted, and proposals that
    wait. Raises InvalidInputError when the folder holds a memory already or `notes` is less than one, StorageError when
    the system refuses to write.
    """
    import shutil
    import tempfile

    from core.errors import InvalidInputError, StorageError, UnfinishedError, remedy_for
    from core.folder import FACT_SUFFIXES, GRAPH_FILE
    from nuggets_tui.demo.copying import copy_memory

    if notes is not None and notes < 1:
        raise InvalidInputError(f"must be at least 1, not {notes}", where="notes", kept="nothing was written")
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        home.mkdir(exist_ok=True, mode=0o700)
        if (home / GRAPH_FILE).exists() or any(path.name.endswith(FACT_SUFFIXES) for path in home.iterdir()):
            raise InvalidInputError(
                "the folder already holds a memory",
                where=str(home),
                kept="nothing was written",
                todo="name an empty folder",
            )
        # Made beside its folder and moved there, so that half of a memory is never opened.
        with tempfile.TemporaryDirectory(dir=home.parent, prefix=f".{home.name}-") as folder:
            made = Path(folder)
            copy_memory(made, now, texts=texts)
            if notes is not None:
                from nuggets_tui.demo.resizing import resize

                resize(made, notes, now)
            for path in made.iterdir():
                shutil.move(path, home / path.name)
    except UnfinishedError as error:
        # Nobody opens the folder beside it, which is gone: there is nothing to be finished.
        raise StorageError(error.what, where=str(home), kept="nothing was written") from error
    except OSError as error:
        raise StorageError(
            f"cannot be written ({error.strerror})", remedy=remedy_for(error, home), where=str(home)
        ) from error
    return home


def write_visit(home: Path, notes: int | None = None) -> Path:
    """As `write_demo`, with times counted from now; the whole demo has texts and proposals too."""
    return write_demo(home, notes, now=datetime.now(UTC), texts=notes is None)


def copy_for_session() -> Path:
    """A new folder of its own for one visit to the demo, so that nothing of the person's is touched."""
    import tempfile

    from nuggets_tui.words import COPY_PREFIX

    return Path(tempfile.mkdtemp(prefix=COPY_PREFIX))
