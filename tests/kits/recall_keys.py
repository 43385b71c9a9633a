"""Seeded key sets in many styles, queries about them of several kinds, and the original's rule beside ours."""

from __future__ import annotations

import difflib
import random
import re
import tomllib
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from core import Memory
from core.facts.edits import remember
from core.model.draft import Draft

Rule = Callable[[str], str | None]


_WORDS: Final[dict[str, list[str]]] = tomllib.loads(
    (Path(__file__).parents[1] / "data" / "recall_words.toml").read_text(encoding="utf-8")
)
SCOPES: Final = ("user", "self", "shared", "project", "session")
OWNERS, THINGS, ASPECTS, LONE = (_WORDS[name] for name in ("owners", "things", "aspects", "lone"))
TOPICS, GERMAN, ALIEN, GENERIC = (_WORDS[name] for name in ("topics", "german", "alien", "generic"))
STOP, ABSURD, QUESTIONS, VALUES = (_WORDS[name] for name in ("stop", "absurd", "questions", "values"))


def scoped(dice: random.Random, count: int) -> str:
    parts = [dice.choice(THINGS), dice.choice(ASPECTS)]
    if dice.random() < 0.5 or count > 300:
        parts.insert(0, dice.choice(OWNERS))
    scope = f"{dice.choice(SCOPES)}:" if dice.random() < 0.8 else ""
    return scope + " ".join(parts)


def snake(dice: random.Random, count: int) -> str:
    return scoped(dice, count).partition(":")[2].replace(" ", "_") or "_".join(dice.choice(THINGS).split())


def camel(dice: random.Random, count: int) -> str:
    first, *others = scoped(dice, count).rpartition(":")[2].split()
    return first + "".join(word.capitalize() for word in others)


def numbered(dice: random.Random, count: int) -> str:
    thing, number = dice.choice(THINGS), dice.randint(2, 60)
    aspect = dice.choice(ASPECTS)
    return dice.choice(
        (f"{thing} {number} {aspect}", f"sprint {number} {aspect}", f"{aspect} of {thing} v{number}")
    )


def sentence(dice: random.Random, count: int) -> str:
    who = f" for {dice.choice(OWNERS)}'s {dice.choice(THINGS)}" if count > 30 else ""
    return f"{dice.choice(('how', 'where', 'when', 'why'))} {dice.choice(TOPICS)}{who}"


def lone(dice: random.Random, count: int) -> str:
    if dice.random() < 0.3 and count <= 200:
        return dice.choice(LONE)
    return f"{dice.choice(SCOPES)}:{dice.choice((*LONE, *OWNERS))}{dice.choice(('', '', ' ' + dice.choice(LONE)))}"


def foreign(dice: random.Random, count: int) -> str:
    which = dice.choice(GERMAN)
    return which if dice.random() < 0.3 else f"{dice.choice((*OWNERS, *SCOPES))}:{which}"


def crowded(dice: random.Random, count: int) -> str:
    """As `scoped`, with the odd key of one letter, which the original finds in nearly every sentence."""
    return dice.choice("aeio") if dice.random() < 0.02 else scoped(dice, count)


STYLES: Final[dict[str, Callable[[random.Random, int], str]]] = {
    "scoped": scoped, "snake": snake, "camel": camel, "numbered": numbered, "sentence": sentence, "lone": lone,
    "foreign": foreign, "crowded": crowded,
}  # fmt: skip


def make_keys(count: int, style: str = "scoped", seed: int = 0) -> tuple[str, ...]:
    """Distinct keys of one style, at most `count`, no two that differ by their scope alone."""
    dice = random.Random(f"{style} {count} {seed}")
    made: dict[str, str] = {}
    for _ in range(60 * count):
        key = STYLES[style](dice, count)
        made.setdefault(bare(key), key)
        if len(made) == count:
            break
    return tuple(made.values())


def bare(key: str) -> str:
    scope, _, rest = key.partition(":")
    return rest if scope in SCOPES else key


