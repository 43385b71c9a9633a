"""A memory whose notes are pages of Markdown in a folder that other programs write as well.

The memory's own files lie elsewhere, in its home. graph.json there has each note with the page as it was last written
(`Note.page`), and what a page cannot hold: recalls, links with their reasons, tags, who changed it and when. What the
folder says counts for more: a page that differs from its note changes that note, and a page that is gone hides it.
Where pages say all of their notes (`Dialect.WHOLE`), a note has what its page says, recalls and times aside, on every
machine alike; and one whose page cannot be read stands as it was last known.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from core.errors import ErrorCode, InvalidInputError, StorageError
from core.exchange import claude_pages, team_pages
from core.exchange.dialect import LINKED as LINKED
from core.exchange.dialect import Dialect, Index, Said
from core.exchange.page_text import take_apart
from core.exchange.pages import is_page, stem_of
from core.exchange.records import FormatError, Reference
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
from core.team_folder import TEAM_FOLDER, pages_named
from core.text.exact import exact_form
from core.text.normalise import normalise_line

if TYPE_CHECKING:
    from core.storage.format.documents import GraphDocument, PageDocument

_LARGEST: Final = 4 << 20
_DEPTH: Final = 3
_PATIENCE: Final = 1.0
_ID_BYTES: Final = 4
_STAYS: Final = "the page is unchanged"


@dataclass(frozen=True)
class PageFile:
    """A page as it stands in the folder. text: what it says; None for one that cannot be read, and `problem` why.

    data: its bytes. mode: its permissions. said: what the text says, where it was read for that.
    """

    fingerprint: Fingerprint | None
    text: str | None = None
    problem: str = ""
    data: bytes = b""
    mode: int = 0o600
    said: Said | None = field(default=None, compare=False, repr=False)


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
    dialect: whose pages they are. lister: what is done with the page that lists the others, None where none does.
    """

    folder: Path
    files: Mapping[str, PageFile]
    stored: GraphDocument
    owed: Mapping[str, Owed] = field(default_factory=dict)
    owed_file: Fingerprint | None = None
    dialect: Dialect = claude_pages
    lister: Index | None = claude_pages

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
        return frozenset({*self.files, *self.disk} - {self.index_name} - going)

    @property
    def index_name(self) -> str:
        """The page that lists the others; "" for none."""
        return self.lister.INDEX if self.lister is not None else ""

    @property
    def index(self) -> str:
        """All that the index says; "" where there is none."""
        return self.disk.get(self.index_name, "")

    @cached_property
    def texts(self) -> dict[str, str]:
        """What each page says that is a note; of the index its own words, where it has any."""
        index = self.index_name
        found = {name: text for name, text in self.disk.items() if name != index}
        if self.lister is None:
            return found
        words = self.lister.own_words(self.index, self.names)
        if index in self.disk and self.read(index, words).content.strip():
            found[index] = words
        return found

    def read(self, file: str, text: str) -> Said:
        """What a page says. Raises FormatError."""
        known = self.files.get(file)
        if known is not None and known.said is not None and known.text == text:
            return known.said
        return self.dialect.read_page(file, text)

    def said(self, file: str, text: str) -> Said | None:
        """What a page says; None for one that cannot be read."""
        try:
            return self.read(file, text)
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


def dialect_of(folder: Path) -> tuple[Dialect, Index | None]:
    """Whose pages the folder has, by its name, and what is done with the page that lists the others."""
    if folder.parts[-len(TEAM_FOLDER.parts) :] == TEAM_FOLDER.parts:
        return team_pages, None
    return claude_pages, claude_pages


def read_pages(folder: Path, home: Path, stored: GraphDocument, former: PageSet | None) -> PageSet:
    """The pages as they are now; `former` itself where nothing moved. Raises StorageError for a folder that cannot be
    read.
    """
    known = former.files if former is not None else {}
    dialect, lister = dialect_of(folder)
    index = lister.INDEX if lister is not None else ""
    names = (name for name in _names(folder) if name == index or not _leads_within(folder, name))
    files = {name: _read_page(folder, name, known.get(name), dialect, lister) for name in names}
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
    return PageSet(folder, files, stored, owed, owed_file, dialect, lister)


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


