"""What other programs did to the files: merged, put back or taken over, item by item, logged, and told.

A version that the history has never seen is *new*: it is merged with the known version that it differs from least.
One that it knows is *old*. A save that holds anything new was made on top of a copy, so what is old in it stays as it
was changed in the last day. A save that holds nothing new is a file that somebody restored: it is taken as it is.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import replace as with_fields
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import msgspec

from core.errors import BrokenFileError, Notice
from core.folder import QUARANTINE
from core.model.build import as_hidden_fact, as_visible_fact
from core.model.change import OURSELVES, PROGRAM, ChangeSet, FactChange, NoteChange
from core.model.change_parts import change_parts
from core.model.compare import (
    HIT_FIELDS,
    Differences,
    alike,
    differences,
    laid_over,
    outside_changes,
    spaced_as,
)
from core.model.entry import Conflict, EntryState, Origin
from core.model.fact import Fact
from core.model.names import iso
from core.model.note import Note, replace, vector_spec
from core.storage.files.atomic import fingerprint, leftovers, read_file
from core.storage.format.documents import (
    Document,
    GraphDocument,
    Loaded,
    NuggetDocument,
    assembled,
    read_graph,
    read_nugget,
    with_changes,
)
from core.storage.journal.baseline import (
    FileRows,
    file_rows,
    forget_file,
    kept_names,
    named_items,
    write_baseline,
)
from core.storage.journal.codec import (
    OUTSIDE,
    RESTORED,
    TAKEN_IN,
    Maker,
    by,
    fact_item,
    items_of,
    note_item,
    read_conflict,
    read_maker,
    write_change_set,
)
from core.storage.journal.journal import Journal
from core.storage.merge.merge import rebase
from core.storage.merge.three_way import (
    Collect,
    merge_facts,
    merge_notes,
    same_meaning,
    take_ours,
    take_theirs,
)
from core.storage.safety import set_aside

# Files saved within so long of each other are one save, and nobody is at it any more once it is over.
QUIET_SECONDS: Final = 2.0
# For so long a change is kept over old copies of it.
_KEPT_FOR: Final = timedelta(hours=24)
# Known versions that may be the base of a merge, and entries of one thing that are read for them.
_BASES: Final = 20
_TIMES: Final = HIT_FIELDS - {"hits", "last_hit_session"} | {"updated_at"}
# In how many fields something differs from nothing.
_FAR: Final = 1000
_ENTRIES: Final = 100
_AT_ONCE: Final = 500
# More notices than these about one look become one.
_FEW_NOTICES: Final = 5
_PLACE: Final = "a version that another program wrote at the same moment as nuggets-tui"

Version = Note | Fact | None
Change = NoteChange | FactChange
# merged: new. kept: old, and ours stands. restored: old, and it stands. taken: as it is, whatever it is. waits: until
# the save is whole. same: but for white space.
_Verdict = Literal["same", "merged", "kept", "restored", "taken", "waits"]


class Due(NamedTuple):
    """What makes the files say what they are to say, and the files with it.

    waits: something is judged once the save is whole, and is in `target` as it is in the files.
    """

    target: Loaded
    back: ChangeSet
    waits: bool = False


class _Past(NamedTuple):
    """What an entry of the history did to one thing."""

    before: Version
    after: Version
    entry: ChangeSet
    maker: Maker
    seq: int
    state: EntryState


@dataclass
class _Item:
    """A note or fact that differs: as we know it, as it is in its file, and as it is to be.

    read: the newest version that whoever saved the file may have read. unsure: its program may not have seen what it
    replaced.
    """

    name: str
    ours: Version
    file: Version
    change: Change
    read: Version
    target: Version
    verdict: _Verdict = "taken"
    past: Sequence[_Past] = ()
    unsure: bool = False

    @property
    def known(self) -> Iterator[Version]:
        """Every version that the history has and that may have been read, newest first."""
        yield self.read
        for one in self.past:
            yield one.after
            yield one.before

    @property
    def old(self) -> bool:
        """Whether the file has a version that the history knows."""
        return any(_same(self.file, one) or _is_earlier(self.file, one) for one in self.known)

    def changed_since(self, at: str, *, by_us: bool = False) -> bool:
        """Whether it was changed after a time. by_us: here, and more than by a recall."""
        stood = (one for one in self.past if one.state != "version" and one.entry.at >= at)
        return any(
            not by_us or (one.maker.origin is Origin.MADE and one.entry.kind != "hit") for one in stood
        )

    def is_copy(self, at: str) -> bool:
        """Whether what the file has was put back before, after a time; it may have been recalled since."""
        return any(
            one.maker.origin is Origin.RESTORED
            and one.entry.at >= at
            and _says_the_same(one.before, self.file)
            for one in self.past
        )


def take_in(journal: Journal, loaded: Loaded, *, final: bool) -> Due:
    """Judges what differs in the files from what was last seen of them, logs it, and returns what is to be written.

    What is put back differs again at the next look until somebody writes it. final: nothing waits for the rest of a
    save. Under the memory's lock. Raises StorageError, BrokenJournalError.
    """
    nothing = ChangeSet(id="", at=journal.at(), author=OURSELVES, reason="put back", kind="restore")
    if not journal.is_open or not journal.moved(loaded):
        return Due(loaded, nothing)
    baseline = journal.baseline(loaded)
    found = differences(baseline.snapshot, loaded.snapshot)
    names = {*map(_name_of, found.notes), *map(_name_of, found.facts)}
    known = _with_pending(journal, baseline, loaded, names)
    if known is not baseline:
        found = differences(known.snapshot, loaded.snapshot)
    # What is to be finished is written by who finishes it, on the pages as they are.
    pending = journal.pending() if loaded.graph.pages is not None else ()
    skipped = frozenset(name for one in pending for name in items_of(one.change_set))
    judging = _Judging(journal, loaded, found, final=final, skipped=skipped)
    judging.judge()
    back = rebase(judging.back(nothing), loaded.snapshot, take_ours)
    target = with_changes(loaded, back)
    _record(journal, baseline, known, loaded, target, judging, back)
    return Due(target, back, bool(judging.of("waits")))


def is_quiet(loaded: Loaded) -> bool:
    """Whether nobody has written to the files for a while."""
    newest = max((made.mtime_ns for made in loaded.fingerprints().values() if made is not None), default=0)
    return not 0 <= time.time_ns() - newest < QUIET_SECONDS * 1e9


def _name_of(change: Change) -> str:
    return note_item(change.id) if isinstance(change, NoteChange) else fact_item(change.nugget, change.key)


def _with_pending(
    journal: Journal, seen: Loaded, present: Loaded, names: Collection[str] | None = None
) -> Loaded:
    """What was seen of the files with what is pending in the history: it will be in them, and a program may have read
    it.

    names: the things about which this is asked, None for all. present: has the new files of what is pending.
    """
    for pending in journal.pending():
        made = rebase(pending.change_set, seen.snapshot, take_theirs)
        if names is not None:
            notes = tuple(change for change in made.notes if _name_of(change) in names)
            facts = tuple(change for change in made.facts if _name_of(change) in names)
            made = msgspec.structs.replace(made, notes=notes, facts=facts)
        new = {change.name for change in made.nuggets if change.after is not None}
        files = [one.emptied for one in present.nuggets.values() if one.meta.name in new and not one.broken]
        seen = with_changes(with_files(seen, files) if files else seen, made)
    return seen


# Judging


class _Judging:
    """One look at the files. slipped: they are a version that stood there for an instant while we wrote the entry of
    this number, `written`: whoever saved it has not read ours. skipped: the things about which nothing is said.
    """

    def __init__(
        self,
        journal: Journal,
        loaded: Loaded,
        found: Differences,
        *,
        final: bool = True,
        slipped: bool = False,
        written: int | None = None,
        skipped: frozenset[str] = frozenset(),
    ) -> None:
        self._journal, self._loaded, self._written = journal, loaded, written
        self._at, self.skipped = journal.at(), skipped
        self.since = iso(journal.clock() - _KEPT_FOR)
        self._slipped, self._final = slipped, final or is_quiet(loaded)
        pages = loaded.graph.pages
        self._pages = pages is not None
        # Git brings former versions back, of another branch say, and means it; so does whoever sits here.
        self._as_it_is = journal.attribution is not None or (pages is not None and pages.dialect.whole)
        changes: list[Change] = [*found.notes, *found.facts]
        self.items = [
            _Item(_name_of(one), one.before, one.after, one, one.before, one.after)
            for one in changes
            if _name_of(one) not in skipped
        ]
        self.conflicts: dict[str, tuple[ChangeSet, Conflict]] = {}

    def judge(self) -> None:
        """Gives every item its target."""
        if self._as_it_is:
            return
        told = []
        for item in self.items:
            if not _same(item.ours, item.file):
                told.append(item)
                continue
            item.verdict = "same"
            item.target = item.file if self._pages else _with_its_spaces(item.ours, item.file)
        if not told or not self._journal.is_open:
            return
        pasts = _pasts(self._journal, [item.name for item in told])
        for item in told:
            item.past = pasts.get(item.name, ())
            for past in item.past:
                if past.seq == self._written and past.maker != TAKEN_IN:
                    item.read, item.past = past.before, [one for one in item.past if one is not past]
        # Who saves a page has read none of the others.
        for save in [[item] for item in told] if self._pages else self._saves(told):
            copy = self._slipped or any(not item.old or item.is_copy(self.since) for item in save)
            for item in save:
                self._judge_one(item, copy=copy)
        if not self._pages:
            self._bring_pairs_in_step(told)

    def _saves(self, items: Iterable[_Item]) -> list[list[_Item]]:
        """The items by save: files written shortly after each other are one."""
        files: list[Document] = [self._loaded.graph, *self._loaded.nuggets.values()]
        written = {one.of_nugget: one.fingerprint.mtime_ns if one.fingerprint else 0 for one in files}

        def saved_at(item: _Item) -> int:
            nugget = item.change.nugget if isinstance(item.change, FactChange) else ""
            return written.get(nugget, written[""])

        saves: list[list[_Item]] = []
        last: int | None = None
        for item in sorted(items, key=saved_at):
            if last is None or saved_at(item) - last > QUIET_SECONDS * 1e9:
                saves.append([])
            saves[-1].append(item)
            last = saved_at(item)
        return saves

    def _judge_one(self, item: _Item, *, copy: bool) -> None:
        if not item.old:
            item.verdict, item.target = "merged", self._merged(item)
        elif copy and (self._slipped or item.changed_since(self.since)):
            item.verdict, item.target = "kept", item.ours
        elif not (copy or self._pages or self._final) and item.changed_since(self.since, by_us=True):
            # The rest of the save may show that it is a copy.
            item.verdict = "waits"
        elif not (self._pages and _says_the_same(item.ours, item.file)):
            # A page bears the time of its file, which moves by itself.
            item.verdict = "restored"

    def _merged(self, item: _Item) -> Version:
        """A new version brought onto ours; on conflict ours stands, and theirs waits."""
        versions: list[Version] = []
        for version in item.known:
            if len(versions) < _BASES and not any(_same(version, one) for one in versions):
                versions.append(version)
        apart = [_distance(version, item.file) for version in versions]
        base = versions[apart.index(min(apart))]
        theirs, ours = item.file, item.ours
        if _shown_again(ours, theirs, base):
            base = ours
        if base is ours:
            item.unsure = apart.count(apart[0]) > 1 and item.changed_since(self.since, by_us=True)
        if base is ours or theirs is None or ours is None:
            if ours is None and base is not None and theirs is not None and same_meaning(base, theirs):
                # What is gone here and was only counted there stays gone.
                return None
            return _counted(theirs, base)
        met = Collect(take_theirs)
        # The types of the three go together, as their names do.
        change: Any = msgspec.structs.replace(item.change, before=base, after=theirs)
        told = ChangeSet(id="", at=self._at, author=PROGRAM, reason="", kind="outside")
        if isinstance(change, FactChange):
            merged: Version = merge_facts(f"{change.nugget}: {change.key}", base, ours, theirs, met)  # type: ignore[arg-type]
            told = msgspec.structs.replace(told, facts=(change,))
        else:
            merged = merge_notes(base, ours, theirs, met)  # type: ignore[arg-type]
            told = msgspec.structs.replace(told, notes=(change,))
        if met.conflicts:
            self.conflicts[item.name] = told, met.conflicts[0]
        return merged

    # A fact and its note

    def _bring_pairs_in_step(self, told: Iterable[_Item]) -> None:
        """Of a fact and its note the half that changed is followed, of two the fact."""
        judged, known = {item.name for item in told}, {id(item) for item in self.items}
        facts = {item.name: item for item in self.items if isinstance(item.change, FactChange)}
        notes: dict[str, _Item] = {}
        for item in self.items:
            for side in (item.ours, item.file, item.target):
                if isinstance(side, Note) and side.is_fact:
                    held = notes.get(_fact_of(side))
                    hidden = held is not None and isinstance(held.target, Note) and held.target.hidden
                    notes[_fact_of(side)] = item if held is None or hidden else held
        for name in [*(name for name in facts if name in judged), *notes]:
            nugget, key = name.removeprefix("f ").split("\n", 1)
            of_fact = facts.get(name) or self._standing_fact(nugget, key)
            of_note = notes.get(name) or self._standing_note(nugget, key)
            halves = [one for one in (of_fact, of_note) if one is not None and one.name in judged]
            if not halves or any(one.verdict == "waits" for one in halves):
                continue
            leading = halves[0]
            following = of_note if leading is of_fact else of_fact
            now = following.target if following is not None else None
            if leading is of_fact:
                target: Version = self._note_for(of_fact, of_note)
            elif leading.target is not None and nugget in self._loaded.snapshot.by_name:
                target = self._fact_for(leading, of_fact.target)
            else:
                continue
            if target == now:
                continue
            if following is None:
                assert isinstance(target, Note)
                following = self._standing(NoteChange(id=target.id, before=None, after=None))
            if leading.verdict != "kept" and not self._final:
                # Whoever saves one half is about to save the other.
                for half in (leading, following):
                    half.verdict, half.target = "waits", half.file
                continue
            following.target, following.verdict = target, leading.verdict
            if id(following) not in known:
                self.items.append(following)

    def _standing_fact(self, nugget: str, key: str) -> _Item:
        """A fact that does not differ."""
        fact = self._loaded.snapshot.facts_by_key.get(nugget, {}).get(key)
        return self._standing(FactChange(nugget=nugget, key=key, before=fact, after=fact))

    def _standing_note(self, nugget: str, key: str) -> _Item | None:
        """The note of a fact, where it does not differ; None for none."""
        note = self._loaded.snapshot.fact_notes.get((nugget, key))
        return self._standing(NoteChange(id=note.id, before=note, after=note)) if note is not None else None

    @staticmethod
    def _standing(change: Change) -> _Item:
        return _Item(_name_of(change), change.after, change.after, change, change.after, change.after, "same")

    def _note_for(self, of_fact: _Item, of_note: _Item | None) -> Note | None:
        """The note of a fact that was judged. of_note: it, as it would be by itself."""
        fact, note = of_fact.target, of_note.target if of_note is not None else None
        ours = of_note.ours if of_note is not None and isinstance(of_note.ours, Note) else None
        assert not isinstance(fact, Note)
        assert not isinstance(note, Fact)
        if fact is not None:
            if note is None:
                return ours if of_fact.verdict == "kept" and ours is not None and not ours.hidden else None
            if not note.hidden and alike(note.content, fact.value):
                return note
            said = {"title": fact.key, "source_key": fact.key, "content": fact.value}
            return replace(note, **said, hidden=False, hidden_fact=None, archived_at="")
        if note is None or note.hidden or of_note is None:
            return note
        if of_note.file is None or (isinstance(of_note.file, Note) and of_note.file.hidden):
            return of_note.file
        if ours is not None and ours.hidden:
            # An old list of facts has it, whose program shows its note again.
            state = {name: getattr(ours, name) for name in ("content", "archived_at", "hidden_fact")}
            return replace(note, hidden=True, **state)
        left = of_fact.ours or of_fact.file
        assert isinstance(left, Fact)
        waits = as_hidden_fact(left, of_fact.change.index or 0)
        return replace(note, hidden=True, archived_at=self._at, hidden_fact=waits)

    def _fact_for(self, of_note: _Item, fact: Version) -> Fact | None:
        """The fact of a note that was judged alone. fact: as it is in its file."""
        note, was = of_note.target, of_note.ours
        assert isinstance(note, Note)
        assert not isinstance(fact, Note)
        if note.hidden:
            return None
        if fact is None:
            if not isinstance(was, Note) or not was.hidden:
                # It stood for no fact before either.
                return None
            waits = as_visible_fact(was.hidden_fact) if was.hidden_fact is not None else None
            fact = waits or Fact(key=note.key, value="", hits=note.hits)
        elif alike(fact.value, note.content):
            return fact
        return msgspec.structs.replace(fact, key=note.key, value=note.content)

    # What comes of it

    def back(self, told: ChangeSet) -> ChangeSet:
        """What makes the files say the targets, as `told` with it in it."""
        notes, facts = list[NoteChange](), list[FactChange]()
        snapshot = self._loaded.snapshot
        for item in self.items:
            if item.target is item.file or item.target == item.file:
                continue
            if isinstance(item.target, Note) and item.target is not item.ours:
                item.target = replace(item.target, vector=vector_spec(item.target))
            # The types of the two go together, as their names do.
            change: Any = msgspec.structs.replace(item.change, before=item.file, after=item.target)
            if isinstance(change, NoteChange):
                place = snapshot.places.get(change.id, change.index)
                notes.append(msgspec.structs.replace(change, index=place))
            elif change.nugget in snapshot.by_name:
                if change.index is None and isinstance(item.file, Fact):
                    place = snapshot.by_name[change.nugget].facts.index(item.file)
                    change = msgspec.structs.replace(change, index=place)
                facts.append(change)
        return msgspec.structs.replace(told, notes=tuple(notes), facts=tuple(facts))

    def versions(self) -> ChangeSet:
        """What was saved and becomes another version by a merge."""
        merged = [
            msgspec.structs.replace(item.change, before=item.read)
            for item in self.items
            if item.verdict == "merged" and not _same(item.file, item.target)
        ]
        return ChangeSet(
            id=self._journal.ids(), at=self._at, author=PROGRAM, reason="", kind="outside",
            notes=tuple(change for change in merged if isinstance(change, NoteChange)),
            facts=tuple(change for change in merged if isinstance(change, FactChange)),
        )  # fmt: skip

    def of(self, verdict: _Verdict) -> frozenset[str]:
        """Names of the items of which this was judged."""
        return frozenset(item.name for item in self.items if item.verdict == verdict)


# Comparing versions


def _moved(one: Version, other: Version) -> set[str]:
    """The fields in which two versions of a thing differ, but for white space; {""} where one is nothing."""
    if one is None or other is None or type(one) is not type(other):
        return set() if one is other else {""}
    if one == other:
        return set()
    return {name for name in one.__struct_fields__ if not alike(getattr(one, name), getattr(other, name))}


def _same(one: Version, other: Version) -> bool:
    """Whether two versions of a thing are one: white space and recipes of vectors say nothing."""
    return _moved(one, other) <= {"vector"}


def _says_the_same(one: Version, other: Version) -> bool:
    """Whether two versions differ in recalls, times and white space at most."""
    return _moved(one, other) <= {*HIT_FIELDS, "updated_at", "vector"}


def _is_earlier(file: Version, known: Version) -> bool:
    """Whether one is a version right before the other, with fewer recalls or older times alone: the history tells
    recalls of minutes as one, and no times that moved by themselves.
    """
    if file is None or known is None or file.hits > known.hits:
        return False
    return all(
        name in ("hits", "last_hit_session", "vector")
        or (name in _TIMES and (getattr(file, name) or "") <= (getattr(known, name) or ""))
        for name in _moved(file, known)
    )


def _with_its_spaces(ours: Version, file: Version) -> Version:
    """A version with the white space that a program squeezed out of it; what one put in stays."""
    texts = ("title", "content", "value")
    if ours is None or file is None:
        return file
    squeezed = any(len(getattr(ours, name, "")) > len(getattr(file, name, "")) for name in texts)
    return spaced_as(ours, file) if squeezed else file  # type: ignore[type-var]


def _shown_again(ours: Version, theirs: Version, base: Version) -> bool:
    """Whether somebody shows a note that is hidden here later, as it was before: no copy has the new time."""
    if not isinstance(ours, Note) or not isinstance(theirs, Note):
        return False
    shows = ours.hidden and not theirs.hidden and theirs.updated_at > ours.updated_at
    return shows and _says_the_same(theirs, base)


def _counted(theirs: Version, base: Version) -> Version:
    """A version with the white space of its base, on which no fewer recalls are counted than there."""
    theirs = _with_its_spaces(base, theirs)
    if theirs is None or base is None or theirs.hits >= base.hits:
        return theirs
    return msgspec.structs.replace(theirs, hits=base.hits, last_hit_session=base.last_hit_session)


def _distance(version: Version, file: Version) -> tuple[int, int]:
    """In how many fields two versions differ, and in how many lines, tags and links."""
    moved = _moved(version, file) - {"vector", "page"}
    if "" in moved:
        return _FAR, 0
    parts = 0
    for name in moved & {"content", "value", "tags", "links"}:
        sides = [getattr(side, name) for side in (version, file)]
        one, other = (side.splitlines() if isinstance(side, str) else side for side in sides)
        parts += sum(part not in other for part in one) + sum(part not in one for part in other)
    return len(moved), parts


def _fact_of(note: Note) -> str:
    return fact_item(note.nugget_name, note.key)


def _pasts(journal: Journal, names: Sequence[str]) -> dict[str, list[_Past]]:
    """What the newest entries did to each of these things, newest first."""
    found: dict[str, list[_Past]] = {}
    read: dict[int, tuple[ChangeSet, dict[str, tuple[Version, Version]]] | None] = {}
    for at in range(0, len(names), _AT_ONCE):
        some = names[at : at + _AT_ONCE]
        rows = journal.rows(
            "SELECT item, seq, made_by, state FROM (SELECT item, seq, row_number() OVER (PARTITION BY item "
            f"ORDER BY seq DESC) AS nth FROM touched WHERE item IN ({', '.join('?' * len(some))})) "
            f"JOIN entry USING (seq) WHERE nth <= {_ENTRIES} AND state IN ('done', 'pending', 'version') "
            "ORDER BY seq DESC",
            some,
        )
        for seq, entry in journal.change_sets({row[1] for row in rows} - read.keys()):
            read[seq] = entry, _versions(entry)
        for item, seq, made_by, state in rows:
            if (known := read.get(seq)) is not None:
                entry, versions = known
                before, after = versions.get(item, (None, None))
                found.setdefault(item, []).append(
                    _Past(before, after, entry, read_maker(made_by), seq, state)
                )
    return found


def _versions(entry: ChangeSet) -> dict[str, tuple[Version, Version]]:
    """What each thing was before an entry and after it; a renamed fact is gone under its former key."""
    found: dict[str, tuple[Version, Version]] = {
        note_item(change.id): (change.before, change.after) for change in entry.notes
    }
    for change in entry.facts:
        for fact, place in ((change.before, 0), (change.after, 1)):
            if fact is not None:
                name = fact_item(change.nugget, fact.key)
                both = list(found.get(name, (None, None)))
                both[place] = fact
                found[name] = both[0], both[1]
    return found


# Putting down


def _record(
    journal: Journal,
    baseline: Loaded,
    known: Loaded,
    loaded: Loaded,
    target: Loaded,
    judged: _Judging,
    back: ChangeSet,
) -> None:
    """Logs what was judged, and remembers the files as they are to be. known: see `_with_pending`."""
    waits, restored = judged.of("waits") | judged.skipped, judged.of("restored")
    sets = _told(journal, known, target, waits, restored)
    kept = _kept(journal, judged, back)
    due = {file for (file, inode) in journal.rows("SELECT file, inode FROM seen_file") if inode is None}
    said: list[str] = []
    with journal.transaction() as connection:
        for change_set, maker in sets:
            _, logged = journal.record(connection, change_set, maker)
            said += _takeovers(logged, judged)
        puts_back: list[str] = []
        for change_set, again in kept:
            if again is None:
                _, logged = journal.record(connection, change_set, RESTORED)
                if change_set.kind != "hit":
                    puts_back.append(f"{logged.reason}; if you meant it otherwise, undo {logged.id}")
            elif not due:
                _count(connection, again)
        for name, (change_set, conflict) in judged.conflicts.items():
            _wait(connection, journal, change_set, conflict, name)
        _remember(connection, journal, baseline, loaded, target, waits, back)
    if len(puts_back) > _FEW_NOTICES:
        more = len(puts_back) - _FEW_NOTICES + 1
        puts_back[_FEW_NOTICES - 1 :] = [
            f"restored {more} others that another program reverted, see the history"
        ]
    for notice in (*said, *puts_back):
        journal.tell(notice)
    if not waits:
        journal.remember(target)


def _told(
    journal: Journal,
    baseline: Loaded,
    target: Loaded,
    waits: frozenset[str],
    restored: frozenset[str],
) -> Iterator[tuple[ChangeSet, Maker]]:
    """The entries of what other programs did, which makes the target of what was last seen."""
    found = differences(baseline.snapshot, target.snapshot)
    found = _split(found, lambda name: name not in waits, found.nuggets)
    mine = journal.attribution
    if mine is None:
        news = _split(found, lambda name: name not in restored, found.nuggets)
        olds = _split(found, lambda name: name in restored, ())
    else:
        news, olds = found, Differences((), (), ())
    sets = outside_changes(
        baseline.snapshot, target.snapshot, ids=journal.ids, at=journal.at(), author=PROGRAM, found=news
    )
    if mine is not None and sets:
        sets = tuple(
            msgspec.structs.replace(one, author=mine.author, kind=mine.kind, reason=mine.reason)
            for one in sets
        )
        sets = (*sets[:-1], msgspec.structs.replace(sets[-1], mends=mine.mends))
        journal.attribution = with_fields(mine, mends=())
    for one in sets:
        yield one, OUTSIDE if mine is None else by(mine.author.signature)
    if olds.notes or olds.facts:
        older = ChangeSet(
            id=journal.ids(), at=journal.at(), author=PROGRAM, kind="outside",
            reason="", notes=olds.notes, facts=olds.facts,
        )  # fmt: skip
        names = _named(older)
        yield msgspec.structs.replace(older, reason=f"put back an older version of {names}"), OUTSIDE


def _split(found: Differences, wanted: Callable[[str], bool], nuggets: tuple[Any, ...]) -> Differences:
    return Differences(
        tuple(c for c in found.notes if wanted(note_item(c.id))),
        tuple(c for c in found.facts if wanted(fact_item(c.nugget, c.key))),
        nuggets,
    )


def _named(change_set: ChangeSet) -> str:
    """What a change set is about: the name of its one thing, or how many there are."""
    titles = [change.note.title for change in change_set.notes] or [change.key for change in change_set.facts]
    return f'"{titles[0]}"' if change_set.size == 1 else f"{change_set.size} notes"


def _takeovers(logged: ChangeSet, judged: _Judging) -> Iterator[str]:
    """A line for each change of ours that an entry took over, and how to bring it back."""
    ours = {
        item.name
        for item in judged.items
        if item.verdict == "restored" and item.changed_since(judged.since, by_us=True)
    }
    if logged.reason.startswith("put back an older version") and ours & set(items_of(logged)):
        yield f"another program {logged.reason}; to restore yours, undo {logged.id}"
        return
    unsure = {item.name for item in judged.items if item.unsure and item.verdict == "merged"}
    if logged.kind == "outside" and unsure:
        for part in change_parts(logged):
            if unsure & set(items_of(part)):
                yield (
                    f"another program changed {_named(part)} after you did, and may not have seen yours; "
                    f"to restore yours, undo {part.id}"
                )


def _kept(journal: Journal, judged: _Judging, back: ChangeSet) -> list[tuple[ChangeSet, _Past | None]]:
    """The entries of what is put back, one a note with its fact, each with the one that told the same before."""
    items = {item.name: item for item in judged.items}
    grouped: dict[str, tuple[list[NoteChange], list[FactChange]]] = {}
    # What follows its other half alone replaces nothing of anybody's.
    theirs = {name for name, item in items.items() if not _same(item.file, item.ours)}
    for change in back.notes:
        if note_item(change.id) in theirs and not _same(change.before, change.after):
            name = _fact_of(change.note) if change.note.is_fact else note_item(change.id)
            grouped.setdefault(name, ([], []))[0].append(change)
    for fact in back.facts:
        if fact_item(fact.nugget, fact.key) in theirs and not _same(fact.before, fact.after):
            grouped.setdefault(fact_item(fact.nugget, fact.key), ([], []))[1].append(fact)
    found: list[tuple[ChangeSet, _Past | None]] = []
    for notes, facts in grouped.values():
        made = ChangeSet(
            id=journal.ids(), at=journal.at(), author=OURSELVES, reason="",
            kind="hit" if all(map(_counts_alone, notes)) and all(map(_counts_alone, facts)) else "restore",
            notes=tuple(notes), facts=tuple(facts),
        )  # fmt: skip
        made = msgspec.structs.replace(made, reason=f"restored {_named(made)} that another program reverted")
        names = set(items_of(made))
        pasts = [items[name].past[0] for name in names if name in items and items[name].past]
        again = pasts[0] if pasts and all(past.seq == pasts[0].seq for past in pasts) else None
        if again is not None and not (again.maker == RESTORED and _tells(again.entry, made)):
            again = None
        found.append((made, again))
    return found


def _tells(entry: ChangeSet, made: ChangeSet) -> bool:
    """Whether an entry says what one says that is to be made."""
    versions = _versions(entry)
    return all(
        name in versions and all(map(_same, versions[name], both)) for name, both in _versions(made).items()
    )


def _counts_alone(change: NoteChange | FactChange) -> bool:
    return None not in (change.before, change.after) and _says_the_same(change.before, change.after)


def _count(connection: sqlite3.Connection, past: _Past) -> None:
    """One more time that the same was put back."""
    entry = past.entry
    said, _, count = entry.reason.partition(" (")
    number = int(count.partition(" ")[0]) if count and count.partition(" ")[0].isdigit() else 1
    entry = msgspec.structs.replace(entry, reason=f"{said} ({number + 1} times)")
    body = write_change_set(entry)
    connection.execute(
        "UPDATE entry SET reason = ?, body = ?, size = ? WHERE seq = ?",
        (entry.reason, body, len(body), past.seq),
    )


def _wait(
    connection: sqlite3.Connection,
    journal: Journal,
    change_set: ChangeSet,
    conflict: Conflict,
    name: str,
) -> None:
    """Has a conflict wait; it takes the place of an earlier one about the same field."""
    rows = connection.execute(
        "SELECT seq, conflict FROM entry JOIN touched USING (seq) WHERE item = ? AND state = 'conflict'",
        (name,),
    ).fetchall()
    for seq, held in rows:
        known = read_conflict(held)
        if (known.where, known.field) == (conflict.where, conflict.field):
            connection.execute("UPDATE entry SET state = 'settled' WHERE seq = ?", (seq,))
    told = msgspec.structs.replace(change_set, id=journal.ids(), reason=conflict.what)
    journal.record(connection, told, OUTSIDE, state="conflict", conflict=conflict)


def _remember(
    connection: sqlite3.Connection,
    journal: Journal,
    baseline: Loaded,
    loaded: Loaded,
    target: Loaded,
    waits: frozenset[str],
    back: ChangeSet,
) -> None:
    """Remembers every file as it is to be. One that is not so yet differs from that until it is."""
    was, now = baseline.documents(), target.documents()
    rows: list[FileRows] = []
    for path, document in now.items():
        former, made, only = was.get(path), document.fingerprint, None
        nugget = document.meta.name if isinstance(document, NuggetDocument) else ""
        due = any(fact.nugget == nugget for fact in back.facts) if nugget else bool(back.notes)
        if due or waits or document.problems:
            before = named_items(former) if former is not None else {}
            names = {*before, *named_items(document)}
            if due or (former is not document and waits & names):
                made = None
            only = names - waits - kept_names(document, before)
        rows.append(file_rows(journal.name(path), former, document, fingerprint=made, only=only))
    write_baseline(connection, rows)
    for path in was.keys() - now.keys() - loaded.broken():
        forget_file(connection, journal.name(path))


# What slipped in while we wrote


def take_slipped(
    journal: Journal,
    connection: sqlite3.Connection,
    path: Path,
    data: bytes,
    base: Loaded,
    written: int | None,
) -> None:
    """Puts down, as pending, what another program wanted that put these bytes at a path in the instant of a write of
    ours on top of `base`. written: the number of our entry.

    What of them cannot be read is kept in the quarantine. Under the memory's lock. Raises StorageError.
    """
    seen = base if base.graph.pages is not None else journal.baseline(base)
    theirs = _with_file(journal, path, data, seen)
    if theirs is None:
        where = journal.home / QUARANTINE
        journal.tell(
            Notice(
                "another program wrote this file during a change, and its version cannot be read; "
                f"it is kept in {where}", where=str(path),
            )
        )  # fmt: skip
        return
    known = _with_pending(journal, seen, theirs)
    found = differences(known.snapshot, theirs.snapshot)
    judging = _Judging(journal, theirs, found, slipped=True, written=written)
    judging.judge()
    told = ChangeSet(id="", at=journal.at(), author=OURSELVES, reason="", kind="restore")
    target = laid_over(theirs.snapshot, rebase(judging.back(told), theirs.snapshot, take_ours))
    found = differences(known.snapshot, target)
    for change_set in outside_changes(
        known.snapshot, target, ids=journal.ids, at=journal.at(), author=PROGRAM, found=found
    ):
        journal.record(connection, change_set, TAKEN_IN, state="pending")
    versions = judging.versions()
    if not versions.empty:
        # Its next save is made on top of what it had, not of what becomes of that.
        journal.record(connection, versions, OUTSIDE, state="version")
    for name, (change_set, conflict) in judging.conflicts.items():
        _wait(connection, journal, change_set, conflict, name)


def _with_file(journal: Journal, path: Path, data: bytes, base: Loaded) -> Loaded | None:
    """The memory with a file that holds these bytes; None where they cannot be read at all."""
    home, nuggets, graph = journal.home, dict(base.nuggets), base.graph
    document: Document
    try:
        if path != base.graph.path and base.graph.pages is not None:
            from core.storage.format.pages import with_page

            document = graph = with_page(base.graph, path, data, journal.rules)
        elif path == base.graph.path:
            document = graph = read_graph(path, data, None, journal.rules, base.graph)
        else:
            document = nuggets[path] = read_nugget(path, data, None)
        reasons, legible = [problem.what for problem in document.problems], not document.broken
    except BrokenFileError as error:
        reasons, legible = [error.what], False
    if reasons:
        file = str(path.relative_to(home)) if path.is_relative_to(home) else path.name
        set_aside(home, file=file, data=data, reason=reasons[0], where=_PLACE, at=journal.at(), whole=True)
    return assembled(home, graph, nuggets, base) if legible else None


def recover_slipped(journal: Journal, loaded: Loaded) -> None:
    """Finds versions of other programs that a killed write had replaced unseen, before leftovers are cleared."""
    pending = journal.pending() if journal.is_open else []
    stages = {file: (stage, entry) for entry in pending for file, stage in entry.stages.items()}
    if not stages:
        return
    baseline = journal.baseline(loaded)
    for temporary, target in leftovers(journal.home, *loaded.page_folders):
        stage, entry = stages.get(journal.name(target), (None, None))
        made = fingerprint(temporary) if stage is not None else None
        if stage is None or made is None or made.same_data(stage.read) or made.same_data(stage.staged):
            continue
        found = read_file(temporary)
        if found is not None and entry is not None:
            with journal.transaction() as connection:
                take_slipped(journal, connection, target, found[0], baseline, entry.seq)


# Files that are gone


def lost_files(journal: Journal, loaded: Loaded) -> tuple[Document, ...]:
    """The files that are gone, as they were last seen, whose notes and facts nobody else has.

    Nothing is deleted by removing a file: an editor does that while it saves, and a person has other ways.
    """
    gone = journal.gone_files(loaded)
    if not gone:
        return ()
    held = loaded.snapshot.by_name
    return tuple(
        document
        for path, document in journal.baseline(loaded).documents().items()
        if journal.name(path) in gone
        and not (isinstance(document, NuggetDocument) and document.meta.name in held)
    )


def with_files(loaded: Loaded, documents: Iterable[Document]) -> Loaded:
    """The folder with files that are not in it."""
    graph, nuggets = loaded.graph, dict(loaded.nuggets)
    for document in documents:
        if isinstance(document, GraphDocument):
            graph = document
        else:
            nuggets[document.path] = document
    return assembled(Path(loaded.snapshot.home), graph, nuggets, loaded)


def log_lost(journal: Journal, loaded: Loaded, documents: Sequence[Document]) -> None:
    """Puts down, and says, what was gone with its file and is back. loaded: the folder without the files."""
    if not documents:
        return
    whole = with_files(loaded, documents)
    went = outside_changes(whole.snapshot, loaded.snapshot, ids=journal.ids, at=journal.at(), author=PROGRAM)
    names = ", ".join(journal.name(document.path) for document in documents)
    last = ""
    with journal.transaction() as connection:
        for one in went:
            journal.record(connection, one, OUTSIDE)
        for one in went:
            back = one.inverse(
                id=journal.ids(), at=one.at, author=OURSELVES, reason=f"restored {names}", kind="restore"
            )
            last = journal.record(connection, back, RESTORED)[1].id
    undo = f"; if you meant to delete it, undo {last}" if last else ""
    for document in documents:
        said = f"the file was missing and is restored as it was last seen{undo}"
        journal.tell(Notice(said, where=str(document.path)))
