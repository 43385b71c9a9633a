"""A draft: edits laid over a snapshot one after the other, turned into one change set at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from core.model.basis import settled
from core.model.change import (
    PERSON,
    Author,
    ChangeKind,
    ChangeSet,
    FactChange,
    FileChange,
    NoteChange,
    NuggetChange,
)
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.names import check_nugget_name, iso, note_id
from core.model.note import Note
from core.model.snapshot import Snapshot
from core.settings import InferenceSettings


class Draft:
    """A working copy that records what changed. It reads no clock and makes no random number of its own.

    now: the time that the changes bear. ids: gives 8 new hexadecimal digits at each call. rules: words for
    inferring metadata. The snapshot itself never changes.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        *,
        now: datetime,
        ids: Callable[[], str],
        rules: InferenceSettings | None = None,
    ) -> None:
        self.snapshot = snapshot
        self.now = now
        self.at = iso(now)
        self.ids = ids
        self.rules = rules or InferenceSettings()
        self._notes: dict[str, Note | None] = {}
        self._facts: dict[str, list[Fact]] = {}
        self._metas: dict[str, NuggetMeta] = {}
        self._files: list[FileChange] = []
        self._places: dict[tuple[str, str], int] = {}

    # Notes

    def note(self, id: str) -> Note | None:
        """The note as the draft has it now, or None."""
        if id in self._notes:
            return self._notes[id]
        return self.snapshot.by_id.get(id)

    def notes(self) -> Iterator[Note]:
        """All notes as the draft has them, in file order, new ones last."""
        for note in self.snapshot.notes:
            current = self.note(note.id)
            if current is not None:
                yield current
        for id, made in self._notes.items():
            if made is not None and id not in self.snapshot.by_id:
                yield made

    def put(self, note: Note) -> Note:
        """Lays a note over the draft, new or changed, its tags, links and vector recipe set right."""
        note = settled(note, self.exists)
        self._notes[note.id] = note
        return note

    def exists(self, id: str) -> bool:
        """Whether a note of this id stands in the file, readable or not."""
        return self.note(id) is not None or id in self.snapshot.set_aside

    def remove(self, id: str) -> None:
        """Takes a note out of the file."""
        self._notes[id] = None

    def new_id(self, kind: str, nugget: str) -> str:
        """An id that no note bears yet."""
        while True:
            made = note_id(kind, nugget, self.ids())
            if not self.exists(made) and made not in self._notes:
                return made

    def fact_note(self, nugget: str, key: str, *, hidden: bool | None = None) -> Note | None:
        """The note that mirrors a fact; a visible one first. `hidden` asks for only such ones."""
        candidates = [
            note for note in self.notes() if note.is_fact and note.nugget_name == nugget and note.key == key
        ]
        if hidden is not None:
            candidates = [note for note in candidates if note.hidden is hidden]
        return min(candidates, key=lambda note: note.hidden, default=None)

    # Facts

    def nugget(self, name: str) -> Nugget | None:
        """A nugget as the draft has it now, or None."""
        base = self.snapshot.by_name.get(name)
        if name not in self._facts and name not in self._metas:
            return base
        meta = self._metas.get(name) or (base.meta if base else NuggetMeta(name=name))
        facts = self._facts.get(name, list(base.facts) if base else [])
        return Nugget(meta=meta, facts=tuple(facts), file=base.file if base else "")

    def ensure_nugget(self, name: str) -> Nugget:
        """The nugget of this name, made with default settings when there is none. Raises InvalidInputError."""
        found = self.nugget(name)
        if found is not None:
            return found
        check_nugget_name(name, [n.name for n in self.snapshot.nuggets])
        self._metas[name] = NuggetMeta(name=name)
        self._facts[name] = []
        return Nugget(meta=self._metas[name])

    def put_fact(self, nugget: str, fact: Fact, index: int | None = None) -> None:
        """Stores a fact: in the place of the one with its key, else at `index`, else at the end."""
        self.ensure_nugget(nugget)
        facts = self._working(nugget)
        for place, existing in enumerate(facts):
            if existing.key == fact.key:
                facts[place] = fact
                return
        place = len(facts) if index is None else max(0, min(index, len(facts)))
        facts.insert(place, fact)
        self._places[nugget, fact.key] = place

    def rename_fact(self, nugget: str, key: str, fact: Fact) -> None:
        """Puts `fact` in the place of the fact with `key`."""
        facts = self._working(nugget)
        place = next(i for i, existing in enumerate(facts) if existing.key == key)
        facts[place] = fact
        self._places[nugget, fact.key] = place

    def take_fact(self, nugget: str, key: str) -> tuple[int, Fact] | None:
        """Takes a fact out; its place and the fact, or None when there is no such key."""
        for place, existing in enumerate(self._working(nugget)):
            if existing.key == key:
                del self._facts[nugget][place]
                return place, existing
        return None

    def _working(self, nugget: str) -> list[Fact]:
        if nugget not in self._facts:
            base = self.snapshot.by_name.get(nugget)
            self._facts[nugget] = list(base.facts) if base else []
        return self._facts[nugget]

    # Files and the result

    def put_file(self, path: str, before: bytes | None, after: bytes | None) -> None:
        """Records a whole file outside the memory, such as MEMORY.md."""
        self._files.append(FileChange(path=path, before=before, after=after))

    def change_set(
        self, reason: str, *, author: Author = PERSON, kind: ChangeKind = "edit", id: str | None = None
    ) -> ChangeSet:
        """Everything that differs from the snapshot, as one change set (empty when nothing does)."""
        return ChangeSet(
            id=id or self.ids(),
            at=self.at,
            author=author,
            reason=reason,
            kind=kind,
            notes=tuple(self._note_changes()),
            facts=tuple(change for name in self._facts for change in self._fact_changes(name)),
            nuggets=tuple(
                NuggetChange(name=name, before=None, after=meta)
                for name, meta in self._metas.items()
                if name not in self.snapshot.by_name
            ),
            files=tuple(change for change in self._files if change.before != change.after),
        )

    def _note_changes(self) -> Iterator[NoteChange]:
        gone = {id for id, after in self._notes.items() if after is None}
        places = {n.id: i for i, n in enumerate(self.snapshot.notes) if n.id in gone} if gone else {}
        for id, after in self._notes.items():
            before = self.snapshot.by_id.get(id)
            if before != after:
                yield NoteChange(id=id, before=before, after=after, index=places.get(id))

    def _fact_changes(self, name: str) -> Iterator[FactChange]:
        base = self.snapshot.by_name.get(name)
        before = list(base.facts) if base else []
        after = self._facts[name]
        old = {fact.key: (place, fact) for place, fact in reversed(list(enumerate(before)))}
        new = {fact.key: fact for fact in reversed(after)}
        gone = [key for key in old if key not in new]
        places = {place: key for key, (place, _) in old.items() if key in gone}
        renamed: set[str] = set()
        for place, fact in enumerate(after):
            if fact.key not in old and place in places and self._places.get((name, fact.key)) == place:
                if len(before) == len(after):
                    former = places[place]
                    renamed.add(former)
                    yield FactChange(nugget=name, key=former, before=old[former][1], after=fact, index=place)
                    continue
            if fact.key not in old:
                place_wanted = self._places.get((name, fact.key))
                last = place_wanted is None or place_wanted >= len(before)
                yield FactChange(
                    nugget=name, key=fact.key, before=None, after=fact, index=None if last else place_wanted
                )
            elif old[fact.key][1] != fact and new[fact.key] is fact:
                place_before, former_fact = old[fact.key]
                yield FactChange(
                    nugget=name, key=fact.key, before=former_fact, after=fact, index=place_before
                )
        for key in gone:
            if key not in renamed:
                place_before, former_fact = old[key]
                yield FactChange(nugget=name, key=key, before=former_fact, after=None, index=place_before)
