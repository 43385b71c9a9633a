"""Keeps a memory sound: verify and repair, backups and restore, and merging conflict copies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from core.errors import NotFoundError, NuggetsError, Remedy, StorageError, partly_done
from core.model.change import ChangeSet, FactChange, NoteChange
from core.model.draft import Draft
from core.model.entry import Conflict, Entry
from core.model.fact import Fact
from core.model.names import iso, parse_iso
from core.model.note import Note
from core.model.progress import Progress
from core.model.snapshot import ProblemKind, Snapshot
from core.projects import change_for
from core.services.arrivals import keep_waiting
from core.services.log_access import of_the_log
from core.storage.files.atomic import may_be_read, wrong_kind
from core.storage.format.documents import Document, id_of
from core.storage.journal.codec import fact_item, note_item
from core.storage.merge.copies import ConflictCopy, conflict_copies, join, left_over, read_copy
from core.storage.recovery import inspect_folder
from core.storage.safety import Backup, Record, backups, projects_in, read_backup, records
from core.timeline import timeline_of
from core.verify import Finding, RepairKind, findings, repair, sentence

if TYPE_CHECKING:
    from core.memory import Memory

_FILES_REPAIRED: Final = "the unreadable files are repaired, and all else is unchanged"
_REPAIR_FILE: Final = (
    "rebuilds the file from what is legible and what was last read, and keeps this one in the quarantine"
)
_TAKE_AWAY: Final = "Move it out of the folder: a file belongs there."
_LET_READ: Final = "Repair cannot read it either: check its permissions and its disk."
_REPAIR_ITEM: Final = "restores the last readable version, and keeps these bytes in the quarantine"
# So many changes of a note or fact are looked at for the version that a copy was made from.
_MOST_VERSIONS: Final = 20
_UNKEPT: Final = "where it differs could not be added to the history"
_JOINED: Final = "what could be joined is written, and each copy is where it was or in the quarantine"
_PUT_AWAY: Final = "a conflict copy of a sync tool, joined into the memory"


@dataclass(frozen=True)
class JoinedCopy:
    """A merged conflict copy.

    kept: where it lies now; None when it was only inspected or stayed. problem: why it could not be merged, "" when
    it was. left_out: what of it was not taken over, in words.
    """

    path: Path
    original: Path
    kept: Path | None = None
    problem: str = ""
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Resolved:
    """The result of merging conflict copies. conflicts: wait in the log; the memory keeps its own versions."""

    copies: tuple[JoinedCopy, ...]
    change_set: ChangeSet | None = None
    conflicts: tuple[Conflict, ...] = ()


class Maintenance:
    """The maintenance of one memory."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._store = memory.store

    # Verify

    @of_the_log
    def verify(self, progress: Progress | None = None) -> tuple[Finding, ...]:
        """Every problem of the memory, each with what `repair` would do about it."""
        self._memory.refresh()
        # Nobody's edit waits for the looking.
        found = findings(self._memory.snapshot, progress)
        with self._memory.guard:
            repairable = self._store.repairable()
            copies = {str(copy.path) for copy in conflict_copies(self._store.home)}
            inside = [
                _with_repair(one, repairable)
                for one in found
                if one.kind != ProblemKind.SECOND_FILE or one.where not in copies
            ]
            return (*inside, *inspect_folder(self._store.home), *self._in_the_log())

    def _in_the_log(self) -> Iterator[Finding]:
        journal, problem = self._store.journal, self._store.log_problem
        if problem is not None:
            todo = [sentence(problem.more)]
            if isinstance(problem, StorageError) and problem.damaged:
                # Whatever else keeps it from being read passes, and a log that is moved away would be missed then.
                todo.append("Moving it out of the folder keeps it, and a new history starts.")
            detail = f"{sentence(problem.what)[:-1]}: changes cannot be shown or undone."
            told = " ".join(filter(None, todo))
            yield Finding("unreadable-log", problem.where, detail, todo=told, remedy=problem.remedy)
        elif journal is not None:
            for entry in journal.entries(state="conflict"):
                met = entry.conflict.what if entry.conflict else "it met another"
                detail = f"A change waits for you ({met}): {entry.change_set.reason}."
                yield Finding("conflict", entry.id, detail, remedy=Remedy("resolve", entry.id))
            if journal.pending_count():
                detail = "A write was interrupted. The next change, or opening the memory again, finishes it."
                yield Finding("unfinished", str(journal.path), detail)

    @of_the_log
    def repair(self) -> ChangeSet:
        """Repairs what `verify` finds and can be repaired without asking, as one change set. Errors as in
        `Memory.apply`.

        First it rebuilds a file that cannot be read from its legible part and the baseline, and restores the last
        readable version of each note or fact that cannot be read. These repairs are an entry of their own, and the
        quarantine keeps the former file.
        """
        with self._memory.guard:
            before, made = self._newest_entry(), None
            repaired = self._store.repair(self._memory.author)
            if repaired:
                self._memory.refresh(patient=False)
                newest = self._newest_entry()
                made = newest if newest is not None and (before is None or newest.id != before.id) else None
            if made is not None:
                # Before what is repaired on top of it, so that undo reverts it last.
                self._memory.window.made.append(made.id)
            with partly_done(_FILES_REPAIRED) if repaired else nullcontext():
                _, done = self._memory.change("repaired what verify found", repair, kind="repair")
            return made.change_set if done.empty and made is not None else done

    def _newest_entry(self) -> Entry | None:
        journal = self._store.journal
        return next(iter(journal.entries(limit=1)), None) if journal is not None else None

    # Going back

    def backups(self) -> tuple[Backup, ...]:
        """The backups of the folder, newest first."""
        return tuple(backups(self._store.home))

    @of_the_log
    def restoration(
        self, when: str | None = None, note: str | None = None, progress: Progress | None = None
    ) -> ChangeSet:
        """The changes that restore the memory, or one note of it, to an earlier time; `Memory.apply` writes them.

        when: the name of a backup or its beginning, or an ISO 8601 time that the log or a backup covers; None: the
        newest backup. progress: called with how many of a backup's notes are read. Raises NotFoundError,
        InvalidInputError, BrokenFileError.
        """
        found = self._as_it_was(when)
        if isinstance(found, Backup):
            wanted = read_backup(found.path, self._memory.settings.inference, progress)
            done = self.going_back(wanted, f"the backup {found.name}", note, progress)
            named = {one.note.nugget_name for one in done.notes} | {one.nugget for one in done.facts}
            projects = change_for(str(self._memory.home), projects_in(found.path), named)
            return msgspec.structs.replace(done, files=(projects,)) if projects else done
        return self.going_back(*found, note, progress)

    def going_back(
        self, wanted: Snapshot, words: str, note: str | None = None, progress: Progress | None = None
    ) -> ChangeSet:
        """The changes that bring the memory, or one note of it, to the state `wanted`; `Memory.apply` writes them.
        words: the name of that state in the log. progress and errors as in `core.restore.restoration`.
        """
        from core.restore import restoration

        memory = self._memory
        with memory.guard:
            memory.refresh_read_only()
            current = memory.snapshot
        # Nobody's edit waits for a proposal.
        id, at = memory.stamp()
        reason = f"restored {'the memory' if note is None else 'a note'} from {words}"
        return restoration(
            current, wanted, note=note, id=id, at=at, author=memory.author, reason=reason, progress=progress
        )

    def _as_it_was(self, when: str | None) -> tuple[Snapshot, str] | Backup:
        """The state that a person means, as the log tells it, with its time; or else a backup. Raises NotFoundError,
        StorageError.
        """
        known = self.backups()
        if when is None:
            if not known:
                raise NotFoundError("there is no backup yet", field="backup", where=str(self._store.home))
            return known[0]
        named = [backup for backup in known if backup.name.startswith(when)]
        moment = parse_iso(when)
        if named and (len(named) == 1 or named[0].name == when or moment is None):
            return named[0]
        if moment is None:
            raise _no_backup("not a backup and not a time", when)
        with self._memory.guard:
            self._memory.refresh_read_only()
            timeline = timeline_of(self._memory.snapshot, self._memory)
        with suppress(NotFoundError):
            return timeline.at(timeline.position_at(iso(moment))), iso(moment)
        for backup in known:
            if (made := parse_iso(backup.at)) is not None and made <= moment:
                return backup
        raise _no_backup("no backup is that old, and the history does not go back that far", when)

    # Conflict copies

    def set_aside(self) -> tuple[Record, ...]:
        """What could not be read and is kept in the quarantine with its exact bytes, newest first."""
        return tuple(records(self._store.home))

    @of_the_log
    def resolve(self, *, dry_run: bool = False) -> Resolved:
        """Merges the conflict copies that sync tools left beside the files; each then lies in the quarantine.

        What both versions changed in two ways waits in the log. Errors as in `Memory.apply`.
        """
        memory = self._memory
        with memory.guard:
            memory.refresh_read_only() if dry_run else memory.refresh()
            done: list[JoinedCopy] = []
            readable: list[tuple[ConflictCopy, Document]] = []
            for copy in conflict_copies(memory.home):
                if copy.problem:
                    done.append(JoinedCopy(copy.path, copy.original, problem=copy.problem))
                    continue
                try:
                    readable.append((copy, read_copy(copy, memory.settings.inference)))
                except NuggetsError as error:
                    done.append(JoinedCopy(copy.path, copy.original, problem=error.what))
            if not readable:
                return Resolved(tuple(done))
            id, at = memory.stamp()
            reason = f"joined {', '.join(copy.path.name for copy, _ in readable)}"
            joined = join(
                [document for _, document in readable],
                memory.snapshot,
                self._versions,
                lambda present: Draft(
                    present, now=memory.clock(), ids=memory.ids, rules=memory.settings.inference
                ),
                ChangeSet(id=id, at=at, author=memory.author, reason=reason, kind="import"),
                [copy.path for copy, _ in readable if not os.path.lexists(copy.original)],
            )
            odd = tuple(f"the nugget {name}: no file can have its name" for name in joined.left_out)
            merged = [
                JoinedCopy(copy.path, copy.original, left_out=(*left_over(document), *odd))
                for copy, document in readable
            ]
            if dry_run:
                return Resolved((*done, *merged), joined.change_set, joined.conflicts)
            applied = memory.apply(joined.change_set)
            with partly_done(_JOINED, remedy=Remedy("resolve-go-on")):
                try:
                    keep_waiting(memory, joined.waiting, memory.author.signature)
                except NuggetsError:
                    # Then the copies alone know what they say otherwise.
                    merged = [JoinedCopy(one.path, one.original, problem=_UNKEPT) for one in merged]
                else:
                    merged = [replace(one, kept=self._store.put_away(one.path, _PUT_AWAY)) for one in merged]
            return Resolved((*done, *merged), applied, joined.conflicts)

    def _versions(self, place: str, value: Note | Fact) -> list[Note | Fact]:
        """The newest versions that the log tells of, oldest first, of the note whose id, or a fact whose nugget, is
        `place`.
        """
        journal = self._store.journal
        item = note_item(value.id) if isinstance(value, Note) else fact_item(place, value.key)
        entries = journal.touching(item, _MOST_VERSIONS) if journal is not None else ()
        # Who takes a repair back wants the files as they were, and forgets nothing.
        repairs = {entry.id for entry in entries if entry.undone and entry.change_set.kind == "repair"}
        found: list[Note | Fact | None] = []
        for entry in reversed(entries):
            made = entry.change_set
            if repairs & {entry.id, made.about.partition(".")[0]}:
                continue
            changes: list[NoteChange | FactChange] = [one for one in made.notes if one.id == place]
            if isinstance(value, Fact):
                changes = [one for one in made.facts if one.nugget == place]
            found += (side for change in changes for side in (change.before, change.after))
        return [one for one in found if one is not None and id_of(one) == id_of(value)]


def _no_backup(what: str, when: str) -> NotFoundError:
    return NotFoundError(
        what, field="backup", remedy=Remedy("restore"), where=when, kept="nothing was written"
    )


def _with_repair(finding: Finding, repairable: frozenset[str]) -> Finding:
    """What cannot be read is repaired by the memory, no change of notes and facts. repairable: where notes and facts
    stand of which the last readable version is known.
    """
    kind, where, detail = finding.kind, finding.where, finding.description
    if kind == ProblemKind.UNREADABLE_FILE:
        if may_be_read(Path(where)):
            return Finding(kind, where, detail, _REPAIR_FILE, RepairKind.FILE)
        todo = _TAKE_AWAY if wrong_kind(Path(where)) else _LET_READ
        return msgspec.structs.replace(finding, todo=todo, remedy=None)
    if where in repairable and kind in (ProblemKind.UNREADABLE_NOTE, ProblemKind.UNREADABLE_FACT):
        return Finding(kind, where, detail, _REPAIR_ITEM, RepairKind.PART)
    return finding
