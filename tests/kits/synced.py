"""Machines whose memories are synced through one bare repository, as people have it, and what they do on them."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from core import Memory
from core.errors import NuggetsError
from core.facts.edits import forget, remember
from core.graph.edits import create_note, delete_note, edit_note, hide_note, link_notes, unhide_note
from core.graph.merging import merge_notes
from core.model.note import Note
from core.sync import Sync, SyncResult, set_up
from kits.memory_files import tree

DRIVER = "nuggets merge-file %O %A %B %P"
_TOKEN = re.compile(r"word\d+")


def own_git(folder: Path, monkeypatch: Any) -> None:
    """A git that knows this test's user and no setting of this machine's."""
    settings = folder / "gitconfig"
    settings.write_text(
        "[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n[gc]\nauto = 0\n"
        "[core]\nfsync = none\n[maintenance]\nauto = false\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def git(folder: Path, *words: str, code: int = 0) -> str:
    """What git prints in a folder."""
    ran = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == code, (words, ran.stdout, ran.stderr)
    return ran.stdout.strip()


def files(home: Path) -> dict[str, bytes]:
    """Every file of a memory with its bytes, but for git's own; see `memory_files.tree`."""
    return {name: data for name, data in tree(home).items() if not name.startswith(".git/")}


def bare(folder: Path) -> Path:
    """A new bare repository."""
    path = folder / "remote.git"
    subprocess.run(["git", "init", "--bare", "--quiet", str(path)], check=True)
    return path


class Machine:
    """One machine with a memory that is synced."""

    def __init__(self, home: Path, remote: Path | None, name: str) -> None:
        self.home, self.name = home, name
        set_up(home, str(remote) if remote is not None else None, driver=DRIVER, machine=name)
        self.memory = Memory.open(home)

    @classmethod
    def again(cls, home: Path, name: str) -> Machine:
        """A machine whose folder is there already, set up."""
        machine = cls.__new__(cls)
        machine.home, machine.name, machine.memory = home, name, Memory.open(home)
        return machine

    def sync(self) -> SyncResult:
        """One sync."""
        return Sync(self.memory).run()

    def send(self, other: Machine) -> SyncResult:
        """What was done here comes in on another machine; what its sync did."""
        self.sync()
        return other.sync()

    def send_note(self, other: Machine, title: str, text: str) -> None:
        """A note is written here and comes in on another machine."""
        self.memory.change("add", lambda draft: create_note(draft, "web", title, text))
        self.send(other)

    @property
    def facts(self) -> dict[str, dict[str, str]]:
        """Values of facts by nugget and key; nuggets without facts left out."""
        found = {
            one.name: {fact.key: fact.value for fact in one.facts} for one in self.memory.snapshot.nuggets
        }
        return {name: facts for name, facts in found.items() if facts}

    def state(self) -> object:
        """All that must be alike everywhere, whatever the order."""
        snapshot = self.memory.snapshot
        facts = {
            (one.name, fact.key, fact.value, fact.hits) for one in snapshot.nuggets for fact in one.facts
        }
        return {note.id: note for note in snapshot.notes}, facts

    def tokens(self) -> set[str]:
        """The words of edits that stand in this memory."""
        snapshot = self.memory.snapshot
        texts = [note.content for note in snapshot.notes]
        texts += [note.hidden_fact.value for note in snapshot.notes if note.hidden_fact is not None]
        texts += [fact.value for one in snapshot.nuggets for fact in one.facts]
        return words_in(texts)

    def waiting(self) -> set[str]:
        """The words that a conflict keeps."""
        return words_in(str(entry) for entry in self.memory.history.conflicts())


def titled(memory: Memory, title: str) -> Note:
    """The note of this title."""
    return next(note for note in memory.snapshot.notes if note.title == title)


def words_in(texts: Iterable[str]) -> set[str]:
    """The words of edits in texts."""
    return {word for text in texts for word in _TOKEN.findall(text)}


