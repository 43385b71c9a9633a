"""Notes and pages held against the code of their project: what became of everything that they name.

What notes name is bound once, and kept in the memory's database: beside its notes, never in the files that machines
share.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import msgspec

from core.errors import NuggetsError
from core.folder import DATABASE_FILE
from core.git_repository import commits_of_lines, repository_around
from core.grounding import names_something
from core.grounding.binding import Bound, bind, mark
from core.grounding.references import Reference, references, relative
from core.grounding.states import States
from core.grounding.trees import Tree
from core.model.judgement import Stale, Standing
from core.model.names import parse_iso
from core.projects import checkout_at, known_projects
from core.storage.database import BrokenDatabaseError, Database, Part

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.note import Note

TOLD: Final = ("moved", "gone", "changed")
# Of what a note named once and names no more, so much is kept.
_MOST_FORMER: Final = 60
_PART: Final = Part(Path(__file__).with_name("bindings.sql"), sign="binding")
_SELECT: Final = (
    "SELECT note, text, bound FROM binding WHERE project = ? AND note IN (SELECT value FROM json_each(?))"
)
_READ: Final = msgspec.json.Decoder(tuple[list[Bound], list[Bound]])
K = TypeVar("K", str, int)


class Text(NamedTuple):
    """A text of a note or a fact. written: when it was last changed, created: when it was made, in seconds since 1970;
    0 where that is not known.
    """

    id: str
    nugget: str
    content: str
    written: int = 0
    created: int = 0


class Kept(NamedTuple):
    """What is kept of a note. text: the mark of its text. bound: what that names; former: what it named before, which
    comes back as it was bound where the text does.
    """

    text: str = ""
    bound: Sequence[Bound] = ()
    former: Sequence[Bound] = ()


def text_of(note: Note) -> Text:
    """A note as a text to be held against the code."""
    created, updated = map(parse_iso, (note.created_at, note.updated_at or note.created_at))
    times = [int(at.timestamp()) if at else 0 for at in (updated, created)]
    return Text(note.id, note.nugget_name, f"{note.title}\n{note.content}", *times)


class Grounding:
    """Holds the notes of a memory against the projects that they are of. Safe to use from several threads."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._database: Database | None = None
        # What git said is kept as long as it has the same checked out and staged.
        self._trees: dict[str, tuple[object, Tree, States]] = {}
        self._guard = RLock()

    def close(self) -> None:
        """Lets go of the database."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def standings(self, texts: Iterable[Text], *, seconds: float | None = None) -> dict[str, list[Standing]]:
        """What became of all that some texts name, by their ids; nothing for what names nothing, and for a text of a
        project that is not on this machine. What is looked at for the first time is bound first.

        seconds: how long git, and another thread that asks it, is waited for; None for as long as it takes.
        """
        until = time.monotonic() + seconds if seconds is not None else float("inf")
        by_root, root_of = defaultdict(list), cache(self.root_of)
        for text in texts:
            if (root := root_of(text.nugget)) and names_something(text.content):
                by_root[root].append(text)
        found: dict[str, list[Standing]] = {}
        for root, some in by_root.items():
            if not self._guard.acquire(timeout=-1 if seconds is None else max(0.0, until - time.monotonic())):
                break
            try:
                tree, now = self._looked_at(root, until)
                bound = self._bound(some, tree)
                states = iter(now.standings([one for each in bound.values() for one in each]))
                found |= {id: [next(states) for _ in each] for id, each in bound.items()}
                if tree.is_late:
                    # What git was not asked in time is asked the next time.
                    del self._trees[root]
            finally:
                self._guard.release()
        return found

    def stale(self, texts: Iterable[Text], *, seconds: float | None = None) -> dict[str, Stale]:
        """Those of `standings` that are not as they were, by the ids of texts that have some."""
        found = {}
        for id, each in self.standings(texts, seconds=seconds).items():
            if kept := tuple(one for one in each if one.state in TOLD):
                found[id] = Stale(kept, sum(one.state == "gone" for one in kept) / len(each))
        return found

    def naming(self, texts: Iterable[Text], said: str, root: str) -> list[str]:
        """The ids of texts that name a file, a folder around it, or a symbol. root: the project's folder."""
        path, symbol = relative(said, root) or said, said.removesuffix("()")
        with self._guard:
            root_of = cache(self.root_of)
            some = [text for text in texts if root_of(text.nugget) == root]
            bound = self._bound(some, self._looked_at(root)[0])

        def names(one: Bound) -> bool:
            is_symbol = one.reference.kind == "symbol" and symbol in (one.reference.name, one.reference.word)
            return is_symbol or (one.path != "" and f"{path}/".startswith(f"{one.path}/"))

        return [id for id, each in bound.items() if any(map(names, each))]

    def _looked_at(self, root: str, until: float = float("inf")) -> tuple[Tree, States]:
        tree = Tree(root)
        sign, known = tree.sign, self._trees.get(root)
        if known is None or known[0] != sign:
            known = self._trees[root] = sign, tree, States(tree)
        known[1].until = until
        return known[1:]

    def root_of(self, nugget: str) -> str:
        """The folder of a nugget's project, of the one at hand the worktree that one is in; "" for none."""
        here = self._memory.standpoint
        if here is not None and here.project.root and here.is_own(nugget):
            return checkout_at(here.project.root)
        owners = (one.root for one in known_projects(str(self._memory.home)) if nugget in one.nuggets)
        return next((root for root in owners if os.path.isdir(root)), "")

    def _bound(self, texts: Sequence[Text], tree: Tree) -> dict[str, Sequence[Bound]]:
        """The bound references of each text. What was not looked at as it reads now is bound, all of it at once; a
        reference that the note ever had before keeps its binding.
        """
        known = self._kept(tree.root, [text.id for text in texts])
        found = {id: kept.bound for id, kept in known.items()}
        new, wanted, times = dict[str, Kept](), list[tuple[str, Reference]](), dict[str, Sequence[int]]()
        for text in texts:
            kept = known.get(text.id, Kept())
            if kept.text == (now := mark(text.content)):
                continue
            before = {one.reference.key: one for one in (*kept.former, *kept.bound)}
            named = references(text.content, tree.root)
            stayed = [before.pop(one.key)._replace(reference=one) for one in named if one.key in before]
            new[text.id] = Kept(now, stayed, [*before.values()][-_MOST_FORMER:])
            held = {one.reference for one in stayed}
            wanted += [(text.id, one) for one in named if one not in held]
            # Of a note that is new here, its last change may have been one of tags alone.
            times[text.id] = (text.written,) if kept.text else (text.written, text.created)

        @cache
        def log() -> list[list[str]]:
            said = tree.ask("log", "-20000", "--format=%H %ct") if tree.head else b""
            return [row.split(" ") for row in said.decode().splitlines()]

        def commits(id: str) -> Sequence[str]:
            # Who writes while the newest one is checked out sees the files as they lie there.
            then = [next((one for one, at in log() if int(at) <= time), "") for time in times[id]]
            return [one if one != tree.head else "" for one in then]

        for id, one in _bind(wanted, tree, commits):
            each = sorted([*new[id].bound, one], key=lambda one: one.reference.start)
            new[id] = new[id]._replace(bound=each)
        if not tree.is_late:
            self._keep(tree.root, new)
        return found | {id: kept.bound for id, kept in new.items()}

    # What is kept in the database; where that can't be, notes are looked at again each time

    def _kept(self, project: str, notes: Sequence[str]) -> Mapping[str, Kept]:
        try:
            database = self._opened()
            given = (project, msgspec.json.encode(notes).decode())
            rows = database.reader().execute(_SELECT, given) if database else ()
            return {note: Kept(text, *_READ.decode(bound)) for note, text, bound in rows}
        except (NuggetsError, BrokenDatabaseError, msgspec.DecodeError):
            return {}

    def _keep(self, project: str, notes: Mapping[str, Kept]) -> None:
        rows = [(project, id, one.text, msgspec.json.encode(one[1:]).decode()) for id, one in notes.items()]
        try:
            database = self._opened() if rows else None
            if database is not None and not database.read_only:
                # Losing it to a power cut costs a look.
                with database.transaction(lasting=False) as connection:
                    connection.executemany("INSERT OR REPLACE INTO binding VALUES (?, ?, ?, ?)", rows)
        except (NuggetsError, BrokenDatabaseError):
            return

    def _opened(self) -> Database | None:
        path = self._memory.home / DATABASE_FILE
        if self._database is not None:
            self._database.follow()
        elif path.is_file():
            # The history makes the file; a database without it would be taken for none of ours.
            self._database = Database(path, _PART)
        return self._database


