"""What an import adds to a memory: each thing of a source is new, held already, or a conflict. Nothing is replaced."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2s
from typing import Any, Final, Literal, NamedTuple

import msgspec

from core.errors import InvalidInputError, few_of
from core.exchange.records import KEPT_FIELDS, Format, LeftOut, Record, is_shallow
from core.model.build import new_note
from core.model.change import ChangeSet
from core.model.draft import Draft
from core.model.fact import Fact, Nugget
from core.model.names import DEFAULT_NUGGET, check_nugget_name
from core.model.note import Link, Note, replace, unique_links
from core.model.progress import Progress, counted
from core.model.secrets import held_in
from core.model.snapshot import Snapshot
from core.text.normalise import squeeze

# The field of a note that says which record of which source it was made of.
ORIGIN: Final = "importedFrom"
_SAME_TEXT: Final = "the memory holds this text already"
_SAME_FACT: Final = "the memory holds this fact already"
_OTHER_VALUE: Final = "the memory has another value for this key"
# How an item of a list begins; promotion writes "•" and "(1)" for those within a bullet.
_ITEM: Final = re.compile(r"^[ \t]*(?:[-*+•]|\(?(\d{1,9})[.)])(?=[ \t])", re.MULTILINE)


# same: the memory holds it already. conflict: it holds something else of that name. left: --accept left it out.
Status = Literal["new", "same", "conflict", "left"]


class ImportItem(
    msgspec.Struct, frozen=True, kw_only=True, rename={"nugget": "nuggetName", "note_id": "noteId"}
):
    """One note or fact of the source. id: names it in --accept, the same each time. note_id: of the note in the memory.

    detail: why it is what it is. ours, theirs: the texts of a conflict, that of the memory first.
    """

    id: str
    status: Status
    kind: str
    title: str
    nugget: str
    where: str
    note_id: str = ""
    detail: str = ""
    ours: str = ""
    theirs: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The item as an object of the command line's JSON; texts of conflicts alone."""
        shaped: dict[str, Any] = msgspec.to_builtins(self) | {"noteId": self.note_id or None}
        hidden = () if self.status == "conflict" else ("ours", "theirs")
        return {name: value for name, value in shaped.items() if name not in hidden}


@dataclass(frozen=True)
class ImportResult:
    """An import. format: what the source was taken as; detected: whether that was told by its contents.

    history: how many entries of the log come along. unknown: ids that were accepted and that nothing has.
    """

    format: Format
    detected: bool
    source: str
    items: tuple[ImportItem, ...]
    left_out: tuple[LeftOut, ...]
    change_set: ChangeSet
    history: int = 0
    unknown: tuple[str, ...] = ()

    def of(self, status: Status) -> Sequence[ImportItem]:
        """The items of a status."""
        return [item for item in self.items if item.status == status]

    def to_dict(self) -> dict[str, Any]:
        """The import as an object of the command line's JSON, without its change set."""
        told = [(one.partly, {"where": one.where, "reason": one.what}) for one in self.left_out]
        return {
            "version": 1, "format": self.format, "detected": self.detected, "source": self.source,
            "imported": len(self.of("new")), "same": len(self.of("same")), "left": len(self.of("left")),
            "history": self.history, "conflicts": [item.to_dict() for item in self.of("conflict")],
            "skipped": [shaped for partly, shaped in told if not partly],
            "incomplete": [shaped for partly, shaped in told if partly],
            "entries": [item.to_dict() for item in self.items],
        }  # fmt: skip


class _Found(NamedTuple):
    """What the memory has of a thing. ours, theirs: the texts of a conflict."""

    status: Status
    detail: str = ""
    note_id: str = ""
    ours: str = ""
    theirs: str = ""