def _leads_within(folder: Path, name: str) -> bool:
    """Whether a page is a link to another one of the folder, which is a note anyway."""
    path = folder / name
    return path.is_symlink() and path.is_file() and _is_within(folder, path)


def _is_within(folder: Path, path: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read_page(
    folder: Path, name: str, known: PageFile | None, dialect: Dialect, lister: Index | None
) -> PageFile:
    path = folder / name
    try:
        if refused := _refused(folder, name, dialect):
            # What somebody else put there shows nothing else of this machine.
            return _unreadable(known, refused)
        if known is not None and known.fingerprint is not None and known.fingerprint == fingerprint(path):
            return known
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return _unreadable(known, "is no regular file")
        if status.st_size <= _LARGEST:
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
    return _of_bytes(name, *found, mode, dialect, lister)


def _refused(folder: Path, name: str, dialect: Dialect) -> str:
    """Why a file is not even looked into; "" for one that is."""
    path = folder / name
    if path.is_symlink() and not _is_within(folder, path):
        return "is a link that leads out of the folder"
    if dialect.WHOLE and any(unicodedata.category(char) == "Cc" for char in name):
        return "has control characters in its name"
    return ""


def _of_bytes(
    name: str, data: bytes, made: Fingerprint | None, mode: int, dialect: Dialect, lister: Index | None
) -> PageFile:
    try:
        text = data.decode()
        # The words of an index are read without the lines that point to pages.
        listed = lister is not None and name == lister.INDEX
        said = dialect.read_page(name, text) if not listed else None
    except UnicodeDecodeError:
        return PageFile(made, problem="is not UTF-8", data=data, mode=mode)
    except FormatError as error:
        where = f"line {error.line}: " if error.line else ""
        return PageFile(made, problem=f"cannot be read ({where}{error.what})", data=data, mode=mode)
    return PageFile(made, text, data=data, mode=mode, said=said)


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
    now = PageSet(pages.folder, files, stored, dialect=pages.dialect, lister=pages.lister)
    return replace(graph, pages=now, fingerprint=now.version)


def with_page(graph: GraphDocument, path: Path, data: bytes, rules: InferenceSettings) -> GraphDocument:
    """The graph as it would be with another version of one page. It is a problem there when it cannot be read."""
    assert graph.pages is not None
    name = path.relative_to(graph.pages.folder).as_posix()
    dialect, lister = graph.pages.dialect, graph.pages.lister
    files = {**graph.pages.files, name: _of_bytes(name, data, graph.fingerprint, 0o600, dialect, lister)}
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
        self._ids = {note.id for note in graph.notes if note is not None} | self._set_aside
        self._known: dict[str, int] = {}
        self._moved = False

    def made(self) -> GraphDocument:
        for place, note in enumerate(self._notes):
            if note is not None and note.page is not None:
                self._known.setdefault(note.page.file, place)
        renamed = self._renamed()
        for name, place in list(self._known.items()):
            self._look_at(name, place, renamed.get(place, ""))
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

    def _renamed(self) -> dict[int, str]:
        """Pages that bear another name now, by the place of their note: they say what one says that is gone, and where
        pages say all, have at least its text or its title.
        """
        gone = {
            place: note.page.text
            for name, place in self._known.items()
            if name not in self._pages.files
            and (note := self._notes[place]) is not None
            and note.page is not None
            and _stands(self._pages, note)
        }
        new = {name: text for name, text in self._pages.texts.items() if name not in self._known}
        found: dict[int, str] = {}
        for part in _PARTS_SAID if self._pages.dialect.WHOLE else _PARTS_SAID[:1]:
            if not gone or not new:
                break
            by_part: dict[object, str] = {}
            for name, text in new.items():
                by_part.setdefault(part(self._pages, name, text), name)
            for place in list(gone):
                note = self._notes[place]
                assert note is not None
                assert note.page is not None
                said = part(self._pages, note.page.file, gone[place])
                match = by_part.pop(said, None) if said else None
                if match is not None:
                    found[place] = match
                    del gone[place], new[match]
        return found

    def _look_at(self, name: str, place: int, renamed: str) -> None:
        note = self._notes[place]
        assert note is not None
        page = note.page
        assert page is not None
        file, text = self._pages.files.get(name), self._pages.texts.get(name)
        if file is not None and file.problem and name not in self._pages.owed:
            self._problems.append(_problem(self._pages, name, file.problem, note))
            if not self._pages.dialect.WHOLE:
                self._notes[place] = None
                self._set_aside.add(note.id)
        elif text is None and renamed:
            self._known[renamed] = place
            now = self._pages.texts[renamed]
            note = with_fields(note, page=msgspec.structs.replace(page, file=renamed))
            self._put(place, note if now == page.text else self._changed(note, now))
        elif text is None:
            if not note.hidden:
                self._put(place, with_fields(note, hidden=True))
        elif text != page.text:
            self._put(place, self._changed(note, text))
        elif note.hidden and not _stands(self._pages, note):
            self._put(place, _shown(note, page.file, text))

    def _changed(self, note: Note, text: str) -> Note:
        """The note with what its page says anew."""
        assert note.page is not None
        file = note.page.file
        new = self._pages.read(file, text)
        written = self._pages.written_ns(file)
        updated = max(note.updated_at, new.updated or _iso(written))
        if self._pages.dialect.WHOLE:
            hidden = {
                "hidden": new.hidden,
                "archived_at": (note.archived_at or updated) if new.hidden else None,
            }
            page = Page(file=file, text=text)
            return with_fields(
                note, page=page, updated_at=updated, **_fields_said(new, self._pages), **hidden
            )
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
        changes["updated_at"] = updated
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
        said = self._pages.read(name, text)
        at = _iso(self._pages.written_ns(name))
        updated = said.updated or at
        whole = self._pages.dialect.WHOLE
        fields = _fields_said(said, self._pages) if whole else {"tags": said.tags, **self._meta(said)}
        note = Note(
            **{  # type: ignore[arg-type]
                "id": self._free_id(name),
                "nugget_name": self._pages.dialect.NUGGET,
                "title": said.title,
                "content": said.content,
                "created_at": said.created or updated,
                "updated_at": updated,
                "last_accessed_at": updated,
                "hidden": said.hidden,
                "archived_at": updated if said.hidden else None,
                "page": Page(file=name, text=text),
                **fields,
            }
        )
        self._known[name] = len(self._notes)
        self._notes.append(None)
        self._raws.append(b"")
        self._put(len(self._notes) - 1, note)

    def _free_id(self, name: str) -> str:
        number = 0
        while True:
            id = id_of(self._pages.dialect, name, number)
            if id not in self._ids:
                return id
            number += 1

    def _put(self, place: int, note: Note) -> None:
        former, raw = self._notes[place], self._raws[place]
        self._ids.add(note.id)
        note = normalised_note(note, self._ids.__contains__)
        self._moved = True
        if note != former:
            self._notes[place] = note
            self._raws[place] = write_note(note, former, raw or None)

    def _link(self) -> None:
        """What pages link to anew is linked, both ways, and what they link to no more is not."""
        before = self._linked(_page_texts(self._pages, self._graph.notes))
        after = self._linked(self._texts_now())
        ends: dict[int, list[tuple[int, str, bool]]] = {}
        for pairs, comes in ((before - after, False), (after - before, True)):
            for one, other, reason in pairs:
                if comes or (other, one, reason) not in after:
                    ends.setdefault(one, []).append((other, reason, comes))
                    ends.setdefault(other, []).append((one, reason, comes))
        for place, others in sorted(ends.items()):
            note = self._notes[place]
            if note is None:
                continue
            links = list(note.links)
            for other, reason, comes in sorted(others, key=lambda one: (one[2], one)):
                target = self._notes[other]
                if target is None:
                    continue
                if comes:
                    links.append(Link(to=target.id, reason=reason, created_at=note.updated_at))
                else:
                    links = [link for link in links if (link.to, link.reason) != (target.id, reason)]
            wanted = unique_links(links)
            if wanted != note.links:
                self._put(place, with_fields(note, links=wanted))

    def _texts_now(self) -> Mapping[str, str]:
        """What each page says, or said when it could last be read."""
        if not self._pages.dialect.WHOLE:
            return self._pages.texts
        broken = {name for name, file in self._pages.files.items() if file.problem}
        known = _page_texts(self._pages, self._graph.notes) if broken else {}
        return {**{name: text for name, text in known.items() if name in broken}, **self._pages.texts}

    def _linked(self, texts: Mapping[str, str]) -> set[tuple[int, int, str]]:
        """Which note links to which, by their places, and why."""
        return {
            (self._known[one], self._known[other], reason)
            for one, other, reason in _links_in(self._pages, texts)
            if one in self._known and other in self._known and self._known[one] != self._known[other]
        }


def id_of(dialect: Dialect, name: str, number: int = 0) -> str:
    """The id of the note that a page is, on every machine the same. number: above 0 where others bear that one."""
    # Macs write accents in names as marks of their own.
    name = unicodedata.normalize("NFC", name)
    said = f"{name}\x00{number}" if number else name
    drawn = hashlib.blake2b(said.encode(), digest_size=_ID_BYTES).hexdigest()
    return f"note-{dialect.NUGGET}-{drawn}"


def _fields_said(said: Said, pages: PageSet) -> dict[str, object]:
    """The fields of a note whose page says all of it; but for links, and whether it is hidden."""
    # Of the words nothing is inferred: who edits them means to change nothing else.
    meta = infer_meta("note", "", "", (), said.meta)
    return {
        "title": said.title,
        "content": said.content,
        "tags": said.tags,
        "nugget_name": said.nugget or pages.dialect.NUGGET,
        "source_key": said.key or None,
        **vars(meta),
    }


def _stands(pages: PageSet, note: Note) -> bool:
    """Whether the page of a note was in the folder when it was last looked at: visible, or hidden by what it says."""
    if not note.hidden or note.page is None or not pages.dialect.WHOLE:
        return not note.hidden
    said = pages.said(note.page.file, note.page.text)
    return said is not None and said.hidden


def _all_said(_pages: PageSet, _name: str, text: str) -> object:
    return text


def _content_said(pages: PageSet, name: str, text: str) -> object:
    said = pages.said(name, text)
    return said.content if said is not None else ""


def _title_said(pages: PageSet, name: str, text: str) -> object:
    said = pages.said(name, text)
    # A page without a title is called as its file.
    return said.title if said is not None and said.title != stem_of(name) else ""


# By what a page is known again under another name, the surest first.
_PARTS_SAID: Final[tuple[Callable[[PageSet, str, str], object], ...]] = (
    _all_said,
    _content_said,
    _title_said,
)


def _shown(note: Note, file: str, text: str) -> Note:
    return with_fields(note, hidden=False, archived_at=None, page=Page(file=file, text=text))


def _page_texts(pages: PageSet, notes: Iterable[Note | None]) -> dict[str, str]:
    shown = (note for note in notes if note is not None and note.page is not None and _stands(pages, note))
    return {note.page.file: note.page.text for note in shown if note.page is not None}


def _files_by_name(pages: PageSet, texts: Mapping[str, str]) -> dict[str, str]:
    """Which page is meant by a name, in lower case: of two that bear it, the one that bears it more surely."""
    ranked = [
        (rank, file, exact_form(name))
        for file, text in texts.items()
        if (said := pages.said(file, text)) is not None
        for rank, name in enumerate(said.names)
    ]
    names: dict[str, str] = {}
    for _, file, name in sorted(ranked):
        names.setdefault(name, file)
    return names


def _links_in(pages: PageSet, texts: Mapping[str, str]) -> set[tuple[str, str, str]]:
    """Which page links to which, by file, and why."""
    names = _files_by_name(pages, texts)
    return {
        (file, other, link.reason)
        for file, text in texts.items()
        if (said := pages.said(file, text)) is not None
        for link in said.links
        if (other := names.get(exact_form(link.name), file)) != file
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


class PagePreview(NamedTuple):
    """A page as a change would leave it. before, after: None where it is not there. note: the note that it is."""

    name: str
    note: Note
    before: str | None
    after: str | None


def previewed(graph: GraphDocument, effective: ChangeSet) -> tuple[PagePreview, ...]:
    """The pages that a rebased change set would write or take away. Errors as `completed`."""
    pages = graph.pages
    if pages is None:
        return ()
    made = completed(graph, effective)
    notes = {
        note.page.file: note
        for one in made.notes
        for note in (one.before, one.after)
        if note and note.page is not None
    }
    return tuple(
        PagePreview(one.name, notes[one.name], pages.disk.get(one.name), one.text)
        for one in page_writes(pages, made)
        if one.name in notes
    )


def completed(graph: GraphDocument, effective: ChangeSet) -> ChangeSet:
    """A rebased change set whose notes bear the pages that they make, and say what those say.

    Raises InvalidInputError for what no page can hold.
    """
    pages = graph.pages
    if pages is None:
        return effective
    refuse_facts(pages, effective)
    taken = {_in_use(note.page.file) for note in graph.notes if note is not None and note.page is not None}
    known = set(pages.files) | {
        note.page.file for note in graph.notes if note is not None and note.page is not None
    }
    taken |= {_in_use(name) for name in (*pages.files, pages.index_name)}
    if pages.dialect.WHOLE:
        notes = _Whole(graph, pages, taken).completed(effective.notes)
    else:
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


def _in_use(file: str) -> str:
    """A name as disks compare them that know no case, or one form of accents."""
    return unicodedata.normalize("NFC", file.lower())


def refuse_facts(pages: PageSet, change_set: ChangeSet) -> None:
    """Raises InvalidInputError for facts and nuggets, which a folder of pages has no place for."""
    if change_set.facts or change_set.nuggets or any(change.note.is_fact for change in change_set.notes):
        raise InvalidInputError(
            f"{pages_named(pages.folder)} have no place for facts",
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
        if before.page.file == pages.index_name and not before.hidden:
            before = _with_line(before, pages)
        if before.title != made.title and not (before.hidden or made.hidden):
            return _retitled(change, before, made, after.page, pages)
        return msgspec.structs.replace(change, before=before, after=made)
    page, dialect = after.page, pages.dialect
    if page is None:
        file = dialect.file_for(after.title, taken)
        page = Page(file=file, text=dialect.new_page(file, after))
    elif page.file != pages.index_name and (page.file in known or _is_taken(page.file, pages, taken)):
        page = msgspec.structs.replace(page, file=dialect.file_for(after.title, taken))
    page = msgspec.structs.replace(page, begun=pages.index_name not in pages.files)
    if pages.lister is not None and page.file == pages.index_name:
        page = msgspec.structs.replace(page, line=pages.lister.own_words(pages.index, pages.names))
    taken.add(_in_use(page.file))
    known.add(page.file)
    return msgspec.structs.replace(change, after=_saying(with_fields(after, page=page), pages))


def _is_taken(file: str, pages: PageSet, taken: set[str]) -> bool:
    """Whether a name is in use that differs in case alone, where the disk takes both for one."""
    return _in_use(file) in taken and os.path.lexists(pages.path(file))


def _page_of(before: Note, after: Note, pages: PageSet, taken: set[str]) -> Note:
    """The note with its page: the one that the change brings where that says it, else its own, changed."""
    page, brought, dialect = before.page, after.page, pages.dialect
    assert page is not None
    if brought is not None and brought.text != page.text and _says(brought, after, pages):
        text, places = brought.text, brought.places
    else:
        text = dialect.changed_page(page.file, page.text, before, after)
        places = page.places if before.hidden else ()
    made = msgspec.structs.replace(page, text=text, places=places)
    if after.hidden and not before.hidden:
        made = _with_line(with_fields(before, page=made), pages).page or made
    elif before.hidden and not after.hidden and page.file != pages.index_name and page.file in pages.files:
        made = msgspec.structs.replace(made, file=dialect.file_for(after.title, taken))
        taken.add(made.file)
    if before.hidden and not after.hidden:
        made = msgspec.structs.replace(made, begun=pages.index_name not in pages.files)
    if not after.hidden:
        made = msgspec.structs.replace(made, line=None)
    return _saying(with_fields(after, page=made), pages)


def _retitled(
    change: NoteChange, before: Note, after: Note, brought: Page | None, pages: PageSet
) -> NoteChange:
    """A change of a title, in which both notes know their line in the index: taking it back brings that back."""
    assert before.page is not None
    assert after.page is not None
    lister = pages.lister
    assert lister is not None
    now = lister.entry_of(pages.index, before.page.file)
    known = brought.line if brought is not None and brought.text == after.page.text else None
    line = known if known and now == before.page.line else lister.retitled(now, after.title)
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
    said = pages.read(note.page.file, note.page.text)
    return with_fields(note, title=said.title, content=said.content)


class _Whole:
    """What becomes of pages that say all of their notes. taken: names of files in use, in lower case."""

    def __init__(self, graph: GraphDocument, pages: PageSet, taken: set[str]) -> None:
        self._pages, self._taken = pages, taken
        self._standing = {note.id: note for note in graph.notes if note is not None and note.page is not None}
        self._made: dict[str, Page] = {}

    def completed(self, changes: Iterable[NoteChange]) -> list[NoteChange]:
        """The changes, whose notes bear their pages and say what these say. Raises InvalidInputError."""
        changes = [_with_reasons(change) for change in changes]
        for change in changes:
            if change.after is not None:
                self._made[change.id] = self._page_of(change, change.after)
        self._link(changes)
        return [self._said(change) for change in changes]

    def _page_of(self, change: NoteChange, after: Note) -> Page:
        before, dialect = change.before, self._pages.dialect
        try:
            if before is not None and before.page is not None:
                text = dialect.changed_page(before.page.file, before.page.text, before, after)
                return Page(file=before.page.file, text=text)
            file = after.page.file if after.page is not None else ""
            if not file or _in_use(file) in self._taken:
                file = dialect.file_for(after.title, self._taken)
            self._taken.add(_in_use(file))
            return Page(file=file, text=dialect.new_page(file, after))
        except FormatError as error:
            raise _unsayable(self._pages, after, error) from error

    def _link(self, changes: list[NoteChange]) -> None:
        """Has pages say the links that came, each on one of its two pages, and those no more that went."""
        came, went = _links_moved(changes)
        if not came and not went:
            return
        texts = {**_page_texts(self._pages, self._standing.values()), **self._texts()}
        names = _files_by_name(self._pages, texts)
        for one, other, reason in sorted(went):
            for id, target in ((one, other), (other, one)):
                if id in self._made:
                    self._unlink(id, self._file_of(target), reason, names)
        new = {change.id for change in changes if change.before is None}
        for one, other, reason in sorted(came):
            self._join(one, other, reason, names, new, changes)

    def _texts(self) -> dict[str, str]:
        return {page.file: page.text for page in self._made.values()}

    def _file_of(self, id: str) -> str:
        note = self._standing.get(id)
        page = self._made.get(id) or (note.page if note is not None else None)
        return page.file if page is not None else ""

    def _links_to(self, text: str, own: str, file: str, names: Mapping[str, str]) -> list[Reference]:
        said = self._pages.said(own, text)
        links = said.links if said is not None else ()
        return [link for link in links if file and names.get(exact_form(link.name)) == file]

    def _unlink(self, id: str, file: str, reason: str, names: Mapping[str, str]) -> None:
        page = self._made[id]
        gone = [link for link in self._links_to(page.text, page.file, file, names) if link.reason == reason]
        if gone:
            text = self._pages.dialect.with_links(page.file, page.text, (), gone)
            self._made[id] = msgspec.structs.replace(page, text=text)

    def _join(
        self,
        one: str,
        other: str,
        reason: str,
        names: Mapping[str, str],
        new: set[str],
        changes: list[NoteChange],
    ) -> None:
        ends = [(id, target) for id, target in ((one, other), (other, one)) if id in self._made]
        brought = {change.id: change.after.page for change in changes if change.after is not None}

        def says(id: str, target: str, page: Page | None) -> bool:
            found = self._links_to(page.text, page.file, self._file_of(target), names) if page else ()
            return any(link.reason == reason for link in found)

        def rank(end: tuple[str, str]) -> tuple[object, ...]:
            # What is taken back stands where it stood; else a hub does not gather what all link to it.
            page = self._made[end[0]]
            said = self._pages.said(page.file, page.text)
            links = len(said.links) if said is not None else 0
            return not says(*end, brought.get(end[0])), end[0] not in new, links, page.file

        if not ends or any(says(*end, self._made[end[0]]) for end in ends):
            return
        id, target = min(ends, key=rank)
        page, file = self._made[id], self._file_of(target)
        name = file.rpartition(".")[0]
        if name:
            link = Reference(unicodedata.normalize("NFC", name), reason)
            text = self._pages.dialect.with_links(page.file, page.text, (link,), ())
            self._made[id] = msgspec.structs.replace(page, text=text)

    def _said(self, change: NoteChange) -> NoteChange:
        before, after = change.before, change.after
        if after is None:
            return change
        page, pages = self._made[change.id], self._pages
        try:
            said = pages.read(page.file, page.text)
            brought = after.page
            if (
                brought is not None
                and brought.text != page.text
                and pages.said(page.file, brought.text) == said
            ):
                # What is taken back has the bytes that it had.
                page = msgspec.structs.replace(page, text=brought.text)
        except FormatError as error:
            raise _unsayable(pages, after, error) from error
        broken = pages.files.get(page.file)
        moved = before is None or before.page is None or before.page.text != page.text
        if moved and broken is not None and broken.problem:
            raise InvalidInputError(
                f"the page {broken.problem}",
                code=ErrorCode.BROKEN_FILE,
                where=str(pages.path(page.file)),
                kept="nothing was written",
                todo="mend the file and try again",
            )
        fields = _fields_said(said, pages)
        note = with_fields(after, page=page, **fields)
        return msgspec.structs.replace(change, after=normalised_note(note, lambda _: True))


def _with_reasons(change: NoteChange) -> NoteChange:
    """The change, in which each link has the reason that its page will say."""
    after = change.after
    if after is None:
        return change
    links = (
        msgspec.structs.replace(link, reason=normalise_line(link.reason) or LINKED) for link in after.links
    )
    return msgspec.structs.replace(change, after=with_fields(after, links=unique_links(links)))


def _links_moved(
    changes: Iterable[NoteChange],
) -> tuple[set[tuple[str, str, str]], set[tuple[str, str, str]]]:
    """The links that came and went: two ids, of which the first is the lower, and the reason."""
    came: set[tuple[str, str, str]] = set()
    went: set[tuple[str, str, str]] = set()
    for change in changes:
        pairs = [
            {(min(note.id, link.to), max(note.id, link.to), link.reason) for link in note.links}
            if note is not None
            else set()
            for note in (change.before, change.after)
        ]
        went |= pairs[0] - pairs[1]
        came |= pairs[1] - pairs[0]
    return came - went, went - came


def _unsayable(pages: PageSet, note: Note, error: FormatError) -> InvalidInputError:
    return InvalidInputError(
        f"the note {note.title!r} cannot be written as a page: {error.what}",
        where=str(pages.folder),
        kept="nothing was written",
        todo="indent lines that begin as such a marker does",
    )


def _with_line(note: Note, pages: PageSet) -> Note:
    if pages.lister is None or note.page is None:
        return note
    if note.page.file == pages.index_name:
        places = pages.lister.places_of_words(pages.index, pages.names)
        return with_fields(note, page=msgspec.structs.replace(note.page, places=places))
    _, line, places = pages.lister.without_entry(pages.index, note.page.file)
    return with_fields(note, page=msgspec.structs.replace(note.page, line=line, places=places))


def page_writes(pages: PageSet, effective: ChangeSet) -> list[PageWrite]:
    """The pages that a completed change set writes and takes away, the index last."""
    wanted: dict[str, str | None] = {}
    lister, index = pages.lister, pages.index
    words: str | None = None
    places: tuple[int, ...] = ()
    begun = False
    coming: list[tuple[NoteChange, Page]] = []
    names = set(pages.names)
    for change in effective.notes:
        before, after = _in_folder(pages, change.before), _in_folder(pages, change.after)
        if before is not None and (after is None or after.file != before.file):
            begun = begun or before.begun
            if lister is not None and before.file == lister.INDEX:
                words = _without_text(before.text) if before.line is None else before.line
            else:
                wanted[before.file] = None
                names.discard(before.file)
                index = lister.without_entry(index, before.file)[0] if lister is not None else index
        if after is None or change.after is None:
            continue
        if lister is not None and after.file == lister.INDEX:
            words, places = after.text, after.places
            continue
        names.add(after.file)
        known = pages.files.get(after.file)
        # A recall of a note whose page cannot be read leaves that as it is.
        broken = known is not None and bool(known.problem) and pages.dialect.WHOLE
        if pages.disk.get(after.file) != after.text and not broken:
            wanted[after.file] = after.text
        if before is None:
            coming.append((change, after))
        elif lister is not None:
            index = _index_for(lister, index, change, before, after)
    writes = [PageWrite(name, text) for name, text in wanted.items() if pages.disk.get(name) != text]
    if lister is None:
        return writes
    if words is not None and words != lister.own_words(index, names):
        index = lister.with_own_words(index, names, words, places)
    # Each line finds its place by its number once those before it are there.
    for change, after in sorted(coming, key=_place_in_index):
        index = _index_for(lister, index, change, None, after)
    listed = pages.files.get(lister.INDEX)
    if index != pages.index and not (listed is not None and listed.problem):
        # An index that cannot be read stays as it is, and an empty one goes only if there was none before.
        writes.append(PageWrite(lister.INDEX, index or (None if begun else "")))
    return writes


def _place_in_index(one: tuple[NoteChange, Page]) -> tuple[int, ...]:
    before = one[0].before
    page = before.page if before is not None else one[1]
    return page.places if page is not None and page.places else (sys.maxsize,)


def _in_folder(pages: PageSet, note: Note | None) -> Page | None:
    """The page of a note where it stands in the folder."""
    if note is None or note.page is None or not _stands(pages, note):
        return None
    return note.page if not note.hidden or note.page.file in pages.disk else None


def _index_for(lister: Index, index: str, change: NoteChange, before: Page | None, after: Page) -> str:
    """The index after one page was put into the folder, or was given another title."""
    note = change.after
    assert note is not None
    if before is None:
        former = change.before.page if change.before is not None else after
        known = former if former is not None and former.file == after.file else None
        if known is not None and known.line == "":
            # It had no line in the index before it was taken out.
            return index
        line, places = (known.line or "", known.places) if known is not None else ("", ())
        return lister.with_entry(index, after.file, note, line, places)
    renamed = change.before is not None and change.before.title != note.title
    return lister.with_other_entry(index, after.file, after.line) if renamed and after.line else index


def _without_text(words: str) -> str:
    parts = take_apart(words)
    return parts._replace(text="", tail="").joined()
