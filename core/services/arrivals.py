"""Versions of the memory from elsewhere: read, compared with the files here, and taken in as changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from core.errors import (
    BrokenFileError,
    ErrorCode,
    NuggetsError,
    ReadOnlyError,
    Remedy,
    StorageError,
)
from core.folder import GRAPH_FILE, is_fact_file
from core.model.change import GIT, Author, ChangeSet
from core.model.compare import Differences, differences
from core.model.entry import Conflict
from core.model.fact import Fact
from core.model.note import Note, uncounted
from core.model.snapshot import Snapshot
from core.storage.files.atomic import read_file
from core.storage.format.documents import (
    GraphDocument,
    Loaded,
    NuggetDocument,
    assembled,
    id_of,
    nugget_files,
    read_graph,
    read_nugget,
)
from core.storage.journal.schema import BrokenJournalError
from core.storage.merge.merge import (
    EditsWin,
    changes,
    linked_both_ways,
    rebase,
    told_once,
    without_odd_nuggets,
)

if TYPE_CHECKING:
    from core.memory import Memory

_SYNC: Final = "program:sync"
_GRAPH: Final = GRAPH_FILE.as_posix()
_MARKERS: Final = (b"\n<<<<<<<", b"\n>>>>>>>")
_KEPT: Final = "your memory is unchanged"
# In bytes, with room for what stands before and behind it while it is written.
_LONGEST_NAME: Final = 200


def is_memory_file(path: str) -> bool:
    """Whether a file of the folder, by its path in it, holds notes or facts."""
    named = is_fact_file(path) and path.isprintable() and not set("/\\") & set(path)
    return path == _GRAPH or (named and len(path.encode()) <= _LONGEST_NAME)


@dataclass(frozen=True)
class Version:
    """A version of all files of a memory, by their paths in its folder, and what they say."""

    contents: Mapping[str, bytes]
    loaded: Loaded

    @property
    def snapshot(self) -> Snapshot:
        """What the files say."""
        return self.loaded.snapshot


@dataclass(frozen=True)
class Arrived:
    """What taking a version in came to. change_set: as it was applied. conflicts: how many wait. kept_here: what was
    deleted there and changed here, brought_back the other way round; as `EditsWin` names them. left_out: nuggets whose
    names no nugget can bear.
    """

    change_set: ChangeSet
    conflicts: int = 0
    kept_here: tuple[str, ...] = ()
    brought_back: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


class Arrivals:
    """Versions of one memory that come from elsewhere."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._arrived: tuple[object, frozenset[str]] | None = None

    # Reading

    def version(self, contents: Mapping[str, bytes], where: str) -> Version:
        """A version from its files. where: what a person calls it. Raises BrokenFileError for files that cannot be read
        in whole, ReadOnlyError for a newer format.
        """
        home, rules = self._memory.home, self._memory.settings.inference
        former = self._memory.store.loaded
        graph, nuggets = GraphDocument(path=home / GRAPH_FILE), dict[Path, NuggetDocument]()
        for path, data in contents.items():
            try:
                if path == _GRAPH:
                    graph = read_graph(home / GRAPH_FILE, data, None, rules, former.graph)
                else:
                    nuggets[home / path] = document = read_nugget(home / path, data, None)
                    if document.broken:
                        raise BrokenFileError(document.broken)
            except BrokenFileError as error:
                raise _broken(path, where, data, error.what) from error
        loaded = assembled(home, graph, nuggets, former)
        if loaded.snapshot.read_only:
            raise ReadOnlyError(
                loaded.snapshot.read_only, code=ErrorCode.NEWER_VERSION, remedy=Remedy("update", "sync it"),
                where=where, kept=_KEPT,
            )  # fmt: skip
        for problem in loaded.snapshot.problems:
            if problem.kind.unreadable:
                file = Path(problem.file)
                inside = file.is_relative_to(home)
                name = file.relative_to(home).as_posix() if inside else file.name
                raise _broken(name, where, b"", problem.what)
        return Version(dict(contents), loaded)

    def here(self) -> Version:
        """The files as they are now, read without the memory's lock. Raises as `version`, and StorageError."""
        home = self._memory.home
        found: dict[str, bytes] = {}
        known = self._memory.store.loaded.documents()
        for path in dict.fromkeys((home / GRAPH_FILE, *nugget_files(home), *known)):
            read, name = read_file(path), path.relative_to(home).as_posix()
            if read is not None and is_memory_file(name):
                found[name] = read[0]
            elif read is None and path in known:
                # Somebody is saving it: nothing of it is deleted.
                raise StorageError(
                    "is gone for the moment", remedy=Remedy("try-again"), where=str(path), kept=_KEPT
                )
        return self.version(found, str(home))

    # Taking in

    def take_in(self, base: Version, theirs: Version, *, id: str, author: Author, reason: str) -> Arrived:
        """Brings what theirs changed since base into the memory, as one entry of the log that is undone like any other.
        A conflict waits in the log before anything is written. Errors as in `Memory.apply`.
        """
        memory = self._memory
        with memory.guard:
            memory.refresh(patient=False)
            here = memory.snapshot
            entry = ChangeSet(id=id, at=memory.now(), author=author, reason=reason, kind="import")
            made, left_out = without_odd_nuggets(changes(base.snapshot, here, theirs.snapshot, entry), here)
            decide = EditsWin()
            change_set = linked_both_ways(rebase(made, here, decide), here)
            known: set[tuple[str, ...]] = set()
            keep_waiting(memory, told_once(decide.conflicts, made, known), _SYNC)
            # Whatever else is in the way comes from a program that writes at this very moment.
            last = EditsWin()
            applied = memory.apply_deciding(
                change_set, last, _SYNC, spelling=(theirs.loaded.graph, *theirs.loaded.nuggets.values()),
                exact=True,
            )  # fmt: skip
            keep_waiting(memory, told_once(last.conflicts, made, known), _SYNC)
            kept_here = tuple(dict.fromkeys((*decide.kept_here, *last.kept_here)))
            brought_back = tuple(dict.fromkeys((*decide.brought_back, *last.brought_back)))
            return Arrived(applied, len(known), kept_here, brought_back, left_out)

    def keep_undecided(self, theirs: Differences, conflicts: Iterable[Conflict]) -> None:
        """Puts the conflicts of a merge by git, after which this memory's versions stand, into the log, where they wait
        for a person. theirs: what was changed there. Raises NuggetsError.
        """
        memory = self._memory
        with memory.guard:
            memory.refresh(patient=False)
            made = ChangeSet(
                id="", at=memory.now(), author=GIT, reason="came in by git", kind="outside",
                notes=theirs.notes, facts=theirs.facts,
            )  # fmt: skip
            facts = {change.id for change in made.notes if change.note.is_fact and not change.note.hidden}
            turned = [
                msgspec.structs.replace(one, ours=one.theirs, theirs=one.ours)
                for one in conflicts
                # The fact's own file tells of it.
                if not (one.where in facts and one.field == "content")
            ]
            keep_waiting(memory, told_once(turned, made, set()), _SYNC)

    def arrived_since(self, at: str) -> frozenset[str]:
        """Ids of the notes that a sync brought or changed since a time, counted from when they came in here. What only
        counts recalls is no news. None where the log cannot be read.
        """
        store = self._memory.store
        with self._memory.guard:
            journal, known = store.journal, self._arrived
            if journal is None:
                return frozenset()
            try:
                state = (journal, journal.last_seq, at)
                if known is None or known[0] != state:
                    made = (change for one in journal.made_since(_SYNC, at) for change in one.notes)
                    known = self._arrived = (
                        state,
                        frozenset(
                            one.id
                            for one in made
                            if one.after and (not one.before or uncounted(one.before) != uncounted(one.after))
                        ),
                    )
                return known[1]
            except (NuggetsError, BrokenJournalError):
                return frozenset()


