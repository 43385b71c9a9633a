"""Every command that writes, run with one of its changing calls refused, and what must hold of it then."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import shutil
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from click.testing import CliRunner, Result

from core import Memory
from core.daily import run_daily_pass
from core.errors import ConflictError, NuggetsError
from core.graph.edits import edit_note
from core.model.change import Author
from core.user_folders import TEAM_NOTES
from kits.faults import Faults, failing
from kits.memory_files import fact_object, note_object, write_graph, write_nugget
from kits.service_kit import Clock, drain, open_pipeline
from kits.team_pages import write_team
from nuggets_tui.cli import program

SECRET: Final = "Blau3" + "Katze!77"
_AUTHOR: Final = Author("agent", "command line")
FIRST: Final = "Anna moved the billing service to PostgreSQL."
# Times and what follows from other fields: they differ from run to run.
_VOLATILE: Final = ("createdAt", "updatedAt", "lastAccessedAt", "lastRewrittenAt", "archivedAt", "vector")
# How a command that failed says which of the two states stands.
BEFORE: Final = ("nothing was written", "nothing was changed", "nothing was masked")
AFTER: Final = ("the change itself is written", "is in the history and finishes")
# That a part stands of what is done in steps, or what was written without being known to be safe.
PARTLY: Final = (
    *AFTER,
    "the file itself was written",
    "what the pass changed is written",
    "Repaired",
    "may be masked",
    "its notes are hidden",
    "its notes are shown again",
    "some of what is old is deleted",
    "what could be joined is written",
    "unreadable files are repaired",
    "the quarantine holds",
)

# How a command that does several things says that a step of it is left.
_FOLLOWS: Final = ("will follow", "could not be added to the history")


def cli(*args: str, input: str | None = None) -> Result:
    """One call of `nuggets` in this process."""
    result = CliRunner().invoke(program, args, input=input)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def ok(*args: str, input: str | None = None) -> str:
    """What a call that must succeed prints."""
    result = cli(*args, input=input)
    assert result.exit_code == 0, (args, result.stdout, result.stderr)
    return result.stdout


class Answer(NamedTuple):
    """How a command ended and what it said."""

    exit_code: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Command:
    """A command that writes, on the command line or as a call. prepare: what is done before, without faults; code: how
    it ends when all goes well.

    team: whether it writes notes of a team. undone: whether `undo` takes it back. optional: what it writes is beside
    its answer, so that it may end well without. in_steps: it does several things, each whole; done again it does the
    rest. settled: whether the log has seen the files before.
    """

    args: tuple[str, ...] | Callable[[Memory], object]
    prepare: Callable[[Path], object] = lambda home: None
    input: str | None = None
    code: int = 0
    undone: bool = True
    optional: bool = False
    in_steps: bool = False
    settled: bool = True
    team: bool = False

    def __call__(self, home: Path) -> Answer:
        if not callable(self.args):
            done = cli(*self.args, input=self.input)
            return Answer(done.exit_code, done.stdout, done.stderr)
        try:
            with contextlib.closing(Memory.open(home, author=_AUTHOR)) as memory:
                self.args(memory)
                return Answer(0, "", " ".join(memory.take_notices()))
        except NuggetsError as error:
            return Answer(error.exit_code, "", error.message)


@dataclass
class Outcome:
    """What came of one run with a fault."""

    number: int
    code: int
    step: str
    said: str
    complaints: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        name = os.strerror(self.code)
        return f"{self.number} ({self.step}: {name}): {'; '.join(self.complaints)}\n    said: {self.said}"


# The memory that all begin with


def make_memory(home: Path) -> None:
    """Notes and facts of two nuggets, linked, some recalled often, with a log and a backup of the day."""
    write_graph(
        home,
        [
            note_object(1, title="Deploy day", content="Deploys run on Tuesday."),
            note_object(2, title="Runner", content="Tests run with pytest."),
            note_object(3, title="Runner again", content="Tests run with pytest."),
            note_object(4, title="Often", content="Use tabs.", hits=5, nuggetName="memory"),
        ],
    )
    write_nugget(home, "memory", [fact_object("old", "one")])
    ok("verify", "--repair", "--yes")
    ok("remember", "memory", "port", "5432")
    ok("remember", "memory", "host", "localhost")
    ok("remember", "other", "colour", "blue")
    ok("note", "link", "Deploy day", "Runner")


def _conflict(home: Path) -> None:
    agent = Memory.open(home, author=Author("agent", "codex"))
    draft = agent.draft()
    edit_note(draft, agent.snapshot.resolve("Deploy day").id, content="Monday")
    change_set = draft.change_set("late", author=agent.author)
    ok("note", "edit", "Deploy day", "--content", "Sunday")
    with contextlib.suppress(ConflictError):
        agent.apply(change_set)
    agent.close()


def _copy_of_sync(home: Path) -> None:
    graph = home / "graph" / "graph.json"
    copied = json.loads(graph.read_bytes())
    copied["notes"][0]["content"] = "Deploys run on Wednesday."
    copied["notes"].append(note_object(9, title="From the copy"))
    name = "graph.sync-conflict-20261120-101010-ABCDEFG.json"
    (graph.parent / name).write_text(json.dumps(copied, indent=2) + "\n")
    ok("note", "edit", "Deploy day", "--content", "Deploys run on Thursday.")


def _drift(home: Path) -> None:
    path = home / "memory.nugget.json"
    held = json.loads(path.read_bytes())
    held["facts"].append(fact_object("strange", "without a note"))
    path.write_text(json.dumps(held))
    ok("status")


def _broken_file(home: Path) -> None:
    path = home / "memory.nugget.json"
    path.write_bytes(path.read_bytes()[:-20])


def _old_backup(home: Path) -> None:
    """Only backups of former days, so that the next change makes one."""
    for path in (home / "backups").iterdir():
        path.rename(path.with_name("2026-01-02T030405Z-day.zip"))


def _back_in_time(home: Path) -> None:
    ok("note", "edit", "Deploy day", "--content", "Another day.")
    ok("forget", "memory", "port")


def _secret(home: Path) -> None:
    ok("note", "add", "Wifi", f"The password is {SECRET}", "--nugget", "home")
    ok("remember", "home", "wifi password", f"password: {SECRET}")


def _proposals(home: Path) -> None:
    (home / "settings.toml").write_text("[pipeline]\nshadowMode = true\n")
    with open_pipeline(home, None, Clock()) as pipeline:
        pipeline.ingest(FIRST)
        drain(pipeline)


def _read_text(home: Path) -> None:
    with open_pipeline(home, None, Clock()) as pipeline:
        pipeline.ingest(FIRST)
        drain(pipeline)


def _old_rows(home: Path) -> None:
    with open_pipeline(home, None, Clock(datetime(2020, 1, 1, tzinfo=UTC))) as pipeline:
        pipeline.ingest(FIRST)
        drain(pipeline)
        pipeline.remove_text("raw-")


def _three_versions(home: Path) -> None:
    graph = home / "graph" / "graph.json"
    base = json.loads(graph.read_bytes())
    for name, title in (("base", None), ("ours", "Ours"), ("theirs", "Theirs")):
        made = json.loads(json.dumps(base))
        if title:
            made["notes"].append(note_object(20 + len(title), title=title))
        (home.parent / f"{name}.json").write_text(json.dumps(made, indent=2) + "\n")


def _promoted(home: Path) -> None:
    _named_pages(home)
    page = home.parent / "pages" / "MEMORY.md"
    page.parent.mkdir()
    page.write_text("# Mine\n\nKeep this.\n")


def _daily(memory: Memory) -> None:
    for problem in run_daily_pass(memory, if_due=False).problems:
        raise problem


def _named_pages(home: Path) -> None:
    """Without a terminal a folder is promoted to that the settings name."""
    (home / "settings.toml").write_text('[promotion]\nprojects = ["pages", "others", "elsewhere"]\n')


def _two_pages(home: Path) -> None:
    _named_pages(home)
    for name in ("pages", "others"):
        (home.parent / name).mkdir()
        ok("promote", "--memory-dir", name)
    ok("note", "edit", "Often", "--content", "Use spaces.")


def _no_memory(home: Path) -> None:
    shutil.rmtree(home)


def _another_program(home: Path) -> None:
    path = home / "graph" / "graph.json"
    held = json.loads(path.read_bytes())
    held["notes"].append(note_object(30, title="Theirs"))
    path.write_text(json.dumps(held, indent=2) + "\n")


def _secret_text(home: Path) -> None:
    _secret(home)
    ok("ingest", "-", "--project", "memory", input=f"The password is {SECRET}")


def _conversation(home: Path) -> None:
    (home.parent / "talk.txt").write_text("We talked of billing.")


def _team(home: Path) -> None:
    write_team(home.parent / "project", trusted=False)
    # Each try has a folder of its own, and trust in a project without commits goes by that.
    (home / "settings.toml").write_text('[team]\ntrust = "all"\n')


def _shared(home: Path) -> None:
    _team(home)
    ok("team", "share", "Deploy day", "--to", "project", "--yes")


COMMANDS: Final[dict[str, Command]] = {
    "remember": Command(("remember", "memory", "new", "value")),
    "remember on a new day": Command(("remember", "memory", "new", "value"), _old_backup),
    "remember in no memory yet": Command(
        ("remember", "memory", "new", "value"), _no_memory, settled=False, undone=False
    ),
    "remember beside another program": Command(
        ("remember", "memory", "new", "value"), _another_program, settled=False
    ),
    "forget": Command(("forget", "memory", "port")),
    "clear": Command(("forget", "memory", "--all", "--yes")),
    "recall": Command(("recall", "port", "--session", "s1"), optional=True, undone=False),
    "note add": Command(("note", "add", "New", "Some text.", "--nugget", "memory", "--tag", "t")),
    "note edit": Command(("note", "edit", "Deploy day", "--content", "Fridays.")),
    "note hide": Command(("note", "hide", "port")),
    "note delete": Command(("note", "delete", "port", "--yes")),
    "note link": Command(("note", "link", "Deploy day", "Often")),
    "note merge": Command(("note", "merge", "Runner again", "Runner")),
    "reflect": Command(("reflect", "--all")),
    "daily pass": Command(_daily, undone=False, in_steps=True),
    "promote": Command(("promote", "--memory-dir", "pages"), _promoted),
    "promote everywhere": Command(("promote", "--all", "--yes"), _two_pages, undone=False, in_steps=True),
    "undo": Command(("undo",), lambda home: ok("forget", "memory", "port"), undone=False),
    "redo": Command(
        ("redo",), lambda home: (ok("forget", "memory", "port"), ok("undo")), undone=False
    ),
    "restore": Command(("restore", "{backup}", "--yes"), _back_in_time),
    "repair": Command(("verify", "--repair", "--yes"), _drift),
    "repair a file": Command(("verify", "--repair", "--yes"), _broken_file, in_steps=True, undone=False),
    "resolve ours": Command(("resolve", "{conflict}", "--incoming"), _conflict, undone=False, in_steps=True),
    "resolve copies": Command(("resolve",), _copy_of_sync, undone=False, in_steps=True, code=3),
    "merge-file": Command(
        ("merge-file", "base.json", "ours.json", "theirs.json"), _three_versions, undone=False
    ),
    "save a setting": Command(lambda memory: memory.save_settings({"search.text_weight": 0.5})),
    "keep a search": Command(("searches", "keep", "often", "tabs")),
    "mask": Command(("secrets", "--mask", "--yes"), _secret, undone=False, in_steps=True),
    "ingest": Command(("ingest", "-", "--project", "memory"), input=FIRST, undone=False),
    "ingest a conversation": Command(
        ("ingest", "-", "--session", "s1", "--transcript", "talk.txt"), _conversation, input=FIRST, undone=False,
        in_steps=True,
    ),
    "mask a text": Command(("secrets", "--mask", "--yes"), _secret_text, undone=False, in_steps=True),
    "accept": Command(("pipeline", "accept", "--above", "0.1", "--yes"), _proposals, undone=False),
    "refuse": Command(("pipeline", "refuse", "{proposal}"), _proposals, undone=False),
    "remove a text": Command(("pipeline", "remove", "raw-"), _read_text, in_steps=True),
    "restore a text": Command(
        ("pipeline", "restore", "raw-"), lambda home: (_read_text(home), ok("pipeline", "remove", "raw-")),
        in_steps=True,
    ),
    "begin a team's folder": Command(
        ("team", "init", "project"), lambda home: (home.parent / "project").mkdir(), team=True, undone=False
    ),
    "share": Command(("team", "share", "Deploy day", "Runner", "--yes"), _team, team=True, undone=False),
    "share again": Command(
        ("team", "share", "Deploy day", "--yes"),
        lambda home: (_shared(home), ok("note", "edit", "Deploy day", "--content", "Fridays.")),
        team=True, undone=False,
    ),
    "sweep": Command(("pipeline", "sweep"), _old_rows, undone=False, in_steps=True),
}  # fmt: skip


class Bench:
    """Runs commands on copies of one memory. folder: a new one of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # Where everything runs: pages outside the memory are known by their whole path.
        # Every run looks for garbage, so that memories are closed: not at what other tests of this process have left.
        gc.collect()
        gc.freeze()
        self._place = folder / "place"
        self._base = folder / "base"
        self._enter(None)
        make_memory(self._place / "memory")
        shutil.copytree(self._place, self._base)
        self._ready: dict[str, Path] = {}
        # What verify says where nothing went wrong.
        self._unsound: dict[str, list[str]] = {}

    def _enter(self, copied: Path | None) -> None:
        place = self._place
        os.chdir(self.folder)
        gc.collect()
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(copied, place) if copied is not None else place.mkdir(parents=True)
        os.environ["HOME"] = str(place)
        os.environ["NUGGETS_HOME"] = str(place / "memory")
        os.environ["NUGGETS_CACHE"] = str(place / "cache")
        os.environ["NUGGETS_STATE"] = str(place / "state")
        project = place / "project"
        os.environ["NUGGETS_TEAM"] = str(project) if project.is_dir() else "off"
        os.chdir(place)

    def ready(self, name: str) -> Path:
        """The folder in which a command is about to be run, made once."""
        if name not in self._ready:
            self._enter(self._base)
            COMMANDS[name].prepare(self._place / "memory")
            gc.collect()
            self._ready[name] = shutil.copytree(self._place, self.folder / f"ready {name}")
        return self._ready[name]

    @contextlib.contextmanager
    def copied(self, name: str) -> Iterator[Path]:
        """A copy of it to run in."""
        self._enter(self.ready(name))
        if COMMANDS[name].settled:
            Memory.open(self._place / "memory", tolerant=True).close()
        try:
            yield self._place
        finally:
            os.chdir(self.folder)

    def command(self, name: str, place: Path) -> Command:
        """The command with the ids that it needs."""
        command = COMMANDS[name]
        home = place / "memory"
        found: dict[str, str] = {}
        if callable(command.args):
            return command
        if "{backup}" in command.args:
            (backup,) = (home / "backups").glob("*-day.zip")
            found["{backup}"] = backup.stem
        if "{conflict}" in command.args:
            with contextlib.closing(sqlite3.connect(home / "nuggets.db")) as journal:
                found["{conflict}"] = journal.execute(
                    "SELECT id FROM entry WHERE state = 'conflict'"
                ).fetchone()[0]
        if "{proposal}" in command.args:
            with contextlib.closing(sqlite3.connect(home / "nuggets.db")) as pipeline:
                found["{proposal}"] = pipeline.execute("SELECT id FROM proposals").fetchone()[0]
        return Command(**(vars(command) | {"args": tuple(found.get(one, one) for one in command.args)}))

    # States

    def states(self, name: str) -> tuple[Any, Any, int]:
        """What stands before and after the command, and how many changing calls it makes."""
        with self.copied(name) as place:
            before = state(place, self.ready(name))
            with failing(None) as faults:
                done = self.command(name, place)(place / "memory")
            assert done.exit_code == COMMANDS[name].code, (name, done.stdout, done.stderr)
            after = state(place, self.ready(name))
            assert COMMANDS[name].optional or after != before, f"{name} changes nothing"
            self._unsound[name] = unsound(place / "memory")
        return before, after, faults.count

    def run(
        self, name: str, number: int, code: int, before: Any, after: Any, *, more: int = 0
    ) -> Outcome | None:
        """Runs the command with the changing call of this number refused, and complains; None when there is none."""
        with self.copied(name) as place:
            command = self.command(name, place)
            with failing(number, code, more) as faults:
                done = command(place / "memory")
                gc.collect()
            if not faults.failed:
                return None
            outcome = Outcome(number, code, faults.failed, f"[{done.exit_code}] {done.stderr.strip()}")
            self._judge(name, command, done, place, before, after, outcome)
            return outcome

    def _judge(
        self,
        name: str,
        command: Command,
        done: Result,
        place: Path,
        before: Any,
        after: Any,
        outcome: Outcome,
    ) -> None:
        complain, said = outcome.complaints.append, done.stderr + done.stdout
        # What is said of other changes stands behind it.
        of_this = done.stderr.partition("; also: ")[0]
        if "this is a bug" in said or "Traceback" in said:
            complain("a bug")
        reopen(place)
        found = state(place, self.ready(name))
        if found not in (before, after) and not command.in_steps:
            complain(f"a state in between: {difference(before, after, found)}")
        follows = command.in_steps and any(words in said for words in _FOLLOWS)
        if done.exit_code == command.code and found != after and not (command.optional or follows):
            complain("ended well without having done it")
        if done.exit_code != command.code:
            if any(words in said for words in BEFORE) and found != before:
                complain("said that nothing was written, and something was")
            if found == after != before and not any(words in said for words in PARTLY):
                complain("was done and does not say so")
            if any(words in of_this for words in AFTER) and found == before:
                complain("said to be written, and is not")
        elif found == after != before and any(words in done.stderr for words in BEFORE):
            complain("ended well and says that nothing was written")
        self._check_later(name, command, place, before, after, found, outcome)

    def _check_later(
        self, name: str, command: Command, place: Path, before: Any, after: Any, found: Any, outcome: Outcome
    ) -> None:
        complain = outcome.complaints.append
        if command.in_steps and found != after:
            again = command(place / "memory")
            if state(place, self.ready(name)) != after:
                now = state(place, self.ready(name))
                complain(f"done again does not end it: {again.stderr} {difference(before, after, now)}")
        elif found == after != before and command.undone:
            taken = cli("undo")
            if taken.exit_code or state(place, self.ready(name)) != before:
                now = state(place, self.ready(name))
                complain(f"undo does not take all back: {taken.stderr} {difference(after, before, now)}")
            elif cli("redo").exit_code or state(place, self.ready(name)) != after:
                complain("redo does not do it again")
        notes = place / "project" / TEAM_NOTES
        for home in (place / "memory", *([notes] if notes.is_dir() else [])):
            probe = cli("--home", str(home), "note", "add", "Probe", "A later change.", "--nugget", "probe")
            if probe.exit_code:
                complain(f"the next change fails: {probe.stderr}")
        left = temporary_files(place)
        if left:
            complain(f"left behind: {left}")
        more = [one for one in unsound(place / "memory") if _kind(one) not in map(_kind, self._unsound[name])]
        if more and not command.in_steps and before != found:
            complain(f"not sound: {more}")


