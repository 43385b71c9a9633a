"""The files of a folder taken apart: every note or fact as bytes and, beside it, in typed form; and changed so that
what a change does not touch keeps its bytes. All files together make one snapshot.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, compress, count
from operator import attrgetter, eq, is_, not_
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, cast

import msgspec
from msgspec.structs import force_setattr

from core.errors import BrokenFileError, ErrorCode, NuggetsError, Repair, StorageError, remedy_for
from core.folder import FACT_SUFFIXES, GRAPH_FILE, is_fact_file
from core.model.change import FactChange, NoteChange
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.note import Note
from core.model.snapshot import Problem, ProblemKind, Snapshot
from core.settings import InferenceSettings
from core.storage.files.atomic import Fingerprint, fingerprint, read_file
from core.storage.files.exchange import wait_until_whole
from core.storage.format.codec import ItemError, legible_title, read_fact, read_note, write_fact, write_note
from core.storage.format.json_text import JsonError, dump, split_array, split_document, split_object

if TYPE_CHECKING:
    from core.model.progress import Progress
    from core.storage.format.pages import PageSet

GRAPH_VERSION: Final = 3
NUGGET_VERSION: Final = 4
_META: Final = msgspec.json.Decoder(NuggetMeta)
_KEPT: Final = "the file is unchanged"
_NOT_WRITTEN: Final = "nothing was written"
BOM: Final = b"\xef\xbb\xbf"
_ID: Final = attrgetter("id")
_KEY: Final = attrgetter("key")
_Item = TypeVar("_Item", Note, Fact)
# Of so many notes, what several hold is held once: of fewer that saves no room worth the time.
_MANY: Final = 2_000
# Fields whose text other notes have too.
_REPEATED: Final = (
    "id", "nugget_name", "kind", "last_hit_session", "created_at", "updated_at", "last_accessed_at", "subject", "scope",
    "type", "source", "stability",
)  # fmt: skip
_VALUES: Final = attrgetter(*_REPEATED)
# So many items that cannot be read are named one by one.
_MOST_NAMED: Final = 100
# What is shorter lacks a field that each note or fact has. Past those that are named it is counted unread.
_SHORTEST_NOTE: Final = len(b'{"id":"","nuggetName":"","title":"","content":""}')
_SHORTEST_FACT: Final = len(b'{"key":"","value":""}')
# So many notes are looked for one by one; for more, all are put into a table.
_FEW: Final = 4


class ChangedInPlace(NamedTuple):
    """That the items `after` are those of `before`, with others at these places, in order, and more at the end."""

    before: tuple[bytes, ...]
    after: tuple[bytes, ...]
    places: tuple[int, ...]


@dataclass(frozen=True)
class GraphDocument:
    """graph.json: its top-level fields as bytes, its notes as bytes and typed (None where one does not count: it is
    unreadable, or one of `later`).

    later: by their bytes, notes that bear the id of an earlier one. They stay in the file, and are seen as problems.
    """

    path: Path
    fingerprint: Fingerprint | None = None
    fields: Mapping[str, bytes] = field(
        default_factory=lambda: {"version": dump(GRAPH_VERSION), "notes": b"[]"}
    )
    raws: tuple[bytes, ...] = ()
    notes: tuple[Note | None, ...] = ()
    problems: tuple[Problem, ...] = ()
    later: Mapping[bytes, Note] = field(default_factory=dict)
    set_aside: frozenset[str] = frozenset()
    read_only: str = ""
    bom: bytes = b""
    broken: str = ""
    # Where the notes are pages of another folder: those, with the file itself as it was read.
    pages: PageSet | None = None
    # How it was made of another one, so that nobody has to compare all notes to find out.
    changed: ChangedInPlace | None = field(default=None, compare=False, repr=False)

    @property
    def items(self) -> Sequence[Note | Fact | None]:
        """The notes."""
        return self.notes

    @property
    def on_disk(self) -> Fingerprint | None:
        """The version of the file itself, whatever else `fingerprint` stands for."""
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


@dataclass(frozen=True)
class NuggetDocument:
    """A fact file: its top-level fields as bytes, its facts as bytes and typed (None where one does not count).

    later: by their bytes, facts that bear the key of an earlier one, as in `GraphDocument`.
    """

    path: Path
    fingerprint: Fingerprint | None
    fields: Mapping[str, bytes]
    raws: tuple[bytes, ...]
    facts: tuple[Fact | None, ...]
    meta: NuggetMeta
    problems: tuple[Problem, ...] = ()
    later: Mapping[bytes, Fact] = field(default_factory=dict)
    broken: str = ""
    read_only: str = ""
    bom: bytes = b""
    tail: bytes = b""

    @property
    def items(self) -> Sequence[Note | Fact | None]:
        """The facts."""
        return self.facts

    @property
    def on_disk(self) -> Fingerprint | None:
        """The version of the file itself."""
        return self.fingerprint

    @cached_property
    def nugget(self) -> Nugget:
        """The nugget that the file holds."""
        facts = tuple(fact for fact in self.facts if fact is not None)
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
        fields, raws = split_document(data[len(bom) :], "notes", former.raws if former is not None else ())
    except JsonError as error:
        raise _broken(path, f"the note graph cannot be read ({error})") from error
    return _graph_of(path, fields, raws, fingerprint, rules, former, bom, progress)


def remembered_graph(
    path: Path, head: bytes, raws: list[bytes], rules: InferenceSettings, former: GraphDocument | None
) -> GraphDocument:
    """graph.json from its top-level fields, as a file without notes, and from the bytes of its notes."""
    fields = split_object(head.removeprefix(BOM), once="notes")
    return _graph_of(path, fields, raws, None, rules, former, b"")


def remembered_nugget(path: Path, head: bytes, raws: list[bytes]) -> NuggetDocument:
    """A fact file from its top-level fields, as a file without facts, and from the bytes of its facts."""
    document = read_nugget(path, head, None)
    facts, problems = _facts_of(path, raws, document.meta.name)
    return _with_first_facts(replace(document, raws=tuple(raws), problems=tuple(problems)), facts)


def _graph_of(
    path: Path,
    fields: dict[str, bytes],
    raws: list[bytes],
    fingerprint: Fingerprint | None,
    rules: InferenceSettings,
    former: GraphDocument | None,
    bom: bytes,
    progress: Progress | None = None,
) -> GraphDocument:
    notes = _former_notes(former, raws)
    new = [place for place, note in enumerate(notes) if note is None]
    problems: list[Problem] = []
    set_aside: set[str] = set()
    unread: set[bytes] = set()
    more = 0
    known: dict[Any, Any] = {}
    sharing = len(new) >= _MANY
    for place in new if progress is None else _counted(new, progress):
        raw = raws[place]
        if len(problems) == _MOST_NAMED and (len(raw) < _SHORTEST_NOTE or raw in unread):
            more += 1
            continue
        try:
            notes[place] = note = read_note(raw, rules)
            if sharing:
                _share(note, known)
        except ItemError as error:
            set_aside.update({error.id} - {""})
            if len(problems) == _MOST_NAMED:
                more += 1
                continue
            unread.add(raw)
            named = f"note {place + 1}" + (f" ({error.id})" if error.id else "")
            problems.append(
                Problem(
                    ProblemKind.UNREADABLE_NOTE,
                    f"{path}: {named}",
                    f"cannot be read ({error}); its bytes stay in the file",
                    str(path),
                    names=(error.id, legible_title(raw)),
                    place=named,
                )
            )
    problems += _more(ProblemKind.UNREADABLE_NOTE, path, more)
    document = GraphDocument(
        path=path,
        fingerprint=fingerprint,
        fields=fields,
        raws=tuple(raws),
        problems=tuple(problems),
        set_aside=frozenset(set_aside),
        read_only=_newer(path, fields.get("version"), GRAPH_VERSION),
        bom=bom,
    )
    return _with_first_notes(document, notes)


def _counted(places: list[int], progress: Progress) -> Iterator[int]:
    from core.model.progress import counted

    return counted(places, progress)


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
        force_setattr(link, "to", share(link.to, link.to))
        force_setattr(link, "reason", share(link.reason, link.reason))
        force_setattr(link, "created_at", share(link.created_at, link.created_at))
    tags, basis = note.tags, note.vector.basis
    if tags not in known:
        known[tags] = tuple(map(share, tags, tags))
    force_setattr(note, "tags", known[tags])
    if basis:
        force_setattr(note.vector, "basis", tuple(map(share, basis, basis)))


def broken_graph(path: Path, fingerprint: Fingerprint | None, error: NuggetsError) -> GraphDocument:
    """A note graph that cannot be read, as a document without notes whose `broken` says why."""
    problem = Problem(ProblemKind.UNREADABLE_FILE, str(path), f"{error.what}; {_KEPT}", str(path))
    return GraphDocument(path=path, fingerprint=fingerprint, problems=(problem,), broken=error.what)


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
        fields = split_object(data[len(bom) :], once="facts")
        raws = split_array(fields["facts"]) if "facts" in fields else []
        meta = _read_meta(path, fields)
    except (JsonError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        return _broken_nugget(path, fingerprint, f"the fact file cannot be read ({error})")
    fields.setdefault("facts", b"[]")
    facts, problems = _facts_of(path, raws, meta.name)
    document = NuggetDocument(
        path=path,
        fingerprint=fingerprint,
        fields=fields,
        raws=tuple(raws),
        facts=(),
        meta=meta,
        problems=tuple(problems),
        read_only=_newer(path, fields.get("version"), NUGGET_VERSION),
        bom=bom,
        tail=data[len(data.rstrip(b" \t\r\n")) :],
    )
    return _with_first_facts(document, facts)


def _facts_of(path: Path, raws: list[bytes], nugget: str) -> tuple[list[Fact | None], list[Problem]]:
    facts: list[Fact | None] = []
    problems: list[Problem] = []
    unread: set[bytes] = set()
    more = 0
    for place, raw in enumerate(raws):
        if len(problems) == _MOST_NAMED and (len(raw) < _SHORTEST_FACT or raw in unread):
            facts.append(None)
            more += 1
            continue
        try:
            facts.append(read_fact(raw))
        except ItemError as error:
            facts.append(None)
            if len(problems) == _MOST_NAMED:
                more += 1
                continue
            unread.add(raw)
            named = f"fact {place + 1}"
            said = f"cannot be read ({error}); its bytes stay in the file"
            kind = ProblemKind.UNREADABLE_FACT
            problems.append(Problem(kind, f"{path}: {named}", said, str(path), nugget, place=named))
    return facts, [*problems, *_more(ProblemKind.UNREADABLE_FACT, path, more, nugget)]


def _with_first_notes(graph: GraphDocument, notes: Sequence[Note | None]) -> GraphDocument:
    """The document with these notes. Of several with one id the first counts; the others are kept apart."""
    if len(set(map(_ID, filter(None, notes)))) + notes.count(None) == len(notes) and not graph.later:
        return replace(graph, notes=tuple(notes))
    counted, later, places = _first_of_each(notes, graph.raws, graph.later)
    problems = [
        _shared(
            ProblemKind.SHARED_ID, graph.path, f"note {place + 1} ({note.id})", names=(note.id, note.title)
        )
        for place in places[:_MOST_NAMED]
        for note in (later[graph.raws[place]],)
    ]
    problems += _more(ProblemKind.SHARED_ID, graph.path, len(places) - len(problems))
    problems = [*(one for one in graph.problems if one.kind is not ProblemKind.SHARED_ID), *problems]
    return replace(graph, notes=counted, later=later, problems=tuple(problems))


def _with_first_facts(document: NuggetDocument, facts: Sequence[Fact | None]) -> NuggetDocument:
    """As `_with_first_notes`, of facts with one key."""
    if len(set(map(_KEY, filter(None, facts)))) + facts.count(None) == len(facts) and not document.later:
        return replace(document, facts=tuple(facts))
    counted, later, places = _first_of_each(facts, document.raws, document.later)
    path, nugget, kind = document.path, document.meta.name, ProblemKind.SHARED_KEY
    problems = [
        _shared(kind, path, f"fact {place + 1} ({later[document.raws[place]].key})", nugget)
        for place in places[:_MOST_NAMED]
    ]
    problems += _more(kind, path, len(places) - len(problems), nugget)
    problems = [*(one for one in document.problems if one.kind is not kind), *problems]
    return replace(document, facts=counted, later=later, problems=tuple(problems))


def _first_of_each(
    items: Sequence[_Item | None], raws: Sequence[bytes], later: Mapping[bytes, _Item]
) -> tuple[tuple[_Item | None, ...], dict[bytes, _Item], list[int]]:
    """The items with None in place of each whose name an earlier one has; those by their bytes; and their places.

    later: those of before, of which one may be the first by now.
    """
    known: set[str] = set()
    counted: list[_Item | None] = []
    apart: dict[bytes, _Item] = {}
    places: list[int] = []
    for place, (item, raw) in enumerate(zip(items, raws, strict=True)):
        found = later.get(raw) if item is None else item
        name = None if found is None else id_of(found)
        if found is not None and name in known:
            apart[raw] = found
            places.append(place)
            found = None
        elif name is not None:
            known.add(name)
        counted.append(found)
    return tuple(counted), apart, places


def _shared(
    kind: ProblemKind, path: Path, named: str, nugget: str = "", names: tuple[str, ...] = ()
) -> Problem:
    what = f"has the {'id' if kind is ProblemKind.SHARED_ID else 'key'} of an earlier one, which is used; "
    return Problem(kind, f"{path}: {named}", f"{what}it stays in the file", str(path), nugget, names, named)


def _more(kind: ProblemKind, path: Path, number: int, nugget: str = "") -> list[Problem]:
    """What counts the items of a file with a problem that are not named one by one."""
    named = f"{number:,} more"
    said = "cannot be read" if kind.unreadable else "have the id or key of earlier ones"
    said += "; their bytes stay in the file"
    return [Problem(kind, f"{path}: {named}", said, str(path), nugget, place=named)] if number else []


def _read_meta(path: Path, fields: Mapping[str, bytes]) -> NuggetMeta:
    known = {name: msgspec.Raw(fields[name]) for name in NuggetMeta.__struct_fields__ if name in fields}
    known.setdefault("name", msgspec.Raw(dump(nugget_of_file(path.name))))
    return _META.decode(msgspec.json.encode(known))


def nugget_of_file(file_name: str) -> str:
    """The nugget that a file's name speaks of."""
    return file_name.removesuffix(".json").rpartition(".")[0]


