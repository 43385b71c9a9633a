"""How long a reflection pass takes, and how that grows with the memory.

Run as `python tests/benchmarks/reflection.py [NOTES ...]` (default: 1000 10000 100000). Each line: notes; a pass
with the default limits; the same on a memory that is clean already, where every note has to be looked at; a pass
without any limit, with what it changed; below, how many times longer each takes than at the size before. Seconds
of processor time, the best of three (one for the pass without a limit): a pass runs in one thread and reads no
file, so that is what it takes on an idle machine.
"""

from __future__ import annotations

import itertools
import random
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import msgspec

from core.model.change import ChangeSet
from core.model.draft import Draft
from core.model.fact import Fact, Nugget, NuggetMeta
from core.model.note import Link, Note
from core.model.snapshot import Snapshot
from core.reflection import ReflectionResult, reflect
from core.settings import ReflectionSettings

NOW = datetime(2026, 11, 20, tzinfo=UTC)
NUGGETS = ("memory", "gateway", "importer", "billing", "console", "people")
SYLLABLES = (
    "ba",
    "co",
    "di",
    "fe",
    "gu",
    "ha",
    "jo",
    "ka",
    "li",
    "mo",
    "nu",
    "pe",
    "qua",
    "ri",
    "so",
    "tu",
    "ve",
)
DEFAULT_BAR, FULL_BAR = 0.3, 5.0


def vocabulary(dice: random.Random, size: int) -> list[str]:
    """Made-up words, the first of them the most common in use."""
    made = {"".join(dice.choices(SYLLABLES, k=dice.randint(2, 4))) for _ in range(2 * size)}
    return sorted(made, key=lambda _: dice.random())[:size]


def memory(count: int, seed: int = 7) -> Snapshot:
    """A memory of about `count` notes: facts and notes, one in twenty a near-duplicate, links few and far between."""
    dice = random.Random(seed)
    words = vocabulary(dice, 2000 + count // 4)
    weights = list(itertools.accumulate(1 / (rank + 5) for rank in range(len(words))))

    def text(length: int) -> str:
        return " ".join(dice.choices(words, cum_weights=weights, k=length))

    notes: list[Note] = []
    facts: dict[str, list[Fact]] = {name: [] for name in NUGGETS}
    for place in range(count):
        nugget = dice.choice(NUGGETS)
        is_fact = dice.random() < 0.15
        title, content = text(4), text(dice.randint(12, 45))
        if notes and dice.random() < 0.05 and not notes[-1].is_fact:
            nugget, title, is_fact = notes[-1].nugget_name, notes[-1].title, False
            content = f"{notes[-1].content} {dice.choice(words)}"
        elif dice.random() < 0.02:
            content = f"{content}\n{content}"
        if is_fact:
            title = f"user:{title} {place}"
            facts[nugget].append(Fact(key=title, value=content))
        moment = (NOW - timedelta(minutes=17 * (count - place))).isoformat()
        tags = (nugget, "scope:user", "type:fact" if is_fact else "type:note")
        notes.append(
            Note(
                id=f"{'fact' if is_fact else 'note'}-{nugget}-{place:08x}",
                nugget_name=nugget,
                title=title,
                content=content,
                tags=(*tags, dice.choice(words))
                if dice.random() < 0.5
                else tags[: dice.choice((2, 3, 3, 3))],
                kind="fact" if is_fact else "note",
                source_key=title if is_fact else None,
                hits=dice.choice((0, 0, 0, 1, 2, 5)),
                created_at=moment,
                updated_at=moment,
                subject="user:primary",
                scope="user",
                type="fact" if is_fact else "note",
                source="explicit_user",
                confidence=0.9,
                stability="durable",
            )
        )
    linked = [_with_links(note, notes, dice) for note in notes]
    nuggets = tuple(Nugget(meta=NuggetMeta(name=name), facts=tuple(facts[name])) for name in NUGGETS)
    return Snapshot(notes=tuple(linked), nuggets=nuggets)


def _with_links(note: Note, notes: list[Note], dice: random.Random) -> Note:
    targets = dice.sample(notes, k=dice.choice((0, 1, 2, 3)))
    links = tuple(Link(to=other.id, reason="related") for other in targets if other.id != note.id)
    return msgspec.structs.replace(note, links=links)


def after(snapshot: Snapshot, changes: ChangeSet) -> Snapshot:
    """The snapshot with a change set laid over it; facts are only ever changed or taken out here."""
    notes = {change.id: change.after for change in changes.notes}
    facts = {(change.nugget, change.key): change.after for change in changes.facts}
    kept = [notes.get(note.id, note) for note in snapshot.notes]
    nuggets = []
    for nugget in snapshot.nuggets:
        values = [facts.get((nugget.name, fact.key), fact) for fact in nugget.facts]
        nuggets.append(
            msgspec.structs.replace(nugget, facts=tuple(fact for fact in values if fact is not None))
        )
    return Snapshot(notes=tuple(note for note in kept if note is not None), nuggets=tuple(nuggets))


def timed(work: Callable[[], ReflectionResult], times: int) -> tuple[float, ReflectionResult]:
    """The best of some runs in seconds, and the last result."""
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return best, result


def a_pass(snapshot: Snapshot, most: int | None = None) -> ReflectionResult:
    """One pass with the default settings, or with `most` in place of every limit."""
    counter = itertools.count()
    draft = Draft(snapshot, now=NOW, ids=lambda: f"{next(counter):08x}")
    return reflect(draft, ReflectionSettings(), limit=most, max_archived=most, max_merged=most)


def main(sizes: list[int]) -> None:
    """Prints one line a size, the growth from the size before, and whether the bars for 10,000 notes hold."""
    print(f"{'notes':>8} {'default':>9} {'clean':>9} {'no limit':>9}  changed without a limit")
    before: tuple[float, ...] = ()
    for size in sizes:
        snapshot = memory(size)
        default, _ = timed(lambda snapshot=snapshot: a_pass(snapshot), 3)
        full, result = timed(lambda snapshot=snapshot: a_pass(snapshot, len(snapshot.notes)), 1)
        clean = after(snapshot, result.change_set)
        idle, again = timed(lambda clean=clean: a_pass(clean), 3)
        print(f"{size:>8} {default:>9.3f} {idle:>9.3f} {full:>9.3f}  {result.change_set.reason}")
        now = (default, idle, full)
        if before:
            print(
                " " * 9
                + " ".join(f"{'x' + format(b / a, '.1f'):>9}" for a, b in zip(before, now, strict=True))
            )
        before = now
        if again.changes:
            print(f"         a second pass still proposes {len(again.changes)} changes")
        if size == 10_000:
            for name, seconds, bar in (("default pass", default, DEFAULT_BAR), ("no limit", full, FULL_BAR)):
                print(
                    f"         {name}: {seconds:.3f} s, bar {bar} s: {'holds' if seconds < bar else 'MISSED'}"
                )


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [1_000, 10_000, 100_000])
