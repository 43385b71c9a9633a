"""The files of a folder taken apart: every note or fact as bytes and, beside it, in typed form; and changed so that
what a change does not touch keeps its bytes. All files together make one snapshot.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, compress, count
from operator import attrgetter, eq, is_, not_
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, NamedTuple, Self, TypeVar, cast

import msgspec
from msgspec.structs import force_setattr

from core.errors import (
    BrokenFileError,
    ErrorCode,
    NuggetsError,
    ReadOnlyError,
    Remedy,
    StorageError,
    remedy_for,
)
from core.folder import FACT_SUFFIXES, GRAPH_FILE, is_fact_file
from core.model.change import ChangeSet, FactChange, NoteChange
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.note import Note
from core.model.progress import Progress, counted
from core.model.snapshot import Problem, ProblemKind, Snapshot
from core.settings import InferenceSettings
from core.storage.files.atomic import Fingerprint, fingerprint, read_file
from core.storage.files.exchange import wait_until_whole
from core.storage.format.codec import ItemError, legible, read_fact, read_note, write_fact, write_note
from core.storage.format.json_text import JsonError, dump, split_document, split_object

if TYPE_CHECKING:
    from core.storage.format.pages import PageSet

GRAPH_VERSION: Final = 3
NUGGET_VERSION: Final = 4
_META: Final = msgspec.json.Decoder(NuggetMeta)
_KEPT: Final = "the file is unchanged"
_NOT_WRITTEN: Final = "nothing was written"
BOM: Final = b"\xef\xbb\xbf"
_Item = TypeVar("_Item", Note, Fact)
# Of so many notes, what several hold is held once: of fewer that saves no room worth the time.
_MANY: Final = 2_000
# Fields whose text other notes have too.
_REPEATED: Final = (
    "id", "nugget_name", "kind", "last_hit_session", "created_at", "updated_at", "last_accessed_at", "subject", "scope",
    "type", "source", "stability",
)  # fmt: skip
_VALUES: Final = attrgetter(*_REPEATED)
# So many items that cannot be read are named one by one; past those, what is shorter than any note or fact is not read.
_MOST_NAMED: Final = 100
_SHORTEST: Final = len(b'{"key":"","value":""}')


class _Kind(NamedTuple):
    """What the items of a file are called in its problems. word: "note" or "fact"; name: "id" or "key"."""

    word: str
    name: str
    unreadable: ProblemKind
    shared: ProblemKind


@dataclass(frozen=True, kw_only=True)
class _File(Generic[_Item]):
    """A file of the memory: its top-level fields as bytes, its notes or facts as bytes and typed (None where one does
    not count: it is unreadable, or one of `later`).

    later: by their bytes, items that bear the id or key of an earlier one. They stay in the file, and are seen as
    problems. broken: why the file as a whole cannot be read; read_only: why it may not be written.
    """

    path: Path
    fingerprint: Fingerprint | None = None
    fields: Mapping[str, bytes] = field(default_factory=dict)
    raws: tuple[bytes, ...] = ()
    items: tuple[_Item | None, ...] = ()
    problems: tuple[Problem, ...] = ()
    later: Mapping[bytes, _Item] = field(default_factory=dict)
    broken: str = ""
    read_only: str = ""
    bom: bytes = b""
    kind: ClassVar[_Kind]

    @property
    def on_disk(self) -> Fingerprint | None:
        """The version of the file itself, whatever else `fingerprint` stands for."""
        return self.fingerprint

    @property
    def of_nugget(self) -> str:
        """The nugget whose facts it holds; "" for none."""
        return ""

    @property
    def emptied(self) -> Self:
        """The file without its notes or facts."""
        return replace(self, raws=(), items=())

    def problem(self, kind: ProblemKind, place: str, what: str, names: tuple[str, ...] = ()) -> Problem:
        """A problem of the file, or of a place in it."""
        where = f"{self.path}: {place}" if place else str(self.path)
        return Problem(kind, where, what, str(self.path), self.of_nugget, names, place)

    def with_items(self, items: Sequence[_Item | None]) -> Self:
        """The file with these items. Of several with one name the first counts; the others are kept apart."""
        named = list(map(attrgetter(self.kind.name), filter(None, items)))
        if len(set(named)) == len(named) and not self.later:
            return replace(self, items=tuple(items))
        known: set[str] = set()
        first: list[_Item | None] = []
        apart: dict[bytes, _Item] = {}
        problems: list[Problem] = [one for one in self.problems if one.kind is not self.kind.shared]
        shared: list[Problem] = []
        for place, (item, raw) in enumerate(zip(items, self.raws, strict=True)):
            # One of those kept apart may be the first by now.
            found = self.later.get(raw) if item is None else item
            if found is not None and id_of(found) in known:
                apart[raw] = found
                at = f"{self.kind.word} {place + 1} ({id_of(found)})"
                what = f"has the {self.kind.name} of an earlier one, which is used; it stays in the file"
                names = (found.id, found.title) if isinstance(found, Note) else ()
                shared.append(self.problem(self.kind.shared, at, what, names))
                found = None
            elif found is not None:
                known.add(id_of(found))
            first.append(found)
        problems += [*shared[:_MOST_NAMED], *self._more(self.kind.shared, len(shared) - _MOST_NAMED)]
        return replace(self, items=tuple(first), later=apart, problems=tuple(problems))

    def _more(self, kind: ProblemKind, number: int) -> list[Problem]:
        """What counts the items with a problem that are not named one by one."""
        said = "cannot be read" if kind.unreadable else "have the id or key of earlier ones"
        what = f"{said}; their bytes stay in the file"
        return [self.problem(kind, f"{number:,} more", what)] if number > 0 else []

    def read(
        self, items: list[_Item | None], read: Callable[[bytes], _Item], progress: Progress | None = None
    ) -> Self:
        """The file with its items, of which those that are None are read from their bytes first."""
        problems: list[Problem] = []
        unread: set[bytes] = set()
        known: dict[Any, Any] = {}
        more = 0
        new = [place for place, item in enumerate(items) if item is None]
        for place in counted(new, progress):
            raw = self.raws[place]
            if len(problems) == _MOST_NAMED and (len(raw) < _SHORTEST or raw in unread):
                more += 1
                continue
            try:
                items[place] = item = read(raw)
                if len(new) >= _MANY and isinstance(item, Note):
                    _share(item, known)
            except ItemError as error:
                if len(problems) == _MOST_NAMED:
                    more += 1
                    continue
                unread.add(raw)
                named = f"{self.kind.word} {place + 1}" + (f" ({error.id})" if error.id else "")
                names = (error.id, legible(raw, "title")) if self.kind.name == "id" else ()
                what = f"cannot be read ({error}); its bytes stay in the file"
                problems.append(self.problem(self.kind.unreadable, named, what, names))
        problems += self._more(self.kind.unreadable, more)
        return replace(self, problems=tuple(problems)).with_items(items)


@dataclass(frozen=True, kw_only=True)
class GraphDocument(_File[Note]):
    """graph.json. pages: where the notes are pages of another folder, those, with the file itself as it was read."""

    fields: Mapping[str, bytes] = field(
        default_factory=lambda: {"version": dump(GRAPH_VERSION), "notes": b"[]"}
    )
    pages: PageSet | None = None
    kind: ClassVar[_Kind] = _Kind("note", "id", ProblemKind.UNREADABLE_NOTE, ProblemKind.SHARED_ID)

    @property
    def notes(self) -> tuple[Note | None, ...]:
        """Its notes."""
        return self.items

    @cached_property
    def set_aside(self) -> frozenset[str]:
        """Ids of notes that cannot be read, where they are legible."""
        if not self.problems:
            return frozenset()
        pairs = zip(self.items, self.raws, strict=True)
        return frozenset(
            legible(raw, "id") for item, raw in pairs if item is None and raw not in self.later
        ) - {""}

    @property
    def on_disk(self) -> Fingerprint | None:
        """See `_File`."""
        return self.fingerprint if self.pages is None else self.pages.stored.fingerprint

    def to_parts(self) -> list[bytes]:
        """The file in parts: two-space indent, a newline at the end; notes as their own bytes."""
        parts = [self.bom, b"{"]
        comma = b"\n  "
        for name, value in self.fields.items():
            parts += (comma, dump(name), b": ")
            if name == "notes" and self.raws:
                parts += (b"[\n    ", b",\n    ".join(self.raws), b"\n  ]")
            else:
                parts.append(b"[]" if name == "notes" else value)
            comma = b",\n  "
        return [*parts, b"\n}\n"]


@dataclass(frozen=True, kw_only=True)
class NuggetDocument(_File[Fact]):
    """A fact file. tail: the white space at its end."""

    meta: NuggetMeta
    tail: bytes = b""
    kind: ClassVar[_Kind] = _Kind("fact", "key", ProblemKind.UNREADABLE_FACT, ProblemKind.SHARED_KEY)

    @property
    def facts(self) -> tuple[Fact | None, ...]:
        """Its facts."""
        return self.items

    @property
    def of_nugget(self) -> str:
        """See `_File`."""
        return self.meta.name

    @cached_property
    def nugget(self) -> Nugget:
        """The nugget that the file holds."""
        facts = tuple(fact for fact in self.items if fact is not None)
        return Nugget(meta=self.meta, facts=facts, file=self.path.name, problem=self.broken)

    def to_parts(self) -> list[bytes]:
        """The file in parts: one object without indentation; facts as their own bytes."""
        parts = []
        for name, value in self.fields.items():
            if name == "facts":
                value = b"[" + b",".join(self.raws) + b"]"
            parts.append(dump(name) + b":" + value)
        return [self.bom, b"{", b",".join(parts), b"}", self.tail]


@dataclass(frozen=True)
class PageDocument:
    """A page of Markdown that is to be written. fingerprint: the version that was read, None for none."""

    path: Path
    fingerprint: Fingerprint | None
    data: bytes
    mode: int = 0o600

    def to_parts(self) -> list[bytes]:
        """The page in parts."""
        return [self.data]

    @property
    def on_disk(self) -> Fingerprint | None:
        """The version that was read."""
        return self.fingerprint


Document = GraphDocument | NuggetDocument


def id_of(item: Note | Fact) -> str:
    """What a note or fact is known by in its file: the note's id, the fact's key."""
    return item.id if isinstance(item, Note) else item.key


def kind_of(data: bytes) -> str:
    """What a file's content is: "notes" for a note graph, "facts" for a fact file, "" for neither.

    Raises JsonError when it is no JSON object.
    """
    fields = split_object(data.removeprefix(BOM))
    return next((name for name in ("facts", "notes") if fields.get(name, b"").startswith(b"[")), "")


# Reading


def read_graph(
    path: Path,
    data: bytes,
    fingerprint: Fingerprint | None,
    rules: InferenceSettings,
    former: GraphDocument | None = None,
    progress: Progress | None = None,
) -> GraphDocument:
    """graph.json from its bytes; notes whose bytes did not change are taken from `former`.

    progress: told how many notes are read. A note that cannot be understood becomes a problem and keeps its bytes.
    Raises BrokenFileError when the file as a whole cannot be read.
    """
    bom = BOM if data.startswith(BOM) else b""
    try:
        fields, raws = split_document(data[len(bom) :], "notes")
    except JsonError as error:
        what = f"the note graph cannot be read ({error})"
        raise BrokenFileError(what, remedy=Remedy("repair-or-copy"), where=str(path), kept=_KEPT) from error
    document = GraphDocument(path=path, fingerprint=fingerprint, fields=fields, bom=bom)
    return _with_notes(document, raws, rules, former, progress)


def remembered_graph(
    path: Path, head: bytes, raws: list[bytes], rules: InferenceSettings, former: GraphDocument | None
) -> GraphDocument:
    """graph.json from its top-level fields, as a file without notes, and from the bytes of its notes."""
    fields = split_object(head.removeprefix(BOM), once="notes")
    return _with_notes(GraphDocument(path=path, fields=fields), raws, rules, former, None)


def _with_notes(
    document: GraphDocument,
    raws: list[bytes],
    rules: InferenceSettings,
    former: GraphDocument | None,
    progress: Progress | None,
) -> GraphDocument:
    read_only = _newer(document.path, document.fields.get("version"), GRAPH_VERSION)
    document = replace(document, raws=tuple(raws), read_only=read_only)
    return document.read(_former_notes(former, raws), lambda raw: read_note(raw, rules), progress)


def _former_notes(former: GraphDocument | None, raws: list[bytes]) -> list[Note | None]:
    """For each item the note that was read from the same bytes before, or None."""
    if former is None:
        return [None] * len(raws)
    # Most often all but a few stand where they stood; telling that by place is cheaper than by hash.
    same = list(map(eq, raws, former.raws))
    notes = [*former.notes[: len(same)], *[None] * (len(raws) - len(same))]
    others = list(compress(count(), map(not_, same)))
    gone = chain(others, range(len(same), len(former.raws)))
    moved = {former.raws[place]: former.notes[place] for place in gone}
    for place in chain(others, range(len(same), len(raws))):
        notes[place] = moved.get(raws[place])
    return notes


def read_nugget(path: Path, data: bytes, fingerprint: Fingerprint | None) -> NuggetDocument:
    """A fact file from its bytes. One that cannot be read becomes a document whose `broken` says why."""
    bom = BOM if data.startswith(BOM) else b""
    try:
        fields, raws = split_document(data[len(bom) :], "facts")
        known = {name: msgspec.Raw(fields[name]) for name in NuggetMeta.__struct_fields__ if name in fields}
        known.setdefault("name", msgspec.Raw(dump(nugget_of_file(path.name))))
        meta = _META.decode(msgspec.json.encode(known))
    except (JsonError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        return _broken_nugget(path, fingerprint, f"the fact file cannot be read ({error})")
    read_only = _newer(path, fields.get("version"), NUGGET_VERSION)
    document = NuggetDocument(
        path=path, fingerprint=fingerprint, fields=fields, meta=meta, read_only=read_only, bom=bom,
        tail=data[len(data.rstrip(b" \t\r\n")) :],
    )  # fmt: skip
    return _with_facts(document, raws)


def read_sound(
    path: Path,
    data: bytes,
    fingerprint: Fingerprint | None,
    rules: InferenceSettings,
    *,
    kept: str,
    todo: str,
) -> Document:
    """A note graph or a fact file, told by its content, that can be read as a whole. todo: what is not done with one of
    a newer version, such as "merge it". Raises BrokenFileError, ReadOnlyError.
    """
    try:
        kind = kind_of(data)
        document = (
            read_nugget(path, data, fingerprint)
            if kind == "facts"
            else read_graph(path, data, fingerprint, rules)
        )
        what = document.broken if kind else "the file is neither a note graph nor a fact file"
    except JsonError as error:
        what = f"the file cannot be read ({error})"
    except BrokenFileError as error:
        what = error.what
    if what:
        advice = "fix the file, or replace it with a good copy"
        raise BrokenFileError(what, where=str(path), kept=kept, todo=advice)
    if document.read_only:
        code, remedy = ErrorCode.NEWER_VERSION, Remedy("update", todo)
        raise ReadOnlyError(document.read_only, code=code, remedy=remedy, where=str(path), kept=kept)
    return document


def remembered_nugget(path: Path, head: bytes, raws: list[bytes]) -> NuggetDocument:
    """A fact file from its top-level fields, as a file without facts, and from the bytes of its facts."""
    return _with_facts(read_nugget(path, head, None), raws)


def _with_facts(document: NuggetDocument, raws: list[bytes]) -> NuggetDocument:
    return replace(document, raws=tuple(raws)).read([None] * len(raws), read_fact)


def _share(note: Note, known: dict[Any, Any]) -> None:
    """Has a note that was just read, and that nobody holds yet, hold the values that other notes have too, instead of
    its own equal ones: of a large memory that is a quarter of the room that it takes. known: the values so far.
    """
    share = known.setdefault
    values = _VALUES(note)
    for name, value, held in zip(_REPEATED, values, map(share, values, values), strict=True):
        if held is not value:
            force_setattr(note, name, held)
    for link in note.links:
        for name in ("to", "reason", "created_at"):
            force_setattr(link, name, share(getattr(link, name), getattr(link, name)))
    tags, basis = note.tags, note.vector.basis
    if tags not in known:
        known[tags] = tuple(map(share, tags, tags))
    force_setattr(note, "tags", known[tags])
    if basis:
        force_setattr(note.vector, "basis", tuple(map(share, basis, basis)))


def nugget_of_file(file_name: str) -> str:
    """The nugget that a file's name speaks of."""
    return file_name.removesuffix(".json").rpartition(".")[0]