def _broken_nugget(path: Path, fingerprint: Fingerprint | None, what: str) -> NuggetDocument:
    name = nugget_of_file(path.name)
    return NuggetDocument(
        path=path,
        fingerprint=fingerprint,
        fields={},
        raws=(),
        facts=(),
        meta=NuggetMeta(name=name),
        problems=(Problem(ProblemKind.UNREADABLE_FILE, str(path), f"{what}; {_KEPT}", str(path), name),),
        broken=what,
    )


def unreadable_nugget(path: Path, what: str) -> NuggetDocument:
    """A fact file whose bytes the system does not give out; it is tried again at every look."""
    return _broken_nugget(path, None, f"the fact file {what}")


def new_nugget(path: Path, meta: NuggetMeta) -> NuggetDocument:
    """A fact file that does not exist yet."""
    config = {name: getattr(meta.config, name) for name in meta.config.__struct_fields__}
    values: dict[str, object] = {
        "version": meta.version,
        "name": meta.name,
        "D": meta.D,
        "banks": meta.banks,
        "ensembles": meta.ensembles,
        "max_facts": meta.max_facts,
        "facts": [],
        "config": config,
    }
    fields = {name: dump(value) for name, value in values.items()}
    return NuggetDocument(path=path, fingerprint=None, fields=fields, raws=(), facts=(), meta=meta)


