"""What the notes of a memory say about where they belong in its overview, as numbers."""

from __future__ import annotations

import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.graph.communities import Material, Numbers
from core.graph.edits import MERGED_INTO
from core.model.basis import custom_tags
from core.model.note import Note, replace
from core.model.snapshot import Snapshot
from core.text.tokens import STOP_WORDS, words

_AT_ONCE: Final = 1000
_TITLES_READ: Final = 200


@dataclass(frozen=True, eq=False)
class Gathered:
    """The notes in numbered order, with the names of nuggets and tags that `material` numbers.

    chance: two numbers in [0, 1) for each note that depend on its id alone, shape (notes, 2).
    """

    notes: Sequence[Note]
    nuggets: Sequence[str]
    tags: Sequence[str]
    material: Material
    chance: NDArray[np.float64]
    hidden: NDArray[np.bool_]


def gather(snapshot: Snapshot, pause: Callable[[], None]) -> Gathered:
    """Reads the notes of a memory; `pause` is called after every few milliseconds."""
    notes = tuple(snapshot.by_id.values())
    nuggets = tuple(sorted({note.nugget_name for note in notes}))
    nugget_number = {name: number for number, name in enumerate(nuggets)}
    number_of = {note.id: number for number, note in enumerate(notes)}
    pause()
    # Per nugget, what each tag is numbered as; None for tags that every note of its kind has.
    tag_numbers: list[dict[str, int | None]] = [{} for _ in nuggets]
    tags: list[str] = []
    tag_nugget: list[int] = []
    tagged, pairs, codes = array("q"), array("q"), array("Q")
    for number, note in enumerate(notes):
        if number % _AT_ONCE == 0:
            pause()
        home = nugget_number[note.nugget_name]
        known = tag_numbers[home]
        codes.append(zlib.crc32(note.id.encode("utf-8", "replace")))
        for tag in note.tags:
            if tag not in known:
                known[tag] = len(tags) if custom_tags(replace(note, tags=(tag,))) else None
                if known[tag] is not None:
                    tags.append(tag)
                    tag_nugget.append(home)
            meant = known[tag]
            if meant is not None:
                tagged.extend((number, meant))
        for link in note.links:
            other = number_of.get(link.to)
            if other is not None and other != number:
                pairs.extend((number, other) if number < other else (other, number))
        if note.extra:
            survivor = number_of.get(str(note.extra.get(MERGED_INTO, "")))
            if survivor is not None and survivor != number:
                pairs.extend((min(number, survivor), max(number, survivor)))
    pause()
    nugget = np.fromiter((nugget_number[note.nugget_name] for note in notes), np.int64, len(notes))
    code = np.frombuffer(codes, dtype=np.uint64)
    material = Material(
        nugget,
        _rows(tagged, len(tags) + 1),
        np.array(tag_nugget, dtype=np.int64),
        _rows(pairs, len(notes) + 1),
        (code & np.uint64(1)).astype(np.int64),
    )
    hidden = np.fromiter((note.hidden for note in notes), np.bool_, len(notes))
    return Gathered(
        notes, nuggets, tags, material, np.stack((_chance(code, 1), _chance(code, 2)), axis=1), hidden
    )


def _rows(pairs: array[int], base: int) -> Numbers:
    """The pairs as rows, each once, in order."""
    both = np.frombuffer(pairs, dtype=np.int64).reshape(-1, 2)
    order = np.sort(both[:, 0] * base + both[:, 1])
    once = order[np.concatenate((order[:1] == order[:1], order[1:] != order[:-1]))]
    return np.stack(np.divmod(once, base), axis=1)


def _chance(code: NDArray[np.uint64], turn: int) -> NDArray[np.float64]:
    """Numbers in [0, 1), as splitmix64 (Steele, Lea and Flood, 2014) scatters them."""
    mixed = code + np.uint64(turn * 0x9E3779B97F4A7C15 % (1 << 64))
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed = mixed ^ (mixed >> np.uint64(31))
    return (mixed >> np.uint64(11)).astype(np.float64) / float(1 << 53)


def telling_word(gathered: Gathered, members: Numbers, everywhere: Counter[str]) -> str:
    """The word that the titles of some notes have, and titles elsewhere have not; "" when there is none.

    The weight of a word is its number of titles here times the logarithm of how rare it is among all.
    """
    here = Counter[str]()
    for number in members[:_TITLES_READ].tolist():
        here.update(title_words(gathered.notes[number]))
    titles = len(gathered.notes)
    return max(
        (word for word, count in here.items() if count > 1),
        key=lambda word: (here[word] * log(1 + titles / (1 + everywhere[word])), word),
        default="",
    )


def title_words(note: Note) -> set[str]:
    """Words of a title that may tell what it is about."""
    found = words(note.title[:_TITLES_READ])
    return {word for word in found if len(word) > 2 and word not in STOP_WORDS and not word.isdigit()}
