"""A memory whose notes are pages of Markdown in a folder that other programs write as well: the pages read as notes.

The memory's own files lie elsewhere, in its home. graph.json there has each note with the page as it was last written
(`Note.page`), and what a page cannot hold: recalls, links with their reasons, tags, who changed it and when. What the
folder says counts for more: a page that differs from its note changes that note, one that is gone hides it, one that
cannot be read leaves it as it was last known. How a change writes pages is in `page_writes.py`.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from core.errors import StorageError
from core.exchange import memory_index
from core.exchange.dialect import CLAUDE, TEAM, Dialect, Said
from core.exchange.pages import is_page, stem_of
from core.exchange.records import FormatError
from core.folder import TEAM_FOLDER
from core.model.names import iso
from core.model.note import METADATA_FIELDS, Link, Note, Page, normalised_note, unique_links
from core.model.note import replace as with_fields
from core.model.snapshot import Problem, ProblemKind
from core.settings import InferenceSettings
from core.storage.files.atomic import Fingerprint, fingerprint, read_file
from core.storage.files.exchange import wait_until_whole
from core.storage.format.codec import write_note
from core.text.exact import exact_form

if TYPE_CHECKING:
    from core.storage.format.documents import GraphDocument, PageDocument

LARGEST: Final = 4 << 20
_DEPTH: Final = 3
_ID_BYTES: Final = 4


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
class PageSet:
    """The pages of a folder, by name, the index among them.

    stored: the note graph as the memory's home has it.
    """

    folder: Path
    files: Mapping[str, PageFile]
    stored: GraphDocument

    @cached_property
    def dialect(self) -> Dialect:
        """Whose pages the folder has."""
        return dialect_of(self.folder)

    @cached_property
    def disk(self) -> dict[str, str]:
        """What each file says that can be read."""
        return {name: file.text for name, file in self.files.items() if file.text is not None}

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of the pages, without the index."""
        return frozenset(self.files.keys() - {self.dialect.index})

    @property
    def index(self) -> str:
        """All that the index says; "" where there is none."""
        return self.disk.get(self.dialect.index, "")

    @cached_property
    def texts(self) -> dict[str, str]:
        """What each page says that is a note; of the index its own words, where it has any."""
        found = {name: text for name, text in self.disk.items() if name != self.dialect.index}
        words = memory_index.own_words(self.index, self.names) if self.index else ""
        if words and self.dialect.read(self.dialect.index, words).content.strip():
            found[self.dialect.index] = words
        return found

    @cached_property
    def version(self) -> Fingerprint | None:
        """What tells this state of graph and pages from others."""
        known = [
            ("", self.stored.fingerprint),
            *((name, one.fingerprint) for name, one in self.files.items()),
        ]
        if known == [("", None)]:
            return None
        number = int.from_bytes(hashlib.blake2b(repr(sorted(known)).encode(), digest_size=8).digest()) >> 1
        seen = [one for _, one in known if one is not None]
        return Fingerprint(number, sum(one.size for one in seen), max((o.mtime_ns for o in seen), default=0))

    def path(self, name: str) -> Path:
        """Where a page lies."""
        return self.folder / name

    def written_ns(self, name: str) -> int:
        """When a page was last written, in nanoseconds; 0 where that is not known."""
        known = self.files.get(name)
        return known.fingerprint.mtime_ns if known is not None and known.fingerprint is not None else 0

    def stands(self, note: Note) -> bool:
        """Whether a note's page was in the folder when it was last looked at: visible, or hidden by what it says."""
        if not note.hidden or note.page is None or not self.dialect.whole:
            return not note.hidden
        said = self.dialect.says(note.page.file, note.page.text)
        return said is not None and said.hidden

    def standing(self, notes: Iterable[Note | None]) -> dict[str, str]:
        """What the pages of notes say that stand in the folder, by name."""
        shown = (note for note in notes if note is not None and note.page is not None and self.stands(note))
        return {note.page.file: note.page.text for note in shown if note.page is not None}

    def files_by_name(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Which page is meant by a name, in lower case: of two that bear it, the one that bears it more surely."""
        ranked = [
            (rank, file, exact_form(name))
            for file, text in texts.items()
            if (said := self.dialect.says(file, text)) is not None
            for rank, name in enumerate(said.names)
        ]
        names: dict[str, str] = {}
        for _, file, name in sorted(ranked):
            names.setdefault(name, file)
        return names


def dialect_of(folder: Path) -> Dialect:
    """Whose pages a folder has, by its name."""
    return TEAM if folder.parts[-len(TEAM_FOLDER.parts) :] == TEAM_FOLDER.parts else CLAUDE


def id_of(dialect: Dialect, name: str, number: int = 0) -> str:
    """The id of the note that a page is, on every machine the same. number: above 0 where others bear that one."""
    # Macs write accents in names as marks of their own.
    name = unicodedata.normalize("NFC", name)
    said = f"{name}\x00{number}" if number else name
    drawn = hashlib.blake2b(said.encode(), digest_size=_ID_BYTES).hexdigest()
    return f"note-{dialect.nugget}-{drawn}"


# The folder


def read_pages(folder: Path, stored: GraphDocument, former: PageSet | None) -> PageSet:
    """The pages as they are now; `former` itself where nothing moved. Raises StorageError for a folder that cannot be
    read.
    """
    known = former.files if former is not None else {}
    dialect = dialect_of(folder)
    names = (name for name in page_names(folder) if name == dialect.index or not _leads_within(folder, name))
    files = {name: _read_page(folder, name, known.get(name), dialect) for name in names}
    same = former is not None and former.stored is stored and files.keys() == known.keys()
    if former is not None and same and all(files[name] is known[name] for name in files):
        return former
    return PageSet(folder, files, stored)


def page_names(folder: Path, inner: str = "", depth: int = _DEPTH) -> Iterator[str]:
    """The names of the pages in a folder, the index among them; none is opened. Raises StorageError."""
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
            yield from page_names(folder, f"{inner}{name}/", depth - 1)


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _leads_within(folder: Path, name: str) -> bool:
    """Whether a page is a link to another one of the folder, which is a note anyway."""
    path = folder / name
    return path.is_symlink() and path.is_file() and not _leads_out(folder, path)


def _leads_out(folder: Path, path: Path) -> bool:
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _read_page(folder: Path, name: str, known: PageFile | None, dialect: Dialect) -> PageFile:
    path = folder / name
    try:
        if path.is_symlink() and _leads_out(folder, path):
            # What somebody else put there shows nothing else of this machine.
            return _unreadable(known, "is a link that leads out of the folder")
        if any(unicodedata.category(char) == "Cc" for char in name):
            return _unreadable(known, "has control characters in its name")
        if known is not None and known.fingerprint is not None and known.fingerprint == fingerprint(path):
            return known
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return _unreadable(known, "is no regular file")
        if status.st_size > LARGEST:
            return PageFile(fingerprint(path), problem=f"is larger than {LARGEST >> 20} MB")
        begun = time.monotonic()
        # Who writes a page in place empties it first.
        while (found := read_file(path)) is not None and not found[0] and wait_until_whole(path, begun):
            pass
        mode = stat.S_IMODE(path.stat().st_mode)
    except StorageError as error:
        return _unreadable(known, error.what)
    except OSError as error:
        return _unreadable(known, f"cannot be read ({error.strerror})")
    return (
        _unreadable(known, "is no longer there") if found is None else _of_bytes(name, *found, mode, dialect)
    )


def _of_bytes(name: str, data: bytes, made: Fingerprint | None, mode: int, dialect: Dialect) -> PageFile:
    try:
        text = data.decode()
        if name != dialect.index:
            # The words of an index are read without the lines that point to pages.
            dialect.read(name, text)
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


def with_written_pages(
    graph: GraphDocument, pages: PageSet, written: Mapping[Path, PageDocument | None]
) -> GraphDocument:
    """A graph that was just written, with the pages as they are now. written: what was written, None what went."""
    by_raw = dict(zip(pages.stored.raws, pages.stored.notes, strict=True))
    notes = tuple(
        by_raw.get(raw) if note is None else note for note, raw in zip(graph.notes, graph.raws, strict=True)
    )
    stored = replace(graph, items=notes, problems=pages.stored.problems, pages=None)
    files = dict(pages.files)
    for path, page in written.items():
        name = path.relative_to(pages.folder).as_posix()
        files.pop(name, None)
        if page is not None:
            files[name] = PageFile(page.fingerprint, page.data.decode(), data=page.data, mode=page.mode)
    now = PageSet(pages.folder, files, stored)
    return replace(graph, pages=now, fingerprint=now.version)


def with_page(graph: GraphDocument, path: Path, data: bytes, rules: InferenceSettings) -> GraphDocument:
    """The graph as it would be with another version of one page. It is a problem there when it cannot be read."""
    assert graph.pages is not None
    name = path.relative_to(graph.pages.folder).as_posix()
    page = _of_bytes(name, data, graph.fingerprint, 0o600, graph.pages.dialect)
    return projected(graph, replace(graph.pages, files={**graph.pages.files, name: page}), rules)


# The notes that pages make


def projected(graph: GraphDocument, pages: PageSet, rules: InferenceSettings) -> GraphDocument:
    """The note graph as the pages say it: notes of pages that did not change keep their bytes."""
    return replace(_Projection(graph, pages, rules).made(), pages=pages, fingerprint=pages.version)


class _Projection:
    """The notes of one graph as their pages say them, by their places in it."""

    def __init__(self, graph: GraphDocument, pages: PageSet, rules: InferenceSettings) -> None:
        self._graph, self._pages, self._rules, self._dialect = graph, pages, rules, pages.dialect
        self._notes = list(graph.notes)
        self._ids = {note.id for note in graph.notes if note is not None} | graph.set_aside
        self._places: dict[str, int] = {}
        for place, note in enumerate(graph.notes):
            if note is not None and note.page is not None:
                self._places.setdefault(note.page.file, place)

    def made(self) -> GraphDocument:
        pages, renamed = self._pages, self._renamed()
        for name, place in list(self._places.items()):
            self._look_at(name, place, renamed.get(place, ""))
        for name, text in sorted(pages.texts.items()):
            if name not in self._places:
                self._places[name] = len(self._notes)
                self._notes.append(self._new(name, text))
        if self._notes != list(self._graph.notes):
            self._link()
        notes: list[Note | None] = []
        raws: list[bytes] = []
        stored = zip(self._graph.notes, self._graph.raws, strict=True)
        for note, (former, raw) in zip_longest(self._notes, stored, fillvalue=(None, b"")):
            assert not isinstance(note, tuple)
            if note is not None and note is not former:
                note = normalised_note(note, self._ids.__contains__)
                raw = raw if note == former else write_note(note, former, raw or None)
            notes.append(note)
            raws.append(raw)
        problems = [self._problem(name, file.problem) for name, file in sorted(pages.files.items())]
        return replace(
            self._graph,
            raws=tuple(raws),
            items=tuple(notes),
            problems=(*self._graph.problems, *filter(None, problems)),
        )

    def _problem(self, name: str, what: str) -> Problem | None:
        if not what:
            return None
        note = self._notes[self._places[name]] if name in self._places else None
        path, names = str(self._pages.path(name)), (note.id, note.title) if note is not None else ("", "")
        said = f"{what}; the page is unchanged"
        return Problem(ProblemKind.UNREADABLE_NOTE, path, said, path, names=names, place=name)

    def _renamed(self) -> dict[int, str]:
        """Pages that bear another name now, by the place of their note: all of one that is gone, or its text or title,
        stands in one that is new.
        """
        gone: dict[int, Page] = {}
        for name, place in self._places.items():
            note = self._notes[place]
            if name not in self._pages.files and note and note.page and self._pages.stands(note):
                gone[place] = note.page
        new = {name: text for name, text in self._pages.texts.items() if name not in self._places}
        found: dict[int, str] = {}
        for part in ("text", "content", "title") if gone and new else ():
            by_part = {self._part(part, name, text): name for name, text in reversed(new.items())}
            for place, page in list(gone.items()):
                said = self._part(part, page.file, page.text)
                if said and (match := by_part.pop(said, None)) is not None:
                    found[place] = match
                    del gone[place], new[match]
        return found

    def _part(self, part: str, name: str, text: str) -> str:
        """A part of a page by which it is known again; "" for none, as for a title that is the name of the file."""
        said = self._dialect.says(name, text) if part != "text" else None
        if said is None:
            return text if part == "text" else ""
        return said.content if part == "content" else said.title if said.title != stem_of(name) else ""

    def _look_at(self, name: str, place: int, renamed: str) -> None:
        note, text = self._notes[place], self._pages.texts.get(name)
        assert note is not None
        assert note.page is not None
        file = self._pages.files.get(name)
        if file is not None and file.problem:
            return
        if renamed:
            self._places[renamed] = place
            text = self._pages.texts[renamed]
            note = with_fields(note, page=msgspec.structs.replace(note.page, file=renamed))
        if text is None:
            note = note if note.hidden else with_fields(note, hidden=True)
        elif note.page is not None and (
            text != note.page.text or (note.hidden and not self._pages.stands(note))
        ):
            note = self._changed(note, note.page, text)
        self._notes[place] = note

    def _changed(self, note: Note, page: Page, text: str) -> Note:
        """The note with what its page says anew."""
        new, old = self._dialect.read(page.file, text), self._dialect.says(page.file, page.text)
        fields = self._fields(new)
        if old is not None:
            former = self._fields(old)
            same = METADATA_FIELDS if new.meta == old.meta else ()
            fields = {
                name: said for name, said in fields.items() if said != former[name] and name not in same
            }
            if new.tags != old.tags:
                fields["tags"] = (*(tag for tag in note.tags if tag not in old.tags), *new.tags)
        if text != page.text:
            written = iso(_time(self._pages.written_ns(page.file)))
            fields["updated_at"] = max(note.updated_at, new.updated or written)
        archived = (note.archived_at or fields.get("updated_at", note.updated_at)) if new.hidden else None
        page = msgspec.structs.replace(page, text=text)
        return with_fields(note, **fields, page=page, hidden=new.hidden, archived_at=archived)

    def _fields(self, said: Said) -> dict[str, object]:
        """The fields of a note that a page says; but for links, and whether it is hidden."""
        return {
            "title": said.title,
            "content": said.content,
            "tags": said.tags,
            "nugget_name": said.nugget or self._dialect.nugget,
            "source_key": said.key or None,
            **self._dialect.meta_of(said, self._rules),
        }

    def _new(self, name: str, text: str) -> Note:
        said = self._dialect.read(name, text)
        updated = said.updated or iso(_time(self._pages.written_ns(name)))
        number = 0
        while (id := id_of(self._dialect, name, number)) in self._ids:
            number += 1
        self._ids.add(id)
        return Note(
            **{  # type: ignore[arg-type]
                "id": id,
                "created_at": said.created or updated,
                "updated_at": updated,
                "last_accessed_at": updated,
                "hidden": said.hidden,
                "archived_at": updated if said.hidden else None,
                "page": Page(file=name, text=text),
                **self._fields(said),
            }
        )

    def _link(self) -> None:
        """What pages link to anew is linked, both ways, and what they link to no more is not."""
        known = self._pages.standing(self._graph.notes)
        broken = {
            name: text
            for name, text in known.items()
            if (file := self._pages.files.get(name)) and file.problem
        }
        before, after = self._linked(known), self._linked({**broken, **self._pages.texts})
        moved = [(one, False) for one in before - after] + [(one, True) for one in after - before]
        ends: dict[int, list[tuple[bool, int, str]]] = {}
        for (one, other, reason), comes in moved:
            if comes or (other, one, reason) not in after:
                ends.setdefault(one, []).append((comes, other, reason))
                ends.setdefault(other, []).append((comes, one, reason))
        for place, others in ends.items():
            note = self._notes[place]
            links = list(note.links) if note is not None else []
            for comes, other, reason in sorted(others):
                target = self._notes[other]
                if target is not None and note is not None:
                    links = [link for link in links if (link.to, link.reason) != (target.id, reason) or comes]
                    links += [Link(to=target.id, reason=reason, created_at=note.updated_at)] if comes else []
            wanted = unique_links(links)
            if note is not None and wanted != note.links:
                self._notes[place] = with_fields(note, links=wanted)

    def _linked(self, texts: Mapping[str, str]) -> set[tuple[int, int, str]]:
        """Which note links to which, by their places, and why."""
        names, places = self._pages.files_by_name(texts), self._places
        return {
            (places[file], places[other], link.reason)
            for file, text in texts.items()
            if (said := self._dialect.says(file, text)) is not None
            for link in said.links
            if (other := names.get(exact_form(link.name), file)) in places and file in places
            if places[file] != places[other]
        }


def _time(nanoseconds: int) -> datetime:
    try:
        return datetime.fromtimestamp(nanoseconds / 1e9, UTC)
    except (OverflowError, OSError, ValueError):
        return datetime.fromtimestamp(0, UTC)
