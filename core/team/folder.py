"""The folder of a team's notes: made in a project, how it stands, and the index beside it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from core.errors import ErrorCode, InvalidInputError, NotFoundError
from core.folder import TEAM_FOLDER, folder_in_reach, is_off, is_team_folder, name_of_team, team_folder
from core.git_repository import ask, ask_status
from core.memory import Memory
from core.model.note import Note
from core.storage.files.atomic import make_folder, read_file, replace_file
from core.text.normalise import normalise_line
from core.user_folders import TEAM_VARIABLE

INDEX_FILE: Final = "README.md"
_BEGIN: Final = "<!-- index of the notes: nuggets team index -->"
_END: Final = "<!-- end of the index -->"
_SIGNS: Final = re.compile(r"([\\\[\]<>`*_])")
_WORDS: Final = (
    "# What this project's agents should know\n\n"
    "Each file in `notes/` is one note: a heading and a text, with front matter for tags and links. Edit them as any\n"
    "file and review them as code. `nuggets` lets people and agents search them: `nuggets team`.\n"
)
_KEEP: Final = ".gitkeep"
# As git would make it.
_FOLDER_MODE: Final = 0o755
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


class FolderStep(NamedTuple):
    """One thing done. step: "folder", "index", "ignored". already: whether it was there before."""

    step: str
    what: str
    already: bool = False


class Changed(NamedTuple):
    """A page that differs from the last commit. how: "new", "changed", "deleted", "renamed" or "conflict"."""

    file: str
    how: str


@dataclass(frozen=True)
class TeamState:
    """How a team's folder stands. git: whether it lies in a repository. changed: against the last commit.
    problems: pages that are no notes, with the reason.
    """

    folder: Path
    notes: int
    hidden: int
    problems: tuple[tuple[str, str], ...]
    git: bool
    changed: tuple[Changed, ...]


def nearest_folder(start: str | Path, setting: str = "", environ: Mapping[str, str] = _NOTHING) -> Path:
    """The team's folder in reach of a folder, as a search there has it; see `folder_in_reach`. Raises NotFoundError,
    InvalidInputError.
    """
    found = folder_in_reach(start, setting, environ)
    if found is None and is_off(name_of_team(setting, environ)):
        raise NotFoundError(
            "the team's notes are switched off", field="file",
            where=TEAM_VARIABLE if environ.get(TEAM_VARIABLE, "").strip() else "[team] folder",
            todo="set it otherwise, or name the project where the command takes one",
        )  # fmt: skip
    if found is None:
        raise NotFoundError(
            f"there is no {TEAM_FOLDER.as_posix()} here or above",
            field="file",
            where=str(start),
            todo="make one with: nuggets team init",
        )
    return found


def make_team_folder(start: Path, *, dry_run: bool = False) -> list[FolderStep]:
    """Makes the team's folder at the root of the repository around a folder, else in that folder. Returns what was
    (would be) done. Raises InvalidInputError where a memory of one's own is in its place, StorageError.
    """
    known = team_folder(start)
    root = known.parent.parent if known is not None else _root(start)
    folder = root / TEAM_FOLDER
    if not is_team_folder(folder):
        raise InvalidInputError(
            "a memory of your own is there", code=ErrorCode.NAME_TAKEN, where=str(folder.parent),
            kept="nothing was written", todo="name the folder of a project",
        )  # fmt: skip
    there, listed = folder.is_dir(), (folder.parent / INDEX_FILE).exists()
    steps = [
        FolderStep("folder", str(folder), there),
        FolderStep("index", str(folder.parent / INDEX_FILE), listed),
    ]
    if not dry_run:
        make_folder(folder, mode=_FOLDER_MODE)
        if not os.listdir(folder):
            # Git keeps no empty folder.
            replace_file(folder / _KEEP, mode=0o644)
        if not listed:
            write_index(folder, Memory.open(folder, reconcile=False).snapshot.notes)
    if ask(root, "check-ignore", "-q", str(TEAM_FOLDER / "x.md")) == b"":
        steps.append(FolderStep("ignored", str(folder)))
    return steps


def _root(start: Path) -> Path:
    at = Path(os.path.abspath(start))
    return next((folder for folder in (at, *at.parents) if (folder / ".git").exists()), at)


def team_state(memory: Memory) -> TeamState:
    """How the team's folder stands that a memory is. Asks the user's git; writes nothing."""
    snapshot, folder = memory.snapshot, memory.folder
    hidden = sum(note.hidden for note in snapshot.notes)
    problems = tuple((os.path.relpath(one.where, folder), one.what) for one in snapshot.problems)
    said = ask_status(folder, "--porcelain", "-z", "--untracked-files=all", "--", ".")
    prefix = ask(folder, "rev-parse", "--show-prefix") if said else b""
    changed = _changed(said or b"", os.fsdecode((prefix or b"").rstrip(b"\n")))
    return TeamState(folder, len(snapshot.notes) - hidden, hidden, problems, said is not None, changed)


def _changed(said: bytes, prefix: str) -> tuple[Changed, ...]:
    found: list[Changed] = []
    parts = iter(os.fsdecode(said).split("\0"))
    for part in parts:
        if len(part) < 4:
            continue
        state, name = part[:2], part[3:].removeprefix(prefix)
        if "R" in state or "C" in state:
            # What it was called before.
            next(parts, None)
        if not name.endswith(f"/{_KEEP}") and name != _KEEP:
            found.append(Changed(name, _how(state)))
    return tuple(sorted(found))


def _how(state: str) -> str:
    if "U" in state or state in ("AA", "DD"):
        return "conflict"
    known = {"?": "new", "A": "new", "R": "renamed", "D": "deleted"}
    return next((how for sign, how in known.items() if sign in state), "changed")


# The index: a list in a README beside the folder, made by a command. It is no note.


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
