"""Merges three versions of one file of the memory, as a version control system needs it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from core.errors import BrokenFileError, ErrorCode, NotFoundError
from core.model.change import GIT, ChangeSet, FactChange, NoteChange
from core.model.compare import Differences, differences, spaced_as
from core.model.entry import Conflict
from core.model.fact import Fact
from core.model.note import Note, normalised_note
from core.model.snapshot import Snapshot
from core.settings import InferenceSettings
from core.storage.files.atomic import read_file, replace_file
from core.storage.format.codec import legible
from core.storage.format.documents import (
    Document,
    GraphDocument,
    NuggetDocument,
    assembled,
    changed_graph,
    changed_nugget,
    id_of,
    read_sound,
)
from core.storage.merge.merge import changes, rebase
from core.storage.merge.three_way import Collect, conflict, merge_mappings

_KEPT: Final = "no file was changed"
_NOTHING: Final = Differences((), (), ())
_ITEMS: Final = ("notes", "facts")
T = TypeVar("T", NoteChange, FactChange)


@dataclass(frozen=True)
class MergeResult:
    """What merging did to OURS.

    merged: whether everything went together. conflicts: what did not; there the file holds ours. notes, facts: how
    many of its notes or facts were added, changed or removed. fields: which of the file's other fields were. theirs:
    what theirs changed since the base.
    """

    merged: bool
    conflicts: tuple[Conflict, ...] = ()
    notes: int = 0
    facts: int = 0
    fields: tuple[str, ...] = ()
    theirs: Differences = _NOTHING


def merge_file(base: Path, ours: Path, theirs: Path, rules: InferenceSettings | None = None) -> MergeResult:
    """Merges what `theirs` changed since `base` into `ours`, which is replaced in one step.

    All three are a graph.json, or all three a fact file, whatever their names. A base that is missing or empty means
    that the two have no common ancestor. Where both changed one thing in two ways, ours stays and a conflict tells
    of it. What theirs did not touch keeps its bytes and its place; what is new comes last. Raises BrokenFileError,
    ReadOnlyError (a newer format), NotFoundError, StorageError; nothing is written then.
    """
    rules = rules or InferenceSettings()
    missing = [str(path) for path in (base, ours, theirs) if not os.path.lexists(path)]
    if missing and missing != [str(base)]:
        raise NotFoundError("no such file", field="file", where=", ".join(missing), kept=_KEPT)
    mine, other, found = _read(ours, rules), _read(theirs, rules), read_file(base)
    former = _read(base, rules) if found and found[0].strip() else replace(mine.emptied, fields={})
    if not type(former) is type(mine) is type(other):
        raise BrokenFileError(
            "one is a note graph and another a fact file", where=f"{base}, {ours}, {theirs}",
            kept=_KEPT, todo="give three versions of one file",
        )  # fmt: skip
    collect = Collect()
    raws = _merged(former, mine, other, collect)
    fields = _merged_fields(former, mine, other, collect)
    if raws != mine.raws or fields != mine.fields:
        # A link to it stays one, and a private file stays private.
        target = Path(os.path.realpath(ours))
        mode = stat.S_IMODE(target.stat().st_mode)
        replace_file(target, *replace(mine, raws=raws, fields=fields).to_parts(), mode=mode)
    # A changed one counts once, since it takes the place of its former self.
    count = max(len({*mine.raws} - {*raws}), len({*raws} - {*mine.raws}))
    notes, facts = (count, 0) if isinstance(mine, GraphDocument) else (0, count)
    names = [name for name in {**mine.fields, **fields} if mine.fields.get(name) != fields.get(name)]
    # The file is ours for who calls, and what stands for who merges.
    conflicts = tuple(
        msgspec.structs.replace(one, ours=one.theirs, theirs=one.ours) for one in collect.conflicts
    )
    made = differences(_snapshot(former, mine), _snapshot(other, mine)) if conflicts else _NOTHING
    return MergeResult(not conflicts, conflicts, notes, facts, tuple(names), made)


# Notes and facts


def _merged(base: Document, ours: Document, theirs: Document, collect: Collect) -> tuple[bytes, ...]:
    """The bytes of ours with what theirs changed since base. White space alone is no change: the original squeezes
    texts when it saves, and a file does not tell whether somebody meant it.
    """
    former, mine, other = (_snapshot(one, ours) for one in (base, ours, theirs))

    made = changes(former, mine, other, ChangeSet(id="", at="", author=GIT, reason="", kind="import"))
    made = msgspec.structs.replace(
        made, notes=tuple(_unsqueezed(made.notes)), facts=tuple(_unsqueezed(made.facts))
    )
    made = rebase(made, mine, collect)
    merged: Document = ours
    if isinstance(ours, NuggetDocument):
        merged = changed_nugget(ours, list(made.facts))
    elif made.notes:
        merged = changed_graph(ours, made.notes) or ours
    # What is just as theirs says is spelt so.
    spelt = {
        id_of(item): (_in_order(item), raw)
        for item, raw in zip(theirs.items, theirs.raws, strict=True)
        if item is not None
    }
    kept, raws = {*ours.raws}, list(merged.raws)
    for place, (item, raw) in enumerate(zip(merged.items, merged.raws, strict=True)):
        known = spelt.get(id_of(item)) if item is not None and raw not in kept else None
        if known is not None and item is not None and known[0] == _in_order(item):
            raws[place] = known[1]
    return (*raws, *_unreadable_there(base, ours, theirs, collect))


def _in_order(item: Note | Fact) -> Note | Fact:
    return normalised_note(item, lambda _: True) if isinstance(item, Note) else item


def _unsqueezed(changed: tuple[T, ...]) -> Iterator[T]:
    for change in changed:
        before, after = change.before, change.after
        if before is None:
            yield msgspec.structs.replace(change, index=None)
        elif after is None:
            yield change
        else:
            after = spaced_as(before, after)
            names = (name for name in after.__struct_fields__ if name != "vector")
            if any(getattr(before, name) != getattr(after, name) for name in names):
                yield msgspec.structs.replace(change, after=after)


def _unreadable_there(base: Document, ours: Document, theirs: Document, collect: Collect) -> Iterator[bytes]:
    """What cannot be read in theirs and is new: added, but for what is sound in ours, which gives way to nothing."""
    known = {*base.raws, *ours.raws}
    sound = {id_of(item): item for item in ours.items if item is not None}
    of_graph = isinstance(ours, GraphDocument)
    for item, raw in zip(theirs.items, theirs.raws, strict=True):
        if item is not None or raw in known:
            continue
        name = legible(raw, "id" if of_graph else "key")
        if name not in sound:
            yield raw
            continue
        where = name if isinstance(ours, GraphDocument) else f"{ours.meta.name}: {name}"
        here = sound[name]
        said = here.content if isinstance(here, Note) else here.value
        told = raw.decode(errors="replace")
        collect(conflict(ErrorCode.UNREADABLE_SIDE, where, "", told, said), None, None)


def _snapshot(document: Document, ours: Document) -> Snapshot:
    """What a version says; facts as those of the nugget that ours is of."""
    path = document.path
    if isinstance(document, GraphDocument):
        return assembled(path, document, {}).snapshot
    assert isinstance(ours, NuggetDocument)
    return assembled(path, GraphDocument(path=path), {path: replace(document, meta=ours.meta)}).snapshot


# What stands beside them


def _merged_fields(base: Document, ours: Document, theirs: Document, collect: Collect) -> dict[str, bytes]:
    """The file's other fields, unknown ones too, in the order of ours; of two versions the newer. A nugget's name says
    whose facts these are: a person judges another one.
    """
    former, mine, other = (
        {name: value for name, value in side.fields.items() if name not in _ITEMS}
        for side in (base, ours, theirs)
    )
    newest = max((mine, other), key=_version).get("version")
    if newest is not None:
        mine, other = mine | {"version": newest}, other | {"version": newest}
    where = ours.meta.name if isinstance(ours, NuggetDocument) else "the note graph"
    if isinstance(ours, NuggetDocument) and "name" in mine and mine["name"] == former.get("name"):
        here, there = mine["name"], other.get("name", mine["name"])
        if here != there:
            said, stood = (name.decode(errors="replace") for name in (there, here))
            found = conflict(ErrorCode.CHANGED_IN_TWO_WAYS, where, stood, said, stood, "name")
            other |= {"name": collect(found, there, here)}
    merged = merge_mappings(where, former, mine, other, collect)
    kept = {
        name: merged.get(name, value)
        for name, value in ours.fields.items()
        if name in merged or name in _ITEMS
    }
    return kept | merged


def _version(fields: Mapping[str, bytes]) -> float:
    try:
        return float(fields.get("version", 0))
    except ValueError:
        return 0.0


# Files


def _read(path: Path, rules: InferenceSettings) -> Document:
    found = read_file(path)
    if found is None:
        raise NotFoundError("no such file", field="file", where=str(path), kept=_KEPT)
    return read_sound(path, *found, rules, kept=_KEPT, todo="merge it")
