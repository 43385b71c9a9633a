"""Projects: which one a folder belongs to, and which nuggets are whose.

A project is a git repository (all its worktrees are one project) or else a folder. A nugget belongs to the project that
it was first written from, or that has its name; all other nuggets are the person's. Hooks load this while an agent
waits, so it imports next to nothing.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any, Final

    from core.model.snapshot import Snapshot

# A project by name, or "off"; without it, that of the working directory.
VARIABLE: Final = "NUGGETS_PROJECT"
FILE: Final = "projects.json"
_OFF: Final = "off"
# No project begins further up than so many folders.
_DEEPEST: Final = 40
_LONGEST_CONFIG: Final = 1 << 20
# Nuggets that say what kind of notes they hold, not of which project they are.
_PERSONS: Final = frozenset(
    (
        *("prefs", "preferences", "people", "person", "user", "me", "self", "memory", "learnings", "shared"),
        *("general", "notes", "default", "project", "team"),
    )
)


class Project:
    """A project. root: its main folder, "" where only the name is known. remote: as `_plain_url`, "" for none."""

    __slots__ = ("name", "remote", "root")

    def __init__(self, name: str, root: str = "", remote: str = "") -> None:
        self.name, self.root, self.remote = name, root, remote

    @property
    def nugget(self) -> str:
        """Where notes on the project go that name no nugget; "" where the name makes none."""
        return nugget_name(self.name)


def project_root(folder: str) -> str:
    """The main folder of the project that a folder belongs to: of the repository around it, of whose worktrees all
    are one project, else the folder itself. Without links, so that it is the same whoever tells of it; "" for none.
    """
    if not folder:
        return ""
    folder = os.path.realpath(folder)
    return _repository(folder)[0] or folder


def _repository(folder: str) -> tuple[str, str]:
    """The main folder of the repository around a folder, and what its worktrees share; "" and "" for none."""
    above = folder
    for _ in range(_DEEPEST):
        git = os.path.join(above, ".git")
        if os.path.exists(git):
            own, shared = _git_folders(git)
            if own == shared:
                return above, own
            # Of a worktree: `.git` and `.bare` are inside of the project, `project.git` is all of it.
            parent, name = os.path.split(shared)
            return parent if name.startswith(".") else shared, shared
        parent = os.path.dirname(above)
        if parent == above:
            break
        above = parent
    return "", ""


def project_at(folder: str) -> Project | None:
    """The project that somebody works on in a folder, unless NUGGETS_PROJECT says otherwise; None for none, such as in
    the home folder.
    """
    named = os.environ.get(VARIABLE, "").strip()
    if named:
        return None if named.casefold() == _OFF else Project(named)
    if not folder:
        return None
    folder = os.path.realpath(folder)
    found, shared = _repository(folder)
    root = found or folder
    if _holds_projects(root):
        return None
    remote = _remote(os.path.join(shared, "config")) if shared else ""
    return Project(os.path.basename(root).removesuffix(".git"), root, remote)


def is_persons(nugget: str) -> bool:
    """Whether a nugget's name says what kind of notes it holds, not of which project they are."""
    return nugget.casefold() in _PERSONS


def nugget_name(name: str) -> str:
    """A project's name as that of a nugget; "" where nothing of it can be one."""
    from unicodedata import normalize

    ascii_name = normalize("NFKD", name).encode("ascii", "ignore").decode()
    made = "".join(char if char.isalnum() or char in "._-" else "-" for char in ascii_name)
    return made.strip(".-")[:64].rstrip(".-")


def _holds_projects(root: str) -> bool:
    """Whether a folder is no project but where all of a person's are, or the files of a moment."""
    home = os.path.realpath(os.path.expanduser("~"))
    return root == os.path.dirname(root) or (home + os.sep).startswith(os.path.join(root, ""))


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
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline(4096).strip()
    except OSError:
        return ""


def _remote(config: str) -> str:
    """Of a repository's remotes the address of "origin", else of the first."""
    try:
        with open(config, encoding="utf-8", errors="replace") as file:
            lines = file.read(_LONGEST_CONFIG).splitlines()
    except OSError:
        return ""
    found: dict[str, str] = {}
    section = ""
    for line in map(str.strip, lines):
        if line.startswith("["):
            section = line
        elif section.startswith("[remote ") and line.partition("=")[0].strip() == "url":
            found.setdefault(section, line.partition("=")[2].strip())
    return _plain_url(found.get('[remote "origin"]') or next(iter(found.values()), ""))


