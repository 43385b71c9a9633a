"""Archives of the journal: its oldest entries, compressed and moved out when it grows past its limit."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from core.model.entry import Entry
from core.storage.files.atomic import read_file, replace_file
from core.storage.files.side_folders import names_in, side_folder
from core.storage.format.json_text import split_object
from core.storage.journal.codec import read_change_set, read_conflict, read_maker, unpressed
from core.storage.journal.journal import Journal

ARCHIVES: Final = "ledger-archive"
_SUFFIX: Final = ".jsonl.gz"
# Past the limit so much goes that it does not have to happen again soon.
_LEAVE: Final = 0.75
_MEGABYTE: Final = 1_000_000


def archive_oldest(journal: Journal, home: Path, max_mb: float) -> Path | None:
    """Moves the oldest entries into a new archive when all together are larger than `max_mb`; the file, or None.

    The archive is on disk before an entry leaves the journal. What waits for a person stays. Raises StorageError,
    BrokenJournalError.
    """
    total = int(journal.rows("SELECT coalesce(sum(size), 0) FROM entry")[0][0])
    excess = total - max_mb * _MEGABYTE * _LEAVE
    if total <= max_mb * _MEGABYTE:
        return None
    chosen: list[int] = []
    for seq, size in journal.rows(
        "SELECT seq, size FROM entry WHERE state IN ('done', 'settled') ORDER BY seq"
    ):
        if excess <= 0:
            break
        chosen.append(seq)
        excess -= size
    lines = dict(_lines(journal, chosen))
    if not lines:
        return None
    path = side_folder(home, ARCHIVES) / f"{chosen[0]:09}-{chosen[-1]:09}{_SUFFIX}"
    replace_file(path, pressed_archive(b"".join(lines.values())))
    journal.drop(lines)
    return path


def _lines(journal: Journal, chosen: list[int]) -> Iterator[tuple[int, bytes]]:
    """For each entry its line; damaged ones stay where they are."""
    for seq in chosen:
        row = journal.rows(
            "SELECT seq, id, state, made_by, written_ns, body, conflict FROM entry WHERE seq = ?", (seq,)
        )[0]
        number, id, state, made_by, written_ns, body, conflict = row
        try:
            text = unpressed(body)
        except zlib.error:
            continue
        head = json.dumps(
            {"seq": number, "id": id, "state": state, "made_by": made_by, "written_ns": written_ns}
        )
        told = b"" if conflict is None else b', "conflict": ' + bytes(conflict)
        yield seq, head[:-1].encode() + b', "change_set": ' + bytes(text) + told + b"}\n"


def archives(home: Path) -> list[Path]:
    """The archives of a folder, newest first."""
    folder = home / ARCHIVES
    return [folder / name for name in sorted(names_in(folder), reverse=True) if name.endswith(_SUFFIX)]


def pressed_archive(text: bytes) -> bytes:
    """The bytes of an archive that holds these lines; the same for the same lines."""
    return gzip.compress(text, 6, mtime=0)


def archive_lines(path: Path) -> list[bytes] | None:
    """What stands between the line ends of an archive; None for a damaged one. Raises StorageError."""
    found = read_file(path)
    try:
        return gzip.decompress(found[0]).split(b"\n") if found is not None else []
    except (OSError, EOFError, zlib.error):
        return None


def archived(home: Path, wanted: str) -> list[Entry]:
    """Archived entries whose id is `wanted` or begins so, newest first; an unreadable archive is passed over."""
    mark = f'"id": "{wanted}'.encode("utf-8", "replace")
    found: list[Entry] = []
    for path in archives(home):
        lines = reversed(archive_lines(path) or [])
        found += [entry for line in lines if mark in line[:200] and (entry := _entry(line)) is not None]
    return [entry for entry in found if entry.id == wanted] or found


def archive_entries(path: Path) -> list[Entry]:
    """The entries of an archive, oldest first; none for a damaged one. Raises StorageError."""
    lines = archive_lines(path) or []
    return [entry for line in lines if (entry := _entry(line)) is not None]


def _entry(line: bytes) -> Entry | None:
    try:
        shaped = split_object(line)
        conflict = shaped.get("conflict")
        return Entry(
            seq=msgspec.json.decode(shaped["seq"], type=int),
            change_set=read_change_set(shaped["change_set"]),
            state=msgspec.json.decode(shaped["state"]),
            conflict=read_conflict(conflict) if conflict is not None else None,
            origin=read_maker(msgspec.json.decode(shaped.get("made_by", b'""'), type=str)).origin,
        )
    except (msgspec.MsgspecError, KeyError, ValueError):
        return None
