"""A memory that we and the original write in turns, and a log beside it in which what comes from outside is judged."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from core.model.change import Author, ChangeSet, FactChange, NoteChange
from core.model.compare import Differences, differences, laid_over, outside_changes
from core.model.draft import Draft
from core.model.entry import Origin
from core.model.fact import Fact, Nugget
from core.model.names import iso
from core.model.note import Note, normalised_note, to_file_dict
from core.model.snapshot import Snapshot
from core.settings import InferenceSettings
from core.storage.format.documents import read_folder
from core.storage.journal.codec import Past
from core.storage.merge.rebase import rebase
from core.storage.reconcile.repairs import (
    ItemKey,
    OutsideSave,
    OwnChange,
    Repairs,
    fact_change_in,
    fact_keys,
    find_repairs,
)
from core.storage.reconcile.restoring import find_restoration
from kits.drafts import make_fact_note
from kits.memory_files import fact_object, note_object, write_graph, write_nugget
from kits.original_writer import Original

PROGRAM = Author("program")
# When the files were written that are looked at.
WRITTEN_NS = 10**18
VALUES = {"user:name": "Ada", "user:city": "Paris", "user:pet": "a cat"}
KEYS = tuple(VALUES)
ONE, TWO, THREE = (f"note-memory-0000000{number}" for number in (1, 2, 3))
NAME, CITY, PET = (f"fact-memory-0000001{number}" for number in range(3))
_Result = TypeVar("_Result")


# By what the log of a scene knows that a save took something back unseen.
_STALE = "stale"


def _origin(change_set: ChangeSet, made_by: str) -> Origin:
    if made_by == _STALE:
        return Origin.OVERWRITTEN
    if change_set.kind == "restore":
        return Origin.RESTORED
    return Origin.MADE if made_by else Origin.OUTSIDE


class Scene:
    """A folder with a log. Times and ids count upwards, whoever writes.

    `seen` is the memory as the log knows it; `log` holds each change set with who made it, "" for another program.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self.log: list[tuple[ChangeSet, str]] = []
        self._numbers = itertools.count(0xA0)
        self._moments = itertools.count()
        self.seen = self.now()

    # What stands in the files

    def now(self) -> Snapshot:
        """The memory as it is in the files."""
        return read_folder(self.home, InferenceSettings()).snapshot

    def note(self, id: str) -> Note:
        """A note as it is in the files."""
        return self.now().note(id)

    def nugget(self) -> Nugget:
        """The nugget "memory" as it is in the files."""
        return self.now().nugget("memory")

    def facts(self) -> dict[str, str]:
        """Keys and values of the nugget "memory", in file order."""
        return {fact.key: fact.value for fact in self.nugget().facts}

    def fact(self, key: str) -> Fact:
        """A fact of the nugget "memory"."""
        return next(fact for fact in self.nugget().facts if fact.key == key)

    # Who writes

    def clock(self) -> datetime:
        """A second later at each look."""
        return datetime(2026, 5, 5, 12, tzinfo=UTC) + timedelta(seconds=next(self._moments))

    def ids(self) -> str:
        """8 new hexadecimal digits."""
        return f"{next(self._numbers):08x}"

    def ours(self, edit: Callable[[Draft], _Result], kind: str = "edit") -> _Result:
        """We change the memory; the log remembers it."""
        draft = Draft(self.now(), now=self.clock(), ids=self.ids)
        result = edit(draft)
        change_set = draft.change_set("ours")
        change_set = msgspec.structs.replace(change_set, kind=kind)  # type: ignore[arg-type]
        self.put(change_set, ours=True)
        self.seen = self.now()
        return result

    def original(self, *, load: bool = False) -> Original:
        """A process of the original that takes the facts into memory now. load: and does all that loading does."""
        return Original(
            self.home, now=lambda: iso(self.clock()), ids=lambda: f"0{next(self._numbers):07x}", load=load
        )

    def put(self, change_set: ChangeSet, *, ours: bool) -> None:
        """Writes a change set, rebased on the files, and puts it into the log."""
        before = self.now()
        effective = rebase(change_set, before)
        self.write(laid_over(before, effective))
        if not effective.empty:
            self.log.append((effective, "us" if ours else ""))

    def write(self, snapshot: Snapshot) -> None:
        """Writes a whole memory."""
        write_graph(self.home, [to_file_dict(note) for note in snapshot.notes])
        for nugget in snapshot.nuggets:
            suffix = nugget.file.removeprefix(nugget.name) or ".nugget.json"
            facts = [
                {"key": f.key, "value": f.value, "hits": f.hits, "last_hit_session": f.last_hit_session}
                | f.extra
                for f in nugget.facts
            ]
            write_nugget(self.home, nugget.name, facts, suffix)

    # Judging

    def judged(self, seconds: float | dict[str, float] = 1.0, *, noticed: bool = False) -> Repairs:
        """Finds what was lost and what is to be mended, logs what came from outside, and puts the rest right.

        seconds: how long after our last change the files were written; or, by the id of the change, after each.
        noticed: what was taken back was seen so before.
        """
        found = self._restored_lost(seconds, noticed)
        repairs = self._repaired(seconds)
        return Repairs(
            restorations=(*found.restorations, *repairs.restorations),
            conflicts=(*found.conflicts, *repairs.conflicts),
            pending_restores=found.pending_restores | repairs.pending_restores,
            white_space=repairs.white_space,
            tried=repairs.tried,
        )

    def _restored_lost(self, seconds: float | dict[str, float], noticed: bool) -> Repairs:
        """What a save took back that its program had not seen."""
        now = self.now()
        save = OutsideSave(
            self.seen, now, self._owner(seconds), iso(self.clock()), differences(self.seen, now)
        )
        versions = {("note", change.id): change.after for change in save.found.notes}
        made = find_restoration(
            save, self._history(seconds), lambda item: WRITTEN_NS,
            {item: version for item, version in versions.items() if noticed and save.own(item)},
            self._known, self.ids,
        )  # fmt: skip
        if made is None:
            return Repairs()
        told = (*made.wishes, *made.merged)
        self.log += [(change_set, "") for change_set in told]
        self.log += [(change_set, _STALE) for change_set in made.overwritten]
        if not made.restoring.empty:
            assert rebase(made.restoring, self.now()) == made.restoring
            self.put(made.restoring, ours=True)
        left = differences(self.seen, self.now())
        self.seen = laid_over(
            self.seen,
            Differences(
                tuple(c for c in left.notes if ("note", c.id) not in made.left),
                tuple(c for c in left.facts if ("fact", c.nugget, c.key) not in made.left),
                left.nuggets,
            ),
        )
        restored = () if made.restoring.empty else (made.restoring,)
        return Repairs(restorations=restored, conflicts=made.conflicts, pending_restores=made.lost)

    def _repaired(self, seconds: float | dict[str, float]) -> Repairs:
        """What a save left to be put right, whatever it had read."""
        now, at = self.now(), iso(self.clock())
        repairs = find_repairs(self.seen, now, self._owner(seconds), ids=self.ids, at=at, author=PROGRAM)
        outside = outside_changes(self.seen, now, ids=self.ids, at=at, author=PROGRAM)
        self.log += [(change_set, "") for change_set in outside]
        for change_set in repairs.restorations:
            assert rebase(change_set, self.now()) == change_set
            self.put(change_set, ours=True)
        if repairs.white_space is not None:
            self.put(repairs.white_space, ours=True)
            self.log.pop()
        self.seen = self.now()
        return repairs

    def _owner(self, seconds: float | dict[str, float]) -> Callable[[ItemKey], OwnChange | None]:
        return lambda item: self._own(item, seconds)

    def _history(self, seconds: float | dict[str, float]) -> list[Past]:
        """The log as it is gone back over."""
        ages = seconds if isinstance(seconds, dict) else {}
        since = 0.0 if isinstance(seconds, dict) else seconds
        return [
            Past(
                change_set,
                made_by,
                WRITTEN_NS - int(ages.get(change_set.id, since) * 1e9),
                _origin(change_set, made_by),
            )
            for change_set, made_by in reversed(self.log)
        ]

    def _own(self, item: ItemKey, seconds: float | dict[str, float]) -> OwnChange | None:
        told = (entry for entry in reversed(self.log) if entry[0].kind != "hit" and entry[1] != _STALE)
        entries = [entry for entry in told if _touches(*entry, item)]
        if not entries or not entries[0][1]:
            return None
        change_set = entries[0][0]
        return OwnChange(
            entry=change_set.id,
            note=next((c for c in change_set.notes if item == ("note", c.id)), None),
            fact=fact_change_in(change_set, item[1], item[2]) if item[0] == "fact" else None,
            seconds=seconds if isinstance(seconds, float | int) else seconds[change_set.id],
            restored=self._restored(entries),
        )

    def _known(self, item: ItemKey) -> list[Note | Fact]:
        """The versions of a note or fact in the log."""
        found: list[NoteChange | FactChange | None] = [
            fact_change_in(change_set, item[1], item[2])
            if item[0] == "fact"
            else next((c for c in change_set.notes if item == ("note", c.id)), None)
            for change_set, _ in self.log
        ]
        both = ((change.before, change.after) for change in found if change is not None)
        return [version for versions in both for version in versions if version is not None]

    def _restored(self, entries: list[tuple[ChangeSet, str]]) -> int:
        count = 0
        for change_set, ours in entries:
            if change_set.kind == "restore":
                count += 1
            elif ours:
                break
        return count

    def kinds(self) -> list[str]:
        """The kinds of the entries of the log, oldest first."""
        return [change_set.kind for change_set, _ in self.log]