class Walk:
    """People who work on their machines in any order and sync now and then."""

    def __init__(self, folder: Path, count: int, seed: int) -> None:
        self.remote = bare(folder)
        self.machines = [Machine(folder / f"machine{n}", self.remote, f"machine{n}") for n in range(count)]
        self.chance = random.Random(seed)
        self.number = 0
        self.superseded: set[str] = set()
        self.told: list[str] = []

    def step(self) -> None:
        """One edit or one sync on one machine."""
        machine = self.chance.choice(self.machines)
        if self.chance.random() < 0.2:
            self.told.append(f"{machine.name}: sync")
            machine.sync()
            return
        before = machine.tokens()
        try:
            told = self._edit(machine)
        except NuggetsError as error:
            told = f"refused: {error.what}"
        self.superseded |= before - machine.tokens()
        self.told.append(f"{machine.name}: {told}")

    def _edit(self, machine: Machine) -> str:
        chance, memory = self.chance, machine.memory
        self.number += 1
        word = f"word{self.number}"
        notes = memory.snapshot.notes
        note = chance.choice(notes).id if notes else ""
        other = chance.choice(notes).id if notes else ""
        key = f"key {chance.randrange(4)}"
        what = chance.choice(
            (
                "create",
                "edit",
                "edit",
                "edit",
                "hide",
                "show",
                "link",
                "remember",
                "remember",
                "forget",
                "merge",
                "delete",
                "recall",
                "undo",
            )
        )
        if not notes and what not in ("remember", "undo"):
            what = "create"
        match what:
            case "create":
                memory.change(
                    what, lambda draft: create_note(draft, "web", f"Title {word}", f"About {word}.")
                )
            case "edit":
                memory.change(what, lambda draft: edit_note(draft, note, content=f"Now {word}."))
            case "hide":
                memory.change(what, lambda draft: hide_note(draft, note))
            case "show":
                memory.change(what, lambda draft: unhide_note(draft, note))
            case "link":
                memory.change(what, lambda draft: link_notes(draft, note, other))
            case "remember":
                memory.change(what, lambda draft: remember(draft, "web", key, f"value {word}"))
            case "forget":
                memory.change(what, lambda draft: forget(draft, "web", key))
            case "merge":
                memory.change(what, lambda draft: merge_notes(draft, note, other))
            case "delete":
                memory.change(what, lambda draft: delete_note(draft, note))
            case "recall":
                memory.recall(key, session=word)
            case _:
                memory.history.undo()
        return f"{what} {word} {note} {other} {key}"

    def quiet(self) -> None:
        """Everybody syncs until nothing moves any more."""
        for _ in range(12):
            results = [machine.sync() for machine in self.machines]
            if not any(one.committed or one.came_in or one.sent for one in results):
                return
        raise AssertionError("the syncs never come to rest")

    def check(self) -> None:
        """All clones are equal, sound, and no edit is gone."""
        first, *others = self.machines
        for machine in others:
            mine, theirs = first.state(), machine.state()
            assert mine == theirs, (first.name, machine.name)
        waiting = set().union(*(machine.waiting() for machine in self.machines))
        made = {f"word{number}" for number in range(1, self.number + 1)}
        known = set().union(*(machine.tokens() for machine in self.machines))
        ever = words_in(str(entry) for machine in self.machines for entry in machine.memory.history.log())
        lost = (made & ever) - known - waiting - self.superseded
        lost -= {word for word in lost if not _was_written(self.machines, word)}
        assert not lost, lost
        for machine in self.machines:
            found = [one for one in machine.memory.maintenance.verify() if one.kind != "conflict"]
            assert found == [], (machine.name, found)


def _was_written(machines: Iterable[Machine], word: str) -> bool:
    """Whether an edit was ever written, and is no recall's session."""
    for machine in machines:
        for entry in machine.memory.history.log():
            if entry.change_set.kind == "hit":
                continue
            sides = [one.after for one in (*entry.change_set.notes, *entry.change_set.facts)]
            texts = [
                getattr(one, "content", "") or getattr(one, "value", "") for one in sides if one is not None
            ]
            if word in words_in(texts):
                return True
    return False