def _plain_url(url: str) -> str:
    """An address of a remote without what differs from clone to clone: scheme, user, port and ".git"."""
    rest = url.partition("://")[2] or url.replace(":", "/", 1)
    host, slash, path = rest.partition("/")
    host = host.rpartition("@")[2].partition(":")[0]
    return f"{host.casefold()}{slash}{path.rstrip('/').removesuffix('.git')}"


class Registered:
    """A project that a memory knows. commit: the repository's first one, "" for none; nuggets: written from it."""

    __slots__ = ("commit", "name", "nuggets", "remote", "root")

    def __init__(
        self,
        name: str,
        root: str = "",
        remote: str = "",
        commit: str = "",
        nuggets: Iterable[str] = (),
    ) -> None:
        self.name, self.root, self.remote, self.commit = name, root, remote, commit
        self.nuggets = list(nuggets)

    def is_project(self, project: Project) -> bool:
        """Whether it is this one: the same remote, the same folder, or, where one of them is another now, the same
        first commit.
        """
        if not project.root:
            return self.name.casefold() == project.name.casefold()
        stayed, told = self.root == project.root, bool(self.remote and project.remote)
        if (stayed and not told) or (told and self.remote == project.remote):
            return True
        moved = stayed if told else not os.path.isdir(self.root)
        return bool(self.commit) and moved and self.commit == first_commit(project.root)

    def document(self) -> dict[str, Any]:
        """As the file has it."""
        return {name: getattr(self, name) for name in ("name", "root", "remote", "commit", "nuggets")}


def first_commit(root: str) -> str:
    """The first commit of a repository's history; "" for none."""
    from subprocess import DEVNULL, SubprocessError, run

    try:
        words = ["git", "-C", root, "-c", "core.fsmonitor=false", "rev-list", "--max-parents=0", "HEAD", "--"]
        said = run(words, capture_output=True, stdin=DEVNULL, timeout=10, check=False, text=True).stdout
    except (OSError, SubprocessError, ValueError):
        return ""
    return said.split()[-1] if said.strip() else ""


def registered(home: str) -> list[Registered]:
    """The projects that a memory knows. Raises BrokenFileError for a file that cannot be read as that."""
    import json

    from core.errors import BrokenFileError

    path = os.path.join(home, FILE)
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)["projects"]
        return [
            Registered(one["name"], one["root"], one["remote"], one["commit"], map(str, one["nuggets"]))
            for one in found
        ]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BrokenFileError(f"cannot be read ({error})", where=path, kept="it is unchanged") from error


def known_projects(home: str) -> list[Registered]:
    """As `registered`; none where the file cannot be read: then names alone tell what is whose."""
    from core.errors import BrokenFileError

    try:
        return registered(home)
    except BrokenFileError:
        return []


