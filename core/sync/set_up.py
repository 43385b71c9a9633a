"""Sets a sync up, step by step, and takes it back; what it finds as it should be it leaves alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

import msgspec

from core.errors import ErrorCode, InvalidInputError, SyncError
from core.storage.files.atomic import make_folder, read_file, remove_file, replace_file
from core.sync.git import KEPT, OF_THIS_MACHINE, Git, GitFolder, without_password
from core.sync.kept import Kept, Made, one_at_a_time, read_kept, write_kept

_HEAD: Final = "# nuggets sync: {}\n"
_MERGED: Final = (
    "graph.json merge=nuggets -text", "*.nugget.json merge=nuggets -text", "*.donna.json merge=nuggets -text",
)  # fmt: skip
_FILES: Final = {
    ".gitignore": (_HEAD.format("what belongs to this machine alone"), OF_THIS_MACHINE),
    ".gitattributes": (_HEAD.format("git merges these files note by note"), _MERGED),
}
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
    steps: list[StepDone] = []
    if remote is not None:
        remote = _checked(remote)
    there = home.is_dir()
    if not there:
        steps.append(StepDone(SetUpStep.FOLDER, str(home)))
        if not dry_run:
            make_folder(home)
    folder = _repository(home, asks)
    makes = folder is None
    steps.append(
        StepDone(SetUpStep.REPOSITORY, str(home if folder is None else folder.top), already=not makes)
    )
    if folder is None:
        Git(home if there or not dry_run else Path.cwd(), asks).get("--version")
        if not dry_run:
            folder = _made_repository(home, remote, asks)
    if folder is None:
        steps += _would_do(home, remote, driver)
        return tuple(steps)
    branch = folder.branch()
    if not branch:
        raise SyncError(
            "no branch is checked out (detached HEAD)", code=ErrorCode.GIT_UNDER_WAY, where=str(folder.top), kept=KEPT,
            todo="git switch to a branch, then: nuggets sync init",
        )  # fmt: skip
    steps.append(StepDone(SetUpStep.BRANCH, branch, already=not makes))
    if dry_run:
        return (*steps, *_rest(home, folder, remote, driver, Kept(), dry_run=True)[0])
    with one_at_a_time(folder):
        former = read_kept(folder) or Kept()
        made = msgspec.structs.replace(former.made, repository=former.made.repository or makes)
        rest, made, name = _rest(home, folder, remote, driver, msgspec.structs.replace(former, made=made))
        other = former.remote != name or former.branch != branch
        write_kept(
            folder,
            msgspec.structs.replace(
                former, remote=name, branch=branch, machine=former.machine or machine, made=made,
                synced="" if other else former.synced, problem="", where="", safe="", todo="", offline=False,
            ),
        )  # fmt: skip
    return (*steps, *rest, StepDone(SetUpStep.SYNC, machine, already=former.branch != ""))


def take_back(home: Path) -> tuple[StepDone, ...]:
    """Takes back what setting up made, but for the commits: git's history of the memory stays. Raises SyncError."""
    folder = GitFolder.of(home)
    kept = read_kept(folder) if folder is not None else None
    if folder is None or kept is None:
        raise SyncError(
            "no sync is set up for this memory", code=ErrorCode.NOT_SET_UP, where=str(home), kept=KEPT
        )
    steps: list[StepDone] = []
    with one_at_a_time(folder):
        for name, lines in kept.made.lines.items():
            if name in _FILES and _without_lines(home / name, lines, name in kept.made.files):
                steps.append(StepDone(_STEP_OF[name], str(home / name)))
        if kept.made.driver:
            folder.git.run("config", "--local", "--remove-section", "merge.nuggets")
            steps.append(StepDone(SetUpStep.DRIVER, _DRIVER))
        if kept.made.remote and kept.remote:
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
    folder = GitFolder.of(around, asks=asks)
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
    folder = GitFolder.of(home, asks=asks)
    if folder is None:
        raise SyncError("git init made no repository", code=ErrorCode.GIT_FAILED, where=str(home), kept=KEPT)
    branch = _branch_of(git, remote) if remote is not None else ""
    if branch:
        git.get("symbolic-ref", "HEAD", f"refs/heads/{branch}")
    return folder


def _branch_of(git: Git, remote: str) -> str:
    """The branch that a remote has its memory on; "" where it has none, or cannot be reached."""
    ran = git.run_remote("ls-remote", "--symref", "--", remote)
    if ran.code:
        return ""
    heads: list[str] = []
    for line in ran.out.decode(errors="replace").splitlines():
        about, _, name = line.partition("\t")
        if about.startswith("ref: refs/heads/") and name == "HEAD":
            return about.removeprefix("ref: refs/heads/")
        if name.startswith("refs/heads/"):
            heads.append(name.removeprefix("refs/heads/"))
    return heads[0] if len(heads) == 1 else ""


def _would_do(home: Path, remote: str | None, driver: str) -> Iterator[StepDone]:
    """What would be done in a repository that is still to be made."""
    if remote is not None:
        yield StepDone(SetUpStep.REMOTE, without_password(remote))
    for name in _FILES:
        yield StepDone(_STEP_OF[name], str(home / name), already=not _missing(home / name, name))
    yield StepDone(SetUpStep.DRIVER, driver)
    yield StepDone(SetUpStep.SYNC, "")


def _rest(
    home: Path, folder: GitFolder, remote: str | None, driver: str, former: Kept, *, dry_run: bool = False
) -> tuple[list[StepDone], Made, str]:
    """Remote, files and driver: the steps, what was made by now, and the remote's name."""
    made = former.made
    name, address, new = _remote(folder, remote)
    steps = [StepDone(SetUpStep.REMOTE, without_password(address), already=not new)] if name else []
    if new and not dry_run:
        folder.git.get("remote", "add", "--", name, address)
        made = msgspec.structs.replace(made, remote=True)
    for file in _FILES:
        missing = _missing(home / file, file)
        steps.append(StepDone(_STEP_OF[file], str(home / file), already=not missing))
        if missing and not dry_run:
            was_there = os.path.lexists(home / file)
            _append(home / file, missing)
            files = made.files if was_there else (*made.files, file)
            lines = {**made.lines, file: made.lines.get(file, "") + missing}
            made = msgspec.structs.replace(made, lines=lines, files=files)
    held = folder.git.line("config", "--get", _DRIVER)
    steps.append(StepDone(SetUpStep.DRIVER, driver, already=held == driver))
    if held != driver and not dry_run:
        folder.git.get("config", "--local", "merge.nuggets.name", "merges memories note by note")
        folder.git.get("config", "--local", _DRIVER, driver)
        made = msgspec.structs.replace(made, driver=True)
    return steps, made, name


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
    head, lines = _FILES[name]
    missing = [line for line in lines if line not in held]
    return head + "".join(f"{line}\n" for line in missing) if missing else ""


def _append(path: Path, lines: str) -> None:
    found = read_file(path)
    data = found[0] if found is not None else b""
    if data and not data.endswith(b"\n"):
        data += b"\n"
    replace_file(path, data + lines.encode(), mode=0o644)


def _without_lines(path: Path, lines: str, made: bool) -> bool:
    """Takes lines out of a file again, where they stand in it as they were added; whether they did."""
    found = read_file(path)
    if found is None or lines.encode() not in found[0]:
        return False
    rest = found[0].replace(lines.encode(), b"", 1)
    if made and not rest.strip():
        remove_file(path)
    else:
        replace_file(path, rest, mode=0o644)
    return True
