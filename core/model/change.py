"""Change sets: the one shape of every change to a memory, whoever makes it.

A change set names an author, a reason and a time, and holds for each touched thing its value before and
after. Preview, audit log, undo and rebase all read this one shape.
"""

from __future__ import annotations

from typing import Final, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from core.errors import ErrorCode, InvalidInputError
from core.model.fact import Fact, NuggetMeta
from core.model.note import Note
from core.text.exact import encodable

AuthorKind = Literal["person", "agent", "reflection", "pipeline", "program"]
ChangeKind = Literal[
    "edit", "hit", "reflection", "promotion", "import", "undo", "redo", "restore", "repair", "outside", "mask",
    "decision",
]  # fmt: skip


# How a caller without a terminal is called that does not say which agent it is.
UNNAMED: Final = "command line"


class Author(msgspec.Struct, frozen=True):
    """Who made a change: a kind, and a name where there is one."""

    kind: AuthorKind
    name: str = ""

    def __str__(self) -> str:
        labels = {"person": "you", "program": "another program"}
        return self.name or labels.get(self.kind, self.kind)

    @property
    def is_known_agent(self) -> bool:
        """Whether an agent says it. A script or an agent that does not say so may write what the user said."""
        return self.kind == "agent" and self.name != UNNAMED

    @property
    def signature(self) -> str:
        """How the journal names who sat at the keyboard."""
        return f"{self.kind}:{self.name}" if self.name else self.kind


PERSON = Author("person")
PROGRAM = Author("program")
# Merged another machine's version by hand.
GIT = Author("program", "git")
# Puts back what other programs took back.
OURSELVES = Author("program", "nuggets")


class NoteChange(msgspec.Struct, frozen=True, kw_only=True):
    """A note before and after; None means that it was not there. `index`: its place in the file, when it matters."""

    id: str
    before: Note | None
    after: Note | None
    index: int | None = None

    @property
    def note(self) -> Note:
        """The note as it is after the change, or as it was when the change removes it."""
        found = self.after or self.before
        assert found is not None
        return found


class FactChange(msgspec.Struct, frozen=True, kw_only=True):
    """A fact of a nugget before and after. `index`: its place (it decides the bank); None appends."""

    nugget: str
    key: str
    before: Fact | None
    after: Fact | None
    index: int | None = None


class NuggetChange(msgspec.Struct, frozen=True, kw_only=True):
    """A nugget's file that comes to be, or goes."""

    name: str
    before: NuggetMeta | None
    after: NuggetMeta | None


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """A whole file: its bytes before and after, None for no file.

    path: from the root of the file system on for one outside the memory, such as MEMORY.md; else from its folder, such
    as settings.toml, so that a copy of the memory never writes to the original's.
    """

    path: str
    before: bytes | None
    after: bytes | None


class FileRepair(msgspec.Struct, frozen=True, kw_only=True):
    """A file of the memory that could not be read, as a whole or in part, and was replaced by a sound one.

    path: from the memory's folder on. kept: the name in the quarantine of the bytes before. before, after: the SHA-256
    of both versions, in hexadecimal digits.
    """

    path: str
    kept: str
    before: str
    after: str


_Change = TypeVar("_Change", NoteChange, FactChange, NuggetChange, FileChange)


class ChangeSet(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of a memory's history. `at` is an ISO 8601 time in UTC.

    A "decision" touches no note: what was decided is in the pipeline's database, under the id of its entry, or is a
    resolved conflict, `about`.

    `about`: the id of the change set that this one takes back, does again, restores or settles; "" for none.
    """

    id: str
    at: str
    author: Author
    reason: str
    kind: ChangeKind = "edit"
    about: str = ""
    notes: tuple[NoteChange, ...] = ()
    facts: tuple[FactChange, ...] = ()
    nuggets: tuple[NuggetChange, ...] = ()
    files: tuple[FileChange, ...] = ()
    mends: tuple[FileRepair, ...] = ()

    def encodable(self) -> ChangeSet:
        """The change set with U+FFFD for each lone surrogate in its texts, for which UTF-8 has no bytes.

        Raises InvalidInputError for a file whose path holds one: another path would be another file.
        """
        try:
            msgspec.json.encode(self)
            return self
        except UnicodeEncodeError:
            pass
        for file in self.files:
            if encodable(file.path) != file.path:
                raise InvalidInputError(
                    "a file whose path is not UTF-8 cannot be written", code=ErrorCode.BAD_NAME, field="path",
                    where=repr(file.path), kept="nothing was written",
                )  # fmt: skip
        import json

        whole = json.dumps(msgspec.to_builtins(self), ensure_ascii=False)
        return msgspec.json.decode(encodable(whole), type=ChangeSet)

    @property
    def empty(self) -> bool:
        """Whether nothing would change."""
        return not (self.notes or self.facts or self.nuggets or self.files or self.mends)

    @property
    def size(self) -> int:
        """How many things are touched; a fact and its note count as one."""
        mirrored = {(c.note.nugget_name, c.note.key) for c in self.notes if c.note.is_fact}
        alone = sum((c.nugget, c.key) not in mirrored for c in self.facts)
        return len(self.notes) + alone + len(self.files)

    def inverse(
        self, *, id: str, at: str, author: Author, reason: str, kind: ChangeKind = "undo"
    ) -> ChangeSet:
        """The change set that takes this one back: before and after swapped, in reverse order."""
        facts = [_swapped(change) for change in reversed(self.facts)]
        return ChangeSet(
            id=id, at=at, author=author, reason=reason, kind=kind, about=self.id,
            notes=tuple(map(_swapped, reversed(self.notes))),
            facts=tuple(replace(one, key=one.before.key if one.before else one.key) for one in facts),
            nuggets=tuple(map(_swapped, self.nuggets)), files=tuple(map(_swapped, self.files)),
        )  # fmt: skip


def _swapped(change: _Change) -> _Change:
    return replace(change, before=change.after, after=change.before)


def drops_recall(change: NoteChange | FactChange) -> bool:
    """Whether fewer recalls are counted after a change than before it."""
    return change.before is not None and change.after is not None and change.after.hits < change.before.hits


def joined(first: ChangeSet, second: ChangeSet) -> ChangeSet:
    """Two recalls as one change set under the name of the second: from before the first to after the second."""
    notes = {change.id: change for change in first.notes}
    for change in second.notes:
        former = notes.get(change.id)
        before = former.before if former is not None else change.before
        notes[change.id] = replace(change, before=before)
    facts = {(change.nugget, change.key): change for change in first.facts}
    for fact in second.facts:
        known = facts.get((fact.nugget, fact.key))
        start = known.before if known is not None else fact.before
        facts[fact.nugget, fact.key] = replace(fact, before=start)
    count = max(len(notes), len(facts))
    reason = second.reason if count == 1 else f"recalled {count} notes"
    return replace(second, reason=reason, notes=tuple(notes.values()), facts=tuple(facts.values()))