def reopen(place: Path) -> None:
    """What whoever opens the memory next does, with the fault gone."""
    home = place / "memory"
    Memory.open(home, tolerant=True).close()
    notes = place / "project" / TEAM_NOTES
    if notes.is_dir():
        Memory.open(notes).close()


def unsound(home: Path) -> list[str]:
    """What verify says."""
    memory = Memory.open(home, tolerant=True)
    found = [f"{one.kind} {one.where}" for one in memory.maintenance.verify()]
    journal = memory.store.journal
    if journal is not None and journal.pending_count():
        found.append("pending")
    memory.close()
    return found


def _kind(finding: str) -> str:
    return finding.split()[0]


def temporary_files(place: Path) -> list[str]:
    """Files that a write left behind."""
    return [str(path.relative_to(place)) for path in place.rglob("*") if path.suffix == ".tmp"]


# What is compared


def state(place: Path, ready: Path) -> Any:
    """What a person sees of all files, without what differs from run to run."""
    home = place / "memory"
    known = {note["id"] for note in _notes(ready / "memory")}
    return {
        "notes": _shown_notes(home, known),
        "facts": {path.name: _facts(path) for path in sorted(home.glob("*.nugget.json"))},
        "files": {
            str(path.relative_to(place)): path.read_bytes()
            for path in sorted([*place.rglob("*.md"), *place.rglob("*.toml"), *place.glob("*.json")])
        },
        "copies": sorted(
            path.name for path in home.rglob("*sync-conflict*") if "quarantine" not in path.parts
        ),
        "conflicts": len(_rows(home / "nuggets.db", "SELECT 1 FROM entry WHERE state = 'conflict'")),
        "pipeline": [
            _rows(home / "nuggets.db", statement)
            for statement in (
                "SELECT content, status FROM raw_memories ORDER BY id",
                "SELECT status FROM proposals ORDER BY id",
                "SELECT status FROM note_edits ORDER BY id",
                "SELECT status, type FROM jobs ORDER BY id",
                "SELECT name FROM meta WHERE name LIKE 'paused%'",
            )
        ],
        "secret": sorted(
            {
                path.name.partition(".")[0]
                for path in home.rglob("*")
                if path.is_file() and path.suffix != ".tmp" and _holds(path, SECRET)
            }
        ),
    }


