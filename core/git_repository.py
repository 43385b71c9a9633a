"""The git repository around a folder, found by its files; and git asked so that nothing that a repository names is run.

Hooks load this while an agent waits, so it imports next to nothing.
"""

from __future__ import annotations

import os

from core.user_folders import TRUSTED_FILE, cache_root, file_stats, state_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

# No repository begins further up than so many folders.
_DEEPEST: Final = 40
_LONGEST_CONFIG: Final = 1 << 20
_LONGEST_REFS: Final = 1 << 24
_SECONDS: Final = 20.0
# Of another repository than the one that is asked about.
_OF_ANOTHER: Final = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR",
)  # fmt: skip
# A missing object makes git fetch, and the configuration says how.
_PROTOCOLS: Final = ("file", "git", "ssh", "http", "https", "ext")
_OFF: Final = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    # The first would run a program for each signed commit; with the others git says something else than is read.
    "log.showSignature": "false",
    "log.follow": "false",
    "log.diffMerges": "separate",
    "diff.orderFile": os.devnull,
    "color.ui": "false",
    "submodule.recurse": "false",
    "grep.column": "false",
    **{f"protocol.{name}.allow": "never" for name in _PROTOCOLS},
}
_FIRST_COMMITS: Final = "first-commits.json"
_MOST: Final = 200


class GitRepository:
    """A repository. top: the folder with `.git`, of a worktree its own. root: the main folder, of whose worktrees all
    are one project. private: git's own files of this worktree; shared: those of all of them.
    """

    __slots__ = ("private", "root", "shared", "top")

    def __init__(self, top: str) -> None:
        self.top = top
        self.private, self.shared = _git_folders(os.path.join(top, ".git"))
        self.root = top
        if self.private != self.shared:
            # `.git` and `.bare` are inside of the project, `project.git` is all of it.
            parent, name = os.path.split(self.shared)
            self.root = parent if name.startswith(".") else self.shared

    @property
    def remote(self) -> str:
        """Where it was cloned from, as `plain_url`: the address of "origin", else of the first remote, else ""."""
        found: dict[str, str] = {}
        section = ""
        for line in map(str.strip, _read(os.path.join(self.shared, "config"), _LONGEST_CONFIG).splitlines()):
            if line.startswith("["):
                section = line
            elif section.startswith("[remote ") and line.partition("=")[0].strip() == "url":
                found.setdefault(section, line.partition("=")[2].strip())
        return plain_url(found.get('[remote "origin"]') or next(iter(found.values()), ""))

    @property
    def head(self) -> str:
        """The commit that is checked out, and what else the first one depends on; "" where the files do not say."""
        said = _read(os.path.join(self.private, "HEAD")).strip()
        name = said.removeprefix("ref: ")
        if name != said:
            loose = (_read(os.path.join(folder, name)).strip() for folder in (self.private, self.shared))
            refs = _read(os.path.join(self.shared, "packed-refs"), _LONGEST_REFS).splitlines()
            packed = (commit for commit, _, ref in (line.partition(" ") for line in refs) if ref == name)
            said = next(filter(None, (*loose, *packed)), "")
        try:
            shallow = os.stat(os.path.join(self.shared, "shallow")).st_mtime_ns
        except OSError:
            shallow = 0
        return f"{said} {shallow}" if said else ""


