"""A whole memory as one JSON document: notes and facts as the bytes they have, settings, and the history.

{"format": "nuggets-memory", "version": 1, "exportedAt": ..., "memory": ..., "graph": {"fields", "notes"},
"nuggets": [{"file", "fields", "facts"}], "files": [{"path", "text"}], "history": {"before", "entries"}, "leftOut"}
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2s
from pathlib import Path
from typing import Final

import msgspec

from core.errors import ErrorCode, InvalidInputError
from core.exchange.detect import MARK
from core.exchange.records import FormatError, LeftOut
from core.folder import FACT_SUFFIXES, GRAPH_FILE
from core.model.fact import Nugget
from core.model.note import to_file_dict
from core.model.progress import Progress
from core.model.saved_search import SEARCHES_FILE
from core.model.snapshot import Snapshot
from core.settings import SETTINGS_FILE, InferenceSettings
from core.storage.files.atomic import read_file
from core.storage.format.documents import (
    GRAPH_VERSION,
    NUGGET_VERSION,
    Document,
    GraphDocument,
    Loaded,
    NuggetDocument,
    assembled,
    nugget_of_file,
    read_folder,
    read_graph,
    read_nugget,
)
from core.storage.format.json_text import JsonError, dump, load, split_array, split_object
from core.storage.journal.carried import CarriedEntry, read_entry, write_entry

VERSION: Final = 1
# Files of a person that belong to the memory and are no notes.
FILES: Final = (SETTINGS_FILE, SEARCHES_FILE)
_FACT_FILE: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,80}\.(?:nugget|donna)\.json")
_NEWER: Final = "was written by a newer version of this program"


@dataclass(frozen=True)
class WholeMemory:
    """A memory with its history, as an export holds it or a folder does.

    documents: of its files, in the spelling that they have there. files: of a person, by path. before: the memory as it
    was before the first of `entries`, which stand oldest first.
    """

    loaded: Loaded
    files: Mapping[str, bytes] = field(default_factory=dict)
    before: Snapshot = field(default_factory=Snapshot)
    entries: tuple[CarriedEntry, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @property
    def snapshot(self) -> Snapshot:
        """Its notes and facts."""
        return self.loaded.snapshot

    def documents(self, home: Path) -> dict[Path, Document]:
        """Its files as they are to stand in a folder."""
        found: dict[Path, Document] = {home / GRAPH_FILE: self.loaded.graph}
        return found | {home / path.name: document for path, document in self.loaded.nuggets.items()}


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
    before: Snapshot,
    entries: Sequence[CarriedEntry],
    *,
    at: str,
    without_history: bool,
) -> tuple[bytes, tuple[LeftOut, ...]]:
    """The document, and what of the memory is not in it since it cannot be read."""
    left_out = [LeftOut(problem.where, problem.what) for problem in loaded.snapshot.problems]
    head = {"format": MARK, "version": VERSION, "exportedAt": at, "memory": memory_mark(home)}
    parts = [dump(head)[:-1], b',\n"graph":', _document(loaded.graph, loaded.graph.notes, "notes")]
    nuggets = [document for document in loaded.nuggets.values() if not document.broken]
    parts += [b',\n"nuggets":[', b",\n".join(_nugget(document) for document in nuggets), b"]"]
    files = []
    for name in FILES:
        found = read_file(home / name)
        try:
            files += [{"path": name, "text": found[0].decode()}] if found is not None else []
        except UnicodeDecodeError:
            left_out.append(LeftOut(name, "is not UTF-8"))
    parts += [b',\n"files":', dump(files)]
    if not without_history:
        parts += [b',\n"history":{"before":', _state(before), b',"entries":[']
        parts += [b",\n".join(write_entry(entry) for entry in entries), b"]}"]
    parts += [b',\n"leftOut":', dump([{"where": one.where, "reason": one.what} for one in left_out]), b"}\n"]
    return b"".join(parts), tuple(left_out)


def _document(document: Document, items: Sequence[object | None], name: str) -> bytes:
    """A file of the memory: its other fields, and its items that can be read, each as its own bytes."""
    fields = b",".join(dump(key) + b":" + value for key, value in document.fields.items())
    raws = (raw for raw, item in zip(document.raws, items, strict=True) if item is not None)
    return b'{"fields":{' + fields + b'},\n"' + name.encode() + b'":[\n' + b",\n".join(raws) + b"]}"


def _nugget(document: NuggetDocument) -> bytes:
    return b'{"file":' + dump(document.path.name) + b"," + _document(document, document.facts, "facts")[1:]


def _state(snapshot: Snapshot) -> bytes:
    """A state of the memory that stands in no file."""
    nuggets = [msgspec.structs.replace(nugget, file="", problem="") for nugget in snapshot.nuggets]
    notes = [to_file_dict(note) for note in snapshot.notes]
    return dump({"notes": notes, "nuggets": msgspec.to_builtins(nuggets)})


# Reading


def read_whole(
    data: bytes, file: str, rules: InferenceSettings, progress: Progress | None = None
) -> WholeMemory:
    """A memory from the document. What of it cannot be read is left out and named. Raises FormatError."""
    try:
        fields = split_object(data.removeprefix(b"\xef\xbb\xbf"))
        if load(fields.get("format", b"null")) != MARK:
            raise FormatError("is not an export of this program", file=file, line=1)
        version = load(fields.get("version", b"0"))
        if not isinstance(version, int) or version > VERSION:
            raise FormatError(_NEWER, file=file, line=1)
        return _Reader(fields, file, rules, progress).read()
    except (
        JsonError,
        msgspec.MsgspecError,
        UnicodeDecodeError,
        KeyError,
        AttributeError,
        RecursionError,
    ) as error:
        raise _located(data, file, error) from error


def _located(data: bytes, file: str, error: Exception) -> FormatError:
    """The error with the line on which the JSON breaks off, if it does."""
    try:
        json.loads(data.decode("utf-8", "replace"))
    except json.JSONDecodeError as found:
        return FormatError(f"is not valid JSON ({found.msg})", file=file, line=found.lineno)
    except (RecursionError, ValueError):
        return FormatError("is nested too deeply", file=file)
    return FormatError(f"is no sound export ({str(error)[:120]})", file=file)


class _Reader:
    """One document, taken apart by its fields."""

    def __init__(
        self, fields: Mapping[str, bytes], file: str, rules: InferenceSettings, progress: Progress | None
    ) -> None:
        self._fields = fields
        self._file = file
        self._rules = rules
        self._progress = progress
        self._left_out: list[LeftOut] = []

    def read(self) -> WholeMemory:
        graph = self._graph(split_object(self._fields.get("graph", b"{}")))
        nuggets = [self._nugget(split_object(raw)) for raw in split_array(self._fields.get("nuggets", b"[]"))]
        loaded = assembled(Path(), graph, {one.path: one for one in nuggets if one is not None})
        for problem in loaded.snapshot.problems:
            self._left_out.append(LeftOut(problem.place or problem.where, problem.what))
        if loaded.snapshot.read_only:
            raise FormatError(_NEWER, file=self._file)
        history = split_object(self._fields.get("history", b"{}"))
        before = self._state(split_object(history.get("before", b"{}")))
        return WholeMemory(
            loaded, self._files(), before, tuple(self._entries(history)), tuple(self._left_out)
        )

    def _graph(self, shaped: Mapping[str, bytes]) -> GraphDocument:
        fields = split_object(shaped.get("fields", b"{}"), once="notes")
        fields = {"version": dump(GRAPH_VERSION), **fields} if "version" not in fields else fields
        notes = split_array(shaped.get("notes", b"[]"))
        made = GraphDocument(path=Path(GRAPH_FILE), fields={**fields, "notes": b"[]"}, raws=tuple(notes))
        data = b"".join(made.to_parts())
        return replace(
            read_graph(Path(GRAPH_FILE), data, None, self._rules, None, self._progress), fingerprint=None
        )

    def _nugget(self, shaped: Mapping[str, bytes]) -> NuggetDocument | None:
        name = load(shaped.get("file", b'""'))
        fields = split_object(shaped.get("fields", b"{}"), once="facts")
        if not isinstance(name, str) or not _FACT_FILE.fullmatch(name):
            own = load(fields.get("name", b'""'))
            said = own if isinstance(own, str) and own else str(name)
            name = f"{re.sub(r'[^A-Za-z0-9_-]', '_', said)[:60] or 'nugget'}{FACT_SUFFIXES[1]}"
        fields.setdefault("version", dump(NUGGET_VERSION))
        fields.setdefault("name", dump(nugget_of_file(name)))
        facts = b"[" + b",".join(split_array(shaped.get("facts", b"[]"))) + b"]"
        fields["facts"] = facts
        data = b"{" + b",".join(dump(key) + b":" + value for key, value in fields.items()) + b"}"
        document = read_nugget(Path(name), data, None)
        if document.broken:
            self._left_out.append(LeftOut(name, document.broken))
            return None
        return document

    def _files(self) -> dict[str, bytes]:
        held = load(self._fields.get("files", b"[]"))
        return {
            item["path"]: item["text"].encode("utf-8", "replace")
            for item in (held if isinstance(held, list) else ())
            if isinstance(item, dict) and item.get("path") in FILES and isinstance(item.get("text"), str)
        }

    def _state(self, shaped: Mapping[str, bytes]) -> Snapshot:
        graph = self._graph({"notes": shaped.get("notes", b"[]")})
        nuggets = msgspec.convert(load(shaped.get("nuggets", b"[]")), tuple[Nugget, ...])
        return Snapshot(notes=tuple(note for note in graph.notes if note is not None), nuggets=nuggets)

    def _entries(self, history: Mapping[str, bytes]) -> Iterator[CarriedEntry]:
        for number, raw in enumerate(split_array(history.get("entries", b"[]")), 1):
            try:
                yield read_entry(raw)
            except ValueError as error:
                self._left_out.append(LeftOut(f"{self._file}: entry {number:,} of the history", str(error)))


def read_home(path: Path, rules: InferenceSettings) -> WholeMemory:
    """The memory that a folder holds, as another program keeps it. Raises InvalidInputError for a link out of
    the folder, BrokenFileError, StorageError.
    """
    for held in (path / GRAPH_FILE.parent, path / GRAPH_FILE, *path.glob("*.json")):
        if held.is_symlink() and not held.resolve().is_relative_to(path.resolve()):
            raise InvalidInputError(
                "is a link out of the folder, which is not followed",
                code=ErrorCode.WRONG_KIND_OF_FILE,
                where=str(held),
                kept="nothing was imported",
            )
    found = read_folder(path, rules)
    left_out = tuple(LeftOut(one.where, one.what) for one in found.snapshot.problems)
    nuggets = {
        Path(f"{one.meta.name}{FACT_SUFFIXES[1]}"): replace(
            one, path=Path(f"{one.meta.name}{FACT_SUFFIXES[1]}")
        )
        for one in found.nuggets.values()
        if found.snapshot.by_name[one.meta.name].file == one.path.name
    }
    return WholeMemory(replace(found, nuggets=nuggets), left_out=left_out)


def read_memory_file(name: str, data: bytes, rules: InferenceSettings) -> WholeMemory:
    """A single file of a memory: a note graph or the facts of one nugget. Raises BrokenFileError, FormatError."""
    path = Path(name)
    if name.endswith(FACT_SUFFIXES) or b'"facts"' in data[:4096]:
        document = read_nugget(path, data, None)
        if document.broken:
            raise FormatError(document.broken, file=name)
        path = Path(f"{document.meta.name}{FACT_SUFFIXES[1]}")
        found = assembled(Path(), GraphDocument(path=Path(GRAPH_FILE)), {path: replace(document, path=path)})
    else:
        found = assembled(Path(), read_graph(Path(GRAPH_FILE), data, None, rules), {})
    return WholeMemory(found, left_out=tuple(LeftOut(one.where, one.what) for one in found.snapshot.problems))