def _bind(
    wanted: Sequence[tuple[K, Reference]], tree: Tree, then: Callable[[K], Sequence[str]], folder: str = ""
) -> list[tuple[K, Bound]]:
    """References, each with what names it, as their project has them now; those that it does not have, and lines, as it
    had them at the first of some commits that did.
    """
    found, now = list[tuple[K, Bound]](), int(time.time())

    def missing(some: Sequence[tuple[K, Reference]], at: Tree, commit: str) -> list[tuple[K, Reference]]:
        named = list({one for _, one in some})
        made = {
            one.reference: one for one in bind(named, at, commit, now if commit == tree.head else 0, folder)
        }
        found.extend((key, made[one]) for key, one in some if one in made)
        return [(key, one) for key, one in some if one not in made]

    left = missing([one for one in wanted if not one[1].line], tree, tree.head)
    left += [one for one in wanted if one[1].line]
    for turn in range(max((len(then(key)) for key, _ in left), default=0)):
        by_commit: dict[str, list[tuple[K, Reference]]] = defaultdict(list)
        for key, one in left:
            by_commit["".join(then(key)[turn : turn + 1])].append((key, one))
        left = by_commit.pop("", [])
        for commit, some in by_commit.items():
            left += missing(some, Tree(tree.root, commit, tree.until), commit)
    missing([one for one in left if one[1].line], tree, tree.head)
    # What stands within a path that has spaces is no path of its own.
    spaced = [(key, one.reference) for key, one in found if " " in one.reference.said]
    within = {(key, at) for key, one in spaced for at in range(one.start + 1, one.start + len(one.said))}
    return [pair for pair in found if (pair[0], pair[1].reference.start) not in within]


# Pages that people and agents keep in a project


def page_lines(page: Path) -> list[tuple[int, Standing]]:
    """What a page of a project (AGENTS.md and the like) names that moved or is gone since the line was written. Nothing
    for a page without git, of which nobody knows when it was right. Raises OSError.
    """
    text = page.read_text("utf-8", "replace")
    around = repository_around(os.path.realpath(page.parent))
    if around is None:
        return []
    tree = Tree(around.top)
    name = os.path.relpath(os.path.realpath(page), around.top).replace(os.sep, "/")
    written = cache(lambda: commits_of_lines(around.top, name))
    named = [
        (number, one)
        for number, line in enumerate(text.split("\n"), 1)
        for one in references(line, around.top)
    ]
    made = _bind(named, tree, lambda number: [written().get(number, "")], name.rpartition("/")[0])
    made.sort(key=lambda one: (one[0], one[1].reference.start))
    told = zip((line for line, _ in made), States(tree).standings([one for _, one in made]), strict=True)
    return [one for one in told if one[1].state in TOLD[:2]]
