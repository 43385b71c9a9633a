"""Lost updates: changes that another program took back by saving a copy it had read before them.

A program without a lock reads a file, thinks, and saves all of it. What it saved is its own change on top of the
version it had read (its base), and the log knows every version that there was. So the base is looked for: going
back in the log entry by entry, the version that the saved file differs from least. Everything that changed after the
base is not in the saved file and is no wish of the program's; what differs from the base is.

Where the rest of what was saved does not tell a wish from an old copy, the newer version stays, and a person is told
how to bring theirs back (`overwritten`).
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Final, NamedTuple

import msgspec

from core.model.change import ChangeSet, FactChange
from core.model.change_parts import change_parts
from core.model.compare import HIT_FIELDS, UNSAID_FIELDS, Differences, alike, facts_are_whole
from core.model.fact import Fact
from core.model.note import FILE_NAMES, Note
from core.model.snapshot import Snapshot
from core.storage.format.documents import Loaded
from core.storage.journal.codec import OwnEntry, Past, fact_item, note_item, read_change_set
from core.storage.journal.journal import Journal
from core.storage.reconcile.repairs import SOON_SECONDS, ItemKey, OwnChange, fact_change_in, facts_of
from core.text.diff3 import merged_lines

# How old the copy may be that a program saved, in seconds: when changes of ours, or several, are missing in it, and
# when a single one of another program's is, which that program may as well have removed.
_HELD_SECONDS: Final = 60.0
_HELD_SECONDS_OF_OTHERS: Final = 10.0
_MEANING: Final = tuple(
    name for name in FILE_NAMES if name != "id" and name not in HIT_FIELDS and name not in UNSAID_FIELDS
)
Version = Note | Fact | None


def find_lost_updates(
    baseline: Snapshot,
    now: Snapshot,
    found: Differences,
    history: Iterable[Past],
    written_ns: Callable[[ItemKey], int],
    pending: Mapping[ItemKey, Version],
    known: Callable[[ItemKey], Iterable[Note | Fact]] = lambda item: (),
) -> dict[ItemKey, Version]:
    """The differences between the baseline and the files that are lost updates: each thing with the version that the
    program which saved the file had read.

    baseline: the memory as it is to be. history: entries of the log, newest first. written_ns: when the file that
    holds a thing was written. pending: what is known as lost and not restored yet, with the version that the file
    had when it was last seen. known: the versions of a thing that the log tells of. What cannot be read as a whole is
    left out.
    """
    bases: dict[ItemKey, Version] = {}
    past = _Replayed(history)
    # The notes last: what is lost of the facts tells of the graph as well.
    for group in sorted(_groups(baseline, now, found), key=lambda one: one.kind[0] == "note"):
        wanted = dict(group.then)
        # A program reads what stands in the file, so its base is a former state of the file.
        waiting = {item: pending[item] for item in group.then if item in pending}
        group.then.update(waiting)
        cut = _best_cut(group, past)
        read = waiting | _read_by_its_time(group, past, written_ns)
        if cut is not None and (_is_proven(group, cut, written_ns) or _shows_lost_facts(group, cut, bases)):
            read |= cut.bases(group)
        elif cut is not None:
            read |= _before_our_edits(group, cut, now, known)
        read |= _page_read_before(group, past, written_ns)
        read |= _held_for_longer(group, read, past, written_ns)
        at_once = _taken_back_at_once(group, past, written_ns)
        forgotten = all(_is_forgotten(group, item, now) for item in at_once)
        if bases or read or not forgotten or _writes_notes(group):
            read = at_once | read
        # A thing that stands as it did when it was lost says nothing of what was read since, whatever lies beside it.
        read |= {item: base for item, base in waiting.items() if same(base, group.now[item])}
        bases.update(
            {
                item: base
                for item, base in read.items()
                if not same(base, wanted[item]) and not _came_back(group, item, past)
            }
        )
    return bases


def _came_back(group: _Group, item: ItemKey, past: _Replayed) -> bool:
    """Whether a thing is there again that another program took out. It may have taken it out by an old copy of its own,
    and whoever brought it back had it: it is not removed once more.
    """
    if group.now[item] is None or group.then[item] is not None:
        return False
    last = past.last_change(item, group.kind)
    return last is not None and not last.made_by


@dataclass
class _Group:
    """The things of one file that differ: as they were when it was last seen, and now."""

    kind: tuple[str, ...]
    then: dict[ItemKey, Version]
    now: dict[ItemKey, Version]
    visible: Callable[[ItemKey], Version]

    def file_version(self, item: ItemKey) -> Version:
        return self.now[item] if item in self.now else self.visible(item)


def _groups(baseline: Snapshot, now: Snapshot, found: Differences) -> Iterable[_Group]:
    if found.notes and not (now.graph_problem or now.set_aside):
        # A page is a file of its own: who saves one has read none of the others.
        pages = [change for change in found.notes if change.note.page is not None]
        together = [change for change in found.notes if change.note.page is None]
        for changed in filter(None, (together, *([page] for page in pages))):
            changes = {("note", change.id): change for change in changed}
            yield _Group(
                ("note",),
                {item: change.before for item, change in changes.items()},
                {item: change.after for item, change in changes.items()},
                lambda item: now.by_id.get(item[1]),
            )
    for nugget in dict.fromkeys(change.nugget for change in found.facts):
        before, after = baseline.by_name.get(nugget), now.by_name.get(nugget)
        if before is None or after is None or before.problem or after.problem:
            continue
        if before.file != after.file:
            # Another file took the place of ours: nobody saved a copy over it.
            continue
        then, present = facts_of(baseline, nugget), facts_of(now, nugget)
        doubled = len(then) < len(before.facts) or len(present) < len(after.facts)
        if doubled or not facts_are_whole(now, nugget):
            continue
        keys = {
            key
            for c in found.facts
            if c.nugget == nugget
            for key in (c.key, c.after.key if c.after else c.key)
        }
        items: set[ItemKey] = {("fact", nugget, key) for key in keys}
        yield _Group(
            ("fact", nugget),
            {item: then.get(item[2]) for item in items},
            {item: present.get(item[2]) for item in items},
            lambda item, present=present: present.get(item[2]),  # type: ignore[misc]
        )


class _Replayed:
    """The log read backwards, each entry once, however many files ask."""

    def __init__(self, history: Iterable[Past]) -> None:
        self._rest = iter(history)
        self._read: list[Past] = []

    def __iter__(self) -> Iterator[Past]:
        place = 0
        while True:
            while place >= len(self._read):
                entry = next(self._rest, None)
                if entry is None:
                    return
                self._read.append(entry)
            yield self._read[place]
            place += 1

    def last_change(self, item: ItemKey, kind: tuple[str, ...]) -> Past | None:
        """The last change of a thing on purpose; None when the log does not say."""
        return next(
            (
                entry
                for entry in self
                if not (entry.restores or entry.overwritten) and item in _before(entry.change_set, kind)
            ),
            None,
        )


class _Step(NamedTuple):
    """An entry that was gone back over: what each thing of the file was before it."""

    entry: Past
    before: dict[ItemKey, Version]


@dataclass
class _Cut:
    """The version that the file in place differs from least. steps: the entries after it, newest first.

    cost: how many things differ from it; at_first: how many differ from the baseline.
    """

    steps: list[_Step]
    cost: int
    at_first: int
    past: _Replayed

    def bases(self, group: _Group) -> dict[ItemKey, Version]:
        """The version of each differing thing that changed after the cut."""
        found: dict[ItemKey, Version] = {}
        for step in self.steps:
            found.update((item, version) for item, version in step.before.items() if item in group.then)
        return {
            item: base
            for item, base in found.items()
            if not same(base, group.then[item]) and not self._goes_on(group, item, base)
        }

    def _goes_on(self, group: _Group, item: ItemKey, base: Version) -> bool:
        """Whether a fact has yet another value in the file where another program gave it its last one.

        Who keeps facts in memory has its own values there, and goes on from them.
        """
        held = [one for one in (group.then[item], group.now[item]) if one is not None]
        of_fact = any(isinstance(one, Fact) or one.is_fact for one in held)
        if not of_fact or same(base, group.now[item]):
            return False
        last = self.past.last_change(item, group.kind)
        return last is not None and not last.made_by

    def concerned(self, items: Collection[ItemKey]) -> list[Past]:
        """The entries after the cut that changed one of these things, newest first."""
        return [step.entry for step in self.steps if any(item in items for item in step.before)]

    def changed(self, items: Collection[ItemKey]) -> list[Past]:
        """Those of them that do not merely say what a file has instead."""
        return [entry for entry in self.concerned(items) if not entry.overwritten]


def _best_cut(group: _Group, past: _Replayed) -> _Cut | None:
    """None when no former version is nearer to the file than the baseline."""
    fit = _Fit(group)
    nearest = fit.distance
    at_first = nearest.cost
    if not at_first:
        return None
    steps: list[_Step] = []
    best: list[_Step] | None = None
    saved: _Saved | None = None
    goes_on = False
    for entry in past:
        if entry.change_set.kind == "mask":
            break
        before = _before(entry.change_set, group.kind)
        if saved is None or not saved.is_of_same_sync(entry):
            saved = _Saved(entry, fit.distance, len(steps))
        saved.add(before, fit)
        unseen = saved.unseen(group)
        if unseen and _is_nearer(saved.without(unseen), nearest):
            nearest, goes_on = saved.without(unseen), False
            best = [*steps[: saved.place], _Step(entry, unseen)]
        fit.go_back(before)
        steps.append(_Step(entry, before))
        # Another program's entry may be the work of the one that saved the file: that one had seen it.
        goes_on = goes_on and fit.distance.cost == nearest.cost and bool(entry.made_by)
        goes_on = _is_nearer(fit.distance, nearest) or (goes_on and _was_written_over(group, before))
        if goes_on:
            best, nearest = steps.copy(), fit.distance
        if nearest.cost == 0:
            break
    return _Cut(best, nearest.cost, at_first, past) if best is not None else None


class _Distance(NamedTuple):
    """How many things of a version are not as in the file, of how many the recalls are not, and how many notes are in
    one of the two alone: no note of the same id is made twice.
    """

    cost: int
    recalls: int
    alone: int

    def __sub__(self, other: _Distance) -> _Distance:
        return _Distance(*(mine - its for mine, its in zip(self, other, strict=True)))


_NONE: Final = _Distance(0, 0, 0)


def _distance(one: Version, held: Version) -> _Distance:
    """Between a thing in a version and in the file."""
    if one is None or held is None:
        there = one or held
        return _NONE if there is None else _Distance(1, there.hits > 0, isinstance(there, Note))
    return _Distance(not same(one, held), one.hits != held.hits, 0)


def _is_nearer(one: _Distance, other: _Distance) -> bool:
    # Recalls in the file tell what its program had seen, as all else in it does.
    meaning, its = one.cost + one.alone, other.cost + other.alone
    return meaning < its and meaning + one.recalls < its + other.recalls


class _Fit:
    """How far a version is from the file, while the log is gone back over from the baseline."""

    def __init__(self, group: _Group) -> None:
        self._group = group
        self._apart = {item: _distance(group.then[item], group.now[item]) for item in group.then}
        self.distance = _Distance(*map(sum, zip(*self._apart.values(), strict=True)))

    def of(self, item: ItemKey) -> _Distance:
        """How far one thing is from the file."""
        return self._apart.get(item, _NONE)

    def go_back(self, before: Mapping[ItemKey, Version]) -> None:
        """Takes things as they were before an entry."""
        for item, version in before.items():
            apart = _distance(version, self._group.file_version(item))
            self.distance -= self.of(item) - apart
            self._apart[item] = apart


class _Saved:
    """What one look at the files found that other programs had done, in one entry or several that follow each other.

    They may have saved several times, and the file may be a copy of what was there in between.
    distance, place: of the version after it.
    """

    def __init__(self, entry: Past, distance: _Distance, place: int) -> None:
        self._newest = entry
        self._distance = distance
        self.place = place
        self._before: dict[ItemKey, Version] = {}
        self._apart: dict[ItemKey, _Distance] = {}

    def is_of_same_sync(self, entry: Past) -> bool:
        """Whether an entry was found at the same look."""
        outside = all(one.overwritten or not one.made_by for one in (self._newest, entry))
        return outside and entry.written_ns == self._newest.written_ns

    def add(self, before: Mapping[ItemKey, Version], fit: _Fit) -> None:
        """before: what an entry says; fit: as it was when that entry had not been gone back over."""
        for item, version in before.items():
            self._apart.setdefault(item, fit.of(item))
            self._before[item] = version

    def unseen(self, group: _Group) -> dict[ItemKey, Version]:
        """The notes that the file has as they were before, when others of the same look are there."""
        if group.kind[0] != "note" or (self._newest.made_by and not self._newest.overwritten):
            return {}
        found = {
            item: version
            for item, version in self._before.items()
            if self._apart[item].cost and same(version, group.file_version(item))
        }
        return found if len(found) < len(self._before) else {}

    def without(self, unseen: Collection[ItemKey]) -> _Distance:
        """How far the version is that has all but these."""
        distance = self._distance
        for item in unseen:
            distance -= self._apart[item]
        return distance


def _was_written_over(group: _Group, before: Mapping[ItemKey, Version]) -> bool:
    """Whether the file has another value where an entry changed a fact.

    A program keeps its facts in memory for long: one that had not seen a later change had hardly seen this one.
    """
    return group.kind[0] == "fact" and any(
        item in group.then and not same(group.then[item], group.now[item]) for item in before
    )


def _before(change_set: ChangeSet, kind: tuple[str, ...]) -> dict[ItemKey, Version]:
    """What each thing of one file was before a change set."""
    found: dict[ItemKey, Version] = {}
    if kind[0] == "note":
        for change in change_set.notes:
            found["note", change.id] = change.before
        return found
    for fact in change_set.facts:
        if fact.nugget == kind[1]:
            if fact.after is not None and fact.after.key != fact.key:
                found.setdefault(("fact", kind[1], fact.after.key), None)
            found["fact", kind[1], fact.key] = fact.before
    return found


def _is_proven(group: _Group, cut: _Cut, written_ns: Callable[[ItemKey], int]) -> bool:
    """Whether the file is surely a copy of that version and not somebody's wish to have it back."""
    bases = cut.bases(group)
    if not bases:
        return False
    if cut.concerned(bases)[-1].restores:
        # The very version that was put right before.
        return True
    pairs = [(bases[item], group.now[item]) for item in bases]
    if any(_recalled(base, now) for base, now in pairs):
        # To recall what is not so any more is no wish to have it back.
        return True
    counted = (_recalled(group.then[item], group.now[item]) for item in group.then)
    if not cut.cost and not any(counted):
        return False
    changed = cut.changed(bases)
    saved_ns = written_ns(next(iter(bases)))
    ages = [(saved_ns - entry.written_ns) / 1e9 if entry.written_ns else math.inf for entry in changed]
    several = cut.at_first - cut.cost > 1
    known_to_us = any(entry.made_by for entry in changed)
    limit = _HELD_SECONDS if known_to_us or several else _HELD_SECONDS_OF_OTHERS
    return bool(ages) and max(ages) <= limit


