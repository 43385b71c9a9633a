"""Merges conflict copies into a memory: what a copy has and the memory lacks, as one change set."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from core.errors import ErrorCode, InvalidInputError, ReadOnlyError, Update
from core.model.build import as_hidden_fact, as_visible_fact, new_note
from core.model.change import PERSON, Author, ChangeSet
from core.model.compare import alike
from core.model.draft import Draft
from core.model.entry import Conflict
from core.model.fact import Fact
from core.model.note import HiddenFact, Note, replace
from core.model.snapshot import Problem, Snapshot
from core.settings import InferenceSettings
from core.storage.format.documents import Document, GraphDocument, NuggetDocument, id_of
from core.storage.merge.deciding import Collect, conflict, take_ours
from core.storage.merge.three_way import merge_facts, merge_hits, merge_notes, same_meaning, unchanged

T = TypeVar("T", Note, Fact)
FactName = tuple[str, str]
# Asked with a note's id and the note, or a nugget's name and the fact: whether the memory once held exactly this and
# it was changed, hidden or deleted on purpose since. That a sync tool put an older version over it is no purpose.
WasHere = Callable[[str, Note | Fact], bool]
# Asked with a note's id: the versions of it that the memory is known to have held.
Versions = Callable[[str], Sequence[Note]]
_KEPT: Final = "nothing was written"


@dataclass(frozen=True)
class Joined:
    """What joining comes to. conflicts: where both differ, and the memory's own version stays. left_out: what could
    not be read in the copies.
    """

    change_set: ChangeSet
    conflicts: tuple[Conflict, ...] = ()
    left_out: tuple[Problem, ...] = ()


def join(
    copies: Sequence[Document],
    current: Snapshot,
    was_here: WasHere,
    *,
    now: datetime,
    ids: Callable[[], str],
    gone: Collection[Path] = (),
    author: Author = PERSON,
    rules: InferenceSettings | None = None,
    versions: Versions | None = None,
) -> Joined:
    """What the copies of one memory's files, all of them at once, add to it.

    Notes and facts that are missing are added, but for those that the memory once held. What stands in both, in two
    versions: if the memory once held the copy's, its own is newer and stands; if the copy's was changed without a new
    time, the version of that time is the base of both; if one was never changed since it was made, the other is newer;
    else the two are merged field by field.
    versions: what tells how a note was before; without it a note that bears the time of its making counts as never
    changed.
    gone: the copies whose original does not exist. Such a copy is the file under another name, and nothing of it was
    deleted on purpose: all of it comes back, whatever the memory once held.
    Facts and their notes stay in step. Nothing is deleted. Raises ReadOnlyError for a newer format.
    """
    for copy in copies:
        if copy.read_only:
            raise ReadOnlyError(
                copy.read_only, code=ErrorCode.NEWER_VERSION, remedy=Update("join it"), kept=_KEPT
            )
    draft = Draft(current, now=now, ids=ids, rules=rules)
    collect = Collect(take_ours)
    _Joining(draft, was_here, versions, collect, frozenset(gone)).join(copies)
    named = ", ".join(copy.path.name for copy in copies)
    change_set = draft.change_set(f"joined {named}", author=author, kind="import")
    metas = {copy.meta.name: copy.meta for copy in copies if isinstance(copy, NuggetDocument)}
    made = tuple(
        msgspec.structs.replace(change, after=metas.get(change.name, change.after))
        for change in change_set.nuggets
    )
    return Joined(
        change_set=msgspec.structs.replace(change_set, nuggets=made),
        conflicts=tuple(collect.conflicts),
        left_out=tuple(problem for copy in copies for problem in copy.problems),
    )


class _Joining:
    """One joining at work on a draft."""

    def __init__(
        self,
        draft: Draft,
        was_here: WasHere,
        versions: Versions | None,
        collect: Collect,
        gone: frozenset[Path],
    ) -> None:
        self.draft = draft
        self.was_here = was_here
        self.versions = versions
        self.collect = collect
        self.gone = gone
        self.stand_ins: dict[str, str] = {}
        self.wanted: dict[str, Note] = {}
        # Facts about which their notes have decided, and those whose notes were deleted here, each with the values
        # that the notes of the copies give it. A fact with another value is from another moment than they.
        self.decided: dict[FactName, list[str]] = {}
        self.deleted: dict[FactName, list[str]] = {}
        # Facts of files that are gone, which may still lack their notes.
        self.laid: list[FactName] = []

    def join(self, copies: Sequence[Document]) -> None:
        """Lays what the copies add over the draft: notes, then facts, which follow their notes."""
        for copy in copies:
            if isinstance(copy, NuggetDocument) and copy.path in self.gone:
                self._lay_facts(copy)
        for copy in copies:
            if isinstance(copy, GraphDocument):
                self._join_notes(copy)
        for note in self.wanted.values():
            self._carry_to_fact(note)
        for copy in copies:
            if isinstance(copy, NuggetDocument):
                for fact in _first_of_each(copy.facts):
                    self._join_fact(copy, fact)
        for name in self.laid:
            self._give_note(*name)

    # Notes

    def _join_notes(self, copy: GraphDocument) -> None:
        for note in _first_of_each(copy.notes):
            merged = self._joined_note(note, self._knows(copy, note.id, note))
            if merged is not None:
                self.wanted[merged.id] = merged
                self.draft.put(merged)
        # Links to notes that came later in the copy hold only now.
        for id, note in self.wanted.items():
            links = tuple(
                msgspec.structs.replace(link, to=self.stand_ins.get(link.to, link.to)) for link in note.links
            )
            self.wanted[id] = self.draft.put(replace(note, links=links))

    def _joined_note(self, note: Note, known: bool) -> Note | None:
        """The note as it is to stand; None when the memory's own stands as it is, or it stays deleted."""
        mine = self.draft.note(note.id)
        fact = (note.nugget_name, note.key)
        if mine is None and self.draft.exists(note.id):
            self._report(ErrorCode.UNREADABLE_SIDE, "it cannot be read here", note.id, "", note.content)
            return None
        if mine is None and known:
            if note.is_fact:
                self.deleted.setdefault(fact, []).append(note.content)
            return None
        if mine is None:
            mine = self.draft.fact_note(*fact, hidden=False) if note.is_fact and not note.hidden else None
            if mine is None:
                return note if self._may_stand(note) else None
            self.stand_ins[note.id] = mine.id
        if note.is_fact:
            for name in {fact, (mine.nugget_name, mine.key)}:
                self.decided.setdefault(name, []).append(note.content)
        if mine.id == note.id and (unchanged(mine, note) or known):
            return None
        merged = self._merged(mine, note)
        if mine.hidden and not merged.hidden and self.draft.fact_note(*fact, hidden=False) is not None:
            self._report(
                ErrorCode.STORED_MEANWHILE,
                "its fact was stored again here and restored there",
                note.id,
                "",
                note.content,
            )
            return None
        return None if replace(merged, vector=mine.vector) == mine else merged

    def _knows(self, copy: Document, place: str, item: Note | Fact) -> bool:
        """Whether the memory once held this and parted with it on purpose."""
        return copy.path not in self.gone and self.was_here(place, item)

    def _may_stand(self, note: Note) -> bool:
        """Whether a note that comes can have its fact: another program may name a nugget as no file can be named."""
        if not note.is_fact or note.hidden or self._has_nugget(note.nugget_name):
            return True
        self._report(ErrorCode.BAD_NAME, "no file can have the name of its nugget", note.id, "", note.content)
        return False

    def _merged(self, mine: Note, note: Note) -> Note:
        if mine.id != note.id or mine.created_at != note.created_at:
            return merge_notes(None, mine, note, self.collect)
        base = self._base(note)
        if base is not None:
            merged = merge_notes(base, mine, note, self.collect)
            moved = merged.updated_at > mine.updated_at or same_meaning(merged, mine)
            return merged if moved else replace(merged, updated_at=self.draft.at)
        if _as_made(mine) != _as_made(note) and self._never_changed(mine, note):
            # The one is what the other was made from.
            return _with_recalls(mine, note) if _as_made(note) else _with_recalls(note, mine)
        return merge_notes(None, mine, note, self.collect)

    def _base(self, note: Note) -> Note | None:
        """The version that a copy's note was changed from without a new time, as an editor or another program does it;
        None where that cannot be told.
        """
        found = [one for one in self._known_versions(note.id) if _same_times(one, note)]
        return found[0] if found and all(same_meaning(one, found[0]) for one in found) else None

    def _never_changed(self, mine: Note, note: Note) -> bool:
        """Whether the one of the two that bears the time of its making is as it was made."""
        if self.versions is None or same_meaning(mine, note):
            return True
        if _as_made(note):
            # It is none of the versions that are known: somebody changed it, or nothing is known of so long ago.
            return False
        return all(same_meaning(one, mine) for one in self._known_versions(mine.id) if _same_times(one, mine))

    def _known_versions(self, id: str) -> Sequence[Note]:
        return self.versions(id) if self.versions is not None else ()

    def _report(
        self, code: ErrorCode, what: str, where: str, ours: str, theirs: str, field: str = ""
    ) -> None:
        self.collect(conflict(code, what, where, "", ours, theirs, field), None, None)

    def _carry_to_fact(self, note: Note) -> None:
        """Brings the fact of a joined note in step with it."""
        if not note.is_fact:
            return
        before = self.draft.snapshot.by_id.get(note.id)
        shown = before is not None and not before.hidden
        stored = self._fact(note.nugget_name, before.key if before is not None and shown else note.key)
        if note.hidden:
            self._take_fact(note, stored if shown else None)
        elif stored is None and not shown:
            self._bring_fact(note, before.hidden_fact if before is not None else None)
        elif stored is not None and not shown:
            self._keep_value(note, stored)
        elif (
            stored is not None
            and before is not None
            and (before.key, before.content) != (note.key, note.content)
        ):
            changed = msgspec.structs.replace(stored, key=note.key, value=note.content)
            self.draft.rename_fact(note.nugget_name, stored.key, changed)

    def _take_fact(self, note: Note, stored: Fact | None) -> None:
        """A fact that was hidden there leaves its file and waits in its note."""
        if stored is None:
            return
        # While it is taken out, it does not count among those that wait already.
        self.draft.put(replace(note, hidden_fact=None))
        taken = self.draft.take_fact(note.nugget_name, stored.key)
        assert taken is not None
        index, fact = taken
        kept = note.hidden_fact or as_hidden_fact(fact, index)
        kept = msgspec.structs.replace(kept, index=index, hits=max(kept.hits, fact.hits))
        self.wanted[note.id] = self.draft.put(replace(note, hidden_fact=kept))

    def _bring_fact(self, note: Note, kept: HiddenFact | None) -> None:
        """A note that comes, or comes back, brings its fact along."""
        fact = as_visible_fact(kept) if kept is not None else Fact(key=note.key, value=note.content)
        fact = msgspec.structs.replace(
            fact,
            key=note.key,
            value=note.content,
            hits=max(fact.hits, note.hits),
            last_hit_session=note.last_hit_session or fact.last_hit_session,
        )
        self.draft.put_fact(note.nugget_name, fact, kept.index if kept is not None else None)

    def _keep_value(self, note: Note, stored: Fact) -> None:
        """A note comes for a fact that is there: it says what the fact says."""
        if alike(stored.value, note.content):
            return
        where = f"{note.nugget_name}: {note.key}"
        self._report(
            ErrorCode.CHANGED_IN_TWO_WAYS,
            "its value was changed in two ways",
            where,
            stored.value,
            note.content,
            "value",
        )
        self.wanted[note.id] = self.draft.put(replace(note, content=stored.value))

    def _has_nugget(self, name: str) -> bool:
        """Whether the nugget is, or may become, a file."""
        try:
            self.draft.ensure_nugget(name)
        except InvalidInputError:
            return False
        return True

    # Facts

    def _fact(self, nugget: str, key: str) -> Fact | None:
        holder = self.draft.nugget(nugget)
        facts = holder.facts if holder is not None else ()
        return next((fact for fact in facts if fact.key == key), None)

    def _lay_facts(self, copy: NuggetDocument) -> None:
        """Puts the facts of a file that is gone back in their order, which decides the banks."""
        nugget = copy.meta.name
        for fact in _first_of_each(copy.facts):
            known = self._fact(nugget, fact.key) is not None
            if not known and self._waiting(nugget, fact.key) is None and self._has_nugget(nugget):
                self.draft.put_fact(nugget, fact)
                self.laid.append((nugget, fact.key))

    def _join_fact(self, copy: NuggetDocument, fact: Fact) -> None:
        nugget = copy.meta.name
        mine = self._fact(nugget, fact.key)
        name = (nugget, fact.key)
        if mine == fact or _says(self.deleted.get(name), fact) or self._knows(copy, nugget, fact):
            return
        if mine is None:
            self._add_fact(nugget, fact)
            return
        if name in self.decided and (_says(self.decided[name], fact) or self._stood(nugget, fact)):
            # The note was joined, or stood as it was, and the fact already follows it.
            fact = msgspec.structs.replace(fact, value=mine.value)
        merged = merge_facts(f"{nugget}: {fact.key}", None, mine, fact, self.collect)
        if merged != mine:
            self.draft.put_fact(nugget, merged)

    def _stood(self, nugget: str, fact: Fact) -> bool:
        """Whether the memory gave the fact this value before anything was joined."""
        held = self.draft.snapshot.by_name.get(nugget)
        return held is not None and any(
            one.key == fact.key and alike(one.value, fact.value) for one in held.facts
        )

    def _waiting(self, nugget: str, key: str) -> HiddenFact | None:
        """The fact that was forgotten here and waits in its note."""
        notes = self.draft.fact_notes(nugget, key)
        return next((note.hidden_fact for note in notes if note.hidden and note.hidden_fact), None)

    def _add_fact(self, nugget: str, fact: Fact) -> None:
        where = f"{nugget}: {fact.key}"
        waits = self._waiting(nugget, fact.key)
        if waits is not None:
            if not alike(waits.value, fact.value):
                self._report(
                    ErrorCode.CHANGED_AND_DELETED,
                    "it was forgotten here and changed there",
                    where,
                    "",
                    fact.value,
                )
            return
        if not self._has_nugget(nugget):
            self._report(ErrorCode.BAD_NAME, "no file can have the name of its nugget", where, "", fact.value)
            return
        self.draft.put_fact(nugget, fact)
        self._give_note(nugget, fact.key)

    def _give_note(self, nugget: str, key: str) -> None:
        """Sees to it that a fact has a note that says the same."""
        fact, note = self._fact(nugget, key), self.draft.fact_note(nugget, key, hidden=False)
        if fact is None:
            return
        if note is None:
            note = new_note(self.draft, "fact", nugget, key, fact.value)
            self.draft.put(replace(note, hits=fact.hits, last_hit_session=fact.last_hit_session))
        elif not alike(note.content, fact.value):
            # Its note has stood alone and was changed meanwhile.
            where = f"{nugget}: {key}"
            self._report(
                ErrorCode.CHANGED_IN_TWO_WAYS,
                "its value was changed in two ways",
                where,
                note.content,
                fact.value,
                "value",
            )
            self.draft.put_fact(nugget, msgspec.structs.replace(fact, value=note.content))


def _says(values: list[str] | None, fact: Fact) -> bool:
    return any(alike(value, fact.value) for value in values or ())


def _same_times(one: Note, other: Note) -> bool:
    return (one.created_at, one.updated_at) == (other.created_at, other.updated_at)


def _as_made(note: Note) -> bool:
    """Whether a note is still what it was when it was made."""
    return (
        bool(note.created_at)
        and note.updated_at == note.created_at
        and not (note.hidden or note.archived_at or note.last_rewritten_at)
    )


def _with_recalls(newer: Note, older: Note) -> Note:
    """A newer version with the recalls that only its forerunner has counted."""
    latest = max(newer, older, key=lambda note: (note.last_accessed_at, note.hits))
    return replace(
        newer,
        hits=merge_hits(None, newer, older),
        last_accessed_at=latest.last_accessed_at,
        last_hit_session=latest.last_hit_session or newer.last_hit_session,
    )


def _first_of_each(items: Iterable[T | None]) -> list[T]:
    """The readable ones; of several of one id or key the first, as everywhere."""
    found: dict[str, T] = {}
    for item in items:
        if item is not None:
            found.setdefault(id_of(item), item)
    return list(found.values())
