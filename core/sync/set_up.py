"""Sets a sync up, step by step, and takes it back; what it finds as it should be it leaves alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

import msgspec

from core.errors import ErrorCode, InvalidInputError
from core.storage.files.atomic import make_folder, read_file, remove_file, replace_file
from core.sync.git import Git, GitFolder, stopped, without_password
from core.sync.kept import SETTINGS_FILES, Kept, followed, one_at_a_time, read_kept, write_kept

_DRIVER: Final = "merge.nuggets.driver"
_ORIGIN: Final = "origin"
_SECOND: Final = "nuggets"


class SetUpStep(StrEnum):
    """What setting up does, or taking it back."""

    FOLDER = "folder"
    REPOSITORY = "repository"
    BRANCH = "branch"
    REMOTE = "remote"
    IGNORE = "ignore"
    ATTRIBUTES = "attributes"
    DRIVER = "driver"
    SYNC = "sync"
    HISTORY = "history"


_STEP_OF: Final = {".gitignore": SetUpStep.IGNORE, ".gitattributes": SetUpStep.ATTRIBUTES}


@dataclass(frozen=True)
class StepDone:
    """One step. what: the file, address, branch or command it is about. already: whether it was so before."""

    step: SetUpStep
    what: str
    already: bool = False


def set_up(
    home: Path, remote: str | None, *, driver: str, machine: str, dry_run: bool = False, asks: bool = False
) -> tuple[StepDone, ...]:
    """Has the memory in `home` be synced with a remote: an address, the name of one that git knows, or None for the one
    that git has for the branch, if any.

    driver: the command that merges three versions of a file. machine: what commits call this one. dry_run: says what it
    would do and does nothing. Raises SyncError, InvalidInputError, StorageError; steps that were done stay done, and
    calling it again goes on.
    """
    remote = _checked(remote) if remote is not None else None
    steps = [] if home.is_dir() else [StepDone(SetUpStep.FOLDER, str(home))]
    folder = _repository(home, asks)
    there = folder is not None
    steps.append(StepDone(SetUpStep.REPOSITORY, str(folder.top if folder else home), already=there))
    if not dry_run:
        make_folder(home)
        folder = folder or _made_repository(home, remote, asks)
    if folder is None:
        name, address, is_new, held = _ORIGIN, remote or "", remote is not None, ""
    else:
        branch = folder.branch()
        if not branch:
            what, todo = (
                "no branch is checked out (detached HEAD)",
                "git switch to a branch, then: nuggets sync init",
            )
            raise stopped(what, ErrorCode.GIT_UNDER_WAY, str(folder.top), todo)
        steps.append(StepDone(SetUpStep.BRANCH, branch, already=there))
        name, address, is_new = _remote(folder, remote)
        held = folder.git.line("config", "--get", _DRIVER)
    former = (read_kept(folder) if folder is not None else None) or Kept()
    missing = {file: _missing(home / file, file) for file in SETTINGS_FILES}
    if address:
        steps.append(StepDone(SetUpStep.REMOTE, without_password(address), already=not is_new))
    steps += [
        StepDone(_STEP_OF[file], str(home / file), already=not missing[file]) for file in SETTINGS_FILES
    ]
    steps.append(StepDone(SetUpStep.DRIVER, driver, already=held == driver))
    steps.append(StepDone(SetUpStep.SYNC, machine, already=former.branch != ""))
    if folder is None or dry_run:
        return tuple(steps)
    with one_at_a_time(folder):
        if is_new:
            folder.git.get("remote", "add", "--", name, address)
        for file, lines in missing.items():
            _append(home / file, lines)
        if held != driver:
            folder.git.get("config", "--local", "merge.nuggets.name", "merges memories note by note")
            folder.git.get("config", "--local", _DRIVER, driver)
        other = former.remote != name or former.branch != branch
        write_kept(
            folder,
            msgspec.structs.replace(
                former, remote=name, branch=branch, machine=former.machine or machine,
                added_remote=former.added_remote or is_new, synced="" if other else former.synced,
                problem="", where="", safe="", todo="", offline=False,
            ),
        )  # fmt: skip
    return tuple(steps)


def take_back(home: Path) -> tuple[StepDone, ...]:
    """Takes back what setting up made, but for the commits: git's history of the memory stays. Raises SyncError."""
    folder, kept = followed(Git(home))
    steps: list[StepDone] = []
    with one_at_a_time(folder):
        ours = [name for name in SETTINGS_FILES if _without_lines(home / name, name)]
        steps += [StepDone(_STEP_OF[name], str(home / name)) for name in ours]
        if folder.git.run("config", "--local", "--remove-section", "merge.nuggets").code == 0:
            steps.append(StepDone(SetUpStep.DRIVER, _DRIVER))
        if kept.added_remote:
            folder.git.run("remote", "remove", "--", kept.remote)
            steps.append(StepDone(SetUpStep.REMOTE, kept.remote))
        write_kept(folder, None)
    return (*steps, StepDone(SetUpStep.HISTORY, str(folder.private)))


