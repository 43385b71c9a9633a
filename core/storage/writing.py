"""One write: what a change set makes of the files, staged beside them, then exchanged one after the other."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import msgspec

from core import projects
from core.errors import (
    BrokenFileError,
    ConflictError,
    ErrorCode,
    InvalidInputError,
    NotSyncedError,
    ReadOnlyError,
    Remedy,
)
from core.folder import GRAPH_FILE, suffix_in_use
from core.model.change import ChangeSet, FactChange, FileChange, NoteChange, NuggetChange
from core.model.names import check_nugget_name
from core.model.note import replace as with_fields
from core.model.snapshot import Snapshot
from core.storage.files.atomic import (
    Fingerprint,
    Staged,
    discard,
    fingerprint,
    in_place,
    make_folder,
    may_be_read,
    read_file,
    remove_file,
    replace_file,
    stage_file,
    write_target,
)
from core.storage.files.exchange import Replaced, put_instead, take_away
from core.storage.format.documents import (
    Document,
    GraphDocument,
    Loaded,
    NuggetDocument,
    PageDocument,
    assembled,
    changed_graph,
    changed_nugget,
    new_nugget,
    nugget_files,
)
from core.storage.journal.codec import Stage

if TYPE_CHECKING:
    from core.storage.format.pages import PageSet

_KEPT: Final = "nothing was written"
_NAMES: Final = 100
_PAGE_MODE: Final = 0o644
_NO_VERSION: Final = Fingerprint(0, 0, 0)
_Change = TypeVar("_Change", bound=NoteChange | FactChange | NuggetChange | FileChange)


# What is to be written


def completed(loaded: Loaded, effective: ChangeSet) -> ChangeSet:
    """A rebased change set as it is to be written: where notes are pages, with the pages that it makes; elsewhere what
    came from pages leaves them behind.

    Raises InvalidInputError for what no page can hold.
    """
    if loaded.graph.pages is not None:
        from core.storage.format import page_writes

        return page_writes.completed(loaded.graph, effective)
    if all(change.after is None or change.after.page is None for change in effective.notes):
        return effective
    pairs = ((one, one.after and with_fields(one.after, page=None)) for one in effective.notes)
    notes = tuple(msgspec.structs.replace(one, after=after) for one, after in pairs)
    return msgspec.structs.replace(effective, notes=notes)


def page_steps(
    pages: PageSet, writes: Mapping[str, str | None]
) -> tuple[list[PageDocument], frozenset[Path]]:
    """Pages as they are to be written, and which of them go."""
    steps: list[PageDocument] = []
    for name, text in writes.items():
        known = pages.files.get(name)
        made, mode = (known.fingerprint, known.mode) if known is not None else (None, _PAGE_MODE)
        if text is not None or made is not None:
            steps.append(PageDocument(pages.path(name), made, (text or "").encode(), mode))
    return steps, frozenset(pages.path(name) for name, text in writes.items() if text is None)


def check_writable(home: Path, snapshot: Snapshot, change_set: ChangeSet) -> None:
    """Raises ReadOnlyError for a memory that a newer program wrote, BrokenFileError for a change to a broken file."""
    if snapshot.read_only:
        raise ReadOnlyError(
            snapshot.read_only, code=ErrorCode.NEWER_VERSION, remedy=Remedy("update", "write it"), kept=_KEPT
        )
    if snapshot.graph_problem and (change_set.notes or change_set.facts):
        raise BrokenFileError(
            snapshot.graph_problem,
            remedy=_repairable(home / GRAPH_FILE, Remedy("repair")),
            where=str(home / GRAPH_FILE),
            kept="nothing was written; the file is unchanged",
        )
    touched = {change.nugget for change in change_set.facts}
    touched |= {change.note.nugget_name for change in change_set.notes if change.note.is_fact}
    for nugget in snapshot.nuggets:
        if nugget.problem and nugget.name in touched:
            raise BrokenFileError(
                nugget.problem,
                remedy=_repairable(home / nugget.file, Remedy("repair-or-copy")),
                where=str(home / nugget.file),
                kept="nothing was written; the file is unchanged",
            )


def _repairable(path: Path, repair: Remedy) -> Remedy:
    """What to do about a broken file: `repair` where that can read what it holds."""
    return repair if may_be_read(path) else Remedy("verify")


def prepare(
    home: Path, loaded: Loaded, effective: ChangeSet, spelling: Collection[Document] = ()
) -> tuple[Sequence[Document | PageDocument], frozenset[Path]]:
    """The new versions of the files that a rebased change set touches, in the order of writing, and which of them go.

    spelling: what is written anew takes the bytes of the file here that says the same.

    Raises ConflictError for a whole file that changed meanwhile, ReadOnlyError, StorageError, InvalidInputError.
    """
    graph = changed_graph(loaded.graph, effective.notes)
    nuggets = _changed_nuggets(home, loaded, effective)
    # A fact that leaves its file is first safe inside its note; one that comes is first in its file.
    steps: list[Document | PageDocument] = list(nuggets)
    if graph is not None:
        leaving = any(change.after is None for change in effective.facts)
        steps.insert(0 if leaving else len(steps), graph)
    if spelling:
        steps = [one if isinstance(one, PageDocument) else _spelled(home, one, spelling) for one in steps]
        steps += _graph_without_notes(loaded.graph, steps, spelling)
    # Taking back what made a nugget leaves nothing in its file.
    unmade = {change.name for change in effective.nuggets if change.after is None}
    going = frozenset(held.path for held in nuggets if held.meta.name in unmade and not held.raws)
    pages = loaded.graph.pages
    if graph is not None and pages is not None:
        from core.storage.format.page_writes import page_writes

        made, going = page_steps(pages, page_writes(pages, effective))
        steps = [graph, *made]
    for change in effective.files:
        _check_file(home, change)
    return steps, going


def _graph_without_notes(
    graph: GraphDocument, steps: Collection[Document | PageDocument], spelling: Collection[Document]
) -> list[Document]:
    """A note graph that holds no note, but fields that only others know."""
    if graph.fingerprint is not None or any(isinstance(step, GraphDocument) for step in steps):
        return []
    known = (one for one in spelling if isinstance(one, GraphDocument) and not one.raws)
    return [replace(graph, fields=one.fields) for one in known if one.fields.keys() > graph.fields.keys()]


def _spelled(home: Path, step: Document, spelling: Collection[Document]) -> Document:
    """A new file as it is spelt elsewhere, where that says the same: its unknown fields, and the bytes of its items."""
    if step.fingerprint is not None:
        return step
    for known in spelling:
        if isinstance(step, GraphDocument) and isinstance(known, GraphDocument) and known.notes == step.notes:
            return replace(step, fields=known.fields, raws=known.raws, bom=known.bom)
        if not (isinstance(step, NuggetDocument) and isinstance(known, NuggetDocument)):
            continue
        if known.meta == step.meta and known.facts == step.facts:
            taken = {held.name.lower() for held in nugget_files(home)}
            free = known.path.name.lower() not in taken
            return replace(
                step,
                path=home / known.path.name if free else step.path,
                fields=known.fields,
                raws=known.raws,
                bom=known.bom,
                tail=known.tail,
            )
    return step


def _changed_nuggets(home: Path, loaded: Loaded, effective: ChangeSet) -> list[NuggetDocument]:
    by_name: dict[str, NuggetDocument] = {}
    for document in loaded.nuggets.values():
        by_name.setdefault(document.meta.name, document)
    changed: dict[str, NuggetDocument] = {}
    for made in effective.nuggets:
        if made.after is not None:
            check_nugget_name(made.name, {*by_name, *changed})
            changed[made.name] = new_nugget(_path_for(home, made.name), made.after)
        elif made.name in by_name:
            changed[made.name] = by_name[made.name]
    for name in dict.fromkeys(change.nugget for change in effective.facts):
        held = changed.get(name) or by_name.get(name)
        if held is None:
            raise InvalidInputError("no such nugget", field="nugget", where=name, kept=_KEPT)
        changed[name] = changed_nugget(held, [c for c in effective.facts if c.nugget == name])
    return list(changed.values())


def _path_for(home: Path, name: str) -> Path:
    """Where a new nugget is written; a file of that name may already hold a nugget of another name."""
    names = [path.name for path in nugget_files(home)]
    taken, suffix = {known.lower() for known in names}, suffix_in_use(home, names)
    for number in range(1, _NAMES):
        file_name = f"{name}{suffix}" if number == 1 else f"{name}.{number}{suffix}"
        if file_name.lower() not in taken:
            return home / file_name
    raise InvalidInputError(
        "no file name is free for this nugget",
        code=ErrorCode.BAD_NAME,
        field="nugget",
        where=name,
        kept=_KEPT,
    )


def rebased_file(home: Path, change: FileChange) -> FileChange:
    """The change brought onto the file as it is now, where it is a TOML file or the list of projects; else as it is.

    Raises ConflictError for a value that was changed in two ways, BrokenFileError, StorageError.
    """
    path = home / change.path
    if change.path != projects.FILE and (Path(change.path).is_absolute() or path.suffix != ".toml"):
        return change
    now = content_of(path)
    if now == change.before:
        return change
    if change.path == projects.FILE:
        try:
            after = projects.brought_onto(change.before, change.after, now)
        except ValueError as error:
            what = f"cannot be read ({error})"
            raise BrokenFileError(
                what, where=str(path), kept=_KEPT, todo="fix the file or move it away"
            ) from error
    else:
        from core.storage.files.toml import brought_onto

        after = brought_onto(change.before, change.after, now, str(path))
    return msgspec.structs.replace(change, before=now, after=after)


def is_due(home: Path, change: FileChange) -> bool:
    """Whether a whole file does not yet hold what it is to hold."""
    return content_of(home / change.path) != change.after


def content_of(path: Path) -> bytes | None:
    found = read_file(path)
    return found[0] if found else None


def _check_file(home: Path, change: FileChange) -> None:
    path = home / change.path
    if not Path(change.path).is_absolute():
        write_target(home, path)
    if content_of(path) != change.before:
        raise ConflictError(
            "the file has changed since",
            code=ErrorCode.CHANGED_MEANWHILE,
            remedy=Remedy("look-again"),
            where=str(path),
            kept="nothing was written; the file is unchanged",
        )


def whole_of(planned: ChangeSet, rest: ChangeSet, snapshot: Snapshot) -> ChangeSet:
    """The change set as the log is to tell it: what was written before the break, and the rest.

    planned: what was to be written in the first place. rest: what of it is left, rebased on `snapshot`. What neither
    stands in the files nor is left gave way to another program, and is left out.
    """
    facts = {
        (nugget.name, fact.key): fact
        for nugget in snapshot.nuggets
        for fact in (nugget.facts if planned.facts else ())
    }

    def fact_stands(one: FactChange) -> bool:
        return facts.get((one.nugget, one.after.key if one.after is not None else one.key)) == one.after

    return msgspec.structs.replace(
        planned,
        notes=_joined(
            planned.notes,
            rest.notes,
            lambda one: one.id,
            lambda one: snapshot.by_id.get(one.note.id) == one.after,
        ),
        facts=_joined(planned.facts, rest.facts, lambda one: (one.nugget, one.key), fact_stands),
        nuggets=_joined(
            planned.nuggets,
            rest.nuggets,
            lambda one: one.name,
            lambda one: (one.name in snapshot.by_name) is (one.after is not None),
        ),
        # A file that holds what it is to hold is not among the rest.
        files=_joined(planned.files, rest.files, lambda one: one.path, lambda one: True),
    )


def _joined(
    planned: Iterable[_Change],
    rest: Iterable[_Change],
    name: Callable[[_Change], object],
    stands: Callable[[_Change], bool],
) -> tuple[_Change, ...]:
    left: dict[object, _Change] = {name(change): change for change in rest}
    found = [left.pop(name(one), one) for one in planned if name(one) in left or stands(one)]
    return (*found, *left.values())


# Writing it


class Written(NamedTuple):
    """What stands in the files after a write, and what was replaced there, by path."""

    loaded: Loaded
    replaced: tuple[tuple[Path, Replaced], ...] = ()


@dataclass
class Write:
    """One write: once it is staged, new versions are safe on disk beside their files, and those are as they were.

    steps: the new versions, in order. going: those of them that are removed instead.
    """

    home: Path
    loaded: Loaded
    change_set: ChangeSet
    steps: Sequence[Document | PageDocument] = field(default_factory=list)
    going: frozenset[Path] = frozenset()
    targets: dict[Path, Path] = field(default_factory=dict)
    staged: dict[Path, Staged] = field(default_factory=dict)
    # What was put in place: from the first file on the rest has to follow.
    placed: set[Path] = field(default_factory=set)

    @contextmanager
    def staged_files(self) -> Iterator[None]:
        """Within this the new versions are safe on disk; nothing is left behind when nothing is written. Raises
        StorageError, ReadOnlyError.
        """
        pages = self.loaded.graph.pages
        for step in self.steps:
            root = pages.folder if isinstance(step, PageDocument) and pages is not None else self.home
            self.targets[step.path] = write_target(root, step.path)
        try:
            for step in self.steps:
                if step.path not in self.going:
                    if step.on_disk is None:
                        make_folder(step.path.parent)
                    mode = {"mode": step.mode} if isinstance(step, PageDocument) else {}
                    self.staged[step.path] = stage_file(self.targets[step.path], *step.to_parts(), **mode)
            yield
        except BaseException:
            if not self.placed:
                discard(self.staged.values())
            raise

    def stages(self) -> dict[str, Stage]:
        """For each file the version that was read and the one that is to follow, by its place in the folder, or by its
        whole path where it lies elsewhere.
        """
        found: dict[str, Stage] = {}
        for step in self.steps:
            path, staged = step.path, self.staged.get(step.path)
            name = str(path.relative_to(self.home) if path.is_relative_to(self.home) else path)
            found[name] = Stage(step.on_disk, staged.fingerprint if staged is not None else None)
        return found

    def carry_out(self, *, insisting: bool = False) -> Written | None:
        """Puts the new versions in place. None when a file moved on before anything was written.

        insisting: also then, if what stands there by now can be got hold of. Raises StorageError; `placed` says
        what was written by then.
        """
        written: dict[Path, Fingerprint] = {}
        replaced: list[tuple[Path, Replaced]] = []
        try:
            # Another program may not know our lock: the last look at the files comes right before the renames.
            moved = any(fingerprint(step.path) != step.on_disk for step in self.steps)
            if moved and (self.going or not insisting):
                return None
            for step in self.steps:
                try:
                    with self._placing(step.path):
                        other = self._place(step, moved=moved and not written)
                except FileExistsError:
                    if not self.placed:
                        return None
                    with self._placing(step.path):
                        other = put_instead(self.staged[step.path], _NO_VERSION)
                if step.path not in self.going:
                    written[step.path] = in_place(self.staged[step.path])
                if other is not None:
                    replaced.append((step.path, other))
        finally:
            # Where a file was exchanged, what it replaced lies there now.
            discard(one for path, one in self.staged.items() if path not in self.placed)
        for change in self.change_set.files:
            with self._placing(self.home / change.path):
                _write_whole(self.home, change)
        return Written(self._after(written), tuple(replaced))

    def _place(self, step: Document | PageDocument, *, moved: bool) -> Replaced | None:
        if step.path not in self.going:
            return put_instead(self.staged[step.path], step.on_disk, moved=moved)
        if isinstance(step, PageDocument):
            return take_away(self.targets[step.path], step.fingerprint)
        remove_file(self.targets[step.path])
        return None

    @contextmanager
    def _placing(self, path: Path) -> Iterator[None]:
        try:
            yield
        except NotSyncedError:
            self.placed.add(path)
            raise
        self.placed.add(path)

    def _after(self, written: Mapping[Path, Fingerprint]) -> Loaded:
        nuggets, graph = dict(self.loaded.nuggets), self.loaded.graph
        for step in self.steps:
            if step.path in written and not isinstance(step, PageDocument):
                made = replace(step, fingerprint=written[step.path])
                if isinstance(made, GraphDocument):
                    graph = made
                else:
                    nuggets[step.path] = made
        if self.going or nuggets.keys() != self.loaded.nuggets.keys():
            nuggets = {path: nuggets[path] for path in nugget_files(self.home) if path in nuggets}
        pages = self.loaded.graph.pages
        if pages is not None and graph is not self.loaded.graph:
            from core.storage.format.pages import with_written_pages

            made_pages = {
                step.path: replace(step, fingerprint=written[step.path]) if step.path in written else None
                for step in self.steps
                if isinstance(step, PageDocument)
            }
            graph = with_written_pages(graph, pages, made_pages)
        return assembled(self.home, graph, nuggets, self.loaded)


def is_json(data: bytes) -> bool:
    """Whether bytes are whole JSON."""
    try:
        msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def _write_whole(home: Path, change: FileChange) -> None:
    path = Path(os.path.realpath(home / change.path))
    if change.after is None:
        # What another program wrote there since it was looked at stays.
        if content_of(path) == change.before:
            remove_file(path)
        return
    make_folder(path.parent)
    mode = (path.stat().st_mode & 0o777) if path.exists() else 0o600
    replace_file(path, change.after, mode=mode)
