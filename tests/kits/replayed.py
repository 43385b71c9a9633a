"""Histories of made-up projects, written by git's fast-import, with what became of everything in them."""

from __future__ import annotations

import copy
import itertools
import json
import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from core.grounding.binding import bind
from core.grounding.references import Reference
from core.grounding.states import States
from core.grounding.trees import Tree

_WORDS = tuple(
    "".join(pair)
    for pair in itertools.product(
        ("al", "be", "cor", "dun", "el", "far"), ("pha", "ta", "vus", "der", "mo", "go")
    )
)
_FOLDERS = ("src", "src/auth", "src/billing", "lib", "tools", "web/app", "internal/store")


@dataclass
class Function:
    """A function: its file, None once it is gone. changed: since it was made."""

    name: str
    file: str | None
    body: list[str]
    version: int = 0


@dataclass
class Project:
    """A project whose history is made step by step. files: text above the functions of each file, as lines."""

    rng: random.Random
    files: dict[str, list[str]] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    scripts: dict[str, str] = field(default_factory=dict)
    targets: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    # Each path as it was first, with where it is now; "" once it is deleted.
    now: dict[str, str] = field(default_factory=dict)
    _made: int = 0

    def word(self) -> str:
        self._made += 1
        return f"{self.rng.choice(_WORDS)}_{self.rng.choice(_WORDS)}{self._made}"

    def line(self) -> str:
        return f"{self.word()} = {self.rng.choice(_WORDS)} + {self.rng.randint(0, 9999)}"

    # What it holds

    def text(self, path: str) -> str:
        script = path.endswith(".ts")
        blocks = ["\n".join(self.files[path])]
        for one in self.functions.values():
            if one.file == path:
                typed = f"export function {one.name}(request: Request): Response {{"
                head, end = (typed, ["}"]) if script else (f"def {one.name}(request):", [])
                blocks.append("\n".join([head, *(f"    {line}" for line in one.body), *end]))
        return "\n\n".join(blocks) + "\n"

    def written(self) -> dict[str, str]:
        made = {path: self.text(path) for path in self.files}
        made["package.json"] = json.dumps({"name": "made", "scripts": self.scripts}, indent=2) + "\n"
        made["Makefile"] = "".join(f"{name}:\n\t{said}\n\n" for name, said in self.targets.items())
        made["src/env.py"] = "".join(
            f'{said} = os.environ["{name}"]\n' for name, said in self.variables.items()
        )
        return made

    # Steps

    def add_file(self) -> None:
        ending = self.rng.choice((".py", ".ts"))
        path = f"{self.rng.choice(_FOLDERS)}/{self.word()}{ending}"
        self.files[path] = [self.line() for _ in range(self.rng.randint(6, 20))]
        self.now[path] = path
        for _ in range(self.rng.randint(0, 3)):
            name = self.word()
            self.functions[name] = Function(name, path, [self.line() for _ in range(self.rng.randint(3, 7))])

    def edit(self) -> None:
        lines = self.files[self._any()]
        for _ in range(self.rng.randint(1, 2)):
            lines[self.rng.randrange(len(lines))] = self.line()

    def insert(self) -> None:
        lines = self.files[self._any()]
        at = self.rng.randrange(len(lines) + 1)
        lines[at:at] = [self.line() for _ in range(self.rng.randint(1, 3))]

    def rename(self) -> None:
        was = self._any()
        name = (
            was.rpartition("/")[2] if self.rng.random() < 0.5 else f"{self.word()}.{was.rpartition('.')[2]}"
        )
        now = f"{self.rng.choice(_FOLDERS)}/{name}"
        if now in self.files:
            return
        self.files[now] = self.files.pop(was)
        if self.rng.random() < 0.4:
            lines = self.files[now]
            lines[self.rng.randrange(len(lines))] = self.line()
        self._follow(was, now)

    def delete(self) -> None:
        if len(self.files) < 4:
            return
        was = self._any()
        del self.files[was]
        self._follow(was, "")

    def rewrite(self) -> None:
        path = self._any()
        self.files[path] = [self.line() for _ in range(self.rng.randint(6, 20))]

    def move_function(self) -> None:
        living = [one for one in self.functions.values() if one.file]
        if living:
            one = self.rng.choice(living)
            ending = one.file.rpartition(".")[2] if one.file else ""
            others = [path for path in self.files if path.endswith(f".{ending}") and path != one.file]
            if others:
                one.file = self.rng.choice(others)

    def change_function(self) -> None:
        living = [one for one in self.functions.values() if one.file]
        if living:
            one = self.rng.choice(living)
            one.body[self.rng.randrange(len(one.body))] = self.line()
            one.version += 1

    def delete_function(self) -> None:
        living = [one for one in self.functions.values() if one.file]
        if living:
            self.rng.choice(living).file = None

    def change_commands(self) -> None:
        for held in (self.scripts, self.targets):
            name = self.rng.choice(sorted(held))
            if self.rng.random() < 0.4 and len(held) > 2:
                del held[name]
            else:
                held[name] = f"run-{self.word()} --all"
            held[self.word()] = f"run-{self.word()}"

    def drop_variable(self) -> None:
        if len(self.variables) > 2:
            del self.variables[self.rng.choice(sorted(self.variables))]

    STEPS = (
        add_file, edit, edit, insert, insert, rename, rename, delete, rewrite, move_function, change_function,
        delete_function, change_commands, drop_variable,
    )  # fmt: skip

    def step(self) -> None:
        self.rng.choice(self.STEPS)(self)

    def begin(self) -> None:
        for _ in range(8):
            self.add_file()
        for held in (self.scripts, self.targets):
            for _ in range(4):
                held[self.word()] = f"run-{self.word()}"
        for _ in range(4):
            self.variables[f"MADE_{self.word().upper()}"] = self.word()

    def begin_anew(self) -> None:
        """What becomes of each file is told from now on."""
        self.now = {path: path for path in self.files}

    def _any(self) -> str:
        return self.rng.choice(sorted(self.files))

    def _follow(self, was: str, now: str) -> None:
        self.now = {first: (now if path == was else path) for first, path in self.now.items()}
        for one in self.functions.values():
            if one.file == was:
                one.file = now or None