def _broken_graph(path: Path, fingerprint: Fingerprint | None, error: NuggetsError) -> GraphDocument:
    """A note graph that cannot be read, as a document without notes whose `broken` says why."""
    document = GraphDocument(path=path, fingerprint=fingerprint, broken=error.what)
    problem = document.problem(ProblemKind.UNREADABLE_FILE, "", f"{error.what}; {_KEPT}")
    return replace(document, problems=(problem,))


def _broken_nugget(path: Path, fingerprint: Fingerprint | None, what: str) -> NuggetDocument:
    meta = NuggetMeta(name=nugget_of_file(path.name))
    document = NuggetDocument(path=path, fingerprint=fingerprint, meta=meta, broken=what)
    problem = document.problem(ProblemKind.UNREADABLE_FILE, "", f"{what}; {_KEPT}")
    return replace(document, problems=(problem,))


def unreadable_nugget(path: Path, what: str) -> NuggetDocument:
    """A fact file whose bytes the system does not give out; it is tried again at every look."""
    return _broken_nugget(path, None, f"the fact file {what}")


def new_nugget(path: Path, meta: NuggetMeta) -> NuggetDocument:
    """A fact file that does not exist yet."""
    shaped = msgspec.structs.asdict(meta)
    config = msgspec.structs.asdict(shaped.pop("config"))
    values = {"version": shaped.pop("version"), **shaped, "facts": [], "config": config}
    return NuggetDocument(path=path, fields={name: dump(value) for name, value in values.items()}, meta=meta)