def _holds(path: Path, value: str) -> bool:
    data = path.read_bytes()
    if path.suffix == ".zip":
        with contextlib.suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
            return any(value.encode() in archive.read(name) for name in archive.namelist())
    return value.encode() in data


def _notes(home: Path) -> list[dict[str, Any]]:
    path = home / "graph" / "graph.json"
    try:
        return list(json.loads(path.read_bytes())["notes"])
    except (OSError, ValueError):
        return []


def _shown_notes(home: Path, known: set[str]) -> list[str]:
    notes = _notes(home)
    names = {note["id"]: note["id"] if note["id"] in known else f"new {note['title']}" for note in notes}

    def shown(note: dict[str, Any]) -> str:
        kept = {key: value for key, value in note.items() if key not in _VOLATILE}
        links = sorted((names.get(one["to"], "gone"), one.get("reason", "")) for one in note.get("links", ()))
        return json.dumps(kept | {"id": names[note["id"]], "links": links}, sort_keys=True)

    return sorted(map(shown, notes))


def _facts(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())["facts"]
    except ValueError:
        return path.read_bytes()


def _rows(path: Path, statement: str) -> Any:
    if not path.is_file():
        return []
    with contextlib.closing(sqlite3.connect(path)) as database:
        try:
            return database.execute(statement).fetchall()
        except sqlite3.OperationalError:
            return []


def difference(before: Any, after: Any, found: Any) -> str:
    """Where a state is neither of two others."""
    odd = [name for name in found if found[name] not in (before[name], after[name])]
    mixed = (
        [name for name in found if found[name] != before[name]],
        [name for name in found if found[name] != after[name]],
    )
    return f"odd {odd}" if odd else f"differs from before in {mixed[0]}, from after in {mixed[1]}"


def sweep(
    bench: Bench, name: str, codes: tuple[int, ...], every: int = 1, start: int = 0, more: int = 0
) -> tuple[int, list[Outcome]]:
    """Runs a command with each `every`-th of its changing calls refused; how many runs, and those to complain of."""
    before, after, count = bench.states(name)
    bad, runs = [], 0
    for code in codes:
        for number in range(start % every, count + 50, every):
            outcome = bench.run(name, number, code, before, after, more=more)
            if outcome is None:
                break
            runs += 1
            if outcome.complaints:
                bad.append(outcome)
    return runs, bad


__all__ = ["COMMANDS", "Bench", "Faults", "Outcome", "sweep"]
