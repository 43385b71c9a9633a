"""Notes held against code: how much of what moved or is gone is told, how often falsely, and how long it takes.

python tests/benchmarks/grounding.py                made-up histories, labelled actions, and how long it takes
python tests/benchmarks/grounding.py REPOSITORY     what its own pages named at 8 of its commits, held against now
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))

from kits.actions import judged
from kits.replayed import git, played

from core import Memory
from core.graph.edits import create_note
from core.grounding.binding import Bound, bind
from core.grounding.references import Reference, references
from core.grounding.states import States
from core.grounding.trees import Tree
from core.model.draft import Draft
from core.projects import project_of

_COMMITS = 8
_REFERENCES = 400
_TOPICS = ("billing", "harbour", "garden", "orchestra", "bakery", "museum", "ferry")
_PAGES = (".md", ".mdx", ".rst")
# What is no page.
_CODE = (".", *(f":(exclude,glob)**/*{end}" for end in (*_PAGES, ".txt")))


def main() -> None:
    if len(sys.argv) > 1:
        replay(sys.argv[1])
    else:
        made_up(60)
        actions()
        times()
        recalls()


def table(rows: Counter[tuple[str, str, str]]) -> None:
    """Each kind and true state, with how often each state was said; and the two figures that there are bars for."""
    for kind, true in sorted({row[:2] for row in rows}):
        said = (f"{row[2]} {count}" for row, count in sorted(rows.items()) if row[:2] == (kind, true))
        print(f"  {kind:10} {true:8} {'  '.join(said)}")
    figures = (
        ("told of what moved or is gone", ("moved", "gone", "lost"), "at least 95 %"),
        ("falsely told of what is there", ("fresh", "changed", "there"), "at most 2 %"),
    )
    for name, states, bar in figures:
        told = sum(count for row, count in rows.items() if row[1] in states and row[2] in ("moved", "gone"))
        every = sum(count for row, count in rows.items() if row[1] in states)
        print(f"  {name}: {told} of {every} ({told / max(1, every):.1%}; {bar})")


def made_up(histories: int) -> None:
    """Notes bound at a commit of histories whose truth is known, and checked at the last one."""
    rows: Counter[tuple[str, str, str]] = Counter()
    for seed in range(1000, 1000 + histories):
        with tempfile.TemporaryDirectory() as folder:
            rows.update(one[:3] for one in played(seed, Path(folder)))
    print(f"{histories} made-up histories")
    table(rows)


def replay(root: str) -> None:
    """What a repository's pages named at some of its commits, held against it as it is now; what is true is asked of
    git in another way than the states are found.
    """
    began = time.monotonic()
    tree = Tree(root)
    commits = tree.ask("rev-list", "HEAD").decode().split()
    chosen = commits[:: max(1, len(commits) // _COMMITS)][1 : _COMMITS + 1]
    rows: Counter[tuple[str, str, str]] = Counter()
    states, misplaced = States(tree), 0
    with tempfile.TemporaryDirectory() as name:
        git(Path(name), "clone", "-q", "--shared", "--no-checkout", root, "then")
        for commit in chosen:
            git(Path(name, "then"), "checkout", "-q", "--detach", commit)
            bound = _named(Tree(f"{name}/then"), commit)
            truth = _truth(bound, root)
            for one, now in zip(bound, states.standings(bound), strict=True):
                rows[one.reference.kind, truth(one), now.state] += 1
                misplaced += now.state == "moved" and not tree.has(now.where.partition(":")[0])
    seconds = time.monotonic() - began
    print(f"{root}: {len(chosen)} of {len(commits)} commits, {rows.total()} references, {seconds:.0f} s")
    table(rows)
    print(f"  moved to where there is nothing: {misplaced}")


def _named(then: Tree, commit: str) -> list[Bound]:
    """What the pages of a checkout name, a few hundred references of it at most, each once."""
    named: dict[tuple[str, str, int], tuple[str, Reference]] = {}
    for page in sorted(path for path in then.blobs if path.endswith(_PAGES)):
        for one in references(then.text(page) or "", then.root):
            named.setdefault(one.key, (page.rpartition("/")[0], one))
    some = random.Random(commit).sample([*named.values()], min(len(named), _REFERENCES))
    rest = [one for _, one in some if one.kind != "file"]
    files = [bind([one], then, commit, 0, folder) for folder, one in some if one.kind == "file"]
    return [*bind(rest, then, commit), *(one for each in files for one in each)]


def _truth(bound: Sequence[Bound], root: str) -> Callable[[Bound], str]:
    """Whether each thing is "there" as it was, "lost" from where it was, or nobody can say ("open")."""
    words = {one.reference.name.rpartition(".")[2].rpartition(" ")[2] for one in bound}
    shape = "|".join(re.sub(r"([^\w-])", r"[\1]", word) for word in words if word)
    how = ["git", "-C", root, "grep", "-w", "-o", "-I", "-E", "-e", f"({shape})", "HEAD", "--", *_CODE]
    said = subprocess.run(how, capture_output=True, check=False).stdout.decode("utf-8", "replace")
    found = {tuple(row.split(":", 2)[1:]) for row in said.splitlines()}
    anywhere = {word for _, word in found}

    def truth(one: Bound) -> str:
        reference, path = one.reference, Path(root, one.path)
        word = reference.name.rpartition(".")[2].rpartition(" ")[2]
        if reference.kind == "file":
            return "lost" if not path.exists() else "open" if reference.line else "there"
        if word not in anywhere:
            return "lost"
        return "there" if (one.path, word) in found or reference.kind == "variable" else "open"

    return truth


def actions() -> None:
    """What is said before labelled calls: on pairs that matter, on controls, and on the calls of other notes."""
    found = {name: len(some) for name, some in judged().items()}
    said = found["right"] + found["wrong"] + found["elsewhere"]
    print("Point of action")
    print(f"  relevant pairs: {found['right']} of {found['right'] + found['missed']} said")
    print(f"  controls: {found['wrong']} of {found['wrong'] + found['quiet']} said (none)")
    print(f"  before calls that matter to other notes: {found['elsewhere']} said")
    print(f"  precision: {found['right'] / said:.2f} (at least .90)")


def project(folder: Path) -> list[str]:
    """Makes a project of 300 files with 3,000 functions, and 900 lines that name parts of it."""
    lines = []
    for number in range(300):
        file = folder / f"src/part{number % 30}/file{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        names = [f"work_{number}_{each}" for each in range(10)]
        body = "".join(f"    value{each} = given * {each}\n" for each in range(12))
        file.write_text("\n\n".join(f"def {one}(given):\n{body}" for one in names))
        for each in range(3):
            where = f"{file.relative_to(folder)}:{(number + each) % 90 + 1}"
            lines.append(f"{where} `{names[each]}()` `{names[each + 3]}()` {file.name}")
    git(folder, "init", "-q")
    committed(folder)
    return lines


def committed(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "x")


def took(call: Callable[[], object]) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


def times() -> None:
    """1,000 references: cold, warm, and once a tenth of the files moved or went, each beside reading the files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines, tree = project(folder), Tree(name)
        named = [one for line in lines for one in references(line, name)]
        bound = bind(named, tree, tree.head, 1)[:1000]
        plain = took(lambda: [path.read_bytes() for path in folder.rglob("*.py")])
        print(f"{len(bound)} references; reading the files takes {plain:.0f} ms")

        def measured(what: str) -> None:
            runs = []
            for _ in range(3):
                tree = Tree(name)
                past = States(tree)
                runs.append([took(partial(past.standings, bound)) for _ in range(2)])
            cold, warm = map(min, zip(*runs, strict=True))
            print(f"  {what}: cold {cold:.0f} ms (1,000), warm {warm:.0f} ms (50)")

        measured("as they were")
        for number in range(0, 300, 10):
            file = folder / f"src/part{number % 30}/file{number}.py"
            file.rename(file.with_name(f"new{number}.py")) if number % 20 else file.unlink()
        committed(folder)
        measured("a tenth of the files moved or gone")


