"""The notes or the facts of a file in three versions, merged one by one; what is not touched keeps its bytes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from core.errors import ErrorCode
from core.model.fact import Fact
from core.model.note import Note
from core.storage.merge.deciding import Decide, conflict
from core.storage.merge.three_way import same_meaning, spaced_as, unchanged

T = TypeVar("T", Note, Fact)


@dataclass(frozen=True)
class Item(Generic[T]):
    """One note or fact of one version: what it is known by, its bytes, and its typed form if it can be read.

    ident: id or key, else the bytes; and, since a file may hold one several times, its turn.
    """

    ident: tuple[Hashable, int]
    raw: bytes
    value: T | None

    @property
    def text(self) -> str:
        """What it says, for people."""
        if self.value is None:
            return self.raw.decode(errors="replace")
        return self.value.content if isinstance(self.value, Note) else self.value.value


class ItemRules(ABC, Generic[T]):
    """How the items of one kind of file are known, merged and written. `decide` is asked where ours and theirs part."""

    def __init__(self, decide: Decide) -> None:
        self.decide = decide

    @abstractmethod
    def name(self, raw: bytes, value: T | None) -> str:
        """The id or key; "" when it cannot be told."""

    @abstractmethod
    def where(self, item: Item[T]) -> str:
        """How a conflict names the item."""

    @abstractmethod
    def merge(self, base: T | None, ours: T, theirs: T) -> T:
        """Both sides' changes in one."""

    @abstractmethod
    def write(self, after: T, before: T, raw: bytes) -> bytes:
        """The bytes of a changed item."""

    def items(self, raws: Iterable[bytes], values: Iterable[T | None]) -> list[Item[T]]:
        """The items of one version, in order."""
        turns: dict[Hashable, int] = {}
        found = []
        for raw, value in zip(raws, values, strict=True):
            name: Hashable = self.name(raw, value) or raw
            turns[name] = turns.get(name, 0) + 1
            found.append(Item((name, turns[name]), raw, value))
        return found


class MergedItems(NamedTuple, Generic[T]):
    """Ours with what theirs changed, in the order of ours; and apart from them what theirs alone has added."""

    merged: list[Item[T]]
    added: list[Item[T]]


def merge_items(
    base: list[Item[T]], ours: list[Item[T]], theirs: list[Item[T]], rules: ItemRules[T]
) -> MergedItems[T]:
    """What theirs changed since base, brought into ours."""
    former = {item.ident: item for item in base}
    others = {item.ident: item for item in theirs}
    own = {item.ident for item in ours}
    merged: list[Item[T]] = []
    for item in ours:
        before, other = former.get(item.ident), others.get(item.ident)
        if other is not None:
            merged.append(merge_item(before, item, other, rules))
        elif before is None or not _may_go(before, item, None, rules):
            merged.append(item)
    added: list[Item[T]] = []
    for item in theirs:
        before = former.get(item.ident)
        if item.ident in own:
            continue
        if before is None or not _may_go(before, None, item, rules):
            added.append(item)
    return MergedItems(merged, added)


def _may_go(before: Item[T], ours: Item[T] | None, theirs: Item[T] | None, rules: ItemRules[T]) -> bool:
    """Whether what one side deleted goes; if the other side changed it, that is decided."""
    left = ours or theirs
    assert left is not None
    if before.raw == left.raw:
        return True
    if before.value is not None and left.value is not None and same_meaning(before.value, left.value):
        return True
    what = "it was changed here and deleted there" if ours else "it was deleted here and changed there"
    told = (before.text, ours.text if ours else "", theirs.text if theirs else "")
    return (
        rules.decide(conflict(ErrorCode.CHANGED_AND_DELETED, what, rules.where(left), *told), ours, theirs)
        is None
    )


def merge_item(before: Item[T] | None, ours: Item[T], theirs: Item[T], rules: ItemRules[T]) -> Item[T]:
    """One item that stands on both sides; before: None when both have made it."""
    if theirs.raw in (ours.raw, before.raw if before is not None else None):
        return ours
    if ours.value is None or theirs.value is None:
        return _merge_unreadable(before, ours, theirs, rules)
    base = before.value if before is not None else None
    if base is not None and unchanged(base, theirs.value):
        return ours
    if base is not None and unchanged(base, ours.value):
        return theirs
    brought = theirs.value if base is None else spaced_as(base, theirs.value)
    merged = rules.merge(base, ours.value, brought)
    for side in (ours, theirs):
        if merged == side.value:
            return side
    return Item(ours.ident, rules.write(merged, ours.value, ours.raw), merged)


def _merge_unreadable(before: Item[T] | None, ours: Item[T], theirs: Item[T], rules: ItemRules[T]) -> Item[T]:
    """One side cannot be read. It stands where the other did not touch it; but a sound one does not give way to it."""
    if before is not None and before.raw == ours.raw and (ours.value is None or theirs.value is not None):
        return theirs
    what = "it cannot be read there" if theirs.value is None else "it cannot be read here"
    told = (before.text if before is not None else "", ours.text, theirs.text)
    taken = rules.decide(conflict(ErrorCode.UNREADABLE_SIDE, what, rules.where(ours), *told), ours, theirs)
    return theirs if taken is theirs else ours
