"""Holds bound references against a project as it is now: fresh, changed, moved, gone, or not to be told.

Looked at are the files first; git is asked only about what is not where it was, and as long as there is time. A false
alarm is worse than silence: what cannot be told is said to be so.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from core.git_repository import blob_digest
from core.grounding import binding
from core.grounding.binding import Bound, mark
from core.grounding.trees import Line, Tree
from core.model.judgement import Standing

# A file that moves on and on is followed so far.
_MOST_MOVES: Final = 8
# Files that set variables and are kept from git.
_VARIABLES: Final = (".env", ".env.local", ".envrc")
_PLAIN: Final = ("--no-textconv", "--no-ext-diff")
# State, place, commit and time of a standing, as far as there are any.
_State = tuple[Any, ...]
_FRESH, _CHANGED, _UNKNOWN = ("fresh",), ("changed",), ("unknown",)
# A commit and its time; () for none.
_Change = tuple[str, int] | tuple[()]


class States:
    """Tells what became of references in a project as it is now; what git said of its past is kept."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._trees: dict[str, Tree] = {}
        self._bases: dict[tuple[str, int], tuple[str, bool]] = {}
        self._moves: dict[tuple[str, ...], Mapping[str, str]] = {}
        # Of a file since a commit, and of a word in a file since a commit: what removed it.
        self._removed: dict[tuple[str, str], _Change] = {}
        self._words: dict[tuple[str, str, str], _Change] = {}

    def standings(self, bound: Sequence[Bound]) -> list[Standing]:
        """What became of each reference, in their order. What is missing or elsewhere is asked at once."""
        tree, by_base = self._tree, defaultdict(set)
        blob, has = cache(tree.blob), cache(tree.has)
        same = {one for one in bound if one.blob and blob(one.path) == one.blob}
        for one in bound:
            if one.path and not has(one.path):
                by_base[self._base(one)[0]].add(one.path)
        for base, paths in by_base.items():
            self._ask_removals(base, paths)
        absent = (one.reference for one in bound if one not in same and not _is_at(one, tree))
        lines = binding.lines_of(absent, tree)
        told = []
        for one in bound:
            state = _FRESH if one in same else self._state(one, lines(one.reference))
            told.append(Standing(one.reference.said, one.reference.kind, one.reference.name, *state))
        return told

    def _state(self, one: Bound, lines: Sequence[Line]) -> _State:
        tree, reference = self._tree, one.reference
        if reference.kind == "file" and not tree.has(one.path):
            return self._missing(one)
        if reference.kind == "file":
            return _of_line(one, tree.text(one.path)) if reference.line else _FRESH
        if reference.kind == "command":
            return self._command(one)
        if reference.kind == "symbol":
            return self._symbol(one, lines)
        if _is_at(one, tree):
            return _FRESH
        elsewhere = not tree.is_late and binding.lines_of_setting(reference, tree, lines)
        return _FRESH if elsewhere else self._gone(one)

    def _missing(self, one: Bound) -> _State:
        """What became of a file or folder that is not where it was."""
        tree = self._tree
        if not tree.head:
            # Digests alone tell.
            places = tree.by_blob.get(one.blob, ()) if one.blob else ()
            return ("moved", *places) if len(places) == 1 else _UNKNOWN if places or one.commit else ("gone",)
        base, _ = self._base(one)
        # What no commit removed is missing from the folder alone.
        was_there = self._removed.get((base, one.path)) or self._at(tree.head).has(one.path)
        if not base or not was_there or tree.in_module(one.path):
            return _UNKNOWN
        now, change = self._place_now(one, base)
        if tree.is_late:
            return _UNKNOWN
        line = _line_now(tree.text(now) or "", one.marks) if now and one.reference.line else 0
        return "moved" if now else "gone", f"{now}:{line}" if line else now, *change

    def _symbol(self, one: Bound, lines: Sequence[Line]) -> _State:
        tree, reference = self._tree, one.reference

        def is_same(at: Line) -> bool:
            return binding.mark_of_body(tree.text(at.path), at.number) == one.marks[0]

        if here := _defined_at(one, tree):
            return _FRESH if is_same(here) else _CHANGED
        places = [] if tree.is_late else binding.definitions(reference.name, tree, lines)
        alike = [at for at in places if is_same(at)]
        places = alike if len(alike) == 1 else places
        if len(places) == 1:
            return "moved", f"{places[0].path}:{places[0].number}", *self._removal_of(one)
        # It may be said in a way that is not read as a definition.
        return _UNKNOWN if places or any(line.path == one.path for line in lines) else self._gone(one)

    def _command(self, one: Bound) -> _State:
        tree, tool = self._tree, one.reference.name.partition(" ")[0]
        for path in dict.fromkeys((one.path, *binding.manifests(tool, tree))):
            known = binding.targets(tool, tree.text(path))
            if one.reference.word in known:
                return _FRESH if (mark(known[one.reference.word]) or "-") == one.marks[0] else _CHANGED
        # Where nothing in the file can be read, or it is no list of targets any more.
        unread = tree.has(one.path) and not binding.targets(tool, tree.text(one.path))
        return _UNKNOWN if unread else self._gone(one)

    def _gone(self, one: Bound) -> _State:
        """What is nowhere any more, with the commit that removed it. Where another branch or a sparse checkout may have
        it, that cannot be told.
        """
        tree = self._tree
        if tree.is_late or tree.absent or (tree.head and not self._base(one)[1]):
            return _UNKNOWN
        return "gone", "", *self._removal_of(one)

    def _removal_of(self, one: Bound) -> _Change:
        """The commit that took a word out of the file that had it, or that file away; () where it cannot be told."""
        base, word = self._base(one)[0], one.reference.word
        if removed := self._removed.get((base, one.path)):
            return removed
        key = (base, one.path, word)
        # Through all files of a long history git would look for seconds.
        if base and one.path and key not in self._words:
            how = ("log", "-1", "--format=%H %ct", *_PLAIN, f"-S{word}")
            commit, _, at = (
                self._tree.ask(*how, f"{base}..HEAD", "--", one.path).decode().strip().partition(" ")
            )
            self._words[key] = (commit, int(at)) if at.isdigit() else ()
        return self._words.get(key, ())

    def _base(self, one: Bound) -> tuple[str, bool]:
        """The last commit of what is checked out that was there when a reference was bound, "" for none that is known;
        and whether all that was bound is in it: another branch may have more.
        """
        key = (one.commit, one.at)
        if key not in self._bases:
            self._bases[key] = self._asked_base(one) if self._tree.head else ("", False)
        base, whole = self._bases[key]
        # Of a history that was written anew, and of another clone, only the time is known.
        guessed = whole and base not in ("", one.commit)
        return base, whole and not (guessed and one.path and not _is_at(one, self._at(base)))

    def _asked_base(self, one: Bound) -> tuple[str, bool]:
        tree = self._tree
        if one.commit and one.commit == tree.head:
            return one.commit, True
        base = tree.ask("merge-base", one.commit, "HEAD").decode().strip() if one.commit else ""
        if base:
            # A commit that no branch has any more was rebased or squashed.
            contained = base != one.commit and tree.ask("for-each-ref", "--count=1", "--contains", one.commit)
            return base, not contained
        if one.commit and tree.ask("cat-file", "-t", one.commit):
            return "", False
        said = tree.ask("rev-list", "-1", f"--before={one.at}", "HEAD") if one.at else b""
        return said.decode().strip(), True

    def _at(self, commit: str) -> Tree:
        tree = self._trees.setdefault(commit, Tree(self._tree.root, commit))
        tree.until = self._tree.until
        return tree

    def _ask_removals(self, base: str, paths: Iterable[str]) -> None:
        wanted = sorted(path for path in paths if (base, path) not in self._removed)
        if not base or not wanted or self._tree.is_late:
            return
        said = self._tree.ask(
            "log", "-m", "--full-history", "--no-renames", "--diff-filter=D", "--name-only", "-z", *_PLAIN,
            "--format=%x01%H %ct %P", f"{base}..HEAD", "--", *wanted,
        )  # fmt: skip
        # A merge brings what a commit of its side removed; it counts where it alone removed something.
        found: tuple[dict[str, _Change], dict[str, _Change]] = ({}, {})
        for entry in said.split(b"\x01")[1:]:
            head, *names = entry.replace(b"\n", b"\0").split(b"\0")
            commit, at, *parents = head.decode().split(" ")
            gone = {os.fsdecode(name) for name in names if name}
            for path in wanted:
                if path in gone or any(one.startswith(f"{path}/") for one in gone):
                    found[len(parents) > 1].setdefault(path, (commit, int(at)))
        for path in wanted:
            self._removed[base, path] = found[0].get(path) or found[1].get(path, ())

    def _place_now(self, one: Bound, base: str) -> tuple[str, _Change]:
        """Where a file or folder that is missing lies now, "" for nowhere, and the commit that brought it there or
        removed it at last.
        """
        tree, change = self._tree, self._removed.get((base, one.path), ())
        if one.blob and one.blob != blob_digest(b"", one.blob):
            was_there = self._at(base).has
            new = [] if change else [path for path in tree.untracked if tree.blob(path) == one.blob]
            known = (*tree.by_blob.get(one.blob, ()), *new)
            alike = [path for path in known if not was_there(path) and tree.has(path)]
            if len(alike) == 1:
                return alike[0], change
        since = {**self._moved("diff", base, "HEAD"), **self._moved("diff", "--cached", "HEAD")}
        if not one.blob:
            # Where the files of a folder went, if they went to one place.
            went = ((was.removeprefix(f"{one.path}/"), was, now) for was, now in since.items())
            ends = {
                now[: -len(rest) - 1] for rest, was, now in went if rest != was and now.endswith(f"/{rest}")
            }
            return (min(ends) if len(ends) == 1 and tree.has(min(ends)) else ""), change
        if one.path in since and tree.has(since[one.path]):
            return since[one.path], change
        path = one.path
        for _ in range(_MOST_MOVES):
            moves = self._moved("diff-tree", "-r", "-m", "--no-commit-id", change[0]) if change else {}
            path = moves.get(path, "")
            if not path or tree.has(path):
                break
            self._ask_removals(base, [path])
            change = self._removed.get((base, path), ()) or change
        return path, change

    def _moved(self, command: str, *words: str) -> Mapping[str, str]:
        """What git takes for renamed between two commits, or by one."""
        if words not in self._moves:
            how = ("-M40%", "-l2000", "--diff-filter=R", "--name-status", "-z")
            said = self._tree.ask(command, *how, *_PLAIN, *words).split(b"\0")
            names = [
                os.fsdecode(name) for name in said if name and not (name[:1] == b"R" and name[1:].isdigit())
            ]
            self._moves[words] = dict(zip(names[::2], names[1::2], strict=False))
        return self._moves[words]