class Stream:
    """Commits for `git fast-import`, one after the other or beside each other."""

    def __init__(self) -> None:
        self._out: list[bytes] = []
        self._mark = 0
        self._at = 1_700_000_000

    def commit(self, written: dict[str, str], *parents: int) -> int:
        self._mark += 1
        self._at += 3_600
        head = f"commit refs/heads/main\nmark :{self._mark}\ncommitter A <a@example.org> {self._at} +0000\ndata 1\nx\n"
        head += f"from :{parents[0]}\n" if parents else ""
        head += "".join(f"merge :{one}\n" for one in parents[1:])
        self._out.append(f"{head}deleteall\n".encode())
        for path, text in written.items():
            data = text.encode()
            self._out.append(f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n")
        return self._mark

    def write(self, folder: Path) -> dict[int, str]:
        """Makes the repository, checked out at its last commit. Gives the commits by their marks."""
        git(folder, "init", "-q", "-b", "main")
        marks = folder / ".git" / "made-marks"
        subprocess.run(
            ["git", "fast-import", "--quiet", f"--export-marks={marks}"],
            cwd=folder, input=b"".join(self._out), check=True,
        )  # fmt: skip
        git(folder, "reset", "-q", "--hard")
        rows = (row.split(" ") for row in marks.read_text().splitlines())
        return {int(mark[1:]): commit for mark, commit in rows}


def git(folder: Path, *words: str) -> str:
    """What git says in a folder."""
    named = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", *named, *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def played(seed: int, folder: Path) -> list[tuple[str, str, str, bool]]:
    """Kind, true state, said state, and whether the place said is right, of all that was bound in one history."""
    rng = random.Random(seed)
    now, stream = Project(rng), Stream()
    now.begin()
    last = bound_at = stream.commit(now.written())
    for _ in range(rng.randint(0, 4)):
        now.step()
        last = bound_at = stream.commit(now.written(), last)
    then = copy.deepcopy(now)
    now.begin_anew()
    for _ in range(rng.randint(1, 14)):
        main = last
        for _ in range(rng.randint(1, 3)):
            now.step()
            last = stream.commit(now.written(), last)
        if rng.random() < 0.3:
            last = stream.commit(now.written(), main, last)
    commits = stream.write(folder)
    truth = dict(true_states(then, now, rng))
    bound = bind(list(truth), Tree(str(folder), commits[bound_at]), commit=commits[bound_at])
    assert len(bound) == len(truth)
    found: list[tuple[str, str, str, bool]] = []
    for one, now_is in zip(bound, States(Tree(str(folder))).standings(bound), strict=True):
        state, where = truth[one.reference]
        right = where in (now_is.where, now_is.where.rpartition(":")[0])
        found.append((one.reference.kind, state, now_is.state, right))
    return found


def true_states(
    then: Project, now: Project, rng: random.Random
) -> Iterator[tuple[Reference, tuple[str, str]]]:
    """Each thing of a project as it was, with what became of it and where it is."""
    texts = now.written()
    for path, lines in then.files.items():
        moved = now.now[path]
        state = ("fresh", "") if moved == path else ("moved", moved) if moved else ("gone", "")
        yield Reference("file", path, path), state
        number = rng.randrange(len(lines)) + 1
        held = texts[moved].split("\n") if moved else []
        if lines[number - 1] in held:
            at = held.index(lines[number - 1]) + 1
            state = ("fresh", "") if (moved, at) == (path, number) else ("moved", f"{moved}:{at}")
        elif moved == path:
            state = ("changed", "")
        yield Reference("file", f"{path}:{number}", path, number), state
    for name, made in then.functions.items():
        if made.file:
            one = now.functions[name]
            kept = ("fresh" if one.version == made.version else "changed", "")
            state = kept if one.file == made.file else ("moved", one.file) if one.file else ("gone", "")
            yield Reference("symbol", f"{name}()", name), state
    for tool, before, after in (("npm", then.scripts, now.scripts), ("make", then.targets, now.targets)):
        for name, said in before.items():
            kept = ("fresh" if after.get(name) == said else "changed", "")
            yield (
                Reference("command", f"{tool} {name}", f"{tool} {name}"),
                kept if name in after else ("gone", ""),
            )
    for name in then.variables:
        yield Reference("variable", name, name), ("fresh" if name in now.variables else "gone", "")