def _newer(path: Path, version: bytes | None, known: int) -> str:
    """Why a file may not be written when its version is newer than we know, else ""."""
    try:
        number = float(version) if version is not None else 0.0
    except ValueError:
        return ""
    if number > known:
        said = version.decode(errors="replace") if version else ""
        return f"{path} has version {said}, newer than nuggets-tui supports ({known})"
    return ""


# Changing


def changed_graph(graph: GraphDocument, changes: Sequence[NoteChange]) -> GraphDocument | None:
    """The document with rebased changes of notes; None when there are none."""
    if not changes:
        return None
    wanted = {change.id for change in changes}
    ids = enumerate(note.id if note is not None else None for note in graph.notes)
    places = {id: place for place, id in ids if id in wanted}
    edits = [(places.get(change.id), change.index, change.after) for change in changes]
    raws, notes = _changed_items(graph.raws, graph.notes, edits, write_note)
    return replace(graph, raws=raws).with_items(notes)


def changed_nugget(document: NuggetDocument, changes: list[FactChange]) -> NuggetDocument:
    """The document with rebased changes: `index` is a fact's place among the readable ones, a new one's at the end."""
    readable = [place for place, fact in enumerate(document.facts) if fact is not None]
    edits = [
        (None if change.before is None else readable[cast("int", change.index)], change.index, change.after)
        for change in changes
        if change.before is None or change.index is not None
    ]
    raws, facts = _changed_items(document.raws, document.facts, edits, write_fact)
    return replace(document, raws=raws).with_items(facts)