def _held_for_longer(
    group: _Group, bases: Mapping[ItemKey, Version], past: _Replayed, written_ns: Callable[[ItemKey], int]
) -> dict[ItemKey, Version]:
    """Facts that are in the file as they were earlier than these versions: a program may keep each of its facts in
    memory as it found it, so that it had read those and wishes no change.
    """
    wanted = {item for item, base in bases.items() if item[0] == "fact" and not same(base, group.now[item])}
    found: dict[ItemKey, Version] = {}
    saved_ns = written_ns(next(iter(wanted))) if wanted else 0
    for entry in past:
        if not wanted or (entry.written_ns and saved_ns - entry.written_ns > _HELD_SECONDS * 1e9):
            break
        before = _before(entry.change_set, group.kind)
        for item in wanted & before.keys():
            if same(before[item], group.now[item]):
                found[item] = before[item]
                wanted.discard(item)
    return found


def _taken_back_at_once(
    group: _Group, past: _Replayed, written_ns: Callable[[ItemKey], int]
) -> dict[ItemKey, Version]:
    """Notes that are again as they were before changes of ours, in a file that was saved so soon after these that its
    program may not have seen them. A fact that was taken back is told by its note.
    """
    found: dict[ItemKey, Version] = {}
    left = set(group.then) if group.kind[0] == "note" else set()
    saved_ns = written_ns(next(iter(left))) if left else 0
    for entry in past:
        # A version found during a write of ours has no time.
        if not left or (entry.written_ns and saved_ns - entry.written_ns > SOON_SECONDS * 1e9):
            break
        if entry.overwritten:
            continue
        before = _before(entry.change_set, group.kind)
        for item in left & before.keys():
            known = entry.made_by and entry.written_ns
            if not known or entry.written_ns - saved_ns > SOON_SECONDS * 1e9:
                left.discard(item)
            elif same(before[item], group.now[item]) and not same(before[item], group.then[item]):
                found[item] = before[item]
                left.discard(item)
    return found


