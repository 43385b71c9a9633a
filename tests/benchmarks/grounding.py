"""Notes held against code: how much of what moved or is gone is told, how often falsely, and how long it takes.

python tests/benchmarks/grounding.py                made-up histories, and 1,000 references
python tests/benchmarks/grounding.py REPOSITORY     what its own pages named at 8 of its commits, held against now
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))

from kits.replayed import played

from core.grounding.binding import Bound, bind
from core.grounding.references import references
from core.grounding.states import Past, standings
from core.grounding.trees import Tree
from core.model.judgement import Standing

_COMMITS = 8
_PAGES = (".md", ".mdx", ".rst")


def main() -> None:
    if len(sys.argv) > 1:
        replay(sys.argv[1])
    else:
        made_up(60)
        times()


def table(rows: Counter[tuple[str, str, str]]) -> None:
    """Each kind and true state, with how often each state was said."""
    for kind, true in sorted({row[:2] for row in rows}):
        said = {
            state: count for (one, was, state), count in sorted(rows.items()) if (one, was) == (kind, true)
        }
        print(f"  {kind:10} {true:8} {'  '.join(f'{state} {count}' for state, count in said.items())}")
    lost = [(state, count) for (_, true, state), count in rows.items() if true in ("moved", "gone", "lost")]
    kept = [
        (state, count) for (_, true, state), count in rows.items() if true in ("fresh", "changed", "there")
    ]
    for name, some in (("told of what moved or is gone", lost), ("falsely told of what is there", kept)):
        told = sum(count for state, count in some if state in ("moved", "gone"))
        every = sum(count for _, count in some)
        print(f"  {name}: {told} of {every}{f' ({told / every:.1%})' if every else ''}")


def made_up(histories: int) -> None:
    rows: Counter[tuple[str, str, str]] = Counter()
    for seed in range(1000, 1000 + histories):
        with tempfile.TemporaryDirectory() as folder:
            rows.update(one[:3] for one in played(seed, Path(folder)))
    print(f"{histories} made-up histories")
    table(rows)


def replay(root: str) -> None:
    """Of paths it is known whether they are there now; of names only what is said."""
    tree = Tree(root)
    commits = tree.ask("rev-list", "--first-parent", "HEAD").decode().split()
    chosen = commits[:: max(1, len(commits) // _COMMITS)][1:]
    rows: Counter[tuple[str, str, str]] = Counter()
    for commit in chosen:
        bound = list(dict.fromkeys(_named(Tree(root, commit), commit)))
        rows.update(_row(one, now, tree) for one, now in zip(bound, standings(bound, tree), strict=True))
    print(f"{root}: {len(chosen)} commits of {len(commits)}")
    table(rows)


def _named(at: Tree, commit: str) -> Iterator[Bound]:
    for page in (path for path in at.blobs if path.endswith(_PAGES)):
        yield from bind(references(at.text(page) or "", at.root), at, commit, 0, page.rpartition("/")[0])


def _row(one: Bound, now: Standing, tree: Tree) -> tuple[str, str, str]:
    kind = one.reference.kind
    true = "named" if kind != "file" or one.reference.line else "there" if tree.has(one.path) else "lost"
    return kind, true, now.state


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
