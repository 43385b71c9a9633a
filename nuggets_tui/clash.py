"""A conflict as a person settles it: what was changed in two ways, its three versions, and what else hangs on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from core.errors import ConflictError
from core.model.change import GIT, OURSELVES, PERSON, ChangeSet, FactChange, NoteChange
from core.model.entry import Conflict, Entry
from core.model.fact import Fact
from core.model.note import METADATA_FIELDS, Note
from core.model.snapshot import Snapshot
from core.text.normalise import squeeze
from nuggets_tui.key_map import DEFAULT, KeyMap
from nuggets_tui.remedies import step

# Fields whose two versions can be made one by writing.
TEXTS: Final = frozenset({"content", "title", "value", "key"})
# Of these a line is all there is room for.
LINES: Final = frozenset({"title", "key"})
Side = Literal["ours", "theirs"]
_COMPARED: Final = ("title", "content", "hidden", *METADATA_FIELDS)


@dataclass(frozen=True)
class Version:
    """One of the three versions; `there` is False when it says that the thing is gone, or was not there yet."""

    text: str
    there: bool = True


@dataclass(frozen=True)
class Clash:
    """A conflict with everything that is shown of it.

    title: of the note or fact. field: what of it, "" for the whole thing. ours: what waits; theirs: what stands in
    the files now. made: the entry that brought theirs, if the log tells. also: further fields that were changed in
    two ways. rest: how many more things the change that waits would do.
    """

    entry: Entry
    what: str
    title: str
    field: str
    base: Version
    ours: Version
    theirs: Version
    made: ChangeSet | None = None
    also: tuple[str, ...] = ()
    rest: int = 0

    @property
    def textual(self) -> bool:
        """Whether a third text can take the place of both."""
        return self.field in TEXTS

    @property
    def own(self) -> Side:
        """The side of the person here: what stands in the files, where another machine, a conflict copy or an agent has
        said what waits.
        """
        made = self.entry.change_set
        return "ours" if made.author in (PERSON, OURSELVES) and made.kind != "import" else "theirs"

    @property
    def came_in(self) -> bool:
        """Whether what waits is another machine's: by a sync, by git, or in a conflict copy."""
        made = self.entry.change_set
        return made.kind == "import" or made.author == GIT

    def version(self, side: Side) -> Version:
        """One of the two versions that can be taken."""
        return self.ours if side == "ours" else self.theirs


def concerned(entry: Entry, snapshot: Snapshot) -> str:
    """The id of the note that a conflict is about, or of the note that mirrors its fact; "" for none."""
    conflict = _conflict(entry)
    if conflict.where in snapshot.by_id or any(c.id == conflict.where for c in entry.change_set.notes):
        return conflict.where
    for (nugget, key), note in snapshot.fact_notes.items():
        if conflict.where == f"{nugget}: {key}":
            return note.id
    return ""


def clash(entry: Entry, snapshot: Snapshot, about_it: Sequence[Entry]) -> Clash:
    """The conflict of an entry against the memory as it is now. about_it: entries about the same note, newest first."""
    conflict = _conflict(entry)
    change = _change(entry.change_set, conflict.where)
    now = _present(change, snapshot)
    # What comes in whole, without a version before it, is taken whole or not at all.
    field = "" if change is not None and change.before is None else conflict.field
    base, ours, theirs = _versions(conflict, field, change, now)
    made = next((e.change_set for e in about_it if e.state == "done" and e.change_set.kind != "hit"), None)
    also = _also(change, now, field) if isinstance(change, NoteChange) else ()
    return Clash(
        entry=entry,
        what=conflict.what,
        title=_title(change, conflict),
        field=field,
        base=base,
        ours=ours,
        theirs=theirs,
        made=made,
        also=also,
        rest=max(0, entry.change_set.size - 1),
    )


def _conflict(entry: Entry) -> Conflict:
    return entry.conflict or Conflict(what=entry.change_set.reason)


def _change(change_set: ChangeSet, where: str) -> NoteChange | FactChange | None:
    for note in change_set.notes:
        if where in (note.id, f"{note.note.nugget_name}: {note.note.key}" if note.note.is_fact else None):
            return note
    for fact in change_set.facts:
        if where in (f"{fact.nugget}: {fact.key}", f"{fact.nugget}: {fact.after.key if fact.after else ''}"):
            return fact
    return None


def _present(change: NoteChange | FactChange | None, snapshot: Snapshot) -> Note | Fact | None:
    if isinstance(change, NoteChange):
        return snapshot.by_id.get(change.id)
    if isinstance(change, FactChange) and change.nugget in snapshot.by_name:
        nugget = snapshot.by_name[change.nugget]
        keys = [change.key, *([change.after.key] if change.after else [])]
        return next((fact for key in keys for fact in nugget.facts if fact.key == key), None)
    return None


def _title(change: NoteChange | FactChange | None, conflict: Conflict) -> str:
    if isinstance(change, NoteChange):
        return change.note.title
    return change.key if change is not None else conflict.where


def _versions(
    conflict: Conflict, field: str, change: NoteChange | FactChange | None, now: Note | Fact | None
) -> tuple[Version, Version, Version]:
    if change is None:
        return Version(conflict.base), Version(conflict.ours), Version(conflict.theirs)
    if field:
        kept = Version(conflict.base), Version(conflict.ours)
        there = now is not None and hasattr(now, field)
        theirs = getattr(now, field) if there else conflict.theirs
        versions = (*kept, Version(str(theirs)))
        return _in_words(*versions) if field == "hidden" else versions
    return _whole(change.before), _whole(change.after), _whole(now)


def _whole(thing: Note | Fact | None) -> Version:
    if thing is None:
        return Version("", there=False)
    if isinstance(thing, Fact):
        return Version(f"{thing.key}\n\n{thing.value}")
    state = "\n\n(hidden)" if thing.hidden else ""
    return Version(f"{thing.title}\n\n{thing.content}{state}")


def _in_words(base: Version, ours: Version, theirs: Version) -> tuple[Version, Version, Version]:
    def said(version: Version) -> Version:
        return Version("hidden" if version.text == "True" else "not hidden")

    return said(base), said(ours), said(theirs)


def _also(change: NoteChange, now: Note | Fact | None, field: str) -> tuple[str, ...]:
    """Further fields in which what waits and what stands in the files differ, each from what was before."""
    before, after = change.before, change.after
    if before is None or after is None or not isinstance(now, Note) or not field:
        return ()

    def apart(name: str) -> bool:
        base, ours, theirs = (_plain(getattr(note, name)) for note in (before, after, now))
        return ours != base and theirs not in (base, ours)

    return tuple(name for name in _COMPARED if name != field and apart(name))


def _plain(value: Any) -> Any:
    return squeeze(value) if isinstance(value, str) else value


def in_the_way(error: ConflictError, snapshot: Snapshot, keys: KeyMap = DEFAULT) -> str:
    """Why something cannot be taken back or done again, in sentences; notes by their titles."""
    note = snapshot.by_id.get(error.where)
    where = f'"{note.title}"' if note is not None else error.where
    said = "; ".join(part for part in (error.what, step(error, keys)) if part)
    return f"{where}: {said}. Nothing was changed."
