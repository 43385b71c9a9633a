"""Reading a folder: each file whose fingerprint moved, taken apart, and all of them together as one snapshot."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import is_
from pathlib import Path
from typing import Final, cast

from core.errors import BrokenFileError, ErrorCode, StorageError, remedy_for
from core.folder import FACT_SUFFIXES, GRAPH_FILE
from core.model.note import Note
from core.model.snapshot import Problem, ProblemKind, Snapshot, inherit_indexes
from core.settings import InferenceSettings
from core.storage.files.atomic import Fingerprint, fingerprint, read_file
from core.storage.files.exchange import wait_until_whole
from core.storage.format.documents import (
    Document,
    GraphDocument,
    NuggetDocument,
    broken_graph,
    nugget_of_file,
    read_graph,
    read_nugget,
    unreadable_nugget,
)

_KEPT: Final = "nothing was written"


@dataclass(frozen=True)
class Loaded:
    """All files of a folder, taken apart, and the snapshot that they make."""

    graph: GraphDocument
    nuggets: Mapping[Path, NuggetDocument] = field(default_factory=dict)
    snapshot: Snapshot = field(default_factory=Snapshot)

    def documents(self) -> dict[Path, Document]:
        """Every file that is there and can be read, by path."""
        found: dict[Path, Document] = {
            path: document for path, document in self.nuggets.items() if not document.broken
        }
        if self.graph.fingerprint is not None and not self.graph.broken:
            found[self.graph.path] = self.graph
        return found

    def broken(self) -> set[Path]:
        """Files that are there and cannot be read."""
        found = {path for path, document in self.nuggets.items() if document.broken}
        return found | ({self.graph.path} if self.graph.broken else set())

    def fingerprints(self) -> dict[Path, Fingerprint | None]:
        """The versions of `documents()`."""
        return {path: document.fingerprint for path, document in self.documents().items()}


def read_folder(
    home: Path,
    rules: InferenceSettings,
    former: Loaded | None = None,
    *,
    tolerant: bool = False,
    names: list[str] | None = None,
) -> Loaded:
    """The folder as it is now; `former` itself when no file changed since. names: takes the names of all in it.

    A file that cannot be read while another program has it open for writing is waited for and read again.

    Raises BrokenFileError for a note graph that cannot be read (tolerant: the facts alone are loaded then) and
    StorageError when the system refuses.
    """
    graph = _read_graph(home / GRAPH_FILE, rules, former.graph if former else None, tolerant)
    nuggets = _read_nuggets(home, former.nuggets if former else {}, names)
    if (
        former is not None
        and graph is former.graph
        and nuggets.keys() == former.nuggets.keys()
        and all(nuggets[path] is former.nuggets[path] for path in nuggets)
    ):
        return former
    return assembled(home, graph, nuggets, former)


def _read_graph(
    path: Path, rules: InferenceSettings, former: GraphDocument | None, tolerant: bool
) -> GraphDocument:
    made: Fingerprint | None = None
    begun = time.monotonic()
    try:
        while True:
            made = fingerprint(path)
            if former is not None and former.fingerprint == made and (made is not None or not former.broken):
                return former
            found = read_file(path)
            if found is None:
                _check_folder(path.parent)
                return GraphDocument(path=path)
            data, made = found
            try:
                return read_graph(path, data, made, rules, former)
            except BrokenFileError:
                # Closed in the meantime, it is as whole as it will be.
                if not wait_until_whole(path, begun) and fingerprint(path) == made:
                    raise
    except BrokenFileError as error:
        if not tolerant:
            raise
        return broken_graph(path, made, error)
    except StorageError as error:
        if not tolerant:
            raise
        # Who may read a file changes without a trace in its fingerprint: it is looked at again each time.
        refused = broken_graph(path, None, error)
        return former if former == refused and former is not None else refused


def _check_folder(folder: Path) -> None:
    """Raises StorageError for something in the place of a folder, whose files are none then without being gone."""
    if os.path.lexists(folder) and not folder.is_dir():
        what = "a link to a folder that is not there" if folder.is_symlink() else "a file, not a folder"
        raise StorageError(
            f"cannot be read, since {folder.name} is {what}",
            where=str(folder / GRAPH_FILE.name), kept=_KEPT, todo="restore the folder",
        )  # fmt: skip


def _read_nuggets(
    home: Path, former: Mapping[Path, NuggetDocument], names: list[str] | None
) -> dict[Path, NuggetDocument]:
    loaded: dict[Path, NuggetDocument] = {}
    for path in nugget_files(home, names):
        known = former.get(path)
        try:
            if known is not None and known.fingerprint and known.fingerprint == fingerprint(path):
                loaded[path] = known
                continue
            document = _read_whole_nugget(path)
            if document is not None:
                loaded[path] = document
        except StorageError as error:
            refused = unreadable_nugget(path, error.what)
            loaded[path] = known if known is not None and known == refused else refused
    return loaded


def _read_whole_nugget(path: Path) -> NuggetDocument | None:
    """A fact file, read again while it is broken and being written; None for no file. Raises StorageError."""
    begun = time.monotonic()
    while True:
        found = read_file(path)
        document = read_nugget(path, *found) if found is not None else None
        if document is None or found is None or not document.broken:
            return document
        if not wait_until_whole(path, begun) and fingerprint(path) == found[1]:
            return document


def nugget_files(home: Path, every: list[str] | None = None) -> list[Path]:
    """The fact files of a folder; of two files of one nugget the one that counts comes first. Raises StorageError.

    every: takes the names of all files and folders.
    """
    try:
        with os.scandir(home) as entries:
            names = [entry.name for entry in entries]
    except FileNotFoundError:
        return []
    except NotADirectoryError:
        raise StorageError(
            "is not a folder", code=ErrorCode.WRONG_KIND_OF_FILE, where=str(home), kept=_KEPT
        ) from None
    except OSError as error:
        raise StorageError(
            f"the folder cannot be read ({error.strerror})",
            remedy=remedy_for(error, home),
            where=str(home),
            kept=_KEPT,
        ) from error
    if every is not None:
        every += names
    names = [name for name in names if name.endswith(FACT_SUFFIXES) and not name.startswith(".")]
    return [home / name for suffix in FACT_SUFFIXES for name in sorted(names) if name.endswith(suffix)]


def _which_counts(item: tuple[Path, NuggetDocument]) -> tuple[bool, bool, str]:
    """Of several files of one nugget the first counts: donna before nugget, its own name before that of a copy."""
    path, document = item
    return (
        not path.name.endswith(FACT_SUFFIXES[0]),
        nugget_of_file(path.name) != document.meta.name,
        path.name,
    )


def _legible(graph: GraphDocument) -> tuple[Note, ...]:
    # Without a problem none is missing, and the tuple itself will do.
    if not graph.problems:
        return cast("tuple[Note, ...]", graph.notes)
    return tuple(note for note in graph.notes if note is not None)


def assembled(
    home: Path, graph: GraphDocument, nuggets: Mapping[Path, NuggetDocument], former: Loaded | None = None
) -> Loaded:
    """The files together with their snapshot, one revision further than `former`."""
    named: dict[str, NuggetDocument] = {}
    nuggets = dict(sorted(nuggets.items(), key=_which_counts))
    problems = list(graph.problems)
    read_only = graph.read_only
    for document in nuggets.values():
        problems.extend(document.problems)
        read_only = read_only or document.read_only
        first = named.setdefault(document.meta.name, document)
        if first is not document:
            where, what = str(document.path), f"a second file of the nugget {document.meta.name}"
            used = first.path.name
            problems.append(
                Problem(
                    ProblemKind.SECOND_FILE, where, f"{what}; {used} is used", where, document.meta.name,
                    used=used,
                )
            )  # fmt: skip
    found = tuple(named[name].nugget for name in sorted(named))
    # Nothing was done to the facts where these are the same objects, and that is told by the tuple alone.
    known = former.snapshot.nuggets if former is not None else ()
    same = len(found) == len(known) and all(map(is_, found, known))
    snapshot = Snapshot(
        notes=_legible(graph),
        nuggets=known if same else found,
        problems=tuple(problems),
        home=str(home),
        read_only=read_only,
        set_aside=graph.set_aside,
        graph_problem=graph.broken,
        revision=former.snapshot.revision + 1 if former else 1,
    )
    if former is not None:
        inherit_indexes(former.snapshot, snapshot)
    return Loaded(graph, dict(nuggets), snapshot)