def with_changes(loaded: Loaded, change_set: ChangeSet) -> Loaded:
    """The files with changes of notes and facts that were thought out, or rebased, on them."""
    if not (change_set.notes or change_set.facts):
        return loaded
    nuggets: dict[Path, NuggetDocument] = {}
    for path, document in loaded.nuggets.items():
        facts = [change for change in change_set.facts if change.nugget == document.meta.name]
        nuggets[path] = changed_nugget(document, facts) if facts else document
    graph = changed_graph(loaded.graph, change_set.notes) or loaded.graph
    return assembled(Path(loaded.snapshot.home), graph, nuggets, loaded)


def _changed_items(
    raws: Sequence[bytes],
    items: Sequence[_Item | None],
    edits: Iterable[tuple[int | None, int | None, _Item | None]],
    write: Callable[[_Item, _Item | None, bytes | None], bytes],
) -> tuple[tuple[bytes, ...], list[_Item | None]]:
    """Bytes and items after edits.

    edits: where an item stands (None for a new one), the number that a new one is to have among the readable ones (None
    for the last), and what it becomes (None for one that goes).
    """
    new_raws, new_items = list(raws), list(items)
    added: list[tuple[int | None, _Item]] = []
    gone: list[int] = []
    for place, index, after in edits:
        if place is None:
            added += [(index, after)] if after is not None else []
        elif after is None:
            gone.append(place)
        else:
            new_raws[place] = write(after, items[place], raws[place])
            new_items[place] = after
    for place in sorted(gone, reverse=True):
        del new_raws[place], new_items[place]
    illegible = [place for place, item in enumerate(new_items) if item is None] if added else []
    for index, item in sorted(added, key=lambda one: (one[0] is None, one[0] or 0)):
        at = _room(len(new_items), illegible, index)
        new_raws.insert(at, write(item, None, None))
        new_items.insert(at, item)
    return tuple(new_raws), new_items