def _touches(change_set: ChangeSet, _made_by: str, item: ItemKey) -> bool:
    notes = (("note", change.id) for change in change_set.notes)
    facts = (("fact", change.nugget, key) for change in change_set.facts for key in fact_keys(change))
    return item in (*notes, *facts)


def make_scene(home: Path, values: dict[str, str] | None = None, **fields: Any) -> Scene:
    """A memory of the notes ONE, TWO and THREE, and of three facts with their notes NAME, CITY and PET.

    fields: of the facts' notes.
    """
    values = values or VALUES
    notes = (make_fact_note(n, key, values[key], hits=1, **fields) for n, key in enumerate(values, 0x10))
    write_graph(home, [*(note_object(number) for number in (1, 2, 3)), *map(to_file_dict, notes)])
    write_nugget(home, "memory", [fact_object(key, value, hits=1) for key, value in values.items()])
    return Scene(home)


def assert_sound(scene: Scene) -> None:
    """Facts and visible notes say the same, every note is set right, and links go both ways."""
    now = scene.now()
    assert {n.key: n.content for n in now.notes if n.is_fact and not n.hidden} == scene.facts()
    for note in now.notes:
        assert note == normalised_note(note, now.by_id.__contains__)
        for link in note.links:
            assert any(back.to == note.id for back in now.note(link.to).links)


def reasons(verdict: Repairs) -> list[str]:
    """Why each restoration is made; there is no conflict."""
    assert verdict.conflicts == ()
    return [change_set.reason for change_set in verdict.restorations]
