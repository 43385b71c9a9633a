"""A draft: edits applied to a snapshot one after the other, turned into one change set at the end."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from core.model.change import PERSON, Author, ChangeKind, ChangeSet, FileChange, NoteChange, NuggetChange
from core.model.draft_facts import DraftFacts, HiddenIndexes
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.names import check_nugget_name, iso, note_id
from core.model.note import Note, Page, normalised_note
from core.model.snapshot import Snapshot
from core.settings import InferenceSettings

if TYPE_CHECKING:
    from core.model.infer import MetaInput


class TeamNames(Protocol):
    """How the new notes of a team are named: each by its page, so that every machine knows it by the same id.

    nugget: what they belong to where nobody says. meta: what is usual of them.
    """

    nugget: str
    meta: MetaInput

    def place(self, title: str, exists: Callable[[str], bool]) -> tuple[str, Page]:
        """The id of a new note, and its page, on which nothing is written yet. exists: whether an id is in use."""


class Draft:
    """A working copy that records what changed. It reads no clock and makes no random number of its own.

    now: the time that the changes bear. ids: gives 8 new hexadecimal digits at each call. rules: words for
    inferring metadata. author: who says what is written. team: how new notes are named where they are pages of a team.
    The snapshot itself never changes.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        *,
        now: datetime,
        ids: Callable[[], str],
        rules: InferenceSettings | None = None,
        author: Author = PERSON,
        team: TeamNames | None = None,
    ) -> None:
        self.snapshot = snapshot
        self.now = now
        self.at = iso(now)
        self.ids = ids
        self.rules = rules or InferenceSettings()
        self.author = author
        self.team = team
        self._notes: dict[str, Note | None] = {}
        self._facts: dict[str, DraftFacts] = {}
        # What was looked at and not changed yet.
        self._seen_facts: dict[str, DraftFacts] = {}
        self._metas: dict[str, NuggetMeta] = {}
        self._files: list[FileChange] = []
        # Ids of the notes that were made for each fact, in the order in which they came.
        self._mirrors: dict[tuple[str, str], dict[str, None]] | None = None
        self._pointing: dict[str, set[str]] = {}
        # Of the nuggets asked for: the index of the fact that waits in each hidden note.
        self._hidden: dict[str, HiddenIndexes] = {}

    def over(self, snapshot: Snapshot) -> Draft:
        """A new draft over another snapshot."""
        return Draft(
            snapshot, now=self.now, ids=self.ids, rules=self.rules, author=self.author, team=self.team
        )

    # Notes

    def note(self, id: str) -> Note | None:
        """The note as the draft has it now, or None."""
        if id in self._notes:
            return self._notes[id]
        return self.snapshot.by_id.get(id)

    def notes(self) -> Iterator[Note]:
        """All notes as the draft has them, in file order, new ones last."""
        for note in self.snapshot.notes:
            current = self._notes.get(note.id, note)
            if current is not None:
                yield current
        for id, made in self._notes.items():
            if made is not None and id not in self.snapshot.by_id:
                yield made

    def present(self) -> Snapshot:
        """The memory as the draft has it now."""
        if not (self._notes or self._facts):
            return self.snapshot
        names = sorted({*self.snapshot.by_name, *self._facts})
        nuggets = tuple(found for name in names if (found := self.nugget(name)) is not None)
        return dataclasses.replace(self.snapshot, notes=tuple(self.notes()), nuggets=nuggets)

    def put(self, note: Note) -> Note:
        """Puts a note into the draft, new or changed, and corrects its tags, links and vector recipe."""
        note = normalised_note(note, self.exists)
        self._drop_hidden(note.id)
        self._notes[note.id] = note
        if note.hidden and note.hidden_fact is not None and note.nugget_name in self._hidden:
            self._hidden[note.nugget_name].put(note.id, note.hidden_fact.index)
        for link in note.links:
            self._pointing.setdefault(link.to, set()).add(note.id)
        if note.is_fact:
            self._fact_ids().setdefault((note.nugget_name, note.key), {})[note.id] = None
        return note

    def exists(self, id: str) -> bool:
        """Whether a note of this id stands in the file, readable or not."""
        return self.note(id) is not None or id in self.snapshot.set_aside

    def remove(self, id: str) -> None:
        """Takes a note out of the file."""
        self._drop_hidden(id)
        self._notes[id] = None

    def new_place(self, kind: str, nugget: str, title: str) -> tuple[str, Page | None]:
        """An id that no note bears yet, and the page of the new note where notes are pages of a team."""

        def taken(id: str) -> bool:
            return self.exists(id) or id in self._notes

        if self.team is not None:
            return self.team.place(title, taken)
        while taken(made := note_id(kind, nugget, self.ids())):
            continue
        return made, None

    def holders(self, id: str) -> list[Note]:
        """The notes that hold a link to this one."""
        known = {holder: None for holder, _ in self.snapshot.links_in.get(id, ())}
        known |= dict.fromkeys(sorted(self._pointing.get(id, ())))
        found = [note for holder in known if (note := self.note(holder)) is not None]
        return [note for note in found if any(link.to == id for link in note.links)]

    def fact_notes(self, nugget: str, key: str, *, hidden: bool | None = None) -> list[Note]:
        """The notes that mirror a fact, visible ones first. `hidden` asks for only such ones."""
        notes = (self.note(id) for id in self._fact_ids().get((nugget, key), ()))
        found = [note for note in notes if note is not None and note.is_fact and note.key == key]
        wanted = found if hidden is None else [note for note in found if note.hidden is hidden]
        return sorted(wanted, key=lambda note: note.hidden)

    def fact_note(self, nugget: str, key: str, *, hidden: bool | None = None) -> Note | None:
        """The first of them."""
        return next(iter(self.fact_notes(nugget, key, hidden=hidden)), None)

    def _fact_ids(self) -> dict[tuple[str, str], dict[str, None]]:
        if self._mirrors is None:
            self._mirrors = {}
            for note in self.snapshot.notes:
                if note.is_fact:
                    self._mirrors.setdefault((note.nugget_name, note.key), {})[note.id] = None
        return self._mirrors

    # Facts

    def nugget(self, name: str) -> Nugget | None:
        """A nugget as the draft has it now, or None."""
        base = self.snapshot.by_name.get(name)
        if name not in self._facts:
            return base
        meta = base.meta if base else self._metas.get(name, NuggetMeta(name=name))
        return Nugget(meta=meta, facts=self._facts[name].facts, file=base.file if base else "")

    def has_nugget(self, name: str) -> bool:
        """Whether there is a nugget of this name."""
        return name in self._facts or name in self.snapshot.by_name

    def find_fact(self, nugget: str, key: str) -> tuple[int, Fact] | None:
        """Place and fact of a key, as `Nugget.find`; None also when there is no such nugget."""
        return self._looked_at(nugget).find(key) if self.has_nugget(nugget) else None

    def ensure_nugget(self, name: str, meta: NuggetMeta | None = None) -> Nugget:
        """The nugget of this name, made with these settings (None: the usual ones) when there is none.

        Raises InvalidInputError.
        """
        found = self.nugget(name)
        if found is not None:
            return found
        check_nugget_name(name, self.nugget_names())
        self._metas[name] = meta or NuggetMeta(name=name)
        self._facts[name] = DraftFacts()
        return Nugget(meta=self._metas[name])

    def nugget_names(self) -> set[str]:
        """Names of all nuggets, also of those that only notes speak of."""
        named = {note.nugget_name for note in self._notes.values() if note is not None}
        return {*self.snapshot.nugget_names, *self._metas, *named}

    def put_fact(self, nugget: str, fact: Fact, index: int | None = None) -> None:
        """Stores a fact: in the place of the one with its key, else at `index` (see `take_fact`), else at the end."""
        if not self.has_nugget(nugget):
            self.ensure_nugget(nugget)
        place = None if index is None else self._hidden_indexes(nugget).place_of(index)
        self._working(nugget).put(fact, place)

    def rename_fact(self, nugget: str, key: str, fact: Fact) -> None:
        """Puts `fact` in the place of the fact with `key`."""
        self._working(nugget).rename(key, fact)

    def take_fact(self, nugget: str, key: str) -> tuple[int, Fact] | None:
        """Removes a fact. Returns its index and the fact, or None when there is no such key. The index is the fact's
        place among all facts of the nugget, hidden ones included.
        """
        taken = self._working(nugget).take(key)
        if taken is None:
            return None
        return self._hidden_indexes(nugget).index_of(taken[0]), taken[1]

    def end_of_facts(self, nugget: str) -> int:
        """The index after all facts of the nugget, hidden ones included."""
        return len(self._looked_at(nugget)) + len(self._hidden_indexes(nugget))

    def _working(self, nugget: str) -> DraftFacts:
        if nugget not in self._facts:
            self._facts[nugget] = self._looked_at(nugget)
        return self._facts[nugget]

    def _looked_at(self, nugget: str) -> DraftFacts:
        found = self._facts.get(nugget, self._seen_facts.get(nugget))
        if found is None:
            base = self.snapshot.by_name.get(nugget)
            found = self._seen_facts[nugget] = DraftFacts(base.facts if base else ())
        return found

    def _hidden_indexes(self, nugget: str) -> HiddenIndexes:
        known = self._hidden.get(nugget)
        if known is None:
            ids = dict.fromkeys((*self.snapshot.hidden_facts.get(nugget, {}), *self._notes))
            notes = [note for id in ids if (note := self.note(id)) is not None and note.nugget_name == nugget]
            known = HiddenIndexes(
                {n.id: n.hidden_fact.index for n in notes if n.hidden and n.hidden_fact is not None}
            )
            self._hidden[nugget] = known
        return known

    def _drop_hidden(self, id: str) -> None:
        former = self.note(id)
        if former is not None and former.nugget_name in self._hidden:
            self._hidden[former.nugget_name].drop(id)

    # Files and the result

    def put_file(self, path: str, before: bytes | None, after: bytes | None) -> None:
        """Records a whole file, such as MEMORY.md, or its removal; paths as in `FileChange`."""
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
            facts=tuple(change for name, facts in self._facts.items() for change in facts.changes(name)),
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
            former = self.snapshot.by_id.get(id)
            if former != after:
                yield NoteChange(id=id, before=former, after=after, index=places.get(id))
