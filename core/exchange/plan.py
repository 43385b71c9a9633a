"""Lays what a source says over a draft: what is new is added, what is there already stays, and nothing is replaced."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from hashlib import blake2s
from typing import Any, Final

import msgspec

from core.errors import InvalidInputError
from core.exchange.json_source import is_shallow
from core.exchange.markdown import KEPT_FIELDS
from core.exchange.records import Format, LeftOut, Record
from core.exchange.result import ImportItem, Status
from core.model.build import new_note
from core.model.draft import Draft
from core.model.fact import Fact
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
_HIDDEN: Final = "the memory holds this text in a hidden note"
_EARLIER: Final = "it was imported before"
_CHANGED: Final = "it was imported before, and has another text in the source now"
_OTHER_VALUE: Final = "the memory has another value for this key"
_OTHER_NOTE: Final = "the memory has another text under this id"
_NO_FACT: Final = "the memory has a fact with this key, and another value"
_MOST_NAMED: Final = 3
# How an item of a list begins; promotion writes "•" and "(1)" for those within a bullet.
_ITEM: Final = re.compile(r"^[ \t]*(?:[-*+•]|\(?(\d{1,9})[.)])(?=[ \t])", re.MULTILINE)


class _Known:
    """The notes of a memory by what they say, and by what they were made of."""

    def __init__(self, notes: Iterable[Note]) -> None:
        self.by_text: dict[tuple[str, str], Note] = {}
        self.by_content: dict[str, Note] = {}
        self.by_origin: dict[tuple[str, str], Note] = {}
        self.by_title: dict[str, str] = {}
        for note in notes:
            self.add(note)

    def add(self, note: Note) -> None:
        """One more note; a visible one stands before a hidden one."""
        title, content = _folded(note.title), _comparable(note.content)
        known = self.by_text.get((title, content))
        if known is None or (known.hidden and not note.hidden):
            self.by_text[title, content] = note
        known = self.by_content.get(content)
        if known is None or (known.hidden and not note.hidden):
            self.by_content[content] = note
        origin = note.extra.get(ORIGIN)
        if isinstance(origin, dict):
            self.by_origin.setdefault((str(origin.get("format")), _squeezed(str(origin.get("key")))), note)
        if not note.hidden:
            self.by_title.setdefault(title, note.id)

    def same(self, record: Record) -> Note | None:
        """The note that says what a record says."""
        content = _comparable(record.content)
        if record.derived:
            return self.by_content.get(content)
        return self.by_text.get((_folded(record.title), content))


class Importer:
    """One import over one draft. format, nugget: of records that name none. accept: ids of items, None for all."""

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
        self._draft = draft
        self._format = format
        self._nugget = nugget or DEFAULT_NUGGET
        self._accept = accept
        self._progress = progress
        self._known = _Known(draft.notes())
        self._names = draft.nugget_names()
        # The notes that came to be, or are meant by what is there already, by the names that the source has for them.
        self._named: dict[str, str] = {}
        self._ids: dict[str, str] = {}
        self._made: dict[str, Record] = {}
        self._links: dict[str, list[Link]] = {}

    # Records of other programs

    def add_records(self, records: tuple[Record, ...]) -> None:
        """Lays records over the draft, and the links between them."""
        for record in counted(records, self._progress):
            self._add(record)
        if self._progress is not None:
            self._progress(len(records), len(records))
        self._link_records(records)
        self._lay_links()

    def _add(self, record: Record) -> None:
        record = self._checked(record)
        nugget = record.nugget or self._nugget
        id = item_id(self._format, record.kind, nugget, record.key, record.title, record.content)
        base: dict[str, Any] = {
            "id": id, "kind": record.kind, "title": record.title, "nugget": nugget, "where": record.where,
        }  # fmt: skip
        there = self._there(record, nugget)
        if there is not None:
            status, detail, note, ours = there
            theirs = record.content if status == "conflict" else ""
            self._item(base, status, note.id if note is not None else "", detail, ours, theirs)
            if note is not None and status == "same":
                self._name(record, note.id)
            return
        if not self._accepted(id):
            self._item(base, "left", "")
            return
        try:
            note = self._make(record, nugget)
        except InvalidInputError as error:
            self.left_out.append(LeftOut(record.where, error.what))
            return
        self._known.add(note)
        self._name(record, note.id)
        self._made[note.id] = record
        self._item(base, "new", note.id)

    def _checked(self, record: Record) -> Record:
        if is_shallow(record.fields):
            return record
        self.left_out.append(
            LeftOut(record.where, "has fields that are nested too deeply; its text is imported", partly=True)
        )
        return msgspec.structs.replace(record, fields={})

    def _there(self, record: Record, nugget: str) -> tuple[Status, str, Note | None, str] | None:
        """What the memory has of a record: status, why, the note, and its text; None for nothing."""
        if record.kind == "fact":
            found = self._draft.find_fact(nugget, record.title)
            if found is None:
                return None
            note = self._draft.fact_note(nugget, found[1].key)
            if _squeezed(found[1].value) == _squeezed(record.content):
                return "same", _SAME_FACT, note, ""
            return "conflict", _OTHER_VALUE, note, found[1].value
        known = self._known.by_origin.get((self._format, _squeezed(record.key)))
        if known is not None:
            origin = known.extra.get(ORIGIN)
            said = origin.get("text") if isinstance(origin, dict) else None
            same = said == _digest(record.content) or _squeezed(known.content) == _squeezed(record.content)
            return ("same", _EARLIER, known, "") if same else ("conflict", _CHANGED, known, known.content)
        known = self._known.same(record)
        return None if known is None else ("same", _HIDDEN if known.hidden else _SAME_TEXT, known, "")

    def _make(self, record: Record, nugget: str) -> Note:
        draft, fact = self._draft, record.kind == "fact"
        self._check_name(nugget)
        if fact:
            draft.ensure_nugget(nugget)
            draft.put_fact(
                nugget,
                Fact(
                    key=record.title,
                    value=record.content,
                    hits=record.hits,
                    last_hit_session=record.last_hit_session,
                ),
            )
        known = draft.fact_note(nugget, record.title, hidden=False) if fact else None
        if known is not None:
            # The note of a fact that had left its file.
            return draft.put(replace(known, content=record.content, updated_at=draft.at))
        created = record.created_at or record.updated_at or draft.at
        return new_note(
            draft,
            record.kind,
            nugget,
            record.title,
            record.content,
            tags=record.tags,
            meta=record.meta,
            by_agent=draft.author.is_known_agent,
            extra=self._extra(record),
            hits=record.hits,
            last_hit_session=record.last_hit_session,
            created_at=created,
            updated_at=max(created, record.updated_at),
        )

    def _extra(self, record: Record) -> dict[str, Any]:
        """What a note keeps of its source, unknown to others."""
        kept: dict[str, Any] = {KEPT_FIELDS: record.fields} if record.fields else {}
        if record.kind == "fact":
            return kept
        origin = {"format": self._format, "key": record.key}
        if not held_in(record.title, record.content):
            return kept | {ORIGIN: origin | {"text": _digest(record.content)}}
        # Of a text that holds a credential nothing is kept from which it could be guessed.
        return kept if record.derived or held_in("", record.title) else kept | {ORIGIN: origin}

    def _name(self, record: Record, id: str) -> None:
        self._ids.setdefault(record.key, id)
        for name in (record.title, *record.names):
            self._named.setdefault(_squeezed(name), id)
            self._named.setdefault(f"\0{_folded(name)}", id)

    def _link_records(self, records: tuple[Record, ...]) -> None:
        """Links what came to be with what the source says it belongs to."""
        for record in records:
            start = self._ids.get(record.key)
            missing: list[str] = []
            for reference in record.references:
                end = self._meant(reference.name)
                if end is None:
                    missing.append(reference.name)
                elif start is not None and end != start and (start in self._made or end in self._made):
                    self._link(start, end, reference.reason)
            if missing and start in self._made:
                named = ", ".join(name[:60] for name in missing[:_MOST_NAMED])
                more = f" and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
                what = "leads to a note that is" if len(missing) == 1 else "leads to notes that are"
                self.left_out.append(LeftOut(record.where, f"{what} not there: {named}{more}", partly=True))

    def _meant(self, name: str) -> str | None:
        """The note that a name means: upper and lower case count where nothing is called just so."""
        folded = _folded(name)
        found = self._named.get(_squeezed(name)) or self._named.get(f"\0{folded}")
        found = found or self._named.get(f"\0{folded.rpartition('/')[2]}")
        return found or self._known.by_title.get(folded)

    # Notes of this program

    def add_whole(self, source: Snapshot) -> None:
        """Lays the notes and facts of another memory over the draft, with their ids, times and recalls."""
        # Two notes of the source that say the same are two by their ids: it is compared with what was there before.
        ids: dict[str, str] = {}
        new: list[Note] = []
        for note in counted(source.notes, self._progress):
            found = self._add_note(note, source)
            if found is not None:
                ids[note.id] = found
                new += [note] if self.items[-1].status == "new" else []
        self._add_facts(source)
        if self._progress is not None:
            self._progress(len(source.notes), len(source.notes))
        for note in new:
            self._known.add(self._draft.note(ids[note.id]) or note)
            for link in note.links:
                end = ids.get(link.to) or (link.to if self._draft.note(link.to) is not None else None)
                if end is not None and end != ids[note.id]:
                    self._link(ids[note.id], end, link.reason, link)
        self._lay_links()

    def _add_note(self, note: Note, source: Snapshot) -> str | None:
        """The id of the note that stands for one of the source; None where there is none."""
        id = item_id("whole", note.kind, note.nugget_name, note.id, note.title, note.content)
        base: dict[str, Any] = {
            "id": id, "kind": note.kind, "title": note.title, "nugget": note.nugget_name, "where": note.id,
        }  # fmt: skip
        known = self._draft.note(note.id)
        if known is not None:
            if _says_the_same(known, note):
                self._item(base, "same", known.id, _SAME_TEXT)
                return known.id
            self._item(base, "conflict", known.id, _OTHER_NOTE, known.content, note.content)
            return None
        if self._draft.exists(note.id):
            self._item(
                base,
                "conflict",
                note.id,
                "the memory has a note of this id that cannot be read",
                "",
                note.content,
            )
            return None
        twin = self._known.by_text.get((_folded(note.title), _comparable(note.content)))
        if twin is not None and _says_the_same(twin, note):
            self._item(base, "same", twin.id, _SAME_TEXT)
            return twin.id
        fact = _fact_of(note, source)
        there = self._draft.find_fact(note.nugget_name, fact.key) if fact is not None else None
        if fact is not None and there is not None and _squeezed(there[1].value) != _squeezed(fact.value):
            self._item(base, "conflict", "", _NO_FACT, there[1].value, fact.value)
            return None
        if not self._accepted(id):
            self._item(base, "left", "")
            return None
        try:
            self._check_name(note.nugget_name)
        except InvalidInputError as error:
            self.left_out.append(LeftOut(note.id, error.what))
            return None
        if fact is not None and there is None:
            self._ensure(note.nugget_name, source)
            self._draft.put_fact(note.nugget_name, fact)
        made = self._draft.put(replace(_with_free_place(self._draft, note), links=()))
        self._item(base, "new", made.id)
        return made.id

    def _check_name(self, nugget: str) -> None:
        """Raises InvalidInputError for a name that no nugget can have."""
        if nugget not in self._names:
            check_nugget_name(nugget, self._names)
            self._names.add(nugget)

    def _ensure(self, nugget: str, source: Snapshot) -> None:
        self._check_name(nugget)
        held = source.by_name.get(nugget)
        self._draft.ensure_nugget(nugget, held.meta if held is not None else None)

    def _add_facts(self, source: Snapshot) -> None:
        """Facts of the source for which no note of it stands."""
        for nugget in source.nuggets:
            for fact in nugget.facts:
                if (nugget.name, fact.key) in source.fact_notes:
                    continue
                id = item_id("whole", "fact", nugget.name, fact.key, fact.key, fact.value)
                base: dict[str, Any] = {
                    "id": id, "kind": "fact", "title": fact.key, "nugget": nugget.name,
                    "where": f"{nugget.name}: {fact.key}",
                }  # fmt: skip
                there = self._draft.find_fact(nugget.name, fact.key)
                if there is not None and _squeezed(there[1].value) == _squeezed(fact.value):
                    self._item(base, "same", "", _SAME_FACT)
                elif there is not None:
                    self._item(base, "conflict", "", _OTHER_VALUE, there[1].value, fact.value)
                elif not self._accepted(id):
                    self._item(base, "left", "")
                else:
                    try:
                        self._ensure(nugget.name, source)
                    except InvalidInputError as error:
                        self.left_out.append(LeftOut(base["where"], error.what))
                        continue
                    self._draft.put_fact(nugget.name, fact)
                    self._item(base, "new", "")

    # Both

    def _accepted(self, id: str) -> bool:
        return self._accept is None or id in self._accept

    def _item(
        self,
        base: Mapping[str, Any],
        status: Status,
        note_id: str,
        detail: str = "",
        ours: str = "",
        theirs: str = "",
    ) -> None:
        self.items.append(
            ImportItem(status=status, note_id=note_id, detail=detail, ours=ours, theirs=theirs, **base)
        )

    def _link(self, start: str, end: str, reason: str, like: Link | None = None) -> None:
        at = like.created_at if like is not None else self._draft.at
        extra = like.extra if like is not None else {}
        reason = " ".join(reason.split())
        self._links.setdefault(start, []).append(Link(to=end, reason=reason, created_at=at, extra=extra))
        self._links.setdefault(end, []).append(Link(to=start, reason=reason, created_at=at))

    def _lay_links(self) -> None:
        for id, links in self._links.items():
            note = self._draft.note(id)
            if note is None:
                continue
            after = unique_links((*note.links, *links))
            if after != note.links:
                self._draft.put(replace(note, links=after))
        self._links.clear()


def _fact_of(note: Note, source: Snapshot) -> Fact | None:
    """The fact of the source that a note stands for."""
    if not note.is_fact or note.hidden:
        return None
    return source.facts_by_key.get(note.nugget_name, {}).get(note.key)


def _with_free_place(draft: Draft, note: Note) -> Note:
    """A note with the fact that waits in it behind all others of its nugget: its place was one among others."""
    if note.hidden_fact is None:
        return note
    index = draft.end_of_facts(note.nugget_name)
    return replace(note, hidden_fact=msgspec.structs.replace(note.hidden_fact, index=index))


def _says_the_same(one: Note, other: Note) -> bool:
    return (
        one.kind == other.kind
        and one.nugget_name == other.nugget_name
        and _squeezed(one.title) == _squeezed(other.title)
        and _squeezed(one.content) == _squeezed(other.content)
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


def item_id(*parts: str) -> str:
    """What names an item, the same at each look at the same source."""
    data = "\0".join(parts).encode("utf-8", "surrogatepass")
    return f"new-{blake2s(data, digest_size=5).hexdigest()}"
