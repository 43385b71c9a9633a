"""Projects: which one a folder belongs to, and which nuggets are whose.

A project is a git repository (all its worktrees are one project) or else a folder. A nugget belongs to the project that
it was first written from, or that has its name; all other nuggets are the person's. Hooks load this while an agent
waits, so it imports next to nothing.
"""

from __future__ import annotations

import os
from contextlib import contextmanager

from core.git_repository import first_commit, repository_around

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any, Final

    from core.model.change import FileChange
    from core.model.snapshot import Snapshot

# A project by name, or "off"; without it, that of the working directory.
VARIABLE: Final = "NUGGETS_PROJECT"
FILE: Final = "projects.json"
_OFF: Final = "off"


class Project:
    """A project. root: its main folder, "" where only the name is known. remote: as `plain_url`, "" for none."""

    __slots__ = ("name", "remote", "root")

    def __init__(self, name: str, root: str = "", remote: str = "") -> None:
        self.name, self.root, self.remote = name, root, remote

    @property
    def nugget(self) -> str:
        """Where notes on the project go that name no nugget; "" where the name makes none."""
        return nugget_name(self.name)

    def first_commit(self) -> str:
        """The first commit of the repository's history; "" for none."""
        found = repository_around(self.root)
        return (found and first_commit(found)) or ""


def project_root(folder: str) -> str:
    """The main folder of the project that a folder belongs to: of the repository around it, of whose worktrees all
    are one project, else the folder itself. Without links, so that it is the same whoever tells of it; "" for none.
    """
    if not folder:
        return ""
    folder = os.path.realpath(folder)
    found = repository_around(folder)
    return found.root if found else folder


def checkout_at(root: str) -> str:
    """The worktree of a project in which one works; its main folder from elsewhere."""
    try:
        around = repository_around(os.path.realpath(os.getcwd()))
    except OSError:
        return root
    return around.top if around is not None and around.root == root else root


def project_at(folder: str) -> Project | None:
    """The project that somebody works on in a folder, unless NUGGETS_PROJECT says otherwise; None for none, such as in
    the home folder.
    """
    named = os.environ.get(VARIABLE, "").strip()
    if named:
        return None if named.casefold() == _OFF else Project(named)
    return project_of(folder) if folder else None


def project_of(folder: str) -> Project | None:
    """The project that a folder belongs to, whatever NUGGETS_PROJECT says; None for none."""
    folder = os.path.realpath(folder)
    found = repository_around(folder)
    root = found.root if found else folder
    home = os.path.realpath(os.path.expanduser("~"))
    if root == os.path.dirname(root) or (home + os.sep).startswith(os.path.join(root, "")):
        # That is where all of a person's projects are.
        return None
    return Project(os.path.basename(root).removesuffix(".git"), root, found.remote if found else "")


def project_named(home: str, name: str) -> Project | None:
    """The project of a memory that has this name, else one that is known by it alone; None for "off"."""
    if name.casefold() == _OFF:
        return None
    found = next((one for one in known_projects(home) if one.name.casefold() == name.casefold()), None)
    return Project(found.name, found.root, found.remote) if found else Project(name)


def nugget_name(name: str) -> str:
    """A project's name as that of a nugget; "" where nothing of it can be one."""
    from unicodedata import normalize

    ascii_name = normalize("NFKD", name).encode("ascii", "ignore").decode()
    made = "".join(char if char.isalnum() or char in "._-" else "-" for char in ascii_name)
    return made.strip(".-")[:64].rstrip(".-")


class Registered:
    """A project that a memory knows. commit: the repository's first one, "" for none; nuggets: written from it, or
    joined by a person.
    """

    __slots__ = ("commit", "joined", "name", "nuggets", "remote", "root")

    def __init__(
        self, name: str, root: str = "", remote: str = "", commit: str = "", nuggets: Iterable[str] = (),
        joined: Iterable[str] = (),
    ) -> None:  # fmt: skip
        self.name, self.root, self.remote, self.commit = name, root, remote, commit
        self.nuggets, self.joined = list(nuggets), list(joined)

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
        return bool(self.commit) and moved and self.commit == project.first_commit()

    def copied(self, *, joined: bool = True) -> Registered:
        """A copy. joined: whether with what a person joined."""
        kept = self.joined if joined else ()
        return Registered(self.name, self.root, self.remote, self.commit, self.nuggets, kept)

    def document(self) -> dict[str, Any]:
        """As the file has it."""
        told: dict[str, Any] = {name: getattr(self, name) for name in ("name", "root", "remote", "commit")}
        return {**told, "nuggets": [*self.nuggets], "joined": [*self.joined]}


