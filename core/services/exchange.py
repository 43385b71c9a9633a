"""Import and export of one memory: what comes from other programs, and what is carried away."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import msgspec

from core.errors import BrokenFileError, ErrorCode, InvalidInputError, Repair
from core.exchange import foreign, markdown
from core.exchange.comparing import differing
from core.exchange.detect import MANIFEST, format_of, parse
from core.exchange.plan import Plan
from core.exchange.records import (
    FORMATS,
    MOST_RECORDS,
    NAMES,
    Format,
    FormatError,
    LeftOut,
    Parsed,
    Source,
    SourceFile,
    place,
)
from core.exchange.result import ImportResult
from core.folder import GRAPH_FILE
from core.model.change import ChangeSet, FileChange
from core.model.compare import differences as compared
from core.model.compare import laid_over
from core.model.draft import Draft
from core.model.names import check_nugget_name
from core.model.note import normalised_note
from core.model.progress import Progress
from core.model.secrets import holders
from core.model.snapshot import Snapshot
from core.services.repository import Repository, of_the_log
from core.settings import SETTINGS_FILE, Settings
from core.storage.exchange.sources import read_source
from core.storage.exchange.targets import check_outside, write_file, write_folder
from core.storage.exchange.whole import (
    WholeMemory,
    mark_of,
    memory_mark,
    read_home,
    read_memory_file,
    read_whole,
    write_whole,
)
from core.storage.files.atomic import read_file
from core.storage.format.documents import Loaded
from core.storage.journal.carried import CarriedEntry, carried_entries
from core.storage.journal.codec import read_change_set
from core.storage.journal.schema import BrokenJournalError, unreadable
from core.storage.merge.deciding import refuse
from core.storage.merge.merge import linked_both_ways, merge
from core.storage.personal.settings_file import imported_settings
from core.timeline import timeline_of

ExportFormat = Literal["json", "markdown", "csv"]
_KEPT: Final = "nothing was imported"


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


@dataclass(frozen=True)
class ReadSource:
    """A source that was read. detected: whether its format was told by what it holds. whole: of a memory as a whole."""

    source: Source
    format: Format
    detected: bool
    parsed: Parsed
    whole: WholeMemory | None = None


class Exchange:
    """The exchange of one memory with other programs. Files and log are reached through the repository."""

    def __init__(self, repository: Repository, settings: Callable[[], Settings]) -> None:
        self._repository = repository
        self._settings = settings

    # Import

    def read(
        self, source: str | Path | bytes, format: Format | None = None, progress: Progress | None = None
    ) -> ReadSource:
        """What another program keeps, read: a file, a folder, or the bytes of a file. Changes nothing.

        format: None has it told by what the source holds. progress: told now and then; what it raises ends the reading.
        Raises NotFoundError, InvalidInputError for what is no such format, with the line, and for what is too large,
        BrokenFileError, StorageError.
        """
        if isinstance(source, bytes):
            found = Source("", (SourceFile("standard input", source),))
        else:
            found = read_source(Path(source).expanduser(), progress)
        where = found.path or found.name
        try:
            told = format or format_of(found)
            if told is None:
                raise InvalidInputError(
                    "is in no format that can be told", code=ErrorCode.UNKNOWN_FORMAT, where=where, kept=_KEPT,
                    todo=f"name one with --format: {', '.join(FORMATS)}",
                )  # fmt: skip
            whole, parsed = self._taken_apart(found, told, progress)
        except FormatError as error:
            said = place(where if not found.folder or not error.file else f"{where}/{error.file}", error.line)
            advice = "leave out --format to have it told by what it holds" if format is not None else ""
            raise InvalidInputError(
                error.what, code=ErrorCode.UNREADABLE_SOURCE, where=said, kept=_KEPT, todo=advice
            ) from error
        count = len(parsed.records) + (len(parsed.whole.notes) if parsed.whole is not None else 0)
        if count > MOST_RECORDS:
            raise InvalidInputError(
                f"holds {count:,} notes, more than {MOST_RECORDS:,}", code=ErrorCode.TOO_LONG, where=where,
                kept=_KEPT, todo="split it into parts",
            )  # fmt: skip
        return ReadSource(found, told, format is None, parsed, whole)

    def _taken_apart(
        self, source: Source, format: Format, progress: Progress | None
    ) -> tuple[WholeMemory | None, Parsed]:
        rules = self._settings().inference
        if format in ("json", "donna"):
            if not source.folder:
                (file,) = source.files
                read = read_whole if format == "json" else read_memory_file
                whole = read(file, rules, progress)
            elif format == "json":
                raise FormatError("is a folder, and an export is one file")
            else:
                whole = read_home(Path(source.path), rules)
            return whole, Parsed(left_out=whole.left_out)
        if not source.files and MANIFEST not in source.names:
            raise FormatError(f"holds nothing that could be {NAMES[format]}")
        found = parse(source, format)
        if not found.records and found.whole is None and len(source.files) == 1 and found.left_out:
            # A single file of which nothing can be read is an error, not an empty import.
            first = found.left_out[0]
            raise FormatError(f"holds nothing that can be imported ({first.where}: {first.what})")
        return None, found

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
        repository = self._repository

        def planned(draft: Draft) -> tuple[ImportResult, ChangeSet]:
            result = self._plan(draft, read, nugget, accept, progress)
            return result, result.change_set

        # Nobody's edit waits for a proposal.
        with nullcontext() if dry_run else repository.guard:
            with repository.guard:
                repository.refresh_read_only() if dry_run else repository.refresh(patient=False)
                draft = repository.draft()
            if dry_run:
                return planned(draft)[0]
            if read.whole is None or not _is_empty(draft.snapshot):
                result, done = repository.apply_drafted(planned)
                return dataclasses.replace(result, change_set=done)
            result = planned(draft)[0]
            history = result.history and self._carry(read.whole)
            # What is carried over before may have taken its time.
            change_set = msgspec.structs.replace(result.change_set, at=max(draft.at, repository.now()))
            done = repository.apply_deciding(change_set, None, spelling=read.whole.documents)
            return dataclasses.replace(result, change_set=done, history=history)

    def _plan(
        self,
        draft: Draft,
        read: ReadSource,
        nugget: str,
        accept: Collection[str] | None,
        progress: Progress | None,
    ) -> ImportResult:
        """What an import makes of the memory in a draft."""
        ours = draft.snapshot
        plan = Plan(draft, read.format, nugget=nugget, accept=accept, progress=progress)
        change_set = self._merged(plan, read, ours)
        count = sum(item.status == "new" for item in plan.items)
        told = f"{count:,} {'note' if count == 1 else 'notes'}"
        reason = f"imported {told} from {read.source.name or 'standard input'} ({read.format})"
        change_set = msgspec.structs.replace(change_set, reason=reason)
        left_out, history = [*read.parsed.left_out, *plan.left_out], 0
        if read.whole is not None and accept is None and _is_empty(ours):
            files, refused = self._files(read.whole)
            change_set = msgspec.structs.replace(change_set, files=files)
            left_out += [LeftOut(name, "is a setting that you decide here") for name in refused]
            history = len(read.whole.entries)
        known = {item.id for item in plan.items}
        return ImportResult(
            format=read.format,
            detected=read.detected,
            source=read.source.path or read.source.name,
            items=tuple(plan.items),
            left_out=tuple(left_out),
            change_set=change_set,
            history=history,
            unknown=tuple(id for id in accept or () if id not in known),
        )

    def _merged(self, plan: Plan, read: ReadSource, ours: Snapshot) -> ChangeSet:
        """The changes of an import. Of a whole memory only what is not known here is merged, so that nothing is its
        base; records are laid over what that makes.
        """
        change_set = plan.draft.change_set("", author=self._repository.author, kind="import")
        source = read.whole.snapshot if read.whole is not None else read.parsed.whole
        if source is not None:
            new = plan.new_of(source)
            if read.whole is None:
                # A vault says nothing of what every write keeps right.
                notes = tuple(normalised_note(note, lambda _: True) for note in new.notes)
                new = dataclasses.replace(new, notes=notes)
            change_set = merge(Snapshot(), ours, new, refuse, change_set)
            if not _is_empty(ours):
                change_set = linked_both_ways(change_set, ours)
        if read.parsed.records:
            plan.over(laid_over(ours, change_set))
            plan.lay(read.parsed.records)
            found = compared(ours, plan.draft.present())
            change_set = msgspec.structs.replace(change_set, **found._asdict())
        return change_set

    def _files(self, whole: WholeMemory) -> tuple[tuple[FileChange, ...], tuple[str, ...]]:
        """The files of a person that come along where there is none yet, and the settings that do not."""
        brought, refused = dict(whole.files), tuple[str, ...]()
        if SETTINGS_FILE in brought:
            brought[SETTINGS_FILE], refused = imported_settings(brought[SETTINGS_FILE])
        files = (
            FileChange(path=name, before=None, after=data)
            for name, data in brought.items()
            if data and read_file(self._repository.home / name) is None
        )
        return tuple(files), refused

    def _carry(self, whole: WholeMemory) -> int:
        """Brings the history along; how many entries."""
        repository = self._repository
        id, at = repository.stamp()
        return repository.store.carry(whole.before, whole.entries, whole.snapshot, id=id, at=at)

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
        """Writes the memory to a file, or as Markdown to a folder; None: into `data` of the result. The memory stays.

        force: whether files that are not of an earlier export may be replaced. history: whether JSON has the log in
        it. secrets: whether Markdown and CSV have in them what looks as if it held a credential; JSON has it in any
        case. Raises BrokenFileError for a note graph that cannot be read, ConflictError for a file in the way,
        InvalidInputError, StorageError.
        """
        repository = self._repository
        path = Path(path).expanduser() if path is not None else None
        if path is not None:
            check_outside(path, repository.home)
        with repository.guard:
            repository.refresh_read_only()
            snapshot, loaded = repository.snapshot, repository.store.read
        if snapshot.graph_problem:
            raise BrokenFileError(
                snapshot.graph_problem, remedy=Repair(), where=str(repository.home / GRAPH_FILE),
                kept="nothing was exported",
            )  # fmt: skip
        held = list(holders(snapshot))
        withheld = [] if secrets or format == "json" else held
        told = "looks as if it held a credential ({}); --with-secrets exports it"
        left_out = tuple(LeftOut(one.id, told.format(", ".join(one.kinds))) for one in withheld)
        done = ExportResult(format, str(path or "-"), left_out, secrets=len(held) - len(withheld))
        if format == "json":
            return self._export_whole(done, path, snapshot, loaded, force=force, history=history)
        without = _names_of({one.id for one in withheld}, snapshot)
        if format == "csv":
            names = (f"{nugget.name}: {fact.key}" for nugget in snapshot.nuggets for fact in nugget.facts)
            done = dataclasses.replace(done, facts=sum(name not in without for name in names))
            return _put(done, path, foreign.write_csv(snapshot, without), ours=False, force=force)
        assert path is not None
        vault = markdown.write(snapshot, without)
        written, removed = write_folder(path, vault.files, force=force, progress=progress)
        problems = (LeftOut(one.where, one.what) for one in snapshot.problems)
        notes = sum(note.id not in without for note in snapshot.by_id.values())
        return dataclasses.replace(
            done, left_out=(*problems, *left_out, *vault.left_out), notes=notes, facts=len(vault.files) - notes,
            files=written, removed=removed,
        )  # fmt: skip

    def _export_whole(
        self,
        done: ExportResult,
        path: Path | None,
        snapshot: Snapshot,
        loaded: Loaded,
        *,
        force: bool,
        history: bool,
    ) -> ExportResult:
        home, told = self._repository.home, self._history() if history else None
        data, left_out = write_whole(home, loaded, told, at=self._repository.now())
        there = read_file(path) if path is not None and path.is_file() else None
        ours = there is not None and mark_of(there[0]) == memory_mark(home)
        done = dataclasses.replace(
            done, left_out=left_out, notes=len(snapshot.notes), facts=snapshot.fact_count,
            history=len(told[1]) if told is not None else 0,
        )  # fmt: skip
        return _put(done, path, data, ours=ours, force=force)

    def _history(self) -> tuple[Snapshot, list[CarriedEntry]]:
        """The memory as it was before the oldest entry that is known, and all entries."""
        repository = self._repository
        with repository.guard:
            problem, journal = repository.store.log_problem, repository.store.journal
            if problem is not None:
                raise problem
            if journal is None:
                return Snapshot(), []
            try:
                entries = carried_entries(journal)
                timeline = timeline_of(
                    repository.snapshot, lambda: repository.store.journal, repository.guard, repository.now()
                )
                return timeline.at(len(timeline)), entries
            except BrokenJournalError as error:
                raise unreadable(journal.path, str(error)) from error

    @of_the_log
    def differences(self, read: ReadSource) -> list[LeftOut]:
        """Where this memory differs from one that was exported, its history included; none for identical ones. What was
        logged here since is no difference of the history. Raises InvalidInputError for what is no whole memory.
        """
        repository = self._repository
        if read.whole is None:
            raise InvalidInputError(
                "is no whole memory", where=read.source.name,
                todo="compare with a file that nuggets export --format json wrote",
            )  # fmt: skip
        with repository.guard:
            repository.refresh_read_only()
            snapshot, journal = repository.snapshot, repository.store.journal
            entries = carried_entries(journal) if journal is not None else []
        own = {told.id: (told, entry.state) for entry in entries if (told := read_change_set(entry.body))}
        theirs = [(read_change_set(entry.body), entry.state) for entry in read.whole.entries]
        missing = sum(own.get(told.id) != (told, state) for told, state in theirs)
        found = list(differing(snapshot, read.whole.snapshot))
        if missing:
            found.append(LeftOut("history", f"{missing:,} of {len(theirs):,} entries are missing or differ"))
        for name, data in read.whole.files.items():
            there = read_file(repository.home / name)
            if there is None or there[0] != data:
                found.append(LeftOut(name, "is another one here"))
        return found


def _put(done: ExportResult, path: Path | None, data: bytes, *, ours: bool, force: bool) -> ExportResult:
    """Writes an export that is one file, or hands its bytes over."""
    if path is None:
        return dataclasses.replace(done, data=data)
    write_file(path, data, ours=ours, force=force)
    return done


def _is_empty(snapshot: Snapshot) -> bool:
    return not (snapshot.notes or snapshot.nuggets or snapshot.problems or snapshot.set_aside)


def _names_of(held: Collection[str], snapshot: Snapshot) -> set[str]:
    """Ids of notes and names of facts that are not exported: what is held, and the facts that such notes mirror."""
    notes = (snapshot.by_id[id] for id in held if id in snapshot.by_id)
    return {*held, *(f"{note.nugget_name}: {note.key}" for note in notes if note.is_fact)}
