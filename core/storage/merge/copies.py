"""Conflict copies: what sync tools leave beside a file of the memory when it was changed on two machines at once, and
the second file of a nugget that another build of the original keeps under the other ending. They are found by name and
content, and joined: merged with the memory over the versions that the log knows as base.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, TypeVar

from msgspec.structs import replace as replace_fields

from core.errors import NotFoundError, NuggetsError, StorageError, remedy_for
from core.folder import FACT_SUFFIXES, GRAPH_FILE
from core.model.build import new_note
from core.model.change import ChangeSet, NoteChange
from core.model.compare import alike, differences, laid_over
from core.model.draft import Draft
from core.model.entry import Conflict
from core.model.fact import Fact, Nugget
from core.model.note import Note, custom_tags, normalised_note
from core.model.note import replace as with_fields
from core.model.snapshot import Snapshot
from core.settings import InferenceSettings
from core.storage.files.atomic import read_file
from core.storage.format.documents import (
    BOM,
    Document,
    GraphDocument,
    NuggetDocument,
    kind_of,
    nugget_of_file,
    read_nugget,
    read_sound,
)
from core.storage.format.json_text import JsonError, load
from core.storage.merge.merge import (
    EditsWin,
    changes,
    in_step,
    linked_both_ways,
    rebase,
    told_once,
    without_odd_nuggets,
)
from core.storage.merge.three_way import same_meaning

T = TypeVar("T", Note, Fact)
# Asked with a note's id, or a fact's nugget, and the note or fact: the versions of it that the memory is known to have
# held, oldest first.
Versions = Callable[[str, Any], Sequence[Any]]
_JSON: Final = ".json"
# What the tools put between a file's name and its ending. Dropbox, Nextcloud, ownCloud, Seafile and Google Drive:
# " (...)"; Syncthing: ".sync-conflict-20261120-103000-ABCDEFG"; iCloud: " 2"; OneDrive: "-MACHINE"; Synology,
# Resilio and others: some word with "conflict" in it.
_MARK: Final = re.compile(
    r" ?\(.+\)|\.sync-conflict-\d{8}-\d{6}.*| \d{1,3}|[ ._-].*conflict.*|-[^\W\d].*",
    re.IGNORECASE | re.DOTALL,
)
# What people put there, for copies that they made themselves.
_BY_HAND: Final = re.compile(
    r"(?<![^\W_])(?:archived?|back-?ups?|bak|before|copy|draft|example|export|new|old|orig(?:inal)?|sample|saved?|"
    r"te?mp|test|v\d+)(?![^\W_])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ConflictCopy:
    """A conflict copy, and the file of which it is one (which may be gone). problem: why it cannot be read, if so."""

    path: Path
    original: Path
    problem: str = ""


def conflict_copies(home: Path) -> list[ConflictCopy]:
    """The conflict copies of graph/graph.json and of the fact files, told by name and content; sorted by path.

    Sound JSON of another content is none. Raises StorageError when the system does not show the folder.
    """
    paths, graph = _entries(home), home / GRAPH_FILE
    files = [path for path in paths if path.name.endswith(FACT_SUFFIXES) and _is_file(path)]
    # Of two files of one nugget that counts whose ending comes first.
    counting = sorted(files, key=lambda path: path.name.endswith(FACT_SUFFIXES[0]))
    stems = {nugget_of_file(path.name): path for path in counting}
    found = []
    for path in paths:
        first = stems[nugget_of_file(path.name)] if path in files else path
        original = first if first != path else _original(path, stems)
        if original is not None:
            found.append(_looked_into(path, original, "facts"))
    stem = GRAPH_FILE.stem
    for path in _entries(graph.parent):
        if path.name.startswith(stem) and is_mark(path.name[len(stem) : -len(_JSON)]):
            found.append(_looked_into(path, graph, "notes"))
    return sorted((copy for copy in found if copy is not None), key=lambda copy: str(copy.path))


def _looked_into(path: Path, original: Path, kind: str) -> ConflictCopy | None:
    """What is named like a copy; None where its content shows that it is none."""
    if not _is_file(path):
        link = "is a link, not a file" if path.exists() else "is a broken link"
        return ConflictCopy(path, original, link if path.is_symlink() else "is not a regular file")
    try:
        found = read_file(path)
        data = found[0].removeprefix(BOM) if found is not None else b"[]"
        if kind_of(data) != kind or (kind == "facts" and not _same_nugget(path, original)):
            return None
        return ConflictCopy(path, original)
    except NuggetsError as error:
        return ConflictCopy(path, original, error.what)
    except ValueError as error:
        if path.name.endswith(FACT_SUFFIXES) or _is_json(data):
            # The memory itself tells of a fact file that is broken.
            return None
        return ConflictCopy(path, original, f"cannot be read ({error})" if data.strip() else "is empty")


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _is_json(data: bytes) -> bool:
    try:
        load(data)
    except JsonError:
        return False
    return True


def _original(path: Path, stems: dict[str, Path]) -> Path | None:
    """The fact file that a name speaks of: "memory.nugget (1).json", "memory (1).nugget.json"."""
    for suffix in FACT_SUFFIXES:
        stem, within, mark = path.name.removesuffix(_JSON).rpartition(suffix.removesuffix(_JSON))
        if within and stem and is_mark(mark):
            return path.with_name(stem + suffix)
    if not path.name.endswith(FACT_SUFFIXES):
        return None
    # Here a name alone tells little, for a nugget may be called so: there must be one of the shorter name.
    own = nugget_of_file(path.name)
    shorter = (own[:end] for end in range(len(own) - 1, -1, -1))
    known = next((stem for stem in shorter if stem in stems and is_mark(own[len(stem) :])), None)
    return stems[known] if known is not None else None


def is_mark(text: str) -> bool:
    """Whether a sync tool puts such a text behind the name of a file that was changed on two machines."""
    if "conflict" not in text.casefold() and _BY_HAND.search(text):
        return False
    return _MARK.fullmatch(text) is not None


def _same_nugget(path: Path, original: Path) -> bool:
    """Whether both hold the same nugget; a file that does not say which is taken at its name's word."""
    read = {one: read_file(one) for one in (path, original) if one.exists()}
    documents = [read_nugget(one, *found) for one, found in read.items() if found is not None]
    names = {one.meta.name for one in documents if "name" in one.fields and not one.broken}
    return len(names) < 2 and not documents[0].broken


