"""Import and export of one memory: what comes from other programs, and what is carried away."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from core.errors import BrokenFileError, Remedy
from core.exchange import markdown
from core.exchange.plan import ImportResult, Plan
from core.exchange.records import Format, LeftOut
from core.folder import GRAPH_FILE
from core.model.change import ChangeSet, FileChange
from core.model.compare import differences, laid_over
from core.model.draft import Draft
from core.model.names import check_nugget_name
from core.model.note import normalised_note
from core.model.progress import Progress
from core.model.secrets import holders
from core.model.snapshot import Snapshot
from core.projects import change_for
from core.services.log_access import of_the_log
from core.settings import SETTINGS_FILE
from core.storage.exchange.sources import ReadSource, read_as
from core.storage.exchange.targets import check_outside, write_file, write_folder
from core.storage.exchange.whole import WholeMemory, mark_of, memory_mark, write_whole
from core.storage.files.atomic import read_file
from core.storage.files.toml import imported_settings
from core.storage.journal.carried import CarriedEntry, carried_entries
from core.storage.journal.schema import BrokenJournalError, unreadable
from core.storage.merge.merge import linked_both_ways, merge
from core.storage.merge.three_way import refuse
from core.timeline import timeline_of

if TYPE_CHECKING:
    from core.memory import Memory

ExportFormat = Literal["json", "markdown"]


@dataclass(frozen=True)
class ExportResult:
    """What an export wrote. path: where, "-" for nowhere yet: `data` holds it then. notes, facts, history: how many of
    each. left_out: what is not in it, and why. secrets: how many notes and facts in it look to hold a credential.
    """

    format: ExportFormat
    path: str
    left_out: tuple[LeftOut, ...]
    notes: int = 0
    facts: int = 0
    history: int = 0
    secrets: int = 0
    files: int = 1
    removed: int = 0
    data: bytes = b""


class Exchange:
    """The exchange of one memory with other programs."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def read(
        self, source: str | Path | bytes, format: Format | None = None, progress: Progress | None = None
    ) -> ReadSource:
        """What another program keeps, read: a file, a folder, or the bytes of a file. Changes nothing.

        format: None has it told by what the source holds. progress: told now and then; what it raises ends the reading.
        Raises NotFoundError, InvalidInputError for what is no such format, with the line, and for what is too large,
        BrokenFileError, StorageError.
        """
        return read_as(source, format, self._memory.settings.inference, progress)

    @of_the_log
    def bring(
        self,
        read: ReadSource,
        *,
        dry_run: bool = False,
        nugget: str = "",
        accept: Collection[str] | None = None,
        progress: Progress | None = None,
    ) -> ImportResult:
        """Brings in what was read, as one entry of the log; what the memory holds already is not added again, and
        nothing in it is replaced. A whole memory comes into an empty one as it was, with its history.

        dry_run proposes and writes nothing. nugget: for notes that name none. accept: ids of the items that are
        wanted, None for all that are new. progress: told how many of the notes are laid in. Errors as in
        `Memory.apply`.
        """
        if nugget:
            check_nugget_name(nugget)
        memory = self._memory

        def planned(draft: Draft) -> tuple[ImportResult, ChangeSet]:
            result = self._plan(draft, read, nugget, accept, progress)
            return result, result.change_set

        # Nobody's edit waits for a proposal.
        with nullcontext() if dry_run else memory.guard:
            with memory.guard:
                memory.refresh_read_only() if dry_run else memory.refresh(patient=False)
                draft = memory.draft()
            if dry_run:
                return planned(draft)[0]
            if read.whole is None or not _is_empty(draft.snapshot):
                result, done = memory.apply_drafted(planned)
                return dataclasses.replace(result, change_set=done)
            result = planned(draft)[0]
            id, at = memory.stamp()
            history = result.history and memory.store.carry(
                read.whole.before, read.whole.entries, read.whole.snapshot, id=id, at=at
            )
            # What is carried over before may have taken its time.
            change_set = msgspec.structs.replace(result.change_set, at=max(draft.at, memory.now()))
            done = memory.apply_deciding(change_set, None, spelling=read.whole.documents)
            return dataclasses.replace(result, change_set=done, history=history)

    def _plan(
        self,
        draft: Draft,
        read: ReadSource,
        nugget: str,
        accept: Collection[str] | None,
        progress: Progress | None,
    ) -> ImportResult:
        """What an import makes of the memory in a draft. Of a whole memory only what is not known here is merged, so
        that nothing is its base; records are laid over what that makes.
        """
        ours, empty = draft.snapshot, _is_empty(draft.snapshot)
        plan = Plan(draft, read.format, nugget=nugget, accept=accept, progress=progress)
        made = draft.change_set("", author=self._memory.author, kind="import")
        source = read.whole.snapshot if read.whole is not None else read.parsed.whole
        if source is not None:
            new = plan.new_of(source)
            if read.whole is None:
                # A vault says nothing of what every write keeps right.
                notes = tuple(normalised_note(note, lambda _: True) for note in new.notes)
                new = dataclasses.replace(new, notes=notes)
            made = merge(Snapshot(), ours, new, refuse, made)
            made = made if empty else linked_both_ways(made, ours)
        if read.parsed.records:
            plan.draft = draft.over(laid_over(ours, made))
            plan.lay(read.parsed.records)
            made = msgspec.structs.replace(made, **differences(ours, plan.draft.present())._asdict())
        left_out, history = [*read.parsed.left_out, *plan.left_out], 0
        if read.whole is not None and accept is None and empty:
            files, refused = self._files(read.whole)
            made = msgspec.structs.replace(made, files=files)
            left_out += [LeftOut(name, "is a setting that you decide here") for name in refused]
            history = len(read.whole.entries)
        if read.whole is not None:
            made = self._with_projects(made, read.whole, ours)
        count, known = sum(item.status == "new" for item in plan.items), {item.id for item in plan.items}
        told = f"{count:,} {'note' if count == 1 else 'notes'}"
        reason = f"imported {told} from {read.source.name or 'standard input'} ({read.format})"
        return ImportResult(
            format=read.format, detected=read.detected, source=read.source.path or read.source.name,
            items=tuple(plan.items), left_out=tuple(left_out),
            change_set=msgspec.structs.replace(made, reason=reason), history=history,
            unknown=tuple(id for id in accept or () if id not in known),
        )  # fmt: skip

    def _with_projects(self, made: ChangeSet, whole: WholeMemory, ours: Snapshot) -> ChangeSet:
        """The change set with the projects of nuggets that come. Who joined one there did not join it here."""
        named = {change.note.nugget_name for change in made.notes} | {change.nugget for change in made.facts}
        others = [one.copied(joined=False) for one in whole.projects]
        found = change_for(str(self._memory.home), others, named - {*ours.nugget_names})
        return made if found is None else msgspec.structs.replace(made, files=(*made.files, found))

    def _files(self, whole: WholeMemory) -> tuple[tuple[FileChange, ...], tuple[str, ...]]:
        """The files of a person that come along where there is none yet, and the settings that do not."""
        brought, refused = dict(whole.files), tuple[str, ...]()
        if SETTINGS_FILE in brought:
            brought[SETTINGS_FILE], refused = imported_settings(brought[SETTINGS_FILE])
        files = (
            FileChange(path=name, before=None, after=data)
            for name, data in brought.items()
            if data and read_file(self._memory.home / name) is None
        )
        return tuple(files), refused

    # Export

    @of_the_log
    def export(
        self,
        format: ExportFormat = "json",
        path: str | Path | None = None,
        *,
        force: bool = False,
        history: bool = True,
        secrets: bool = False,
        progress: Progress | None = None,
    ) -> ExportResult:
        """Writes the memory to a file, or as Markdown to a folder; JSON without a path: into `data` of the result.

        force: whether files that are not of an earlier export may be replaced. history: whether JSON has the log in
        it. secrets: whether Markdown has in it what looks as if it held a credential; JSON has it in any case. Raises
        BrokenFileError for a note graph that cannot be read, ConflictError for a file in the way, InvalidInputError,
        StorageError.
        """
        memory = self._memory
        path = Path(path).expanduser() if path is not None else None
        if path is not None:
            check_outside(path, memory.home)
        with memory.guard:
            memory.refresh_read_only()
            snapshot, loaded = memory.snapshot, memory.store.loaded
        if snapshot.graph_problem:
            raise BrokenFileError(
                snapshot.graph_problem, remedy=Remedy("repair"), where=str(memory.home / GRAPH_FILE),
                kept="nothing was exported",
            )  # fmt: skip
        held = list(holders(snapshot))
        if format == "json":
            told = self._history() if history else None
            data, left_out = write_whole(memory.home, loaded, told, at=memory.now())
            if path is not None:
                there = read_file(path) if path.is_file() else None
                ours = there is not None and mark_of(there[0]) == memory_mark(memory.home)
                write_file(path, data, ours=ours, force=force)
            return ExportResult(
                format, str(path or "-"), left_out, len(snapshot.notes), snapshot.fact_count,
                len(told[1]) if told is not None else 0, len(held), data=data if path is None else b"",
            )  # fmt: skip
        assert path is not None
        withheld = [] if secrets else held
        told_of = "looks as if it held a credential ({}); --with-secrets exports it"
        withheld_out = (LeftOut(one.id, told_of.format(", ".join(one.kinds))) for one in withheld)
        mirrored = (snapshot.by_id[one.id] for one in withheld if one.id in snapshot.by_id)
        without = {one.id for one in withheld} | {
            f"{note.nugget_name}: {note.key}" for note in mirrored if note.is_fact
        }
        vault = markdown.write(snapshot, without)
        written, removed = write_folder(path, vault.files, force=force, progress=progress)
        problems = (LeftOut(one.where, one.what) for one in snapshot.problems)
        notes = sum(note.id not in without for note in snapshot.by_id.values())
        return ExportResult(
            format, str(path), (*problems, *withheld_out, *vault.left_out), notes, len(vault.files) - notes,
            secrets=len(held) - len(withheld), files=written, removed=removed,
        )  # fmt: skip

    def _history(self) -> tuple[Snapshot, list[CarriedEntry]]:
        """The memory as it was before the oldest entry that is known, and all entries."""
        memory = self._memory
        with memory.guard:
            problem, journal = memory.store.log_problem, memory.store.journal
            if problem is not None:
                raise problem
            if journal is None:
                return Snapshot(), []
            try:
                entries = carried_entries(journal)
                timeline = timeline_of(memory.snapshot, memory)
                return timeline.at(len(timeline)), entries
            except BrokenJournalError as error:
                raise unreadable(journal.path, str(error)) from error


def _is_empty(snapshot: Snapshot) -> bool:
    return not (snapshot.notes or snapshot.nuggets or snapshot.problems or snapshot.set_aside)
