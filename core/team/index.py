"""The index of a team's notes: a list in a README beside their folder, made by a command. It is no note."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from core.model.note import Note
from core.storage.files.atomic import read_file, replace_file
from core.text.normalise import normalise_line

INDEX_FILE: Final = "README.md"
_BEGIN: Final = "<!-- index of the notes: nuggets team index -->"
_END: Final = "<!-- end of the index -->"
_SIGNS: Final = re.compile(r"([\\\[\]<>`*_])")
_WORDS: Final = (
    "# What this project's agents should know\n\n"
    "Each file in `notes/` is one note: a heading and a text, with front matter for tags and links. Edit them as any\n"
    "file and review them as code. `nuggets` lets people and agents search them: `nuggets team`.\n"
)


def write_index(folder: Path, notes: Iterable[Note], *, dry_run: bool = False) -> tuple[Path, bool]:
    """Brings the index beside a folder of notes up to date; words around it stay. Returns its file, and whether it was
    (would be) changed. Raises StorageError.
    """
    path = folder.parent / INDEX_FILE
    found = read_file(path)
    before = found[0].decode("utf-8", "surrogateescape") if found is not None else ""
    after = with_index(before, notes)
    if after != before and not dry_run:
        replace_file(path, after.encode("utf-8", "surrogateescape"), mode=0o644)
    return path, after != before


def with_index(text: str, notes: Iterable[Note]) -> str:
    """A text with the index of notes: in the place of the one that it has, else at its end. Pure."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [_line(note) for note in sorted(notes, key=_order) if not note.hidden and note.page is not None]
    index = newline.join([_BEGIN, "", *lines, *([""] if lines else []), _END])
    begin = text.find(_BEGIN)
    end = text.find(_END, begin)
    if begin >= 0 and end >= 0:
        return f"{text[:begin]}{index}{text[end + len(_END) :]}"
    words = text or _WORDS
    return f"{words.rstrip()}{newline}{newline}{index}{newline}"


def _order(note: Note) -> tuple[str, str]:
    file = note.page.file if note.page is not None else ""
    return file.casefold(), file


def _line(note: Note) -> str:
    assert note.page is not None
    target = f"notes/{note.page.file}"
    if not re.fullmatch(r"[\w./-]+", target):
        escaped = re.sub(r"([<>\\])", r"\\\1", target)
        target = f"<{escaped}>"
    title = _SIGNS.sub(r"\\\1", normalise_line(note.title))
    return f"- [{title}]({target})"