def _is_forgotten(group: _Group, item: ItemKey, now: Snapshot) -> bool:
    """Whether a new fact is gone with its note: it may have been forgotten at once."""
    note = group.then[item]
    gone = group.now[item] is None and isinstance(note, Note) and note.is_fact and not note.hidden
    return gone and isinstance(note, Note) and note.key not in facts_of(now, note.nugget_name)


def _writes_notes(group: _Group) -> bool:
    """Whether new notes that are no facts' came with it: who forgets a fact does that alone."""
    return any(
        isinstance(note, Note) and not note.is_fact and group.then[item] is None
        for item, note in group.now.items()
    )


def _before_our_edits(
    group: _Group, cut: _Cut, now: Snapshot, known: Callable[[ItemKey], Iterable[Note | Fact]]
) -> dict[ItemKey, Version]:
    """What is lost of our changes when something came that was never seen before, in a file that has texts of ours as
    they were before us: then it is a copy from before them, however late it was saved. Without, somebody may have put
    an old file back. What is older than those texts may have been removed on purpose.
    """
    bases = cut.bases(group)
    back = [
        item
        for item, base in bases.items()
        if base is not None
        and same(base, group.now[item])
        and _shows_its_version(base, group.then[item], now)
    ]
    changed = cut.changed(bases)
    others = (item for item in group.now if item not in bases)
    if not back or not all(entry.made_by for entry in changed):
        return {}
    if not any(_is_new(group.now[item], group.then[item], known(item)) for item in others):
        return {}
    last = max(place for place, step in enumerate(cut.steps) if any(item in back for item in step.before))
    return _Cut(cut.steps[: last + 1], cut.cost, cut.at_first, cut.past).bases(group)