def recalls() -> None:
    """10,000 notes of which 3,000 name code, a tenth of it gone: recalls with and without the code being asked."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "scanner")
        folder.mkdir()
        lines = project(folder)
        memory = Memory.open(Path(name, "memory"))
        memory.use_project(project_of(str(folder)))

        def write(draft: Draft) -> None:
            for number in range(10_000):
                named = lines[number % len(lines)] if number < 3_000 else "nothing of the code"
                text = f"Rule {number} of the {_TOPICS[number % 7]} desk: see {named}"
                create_note(draft, "scanner", f"rule {number} {_TOPICS[number % 7]}", text)

        memory.change("made", write)
        print("10,000 notes, 3,000 of them with references")
        print(f"  bound for the first time: {took(lambda: memory.stale_of(memory.snapshot.visible)):.0f} ms")
        for number in range(0, 300, 10):
            (folder / f"src/part{number % 30}/file{number}.py").unlink()
        committed(folder)
        memory = Memory.open(Path(name, "memory"))
        memory.use_project(project_of(str(folder)))
        for what in ("cold", "warm"):
            print(
                f"  all held against the code, {what}: {took(lambda: memory.stale_of(memory.snapshot.visible)):.0f} ms"
            )
        questions = [f"rule {number} {_TOPICS[number % 7]}" for number in range(0, 3_000, 50)]
        memory.recall(questions[0], record=False)
        asked = memory.recalls.stale
        for what, stale in (("with", asked), ("without", None)):
            memory.recalls.stale = stale
            one = sorted(took(lambda q=question: memory.recall(q, record=False)) for question in questions)  # type: ignore[misc]
            print(
                f"  a recall {what} the code: median {one[len(one) // 2]:.1f} ms, 19 of 20 in {one[-3]:.1f} ms"
            )


if __name__ == "__main__":
    main()