def registered(home: str) -> list[Registered]:
    """The projects that a memory knows. Raises BrokenFileError for a file that cannot be read as that."""
    from core.errors import BrokenFileError

    path = os.path.join(home, FILE)
    try:
        with open(path, "rb") as file:
            return read_document(file.read())
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise BrokenFileError(f"cannot be read ({error})", where=path, kept="it is unchanged") from error


def read_document(data: bytes) -> list[Registered]:
    """The projects that the bytes of such a file name. Raises ValueError."""
    import json

    try:
        found = json.loads(data)["projects"]
        return [
            Registered(
                str(one["name"]), str(one["root"]), str(one["remote"]), str(one["commit"]),
                map(str, one["nuggets"]), map(str, one.get("joined", ())),
            )
            for one in found
        ]  # fmt: skip
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"no list of projects: {error!r}") from error


def document_of(known: Iterable[Registered]) -> bytes:
    """The file of such projects."""
    import json

    document = {"version": 1, "projects": [one.document() for one in known]}
    return f"{json.dumps(document, indent=2, ensure_ascii=False)}\n".encode()


def with_others(
    known: Iterable[Registered], others: Iterable[Registered], nuggets: Collection[str]
) -> list[Registered]:
    """Projects, and of other ones what they say of some nuggets that no project here has."""
    found = [one.copied() for one in known]
    taken = {name for one in found for name in one.nuggets}
    for other in others:
        new = [name for name in other.nuggets if name in nuggets and name not in taken]
        if not new:
            continue
        as_project = Project(other.name, other.root, other.remote)
        same_commit = (one for one in found if one.commit and one.commit == other.commit)
        mine = next((one for one in found if one.is_project(as_project)), None) or next(same_commit, None)
        if mine is None:
            mine = Registered(other.name, other.root, other.remote, other.commit)
            found.append(mine)
        mine.nuggets += new
        mine.joined += [name for name in new if name in other.joined]
        taken |= set(new)
    return found


def brought_onto(before: bytes | None, after: bytes | None, now: bytes | None) -> bytes | None:
    """The file as it is now, with the nuggets given and taken away that a change of it gave and took away. Raises
    ValueError.
    """
    was, becomes, found = (read_document(data) if data else [] for data in (before, after, now))
    had, has = ({name for one in side for name in one.nuggets} for side in (was, becomes))
    for one in found:
        one.nuggets = [name for name in one.nuggets if name not in had - has]
        one.joined = [name for name in one.joined if name not in had - has]
    kept = [one for one in found if one.nuggets or not had - has]
    made = with_others(kept, becomes, has - had)
    return document_of(made) if made or after is not None else None


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
        # Of each nugget how many more notes are on a project than are not.
        self._shares: dict[str, int] | None = None

    def owner_of(self, nugget: str) -> str:
        """The name of the other project that a nugget belongs to; "" for one's own nugget and for the person's."""
        found = self._foreign.get(nugget)
        if found is None:
            found = self._foreign[nugget] = self._owner_of(nugget)
        return found

    def _owner_of(self, nugget: str) -> str:
        from core.model.names import PERSONS_NUGGETS

        folded, owner = nugget.casefold(), self._owners.get(nugget.casefold())
        if owner is not None:
            return "" if owner is self._mine else owner.name
        if self._is_named_so(nugget) or folded in PERSONS_NUGGETS:
            return ""
        if folded in self._names:
            return self._names[folded]
        # Nobody registered it: it is a project's where most of its notes are on one.
        if self._shares is None:
            self._shares = {}
            for note in self.snapshot.visible:
                on_project = 1 if note.scope == "project" else -1
                self._shares[note.nugget_name] = self._shares.get(note.nugget_name, 0) + on_project
        return nugget if self._shares.get(nugget, 0) > 0 else ""

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
        return nugget in mine or self._bears_name(nugget)

    def may_promote(self, nugget: str) -> bool:
        """Whether the project's pages may hold a nugget's notes: it has the project's name, or a person joined it. That
        it was first written from here does not say that it is about the project.
        """
        joined = self._mine.joined if self._mine else ()
        return nugget in joined or self._bears_name(nugget)

    def _bears_name(self, nugget: str) -> bool:
        """Whether a nugget has the project's name and is no other project's."""
        return self._is_named_so(nugget) and not self.owner_of(nugget)

    def _is_named_so(self, nugget: str) -> bool:
        name = self.project.nugget.casefold()
        return bool(name) and nugget_name(nugget).casefold() == name

    @property
    def is_known(self) -> bool:
        """Whether the memory has a nugget of this project."""
        return any(map(self.is_own, self.snapshot.nugget_names))

    def meant(self, query: str) -> frozenset[str]:
        """The foreign nuggets that a question names, by their names or their project's; none where it names several
        projects.
        """
        words = f" {_words(query)} "
        found = {
            name: owner
            for name in self.snapshot.nugget_names
            if (owner := self.owner_of(name))
            and any(said.strip() and f" {said} " in words for said in (_words(name), _words(owner)))
        }
        return frozenset(found) if len(set(found.values())) == 1 else frozenset()