def _shows_its_version(base: Version, then: Version, now: Snapshot) -> bool:
    """Whether a thing that is back bears what only a copy of that version bears: the time of a note. A fact bears none;
    one whose note stands beside it was set back together with it, or is told by the note.
    """
    if isinstance(base, Note):
        return isinstance(then, Note) and base.updated_at != then.updated_at
    return base is not None and not any(
        (note := now.fact_notes.get((nugget.name, base.key))) is not None and not note.hidden
        for nugget in now.nuggets
    )


def _is_new(held: Version, then: Version, known: Iterable[Note | Fact]) -> bool:
    versions = [one for one in (then, *known) if one is not None]
    if held is None:
        return False
    if isinstance(held, Fact):
        return not any(isinstance(one, Fact) and alike(one.value, held.value) for one in versions)
    return not all(
        any(isinstance(one, Note) and alike(getattr(one, name), getattr(held, name)) for one in versions)
        for name in ("title", "content")
    )


def _read_by_its_time(
    group: _Group, past: _Replayed, written_ns: Callable[[ItemKey], int]
) -> dict[ItemKey, Version]:
    """Notes with a text of another program's over one that we had just written, which still bear the time before that:
    their program had read what was there before us.
    """
    found: dict[ItemKey, Version] = {}
    for item, then in group.then.items():
        now = group.now[item]
        if not isinstance(then, Note) or not isinstance(now, Note) or now.updated_at >= then.updated_at:
            continue
        entry = past.last_change(item, group.kind)
        base = _before(entry.change_set, group.kind)[item] if entry is not None and entry.made_by else None
        if entry is None or not isinstance(base, Note) or base.updated_at != now.updated_at:
            continue
        soon = abs(written_ns(item) - entry.written_ns) <= SOON_SECONDS * 1e9
        texts = ("content",) if now.is_fact else ("content", "title")
        if soon and any(_is_a_third(*(getattr(one, name) for one in (base, then, now))) for name in texts):
            found[item] = base
    return found