def _room(length: int, illegible: list[int], index: int | None) -> int:
    """Where in a file's list of this length an item goes that is to have this number among the readable ones.

    illegible: the places of the others, in order; those behind move on by one.
    """
    if index is None or index >= length - len(illegible):
        return length
    at = index
    for place in illegible:
        if place > at:
            break
        at += 1
    illegible[:] = [place + (place >= at) for place in illegible]
    return at


# The folder


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

    @property
    def page_folders(self) -> tuple[Path, ...]:
        """Where pages lie that are notes; nothing for other memories."""
        pages = self.graph.pages
        if pages is None:
            return ()
        return tuple(dict.fromkeys([pages.folder, *(pages.path(name).parent for name in pages.files)]))

    @property
    def pages_to_store(self) -> bool:
        """Whether pages say something that the note graph does not hold yet."""
        pages = self.graph.pages
        return pages is not None and pages.stored.raws != self.graph.raws


def read_folder(
    home: Path,
    rules: InferenceSettings,
    former: Loaded | None = None,
    *,
    tolerant: bool = False,
    names: list[str] | None = None,
    pages: Path | None = None,
) -> Loaded:
    """The folder as it is now; `former` itself when no file changed since. names: takes the names of all in it.
    pages: the folder of the pages that are its notes; see `pages.py`.

    A file that cannot be read while another program has it open for writing is waited for and read again.

    Raises BrokenFileError for a note graph that cannot be read (tolerant: the facts alone are loaded then) and
    StorageError when the system refuses.
    """
    graph = _read_notes(home, rules, former.graph if former else None, tolerant, pages)
    nuggets = _read_nuggets(home, former.nuggets if former else {}, names)
    if (
        former is not None
        and graph is former.graph
        and nuggets.keys() == former.nuggets.keys()
        and all(nuggets[path] is former.nuggets[path] for path in nuggets)
    ):
        return former
    return assembled(home, graph, nuggets, former)