class Standpoint:
    """A memory as seen from a project: which of its nuggets are other projects', and whose."""

    def __init__(self, project: Project, known: Iterable[Registered], snapshot: Snapshot) -> None:
        self.project = project
        self.snapshot = snapshot
        self._owners: dict[str, Registered] = {}
        self._names: dict[str, str] = {}
        self._mine: Registered | None = None
        for one in known:
            if self._mine is None and one.is_project(project):
                self._mine = one
            self._owners |= dict.fromkeys(map(str.casefold, one.nuggets), one)
            self._names[nugget_name(one.name).casefold()] = one.name
        self._foreign: dict[str, str] = {}

    def owner_of(self, nugget: str) -> str:
        """The name of the other project that a nugget belongs to; "" for one's own nugget and for the person's."""
        found = self._foreign.get(nugget)
        if found is None:
            found = self._foreign[nugget] = self._owner_of(nugget)
        return found

    def _owner_of(self, nugget: str) -> str:
        folded, owner = nugget.casefold(), self._owners.get(nugget.casefold())
        if owner is not None:
            return "" if owner is self._mine else owner.name
        if folded == self.project.nugget.casefold() or folded in _PERSONS:
            return ""
        if folded in self._names:
            return self._names[folded]
        # Nobody registered it: it is a project's where most of its notes are on one.
        notes = [note for note in self.snapshot.visible if note.nugget_name == nugget]
        return nugget if 2 * sum(note.scope == "project" for note in notes) > len(notes) else ""

    @property
    def nugget(self) -> str:
        """Where notes go that name no nugget: to that of the project's name, unless another project of this name has it
        already. "" where the name makes none.
        """
        name = self.project.nugget
        if self._owners.get(name.casefold(), self._mine) is self._mine:
            return name
        return nugget_name(f"{os.path.basename(os.path.dirname(self.project.root))}-{name}")

    @property
    def foreign(self) -> frozenset[str]:
        """The nuggets of the memory that are other projects'."""
        return frozenset(name for name in self.snapshot.nugget_names if self.owner_of(name))

    def is_own(self, nugget: str) -> bool:
        """Whether a nugget is of this project."""
        mine = self._mine.nuggets if self._mine else ()
        return nugget in mine or nugget.casefold() == self.project.nugget.casefold()

    @property
    def is_known(self) -> bool:
        """Whether the memory has a nugget of this project."""
        return any(map(self.is_own, self.snapshot.nugget_names))

    def meant(self, query: str) -> str:
        """The foreign nugget that a question names, by its own name or its project's; "" for none or several."""
        words = f" {_words(query)} "
        found = {
            name
            for name in self.snapshot.nugget_names
            if (owner := self.owner_of(name))
            and any(said.strip() and f" {said} " in words for said in (_words(name), _words(owner)))
        }
        return found.pop() if len(found) == 1 else ""

    def without(self, query: str, nugget: str) -> str:
        """A question without the name of a nugget or its project; as it is where nothing else is in it."""
        words = f" {_words(query)} "
        for said in (_words(self.owner_of(nugget)), _words(nugget)):
            words = words.replace(f" {said} ", " ")
        return words.strip() or query


def _words(text: str) -> str:
    return " ".join("".join(char if char.isalnum() else " " for char in text.casefold()).split())


def register(home: str, project: Project, nugget: str, known_nuggets: Collection[str]) -> None:
    """Puts down that a nugget is of a project, if it has its name, or is new to the memory and no person's by name.

    Raises StorageError, LockTimeoutError, and BrokenFileError for a list that cannot be read, which stays as it is.
    """
    named_so = nugget.casefold() == project.nugget.casefold()
    if not project.root or nugget.casefold() in _PERSONS or (nugget in known_nuggets and not named_so):
        return
    from pathlib import Path

    from core.storage.files.atomic import locked

    # Git is asked before anybody has to wait for the lock.
    new = Registered(project.name, project.root)
    known = registered(home)
    if any(nugget in one.nuggets for one in known):
        return
    if not any(one.is_project(project) for one in known):
        new.commit = first_commit(project.root)
    with locked(Path(home)):
        known = registered(home)
        if any(nugget in one.nuggets for one in known):
            return
        mine = next((one for one in known if one.is_project(project)), new)
        if mine is new:
            known.append(new)
        mine.root, mine.remote = project.root, project.remote
        mine.nuggets.append(nugget)
        write(home, known)


def take_over(home: str, project: Project, nugget: str) -> Registered:
    """Gives a nugget to a project, whosever it was. Errors as `register`."""
    from pathlib import Path

    from core.storage.files.atomic import locked

    commit = first_commit(project.root)
    with locked(Path(home)):
        known = registered(home)
        mine = next((one for one in known if one.is_project(project)), None)
        if mine is None:
            mine = Registered(project.name, commit=commit)
            known.append(mine)
        for one in known:
            one.nuggets = [name for name in one.nuggets if name != nugget]
        mine.root, mine.remote = project.root, project.remote
        mine.nuggets.append(nugget)
        write(home, known)
        return mine


def rename(home: str, name: str, new: str) -> Registered | None:
    """Gives a project another name; None where none has the old one. Errors as `register`."""
    from pathlib import Path

    from core.storage.files.atomic import locked

    with locked(Path(home)):
        known = registered(home)
        found = next((one for one in known if one.name.casefold() == name.casefold()), None)
        if found is not None:
            found.name = new
            write(home, known)
        return found


def write(home: str, known: Iterable[Registered]) -> None:
    """Replaces the file. Held under the memory's lock by who calls. Raises StorageError."""
    import json
    from pathlib import Path

    from core.storage.files.atomic import replace_file

    document = {"version": 1, "projects": [one.document() for one in known]}
    replace_file(Path(home, FILE), f"{json.dumps(document, indent=2, ensure_ascii=False)}\n".encode())
