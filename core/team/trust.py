"""Which projects' notes a person said may be used: one answer for each repository, as `direnv allow` asks for one.

The answers lie in the user's folder for state, which is never synced. What cannot be read or found out is no yes.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from core.errors import BrokenFileError, ErrorCode, InvalidInputError, StorageError
from core.git_repository import first_commit, repository_around
from core.storage.files.atomic import make_folder, read_file, replace_file
from core.storage.format.pages import page_names
from core.user_folders import STATE_VARIABLE, TRUSTED_FILE, state_root

if TYPE_CHECKING:
    from core.settings import Settings

_KEPT: Final = "no project's notes are used"


class TrustEntry(msgspec.Struct, frozen=True):
    """A project with a team's notes and what was answered for it. key: its repository's first commit and its folder in
    there, or its path where there is no commit. remote: where it was cloned from, as `plain_url`, "" for nowhere.
    """

    key: str
    remote: str
    folder: str
    trusted: bool = False


def entry_for(folder: Path) -> TrustEntry:
    """The project whose notes lie in a folder. Raises InvalidInputError where git can't read its repository."""
    root = os.path.realpath(folder.parent.parent)
    repository = repository_around(root)
    if repository is None:
        return TrustEntry(root, "", root)
    first = first_commit(repository)
    if first is None:
        raise InvalidInputError(
            "git can't read this project's repository", code=ErrorCode.NOT_TRUSTED, where=root,
            kept="its notes are not used", todo="git -C FOLDER status says more",
        )  # fmt: skip
    inside = os.path.relpath(root, repository.top)
    key = f"{first}:{'' if inside == os.curdir else f'{inside}/'}" if first else root
    return TrustEntry(key, repository.remote, root)


def answer_for(project: TrustEntry) -> bool | None:
    """What a person said of a project as it is now; None for nothing yet. Raises BrokenFileError, StorageError."""
    said = (one for one in _read() if (one.key, one.remote) == (project.key, project.remote))
    return next((one.trusted for one in said), None)


def remember(project: TrustEntry, *, trusted: bool) -> None:
    """Keeps the answer. Raises StorageError, BrokenFileError for a file with former answers that can't be read."""
    path = _path()
    if path is None:
        raise StorageError(
            "there is no folder to keep the answer in", code=ErrorCode.NO_PLACE, where=STATE_VARIABLE,
            kept=_KEPT, todo='set it to a folder, or set [team] trust to "all" in settings.toml',
        )  # fmt: skip
    others = [one for one in _read() if one.key != project.key]
    answered = msgspec.structs.replace(project, trusted=trusted)
    make_folder(path.parent)
    replace_file(path, msgspec.json.format(msgspec.json.encode([*others, answered])))


def trust_folder(folder: Path) -> None:
    """Trusts the project whose notes lie in a folder. Raises as `entry_for` and `remember`."""
    remember(entry_for(folder), trusted=True)


def must_be_trusted(folder: Path, settings: Settings) -> bool:
    """Whether the notes in a folder may be used; False where a person said no.

    Raises InvalidInputError where nobody was asked yet, and as `answer_for`.
    """
    if settings.team.trust == "all":
        return True
    project = entry_for(folder)
    said = answer_for(project)
    if said is None:
        count = count_pages(folder)
        raise InvalidInputError(
            f"{count:,} {'note' if count == 1 else 'notes'} of this project, not used until you allow it",
            code=ErrorCode.NOT_TRUSTED, where=project.folder, todo="nuggets team trust",
        )  # fmt: skip
    return said


def count_pages(folder: Path) -> int:
    """How many files of notes a folder has; none is opened. Raises StorageError."""
    return sum(1 for _ in page_names(folder))


def _path() -> Path | None:
    root = state_root()
    return None if root is None else Path(root, TRUSTED_FILE)


def _read() -> list[TrustEntry]:
    path = _path()
    found = None if path is None else read_file(path)
    if found is None:
        return []
    try:
        return msgspec.json.decode(found[0], type=list[TrustEntry])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BrokenFileError(
            f"the projects that you trust can't be read ({error})", where=str(path), kept=_KEPT,
            todo="move the file away and answer again: nuggets team trust",
        ) from error  # fmt: skip