def _entries(folder: Path) -> list[Path]:
    """Whatever in the folder is named like a JSON file and not hidden, sorted by name."""
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        what = f"the folder cannot be read ({error.strerror})"
        raise StorageError(what, remedy=remedy_for(error, folder), where=str(folder)) from error
    return [folder / name for name in sorted(names) if name.endswith(_JSON) and not name.startswith(".")]


def read_copy(copy: ConflictCopy, rules: InferenceSettings | None = None) -> Document:
    """The notes or facts of a copy; facts under the name of the nugget whose copy it is.

    Raises NotFoundError, BrokenFileError, ReadOnlyError (a newer format), StorageError.
    """
    found = read_file(copy.path)
    if found is None:
        raise NotFoundError("no such file", field="file", where=str(copy.path))
    document = read_sound(
        copy.path, *found, rules or InferenceSettings(), kept="the file is unchanged", todo="join it"
    )
    if isinstance(document, NuggetDocument) and "name" not in document.fields:
        meta = replace_fields(document.meta, name=nugget_of_file(copy.original.name))
        document = replace(document, meta=meta)
    return document


def left_over(document: Document) -> tuple[str, ...]:
    """What of a copy joining does not take over, in words: items that cannot be read."""
    return tuple(f"{problem.where}: {problem.what}" for problem in document.problems)


# Joining