def _page_read_before(
    group: _Group, past: _Replayed, written_ns: Callable[[ItemKey], int]
) -> dict[ItemKey, Version]:
    """Pages that lack what we had written seconds before, with lines of their own that go together with it: whoever
    saved them had read what was there before us.
    """
    found: dict[ItemKey, Version] = {}
    for item, then in group.then.items():
        now = group.now[item]
        if not isinstance(then, Note) or not isinstance(now, Note) or then.page is None:
            continue
        saved_ns = written_ns(item)
        for entry in past:
            if entry.written_ns and saved_ns - entry.written_ns > SOON_SECONDS * 1e9:
                break
            base = _before(entry.change_set, group.kind).get(item)
            if not isinstance(base, Note) or entry.overwritten or base.content == then.content:
                continue
            if not entry.made_by:
                break
            together = merged_lines(base.content, then.content, now.content)
            if together is not None and together != now.content:
                found[item] = base
                break
    return found


def _is_a_third(before: str, ours: str, theirs: str) -> bool:
    return not (alike(before, ours) or alike(theirs, before) or alike(theirs, ours))


def _shows_lost_facts(group: _Group, cut: _Cut, lost: Mapping[ItemKey, Version]) -> bool:
    """Whether the graph bears the note of a lost fact as it was before: then both files are old copies."""
    for item in cut.bases(group):
        then, now = group.then[item], group.now[item]
        note = now if isinstance(now, Note) else then
        if not isinstance(note, Note) or not note.is_fact:
            continue
        place: ItemKey = ("fact", note.nugget_name, note.key)
        if place not in lost:
            continue
        fact, shown = lost[place], isinstance(now, Note) and not now.hidden
        if (isinstance(fact, Fact) and shown and alike(fact.value, note.content)) or (
            fact is None and not shown
        ):
            return True
    return False