class _Known:
    """The notes of a memory by what they say, and by what they were made of. A visible one stands before a hidden."""

    def __init__(self, notes: Iterable[Note]) -> None:
        self.by_text: dict[tuple[str, ...], Note] = {}
        self.by_origin: dict[tuple[str, str], Note] = {}
        for note in notes:
            self.add(note)

    def add(self, note: Note) -> None:
        """One more note."""
        content = _comparable(note.content)
        for said in ((content,), (_folded(note.title), content)):
            known = self.by_text.get(said)
            if known is None or (known.hidden and not note.hidden):
                self.by_text[said] = note
        origin = note.extra.get(ORIGIN)
        if isinstance(origin, dict):
            self.by_origin.setdefault((str(origin.get("format")), _squeezed(str(origin.get("key")))), note)

    def same(self, title: str, content: str) -> Note | None:
        """The note that says this. title: "" where it is only the beginning of the content."""
        said = _comparable(content)
        return self.by_text.get((_folded(title), said) if title else (said,))


class Plan:
    """One import over one draft. format, nugget: of records that name none. accept: ids of items, None for all.

    items: one for each thing of the source. left_out: what cannot come, and why.
    """

    def __init__(
        self,
        draft: Draft,
        format: Format,
        *,
        nugget: str = "",
        accept: Collection[str] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.items: list[ImportItem] = []
        self.left_out: list[LeftOut] = []
        self.draft = draft
        self._format = format
        self._nugget = nugget or DEFAULT_NUGGET
        self._accept = accept
        self._progress = progress
        self._known = _Known(draft.notes())
        self._names = draft.nugget_names()

    def _is_new(self, item: ImportItem, found: _Found | None, *, named: bool = True) -> bool:
        """Whether something is to be added; else it is an item or left out by now. named: after its nugget a file."""
        if found is None and self._accept is not None and item.id not in self._accept:
            found = _Found("left")
        if found is not None:
            self.items.append(msgspec.structs.replace(item, **found._asdict()))
            return False
        if item.nugget not in self._names and held_in("", item.nugget):
            # It would be the name of a file, which masking cannot change.
            told = "the name of its nugget looks as if it held a credential"
            self.left_out.append(LeftOut(item.where, told))
            return False
        try:
            if named and item.nugget not in self._names:
                self._names.add(check_nugget_name(item.nugget, self._names))
        except InvalidInputError as error:
            self.left_out.append(LeftOut(item.where, error.what))
            return False
        return True

    # Notes and facts of this program

    def new_of(self, source: Snapshot) -> Snapshot:
        """The part of another memory that this one does not have, with its ids, times and recalls."""
        stands_for: dict[str, str] = {}
        notes: list[Note] = []
        taken: set[tuple[str, str]] = set()
        noted: set[tuple[str, str]] = set()
        for note in counted(source.notes, self._progress):
            item = _item("whole", note.kind, note.nugget_name, note.title, note.id, note.content, note.id)
            item = msgspec.structs.replace(item, note_id=note.id)
            name = (note.nugget_name, note.key)
            facts = source.facts_by_key.get(name[0], {}) if note.is_fact and not note.hidden else {}
            fact = facts.get(note.key)
            noted |= {name} if fact is not None else set()
            found = self._note_here(note, fact)
            if self._is_new(item, found, named=fact is not None):
                self.items.append(item)
                notes.append(note)
                if fact is not None and self.draft.find_fact(*name) is None:
                    taken.add(name)
            elif found is not None and found.status == "same":
                stands_for[note.id] = found.note_id
        if self._progress is not None:
            self._progress(len(source.notes), len(source.notes))
        into_nothing = not (self.draft.snapshot.notes or self.draft.snapshot.nuggets)
        nuggets: list[Nugget] = []
        for nugget in source.nuggets:
            # Those that come without a note.
            for fact in (one for one in nugget.facts if (nugget.name, one.key) not in noted):
                where = f"{nugget.name}: {fact.key}"
                item = _item("whole", "fact", nugget.name, fact.key, fact.key, fact.value, where)
                if self._is_new(item, self._fact_here(nugget.name, fact)):
                    self.items.append(item)
                    taken.add((nugget.name, fact.key))
            held = tuple(fact for fact in nugget.facts if (nugget.name, fact.key) in taken)
            comes_empty = False
            with suppress(InvalidInputError):
                # For its settings alone.
                comes_empty = into_nothing and bool(check_nugget_name(nugget.name, self._names))
            nuggets += [msgspec.structs.replace(nugget, facts=held)] if held or comes_empty else []
        ended = []
        for note in notes:
            # Its links lead to the notes here that stand for those there.
            ends = tuple(
                msgspec.structs.replace(link, to=stands_for.get(link.to, link.to)) for link in note.links
            )
            ended.append(replace(note, links=ends) if ends != note.links else note)
        return Snapshot(notes=tuple(ended), nuggets=tuple(nuggets))

    def _note_here(self, note: Note, fact: Fact | None) -> _Found | None:
        """What the memory has of a note that may come with its fact."""
        known = self.draft.note(note.id)
        if known is not None and not _says_the_same(known, note):
            told = "the memory has another text under this id"
            return _Found("conflict", told, note.id, known.content, note.content)
        if known is None and self.draft.exists(note.id):
            told = "the memory has a note of this id that cannot be read"
            return _Found("conflict", told, note.id, "", note.content)
        known = known or self._known.same(note.title, note.content)
        if known is not None and _says_the_same(known, note):
            return _Found("same", _SAME_TEXT, known.id)
        found = self._fact_here(note.nugget_name, fact) if fact is not None else None
        return found if found is not None and found.status == "conflict" else None

    def _fact_here(self, nugget: str, fact: Fact) -> _Found | None:
        there = self.draft.find_fact(nugget, fact.key)
        if there is None:
            return None
        note = self.draft.fact_note(nugget, there[1].key)
        id = note.id if note is not None else ""
        if _squeezed(there[1].value) == _squeezed(fact.value):
            return _Found("same", _SAME_FACT, id)
        return _Found("conflict", _OTHER_VALUE, id, there[1].value, fact.value)

    # Records of other programs

    def lay(self, records: tuple[Record, ...]) -> None:
        """Lays records over the draft, each linked to what its source says it belongs to."""
        ids: dict[str, str] = {}
        made: set[str] = set()
        names: dict[str, str] = {}
        for record in counted(records, self._progress):
            id, is_new = self._lay(record)
            if id:
                ids.setdefault(record.key, id)
                made |= {id} if is_new else set()
                for name in (record.title, *record.names):
                    names.setdefault(_squeezed(name), id)
        if self._progress is not None:
            self._progress(len(records), len(records))
        for id, links in self._links(records, ids, made, names).items():
            note = self.draft.note(id)
            if note is not None:
                self.draft.put(replace(note, links=unique_links((*note.links, *links))))

    def _links(
        self, records: Iterable[Record], ids: Mapping[str, str], made: Collection[str], names: dict[str, str]
    ) -> dict[str, list[Link]]:
        """The links of what was made, at both ends. What leads nowhere is named. ids: by the keys of records."""
        # What is called just so stands before what differs in upper and lower case, what comes before what was there.
        folded = {_folded(note.title): note.id for note in reversed(self.draft.snapshot.visible)}
        folded |= {name.casefold(): id for name, id in reversed(names.items())}
        links: dict[str, list[Link]] = {}
        for record in records:
            start, missing = ids.get(record.key, ""), []
            for reference in record.references:
                name, reason = _folded(reference.name), " ".join(reference.reason.split())
                end = names.get(_squeezed(reference.name)) or folded.get(name)
                end = end or folded.get(name.rpartition("/")[2])
                if end is None:
                    missing.append(reference.name[:60])
                elif start and end != start and (start in made or end in made):
                    for one, other in ((start, end), (end, start)):
                        link = Link(to=other, reason=reason, created_at=self.draft.at)
                        links.setdefault(one, []).append(link)
            if missing and start in made:
                told = f"links to what is not there: {few_of(missing)}"
                self.left_out.append(LeftOut(record.where, told, partly=True))
        return links

    def _lay(self, record: Record) -> tuple[str, bool]:
        """The id of the note that says what a record says, "" for none, and whether it was made of it."""
        nugget = record.nugget or self._nugget
        item = _item(
            self._format, record.kind, nugget, record.title, record.key, record.content, record.where
        )
        found = self._record_here(record, nugget)
        if not self._is_new(item, found):
            return (found.note_id if found is not None and found.status == "same" else ""), False
        if not is_shallow(record.fields):
            told = "has fields that are nested too deeply; its text is imported"
            self.left_out.append(LeftOut(record.where, told, partly=True))
            record = msgspec.structs.replace(record, fields={})
        note = self._make(record, nugget)
        self._known.add(note)
        self.items.append(msgspec.structs.replace(item, note_id=note.id))
        return note.id, True

    def _record_here(self, record: Record, nugget: str) -> _Found | None:
        if record.kind == "fact":
            return self._fact_here(nugget, Fact(key=record.title, value=record.content))
        known = self._known.by_origin.get((self._format, _squeezed(record.key)))
        if known is not None:
            origin = known.extra[ORIGIN]
            same = origin.get("text") == _digest(record.content)
            if same or _squeezed(known.content) == _squeezed(record.content):
                return _Found("same", "it was imported before", known.id)
            told = "it was imported before, and has another text in the source now"
            return _Found("conflict", told, known.id, known.content, record.content)
        known = self._known.same("" if record.derived else record.title, record.content)
        if known is None:
            return None
        told = "the memory holds this text in a hidden note" if known.hidden else _SAME_TEXT
        return _Found("same", told, known.id)

    def _make(self, record: Record, nugget: str) -> Note:
        draft = self.draft
        recalls: dict[str, Any] = {"hits": record.hits, "last_hit_session": record.last_hit_session}
        if record.kind == "fact":
            draft.put_fact(nugget, Fact(key=record.title, value=record.content, **recalls))
            # The note of a fact that had left its file.
            known = draft.fact_note(nugget, record.title, hidden=False)
            if known is not None:
                return draft.put(replace(known, content=record.content, updated_at=draft.at))
        created = record.created_at or record.updated_at or draft.at
        # What a note keeps of its source, unknown to others.
        extra: dict[str, Any] = {KEPT_FIELDS: record.fields} if record.fields else {}
        if record.kind != "fact":
            origin = {"format": self._format, "key": record.key}
            if not held_in(record.title, record.content):
                extra[ORIGIN] = origin | {"text": _digest(record.content)}
            elif not (record.derived or held_in("", record.title)):
                # Of a text that holds a credential nothing is kept from which it could be guessed.
                extra[ORIGIN] = origin
        return new_note(
            draft, record.kind, nugget, record.title, record.content, tags=record.tags, meta=record.meta,
            by_agent=draft.author.is_known_agent, extra=extra, created_at=created,
            updated_at=max(created, record.updated_at), **recalls,
        )  # fmt: skip


def _item(source: str, kind: str, nugget: str, title: str, key: str, content: str, where: str) -> ImportItem:
    """An item that is new, under an id that is the same at each look at the same source."""
    data = "\0".join((source, kind, nugget, key, title, content)).encode("utf-8", "surrogatepass")
    id = f"new-{blake2s(data, digest_size=5).hexdigest()}"
    return ImportItem(id=id, status="new", kind=kind, title=title, nugget=nugget, where=where)


def _says_the_same(one: Note, other: Note) -> bool:
    return (one.kind, one.nugget_name) == (other.kind, other.nugget_name) and all(
        _squeezed(a) == _squeezed(b) for a, b in ((one.title, other.title), (one.content, other.content))
    )


def _comparable(content: str) -> str:
    """A text by which two are the same: without white space, and lists as lists, whatever signs their items have."""
    return _squeezed(_ITEM.sub(lambda found: f"{found[1]}." if found[1] else "-", content))


def _squeezed(text: str) -> str:
    """A text by which two are the same: without white space, and accents as marks of their own or not."""
    return unicodedata.normalize("NFC", squeeze(text))


def _folded(name: str) -> str:
    return sys.intern(_squeezed(name).casefold())


def _digest(text: str) -> str:
    return blake2s(_squeezed(text).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
