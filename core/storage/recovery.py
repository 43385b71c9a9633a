"""Finds what is wrong with the folder and its files, reads damaged ones as far as possible, and repairs them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from core.errors import ConflictError, ErrorCode, Notice, NuggetsError, ReadOnlyError, Remedy
from core.folder import DATABASE_FILE, FACT_SUFFIXES, GRAPH_FILE, QUARANTINE
from core.model.change import FileRepair
from core.model.fact import NuggetMeta
from core.model.saved_search import SEARCHES_FILE
from core.settings import SETTINGS_FILE, InferenceSettings
from core.storage.files.atomic import fingerprint, leftovers, read_file, replace_file, write_target
from core.storage.format.codec import ItemError, legible, read_fact, read_note
from core.storage.format.documents import (
    BOM,
    Document,
    GraphDocument,
    Loaded,
    id_of,
    new_nugget,
    nugget_of_file,
)
from core.storage.journal.journal import Journal
from core.storage.merge.copies import conflict_copies, read_copy
from core.storage.safety import keep_whole, unread_places
from core.verify import Finding, sentence

# Python's own parser tells where a value ends. None of its strings runs over the end of a line: so a stray quotation
# mark upsets one line and not all that follow.
_PARSED: Final = json.JSONDecoder().raw_decode
_OBJECT: Final = re.compile(r'\{\s*+"')
_FIELD: Final = re.compile(r'[\s,{]*+("[^"\\\x00-\x1f]*+")\s*+:\s*+')
_LIST: Final = re.compile(r'"(notes|facts)"\s*+:\s*+\[')
# The end of the list, and not a stray bracket: a field follows, or the end of the file.
_LIST_END: Final = re.compile(r'[\s,]*+\]\s*+(?:,\s*+"[^"\\\x00-\x1f]*+"\s*+:|\}?\s*+\Z)')
# What follows an item of a list.
_NEXT: Final = re.compile(r"\s*+[,\]]")
# So many objects that end or fail at one place are looked at, and so many that fail at all: garbage comes to an end.
_DEEPEST: Final = 32
_FAILURES: Final = 10_000
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")


class Piece(NamedTuple):
    """A note or fact of a file. name: its id or key, "" for none. sound: whether it can be read."""

    name: str
    sound: bool
    raw: bytes


def pieces_of(document: Document) -> list[Piece]:
    """What stands in a file that can be read as a whole, in its order."""
    named = "id" if isinstance(document, GraphDocument) else "key"
    found = []
    for item, raw in zip(document.items, document.raws, strict=True):
        known = item or document.later.get(raw)
        name = id_of(known) if known is not None else legible(raw, named)
        found.append(Piece(name, known is not None, raw))
    return found


def woven(pieces: Sequence[Piece], former: Document, *, missing: bool) -> tuple[list[bytes], set[int]]:
    """The bytes of notes or facts in which what cannot be read is as it was last seen, and its places.

    former: the file as it was last seen. What has no name is taken for the one that stood behind the same neighbour.
    missing: what was seen and is not there at all comes back too, behind the one that it last stood behind.
    """
    seen = {id_of(item): raw for item, raw in zip(former.items, former.raws, strict=True) if item is not None}
    sound = {piece.name for piece in pieces if piece.sound}
    there = {piece.name for piece in pieces}
    behind: dict[str, list[str]] = {}
    before = ""
    for name in seen:
        if name in there:
            before = name
        else:
            behind.setdefault(before, []).append(name)
    raws = [seen[name] for name in behind.pop("", ())] if missing else []
    replaced: set[int] = set()
    before = ""
    for place, (name, is_sound, raw) in enumerate(pieces):
        if not name and behind.get(before):
            name = behind[before].pop(0)
        if not is_sound and name in seen and name not in sound:
            raw = seen.pop(name)
            replaced.add(place)
        raws.append(raw)
        if is_sound or place in replaced:
            before = name
            raws += [seen[one] for one in behind.pop(name, ())] if missing else []
    return raws, replaced


def rebuilt(data: bytes, former: Document, rules: InferenceSettings) -> list[bytes]:
    """A sound file, in parts, of what is whole in a broken one and of what is missing in it.

    former: the file as it was last seen, or an empty one. A note or fact that can be read in the broken file wins over
    the one that was last seen, and that over one that is whole but cannot be understood.
    """
    encoding = "utf-16" if data.startswith(_UTF_16) else "utf-8"
    text = data.removeprefix(BOM).decode(encoding, "replace" if encoding == "utf-16" else "surrogateescape")
    raws, _ = woven(list(_pieces_in(text, isinstance(former, GraphDocument), rules)), former, missing=True)
    return replace(former, fields=dict(former.fields) | _fields_in(text, former), raws=tuple(raws)).to_parts()


def _pieces_in(text: str, is_graph: bool, rules: InferenceSettings) -> Iterator[Piece]:
    """Each note or fact in a broken file once: of several with one id the newest that can be read."""
    found: dict[str, tuple[bool, str, Piece]] = {}
    listed = _LIST.search(text)
    place = listed.end() if listed is not None else 0
    ends = Counter[int]()
    while ends[-1] < _FAILURES and (opened := _OBJECT.search(text, place)):
        end, failed = _end_of(text, opened.start())
        ends[failed] += 1
        ends[-1] += not end
        place = opened.start() + 1 if ends[failed] <= _DEEPEST else max(failed, opened.start() + 1)
        raw = text[opened.start() : end].encode("utf-8", "surrogateescape") if end else b""
        mark = b'"id"' if is_graph else b'"key"'
        if not end or mark not in raw:
            # Nothing in it is a note or fact either.
            place = end or place
            continue
        piece, newness = _judged(raw, mark, is_graph, rules)
        if piece is None or not (piece.sound or _NEXT.match(text, end)):
            continue
        held = found.get(piece.name)
        if held is None or held[:2] < (piece.sound, newness):
            found[piece.name] = piece.sound, newness, piece
        place = end
        if _LIST_END.match(text, place):
            # What follows is another file, if anything.
            again = _LIST.search(text, place)
            place = again.end() if again is not None else len(text)
    return (piece for _, _, piece in found.values())


def _end_of(text: str, start: int) -> tuple[int, int]:
    """Where a value of JSON ends, 0 for one that makes no sense; and where that was known."""
    try:
        end = _PARSED(text, start)[1]
        return end, end
    except json.JSONDecodeError as error:
        return 0, error.pos
    except (ValueError, RecursionError):
        return 0, start + 1


def _judged(raw: bytes, mark: bytes, is_graph: bool, rules: InferenceSettings) -> tuple[Piece | None, str]:
    """An object as a note or fact, and its time; None for what is neither."""
    try:
        if is_graph:
            note = read_note(raw, rules)
            return Piece(note.id, True, raw), note.updated_at
        return Piece(read_fact(raw).key, True, raw), ""
    except ItemError as error:
        # An object in which several of them stand is none itself.
        return (Piece(error.id, False, raw) if error.id and raw.count(mark) == 1 else None), ""


def _fields_in(text: str, former: Document) -> dict[str, bytes]:
    """The fields at the beginning of a broken file, up to its list, without those that are not of their kind."""
    kinds: dict[str, object] = {"version": int | float}
    if not isinstance(former, GraphDocument):
        kinds = {setting.name: setting.type for setting in msgspec.structs.fields(NuggetMeta)}
    found: dict[str, bytes] = {}
    place = 0
    while (named := _FIELD.match(text, place)) and named[1] not in ('"notes"', '"facts"'):
        place, _ = _end_of(text, named.end())
        if not place:
            break
        value = text[named.end() : place].encode("utf-8", "surrogateescape")
        try:
            name = json.loads(named[1])
            msgspec.json.decode(value, type=kinds.get(name, object))
            found[name] = value
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
    return found


_WHOLE: Final = "the whole file could not be read, and was repaired"
_PART: Final = "part of it could not be read, and was repaired"
_TAKEN_BACK: Final = "a repair that was undone"


def repairable(journal: Journal, loaded: Loaded) -> frozenset[str]:
    """Where notes and facts stand, as their problems say it, that cannot be read and of which the journal knows the
    last version that could be.
    """
    return frozenset(
        problem.where
        for path, (_, replaced) in _last_read(journal, loaded).items()
        for place, problem in unread_places(loaded.documents()[path])
        if place in replaced
    )


def repair_files(journal: Journal, loaded: Loaded, now: datetime) -> list[FileRepair]:
    """Makes sound files of those that cannot be read, and puts notes and facts that cannot be read back as they were
    when they last could be. Each file lies in the quarantine first, with its exact bytes.

    Returns what was repaired. Under the memory's lock. Raises StorageError, ReadOnlyError.
    """
    repaired: list[FileRepair] = []
    for path in sorted(filter(os.path.lexists, loaded.broken())):
        read = read_file(path)
        parts = rebuilt(
            read[0] if read is not None else b"", _last_seen(journal, path, loaded), journal.rules
        )
        kept = keep_whole(journal.home, path, _WHOLE, now)
        replace_file(write_target(journal.home, path), *parts)
        repaired.append(_file_repair(journal, path, kept, parts))
    for path, (raws, replaced) in _last_read(journal, loaded).items():
        document = loaded.documents()[path]
        parts = replace(document, raws=tuple(raws)).to_parts()
        kept = keep_whole(journal.home, path, _PART, now)
        # Another program may have written since: what it says now is not overwritten.
        if fingerprint(path) != document.fingerprint:
            continue
        replace_file(write_target(journal.home, path), *parts)
        repaired.append(_file_repair(journal, path, kept, parts))
        said = "could not be read; its last readable version is restored"
        for place, problem in unread_places(document):
            if place in replaced:
                journal.tell(Notice(said, where=problem.where))
    return repaired


def _file_repair(journal: Journal, path: Path, kept: Path, parts: list[bytes]) -> FileRepair:
    before, after = _digest(_bytes_of(kept)), _digest(b"".join(parts))
    return FileRepair(path=journal.name(path), kept=kept.name, before=before, after=after)


def revert_repairs(home: Path, mends: Iterable[FileRepair], now: datetime) -> None:
    """Puts the bytes back that files held before they were repaired; the sound versions go to the quarantine.

    Under the memory's lock. Raises StorageError, ReadOnlyError.
    """
    for repair in mends:
        path = home / repair.path
        keep_whole(home, path, _TAKEN_BACK, now, sound=True)
        replace_file(write_target(home, path), _bytes_of(home / QUARANTINE / repair.kept))


def check_repairs(home: Path, mends: Iterable[FileRepair]) -> None:
    """Raises ConflictError unless every file is as the repair left it, and what it was before is still kept."""
    for repair in mends:
        kept = home / QUARANTINE / repair.kept
        if _digest(_bytes_of(home / repair.path)) != repair.after:
            raise ConflictError(
                "the file has changed since its repair",
                code=ErrorCode.CHANGED_MEANWHILE,
                where=str(home / repair.path),
                kept="nothing was changed",
                todo=f"its earlier bytes are in {kept}",
            )
        if _digest(_bytes_of(kept)) != repair.before:
            raise ConflictError(
                "the quarantine no longer holds its earlier bytes", where=str(kept),
                kept="nothing was changed",
            )  # fmt: skip


def _bytes_of(path: Path) -> bytes:
    read = read_file(path)
    return read[0] if read is not None else b""


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _last_read(journal: Journal, loaded: Loaded) -> dict[Path, tuple[list[bytes], set[int]]]:
    """The files in which what cannot be read is known as it last could be: their notes or facts with those versions
    among them, and their places.
    """
    if not journal.is_open or loaded.snapshot.read_only:
        return {}
    baseline, found = journal.seen_files(), {}
    for path, document in loaded.documents().items():
        one = baseline.get(journal.name(path))
        if document.problems and one is not None:
            former = journal.remembered(path, one.head, loaded.graph)
            raws, replaced = woven(pieces_of(document), former, missing=False)
            if replaced:
                found[path] = raws, replaced
    return found


def _last_seen(journal: Journal, path: Path, loaded: Loaded) -> Document:
    """A file that cannot be read as a whole as the journal last saw it, or an empty one of its kind."""
    known = journal.seen_files().get(journal.name(path))
    if known is not None:
        return journal.remembered(path, known.head, loaded.graph)
    if path == loaded.graph.path:
        return GraphDocument(path=path)
    return new_nugget(path, NuggetMeta(name=nugget_of_file(path.name)))


_OWN: Final = (SETTINGS_FILE, SEARCHES_FILE, DATABASE_FILE)
_TEMPORARY_OF_OTHERS: Final = re.compile(r"[^.].*\.json\..*\btmp|[^.].*\.json\.tmp.*")


def inspect_folder(home: Path) -> Iterator[Finding]:
    """What is not right with the folder and its files, whatever stands in them. Reads names, rights and links;
    of files that look like conflict copies also what they hold. Nothing for a folder that does not exist.
    """
    if home.is_dir():
        files = [
            path
            for path in (home / GRAPH_FILE, *_entries(home))
            if os.path.lexists(path) and (path.name in (*_OWN, GRAPH_FILE.name) or path.name.endswith(FACT_SUFFIXES))
        ]  # fmt: skip
        yield from _false_links(home, files)
        yield from _open_to_others((home, home / GRAPH_FILE.parent, *files))
        yield from _conflict_copies(home)
        yield from _leftovers(home)


def _entries(folder: Path) -> list[Path]:
    """What the folder holds that is not hidden, in the order of its names."""
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError:
        return []


def _false_links(home: Path, files: list[Path]) -> Iterator[Finding]:
    """Files that are links out of the folder, which are read but never written through, and links to nothing."""
    for path in files:
        if not path.exists():
            detail = f"{path.name} is a link to {os.path.realpath(path)}, which does not exist. "
            detail += "Restore the file there, or put it into the folder itself."
            yield Finding("broken-link", str(path), detail)
            continue
        try:
            write_target(home, path)
        except ReadOnlyError as error:
            detail = f"{path.name} {error.what}: it is read, but never written. "
            detail += "Move the file itself into the folder."
            yield Finding("link-out-of-folder", str(path), detail)


def _open_to_others(paths: tuple[Path, ...]) -> Iterator[Finding]:
    """What everybody on this machine may write."""
    for path in paths if os.name != "nt" else ():
        try:
            mode = path.stat().st_mode
        except OSError:
            continue
        if mode & stat.S_IWOTH:
            what = "folder" if stat.S_ISDIR(mode) else "file"
            detail = f"Every user of this machine may write this {what}, and so change what agents read. "
            detail += f"Close it with: chmod o-w {shlex.quote(str(path))}"
            yield Finding("writable-by-others", str(path), detail)


def _conflict_copies(home: Path) -> Iterator[Finding]:
    try:
        copies = conflict_copies(home)
    except NuggetsError as error:
        what = f"The file {error.what}."
        yield Finding("unreadable-file", error.where, what, todo=sentence(error.more), remedy=error.remedy)
        return
    for copy in copies:
        name, original, problem = copy.path.name, copy.original.name, copy.problem
        try:
            _ = problem or read_copy(copy)
        except NuggetsError as error:
            problem = error.what
        detail = (
            f"{name} is a copy of {original}, left by a sync tool or another build of an agent: its contents "
        )
        detail += "are not in the memory."
        if problem:
            detail = f"{name} looks like a conflict copy of {original} and {problem}: it is not joined. "
            detail += "Fix it or move it away."
        remedy = None if problem else Remedy("resolve-join")
        yield Finding("conflict-copy", str(copy.path), detail, remedy=remedy)


def _leftovers(home: Path) -> Iterator[Finding]:
    """Temporary files of writers that were killed, ours and those of other programs."""
    for path, target in leftovers(home):
        detail = f"A write of {target.name} was interrupted and left this file. The next change removes it."
        yield Finding("leftover", str(path), detail)
    for path in (*_entries(home), *_entries(home / GRAPH_FILE.parent)):
        if _TEMPORARY_OF_OTHERS.fullmatch(path.name):
            detail = "Another program began to write a file of the memory and did not finish. "
            yield Finding("leftover", str(path), f"{detail}Delete it when no agent is running.")