def _checked(remote: str) -> str:
    if not remote.strip() or remote.startswith("-") or not remote.isprintable():
        raise InvalidInputError(
            "is no address of a repository", code=ErrorCode.BAD_NAME, where=without_password(remote),
            kept="nothing was changed", todo="give what git clone takes, such as git@example.com:me/memory.git",
        )  # fmt: skip
    path = Path(remote).expanduser()
    return str(path.absolute()) if "://" not in remote and path.is_dir() else remote


def _repository(home: Path, asks: bool) -> GitFolder | None:
    """The repository that the folder is in; one around it that ignores the folder does not count."""
    around = next((each for each in (home, *home.parents) if each.is_dir()), home)
    folder = GitFolder.of(Git(around, asks))
    if folder is not None and around != home:
        below = f"{home.relative_to(around).as_posix()}/"
        folder = GitFolder(folder.git, folder.top, folder.private, folder.prefix + below)
    if folder is None or not folder.prefix:
        return folder
    ignored = Git(folder.top).run("check-ignore", "-q", "--", folder.prefix.rstrip("/")).code == 0
    return None if ignored else folder


def _made_repository(home: Path, remote: str | None, asks: bool) -> GitFolder:
    git = Git(home, asks)
    git.get("init", "--quiet")
    folder = GitFolder.of(git)
    if folder is None:
        raise stopped("git init made no repository", ErrorCode.GIT_FAILED, str(home))
    if remote is not None:
        # The branch that the remote has its memory on, if it has one and can be reached.
        ran = git.run_remote("ls-remote", "--symref", "--", remote, "HEAD")
        found = re.match(rb"ref: (refs/heads/\S+)\tHEAD", ran.out)
        if found is not None:
            git.get("symbolic-ref", "HEAD", found[1].decode(errors="surrogateescape"))
    return folder


def _remote(folder: GitFolder, remote: str | None) -> tuple[str, str, bool]:
    """Name and address of the remote to use, "" for none, and whether it is to be added."""
    known = folder.git.line("remote").split()
    addresses = {name: folder.git.line("remote", "get-url", "--", name) for name in known}
    if remote is None:
        of_branch = folder.git.line("config", "--get", f"branch.{folder.branch()}.remote")
        name = next((one for one in (of_branch, _ORIGIN, *known[:1]) if one in addresses), "")
        return name, addresses.get(name, ""), False
    if remote in addresses:
        return remote, addresses[remote], False
    same = next((name for name, address in addresses.items() if address == remote), "")
    if same:
        return same, remote, False
    name = next((one for one in (_ORIGIN, _SECOND) if one not in addresses), "")
    if not name:
        raise InvalidInputError(
            "git has other remotes already", code=ErrorCode.NAME_TAKEN, where=", ".join(known),
            kept="nothing was changed", todo="give the name of one of them",
        )  # fmt: skip
    return name, remote, True


def _missing(path: Path, name: str) -> str:
    """The lines that a file lacks, as they are to be added; "" for none."""
    found = read_file(path)
    text = found[0].decode(errors="replace") if found is not None else ""
    held = {line.strip() for line in text.splitlines()}
    head, lines = SETTINGS_FILES[name]
    missing = [line for line in lines if line not in held]
    return head + "".join(f"{line}\n" for line in missing) if missing else ""


def _append(path: Path, lines: str) -> None:
    found = read_file(path)
    data = found[0] if found is not None else b""
    data += b"\n" if data and not data.endswith(b"\n") else b""
    if lines:
        replace_file(path, data + lines.encode(), mode=0o644)


def _without_lines(path: Path, name: str) -> bool:
    """Takes our lines out of a file again, below their heading; whether they stood there."""
    found = read_file(path)
    head, lines = SETTINGS_FILES[name]
    before, ours, rest = (found[0] if found is not None else b"").partition(head.encode())
    if not ours:
        return False
    after = rest.splitlines(keepends=True)
    while after and after[0].strip().decode(errors="replace") in lines:
        after.pop(0)
    left = before + b"".join(after)
    if left.strip():
        replace_file(path, left, mode=0o644)
    else:
        remove_file(path)
    return True