def repository_around(folder: str) -> GitRepository | None:
    """The repository around a folder; None for none."""
    for _ in range(_DEEPEST):
        if os.path.lexists(os.path.join(folder, ".git")):
            return GitRepository(folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    return None


def trust_signs(project: str) -> list[object]:
    """What is different whenever a project may have become trusted or untrusted; no git is asked."""
    found, root = repository_around(os.path.abspath(project)), state_root()
    paths = [os.path.join(root, TRUSTED_FILE)] if root else []
    if found is not None:
        heads = (os.path.join(found.private, *name) for name in (("HEAD",), ("logs", "HEAD")))
        paths += [os.path.join(found.shared, "config"), *heads]
    return [file_stats(path) for path in paths]


def first_commit(repository: GitRepository) -> str | None:
    """The first commit of the history that is checked out, "" for no commit; None where git cannot read the repository.

    Kept in the user's cache for as long as the same commit is checked out: a long history takes git seconds.
    """
    root = cache_root()
    head, path = repository.head, os.path.join(root, _FIRST_COMMITS) if root else ""
    known = _cached(path) if head else {}
    kept = known.get(repository.top)
    if isinstance(kept, list) and len(kept) == 2 and kept[0] == head:
        return str(kept[1])
    said = _asked_alone(repository, "rev-list", "--max-parents=0", "HEAD", "--")
    if said is None:
        return None if _asked_alone(repository, "rev-parse", "--git-dir") is None else ""
    found = said.split()[-1].decode() if said.strip() else ""
    if head and path:
        known.pop(repository.top, None)
        _keep(path, {**known, repository.top: [head, found]})
    return found


def ask(folder: str | os.PathLike[str], *words: str, seconds: float = _SECONDS) -> bytes | None:
    """What git answers in a folder that anybody may have made; None where it refuses, is not there, or takes longer."""
    return _asked(folder, words, _OFF, seconds=seconds)


def ask_files(folder: str | os.PathLike[str], *words: str, seconds: float = _SECONDS) -> bytes | None:
    """As `ask`, for what reads files as git would store them, which runs the filters of changed files."""
    off = _filters_off(folder)
    return None if off is None else _asked(folder, words, _OFF | off, seconds=seconds)


def blob_digest(data: bytes, like: str = "") -> str:
    """The digest of a file's content as git makes it. like: a digest of the repository, whose length tells which."""
    import hashlib

    made = hashlib.sha256 if len(like) == 64 else hashlib.sha1
    return made(b"blob %d\0" % len(data) + data).hexdigest()


def commits_of_lines(folder: str | os.PathLike[str], path: str) -> Mapping[int, str]:
    """The commit that wrote each line of a file, by its number from 1; none for lines that are not committed."""
    said = ask_files(folder, "blame", "-w", "--porcelain", "--no-textconv", "--", path) or b""
    rows = [row.split(b" ") for row in said.split(b"\n")]
    heads = [row for row in rows if len(row) in (3, 4) and len(row[0]) >= 40 and row[2].isdigit()]
    return {int(row[2]): row[0].decode() for row in heads if row[0].strip(b"0")}


def _asked_alone(repository: GitRepository, *words: str) -> bytes | None:
    # Where a folder's own `.git` is broken, git would answer for the repository around it.
    return _asked(repository.top, words, _OFF, {"GIT_CEILING_DIRECTORIES": os.path.dirname(repository.top)})


def ask_status(folder: str | os.PathLike[str], *words: str) -> bytes | None:
    """As `ask`, for `git status`, which runs the filters of changed files."""
    off = _filters_off(folder)
    if off is None:
        return None
    return _asked(folder, ("status", "--ignore-submodules=all", *words), _OFF | off)


def _filters_off(folder: str | os.PathLike[str]) -> dict[str, str] | None:
    """What switches the filters of a repository off; None where one cannot be."""
    named = ask(folder, "config", "-z", "--name-only", "--get-regexp", "^filter\\.") or b""
    names = [os.fsdecode(name) for name in named.split(b"\0") if name]
    if any("=" in name for name in names):
        # The command line can't name such a filter, so it can't be switched off.
        return None
    return {name: "false" if name.endswith(".required") else "" for name in names}


def _asked(
    folder: str | os.PathLike[str],
    words: tuple[str, ...],
    off: dict[str, str],
    more: dict[str, str] | None = None,
    seconds: float = _SECONDS,
) -> bytes | None:
    from subprocess import DEVNULL, PIPE, SubprocessError, run

    settings = [word for name, value in off.items() for word in ("-c", f"{name}={value}")]
    environ = {name: value for name, value in os.environ.items() if name not in _OF_ANOTHER}
    try:
        ran = run(
            ["git", "--no-optional-locks", "--no-replace-objects", *settings, *words],
            cwd=folder, env=environ | {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"} | (more or {}), stdin=DEVNULL,
            stdout=PIPE, stderr=DEVNULL, timeout=seconds, check=False, start_new_session=True,
        )  # fmt: skip
    except (OSError, SubprocessError, ValueError):
        return None
    # A search that finds nothing is an answer.
    fine = ran.returncode == 0 or (ran.returncode == 1 and words[0] == "grep")
    return ran.stdout if fine else None


def plain_url(url: str) -> str:
    """An address of a remote without what differs from clone to clone: scheme, user, port and ".git"."""
    rest = url.partition("://")[2] or url.replace(":", "/", 1)
    host, slash, path = rest.partition("/")
    host = host.rpartition("@")[2].partition(":")[0]
    return f"{host.casefold()}{slash}{path.rstrip('/').removesuffix('.git')}"


def _git_folders(git: str) -> tuple[str, str]:
    """The folder of git's own files, and the one that all worktrees share: another one for a worktree alone. git: a
    `.git`, a folder or a file that names it.
    """
    inner = git
    if os.path.isfile(git):
        inner = os.path.join(os.path.dirname(git), _first_line(git).removeprefix("gitdir:").strip())
    shared = _first_line(os.path.join(inner, "commondir"))
    return inner, os.path.realpath(os.path.join(inner, shared)) if shared else inner


def _first_line(path: str) -> str:
    return _read(path).partition("\n")[0].strip()


def _read(path: str, most: int = 4096) -> str:
    """The beginning of a file; "" for none, and for what is no file: a pipe may never end."""
    try:
        if not os.path.isfile(path):
            return ""
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(most)
    except (OSError, ValueError):
        return ""


def _cached(path: str) -> dict[str, Any]:
    import json

    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _keep(path: str, known: dict[str, Any]) -> None:
    import json

    written = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(written, "w", encoding="utf-8") as file:
            json.dump(dict([*known.items()][-_MOST:]), file)
        os.replace(written, path)
    except OSError:
        # It is found out again next time.
        return
