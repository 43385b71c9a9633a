"""How changes of notes become pages: each note of a change bears the page that it makes, and says what that says."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from core.errors import ErrorCode, InvalidInputError
from core.exchange import memory_index
from core.exchange.dialect import LINKED, TEAM, hook_of
from core.exchange.records import FormatError, Reference
from core.folder import pages_named
from core.model.change import ChangeSet, NoteChange
from core.model.note import Note, Page, normalised_note, unique_links
from core.model.note import replace as with_fields
from core.model.snapshot import Snapshot
from core.storage.files.atomic import Fingerprint
from core.storage.format.pages import LARGEST, PageSet, dialect_of, id_of
from core.text.exact import exact_form
from core.text.normalise import normalise_line

if TYPE_CHECKING:
    from core.storage.format.documents import GraphDocument


class PagePreview(NamedTuple):
    """A page as a change would leave it. before, after: None where it is not there. note: the note that it is."""

    name: str
    note: Note
    before: str | None
    after: str | None


def previewed(graph: GraphDocument, effective: ChangeSet) -> tuple[PagePreview, ...]:
    """The pages that a rebased change set would write or take away. Errors as `completed`."""
    if graph.pages is None:
        return ()
    made = completed(graph, effective)
    sides = (note for one in made.notes for note in (one.before, one.after))
    notes = {note.page.file: note for note in sides if note is not None and note.page is not None}
    return tuple(
        PagePreview(name, notes[name], graph.pages.disk.get(name), text)
        for name, text in page_writes(graph.pages, made).items()
        if name in notes
    )


def completed(graph: GraphDocument, effective: ChangeSet) -> ChangeSet:
    """A rebased change set whose notes bear the pages that they make, and say what those say.

    Raises InvalidInputError for what no page can hold, and for a page that cannot be read.
    """
    pages = graph.pages
    if pages is None:
        return effective
    if effective.facts or effective.nuggets or any(change.note.is_fact for change in effective.notes):
        raise InvalidInputError(
            f"{pages_named(pages.folder)} have no place for facts", code=ErrorCode.NO_PLACE,
            where=str(pages.folder), kept="nothing was written", todo="add a note instead",
        )  # fmt: skip
    notes = tuple(_Completion(graph, pages).completed(effective.notes))
    for page in (change.after.page for change in notes if change.after is not None):
        if page is not None and len(page.text.encode()) > LARGEST:
            raise InvalidInputError(
                f"a page holds at most {LARGEST >> 20} MB", code=ErrorCode.TOO_LONG, where=page.file,
                kept="nothing was written",
            )  # fmt: skip
    return msgspec.structs.replace(effective, notes=notes)


def _in_use(file: str) -> str:
    """A name as disks compare them that know no case, or one form of accents."""
    return unicodedata.normalize("NFC", file.lower())


class _Completion:
    """What becomes of the pages of one change."""

    def __init__(self, graph: GraphDocument, pages: PageSet) -> None:
        self._pages, self._dialect = pages, pages.dialect
        self._standing = {note.id: note for note in graph.notes if note is not None and note.page is not None}
        self._files = {note.page.file for note in self._standing.values() if note.page is not None}
        self._files |= pages.files.keys()
        self._taken = {_in_use(name) for name in self._files}
        if pages.dialect.index not in pages.texts:
            # Its words may come, where it has none.
            self._taken.discard(_in_use(pages.dialect.index))
        self._made: dict[str, Page] = {}

    def completed(self, changes: Iterable[NoteChange]) -> list[NoteChange]:
        """The changes with pages. Raises InvalidInputError."""
        if self._dialect.whole:
            changes = [_with_reasons(change) for change in changes]
        changes = list(changes)
        try:
            for change in changes:
                if change.after is not None:
                    self._made[change.id] = self._page_of(change, change.after)
            if self._dialect.whole:
                self._link(changes)
            return [self._said(self._with_lines(change)) for change in changes]
        except FormatError as error:
            raise InvalidInputError(
                f"a note cannot be written as a page: {error.what}", where=str(self._pages.folder),
                kept="nothing was written", todo="indent lines that begin as such a marker does",
            ) from error  # fmt: skip

    def _page_of(self, change: NoteChange, after: Note) -> Page:
        before = change.before
        if before is not None and before.page is not None:
            page = before.page
            text = self._dialect.changed(page.file, page.text, before, after)
            back = not self._pages.stands(before) and self._pages.stands(after)
            other = back and page.file in self._pages.files and page.file != self._dialect.index
            return Page(file=self._free(after.title) if other else page.file, text=text, line=page.line)
        file = after.page.file if after.page is not None else ""
        # A name that differs in case alone is in use where the disk takes both for one.
        there = file in self._files or os.path.lexists(self._pages.path(file))
        if not file or (_in_use(file) in self._taken and there):
            file = self._free(after.title)
        self._taken.add(_in_use(file))
        if file == self._dialect.index and after.page is not None:
            return after.page
        return Page(file=file, text=self._dialect.new(file, after))

    def _free(self, title: str) -> str:
        while True:
            file = self._dialect.file_for(title, self._taken)
            self._taken.add(_in_use(file))
            if not os.path.lexists(self._pages.path(file)):
                return file

    # Links, where pages say them

    def _link(self, changes: list[NoteChange]) -> None:
        """Has pages say the links that came, each on one of its two pages, and those no more that went."""
        came, went = _links_moved(changes)
        if not came and not went:
            return
        made = {page.file: page.text for page in self._made.values()}
        names = self._pages.files_by_name({**self._pages.standing(self._standing.values()), **made})
        for one, other, reason in sorted(went):
            for id, target in ((one, other), (other, one)):
                if id in self._made:
                    self._put_links(id, (), self._links(self._made[id], target, reason, names))
        new = {change.id for change in changes if change.before is None}
        brought = {change.id: change.after.page for change in changes if change.after is not None}

        def rank(end: tuple[str, str]) -> tuple[object, ...]:
            # What is taken back stands where it stood; else a hub does not gather what all link to it.
            page, former = self._made[end[0]], brought.get(end[0])
            said = self._dialect.says(page.file, page.text)
            stood = former is not None and self._links(former, end[1], reason, names)
            return not stood, end[0] not in new, len(said.links) if said is not None else 0, page.file

        for one, other, reason in sorted(came):
            ends = [(id, target) for id, target in ((one, other), (other, one)) if id in self._made]
            if ends and not any(self._links(self._made[id], to, reason, names) for id, to in ends):
                id, target = min(ends, key=rank)
                name = unicodedata.normalize("NFC", self._file_of(target).rpartition(".")[0])
                self._put_links(id, (Reference(name, reason),) if name else (), ())

    def _file_of(self, id: str) -> str:
        note = self._standing.get(id)
        page = self._made.get(id) or (note.page if note is not None else None)
        return page.file if page is not None else ""

    def _links(self, page: Page, target: str, reason: str, names: Mapping[str, str]) -> list[Reference]:
        """What a page says of its link to a note."""
        said, file = self._dialect.says(page.file, page.text), self._file_of(target)
        links = said.links if said is not None and file else ()
        return [one for one in links if names.get(exact_form(one.name)) == file and one.reason == reason]

    def _put_links(self, id: str, added: Iterable[Reference], gone: Iterable[Reference]) -> None:
        page = self._made[id]
        text = self._dialect.with_links(page.file, page.text, list(added), list(gone))
        self._made[id] = msgspec.structs.replace(page, text=text)

    # Lines of the index

    def _with_lines(self, change: NoteChange) -> NoteChange:
        """A change that concerns the index, in which both notes know their lines there: taking it back brings them."""
        index, before, after = self._pages.index, change.before, change.after
        if not self._dialect.index or before is None or before.page is None or not self._pages.stands(before):
            return change
        is_list = before.page.file == self._dialect.index
        now = index if is_list else memory_index.without_lines(index, before.page.file)[1]
        if after is not None:
            page, brought = self._made[change.id], after.page.line if after.page is not None else None
            line = brought if is_list else page.line
            if not is_list and not self._pages.stands(after):
                line = now
            elif not is_list and after.title != before.title:
                line = memory_index.retitled(now, after.title)
                if (
                    brought
                    and brought != before.page.line
                    and memory_index.retitled(brought, after.title) == line
                ):
                    line = brought
            self._made[change.id] = msgspec.structs.replace(page, line=line)
        page = msgspec.structs.replace(before.page, line=now)
        return msgspec.structs.replace(change, before=with_fields(before, page=page))

    # What the notes say then

    def _said(self, change: NoteChange) -> NoteChange:
        before, after = change.before, change.after
        if after is None:
            return change
        page, brought = self._made[change.id], after.page
        former = before.page.text if before is not None and before.page is not None else None
        if brought is not None and brought.text != former and self._says(brought, page, after):
            # What is taken back has the bytes that it had.
            page = msgspec.structs.replace(page, text=brought.text, line=page.line or brought.line)
        said, broken = self._dialect.read(page.file, page.text), self._pages.files.get(page.file)
        moved = before is None or before.page is None or before.page.text != page.text
        if moved and broken is not None and broken.problem and page.file != self._dialect.index:
            raise InvalidInputError(
                f"the page {broken.problem}", code=ErrorCode.BROKEN_FILE, where=str(self._pages.path(page.file)),
                kept="nothing was written", todo="mend the file and try again",
            )  # fmt: skip
        if not self._dialect.whole:
            return _after(change, with_fields(after, page=page, title=said.title, content=said.content))
        fields = {**self._dialect.meta_of(said), "tags": said.tags, "source_key": said.key or None}
        nugget = said.nugget or self._dialect.nugget
        note = with_fields(
            after, page=page, title=said.title, content=said.content, nugget_name=nugget, **fields
        )
        return _after(change, normalised_note(note, lambda _: True))

    def _says(self, brought: Page, page: Page, note: Note) -> bool:
        """Whether the page that a change brings says what the note is to be."""
        said = self._dialect.says(page.file, brought.text)
        if said is None or not self._dialect.whole:
            return said is not None and (said.title, said.content) == (note.title, note.content)
        made = self._dialect.read(page.file, page.text)
        same = self._dialect.meta_of(said) == self._dialect.meta_of(made)
        return same and said._replace(meta=made.meta) == made


def _after(change: NoteChange, after: Note) -> NoteChange:
    return msgspec.structs.replace(change, after=after)


def _with_reasons(change: NoteChange) -> NoteChange:
    """The change, in which each link has the reason that its page will say."""
    if change.after is None:
        return change
    said = ((link, normalise_line(link.reason) or LINKED) for link in change.after.links)
    links = (msgspec.structs.replace(link, reason=reason) for link, reason in said)
    return _after(change, with_fields(change.after, links=unique_links(links)))


_Links = set[tuple[str, str, str]]


def _links_moved(changes: Iterable[NoteChange]) -> tuple[_Links, _Links]:
    """The links that came and went: two ids, of which the first is the lower, and the reason."""

    def links_of(note: Note | None) -> _Links:
        links = note.links if note is not None else ()
        return {
            (min(note.id, link.to), max(note.id, link.to), link.reason) for link in links if note is not None
        }

    came: _Links = set()
    went: _Links = set()
    for change in changes:
        before, after = links_of(change.before), links_of(change.after)
        came, went = came | (after - before), went | (before - after)
    return came - went, went - came


# The files


def page_writes(pages: PageSet, effective: ChangeSet) -> dict[str, str | None]:
    """What a completed change set writes, None for a page that goes; the index last. Doing it again does nothing."""
    dialect, index = pages.dialect, pages.index
    wanted: dict[str, str | None] = {}
    words: Page | None = None
    coming: dict[str, str] = {}
    for change in effective.notes:
        before, after = _standing(pages, change.before), _standing(pages, change.after)
        if before is not None and change.note.hidden and before.file not in pages.disk:
            before = None
        if dialect.index and dialect.index in (before and before.file, after and after.file):
            words = after or Page(file=dialect.index, text="")
            continue
        if before is not None and (after is None or after.file != before.file):
            wanted[before.file] = None
            index = memory_index.without_lines(index, before.file)[0] if dialect.index else index
        if (
            after is None
            or change.after is None
            or (change.before and not before and after and change.after.hidden)
        ):
            # Nobody wants a page back that is hidden, and that somebody took away.
            continue
        file = pages.files.get(after.file)
        # A recall of a note whose page cannot be read leaves that as it is.
        if file is None or not file.problem:
            wanted[after.file] = after.text
        if before is None or after.file != before.file:
            note, line = change.after, after.line
            hook = hook_of(note.content)
            coming[after.file] = memory_index.new_line(after.file, note.title, hook) if line is None else line
        elif (
            after.line is not None and change.before is not None and change.before.title != change.after.title
        ):
            index = memory_index.with_other_lines(index, after.file, after.line)
    writes = {name: text for name, text in wanted.items() if pages.disk.get(name) != text}
    if not dialect.index:
        return writes
    names = (pages.names | coming.keys()) - {name for name, text in wanted.items() if text is None}
    index = _with_words(index, names, words) if words is not None else index
    for name, line in coming.items():
        index = memory_index.with_lines(index, name, line)
    listed = pages.files.get(dialect.index)
    if index != pages.index and not (listed is not None and listed.problem):
        # An index that cannot be read stays as it is, and one that says nothing any more goes.
        writes[dialect.index] = index or None
    return writes


def _standing(pages: PageSet, note: Note | None) -> Page | None:
    """The page of a note where it stands in the folder."""
    return note.page if note is not None and note.page is not None and pages.stands(note) else None


def _with_words(index: str, names: frozenset[str], words: Page) -> str:
    """The index with other words of its own: as it was, where it had these, and points to the same pages now."""
    former = words.line
    had = former is not None and memory_index.own_words(former, names) == words.text
    if (
        former is not None
        and had
        and memory_index.entries(former, names) == memory_index.entries(index, names)
    ):
        return former
    if memory_index.own_words(index, names) == words.text:
        return index
    return memory_index.with_own_words(index, names, words.text)


def owed_pages(
    pages: PageSet, change_set: ChangeSet, read: Mapping[Path, Fingerprint | None]
) -> dict[str, str | None]:
    """What a change that was cut off has still to write of the pages, once the note graph has it. read: each file that
    it was to write, by its path, as it was then.
    """
    held = {note.id: note.page for note in pages.stored.notes if note is not None and note.page is not None}
    notes = tuple(
        change
        for change in change_set.notes
        if held.get(change.id) == (change.after.page if change.after is not None else None)
    )
    writes = page_writes(pages, msgspec.structs.replace(change_set, notes=notes))
    return {name: text for name, text in writes.items() if _is_as_read(pages, name, read)}


def _is_as_read(pages: PageSet, name: str, read: Mapping[Path, Fingerprint | None]) -> bool:
    """Whether nobody wrote a page since; what another program wrote counts."""
    file, was = pages.files.get(name), read.get(pages.path(name))
    if was is None or file is None or file.fingerprint is None:
        return file is None and was is None and pages.path(name) in read
    return file.fingerprint.same_data(was)


# Names of a team's new notes


def team_names(folder: Path, snapshot: Snapshot) -> TeamFileNames | None:
    """How new notes are named in a folder of pages; None where it is none of a team."""
    return TeamFileNames(folder, snapshot) if dialect_of(folder) is TEAM else None


class TeamFileNames:
    """How the new notes of one folder are named: by their files, so that each machine knows them by the same id."""

    nugget = TEAM.nugget
    meta = TEAM.usual

    def __init__(self, folder: Path, snapshot: Snapshot) -> None:
        self._folder = folder
        self._taken = {note.page.file.lower() for note in snapshot.notes if note.page is not None}

    def place(self, title: str, exists: Callable[[str], bool]) -> tuple[str, Page]:
        """See `TeamNames`."""
        while True:
            file = TEAM.file_for(title, self._taken)
            self._taken.add(file.lower())
            id = id_of(TEAM, file)
            if not exists(id) and not os.path.lexists(self._folder / file):
                return id, Page(file=file, text="")