def _broken(path: Path, what: str) -> BrokenFileError:
    return BrokenFileError(what, remedy=Repair("or-copy"), where=str(path), kept=_KEPT)


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


def changed_graph(graph: GraphDocument, changes: Sequence[NoteChange]) -> GraphDocument | None:
    """The document with rebased changes of notes; None when there are none."""
    if not changes:
        return None
    raws, notes = list(graph.raws), list(graph.notes)
    places = _places(graph, {change.id for change in changes})
    added: list[tuple[int | None, Note]] = []
    gone: list[int] = []
    written: set[int] = set()
    for change in changes:
        place = places.get(change.id)
        if change.after is None:
            gone += [place] if place is not None else []
        elif place is None:
            added.append((change.index, change.after))
        else:
            raws[place] = write_note(change.after, notes[place], raws[place])
            notes[place] = change.after
            written.add(place)
    for place in sorted(gone, reverse=True):
        del raws[place], notes[place]
    illegible = _illegible(notes) if added else []
    in_place = not gone
    for index, note in sorted(added, key=_by_index):
        at = _room(len(notes), illegible, index)
        in_place = in_place and at == len(notes)
        raws.insert(at, write_note(note, None, None))
        notes.insert(at, note)
    after = tuple(raws)
    changed = ChangedInPlace(graph.raws, after, tuple(sorted(written))) if in_place else None
    if graph.later:
        # One of them is the first of its id once that goes.
        return _with_first_notes(replace(graph, raws=after, changed=None), notes)
    return replace(graph, raws=after, notes=tuple(notes), changed=changed)


