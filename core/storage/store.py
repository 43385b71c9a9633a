"""The folder as one store: loads snapshots and applies change sets under the lock; nothing else writes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from core.errors import BrokenFileError, ConflictError, InvalidInputError, ReadOnlyError, StorageError
from core.folder import FACT_SUFFIXES, GRAPH_FILE
from core.model.change import ChangeSet, FileChange
from core.model.names import check_nugget_name
from core.model.snapshot import Problem, Snapshot
from core.settings import InferenceSettings
from core.storage.changed import changed_graph, changed_nugget
from core.storage.documents import (
    GraphDocument,
    NuggetDocument,
    new_nugget,
    read_graph,
    read_nugget,
    unreadable_nugget,
)
from core.storage.files import (
    Fingerprint,
    Staged,
    discard,
    fingerprint,
    locked,
    make_folder,
    put_in_place,
    read_file,
    remove_file,
    remove_leftovers,
    replace_file,
    stage_file,
    write_target,
)
from core.storage.rebase import rebase

_KEPT: Final = "nothing was written"
_TRIES: Final = 20
_NAMES: Final = 100


class Applied(NamedTuple):
    """What `Store.apply` did: the snapshots before and after, and the change set as it was really applied."""

    before: Snapshot
    after: Snapshot
    change_set: ChangeSet


@dataclass(frozen=True)
class _Loaded:
    graph: GraphDocument
    nuggets: Mapping[Path, NuggetDocument] = field(default_factory=dict)
    snapshot: Snapshot = field(default_factory=Snapshot)


class Store:
    """One memory's folder. Not safe for several threads at once; `Memory` sees to that."""

    def __init__(self, home: Path, rules: InferenceSettings | None = None) -> None:
        self.home = home
        self._rules = rules or InferenceSettings()
        self._loaded: _Loaded | None = None

    def load(self) -> Snapshot:
        """The snapshot of the files as they are now; the same object as before when no file changed.

        Reads only files whose fingerprint moved. Raises BrokenFileError for a note graph that cannot be read
        and StorageError when the system refuses; the last snapshot stays valid then.
        """
        former = self._loaded
        graph = self._load_graph(former.graph if former else None)
        nuggets = self._load_nuggets(former.nuggets if former else {})
        if (
            former is None
            or graph is not former.graph
            or nuggets.keys() != former.nuggets.keys()
            or any(nuggets[path] is not former.nuggets[path] for path in nuggets)
        ):
            self._loaded = self._assembled(graph, nuggets, former)
        assert self._loaded is not None
        return self._loaded.snapshot

    def apply(self, change_set: ChangeSet) -> Applied:
        """Brings a change set onto the newest files and writes it. Raises ConflictError, ReadOnlyError,
        BrokenFileError, LockTimeoutError, StorageError; nothing is written then.
        """
        self._check_writable(self.load(), change_set)
        make_folder(self.home)
        with locked(self.home):
            for folder in (self.home, self.home / GRAPH_FILE.parent):
                remove_leftovers(folder)
            for _ in range(_TRIES):
                before = self.load()
                self._check_writable(before, change_set)
                effective = rebase(change_set, before)
                due = tuple(change for change in effective.files if _is_due(change))
                effective = msgspec.structs.replace(effective, files=due)
                if effective.empty:
                    return Applied(before, before, effective)
                if self._write(effective):
                    assert self._loaded is not None
                    return Applied(before, self._loaded.snapshot, effective)
        raise ConflictError(
            "another program keeps changing the files", where=str(self.home), kept=_KEPT, todo="try again"
        )

    # Loading

    def _load_graph(self, former: GraphDocument | None) -> GraphDocument:
        path = self.home / GRAPH_FILE
        if former is not None and former.fingerprint == fingerprint(path):
            return former
        found = read_file(path)
        if found is None:
            return GraphDocument(path=path)
        data, made = found
        return read_graph(path, data, made, self._rules, former)

    def _load_nuggets(self, former: Mapping[Path, NuggetDocument]) -> dict[Path, NuggetDocument]:
        loaded: dict[Path, NuggetDocument] = {}
        for path in self._nugget_files():
            known = former.get(path)
            try:
                if known is not None and known.fingerprint and known.fingerprint == fingerprint(path):
                    loaded[path] = known
                    continue
                found = read_file(path)
                if found is not None:
                    loaded[path] = read_nugget(path, *found)
            except StorageError as error:
                refused = unreadable_nugget(path, error.what)
                loaded[path] = known if known is not None and known == refused else refused
        return loaded

    def _nugget_files(self) -> list[Path]:
        try:
            with os.scandir(self.home) as entries:
                names = [entry.name for entry in entries if entry.name.endswith(FACT_SUFFIXES)]
        except FileNotFoundError:
            return []
        except NotADirectoryError:
            raise StorageError("is no folder", where=str(self.home), kept=_KEPT) from None
        except OSError as error:
            raise StorageError(
                f"the folder cannot be read ({error.strerror})", where=str(self.home), kept=_KEPT
            ) from error
        names = [name for name in names if not name.startswith(".")]
        return [
            self.home / name for suffix in FACT_SUFFIXES for name in sorted(names) if name.endswith(suffix)
        ]

    def _assembled(
        self, graph: GraphDocument, nuggets: Mapping[Path, NuggetDocument], former: _Loaded | None
    ) -> _Loaded:
        named: dict[str, NuggetDocument] = {}
        problems = list(graph.problems)
        read_only = graph.read_only
        for document in nuggets.values():
            problems.extend(document.problems)
            read_only = read_only or document.read_only
            first = named.setdefault(document.meta.name, document)
            if first is not document:
                where, what = str(document.path), f"a second file of the nugget {document.meta.name}"
                problems.append(
                    Problem(where, f"{what}; {first.path.name} is used", where, document.meta.name)
                )
        snapshot = Snapshot(
            notes=tuple(note for note in graph.notes if note is not None),
            nuggets=tuple(named[name].nugget for name in sorted(named)),
            problems=tuple(problems),
            home=str(self.home),
            read_only=read_only,
            set_aside=graph.set_aside,
            revision=former.snapshot.revision + 1 if former else 1,
        )
        return _Loaded(graph, dict(nuggets), snapshot)

    # Writing

    def _check_writable(self, snapshot: Snapshot, change_set: ChangeSet) -> None:
        if snapshot.read_only:
            raise ReadOnlyError(snapshot.read_only, kept=_KEPT, todo="update this program to write it")
        touched = {change.nugget for change in change_set.facts}
        touched |= {change.note.nugget_name for change in change_set.notes if change.note.is_fact}
        for nugget in snapshot.nuggets:
            if nugget.problem and nugget.name in touched:
                raise BrokenFileError(
                    nugget.problem,
                    where=str(self.home / nugget.file),
                    kept="the file was left as it is and nothing was written",
                    todo="mend the file, or put back a good copy of it",
                )

    def _write(self, effective: ChangeSet) -> bool:
        """Writes what changes. False when a file moved on under us before anything was written."""
        assert self._loaded is not None
        graph = changed_graph(self._loaded.graph, effective.notes)
        nuggets = self._changed_nuggets(effective)
        # A fact that leaves its file is first safe inside its note; one that comes is first in its file.
        steps: list[GraphDocument | NuggetDocument] = list(nuggets)
        if graph is not None:
            leaving = any(change.after is None for change in effective.facts)
            steps.insert(0 if leaving else len(steps), graph)
        # Taking back what made a nugget leaves nothing in its file.
        unmade = {change.name for change in effective.nuggets if change.after is None}
        going = {held.path for held in nuggets if held.meta.name in unmade and not held.raws}
        targets = {document.path: write_target(self.home, document.path) for document in steps}
        for change in effective.files:
            _check_file(change)
        staged: dict[Path, Staged] = {}
        written: dict[Path, Fingerprint] = {}
        try:
            for document in steps:
                if document.path not in going:
                    make_folder(document.path.parent)
                    staged[document.path] = stage_file(targets[document.path], *document.to_parts())
            # Another program may not know our lock: the last look at the files comes right before the renames.
            if any(fingerprint(document.path) != document.fingerprint for document in steps):
                return False
            for document in steps:
                if document.path in going:
                    remove_file(targets[document.path])
                else:
                    written[document.path] = put_in_place(staged[document.path])
        finally:
            discard(one for path, one in staged.items() if path not in written)
        for change in effective.files:
            _write_outside(change)
        kept_nuggets = dict(self._loaded.nuggets)
        for document in nuggets:
            if document.path in written:
                kept_nuggets[document.path] = replace(document, fingerprint=written[document.path])
        kept_graph = self._loaded.graph
        if graph is not None:
            kept_graph = replace(graph, fingerprint=written[graph.path])
        ordered = {path: kept_nuggets[path] for path in self._nugget_files() if path in kept_nuggets}
        self._loaded = self._assembled(kept_graph, ordered, self._loaded)
        return True

    def _changed_nuggets(self, effective: ChangeSet) -> list[NuggetDocument]:
        assert self._loaded is not None
        by_name: dict[str, NuggetDocument] = {}
        for document in self._loaded.nuggets.values():
            by_name.setdefault(document.meta.name, document)
        changed: dict[str, NuggetDocument] = {}
        for made in effective.nuggets:
            if made.after is not None:
                check_nugget_name(made.name, {*by_name, *changed})
                changed[made.name] = new_nugget(self._path_for(made.name), made.after)
            elif made.name in by_name:
                changed[made.name] = by_name[made.name]
        for name in dict.fromkeys(change.nugget for change in effective.facts):
            held = changed.get(name) or by_name.get(name)
            if held is None:
                raise InvalidInputError("no such nugget", where=name, kept=_KEPT)
            changed[name] = changed_nugget(held, [c for c in effective.facts if c.nugget == name])
        return list(changed.values())

    def _path_for(self, name: str) -> Path:
        """Where a new nugget is written; a file of that name may already hold a nugget of another name."""
        taken = {path.name.lower() for path in self._nugget_files()}
        for number in range(1, _NAMES):
            file_name = f"{name}.nugget.json" if number == 1 else f"{name}.{number}.nugget.json"
            if file_name.lower() not in taken:
                return self.home / file_name
        raise InvalidInputError("no file name is left for this nugget", where=name, kept=_KEPT)


def _is_due(change: FileChange) -> bool:
    return _content(change.path) != change.after


def _content(path: str) -> bytes | None:
    found = read_file(Path(path))
    return found[0] if found else None


def _check_file(change: FileChange) -> None:
    if _content(change.path) != change.before:
        raise ConflictError(
            "the file was changed meanwhile",
            where=change.path,
            kept="nothing was written, the file is as it was",
            todo="look at it again",
        )


def _write_outside(change: FileChange) -> None:
    path = Path(os.path.realpath(change.path))
    if change.after is None:
        remove_file(path)
        return
    make_folder(path.parent)
    mode = (path.stat().st_mode & 0o777) if path.exists() else 0o600
    replace_file(path, change.after, mode=mode)
