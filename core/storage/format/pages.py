"""A memory whose notes are pages of Markdown in a folder that another program writes as well.

The memory's own files lie elsewhere, in its home. graph.json there has each note with the page as it was last written
(`Note.page`), and what a page cannot hold: recalls, links with their reasons, tags, who changed it and when. What the
folder says counts for more: a page that differs from its note changes that note, and a page that is gone hides it.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from core.errors import ErrorCode, InvalidInputError, StorageError
from core.exchange import claude_pages
from core.exchange.dialect import NO_LINE, Dialect, Line, Said
from core.exchange.page_text import take_apart
from core.exchange.pages import is_page
from core.exchange.records import FormatError
from core.folder import OWED_FILE
from core.model.change import ChangeSet, NoteChange
from core.model.infer import infer_meta
from core.model.names import iso
from core.model.note import Link, Note, Page, normalised_note, unique_links
from core.model.note import replace as with_fields
from core.model.snapshot import Problem, ProblemKind
from core.settings import InferenceSettings
from core.storage.files.atomic import Fingerprint, fingerprint, read_file
from core.storage.files.exchange import wait_for_writers
from core.storage.format.codec import write_note

if TYPE_CHECKING:
    from core.storage.format.documents import GraphDocument, PageDocument

LINKED: Final = "linked"
_LARGEST: Final = 4 << 20
_DEPTH: Final = 3
_PATIENCE: Final = 1.0
_ID_BYTES: Final = 4
_STAYS: Final = "the page is unchanged"


@dataclass(frozen=True)
class PageFile:
    """A page as it stands in the folder. text: what it says; None for one that cannot be read, and `problem` why.

    data: its bytes. mode: its permissions.
    """

    fingerprint: Fingerprint | None
    text: str | None = None
    problem: str = ""
    data: bytes = b""
    mode: int = 0o600


@dataclass(frozen=True)
class Owed:
    """A page that a write which was cut off leaves to be written. was: the bytes that are to be replaced, as a hash;
    "" for none. text: what it is to say; None for a page that is to go.
    """

    was: str
    text: str | None


@dataclass(frozen=True)
class PageSet:
    """The pages of a folder, by name, the index among them.

    stored: the note graph as the memory's home has it. owed: see `Owed`. note_of_owed: which file says what is owed.
    dialect: whose pages they are.
    """

    folder: Path
    files: Mapping[str, PageFile]
    stored: GraphDocument
    owed: Mapping[str, Owed] = field(default_factory=dict)
    owed_file: Fingerprint | None = None
    dialect: Dialect = claude_pages

    @cached_property
    def disk(self) -> dict[str, str]:
        """What each file says, or will once what is owed is written; those that can be read."""
        found = {name: file.text for name, file in self.files.items() if file.text is not None}
        for name, owed in self.owed.items():
            if owed.text is None:
                found.pop(name, None)
            else:
                found[name] = owed.text
        return found

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of the pages, without the index."""
        going = {name for name, owed in self.owed.items() if owed.text is None}
        return frozenset({*self.files, *self.disk} - {self.dialect.INDEX} - going)

    @property
    def index(self) -> str:
        """All that the index says; "" where there is none."""
        return self.disk.get(self.dialect.INDEX, "")

    @cached_property
    def texts(self) -> dict[str, str]:
        """What each page says that is a note; of the index its own words, where it has any."""
        index = self.dialect.INDEX
        found = {name: text for name, text in self.disk.items() if name != index}
        words = self.dialect.own_words(self.index, self.names)
        if index in self.disk and self.dialect.read_page(index, words).content.strip():
            found[index] = words
        return found

    def said(self, file: str, text: str) -> Said | None:
        """What a page says; None for one that cannot be read."""
        try:
            return self.dialect.read_page(file, text)
        except FormatError:
            return None

    @cached_property
    def version(self) -> Fingerprint | None:
        """What tells this state of graph and pages from others."""
        made = self.stored.fingerprint
        if made is None and not self.files:
            return None
        known = [("", made), *sorted((name, one.fingerprint) for name, one in self.files.items())]
        said = repr((known, self.owed_file)).encode()
        number = int.from_bytes(hashlib.blake2b(said, digest_size=8).digest()) >> 1
        seen = [one for _, one in (*known, ("", self.owed_file)) if one is not None]
        return Fingerprint(number, sum(one.size for one in seen), max((o.mtime_ns for o in seen), default=0))

    def path(self, name: str) -> Path:
        """Where a page lies."""
        return self.folder / name

    def written_ns(self, name: str) -> int:
        """When a page was last written, in nanoseconds; 0 where that is not known."""
        known = self.files.get(name)
        return known.fingerprint.mtime_ns if known is not None and known.fingerprint is not None else 0