def _recalled(base: Version, now: Version) -> bool:
    return base is not None and now is not None and now.hits > base.hits


def same(one: Version, other: Version) -> bool:
    """Whether two versions say the same: recalls, white space and what every save moves do not count.

    A later time on a note that is no fact's, without a recall, is somebody's own edit.
    """
    if one is None or other is None:
        return one is other
    if isinstance(one, Fact) or isinstance(other, Fact):
        return isinstance(one, Fact) and isinstance(other, Fact) and alike(one.value, other.value)
    if not one.is_fact and one.updated_at != other.updated_at and one.hits == other.hits:
        return False
    return one.extra == other.extra and all(
        set(getattr(one, name)) == set(getattr(other, name))
        if name == "tags"
        else _links(one) == _links(other)
        if name == "links"
        else alike(getattr(one, name), getattr(other, name))
        for name in _MEANING
    )


def _links(note: Note) -> set[tuple[str, str]]:
    return {(link.to, link.reason) for link in note.links}


# What we did last to a thing, as the journal tells it

# How far back the log is searched for what a thing said before.
_VERSIONS: Final = 200


def item_names(items: Iterable[ItemKey]) -> frozenset[str]:
    """How the journal names these things."""
    return frozenset(item_name(item) for item in items)


def item_name(item: ItemKey) -> str:
    return note_item(item[1]) if item[0] == "note" else fact_item(item[1], item[2])


def own_changes(journal: Journal, loaded: Loaded) -> Callable[[ItemKey], OwnChange | None]:
    """Tells our last change of a thing, for files that came as they are in `loaded`."""
    # It is asked for the same thing several times, and each answer takes reading several entries.
    return functools.cache(lambda item: _own_change(journal, loaded, item))


def known_versions(journal: Journal) -> Callable[[ItemKey], Iterable[Note | Fact]]:
    """Tells the versions of a thing that the journal's entries hold, newest first."""
    return lambda item: _versions(journal, item)


def _versions(journal: Journal, item: ItemKey) -> Iterator[Note | Fact]:
    rows = journal.rows(
        "SELECT body FROM entry JOIN touched USING (seq) WHERE item = ? ORDER BY touched.seq DESC LIMIT ?",
        (item_name(item), _VERSIONS),
    )
    for (body,) in rows:
        with contextlib.suppress(ValueError):
            change_set = read_change_set(body)
            of_note = (c for c in change_set.notes if item == ("note", c.id))
            found = fact_change_in(change_set, item[1], item[2]) if item[0] == "fact" else next(of_note, None)
            if found is not None:
                yield from (one for one in (found.after, found.before) if one is not None)


def _own_change(journal: Journal, loaded: Loaded, item: ItemKey) -> OwnChange | None:
    name = item_name(item)
    entries = journal.own_changes(name)
    if not entries:
        return None
    last = entries[0]
    chosen = next((entry for entry in entries if _is_back(entry, item, loaded)), last)
    return OwnChange(
        entry=chosen.change_set.id,
        note=next((c for c in last.change_set.notes if item == ("note", c.id)), None),
        fact=_fact_change(chosen, last, item),
        seconds=(written_at(loaded, item) - chosen.written_ns) / 1e9,
        restored=journal.restored(name),
    )