@dataclass
class Joined:
    """What joining comes to. waiting: where both were changed, and the memory's own version stands, each with what the
    copy says. left_out: nuggets whose names no file can have.
    """

    change_set: ChangeSet
    waiting: list[tuple[Conflict, ChangeSet]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The conflicts alone; `ours` is the copy's version."""
        return tuple(found for found, _ in self.waiting)


def join(
    copies: Sequence[Document],
    current: Snapshot,
    versions: Versions,
    draft: Callable[[Snapshot], Draft],
    entry: ChangeSet,
    gone: Collection[Path] = (),
) -> Joined:
    """What the copies of one memory's files, all of them at once, add to it, as `entry` with it in it.

    The base of a note or fact is the known version of it that comes closest; one that is known itself says nothing new,
    and one of which nothing is known has no base. Nothing is deleted because a copy lacks it. Facts and their notes
    stay in step.

    gone: the copies whose original does not exist. Such a copy is the file under another name, and nothing of it was
    deleted on purpose: all of it comes back, whatever the memory once held.
    """
    joined, present, known = Joined(entry), current, set[tuple[str, ...]]()
    of: dict[str | None, list[Document]] = {}
    for copy in copies:
        of.setdefault(copy.meta.name if isinstance(copy, NuggetDocument) else None, []).append(copy)
    # The first copy of each file, then the second of each, and so on.
    for row in zip_longest(*of.values()):
        one = [copy for copy in row if copy is not None]
        theirs = _snapshot(one, lambda _, item: item)
        kept = [copy for copy in one if copy.path not in gone]
        base = _snapshot(kept, partial(_base, versions, theirs))
        made, odd = without_odd_nuggets(changes(base, present, theirs, entry), present)
        made = in_step(made, present)
        decide = EditsWin()
        present = laid_over(present, linked_both_ways(rebase(made, present, decide), present))
        present = laid_over(present, _noted(draft(present), made))
        joined.waiting += told_once(decide.conflicts, made, known)
        joined.left_out += odd
    found = differences(current, present)
    notes = tuple(_set_right(change, present, entry.at) for change in found.notes)
    joined.change_set = replace_fields(entry, notes=notes, facts=found.facts, nuggets=found.nuggets)
    return joined


def _snapshot(documents: Iterable[Document], version: Callable[[str, Any], Note | Fact | None]) -> Snapshot:
    """What files say, in one version of each of their notes and facts."""
    notes: list[Note] = []
    nuggets: list[Nugget] = []
    for document in documents:
        if isinstance(document, GraphDocument):
            notes += (one for one in (version("", note) for note in document.notes if note) if one)  # type: ignore[misc]
        else:
            name = document.meta.name
            facts = (version(name, fact) for fact in document.facts if fact is not None)
            nuggets.append(Nugget(meta=document.meta, facts=tuple(filter(None, facts))))  # type: ignore[arg-type]
    return Snapshot(notes=tuple(notes), nuggets=tuple(nuggets))


def _base(versions: Versions, theirs: Snapshot, place: str, item: Note | Fact) -> Note | Fact | None:
    """The version that a note or fact of a copy was made from, None for none.

    A fact that is not known bears no id: its note tells whether it is a known one that was changed.
    """
    known = versions(place if isinstance(item, Fact) else item.id, item)
    if isinstance(item, Note):
        return _closest(item, known)
    note = theirs.fact_notes.get((place, item.key)) if item not in known else None
    if note is None:
        return item if item in known else None
    base = _closest(note, versions(note.id, note))
    return None if base is None or base.hidden else replace_fields(item, key=base.key, value=base.content)


# What of a note or fact moves without anybody writing it.
_UNWRITTEN: Final = frozenset(
    [
        "hits",
        "last_hit_session",
        "last_accessed_at",
        "last_rewritten_at",
        "created_at",
        "updated_at",
        "vector",
        "archived_at",
        "hidden_fact",
        "tags",
        "page",
        "extra",
    ]
)


def _closest(item: T, known: Sequence[T]) -> T | None:
    """The version from which an item differs in the fewest things that somebody writes. Of several the one of its time,
    which a program that moves no time has changed; else the first, since a later one may be this memory's own edit.
    """

    def distance(one: T) -> tuple[int, bool, int]:
        differing = {n for n in item.__struct_fields__ if getattr(one, n) != getattr(item, n)}
        written = len(differing - _UNWRITTEN)
        if isinstance(one, Note) and isinstance(item, Note):
            written += set(custom_tags(one)) != set(custom_tags(item))
        return written, "updated_at" in differing, 0 if written else len(differing)

    return min(known, key=distance, default=None)


def _noted(draft: Draft, made: ChangeSet) -> ChangeSet:
    """What gives each fact that came a note, and has a note that came say what its fact says."""
    for nugget, key in {(one.nugget, one.after.key): None for one in made.facts if one.after is not None}:
        held, note = draft.find_fact(nugget, key), draft.fact_note(nugget, key, hidden=False)
        if held is None:
            continue
        fact = held[1]
        if note is None:
            made_note = new_note(draft, "fact", nugget, fact.key, fact.value)
            draft.put(with_fields(made_note, hits=fact.hits, last_hit_session=fact.last_hit_session))
        elif not alike(note.content, fact.value):
            draft.put(with_fields(note, content=fact.value))
    return draft.change_set("", kind="import")


def _set_right(change: NoteChange, present: Snapshot, at: str) -> NoteChange:
    """A note as it is to stand; one that was changed by a program that moves no time bears the present one."""
    before, after = change.before, change.after
    if after is None:
        return change
    moved = before is None or after.updated_at > before.updated_at or same_meaning(before, after)
    after = after if moved else with_fields(after, updated_at=at)
    return replace_fields(change, after=normalised_note(after, present.by_id.__contains__))