def _read_notes(
    home: Path,
    rules: InferenceSettings,
    former: GraphDocument | None,
    tolerant: bool,
    folder: Path | None,
) -> GraphDocument:
    if folder is None:
        return _read_graph(home / GRAPH_FILE, rules, former, tolerant)
    from core.storage.format.pages import projected, read_pages

    known = former.pages if former is not None else None
    stored = _read_graph(home / GRAPH_FILE, rules, known.stored if known is not None else None, tolerant)
    if stored.broken or stored.read_only:
        return stored
    if known is not None and stored.fingerprint is None and known.stored.fingerprint is None:
        stored = known.stored
    pages = read_pages(folder, stored, known)
    return former if former is not None and pages is known else projected(stored, pages, rules)


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
        return _broken_graph(path, made, error)
    except StorageError as error:
        if not tolerant:
            raise
        # Who may read a file changes without a trace in its fingerprint: it is looked at again each time.
        refused = _broken_graph(path, None, error)
        return former if former == refused and former is not None else refused


def _check_folder(folder: Path) -> None:
    """Raises StorageError for something in the place of a folder, whose files are none then without being gone."""
    if os.path.lexists(folder) and not folder.is_dir():
        what = "a link to a folder that is not there" if folder.is_symlink() else "a file, not a folder"
        raise StorageError(
            f"cannot be read, since {folder.name} is {what}",
            where=str(folder / GRAPH_FILE.name), kept=_NOT_WRITTEN, todo="restore the folder",
        )  # fmt: skip