def _places(graph: GraphDocument, wanted: Collection[str]) -> dict[str, int]:
    """Where the notes with these ids stand."""
    # Ten thousand turns of a loop would take longer than all else that is done about one note.
    ids = [note.id if note is not None else None for note in graph.notes] if graph.problems else None
    found = list(map(_ID, graph.notes)) if ids is None else ids
    if len(wanted) <= _FEW:
        return {id: found.index(id) for id in wanted if id in found}
    first = {id: place for place, id in enumerate(found)}
    return {id: first[id] for id in wanted if id in first}


def changed_nugget(document: NuggetDocument, changes: list[FactChange]) -> NuggetDocument:
    """The document with rebased changes: `index` is a fact's place among the readable ones, a new one's at the end."""
    raws, facts = list(document.raws), list(document.facts)
    readable = [place for place, fact in enumerate(facts) if fact is not None]
    added: list[tuple[int | None, Fact]] = []
    gone: list[int] = []
    for change in changes:
        if change.before is None:
            added += [(change.index, change.after)] if change.after is not None else []
        elif change.index is not None:
            place = readable[change.index]
            if change.after is None:
                gone.append(place)
            else:
                raws[place] = write_fact(change.after, facts[place], raws[place])
                facts[place] = change.after
    for place in sorted(gone, reverse=True):
        del raws[place], facts[place]
    illegible = _illegible(facts)
    for index, fact in sorted(added, key=_by_index):
        at = _room(len(facts), illegible, index)
        raws.insert(at, write_fact(fact, None, None))
        facts.insert(at, fact)
    return _with_first_facts(replace(document, raws=tuple(raws)), facts)