def keep_waiting(memory: Memory, told: Iterable[tuple[Conflict, ChangeSet]], signature: str) -> None:
    """Puts the version that came of what conflicts into the log, unless it waits there for a person already. Raises
    NuggetsError where it cannot be kept.
    """
    store = memory.store
    told = tuple(told)
    waiting = store.journal.entries(state="conflict") if store.journal is not None and told else ()
    named = {one.conflict.named for one in waiting if one.conflict is not None}
    for found, part in told:
        if found.named in named:
            continue
        id, at = memory.stamp()
        waits = msgspec.structs.replace(part, id=id, at=at)
        if not store.keep_conflict(waits, signature, found):
            raise NuggetsError(
                "a conflict cannot be written into the history", code=ErrorCode.STORAGE, where=found.where,
                kept="nothing of it was taken in", todo="nuggets verify says more",
            )  # fmt: skip


def differing(one: Version, other: Version) -> int:
    """How many notes and facts differ, a fact and its note counted once."""
    found = differences(one.snapshot, other.snapshot)
    made = ChangeSet(id="", at="", author=GIT, reason="", notes=found.notes, facts=found.facts)
    return made.size


def to_store(present: Version, former: Version) -> dict[str, bytes | None]:
    """The files that say otherwise in `present` than in `former`, by path: what they are to hold, None for a file that
    goes. Where both say the same, the former keeps its bytes; a nugget stays in the file that it has there.
    """
    found: dict[str, bytes | None] = {}
    mine, theirs = present.loaded, former.loaded
    data, old = present.contents.get(_GRAPH), former.contents.get(_GRAPH)
    if data is not None and data != old and (old is None or not _same(mine.graph.notes, theirs.graph.notes)):
        found[_GRAPH] = data
    elif data is None and old is not None:
        found[_GRAPH] = None
    held = _by_nugget(former)
    for nugget, (path, document) in _by_nugget(present).items():
        known = held.pop(nugget, None)
        if known is None:
            found[path] = present.contents[path]
        elif present.contents[path] != former.contents[known[0]] and not _same(
            document.facts, known[1].facts
        ):
            found[known[0]] = present.contents[path]
    return found | {path: None for path, _ in held.values() if found.get(path) is None}


def _same(one: Iterable[Note | Fact | None], other: Iterable[Note | Fact | None]) -> bool:
    """Whether two files hold the same notes or facts, in whatever order."""
    mine, theirs = (sorted((item for item in side if item), key=id_of) for side in (one, other))
    return mine == theirs


def _by_nugget(version: Version) -> dict[str, tuple[str, NuggetDocument]]:
    found: dict[str, tuple[str, NuggetDocument]] = {}
    for path, document in version.loaded.nuggets.items():
        found.setdefault(document.meta.name, (path.name, document))
    return found


def _broken(path: str, where: str, data: bytes, why: str) -> BrokenFileError:
    """The error for a version that is not followed."""
    marked = all(mark in b"\n" + data for mark in _MARKERS)
    what = "has git's markers of a conflict in it" if marked else f"cannot be read in whole ({why})"
    return BrokenFileError(
        what, code=ErrorCode.REMOTE, where=f"{where}: {path}",
        kept=f"{_KEPT}, and nothing was sent", todo="repair the file there, or commit a sound one",
    )  # fmt: skip