def _of_line(one: Bound, text: str | None) -> _State:
    """What became of the named line of a file that is where it was."""
    if text is None:
        return _UNKNOWN
    if binding.marks_of_line(text, one.reference.line)[1:2] == one.marks[1:2]:
        return _FRESH
    at = _line_now(text, one.marks)
    return ("moved", f"{one.path}:{at}") if at else _CHANGED


def _line_now(text: str, marks: tuple[str, ...]) -> int:
    """Where the named line stands now, if that can be told; 0 if not."""
    if len(marks) < 3 or not marks[1]:
        return 0
    found = ["", *map(mark, text.split("\n")), ""]
    alike = [at for at in range(1, len(found) - 1) if found[at] == marks[1]]
    near = [at for at in alike if found[at - 1] == marks[0] or found[at + 1] == marks[2]]
    kept = near if len(alike) > 1 else alike
    return kept[0] if len(kept) == 1 else 0


def _is_at(one: Bound, tree: Tree) -> bool:
    """Whether something is still in the file where it was."""
    kind = one.reference.kind
    if kind in ("file", "command"):
        return tree.has(one.path)
    if kind == "symbol":
        return _defined_at(one, tree) is not None
    word = re.compile(rf"(?<![\w$]){re.escape(one.reference.word)}(?![\w$])")
    paths = (one.path, *(_VARIABLES if kind == "variable" else ()))
    return any(word.search(tree.text(path) or "") for path in paths if path)


def _defined_at(one: Bound, tree: Tree) -> Line | None:
    """The definition of a symbol in the file where it was."""
    text, last = tree.text(one.path) or "", one.reference.word
    lines = [Line(one.path, number, line) for number, line in enumerate(text.split("\n"), 1) if last in line]
    return next(iter(binding.definitions(one.reference.name, tree, lines)), None)
