"""A note graph or a fact file in three versions: its notes or facts, its links and its other fields merged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, TypeVar

import msgspec

from core.errors import ErrorCode
from core.model.compare import alike
from core.model.fact import Fact
from core.model.note import SCOPES, Note, normalised_note, unique_links
from core.model.note import replace as replace_fields
from core.settings import InferenceSettings
from core.storage.format.codec import ItemError, read_note, write_fact, write_note
from core.storage.format.documents import GraphDocument, NuggetDocument
from core.storage.format.json_text import JsonError, load
from core.storage.merge.deciding import Decide, conflict
from core.storage.merge.items import Item, ItemRules, merge_item, merge_items
from core.storage.merge.three_way import merge_facts, merge_mappings, merge_notes

AnyDocument = TypeVar("AnyDocument", GraphDocument, NuggetDocument)
_ITEMS: Final = ("notes", "facts")


# Note graphs


class NoteRules(ItemRules[Note]):
    """Notes, known by their ids."""

    def name(self, raw: bytes, value: Note | None) -> str:
        """The note's id, also of one that cannot be read, if that much is legible."""
        if value is not None:
            return value.id
        try:
            return read_note(raw, InferenceSettings()).id
        except ItemError as error:
            return error.id

    def where(self, item: Item[Note]) -> str:
        """The note's id."""
        name = item.ident[0]
        return name if isinstance(name, str) else "a note that cannot be read"

    def merge(self, base: Note | None, ours: Note, theirs: Note) -> Note:
        """Both sides' changes in one, tags and vector set right, unless that is just what one side has."""
        merged = merge_notes(base, ours, theirs, self.decide)
        for side in (ours, theirs):
            if replace_fields(merged, vector=side.vector) == side:
                return side
        return normalised_note(merged, lambda _: True)

    def write(self, after: Note, before: Note, raw: bytes) -> bytes:
        """The bytes of a changed note; fields that did not change keep theirs."""
        return write_note(after, before, raw)


def merge_graphs(
    base: GraphDocument, ours: GraphDocument, theirs: GraphDocument, decide: Decide
) -> GraphDocument:
    """Ours with what theirs changed since base, new notes of theirs at the end."""
    rules = NoteRules(decide)
    former, mine, other = (rules.items(side.raws, side.notes) for side in (base, ours, theirs))
    merged, added = merge_items(former, mine, other, rules)
    added, twins = _join_twins(merged, added, {item.ident for item in other}, rules)
    items = [*merged, *added]
    standing = {item.ident[0] for item in items}
    sides = [(_raws(side), {item.ident[0] for item in side} - standing) for side in (mine, other)]
    items = [_relinked(item, _gone_for(item, sides), twins) for item in items]
    return replace(
        ours,
        fields=_merge_fields("the note graph", base, ours, theirs, decide),
        raws=tuple(item.raw for item in items),
        notes=tuple(item.value for item in items),
    )


def _join_twins(
    merged: list[Item[Note]], added: list[Item[Note]], in_theirs: set[object], rules: ItemRules[Note]
) -> tuple[list[Item[Note]], dict[str, str]]:
    """Both sides may have made a note of one fact, each with an id of its own: theirs goes into ours, in place.

    Gives the added notes that are left, and for each id that went the one that stands for it.
    """
    places = {
        (item.value.nugget_name, item.value.key): place
        for place, item in reversed(list(enumerate(merged)))
        if _visible_fact(item.value) and item.value is not None and item.ident not in in_theirs
    }
    left: list[Item[Note]] = []
    twins: dict[str, str] = {}
    for item in added:
        note = item.value
        place = places.pop((note.nugget_name, note.key), None) if note and _visible_fact(note) else None
        if note is None or place is None:
            left.append(item)
            continue
        merged[place] = merge_item(None, merged[place], item, rules)
        twins[note.id] = str(merged[place].ident[0])
    return left, twins


def _visible_fact(note: Note | None) -> bool:
    return note is not None and note.is_fact and not note.hidden


def _raws(items: Iterable[Item[Note]]) -> set[bytes]:
    return {item.raw for item in items}


def _gone_for(item: Item[Note], sides: list[tuple[set[bytes], set[object]]]) -> set[object]:
    """Ids that merging took away from under this note. A link that was dead in its own version is left as it is."""
    for raws, gone in sides:
        if item.raw in raws:
            return gone
    return set().union(*(gone for _, gone in sides))


def _relinked(item: Item[Note], gone: set[object], twins: Mapping[str, str]) -> Item[Note]:
    note = item.value
    if note is None or not any(link.to in gone for link in note.links):
        return item
    moved = (msgspec.structs.replace(link, to=twins.get(link.to, link.to)) for link in note.links)
    links = [link for link in unique_links(moved) if link.to not in gone]
    after = normalised_note(replace_fields(note, links=tuple(links)), lambda _: True)
    return Item(item.ident, write_note(after, note, item.raw), after)


# Fact files


