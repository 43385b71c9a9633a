"""Notes held against code: how much of what moved or is gone is told, how often falsely, and how long it takes.

python tests/benchmarks/grounding.py                made-up histories, and 1,000 references
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
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))

from kits.replayed import played

from core.grounding.binding import Bound, bind
from core.grounding.references import Reference, references
from core.grounding.states import Past, standings
from core.grounding.trees import Tree

_COMMITS = 8
_REFERENCES = 400
_PAGES = (".md", ".mdx", ".rst")
# What is no page.
_CODE = (".", *(f":(exclude,glob)**/*{end}" for end in (*_PAGES, ".txt")))


def main() -> None:
    if len(sys.argv) > 1:
        replay(sys.argv[1])
    else:
        made_up(60)
        times()


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
    past, misplaced = Past(tree), 0
    for commit in chosen:
        bound = _named(Tree(root, commit), commit)
        truth = _truth(bound, root)
        for one, now in zip(bound, standings(bound, tree, past), strict=True):
            rows[one.reference.kind, truth(one), now.state] += 1
            misplaced += now.state == "moved" and not tree.has(now.where.partition(":")[0])
    seconds = time.monotonic() - began
    print(f"{root}: {len(chosen)} of {len(commits)} commits, {rows.total()} references, {seconds:.0f} s")
    table(rows)
    print(f"  moved to where there is nothing: {misplaced}")


def _named(at: Tree, commit: str) -> list[Bound]:
    """What the pages of a commit name, a few hundred references of it at most, each once."""
    named: dict[tuple[str, str, int], tuple[str, Reference]] = {}
    for page in sorted(path for path in at.blobs if path.endswith(_PAGES)):
        for one in references(at.text(page) or "", at.root):
            named.setdefault((one.kind, one.name, one.line), (page.rpartition("/")[0], one))
    some = random.Random(commit).sample([*named.values()], min(len(named), _REFERENCES))
    rest = [one for _, one in some if one.kind != "file"]
    files = [bind([one], at, commit, 0, folder) for folder, one in some if one.kind == "file"]
    return [*bind(rest, at, commit), *(one for each in files for one in each)]


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


def times() -> None:
    """1,000 references in 300 files: cold, warm, and after a move, each beside reading the files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = ""
        for number in range(300):
            file = folder / f"src/part{number % 30}/file{number}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            names = [f"work_{number}_{each}" for each in range(10)]
            body = "".join(f"    value{each} = given * {each}\n" for each in range(12))
            file.write_text("\n\n".join(f"def {one}(given):\n{body}" for one in names))
            where = f"{file.relative_to(folder)}:{number % 90 + 1}"
            text += f"{where} `{names[number % 10]}()` `{names[3]}()` {file.name}\n"
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "x")):
            subprocess.run(
                ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words], cwd=name, check=True
            )
        tree = Tree(name)
        lines = text.splitlines()
        bound = [one for line in lines for one in bind(references(line, name), tree, tree.head, 1)][:1000]
        began = time.perf_counter()
        for path in folder.rglob("*.py"):
            path.read_bytes()
        plain = time.perf_counter() - began
        past = Past(tree)
        tree = Tree(name)
        for what in ("cold", "warm"):
            began = time.perf_counter()
            standings(bound, tree, past)
            took = time.perf_counter() - began
            print(
                f"{len(bound)} references, {what}: {took * 1000:.0f} ms, {took / plain:.1f} x reading the files"
            )


if __name__ == "__main__":
    main()
