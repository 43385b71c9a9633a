"""A whole memory as one JSON document: notes and facts as the bytes they have, settings, and the history.

{"format": "nuggets-memory", "version": 1, "exportedAt": ..., "memory": ..., "graph": the note graph as its file has it,
"nuggets": {name of a file: what is in it}, "files": [{"path", "text"}], "projects": [as in projects.json],
"history": {"before", "entries"}, "leftOut"}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2s
from pathlib import Path
from typing import Any, Final

import msgspec

from core.errors import BrokenFileError, ErrorCode, InvalidInputError
from core.exchange.detect import MARK
from core.exchange.records import FormatError, LeftOut, SourceFile, document_of
from core.folder import FACT_SUFFIXES, GRAPH_FILE
from core.model.fact import Nugget
from core.model.note import to_file_dict
from core.model.progress import Progress
from core.model.saved_search import SEARCHES_FILE
from core.model.snapshot import Snapshot
from core.projects import Registered, known_projects, read_document
from core.settings import SETTINGS_FILE, InferenceSettings
from core.storage.files.atomic import read_file
from core.storage.format.documents import (
    BOM,
    Document,
    GraphDocument,
    Loaded,
    NuggetDocument,
    assembled,
    read_folder,
    read_graph,
    read_nugget,
)
from core.storage.format.json_text import JsonError, dump, load, split_array, split_object
from core.storage.journal.carried import CarriedEntry, read_entry

VERSION: Final = 1
# Files of a person that belong to the memory and are no notes.
FILES: Final = (SETTINGS_FILE, SEARCHES_FILE)
_FACT_FILE: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,80}\.(?:nugget|donna)\.json")
_NEWER: Final = "was written by a newer version of this program"


@dataclass(frozen=True)
class WholeMemory:
    """A memory with its history, as an export holds it or a folder does.

    files: of a person, by path. projects: which of its nuggets are of which. before: the memory as it was before the
    first of `entries`, which stand oldest first.
    """

    loaded: Loaded
    files: Mapping[str, bytes] = field(default_factory=dict)
    before: Snapshot = field(default_factory=Snapshot)
    entries: tuple[CarriedEntry, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    projects: tuple[Registered, ...] = ()

    @property
    def snapshot(self) -> Snapshot:
        """Its notes and facts."""
        return self.loaded.snapshot

    @property
    def documents(self) -> tuple[Document, ...]:
        """Its files, in the spelling that they have there."""
        return (self.loaded.graph, *self.loaded.nuggets.values())


def memory_mark(home: Path) -> str:
    """What tells exports of one folder from those of another; it does not tell the folder."""
    return blake2s(str(home).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def mark_of(data: bytes) -> str:
    """The mark of the memory that an export is of; "" for any other file."""
    found = re.match(rb'\{"format":"%s"[^{\[]{0,300}?"memory":"([0-9a-f]{16})"' % MARK.encode(), data[:600])
    return found[1].decode() if found else ""


# Writing


def write_whole(
    home: Path,
    loaded: Loaded,
    history: tuple[Snapshot, Sequence[CarriedEntry]] | None,
    *,
    at: str,
) -> tuple[bytes, tuple[LeftOut, ...]]:
    """The document, and what of the memory is not in it since it cannot be read.

    history: the memory as it was before the first entry, and the entries, oldest first.
    """
    left_out = [LeftOut(problem.where, problem.what) for problem in loaded.snapshot.problems]
    files = []
    for name in FILES:
        found = read_file(home / name)
        try:
            files += [{"path": name, "text": found[0].decode()}] if found is not None else []
        except UnicodeDecodeError:
            left_out.append(LeftOut(name, "is not UTF-8"))
    whole = {one.path.name: _legible(one) for one in loaded.nuggets.values() if not one.broken}
    parts = {
        "format": dump(MARK),
        "version": dump(VERSION),
        "exportedAt": dump(at),
        "memory": dump(memory_mark(home)),
        "graph": _legible(loaded.graph),
        "nuggets": _object(whole),
        "files": dump(files),
        "projects": dump([one.document() for one in known_projects(str(home))]),
    }
    if history is not None:
        before, entries = history
        lines = b",\n".join(map(msgspec.json.encode, entries))
        parts["history"] = _object({"before": _state(before), "entries": b"[" + lines + b"]"})
    parts["leftOut"] = dump([{"where": one.where, "reason": one.what} for one in left_out])
    return _object(parts) + b"\n", tuple(left_out)


def _object(fields: Mapping[str, bytes]) -> bytes:
    return b"{" + b",\n".join(dump(name) + b":" + value for name, value in fields.items()) + b"}"


def _legible(document: Document) -> bytes:
    """A file of the memory with the items that can be read, each as its own bytes."""
    pairs = zip(document.raws, document.items, strict=True)
    kept = replace(document, raws=tuple(raw for raw, item in pairs if item is not None), bom=b"")
    return b"".join(kept.to_parts()).strip()


def _state(snapshot: Snapshot) -> bytes:
    """A state of the memory that stands in no file."""
    nuggets = [msgspec.structs.replace(nugget, file="", problem="") for nugget in snapshot.nuggets]
    notes = [to_file_dict(note) for note in snapshot.notes]
    return dump({"notes": notes, "nuggets": msgspec.to_builtins(nuggets)})


# Reading


def read_whole(source: SourceFile, rules: InferenceSettings, progress: Progress | None = None) -> WholeMemory:
    """A memory from the document. What of it cannot be read is left out and named. Raises FormatError."""
    file = source.name
    try:
        fields = split_object(source.data.removeprefix(BOM))
        if load(fields.get("format", b"null")) != MARK:
            raise FormatError("is not an export of this program", file=file, line=1)
        version = load(fields.get("version", b"0"))
        if not isinstance(version, int) or version > VERSION:
            raise FormatError(_NEWER, file=file, line=1)
        return _memory_of(fields, file, rules, progress)
    except (
        JsonError, BrokenFileError, msgspec.MsgspecError, UnicodeDecodeError, KeyError, AttributeError, RecursionError,
    ) as error:  # fmt: skip
        # It tells the line on which JSON breaks off.
        document_of(source)
        what = error.what if isinstance(error, BrokenFileError) else str(error)
        raise FormatError(f"is no sound export ({what[:120]})", file=file) from error


def _memory_of(
    fields: Mapping[str, bytes], file: str, rules: InferenceSettings, progress: Progress | None
) -> WholeMemory:
    graph = GraphDocument(path=Path(GRAPH_FILE))
    if "graph" in fields:
        graph = read_graph(Path(GRAPH_FILE), fields["graph"], None, rules, None, progress)
    nuggets = [_nugget(name, raw) for name, raw in split_object(fields.get("nuggets", b"{}")).items()]
    loaded = assembled(Path(), graph, {one.path: one for one in nuggets if not one.broken})
    if loaded.snapshot.read_only:
        raise FormatError(_NEWER, file=file)
    left_out = [LeftOut(one.path.name, one.broken) for one in nuggets if one.broken]
    left_out += [LeftOut(one.place or one.where, one.what) for one in loaded.snapshot.problems]
    history = split_object(fields.get("history", b"{}"))
    before = split_object(history.get("before", b"{}"))
    first = read_graph(Path(GRAPH_FILE), b'{"notes":' + before.get("notes", b"[]") + b"}", None, rules)
    entries: list[CarriedEntry] = []
    for number, raw in enumerate(split_array(history.get("entries", b"[]")), 1):
        try:
            entries.append(read_entry(raw))
        except ValueError as error:
            left_out.append(LeftOut(f"{file}: entry {number:,} of the history", str(error)))
    return WholeMemory(
        loaded,
        _files(load(fields.get("files", b"[]"))),
        Snapshot(
            notes=tuple(note for note in first.notes if note is not None),
            nuggets=msgspec.convert(load(before.get("nuggets", b"[]")), tuple[Nugget, ...]),
        ),
        tuple(entries),
        tuple(left_out),
        _projects(fields, left_out),
    )


def _projects(fields: Mapping[str, bytes], left_out: list[LeftOut]) -> tuple[Registered, ...]:
    try:
        return tuple(read_document(b'{"projects":' + fields.get("projects", b"[]") + b"}"))
    except ValueError as error:
        left_out.append(LeftOut("projects", str(error)))
        return ()


def _nugget(name: str, raw: bytes) -> NuggetDocument:
    """A fact file, under a name that leads nowhere else."""
    document = read_nugget(Path(Path(name).name), raw, None)
    return document if _FACT_FILE.fullmatch(name) else next(iter(_named_as_usual([document]).values()))


def _files(held: Any) -> dict[str, bytes]:
    return {
        item["path"]: item["text"].encode("utf-8", "replace")
        for item in (held if isinstance(held, list) else ())
        if isinstance(item, dict) and item.get("path") in FILES and isinstance(item.get("text"), str)
    }


def read_home(path: Path, rules: InferenceSettings) -> WholeMemory:
    """The memory that a folder holds, as another program keeps it. Raises InvalidInputError for a link out of
    the folder, BrokenFileError, StorageError.
    """
    for held in (path / GRAPH_FILE.parent, path / GRAPH_FILE, *path.glob("*.json")):
        if held.is_symlink() and not held.resolve().is_relative_to(path.resolve()):
            raise InvalidInputError(
                "is a link out of the folder, which is not followed", code=ErrorCode.WRONG_KIND_OF_FILE,
                where=str(held), kept="nothing was imported",
            )  # fmt: skip
    found = read_folder(path, rules)
    used = (
        one for one in found.nuggets.values() if found.snapshot.by_name[one.meta.name].file == one.path.name
    )
    left_out = tuple(LeftOut(one.where, one.what) for one in found.snapshot.problems)
    projects = tuple(known_projects(str(path)))
    return WholeMemory(replace(found, nuggets=_named_as_usual(used)), left_out=left_out, projects=projects)


def read_memory_file(
    file: SourceFile, rules: InferenceSettings, progress: Progress | None = None
) -> WholeMemory:
    """A single file of a memory: a note graph or the facts of one nugget. Raises BrokenFileError, FormatError."""
    graph, nuggets = GraphDocument(path=Path(GRAPH_FILE)), list[NuggetDocument]()
    if file.name.endswith(FACT_SUFFIXES) or b'"facts"' in file.data[:4096]:
        nuggets = [read_nugget(Path(file.name), file.data, None)]
        if nuggets[0].broken:
            raise FormatError(nuggets[0].broken, file=file.name)
    else:
        graph = read_graph(graph.path, file.data, None, rules, None, progress)
    found = assembled(Path(), graph, _named_as_usual(nuggets))
    return WholeMemory(found, left_out=tuple(LeftOut(one.where, one.what) for one in found.snapshot.problems))


def _named_as_usual(nuggets: Iterable[NuggetDocument]) -> dict[Path, NuggetDocument]:
    named = ((one, Path(f"{one.meta.name}{FACT_SUFFIXES[1]}")) for one in nuggets)
    return {path: replace(one, path=path) for one, path in named}
