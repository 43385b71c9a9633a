"""Conflict copies: what sync tools leave beside a file of the memory when it was changed on two machines at once, and
the second file of a nugget that another build of the original keeps under the other ending.
"""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec

from core.errors import (
    BrokenFileError,
    ErrorCode,
    NotFoundError,
    NuggetsError,
    ReadOnlyError,
    Remedy,
    StorageError,
    remedy_for,
)
from core.folder import FACT_SUFFIXES, GRAPH_FILE
from core.model.fact import NuggetMeta
from core.settings import InferenceSettings
from core.storage.files.atomic import Fingerprint, read_file
from core.storage.format.documents import (
    BOM,
    Document,
    GraphDocument,
    NuggetDocument,
    nugget_of_file,
    read_graph,
    read_nugget,
)
from core.storage.format.json_text import JsonError, load, split_object
from core.storage.merge.files import kind_of

_JSON: Final = ".json"
_KEPT: Final = "the file is unchanged"
# What the tools put between a file's name and its ending. Dropbox, Nextcloud, ownCloud, Seafile and Google Drive:
# " (...)"; Syncthing: ".sync-conflict-20261120-103000-ABCDEFG"; iCloud: " 2"; OneDrive: "-MACHINE"; Synology,
# Resilio and others: some word with "conflict" in it.
_MARK: Final = re.compile(
    r" ?\(.+\)|\.sync-conflict-\d{8}-\d{6}.*| \d{1,3}|[ ._-].*conflict.*|-[^\W\d].*",
    re.IGNORECASE | re.DOTALL,
)
# What people put there, for copies that they made themselves.
_BY_HAND: Final = re.compile(
    r"(?<![^\W_])(?:archived?|back-?ups?|bak|before|copy|draft|example|export|new|old|orig(?:inal)?|sample|saved?|"
    r"te?mp|test|v\d+)(?![^\W_])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ConflictCopy:
    """A conflict copy, and the file of which it is one (which may be gone). problem: why it cannot be read, if so."""

    path: Path
    original: Path
    problem: str = ""


def conflict_copies(home: Path) -> list[ConflictCopy]:
    """The conflict copies of graph/graph.json and of the fact files, told by name and content; sorted by path.

    What cannot be read as a note graph or a fact file is none; see `bad_copies`. Raises StorageError when the system
    does not show the folder.
    """
    paths = [path for path in _entries(home) if os.path.isfile(path) and not os.path.islink(path)]
    # Of two files of one nugget that counts whose ending comes first.
    counting = [path for suffix in reversed(FACT_SUFFIXES) for path in paths if path.name.endswith(suffix)]
    stems = {nugget_of_file(path.name): path for path in counting}
    found = []
    for path in paths:
        first = stems.get(nugget_of_file(path.name), path) if path in counting else path
        original = first if first != path else _original(path, stems)
        if original is not None and _kind(path) == "facts" and _same_nugget(path, original):
            found.append(ConflictCopy(path, original))
    graph = home / GRAPH_FILE
    for path in _entries(graph.parent):
        if _names_graph_copy(path) and not os.path.islink(path) and _kind(path) == "notes":
            found.append(ConflictCopy(path, graph))
    return sorted(found, key=lambda copy: str(copy.path))


def bad_copies(home: Path) -> list[ConflictCopy]:
    """What bears the name of a conflict copy and cannot be read, each with its problem; sorted by path.

    Sound JSON of another content is none. Raises StorageError when the system does not show the folder.
    """
    graph = home / GRAPH_FILE
    named = [(path, _original(path, {})) for path in _entries(home)]
    named += [(path, graph) for path in _entries(graph.parent) if _names_graph_copy(path)]
    found = (ConflictCopy(path, of, _problem(path)) for path, of in named if of is not None)
    return sorted((copy for copy in found if copy.problem), key=lambda copy: str(copy.path))


def _problem(path: Path) -> str:
    if os.path.islink(path):
        return "is a link, not a file" if os.path.exists(path) else "is a broken link"
    if not os.path.isfile(path):
        return "is not a regular file"
    try:
        found = read_file(path)
    except NuggetsError as error:
        return error.what
    data = found[0].removeprefix(BOM) if found is not None else b"{}"
    if not data.strip():
        return "is empty"
    try:
        load(data)
    except JsonError:
        try:
            split_object(data)
        except JsonError as error:
            return f"cannot be read ({error})"
        return "cannot be read (its JSON is broken)"
    return ""


def read_copy(copy: ConflictCopy, rules: InferenceSettings | None = None) -> Document:
    """The notes or facts of a copy; facts under the name of the nugget whose copy it is.

    Raises NotFoundError, BrokenFileError, ReadOnlyError (a newer format), StorageError.
    """
    found = read_file(copy.path)
    if found is None:
        raise NotFoundError("no such file", field="file", where=str(copy.path))
    document: Document
    if copy.original.name == GRAPH_FILE.name:
        document = read_graph(copy.path, *found, rules or InferenceSettings())
    else:
        document = read_nugget(copy.path, *found)
        if document.broken:
            raise BrokenFileError(document.broken, where=str(copy.path), kept=_KEPT)
        if "name" not in document.fields:
            meta = msgspec.structs.replace(document.meta, name=nugget_of_file(copy.original.name))
            document = replace(document, meta=meta)
    if document.read_only:
        version = document.fields["version"].decode(errors="replace")
        raise ReadOnlyError(
            f"has version {version}, newer than nuggets-tui supports",
            code=ErrorCode.NEWER_VERSION,
            remedy=Remedy("update", "join it"),
            where=str(copy.path),
            kept=_KEPT,
        )
    return document


def left_over(document: Document, original: Path) -> tuple[str, ...]:
    """What of a copy joining does not take over, in words: items that cannot be read, and fields of the file itself
    that its original lacks or has otherwise. What describes a nugget comes with one whose file is gone.
    """
    found, held = _bytes_of(original), {}
    with contextlib.suppress(JsonError):
        held = split_object(found[0].removeprefix(BOM)) if found is not None else {}
    taken = {"version", "notes" if isinstance(document, GraphDocument) else "facts"}
    if found is None and isinstance(document, NuggetDocument):
        taken |= set(NuggetMeta.__struct_fields__)
    fields = [
        f"the file's field {name}"
        for name, value in document.fields.items()
        if name not in taken
        and held.get(name) != value
        and (name not in held or load(held[name]) != load(value))
    ]
    return (*(f"{problem.where}: {problem.what}" for problem in document.problems), *fields)


def _names_graph_copy(path: Path) -> bool:
    stem = GRAPH_FILE.stem
    return path.name.startswith(stem) and is_mark(path.name[len(stem) : -len(_JSON)])


def _original(path: Path, stems: dict[str, Path]) -> Path | None:
    """The fact file that a name speaks of: "memory.nugget (1).json", "memory (1).nugget.json"."""
    for suffix in FACT_SUFFIXES:
        inner = suffix.removesuffix(_JSON)
        stem, within, mark = path.name.removesuffix(_JSON).rpartition(inner)
        if within and stem and is_mark(mark):
            return path.with_name(stem + suffix)
    if not path.name.endswith(FACT_SUFFIXES):
        return None
    # Here a name alone tells little, for a nugget may be called so: there must be one of the shorter name.
    own = nugget_of_file(path.name)
    shorter = (own[:end] for end in range(len(own) - 1, -1, -1))
    known = next((stem for stem in shorter if stem in stems and is_mark(own[len(stem) :])), None)
    return stems[known] if known is not None else None


def is_mark(text: str) -> bool:
    """Whether a sync tool puts such a text behind the name of a file that was changed on two machines."""
    if "conflict" not in text.casefold() and _BY_HAND.search(text):
        return False
    return _MARK.fullmatch(text) is not None


def _same_nugget(path: Path, original: Path) -> bool:
    """Whether both hold the same nugget; a file that does not say which is taken at its name's word."""
    found, kept = _bytes_of(path), _bytes_of(original)
    if found is None or kept is None:
        return found is not None
    documents = [read_nugget(path, *found), read_nugget(original, *kept)]
    names = {
        document.meta.name for document in documents if "name" in document.fields and not document.broken
    }
    return len(names) < 2 and not documents[0].broken


def _kind(path: Path) -> str:
    found = _bytes_of(path)
    try:
        return kind_of(found[0]) if found is not None else ""
    except ValueError:
        return ""


def _bytes_of(path: Path) -> tuple[bytes, Fingerprint] | None:
    """What stands in a file; None also when the system does not give it out."""
    try:
        return read_file(path)
    except StorageError:
        return None


def _entries(folder: Path) -> list[Path]:
    """Whatever in the folder is named like a JSON file and not hidden, sorted by name."""
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StorageError(
            f"the folder cannot be read ({error.strerror})",
            remedy=remedy_for(error, folder),
            where=str(folder),
        ) from error
    return [folder / name for name in sorted(names) if name.endswith(_JSON) and not name.startswith(".")]