class FactRules(ItemRules[Fact]):
    """Facts of one nugget, known by their keys."""

    def __init__(self, nugget: str, decide: Decide) -> None:
        super().__init__(decide)
        self.nugget = nugget

    def name(self, raw: bytes, value: Fact | None) -> str:
        """The fact's key, also of one that cannot be read, if that much is legible."""
        if value is not None:
            return value.key
        try:
            shaped = load(raw)
        except JsonError:
            return ""
        key = shaped.get("key") if isinstance(shaped, dict) else None
        return key if isinstance(key, str) else ""

    def where(self, item: Item[Fact]) -> str:
        """Nugget and key."""
        name = item.ident[0]
        return f"{self.nugget}: {name if isinstance(name, str) else 'a fact that cannot be read'}"

    def merge(self, base: Fact | None, ours: Fact, theirs: Fact) -> Fact:
        """Both sides' changes in one."""
        where = f"{self.nugget}: {(base or ours).key}"
        return merge_facts(where, base, ours, theirs, self.decide)

    def write(self, after: Fact, before: Fact, raw: bytes) -> bytes:
        """The bytes of a changed fact; fields that did not change keep theirs."""
        return write_fact(after, before, raw)


def merge_nuggets(
    base: NuggetDocument, ours: NuggetDocument, theirs: NuggetDocument, decide: Decide
) -> NuggetDocument:
    """Ours with what theirs changed since base. Order is that of ours, which decides the banks; new ones at the end."""
    rules = FactRules(ours.meta.name, decide)
    former = rules.items(base.raws, base.facts)
    mine, other = (_under_old_keys(former, rules.items(side.raws, side.facts)) for side in (ours, theirs))
    items = _joined(*merge_items(former, mine, other, rules), rules)
    return replace(
        ours,
        fields=_merge_fields(ours.meta.name, base, ours, theirs, decide),
        raws=tuple(item.raw for item in items),
        facts=tuple(item.value for item in items),
    )


def _under_old_keys(base: list[Item[Fact]], side: list[Item[Fact]]) -> list[Item[Fact]]:
    """A side's facts, a renamed one known by its old key. It has its value, and its place or a scope put before."""
    own, known = {item.ident for item in side}, {item.ident for item in base}
    left = {place: item for place, item in enumerate(base) if item.ident not in own}
    found: list[Item[Fact]] = []
    for place, item in enumerate(side):
        renamed = None
        if left and item.ident not in known:
            renamed = next(
                (at for at, old in left.items() if _renamed(old.value, item.value, at == place)), None
            )
        found.append(item if renamed is None else replace(item, ident=left.pop(renamed).ident))
    return found


def _renamed(old: Fact | None, new: Fact | None, same_place: bool) -> bool:
    if old is None or new is None or not alike(old.value, new.value):
        return False
    scope, _, rest = new.key.partition(":")
    return same_place or (scope in SCOPES and rest == old.key)


def _joined(merged: list[Item[Fact]], added: list[Item[Fact]], rules: ItemRules[Fact]) -> list[Item[Fact]]:
    """All facts; a key that one side gave by renaming and the other to a new fact stands once."""
    places = {item.value.key: place for place, item in reversed(list(enumerate(merged))) if item.value}
    items = list(merged)
    for item in added:
        place = places.pop(item.value.key, None) if item.value and item.ident[1] == 1 else None
        if place is None:
            items.append(item)
        else:
            items[place] = merge_item(None, items[place], item, rules)
    return items


# What stands beside the notes or facts


def _merge_fields(
    where: str, base: AnyDocument, ours: AnyDocument, theirs: AnyDocument, decide: Decide
) -> dict[str, bytes]:
    """The file's other fields, unknown ones too, in the order of ours; of two versions the newer."""
    former, mine, other = (
        {name: value for name, value in side.fields.items() if name not in _ITEMS}
        for side in (base, ours, theirs)
    )
    newest = max((mine, other), key=_version).get("version")
    if newest is not None:
        mine, other = mine | {"version": newest}, other | {"version": newest}
    if isinstance(ours, NuggetDocument) and mine.get("name") == former.get("name") and "name" in other:
        other = other | {"name": _one_name(where, mine.get("name"), other["name"], decide)}
    merged = merge_mappings(where, former, mine, other, decide)
    kept = {
        name: merged.get(name, value)
        for name, value in ours.fields.items()
        if name in merged or name in _ITEMS
    }
    return kept | merged


def _one_name(where: str, ours: bytes | None, theirs: bytes, decide: Decide) -> bytes:
    """The name of a nugget that ours did not rename. It says whose facts these are: a person judges another one."""
    if ours is None or ours == theirs:
        return theirs
    mine, other = (name.decode(errors="replace") for name in (ours, theirs))
    found = conflict(
        ErrorCode.OTHER_NAME, "the nugget has another name there", where, mine, mine, other, "name"
    )
    taken: bytes = decide(found, ours, theirs)
    return taken


def _version(fields: Mapping[str, bytes]) -> float:
    try:
        return float(fields.get("version", 0))
    except ValueError:
        return 0.0