def change_for(home: str, others: Iterable[Registered], nuggets: Collection[str]) -> FileChange | None:
    """What makes the list of a memory hold what others say of some nuggets; None where nothing is new, or the list
    cannot be read. Raises StorageError.
    """
    from pathlib import Path

    from core.model.change import FileChange
    from core.storage.files.atomic import read_file

    found = read_file(Path(home, FILE))
    before = found[0] if found else None
    try:
        known = read_document(before) if before else []
    except ValueError:
        return None
    made = with_others(known, others, nuggets)
    if [one.document() for one in made] == [one.document() for one in known]:
        return None
    return FileChange(path=FILE, before=before, after=document_of(made))


def projects_of(known: Iterable[Registered], snapshot: Snapshot) -> dict[str, str]:
    """The name of its project for each nugget of a memory that is not the person's."""
    nowhere = Standpoint(Project(""), known, snapshot)
    return {name: owner for name in snapshot.nugget_names if (owner := nowhere.owner_of(name))}


def _words(text: str) -> str:
    return " ".join("".join(char if char.isalnum() else " " for char in text.casefold()).split())


def register(home: str, project: Project, nugget: str, known_nuggets: Collection[str]) -> None:
    """Puts down that a nugget is of a project, if it has its name, or is new to the memory and no person's by name.

    Raises StorageError, LockTimeoutError, and BrokenFileError for a list that cannot be read, which stays as it is.
    """
    from core.model.names import PERSONS_NUGGETS

    named_so = nugget.casefold() == project.nugget.casefold()
    if not project.root or nugget.casefold() in PERSONS_NUGGETS or (nugget in known_nuggets and not named_so):
        return
    if not any(nugget in one.nuggets for one in registered(home)):
        _give(home, project, nugget)


def take_over(home: str, project: Project, nugget: str) -> Registered:
    """Gives a nugget to a project, whosever it was. Errors as `register`."""
    return _give(home, project, nugget, also_taken=True)


def _give(home: str, project: Project, nugget: str, *, also_taken: bool = False) -> Registered:
    # Git is asked before anybody has to wait for the lock.
    new = Registered(project.name, project.root, commit=project.first_commit())
    with _changing(home) as known:
        mine = next((one for one in known if one.is_project(project)), new)
        owner = next((one for one in known if nugget in one.nuggets), None)
        if owner is not None and not also_taken:
            return owner
        known += [mine] if mine is new else []
        if owner is not None:
            owner.nuggets.remove(nugget)
            owner.joined = [one for one in owner.joined if one != nugget]
        mine.root, mine.remote = project.root, project.remote
        mine.nuggets.append(nugget)
        mine.joined += [nugget] if also_taken else []
    return mine


def rename(home: str, name: str, new: str) -> Registered | None:
    """Gives a project another name; None where none has the old one. Errors as `register`."""
    with _changing(home) as known:
        found = next((one for one in known if one.name.casefold() == name.casefold()), None)
        if found is not None:
            found.name = new
    return found


@contextmanager
def _changing(home: str) -> Iterator[list[Registered]]:
    """The projects that a memory knows, under its lock; what was changed of them is written at the end."""
    from pathlib import Path

    from core.storage.files.atomic import locked

    with locked(Path(home)):
        known = registered(home)
        before = [one.document() for one in known]
        yield known
        if [one.document() for one in known] != before:
            write(home, known)


def write(home: str, known: Iterable[Registered]) -> None:
    """Replaces the file. Held under the memory's lock by who calls. Raises StorageError."""
    from pathlib import Path

    from core.storage.files.atomic import replace_file

    replace_file(Path(home, FILE), document_of(known))
