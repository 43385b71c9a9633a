"""A snapshot: the whole memory at one moment, immutable, with the look-ups that thinking needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from unicodedata import normalize

import msgspec

from core.errors import (
    AmbiguousError,
    BrokenFileError,
    ErrorCode,
    InvalidInputError,
    NotFoundError,
    NuggetsError,
    Remedy,
    few_of,
)
from core.model.fact import Fact, Nugget
from core.model.names import did_you_mean, did_you_mean_note
from core.model.note import Link, Note, disputed_note
from core.text.exact import exact_form


class ProblemKind(StrEnum):
    """What is wrong: a note, a fact or a whole file cannot be read, a note has the id or a fact the key of an earlier
    one, or a nugget has a second file.
    """

    UNREADABLE_NOTE = "unreadable-note"
    UNREADABLE_FACT = "unreadable-fact"
    UNREADABLE_FILE = "unreadable-file"
    SHARED_ID = "shared-id"
    SHARED_KEY = "shared-key"
    SECOND_FILE = "second-file"

    @property
    def of_an_item(self) -> bool:
        """Whether it is about one note or fact of a file that can be read otherwise."""
        return self not in (ProblemKind.UNREADABLE_FILE, ProblemKind.SECOND_FILE)

    @property
    def unreadable(self) -> bool:
        """Whether something cannot be read: of several of one name, and of second files, all can be."""
        return self in (ProblemKind.UNREADABLE_NOTE, ProblemKind.UNREADABLE_FACT, ProblemKind.UNREADABLE_FILE)


class Problem(msgspec.Struct, frozen=True):
    """Something in the files that could not be used and was left as it is. `where` names file and place.

    place: which of the file's notes or facts it is, in words; "" for a whole file. names: id and title of a note, as
    far as they are legible. used: the name of the file that is used in place of a second one.
    """

    kind: ProblemKind
    where: str
    what: str
    file: str = ""
    nugget: str = ""
    names: tuple[str, ...] = ()
    place: str = ""
    used: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Snapshot:
    """All notes and nuggets of one folder, in file order.

    Nothing in it changes; two snapshots may share most of their notes. `read_only` says why nothing may be
    written, "" when writing is allowed. `set_aside` holds the ids of notes that could not be read: they stay
    in their file, so links to them are sound. `graph_problem` says why the note graph cannot be read, "" when it can.
    """

    notes: tuple[Note, ...] = ()
    nuggets: tuple[Nugget, ...] = ()
    problems: tuple[Problem, ...] = ()
    home: str = ""
    read_only: str = ""
    set_aside: frozenset[str] = frozenset()
    graph_problem: str = ""
    revision: int = field(default=0, compare=False)

    @cached_property
    def by_id(self) -> Mapping[str, Note]:
        """Notes by id."""
        return {note.id: note for note in self.notes}

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Where each note stands among the others, by id."""
        return {note.id: place for place, note in enumerate(self.notes)}

    @cached_property
    def visible(self) -> tuple[Note, ...]:
        """Notes that are not hidden."""
        return tuple(note for note in self.notes if not note.hidden)

    @cached_property
    def by_name(self) -> Mapping[str, Nugget]:
        """Nuggets by name."""
        return {nugget.name: nugget for nugget in self.nuggets}

    @cached_property
    def facts_by_key(self) -> Mapping[str, Mapping[str, Fact]]:
        """Facts by nugget and key."""
        return {name: {fact.key: fact for fact in one.facts} for name, one in self.by_name.items()}

    @cached_property
    def fact_notes(self) -> Mapping[tuple[str, str], Note]:
        """The note that mirrors a fact, by nugget and key; a visible one wins over a hidden one."""
        found: dict[tuple[str, str], Note] = {}
        for note in self.notes:
            if note.is_fact:
                place = (note.nugget_name, note.key)
                if place not in found or (found[place].hidden and not note.hidden):
                    found[place] = note
        return found

    @cached_property
    def hidden_facts(self) -> Mapping[str, Mapping[str, int]]:
        """For each nugget, the notes that hold a hidden fact, with the index that the fact had."""
        found: dict[str, dict[str, int]] = {}
        for note in self.notes:
            if note.hidden and note.hidden_fact is not None:
                found.setdefault(note.nugget_name, {}).setdefault(note.id, note.hidden_fact.index)
        return found

    @cached_property
    def links_in(self) -> Mapping[str, tuple[tuple[str, Link], ...]]:
        """For each note the links that point to it, as (id of the note that holds the link, link)."""
        found: dict[str, list[tuple[str, Link]]] = {}
        for note in self.notes:
            for link in note.links:
                found.setdefault(link.to, []).append((note.id, link))
        return {target: tuple(links) for target, links in found.items()}

    @cached_property
    def disputing(self) -> Mapping[str, tuple[Note, ...]]:
        """For each note the visible ones that say otherwise, while nobody decided between them."""
        found: dict[str, list[Note]] = {}
        for note in self.notes:
            disputed = disputed_note(note) if note.extra else ""
            if disputed:
                found.setdefault(disputed, []).append(note)
        return {target: tuple(notes) for target, notes in found.items()}

    @cached_property
    def nugget_names(self) -> tuple[str, ...]:
        """Names of all nuggets, also of those that only notes name; sorted."""
        return tuple(sorted({n.name for n in self.nuggets} | {n.nugget_name for n in self.notes}))

    @property
    def fact_count(self) -> int:
        """Facts over all nuggets."""
        return sum(len(nugget.facts) for nugget in self.nuggets)

    def note(self, note_id: str) -> Note:
        """The note with this id. Raises NotFoundError."""
        found = self.by_id.get(note_id)
        if found is None:
            raise NotFoundError("no such note", field="note", remedy=Remedy("list-note-ids"), where=note_id)
        return found

    def resolve(self, text: str, *, within: Sequence[Note] | None = None) -> Note:
        """The note with this id, unambiguous prefix of an id, or exact title. A visible note wins over a hidden one of
        the same title.

        Raises NotFoundError, AmbiguousError, BrokenFileError for a note that cannot be read, and InvalidInputError
        for an empty text.
        """
        wanted = text.strip()
        if not wanted:
            raise InvalidInputError(
                "the id is empty",
                code=ErrorCode.EMPTY,
                field="id",
                todo="give an id, its beginning, or a title",
            )
        if within is None and wanted in self.by_id:
            return self.by_id[wanted]
        notes = self.notes if within is None else within
        folded = exact_form(wanted)
        by_title = [n for n in notes if n.title == wanted] or [
            n for n in notes if exact_form(n.title) == folded
        ]
        begins = normalize("NFC", wanted)
        ids = [(n, normalize("NFC", n.id)) for n in notes]
        for candidates in (
            [n for n in notes if n.id == wanted],
            [n for n in by_title if not n.hidden],
            by_title,
            [n for n, id in ids if id.startswith(begins)],
            [n for n, id in ids if id.rpartition("-")[2].startswith(begins)],
        ):
            if len({n.id for n in candidates}) == 1:
                return candidates[0]
            if candidates:
                raise AmbiguousError(
                    f"matches {len(candidates)} notes: {few_of([n.id for n in candidates])}",
                    remedy=Remedy("name-it", "more of the id"),
                    where=wanted,
                )
        raise self._no_note(wanted)

    def _no_note(self, wanted: str) -> NuggetsError:
        """Why no note was found: the one that is meant cannot be read or has another's id, or there is none."""
        kinds = ProblemKind.UNREADABLE_NOTE, ProblemKind.SHARED_ID
        unread = [problem for problem in self.problems if problem.kind in kinds]
        for problem in unread:
            known = {exact_form(name) for name in problem.names}
            if exact_form(wanted) in known or any(
                id.startswith(wanted) for name in problem.names[:1] for id in (name, name.rpartition("-")[2])
            ):
                return BrokenFileError(
                    f"this note {problem.what}", remedy=Remedy("verify"), where=problem.where
                )
        return NotFoundError(
            "no note has this id or title",
            field="note",
            remedy=Remedy("list-notes-unread" if unread else "list-notes"),
            where=wanted,
            todo=self.nearest_notes(wanted),
        )

    def nearest_notes(self, wanted: str) -> str:
        """A question that suggests the notes whose title or id is most alike; "" for none."""
        return did_you_mean_note(wanted, (note.title for note in self.notes), self.by_id)

    def nugget(self, name: str) -> Nugget:
        """The nugget of this name. Raises NotFoundError."""
        found = self.by_name.get(name)
        if found is None:
            raise self.no_nugget(name)
        return found

    def no_nugget(self, name: str) -> NotFoundError:
        """The error for a name that no nugget has; it names the nearest and all others."""
        known = f"nuggets here: {', '.join(self.nugget_names[:8]) or 'none yet'}"
        near = did_you_mean(name, self.nugget_names)
        return NotFoundError("no such nugget", field="nugget", where=name, todo=f"{near} {known}".strip())