def _read_nuggets(
    home: Path, former: Mapping[Path, NuggetDocument], names: list[str] | None
) -> dict[Path, NuggetDocument]:
    loaded: dict[Path, NuggetDocument] = {}
    names = [] if names is None else names
    paths = nugget_files(home, names)
    for name in names:
        if is_fact_file(name) and name != (said := _named_in_utf8(name)):
            refused = unreadable_nugget(home / said, "has a name that is no UTF-8: rename it")
            known = former.get(home / said)
            loaded[home / said] = known if known is not None and known == refused else refused
    for path in paths:
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
            "is not a folder", code=ErrorCode.WRONG_KIND_OF_FILE, where=str(home), kept=_NOT_WRITTEN
        ) from None
    except OSError as error:
        raise StorageError(
            f"the folder cannot be read ({error.strerror})",
            remedy=remedy_for(error, home),
            where=str(home),
            kept=_NOT_WRITTEN,
        ) from error
    if every is not None:
        every += names
    names = [name for name in names if is_fact_file(name) and _named_in_utf8(name) == name]
    return [home / name for suffix in FACT_SUFFIXES for name in sorted(names) if name.endswith(suffix)]


def _named_in_utf8(name: str) -> str:
    """A file's name as it may be written down: with an escape for each byte that is no UTF-8."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def assembled(
    home: Path, graph: GraphDocument, nuggets: Mapping[Path, NuggetDocument], former: Loaded | None = None
) -> Loaded:
    """The files together with their snapshot, one revision further than `former`."""

    def which_counts(item: tuple[Path, NuggetDocument]) -> tuple[bool, bool, str]:
        # Of several files of one nugget the first: donna before nugget, its own name before that of a copy.
        name, nugget = item[0].name, item[1].meta.name
        return not name.endswith(FACT_SUFFIXES[0]), nugget_of_file(name) != nugget, name

    named: dict[str, NuggetDocument] = {}
    nuggets = dict(sorted(nuggets.items(), key=which_counts))
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
    # Without a problem none is missing, and the tuple itself will do.
    whole = cast("tuple[Note, ...]", graph.notes)
    notes = tuple(note for note in whole if note is not None) if graph.problems else whole
    found = tuple(named[name].nugget for name in sorted(named))
    # Nothing was done to the facts where these are the same objects, and that is told by the tuple alone.
    known = former.snapshot.nuggets if former is not None else ()
    same = len(found) == len(known) and all(map(is_, found, known))
    snapshot = Snapshot(
        notes=notes,
        nuggets=known if same else found,
        problems=tuple(problems),
        home=str(home),
        read_only=read_only,
        set_aside=graph.set_aside,
        graph_problem=graph.broken,
        revision=former.snapshot.revision + 1 if former else 1,
    )
    return Loaded(graph, dict(nuggets), snapshot)