def _by_index(item: tuple[int | None, object]) -> tuple[bool, int]:
    return item[0] is None, item[0] or 0


def _illegible(items: Sequence[Fact | Note | None]) -> list[int]:
    return [place for place, item in enumerate(items) if item is None]


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
        return pages is not None and not pages.owed and pages.stored.raws != self.graph.raws


Owed = Callable[["PageSet"], Mapping[str, str | None]]


def _nothing_owed(_pages: PageSet) -> Mapping[str, str | None]:
    return {}


def read_folder(
    home: Path,
    rules: InferenceSettings,
    former: Loaded | None = None,
    *,
    tolerant: bool = False,
    names: list[str] | None = None,
    pages: Path | None = None,
    owed: Owed = _nothing_owed,
) -> Loaded:
    """The folder as it is now; `former` itself when no file changed since. names: takes the names of all in it.
    pages: the folder of the pages that are its notes, owed: what a change that was cut off has still to
    write of them; see `pages.py`.

    A file that cannot be read while another program has it open for writing is waited for and read again.

    Raises BrokenFileError for a note graph that cannot be read (tolerant: the facts alone are loaded then) and
    StorageError when the system refuses.
    """
    graph = _read_notes(home, rules, former.graph if former else None, tolerant, pages, owed)
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
    owed: Owed,
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
    pages = read_pages(folder, stored, known, owed)
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
            where=str(folder / GRAPH_FILE.name), kept=_NOT_WRITTEN, todo="restore the folder",
        )  # fmt: skip


def _read_nuggets(
    home: Path, former: Mapping[Path, NuggetDocument], names: list[str] | None
) -> dict[Path, NuggetDocument]:
    loaded: dict[Path, NuggetDocument] = {}
    names = [] if names is None else names
    paths = nugget_files(home, names)
    for name in names:
        if is_fact_file(name) and name != (said := named_in_utf8(name)):
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
    names = [name for name in names if is_fact_file(name) and named_in_utf8(name) == name]
    return [home / name for suffix in FACT_SUFFIXES for name in sorted(names) if name.endswith(suffix)]


def named_in_utf8(name: str) -> str:
    """A file's name as it may be written down: with an escape for each byte that is no UTF-8."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


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
    notes = _legible(graph)
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
