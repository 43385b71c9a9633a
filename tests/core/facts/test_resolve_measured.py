"""Queries counted over seeded memories of 50, 200 and 512 keys: what is found that should not be, and what is missed.

The rule of the original system stands beside ours as the baseline.
"""

from __future__ import annotations

import difflib
import random
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from core.facts.resolve import KeyIndex


def _words(text: str, between: str = " ") -> list[str]:
    return text.split(between)


SCOPES = ("user", "self", "shared", "project", "session")
OWNERS = _words(
    "alice bruno chen dmitri elena farid grace hugo ines jonas karin lucia marta nadia oskar priya quentin rosa"
)
THINGS = _words(
    "billing service,gateway,invoice importer,report builder,search index,mail relay,print queue,data warehouse,"
    "staging cluster,home server,auth proxy,photo archive,wiki,backup job,garden sensor,login page,payment webhook,"
    "release branch,coffee order,bike lock,standup meeting,travel booking,music playlist,insurance policy,"
    "deploy script,test runner,error handler,feature flag,message broker,cache layer,license server,time tracker",
    ",",
)
ASPECTS = _words(
    "owner,port,deadline,version,location,preference,contact,password hint,budget,address,schedule,color,nickname,"
    "endpoint,timeout,maintainer,threshold,region,format,provider",
    ",",
)
# Everyday words; the second half is a letter or two away from words of the keys.
ALIEN = _words(
    "apple banana mountain river thunder whisper blanket candle dolphin eagle forest giraffe harvest island jungle"
    " kitten lemon marble noodle ocean pepper quilt rabbit sunset tulip umbrella velvet walnut zebra anchor bamboo"
    " cactus daisy emerald feather glacier hammock igloo jasmine koala lantern meadow nectar orchid penguin"
    " raspberry saddle teapot violin waffle yogurt quantum orbit plasma sonnet ballet opera mosaic fossil comet"
    " horse stone part post serve coat text sort lost fort mouse reason religion legion vision collar dolor bride"
    " border barge widget garter garlic carriage silver relax really reply quest question pager parade poster"
    " master mastery foster cluttered muster stagger strange roster rotor listen silent inlet tinsel enlist"
)
QUESTIONS = ("what is the {}", "{} please", "tell me the {}", "do you know the {}?", "which {} do we use",
             "remind me of the {}", "{} today")  # fmt: skip


def make_keys(count: int) -> tuple[str, ...]:
    dice = random.Random(count)
    made: dict[str, None] = {}
    while len(made) < count:
        parts = [dice.choice(THINGS), dice.choice(ASPECTS)]
        if dice.random() < 0.5 or count > 300:
            parts.insert(0, dice.choice(OWNERS))
        scope = f"{dice.choice(SCOPES)}:" if dice.random() < 0.8 else ""
        key = " ".join(parts)
        if all(bare(other) != key for other in made):
            made[scope + key] = None
    return tuple(made)


def bare(key: str) -> str:
    return key.partition(":")[2] or key


def nonsense(dice: random.Random, words: list[str]) -> str:
    """One to four everyday words; in every second query of three or more, one of them is a word of the keys."""
    chosen = dice.sample(ALIEN, dice.randint(1, 4))
    if len(chosen) >= 3 and dice.random() < 0.5:
        chosen[dice.randrange(len(chosen))] = dice.choice(words)
    return " ".join(chosen)


def paraphrase(dice: random.Random, key: str) -> str:
    words = bare(key).split()
    way = dice.randrange(5)
    if way == 0:
        dice.shuffle(words)
    elif way == 1 and len(words) >= 3:
        words.pop(dice.randrange(len(words)))
    elif way == 2:
        words = [word + "s" if not word.endswith("s") else word for word in words]
    text = " ".join(words)
    if way == 3:
        text = text.upper()
    return dice.choice(QUESTIONS).format(text) if dice.random() < 0.6 else text


def mistype(dice: random.Random, text: str) -> str:
    """One letter left out, doubled, replaced, or swapped with its neighbour."""
    places = [i for i in range(1, len(text) - 1) if text[i - 1 : i + 2].isalpha()]
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
    return found == key or all(word in found.lower() for word in query.lower().split())


@dataclass(frozen=True)
class Counts:
    nonsense: float
    paraphrase: float
    typo: float


def measure(keys: tuple[str, ...], rule: Callable[[str], str | None], count: int) -> Counts:
    """Shares of `count` queries of each kind that the rule finds (for nonsense: anything at all)."""
    words = sorted({word for key in keys for word in bare(key).split()})
    dice = random.Random(7)
    found = {"nonsense": 0, "paraphrase": 0, "typo": 0}
    for _ in range(count):
        found["nonsense"] += rule(nonsense(dice, words)) is not None
        key = dice.choice(keys)
        query = paraphrase(dice, key)
        found["paraphrase"] += means(key, rule(query), query)
        key = dice.choice(keys)
        query = mistype(dice, bare(key))
        found["typo"] += rule(mistype(dice, query) if dice.random() < 0.3 else query) == key
    return Counts(**{name: hits / count for name, hits in found.items()})


@pytest.mark.parametrize("size", [50, 200, 512])
def test_nonsense_is_a_miss_and_real_questions_are_found_more_often_than_by_the_original(size: int) -> None:
    keys = make_keys(size)
    index = KeyIndex(keys)

    def our_rule(query: str) -> str | None:
        found = index.resolve(query)
        return None if found is None else keys[found.place]

    few, ours = measure(keys, our_rule, 60), measure(keys, our_rule, 600)
    original = measure(keys, lambda query: original_rule(keys, query), 60)
    print(f"\n{size} keys: ours {ours}, original {original}")
    assert ours.nonsense <= 0.02
    assert ours.paraphrase >= 0.95
    assert ours.typo >= 0.95
    assert few.paraphrase >= original.paraphrase
    assert few.typo >= original.typo
