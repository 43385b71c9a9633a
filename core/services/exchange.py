"""Import and export of one memory: what comes from other programs, and what is carried away."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import msgspec

from core.errors import (
    BrokenFileError,
    ErrorCode,
    InvalidInputError,
    Repair,
)
from core.exchange import csv_facts, markdown
from core.exchange.comparing import differences
from core.exchange.detect import MANIFEST, format_of, parse
from core.exchange.exact import items_of, laid_down
from core.exchange.plan import Importer
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
from core.folder import FACT_SUFFIXES, GRAPH_FILE
from core.model.change import ChangeSet, FileChange
from core.model.draft import Draft
from core.model.names import check_nugget_name
from core.model.progress import Progress
from core.model.secrets import holders
from core.model.snapshot import Snapshot
from core.services.repository import Repository
from core.settings import SETTINGS_FILE, InferenceSettings, Settings
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
from core.storage.journal.carried import CarriedEntry, carried_entries
from core.storage.journal.codec import read_change_set
from core.storage.journal.schema import BrokenJournalError, unreadable
from core.storage.personal.settings_file import imported_settings
from core.timeline import timeline_of

ExportFormat = Literal["json", "markdown", "csv"]
_KEPT: Final = "nothing was imported"
_KNOWN: Final = ", ".join(FORMATS)


@dataclass(frozen=True)
class ExportResult:
    """What an export wrote. path: where, "-" for nowhere yet: `data` holds it then. notes, facts, history: how many of
    each. left_out: what is not in it, and why. secrets: how many notes and facts in it look to hold a credential.
    """

    format: ExportFormat
    path: str
    notes: int
    facts: int
    history: int
    left_out: tuple[LeftOut, ...]
    secrets: int
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

    def read(self, source: Path | bytes, format: Format | None, progress: Progress | None) -> ReadSource:
        """What is to be imported, read and taken apart. Errors as `Memory.read_import`."""
        found = _of_bytes(source) if isinstance(source, bytes) else read_source(source, progress)
        where = found.path or found.name
        try:
            told = format or _by_name(found) or format_of(found)
            if told is None:
                raise InvalidInputError(
                    "is in no format that can be told",
                    code=ErrorCode.UNKNOWN_VALUE,
                    where=where,
                    kept=_KEPT,
                    todo=f"name one with --format: {_KNOWN}",
                )
            whole, parsed = self._taken_apart(found, told, progress)
        except FormatError as error:
            said = place(where if not found.folder or not error.file else f"{where}/{error.file}", error.line)
            raise InvalidInputError(
                error.what, code=ErrorCode.UNREADABLE_SOURCE, where=said, kept=_KEPT, todo=_advice(format)
            ) from error
        count = len(parsed.records) + (len(parsed.whole.notes) if parsed.whole is not None else 0)
        if whole is None and count > MOST_RECORDS:
            raise InvalidInputError(
                f"holds {count:,} notes, more than {MOST_RECORDS:,}",
                code=ErrorCode.TOO_LONG,
                where=where,
                kept=_KEPT,
                todo="split it into parts",
            )
        return ReadSource(found, told, format is None, parsed, whole)

    def _taken_apart(
        self, source: Source, format: Format, progress: Progress | None
    ) -> tuple[WholeMemory | None, Parsed]:
        rules = self._settings().inference
        if format in ("json", "donna"):
            whole = _whole_of(source, format, rules, progress)
            return whole, Parsed(left_out=whole.left_out)
        if not source.files and MANIFEST not in source.names:
            raise FormatError(f"holds nothing that could be {NAMES[format]}")
        found = parse(source, format)
        if not found.records and found.whole is None and len(source.files) == 1 and found.left_out:
            # A single file of which nothing can be read is an error, not an empty import.
            first = found.left_out[0]
            raise FormatError(f"holds nothing that can be imported ({first.where}: {first.what})")
        return None, found

    def plan(
        self,
        draft: Draft,
        read: ReadSource,
        nugget: str,
        accept: Collection[str] | None,
        progress: Progress | None,
    ) -> ImportResult:
        """Lays what was read over a draft."""
        importer = Importer(draft, read.format, nugget=nugget, accept=accept, progress=progress)
        whole = read.whole.snapshot if read.whole is not None else read.parsed.whole
        if whole is not None:
            importer.add_whole(whole)
        if read.parsed.records:
            importer.add_records(read.parsed.records)
        count = sum(item.status == "new" for item in importer.items)
        noun = "note" if count == 1 else "notes"
        reason = f"imported {count:,} {noun} from {read.source.name or 'standard input'} ({read.format})"
        change_set = draft.change_set(reason, author=self._repository.author, kind="import")
        return self._result(read, importer, change_set, accept)

    def _result(
        self, read: ReadSource, importer: Importer, change_set: ChangeSet, accept: Collection[str] | None
    ) -> ImportResult:
        known = {item.id for item in importer.items}
        return ImportResult(
            format=read.format,
            detected=read.detected,
            source=read.source.path or read.source.name,
            items=tuple(importer.items),
            left_out=(*read.parsed.left_out, *importer.left_out),
            change_set=change_set,
            unknown=tuple(id for id in accept or () if id not in known),
        )

    def bring(
        self,
        read: ReadSource,
        *,
        dry_run: bool,
        nugget: str = "",
        accept: Collection[str] | None = None,
        progress: Progress | None = None,
    ) -> ImportResult:
        """See `Memory.bring_import`."""
        if nugget:
            check_nugget_name(nugget)
        repository = self._repository
        # Nobody's edit waits for a proposal.
        with nullcontext() if dry_run else repository.guard:
            with repository.guard:
                repository.refresh_read_only() if dry_run else repository.refresh(patient=False)
                draft = repository.draft()
            if read.whole is not None and accept is None and _is_empty(draft.snapshot):
                if progress is not None and not dry_run:
                    # The last moment at which it may be ended: from here on it is written.
                    progress(len(read.whole.snapshot.notes), len(read.whole.snapshot.notes))
                return self._lay_down(draft, read, read.whole, dry_run=dry_run)
            if dry_run:
                return self.plan(draft, read, nugget, accept, progress)
            return self._apply(read, nugget, accept, progress)

    def _apply(
        self, read: ReadSource, nugget: str, accept: Collection[str] | None, progress: Progress | None
    ) -> ImportResult:
        def drafted(draft: Draft) -> tuple[ImportResult, ChangeSet]:
            result = self.plan(draft, read, nugget, accept, progress)
            return result, result.change_set

        result, done = self._repository.apply_drafted(drafted)
        return dataclasses.replace(result, change_set=done)

    def _lay_down(self, draft: Draft, read: ReadSource, whole: WholeMemory, *, dry_run: bool) -> ImportResult:
        """A whole memory into an empty one: as it was, with its history."""
        repository = self._repository
        snapshot, left_out = _with_good_names(whole.snapshot)
        told = f"{len(snapshot.notes):,} {'note' if len(snapshot.notes) == 1 else 'notes'}"
        change_set = laid_down(
            snapshot,
            id=draft.ids(),
            at=draft.at,
            author=repository.author,
            reason=f"imported {told} from {read.source.name or 'standard input'} ({read.format})",
        )
        brought = dict(whole.files)
        if SETTINGS_FILE in brought:
            brought[SETTINGS_FILE], refused = imported_settings(brought[SETTINGS_FILE])
            left_out += [LeftOut(name, "is a setting that you decide here") for name in refused]
        files = tuple(
            FileChange(path=name, before=None, after=data)
            for name, data in brought.items()
            if data and read_file(repository.home / name) is None
        )
        change_set = msgspec.structs.replace(change_set, files=files)
        history = len(whole.entries)
        if not dry_run:
            if whole.entries:
                history = repository.store.carry(
                    whole.before, whole.entries, snapshot, id=draft.ids(), at=draft.at
                )
            spelling = tuple(whole.documents(repository.home).values())
            # What is laid down before may have taken its time.
            change_set = msgspec.structs.replace(change_set, at=max(change_set.at, repository.now()))
            change_set = repository.apply_deciding(change_set, None, spelling=spelling)
        return ImportResult(
            format=read.format,
            detected=read.detected,
            source=read.source.path or read.source.name,
            items=tuple(items_of(snapshot)),
            left_out=(*whole.left_out, *left_out),
            change_set=change_set,
            history=history,
        )

    # Export

    def export(
        self,
        format: ExportFormat,
        path: Path | None,
        *,
        force: bool,
        history: bool,
        secrets: bool,
        progress: Progress | None,
    ) -> ExportResult:
        """See `Memory.export`."""
        repository = self._repository
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
        held = {one.id: one for one in holders(snapshot)}
        if format == "json":
            before, entries = self._history() if history else (Snapshot(), [])
            at = repository.now()
            data, left_out = write_whole(
                repository.home, loaded, before, entries, at=at, without_history=not history
            )
            if path is not None:
                found = read_file(path) if path.is_file() else None
                ours = found is not None and mark_of(found[0]) == memory_mark(repository.home)
                write_file(path, data, ours=ours, force=force)
            notes, facts = len(snapshot.notes), snapshot.fact_count
            return ExportResult(
                format, str(path or "-"), notes, facts, len(entries), left_out, len(held),
                data=b"" if path is not None else data,
            )  # fmt: skip
        without = set() if secrets else _names_of(held, snapshot)
        left = tuple(
            LeftOut(
                one.id,
                f"looks as if it held a credential ({', '.join(one.kinds)}); --with-secrets exports it",
            )
            for one in held.values()
            if not secrets
        )
        shown = len(held) if secrets else 0
        if format == "csv":
            data = csv_facts.write(snapshot, without)
            if path is not None:
                write_file(path, data, ours=False, force=force)
            facts = snapshot.fact_count - sum(one in without for one in _fact_names(snapshot))
            return ExportResult(
                format, str(path or "-"), 0, facts, 0, left, shown, data=b"" if path is not None else data
            )
        assert path is not None
        vault = markdown.write(snapshot, without)
        written, removed = write_folder(path, vault.files, force=force, progress=progress)
        problems = tuple(LeftOut(one.where, one.what) for one in snapshot.problems)
        notes = sum(note.id not in without for note in snapshot.by_id.values())
        return ExportResult(
            format, str(path), notes, len(vault.files) - notes, 0, (*problems, *left, *vault.left_out), shown,
            files=written, removed=removed,
        )  # fmt: skip

    def _history(self) -> tuple[Snapshot, list[CarriedEntry]]:
        """The memory as it was before the oldest entry that is known, and all entries."""
        repository = self._repository
        with repository.guard:
            problem = repository.store.log_problem
            if problem is not None:
                raise problem
            journal = repository.store.journal
            if journal is None:
                return Snapshot(), []
            try:
                entries = carried_entries(journal)
                timeline = timeline_of(
                    repository.snapshot,
                    lambda: repository.store.journal,
                    repository.guard,
                    repository.now(),
                )
                return timeline.at(len(timeline)), entries
            except BrokenJournalError as error:
                raise unreadable(journal.path, str(error)) from error

    def differences(self, read: ReadSource) -> list[LeftOut]:
        """See `Memory.differences_from`."""
        repository = self._repository
        with repository.guard:
            repository.refresh_read_only()
            snapshot = repository.snapshot
            journal = repository.store.journal
            entries = carried_entries(journal) if journal is not None else []
        if read.whole is None:
            raise InvalidInputError(
                "is no whole memory", code=ErrorCode.UNKNOWN_VALUE, where=read.source.name,
                todo="compare with a file that nuggets export --format json wrote",
            )  # fmt: skip
        own = {told.id: (told, entry.state) for entry in entries if (told := read_change_set(entry.body))}
        theirs = ((read_change_set(entry.body), entry.state) for entry in read.whole.entries)
        missing = sum(own.get(told.id) != (told, state) for told, state in theirs)
        found = differences(snapshot, read.whole.snapshot)
        if missing:
            found.append(
                LeftOut(
                    "history", f"{missing:,} of {len(read.whole.entries):,} entries are missing or differ"
                )
            )
        for name, data in read.whole.files.items():
            there = read_file(repository.home / name)
            if there is None or there[0] != data:
                found.append(LeftOut(name, "is another one here"))
        return found


def _of_bytes(data: bytes) -> Source:
    return Source("", (SourceFile("standard input", data),))


def _by_name(source: Source) -> Format | None:
    """The format of a single file of a memory."""
    name = source.files[0].name if source.files and not source.folder else ""
    return "donna" if name.endswith(FACT_SUFFIXES) or name == GRAPH_FILE.name else None


def _whole_of(
    source: Source, format: Format, rules: InferenceSettings, progress: Progress | None
) -> WholeMemory:
    """A whole memory: an export, a folder, or one file of one. Raises FormatError, BrokenFileError, StorageError."""
    if format == "json":
        if source.folder or not source.files:
            raise FormatError("is a folder, and an export is one file")
        return read_whole(source.files[0].data, source.files[0].name, rules, progress)
    if source.folder:
        return read_home(Path(source.path), rules)
    return read_memory_file(source.files[0].name, source.files[0].data, rules)


def _advice(format: Format | None) -> str:
    return "" if format is None else "leave out --format to have it told by what it holds"


def _is_empty(snapshot: Snapshot) -> bool:
    return not (snapshot.notes or snapshot.nuggets or snapshot.problems or snapshot.set_aside)


def _with_good_names(snapshot: Snapshot) -> tuple[Snapshot, list[LeftOut]]:
    """The memory without the facts of nuggets that no file can be named after, each of them named."""
    known: list[str] = []
    left_out: list[LeftOut] = []
    for nugget in snapshot.nuggets:
        try:
            known.append(check_nugget_name(nugget.name, known))
        except InvalidInputError as error:
            left_out.append(LeftOut(nugget.name, f"its facts are left out: {error.what}"))
    if not left_out:
        return snapshot, left_out
    kept = tuple(nugget for nugget in snapshot.nuggets if nugget.name in known)
    return dataclasses.replace(snapshot, nuggets=kept), left_out


def _names_of(held: Collection[str], snapshot: Snapshot) -> set[str]:
    """Ids of notes and names of facts that are not exported: what is held, and the facts that such notes mirror."""
    notes = (snapshot.by_id[id] for id in held if id in snapshot.by_id)
    return {*held, *(f"{note.nugget_name}: {note.key}" for note in notes if note.is_fact)}


def _fact_names(snapshot: Snapshot) -> list[str]:
    return [f"{nugget.name}: {fact.key}" for nugget in snapshot.nuggets for fact in nugget.facts]
