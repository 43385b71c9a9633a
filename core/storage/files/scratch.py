"""Files that another program is handed for a moment, in a folder that goes afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from core.storage.files.atomic import make_folder, refused


@contextmanager
def scratch_folder(parent: Path, contents: Iterable[bytes] = ()) -> Iterator[tuple[Path, list[Path]]]:
    """A new folder in `parent`, which is made, and files with these contents in it. Raises StorageError."""
    make_folder(parent)
    try:
        made = tempfile.TemporaryDirectory(dir=parent, ignore_cleanup_errors=True)
    except OSError as error:
        raise refused(parent, "cannot be written", error) from error
    with made as name:
        folder, paths = Path(name), []
        for number, data in enumerate(contents):
            path = folder / str(number)
            try:
                path.write_bytes(data)
            except OSError as error:
                raise refused(path, "cannot be written", error) from error
            paths.append(path)
        yield folder, paths
