"""Merges three versions of one file of the memory, as a version control system needs it."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from core.errors import BrokenFileError, ErrorCode, NotFoundError, ReadOnlyError, Update
from core.model.compare import Differences, differences
from core.model.entry import Conflict
from core.model.snapshot import Snapshot
from core.settings import InferenceSettings
from core.storage.files.atomic import read_file, refused, replace_file
from core.storage.format.documents import (
    BOM,
    Document,
    GraphDocument,
    NuggetDocument,
    assembled,
    read_graph,
    read_nugget,
)
from core.storage.format.json_text import split_object
from core.storage.merge.deciding import Collect, take_ours
from core.storage.merge.documents import merge_graphs, merge_nuggets

_KEPT: Final = "no file was changed"
_NOTHING: Final = Differences((), (), ())


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
    of it. What theirs did not touch keeps its bytes. Raises BrokenFileError, ReadOnlyError (a newer format),
    NotFoundError, StorageError; nothing is written then.
    """
    rules = rules or InferenceSettings()
    missing = [path for path in (base, ours, theirs) if not os.path.lexists(path)]
    if {ours, theirs} & {*missing}:
        raise NotFoundError(
            "no such file", code=ErrorCode.NO_SUCH_FILE, where=", ".join(map(str, missing)), kept=_KEPT
        )
    mine, other = _read(ours, rules), _read(theirs, rules)
    former = _read(base, rules) if _has_content(base) else _empty_like(mine)
    collect = Collect(take_ours)
    merged: Document
    match former, mine, other:
        case GraphDocument(), GraphDocument(), GraphDocument():
            merged = merge_graphs(former, mine, other, collect)
        case NuggetDocument(), NuggetDocument(), NuggetDocument():
            merged = merge_nuggets(former, mine, other, collect)
        case _:
            raise BrokenFileError(
                "one is a note graph and another a fact file",
                where=f"{base}, {ours}, {theirs}",
                kept=_KEPT,
                todo="give three versions of one file",
            )
    count = _changed(mine.raws, merged.raws)
    if merged.raws != mine.raws or merged.fields != mine.fields:
        _replace(ours, merged.to_parts())
    notes, facts = (count, 0) if isinstance(merged, GraphDocument) else (0, count)
    fields = _changed_fields(mine.fields, merged.fields)
    conflicts = tuple(collect.conflicts)
    made = differences(_snapshot(former), _snapshot(other)) if conflicts else _NOTHING
    return MergeResult(not conflicts, conflicts, notes, facts, fields, made)


def _snapshot(document: Document) -> Snapshot:
    if isinstance(document, GraphDocument):
        return assembled(document.path, document, {}).snapshot
    return assembled(document.path, GraphDocument(document.path), {document.path: document}).snapshot


def kind_of(data: bytes) -> str:
    """What a file's content is: "notes" for a note graph, "facts" for a fact file, "" for neither.

    Raises ValueError when it is no JSON object.
    """
    fields = split_object(data.removeprefix(BOM))
    return next((name for name in ("facts", "notes") if fields.get(name, b"").startswith(b"[")), "")


def _has_content(path: Path) -> bool:
    found = read_file(path)
    return found is not None and bool(found[0].strip())


def _read(path: Path, rules: InferenceSettings) -> Document:
    found = read_file(path)
    if found is None:
        raise NotFoundError("no such file", code=ErrorCode.NO_SUCH_FILE, where=str(path), kept=_KEPT)
    data, made = found
    try:
        kind = kind_of(data)
    except ValueError as error:
        raise _broken(path, f"the file cannot be read ({error})") from error
    document: Document
    if kind == "facts":
        document = read_nugget(path, data, made)
        if document.broken:
            raise _broken(path, document.broken)
    elif kind == "notes":
        document = read_graph(path, data, made, rules)
    else:
        raise _broken(path, "the file is neither a note graph nor a fact file")
    if document.read_only:
        raise ReadOnlyError(
            document.read_only, code=ErrorCode.NEWER_VERSION, remedy=Update("merge it"), kept=_KEPT
        )
    return document


def _broken(path: Path, what: str) -> BrokenFileError:
    todo = "fix the file, or replace it with a good copy"
    return BrokenFileError(what, where=str(path), kept=_KEPT, todo=todo)


def _empty_like(document: Document) -> Document:
    if isinstance(document, GraphDocument):
        return replace(document, fields={}, raws=(), notes=())
    return replace(document, fields={}, raws=(), facts=())


def _changed(before: Sequence[bytes], after: Sequence[bytes]) -> int:
    """How many items differ: a changed one counts once, since it takes the place of its former self."""
    old, new = set(before), set(after)
    return max(len(old - new), len(new - old))


def _changed_fields(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> tuple[str, ...]:
    names = dict.fromkeys([*before, *after])
    return tuple(
        name for name in names if name not in ("notes", "facts") and before.get(name) != after.get(name)
    )


def _replace(path: Path, parts: Sequence[bytes]) -> None:
    target = Path(os.path.realpath(path))
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
    except OSError as error:
        raise refused(path, "cannot be accessed", error) from error
    replace_file(target, *parts, mode=mode)