def _iso(nanoseconds: int) -> str:
    try:
        return iso(datetime.fromtimestamp(nanoseconds / 1e9, UTC))
    except (OverflowError, OSError, ValueError):
        return iso(datetime.fromtimestamp(0, UTC))


def digest(data: bytes) -> str:
    """What stands for the bytes of a file in `Owed`."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


# The folder


def read_pages(
    folder: Path,
    home: Path,
    stored: GraphDocument,
    former: PageSet | None,
    dialect: Dialect = claude_pages,
) -> PageSet:
    """The pages as they are now; `former` itself where nothing moved. Raises StorageError for a folder that cannot be
    read.
    """
    known = former.files if former is not None else {}
    files = {name: _read_page(folder, name, known.get(name), dialect) for name in _names(folder)}
    owed_file = fingerprint(home / OWED_FILE)
    same = (
        former is not None
        and former.stored is stored
        and former.owed_file == owed_file
        and files.keys() == known.keys()
        and all(files[name] is known[name] for name in files)
    )
    if same and former is not None:
        return former
    owed = _read_owed(home, stored, files) if owed_file is not None else {}
    return PageSet(folder, files, stored, owed, owed_file, dialect)


def _names(folder: Path, inner: str = "", depth: int = _DEPTH) -> Iterator[str]:
    try:
        with os.scandir(folder / inner) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
            folders = [entry.name for entry in found if entry.is_dir(follow_symlinks=False)]
            names = [entry.name for entry in found if not entry.is_dir()]
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(
            f"the folder cannot be read ({error.strerror})",
            where=str(folder / inner),
            kept="nothing was written",
        ) from error
    for name in names:
        if is_page(name) and not name.startswith(".") and _is_text(name):
            yield f"{inner}{name}"
    for name in folders if depth > 1 else ():
        if not name.startswith(".") and _is_text(name):
            yield from _names(folder, f"{inner}{name}/", depth - 1)


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read_page(folder: Path, name: str, known: PageFile | None, dialect: Dialect) -> PageFile:
    path = folder / name
    try:
        if known is not None and known.fingerprint is not None and known.fingerprint == fingerprint(path):
            return known
        if path.stat().st_size <= _LARGEST:
            # Who writes a page in place is half done with it for a moment.
            wait_for_writers(path, _PATIENCE)
        else:
            return PageFile(fingerprint(path), problem=f"is larger than {_LARGEST >> 20} MB")
        found = read_file(path)
        mode = stat.S_IMODE(path.stat().st_mode)
    except StorageError as error:
        return _unreadable(known, error.what)
    except OSError as error:
        return _unreadable(known, f"cannot be read ({error.strerror})")
    if found is None:
        return _unreadable(known, "is no longer there")
    return _of_bytes(name, *found, mode, dialect)


def _of_bytes(name: str, data: bytes, made: Fingerprint | None, mode: int, dialect: Dialect) -> PageFile:
    try:
        text = data.decode()
        # The words of an index are read without the lines that point to pages.
        if name != dialect.INDEX:
            dialect.read_page(name, text)
    except UnicodeDecodeError:
        return PageFile(made, problem="is not UTF-8", data=data, mode=mode)
    except FormatError as error:
        where = f"line {error.line}: " if error.line else ""
        return PageFile(made, problem=f"cannot be read ({where}{error.what})", data=data, mode=mode)
    return PageFile(made, text, data=data, mode=mode)


def _unreadable(known: PageFile | None, problem: str) -> PageFile:
    # Who may read a file changes without a trace in its fingerprint: it is tried again at each look.
    made = PageFile(None, problem=problem)
    return known if known == made and known is not None else made


def _read_owed(home: Path, stored: GraphDocument, files: Mapping[str, PageFile]) -> dict[str, Owed]:
    """What is owed, if the graph was written for which it was put down; a page that moved on since owes nothing."""
    try:
        said = json.loads((home / OWED_FILE).read_bytes())
        graph = (home / stored.path.relative_to(home)).read_bytes()
        if said["graph"] != digest(graph):
            return {}
        owed = {name: Owed(was, text) for name, (was, text) in said["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    return {name: one for name, one in owed.items() if one.was == was_of(files.get(name))}


def with_written_pages(
    graph: GraphDocument, pages: PageSet, written: Mapping[Path, PageDocument | None]
) -> GraphDocument:
    """A graph that was just written, with the pages as they are now. written: what was written, None what went."""
    by_raw = dict(zip(pages.stored.raws, pages.stored.notes, strict=True))
    notes = tuple(
        by_raw.get(raw) if note is None else note for note, raw in zip(graph.notes, graph.raws, strict=True)
    )
    stored = replace(
        graph, notes=notes, problems=pages.stored.problems, set_aside=pages.stored.set_aside, pages=None
    )
    files = dict(pages.files)
    for path, page in written.items():
        name = path.relative_to(pages.folder).as_posix()
        if page is None:
            files.pop(name, None)
        else:
            files[name] = PageFile(page.fingerprint, page.data.decode(), data=page.data, mode=page.mode)
    now = PageSet(pages.folder, files, stored, dialect=pages.dialect)
    return replace(graph, pages=now, fingerprint=now.version)


def with_page(graph: GraphDocument, path: Path, data: bytes, rules: InferenceSettings) -> GraphDocument:
    """The graph as it would be with another version of one page. It is a problem there when it cannot be read."""
    assert graph.pages is not None
    name = path.relative_to(graph.pages.folder).as_posix()
    files = {**graph.pages.files, name: _of_bytes(name, data, graph.fingerprint, 0o600, graph.pages.dialect)}
    return overlaid(graph, replace(graph.pages, files=files, owed={}), rules)


def was_of(file: PageFile | None) -> str:
    """The bytes of a page as `Owed` knows them."""
    return digest(file.data) if file is not None and (file.data or file.text is not None) else ""


def owed_bytes(graph: Iterable[bytes], files: Mapping[str, Owed]) -> bytes:
    """What is put down before the graph is written."""
    hashed = hashlib.blake2b(digest_size=16)
    for part in graph:
        hashed.update(part)
    said = {"graph": hashed.hexdigest(), "files": {name: [one.was, one.text] for name, one in files.items()}}
    return json.dumps(said).encode()


def still_owed(pages: PageSet, left: Mapping[str, Owed]) -> bytes:
    """What is put down for pages that could not be written, of the graph as it stands."""
    return owed_bytes([(pages.stored.path).read_bytes()], left)


# The notes that pages make


def overlaid(graph: GraphDocument, pages: PageSet, rules: InferenceSettings) -> GraphDocument:
    """The note graph as the pages say it: notes of pages that did not change keep their bytes."""
    made = _Overlay(graph, pages, rules).made()
    return replace(made, pages=pages, fingerprint=pages.version)


class _Overlay:
    """One note graph, laid under the pages."""

    def __init__(self, graph: GraphDocument, pages: PageSet, rules: InferenceSettings) -> None:
        self._graph, self._pages, self._rules = graph, pages, rules
        self._raws, self._notes = list(graph.raws), list(graph.notes)
        self._problems: list[Problem] = []
        self._set_aside = set(graph.set_aside)
        self._known: dict[str, int] = {}
        self._moved = False

    def made(self) -> GraphDocument:
        for place, note in enumerate(self._notes):
            if note is not None and note.page is not None:
                self._known.setdefault(note.page.file, place)
        gone = self._gone()
        for name, place in list(self._known.items()):
            self._look_at(name, place, gone)
        for name, text in sorted(self._pages.texts.items()):
            if name not in self._known:
                self._add(name, text)
        others = [
            _problem(self._pages, name, file.problem)
            for name, file in sorted(self._pages.files.items())
            if file.problem and name not in self._known
        ]
        if self._moved:
            self._link()
        return replace(
            self._graph,
            raws=tuple(self._raws),
            notes=tuple(self._notes),
            problems=(*self._graph.problems, *self._problems, *others),
            set_aside=frozenset(self._set_aside),
        )

    def _gone(self) -> dict[str, int]:
        """Pages that are no longer there, by what they said: one of the new ones may be theirs under another name."""
        found: dict[str, int] = {}
        for name, place in self._known.items():
            note = self._notes[place]
            if (
                name not in self._pages.files
                and note is not None
                and note.page is not None
                and not note.hidden
            ):
                found.setdefault(note.page.text, place)
        return found

    def _look_at(self, name: str, place: int, gone: Mapping[str, int]) -> None:
        note = self._notes[place]
        assert note is not None
        assert note.page is not None
        file, text = self._pages.files.get(name), self._pages.texts.get(name)
        if file is not None and file.problem and name not in self._pages.owed:
            self._notes[place] = None
            self._problems.append(_problem(self._pages, name, file.problem, note))
            self._set_aside.add(note.id)
        elif text is None:
            renamed = next(
                (n for n, t in self._pages.texts.items() if n not in self._known and gone.get(t) == place),
                None,
            )
            if renamed is not None:
                self._known[renamed] = place
                self._put(place, with_fields(note, page=msgspec.structs.replace(note.page, file=renamed)))
            elif not note.hidden:
                self._put(place, with_fields(note, hidden=True))
        elif text != note.page.text:
            self._put(place, self._changed(note, text))
        elif note.hidden:
            self._put(place, _shown(note, note.page.file, text))

    def _changed(self, note: Note, text: str) -> Note:
        """The note with what its page says anew."""
        assert note.page is not None
        file = note.page.file
        new = self._pages.dialect.read_page(file, text)
        old = self._pages.said(file, note.page.text)
        changes: dict[str, object] = {}
        if old is None or new.title != old.title:
            changes["title"] = new.title
        if old is None or new.content != old.content:
            changes["content"] = new.content
        if old is None or new.tags != old.tags:
            kept = [tag for tag in note.tags if old is None or tag not in old.tags]
            changes["tags"] = (*kept, *new.tags)
        if old is None or new.meta != old.meta:
            changes |= self._meta(new)
        written = self._pages.written_ns(file)
        changes["updated_at"] = max(note.updated_at, new.updated or _iso(written))
        return with_fields(_shown(note, file, text), **changes)

    def _meta(self, said: Said) -> dict[str, object]:
        found = infer_meta("note", said.title, said.content, said.tags, said.meta, self._rules)
        return {
            "subject": found.subject,
            "scope": found.scope,
            "type": found.type,
            "source": found.source,
            "confidence": found.confidence,
            "stability": found.stability,
        }

    def _add(self, name: str, text: str) -> None:
        said = self._pages.dialect.read_page(name, text)
        at = _iso(self._pages.written_ns(name))
        updated = said.updated or at
        note = Note(
            id=self._free_id(name),
            nugget_name=self._pages.dialect.NUGGET,
            title=said.title,
            content=said.content,
            tags=said.tags,
            created_at=said.created or updated,
            updated_at=updated,
            last_accessed_at=updated,
            page=Page(file=name, text=text),
            **self._meta(said),  # type: ignore[arg-type]
        )
        self._known[name] = len(self._notes)
        self._notes.append(None)
        self._raws.append(b"")
        self._put(len(self._notes) - 1, note)

    def _free_id(self, name: str) -> str:
        taken = {note.id for note in self._notes if note is not None} | self._set_aside
        number = 0
        while True:
            said = f"{name}\x00{number}" if number else name
            drawn = hashlib.blake2b(said.encode(), digest_size=_ID_BYTES).hexdigest()
            id = f"note-{self._pages.dialect.NUGGET}-{drawn}"
            if id not in taken:
                return id
            number += 1

    def _put(self, place: int, note: Note) -> None:
        former, raw = self._notes[place], self._raws[place]
        known = {one.id for one in self._notes if one is not None} | self._set_aside | {note.id}
        note = normalised_note(note, known.__contains__)
        self._moved = True
        if note != former:
            self._notes[place] = note
            self._raws[place] = write_note(note, former, raw or None)

    def _link(self) -> None:
        """What pages link to anew is linked, both ways, and what they link to no more is not."""
        before = _links_in(self._pages, _page_texts(self._graph.notes))
        after = _links_in(self._pages, self._pages.texts)
        came, went = after - before, before - after
        ends: dict[str, list[tuple[str, bool]]] = {}
        for pairs, comes in ((came, True), (went, False)):
            for one, other in pairs:
                if comes or (other, one) not in after:
                    ends.setdefault(one, []).append((other, comes))
                    ends.setdefault(other, []).append((one, comes))
        for name, others in sorted(ends.items()):
            place = self._known.get(name)
            note = self._notes[place] if place is not None else None
            if place is None or note is None:
                continue
            links = list(note.links)
            for other, comes in others:
                found = self._known.get(other)
                target = self._notes[found] if found is not None else None
                if target is None:
                    continue
                if comes:
                    links.append(Link(to=target.id, reason=LINKED, created_at=note.updated_at))
                else:
                    links = [link for link in links if (link.to, link.reason) != (target.id, LINKED)]
            wanted = unique_links(links)
            if wanted != note.links:
                self._put(place, with_fields(note, links=wanted))


def _shown(note: Note, file: str, text: str) -> Note:
    return with_fields(note, hidden=False, archived_at=None, page=Page(file=file, text=text))


def _page_texts(notes: Iterable[Note | None]) -> dict[str, str]:
    shown = (note for note in notes if note is not None and not note.hidden)
    return {note.page.file: note.page.text for note in shown if note.page is not None}


def _links_in(pages: PageSet, texts: Mapping[str, str]) -> set[tuple[str, str]]:
    """Which page links to which, by file."""
    said = {file: found for file, text in texts.items() if (found := pages.said(file, text)) is not None}
    names: dict[str, str] = {}
    for file in sorted(said):
        for name in said[file].names:
            names.setdefault(name.casefold(), file)
    return {
        (file, names[link.casefold()])
        for file, one in said.items()
        for link in one.links
        if link.casefold() in names and names[link.casefold()] != file
    }


def _problem(pages: PageSet, name: str, what: str, note: Note | None = None) -> Problem:
    path = str(pages.path(name))
    return Problem(
        ProblemKind.UNREADABLE_NOTE,
        path,
        f"{what}; {_STAYS}",
        path,
        names=(note.id, note.title) if note is not None else ("", ""),
        place=name,
    )


# The pages that notes make


class PageWrite(NamedTuple):
    """A page that is to be written. text: None for one that is to go."""

    name: str
    text: str | None


def completed(graph: GraphDocument, effective: ChangeSet) -> ChangeSet:
    """A rebased change set whose notes bear the pages that they make, and say what those say.

    Raises InvalidInputError for what no page can hold.
    """
    pages = graph.pages
    if pages is None:
        return effective
    refuse_facts(pages, effective)
    taken = {note.page.file.lower() for note in graph.notes if note is not None and note.page is not None}
    known = set(pages.files) | {
        note.page.file for note in graph.notes if note is not None and note.page is not None
    }
    taken |= {name.lower() for name in pages.files} | {pages.dialect.INDEX.lower()}
    notes = [_completed(change, pages, taken, known) for change in effective.notes]
    for page in (change.after.page for change in notes if change.after is not None):
        if page is not None and len(page.text.encode()) > _LARGEST:
            raise InvalidInputError(
                f"a page holds at most {_LARGEST >> 20} MB",
                code=ErrorCode.TOO_LONG,
                where=page.file,
                kept="nothing was written",
            )
    return msgspec.structs.replace(effective, notes=tuple(notes))


def without_pages(effective: ChangeSet) -> ChangeSet:
    """A change set for a memory whose notes are no pages: what came from one that has them leaves them behind."""
    if all(change.after is None or change.after.page is None for change in effective.notes):
        return effective
    return msgspec.structs.replace(
        effective,
        notes=tuple(
            change
            if change.after is None
            else msgspec.structs.replace(change, after=with_fields(change.after, page=None))
            for change in effective.notes
        ),
    )


def refuse_facts(pages: PageSet, change_set: ChangeSet) -> None:
    """Raises InvalidInputError for facts and nuggets, which a folder of pages has no place for."""
    if change_set.facts or change_set.nuggets or any(change.note.is_fact for change in change_set.notes):
        raise InvalidInputError(
            "a folder of Claude Code's pages has no place for facts",
            code=ErrorCode.NO_PLACE,
            where=str(pages.folder),
            kept="nothing was written",
            todo="add a note instead",
        )


def _completed(change: NoteChange, pages: PageSet, taken: set[str], known: set[str]) -> NoteChange:
    before, after = change.before, change.after
    if after is None:
        gone = _with_line(before, pages) if before is not None and not before.hidden else before
        return msgspec.structs.replace(change, before=gone)
    if before is not None and before.page is not None:
        made = _page_of(before, after, pages, taken)
        if before.title != made.title and not (before.hidden or made.hidden):
            return _retitled(change, before, made, after.page, pages)
        return msgspec.structs.replace(change, after=made)
    page, dialect = after.page, pages.dialect
    if page is None:
        file = dialect.file_for(after.title, taken)
        page = Page(file=file, text=dialect.new_page(file, after))
    elif page.file != dialect.INDEX and (page.file in known or _is_taken(page.file, pages, taken)):
        page = msgspec.structs.replace(page, file=dialect.file_for(after.title, taken))
    page = msgspec.structs.replace(page, begun=dialect.INDEX not in pages.files)
    if page.file == dialect.INDEX:
        page = msgspec.structs.replace(page, line=dialect.own_words(pages.index, pages.names))
    taken.add(page.file.lower())
    known.add(page.file)
    return msgspec.structs.replace(change, after=_saying(with_fields(after, page=page), pages))


def _is_taken(file: str, pages: PageSet, taken: set[str]) -> bool:
    """Whether a name is in use that differs in case alone, where the disk takes both for one."""
    return file.lower() in taken and os.path.lexists(pages.path(file))


def _page_of(before: Note, after: Note, pages: PageSet, taken: set[str]) -> Note:
    """The note with its page: the one that the change brings where that says it, else its own, changed."""
    page, brought, dialect = before.page, after.page, pages.dialect
    assert page is not None
    if brought is not None and brought.text != page.text and _says(brought, after, pages):
        text = brought.text
    else:
        text = dialect.changed_page(page.file, page.text, before, after)
    made = msgspec.structs.replace(page, text=text)
    if after.hidden and not before.hidden:
        made = _with_line(with_fields(before, page=made), pages).page or made
    elif before.hidden and not after.hidden and page.file != dialect.INDEX and page.file in pages.files:
        made = msgspec.structs.replace(made, file=dialect.file_for(after.title, taken))
        taken.add(made.file)
    if before.hidden and not after.hidden:
        made = msgspec.structs.replace(made, begun=dialect.INDEX not in pages.files)
    if not after.hidden:
        made = msgspec.structs.replace(made, line=None, behind="", places=())
    return _saying(with_fields(after, page=made), pages)


def _retitled(
    change: NoteChange, before: Note, after: Note, brought: Page | None, pages: PageSet
) -> NoteChange:
    """A change of a title, in which both notes know their line in the index: taking it back brings that back."""
    assert before.page is not None
    assert after.page is not None
    now = pages.dialect.entry_of(pages.index, before.page.file)
    known = brought.line if brought is not None and brought.text == after.page.text else None
    line = known if known and now == before.page.line else pages.dialect.retitled(now, after.title)
    return msgspec.structs.replace(
        change,
        before=with_fields(before, page=msgspec.structs.replace(before.page, line=now or None)),
        after=with_fields(after, page=msgspec.structs.replace(after.page, line=line or None)),
    )


def _says(page: Page, note: Note, pages: PageSet) -> bool:
    said = pages.said(page.file, page.text)
    return said is not None and (said.title, said.content) == (note.title, note.content)


def _saying(note: Note, pages: PageSet) -> Note:
    """The note with title and text as its page says them."""
    assert note.page is not None
    said = pages.dialect.read_page(note.page.file, note.page.text)
    return with_fields(note, title=said.title, content=said.content)


def _with_line(note: Note, pages: PageSet) -> Note:
    if note.page is None or note.page.file == pages.dialect.INDEX:
        return note
    _, line = pages.dialect.without_entry(pages.index, note.page.file)
    return with_fields(
        note, page=msgspec.structs.replace(note.page, line=line.text, behind=line.behind, places=line.places)
    )


def page_writes(pages: PageSet, effective: ChangeSet) -> list[PageWrite]:
    """The pages that a completed change set writes and takes away, the index last."""
    wanted: dict[str, str | None] = {}
    dialect, index = pages.dialect, pages.index
    words: str | None = None
    begun = False
    coming: list[tuple[NoteChange, Page]] = []
    names = set(pages.names)
    for change in effective.notes:
        before, after = _in_folder(change.before), _in_folder(change.after)
        if before is not None and (after is None or after.file != before.file):
            begun = begun or before.begun
            if before.file == dialect.INDEX:
                words = _without_text(before.text) if before.line is None else before.line
            else:
                wanted[before.file] = None
                names.discard(before.file)
                index, _ = dialect.without_entry(index, before.file)
        if after is None or change.after is None:
            continue
        if after.file == dialect.INDEX:
            words = after.text
            continue
        names.add(after.file)
        if pages.disk.get(after.file) != after.text:
            wanted[after.file] = after.text
        if before is None:
            coming.append((change, after))
        else:
            index = _index_for(dialect, index, change, before, after)
    if words is not None and words != dialect.own_words(index, names):
        index = dialect.with_own_words(index, names, words)
    # Each line finds its place by its number once those before it are there.
    for change, after in sorted(coming, key=_place_in_index):
        index = _index_for(dialect, index, change, None, after)
    writes = [PageWrite(name, text) for name, text in wanted.items() if pages.disk.get(name) != text]
    known = pages.files.get(dialect.INDEX)
    if index != pages.index and not (known is not None and known.problem):
        # An index that cannot be read stays as it is, and an empty one goes only if there was none before.
        writes.append(PageWrite(dialect.INDEX, index or (None if begun else "")))
    return writes


def _place_in_index(one: tuple[NoteChange, Page]) -> tuple[int, ...]:
    before = one[0].before
    page = before.page if before is not None else one[1]
    return page.places if page is not None and page.places else (sys.maxsize,)


def _in_folder(note: Note | None) -> Page | None:
    return note.page if note is not None and not note.hidden else None


def _index_for(dialect: Dialect, index: str, change: NoteChange, before: Page | None, after: Page) -> str:
    """The index after one page was put into the folder, or was given another title."""
    note = change.after
    assert note is not None
    if before is None:
        former = change.before.page if change.before is not None else after
        known = former if former is not None and former.file == after.file else None
        if known is not None and known.line == "":
            # It had no line in the index before it was taken out.
            return index
        line = Line(known.line or "", known.behind, known.places) if known is not None else NO_LINE
        return dialect.with_entry(index, after.file, note, line)
    renamed = change.before is not None and change.before.title != note.title
    return dialect.with_other_entry(index, after.file, after.line) if renamed and after.line else index


def _without_text(words: str) -> str:
    parts = take_apart(words)
    return parts._replace(text="", tail="").joined()