def spoken(key: str) -> list[str]:
    """The words of a key as a person would say them."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", bare(key)).replace("_", " ").replace(":", " ")
    return (parted.lower() if parted.isascii() else parted).split()


def nonsense(dice: random.Random, known: frozenset[str]) -> str:
    """One to five everyday words, some of them stop words or words that say little, or a question about such.

    known: words of the keys, none of which is used.
    """
    words = [word for word in ALIEN if word not in known]
    way = dice.random()
    if way < 0.35:
        return dice.choice(ABSURD).format(*dice.sample(words, 2))
    chosen = dice.sample(words, dice.randint(1, 5))
    if way < 0.6:
        chosen.insert(dice.randrange(len(chosen) + 1), dice.choice([w for w in GENERIC if w not in known]))
    if way < 0.8:
        chosen.insert(0, dice.choice(STOP))
    return " ".join(chosen)


def half_known(dice: random.Random, known: frozenset[str]) -> str:
    """Two to four everyday words and one word of the keys."""
    chosen = dice.sample([word for word in ALIEN if word not in known], dice.randint(2, 4))
    chosen.insert(dice.randrange(len(chosen) + 1), dice.choice(sorted(known)))
    return " ".join(chosen)


def paraphrase(dice: random.Random, key: str) -> str:
    """Words in another order, one left out, in the plural or in capitals, or as a question."""
    words = spoken(key)
    way = dice.randrange(5)
    if way == 0:
        dice.shuffle(words)
    elif way == 1 and len(words) >= 3:
        words.pop(dice.randrange(len(words)))
    elif way == 2 and key.isascii():
        words = [word + "s" if word.isalpha() and not word.endswith("s") else word for word in words]
    text = " ".join(words)
    if way == 3:
        text = text.upper()
    return dice.choice(QUESTIONS).format(text) if dice.random() < 0.6 else text


def mistype(dice: random.Random, text: str) -> str:
    """One letter left out, doubled, replaced, or swapped with its neighbour; the text itself where none can be."""
    places = [i for i in range(1, len(text) - 1) if text[i - 1 : i + 2].isalpha()]
    if len(text) < 4 or not places:
        return text
    place = dice.choice(places)
    letter = text[place]
    kind = dice.randrange(4)
    if kind == 0:
        return text[:place] + text[place + 1 :]
    if kind == 1:
        return text[:place] + letter + text[place:]
    if kind == 2:
        return text[:place] + dice.choice("aeiorstn") + text[place + 1 :]
    return text[:place] + text[place + 1] + letter + text[place + 2 :]


def original_rule(keys: tuple[str, ...], query: str) -> str | None:
    """Equal when case is folded; else contained either way, first in file order; else a ratio of 0.55."""
    wanted = query.strip().lower()
    for key in keys:
        if key.lower() == wanted:
            return key
    for key in keys:
        if wanted in key.lower() or key.lower() in wanted:
            return key
    best, found = 0.55, None
    for key in keys:
        matcher = difflib.SequenceMatcher(None, wanted, key.lower(), autojunk=False)
        if matcher.real_quick_ratio() >= best and matcher.quick_ratio() >= best:
            ratio = matcher.ratio()
            if ratio > best or (ratio == best and found is None):
                best, found = ratio, key
    return found


def means(key: str, found: str | None, query: str) -> bool:
    """Whether the key found is the one meant; another one is as good when the query leaves open which."""
    if found is None:
        return False
    return found == key or all(word in spoken(found) for word in query.lower().split())


KINDS: Final = ("nonsense", "half_known", "paraphrase", "typo")


def measure(
    keys: tuple[str, ...], rule: Rule, count: int, kinds: Collection[str] = KINDS, seed: int = 7
) -> dict[str, float]:
    """Asks `count` queries of each kind, the same ones for the same keys, kind and seed.

    Shares in [0, 1]: of nonsense and half known queries those that were found, of paraphrases and typos those that
    were right.
    """
    known = frozenset(word for key in keys for word in spoken(key))
    found: dict[str, float] = {}
    for kind in kinds:
        dice = random.Random(f"{kind} {seed}")
        found[kind] = sum(_asked(kind, dice, keys, rule, known) for _ in range(count)) / count
    return found


def _asked(kind: str, dice: random.Random, keys: tuple[str, ...], rule: Rule, known: frozenset[str]) -> bool:
    if kind == "nonsense":
        return rule(nonsense(dice, known)) is not None
    if kind == "half_known":
        return rule(half_known(dice, known)) is not None
    key = dice.choice(keys)
    if kind == "paraphrase":
        query = paraphrase(dice, key)
    else:
        query = mistype(dice, bare(key))
        query = mistype(dice, query) if dice.random() < 0.3 else query
    return means(key, rule(query), query)


def write_memory(home: Path, keys: tuple[str, ...]) -> Memory:
    """A memory of these keys with a value each, and a note for each of them."""
    dice = random.Random(0)

    def build(draft: Draft) -> None:
        draft.ensure_nugget("memory")
        for key in keys:
            remember(
                draft, "memory", key, dice.choice(VALUES).format(dice.randint(2, 99), dice.choice(ALIEN))
            )

    memory = Memory.open(home)
    memory.change("written to be measured", build)
    return memory