def _is_back(entry: OwnEntry, item: ItemKey, loaded: Loaded) -> bool:
    """Whether a fact is as it was before an entry."""
    fact = fact_change_in(entry.change_set, item[1], item[2]) if item[0] == "fact" else None
    held = facts_of(loaded.snapshot, item[1]).get(item[2]) if fact is not None else None
    was = fact.before if fact is not None else None
    return fact is not None and (held is was if held is None or was is None else alike(held.value, was.value))


def _fact_change(first: OwnEntry, last: OwnEntry, item: ItemKey) -> FactChange | None:
    if item[0] != "fact":
        return None
    start = fact_change_in(first.change_set, item[1], item[2])
    end = fact_change_in(last.change_set, item[1], item[2])
    if start is None or end is None:
        return end
    return msgspec.structs.replace(end, key=start.key, before=start.before)


def written_at(loaded: Loaded, item: ItemKey) -> int:
    """When the file that holds a thing was last written, in nanoseconds by the file system's clock."""
    if item[0] == "note":
        note, pages = loaded.snapshot.by_id.get(item[1]), loaded.graph.pages
        if pages is not None and note is not None and note.page is not None:
            return pages.written_ns(note.page.file)
        made = loaded.graph.fingerprint
        return made.mtime_ns if made is not None else 0
    named = (d for d in loaded.nuggets.values() if d.meta.name == item[1] and d.fingerprint is not None)
    return max((d.fingerprint.mtime_ns for d in named if d.fingerprint is not None), default=0)


# What another program wrote over right after us

# The original reads the graph before each operation, so it holds one for less long than its facts.
_GRAPH_HELD_SECONDS: Final = 30.0


def overwritten(journal: Journal, found: Iterable[ChangeSet], loaded: Loaded) -> frozenset[ItemKey]:
    """The notes and facts that changed in `found`, which is of another program and not in the log yet, so soon after we
    changed them that it may not have seen ours.
    """
    own_change = own_changes(journal, loaded)
    found = tuple(found)
    changed = {("fact", fact.nugget, fact.key): fact for one in found for fact in one.facts}
    names: set[ItemKey] = set()
    for item, fact in changed.items():
        # To forget a fact is to know of it.
        own = own_change(item) if fact.after is not None else None
        if own is None or own.fact is None or not 0 <= own.seconds <= _HELD_SECONDS:
            continue
        ours_was_there = same(own.fact.after, fact.before) and not same(fact.before, fact.after)
        if ours_was_there and not _knew_of_later(journal, own.entry, item[1], changed.keys()):
            names.add(item)
    for note in (note for one in found if one.kind != "hit" for note in one.notes if not note.note.is_fact):
        own = own_change(("note", note.id))
        if own is None or own.note is None or not 0 <= own.seconds <= _GRAPH_HELD_SECONDS:
            continue
        if same(own.note.after, note.before) and same(own.note.before, note.after):
            names.add(("note", note.id))
    return frozenset(names)


def _knew_of_later(journal: Journal, entry: str, nugget: str, changed: Iterable[ItemKey]) -> bool:
    """Whether something of the nugget that we changed after that entry stands in the file: its program had seen it."""
    passed_over = frozenset(changed)
    later = takewhile(lambda past: past.change_set.id != entry, journal.past())
    return any(
        fact.nugget == nugget and ("fact", nugget, fact.key) not in passed_over
        for past in later
        if past.made_by
        for fact in past.change_set.facts
    )


def ways_back(logged: ChangeSet, overwritten: frozenset[ItemKey]) -> Iterator[str]:
    """One line for each of these things that an entry of the log changed: what happened, and what to undo."""
    for part in change_parts(logged):
        told = [
            *(
                f'changed "{f.key}" in {f.nugget}'
                for f in part.facts
                if ("fact", f.nugget, f.key) in overwritten
            ),
            *(
                f'removed "{n.note.title}"' if n.after is None else f'changed "{n.note.title}" back'
                for n in part.notes
                if ("note", n.id) in overwritten
            ),
        ]
        for what in told:
            yield (f"another program {what} right after you did; to restore yours, undo {part.id}")
