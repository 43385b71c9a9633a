"""What recall finds: nonsense, paraphrases, typing errors and questions, beside the rule of the original system.

Run from the root of the repository: python tests/benchmarks/recall.py
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from kits.recall_keys import KINDS, STYLES, make_keys, measure, original_rule, write_memory
from kits.recall_questions import DEMO, PERSONAL, Questions, ask, recalled

from core import Memory

SIZES, OURS, THEIRS = (50, 200, 512), 100, 25


def percent(counts: dict[str, float]) -> str:
    return " ".join(f"{100 * counts[kind]:8.1f}" for kind in KINDS)


def keys_table() -> None:
    """Shares in per cent; a query that holds one word of the keys and several others is half known."""
    print(f"{'':19}{'ours':^36}{'the original':^38}")
    titles = " ".join(f"{kind.replace('_', ' ')[:8]:>8}" for kind in KINDS)
    print(f"{'keys':10} {'number':>6} {titles}  {titles}")
    for style in STYLES:
        for size in SIZES:
            keys = make_keys(size, style)
            with tempfile.TemporaryDirectory() as home:
                memory = recalled(write_memory(Path(home), keys))
                rows = (
                    measure(keys, memory, OURS),
                    measure(keys, lambda query, keys=keys: original_rule(keys, query), THEIRS),  # type: ignore[misc]
                )
            print(f"{style:10} {len(keys):6} " + "  ".join(map(percent, rows)), flush=True)


def questions_table(name: str, questions: Questions) -> None:
    with tempfile.TemporaryDirectory() as home:
        questions.write(Path(home))
        memory = Memory.open(home)
        keys = tuple(fact.key for nugget in memory.snapshot.nuggets for fact in nugget.facts)
        rules = {"ours": recalled(memory), "the original": lambda query: original_rule(keys, query)}
        for rule, find in rules.items():
            outcome = ask(questions, find)
            print(
                f"{name:10} {rule:14} right {outcome.right:3}, wrong {outcome.wrong:3}, missed {outcome.missed:3}"
                f" of {len(questions.answered)}; found {outcome.false:3} of {len(questions.unanswered)}"
                " that nothing answers"
            )


def main() -> None:
    print("Found of nonsense, right of paraphrases and typing errors, in per cent")
    keys_table()
    print("\nNatural questions")
    questions_table("demo", DEMO)
    questions_table("personal", PERSONAL)


if __name__ == "__main__":
    main()
