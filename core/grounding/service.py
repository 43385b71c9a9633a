"""Notes and pages held against the code of their project: what became of everything that they name."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Final, NamedTuple

from core.git_repository import ask_files, repository_around
from core.grounding import names_something
from core.grounding.binding import Bound, bind, mark
from core.grounding.bindings import Bindings
from core.grounding.references import Reference, references, relative
from core.grounding.states import Past, standings
from core.grounding.trees import Tree
from core.model.judgement import Stale, Standing
from core.model.names import parse_iso
from core.projects import known_projects

if TYPE_CHECKING:
    from core.memory import Memory
    from core.model.note import Note

TOLD: Final = ("moved", "gone", "changed")


class Text(NamedTuple):
    """A text of a note or a fact. written: in seconds since 1970, 0 where it is not known."""

    id: str
    nugget: str
    content: str
    written: int = 0


def text_of(note: Note) -> Text:
    """A note as a text to be held against the code."""
    at = parse_iso(note.updated_at or note.created_at)
    return Text(note.id, note.nugget_name, f"{note.title}\n{note.content}", int(at.timestamp()) if at else 0)


class Grounding:
    """Holds the notes of a memory against the projects that they are of. Safe to use from several threads."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._bindings = Bindings(memory.home)
        # What git said is kept as long as it has the same checked out and staged.
        self._trees: dict[str, tuple[object, Tree, Past]] = {}
        self._guard = RLock()

    def close(self) -> None:
        """Lets go of the database."""
        self._bindings.close()

    def standings(self, texts: Iterable[Text], *, seconds: float | None = None) -> dict[str, list[Standing]]:
        """What became of all that some texts name, by their ids; nothing for what names nothing, and for a text of a
        project that is not on this machine. What is looked at for the first time is bound first.

        seconds: how long git is waited for; None for as long as it takes.
        """
        until = time.monotonic() + seconds if seconds is not None else float("inf")
        by_root, root_of = defaultdict(list), cache(self.root_of)
        for text in texts:
            if (root := root_of(text.nugget)) and names_something(text.content):
                by_root[root].append(text)
        found: dict[str, list[Standing]] = {}
        for root, some in by_root.items():
            with self._guard:
                tree, past = self._looked_at(root)
                tree.until = until
                bound = self._bound(some, tree)
                states = iter(standings([one for each in bound.values() for one in each], tree, past))
                found |= {id: [next(states) for _ in each] for id, each in bound.items()}
                if tree.is_late:
                    # What git was not asked in time is asked the next time.
                    del self._trees[root]
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
            if one.reference.kind == "symbol" and one.reference.name == symbol:
                return True
            return one.path != "" and f"{path}/".startswith(f"{one.path}/")

        return [id for id, each in bound.items() if any(map(names, each))]

    def _looked_at(self, root: str) -> tuple[Tree, Past]:
        tree = Tree(root)
        sign, known = tree.sign, self._trees.get(root)
        if known is None or known[0] != sign:
            known = self._trees[root] = sign, tree, Past(tree)
        return known[1:]

    def root_of(self, nugget: str) -> str:
        """The folder of a nugget's project, of the one at hand the worktree that one is in; "" for none."""
        here = self._memory.standpoint
        if here is not None and here.project.root and here.is_own(nugget):
            return checkout_at(here.project.root)
        owners = (one.root for one in known_projects(str(self._memory.home)) if nugget in one.nuggets)
        return next((root for root in owners if os.path.isdir(root)), "")

    def _bound(self, texts: Sequence[Text], tree: Tree) -> dict[str, list[Bound]]:
        """The bound references of each text. What was not looked at as it reads now is bound, all of it at once."""
        known = self._bindings.of(tree.root, [text.id for text in texts])
        found = {id: list(bound) for id, (_, bound) in known.items()}
        new, wanted = [text for text in texts if known.get(text.id, ("",))[0] != mark(text.content)], {}
        for text in new:
            stayed = {one.reference[2:4]: one for one in found.get(text.id, ())}
            named = references(text.content, tree.root)
            found[text.id] = [stayed[one[2:4]]._replace(reference=one) for one in named if one[2:4] in stayed]
            wanted[text.id] = text.written, [one for one in named if one[2:4] not in stayed]
        for id, bound in _bind(wanted, tree):
            found[id].append(bound)
        if not tree.is_late:
            self._bindings.keep(tree.root, {text.id: (mark(text.content), found[text.id]) for text in new})
        return found


def checkout_at(root: str) -> str:
    """The worktree of a project in which one works; its main folder from elsewhere."""
    try:
        around = repository_around(os.path.realpath(os.getcwd()))
    except OSError:
        return root
    return around.top if around is not None and around.root == root else root


def _bind(wanted: Mapping[str, tuple[int, list[Reference]]], tree: Tree) -> Iterator[tuple[str, Bound]]:
    """The references of texts as they were when each was written, so far as git knows that, else as they are now."""
    by_commit: dict[str, list[tuple[str, Reference]]] = defaultdict(list)
    log = tree.ask("log", "-20000", "--format=%ct %H") if wanted and tree.head else b""
    rows = (row.partition(" ") for row in log.decode().splitlines())
    times = [(int(at), commit) for at, _, commit in rows if at.isdigit()]
    for id, (written, named) in wanted.items():
        commit = next((commit for at, commit in times if at <= written), "") if named else ""
        by_commit[commit if commit != tree.head else ""] += [(id, one) for one in named]
    rest = by_commit.pop("", [])
    for commit, some in (*by_commit.items(), ("", rest)):
        at = Tree(tree.root, commit, tree.until) if commit else tree
        now = 0 if commit else int(time.time())
        made = {one.reference: one for one in bind([one for _, one in some], at, commit or tree.head, now)}
        yield from ((id, made[one]) for id, one in some if one in made)
        rest += [(id, one) for id, one in some if commit and one not in made]


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
    written = _commits_of_lines(tree, name)
    by_commit: dict[str, list[tuple[int, Reference]]] = defaultdict(list)
    for number, line in enumerate(text.split("\n"), 1):
        named = references(line, around.top)
        by_commit[written.get(number, "")] += [(number, one) for one in named]
    told = list[tuple[int, Standing]]()
    for commit, some in by_commit.items():
        at, folder = Tree(around.top, commit) if commit else tree, name.rpartition("/")[0]
        made = {
            one.reference: one for one in bind([one for _, one in some], at, commit or tree.head, 0, folder)
        }
        kept = [(number, made[one]) for number, one in some if one in made]
        states = standings([one for _, one in kept], tree)
        told += [(number, one) for (number, _), one in zip(kept, states, strict=True)]
    return sorted(((line, one) for line, one in told if one.state in TOLD[:2]), key=lambda one: one[0])


def _commits_of_lines(tree: Tree, page: str) -> Mapping[int, str]:
    """The commit that wrote each line of a page; none for lines that are not committed."""
    found, asked = {}, ("blame", "-w", "--porcelain", "--no-textconv", "--", page)
    for row in (ask_files(tree.root, *asked) or b"").split(b"\n"):
        words = row.split(b" ")
        if len(words) in (3, 4) and len(words[0]) >= 40 and words[2].isdigit() and words[0].strip(b"0"):
            found[int(words[2])] = words[0].decode()
    return found
